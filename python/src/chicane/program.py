"""A simulator of one's own: found, started on a free port with a folder of its own, and ended.

It holds on to a lifeline, its standard input: when the process that started it ends, in whatever
way, the simulator ends too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from types import TracebackType

from chicane.errors import ProgramError

READY = "chicane is ready: "
START_S = 60.0
END_S = 10.0


def find() -> str:
    """The simulator's program: that of the installed package, else `CHICANE`, else `chicane` on the
    path.
    """
    carried = Path(__file__).parent / "bin" / "chicane"
    if carried.is_file():
        return str(carried)
    named = os.environ.get("CHICANE")
    if named:
        if not os.access(named, os.X_OK):
            raise ProgramError(f"CHICANE={named} is no program that can be run")
        return named
    found = shutil.which("chicane")
    if found:
        return found
    raise ProgramError(
        "the simulator's program was not found: install the wheel that carries it (make wheel), "
        "or say where it is with CHICANE=/path/to/chicane"
    )


class Program:
    """A running simulator, which ends with this object and with this process.

    >>> with Program("technical") as program:
    ...     sim = Sim(program.url)
    """

    def __init__(
        self, world: str = "oval", *, arguments: Sequence[str] = (), program: str | None = None
    ) -> None:
        """`arguments` are further ones of `chicane serve`; `program` is the one to run."""
        folder = tempfile.mkdtemp(prefix="chicane-")
        log = Path(folder) / "log"
        command = [program or find(), "serve", "--lifeline", "--listen", "127.0.0.1:0"]
        command += ["--data-dir", f"{folder}/data", "--world", world, *arguments]
        environment = {
            name: value
            for name, value in os.environ.items()
            # What was meant for another simulator. The judge is the same for all.
            if not name.startswith("CHICANE_") or name == "CHICANE_JUDGE_ROOT"
        }
        try:
            with log.open("wb") as errors:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=environment,
                    # Ctrl-C is for whoever started us; the simulator ends with its lifeline.
                    start_new_session=True,
                )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise ProgramError(f"{command[0]} could not be started: {error.strerror}") from error
        self._end = weakref.finalize(self, _end, process, folder)
        self.pid = process.pid
        self.url = self._wait_until_ready(process, log)

    def _wait_until_ready(self, process: subprocess.Popen[bytes], log: Path) -> str:
        said: list[str] = []

        def read() -> None:
            if process.stdout:
                said.append(process.stdout.readline().decode("utf-8", "replace").strip())

        reader = Thread(target=read, daemon=True)
        reader.start()
        reader.join(START_S)
        if said and said[0].startswith(READY):
            return said[0].removeprefix(READY).partition("/sim")[0]
        words = log.read_text("utf-8", "replace").strip().splitlines() or ["it says nothing"]
        self.close()
        raise ProgramError(f"the simulator did not start: {words[-1]}")

    def close(self) -> None:
        """Ends it; again is no harm."""
        self._end()

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()
    shutil.rmtree(folder, ignore_errors=True)
