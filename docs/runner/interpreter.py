"""Python blocks of a page: one interpreter, as if they were typed one after the other.

It is started in the page's terminal when the first block comes.
"""

import json
import pathlib
import signal
import subprocess
import sys
import threading

from .markdown import PageError
from .reader import PATIENCE, Reader, kill_group
from .shell import Shell

WORKER = pathlib.Path(__file__).with_name("worker.py")


class Interpreter:
    """The Python that a page's reader has open."""

    def __init__(self, reader: Reader, shell: Shell):
        self.reader = reader
        self.shell = shell
        self.process: subprocess.Popen | None = None
        self.output = reader.private / "python.out"

    def run(self, line: int, code: str, page: str) -> str:
        """Runs a block; what it printed, in the page's words."""
        if self.process is None:
            self.start()
        before = self.output.stat().st_size
        # The code begins at its line of the page, so that a traceback names it.
        code = "\n" * (line - 1) + self.reader.ours(code)
        answer = self.ask(json.dumps({"code": code, "folder": self.shell.folder, "page": page}))
        with self.output.open("rb") as file:
            file.seek(before)
            came = self.reader.theirs(file.read().decode(errors="replace"))
        if answer != "done":
            raise PageError(line, f"Python {answer or 'ended'}:\n{came}")
        return came

    def ask(self, request: str) -> str:
        """Sends a request and waits for the answer; an empty one if there is none in time."""
        timer = threading.Timer(PATIENCE, kill_group, (self.process, signal.SIGKILL))
        timer.start()
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline().strip()
        except BrokenPipeError:
            return ""
        finally:
            timer.cancel()

    def start(self) -> None:
        """Starts the other end."""
        with self.output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-u", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                env=self.shell.exported(),
                cwd=self.shell.folder,
                start_new_session=True,
                text=True,
            )
        self.reader.started.append(self.process)
