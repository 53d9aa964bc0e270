"""Rules of evaluation sessions: one at a time, order of phases, outcome, and cleanup."""

from ..contract import EVALUATING
from ..history import HistoryLine
from ..schemas import PHASES
from .facts import API, Facts, Session, action
from .verdict import Verdict

RULES = {
    "session-one": "Only one session is active at a time: the event `end` precedes the next "
    "`start`.",
    "session-phases": "Phases are in order, `ended` occurs once, and the event `end` follows it.",
    "session-time": "The time of a session never decreases, and the outcome is `timeout` exactly "
    "if the limit has passed.",
    "session-end": "Every session has one end, the same for all readers and in its record.",
    "session-outcome": "Every session has an outcome that fits its script, or was stopped.",
    "session-run": "A session with a command has one start and one exit of the student's program; "
    "a session without a command has none.",
    "session-holds-world": "No switch, respawn or other start is accepted during a session.",
    "session-refusal": "The error `evaluation in progress` occurs only if a session may be active.",
    "session-stop": "The session is over when a stop is answered, and stays over.",
    "session-shown": "State and session show an active session exactly while there is one.",
    "session-leftovers": "Without a session no process of a judging script or a student's program "
    "stays, except a prepared judge and the check of a new script.",
}

# Number of processes of a prepared judge: two of its jail, Python, and slirp4netns.
PREPARED = 4

# A process that is in two samples at least this many seconds apart counts as a process that stays.
# A single sample may show a child that slirp4netns starts for a moment while the next judge is
# prepared.
APART_S = 0.3

# The simulator may check a new script for this many seconds after the answer to its request.
SCRIPT_CHECK_S = 10.0


def check(facts: Facts, verdict: Verdict) -> None:
    _streams(facts, verdict)
    for session in facts.sessions.values():
        _story(session, verdict)
        _ending(session, verdict)
    _world(facts, verdict)
    _shown(facts, verdict)
    _left(facts, verdict)


def _streams(facts: Facts, verdict: Verdict) -> None:
    """Checks the order of sessions in the events of each connection."""
    open_: dict[str, HistoryLine] = {}
    for line in facts.events:
        if line["event"] != "evaluation":
            continue
        who, data = line["who"], line["data"]
        last = open_.get(who)
        if data["kind"] == "start":
            text = "a session started before the previous one was over"
            verdict.check("session-one", last is None, text, *([last] if last else []), line)
            open_[who] = line
        elif last is not None:
            text = "an event of a session while another session is active"
            verdict.check(
                "session-one", last["data"]["session"] == data["session"], text, last, line
            )
            if data["kind"] == "end":
                open_.pop(who)


def _story(session: Session, verdict: Verdict) -> None:
    for lines in session.events.values():
        whole = lines[0]["data"]["kind"] == "start"
        time, place, ended = 0.0, -1, None
        for line in lines:
            data = line["data"]
            text = f"time went back from {time} to {data['time']}"
            verdict.check("session-time", data["time"] >= time - 1e-9, text, lines[0], line)
            time = max(time, data["time"])
            if data["kind"] == "phase":
                now = PHASES.index(data["phase"])
                text = f"{data['phase']} after {PHASES[place] if place >= 0 else 'nothing'}"
                verdict.check("session-phases", now > place and ended is None, text, lines[0], line)
                place = now
            if data["kind"] == "end":
                good = ended is None and (place == len(PHASES) - 1 or not whole)
                verdict.check(
                    "session-phases",
                    good,
                    "the event `end` without the phase `ended` before it",
                    lines[0],
                    line,
                )
                ended = line
            elif ended is not None:
                verdict.check("session-phases", False, "an event after `end`", ended, line)


def _ending(session: Session, verdict: Verdict) -> None:
    ends = [
        line for lines in session.events.values() for line in lines if line["data"]["kind"] == "end"
    ]
    record = session.record
    known = [session.start, *ends[:1], *([record] if record else [])]
    verdict.check("session-end", record is not None, "the session has no record", *known)
    if session.had_reader:
        verdict.check(
            "session-end", bool(ends), "no reader received the end of the session", *known
        )
    if record is None or not ends:
        return
    kept = record["answer"]
    for end in ends:
        end_data = end["data"]
        good = all(end_data[key] == kept[key] for key in ("outcome", "record", "reason"))
        verdict.check("session-end", good, "the event `end` differs from the record", end, record)
    story = [event["kind"] for event in kept["events"]]
    good = story[:1] == ["start"] and story[-1:] == ["end"] and story.count("end") == 1
    verdict.check("session-end", good, f"the record has the events {story}", record)
    limit, took = kept["time_limit_s"], kept["elapsed_s"]
    good = (kept["outcome"] == "timeout") == (took > limit + 1e-9)
    text = f"{kept['outcome']} after {took} s of {limit} s"
    verdict.check("session-time", good, text, record)
    exam = session.exam
    if exam is not None and exam["expected"]:
        text = f"{kept['outcome']} ({kept['reason']}), expected one of {exam['expected']}"
        verdict.check("session-outcome", kept["outcome"] in exam["expected"], text, exam, record)
        text = f"stopped, but not on request: {kept['reason']}"
        good = kept["outcome"] != "stopped" or kept["reason"] == "stopped on request"
        verdict.check("session-outcome", good, text, exam, record)


