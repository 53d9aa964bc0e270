"""The rules of what the process takes: nothing grows, nothing is left, nothing goes wrong
inside.
"""

from typing import Any

from .. import growth
from .facts import Facts
from .verdict import Verdict

RULES = {
    "rest": "At rest after it all there are no more descriptors, threads and children than "
    "at rest before.",
    "memory": "Memory does not grow after the warm-up (judged where it was watched for more than "
    "three minutes).",
    "log": "The log holds no error.",
    "end": "The simulator lives to the end, stops when it is told to, and leaves nothing behind.",
}
#: What may be there more at rest than before: a connection of the database, a thread that is about
#: to end.
SLACK = {"fds": 2, "threads": 2, "children": 0, "strays": 0}


def check(facts: Facts, verdict: Verdict, end: dict[str, Any]) -> None:
    quiet = {line["when"]: line for line in facts.lines if line["k"] == "quiet"}
    if {"start", "end"} <= set(quiet):
        for key, slack in SLACK.items():
            before, after = quiet["start"][key], quiet["end"][key]
            text = f"{key}: {before} at rest before, {after} after"
            verdict.check("rest", after <= before + slack, text, quiet["start"], quiet["end"])
    trend = growth.trend(facts.lines, end.get("begun_s", 0.0), end.get("ended_s", 0.0))
    if trend and trend["watched_s"] >= growth.LEAST_S:
        text = f"{trend['kb_a_minute']:.0f} kB a minute over {trend['watched_s']:.0f} s"
        verdict.check("memory", not trend["grows"], text)
    errors = end.get("log_errors", [])
    verdict.check("log", not errors, f"{len(errors)} errors, the first: {errors[:1]}")
    verdict.check("end", end.get("alive", True), "it ended on the way")
    verdict.check("end", end.get("exit_code", 0) == 0, f"exit code {end.get('exit_code')}")
    left = end.get("groups_left", [])
    verdict.check("end", not left, f"control groups are left: {left[:3]}")
