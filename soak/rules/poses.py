"""Rules of commands whose answers contain their effect: poses, speeds, texts."""

import math

from ..history import HistoryLine
from .facts import API, Facts
from .verdict import Verdict

RULES = {
    "pose-applied": "The pose in the answer is the requested pose.",
    "drive-clamped": "The answer to a drive command contains the requested value, clamped to the "
    "limits.",
    "own-answer": "The answer to a command of the clock, the overlay or the brightness contains "
    "the requested value, also with concurrent commands. No two overlays have the same `seq`.",
}
LIMITS = {"/speed": 3.0, "/steering": 0.3491, "/camera/pan": 0.5236, "/camera/tilt": 0.5236}


def check(facts: Facts, verdict: Verdict) -> None:
    _own(facts, verdict)
    for line in facts.calls:
        if line["method"] != "POST" or line["status"] != 200 or "wrong" in line:
            continue
        path, body = line["path"], line["body"] or {}
        if path == API + "/pose":
            _pose(verdict, line, body, line["answer"]["pose"])
        elif path.startswith(API + "/models/") and not {"duration", "path"} & set(body):
            _pose(verdict, line, body, line["answer"]["model"])
        elif path in LIMITS:
            _clamped(verdict, line, body["value"], line["answer"]["value"], LIMITS[path])
        elif path == "/drive":
            for key in ("speed", "steering"):
                _clamped(verdict, line, body[key], line["answer"]["value"][key], LIMITS["/" + key])


def _pose(verdict: Verdict, line: HistoryLine, asked: dict, applied: dict) -> None:
    for key in ("x", "y", "yaw"):
        if asked.get(key) is None:
            continue
        off = applied[key] - asked[key]
        if key == "yaw":
            off = math.remainder(off, 2 * math.pi)
        text = f"{key}: requested {asked[key]}, applied {applied[key]}"
        verdict.check("pose-applied", abs(off) < 1e-5, text, line)


def _clamped(
    verdict: Verdict, line: HistoryLine, asked: float, actual: float, limit: float
) -> None:
    wanted = min(max(asked, -limit), limit)
    text = f"requested {asked}, answered {actual}"
    verdict.check("drive-clamped", abs(actual - wanted) < 1e-6, text, line)


def _own(facts: Facts, verdict: Verdict) -> None:
    """Checks that each answer contains the values of its own command, not of another client's."""
    numbers: dict[int, HistoryLine] = {}
    for line in facts.done("POST", "/clock", "/overlay", "/brightness"):
        if "wrong" in line:
            continue
        asked, actual = line["body"] or {}, line["answer"]
        for key in ("paused", "speed", "text", "value"):
            if asked.get(key) is not None:
                text = f"{key}: requested {asked[key]!r}, answered {actual.get(key)!r}"
                verdict.check("own-answer", actual.get(key) == asked[key], text, line)
        if line["path"] == API + "/overlay":
            other = numbers.setdefault(actual["seq"], line)
            text = f"two overlays with seq {actual['seq']}"
            verdict.check("own-answer", other is line, text, other, line)
