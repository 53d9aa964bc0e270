"""Compares environments that must give the same bytes, step by step.

`make same-bytes` runs the program for 10,000 steps of each car with all three observations. It
compares the backends `http` and `native`, one thread with two, and a batch of 64 cars with 64
environments. The tests in `test_native.py` use the same functions with fewer steps.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from chicane.gym import CarEnv, VectorCarEnv

from .support import PROGRAM

ALL = ("state", "lidar", "camera")
SMALL = (32, 24)


@dataclass
class Results:
    """The results of one step of several cars. The first dimension of each array is the car."""

    observations: dict[str, np.ndarray]
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    infos: dict[str, list[Any]]

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that must have the same bytes, by kind, always in the same order."""
        return dict(sorted(self.observations.items())) | {
            "reward": self.rewards,
            "terminated": self.terminated,
            "truncated": self.truncated,
        }


class Cars(Protocol):
    """Cars that step together. The step after the end of an episode resets the car."""

    def reset(self, seed: int) -> Results: ...
    def step(self, actions: np.ndarray) -> Results: ...


class Vector:
    """The cars of a vector environment."""

    def __init__(self, env: VectorCarEnv) -> None:
        self._env = env

    def reset(self, seed: int) -> Results:
        seen, infos = self._env.reset(seed=seed)
        none = np.zeros(self._env.num_envs, np.bool_)
        return self._results(seen, np.zeros(self._env.num_envs), none, none.copy(), infos)

    def step(self, actions: np.ndarray) -> Results:
        return self._results(*self._env.step(actions))

    def _results(
        self, seen: Any, rewards: Any, terminated: Any, truncated: Any, infos: dict[str, Any]
    ) -> Results:
        # Gymnasium adds an array `_name` that says which cars have an info `name`.
        assert all(values.all() for name, values in infos.items() if name.startswith("_"))
        listed = {name: values.tolist() for name, values in infos.items() if name[0] != "_"}
        return Results(seen, rewards, terminated, truncated, listed)


class Singles:
    """Environments with one car each. Car i gets the seed plus i, as in a vector."""

    def __init__(self, envs: Sequence[CarEnv]) -> None:
        self._envs = envs
        self._ended = [False] * len(envs)

    def reset(self, seed: int) -> Results:
        self._ended = [False] * len(self._envs)
        return self._results([_fresh(env, seed + i) for i, env in enumerate(self._envs)])

    def step(self, actions: np.ndarray) -> Results:
        steps = [
            _fresh(env, None) if ended else env.step(one)
            for env, ended, one in zip(self._envs, self._ended, actions, strict=True)
        ]
        self._ended = [terminated or truncated for _, _, terminated, truncated, _ in steps]
        return self._results(steps)

    def _results(self, steps: list[tuple[Any, ...]]) -> Results:
        seen, rewards, terminated, truncated, infos = zip(*steps, strict=True)
        return Results(
            {kind: np.stack([one[kind] for one in seen]) for kind in seen[0]},
            np.array(rewards, np.float64),
            np.array(terminated, np.bool_),
            np.array(truncated, np.bool_),
            {name: [info[name] for info in infos] for name in infos[0]},
        )


def _fresh(env: CarEnv, seed: int | None) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    seen, info = env.reset(seed=seed)
    return seen, 0.0, False, False, info


class Different(AssertionError):
    """Two environments gave different results. The message names the first step and its kind."""


@dataclass
class Comparison:
    """What was compared."""

    steps: int
    cars: int
    ends: Counter[str]
    """Number of episodes that ended, by reason."""
    digest: str
    """SHA-256 of all observations, rewards and flags, as hexadecimal digits."""

    def __str__(self) -> str:
        cars = "1 car" if self.cars == 1 else f"{self.cars} cars"
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(self.ends.items()))
        ended = f"{self.ends.total()} episodes ended ({reasons or 'none'})"
        return f"{self.steps} steps of {cars}, {ended}, sha256 {self.digest}"


def actions(random: np.random.Generator, states: np.ndarray) -> np.ndarray:
    """Follows the road for a while, with errors that end some episodes."""
    count = len(states)
    steering = 0.6 * (states[:, 5] - states[:, 3]) - 0.7 * states[:, 2]
    steering = steering + random.normal(0, 0.12, count)
    return np.stack([random.uniform(0.5, 1.5, count), steering], axis=1).astype(np.float32)


