#!/usr/bin/env python3
"""A fake podman and docker for tests. It logs its calls and runs the harness as a plain process.

`STAND_IN` is a folder with these files:

- `calls` gets a line of JSON for each call.
- `images` lists the names of the images.
- `containers/<name>` holds the id of the first process of each running container.
- `groups/<name>` holds the id of the process group of a container, even after the
  container has ended.
- If `down` exists, every call fails as if the daemon were not running.
- If `elsewhere` exists, `inspect` returns a wrong process id, as an engine on another machine
  would.

`STAND_IN_ROOT` is a root file system with Python 3.14.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(os.environ["STAND_IN"])
ROOT = Path(os.environ["STAND_IN_ROOT"])


def python():
    """Returns a command that runs Python from `ROOT` with the libraries there, without chroot."""
    loader = next(ROOT.glob("usr/lib*/ld-linux-*"), None) or next(ROOT.glob("lib*/ld-linux-*"))
    libraries = ":".join(map(str, [*ROOT.glob("usr/lib/*-linux-gnu"), ROOT / "usr/lib"]))
    return [str(loader), "--library-path", libraries, str(ROOT / "usr/bin/python3.14")]


def fail(text):
    sys.exit(f"Error: {text}")


def hold():
    """Tells the kernel to kill this process when its parent ends, and limits its memory."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def run(words):
    name = next(word.removeprefix("--name=") for word in words if word.startswith("--name="))
    at = next(k for k, word in enumerate(words) if k > 0 and not word.startswith("-"))
    if words[at] not in (FOLDER / "images").read_text().split():
        fail("no such image")
    # With `-I`, Python would ignore PYTHONHOME and not find its library.
    inside = [word for word in words[at + 1 :] if word != "-I"]
    environment = {"PYTHONHOME": str(ROOT / "usr"), "PATH": os.environ["PATH"]}
    child = subprocess.Popen(
        [*python(), *inside], env=environment, start_new_session=True, preexec_fn=hold
    )
    for folder in ("groups", "containers"):
        (FOLDER / folder / name).write_text(str(child.pid))
    code = child.wait()
    # Kill the rest of the process group, as the kernel does when the first process of a PID
    # namespace ends.
    end(child.pid)
    (FOLDER / "containers" / name).unlink(missing_ok=True)
    return code if code >= 0 else 128 - code


def end(group):
    """Kills a process group and waits until all its processes are gone, for at most a second."""
    try:
        # The loop is bounded, because a process that is not reaped stays in its group forever.
        for _ in range(100):
            os.killpg(group, signal.SIGKILL)
            time.sleep(0.01)
    except OSError:
        pass


def remove(name):
    group = FOLDER / "groups" / name
    if group.exists():
        end(int(group.read_text()))
    (FOLDER / "containers" / name).unlink(missing_ok=True)


def main(words):
    with open(FOLDER / "calls", "a") as file:
        file.write(json.dumps([Path(sys.argv[0]).name, *words]) + "\n")
    if (FOLDER / "down").exists():
        fail("Cannot connect to the daemon. Is it running?")
    match words[0]:
        case "version":
            print("4.0.0")
        case "image":
            if words[-1] not in (FOLDER / "images").read_text().split():
                fail(f"{words[-1]}: image not known")
            print("sha256:0123")
        case "ps":
            print("\n".join(file.name for file in (FOLDER / "containers").iterdir()))
        case "inspect":
            # An engine on another machine returns an id that belongs to an unrelated process here.
            elsewhere = (FOLDER / "elsewhere").exists()
            print(os.getppid() if elsewhere else (FOLDER / "containers" / words[-1]).read_text())
        case "rm":
            remove(words[-1])
        case "run":
            return run(words)
        case other:
            fail(f"unknown command {other}")
    return 0


sys.exit(main(sys.argv[1:]))
