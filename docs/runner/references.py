"""Checks that the commands, paths and files in the running text of a page exist.

Text between backticks is not run, but its names are checked: commands and options of the program,
targets of the Makefile, paths of the web API, environment variables, files and links.
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
# Paths that are in no OpenAPI document. `run.py` checks that a simulator has them.
UNDOCUMENTED = [
    "/",
    "/sim",
    "/sim/leaderboard",
    "/build",
    "/docs",
    "/sim/api/docs",
    "/openapi.json",
    "/sim/api/openapi.json",
]
UNDOCUMENTED += ["/metrics", "/speed/stream", "/steering/stream", "/audio/stream"]


class References:
    """All names that a page may use."""

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
        """The help text of a command."""
        if commands not in self.helps:
            command = [self.program, *commands, "--help"]
            self.helps[commands] = subprocess.run(command, capture_output=True, text=True).stdout
        return self.helps[commands]

    def check(self, page: pathlib.Path, blocks: list[Block], text: Text) -> list[PageError]:
        """An error for each unknown name, in running text and in blocks that are not run."""
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
        """Describes what is wrong with text between backticks. None if it is correct."""
        words = span.split()
        if words[:1] == ["chicane"]:
            return self.command(words[1:])
        if words[:1] == ["make"] and len(words) > 1 and words[1] not in self.targets:
            return f"the Makefile has no target {words[1]}"
        if request := REQUEST.match(span):
            return self.request(*request.groups())
        if re.fullmatch(r"CHICANE_[A-Z_]+", span) and span not in self.variables:
            return f"no program reads the variable {span}"
        top = span.split("/")[0]
        if FILE.match(span) and (self.root / top).is_dir() and top != "target":
            there = list(self.root.glob(span.rstrip("/"))) or span in blocks_text
            return None if there else f"there is no file {span}"
        return None

    def command(self, words: list[str]) -> str | None:
        """Describes what is wrong with a command of the program. None if it is correct."""
        commands: tuple[str, ...] = ()
        for word in words:
            if not re.search(rf"^  {re.escape(word)}\s", self.help(commands), re.MULTILINE):
                break
            commands += (word,)
        if words and not commands and re.fullmatch(r"[a-z]+", words[0]):
            return f"there is no command `chicane {words[0]}`"
        known = self.help(commands)
        unknown = [each for each in OPTION.findall(" ".join(words)) if each not in known]
        return f"`chicane {' '.join(commands)}` has no option {unknown[0]}" if unknown else None

    def request(self, method: str, path: str) -> str | None:
        """Describes what is wrong with a request. None if it is correct."""
        path = path.split("?")[0].rstrip(".,;")
        for prefix in ("", "/sim/api"):  # pages about the simulator's API leave the prefix out
            if self.api.operation(method, prefix + path):
                return None
        known = path in UNDOCUMENTED or path.startswith("/cdn/")
        return None if known and method in ("GET", "WS") else f"the API has no {method} {path}"

    def link(self, page: pathlib.Path, link: str) -> str | None:
        """Describes what is wrong with a link to a repository file. None if it is correct."""
        if re.match(r"[a-z]+:", link):
            return None
        name, _, anchor = link.partition("#")
        target = page if not name else page.parent / name
        if not target.exists():
            return f"the target of the link does not exist: {link}"
        if anchor and target.suffix == ".md":
            titles = re.findall(r"^#+ +(.*)$", target.read_text(), re.MULTILINE)
            if anchor not in {anchor_of(title) for title in titles}:
                return f"{target.name} has no heading for the link {link}"
        return None


def anchor_of(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
