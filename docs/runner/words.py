"""Commands, paths and files that a page names in running text: they must exist.

What stands between single backticks is not run. But a command must be one that the program or the
Makefile has, with options that it has; a path of the web API must be there; so must a file.
"""

import pathlib
import re
import subprocess

from .bodies import Api
from .markdown import Block, PageError, Text

SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
REQUEST = re.compile(r"^(GET|POST|PUT|DELETE|WS) (/\S*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
FILE = re.compile(r"^[\w.-]+/[\w./*-]+$")
# Paths that are in no OpenAPI document; `run.py` asks a simulator whether they are there.
BESIDE = ["/", "/sim", "/docs", "/sim/api/docs", "/openapi.json", "/sim/api/openapi.json"]
BESIDE += ["/metrics", "/speed/stream", "/steering/stream", "/audio/stream"]


class Words:
    """What there is to be named."""

    def __init__(self, root: pathlib.Path, program: pathlib.Path, api: Api):
        self.root = root
        self.program = program
        self.api = api
        self.helps: dict[tuple[str, ...], str] = {}
        makefile = (root / "Makefile").read_text()
        self.targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
        self.variables = set()
        sources = ["crates/**/*.rs", "python/**/*.py", "web/*.ts", "web/tests/**/*.[jt]s"]
        for source in [path for each in sources for path in root.glob(each)]:
            self.variables |= set(re.findall(r"CHICANE_[A-Z_]+", source.read_text()))
        self.variables |= set(re.findall(r"CHICANE_[A-Z_]+", self.help(("serve",))))

    def help(self, commands: tuple[str, ...]) -> str:
        """What a command says of itself."""
        if commands not in self.helps:
            command = [self.program, *commands, "--help"]
            self.helps[commands] = subprocess.run(command, capture_output=True, text=True).stdout
        return self.helps[commands]

    def check(self, page: pathlib.Path, blocks: list[Block], text: Text) -> list[PageError]:
        """Everything that does not exist, in running text and in blocks that are not run."""
        blocks_text = "\n".join(block.text for block in blocks)
        found = []
        for block in blocks:
            if (block.remark or "").startswith("not run"):
                lines = enumerate(block.text.splitlines(), block.line)
                wrong = [(at, self.span(line.split("#")[0].strip(), "")) for at, line in lines]
                found += [PageError(at, each) for at, each in wrong if each]
        for number, line in text:
            wrong = [self.span(span, blocks_text) for span in SPAN.findall(line)]
            wrong += [self.link(page, link) for link in LINK.findall(line)]
            found += [PageError(number, each) for each in wrong if each]
        return found

    def span(self, span: str, blocks_text: str) -> str | None:
        """What is wrong with something between backticks."""
        words = span.split()
        if words[:1] == ["chicane"]:
            return self.command(words[1:])
        if words[:1] == ["make"] and len(words) > 1 and words[1] not in self.targets:
            return f"the Makefile has no {words[1]}"
        if request := REQUEST.match(span):
            return self.request(*request.groups())
        if re.fullmatch(r"CHICANE_[A-Z_]+", span) and span not in self.variables:
            return f"nothing reads {span}"
        top = span.split("/")[0]
        if FILE.match(span) and (self.root / top).is_dir() and top != "target":
            there = list(self.root.glob(span.rstrip("/"))) or span in blocks_text
            return None if there else f"there is no {span}"
        return None

    def command(self, words: list[str]) -> str | None:
        """What is wrong with a command of the program."""
        commands: tuple[str, ...] = ()
        for word in words:
            if not re.search(rf"^  {re.escape(word)}\s", self.help(commands), re.MULTILINE):
                break
            commands += (word,)
        if words and not commands and re.fullmatch(r"[a-z]+", words[0]):
            return f"there is no command chicane {words[0]}"
        known = self.help(commands)
        unknown = [each for each in OPTION.findall(" ".join(words)) if each not in known]
        return f"chicane {' '.join(commands)} has no {unknown[0]}" if unknown else None

    def request(self, method: str, path: str) -> str | None:
        """What is wrong with a request."""
        path = path.split("?")[0].rstrip(".,;")
        for prefix in ("", "/sim/api"):  # pages that speak of nothing else leave it out
            if self.api.operation(method, prefix + path):
                return None
        beside = path in BESIDE or path.startswith("/cdn/")
        return None if beside and method in ("GET", "WS") else f"there is no {method} {path}"

    def link(self, page: pathlib.Path, link: str) -> str | None:
        """What is wrong with a link to something of ours."""
        if re.match(r"[a-z]+:", link):
            return None
        name, _, anchor = link.partition("#")
        target = page if not name else page.parent / name
        if not target.exists():
            return f"the link leads nowhere: {link}"
        if anchor and target.suffix == ".md":
            titles = re.findall(r"^#+ +(.*)$", target.read_text(), re.MULTILINE)
            if anchor not in {anchor_of(title) for title in titles}:
                return f"{target.name} has no heading for {link}"
        return None


def anchor_of(title: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
