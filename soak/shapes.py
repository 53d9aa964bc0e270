"""Shapes: functions that take a value and return what is wrong with it, or None.

Unknown keys are allowed, because later versions may add fields to an answer.
"""

import math
import re
from collections.abc import Callable
from typing import Any

Shape = Callable[[Any], str | None]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def number(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{_short(value)} is not a number"
    return None if math.isfinite(value) else f"{value} is not finite"


def between(low: float, high: float) -> Shape:
    def check(value: Any) -> str | None:
        wrong = number(value)
        if wrong is None and not low <= value <= high:
            wrong = f"{value} is not in {low}..{high}"
        return wrong

    return check


def whole(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{_short(value)} is not an integer"
    return None


def text(value: Any) -> str | None:
    return None if isinstance(value, str) else f"{_short(value)} is not a string"


def flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"{_short(value)} is not a boolean"


def anything(_: Any) -> str | None:
    return None


def matches(pattern: str) -> Shape:
    compiled = re.compile(pattern)

    def check(value: Any) -> str | None:
        if isinstance(value, str) and compiled.fullmatch(value):
            return None
        return f"{_short(value)} does not match {pattern}"

    return check


def one_of(*values: Any) -> Shape:
    def check(value: Any) -> str | None:
        same = any(value == v and isinstance(value, bool) == isinstance(v, bool) for v in values)
        return None if same else f"{_short(value)} is not one of {values}"

    return check


def maybe(shape: Shape) -> Shape:
    return lambda value: None if value is None else shape(value)


def either(*shapes: Shape) -> Shape:
    def check(value: Any) -> str | None:
        wrongs = [shape(value) for shape in shapes]
        return None if None in wrongs else " and ".join(filter(None, wrongs))

    return check


def listed(item: Shape, least: int = 0, most: int | None = None) -> Shape:
    def check(value: Any) -> str | None:
        if not isinstance(value, list):
            return f"{_short(value)} is not a list"
        if len(value) < least or (most is not None and len(value) > most):
            return f"the list has {len(value)} items, not {least}..{most or ''}"
        for index, element in enumerate(value):
            if wrong := item(element):
                return f"[{index}]: {wrong}"
        return None

    return check


def mapped(item: Shape) -> Shape:
    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"{_short(value)} is not an object"
        for key, element in value.items():
            if wrong := item(element):
                return f"{key}: {wrong}"
        return None

    return check


def record(required: dict[str, Shape], optional: dict[str, Shape] | None = None) -> Shape:
    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"{_short(value)} is not an object"
        for key, shape in required.items():
            if key not in value:
                return f"{key} is missing"
            if wrong := shape(value[key]):
                return f"{key}: {wrong}"
        for key, shape in (optional or {}).items():
            if key in value and (wrong := shape(value[key])):
                return f"{key}: {wrong}"
        return None

    return check


def without(shape: Shape, *keys: str) -> Shape:
    def check(value: Any) -> str | None:
        there = [key for key in keys if isinstance(value, dict) and key in value]
        return f"{there[0]} is not allowed" if there else shape(value)

    return check
