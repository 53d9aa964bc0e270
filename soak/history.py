"""The history of a soak test: all requests with their answers, all events, all process samples.

Each request, event or sample is one line of JSON. The lines are in the order in which the requests
ended and the events arrived. The report shows the lines that break a rule. Times are seconds since
the start, from one monotonic clock.
"""

import json
import pathlib
import threading
import time
from typing import Any

HistoryLine = dict[str, Any]


class History:
    """Writes lines to a file. Several threads may use one `History`."""

    def __init__(self, path: pathlib.Path) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1 << 20)
        self._lock = threading.Lock()
        self._start = time.monotonic()

    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def add(self, kind: str, /, **fields: Any) -> None:
        """Adds a line. A line after `close` is ignored, because some threads may end later."""
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


def read(path: pathlib.Path) -> list[HistoryLine]:
    """The lines of a history file, each with its line number `n`."""
    with path.open(encoding="utf-8") as file:
        return numbered(json.loads(line) for line in file)


def numbered(lines: Any) -> list[HistoryLine]:
    """Adds line numbers, starting at 1."""
    return [line | {"n": number} for number, line in enumerate(lines, 1)]
