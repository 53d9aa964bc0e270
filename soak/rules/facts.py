"""The history in a form that rules can query.

A request takes effect at an unknown moment between its start and its answer. Rules therefore use
time spans: when something was certainly true, and when it may have been true.
"""

import itertools
import math
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Any

from ..history import HistoryLine
from ..operations import API

#: A request may still take effect for this many seconds after its client has disconnected.
LEFT = 5.0
#: Largest delay of an event between simulator and reader, in seconds, on a busy machine.
LAG = 5.0
#: The parts of a shipped world that a session's seed changes, if the evaluation varies them.
VARIED = frozenset({"lights", "brightness"})


#: Path of a test drive of the world builder. A test drive switches the world, like `POST /switch`.
_DRIVE = re.compile(re.escape(API) + r"/builder/projects/[^/]+/drive")


def action(line: HistoryLine) -> str:
    """The path of a request. A test drive of the world builder counts as `POST /switch`."""
    path = line["path"]
    return API + "/switch" if _DRIVE.fullmatch(path) else path


@dataclass(frozen=True)
class Span:
    """The time span in which an event may have happened, and the history line of that event."""

    t0: float
    t1: float
    line: HistoryLine


class Spans:
    """A set of spans. It quickly finds the spans that overlap another span."""

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
    """The known facts about one session."""

    id: str
    start: HistoryLine
    #: Until this time, the session was certainly active.
    alive_until: float
    #: From this time on, the session was certainly over.
    gone_by: float = math.inf
    #: From this time on, the session was certainly in the phase `running` or over.
    running_by: float = math.inf
    gone_line: HistoryLine | None = None
    alive_line: HistoryLine | None = None
    touches: frozenset[str] = frozenset()
    record: HistoryLine | None = None
    exam: HistoryLine | None = None
    #: Whether a reader of the event stream was connected when the session started.
    had_reader: bool = False
    events: dict[str, list[HistoryLine]] = field(default_factory=dict)

    @property
    def ran(self) -> bool:
        """Whether a reader received the phase `running`."""
        events = itertools.chain.from_iterable(self.events.values())
        return any(line["data"].get("phase") == "running" for line in events)

    @property
    def outcome(self) -> str | None:
        """The outcome in the events, or None if no event has an outcome."""
        events = itertools.chain.from_iterable(self.events.values())
        return next(
            (line["data"]["outcome"] for line in events if line["data"]["kind"] == "end"), None
        )

    @property
    def begun(self) -> float:
        return self.start["t1"]


