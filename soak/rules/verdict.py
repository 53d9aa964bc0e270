"""The result of checking: the number of checks of each rule, and all violations."""

from collections import Counter
from dataclasses import dataclass, field

from ..history import HistoryLine


@dataclass(frozen=True)
class Violation:
    """A broken rule, with the history lines that prove it."""

    rule: str
    text: str
    time: float
    lines: tuple[HistoryLine, ...]


@dataclass
class Verdict:
    """Collects the results of all rules."""

    checked: Counter[str] = field(default_factory=Counter)
    broken: list[Violation] = field(default_factory=list)

    def check(self, rule: str, good: bool, text: str, *lines: HistoryLine) -> bool:
        """Counts a check of a rule, and adds a violation with its lines unless `good`."""
        self.checked[rule] += 1
        if not good:
            time = max((end_time(line) for line in lines), default=0.0)
            self.broken.append(Violation(rule, text, time, lines))
        return good


def end_time(line: HistoryLine) -> float:
    """When the request of a line ended or its event occurred, in seconds of the history."""
    return line.get("t1", line.get("t", 0.0))
