"""The examiner: a client that runs evaluations one after the other, with all scenarios."""

import random
import threading
import time
from typing import Any

from .history import History
from .operations import API
from .scenarios import STUDENTS, Scenario
from .watch import Watch
from .web import Client


class Examiner:
    """Runs evaluations.

    For each evaluation the examiner switches the world, starts a session, waits for its end and
    reads the record.
    """

    def __init__(
        self,
        seed: int,
        address: tuple[str, int],
        history: History,
        watch: Watch,
        worlds: list[tuple[Scenario, str]],
        commands: dict[str, str],
    ) -> None:
        self._chance = random.Random(f"examiner {seed}")
        self._client = Client("examiner", address, history)
        self._history, self._watch = history, watch
        self._worlds, self._commands = worlds, commands

    def run(self, over: threading.Event) -> None:
        """Runs evaluations until `over` is set. Every round has all scenarios in random order."""
        while not over.is_set():
            worlds = list(self._worlds)
            self._chance.shuffle(worlds)
            for scenario, world_id in worlds:
                student = self._chance.choice(STUDENTS)
                stop_after = self._chance.uniform(0, 1.5) if self._chance.random() < 0.2 else None
                seed, rest = self._chance.randint(0, 5), self._chance.expovariate(4)
                if over.is_set():
                    break
                self._examine(scenario, world_id, student, stop_after, seed, over)
                # In this pause other clients can switch worlds and start sessions.
                over.wait(rest)
        self._client.close()

    def _examine(
        self,
        scenario: Scenario,
        world_id: str,
        student: str | None,
        stop_after: float | None,
        seed: int,
        over: threading.Event,
    ) -> None:
        if not self._until(over, "/switch", {"world_id": world_id}):
            return
        body: dict[str, Any] = {"seed": seed, "time_limit_s": scenario.time_limit_s}
        if student:
            body["command"] = self._commands[student]
        started = self._until(over, "/evaluation/start", body)
        if not started:
            return
        session = started["session"]
        self._history.add(
            "exam",
            t=self._history.now(),
            session=session["id"],
            world=session["world"],
            scenario=scenario.judge,
            student=student,
            expected=[*scenario.outcomes, "stopped"] if session["world_id"] == world_id else None,
        )
        timeout = stop_after if stop_after is not None else 25.0
        if not self._ends(session["id"], timeout, over):
            self._client.ask("POST", API + "/evaluation/stop")
            self._watch.look()
        self._client.ask("GET", f"{API}/evaluation/record?session={session['id']}", allow=[200])
        self._client.ask("GET", API + "/evaluation/session")

    def _until(self, over: threading.Event, path: str, body: dict[str, Any]) -> Any:
        """Repeats a request while it is refused with 409. Returns None if it is not accepted."""
        for _ in range(400):
            status, answer = self._client.ask("POST", API + path, body)
            if status == 200:
                return answer
            if status != 409 or over.wait(0.05):
                return None
        return None

    def _ends(self, session: str, timeout: float, over: threading.Event) -> bool:
        """Whether a session ends by itself within `timeout` seconds, and before `over` is set."""
        end = time.monotonic() + timeout
        while time.monotonic() < end and not over.is_set():
            status, answer = self._client.ask("GET", API + "/evaluation/session")
            if status == 200:
                current = answer["session"]
                if not answer["active"] or current["id"] != session:
                    return True
            over.wait(0.1)
        return False
