"""Tests of the robot's client with the robot of a real simulator."""

import asyncio
import struct
import time
import typing

import chicane
from chicane import AsyncRobot
from chicane._operation import Operation, Streamed
from chicane.robot import RobotOperations
from chicane.wire import robot as wire

from .support import WithSimulator, differs, hints


def beep(seconds: float = 0.5, rate: int = 8000) -> bytes:
    """The bytes of a wav file with a tone."""
    data = b"\0\x10\0\xf0" * int(seconds * rate / 2)
    head = struct.pack(
        "<4sI4s4sIHHIIHH",
        b"RIFF",
        36 + len(data),
        b"WAVE",
        b"fmt ",
        16,
        1,
        1,
        rate,
        2 * rate,
        2,
        16,
    )
    return head + struct.pack("<4sI", b"data", len(data)) + data


class Robots(WithSimulator):
    def setUp(self) -> None:
        super().setUp()
        self.sim.step(duration=1.2)  # every sensor has a reading then

    def test_responses_match_their_types(self) -> None:
        asked = 0
        for name, method in vars(RobotOperations).items():
            with_arguments = name in ("sound_file", "sound_duration")
            if isinstance(method, Operation) and method.method == "GET" and not with_arguments:
                (kind,) = typing.get_args(hints(method.build)["return"])
                self.assertEqual(differs(getattr(self.robot, name)(), kind, name), [])
                asked += 1
        self.assertGreater(asked, 10)
        everything = [
            "odom",
            "imu",
            "lidar",
            "camera",
            "battery",
            "joints",
            "audio",
            "speed",
            "steering",
        ]
        self.assertEqual(differs(self.robot.states(everything, step=30), wire.States), [])

    def test_commands(self) -> None:
        robot = self.robot
        for answer, kind in (
            (robot.drive(0.5, 0.1), wire.Driven),
            (robot.set_speed(0.5), wire.Commanded),
            (robot.set_steering(0.2), wire.Commanded),
            (robot.set_pan(0.3), wire.Commanded),
            (robot.set_tilt(-0.2), wire.Commanded),
        ):
            self.assertEqual(differs(answer, kind), [])
        self.sim.step(100)
        self.assertAlmostEqual(robot.pan(), 0.3, 2)
        self.assertAlmostEqual(robot.steering(), 0.2, 2)
        self.assertGreater(robot.speed(), 0.3)
        self.assertEqual(robot.stop()["value"], {"speed": 0.0, "steering": 0.0})
        with self.assertRaises(chicane.Unprocessable) as caught:
            robot.set_speed("fast")  # type: ignore[arg-type]
        self.assertEqual(caught.exception.status, 422)

    def test_set_speed_with_duration_returns_at_its_end(self) -> None:
        self.sim.set_clock(paused=False, speed=20)
        answer = self.robot.set_speed(0.5, duration=1.0)
        self.assertEqual(answer.get("message"), "stopped")

    def test_pictures(self) -> None:
        self.assertEqual(self.robot.camera(width=160)[:2], b"\xff\xd8")
        self.sim.set_clock(paused=False)
        with self.robot.camera_stream(width=64) as pictures:
            for _ in range(3):
                picture = next(pictures)
                self.assertEqual((picture[:2], picture[-2:]), (b"\xff\xd8", b"\xff\xd9"))

    def test_streams(self) -> None:
        self.sim.set_clock(paused=False)
        arguments = {"states_stream": (["imu"],)}
        seen = 0
        for name, method in vars(RobotOperations).items():
            if isinstance(method, Streamed) and name not in ("camera_stream", "audio_events"):
                (kind,) = typing.get_args(hints(method.build)["return"])
                with getattr(self.robot, name)(*arguments.get(name, ())) as stream:
                    self.assertEqual(differs(next(stream), kind, name), [])
                seen += 1
        self.assertGreater(seen, 8)

    def test_sounds(self) -> None:
        played = self.robot.play(beep(), volume=0.5)
        self.assertEqual(differs(played, wire.Played), [])
        (sound,) = self.robot.audio()["playing"]
        self.assertEqual((sound["id"], sound["volume"]), (played["id"], 0.5))
        self.assertEqual(self.robot.sound_file(played["id"]), beep())
        with self.robot.audio_events() as events:
            self.assertEqual(next(events).name, "play")
        self.assertEqual(differs(self.robot.set_volume(played["id"], 1), wire.VolumeChanged), [])
        self.assertEqual(differs(self.robot.stop_sound(all=True), wire.SoundStopped), [])
        self.assertEqual(self.robot.audio()["playing"], [])

    def test_durations(self) -> None:
        measured = self.robot.measure_sound(beep())
        self.assertEqual(differs(measured, wire.SoundDuration), [])
        self.assertEqual(measured["duration"], 0.5)
        played = self.robot.play(beep())
        self.assertEqual(self.robot.sound_duration(played["id"]), measured)
        self.robot.stop_sound(all=True)

    def wait_for_command(self, axis: str, value: float) -> None:
        """Waits until a command is in force, because a socket does not answer commands."""
        deadline = time.monotonic() + 30
        while (now := self.robot.states()["cmd"][axis]) != value:
            self.assertLess(time.monotonic(), deadline, f"{axis} is {now}")

    def test_command_sockets(self) -> None:
        with self.robot.speed_socket() as speeds, self.robot.steering_socket() as angles:
            speeds.send(0.5)
            angles.send(9)
            self.wait_for_command("speed", 0.5)
            self.wait_for_command("steering", 0.3491)
            with self.assertRaises(ValueError):
                speeds.send(float("nan"))
        with self.assertRaises(chicane.ConnectError):
            speeds.send(0.5)

    def test_sound_socket(self) -> None:
        with self.robot.sound_socket(sample_rate=8000, volume=0.5) as stream:
            (sound,) = self.robot.audio()["playing"]
            self.assertEqual((sound["id"], sound["kind"]), (stream.id, "stream"))
            self.assertEqual((stream.sample_rate, stream.channels), (8000, 1))
            stream.send(b"\0\x10" * 800)
        with self.assertRaises(chicane.ApiError):
            self.robot.sound_socket(sample_rate=1)

    def test_async_sockets(self) -> None:
        async def use() -> None:
            async with AsyncRobot(self.program.url) as robot:
                async with robot.steering_socket() as angles:
                    await angles.send(-0.125)
                    await asyncio.to_thread(self.wait_for_command, "steering", -0.125)
                async with robot.sound_socket() as stream:
                    (sound,) = (await robot.audio())["playing"]
                    self.assertEqual(sound["id"], stream.id)
                    await stream.send(b"\0\x10" * 100)
                with self.assertRaises(chicane.ApiError):
                    async with robot.sound_socket(channels=9):
                        pass
                with self.assertRaises(chicane.ConnectError):
                    await angles.send(0)

        asyncio.run(use())

    def test_async_client(self) -> None:
        async def use() -> None:
            async with AsyncRobot(self.program.url) as robot:
                self.assertEqual(differs(await robot.odom(), wire.Odometry), [])
                await self.read_pictures(robot)

        asyncio.run(use())

    async def read_pictures(self, robot: AsyncRobot) -> None:
        self.sim.set_clock(paused=False)
        async with robot.camera_stream(width=64) as pictures:
            count = 0
            async for picture in pictures:
                self.assertEqual(picture[:2], b"\xff\xd8")
                count += 1
                if count == 3:
                    break
