"""Runs the command blocks of a page.

Each block runs in a new bash that stops at the first command that fails. The next block starts with
the working directory and the variables of this block. A block with the remark `background` keeps
running in a process of its own.
"""

import os
import pathlib
import signal
import subprocess
import time

from . import expected
from .markdown import Block, PageError
from .sandbox import BLOCK_TIMEOUT_S, Printed, Sandbox, alive, kill_group

# This bash code runs a script. It writes the number of the line that failed, the variables and the
# working directory to files, from which the runner and the next block read them.
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
    """The shell of one page."""

    def __init__(self, sandbox: Sandbox):
        self.sandbox = sandbox
        self.background: dict[str, tuple[subprocess.Popen, pathlib.Path]] = {}
        self.variables = sandbox.private / "variables"
        self.place = sandbox.private / "place"
        self.place.write_text(f"{sandbox.folder}\n")
        self.runs = 0

    @property
    def folder(self) -> str:
        """The working directory at the end of the last block, in which the next block starts."""
        return self.place.read_text().rstrip("\n")

    def files(self) -> tuple[pathlib.Path, pathlib.Path]:
        """Paths of a new script and a new output file."""
        self.runs += 1
        stem = self.sandbox.private / f"block{self.runs}"
        return stem.with_suffix(".sh"), stem.with_suffix(".out")

    def bash(self, script: pathlib.Path, output: pathlib.Path, place: pathlib.Path):
        """Starts a script in the working directory of the page.

        When the script exits, the EXIT trap of `WRAPPER` writes the working directory to `place`.
        """
        words = [self.folder, script, self.variables, place, script.with_suffix(".line")]
        return self.sandbox.start(
            ["bash", "-c", WRAPPER, "bash", *words],
            output,
            self.folder,
            env=self.sandbox.environment,
        )

    def run(self, line: int, commands: str, fails: bool = False) -> Printed:
        """Runs commands and returns their output. If `fails`, a command has to fail."""
        script, output = self.files()
        script.write_text(self.sandbox.to_local(commands))
        process = self.bash(script, output, self.place)
        try:
            status = process.wait(BLOCK_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            kill_group(process, signal.SIGKILL)
            came = self.sandbox.printed(output)
            text = f"timeout after {BLOCK_TIMEOUT_S} s; output so far:\n{came}"
            raise PageError(line, text) from None
        came = self.sandbox.printed(output)
        if fails and status == 0:
            raise PageError(line, f"should fail but did not:\n{came}")
        if status != 0 and not fails:
            failed = script.with_suffix(".line")
            line += int(failed.read_text()) - 1 if failed.exists() else 0
            raise PageError(line, f"exit status {status}:\n{came}")
        return came

    def exported(self) -> dict[str, str]:
        """The exported variables of the shell."""
        script, output = self.files()
        script.write_text("env -0\n")
        self.bash(script, output, pathlib.Path(os.devnull)).wait(BLOCK_TIMEOUT_S)
        pairs = output.read_text().rstrip("\0").split("\0")
        return dict(pair.split("=", 1) for pair in pairs)

    def console(self, block: Block, fails: bool) -> list[tuple[int, str, Printed]]:
        """Runs the commands of a console block.

        Returns the line number, the output on the page and the actual output of each command.
        """
        return [
            (line, shown, self.run(line, command, fails))
            for line, command, shown in dialogue(block)
        ]

    def serve(self, block: Block, name: str) -> None:
        """Starts a simulator in the background, waits until it is ready and compares its output."""
        if name in self.background:
            raise PageError(block.line, f"the background process {name} is already running")
        script, output = self.files()
        if block.language == "console":
            [(_, command, shown)] = dialogue(block)
        else:
            command, shown = block.text, ""
        script.write_text("exec " + self.sandbox.to_local(command))
        process = self.bash(script, output, pathlib.Path(os.devnull))
        self.background[name] = (process, output)
        until = time.monotonic() + BLOCK_TIMEOUT_S
        while READY not in (came := self.sandbox.printed(output)).output:
            if not alive(process) or time.monotonic() > until:
                raise PageError(block.line, f"the simulator did not start:\n{came}")
            time.sleep(0.02)
        if difference := expected.difference(shown or expected.ANY, came.output):
            text = f"on the page (-), actual output (+):\n{difference}"
            raise PageError(block.line + 1, text)

    def stop(self, line: int, name: str) -> None:
        """Ends a background process with SIGINT (Ctrl-C)."""
        if name not in self.background:
            raise PageError(line, f"there is no background process {name}")
        process, output = self.background.pop(name)
        kill_group(process, signal.SIGINT)
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            raise PageError(line, f"{name} did not stop within 60 s") from None
        if status != 0:
            text = f"{name} ended with status {status}:\n{self.sandbox.printed(output)}"
            raise PageError(line, text)


def dialogue(block: Block) -> list[tuple[int, str, str]]:
    """Line number, command and shown output of each command in a console block."""
    commands: list[tuple[int, list[str], list[str]]] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            commands.append((number, [line.removeprefix("$ ")], []))
        elif not commands:
            raise PageError(number, "a console block has to start with a command after `$ `")
        elif line.startswith("> ") and not commands[-1][2]:
            commands[-1][1].append(line.removeprefix("> "))
        else:
            commands[-1][2].append(line)
    return [(at, "\n".join(words) + "\n", "\n".join(shown)) for at, words, shown in commands]
