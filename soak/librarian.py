"""The librarian: a client that publishes, installs, switches to and deletes worlds."""

import pathlib
import random
import threading

from .history import History
from .operations import API
from .scenarios import SCENARIOS, project
from .server import Server
from .web import Client


class Librarian:
    """Publishes a new world every twelfth turn, and uses a random published world in most turns."""

    def __init__(self, seed: int, server: Server, history: History, folder: pathlib.Path) -> None:
        self._chance = random.Random(f"librarian {seed}")
        self._server, self._history, self._folder = server, history, folder
        self._client = Client("librarian", server.address, history)
        self._published: list[str] = []

    def run(self, over: threading.Event) -> None:
        turn = 0
        while not over.wait(self._chance.expovariate(1 / 2)):
            draw = self._chance.random()
            pick = self._chance.random()
            if turn % 12 == 0:
                self._publish(turn)
            turn += 1
            if not self._published:
                continue
            world = self._published[int(pick * len(self._published))]
            if draw < 0.45:
                self._client.ask("POST", API + "/worlds/install", {"world_id": world})
            elif draw < 0.7:
                self._client.ask("DELETE", f"{API}/worlds/custom_{world}")
            elif draw < 0.9:
                self._client.ask("POST", API + "/switch", {"world_id": world})
            self._client.ask("GET", API + "/worlds")
        self._client.close()

    def _publish(self, turn: int) -> None:
        path = project(SCENARIOS[0], self._folder / "library")
        t0 = self._history.now()
        try:
            world = self._server.publish(path, f"soak {turn}")
        except RuntimeError as error:
            self._history.add("bad", who="librarian", t=self._history.now(), what=str(error))
            return
        self._published.append(world)
        self._history.add("publish", t0=t0, t1=self._history.now(), world=world)
