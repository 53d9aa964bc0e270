"""Rules of worlds: the current world, installed worlds, errors during a load, and counters."""

import math
from collections import defaultdict

from ..contract import NOT_READY, SWITCHING
from ..history import HistoryLine
from .facts import API, LAG, Facts
from .register import ANY, Register, Write
from .verdict import Verdict

RULES = {
    "world-current": "The current world is the target of the last switch.",
    "world-switching": "`switching`, `current` and `transition` agree on whether a load is in "
    "progress.",
    "world-refusal": "The errors `world not ready` and `world switch in progress` occur only if a "
    "world may be loading.",
    "world-installed": "A world is listed, and `cached` in the answer of an installation, exactly "
    "if it was installed and not deleted.",
    "brightness": "The brightness has the value that was last set, also after a switch.",
    "counters": "The counters `overlay_seq`, `assets_version` and `uptime_s` never decrease.",
}


def check(facts: Facts, verdict: Verdict) -> None:
    _current(facts, verdict)
    _switching(facts, verdict)
    _refusals(facts, verdict)
    _installed(facts, verdict)
    _brightness(facts, verdict)
    _counters(facts, verdict)


def _world_of(line: HistoryLine) -> str:
    return line["answer"]["world"].removesuffix(".world")


def _current(facts: Facts, verdict: Verdict) -> None:
    writes = [
        Write(line["t0"], line["t1"], _world_of(line), line)
        for line in facts.done("POST", "/switch")
    ]
    register = Register(writes)
    reads = [(line, state["world"]) for line, state in facts.read_states()]
    for line in facts.done(
        "GET", "/traffic_lights", "/objects", "/worldpub", "/world", "/route", "/scene"
    ):
        if "wrong" not in line:
            reads.append((line, line["answer"]["world"]))
    for line, world in reads:
        wrong = register.wrong(line["t0"], line["t1"], world)
        cause = [w.line for w in wrong or [] if w.line][-2:]
        verdict.check("world-current", wrong is None, f"the world is {world}", *cause, line)


def _switching(facts: Facts, verdict: Verdict) -> None:
    states = [(line, state) for line, state in facts.read_states()]
    states += [(line, line["data"]) for line in facts.events if line["event"] == "state"]
    for line, state in states:
        transition = state["transition"]
        # An installation is a transition too, but the current world remains available.
        loads = transition is not None and transition["kind"] != "install"
        good = state["switching"] == loads == (state["current"] is None)
        text = (
            f"switching {state['switching']}, current {state['current']}, transition {transition}"
        )
        verdict.check("world-switching", good, text, line)


def _refusals(facts: Facts, verdict: Verdict) -> None:
    for line in facts.calls:
        answer = line["answer"]
        if line["status"] != 409 or not isinstance(answer, dict):
            continue
        error = answer.get("error", answer.get("detail"))
        if error not in (NOT_READY, SWITCHING):
            continue
        good = any(s.line is not line for s in facts.restarts.meeting(line["t0"], line["t1"]))
        if not good and line["path"] == "/audio/play":
            # The world may have been replaced while the simulator decoded the sound file.
            good = facts.swaps.meets(line["t0"], line["t1"])
        if not good and line["path"] == API + "/step":
            # A step is refused while a session is not yet in the phase `running`.
            good = any(
                s.start["t0"] <= line["t1"] and s.running_by + LAG >= line["t0"]
                for s in facts.sessions.values()
            )
        verdict.check("world-refusal", good, f"{error!r}, but no world was loading", line)


def _installed(facts: Facts, verdict: Verdict) -> None:
    writes: dict[str, list[Write]] = defaultdict(list)
    for line in facts.lines:
        if line["k"] == "publish":
            name = f"custom_{line['world']}"
            writes[name].append(Write(-math.inf, -math.inf, False, line))
    for line in facts.calls:
        if line["path"] == API + "/worlds/install":
            world = (line["body"] or {}).get("world_id", "")
            value = True if line["status"] == 200 else ANY
            if line["status"] == 200 or line.get("fail"):
                writes[f"custom_{world}"].append(Write(line["t0"], line["t1"], value, line))
        elif line["method"] == "DELETE" and line["status"] == 200:
            name = line["path"].rsplit("/", 1)[1]
            writes[name].append(Write(line["t0"], line["t1"], False, line))
    registers = {name: Register(all_) for name, all_ in writes.items()}
    for line in facts.done("GET", "/worlds"):
        for name, register in registers.items():
            _check_installed(verdict, register, line, name, name in line["answer"]["worlds"])
    for line in facts.done("POST", "/worlds/install"):
        name = f"custom_{line['body']['world_id']}"
        # `cached` says whether the world was already installed before this installation.
        others = Register([w for w in writes[name] if w.line is not line])
        _check_installed(verdict, others, line, name, line["answer"]["cached"])


def _check_installed(
    verdict: Verdict, register: Register, line: HistoryLine, name: str, installed: bool
) -> None:
    wrong = register.wrong(line["t0"], line["t1"], installed)
    cause = [w.line for w in wrong or [] if w.line][-2:]
    text = f"{name} is {'installed' if installed else 'not installed'}"
    verdict.check("world-installed", wrong is None, text, *cause, line)


def _brightness(facts: Facts, verdict: Verdict) -> None:
    writes = [Write(-math.inf, -math.inf, 1.0)]
    for line in facts.done("POST", "/brightness"):
        writes.append(Write(line["t0"], line["t1"], line["body"]["value"], line))
    for session in facts.sessions.values():
        if "brightness" in session.touches:
            writes.append(Write(session.start["t0"], session.gone_by, ANY, session.start))
    register = Register(writes)
    reads = [(line, state["brightness"]) for line, state in facts.read_states()]
    reads += [(line, line["answer"]["value"]) for line in facts.done("GET", "/brightness")]
    for line, value in reads:
        wrong = register.wrong(line["t0"], line["t1"], value)
        cause = [w.line for w in wrong or [] if w.line][-2:]
        verdict.check("brightness", wrong is None, f"brightness is {value}", *cause, line)


def _counters(facts: Facts, verdict: Verdict) -> None:
    reads: dict[str, list[tuple[HistoryLine, float]]] = defaultdict(list)
    for line, state in facts.read_states():
        reads["overlay_seq"].append((line, state["overlay_seq"]))
    for line in facts.done("GET", "/overlay") + facts.done("POST", "/overlay"):
        reads["overlay_seq"].append((line, line["answer"]["seq"]))
    for line in facts.done("GET", "/status"):
        for key in ("assets_version", "uptime_s"):
            reads[key].append((line, line["answer"][key]))
    for key, seen in reads.items():
        seen.sort(key=lambda read: read[0]["t0"])
        by_end = sorted(seen, key=lambda read: read[0]["t1"])
        # Of the reads that ended before the current read started, the one with the largest value.
        most: tuple[HistoryLine, float] | None = None
        index = 0
        for line, value in seen:
            while index < len(by_end) and by_end[index][0]["t1"] < line["t0"]:
                if most is None or by_end[index][1] > most[1]:
                    most = by_end[index]
                index += 1
            if most is not None:
                text = f"{key} was {most[1]}, then {value}"
                verdict.check("counters", value >= most[1], text, most[0], line)
