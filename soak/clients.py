"""Starts the clients. Each of them sends the requests of its plan on its own connection."""

import hashlib
import itertools
import json
import threading
from typing import Any

from .history import History
from .plan import plan
from .sequences import Request
from .web import Client


class Names:
    """Values for the placeholders of plans, such as `$sound`.

    A plan has placeholders, because the values are known only while the simulator runs.
    """

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.worlds: list[str] = []

    def put(self, value: Any, sound: str) -> Any:
        """Replaces the placeholders in a path or body. `sound` is the id of the last sound."""
        if isinstance(value, dict):
            return {key: self.put(v, sound) for key, v in value.items()}
        if not isinstance(value, str) or "$" not in value:
            return value
        if value == "$speed":
            return self.speed
        value = value.replace("$sound", sound)
        for index, world in enumerate(self.worlds):
            value = value.replace(f"$world{index}", world)
        return value


def _play(client: Client, requests: Any, names: Names, over: threading.Event) -> None:
    sound = "a0"
    for request in requests:
        if over.wait(request.think):
            break
        status, answer = _send(client, request, names, sound)
        if request.path == "/audio/play" and status == 200:
            sound = answer["id"]
    client.close()


def _send(client: Client, request: Request, names: Names, sound: str) -> tuple[int | None, Any]:
    path, body = names.put(request.path, sound), names.put(request.body, sound)
    if request.leave is not None:
        client.leave(request.method, path, body, request.leave)
        return None, None
    allow = None if request.allow is None else list(request.allow)
    return client.ask(request.method, path, body, allow=allow)


def start(
    count: int,
    seed: int,
    pause: float,
    address: tuple[str, int],
    history: History,
    names: Names,
    over: threading.Event,
) -> list[threading.Thread]:
    """Starts `count` clients. `pause` is the mean time between two sequences, in seconds."""
    threads = []
    for index in range(count):
        client = Client(f"client{index}", address, history)
        requests = plan(f"{seed}/{index}", pause)
        thread = threading.Thread(
            target=_play, args=(client, requests, names, over), name=client.who, daemon=True
        )
        thread.start()
        threads.append(thread)
    return threads


def fingerprint(count: int, seed: int, length: int = 500) -> str:
    """A short hash of the first requests of all clients. The same seed gives the same hash."""
    sum_ = hashlib.sha256()
    for index in range(count):
        for request in itertools.islice(plan(f"{seed}/{index}", 1.0), length):
            body = request.body.decode() if isinstance(request.body, bytes) else request.body
            sum_.update(json.dumps([request.method, request.path, body, request.allow]).encode())
    return sum_.hexdigest()[:16]
