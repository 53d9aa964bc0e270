"""The simulator: everything under `/sim/api`. A physical car has none of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from chicane import arrays
from chicane._aclient import AsyncClient
from chicane._call import Procedure, read_bytes, request
from chicane._client import Client
from chicane._feeds import Event, events
from chicane._operation import Call, given, operation, sequence, streamed
from chicane.arrays import Observation
from chicane.errors import Timeout
from chicane.wire import sim as wire

Sensor = Literal["camera", "lidar", "imu", "odom"]
LOADING_S = 60.0
"""Loading a world may take so much longer than other requests."""


class SimOperations:
    """What can be asked of a simulator. Metres, seconds and radians; what is left out stays as it
    is.
    """

    # State and time

    @operation("GET", "/sim/api/status")
    def status(self) -> Call[wire.Status]:
        """Whether a world runs, and which."""
        return Call()

    @operation("GET", "/sim/api/state")
    def state(self) -> Call[wire.State]:
        """Everything that changes, at one moment."""
        return Call()

    @streamed("/sim/api/events", events)
    def events(self) -> Call[Event]:
        """What happens, as it happens: `state`, `run` and `evaluation`.

        The stream comes back by itself after an interruption and goes on where it was.
        """
        return Call(accept="text/event-stream")

    @operation("GET", "/sim/api/clock")
    def clock(self) -> Call[wire.Clock]:
        """Simulated time, real time, and how they relate."""
        return Call()

    @operation("POST", "/sim/api/clock")
    def set_clock(
        self, *, paused: bool | None = None, speed: float | None = None
    ) -> Call[wire.ClockChanged]:
        """Stops, starts or paces time; `speed` 0 is as fast as the machine can."""
        return Call(body=given(paused=paused, speed=speed))

    @operation("POST", "/sim/api/step")
    def step(
        self,
        steps: int | None = None,
        *,
        duration: float | None = None,
        speed: float | None = None,
        steering: float | None = None,
        observe: Iterable[Sensor] = (),
        camera_width: int | None = None,
        camera_height: int | None = None,
    ) -> Call[wire.Stepped]:
        """Pauses the world and advances it by ticks of 5 ms, or by `duration` seconds."""
        body = given(
            steps=steps,
            duration=duration,
            speed=speed,
            steering=steering,
            observe=list(observe) or None,
            camera_width=camera_width,
            camera_height=camera_height,
        )
        return Call(body=body, longer=stepping_s(body))

    @operation("POST", "/sim/api/step")
    def observe(
        self,
        steps: int | None = None,
        *,
        duration: float | None = None,
        speed: float | None = None,
        steering: float | None = None,
        observe: Iterable[Sensor] = (),
        camera_width: int | None = None,
        camera_height: int | None = None,
    ) -> Call[Observation]:
        """A step whose readings come as raw arrays: `numpy.asarray(answer["lidar"])`."""
        body = given(
            steps=steps,
            duration=duration,
            speed=speed,
            steering=steering,
            observe=list(observe) or None,
            camera_width=camera_width,
            camera_height=camera_height,
        )
        accept = "application/octet-stream"
        return Call(body=body, accept=accept, read=arrays.read, longer=stepping_s(body))

    # Vehicle

    @operation("GET", "/sim/api/pose")
    def pose(self) -> Call[wire.Pose]:
        """Where the car truly is."""
        return Call()

    @operation("POST", "/sim/api/pose")
    def set_pose(
        self, *, x: float | None = None, y: float | None = None, yaw: float | None = None
    ) -> Call[wire.Placed]:
        """Puts the car somewhere, upright and at rest."""
        return Call(body=given(x=x, y=y, yaw=yaw))

    @operation("POST", "/sim/api/reset")
    def reset(self) -> Call[wire.ResetDone]:
        """The car and everything movable back to the start, lights green. Time goes on."""
        return Call()

    @operation("POST", "/sim/api/respawn")
    def respawn(self, *, seed: int | None = None) -> Call[wire.Respawned]:
        """Loads the world anew: time, noise and odometry start over. Equal seeds, equal runs."""
        return Call(body=given(seed=seed), longer=LOADING_S)

    @operation("GET", "/sim/api/vehicle")
    def vehicle(self) -> Call[wire.Vehicle]:
        """Every number of the car."""
        return Call()

    # World and objects

    @operation("GET", "/sim/api/world")
    def world(self) -> Call[wire.World]:
        """What the world is: names, track, catalogue of objects."""
        return Call()

    @operation("GET", "/sim/api/route")
    def route(self) -> Call[wire.Route]:
        """Centre line and borders of the track."""
        return Call()

    @operation("GET", "/sim/api/bounds")
    def bounds(self) -> Call[wire.Bounds]:
        """The rectangle of the track's ground."""
        return Call()

    @operation("GET", "/sim/api/objects")
    def objects(self) -> Call[wire.Objects]:
        """Objects, and where they are now."""
        return Call()

    @operation("POST", "/sim/api/models/{name}/pose")
    def move_object(
        self,
        name: str,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        yaw: float | None = None,
        duration: float | None = None,
        path: Sequence[Sequence[float]] | None = None,
        speed: float | None = None,
        loop: bool | None = None,
    ) -> Call[wire.ModelMoved]:
        """Puts an object or a light somewhere; with `duration`, or `path` and `speed`, it moves
        there.
        """
        points = None if path is None else [list(point) for point in path]
        body = given(x=x, y=y, z=z, yaw=yaw, duration=duration, path=points, speed=speed, loop=loop)
        return Call(path={"name": name}, body=body)

    @operation("GET", "/sim/api/traffic_lights")
    def lights(self) -> Call[wire.TrafficLights]:
        """Traffic lights and what they show."""
        return Call()

    @operation("POST", "/sim/api/traffic_lights/{name}")
    def set_light(self, name: str, state: wire.RedOrGreen) -> Call[wire.LightChanged]:
        """Green at once; red after three seconds of yellow, in which it can't be changed."""
        return Call(path={"name": name}, body={"state": state})

    @operation("GET", "/sim/api/scene")
    def scene(self) -> Call[wire.Scene]:
        """Where the world and the car are to be had as binary glTF."""
        return Call()

    # Display

    @operation("GET", "/sim/api/brightness")
    def brightness(self) -> Call[wire.Brightness]:
        """How bright the viewer and the camera show the scene."""
        return Call()

    @operation("POST", "/sim/api/brightness")
    def set_brightness(self, value: float) -> Call[wire.BrightnessChanged]:
        """0.2 to 2; 1 is the scene as it is."""
        return Call(body={"value": value})

    @operation("GET", "/sim/api/overlay")
    def overlay(self) -> Call[wire.Overlay]:
        """The text on the viewer's screen."""
        return Call()

    @operation("POST", "/sim/api/overlay")
    def set_overlay(
        self, text: str, *, ttl: float | None = None, size: float | None = None
    ) -> Call[wire.OverlayChanged]:
        """Shows a text for `ttl` seconds (10); an empty one clears it."""
        return Call(body=given(text=text, ttl=ttl, size=size))

    # Evaluation

    @operation("GET", "/sim/api/evaluation")
    def evaluation(self) -> Call[wire.EvaluationDocument]:
        """How this world is judged: config and script."""
        return Call()

    @operation("POST", "/sim/api/evaluation/start")
    def start_evaluation(
        self,
        *,
        command: str | None = None,
        time_limit_s: float | None = None,
        seed: int | None = None,
    ) -> Call[wire.Started]:
        """Starts a session; without a command the run is only observed."""
        body = given(command=command, time_limit_s=time_limit_s, seed=seed)
        return Call(body=body, longer=LOADING_S)

    @operation("POST", "/sim/api/evaluation/stop")
    def stop_evaluation(self) -> Call[wire.Stopped]:
        """Ends the session and every process of the student."""
        return Call(longer=LOADING_S)

    @operation("GET", "/sim/api/evaluation/session")
    def session(self) -> Call[wire.CurrentSession]:
        """The session, or the last one."""
        return Call()

    @operation("GET", "/sim/api/evaluation/record")
    def record(self, session: str | None = None) -> Call[wire.Record]:
        """The verdict of a session, or of the last one, with its whole story."""
        return Call(query=given(session=session))

    @operation("GET", "/sim/api/evaluation/records")
    def records(
        self, *, world: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Call[wire.RecordList]:
        """Verdicts, the newest first."""
        return Call(query=given(world=world, limit=limit, cursor=cursor))

    # Worlds

    @operation("GET", "/sim/api/worlds")
    def worlds(self) -> Call[wire.Worlds]:
        """The worlds there are."""
        return Call()

    @operation("POST", "/sim/api/switch")
    def switch(
        self, world: str | None = None, *, world_id: str | None = None
    ) -> Call[wire.Switched]:
        """Another world, by name (`oval` or `oval.world`) or published id; answers when it is
        ready.
        """
        if world is not None and not world.endswith(".world"):
            world += ".world"
        return Call(body=given(world=world, world_id=world_id), longer=LOADING_S)

    @operation("GET", "/sim/api/worldpub")
    def publication(self) -> Call[wire.Publication]:
        """What the current world is as a published one, and where published ones come from."""
        return Call()

    @operation("POST", "/sim/api/worlds/install")
    def install(self, world_id: str) -> Call[wire.InstallAnswer]:
        """Installs a published world."""
        return Call(body={"world_id": world_id}, longer=600.0)

    @operation("DELETE", "/sim/api/worlds/{name}")
    def delete_world(self, name: str) -> Call[wire.Deleted]:
        """Removes an installed world."""
        return Call(path={"name": name})

    @operation("GET", "/sim/api/worlds/{name}/waypoints.npy")
    def waypoints_file(self, name: str) -> Call[bytes]:
        """Centre line and borders of a world as a file of NumPy."""
        return Call(path={"name": name}, accept="*/*", read=read_bytes)

    @operation("GET", "/sim/api/worlds/{name}/print.jpg")
    def print_file(self, name: str, *, dpi: int | None = None) -> Call[bytes]:
        """The floor of a world as a JPEG, true to scale."""
        query = given(dpi=dpi)
        return Call(path={"name": name}, query=query, accept="*/*", read=read_bytes, longer=600.0)

    @operation("GET", "/sim/api/worlds/{name}/thumbnail.png")
    def thumbnail_file(self, name: str) -> Call[bytes]:
        """A world as a small PNG."""
        return Call(path={"name": name}, accept="*/*", read=read_bytes)

    # Several requests in a row

    @sequence
    def wait_until_ready(
        self, world: str | None = None, *, timeout: float = 60.0
    ) -> Procedure[None]:
        """Waits until a world, or the one of this name, runs."""
        until = time.monotonic() + timeout
        while True:
            status: wire.Status = yield request("GET", "/sim/api/status", Call[wire.Status]())
            current = status.get("current")
            if status["running"] and not status["switching"] and world in (None, current):
                return
            if time.monotonic() > until:
                raise Timeout(f"{world or 'a world'} was not ready within {timeout:g} s")
            yield 0.02

    @sequence
    def evaluate(
        self,
        command: str | None = None,
        *,
        time_limit_s: float | None = None,
        seed: int | None = None,
        timeout: float = 3600.0,
    ) -> Procedure[wire.Record]:
        """Runs a whole evaluation and returns its record; stops it after `timeout` real seconds."""
        until = time.monotonic() + timeout
        body = given(command=command, time_limit_s=time_limit_s, seed=seed)
        start = Call[wire.Started](body=body, longer=LOADING_S)
        started: wire.Started = yield request("POST", "/sim/api/evaluation/start", start)
        session = started["session"]["id"]
        while True:
            ask = Call[wire.CurrentSession]()
            now: wire.CurrentSession = yield request("GET", "/sim/api/evaluation/session", ask)
            current = now.get("session")
            if not now["active"] or not current or current["id"] != session:
                break
            if time.monotonic() > until:
                yield request("POST", "/sim/api/evaluation/stop", Call[Any](longer=LOADING_S))
                break
            yield 0.05
        record: wire.Record = yield request(
            "GET", "/sim/api/evaluation/record", Call[wire.Record](query={"session": session})
        )
        return record


def stepping_s(body: dict[str, Any]) -> float:
    """How much longer a step may take: faster than the clock, but machines are shared."""
    ticks = body.get("steps", 1)
    return 2.0 * float(body.get("duration") or ticks * 0.005)


class Sim(Client, SimOperations):
    """A simulator.

    >>> sim = Sim()
    >>> sim.step(duration=2, speed=1)["vehicle"]["x"]
    """


class AsyncSim(AsyncClient, SimOperations):
    """A simulator, for asyncio: every method of `Sim`, awaited."""
