"""Rules of simulated time: its direction, pauses, and the length of steps."""

import math

from ..history import HistoryLine
from .facts import API, Facts, Span, Spans
from .register import ANY, Register, Write
from .verdict import Verdict

RULES = {
    "time-forward": "Simulated time never decreases, except when a world is loaded or a "
    "session starts.",
    "paused": "`paused` has the value that was last set. A step sets it, the start of a session "
    "clears it.",
    "paused-time": "Simulated time does not change while the world is paused.",
    "step-exact": "A step advances simulated time by exactly the requested amount.",
    "speed": "The clock shows the speed that was last set.",
}


def check(facts: Facts, verdict: Verdict) -> None:
    _forward(facts, verdict)
    _registers(facts, verdict)
    _still(facts, verdict)


def _forward(facts: Facts, verdict: Verdict) -> None:
    before: dict[str, HistoryLine] = {}
    for line in facts.events:
        if line["event"] != "state":
            continue
        last = before.get(line["who"])
        before[line["who"]] = line
        if last is None:
            continue
        back = line["data"]["time"] < last["data"]["time"]
        good = not back or facts.replaced(last, line)
        text = f"from {last['data']['time']} back to {line['data']['time']}"
        verdict.check("time-forward", good, text, last, line)


def _changes(facts: Facts) -> list[Write]:
    """The writes of `paused`: its first value, and all requests and sessions that may change it."""
    writes = [Write(-math.inf, -math.inf, False)]
    for line in facts.done("POST", "/clock"):
        paused = (line["body"] or {}).get("paused")
        if paused is not None:
            writes.append(Write(line["t0"], line["t1"], paused, line))
    for span in facts.acts("/step"):
        value = True if span.line["k"] == "call" and span.line.get("status") == 200 else ANY
        writes.append(Write(span.t0, span.t1, value, span.line))
    for session in facts.sessions.values():
        # It is unknown whether a session that ended before its phase `running` resumed simulated
        # time.
        value = False if session.ran else ANY
        writes.append(Write(session.start["t0"], session.running_by, value, session.start))
    return writes + _session_changes(facts)


def _session_changes(facts: Facts) -> list[Write]:
    """A write of an unknown value for each session, because a session may change the clock.

    The exit of the student's program resumes simulated time. The end of a session does so too, and
    restores the speed that was set before the session.
    """
    return [
        Write(session.start["t0"], session.gone_by, ANY, session.start)
        for session in facts.sessions.values()
    ]


def _registers(facts: Facts, verdict: Verdict) -> None:
    paused = Register(_changes(facts))
    reads = [(line, state["paused"]) for line, state in facts.read_states()]
    clocks = facts.done("GET", "/clock")
    reads += [(line, line["answer"]["paused"]) for line in clocks]
    for line, value in reads:
        wrong = paused.wrong(line["t0"], line["t1"], value)
        cause = [w.line for w in wrong or [] if w.line][-2:]
        text = f"paused is {value}, but was last set to another value"
        verdict.check("paused", wrong is None, text, *cause, line)
    writes = [
        Write(line["t0"], line["t1"], line["body"]["speed"], line)
        for line in facts.done("POST", "/clock")
        if (line["body"] or {}).get("speed") is not None
    ]
    speed = Register(writes + _session_changes(facts))
    for line in clocks:
        shown = line["answer"].get("speed")
        wrong = speed.wrong(line["t0"], line["t1"], shown)
        cause = [w.line for w in wrong or [] if w.line][-2:]
        verdict.check("speed", wrong is None, f"speed is {shown}", *cause, line)


def _ticks(body: dict) -> int:
    if body.get("duration") is not None:
        return math.floor(body["duration"] * 200 + 0.5)
    return body.get("steps") or 1


def _still(facts: Facts, verdict: Verdict) -> None:
    """Checks that no time passed between two reads if the world was certainly paused.

    If the second read is a step, checks that the step advanced time by the requested amount.
    """
    resumes = [Span(w.t0, w.t1, w.line) for w in _changes(facts) if w.value is not True and w.line]
    moves = Spans(resumes + facts.acts("/step") + facts.swaps.all)
    looks: list[tuple[HistoryLine, float, bool]] = [
        (line, state["time"], state["paused"]) for line, state in facts.read_states()
    ]
    clocks = facts.done("GET", "/clock") + facts.done("POST", "/clock")
    looks += [(line, line["answer"]["sim_time"], line["answer"]["paused"]) for line in clocks]
    looks.sort(key=lambda look: look[0]["t1"])
    last: tuple[HistoryLine, float, bool] | None = None
    for look in looks:
        line, time, _ = look
        if last is not None and last[2] and last[0]["t1"] <= line["t0"]:
            before, then = last[0], last[1]
            others = [s for s in moves.meeting(before["t0"], line["t1"]) if s.line is not line]
            others = [s for s in others if s.line is not before]
            is_step = line["path"] == API + "/step"
            resumed = line["path"] == API + "/clock" and not look[2]
            if not others and is_step:
                wanted = then + _ticks(line["body"] or {}) * 0.005
                text = f"from {then} s to {time} s, not to {wanted:.3f} s"
                verdict.check("step-exact", abs(time - wanted) < 1e-6, text, before, line)
            elif not others and not resumed:
                text = f"from {then} s to {time} s while paused"
                verdict.check("paused-time", abs(time - then) < 1e-6, text, before, line)
        last = look
