"""A car on a road as a Gymnasium environment inside this process."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chicane.gym.base import CarEnv
from chicane.gym.native_batch import ENDS, INFO, ROW, Array, Floats, NativeBatch
from chicane.gym.reward import BatchReward, Reward

Step = tuple[Any, float, bool, bool, dict[str, Any]]


class NativeCarEnv(CarEnv):
    """One environment inside this process. See `CarEnv` for its arguments."""

    def __init__(
        self,
        *positional: Any,
        reward: Reward | None = None,
        batch_reward: BatchReward | None = None,
        render_mode: str | None = None,
        backend: str | None = None,
        url: None = None,
        token: None = None,
        program: None = None,
        **arguments: Any,
    ) -> None:
        """See `CarEnv`."""
        if reward is not None and batch_reward is not None:
            raise ValueError("give reward or batch_reward, not both")
        self._batch = NativeBatch(1, False, *positional, render_mode=render_mode, **arguments)
        self.render_mode = render_mode
        fps = max(1, round(1 / arguments.get("step_s", 0.1)))
        self.metadata = type(self).metadata | {"render_fps": fps}
        self.action_space = self._batch.action_space
        self.observation_space = self._batch.observation_space
        self._reward = reward
        self._batch_reward = batch_reward

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts a new episode.

        `options={"start": 0.25}` places the car after a quarter of the lap. Without this option the
        start is random, or the first waypoint if `random_start` is false.
        """
        super().reset(seed=seed)
        self._batch.seed(0, self.np_random)
        try:
            made, numbers = self._batch.reset(options)
        finally:
            self._batch.take_random(0, self.np_random)
        return self._observation(made), self._info(numbers)

    def step(self, action: NDArray[np.float32]) -> Step:
        """Drives with the given speed and steering for one step.

        Raises `ValueError` if the action is not two finite numbers. Values outside the action space
        are clamped.
        """
        wanted = np.asarray(action, np.float32)
        if wanted.shape != (2,) or not np.isfinite(wanted).all():
            raise ValueError(f"an action must be two numbers, speed and steering, not {action!r}")
        made, numbers = self._batch.step(wanted[None])
        terminated, truncated = (numbers[ROW[name], 0] != 0 for name in ("terminated", "truncated"))
        observed, info = self._observation(made), self._info(numbers)
        return observed, self._reward_of(numbers), bool(terminated), bool(truncated), info

    def _reward_of(self, numbers: Floats) -> float:
        if self._reward:
            return float(self._reward(self._batch.params(0, numbers)))
        if self._batch_reward:
            return float(self._batch_reward(self._batch.batch_params(numbers))[0])
        return float(numbers[ROW["reward"], 0])

    def render(self) -> NDArray[np.uint8] | None:
        """Returns a picture from the car's camera, or from behind the car if `render_camera` is
        `chase`. Returns None without a `render_mode`.
        """
        return self._batch.render(0) if self.render_mode else None

    def save(self) -> bytes:
        """Returns the whole state of the environment, for search and debugging.

        An environment with the same arguments continues from this state after `restore`.
        """
        return self._batch.save(0)

    def restore(self, state: bytes) -> tuple[Any, dict[str, Any]]:
        """Goes back to a state that `save` returned. Returns the observation and info of the state.

        Raises `ValueError` for bytes of another environment. Restore only bytes that you trust.
        After an error, call `reset`.
        """
        self._batch.restore(0, state)
        random = self._np_random or np.random.Generator(np.random.PCG64())
        self._batch.take_random(0, random)
        # The setter of the property also sets the seed to -1 (unknown). If the seed stayed `None`,
        # Gymnasium would replace the generator when a caller reads `np_random_seed`.
        self.np_random = random
        made, numbers = self._batch.observe()
        return self._observation(made), self._info(numbers)

    def close(self) -> None:
        """Frees the environment."""
        if hasattr(self, "_batch"):
            self._batch.close()

    def _observation(self, made: dict[str, Array]) -> Any:
        single = {kind: array[0] for kind, array in made.items()}
        return self._batch.observations(single)

    def _info(self, numbers: Floats) -> dict[str, Any]:
        info: dict[str, Any] = {"ended": ENDS[int(numbers[ROW["ended"], 0])]}
        return info | {name: float(numbers[ROW[name], 0]) for name in INFO}


__all__ = ["NativeCarEnv"]
