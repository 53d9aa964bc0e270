"""Commands of a page, in the one terminal that its reader has open.

Every block runs in a bash of its own that stops at the first command that fails; folder and
variables go on to the next one. What is started with a remark `background` stays, in a terminal of
its own.
"""

import os
import pathlib
import signal
import subprocess
import time

from . import expected
from .markdown import Block, PageError
from .reader import PATIENCE, Printed, Reader, alive, kill_group

# Runs a file, tells the line of a command that failed, and writes down variables and folder.
WRAPPER = r"""
cd -- "$1" || exit 1
[ -e "$3" ] && . "$3" 2>/dev/null
script=$2 variables=$3 place=$4 failed=$5
trap 'declare -p | grep -v "^declare -[A-Za-z]*r" >"$variables"; pwd >"$place"' EXIT
trap 'echo "$LINENO" >"$failed"' ERR
set -Eeuo pipefail
. "$script"
"""
READY = "chicane is ready: "


class Shell:
    """The terminal of one page."""

    def __init__(self, reader: Reader):
        self.reader = reader
        self.background: dict[str, tuple[subprocess.Popen, pathlib.Path]] = {}
        self.variables = reader.private / "variables"
        self.place = reader.private / "place"
        self.place.write_text(f"{reader.folder}\n")
        self.runs = 0

    @property
    def folder(self) -> str:
        """Where the terminal is now."""
        return self.place.read_text().rstrip("\n")

    def files(self) -> tuple[pathlib.Path, pathlib.Path]:
        """A script and an output that no other command has."""
        self.runs += 1
        stem = self.reader.private / f"block{self.runs}"
        return stem.with_suffix(".sh"), stem.with_suffix(".out")

    def bash(self, script: pathlib.Path, output: pathlib.Path, place: pathlib.Path):
        """Starts a script where the terminal is; it leaves word of where it ended."""
        words = [self.folder, script, self.variables, place, script.with_suffix(".line")]
        return self.reader.start(
            ["bash", "-c", WRAPPER, "bash", *words],
            output,
            self.folder,
            env=self.reader.environment,
        )

    def run(self, line: int, commands: str, fails: bool = False) -> Printed:
        """Runs commands; what they printed."""
        script, output = self.files()
        script.write_text(self.reader.ours(commands))
        process = self.bash(script, output, self.place)
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            kill_group(process, signal.SIGKILL)
            came = self.reader.printed(output)
            raise PageError(line, f"took longer than {PATIENCE} s; so far:\n{came}") from None
        came = self.reader.printed(output)
        if fails and status == 0:
            raise PageError(line, f"should fail and did not:\n{came}")
        if status != 0 and not fails:
            failed = script.with_suffix(".line")
            line += int(failed.read_text()) - 1 if failed.exists() else 0
            raise PageError(line, f"exit status {status}:\n{came}")
        return came

    def exported(self) -> dict[str, str]:
        """The environment that a program gets that is started in this terminal now."""
        script, output = self.files()
        script.write_text("env -0\n")
        self.bash(script, output, pathlib.Path(os.devnull)).wait(PATIENCE)
        pairs = output.read_text().rstrip("\0").split("\0")
        return dict(pair.split("=", 1) for pair in pairs)

    def console(self, block: Block, fails: bool) -> list[tuple[int, str, Printed]]:
        """Runs a session of `$ command` lines; the line, what it shows and what came, of each."""
        return [
            (line, shown, self.run(line, command, fails))
            for line, command, shown in dialogue(block)
        ]

    def serve(self, block: Block, name: str) -> None:
        """Starts something that stays, waits until it is ready, and compares what it said."""
        if name in self.background:
            raise PageError(block.line, f"{name} runs already")
        script, output = self.files()
        if block.language == "console":
            [(_, command, shown)] = dialogue(block)
        else:
            command, shown = block.text, ""
        script.write_text("exec " + self.reader.ours(command))
        process = self.bash(script, output, pathlib.Path(os.devnull))
        self.background[name] = (process, output)
        until = time.monotonic() + PATIENCE
        while READY not in (came := self.reader.printed(output)).output:
            if not alive(process) or time.monotonic() > until:
                raise PageError(block.line, f"did not get ready:\n{came}")
            time.sleep(0.02)
        if difference := expected.difference(shown or expected.ANY, came.output):
            raise PageError(block.line + 1, f"the page shows (-), there came (+):\n{difference}")

    def stop(self, line: int, name: str) -> None:
        """Ctrl-C in the terminal of something that was started."""
        if name not in self.background:
            raise PageError(line, f"nothing called {name} was started")
        process, output = self.background.pop(name)
        kill_group(process, signal.SIGINT)
        try:
            status = process.wait(30)
        except subprocess.TimeoutExpired:
            raise PageError(line, f"{name} did not stop") from None
        if status != 0:
            raise PageError(line, f"{name} ended with {status}:\n{self.reader.printed(output)}")


def dialogue(block: Block) -> list[tuple[int, str, str]]:
    """The commands of a session: line, command, and what the page shows below it."""
    commands: list[tuple[int, list[str], list[str]]] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            commands.append((number, [line.removeprefix("$ ")], []))
        elif not commands:
            raise PageError(number, "a console block begins with a command after `$ `")
        elif line.startswith("> ") and not commands[-1][2]:
            commands[-1][1].append(line.removeprefix("> "))
        else:
            commands[-1][2].append(line)
    return [(at, "\n".join(words) + "\n", "\n".join(shown)) for at, words, shown in commands]
