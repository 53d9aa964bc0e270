"""The sandbox of a page: folders, ports, environment and processes.

The folder of a page looks like a clone of the repository after `make build`. It has links to the
files of the repository and a copy of its examples, and `target/release/chicane` is the program
under test. The data folder is next to the folder of the page. Pages use the ports 8000 to 8009. The
sandbox replaces them by free ports in commands, and changes the free ports back to the page's ports
in the output.
"""

import contextlib
import itertools
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import NamedTuple

PORTS = range(8000, 8010)
# The sandbox has links to the repository's files, but a copy of this folder. Pages evaluate the
# programs of this folder, and a closed box does not show the targets of links that lead out of the
# workspace.
COPIED = "examples"
# The sandbox takes its free ports from these numbers. They are below the ephemeral ports of the
# system, so no outgoing connection occupies one of them.
CANDIDATES = iter(random.sample(range(20_000, 32_000), 12_000))
BLOCK_TIMEOUT_S = 240  # timeout of one block, long enough for a busy machine
# Environment variables that are removed, because they change the behaviour of commands.
REMOVED_VARIABLES = re.compile(r"CHICANE(?!_JUDGE_ROOT)|XDG_DATA_HOME|PYTHON|COLUMNS|NO_COLOR")


class Printed(NamedTuple):
    """Standard output and standard error of a command."""

    output: str
    errors: str = ""

    def __str__(self) -> str:
        return self.errors + self.output


class Sandbox:
    """The folder and the processes of one page. `close` ends all processes."""

    def __init__(self, root: pathlib.Path, program: pathlib.Path, home: pathlib.Path):
        self.root = root
        self.folder = home / "chicane"
        self.private = home / "private"  # files that the page does not see
        self.private.mkdir(parents=True)
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.started: list[subprocess.Popen] = []
        clone(root, program, self.folder)
        self.environment = {k: v for k, v in os.environ.items() if not REMOVED_VARIABLES.match(k)}
        self.url = f"http://127.0.0.1:{self.ports[PORTS[0]]}"
        self.environment |= {
            "PATH": f"{folders_of_python()}{self.environment['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_DATA_HOME": str(home / "data"),
            "CHICANE_LISTEN": f"127.0.0.1:{self.ports[PORTS[0]]}",
            "CHICANE_URL": self.url,
        }

    def install(self) -> None:
        """Makes the program and the Python package available, as after an installation."""
        self.environment["PATH"] = f"{self.folder}/target/release:{self.environment['PATH']}"
        self.environment["PYTHONPATH"] = str(self.folder / "python" / "src")

    def to_local(self, text: str) -> str:
        """Replaces the ports of a page's text by the ports of this sandbox."""
        return re.sub(r"(?<=:)800\d\b", lambda port: str(self.ports[int(port[0])]), text)

    def to_page(self, text: str) -> str:
        """Replaces the ports and folders of this sandbox in an output by those of the page."""
        for port, own in self.ports.items():
            text = re.sub(rf"\b{own}\b", str(port), text)
        return text.replace(str(self.folder), "/home/you/chicane")

    def start(self, command: list[str], output: pathlib.Path, cwd: str, **more) -> subprocess.Popen:
        """Starts a process in a new process group.

        Standard output goes to the file `output`, standard error to the file with suffix `.err`.
        """
        with output.open("wb") as file, output.with_suffix(".err").open("wb") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=errors,
                cwd=cwd,
                start_new_session=True,
                **more,
            )
        self.started.append(process)
        return process

    def printed(self, output: pathlib.Path) -> Printed:
        """The current output of a process, with the ports and folders of the page."""
        files = output, output.with_suffix(".err")
        return Printed(*(self.to_page(file.read_text(errors="replace")) for file in files))

    def close(self) -> None:
        """Ends all started processes and their children."""
        for sign, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
            for process in self.started:
                kill_group(process, sign)
            until = time.monotonic() + seconds
            while any(alive(process) for process in self.started) and time.monotonic() < until:
                time.sleep(0.02)


def folders_of_python() -> str:
    """The folder of this interpreter as a prefix for PATH, if it contains `python3`."""
    folder = pathlib.Path(sys.executable).parent
    return f"{folder}:" if (folder / "python3").exists() else ""


def clone(root: pathlib.Path, program: pathlib.Path, folder: pathlib.Path) -> None:
    """Creates a folder with links to the repository's files, a copy of its examples, and a new
    `target`.
    """
    (folder / "target" / "release").mkdir(parents=True)
    (folder / "target" / "release" / "chicane").symlink_to(program)
    for entry in root.iterdir():
        if entry.name == COPIED:
            shutil.copytree(entry, folder / COPIED, ignore=shutil.ignore_patterns("__pycache__"))
        elif entry.name not in ("target", ".git"):
            (folder / entry.name).symlink_to(entry)


def free_ports(count: int) -> list[int]:
    """Ports that no process uses. No two calls return the same port."""
    return list(itertools.islice(filter(is_free, CANDIDATES), count))


def is_free(port: int) -> bool:
    """Whether no process uses a port."""
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def kill_group(process: subprocess.Popen, sign: int) -> None:
    """Sends a signal to the process group of a started process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sign)


def alive(process: subprocess.Popen) -> bool:
    """Whether the process group of a started process still has a process."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
