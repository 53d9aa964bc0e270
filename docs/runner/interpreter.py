"""Runs the Python blocks of a page, all in one interpreter.

The interpreter is started before the first Python block. It gets the environment that the page's
shell has at that time.
"""

import json
import pathlib
import signal
import subprocess
import sys
import threading

from .markdown import PageError
from .sandbox import BLOCK_TIMEOUT_S, Sandbox, kill_group
from .shell import Shell

WORKER = pathlib.Path(__file__).with_name("worker.py")


class Interpreter:
    """The Python interpreter of a page."""

    def __init__(self, sandbox: Sandbox, shell: Shell):
        self.sandbox = sandbox
        self.shell = shell
        self.process: subprocess.Popen | None = None
        self.output = sandbox.private / "python.out"

    def run(self, line: int, code: str, page: str) -> str:
        """Runs a block and returns its output, with the ports and folders of the page."""
        if self.process is None:
            self.start()
        before = self.output.stat().st_size
        # Put empty lines before the code, so that a traceback has the line numbers of the page.
        code = "\n" * (line - 1) + self.sandbox.to_local(code)
        answer = self.ask(json.dumps({"code": code, "folder": self.shell.folder, "page": page}))
        with self.output.open("rb") as file:
            file.seek(before)
            came = self.sandbox.to_page(file.read().decode(errors="replace"))
        if answer != "done":
            raise PageError(line, f"Python {answer or 'ended'}:\n{came}")
        return came

    def ask(self, request: str) -> str:
        """Sends a request and returns the answer.

        The answer is empty if the process has ended, or if it was killed after a timeout.
        """
        timer = threading.Timer(BLOCK_TIMEOUT_S, kill_group, (self.process, signal.SIGKILL))
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
        """Starts the worker process."""
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
        self.sandbox.started.append(self.process)
