"""Runs the blocks of a page from top to bottom."""

import configparser
import json
import pathlib
import shlex
import tomllib
from dataclasses import dataclass, field

from . import bodies, bucket, expected
from .interpreter import Interpreter
from .markdown import Block, PageError
from .references import References
from .sandbox import Printed, Sandbox
from .shell import Shell

COMMANDS = ("sh", "bash", "console")


@dataclass
class Report:
    """The numbers of blocks that ran and that were compared, and the reasons of skipped blocks."""

    ran: int = 0
    compared: int = 0
    skipped: list[tuple[int, str]] = field(default_factory=list)


class Page:
    """One page with its sandbox, shell and interpreter."""

    def __init__(self, name: str, blocks: list[Block], sandbox: Sandbox, known: References):
        self.name = name
        self.blocks = blocks
        self.sandbox = sandbox
        self.known = known
        self.shell = Shell(sandbox)
        self.interpreter = Interpreter(sandbox, self.shell)
        self.report = Report()
        self.last: Printed | None = None  # output for a following `text` block

    def run(self) -> None:
        """Runs all blocks. Raises `PageError` at the first block that fails."""
        # A page that sets PATH itself must work without `install`.
        if not any("export PATH=" in block.text for block in self.blocks):
            self.sandbox.install()
        if self.needs_simulator():
            self.shell.serve(
                Block(1, "sh", f"{self.sandbox.folder}/target/release/chicane serve\n"), "simulator"
            )
        for number, block in enumerate(self.blocks):
            self.block(block, self.blocks[number + 1 :])

    def needs_simulator(self) -> bool:
        """Whether the page expects a running simulator.

        This is the case if the page has blocks to run, but starts no simulator itself.
        """
        runs = [b for b in self.blocks if b.language and not is_skipped(b)]
        starts = any((b.remark or "").startswith("background") for b in self.blocks)
        return any(b.remark != "drawing" for b in runs) and not starts

    def block(self, block: Block, later: list[Block]) -> None:
        """Runs one block. `later` are the blocks after it."""
        words = shlex.split(block.remark or "")
        if words[:1] == ["not"]:
            self.skip(block)
        elif words[:1] == ["drawing"]:
            if block.language not in ("", "text"):
                raise PageError(block.line, f"a drawing cannot have the language {block.language}")
        elif words[:1] == ["excerpt"]:
            self.excerpt(block, words)
        elif words[:1] == ["background"] and len(words) == 2 and block.language in COMMANDS:
            self.shell.serve(block, words[1])
            self.report.ran += 1
        elif words[:1] == ["stop"] and len(words) == 2 and not block.language:
            self.shell.stop(block.line, words[1])
        elif words[:1] == ["bucket"] and len(words) == 3 and not block.language:
            bucket.start(self.sandbox, block.line, words[1], words[2])
        elif block.save_as:
            self.save(block, words, later)
        elif block.language in COMMANDS:
            self.commands(block, words)
        elif words[:1] == ["body"] or words[:1] == ["answer"]:
            bodies.check(self.known.api, self.sandbox, block, words)
            self.report.ran += 1
        elif words:
            raise PageError(
                block.line, f"unknown remark {block.remark!r} for a block of {block.language!r}"
            )
        elif block.language == "python":
            self.last = Printed(self.interpreter.run(block.line, block.text, self.name))
            self.report.ran += 1
        elif block.language == "text":
            self.shown(block.line, block.text)
        else:
            raise PageError(
                block.line,
                f"nothing uses this block of {block.language or 'no language'}: save it as a file, "
                "add a remark, or give the reason why it is not run",
            )

    def skip(self, block: Block) -> None:
        """Skips a block that cannot be run. Its remark has to give the reason."""
        if not is_skipped(block):
            raise PageError(block.line, "give the reason: <!-- docs: not run: the reason -->")
        self.report.skipped.append((block.line, block.remark.removeprefix("not run:").strip()))
        self.last = None

    def commands(self, block: Block, words: list[str]) -> None:
        """Runs commands in the page's shell."""
        if words not in ([], ["fails"]):
            raise PageError(block.line, f"unknown remark {block.remark!r}")
        if block.language == "console":
            for line, shown, came in self.shell.console(block, bool(words)):
                self.last = came
                if shown.strip():
                    self.shown(line + 1, shown)
        else:
            self.last = self.shell.run(block.line, block.text, bool(words))
        self.report.ran += 1

    def shown(self, line: int, text: str) -> None:
        """Compares the last output with the page."""
        if self.last is None:
            raise PageError(line, "no block before this one has run, so there is no output")
        # A page may show or omit standard error, such as progress.
        both = expected.difference(text, str(self.last))
        if both and (difference := expected.difference(text, self.last.output)):
            difference = difference if self.last.output else both
            raise PageError(line, f"on the page (-), actual output (+):\n{difference}")
        self.report.compared += 1

    def save(self, block: Block, words: list[str], later: list[Block]) -> None:
        """Saves a block as a file. A later block has to use the file."""
        if not any(block.save_as in b.text for b in later if b.language in (*COMMANDS, "python")):
            raise PageError(block.line, f"{block.save_as} is saved but never used")
        try:
            self.read(block, words)
        except (tomllib.TOMLDecodeError, configparser.Error, SyntaxError) as error:
            raise PageError(block.line, str(error)) from None
        path = pathlib.Path(self.shell.folder, block.save_as)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.sandbox.to_local(block.text))
        self.report.ran += 1

    def read(self, block: Block, words: list[str]) -> None:
        """Checks that a file is valid in its language."""
        if block.language == "json":
            value = bodies.parse(block)
            if words[:1] == ["schema"]:
                document = json.loads((self.sandbox.root / words[1]).read_text())
                bodies.agree(block.line, value, document, document)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "python":
            compile(block.text, f"{self.name}:{block.line}", "exec")
        elif block.language == "ini":
            parser = configparser.ConfigParser(strict=False, interpolation=None)
            parser.read_string(block.text)
            values = [value for section in parser.values() for value in section.values()]
            for command in [shlex.split(value) for value in values]:
                if not command or pathlib.PurePath(command[0]).name != "chicane":
                    continue
                if wrong := self.known.command(command[1:]):
                    raise PageError(block.line, wrong)

    def excerpt(self, block: Block, words: list[str]) -> None:
        """Checks that a block is a literal excerpt of a file. `…` stands for omitted lines."""
        source = self.sandbox.root / words[1]
        if not source.exists():
            raise PageError(block.line, f"there is no file {words[1]}")
        wrong = expected.not_in(block.text, source.read_text())
        if wrong is not None:
            number, line = wrong
            raise PageError(block.line + number, f"{words[1]} has no {line!r} here")
        self.report.compared += 1


def is_skipped(block: Block) -> bool:
    """Whether a block has the remark `not run:` with a reason."""
    remark = block.remark or ""
    return remark.startswith("not run:") and len(remark.removeprefix("not run:").strip()) > 5
