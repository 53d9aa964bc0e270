"""The reader's machine, as far as a page can tell: folders, ports, environment, processes.

A page is read in a folder of its own that looks like a clone of the repository after `make build`:
everything of it is there by links, `target/release/chicane` is the program under test, and what is
written stays in that folder. The default data folder is in there too. Pages speak of the ports 8000
to 8009; here they are free ones, put in wherever a page names one and taken out of what is printed.
"""

import contextlib
import itertools
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import time
from typing import NamedTuple

PORTS = range(8000, 8010)
# Below those that the system gives to whoever connects: none is taken before the page needs it.
CANDIDATES = iter(random.sample(range(20_000, 32_000), 12_000))
PATIENCE = 240  # seconds for one block, on a machine that has a lot to do
# What a test run should not inherit, because it changes what commands do.
STRANGERS = re.compile(r"CHICANE(?!_JUDGE_ROOT)|XDG_DATA_HOME|PYTHON|COLUMNS|NO_COLOR")


class Printed(NamedTuple):
    """What came out of a command."""

    output: str
    errors: str = ""

    def __str__(self) -> str:
        return self.errors + self.output


class Reader:
    """One reader with an empty clone; ends everything it started when it goes."""

    def __init__(self, root: pathlib.Path, program: pathlib.Path, home: pathlib.Path):
        self.root = root
        self.folder = home / "chicane"
        self.private = home / "private"  # what the page does not see
        self.private.mkdir(parents=True)
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.started: list[subprocess.Popen] = []
        clone(root, program, self.folder)
        self.environment = {k: v for k, v in os.environ.items() if not STRANGERS.match(k)}
        self.url = f"http://127.0.0.1:{self.ports[PORTS[0]]}"
        self.environment |= {
            "PATH": f"{folders_of_python()}{self.environment['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_DATA_HOME": str(home / "data"),
            "CHICANE_LISTEN": f"127.0.0.1:{self.ports[PORTS[0]]}",
            "CHICANE_URL": self.url,
        }

    def install(self) -> None:
        """Program and Python package are there by their names, as after the README or a wheel."""
        self.environment["PATH"] = f"{self.folder}/target/release:{self.environment['PATH']}"
        self.environment["PYTHONPATH"] = str(self.folder / "python" / "src")

    def ours(self, text: str) -> str:
        """A page's text with our ports."""
        return re.sub(r"(?<=:)800\d\b", lambda port: str(self.ports[int(port[0])]), text)

    def theirs(self, text: str) -> str:
        """Our text with the ports and folders that the page speaks of."""
        for port, own in self.ports.items():
            text = re.sub(rf"\b{own}\b", str(port), text)
        return text.replace(str(self.folder), "/home/you/chicane")

    def start(self, command: list[str], output: pathlib.Path, cwd: str, **more) -> subprocess.Popen:
        """Starts a process in a group of its own. Its output goes to a file, errors beside it."""
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
        """What a process has printed by now, in the page's words."""
        files = output, output.with_suffix(".err")
        return Printed(*(self.theirs(file.read_text(errors="replace")) for file in files))

    def close(self) -> None:
        """Ends every process that was started, with what they started."""
        for sign, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
            for process in self.started:
                kill_group(process, sign)
            until = time.monotonic() + seconds
            while any(alive(process) for process in self.started) and time.monotonic() < until:
                time.sleep(0.02)


def folders_of_python() -> str:
    """Where `python3` is the interpreter that runs this, with its packages."""
    folder = pathlib.Path(sys.executable).parent
    return f"{folder}:" if (folder / "python3").exists() else ""


def clone(root: pathlib.Path, program: pathlib.Path, folder: pathlib.Path) -> None:
    """The repository by links, with a folder `target` of its own."""
    (folder / "target" / "release").mkdir(parents=True)
    (folder / "target" / "release" / "chicane").symlink_to(program)
    for entry in root.iterdir():
        if entry.name not in ("target", ".git"):
            (folder / entry.name).symlink_to(entry)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, and that no other page gets."""
    return list(itertools.islice(filter(is_free, CANDIDATES), count))


def is_free(port: int) -> bool:
    """Whether nobody has a port now."""
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def kill_group(process: subprocess.Popen, sign: int) -> None:
    """Signals a process that we started, and all of its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sign)


def alive(process: subprocess.Popen) -> bool:
    """Whether anything is left of its group."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
