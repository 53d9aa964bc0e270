"""A value that is written and read by many: what a reader saw must be what someone may have
written last.
"""

import math
from bisect import bisect_left
from collections.abc import Hashable
from dataclasses import dataclass

from ..history import Line

#: A writer of whom nobody knows what it wrote.
ANY = object()


@dataclass(frozen=True)
class Write:
    """Somebody wrote, at some moment from `t0` to `t1`."""

    t0: float
    t1: float
    value: Hashable
    line: Line | None = None


class Register:
    """Writes that were carried out, to hold reads against."""

    def __init__(self, writes: list[Write]) -> None:
        self._by_end = sorted(writes, key=lambda w: w.t1)
        self._ends = [w.t1 for w in self._by_end]
        # Up to each write by its end: which one began last.
        self._latest: list[Write] = []
        for write in self._by_end:
            last = self._latest[-1] if self._latest else write
            self._latest.append(write if write.t0 >= last.t0 else last)

    def last_before(self, t0: float) -> Write | None:
        """The write that whoever reads from `t0` on has certainly after all that was over before
        it began.
        """
        index = bisect_left(self._ends, t0)
        return self._latest[index - 1] if index else None

    def possible(self, t0: float, t1: float) -> list[Write]:
        """The writes that a reader from `t0` to `t1` may have seen the value of."""
        last = self.last_before(t0)
        since = last.t0 if last else -math.inf
        first = bisect_left(self._ends, since)
        return [w for w in self._by_end[first:] if w.t0 <= t1]

    def wrong(self, t0: float, t1: float, value: Hashable) -> list[Write] | None:
        """What may have been read instead, if this value may not; nothing when it may."""
        possible = self.possible(t0, t1)
        if not possible or any(w.value is ANY or w.value == value for w in possible):
            return None
        return possible
