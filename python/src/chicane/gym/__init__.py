"""Gymnasium environments. The import of this module registers the environments.

>>> import gymnasium, chicane.gym
>>> env = gymnasium.make("chicane/Lap-v0", observation="lidar")

In `chicane/Lap-v0` the car drives one lap of the world `oval`. In `chicane/Obstacles-v0` it drives
one lap of the world `slalom`, with obstacles on the road.
"""

from typing import Any

import gymnasium

from chicane.gym.env import CarEnv
from chicane.gym.observation import AHEAD, NEAREST
from chicane.gym.reward import Params, Reward, Thing, default_reward
from chicane.gym.vector import VectorCarEnv

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "chicane/Lap-v0": {"world": "oval"},
    "chicane/Obstacles-v0": {"world": "slalom", "obstacles": True},
}
"""Ids of the environments, with the arguments that each environment passes to `CarEnv`."""

for _id, _arguments in ENVIRONMENTS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="chicane.gym.env:CarEnv",
            vector_entry_point="chicane.gym.vector:VectorCarEnv",
            kwargs=_arguments,
        )

__all__ = [
    "AHEAD",
    "ENVIRONMENTS",
    "NEAREST",
    "CarEnv",
    "Params",
    "Reward",
    "Thing",
    "VectorCarEnv",
    "default_reward",
]
