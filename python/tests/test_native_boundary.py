"""Wrong input at the boundary of the native module: clear exceptions, and no crash."""

import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any

import numpy as np
from chicane import native
from chicane.gym import CarEnv, VectorCarEnv

from . import fuzz_boundary

PACKAGE = str(Path(__file__).parents[1] / "src")


def run(script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a new interpreter."""
    environment = os.environ | {"PYTHONPATH": PACKAGE}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


class Arrays(unittest.TestCase):
    def setUp(self) -> None:
        self.batch = native.Batch(2, 1, observation=["state", "lidar"])
        self.addCleanup(self.batch.close)
        for car in range(2):
            self.batch.seed(car, bytes(31) + b"\1")
        self.state = np.zeros((2, 9), np.float32)
        self.lidar = np.zeros((2, 720), np.float32)
        self.numbers = np.zeros((len(native.NUMBERS), 2))
        self.batch.reset(None, self.state, self.lidar, None, self.numbers)

    def step(self, actions: Any, **changed: Any) -> None:
        arrays: dict[str, Any] = {
            "state": self.state,
            "lidar": self.lidar,
            "camera": None,
            "numbers": self.numbers,
        }
        arrays |= changed
        self.batch.step(actions, *arrays.values())

    def test_wrong_arrays_raise_and_change_nothing(self) -> None:
        good = np.zeros((2, 2), np.float32)
        shared = np.zeros(2 * 9 + 2 * 720, np.float32)
        frozen = np.zeros((2, 9), np.float32)
        frozen.flags.writeable = False
        unaligned = np.frombuffer(bytearray(4 * 18 + 1), np.uint8)[1:].view(np.float32)
        before = self.batch.save(0)
        for actions, changed, error, reason in (
            (good.astype(np.float64), {}, TypeError, "actions must be a NumPy array of float32"),
            (good.astype(np.int32), {}, TypeError, "float32"),
            (good.astype(">f4"), {}, TypeError, "float32"),
            ([[0.0, 0.0]] * 2, {}, TypeError, "float32"),
            ("text", {}, TypeError, "float32"),
            (None, {}, TypeError, "float32"),
            (good.astype(object), {}, TypeError, "float32"),
            (np.zeros((3, 2), np.float32), {}, ValueError, "'actions' must have 4 elements, not 6"),
            (np.zeros(0, np.float32), {}, ValueError, "'actions' must have 4 elements"),
            (np.zeros((2, 4), np.float32)[:, ::2], {}, ValueError, "contiguous"),
            (np.full((2, 2), np.nan, np.float32), {}, ValueError, "environment 0 is not finite"),
            (np.array([[0, 0], [0, np.inf]], np.float32), {}, ValueError, "environment 1"),
            (good, {"state": np.zeros((2, 8), np.float32)}, ValueError, "'state' must have 18"),
            (good, {"state": None}, ValueError, "'state' must have 18 elements, not 0"),
            (
                good,
                {"state": np.zeros((2, 9))},
                TypeError,
                "state must be a NumPy array of float32",
            ),
            (good, {"state": np.zeros((9, 2), np.float32).T}, ValueError, "contiguous"),
            (good, {"state": frozen}, ValueError, "read-only"),
            (good, {"state": bytes(72)}, TypeError, "float32"),
            (good, {"state": unaligned}, TypeError, "float32"),
            (good, {"camera": np.zeros(4, np.uint8)}, ValueError, "'camera' must have 0 elements"),
            (good, {"numbers": np.zeros(3)}, ValueError, "'numbers' must have 48 elements"),
            (good, {"state": shared[:18], "lidar": shared[:1440]}, ValueError, "share memory"),
        ):
            with self.subTest(reason), self.assertRaisesRegex(error, reason):
                self.step(actions, **changed)
        self.assertEqual(self.batch.save(0), before)
        self.step(good)
        self.assertNotEqual(self.batch.save(0), before)

    def test_wrong_arguments_raise(self) -> None:
        for call, error, reason in (
            (lambda: native.Batch(0, 1), ValueError, "num_envs must be from 1 to 65536, not 0"),
            (lambda: native.Batch(10**9, 1), ValueError, "num_envs must be"),
            (lambda: native.Batch(-1, 1), OverflowError, ""),
            (lambda: native.Batch(1, 0), ValueError, "threads must be from 1 to 1024"),
            (lambda: native.Batch("1", 1), TypeError, ""),
            (lambda: native.Batch(1, 1, step_s="fast"), TypeError, "step_s has a wrong type"),
            (
                lambda: native.Batch(1, 1, laps=None, wheels=4),
                TypeError,
                "unknown argument 'wheels'",
            ),
            (lambda: native.Batch(1, 1, worlds=[]), ValueError, "one world or more"),
            (lambda: native.Batch(1, 1, worlds=["../x\0"]), ValueError, "unknown world"),
            (lambda: native.Batch(1, 1, vary="{"), ValueError, ""),
            (lambda: native.Batch(1, 1, time_limit_s=float("nan")), ValueError, "time_limit_s"),
            (lambda: self.batch.seed(2, bytes(32)), ValueError, "there is no environment 2"),
            (lambda: self.batch.seed(0, bytes(31)), ValueError, "32 bytes"),
            (lambda: self.batch.seed(0, bytes(5)), ValueError, "32 bytes"),
            (lambda: self.batch.details(9), ValueError, "there is no environment 9"),
            (lambda: self.batch.save(9), ValueError, "there is no environment 9"),
            (lambda: self.batch.restore(0, b"x" * 1000), ValueError, "not a saved environment"),
            (
                lambda: self.batch.draw(0, "car", (16, 16), np.zeros((16, 16, 3), np.uint8)),
                RuntimeError,
                "render_mode",
            ),
            (
                lambda: self.batch.draw(0, "car", (0, 16), np.zeros(0, np.uint8)),
                ValueError,
                "from 1 by 1",
            ),
            (
                lambda: self.batch.draw(0, "roof", (16, 16), np.zeros(0, np.uint8)),
                ValueError,
                "car or chase",
            ),
        ):
            with self.subTest(reason), self.assertRaisesRegex(error, reason):
                call()

    def test_random_bytes_never_restore(self) -> None:
        random = np.random.default_rng(1)
        saved = bytearray(self.batch.save(0))
        for _ in range(300):
            wrong = saved.copy()
            for at in random.integers(len(wrong), size=3):
                wrong[at] ^= int(random.integers(1, 256))
            with self.assertRaises(ValueError):
                self.batch.restore(0, bytes(wrong[: random.integers(1, len(wrong))]))
        self.batch.restore(0, bytes(saved))
        self.step(np.zeros((2, 2), np.float32))

    def test_a_closed_or_unseeded_batch_says_so(self) -> None:
        fresh = native.Batch(1, 1)
        numbers = np.zeros((len(native.NUMBERS), 1))
        state = np.zeros((1, 9), np.float32)
        with self.assertRaisesRegex(RuntimeError, "call reset first"):
            fresh.step(np.zeros((1, 2), np.float32), state, None, None, numbers)
        with self.assertRaisesRegex(RuntimeError, "call reset first"):
            fresh.save(0)
        with self.assertRaisesRegex(RuntimeError, "call seed first"):
            fresh.reset(None, state, None, None, numbers)
        fresh.close()
        fresh.close()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            fresh.about()
        env = CarEnv()
        env.close()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            env.reset()


class Actions(unittest.TestCase):
    def test_shapes_and_numbers(self) -> None:
        env, vector = CarEnv(), VectorCarEnv(2)
        self.addCleanup(env.close)
        self.addCleanup(vector.close)
        env.reset(seed=0)
        vector.reset(seed=0)
        for wrong in (np.array([np.nan, 0.0]), np.array([1.0]), np.zeros((2, 2)), 3.0):
            with self.assertRaisesRegex(ValueError, "two numbers"):
                env.step(wrong)
        for wrong in (np.zeros(4), np.zeros((2, 3)), np.zeros((3, 2)), np.full((2, 2), np.inf)):
            with self.assertRaisesRegex(ValueError, "an action must be two numbers"):
                vector.step(wrong)
        vector.step([[99.0, -9.0], [0.5, 0.1]])
        vector.step(np.asfortranarray(np.zeros((2, 2), np.float32)))


class Processes(unittest.TestCase):
    def test_threads_of_python(self) -> None:
        """Some threads have environments of their own, and some share one.

        A step of the shared environment raises an exception or works.
        """
        shared = VectorCarEnv(8, observation="lidar", threads=2)
        self.addCleanup(shared.close)
        shared.reset(seed=1)
        unexpected: list[Exception] = []
        stories: list[bytes] = []

        def use_shared() -> None:
            for _ in range(50):
                try:
                    shared.step(np.zeros((8, 2), np.float32))
                except RuntimeError as error:
                    if "another thread uses this environment" not in str(error):
                        unexpected.append(error)

        def use_own() -> None:
            env = CarEnv(observation="lidar")
            env.reset(seed=5)
            seen = [env.step(np.array([1.0, 0.0], np.float32))[0].tobytes() for _ in range(20)]
            stories.append(b"".join(seen))
            env.close()

        threads = [threading.Thread(target=use_shared) for _ in range(4)]
        threads += [threading.Thread(target=use_own) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((unexpected, len(stories), len(set(stories))), ([], 4, 1))

    def test_a_fork_after_the_import(self) -> None:
        """A child process creates environments of its own. An environment that it inherits from its
        parent still works if it has no threads. Otherwise its step raises an error.
        """
        done = run(
            "import os, sys\nimport numpy as np\nfrom chicane.gym import CarEnv, VectorCarEnv\n"
            "plain, many = CarEnv(), VectorCarEnv(4, threads=2)\n"
            "plain.reset(seed=1); many.reset(seed=1)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    plain.step(np.zeros(2, np.float32))\n"
            "    try:\n"
            "        many.step(np.zeros((4, 2), np.float32))\n"
            "        os._exit(2)\n"
            "    except RuntimeError as error:\n"
            "        if 'before a fork' not in str(error): os._exit(3)\n"
            "    own = VectorCarEnv(4, threads=2, observation='camera', camera_size=(16, 16))\n"
            "    own.reset(seed=1); own.step(np.zeros((4, 2), np.float32)); own.close()\n"
            "    sys.exit(7)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
            "many.step(np.zeros((4, 2), np.float32))\n"
        )
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("7\n", "", 0))

    def test_exit_without_close(self) -> None:
        """The interpreter ends while environments exist and a thread steps one of them."""
        done = run(
            "import threading, numpy as np\nfrom chicane.gym import CarEnv, VectorCarEnv\n"
            "one, many = CarEnv(), VectorCarEnv(4, threads=2)\n"
            "one.reset(seed=1); many.reset(seed=1)\n"
            "def work():\n"
            "    while True: many.step(np.zeros((4, 2), np.float32))\n"
            "threading.Thread(target=work, daemon=True).start()\n"
            "one.step(np.zeros(2, np.float32))\n"
            "print('end')\n"
        )
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("end\n", "", 0))

    def test_an_exception_in_a_reward_leaves_the_environment_usable(self) -> None:
        def broken(params: Any) -> float:
            raise KeyError("reward")

        env = CarEnv(reward=broken)
        self.addCleanup(env.close)
        env.reset(seed=1)
        with self.assertRaises(KeyError):
            env.step(np.zeros(2, np.float32))
        env.reset(seed=1)


class Fuzz(unittest.TestCase):
    """A short run of `make fuzz-native`."""

    def test_random_input_raises_only_clear_exceptions(self) -> None:
        self.assertEqual(fuzz_boundary.watch(fuzz_boundary.command_of(1, 60), 60), [])

    def test_crashes_and_wrong_exceptions_are_found(self) -> None:
        script = (
            "import os, sys\n"
            "for number in range(int(sys.argv[1]), 5):\n"
            "    print('case', number, flush=True)\n"
            "    if number == 1: os.abort()\n"
            "    if number == 2: print('wrong 2: SystemError', flush=True)\n"
            "    if number == 3: sys.exit('no memory')\n"
        )
        found = fuzz_boundary.watch(lambda first: [sys.executable, "-c", script, str(first)], 5)
        self.assertEqual(len(found), 3, found)
        self.assertIn("1: the process ended with SIGABRT", found[0])
        self.assertEqual(found[1], "2: SystemError")
        self.assertEqual(found[2], "3: the process ended with status 1: no memory")

    def test_a_case_that_hangs_is_found(self) -> None:
        script = "print('case 0', flush=True); import signal; signal.pause()"
        found = fuzz_boundary.watch(lambda _: [sys.executable, "-c", script], 1, 2.0)
        self.assertEqual(found, ["0: the process ended with SIGKILL: "])


if __name__ == "__main__":
    unittest.main()