def compare(sides: Sequence[Cars], steps: int, seed: int) -> Comparison:
    """Drives the cars of all `sides` with the same actions, and compares the results.

    The reset and every step of each side must give the same results as the first side. Raises
    `Different` at the first difference.
    """
    random, digest, ends = np.random.default_rng(seed), hashlib.sha256(), Counter[str]()
    ours, *others = (side.reset(seed) for side in sides)
    for step in range(steps + 1):
        for theirs in others:
            _compare_step(step, ours, theirs)
        for array in ours.arrays().values():
            digest.update(array.tobytes())
        over = (ours.terminated | ours.truncated).tolist()
        ends.update(why for why, ended in zip(ours.infos["ended"], over, strict=True) if ended)
        if step < steps:
            wanted = actions(random, ours.observations["state"])
            ours, *others = (side.step(wanted) for side in sides)
    return Comparison(steps, len(ours.rewards), ends, digest.hexdigest())


def _compare_step(step: int, ours: Results, theirs: Results) -> None:
    a, b = ours.arrays(), theirs.arrays()
    if list(a) != list(b) or ours.infos.keys() != theirs.infos.keys():
        raise Different(f"step {step}: other kinds of results: {[*a]} and {[*b]}")
    for kind in a:
        if (a[kind].dtype, a[kind].shape) != (b[kind].dtype, b[kind].shape):
            raise Different(f"step {step}: {kind} has another type or shape")
        for car, (x, y) in enumerate(zip(a[kind], b[kind], strict=True)):
            if x.tobytes() != y.tobytes():
                raise Different(f"step {step}, car {car}: {kind} differs")
    for name, values in ours.infos.items():
        for car, (x, y) in enumerate(zip(values, theirs.infos[name], strict=True)):
            if x != y:
                raise Different(f"step {step}, car {car}: info {name!r} is {x!r} and {y!r}")


def comparisons(
    cars: int, arguments: dict[str, Any]
) -> list[tuple[str, Callable[[ExitStack], list[Cars]]]]:
    """The comparisons of the program: a title, and a function that creates the cars to compare."""

    def single(stack: ExitStack, **more: Any) -> CarEnv:
        env = CarEnv(**arguments, **more)
        stack.callback(env.close)
        return env

    def vector(stack: ExitStack, count: int, **more: Any) -> Vector:
        env = VectorCarEnv(count, **arguments, **more)
        stack.callback(env.close)
        return Vector(env)

    return [
        (
            "http and native",
            lambda s: [Singles([single(s, program=PROGRAM)]), Singles([single(s)])],
        ),
        (
            "vectors over http and native",
            lambda s: [vector(s, 2, program=PROGRAM), vector(s, 2, threads=2)],
        ),
        (
            f"a batch of {cars} on one thread and on two, and {cars} batches of one",
            lambda s: [
                vector(s, cars, threads=1),
                vector(s, cars, threads=2),
                Singles([single(s) for _ in range(cars)]),
            ],
        ),
    ]


def run(
    steps: int, cars: int, seed: int, arguments: dict[str, Any], output: Callable[[str], None]
) -> int:
    """Runs all comparisons and outputs a line for each. Returns the number of failed ones."""
    failed = 0
    for title, sides in comparisons(cars, arguments):
        started = time.monotonic()
        with ExitStack() as stack:
            try:
                result = compare(sides(stack), steps, seed)
            except Different as error:
                failed += 1
                output(f"{title}: DIFFERENT at {error}")
                continue
        output(f"{title}: the same, {result}, {time.monotonic() - started:.0f} s")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares environments byte by byte.")
    parser.add_argument("--steps", type=int, default=10_000, help="steps of each car")
    parser.add_argument("--cars", type=int, default=64, help="cars of a batch")
    parser.add_argument("--camera", type=int, nargs=2, default=SMALL, metavar=("W", "H"))
    parser.add_argument("--world", default="technical")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vary", action="store_true", help="seeds change the world; slow")
    given = parser.parse_args()
    if given.steps < 1 or given.cars < 1:
        parser.error("--steps and --cars must be 1 or more")
    arguments = {
        "world": given.world,
        "observation": ALL,
        "camera_size": tuple(given.camera),
        "time_limit_s": 20.0,
        "vary": given.vary,
    }

    def output(line: str) -> None:
        print(line, flush=True)

    return 1 if run(given.steps, given.cars, given.seed, arguments, output) else 0


if __name__ == "__main__":
    sys.exit(main())
