"""The request sequences of clients: a few related requests, with random values.

Placeholders such as `$sound` and `$world0` stand for names that only the simulator knows. The
client replaces them before it sends the request.
"""

import base64
import io
import random
import wave
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .operations import API

WORLDS = ["oval", "field", "technical", "slalom", "speedway", "town", "riverside"]
LIGHTS = ["signal1", "signal1", "signal1", "signal2"]
OBJECTS = ["box1", "box1", "cone1", "cylinder1", "sphere1", "signal1"]
#: Number of published worlds that clients switch to.
OWN_WORLDS = 3


@dataclass(frozen=True)
class Request:
    """One request of a plan."""

    method: str
    path: str
    body: Any = None
    #: The only allowed statuses of a request that is invalid on purpose. None for other requests.
    allow: tuple[int, ...] | None = None
    #: Seconds to wait before the request.
    think: float = 0.0
    #: Seconds after which the client disconnects without reading the answer.
    leave: float | None = None


def _wav(seconds: float) -> str:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes(bytes(2 * int(8000 * seconds)))
    return base64.b64encode(file.getvalue()).decode()


SHORT, LONG = _wav(0.1), _wav(8.0)


def get(path: str, **more: Any) -> Request:
    return Request("GET", path, **more)


def post(path: str, body: Any = None, **more: Any) -> Request:
    return Request("POST", path, body, **more)


def clock(**body: Any) -> Request:
    return post(API + "/clock", body)


def _drive(r: random.Random) -> list[Request]:
    speed, angle = round(r.uniform(-3.5, 3.5), 3), round(r.uniform(-0.5, 0.5), 3)
    return r.choice(
        [
            [post("/drive", {"speed": speed, "steering": angle})] * r.randint(1, 4),
            [post("/steering", {"value": angle}), post("/speed", {"value": speed}), get("/speed")],
            [post("/speed", {"value": speed, "duration": round(r.uniform(0.02, 6), 3)})],
            [post("/camera/pan", {"value": angle}), post("/camera/tilt", {"value": -angle})],
        ]
    )


def _light(r: random.Random) -> list[Request]:
    path = f"{API}/traffic_lights/{r.choice(LIGHTS)}"
    orders = [
        post(path, {"state": r.choice(["red", "red", "green"])}) for _ in range(r.randint(1, 3))
    ]
    return [*orders, get(API + r.choice(["/traffic_lights", "/state"]))]


def _light_standing_still(r: random.Random) -> list[Request]:
    path = f"{API}/traffic_lights/{r.choice(LIGHTS)}"
    look = [get(API + "/state"), get(API + "/traffic_lights")]
    orders = [post(path, {"state": "red"}), *look, post(path, {"state": "green"}), *look]
    return [clock(paused=True), *orders, clock(paused=False)]


def _object(r: random.Random) -> list[Request]:
    name = r.choice(OBJECTS)
    body: dict[str, Any] = {"x": round(r.uniform(0, 9), 3), "y": round(r.uniform(0, 6), 3)}
    if r.random() < 0.5:
        body["yaw"] = round(r.uniform(-3.1, 3.1), 3)
    if r.random() < 0.15:
        body["duration"] = round(r.uniform(0.5, 20), 2)
    elif r.random() < 0.1:
        corner = [round(r.uniform(0, 9), 3), round(r.uniform(0, 6), 3)]
        body = {"path": [[1, 1], corner, [3, 4]], "speed": 0.7, "loop": r.random() < 0.5}
    sequence = [post(f"{API}/models/{name}/pose", body)]
    if r.random() < 0.3:
        fixed = r.choice(["wall_0", "racetrack", "vehicle"])
        sequence.append(post(f"{API}/models/{fixed}/pose", {"x": 1}, allow=(403, 404, 409)))
    return [*sequence, get(API + "/objects")] if r.random() < 0.4 else sequence


def _pose(r: random.Random) -> list[Request]:
    body = {"x": round(r.uniform(0.5, 8), 3), "y": round(r.uniform(0.5, 5), 3)}
    body["yaw"] = round(r.uniform(-3.1, 3.1), 3)
    for key in r.sample(sorted(body), r.randint(0, 2)):
        del body[key]
    return [post(API + "/pose", body), get(API + "/pose")]


