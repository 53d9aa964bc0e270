"""The history, sorted by what rules ask for.

What happened between a request and its answer happened at some moment in between, nobody knows
when. So rules speak of spans:
of when something was certainly so, and of when it may have been.
"""

import itertools
import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Any

from ..history import Line
from ..operations import API

#: A request whose client hung up is carried out within this, or not at all.
LEFT = 5.0
#: An event is read at most this long after it was sent, also on a machine that has much else to do.
LAG = 5.0


@dataclass(frozen=True)
class Span:
    """From when to when something may have happened, and the line that says so."""

    t0: float
    t1: float
    line: Line


class Spans:
    """Spans to be asked quickly for those that meet another."""

    def __init__(self, spans: list[Span]) -> None:
        self.all = sorted(spans, key=lambda span: span.t0)
        self._starts = [span.t0 for span in self.all]
        self._longest = max((span.t1 - span.t0 for span in self.all), default=0.0)

    def meeting(self, t0: float, t1: float) -> list[Span]:
        first = bisect_left(self._starts, t0 - self._longest)
        last = bisect_right(self._starts, t1)
        return [span for span in self.all[first:last] if span.t1 >= t0]

    def meets(self, t0: float, t1: float) -> bool:
        return bool(self.meeting(t0, t1))


@dataclass
class Session:
    """What is known of one session."""

    id: str
    start: Line
    #: It was certainly there until then; and certainly gone from then on.
    alive_until: float
    gone_by: float = math.inf
    #: Time certainly ran from then on, or it was over.
    running_by: float = math.inf
    gone_line: Line | None = None
    alive_line: Line | None = None
    touches: frozenset[str] = frozenset()
    record: Line | None = None
    exam: Line | None = None
    #: Somebody listened when it began.
    heard: bool = False
    events: dict[str, list[Line]] = field(default_factory=dict)

    @property
    def ran(self) -> bool:
        """Somebody was told that it ran."""
        told = itertools.chain.from_iterable(self.events.values())
        return any(line["data"].get("phase") == "running" for line in told)

    @property
    def outcome(self) -> str | None:
        """How it was told to have ended."""
        told = itertools.chain.from_iterable(self.events.values())
        return next(
            (line["data"]["outcome"] for line in told if line["data"]["kind"] == "end"), None
        )

    @property
    def begun(self) -> float:
        return self.start["t1"]


