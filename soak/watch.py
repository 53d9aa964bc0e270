"""Samples memory, descriptors, threads and child processes of the simulator from /proc."""

import os
import pathlib
import threading
from typing import Any

from .history import History

PROC = pathlib.Path("/proc")


class Watch:
    """Samples a process and its descendants, by default twice a second."""

    def __init__(self, pid: int, mark: str, history: History) -> None:
        self._pid, self._mark, self._history = pid, mark.encode(), history

    def run(self, over: threading.Event, every: float = 0.5) -> None:
        while not over.wait(every):
            self.look()

    def look(self) -> dict[str, Any] | None:
        """Takes a sample and records it. Returns None if the process has ended."""
        t0 = self._history.now()
        status = _status(self._pid)
        if not status:
            return None
        # A scan takes milliseconds, so it may find a process that ends during the scan, and also
        # the process that replaces it. Therefore two scans are made, and a process counts only if
        # both scans have found it.
        parents, _, strays = _processes(self._mark)
        again, names, strays_again = _processes(self._mark)
        found = _below(self._pid, parents) & _below(self._pid, again)
        # A zombie has ended, and its parent has not noticed it yet.
        children = {pid for pid in found if not names[pid].endswith(" Z")}
        seen = {
            "rss_kb": int(status.get("VmRSS", "0").split()[0]),
            "anon_kb": int(status.get("RssAnon", "0").split()[0]),
            "threads": int(status.get("Threads", "0")),
            "fds": _descriptors(self._pid),
            "children": len(children),
            "pids": sorted(children),
            "zombies": len(found - children),
            "names": sorted(names[pid] for pid in found),
            "strays": min(strays, strays_again),
        }
        self._history.add("watch", t0=t0, t1=self._history.now(), **seen)
        return seen


def _status(pid: int) -> dict[str, str]:
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(PROC / str(pid) / "fd"))
    except OSError:
        return 0


def _processes(mark: bytes) -> tuple[dict[int, int], dict[int, str], int]:
    """Parents and names of all processes, and the number of those with `mark` in their command."""
    parents, names, strays = {}, {}, 0
    for entry in os.scandir(PROC):
        if not entry.name.isdigit():
            continue
        try:
            stat = (PROC / entry.name / "stat").read_text(errors="replace")
            fields = stat[stat.rindex(")") + 2 :].split()
            parents[int(entry.name)] = int(fields[1])
            # The state is part of the name, because `look` must tell zombies from other processes.
            names[int(entry.name)] = f"{stat[stat.index('(') + 1 : stat.rindex(')')]} {fields[0]}"
            # A zombie does not count as a running program.
            if fields[0] != "Z" and mark in (PROC / entry.name / "cmdline").read_bytes():
                strays += 1
        except (OSError, ValueError):
            continue
    return parents, names, strays


def _below(pid: int, parents: dict[int, int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    below: set[int] = set()
    front = [pid]
    while front:
        for child in children.get(front.pop(), []):
            below.add(child)
            front.append(child)
    return below


def groups(pid: int) -> list[str]:
    """The control groups of a simulator's jails that still exist."""
    root = pathlib.Path("/sys/fs/cgroup")
    return sorted(str(path) for path in root.rglob(f"chicane-{pid}-*") if path.is_dir())