def _step(r: random.Random) -> list[Request]:
    def one() -> dict[str, Any]:
        size = (
            {"steps": r.randint(1, 400)}
            if r.random() < 0.7
            else {"duration": r.randint(1, 300) / 100}
        )
        if r.random() < 0.3:
            size |= {"speed": round(r.uniform(0, 3), 2), "steering": round(r.uniform(-0.3, 0.3), 2)}
        if r.random() < 0.2:
            size["observe"] = r.sample(["lidar", "imu", "odom"], 2)
        return size

    steps = [post(API + "/step", one()) for _ in range(r.randint(1, 4))]
    if r.random() < 0.15:
        steps.append(post(API + "/step", {"steps": 100_000}, leave=round(r.uniform(0, 0.1), 3)))
    return [*steps, get(API + "/state"), clock(paused=False)]


def _time(r: random.Random) -> list[Request]:
    if r.random() < 0.6:
        still = [get(API + r.choice(["/clock", "/state"])) for _ in range(r.randint(1, 3))]
        return [clock(paused=True), *still, clock(paused=False)]
    speed = r.choice([0.5, 1, 5, 50, 100, 0])
    return [clock(speed=speed), get(API + "/clock"), clock(speed="$speed", paused=False)]


def _display(r: random.Random) -> list[Request]:
    if r.random() < 0.5:
        value = round(r.uniform(0.2, 2.0), 2)
        return [post(API + "/brightness", {"value": value}), get(API + "/brightness")]
    body: dict[str, Any] = {"text": "soak " * r.randint(0, 40), "ttl": r.choice([1, 2, 5, 3600])}
    return [post(API + "/overlay", body), get(API + "/overlay")]


_READS = [
    *(API + p for p in ("/state", "/state", "/traffic_lights", "/clock", "/status", "/pose")),
    *(API + p for p in ("/world", "/route", "/bounds", "/objects", "/worlds", "/worldpub")),
    *(API + p for p in ("/vehicle", "/scene", "/evaluation", "/brightness", "/overlay")),
    *(
        API + p
        for p in ("/evaluation/session", "/evaluation/record", "/evaluation/records?limit=5")
    ),
    "/info",
    "/health",
    "/audio",
]


def _read(r: random.Random) -> list[Request]:
    return [get(r.choice(_READS)) for _ in range(r.randint(1, 4))]


def _sense(r: random.Random) -> list[Request]:
    width = r.choice([16, 64, 160, 320])
    paths = ["/odom", "/imu", "/battery", "/speed", "/steering", "/camera/pan", "/camera/tilt"]
    paths += [f"/lidar?step={r.choice([0.5, 1, 7.5, 30])}", f"/camera?width={width}"]
    paths += ["/states?include=odom,imu", "/states", "/states?include=audio,camera"]
    sequence = [get(r.choice(paths)) for _ in range(r.randint(1, 3))]
    if r.random() < 0.1:
        sequence.append(get(f"/camera?width={width}", leave=0.0))
    return sequence


def _sound(r: random.Random) -> list[Request]:
    data = {"data": SHORT if r.random() < 0.5 else LONG, "format": "wav"}
    play = post("/audio/play", data | {"volume": round(r.random(), 2), "replace": r.random() < 0.5})
    after = [
        post("/audio/volume", {"id": "$sound", "volume": 0.5}),
        get("/audio"),
        get("/audio/file/$sound"),
        post("/audio/stop", {"id": "$sound"}),
        post("/audio/stop", {"all": True}),
    ]
    return [play, *r.sample(after, r.randint(1, 4))]


def _world(r: random.Random) -> list[Request]:
    choice = r.random()
    if choice < 0.5:
        body = {"world": f"{r.choice(WORLDS)}.world"}
    elif choice < 0.8:
        body = {"world_id": f"$world{r.randrange(OWN_WORLDS)}"}
    else:
        return r.choice(
            [
                [post(API + "/switch", {"world": "nowhere.world"}, allow=(404, 409))],
                [post(API + "/switch", {"world": "../oval.world"}, allow=(400,))],
                [post(API + "/switch", {"world_id": "00"}, allow=(400,))],
                [post(API + "/switch", {"world_id": "0" * 32}, allow=(404, 409))],
                [Request("DELETE", API + "/worlds/oval", allow=(403,))],
                [post(API + "/worlds/install", {"world_id": "f" * 32}, allow=(404,))],
            ]
        )
    return [post(API + "/switch", body), get(API + "/status"), get(API + "/traffic_lights")]


