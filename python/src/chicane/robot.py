"""Clients of the robot's web API. A simulated and a physical car have the same API."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING

from chicane._aclient import AsyncClient
from chicane._call import read_bytes
from chicane._client import Client
from chicane._feeds import Event, data, events, pictures
from chicane._operation import Call, given, operation, streamed
from chicane.sockets import (
    AsyncCommandSocket,
    AsyncSoundSocket,
    CommandSocket,
    SoundSocket,
    sound_path,
)

if TYPE_CHECKING:
    from chicane.wire import robot as wire

SLOWEST = 0.05
"""The slowest pace of simulated time, as a real-time factor. One simulated second can take 20 s."""


class RobotOperations:
    """The methods of `Robot` and `AsyncRobot`.

    Units are metres, seconds and radians unless a method says otherwise. Positive steering, pan and
    yaw are to the left. Values outside the car's limits are clamped, and the result holds the
    clamped value.

    Each sensor can be read once or followed as a stream, such as `odom()` and `odom_stream()`. A
    stream skips readings that are older than the newest one.

    All methods raise `ApiError` if the robot refuses the request: `Unprocessable` for an invalid
    value, `NotReady` if a sensor has no reading yet. They raise `ConnectError` or `Timeout` if the
    robot does not answer.
    """

    # Driving

    @operation("POST", "/drive")
    def drive(self, speed: float, steering: float) -> Call[wire.Driven]:
        """Sets speed (m/s, + is forwards) and steering (rad, + is left) together.

        The car stops after one simulated second unless a new command arrives before.
        """
        return Call(body={"speed": speed, "steering": steering})

    @operation("POST", "/drive")
    def stop(self) -> Call[wire.Driven]:
        """Sets speed and steering to 0."""
        return Call(body={"speed": 0.0, "steering": 0.0})

    @operation("GET", "/speed")
    def speed(self) -> Call[float]:
        """Returns the measured speed in m/s."""
        return Call()

    @operation("POST", "/speed")
    def set_speed(self, value: float, duration: float | None = None) -> Call[wire.Commanded]:
        """Sets the speed in m/s, + is forwards.

        Without `duration` the method returns at once, and the car stops after one simulated second
        unless a new command arrives before. With `duration` the robot holds the speed for that many
        simulated seconds. The method then returns after that time, with the message `stopped`, or
        `superseded` if another command replaced this one.
        """
        longer = (duration or 0.0) / SLOWEST
        return Call(body=given(value=value, duration=duration), longer=longer)

    @operation("GET", "/steering")
    def steering(self) -> Call[float]:
        """Returns the commanded steering angle in rad, + is left. `states(["joints"])` has the
        measured one.
        """
        return Call()

    @operation("POST", "/steering")
    def set_steering(self, value: float) -> Call[wire.Commanded]:
        """Sets the steering angle in rad, + is left. The angle stays until the next command."""
        return Call(body={"value": value})

    @streamed("/speed", data)
    def speed_stream(self) -> Call[float]:
        """Yields each new measured speed in m/s."""
        return Call(query={"stream": True})

    @streamed("/steering", data)
    def steering_stream(self) -> Call[float]:
        """Yields the commanded steering angle in rad, with each new sample of the joints."""
        return Call(query={"stream": True})

    # Camera

    @operation("GET", "/camera")
    def camera(self, *, width: int | None = None, height: int | None = None) -> Call[bytes]:
        """Returns the last camera picture as the bytes of a JPEG file.

        `width` and `height` are upper limits in pixels. The aspect ratio is kept.
        """
        return Call(query=given(width=width, height=height), accept="*/*", read=read_bytes)

    @streamed("/camera", pictures)
    def camera_stream(self, *, width: int | None = None, height: int | None = None) -> Call[bytes]:
        """Yields each new camera picture as the bytes of a JPEG file. For the size see `camera`."""
        return Call(query=given(width=width, height=height, stream=True), accept="*/*")

    @operation("GET", "/camera/pan")
    def pan(self) -> Call[float]:
        """Returns the commanded pan angle of the camera in rad, + is left."""
        return Call()

    @operation("POST", "/camera/pan")
    def set_pan(self, value: float) -> Call[wire.Commanded]:
        """Sets the pan angle of the camera in rad, + is left."""
        return Call(body={"value": value})

    @operation("GET", "/camera/tilt")
    def tilt(self) -> Call[float]:
        """Returns the commanded tilt angle of the camera in rad, + is up."""
        return Call()

    @operation("POST", "/camera/tilt")
    def set_tilt(self, value: float) -> Call[wire.Commanded]:
        """Sets the tilt angle of the camera in rad, + is up."""
        return Call(body={"value": value})

    @streamed("/camera/pan", data)
    def pan_stream(self) -> Call[float]:
        """Yields the commanded pan angle in rad, with each new sample of the joints."""
        return Call(query={"stream": True})

    @streamed("/camera/tilt", data)
    def tilt_stream(self) -> Call[float]:
        """Yields the commanded tilt angle in rad, with each new sample of the joints."""
        return Call(query={"stream": True})

    # Other sensors

    @operation("GET", "/lidar")
    def lidar(self, *, step: float | None = None) -> Call[wire.LidarScan]:
        """Returns the last lidar scan.

        `ranges` maps an angle in degrees, as a string, to a distance in metres, or to None if the
        beam hit nothing. `step` is the angle between two entries in degrees, by default 1.
        """
        return Call(query=given(step=step))

    @operation("GET", "/imu")
    def imu(self) -> Call[wire.Inertial]:
        """Returns the last IMU reading: acceleration in m/s² and angular velocity in rad/s."""
        return Call()

    @operation("GET", "/odom")
    def odom(self) -> Call[wire.Odometry]:
        """Returns the pose that the car estimates from its own sensors. Its yaw is in degrees."""
        return Call()

    @operation("GET", "/battery")
    def battery(self) -> Call[wire.Battery]:
        """Returns the charge of the battery in percent, its voltage in V and its current in A."""
        return Call()

    @operation("GET", "/states")
    def states(
        self, include: Iterable[str] = (), *, step: float | None = None
    ) -> Call[wire.States]:
        """Returns several readings in one response, such as `["odom", "lidar"]`.

        If `include` is empty, these are the commands in force, `odom` and `battery`. A reading that
        does not exist yet is None. For `step` see `lidar`.
        """
        return Call(query=given(include=",".join(include) or None, step=step))

    @streamed("/lidar", data)
    def lidar_stream(self, *, step: float | None = None) -> Call[wire.LidarScan]:
        """Yields each new lidar scan. For `step` see `lidar`."""
        return Call(query=given(step=step, stream=True))

    @streamed("/imu", data)
    def imu_stream(self) -> Call[wire.Inertial]:
        """Yields each new IMU reading."""
        return Call(query={"stream": True})

    @streamed("/odom", data)
    def odom_stream(self) -> Call[wire.Odometry]:
        """Yields each new estimate of the pose."""
        return Call(query={"stream": True})

    @streamed("/battery", data)
    def battery_stream(self) -> Call[wire.Battery]:
        """Yields each new battery reading."""
        return Call(query={"stream": True})

    @streamed("/states", data)
    def states_stream(
        self, include: Iterable[str] = (), *, step: float | None = None
    ) -> Call[wire.States]:
        """Yields the readings of `include` whenever one of them is new. See `states`."""
        return Call(query=given(include=",".join(include) or None, step=step, stream=True))

    # Loudspeaker

    @operation("GET", "/audio")
    def audio(self) -> Call[wire.Sounds]:
        """Returns the sounds that are playing."""
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
        """Starts to play a sound file (wav, mp3, ogg or flac) and returns the sound's id.

        Give exactly one source: `data` (the bytes of the file), `path` (a file on the robot) or
        `url`. `format` is the format that the file must have. `volume` is 0 to 1, by default 1.
        `loop` repeats the sound until it is stopped. `replace` stops all other sounds first.
        """
        content = None if data is None else base64.b64encode(data).decode("ascii")
        more = given(path=path, url=url, format=format, volume=volume, loop=loop, replace=replace)
        return Call(body=given(data=content) | more)

    @operation("GET", "/audio/duration")
    def sound_duration(
        self, id: str | None = None, *, path: str | None = None
    ) -> Call[wire.SoundDuration]:
        """Returns the duration of a playing sound, or of a file on the robot, in seconds."""
        return Call(query=given(id=id, path=path))

    @operation("POST", "/audio/duration")
    def measure_sound(
        self,
        data: bytes | None = None,
        *,
        path: str | None = None,
        url: str | None = None,
        format: wire.SoundFormat | None = None,
    ) -> Call[wire.SoundDuration]:
        """Returns the duration of a sound file in seconds, without playing it. See `play`."""
        content = None if data is None else base64.b64encode(data).decode("ascii")
        return Call(body=given(data=content) | given(path=path, url=url, format=format))

    @operation("POST", "/audio/stop")
    def stop_sound(
        self, id: str | None = None, *, all: bool | None = None
    ) -> Call[wire.SoundStopped]:
        """Stops the sound with this id, or all sounds with `all=True`."""
        return Call(body=given(id=id, all=all))

    @operation("POST", "/audio/volume")
    def set_volume(self, id: str, volume: float) -> Call[wire.VolumeChanged]:
        """Sets the volume of a playing sound, 0 to 1."""
        return Call(body={"id": id, "volume": volume})

    @operation("GET", "/audio/file/{id}")
    def sound_file(self, id: str) -> Call[bytes]:
        """Returns the bytes of the file of a playing sound."""
        return Call(path={"id": id}, accept="*/*", read=read_bytes)

    @streamed("/audio", data)
    def audio_stream(self) -> Call[wire.Sounds]:
        """Yields the sounds that are playing, whenever they change."""
        return Call(query={"stream": True})

    @streamed("/audio/events", events)
    def audio_events(self) -> Call[Event]:
        """Yields an event whenever a sound starts, changes or ends, and the samples of streams.

        These events are sufficient for a program that makes the sounds audible.
        """
        return Call(accept="text/event-stream")

    # About the robot

    @operation("GET", "/info")
    def info(self) -> Call[wire.Info]:
        """Returns the description of the robot: limits, sizes, sensors and their rates."""
        return Call()

    @operation("GET", "/health")
    def health(self) -> Call[wire.Health]:
        """Returns the status of the robot.

        The status is `ok`, `waiting` before the first world is loaded, or `failing` if the
        simulator can't evaluate or can't keep records.
        """
        return Call()


class Robot(Client, RobotOperations):
    """A client of a robot, simulated or physical.

    >>> robot = Robot("http://my-car.local:8000")
    >>> robot.drive(speed=0.5, steering=0.1)
    """

    def speed_socket(self) -> CommandSocket:
        """Opens a stream of speeds in m/s, for programs that command often. Use `with`.

        >>> with robot.speed_socket() as speeds:
        ...     speeds.send(0.5)
        """
        return CommandSocket(self._settings, "/speed/stream")

    def steering_socket(self) -> CommandSocket:
        """Opens a stream of steering angles in rad. See `speed_socket`."""
        return CommandSocket(self._settings, "/steering/stream")

    def sound_socket(
        self, *, sample_rate: int = 24000, channels: int = 1, volume: float = 1.0
    ) -> SoundSocket:
        """Opens a stream of sound, which plays samples as they come. Close it, or use `with`."""
        return SoundSocket(self._settings, sound_path(sample_rate, channels, volume))


class AsyncRobot(AsyncClient, RobotOperations):
    """The asyncio version of `Robot`. It has the same methods, but they have to be awaited.

    A socket is opened by `async with`.
    """

    def speed_socket(self) -> AsyncCommandSocket:
        """A stream of speeds in m/s. See `Robot.speed_socket`."""
        return AsyncCommandSocket(self._settings, "/speed/stream")

    def steering_socket(self) -> AsyncCommandSocket:
        """A stream of steering angles in rad. See `Robot.speed_socket`."""
        return AsyncCommandSocket(self._settings, "/steering/stream")

    def sound_socket(
        self, *, sample_rate: int = 24000, channels: int = 1, volume: float = 1.0
    ) -> AsyncSoundSocket:
        """A stream of sound. See `Robot.sound_socket`."""
        return AsyncSoundSocket(self._settings, sound_path(sample_rate, channels, volume))
