"""Several environments inside this process, which step on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from chicane.gym.base import CarEnv, VectorCarEnv, seeds_of_vector
from chicane.gym.native_batch import ENDS, INFO, ROW, Floats, NativeBatch
from chicane.gym.reward import BatchReward, Reward

Bools = NDArray[np.bool_]


class NativeVectorCarEnv(VectorCarEnv):
    """Environments inside this process. See `VectorCarEnv` for the arguments."""

    def __init__(
        self,
        num_envs: int = 2,
        *,
        reward: Reward | None = None,
        batch_reward: BatchReward | None = None,
        render_mode: str | None = None,
        backend: str | None = None,
        url: None = None,
        token: None = None,
        program: None = None,
        **arguments: Any,
    ) -> None:
        """See `VectorCarEnv`."""
        if reward is not None and batch_reward is not None:
            raise ValueError("give reward or batch_reward, not both")
        self._batch = NativeBatch(num_envs, True, render_mode=render_mode, **arguments)
        self.num_envs = num_envs
        self.render_mode = render_mode
        fps = max(1, round(1 / arguments.get("step_s", 0.1)))
        self.metadata = CarEnv.metadata | {
            "render_fps": fps,
            "autoreset_mode": AutoresetMode.NEXT_STEP,
        }
        self.single_observation_space = self._batch.observation_space
        self.single_action_space = self._batch.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._reward = reward
        self._batch_reward = batch_reward
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
        for car, one in enumerate(seeds):
            if one is not None or not self._batch.is_seeded(car):
                self._batch.seed_from(car, one)
        made, numbers = self._batch.reset(options)
        self._ended = np.zeros(self.num_envs, np.bool_)
        return self._batch.observations(made), self._infos(numbers)

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[Any, Floats, Bools, Bools, dict[str, Any]]:
        """Steps all environments. `actions` has one row for each environment."""
        made, numbers = self._batch.step(actions)
        terminated, truncated = (numbers[ROW[name]] != 0 for name in ("terminated", "truncated"))
        # The reward function of the user is called last, because it may raise an exception or
        # change the arrays that it gets.
        observed, infos = self._batch.observations(made), self._infos(numbers)
        had_ended, self._ended = self._ended, terminated | truncated
        return observed, self._rewards(numbers, had_ended), terminated, truncated, infos

    def _rewards(self, numbers: Floats, had_ended: Bools) -> Floats:
        """The rewards of a step. A step that only resets an environment has the reward 0."""
        if self._batch_reward:
            given = np.array(self._batch_reward(self._batch.batch_params(numbers)), np.float64)
            if given.shape != (self.num_envs,):
                raise ValueError(
                    f"batch_reward must return {self.num_envs} numbers, not the shape {given.shape}"
                )
            given[had_ended] = 0.0
            return given
        if self._reward:
            return np.array(
                [
                    0.0 if ended else float(self._reward(self._batch.params(car, numbers)))
                    for car, ended in enumerate(had_ended)
                ]
            )
        rewards: Floats = numbers[ROW["reward"]].copy()
        return rewards

    def render(self) -> tuple[Any, ...] | None:
        """Returns a picture of each environment, or None without a `render_mode`."""
        if not self.render_mode:
            return None
        return tuple(self._batch.render(car) for car in range(self.num_envs))

    def save(self) -> list[bytes]:
        """Returns the whole state of each environment, for search and debugging."""
        return [self._batch.save(car) for car in range(self.num_envs)]

    def restore(self, states: Sequence[bytes]) -> tuple[Any, dict[str, Any]]:
        """Goes back to the states that `save` returned. Returns their observations and infos.

        Raises `ValueError` for bytes of other environments. Restore only bytes that you trust.
        After an error, call `reset`, because some environments may already have been restored.
        """
        if len(states) != self.num_envs:
            raise ValueError(f"states must have {self.num_envs} entries, not {len(states)}")
        for car, state in enumerate(states):
            self._batch.restore(car, state)
        made, numbers = self._batch.observe()
        self._ended = numbers[ROW["ended"]] != 0
        return self._batch.observations(made), self._infos(numbers)

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the environments. Gymnasium calls this method from `close`."""
        if hasattr(self, "_batch"):
            self._batch.close()

    def _infos(self, numbers: Floats) -> dict[str, Any]:
        infos: dict[str, Any] = {"ended": ENDS[numbers[ROW["ended"]].astype(np.intp)]}
        infos |= {name: numbers[ROW[name]].copy() for name in INFO}
        return infos | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in list(infos)}


__all__ = ["NativeVectorCarEnv"]
