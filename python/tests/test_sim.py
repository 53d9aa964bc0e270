"""Tests of the simulator's client with a real simulator."""

import asyncio
import math
import threading
import typing
import unittest
from typing import Any

import chicane
from chicane import AsyncSim, Event, Sim
from chicane._operation import Operation
from chicane.sim import SimOperations
from chicane.wire import sim as wire

from .support import WithSimulator, differs, hints


class Reading(WithSimulator):
    world = "town"

    def test_responses_match_their_types(self) -> None:
        arguments = {
            "waypoints_file": ("town",),
            "thumbnail_file": ("town",),
            "print_file": ("oval",),
            "workspace_file": (self.sim.workspace()["files"][0]["path"],),
        }
        skipped = {"record", "delete_world", "print_file"}
        # The following methods need a recorded run, or a simulator with a leaderboard.
        skipped |= {"run_file", "replay_file", "replay_picture"}
        skipped |= {"leaderboard", "submission", "submissions"}
        self.sim.set_overlay("hello", ttl=5, size=2)
        asked = 0
        for name, method in vars(SimOperations).items():
            if isinstance(method, Operation) and method.method == "GET" and name not in skipped:
                (kind,) = typing.get_args(hints(method.build)["return"])
                answer = getattr(self.sim, name)(*arguments.get(name, ()))
                self.assertEqual(differs(answer, kind, name), [])
                asked += 1
        self.assertGreater(asked, 15)

    def test_responses_of_commands_match_their_types(self) -> None:
        sim = self.sim
        for answer, kind in (
            (sim.set_clock(paused=True, speed=2), wire.ClockChanged),
            (sim.step(20, speed=1, observe=["camera", "lidar", "imu", "odom"]), wire.Stepped),
            (sim.set_pose(x=2, y=2, yaw=1), wire.Placed),
            (sim.reset(), wire.ResetDone),
            (sim.respawn(seed=3), wire.Respawned),
            (sim.move_object("box1", x=4, y=4), wire.ModelMoved),
            (sim.set_light("signal1", "red"), wire.LightChanged),
            (sim.set_brightness(1.0), wire.BrightnessChanged),
            (sim.set_overlay(""), wire.OverlayChanged),
            (sim.stop_evaluation(), wire.Stopped),
            (sim.switch("town"), wire.Switched),
        ):
            self.assertEqual(differs(answer, kind, kind.__name__), [])

    def test_files(self) -> None:
        self.assertEqual(self.sim.waypoints_file("town")[:6], b"\x93NUMPY")
        self.assertEqual(self.sim.thumbnail_file("town")[:4], b"\x89PNG")
        self.assertEqual(self.sim.print_file("oval", dpi=10)[:2], b"\xff\xd8")


