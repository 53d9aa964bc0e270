"""Viewers: clients that open streams and pages for a while. Some never read their stream."""

import contextlib
import http.client
import json
import random
import threading
from collections.abc import Callable
from typing import Any

from . import schemas
from .history import History
from .reader import Reader
from .streams import StreamError, WebSocket, connect, cut, events, is_jpeg, pictures
from .web import Client

#: Longest time in seconds for which a viewer keeps a stream open without reading it.
LONGEST = 8.0
#: Timeout of a request for a print, in seconds. The simulator makes only one print at a time, so
#: a request waits for the prints that others have requested before.
PRINT_TIMEOUT_S = 180.0


class Viewer:
    """A client whose method `run` makes random visits, such as opening a stream.

    It ends when its event `over` is set.
    """

    def __init__(self, who: str, seed: str, address: tuple[str, int], history: History) -> None:
        self.who, self._address, self._history = who, address, history
        self._chance = random.Random(f"viewer {seed}")
        self._client = Client(who, address, history)
        self._turn = 0

    def run(self, over: threading.Event) -> None:
        kinds: list[tuple[float, Callable[[random.Random, threading.Event], int]]] = [
            (4, self._events),
            (3, self._resumes),
            (2, self._stalls),
            (3, self._films),
            (2, self._sensors),
            (3, self._drives),
            (1, self._breaks),
            (2, self._plays),
            (1, self._listens),
            (2, self._opens_page),
            (1, self._prints),
            (1, self._stalled_print),
        ]
        while not over.is_set():
            kind = self._chance.choices([k for _, k in kinds], [w for w, _ in kinds])[0]
            chance = random.Random(self._chance.random())
            rest = self._chance.expovariate(2)
            self._turn += 1
            t0, count, ended = self._history.now(), 0, "left"
            try:
                count = kind(chance, over)
            except StreamError as error:
                ended = "broken"
                self._bad(f"{kind.__name__}: {error}")
            except (OSError, http.client.HTTPException) as error:
                ended = f"{type(error).__name__}: {error}"
                if not over.is_set():
                    self._bad(f"{kind.__name__}: {ended}")
            name = kind.__name__.strip("_").replace("_", " ")
            self._history.add(
                "viewer",
                who=self.who,
                t0=t0,
                t1=self._history.now(),
                kind=name,
                count=count,
                ended=ended,
            )
            over.wait(rest)
        self._client.close()

    def _bad(self, what: str) -> None:
        self._history.add("bad", who=self.who, t=self._history.now(), what=what)

    def _name(self) -> str:
        return f"{self.who}.{self._turn}"

    def _events(self, chance: random.Random, _: threading.Event) -> int:
        reader = Reader(self._name(), self._address, self._history, states=False)
        try:
            reader.read(chance.randint(1, 200))
        finally:
            reader.close()
        return reader.count

    def _resumes(self, chance: random.Random, over: threading.Event) -> int:
        """Disconnects repeatedly and resumes after the last event."""
        after, count = None, 0
        for turn in range(chance.randint(2, 5)):
            who = f"{self._name()}.{turn}"
            reader = Reader(who, self._address, self._history, after=after, states=False)
            try:
                reader.read(chance.randint(1, 60))
            finally:
                reader.close()
            after, count = reader.last, count + reader.count
            if over.wait(chance.uniform(0, 0.5)):
                break
        return count

    def _stalls(self, chance: random.Random, over: threading.Event) -> int:
        """Opens a stream and reads nothing."""
        paths = [
            "/sim/api/events",
            "/camera?stream=true",
            "/states?stream=true",
            "/lidar?stream=true",
        ]
        path = chance.choice([*paths, "/audio/events"])
        connection, _ = connect(self._address, path)
        over.wait(chance.uniform(0.5, LONGEST))
        cut(connection)
        return 0

    def _films(self, chance: random.Random, over: threading.Event) -> int:
        width = chance.choice([64, 160, 320, 480])
        connection, response = connect(self._address, f"/camera?stream=true&width={width}")
        wanted, count = chance.randint(1, 40), 0
        try:
            for picture in pictures(response):
                count += 1
                if not is_jpeg(picture):
                    raise StreamError("a picture of the stream is not a JPEG")
                if count >= wanted or over.is_set():
                    break
        finally:
            cut(connection)
        return count

    def _sensors(self, chance: random.Random, over: threading.Event) -> int:
        shapes: dict[str, Any] = {
            "/odom": schemas.odom,
            "/imu": schemas.imu,
            "/lidar": schemas.lidar,
        }
        path = chance.choice(sorted(shapes))
        connection, response = connect(self._address, path + "?stream=true")
        wanted, count = chance.randint(1, 60), 0
        try:
            for _, name, data in events(response):
                if name:
                    count += 1
                    if wrong := shapes[path](data):
                        raise StreamError(f"{path}: {wrong}")
                if count >= wanted or over.is_set():
                    break
        finally:
            cut(connection)
        return count

    def _drives(self, chance: random.Random, over: threading.Event) -> int:
        axis = chance.choice(["speed", "steering"])
        socket = WebSocket(self._address, f"/{axis}/stream")
        wanted = chance.randint(1, 30)
        try:
            for _ in range(wanted):
                socket.send(json.dumps({"value": round(chance.uniform(-1, 1), 3)}).encode())
                if over.wait(chance.expovariate(20)):
                    break
            if chance.random() < 0.5:
                socket.send(b"\x03\xe8", opcode=8)
                code = socket.close_code()
                if code != 1000:
                    raise StreamError(f"a close with 1000 was answered with {code}")
        finally:
            socket.close()
        return wanted

    def _breaks(self, chance: random.Random, _: threading.Event) -> int:
        """Violates the protocol and expects the matching close code."""
        path = chance.choice(["/speed/stream", "/audio/stream"])
        socket = WebSocket(self._address, path)
        how = chance.choice(["unmasked", "opcode", "text"])
        try:
            if how == "unmasked":
                socket.send(b'{"value": 0}', mask=False)
            elif how == "opcode":
                socket.send(b"", opcode=5)
            else:
                socket.send(b"\xff\xfe", opcode=1)
            code, expected = socket.close_code(), 1007 if how == "text" else 1002
            # The server may have closed /audio/stream earlier for another reason: with code 1013 if
            # the sound could not start (too many sounds, or a world is loading), or with code 1000
            # if the sound ended (another client stopped it, or a reset or a world switch).
            if code != expected and not (path == "/audio/stream" and code in (1000, 1013)):
                raise StreamError(f"{path}, {how}: closed with {code}, not with {expected}")
        finally:
            socket.close()
        return 1

    def _plays(self, chance: random.Random, over: threading.Event) -> int:
        """Streams audio samples to the robot."""
        socket = WebSocket(self._address, "/audio/stream?sample_rate=8000&channels=1")
        count = chance.randint(1, 40)
        try:
            frame = socket.read()
            if frame is None:
                raise StreamError("/audio/stream ended before its first frame")
            first = json.loads(frame[1])
            # The first frame has no id while a world is being loaded.
            if frame[0] == 1 and "id" in first:
                # The server closes the stream when the world is replaced or the sound is stopped.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    for _ in range(count):
                        socket.send(bytes(chance.choice([160, 1600, 16000])), opcode=2)
                        if over.wait(chance.expovariate(30)):
                            break
        finally:
            socket.close()
        return count

    def _listens(self, chance: random.Random, over: threading.Event) -> int:
        connection, response = connect(self._address, "/audio/events")
        wanted, count = chance.randint(1, 5), 0
        try:
            for _, name, _ in events(response):
                count += bool(name)
                if count >= wanted or over.is_set():
                    break
        finally:
            cut(connection)
        return count

    def _opens_page(self, _: random.Random, __: threading.Event) -> int:
        """Loads the files of the page /sim."""
        self._client.ask("GET", "/sim", allow=[200])
        status, scene = self._client.ask("GET", "/sim/api/scene")
        if status == 200:
            for key in ("world_glb", "car_glb"):
                # Any status is accepted here, because the world may have been replaced meanwhile.
                self._client.ask("GET", scene[key])
        return 1

    def _prints(self, chance: random.Random, _: threading.Event) -> int:
        world = chance.choice(["oval", "field", "technical"])
        file = chance.choice(["print.jpg?dpi=10", "thumbnail.png", "waypoints.npy"])
        # The simulator makes only one print at a time, so a request for a print may wait for up to
        # two minutes.
        path = f"/sim/api/worlds/{world}/{file}"
        status, _ = self._client.ask("GET", path, timeout=PRINT_TIMEOUT_S)
        return int(status == 200)

    def _stalled_print(self, chance: random.Random, over: threading.Event) -> int:
        """Requests a large picture and does not read it."""
        connection = http.client.HTTPConnection(*self._address, timeout=60)
        connection.request("GET", "/sim/api/worlds/technical/print.jpg?dpi=150")
        over.wait(chance.uniform(0.5, 3))
        with contextlib.suppress(OSError):
            cut(connection)
        return 0


def start(
    count: int, seed: int, address: tuple[str, int], history: History, over: threading.Event
) -> list[threading.Thread]:
    """Starts `count` viewers, each in its own thread."""
    threads = []
    for index in range(count):
        viewer = Viewer(f"viewer{index}", f"{seed}/{index}", address, history)
        thread = threading.Thread(target=viewer.run, args=(over,), name=viewer.who, daemon=True)
        thread.start()
        threads.append(thread)
    return threads
