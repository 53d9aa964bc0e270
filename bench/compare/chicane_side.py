"""Chicane as users run it: a process `chicane serve` and the Python client.

`python -m compare.chicane_side <folder of the scene>`. The environment variable `CHICANE` is the
path of the program. A step of Chicane does more than a step of the other simulators: it includes
odometry, IMU, noise and all poses.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from chicane import Sim

from . import scene
from .side import serve

_TICKS = round(scene.STEP_S / 0.005)
_READY = "chicane is ready: "


class Program:
    """A running simulator with imported worlds."""

    def __init__(self, folder: Path, worlds: tuple):
        self.folder = tempfile.TemporaryDirectory(prefix="chicane-bench-")
        program, data = os.environ["CHICANE"], f"{self.folder.name}/data"
        self.worlds = {}
        for name in worlds:
            words = [
                program,
                "worlds",
                "import",
                str(folder / name),
                "--name",
                name,
                "--data-dir",
                data,
            ]
            imported = subprocess.run(words, check=True, capture_output=True, text=True)
            self.worlds[name] = imported.stdout.split()[0]
        words = [program, "serve", "--lifeline", "--listen", "127.0.0.1:0", "--log-level", "error"]
        words += [
            "--data-dir",
            data,
            "--robot",
            str(folder / "robot.json"),
            "--world",
            self.worlds["rest"],
        ]
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        if not line.startswith(_READY):
            raise SystemExit("the simulator did not start")
        self.url = line.removeprefix(_READY).strip()

    def close(self) -> None:
        """Ends the simulator."""
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()


class Chicane:
    """Chicane as a contender: the simulator, a client of it, and the name of the loaded world."""

    def __init__(self, folder: Path, worlds: tuple = ("rest", "heap")):
        self.program = Program(folder, worlds)
        self.sim = Sim(self.program.url)
        self.world = worlds[0]

    def _go(self, world: str) -> None:
        if self.world != world:
            self.sim.switch(world=f"{self.program.worlds[world]}.world")
            self.world = world
            self.physics(80 if world == "rest" else 1)

    def prepare(self, scene: str) -> dict:
        """Loads the world of a task, outside the measured time."""
        self._go(scene)
        return {}

    def physics(self, count: int) -> None:
        """Makes steps without a scan in the answer."""
        for _ in range(count):
            self.sim.observe(_TICKS, speed=scene.SPEED_MPS, steering=scene.STEERING_RAD)

    def step(self, count: int) -> None:
        """Makes steps, each with a scan."""
        for _ in range(count):
            answer = self.sim.observe(
                _TICKS, speed=scene.SPEED_MPS, steering=scene.STEERING_RAD, observe=["lidar"]
            )
            np.asarray(answer["lidar"])

    def heap(self, count: int) -> None:
        """Lets the heap fall, each time after a reset."""
        for _ in range(count):
            self.sim.reset()
            self.physics(scene.FALL_STEPS)

    def reset(self, count: int) -> None:
        """Resets the world."""
        for _ in range(count):
            self.sim.reset()

    def camera(self, count: int, width: int, height: int) -> None:
        """Takes frames of the on-board camera with lens and noise.

        The work includes the simulation of the time between two frames.
        """
        for i in range(count):
            # 15 frames per second at 200 ticks per second: 14, 13 and 13 ticks between frames.
            self.sim.observe(
                (14, 13, 13)[i % 3],
                speed=scene.SPEED_MPS,
                steering=scene.STEERING_RAD,
                observe=["camera"],
                camera_width=width,
                camera_height=height,
            )

    def scan(self) -> dict:
        """The scan at the start, to compare it with the scans of other contenders."""
        self._go("rest")
        self.sim.respawn()
        answer = self.sim.observe(_TICKS, speed=0, observe=["lidar"])
        return {
            "ranges": [float(r) if np.isfinite(r) else None for r in np.asarray(answer["lidar"])]
        }

    def facts(self) -> dict:
        """Simulates until all boxes are at rest. Returns the process id of the server."""
        self.physics(80)
        return {"pid": self.program.process.pid}

    def close(self) -> None:
        """Ends the server."""
        self.program.close()


if __name__ == "__main__":
    side = Chicane(Path(sys.argv[1]))
    side.physics(80)
    serve(side)
