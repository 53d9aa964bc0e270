"""Reads contests from the file of another benchmark, such as `driving.py`.

The format is `{"versions": {"highway-env": "1.0"}, "contests": [{"key", "title", "unit", "lower",
"note", "entries": [{"key", "title", "ours", "figure"}, …]}], "missing": [<title>, …]}`. If an entry
has no ratio, the ratio is computed from the figures.
"""

import json
from pathlib import Path

from .contest import BenchError

_DEFAULTS = {"unit": "steps/s", "lower": False, "note": ""}


def read(file: Path) -> dict:
    """The contests, versions and missing environments in a file.

    Raises `BenchError` if the file cannot be read or is malformed.
    """
    try:
        content = json.loads(file.read_text())
        contests = [_contest(c) for c in content["contests"]]
    except (OSError, ValueError, KeyError, TypeError, IndexError, ZeroDivisionError) as error:
        raise BenchError(f"--join: cannot read {file}: {type(error).__name__}: {error}") from error
    return {
        "versions": content.get("versions", {}),
        "contests": contests,
        "missing": [
            f"{name}: does not start on this machine" for name in content.get("missing", [])
        ],
    }


def _contest(content: dict) -> dict:
    contest = _DEFAULTS | content
    first = contest["entries"][0]["figure"]
    contest["entries"] = [_entry(e, first, contest["lower"]) for e in contest["entries"]]
    return {name: contest[name] for name in ("key", "title", "unit", "lower", "note", "entries")}


def _entry(content: dict, first: float, lower: bool) -> dict:
    figure = content["figure"]
    ratio = content.get("ratio", figure / first if lower else first / figure)
    spread = {"low": figure, "high": figure, "ratio_low": ratio, "ratio_high": ratio}
    named = {"key": content["key"], "title": content["title"], "ours": bool(content.get("ours"))}
    kept = {name: content.get(name, value) for name, value in spread.items()}
    return named | kept | {"figure": figure, "ratio": ratio}
