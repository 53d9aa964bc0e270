"""The robot: its own web API, which a physical car has too."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from chicane._aclient import AsyncClient
from chicane._call import read_bytes
from chicane._client import Client
from chicane._feeds import Event, data, events, pictures
from chicane._operation import Call, given, operation, streamed
from chicane.wire import robot as wire

SLOWEST = 0.05
"""The slowest pace of simulated time: what takes a second may take so many."""


class RobotOperations:
    """What can be asked of a robot. Metres, seconds and radians; left is positive.

    What can be read once can be followed: `robot.odom()` and `robot.odom_stream()`. A stream gives
    the newest there is when you ask for it.
    """

    # Driving

    @operation("POST", "/drive")
    def drive(self, speed: float, steering: float) -> Call[wire.Driven]:
        """Speed and steering at once. The speed lasts a second unless it is said again."""
        return Call(body={"speed": speed, "steering": steering})

    @operation("POST", "/drive")
    def stop(self) -> Call[wire.Driven]:
        """Stands still, wheels straight."""
        return Call(body={"speed": 0.0, "steering": 0.0})

    @operation("GET", "/speed")
    def speed(self) -> Call[float]:
        """Measured, m/s."""
        return Call()

    @operation("POST", "/speed")
    def set_speed(self, value: float, duration: float | None = None) -> Call[wire.Commanded]:
        """For a second, or held for `duration` and answered at its end."""
        longer = (duration or 0.0) / SLOWEST
        return Call(body=given(value=value, duration=duration), longer=longer)

    @operation("GET", "/steering")
    def steering(self) -> Call[float]:
        """Measured, rad."""
        return Call()

    @operation("POST", "/steering")
    def set_steering(self, value: float) -> Call[wire.Commanded]:
        """Stays until it is said anew."""
        return Call(body={"value": value})

    @streamed("/speed", data)
    def speed_stream(self) -> Call[float]:
        """Every new measurement."""
        return Call(query={"stream": True})

    @streamed("/steering", data)
    def steering_stream(self) -> Call[float]:
        """Every new measurement."""
        return Call(query={"stream": True})

    # Camera

    @operation("GET", "/camera")
    def camera(self, *, width: int | None = None, height: int | None = None) -> Call[bytes]:
        """The last picture as a JPEG, at most so large."""
        return Call(query=given(width=width, height=height), accept="*/*", read=read_bytes)

    @streamed("/camera", pictures)
    def camera_stream(self, *, width: int | None = None, height: int | None = None) -> Call[bytes]:
        """Every new picture as a JPEG."""
        return Call(query=given(width=width, height=height, stream=True), accept="*/*")

    @operation("GET", "/camera/pan")
    def pan(self) -> Call[float]:
        """Where the camera looks, + is left."""
        return Call()

    @operation("POST", "/camera/pan")
    def set_pan(self, value: float) -> Call[wire.Commanded]:
        """Turns the camera, + is left."""
        return Call(body={"value": value})

    @operation("GET", "/camera/tilt")
    def tilt(self) -> Call[float]:
        """Where the camera looks, + is up."""
        return Call()

    @operation("POST", "/camera/tilt")
    def set_tilt(self, value: float) -> Call[wire.Commanded]:
        """Tilts the camera, + is up."""
        return Call(body={"value": value})

    @streamed("/camera/pan", data)
    def pan_stream(self) -> Call[float]:
        """Every new measurement."""
        return Call(query={"stream": True})

    @streamed("/camera/tilt", data)
    def tilt_stream(self) -> Call[float]:
        """Every new measurement."""
        return Call(query={"stream": True})

    # Other sensors

    @operation("GET", "/lidar")
    def lidar(self, *, step: float | None = None) -> Call[wire.LidarScan]:
        """The last scan: metres by degrees, every `step` degrees (1)."""
        return Call(query=given(step=step))

    @operation("GET", "/imu")
    def imu(self) -> Call[wire.Inertial]:
        """Acceleration and rates of turning."""
        return Call()

    @operation("GET", "/odom")
    def odom(self) -> Call[wire.Odometry]:
        """Where the car believes it is; its yaw is in degrees."""
        return Call()

    @operation("GET", "/battery")
    def battery(self) -> Call[wire.Battery]:
        """How full it is."""
        return Call()

    @operation("GET", "/states")
    def states(
        self, include: Iterable[str] = (), *, step: float | None = None
    ) -> Call[wire.States]:
        """Several readings at once, such as `["odom", "lidar"]`; `step` is that of the lidar."""
        return Call(query=given(include=",".join(include) or None, step=step))

    @streamed("/lidar", data)
    def lidar_stream(self, *, step: float | None = None) -> Call[wire.LidarScan]:
        """Every new scan."""
        return Call(query=given(step=step, stream=True))

    @streamed("/imu", data)
    def imu_stream(self) -> Call[wire.Inertial]:
        """Every new reading."""
        return Call(query={"stream": True})

    @streamed("/odom", data)
    def odom_stream(self) -> Call[wire.Odometry]:
        """Every new estimate."""
        return Call(query={"stream": True})

    @streamed("/battery", data)
    def battery_stream(self) -> Call[wire.Battery]:
        """Every new reading."""
        return Call(query={"stream": True})

    @streamed("/states", data)
    def states_stream(
        self, include: Iterable[str] = (), *, step: float | None = None
    ) -> Call[wire.States]:
        """Several readings, whenever one of them is new."""
        return Call(query=given(include=",".join(include) or None, step=step, stream=True))

    # Loudspeaker

    @operation("GET", "/audio")
    def audio(self) -> Call[wire.Sounds]:
        """What plays."""
        return Call()

    @operation("POST", "/audio/play")
    def play(
        self,
        data: bytes | None = None,
        *,
        path: str | None = None,
        url: str | None = None,
        format: wire.SoundFormat | None = None,
        volume: float | None = None,
        loop: bool | None = None,
        replace: bool | None = None,
    ) -> Call[wire.Played]:
        """Plays a sound file (wav, mp3, ogg, flac): its bytes, its `path` on the robot, or its
        `url`.
        """
        content = None if data is None else base64.b64encode(data).decode("ascii")
        more = given(path=path, url=url, format=format, volume=volume, loop=loop, replace=replace)
        return Call(body=given(data=content) | more)

    @operation("POST", "/audio/stop")
    def stop_sound(
        self, id: str | None = None, *, all: bool | None = None
    ) -> Call[wire.SoundStopped]:
        """Stops one sound, or all of them."""
        return Call(body=given(id=id, all=all))

    @operation("POST", "/audio/volume")
    def set_volume(self, id: str, volume: float) -> Call[wire.VolumeChanged]:
        """Makes a sound louder or quieter, 0 to 1."""
        return Call(body={"id": id, "volume": volume})

    @operation("GET", "/audio/file/{id}")
    def sound_file(self, id: str) -> Call[bytes]:
        """The file that plays."""
        return Call(path={"id": id}, accept="*/*", read=read_bytes)

    @streamed("/audio", data)
    def audio_stream(self) -> Call[wire.Sounds]:
        """What plays, whenever it changes."""
        return Call(query={"stream": True})

    @streamed("/audio/events", events)
    def audio_events(self) -> Call[Event]:
        """What happens to sounds, for whoever plays them."""
        return Call(accept="text/event-stream")

    # About the robot

    @operation("GET", "/info")
    def info(self) -> Call[wire.Info]:
        """What the robot is: limits, sizes, sensors."""
        return Call()

    @operation("GET", "/health")
    def health(self) -> Call[wire.Health]:
        """Whether it works."""
        return Call()


class Robot(Client, RobotOperations):
    """A robot, in the simulator or on the floor.

    >>> robot = Robot("http://my-car.local:8000")
    >>> robot.drive(speed=0.5, steering=0.1)
    """


class AsyncRobot(AsyncClient, RobotOperations):
    """A robot, for asyncio: every method of `Robot`, awaited."""
