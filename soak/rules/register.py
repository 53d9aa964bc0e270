"""A shared value with many writers and readers.

The exact moment of a write is unknown; only its time span is known. A read is correct if its value
may be that of the last write.
"""

import math
from bisect import bisect_left
from collections.abc import Hashable
from dataclasses import dataclass

from ..history import HistoryLine

#: The value of a write whose value is unknown.
ANY = object()


@dataclass(frozen=True)
class Write:
    """A write that took effect at some moment from `t0` to `t1`."""

    t0: float
    t1: float
    value: Hashable
    line: HistoryLine | None = None


class Register:
    """All writes to one value, to check reads against."""

    def __init__(self, writes: list[Write]) -> None:
        self._by_end = sorted(writes, key=lambda w: w.t1)
        self._ends = [w.t1 for w in self._by_end]
        # `_latest[i]` is the write that started last among `_by_end[0]` to `_by_end[i]`.
        self._latest: list[Write] = []
        for write in self._by_end:
            last = self._latest[-1] if self._latest else write
            self._latest.append(write if write.t0 >= last.t0 else last)

    def last_before(self, t0: float) -> Write | None:
        """Returns the write that started last among the writes that ended before `t0`.

        The returned write has certainly overwritten all writes that ended before it started.
        Returns None if no write ended before `t0`.
        """
        index = bisect_left(self._ends, t0)
        return self._latest[index - 1] if index else None

    def possible(self, t0: float, t1: float) -> list[Write]:
        """The writes whose value a read from `t0` to `t1` may return."""
        last = self.last_before(t0)
        since = last.t0 if last else -math.inf
        first = bisect_left(self._ends, since)
        return [w for w in self._by_end[first:] if w.t0 <= t1]

    def wrong(self, t0: float, t1: float, value: Hashable) -> list[Write] | None:
        """None if a read may return this value, else the writes whose values are possible."""
        possible = self.possible(t0, t1)
        if not possible or any(w.value is ANY or w.value == value for w in possible):
            return None
        return possible