class Doing(WithSimulator):
    def test_step_is_exact_and_omitted_values_stay(self) -> None:
        before = self.sim.step(1)["time"]
        after = self.sim.step(duration=1.5, speed=1)
        self.assertAlmostEqual(after["time"] - before, 1.5)
        placed = self.sim.set_pose(yaw=0.5)["pose"]
        self.assertAlmostEqual(placed["yaw"], 0.5, 5)
        self.assertAlmostEqual(placed["x"], after["vehicle"]["x"], 2)

    def test_arrays_have_the_values_of_the_json_response(self) -> None:
        self.sim.respawn(seed=5)
        words = self.sim.step(20, observe=["lidar", "imu", "odom"])["observations"]
        self.sim.respawn(seed=5)
        seen = self.sim.observe(20, observe=["lidar", "imu", "odom", "camera"], camera_width=64)
        lidar = seen["lidar"].tolist()
        self.assertEqual(seen["lidar"].shape, (720,))
        self.assertEqual(seen["lidar"].time, words["lidar"]["time"])
        for number, word in zip(lidar, words["lidar"]["ranges"], strict=True):
            self.assertAlmostEqual(number, math.inf if word is None else word, 5)
        self.assertAlmostEqual(seen["imu"].tolist()[0][2], words["imu"]["acceleration"]["z"], 5)
        self.assertEqual((seen["odom"].shape, seen["camera"].shape), ((6,), (48, 64, 3)))

    def test_seed_determines_the_noise(self) -> None:
        def scan(seed: int) -> bytes:
            self.sim.respawn(seed=seed)
            return bytes(self.sim.observe(20, observe=["lidar"])["lidar"].data)

        self.assertEqual(scan(1), scan(1))
        self.assertNotEqual(scan(1), scan(2))

    def test_observation_names_touched_objects(self) -> None:
        self.sim.set_pose(x=7.7, y=3, yaw=0)
        self.assertEqual(self.sim.observe(duration=1, speed=1).touched, ["wall_1"])

    def test_error_statuses_raise_their_exceptions(self) -> None:
        sim = self.sim
        for kind, status, text, ask in (
            (chicane.BadRequest, 400, "value must be", lambda: sim.set_brightness(7)),
            (
                chicane.Forbidden,
                403,
                "wall cannot be moved",
                lambda: sim.move_object("wall_0", x=1),
            ),
            (chicane.NotFound, 404, "model not found", lambda: sim.move_object("no/such?", x=1)),
            (chicane.NotFound, 404, "world not found", lambda: sim.switch("nowhere")),
            (chicane.Conflict, 409, "yellow transition in progress", self.twice_red),
        ):
            with self.assertRaises(kind) as caught:
                ask()
            self.assertEqual(caught.exception.status, status)
            self.assertIn(text, caught.exception.text)
            self.assertIsInstance(caught.exception, chicane.ChicaneError)
        with self.assertRaises(ValueError):
            sim.set_pose(x=math.nan)

    def twice_red(self) -> None:
        self.sim.set_light("signal1", "red")
        self.sim.set_light("signal1", "red")

    def test_threads_can_share_a_client(self) -> None:
        answers: list[float] = []

        def ask() -> None:
            for _ in range(20):
                answers.append(self.sim.pose()["x"])

        threads = [threading.Thread(target=ask) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(len(answers), 240)
        self.assertEqual(len(set(answers)), 1)

    def test_events(self) -> None:
        with self.sim.events() as events:
            first = next(events)
            self.assertEqual((first.name, differs(first.data, wire.State)), ("state", []))
            self.sim.set_overlay("news")
            seen = next(e for e in events if e.data.get("overlay") == "news")
            self.assertIsInstance(seen, Event)
        self.sim.set_overlay("")

    def test_wait_until_ready(self) -> None:
        self.sim.wait_until_ready("oval", timeout=10)
        with self.assertRaises(chicane.Timeout):
            self.sim.wait_until_ready("technical", timeout=0.05)

    def test_evaluate_returns_the_record(self) -> None:
        self.sim.set_clock(speed=0)
        record = self.sim.evaluate(
            "echo lost; exit 3",
            # Simulated time runs as fast as possible while the shell starts in real time, so this
            # limit is high.
            time_limit_s=3000,
            wall_limit_s=50,
            pace="real",
            student="Ada",
            timeout=60,
        )
        self.assertEqual((record["outcome"], differs(record, wire.Record)), ("finished", []))
        self.assertIsNone(record["record"])
        run = record["run"]
        assert run
        self.assertEqual((run["exit_code"], run["signal"]), (3, None))
        self.assertIn("lost", run["output_tail"])
        identity = (record["student"], record["wall_limit_s"], record["pace"])
        self.assertEqual(identity, ("Ada", 50, "real"))
        self.assertEqual(record["interference"]["count"], len(record["interference"]["first"]))
        self.assertEqual(self.sim.records(limit=1)["records"][0]["session"], record["session"])

    def test_invalid_options_of_an_evaluation_are_refused(self) -> None:
        pace: Any = "slow"
        for options in ({"wall_limit_s": 0.5}, {"student": "a\nb"}, {"pace": pace}):
            with self.assertRaises(chicane.BadRequest) as caught:
                self.sim.start_evaluation(**options)
            self.assertIn(next(iter(options)), caught.exception.text)
            self.assertEqual(caught.exception.code, "invalid_request")


class Async(WithSimulator):
    def test_async_methods(self) -> None:
        async def use() -> None:
            async with AsyncSim(self.program.url) as sim:
                await sim.wait_until_ready("oval")
                poses = await asyncio.gather(*[sim.pose() for _ in range(20)])
                self.assertEqual(len({pose["x"] for pose in poses}), 1)
                self.assertEqual(differs(await sim.state(), wire.State), [])
                seen = await sim.observe(20, observe=["camera"])
                self.assertEqual(seen["camera"].shape, (360, 480, 3))
                with self.assertRaisesRegex(chicane.NotFound, "light not found"):
                    await sim.set_light("none", "red")
                async with sim.events() as events:
                    self.assertEqual((await events.__anext__()).name, "state")

        asyncio.run(use())

    def test_sim_and_async_sim_have_the_same_methods(self) -> None:
        for name, method in vars(SimOperations).items():
            if not name.startswith("_") and hasattr(method, "build"):
                self.assertIs(getattr(Sim, name), getattr(AsyncSim, name))


class Settings(unittest.TestCase):
    def test_addresses(self) -> None:
        for given, url in (
            ("http://127.0.0.1:8000/sim?token=x", "http://127.0.0.1:8000"),
            ("my-car.local:8000", "http://my-car.local:8000"),
            ("https://host/prefix/", "https://host/prefix"),
            ("http://[::1]:9", "http://[::1]:9"),
        ):
            self.assertEqual(Sim(given).url, url)
        for wrong in ("ftp://x", "http://", "http://x:port", "http://x:0"):
            with self.assertRaisesRegex(ValueError, "is not a valid address"):
                Sim(wrong)
        with self.assertRaises(ValueError):
            Sim(timeout=0)

    def test_refused_connection_raises(self) -> None:
        with self.assertRaisesRegex(chicane.ConnectError, "cannot connect to http://127.0.0.1:1"):
            Sim("http://127.0.0.1:1", timeout=5).status()
