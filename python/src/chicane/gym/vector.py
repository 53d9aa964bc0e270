"""Several environments of the backend `http` that step in parallel.

`step` sends the requests to all simulators first and then waits for the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from chicane.gym.base import VectorCarEnv, seeds_of_vector
from chicane.gym.env import HttpCarEnv

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class HttpVectorCarEnv(VectorCarEnv):
    """Environments, each with its own simulator. See `VectorCarEnv` for the arguments."""

    def __init__(self, num_envs: int = 2, **arguments: Any) -> None:
        """Starts the simulators."""
        if num_envs < 1:
            raise ValueError(f"num_envs must be 1 or more, not {num_envs}")
        if "url" in arguments:
            raise ValueError("each environment starts its own simulator: leave url out")
        self.num_envs = num_envs
        self.envs: list[HttpCarEnv] = []
        try:
            for _ in range(num_envs):
                self.envs.append(HttpCarEnv(**arguments))
        except BaseException:
            self.close_extras()
            raise
        first = self.envs[0]
        self.metadata = first.metadata | {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.render_mode = first.render_mode
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, num_envs)
        self.action_space = batch_space(first.action_space, num_envs)
        self._observations: list[Any] = [None] * num_envs
        self._ended = np.zeros(num_envs, np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Starts a new episode in each environment.

        `seed` is a list with one seed for each environment, or a number: the seed of the first
        environment. Each further environment then gets the next number.
        """
        seeds = seeds_of_vector(seed, self.num_envs)
        infos: dict[str, Any] = {}
        for i, env in enumerate(self.envs):
            self._observations[i], info = env.reset(seed=seeds[i], options=options)
            infos = self._add_info(infos, info, i)
        self._ended[:] = False
        return self._batch(), infos

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[Any, Floats, Bools, Bools, dict[str, Any]]:
        """Steps all environments. `actions` has one row for each environment."""
        # All actions are checked before the first request is sent.
        wanted = np.asarray(actions, np.float32)
        if wanted.shape != (self.num_envs, 2) or not np.isfinite(wanted[~self._ended]).all():
            raise ValueError(
                f"actions must be {self.num_envs} rows of two numbers, speed and steering, "
                f"not {actions!r}"
            )
        rewards = np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, np.bool_)
        truncated = np.zeros(self.num_envs, np.bool_)
        infos: dict[str, Any] = {}
        under_way = [
            None if ended else env.begin(action)
            for env, action, ended in zip(
                self.envs, iterate(self.action_space, actions), self._ended, strict=True
            )
        ]
        for i, (env, sent) in enumerate(zip(self.envs, under_way, strict=True)):
            if sent is None:
                self._observations[i], info = env.reset()
            else:
                self._observations[i], rewards[i], terminated[i], truncated[i], info = env.finish(
                    sent
                )
            infos = self._add_info(infos, info, i)
        self._ended = terminated | truncated
        return self._batch(), rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Returns the last camera picture of each environment, or None without a `render_mode`."""
        return tuple(env.render() for env in self.envs) if self.render_mode else None

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the simulators. Gymnasium calls this method from `close`."""
        for env in self.envs:
            env.close()

    def _batch(self) -> Any:
        empty: Any = create_empty_array(self.single_observation_space, self.num_envs)
        return concatenate(self.single_observation_space, self._observations, empty)


__all__ = ["HttpVectorCarEnv", "VectorCarEnv"]
