"""Tests of the programs in `examples/`. A Rust test of the simulator covers `lap_by_lidar.py`."""

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

from chicane import Program, Sim

from .support import PROGRAM, ROOT
from .test_program import until

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python/src"), "CHICANE": PROGRAM}


class Examples(unittest.TestCase):
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
            # The car stands if its position is still the same after one simulated second.
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
