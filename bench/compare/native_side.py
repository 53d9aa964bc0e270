"""Chicane's native environment: the simulation inside the Python process, through Gymnasium.

`python -m compare.native_side <folder of the scene>`. A step of Chicane does more than a step of
the other simulators: it includes IMU, noise, the position on the road and the reward.
"""

import functools
import sys
from pathlib import Path

import gymnasium
import numpy as np
from chicane.gym import VectorCarEnv

from . import scene
from .side import serve

# Episodes never end, because resets are measured in a separate contest.
_ENDLESS = 1e9
# Number of environments that are reset at once.
_BATCH = 64


def _arguments(folder: Path) -> dict:
    return {
        "world": str(folder / "rest"),
        "robot": str(folder / "robot.json"),
        "step_s": scene.STEP_S,
        "laps": _ENDLESS,
        "time_limit_s": _ENDLESS,
        "random_start": False,
    }


def environment(folder: Path) -> gymnasium.Env:
    """The environment of the yard. The route has no borders, so the car can't leave the road."""
    return gymnasium.make(
        "chicane.gym:chicane/Lap-v0",
        disable_env_checker=True,
        observation="lidar",
        **_arguments(folder),
    )


class Native:
    """The environment as a contender."""

    def __init__(self, folder: Path):
        self.env = environment(folder)
        self.action = np.array([scene.SPEED_MPS, scene.STEERING_RAD], np.float32)
        self.env.reset(seed=1)
        self.folder = folder

    @functools.cached_property
    def batch(self) -> VectorCarEnv:
        """The environments of the contest "reset", which the warm-up of the contest creates.

        The other simulators do not scan in a reset and have one thread. Therefore these
        environments observe the state only, and have one thread too.
        """
        batch = VectorCarEnv(_BATCH, **_arguments(self.folder), observation="state", threads=1)
        batch.reset(seed=1)
        return batch

    def step(self, count: int) -> None:
        """Makes steps, each with a scan."""
        for _ in range(count):
            self.env.step(self.action)

    def reset(self, count: int) -> None:
        """Resets environments to the start line, a batch at a time."""
        for _ in range(-(-count // _BATCH)):
            self.batch.reset()

    def scan(self) -> dict:
        """The scan at the start, to compare it with the scans of other contenders."""
        self.env.reset()
        ranges, *_ = self.env.step(np.zeros(2, np.float32))
        reach = self.env.observation_space.high[0]
        return {"ranges": [float(r) if r < reach else None for r in ranges]}

    def facts(self) -> dict:
        """Drives until the boxes are at rest. Returns the speed of the car."""
        for _ in range(80):
            *_, info = self.env.step(self.action)
        return {"speed_mps": round(info["speed"], 3)}

    def close(self) -> None:
        """Frees the environment."""
        self.env.close()


if __name__ == "__main__":
    serve(Native(Path(sys.argv[1])))
