"""The checker: holds a history against the rules of the contract.

Each rule is checked wherever the history is certain about it; where two requests overlapped and
either order is possible, both
are right. A rule that was broken is told with the lines of the history that show it.
"""

from typing import Any

from ..history import Line
from . import answers, clock, lights, poses, resources, sessions, streams, worlds
from .facts import Facts
from .verdict import Broken, Verdict

__all__ = ["RULES", "Broken", "Verdict", "check"]

_ALL = (answers, lights, sessions, clock, worlds, streams, poses)
RULES: dict[str, str] = {
    name: text for module in (*_ALL, resources) for name, text in module.RULES.items()
}


def check(lines: list[Line], end: dict[str, Any] | None = None) -> Verdict:
    """Every rule on a whole history; what was broken comes in the order of time."""
    facts, verdict = Facts(lines), Verdict()
    for module in _ALL:
        module.check(facts, verdict)
    if end is not None:
        resources.check(facts, verdict, end)
    verdict.broken.sort(key=lambda broken: broken.time)
    return verdict