class Facts:
    """The history with indexes and derived facts that several rules use."""

    def __init__(self, lines: list[HistoryLine]) -> None:
        self.lines = lines
        self._read_states: list[tuple[HistoryLine, dict[str, Any]]] | None = None
        constants = [line for line in lines if line["k"] == "constants"]
        self._yellow_s: float = constants[0]["yellow_s"] if constants else math.nan
        self.calls = [line for line in lines if line["k"] == "call"]
        self.left = [line for line in lines if line["k"] == "left"]
        self.events = [line for line in lines if line["k"] == "event"]
        self.scripts = {line["world"]: line for line in lines if line["k"] == "script"}
        self.restarts = Spans(self.acts("/switch", "/respawn"))
        self.sessions = self._sessions()
        places = [Span(s.start["t0"], s.running_by, s.start) for s in self.sessions.values()]
        #: Spans in which the world may have been replaced or reloaded.
        self.swaps = Spans(self.restarts.all + places)

    def yellow_s(self) -> float:
        """Length of the yellow phase in simulated seconds, as `GET /world` gave it at the start."""
        return self._yellow_s

    def done(self, method: str, *paths: str) -> list[HistoryLine]:
        """Requests that were answered with 200."""
        wanted = {API + path for path in paths}
        return [
            line
            for line in self.calls
            if line["method"] == method and line["status"] == 200 and action(line) in wanted
        ]

    def acts(self, *paths: str) -> list[Span]:
        """Spans in which commands to these paths may have taken effect.

        Commands whose answer is unknown have spans too.
        """
        spans = [Span(line["t0"], line["t1"], line) for line in self.done("POST", *paths)]
        wanted = {API + path for path in paths}
        unknown = self.left + [line for line in self.calls if line.get("fail")]
        spans += [Span(u["t0"], u["t1"] + LEFT, u) for u in unknown if action(u) in wanted]
        return spans

    def read_states(self) -> list[tuple[HistoryLine, dict[str, Any]]]:
        """The states in answers to requests, sorted by the end of the request."""
        if self._read_states is None:
            found = self.done("GET", "/state") + self.done("POST", "/step")
            whole = [line for line in found if "time" in line["answer"] and "wrong" not in line]
            self._read_states = [
                (line, line["answer"]) for line in sorted(whole, key=lambda c: c["t1"])
            ]
        return self._read_states

    def _sessions(self) -> dict[str, Session]:
        found: dict[str, Session] = {}
        for line in self.done("POST", "/evaluation/start"):
            view = line["answer"]["session"]
            script = self.scripts.get(view["world"])
            if script is not None:
                touches = frozenset(script.get("touches", ()))
            else:
                touches = VARIED if (line["body"] or {}).get("seed") else frozenset()
            found[view["id"]] = Session(view["id"], line, line["t1"], touches=touches)
        for line in self.lines:
            kind = line["k"]
            if kind == "exam" and line["session"] in found:
                found[line["session"]].exam = line
            elif kind == "event" and line["event"] == "evaluation":
                self._add_event(found, line)
            elif kind == "call" and line["status"] == 200:
                self._add_answer(found, line)
        # Only one session can be active. A session was therefore over before the next one started.
        order = sorted(found.values(), key=lambda s: s.start["t0"])
        for earlier, later in itertools.pairwise(order):
            if later.start["t1"] < earlier.gone_by:
                earlier.gone_by, earlier.gone_line = later.start["t1"], later.start
        listened = min((line["t"] for line in self.lines if line["k"] == "open"), default=math.inf)
        for session in found.values():
            session.had_reader = session.start["t0"] > listened
            session.running_by = min(session.running_by, session.gone_by)
        return found

    def _add_event(self, found: dict[str, Session], line: HistoryLine) -> None:
        session = found.get(line["data"]["session"])
        if session is None:
            return
        session.events.setdefault(line["who"], []).append(line)
        data = line["data"]
        if data["kind"] == "end" and line["t"] < session.gone_by:
            session.gone_by, session.gone_line = line["t"], line
        if data["kind"] == "phase" and data["phase"] == "running":
            session.running_by = min(session.running_by, line["t"])

    def _add_answer(self, found: dict[str, Session], line: HistoryLine) -> None:
        path, answer = line["path"], line["answer"]
        if path == API + "/evaluation/stop":
            for session in found.values():
                # A session that was active when the stop was sent is over when the stop is
                # answered.
                before = session.start["t1"] <= line["t0"]
                if before and line["t1"] < session.gone_by:
                    session.gone_by, session.gone_line = line["t1"], line
        elif path == API + "/evaluation/session" and answer["session"]:
            session = found.get(answer["session"]["id"])
            self._set_active(session, line, answer["active"])
        elif path in (API + "/state", API + "/step") and "evaluation" in answer:
            session = found.get(answer["evaluation"]["session"] or "")
            self._set_active(session, line, answer["evaluation"]["active"])
        elif path.startswith(API + "/evaluation/record?session="):
            session = found.get(answer["session"])
            if session is not None and answer["outcome"] is not None:
                session.record = line

    @staticmethod
    def _set_active(session: Session | None, line: HistoryLine, active: bool) -> None:
        if session is None:
            return
        if active and line["t0"] > session.alive_until:
            session.alive_until, session.alive_line = line["t0"], line
        if not active and line["t0"] >= session.start["t1"] and line["t1"] < session.gone_by:
            session.gone_by, session.gone_line = line["t1"], line

    def replaced(self, last: HistoryLine, line: HistoryLine) -> bool:
        """Whether the world may have been replaced between two states of one reader."""
        before, now = last["data"]["evaluation"], line["data"]["evaluation"]
        # Here the world is taken to stay the same during a session, because the rule
        # session-holds-world checks that no request replaces the world then.
        if before == now and now["active"] and now["phase"] == "running":
            return False
        return self.swaps.meets(last["t"] - LAG, line["t"])

    def possible(self, t0: float, t1: float) -> bool:
        """Whether a session may have been active at some moment of a span."""
        return any(s.start["t0"] <= t1 and s.gone_by >= t0 for s in self.sessions.values())

    def certain(self, t0: float, t1: float) -> Session | None:
        """A session that was certainly active during the whole span, or None."""
        for session in self.sessions.values():
            if session.begun <= t0 and t1 <= session.alive_until:
                return session
        return None
