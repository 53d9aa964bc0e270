"""Tests of the programs in `examples/`. A Rust test of the simulator covers `lap_by_lidar.py`."""

import importlib
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from chicane import Program, Sim

from .support import PROGRAM, ROOT
from .test_program import until

EXAMPLES = ROOT / "examples"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python/src"), "CHICANE": PROGRAM}


class WithExamples(unittest.TestCase):
    """Base class of tests that run examples."""

    def simulator(self, world: str) -> Sim:
        program = Program(world, program=PROGRAM)
        self.addCleanup(program.close)
        sim = Sim(program.url)
        self.addCleanup(sim.close)
        return sim

    def run_example(self, name: str, *words: str, watch: Callable[[], Any] | None = None) -> str:
        command = [sys.executable, str(ROOT / "examples" / name), *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
            try:
                until = time.monotonic() + 300
                while watch and process.poll() is None:
                    self.assertLess(time.monotonic(), until, f"{name} does not end")
                    watch()
                    time.sleep(0.02)
                output, _ = process.communicate(timeout=300)
            finally:
                process.kill()
        self.assertEqual(process.returncode, 0)
        return output.decode()


class Examples(WithExamples):
    def keeps_to_the_road(self, sim: Sim) -> Callable[[], None]:
        """Returns a function that fails if the car is off the road or touches something."""
        route = sim.route()
        points, inner = route["waypoints"], route["inner"]
        widest = max(math.dist(a, b) for a, b in zip(points, inner, strict=True))

        def watch() -> None:
            state = sim.state()
            car = state["vehicle"]
            self.assertEqual(state["contacts"], [])
            off = min(math.dist((car["x"], car["y"]), point) for point in points)
            self.assertLess(off, widest)

        return watch

    def test_lap_by_route(self) -> None:
        sim = self.simulator("technical")
        printed = self.run_example("lap_by_route.py", sim.url, watch=self.keeps_to_the_road(sim))
        self.assertIn("one lap", printed)
        self.assertGreater(sim.state()["time"], 31 / 0.8)

    def test_lap_by_camera(self) -> None:
        sim = self.simulator("oval")
        sim.set_clock(paused=True)
        printed = self.run_example("lap_by_camera.py", sim.url, watch=self.keeps_to_the_road(sim))
        self.assertIn("one lap", printed)
        self.assertLess(
            math.dist((sim.pose()["x"], sim.pose()["y"]), (3, 1)), 1.0, "back at the start"
        )

    def test_follow_wall_goes_once_around_the_hall(self) -> None:
        sim = self.simulator("oval")
        # The example controls the car in real time. Simulated time is slow, so that the car touches
        # nothing even if a busy machine delays the example.
        sim.set_clock(speed=0.5)
        corners: set[tuple[bool, bool]] = set()
        walls: list[float] = []

        def watch() -> None:
            state = sim.state()
            self.assertEqual(state["contacts"], [])
            car = state["vehicle"]
            walls.append(min(car["x"], 8 - car["x"], car["y"], 6 - car["y"]))
            corners.add((car["x"] < 4, car["y"] < 3))

        self.assertIn("once around", self.run_example("follow_wall.py", sim.url, watch=watch))
        self.assertEqual(len(corners), 4)
        self.assertAlmostEqual(statistics.median(walls), 0.5, delta=0.15)

    def test_stop_at_light_stops_only_at_a_red_light(self) -> None:
        sim = self.simulator("oval")
        sim.set_clock(paused=True)
        sim.set_light("signal1", "red")
        sim.step(duration=3.1)
        stopped: list[float] = []

        def watch() -> None:
            # The car stands still if its position has not changed after one simulated second.
            state = sim.state()
            car, since = state["vehicle"], state["time"]
            if not stopped and car["x"] > 3.5 and abs(car["speed"]) < 0.01:
                self.assertTrue(until(lambda: sim.state()["time"] > since + 1))
                self.assertLess(abs(sim.pose()["x"] - car["x"]), 0.02)
                stopped.append(car["x"])
                sim.set_light("signal1", "green")

        printed = self.run_example("stop_at_light.py", sim.url, watch=watch).splitlines()
        self.assertEqual(printed, ["red: stopping", "green: going on", "past the light"])
        self.assertEqual(len(stopped), 1)
        self.assertLess(stopped[0], 5.0, "before the light")
        self.assertGreater(sim.pose()["x"], 5.5, "past it")
        sim.reset()
        self.assertEqual(
            self.run_example("stop_at_light.py", sim.url).splitlines(), ["past the light"]
        )

    def test_training_improves_the_mean_reward_and_the_policy_is_judged(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            policy = Path(folder) / "policy.json"
            words = ["--generations", "12", "--population", "30", "--seed", "1", "--policy"]
            printed = self.run_example("train.py", *words, str(policy))
            shapes = [len(row) for row in json.loads(policy.read_text())["weights"]]
        self.assertEqual(shapes, [10, 10])
        lines = printed.splitlines()
        means = [float(line.split("mean")[1].split(",")[0]) for line in lines[:12]]
        self.assertGreater(means[-1], means[0] + 3, printed)
        self.assertGreater(max(means), 0.0, printed)
        self.assertEqual(lines[12], f"the policy is in {policy}")
        self.assertIn("finished  record", printed)


def example(name: str) -> Any:
    """Imports an example as a module. The example may import other examples."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(EXAMPLES))


def needs(*modules: str) -> Callable[[Any], Any]:
    """Skips a test where one of the modules is not installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"needs pip install {' '.join(missing)}")


class Networks(WithExamples):
    """The examples that train networks. Some tests need packages that are optional."""

    def refused(self, name: str, *words: str, without: str = "") -> tuple[int, str]:
        """Exit status and error output of an example. Its process cannot import `without`.

        `without` has the names of modules, separated by spaces.
        """
        script = (
            f"import runpy, sys; sys.path.insert(0, {str(EXAMPLES)!r}); "
            f"sys.modules.update(dict.fromkeys({without.split()!r})); "
            f"sys.argv[:] = {[name, *words]!r}; "
            f"runpy.run_path({str(EXAMPLES / name)!r}, run_name='__main__')"
        )
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stderr

    def test_missing_packages_are_named_in_one_line(self) -> None:
        for name, module, package in (
            ("train_ppo.py", "torch", "torch"),
            ("train_sb3.py", "stable_baselines3", "stable-baselines3"),
            ("train.py", "gymnasium", "'chicane[gym]'"),
            ("train_ppo.py", "gymnasium", "'chicane[gym]'"),
            ("train_sb3.py", "numpy", "'chicane[gym]'"),
        ):
            status, output = self.refused(name, without=module)
            self.assertEqual((status, output.count("\n")), (1, 1), output)
            self.assertIn(f"pip install {package}", output)

    def test_wrong_arguments_are_refused(self) -> None:
        for name in ("train_ppo.py", "train_sb3.py"):
            for words, reason in (
                (["--steps", "0"], "--steps and --cars must be 1 or more"),
                (["--cars", "-3"], "--steps and --cars must be 1 or more"),
                (["--steps", "many"], "invalid int value"),
            ):
                status, output = self.refused(name, *words, without="torch stable_baselines3")
                self.assertEqual(status, 2)
                self.assertIn(reason, output)
        status, output = self.refused("train_ppo.py", "--backend", "grpc", without="torch")
        self.assertEqual(status, 2)
        self.assertIn("invalid choice", output)

    def test_advantages_end_with_their_episode(self) -> None:
        ppo = example("train_ppo")
        # Car 0 is terminated in step 1 and reset in step 2; car 1 reaches its time limit in step 1.
        rewards = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [3.0, 3.0]])
        values = np.array([[0.5, 0.5], [0.4, 0.4], [9.0, 9.0], [0.3, 0.3], [0.2, 0.2]])
        ended = np.array([[False, False], [True, True], [False, False], [False, False]])
        terminated = ended & np.array([True, False])
        found = ppo.advantages_of(rewards, values, terminated, ended)
        discount, factor = ppo.DISCOUNT, ppo.DISCOUNT * ppo.SMOOTHING
        last = [2.0 - 0.4, 2.0 + discount * 9.0 - 0.4]
        first = [1.0 + discount * 0.4 - 0.5 + factor * one for one in last]
        np.testing.assert_allclose(found[:2], [first, last])
        np.testing.assert_allclose(found[3], [3.0 + discount * 0.2 - 0.3] * 2)

    def test_the_normaliser_has_mean_and_deviation_of_all_inputs(self) -> None:
        rows = np.random.default_rng(1).normal(3.0, 2.0, (300, 4))
        normaliser = example("train_ppo").Normaliser(4)
        for part in (rows[:50], rows[50:51], rows[51:]):
            normaliser.add(part)
        np.testing.assert_allclose(normaliser.mean, rows.mean(axis=0), rtol=1e-5)
        np.testing.assert_allclose(normaliser.deviation, rows.std(axis=0), rtol=1e-5)

    def test_the_controller_that_is_imitated_drives_laps(self) -> None:
        import gymnasium

        ppo = example("train_ppo")
        env = gymnasium.make_vec("chicane/Lap-v0", num_envs=3, world="technical")
        self.addCleanup(env.close)
        states, _ = env.reset(seed=1)
        ends: dict[int, str] = {}
        while len(ends) < 3:
            states, _, terminated, truncated, infos = env.step(
                ppo.scaled(env, ppo.teacher(states)).astype(np.float32)
            )
            for car in np.flatnonzero(terminated | truncated).tolist():
                ends.setdefault(car, infos["ended"][car])
        self.assertEqual(list(ends.values()), ["lap"] * 3)

    def policy(self, folder: str, speed: float) -> Path:
        """A policy that always drives straight on: the weights of its last layer are 0."""
        random = np.random.default_rng(1)
        layers = [
            {"weights": random.normal(size=shape).tolist(), "biases": [0.0] * shape[0]}
            for shape in ((8, 38), (2, 8))
        ]
        layers.append({"weights": [[0.0, 0.0]] * 2, "biases": [speed, 0.0]})
        policy = {
            "beams": 36,
            "range_max": 16.0,
            "lowest": [0.0, -0.35],
            "highest": [1.5, 0.35],
            "sees_action": True,
            "mean": [2.0] * 38,
            "deviation": [1.5] * 38,
            "farthest": 5.0,
            "layers": layers,
        }
        file = Path(folder) / "policy.json"
        file.write_text(json.dumps(policy))
        return file

    def test_drive_policy_drives_a_network_until_the_wall(self) -> None:
        sim = self.simulator("oval")
        with tempfile.TemporaryDirectory() as folder:
            self.run_example("drive_policy.py", str(self.policy(folder, 1 / 3)), sim.url)
        state = sim.state()
        self.assertTrue(state["contacts"], "the car is at the wall")
        self.assertAlmostEqual(state["vehicle"]["y"], 1.0, delta=0.3)

    @needs("torch")
    def test_ppo_trains_a_policy_that_is_judged(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            policy, curve = Path(folder) / "policy.json", Path(folder) / "curve.json"
            words = ["--world", "oval", "--steps", "2000", "--imitate", "1000", "--cars", "4"]
            words += ["--beams", "36"]
            printed = self.run_example(
                "train_ppo.py", *words, "--policy", str(policy), "--curve", str(curve)
            )
            network = json.loads(policy.read_text())
            rows = json.loads(curve.read_text())["curve"]
        ppo = example("train_ppo")
        size = 4 * ppo.ROLLOUT
        self.assertEqual([row["steps"] for row in rows], list(range(size, 2001, size)))
        self.assertEqual([len(row) for row in network["layers"][0]["weights"]], [38] * ppo.HIDDEN)
        self.assertRegex(printed, r"without randomness: \d+ laps in 4 episodes")
        self.assertIn("judging: ", printed)
        self.assertRegex(printed, r"(finished|timeout|no record)")

    def test_curves_are_drawn(self) -> None:
        script = str(ROOT / "python/scripts/curve.py")
        with tempfile.TemporaryDirectory() as folder:
            words = []
            for name, pace_s in (("native", 3.0), ("over <http>", 30.0)):
                rows = [
                    {"steps": i, "wall_s": pace_s * i, "progress": i / 400, "laps": i / 800}
                    for i in range(1, 401)
                ]
                (Path(folder) / f"{pace_s}.json").write_text(json.dumps({"curve": rows}))
                words.append(f"{name}={folder}/{pace_s}.json")
            picture = Path(folder) / "curve.svg"
            subprocess.run([sys.executable, script, str(picture), *words], check=True)
            text = picture.read_text()
        drawing = ElementTree.fromstring(text)
        lines = [one for one in drawing.iter() if one.tag.endswith("polyline")]
        self.assertEqual(len(lines), 4)
        self.assertLessEqual(len(lines[0].attrib["points"].split()), 151)
        labels = [one.text for one in drawing.iter() if one.tag.endswith("text")]
        self.assertIn("over <http>", labels)
        self.assertIn("10 min", labels)
        self.assertLess(len(text), 20_000)

    @needs("torch")
    def test_backends_give_the_same_curve(self) -> None:
        curves = []
        with tempfile.TemporaryDirectory() as folder:
            curve = Path(folder) / "curve.json"
            words = ["--world", "oval", "--steps", "512", "--imitate", "256", "--cars", "2"]
            words += ["--no-judge"]
            words += ["--policy", f"{folder}/policy.json", "--curve", str(curve)]
            for backend in ("native", "http"):
                self.run_example("train_ppo.py", *words, "--backend", backend)
                rows = json.loads(curve.read_text())["curve"]
                curves.append([(row["steps"], row["progress"], row["laps"]) for row in rows])
        self.assertEqual(curves[0], curves[1])

    @needs("torch", "stable_baselines3")
    def test_stable_baselines3_trains_a_policy_that_is_judged(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            policy = Path(folder) / "policy.json"
            words = ["--steps", "600", "--cars", "4", "--beams", "36", "--policy", str(policy)]
            printed = self.run_example("train_sb3.py", *words)
            network = json.loads(policy.read_text())
        self.assertEqual({len(row) for row in network["layers"][0]["weights"]}, {36})
        self.assertEqual(printed.count("of a lap in an episode"), 3)
        self.assertIn("judging: ", printed)

    @needs("torch", "stable_baselines3")
    def test_the_adapter_hides_resets_behind_blank_observations(self) -> None:
        import gymnasium

        sb3 = example("train_sb3")
        env = gymnasium.make_vec("chicane/Lap-v0", num_envs=2, observation="lidar", time_limit_s=1)
        cars = sb3.Cars(env)
        self.addCleanup(cars.close)
        cars.seed(5)
        first = cars.reset()
        self.assertGreater(first.min(), 0.0)
        stop = np.full((2, 2), -1.0, np.float32)
        steps = [cars.step(stop) for _ in range(11)]
        seen, _, ended, infos = steps[9]
        self.assertTrue(ended.all())
        self.assertEqual(seen.any(), False)
        self.assertGreater(infos[0]["terminal_observation"].min(), 0.0)
        self.assertEqual(infos[0]["TimeLimit.truncated"], True)
        self.assertEqual(infos[0]["episode"]["l"], 10)
        seen, rewards, ended, _ = steps[10]
        self.assertEqual((ended.any(), rewards.any()), (False, False))
        self.assertGreater(seen.min(), 0.0)
