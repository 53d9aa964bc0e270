"""Gymnasium environments. The import of this module registers the environments.

>>> import gymnasium, chicane.gym
>>> env = gymnasium.make("chicane/Lap-v0", observation="lidar")

In `chicane/Lap-v0` the car drives one lap of the world `oval`. In `chicane/Obstacles-v0` it drives
one lap of the world `slalom`, with obstacles on the road.

The simulation runs inside this process. With `url` or `backend="http"` it runs in a simulator.
"""

from typing import Any

try:
    import gymnasium
    import numpy  # noqa: F401 (the modules below need it)
except ImportError as error:
    raise ImportError(
        f"chicane.gym needs Gymnasium and NumPy, pip install 'chicane[gym]': {error}",
        name=error.name,
    ) from error

from chicane.gym.base import CarEnv, VectorCarEnv
from chicane.gym.observation import AHEAD, NEAREST
from chicane.gym.reward import BatchParams, BatchReward, Params, Reward, Thing, default_reward

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "chicane/Lap-v0": {"world": "oval"},
    "chicane/Obstacles-v0": {"world": "slalom", "obstacles": True},
}
"""Ids of the environments, with the arguments that each environment passes to `CarEnv`."""

for _id, _arguments in ENVIRONMENTS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="chicane.gym.base:CarEnv",
            vector_entry_point="chicane.gym.base:VectorCarEnv",
            kwargs=_arguments,
        )

__all__ = [
    "AHEAD",
    "ENVIRONMENTS",
    "NEAREST",
    "BatchParams",
    "BatchReward",
    "CarEnv",
    "Params",
    "Reward",
    "Thing",
    "VectorCarEnv",
    "default_reward",
]
