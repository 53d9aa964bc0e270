"""Goes through a page from top to bottom, as its reader does, and does what it says."""

import configparser
import json
import pathlib
import shlex
import tomllib
from dataclasses import dataclass, field

from . import bodies, bucket, expected
from .interpreter import Interpreter
from .markdown import Block, PageError
from .reader import Printed, Reader
from .shell import Shell
from .words import Words

COMMANDS = ("sh", "bash", "console")


@dataclass
class Report:
    """What became of a page."""

    ran: int = 0
    compared: int = 0
    left_out: list[tuple[int, str]] = field(default_factory=list)


class Page:
    """One page and its reader."""

    def __init__(self, name: str, blocks: list[Block], reader: Reader, known: Words):
        self.name = name
        self.blocks = blocks
        self.reader = reader
        self.known = known
        self.shell = Shell(reader)
        self.interpreter = Interpreter(reader, self.shell)
        self.report = Report()
        self.last: Printed | None = None  # output that a block `text` may show

    def run(self) -> None:
        """Runs all blocks; stops at the first that does not do what the page says."""
        # A page that tells its reader how to get at the program gets no help.
        if not any("export PATH=" in block.text for block in self.blocks):
            self.reader.install()
        if self.needs_simulator():
            self.shell.serve(
                Block(1, "sh", f"{self.reader.folder}/target/release/chicane serve\n"), "simulator"
            )
        for number, block in enumerate(self.blocks):
            self.block(block, self.blocks[number + 1 :])

    def needs_simulator(self) -> bool:
        """Whether the page expects one to be there: it runs something, and starts none itself."""
        runs = [b for b in self.blocks if b.language and not leaves_out(b)]
        starts = any((b.remark or "").startswith("background") for b in self.blocks)
        return any(b.remark != "drawing" for b in runs) and not starts

    def block(self, block: Block, later: list[Block]) -> None:
        """Does what one block says."""
        words = shlex.split(block.remark or "")
        if words[:1] == ["not"]:
            self.leave_out(block)
        elif words[:1] == ["drawing"]:
            if block.language not in ("", "text"):
                raise PageError(block.line, f"a drawing in {block.language}?")
        elif words[:1] == ["excerpt"]:
            self.excerpt(block, words)
        elif words[:1] == ["background"] and len(words) == 2 and block.language in COMMANDS:
            self.shell.serve(block, words[1])
            self.report.ran += 1
        elif words[:1] == ["stop"] and len(words) == 2 and not block.language:
            self.shell.stop(block.line, words[1])
        elif words[:1] == ["bucket"] and len(words) == 3 and not block.language:
            bucket.start(self.reader, block.line, words[1], words[2])
        elif block.save_as:
            self.save(block, words, later)
        elif block.language in COMMANDS:
            self.commands(block, words)
        elif words[:1] == ["body"] or words[:1] == ["answer"]:
            bodies.check(self.known.api, self.reader, block, words)
            self.report.ran += 1
        elif words:
            raise PageError(block.line, f"what is a block of {block.language!r} with {words}?")
        elif block.language == "python":
            self.last = Printed(self.interpreter.run(block.line, block.text, self.name))
            self.report.ran += 1
        elif block.language == "text":
            self.shown(block.line, block.text)
        else:
            raise PageError(
                block.line,
                f"nothing uses this block of {block.language or 'no language'}: save it, give it "
                "a remark, or say why it is not run",
            )

    def leave_out(self, block: Block) -> None:
        """A block that can't be run, and says why."""
        if not leaves_out(block):
            raise PageError(block.line, "say why: <!-- docs: not run: the reason -->")
        self.report.left_out.append((block.line, block.remark.removeprefix("not run:").strip()))
        self.last = None

    def commands(self, block: Block, words: list[str]) -> None:
        """Commands in the page's terminal."""
        if words not in ([], ["fails"]):
            raise PageError(block.line, f"what does {block.remark!r} mean?")
        if block.language == "console":
            for line, shown, came in self.shell.console(block, bool(words)):
                self.last = came
                if shown.strip():
                    self.shown(line + 1, shown)
        else:
            self.last = self.shell.run(block.line, block.text, bool(words))
        self.report.ran += 1

    def shown(self, line: int, text: str) -> None:
        """Holds the last output against what the page shows."""
        if self.last is None:
            raise PageError(line, "this shows the output of nothing that was run")
        # Progress and the like goes to the other stream; a page need not show it, but may.
        both = expected.difference(text, str(self.last))
        if both and (difference := expected.difference(text, self.last.output)):
            difference = difference if self.last.output else both
            raise PageError(line, f"the page shows (-), there came (+):\n{difference}")
        self.report.compared += 1

    def save(self, block: Block, words: list[str], later: list[Block]) -> None:
        """A file that the reader is told to save, and which must be used further down."""
        if not any(block.save_as in b.text for b in later if b.language in (*COMMANDS, "python")):
            raise PageError(block.line, f"{block.save_as} is saved and never used")
        try:
            self.read(block, words)
        except (tomllib.TOMLDecodeError, configparser.Error, SyntaxError) as error:
            raise PageError(block.line, str(error)) from None
        path = pathlib.Path(self.shell.folder, block.save_as)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.reader.ours(block.text))
        self.report.ran += 1

    def read(self, block: Block, words: list[str]) -> None:
        """A file must be what its language says."""
        if block.language == "json":
            value = bodies.parse(block)
            if words[:1] == ["schema"]:
                document = json.loads((self.reader.root / words[1]).read_text())
                bodies.agree(block.line, value, document, document)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "python":
            compile(block.text, f"{self.name}:{block.line}", "exec")
        elif block.language == "ini":
            parser = configparser.ConfigParser(strict=False, interpolation=None)
            parser.read_string(block.text)
            values = [value for section in parser.values() for value in section.values()]
            for command in [value.split() for value in values if "/chicane " in value]:
                if wrong := self.known.command(command[1:]):
                    raise PageError(block.line, wrong)

    def excerpt(self, block: Block, words: list[str]) -> None:
        """A piece of a file of ours, which is there word for word; `…` leaves lines out."""
        source = self.reader.root / words[1]
        if not source.exists():
            raise PageError(block.line, f"there is no {words[1]}")
        wrong = expected.not_in(block.text, source.read_text())
        if wrong is not None:
            number, line = wrong
            raise PageError(block.line + number, f"{words[1]} has no {line!r} here")
        self.report.compared += 1


def leaves_out(block: Block) -> bool:
    """Whether a block says that it is not run, and why."""
    remark = block.remark or ""
    return remark.startswith("not run:") and len(remark.removeprefix("not run:").strip()) > 5
