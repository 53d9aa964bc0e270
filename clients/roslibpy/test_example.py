"""Tests `example.py`, which is part of the documentation."""

import subprocess
import sys
import unittest
from pathlib import Path

from simulator import Simulator, wait_for


class TestExample(unittest.TestCase):
    def test_example_drives_a_bend_and_prints_ranges(self):
        simulator = Simulator()
        self.addCleanup(simulator.close)
        program = Path(__file__).with_name("example.py")
        url = f"ws://127.0.0.1:{simulator.port}/rosbridge"
        run = subprocess.run(
            [sys.executable, program, url], capture_output=True, text=True, timeout=120
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        ranges = [float(line) for line in run.stdout.split()]
        self.assertGreater(len(ranges), 5)
        self.assertTrue(all(0.05 < r < 16 for r in ranges), ranges)
        wait_for("the car to move", lambda: simulator.get("/odom")["position"]["x"] > 0.5)
        wait_for("the car to turn", lambda: simulator.get("/odom")["orientation"]["yaw"] > 5)


if __name__ == "__main__":
    unittest.main()
