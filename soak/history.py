"""The history of a soak: every request with its answer, every event, every look at the process.

A line of JSON each, in the order in which they were over, so that a rule that was broken can be
shown by its lines.
Times are seconds since the start of the soak by one monotonic clock.
"""

import json
import pathlib
import threading
import time
from typing import Any

Line = dict[str, Any]


class History:
    """Writes lines down; many threads may."""

    def __init__(self, path: pathlib.Path) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1 << 20)
        self._lock = threading.Lock()
        self._start = time.monotonic()

    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def add(self, kind: str, /, **fields: Any) -> None:
        """Adds a line; one that comes after the end is nobody's."""
        line = {"k": kind} | {
            key: round(value, 6) if isinstance(value, float) else value
            for key, value in fields.items()
        }
        text = json.dumps(line, separators=(",", ":"))
        with self._lock:
            if not self._file.closed:
                self._file.write(text + "\n")

    def close(self) -> None:
        with self._lock:
            self._file.close()


def read(path: pathlib.Path) -> list[Line]:
    """The lines of a history, each with its number `n`."""
    with path.open(encoding="utf-8") as file:
        return numbered(json.loads(line) for line in file)


def numbered(lines: Any) -> list[Line]:
    """Gives lines their numbers, from 1 on."""
    return [line | {"n": number} for number, line in enumerate(lines, 1)]