class Facts:
    """Everything that rules want to know more than once."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self._looks: list[tuple[Line, dict[str, Any]]] | None = None
        self.calls = [line for line in lines if line["k"] == "call"]
        self.left = [line for line in lines if line["k"] == "left"]
        self.events = [line for line in lines if line["k"] == "event"]
        self.scripts = {line["world"]: line for line in lines if line["k"] == "script"}
        self.restarts = Spans(self.acts("/switch", "/respawn"))
        self.sessions = self._sessions()
        places = [Span(s.start["t0"], s.running_by, s.start) for s in self.sessions.values()]
        #: When the world may have been replaced by another one, or by itself anew.
        self.swaps = Spans(self.restarts.all + places)

    def done(self, method: str, *paths: str) -> list[Line]:
        """Requests that were carried out."""
        wanted = {API + path for path in paths}
        return [
            line
            for line in self.calls
            if line["method"] == method and line["status"] == 200 and line["path"] in wanted
        ]

    def acts(self, *paths: str) -> list[Span]:
        """When commands to these paths may have been carried out, also those that nobody saw the
        end of.
        """
        spans = [Span(line["t0"], line["t1"], line) for line in self.done("POST", *paths)]
        wanted = {API + path for path in paths}
        unknown = self.left + [line for line in self.calls if line.get("fail")]
        spans += [Span(u["t0"], u["t1"] + LEFT, u) for u in unknown if u["path"] in wanted]
        return spans

    def looks(self) -> list[tuple[Line, dict[str, Any]]]:
        """States that someone asked for, as far as they were kept."""
        if self._looks is None:
            found = self.done("GET", "/state") + self.done("POST", "/step")
            whole = [line for line in found if "time" in line["answer"] and "wrong" not in line]
            self._looks = [(line, line["answer"]) for line in sorted(whole, key=lambda c: c["t1"])]
        return self._looks

    def _sessions(self) -> dict[str, Session]:
        found: dict[str, Session] = {}
        for line in self.done("POST", "/evaluation/start"):
            view = line["answer"]["session"]
            script = self.scripts.get(view["world"], {})
            found[view["id"]] = Session(
                view["id"], line, line["t1"], touches=frozenset(script.get("touches", ()))
            )
        for line in self.lines:
            kind = line["k"]
            if kind == "exam" and line["session"] in found:
                found[line["session"]].exam = line
            elif kind == "event" and line["event"] == "evaluation":
                self._told(found, line)
            elif kind == "call" and line["status"] == 200:
                self._seen(found, line)
        # One that others came after was gone before they came.
        order = sorted(found.values(), key=lambda s: s.start["t0"])
        for earlier, later in itertools.pairwise(order):
            if later.start["t1"] < earlier.gone_by:
                earlier.gone_by, earlier.gone_line = later.start["t1"], later.start
        listened = min((line["t"] for line in self.lines if line["k"] == "open"), default=math.inf)
        for session in found.values():
            session.heard = session.start["t0"] > listened
            session.running_by = min(session.running_by, session.gone_by)
        return found

    def _told(self, found: dict[str, Session], line: Line) -> None:
        session = found.get(line["data"]["session"])
        if session is None:
            return
        session.events.setdefault(line["who"], []).append(line)
        data = line["data"]
        if data["kind"] == "end" and line["t"] < session.gone_by:
            session.gone_by, session.gone_line = line["t"], line
        if data["kind"] == "phase" and data["phase"] == "running":
            session.running_by = min(session.running_by, line["t"])

    def _seen(self, found: dict[str, Session], line: Line) -> None:
        path, answer = line["path"], line["answer"]
        if path == API + "/evaluation/stop":
            for session in found.values():
                # Whoever was there when it was asked for is gone when it is answered.
                before = session.start["t1"] <= line["t0"]
                if before and line["t1"] < session.gone_by:
                    session.gone_by, session.gone_line = line["t1"], line
        elif path == API + "/evaluation/session" and answer["session"]:
            session = found.get(answer["session"]["id"])
            self._at(session, line, answer["active"])
        elif path in (API + "/state", API + "/step") and "evaluation" in answer:
            session = found.get(answer["evaluation"]["session"] or "")
            self._at(session, line, answer["evaluation"]["active"])
        elif path.startswith(API + "/evaluation/record?session="):
            session = found.get(answer["session"])
            if session is not None and answer["outcome"] is not None:
                session.record = line

    @staticmethod
    def _at(session: Session | None, line: Line, active: bool) -> None:
        if session is None:
            return
        if active and line["t0"] > session.alive_until:
            session.alive_until, session.alive_line = line["t0"], line
        if not active and line["t0"] >= session.start["t1"] and line["t1"] < session.gone_by:
            session.gone_by, session.gone_line = line["t1"], line

    def replaced(self, last: Line, line: Line) -> bool:
        """Whether the world may have been replaced between two states that a reader was told."""
        before, now = last["data"]["evaluation"], line["data"]["evaluation"]
        # A session that runs holds its world; another rule sees to that.
        if before == now and now["active"] and now["phase"] == "running":
            return False
        return self.swaps.meets(last["t"] - LAG, line["t"])

    def possible(self, t0: float, t1: float) -> bool:
        """Whether a session may have been there at some moment of a span."""
        return any(s.start["t0"] <= t1 and s.gone_by >= t0 for s in self.sessions.values())

    def certain(self, t0: float, t1: float) -> Session | None:
        """A session that was there all through a span, if there was one."""
        for session in self.sessions.values():
            if session.begun <= t0 and t1 <= session.alive_until:
                return session
        return None
