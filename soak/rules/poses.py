"""The rules of commands that say what came of them.

A pose is the one that was asked for, a speed is within its limits, a text is one's own.
"""

import math

from ..history import Line
from .facts import API, Facts
from .verdict import Verdict

RULES = {
    "pose-applied": "A pose that is answered as applied is the one that was asked for.",
    "drive-clamped": "A drive command is answered with what is in force: what was asked for, "
    "within the limits.",
    "own-answer": "A command of the clock, the overlay or the brightness is answered with what it "
    "asked for, whatever others ask for at the same time; no two texts have the same number.",
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


def _pose(verdict: Verdict, line: Line, asked: dict, applied: dict) -> None:
    for key in ("x", "y", "yaw"):
        if asked.get(key) is None:
            continue
        off = applied[key] - asked[key]
        if key == "yaw":
            off = math.remainder(off, 2 * math.pi)
        text = f"{key} {asked[key]} was asked for, {applied[key]} applied"
        verdict.check("pose-applied", abs(off) < 1e-5, text, line)


def _clamped(verdict: Verdict, line: Line, asked: float, told: float, limit: float) -> None:
    wanted = min(max(asked, -limit), limit)
    text = f"{asked} was asked for, {told} is in force"
    verdict.check("drive-clamped", abs(told - wanted) < 1e-6, text, line)


def _own(facts: Facts, verdict: Verdict) -> None:
    """Answers speak of the command that they answer."""
    numbers: dict[int, Line] = {}
    for line in facts.done("POST", "/clock", "/overlay", "/brightness"):
        if "wrong" in line:
            continue
        asked, told = line["body"] or {}, line["answer"]
        for key in ("paused", "speed", "text", "value"):
            if asked.get(key) is not None:
                text = f"{key} {asked[key]!r} was asked for, {told.get(key)!r} was answered"
                verdict.check("own-answer", told.get(key) == asked[key], text, line)
        if line["path"] == API + "/overlay":
            other = numbers.setdefault(told["seq"], line)
            text = f"two texts of the number {told['seq']}"
            verdict.check("own-answer", other is line, text, other, line)
