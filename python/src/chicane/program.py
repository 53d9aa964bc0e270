"""Starts the simulator's program as a child process, on a free port and with a temporary folder.

The simulator runs with `--lifeline`: it ends when its standard input is closed. That input is a
pipe from this process. The operating system closes the pipe when this process ends, even after a
crash, so no simulator is left running.
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
"""Start of the line that the simulator prints when it accepts requests. The address follows."""
START_S = 60.0
"""Seconds to wait for that line."""
END_S = 10.0
"""Seconds to wait for the simulator to end before it is killed."""


def find() -> str:
    """Returns the path of the simulator's program.

    Looks in the installed package, then at the environment variable `CHICANE`, then for `chicane`
    on `PATH`. Raises `ProgramError` if the program is not found.
    """
    carried = Path(__file__).parent / "bin" / "chicane"
    if carried.is_file():
        return str(carried)
    named = os.environ.get("CHICANE")
    if named:
        if not os.access(named, os.X_OK):
            raise ProgramError(f"CHICANE={named} is not an executable file: correct it or unset it")
        return named
    found = shutil.which("chicane")
    if found:
        return found
    raise ProgramError(
        "the simulator's program was not found: install the wheel that contains it (make wheel), "
        "or set CHICANE=/path/to/chicane"
    )


class Program:
    """A running simulator. It ends when this object is closed or collected, or this process ends.

    `url` is the address of the simulator, `pid` its process id.

    >>> with Program("technical") as program:
    ...     sim = Sim(program.url)
    """

    def __init__(
        self, world: str = "oval", *, arguments: Sequence[str] = (), program: str | None = None
    ) -> None:
        """Starts the simulator and waits until it accepts requests.

        `world`: the world to load. `arguments`: further arguments of `chicane serve`. `program`:
        path of the program; default: the result of `find`.

        Raises `ProgramError` if the program is not found or does not start within 60 s.
        """
        folder = tempfile.mkdtemp(prefix="chicane-")
        log = Path(folder) / "log"
        command = [program or find(), "serve", "--lifeline", "--listen", "127.0.0.1:0"]
        command += ["--data-dir", f"{folder}/data", "--world", world, *arguments]
        environment = {
            name: value
            for name, value in os.environ.items()
            # The simulator does not get the `CHICANE_` settings of this process.
            # `CHICANE_JUDGE_ROOT` is an exception, because all simulators share that folder.
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
                    # In the same session, Ctrl-C would interrupt the simulator before this process
                    # could finish its own work. Instead, the closed standard input ends the
                    # simulator.
                    start_new_session=True,
                )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise ProgramError(f"{command[0]} could not be started: {error.strerror}") from error
        self._end = weakref.finalize(self, _end, process, folder)
        self.pid = process.pid
        self.url = self._wait_until_ready(process, log)

    def _wait_until_ready(self, process: subprocess.Popen[bytes], log: Path) -> str:
        printed: list[str] = []

        def read() -> None:
            if process.stdout:
                printed.append(process.stdout.readline().decode("utf-8", "replace").strip())

        reader = Thread(target=read, daemon=True)
        reader.start()
        reader.join(START_S)
        if printed and printed[0].startswith(READY):
            return printed[0].removeprefix(READY).partition("/sim")[0]
        lines = log.read_text("utf-8", "replace").strip().splitlines() or ["its log is empty"]
        self.close()
        raise ProgramError(f"the simulator did not start: {lines[-1]}")

    def close(self) -> None:
        """Ends the simulator and removes its temporary folder. A second call has no effect."""
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
