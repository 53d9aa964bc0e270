"""Contests that another benchmark held: driving environments (`driving.py`), or anything else.

A file of `{"versions": {"highway-env": "1.0"}, "contests": [{"key", "title", "unit", "lower",
"note", "entries": [{"key", "title", "ours", "figure"}, …]}]}`. Ratios are those of the figures
where the file has none of its own.
"""

import json
from pathlib import Path

from .contest import Broken

_DEFAULTS = {"unit": "steps/s", "lower": False, "note": ""}


def read(file: Path) -> dict:
    """What the file adds to a run."""
    try:
        told = json.loads(file.read_text())
        contests = [_contest(c) for c in told["contests"]]
    except (OSError, ValueError, KeyError, TypeError, IndexError, ZeroDivisionError) as error:
        raise Broken(f"{file} can't be joined: {type(error).__name__}: {error}") from error
    return {
        "versions": told.get("versions", {}),
        "contests": contests,
        "missing": [f"{name}: it does not start here" for name in told.get("missing", [])],
    }


def _contest(told: dict) -> dict:
    contest = _DEFAULTS | told
    first = contest["entries"][0]["figure"]
    contest["entries"] = [_entry(e, first, contest["lower"]) for e in contest["entries"]]
    return {name: contest[name] for name in ("key", "title", "unit", "lower", "note", "entries")}


def _entry(told: dict, first: float, lower: bool) -> dict:
    figure = told["figure"]
    ratio = told.get("ratio", figure / first if lower else first / figure)
    spread = {"low": figure, "high": figure, "ratio_low": ratio, "ratio_high": ratio}
    named = {"key": told["key"], "title": told["title"], "ours": bool(told.get("ours"))}
    kept = {name: told.get(name, value) for name, value in spread.items()}
    return named | kept | {"figure": figure, "ratio": ratio}
