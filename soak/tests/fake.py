"""Hand-written histories. Tests take a correct history and change single lines of it."""

import copy
from typing import Any

from soak import rules
from soak.history import HistoryLine, numbered

API = "/sim/api"
ID = "a" * 32


def call(
    t0: float, t1: float, method: str, path: str, body: Any, status: int, answer: Any, **more: Any
) -> HistoryLine:
    line = {"k": "call", "who": "client0", "t0": t0, "t1": t1, "method": method, "path": path}
    return line | {"body": body, "status": status, "answer": answer} | more


def post(
    at: float, path: str, body: Any, answer: Any, status: int = 200, **more: Any
) -> HistoryLine:
    return call(at, at + 0.01, "POST", API + path, body, status, answer, **more)


def get(at: float, path: str, answer: Any, status: int = 200, **more: Any) -> HistoryLine:
    return call(at, at + 0.01, "GET", API + path, None, status, answer, **more)


def state(time: float, light: tuple[str, float | None] = ("green", None), **more: Any) -> dict:
    kept = {
        "world": "oval",
        "current": "oval",
        "switching": False,
        "transition": None,
        "time": time,
        "paused": False,
        "rtf": 1.0,
        "brightness": 1.0,
        "overlay_seq": 0,
        "evaluation": {"active": False, "session": None, "phase": None},
        "run": {"running": False, "exit_code": None},
        "lights": {"signal1": list(light)},
    }
    return kept | more


def frame(at: float, number: int, of: dict, who: str = "reader") -> HistoryLine:
    return {"k": "event", "who": who, "t": at, "id": number, "event": "state", "data": of}


def evaluation_event(
    at: float, number: int, time: float, kind: str, who: str = "reader", **more: Any
) -> HistoryLine:
    data = {"kind": kind, "session": ID, "time": time} | more
    return {"k": "event", "who": who, "t": at, "id": number, "event": "evaluation", "data": data}


def run_event(at: float, number: int, who: str = "reader", **data: Any) -> HistoryLine:
    return {"k": "event", "who": who, "t": at, "id": number, "event": "run", "data": data}


def light(at: float, wanted: str, shown: str, left: float | None = None) -> HistoryLine:
    answer = {"ok": True, "light": {"name": "signal1", "state": shown}}
    if left is not None:
        answer["light"]["yellow_left"] = left
    return post(at, "/traffic_lights/signal1", {"state": wanted}, answer)


def refused(at: float, path: str, text: str, body: Any = None) -> HistoryLine:
    return post(at, path, body, {"error": text}, 409)


def session_answer(active: bool, number: str = ID) -> dict:
    return {"active": active, "session": {"id": number, "world": "oval"}}


def record(outcome: str = "finished", elapsed: float = 5.0, **more: Any) -> dict:
    kept = {
        "session": ID,
        "outcome": outcome,
        "record": 1,
        "reason": None,
        "time_limit_s": 20,
        "elapsed_s": elapsed,
        "events": [{"kind": "start"}, {"kind": "phase"}, {"kind": "end"}],
    }
    return kept | more


def session() -> list[HistoryLine]:
    """A session from 10 s to 20 s with a student's program, received by two readers."""
    lines = [
        {"k": "open", "who": "reader", "t": 0.0, "after": None, "status": 200},
        {"k": "open", "who": "other", "t": 0.0, "after": None, "status": 200},
        post(
            10, "/evaluation/start", {"command": "go"}, {"session": session_answer(True)["session"]}
        ),
    ]
    for who in ("reader", "other"):
        lines += [
            evaluation_event(
                10.1, 11, 0.0, "start", who, world="oval", command="go", time_limit_s=20
            ),
            evaluation_event(10.2, 12, 0.0, "phase", who, phase="initializing"),
            evaluation_event(10.3, 13, 0.0, "phase", who, phase="starting"),
            run_event(10.4, 14, who, phase="start", command="go"),
            evaluation_event(10.5, 15, 0.0, "phase", who, phase="running"),
            evaluation_event(12.0, 16, 2.0, "log", who, line="hello"),
            run_event(19.0, 17, who, phase="exit", exit_code=0),
            evaluation_event(20.0, 18, 5.0, "phase", who, phase="ended"),
            evaluation_event(20.1, 19, 5.0, "end", who, outcome="finished", record=1, reason=None),
        ]
    lines += [
        get(15, "/evaluation/session", session_answer(True)),
        {"k": "exam", "session": ID, "t": 10.1, "expected": ["finished", "stopped"]},
        get(21, f"/evaluation/record?session={ID}", record()),
        get(22, "/evaluation/session", session_answer(False)),
        {"k": "watch", "t0": 23.0, "t1": 23.1, "children": 0, "strays": 0, "anon_kb": 1000}
        | {"pids": []},
    ]
    return sorted(lines, key=lambda line: line.get("t1", line.get("t", 0.0)))


def _ordered(lines: list[HistoryLine]) -> list[HistoryLine]:
    """Puts the constants first and sorts the lines by their end, as in a real history."""
    lines = [{"k": "constants", "t": 0.0, "yellow_s": 3.0}, *copy.deepcopy(lines)]
    return numbered(sorted(lines, key=lambda line: line.get("t1", line.get("t", 0.0))))


def broken(lines: list[HistoryLine], end: dict[str, Any] | None = None) -> list[str]:
    """The rules that a history breaks, each once, in order of time."""
    verdict = rules.check(_ordered(lines), end)
    return list(dict.fromkeys(one.rule for one in verdict.broken))


def checked(lines: list[HistoryLine], end: dict[str, Any] | None = None) -> set[str]:
    """The rules that were checked at least once in a history."""
    verdict = rules.check(_ordered(lines), end)
    return {name for name, times in verdict.checked.items() if times}


def without(lines: list[HistoryLine], *unwanted: HistoryLine) -> list[HistoryLine]:
    return [line for line in lines if line not in unwanted]


def changed(lines: list[HistoryLine], old: HistoryLine, **new: Any) -> list[HistoryLine]:
    """The same history with some fields of one line changed."""
    assert old in lines, old
    return [line | new if line == old else line for line in lines]
