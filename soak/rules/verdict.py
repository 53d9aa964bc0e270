"""What the rules found: how often each was checked, and where one was broken."""

from collections import Counter
from dataclasses import dataclass, field

from ..history import Line


@dataclass(frozen=True)
class Broken:
    """A rule that was broken, and the lines that show it."""

    rule: str
    text: str
    time: float
    lines: tuple[Line, ...]


@dataclass
class Verdict:
    """Filled by the rules."""

    checked: Counter[str] = field(default_factory=Counter)
    broken: list[Broken] = field(default_factory=list)

    def check(self, rule: str, good: bool, text: str, *lines: Line) -> bool:
        """Notes that a rule was checked, and with which lines it was broken if it was."""
        self.checked[rule] += 1
        if not good:
            time = max((moment(line) for line in lines), default=0.0)
            self.broken.append(Broken(rule, text, time, lines))
        return good


def moment(line: Line) -> float:
    """When a line was over."""
    return line.get("t1", line.get("t", 0.0))
