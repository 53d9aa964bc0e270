"""Rules of traffic lights: the length of the yellow phase, and which commands change a light."""

import math
from collections import defaultdict

from ..contract import YELLOW
from ..history import HistoryLine
from .facts import API, LAG, Facts, Spans
from .register import ANY, Register, Write
from .verdict import Verdict

RULES = {
    "light-yellow-time": "A light that was green is red no earlier than after the yellow phase, "
    "whose length `GET /world` gives.",
    "light-yellow-ends": "A yellow phase does not end before its announced time, except by a "
    "reset.",
    "light-answer": "The answer to an accepted command shows the new state: yellow or red after "
    "`red`, green after `green`.",
    "light-yellow-refuses": "In the yellow phase every command is refused.",
    "light-refusal": "The error `yellow transition in progress` occurs only if the light may be "
    "yellow.",
    "light-state": "A light shows the state that was last set, also after a respawn. A reset, a "
    "switch and the start of a session set it to green.",
}
#: Tolerance for comparing times, in seconds. Times have six decimals, and a tick is 5 ms.
EPS = 1e-5


def check(facts: Facts, verdict: Verdict) -> None:
    _by_reader(facts, verdict)
    _answers(facts, verdict)
    registers = _registers(facts)
    looks = _looks(facts)
    _states(looks, registers, verdict)
    _refusals(facts, registers, verdict)
    _phases(facts, verdict)


def _by_reader(facts: Facts, verdict: Verdict) -> None:
    """Checks the states of each reader of the event stream, as long as the world is the same."""
    seen: dict[str, dict[str, dict[str, HistoryLine]]] = {}
    before: dict[str, HistoryLine] = {}
    resets = Spans(facts.acts("/reset"))
    for line in facts.events:
        if line["event"] != "state":
            continue
        who, state = line["who"], line["data"]
        last = before.get(who)
        before[who] = line
        again = last is None or last["data"]["world"] != state["world"]
        again = again or last["data"]["time"] > state["time"]
        if again or facts.replaced(last, line):
            seen[who] = {}
        memory = seen[who]
        for name, (shown, left) in state["lights"].items():
            own = memory.setdefault(name, {})
            now = state["time"]
            if shown == "red" and (green := own.get("green")):
                took = now - green["data"]["time"]
                text = f"{name} was green {took:.3f} s before it was red"
                good = took >= facts.yellow_s() - EPS
                verdict.check("light-yellow-time", good, text, green, line)
            if yellow := own.get("yellow"):
                end = yellow["data"]["time"] + yellow["data"]["lights"][name][1]
                reset = resets.meets(yellow["t"] - LAG, line["t"])
                text = f"yellow of {name} was to end at {end:.3f} s, at {now:.3f} s it is {shown}"
                if shown == "yellow":
                    good = now + left >= end - EPS
                elif shown == "red":
                    good = now >= end - EPS
                else:
                    good = reset or now >= end - EPS
                verdict.check("light-yellow-ends", good, text, yellow, line)
            if shown == "yellow":
                own["yellow"] = line
            else:
                own.pop("yellow", None)
            if shown == "green":
                own["green"] = line
            elif shown == "red":
                own.pop("green", None)


def _orders(facts: Facts) -> list[tuple[str, HistoryLine]]:
    prefix = API + "/traffic_lights/"
    return [
        (line["path"][len(prefix) :], line)
        for line in facts.calls
        if line["method"] == "POST" and line["path"].startswith(prefix) and line["status"]
    ]


def _answers(facts: Facts, verdict: Verdict) -> None:
    for name, line in _orders(facts):
        if line["status"] != 200:
            continue
        light, wanted = line["answer"]["light"], line["body"]["state"]
        left = light.get("yellow_left")
        if wanted == "green":
            good = light["state"] == "green"
        else:
            fresh = (
                light["state"] == "yellow"
                and left is not None
                and abs(left - facts.yellow_s()) < EPS
            )
            good = fresh or light["state"] == "red"
        text = f"{wanted} was answered with {light['state']}, {left} s of yellow left"
        verdict.check("light-answer", good and light["name"] == name, text, line)


