"""Rules of recorded runs: the same bytes each time, verified, and falsified copies are found."""

from ..history import HistoryLine
from .facts import API, Facts
from .verdict import Verdict

RULES = {
    "replay-there": "Every session that began and is over has a run that can be looked at.",
    "replay-same": "File, tracks and camera pictures of a run have the same bytes each time, also "
    "after a restart of the simulator.",
    "replay-tracks": "Tracks have the documented form and are as long as their session.",
    "replay-verified": "A run is verified, and `chicane replay` writes the tracks that the "
    "simulator returns.",
    "replay-falsified": "A run with one changed bit is not verified.",
}


def check(facts: Facts, verdict: Verdict) -> None:
    known: dict[str, HistoryLine] = {}
    for line in facts.calls:
        of_run = line["path"].startswith((API + "/evaluation/replay", API + "/evaluation/run"))
        if not of_run or "sha256" not in line or line.get("fail"):
            continue
        session = line["path"].partition("session=")[2].partition("&")[0]
        _there(facts, verdict, line, session)
        if line["status"] == 200:
            first = known.setdefault(line["path"], line)
            good = first["sha256"] == line["sha256"]
            verdict.check("replay-same", good, "two answers have other bytes", first, line)
    for line in facts.lines:
        if line["k"] == "tracks":
            _tracks(facts, verdict, line)
        elif line["k"] == "verify":
            good = line["run"] == "verified" and line["same_tracks"]
            text = f"{line['run']}, same tracks: {line['same_tracks']}: {line['output']}"
            verdict.check("replay-verified", good, text, line)
            good = line["false"] not in ("verified", "missing") and line["exit_code"] == 1
            text = f"{line['false']}, exit code {line['exit_code']}: {line['output']}"
            verdict.check("replay-falsified", good, text, line)


def _there(facts: Facts, verdict: Verdict, line: HistoryLine, session: str) -> None:
    known = facts.sessions.get(session)
    # A session that ended before the phase `running` has no journal.
    if known is None or known.gone_by >= line["t0"] or not known.ran:
        return
    text = f"a run of a session that is over was answered with {line['status']}"
    shown = [known.gone_line] if known.gone_line else []
    verdict.check("replay-there", line["status"] == 200, text, *shown, line)


def _tracks(facts: Facts, verdict: Verdict, line: HistoryLine) -> None:
    if not verdict.check("replay-tracks", line["wrong"] is None, f"{line['wrong']}", line):
        return
    session = facts.sessions.get(line["session"])
    if session is not None and session.record is not None:
        took = session.record["answer"]["elapsed_s"]
        text = f"tracks of {line['duration']} s of a session of {took} s"
        good = abs(line["duration"] - took) < 0.011
        verdict.check("replay-tracks", good, text, session.record, line)
