"""Fuzzes the boundary of the native module: random arguments, arrays, call orders, saves, threads.

`make fuzz-native` runs the program, and a short run with a fixed seed is part of the unit tests.
The cases run in another process, so that a crash is found too. A case may only raise exceptions
that explain themselves. A failed case prints its number, and `--case` with this number repeats the
case in this process.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import gymnasium
import numpy as np
from chicane import native
from chicane.errors import ChicaneError
from chicane.gym import CarEnv, VectorCarEnv

ALLOWED = (
    ValueError,
    TypeError,
    RuntimeError,
    OverflowError,
    ChicaneError,
    gymnasium.error.Error,
)
"""Exceptions that a user may get for a wrong argument or a call at the wrong time."""
LONGEST_CASE_S = 120.0
"""Real seconds after which a case counts as hanging."""
HERE = Path(__file__).parents[1]
KINDS = ("state", "lidar", "camera")
DTYPES = ("f4", "f8", "f2", "i4", "u1", "i8", "?", ">f4", "c8", "O", "S4", "M8[s]")


class Wrong(Exception):
    """A case found a defect.

    Defects are, for example, an exception that does not explain itself, or a changed state.
    """


class Case:
    """One case with its own random numbers."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = Random(f"{seed}/{number}")
        self.numpy = np.random.default_rng([seed, number])
        self.log: list[str] = []

    def run(self) -> None:
        """Runs the case. Raises an exception that is not allowed, or `Wrong`."""
        kind = self.random.choice(
            [self.arguments, self.arrays, self.arrays, self.calls, self.calls, self.threads]
        )
        self.log.append(kind.__name__)
        kind()

    def allowed(self, what: str, call: Callable[[], Any]) -> tuple[bool, Any]:
        """Calls a function. Returns whether it ended without an exception, and its value."""
        self.log.append(what)
        try:
            return True, call()
        except ALLOWED as error:
            # The message must not be empty, and must not be a panic of the native module.
            if not str(error) or "panicked" in str(error):
                raise Wrong(f"{what}: {error!r} does not explain itself") from error
            self.log[-1] += f" -> {type(error).__name__}"
            return False, None

    # Values

    def value(self) -> Any:
        """A value of a random type."""

        class Index:
            def __index__(self) -> int:
                raise ValueError("no index")

            def __float__(self) -> float:
                raise ValueError("no number")

        return self.random.choice(
            [
                *[None, True, False, -1, 0, 1, 2, 3, 10**30, -(10**30), 2**32, 2**63, 2**64 - 1],
                *[0.5, -0.5, 1.5, 1e-320, 1e308, np.nan, np.inf, -np.inf, 1j, -0.0],
                *["", "oval", "state", "x\0y", "\ud800", "a" * 10_000, "/", "/dev/null", "../.."],
                *[b"", b"oval", bytearray(8), memoryview(b"abc"), (), [], {}, set(), range(3)],
                *[(16, 16), (16.5, 16), (-1, 5), (1, 2, 3), ("a", "b"), [1, 2], [None], [[]]],
                *[["oval", 3], ["state", "state"], {"width": 0.5}, {1: 2}, {"field": (1e9, 1e9)}],
                *[np.float32(1), np.int64(2), np.bool_(True), np.array(3), np.array([1, 2])],
                *[np.zeros((0, 2)), object(), object, len, lambda: 1, Index(), Ellipsis],
                *[{"friction": [0.9, 1.1]}, {"friction": [np.nan, 1]}, "[" * 100_000, "own"],
            ]
        )

    def array(self, count: int, dtype: str, width: int = 1) -> np.ndarray:
        """An array, often with `count` elements, otherwise with another shape, dtype or layout."""
        dtype = dtype if self.random.random() < 0.8 else self.random.choice(DTYPES)
        if self.random.random() < 0.15:
            count = max(0, count + self.random.choice([-count, -1, 1, count, 7]))
        shape: tuple[int, ...] = (count,)
        if width > 1 and count % width == 0 and self.random.random() < 0.8:
            shape = (count // width, width)
        made = np.zeros(shape, dtype)
        change = self.random.random()
        if change < 0.05:
            made = np.asfortranarray(made)
        elif change < 0.1:
            made = np.zeros((*shape, 2), dtype)[..., 0]
        elif change < 0.15:
            made = made[::-1]
        elif change < 0.2:
            made.flags.writeable = False
        elif change < 0.25 and made.dtype.itemsize in (4, 8) and made.dtype.kind == "f":
            raw = np.zeros(made.nbytes + 1, np.uint8)
            made = raw[1:].view(made.dtype)[:count]
        elif change < 0.28:
            made = np.broadcast_to(np.zeros(1, dtype), shape)
        return made

    def actions(self, cars: int) -> Any:
        """Actions for a number of cars: often valid, sometimes not."""
        made: Any = self.numpy.uniform(-1, 1.5, (cars, 2))
        made = made.astype(self.random.choice(["f4", "f4", "f8", "f2", "i4"]))
        if self.random.random() < 0.3:
            extreme = [np.nan, np.inf, -np.inf, 1e38, -1e38, 1e-45, 0.0, -0.0]
            made = made.astype(self.random.choice(["f4", "f8"]))
            made[self.random.randrange(cars), self.random.randrange(2)] = self.random.choice(
                extreme
            )
        change = self.random.randrange(12)
        if change == 0:
            made = made.tolist()
        elif change == 1:
            made = made.T
        elif change == 2:
            made = np.asfortranarray(made)
        elif change == 3:
            made = np.repeat(made, 2, axis=1)[:, ::2]
        elif change == 4:
            made = self.array(2 * cars, "f4", 2)
        elif change == 5:
            made = self.value()
        return made

    def settings(self) -> dict[str, Any]:
        """Valid arguments of an environment, small enough to be fast."""
        kinds = self.random.sample(KINDS, self.random.randint(1, 3))
        made: dict[str, Any] = {
            "world": self.random.choice(["oval", "oval", "technical", "slalom"]),
            "observation": kinds,
            "backend": "native",
            "camera_size": (16, 16),
            "step_s": self.random.choice([0.1, 0.05, 0.005]),
            "time_limit_s": self.random.choice([0.2, 1.0, 60.0, 1e300]),
        }
        options: dict[str, list[Any]] = {
            "laps": [0.01, 1e300],
            "max_speed": [0.1, 1e300],
            "normalised_actions": [True],
            "random_start": [False],
            "vary": [True, {"friction": [0.9, 1.1], "start": {"along": [-0.1, 0.1]}}],
            "grey": [True],
            "beams": [1, 90, 720],
            "frame_stack": [2, 5],
            "random_tracks": [3],
            "render_mode": ["rgb_array"],
            "render_camera": ["chase"],
            "robot": ["gen1"],
        }
        for name, values in options.items():
            if self.random.random() < 0.15:
                made[name] = self.random.choice(values)
        return made

    # Kinds of cases

    def arguments(self) -> None:
        """Creates environments with arguments of wrong types and values."""
        names = [*self.settings(), "laps", "max_speed", "vary", "beams", "frame_stack", "grey"]
        names += ["random_tracks", "track_options", "render_mode", "render_camera", "robot"]
        names += ["obstacles", "random_start", "normalised_actions", "wheels", ""]
        for _ in range(4):
            given = self.settings()
            for name in self.random.sample(names, self.random.randint(1, 3)):
                given[name] = self.value()
            # The backend `http` would start a simulator.
            given["backend"] = "native"
            cars = self.value() if self.random.random() < 0.2 else self.random.randint(1, 3)
            threads = self.value() if self.random.random() < 0.2 else 1
            make = self.random.choice(
                [
                    lambda given=given: CarEnv(**given),
                    lambda given=given, cars=cars, threads=threads: VectorCarEnv(
                        cars, threads=threads, **given
                    ),
                    lambda given=given, cars=cars, threads=threads: native.Batch(
                        cars, threads, **self.for_batch(given)
                    ),
                ]
            )
            made, env = self.allowed(f"create {_shown({'cars': cars} | given)}", make)
            if made and not isinstance(env, native.Batch):
                self.allowed("reset", lambda env=env: env.reset(seed=1))
                self.allowed("step", lambda env=env: env.step(env.action_space.sample()))
            if made:
                env.close()

    def for_batch(self, given: dict[str, Any]) -> dict[str, Any]:
        """Converts arguments of an environment to arguments of the module's class `Batch`."""
        left_out = ("backend", "render_mode", "render_camera", "track_options", "world")
        made = {name: value for name, value in given.items() if name not in left_out}
        made["worlds"] = given["world"]
        for name in ("track_field", "track_width", "track_tightness", "autoreset", "rendered"):
            if self.random.random() < 0.1:
                made[name] = self.value()
        return made

    def arrays(self) -> None:
        """Passes arrays to a `Batch` whose shapes, types or layouts may be wrong."""
        cars, kinds = self.random.randint(1, 3), self.random.sample(KINDS, 2)
        batch = native.Batch(cars, 1, observation=kinds, camera_size=(16, 16), rendered=True)
        about = batch.about()
        sizes = {kind: cars * int(np.prod(about[kind])) if kind in kinds else 0 for kind in KINDS}
        sizes["numbers"] = cars * len(native.NUMBERS)
        types = {"state": "f4", "lidar": "f4", "camera": "u1", "numbers": "f8"}
        for car in range(cars):
            batch.seed(car, self.random.randbytes(31) + b"\1")
        right = {name: np.zeros(size, types[name]) for name, size in sizes.items()}
        given: list[Any] = [array if array.size else None for array in right.values()]
        batch.reset(None, *given)
        for _ in range(12):
            outputs: list[Any] = list(given)
            guards = []
            for at, name in enumerate(sizes):
                chance = self.random.random()
                if chance < 0.15:
                    outputs[at] = self.array(sizes[name], types[name])
                elif chance < 0.2:
                    outputs[at] = self.value()
                elif chance < 0.5 and sizes[name]:
                    # The output array is the middle of a larger array. The elements before and
                    # after it must not change.
                    whole = np.full(sizes[name] + 64, 77, types[name])
                    guards.append((name, whole))
                    outputs[at] = whole[32:-32]
            if self.random.random() < 0.1:
                outputs[3] = outputs[0]
            actions = np.zeros((cars, 2), np.float32)
            if self.random.random() < 0.4:
                actions = self.actions(cars)
            before = batch.save(0)
            call = self.random.choice(["step", "step", "observe", "reset", "draw"])
            done = self.call_batch(batch, call, actions, outputs)
            if not done and call != "reset" and batch.save(0) != before:
                raise Wrong(f"a failed {call} changed the environment")
            for name, whole in guards:
                if not (whole[:32] == 77).all() or not (whole[-32:] == 77).all():
                    raise Wrong(f"{call} wrote outside the array {name}")
            if not done and call == "reset":
                batch.reset(None, *given)
        batch.close()

    def call_batch(self, batch: native.Batch, call: str, actions: Any, outputs: list[Any]) -> bool:
        if call == "step":
            return self.allowed("step", lambda: batch.step(actions, *outputs))[0]
        if call == "observe":
            return self.allowed("observe", lambda: batch.observe(*outputs))[0]
        if call == "reset":
            start = self.value() if self.random.random() < 0.3 else None
            return self.allowed("reset", lambda: batch.reset(start, *outputs))[0]
        size = self.random.choice([(16, 16), (1, 1), (0, 3), (10**9, 10**9), (3, 5)])
        picture: Any = self.array(min(size[0] * size[1] * 3, 4096), "u1", 3)
        picture = self.value() if self.random.random() < 0.1 else picture
        view = self.random.choice(["car", "chase", "roof", "\ud800"])
        car = self.random.choice([0, 0, 1, 7, -1, 2**70])
        return self.allowed("draw", lambda: batch.draw(car, view, size, picture))[0]

    def calls(self) -> None:
        """Calls the methods of an environment in random order."""
        given = self.settings()
        cars = self.random.choice([0, 0, 1, 2, 3])
        env: Any = self.create(cars, given)
        if env is None:
            return
        saves: list[Any] = []
        for _ in range(25):
            self.call(env, cars, saves)
        if self.random.random() < 0.3:
            env.close()
            env.close()
            return
        # After random calls, the environment must still be usable.
        seen, _ = env.reset(seed=3)
        if not env.observation_space.contains(seen):
            raise Wrong("the observation is not in its space")
        env.step(np.zeros((cars, 2) if cars else 2, np.float32))
        env.close()

    def create(self, cars: int, given: dict[str, Any]) -> Any:
        """A vector, or one environment if `cars` is 0. None if the arguments do not fit."""
        return self.allowed(
            f"create {cars} {_shown(given)}",
            lambda: VectorCarEnv(cars, threads=2, **given) if cars else CarEnv(**given),
        )[1]

    def call(self, env: Any, cars: int, saves: list[Any], alone: bool = True) -> None:
        """Calls one random method. `alone`: no other thread uses the environment."""
        name = self.random.choice(
            ["reset", "step", "step", "step", "same", "render", "save", "restore", "restore"]
        )
        if name == "reset":
            seed = self.value() if self.random.random() < 0.2 else self.random.choice([None, 1])
            options: Any = self.random.choice(
                [None, {}, {"start": 0.5}, {"start": self.value()}, {"x": 1}, self.value()]
            )
            self.allowed(
                f"reset {_shown({'seed': seed, 'options': options})}",
                lambda: env.reset(seed=seed, options=options),
            )
        elif name == "step":
            made = self.actions(cars or 1)
            if not cars and isinstance(made, np.ndarray) and made.ndim == 2 and len(made):
                made = made[0]
            self.allowed(f"step {_shown({'actions': made})}", lambda: env.step(made))
        elif name == "same":
            if alone:
                self.same_step(env, cars)
        elif name == "render":
            self.allowed("render", env.render)
        elif name == "save":
            done, state = self.allowed("save", env.save)
            saves += [state] if done else []
        else:
            state = self.damaged(self.random.choice(saves)) if saves else self.value()
            self.allowed("restore", lambda: env.restore(state))

    def same_step(self, env: Any, cars: int) -> None:
        """Checks that the same numbers in another layout give the same bytes."""
        done, state = self.allowed("save", env.save)
        if not done:
            return
        plain = self.numpy.uniform(-0.3, 1.0, (cars or 1, 2)).astype(np.float32)
        other = np.asfortranarray(np.repeat(plain, 2, axis=0))[::2]
        if not cars:
            plain, other = plain[0], np.repeat(plain[0], 3)[::3]
        done, first = self.allowed("step", lambda: env.step(plain))
        if not done:
            return
        kept = _bytes(first[0])
        env.restore(state)
        if _bytes(env.step(other)[0]) != kept:
            raise Wrong("another layout of the same actions gave other bytes")

    def damaged(self, state: Any) -> Any:
        """A saved state with changed, missing or additional bytes, or the state itself."""
        if isinstance(state, list):
            made = [self.damaged(one) for one in state]
            return made if self.random.random() < 0.9 else made + made
        change = self.random.randrange(8)
        wrong = bytearray(state)
        if change < 3:
            for _ in range(self.random.randint(1, 4)):
                wrong[self.random.randrange(len(wrong))] ^= self.random.randint(1, 255)
        elif change == 3:
            del wrong[self.random.randrange(len(wrong)) :]
        elif change == 4:
            wrong += self.random.randbytes(self.random.randint(1, 100))
        elif change == 5:
            at = self.random.randrange(len(wrong))
            wrong[at:at] = self.random.randbytes(self.random.randint(1, 9))
        else:
            return state if change == 6 else self.value()
        return self.random.choice([bytes, bytes, bytearray, memoryview])(wrong)

    def threads(self) -> None:
        """Several threads use one environment, and one may close it."""
        given = self.settings()
        cars = self.random.randint(1, 4)
        env = self.create(cars, given | {"reuse_arrays": self.random.random() < 0.5})
        if env is None:
            return
        env.reset(seed=1)
        wrong: list[BaseException] = []
        closes = self.random.random() < 0.3
        # Each thread has its own random numbers, so that a case can be repeated.
        seeds = [self.random.randrange(2**32) for _ in range(3)]

        def work(seed: int) -> None:
            own = Case(seed, 0)
            saves: list[Any] = []
            try:
                for _ in range(15):
                    own.call(env, cars, saves, alone=False)
                if closes:
                    own.allowed("close", env.close)
            except BaseException as error:
                wrong.append(error)

        workers = [threading.Thread(target=work, args=[seed]) for seed in seeds]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if wrong:
            raise wrong[0]
        if not closes:
            env.close()


def _bytes(seen: Any) -> list[bytes]:
    return [one.tobytes() for one in (seen.values() if isinstance(seen, dict) else [seen])]


def _shown(given: dict[str, Any]) -> str:
    """A short text of arguments. If `repr` of a value fails, the text has the name of its type."""
    texts = []
    for name, value in given.items():
        try:
            text = repr(value)
        except Exception:
            text = type(value).__name__
        texts.append(f"{name}={text:.60}")
    return ", ".join(texts)


# The process that runs the cases, and the one that watches it


def work(seed: int, first: int, runs: int) -> None:
    """Runs cases from number `first` on. Prints their numbers and what is wrong."""
    faulthandler.enable()
    for number in range(first, runs):
        print(f"case {number}", flush=True)
        case = Case(seed, number)
        try:
            case.run()
        except BaseException as error:
            # A panic of the native module is not a subclass of `Exception`.
            if isinstance(error, KeyboardInterrupt):
                raise
            calls = "; ".join(case.log[-4:])
            text = "".join(traceback.format_exception_only(error))
            line = " ".join(f"{text:.400} [after: {calls:.800}]".split())
            print(f"wrong {number}: {line}", flush=True)


def command_of(seed: int, runs: int) -> Callable[[int], list[str]]:
    """The command of the process that runs the cases, for the number of its first case."""
    words = [sys.executable, "-m", "tests.fuzz_boundary", "--seed", str(seed), "--runs", str(runs)]
    return lambda first: [*words, "--from", str(first)]


def watch(
    command: Callable[[int], list[str]],
    runs: int,
    longest_case_s: float = LONGEST_CASE_S,
    output: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """Runs all cases in other processes. Returns a text for each failed case.

    After a crash, a new process continues with the next case. `output` gets each text at once.
    """
    found: list[str] = []
    first = 0
    while first < runs:
        process = subprocess.Popen(
            command(first),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=HERE,
            env=os.environ | {"PYTHONPATH": str(HERE / "src")},
        )
        assert process.stdout and process.stderr
        errors: list[str] = []
        reader = threading.Thread(target=lambda e=errors, p=process: e.extend(p.stderr))
        reader.start()
        # `longest_case_s` limits only the cases. The start of the process has a limit of its own.
        timer = threading.Timer(LONGEST_CASE_S, process.kill)
        timer.start()
        last, started = first - 1, first
        for line in process.stdout:
            timer.cancel()
            timer = threading.Timer(longest_case_s, process.kill)
            timer.start()
            word, _, rest = line.strip().partition(" ")
            if word == "case":
                last = int(rest)
                if last and last % 100 == 0:
                    output(f"{last} cases done")
            elif word == "wrong":
                found.append(rest)
                output(f"case {rest}")
        timer.cancel()
        status = process.wait()
        reader.join()
        process.stdout.close()
        process.stderr.close()
        if status == 0:
            break
        tail = " ".join(" ".join(errors).split())[-600:]
        if last < started:
            return [*found, f"the process did not start: status {status}: {tail}"]
        ending = signal.Signals(-status).name if status < 0 else f"status {status}"
        # SIGKILL comes from the timer, or from the kernel if the memory is exhausted.
        found.append(f"{last}: the process ended with {ending}: {tail}")
        output(f"case {found[-1]}")
        first = last + 1
    return found


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Fuzzes the boundary of the native module.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2000, help="number of cases")
    parser.add_argument("--case", type=int, help="repeat one case in this process")
    parser.add_argument("--from", type=int, dest="first", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.case is not None:
        faulthandler.enable()
        case = Case(given.seed, given.case)
        try:
            case.run()
        finally:
            print("\n".join(case.log))
        return 0
    if given.first is not None:
        work(given.seed, given.first, given.runs)
        return 0
    found = watch(
        command_of(given.seed, given.runs),
        given.runs,
        output=lambda line: print(line, flush=True),
    )
    print(f"{given.runs} cases with seed {given.seed}: {len(found)} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
