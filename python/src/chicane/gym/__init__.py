"""Gymnasium environments; importing this registers them.

>>> import gymnasium, chicane.gym
>>> env = gymnasium.make("chicane/Lap-v0", observation="lidar")

`chicane/Lap-v0` is a lap of a world's road (`oval`), `chicane/Obstacles-v0` one with things in the
way (`slalom`).
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
"""Ids, and in what they differ."""

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
