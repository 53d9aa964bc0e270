"""The report of a soak test, as Markdown and as JSON."""

import statistics
from collections import Counter, defaultdict
from typing import Any

from . import contract, growth
from .history import HistoryLine
from .operations import API
from .rules import RULES, Verdict, Violation

#: Maximum number of violations in the report, and also of lines of the log.
SHOWN = 5
#: Largest number of rows in the table of resources.
POINTS = 20


def summary(lines: list[HistoryLine], end: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    """All figures of the report, as a JSON document."""
    calls = [line for line in lines if line["k"] == "call"]
    return {
        "kept": not verdict.broken,
        "end": end,
        "requests": _requests(calls),
        "left": sum(line["k"] == "left" for line in lines),
        "resources": _resources(lines, end),
        "sessions": _sessions(lines),
        "worlds": _worlds(lines),
        "viewers": _viewers(lines),
        "builder": _builder(lines),
        "replays": _replays(lines),
        "gradings": _gradings(lines),
        "events": Counter(line["event"] for line in lines if line["k"] == "event"),
        "rtf": _rtf(calls),
        "rules": {
            name: {
                "says": text,
                "checked": verdict.checked[name],
                "broken": sum(broken.rule == name for broken in verdict.broken),
            }
            for name, text in RULES.items()
        },
        "broken": [_shown(broken) for broken in _samples(verdict)],
    }


def _samples(verdict: Verdict) -> list[Violation]:
    """The first violation of each rule."""
    rules: set[str] = set()
    found = []
    for broken in verdict.broken:
        if broken.rule not in rules:
            rules.add(broken.rule)
            found.append(broken)
    return found


def _shown(broken: Violation) -> dict[str, Any]:
    lines = [{"line": line.get("n"), "said": _cut(line)} for line in broken.lines]
    return {"rule": broken.rule, "what": broken.text, "at_s": broken.time, "lines": lines}


def _cut(line: HistoryLine) -> str:
    text = " ".join(f"{key}={value!r}" for key, value in line.items() if key != "n")
    return text if len(text) <= 600 else text[:597] + "..."


def _requests(calls: list[HistoryLine]) -> list[dict[str, Any]]:
    rows: dict[str, list[HistoryLine]] = defaultdict(list)
    for line in calls:
        rows[contract.operation(line["method"], line["path"]).name].append(line)
    found = []
    for name, all_ in sorted(rows.items()):
        times = sorted(1000 * (line["t1"] - line["t0"]) for line in all_)
        found.append(
            {
                "request": name,
                "count": len(all_),
                "statuses": dict(sorted(Counter(str(line["status"]) for line in all_).items())),
                "p50_ms": round(statistics.median(times), 2),
                "p99_ms": round(times[min(len(times) - 1, int(0.99 * len(times)))], 2),
                "max_ms": round(times[-1], 2),
            }
        )
    return found


def _resources(lines: list[HistoryLine], end: dict[str, Any]) -> dict[str, Any]:
    seen = [line for line in lines if line["k"] == "watch"]
    begun, ended = end.get("begun_s", 0.0), end.get("ended_s", 0.0)
    loaded = [line for line in seen if begun <= line["t0"] <= ended]
    step = max(1, -(-len(loaded) // POINTS))
    keys = ("rss_kb", "anon_kb", "fds", "threads", "children")
    return {
        "over_time": [
            {"at_s": round(line["t0"] - begun, 1)} | {key: line[key] for key in keys}
            for line in loaded[::step]
        ],
        "most": {key: max((line[key] for line in loaded), default=0) for key in keys},
        "rest": {
            line["when"]: {key: line[key] for key in (*keys, "strays")}
            for line in lines
            if line["k"] == "quiet"
        },
        "trend": growth.trend(lines, begun, ended),
    }


def _sessions(lines: list[HistoryLine]) -> dict[str, Any]:
    exams = {line["session"]: line for line in lines if line["k"] == "exam"}
    records = {}
    for line in lines:
        if line["k"] == "call" and line["status"] == 200 and "/record?session=" in line["path"]:
            records[line["answer"]["session"]] = line["answer"]
    by_scenario: dict[str, Counter[str]] = defaultdict(Counter)
    students: Counter[str] = Counter()
    for number, record in records.items():
        exam = exams.get(number)
        by_scenario[exam["scenario"] if exam else "by a client"][str(record["outcome"])] += 1
        students[(exam or {}).get("student") or "none"] += 1
    return {
        "count": len(records),
        "outcomes": Counter(str(record["outcome"]) for record in records.values()),
        "by_scenario": by_scenario,
        "students": students,
        "observations": sum(record["judge"]["observations"] for record in records.values()),
        "simulated_s": round(sum(record["elapsed_s"] for record in records.values()), 1),
    }


def _worlds(lines: list[HistoryLine]) -> dict[str, int]:
    done = Counter(
        (line["method"], line["path"].split("/worlds/custom")[0])
        for line in lines
        if line["k"] == "call" and line["status"] == 200
    )
    return {
        "switched": done["POST", API + "/switch"],
        "respawned": done["POST", API + "/respawn"],
        "reset": done["POST", API + "/reset"],
        "published": sum(line["k"] == "publish" for line in lines),
        "installed": done["POST", API + "/worlds/install"],
        "deleted": done["DELETE", API],
    }


def _viewers(lines: list[HistoryLine]) -> list[dict[str, Any]]:
    rows: dict[str, list[HistoryLine]] = defaultdict(list)
    for line in lines:
        if line["k"] == "viewer":
            rows[line["kind"]].append(line)
    return [
        {
            "kind": kind,
            "came": len(all_),
            "got": sum(line["count"] for line in all_),
            "stayed_s": round(sum(line["t1"] - line["t0"] for line in all_), 1),
        }
        for kind, all_ in sorted(rows.items())
    ]


def _builder(lines: list[HistoryLine]) -> dict[str, int]:
    projects = API + "/builder/projects"
    calls = Counter(
        (contract.operation(line["method"], line["path"]).name, line["status"])
        for line in lines
        if line["k"] == "call" and line["path"].startswith(API + "/builder/")
    )
    streams = {line["stream"] for line in lines if line["k"] == "project_event"}
    return {
        "made": calls[f"POST {projects}", 201],
        "saved": calls[f"PUT {projects}/<id>", 200],
        "conflicts": calls[f"PUT {projects}/<id>", 409],
        "deleted": calls[f"DELETE {projects}/<id>", 200],
        "restored": calls[f"POST {projects}/<id>/restore", 200],
        "previews": calls[f"POST {API}/builder/preview", 200],
        "driven": calls[f"POST {projects}/<id>/drive", 200],
        "published": calls[f"POST {projects}/<id>/publish", 200],
        "streams": len(streams),
    }


def _replays(lines: list[HistoryLine]) -> dict[str, int]:
    done = [line for line in lines if line["k"] == "verify"]
    pictures = [
        line
        for line in lines
        if line["k"] == "call"
        and line["status"] == 200
        and line["path"].startswith(API + "/evaluation/replay/camera")
    ]
    return {
        "runs": len({line["session"] for line in done}),
        "pictures": len(pictures),
        "verified": sum(line["run"] == "verified" for line in done),
        "falsified": len(done),
        "falsified found": sum(line["false"] not in ("verified", "missing") for line in done),
    }


def _gradings(lines: list[HistoryLine]) -> dict[str, int]:
    done = [line for line in lines if line["k"] == "grading"]
    return {
        "gradings": len(done),
        "killed": sum(line["killed"] for line in done),
        "results kept": sum(line["before"] for line in done),
        "runs verified": sum(line["verified"] for line in done),
        "different grades": len({line.get("sha256") for line in done}),
    }


def _rtf(calls: list[HistoryLine]) -> dict[str, float]:
    """Summary of the real-time factors that `GET /clock` returned while time was not paused."""
    factors = [
        line["answer"]["rtf"]
        for line in calls
        if line["path"] == API + "/clock" and line["status"] == 200 and not line["answer"]["paused"]
    ]
    factors = [factor for factor in factors if factor > 0] or [0.0]
    return {"median": round(statistics.median(factors), 2), "most": round(max(factors), 2)}


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(counts.items())) or "none"


def markdown(of: dict[str, Any]) -> str:
    """The report as Markdown."""
    end, resources, sessions = of["end"], of["resources"], of["sessions"]
    total = sum(row["count"] for row in of["requests"])
    broken = sum(rule["broken"] for rule in of["rules"].values())
    verdict = "No rule was broken." if of["kept"] else f"Rules were broken {broken} times."
    text = ["# Soak", "", f"**{verdict}**", ""]
    text += [
        f"{end['seconds']:g} s at speed {end['speed']:g} (measured: {of['rtf']['median']}), "
        f"seed {end['seed']}, plan `{end['fingerprint']}`: "
        f"{total} requests, {sessions['count']} sessions, "
        f"{of['worlds']['switched']} switches, {sum(v['came'] for v in of['viewers'])} viewers. "
        f"The simulator stopped within {end['stopped_in_s']} s "
        f"with exit code {end['exit_code']}.",
        "",
    ]
    if of["broken"]:
        text += ["## Violations", "", "The first violation of each rule, in order of time:", ""]
        for one in of["broken"][:SHOWN]:
            text += [f"- **{one['rule']}** at {one['at_s']:.3f} s: {one['what']}"]
            text += [f"  - line {line['line']}: `{line['said']}`" for line in one["lines"]]
        text += [""]
    text += ["## Memory, descriptors, threads", ""]
    keys = ["at_s", "rss_kb", "anon_kb", "fds", "threads", "children"]
    text += _table(keys, [[point[key] for key in keys] for point in resources["over_time"]])
    if trend := resources["trend"]:
        text += [
            f"Anonymous memory in the {trend['watched_s']:.0f} s after the warm-up: "
            f"{trend['kb_a_minute']:+.0f} kB per minute (median of slopes), median "
            f"{trend['first_kb']:.0f} kB in the first fifth and "
            f"{trend['last_kb']:.0f} kB in the last.",
            "",
        ]
    for when, rest in resources["rest"].items():
        text += [f"Idle at the {when}: {_counts(rest)}.", ""]
    text += [f"Log: {len(end['log_errors'])} errors, {len(end['log_warnings'])} warnings."]
    text += [f"- `{line}`" for line in (end["log_errors"] + end["log_warnings"])[:SHOWN]]
    text += ["", "## Sessions", "", f"By outcome: {_counts(sessions['outcomes'])}. "]
    text += [
        f"{sessions['observations']} observations, {sessions['simulated_s']} simulated seconds. "
    ]
    text += [f"Student programs: {_counts(sessions['students'])}.", ""]
    rows = [[name, _counts(outcomes)] for name, outcomes in sorted(sessions["by_scenario"].items())]
    text += _table(["script", "outcomes"], rows)
    text += ["## Worlds", "", _counts(of["worlds"]) + ".", "", "## Viewers", ""]
    rows = [[row["kind"], row["came"], row["got"], row["stayed_s"]] for row in of["viewers"]]
    text += _table(["kind", "visits", "items received", "total time, s"], rows)
    for title, key in (("Builder", "builder"), ("Replays", "replays"), ("Gradings", "gradings")):
        text += [f"{title}: {_counts(of[key])}.", ""]
    text += [f"Recorded events: {_counts(of['events'])}.", "", "## Rules", ""]
    rules = of["rules"].items()
    rows = [[name, rule["checked"], rule["broken"], rule["says"]] for name, rule in rules]
    text += _table(["rule", "checked", "broken", "meaning"], rows)
    text += ["## Requests", ""]
    rows = [
        [
            f"`{r['request']}`",
            r["count"],
            _counts(r["statuses"]),
            r["p50_ms"],
            r["p99_ms"],
            r["max_ms"],
        ]
        for r in of["requests"]
    ]
    text += _table(["request", "count", "statuses", "p50 ms", "p99 ms", "max ms"], rows)
    return "\n".join(text)