def _session(r: random.Random) -> list[Request]:
    start = {"time_limit_s": r.randint(1, 20), "seed": r.randint(0, 9)}
    return r.choice(
        [
            [post(API + "/evaluation/stop"), get(API + "/evaluation/session")],
            [post(API + "/evaluation/start", start), get(API + "/evaluation/session")],
            [post(API + "/evaluation/start", start | {"command": "echo $RANDOM; sleep 0.2"})],
            [post(API + "/evaluation/start", {"command": " "}, allow=(400,))],
            [post(API + "/evaluation/start", {"time_limit_s": 0}, allow=(400,))],
            [get(API + "/evaluation/record?session=nobody", allow=(404,))],
        ]
    )


def _nonsense(r: random.Random) -> list[Request]:
    bad, bad_robot = (400,), (422,)
    return [
        r.choice(
            [
                post(API + "/pose", b'{"x": ', allow=bad),
                post(API + "/pose", {"x": "1.0"}, allow=bad),
                post(API + "/pose", {"x": 101}, allow=bad),
                post(API + "/clock", {"speed": 1000}, allow=bad),
                post(API + "/clock", {"paused": 1}, allow=bad),
                post(API + "/step", {"steps": 1, "duration": 1}, allow=bad),
                post(API + "/step", {"steps": 0}, allow=bad),
                post(API + "/traffic_lights/signal1", {"state": "yellow"}, allow=bad),
                post(API + "/traffic_lights/nobody", {"state": "red"}, allow=(404, 409)),
                post(API + "/models/nobody/pose", {"x": 1}, allow=(404, 409)),
                post(API + "/models/box1/pose", {"x": 1e9}, allow=bad),
                post(API + "/brightness", {"value": 3}, allow=bad),
                post(API + "/brightness", {}, allow=bad),
                post(API + "/overlay", {"text": "x" * 301}, allow=bad),
                post(API + "/overlay", {"text": "x", "ttl": 0}, allow=bad),
                post(API + "/worlds/install", {"world_id": "xyz"}, allow=bad),
                post(API + "/overlay", b"[" * 3000, allow=bad),
                post(API + "/overlay", b" " * ((1 << 20) + 10), allow=(413,)),
                get(API + "/evaluation/records?limit=0", allow=bad),
                get(API + "/nowhere", allow=(404,)),
                Request("PUT", API + "/state", allow=(405,)),
                Request("DELETE", API + "/pose", allow=(405,)),
                post("/speed", {"value": "fast"}, allow=bad_robot),
                post("/speed", {"value": 1, "duration": 601}, allow=bad_robot),
                post("/drive", {"speed": 1}, allow=bad_robot),
                post("/audio/play", {"data": "AAAA", "format": "wav"}, allow=(409, 422)),
                post("/audio/play", {}, allow=bad_robot),
                get("/lidar?step=31", allow=bad_robot),
                get("/camera?width=15", allow=bad_robot),
                get("/states?step=31", allow=bad_robot),
            ]
        )
    ]


def _back(_: random.Random) -> list[Request]:
    return [post(API + "/reset"), get(API + "/state"), get(API + "/traffic_lights")]


def _anew(_: random.Random) -> list[Request]:
    return [post(API + "/respawn"), get(API + "/state"), get("/odom")]


SEQUENCES: list[tuple[float, Callable[[random.Random], list[Request]]]] = [
    (14, _drive),
    (9, _light),
    (3, _light_standing_still),
    (8, _object),
    (5, _pose),
    (3, _step),
    (3, _time),
    (3, _display),
    (14, _read),
    (9, _sense),
    (4, _sound),
    (1.5, _world),
    (0.7, _session),
    (5, _nonsense),
    (3, _back),
    (1, _anew),
]