def _world(facts: Facts, verdict: Verdict) -> None:
    paths = {API + path for path in ("/switch", "/respawn", "/evaluation/start")}
    for line in facts.calls:
        if line["method"] != "POST" or action(line) not in paths or line.get("fail"):
            continue
        session = facts.certain(line["t0"], line["t1"])
        if session is not None and line["status"] in (200, 409):
            own = line is session.start
            text = f"accepted while session {session.id} was active"
            shown = [session.start, line, *([session.alive_line] if session.alive_line else [])]
            verdict.check("session-holds-world", own or line["status"] == 409, text, *shown)
        if line["status"] == 409 and line["answer"].get("error") == EVALUATING:
            good = facts.possible(line["t0"], line["t1"])
            verdict.check(
                "session-refusal", good, "refused because of a session, but none was active", line
            )


def _shown(facts: Facts, verdict: Verdict) -> None:
    for session in facts.sessions.values():
        # No read may show the session as active after the session was certainly over.
        gone, alive = session.gone_line, session.alive_line
        good = alive is None or session.alive_until <= session.gone_by
        shown = [session.start, *([gone] if gone else []), *([alive] if alive else [])]
        verdict.check("session-stop", good, "shown as active after it was over", *shown)
    for line in facts.calls:
        if line["status"] != 200 or "wrong" in line:
            continue
        if line["path"] == API + "/evaluation/session":
            active = line["answer"]["active"]
        elif line["path"] in (API + "/state", API + "/step"):
            active = line["answer"]["evaluation"]["active"]
        else:
            continue
        if active:
            text = "a session is shown as active, but there can be none"
            verdict.check("session-shown", facts.possible(line["t0"], line["t1"]), text, line)
        elif session := facts.certain(line["t0"], line["t1"]):
            shown = [session.start, line, *([session.alive_line] if session.alive_line else [])]
            verdict.check(
                "session-shown", False, "no session is shown although one is active", *shown
            )


def _checks_script(line: HistoryLine) -> bool:
    """Whether this request makes the simulator check a judging script."""
    if line["path"] == API + "/worlds/install":
        return line["status"] == 200 and not line["answer"]["cached"]
    return line["path"] == API + "/builder/script/check" or line["path"].endswith("/publish")


def _left(facts: Facts, verdict: Verdict) -> None:
    checks = [line for line in facts.calls if _checks_script(line)]

    def is_checking(line: HistoryLine) -> bool:
        return any(c["t0"] <= line["t1"] and line["t0"] <= c["t1"] + SCRIPT_CHECK_S for c in checks)

    samples = [line for line in facts.lines if line["k"] == "watch"]
    samples = [line for line in samples if not facts.possible(line["t0"], line["t1"])]
    samples.sort(key=lambda line: line["t0"])
    for line in samples:
        text = f"{line['children']} children, {line['strays']} programs, but no session"
        later = None
        if line["children"] > PREPARED and not is_checking(line):
            apart = (s for s in samples if s["t0"] >= line["t1"] + APART_S and not is_checking(s))
            later = next(apart, None)
        # After another session, the prepared judge consists of new processes. A leftover process,
        # however, has the same id in both samples.
        stays = (
            later is not None
            and later["children"] > PREPARED
            and not set(line["pids"]).isdisjoint(later["pids"])
        )
        shown = [line] if later is None else [line, later]
        verdict.check("session-leftovers", not stays and line["strays"] == 0, text, *shown)
    _runs(facts, verdict)


def _runs(facts: Facts, verdict: Verdict) -> None:
    """Checks starts and exits of student programs within each session, for each reader."""
    now: dict[str, tuple[HistoryLine, list[HistoryLine]]] = {}
    for line in facts.events:
        who = line["who"]
        if line["event"] == "evaluation":
            kind = line["data"]["kind"]
            if kind == "start":
                now[who] = (line, [])
            elif kind == "end" and who in now:
                start, runs = now.pop(who)
                phases = [run["data"]["phase"] for run in runs]
                phases = [phase for phase in phases if phase != "log"]
                command = start["data"]["command"]
                good = phases in ([], ["start", "exit"]) if command else phases == []
                text = f"command {command!r}, events: {phases}"
                verdict.check("session-run", good, text, start, *runs[-2:], line)
        elif line["event"] == "run" and who in now:
            now[who][1].append(line)
