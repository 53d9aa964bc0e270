"""Rules of the simulator's process: memory, descriptors, threads, log and exit."""

from typing import Any

from .. import growth
from .facts import Facts
from .verdict import Verdict

RULES = {
    "rest": "The idle simulator has no more descriptors, threads, children and zombies at the end "
    "than at the start.",
    "memory": "Memory does not grow after the warm-up (checked only in runs with 200 s of samples "
    "after it).",
    "log": "The log contains no error.",
    "end": "The simulator runs until the end, stops on SIGTERM, and leaves no control groups.",
}
#: Allowed increase from start to end. At the end, a database connection or a thread of the
#: simulator may still exist for a while.
SLACK = {"fds": 2, "threads": 2, "children": 0, "zombies": 0, "strays": 0}


def check(facts: Facts, verdict: Verdict, end: dict[str, Any]) -> None:
    quiet = {line["when"]: line for line in facts.lines if line["k"] == "quiet"}
    if {"start", "end"} <= set(quiet):
        for key, slack in SLACK.items():
            before, after = quiet["start"][key], quiet["end"][key]
            text = f"{key}: {before} at the start, {after} at the end"
            verdict.check("rest", after <= before + slack, text, quiet["start"], quiet["end"])
    trend = growth.trend(facts.lines, end.get("begun_s", 0.0), end.get("ended_s", 0.0))
    if trend and trend["watched_s"] >= growth.LEAST_S:
        text = f"{trend['kb_a_minute']:.0f} kB per minute over {trend['watched_s']:.0f} s"
        verdict.check("memory", not trend["grows"], text)
    errors = end.get("log_errors", [])
    verdict.check("log", not errors, f"{len(errors)} errors, the first: {errors[:1]}")
    verdict.check("end", end.get("alive", True), "the simulator ended during the run")
    verdict.check("end", end.get("exit_code", 0) == 0, f"exit code {end.get('exit_code')}")
    left = end.get("groups_left", [])
    verdict.check("end", not left, f"remaining control groups: {left[:3]}")
