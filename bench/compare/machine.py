"""Describes machine and time of a run, because figures of different machines cannot be compared."""

import datetime
import os
import platform
import subprocess
from pathlib import Path


def describe(root: Path) -> dict:
    """Processor, memory, system, load, date and commit."""
    return {
        "processor": _after("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "cores": os.cpu_count() or 0,
        "memory_gb": round(
            int((_after("/proc/meminfo", "MemTotal") or "0 kB").split()[0]) / 1e6, 1
        ),
        "system": _system(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": _commit(root),
    }


def _after(file: str, name: str) -> str | None:
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return None
    found = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in found if key.strip() == name), None)


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def _commit(root: Path) -> str:
    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no")
    return f"{git('rev-parse', '--short', 'HEAD') or 'unknown'}{' and changes' if changed else ''}"
