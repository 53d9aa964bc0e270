"""Checks whether an answer is allowed for its request.

A status that the table of operations does not list is a failure.
"""

import re
from typing import Any

from .operations import EVALUATING, NOT_READY, OPERATIONS, RUNNING, SWITCHING, YELLOW, Operation
from .shapes import one_of, record, text, without

__all__ = ["EVALUATING", "NOT_READY", "RUNNING", "SWITCHING", "YELLOW", "operation"]

UNKNOWN = Operation("unknown path", re.compile(".*"), None, {404: ()})
_sim_error = without(record({"error": text, "code": text}), "ok")
_robot_error = without(record({"detail": text, "code": text}), "ok")
_waiting = record({"error": text, "status": one_of("waiting"), "code": one_of("no_reading")})


def operation(method: str, path: str) -> Operation:
    """The operation of a request, or `UNKNOWN` if the table does not list it."""
    target = f"{method} {path.split('?')[0]}"
    for candidate in OPERATIONS:
        if candidate.pattern.fullmatch(target):
            return candidate
    return UNKNOWN


def error_text(answer: Any) -> str | None:
    """The text of an error, or None if the answer is not an error."""
    if not isinstance(answer, dict):
        return None
    message = answer.get("error", answer.get("detail"))
    return message if isinstance(message, str) else None


def wrong_status(of: Operation, status: int, answer: Any, allowed: list[int] | None) -> str | None:
    """Describes what is wrong with a status and its error text. None if both are allowed."""
    if allowed is not None and status not in allowed:
        return f"{of.name} answered {status}, allowed here: {allowed}"
    # A request that is invalid on purpose has its own list of allowed statuses (`allowed`).
    if 200 <= status < 300 or (allowed is not None and status not in of.errors):
        return None
    if status not in of.errors:
        return f"{of.name} answered {status}, allowed are 200 and {sorted(of.errors)}"
    texts, message = of.errors[status], error_text(answer)
    if texts and allowed is None and not any((message or "").startswith(t) for t in texts):
        return f"{of.name} answered {status} with {message!r}, allowed are {texts}"
    return None


def wrong_answer(of: Operation, status: int, content_type: str, answer: Any) -> str | None:
    """Describes what is wrong with the shape of an answer. None if it is correct."""
    if status >= 400:
        if not content_type.startswith("application/json"):
            return f"an error has the content type {content_type!r}"
        shape = _waiting if of.robot and status == 503 and "status" in answer else None
        shape = shape or (_robot_error if of.robot and status != 403 else _sim_error)
        wrong = shape(answer)
        if wrong is None and "\n" in (error_text(answer) or ""):
            wrong = "the error text has more than one line"
        return wrong
    if not content_type.startswith(of.content_type):
        return f"the content type is {content_type!r}, not {of.content_type!r}"
    return of.answer(answer) if of.answer else None