def _registers(facts: Facts) -> dict[str, Register]:
    """For each light, the writes of its value, `red` or `green`. Yellow counts as red."""
    orders, names = _orders(facts), set()
    writes: dict[str, list[Write]] = defaultdict(list)
    for name, line in orders:
        names.add(name)
        if line["status"] == 200:
            value = line["body"]["state"]
            writes[name].append(Write(line["t0"], line["t1"], value, line))
    all_green = [Write(-math.inf, -math.inf, "green")]
    for span in facts.acts("/reset", "/switch"):
        value = "green" if span.line["k"] == "call" and not span.line.get("fail") else ANY
        all_green.append(Write(span.t0, span.t1, value, span.line))
    for session in facts.sessions.values():
        start = session.start
        if session.outcome == "unsupported":
            # A session with the outcome `unsupported` does not change the world.
            continue
        # It is unknown whether a session that ended before its phase `running` reset the lights.
        value = "green" if session.ran else ANY
        all_green.append(Write(start["t0"], session.running_by, value, start))
        if "lights" in session.touches:
            all_green.append(Write(start["t0"], session.gone_by, ANY, start))
    return {name: Register(writes[name] + all_green) for name in sorted(names)}


def _looks(facts: Facts) -> list[tuple[HistoryLine, dict]]:
    found = [(line, state["lights"]) for line, state in facts.read_states()]
    found += [
        (line, line["answer"]["lights"])
        for line in facts.done("GET", "/traffic_lights")
        if "wrong" not in line
    ]
    return found


def _states(looks: list, registers: dict[str, Register], verdict: Verdict) -> None:
    for line, lights in looks:
        for name, (shown, _) in lights.items():
            if name not in registers:
                continue
            value = "green" if shown == "green" else "red"
            wrong = registers[name].wrong(line["t0"], line["t1"], value)
            text = f"{name} shows {shown}, but was last set to another state"
            cause = [w.line for w in wrong or [] if w.line][-2:]
            verdict.check("light-state", wrong is None, text, *cause, line)


def _refusals(facts: Facts, registers: dict[str, Register], verdict: Verdict) -> None:
    for name, line in _orders(facts):
        if line["status"] == 409 and line["answer"].get("error") == YELLOW:
            wrong = registers[name].wrong(line["t0"], line["t1"], "red")
            text = f"the error says that {name} is yellow, but no command can have set it to red"
            cause = [w.line for w in wrong or [] if w.line][-2:]
            verdict.check("light-refusal", wrong is None, text, *cause, line)


def _phases(facts: Facts, verdict: Verdict) -> None:
    """Checks commands between two reads that certainly show the same yellow phase."""
    phases: dict[tuple, list[tuple[float, float, HistoryLine]]] = defaultdict(list)
    for line, state in facts.read_states():
        for name, (shown, left) in state["lights"].items():
            if shown == "yellow":
                key = (name, state["world"], round((state["time"] + left) * 200))
                phases[key].append((line["t0"], line["t1"], line))
    # A reset also ends a yellow phase. While time is paused, the next phase can then have the same
    # end time. Two reads around a reset may therefore show different phases.
    greens = Spans(facts.swaps.all + facts.acts("/reset"))
    orders: dict[str, list[HistoryLine]] = defaultdict(list)
    for name, line in _orders(facts):
        orders[name].append(line)
    for (name, _, _), seen in phases.items():
        first = min(seen, key=lambda s: s[1])
        last = max(seen, key=lambda s: s[0])
        if first[1] >= last[0] or greens.meets(first[0], last[1]):
            continue
        for order in orders[name]:
            if first[1] < order["t0"] and order["t1"] < last[0] and order["status"] in (200, 409):
                text = f"{name} accepted a command during a yellow phase"
                verdict.check(
                    "light-yellow-refuses", order["status"] == 409, text, first[2], order, last[2]
                )
