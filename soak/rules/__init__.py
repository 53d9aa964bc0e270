"""The checker: tests a history against all rules.

A rule is only checked where the history is unambiguous. If two requests overlapped, either order of
their effects is accepted. Each violation comes with the history lines that prove it.
"""

from typing import Any

from ..history import HistoryLine
from . import (
    answers,
    builder,
    clock,
    grading,
    lights,
    poses,
    replays,
    resources,
    sessions,
    streams,
    worlds,
)
from .facts import Facts
from .verdict import Verdict, Violation

__all__ = ["RULES", "Verdict", "Violation", "check"]

_ALL = (answers, lights, sessions, clock, worlds, streams, poses, builder, replays, grading)
RULES: dict[str, str] = {
    name: text for module in (*_ALL, resources) for name, text in module.RULES.items()
}


def check(lines: list[HistoryLine], end: dict[str, Any] | None = None) -> Verdict:
    """Checks all rules on a whole history. Violations are sorted by time."""
    facts, verdict = Facts(lines), Verdict()
    for module in _ALL:
        module.check(facts, verdict)
    if end is not None:
        resources.check(facts, verdict, end)
    verdict.broken.sort(key=lambda broken: broken.time)
    return verdict
