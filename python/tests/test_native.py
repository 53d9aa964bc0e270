"""Tests of the native environments: the same bytes as over HTTP, options, Gymnasium's checks."""

import importlib.util
import math
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from chicane import native
from chicane.gym import ENVIRONMENTS, BatchParams, CarEnv, Params, VectorCarEnv
from chicane.gym.env import HttpCarEnv
from chicane.gym.native_env import NativeCarEnv
from chicane.gym.native_vector import NativeVectorCarEnv
from chicane.gym.vector import HttpVectorCarEnv
from gymnasium.utils.env_checker import check_env

from .same_bytes import ALL, SMALL, Different, Results, Singles, Vector, compare, run
from .support import PROGRAM

STEPS = 500


def worlds_with_a_road() -> list[str]:
    """The built-in worlds that have a route."""
    found = []
    for world in native.worlds():
        try:
            NativeCarEnv(world).close()
            found.append(world)
        except ValueError as error:
            assert "no route" in str(error), error
    return found


def flat(seen: Any) -> dict[str, bytes]:
    return {kind: array.tobytes() for kind, array in seen.items()}


class SameBytes(unittest.TestCase):
    """The backends `native` and `http` give the same bytes for the same seeds."""

    def compare(self, steps: int, seed: int, **arguments: Any) -> None:
        """Compares both backends: with one environment, and with a vector of two."""
        arguments |= {"observation": ALL, "camera_size": SMALL}
        here, there = CarEnv(**arguments), CarEnv(program=PROGRAM, **arguments)
        self.addCleanup(here.close)
        self.addCleanup(there.close)
        self.assertIsInstance(here, NativeCarEnv)
        self.assertIsInstance(there, HttpCarEnv)
        self.assertEqual(here.observation_space, there.observation_space)
        self.assertEqual(here.action_space, there.action_space)
        result = compare([Singles([here]), Singles([there])], steps, seed)
        self.assertGreater(result.ends.total(), 0, "no episode ended")
        there.close()
        self.compare_vectors(steps, seed, **arguments)

    def compare_vectors(self, steps: int, seed: int, **arguments: Any) -> None:
        here = VectorCarEnv(2, threads=2, **arguments)
        there = VectorCarEnv(2, program=PROGRAM, **arguments)
        self.addCleanup(here.close)
        self.addCleanup(there.close)
        self.assertIsInstance(here, NativeVectorCarEnv)
        self.assertIsInstance(there, HttpVectorCarEnv)
        self.assertEqual(here.metadata, there.metadata)
        self.assertEqual(here.reset(seed=seed)[1].keys(), there.reset(seed=seed)[1].keys())
        result = compare([Vector(here), Vector(there)], steps, seed)
        self.assertGreater(result.ends.total(), 0, "no episode ended")
        there.close()

    def test_batches_and_threads(self) -> None:
        """A short run of `make same-bytes`."""
        lines: list[str] = []
        arguments = {"observation": ALL, "camera_size": SMALL, "time_limit_s": 3.0}
        self.assertEqual(run(60, 3, 2, arguments, lines.append), 0, lines)
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertRegex(line, r": the same, 60 steps of .* [1-9]\d* episodes ended .* sha256 ")

    def test_a_difference_is_found(self) -> None:
        class Wrong(Singles):
            def step(self, actions: np.ndarray) -> Results:
                results = super().step(actions)
                ranges = results.observations["lidar"]
                ranges[0, 7] = np.nextafter(ranges[0, 7], np.float32(0))
                return results

        envs = [CarEnv(observation=ALL, camera_size=SMALL) for _ in range(2)]
        for env in envs:
            self.addCleanup(env.close)
        with self.assertRaisesRegex(Different, "^step 1, car 0: lidar differs$"):
            compare([Singles(envs[:1]), Wrong(envs[1:])], 5, 1)

    def test_all_worlds(self) -> None:
        worlds = worlds_with_a_road()
        self.assertIn("slalom", worlds)
        for world in worlds:
            with self.subTest(world):
                steps = STEPS if world in ("oval", "slalom") else STEPS // 5
                # Without this limit, an episode in a large world might last longer than the test,
                # which would then compare no end of an episode.
                self.compare(steps, 11, world=world, time_limit_s=6.0)

    def test_obstacles(self) -> None:
        self.compare(STEPS, 3, world="slalom", obstacles=True, time_limit_s=8.0)

    def test_variation_by_seed(self) -> None:
        self.compare(STEPS // 2, 5, vary=True, time_limit_s=4.0)
        document: Any = {
            "start": {"along": [-0.5, 0.5], "across": [-0.1, 0.1], "yaw": [-0.2, 0.2]},
            "objects": {"jitter": 0.2, "turn": 0.5, "scatter": [1, 4]},
            "lights": {"phase": [0, 5]},
            "brightness": [0.7, 1.3],
            "friction": [0.7, 1.1],
            "mass": [0.9, 1.3],
            "noise": {"lidar": [0.5, 2], "camera": [0.5, 2]},
            "latency": [0, 0.1],
            "surface": ["dry", "wet"],
        }
        self.compare(STEPS // 5, 6, world="slalom", vary=document, time_limit_s=4.0)

    def test_other_arguments(self) -> None:
        self.compare(100, 7, step_s=0.035, laps=0.1, max_speed=0.9, random_start=False)
        self.compare(100, 8, normalised_actions=True, beams=90, time_limit_s=3.0)


class Choice(unittest.TestCase):
    def test_the_backend_follows_from_the_arguments(self) -> None:
        env = gymnasium.make("chicane/Lap-v0").unwrapped
        self.addCleanup(env.close)
        self.assertIsInstance(env, NativeCarEnv)
        envs = gymnasium.make_vec("chicane/Obstacles-v0", num_envs=64)
        self.addCleanup(envs.close)
        self.assertIsInstance(envs.unwrapped, NativeVectorCarEnv)
        self.assertEqual(envs.reset(seed=1)[0].shape, (64, 15))
        for arguments, reason in (
            ({"backend": "grpc"}, "backend must be"),
            ({"backend": "native", "url": "http://localhost:1"}, "url needs backend='http'"),
            ({"backend": "http", "grey": True}, "grey needs the native environment"),
            ({"backend": "native", "world": "nowhere"}, "unknown world 'nowhere'.*oval"),
            ({"world": "oval", "vary": {"friction": [1, 9]}}, "vary.friction must be"),
            ({"robot": "gen99"}, "unknown robot 'gen99'.*gen1"),
            ({"beams": 7}, "beams must divide 720"),
            ({"observation": "smell"}, "observation must be one or more of"),
            ({"observation": ()}, "observation must be one or more of"),
            ({"step_s": 0}, "step_s must be"),
            ({"render_mode": "human"}, "render_mode must be"),
            ({"render_camera": "moon"}, "render_camera must be"),
            ({"frame_stack": 65}, "frame_stack must be"),
            ({"random_tracks": -1}, "random_tracks must be"),
            ({"threads": 0}, "threads must be"),
        ):
            with self.subTest(arguments), self.assertRaisesRegex(ValueError, reason):
                CarEnv(**arguments)
        with self.assertRaisesRegex(TypeError, "wheels"):
            CarEnv(wheels=3)

    def test_a_folder_with_a_world(self) -> None:
        import subprocess

        project = Path(__file__).parents[2] / "worlds/oval.json"
        with tempfile.TemporaryDirectory() as folder:
            command = [PROGRAM, "build", str(project), "-o", folder]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            env = CarEnv(folder, "lidar")
            self.addCleanup(env.close)
            built_in = CarEnv("oval", "lidar")
            self.addCleanup(built_in.close)
            self.assertEqual(env.reset(seed=1)[0].tobytes(), built_in.reset(seed=1)[0].tobytes())


class Environments(unittest.TestCase):
    def env(self, **arguments: Any) -> CarEnv:
        env = CarEnv(**arguments)
        self.addCleanup(env.close)
        return env

    def vector(self, count: int, **arguments: Any) -> Any:
        vector = VectorCarEnv(count, **arguments)
        self.addCleanup(vector.close)
        return vector

    def test_gymnasium_env_checker_has_no_warnings(self) -> None:
        for name in ENVIRONMENTS:
            for observation in (*ALL, ALL):
                with self.subTest(name=name, observation=observation), warnings.catch_warnings():
                    warnings.simplefilter("error")
                    # The action space is in m/s and rad on purpose, not normalized.
                    warnings.filterwarnings("ignore", message=".*symmetric and normalized.*")
                    env = gymnasium.make(name, observation=observation, render_mode="rgb_array")
                    self.addCleanup(env.close)
                    check_env(env.unwrapped)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            env = gymnasium.make("chicane/Lap-v0", normalised_actions=True, render_mode="rgb_array")
            self.addCleanup(env.close)
            check_env(env.unwrapped)

    def test_wrappers_and_videos(self) -> None:
        vector = gymnasium.make_vec("chicane/Lap-v0", num_envs=3, time_limit_s=1.0)
        wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(vector)
        self.addCleanup(wrapped.close)
        wrapped.reset(seed=1)
        episodes = 0
        for _ in range(25):
            *_, infos = wrapped.step(np.zeros((3, 2), np.float32))
            episodes += int(infos.get("_episode", np.zeros(3)).sum())
        self.assertEqual(episodes, 6)
        normalised = gymnasium.wrappers.vector.NormalizeObservation(
            gymnasium.make_vec("chicane/Lap-v0", num_envs=2)
        )
        self.addCleanup(normalised.close)
        normalised.reset(seed=1)
        env = self.env(render_mode="rgb_array", render_camera="chase", time_limit_s=0.5)
        recorded = gymnasium.wrappers.RenderCollection(env)
        recorded.reset(seed=1)
        while not recorded.step(np.array([1.0, 0.0], np.float32))[3]:
            pass
        frames: Any = recorded.render()
        self.assertEqual((len(frames), frames[0].shape), (6, (360, 480, 3)))
        self.assertFalse(np.array_equal(frames[0], frames[-1]))

    @unittest.skipUnless(importlib.util.find_spec("moviepy"), "needs pip install moviepy")
    def test_record_video(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            env = gymnasium.make(
                "chicane/Lap-v0", render_mode="rgb_array", render_camera="chase", time_limit_s=1.0
            )
            recorded = gymnasium.wrappers.RecordVideo(
                env, f"{folder}/films", episode_trigger=lambda episode: True, disable_logger=True
            )
            for seed in (1, 2):
                recorded.reset(seed=seed)
                while not recorded.step(np.array([0.5, 0.0], np.float32))[3]:
                    pass
            recorded.close()
            films = sorted(Path(folder).glob("films/*.mp4"))
            self.assertEqual(len(films), 2)
            # An MP4 file has the word `ftyp` at byte 4.
            self.assertEqual([film.read_bytes()[4:8] for film in films], [b"ftyp"] * 2)

    def test_a_vector_equals_single_environments(self) -> None:
        for threads in (1, 2):
            vector = self.vector(3, observation=("state", "lidar"), threads=threads)
            single = [self.env(observation=("state", "lidar")) for _ in range(3)]
            seen, _ = vector.reset(seed=4)
            for i, env in enumerate(single):
                self.assertEqual(
                    env.reset(seed=4 + i)[0]["lidar"].tobytes(), seen["lidar"][i].tobytes()
                )
            actions = np.array([[1.0, 0.0], [1.0, 0.3], [1.0, -0.3]], np.float32)
            ended = [False] * 3
            for _ in range(40):
                seen, rewards, terminated, _, _ = vector.step(actions)
                for i, env in enumerate(single):
                    if ended[i]:
                        one, reward, ended[i] = env.reset()[0], 0.0, False
                    else:
                        one, reward, ended[i], _, _ = env.step(actions[i])
                    self.assertEqual((rewards[i], terminated[i]), (reward, ended[i]))
                    self.assertEqual(one["lidar"].tobytes(), seen["lidar"][i].tobytes())

    def test_several_worlds_in_one_batch(self) -> None:
        vector = self.vector(3, world=["oval", "technical"])
        seen, _ = vector.reset(seed=1)
        alone = self.env(world="technical")
        self.assertEqual(seen[1].tobytes(), alone.reset(seed=2)[0].tobytes())
        self.assertEqual(seen[2].tobytes(), self.env().reset(seed=3)[0].tobytes())

    def test_rewards_of_ones_own(self) -> None:
        received: list[Params] = []

        def reward(params: Params) -> float:
            received.append(params)
            return params["advance"] - params["distance_from_center"]

        def batch_reward(params: BatchParams) -> Any:
            self.assertEqual(params["action"].shape[1], 2)
            self.assertEqual(params["crashed"].dtype, np.bool_)
            return params["advance"] - params["distance_from_center"]

        env = self.env(reward=reward, obstacles=True, world="slalom")
        vector = self.vector(2, batch_reward=batch_reward, obstacles=True, world="slalom")
        looped = self.vector(2, reward=reward, obstacles=True, world="slalom")
        for one in (env, vector, looped):
            one.reset(seed=5)
        drive = np.array([[1.0, 0.1]] * 2, np.float32)
        for _ in range(30):
            _, rewards, ended, late, _ = vector.step(drive)
            self.assertEqual(looped.step(drive)[1].tolist(), rewards.tolist())
            if not env.unwrapped._batch._batch.details(0)[1]:
                self.assertEqual(env.step(drive[0])[1], rewards[0])
            if (ended | late).any():
                break
        self.assertEqual(set(received[0]), set(Params.__annotations__))
        kinds = {thing["name"]: thing["type"] for thing in received[0]["objects"]}
        self.assertEqual((kinds["cone1"], kinds["wall_0"]), ("cone", "wall"))
        self.assertEqual(received[0]["lights"], {"signal1": "green"})
        wrong = self.vector(2, batch_reward=lambda params: np.zeros(3))
        wrong.reset(seed=1)
        with self.assertRaisesRegex(ValueError, "must return 2 numbers"):
            wrong.step(drive)
        with self.assertRaisesRegex(ValueError, "not both"):
            CarEnv(reward=reward, batch_reward=batch_reward)

    def test_grey_and_stacked_pictures(self) -> None:
        colour = self.env(observation="camera", camera_size=SMALL)
        grey = self.env(observation="camera", camera_size=SMALL, grey=True, frame_stack=3)
        seen, first = (env.reset(seed=2)[0] for env in (colour, grey))
        self.assertEqual((seen.shape, first.shape), ((24, 32, 3), (3, 24, 32, 1)))
        weights = np.array([77, 150, 29])
        self.assertTrue(np.array_equal((seen @ weights + 128) >> 8, first[2, ..., 0]))
        self.assertTrue((first[0] == first[2]).all())
        drive = np.array([1.0, 0.1], np.float32)
        second = grey.step(drive)[0]
        third = grey.step(drive)[0]
        self.assertTrue(grey.observation_space.contains(third))
        self.assertTrue((third[1] == second[2]).all() and (third[0] == first[2]).all())
        self.assertFalse((third[2] == second[2]).all())

    def test_random_tracks(self) -> None:
        def rollout(seed: int) -> list[bytes]:
            env = self.env(random_tracks=20, observation="lidar", track_options={"width": 0.7})
            seen = [env.reset(seed=seed if i == 0 else None)[0].tobytes() for i in range(3)]
            env.close()
            return seen

        self.assertEqual(rollout(1), rollout(1))
        self.assertNotEqual(rollout(1), rollout(2))
        with self.assertRaisesRegex(ValueError, "width must be from 0.2 to 3"):
            CarEnv(random_tracks=2, track_options={"width": 9.0})
        with self.assertRaisesRegex(TypeError, "track_options must be a dictionary, not 0.7"):
            CarEnv(random_tracks=2, track_options=0.7)
        with self.assertRaisesRegex(TypeError, "unknown argument 'track_colour'"):
            CarEnv(random_tracks=2, track_options={"colour": 9.0})

    def test_save_and_restore(self) -> None:
        env: Any = self.env(observation=ALL, camera_size=SMALL)
        env.reset(seed=9)
        drive = np.array([1.0, 0.2], np.float32)
        seen, *_, info = env.step(drive)
        saved = env.save()
        story = [env.step(drive) for _ in range(10)] + [env.reset()]
        again, same = env.restore(saved)
        self.assertEqual((flat(again), same), (flat(seen), info))
        repeated = [env.step(drive) for _ in range(10)] + [env.reset()]
        for one, other in zip(story, repeated, strict=True):
            self.assertEqual((flat(one[0]), one[1:]), (flat(other[0]), other[1:]))
        other: Any = self.env(observation=ALL, camera_size=SMALL)
        self.assertEqual(flat(other.restore(saved)[0]), flat(seen), "a new environment")
        self.assertEqual(flat(other.step(drive)[0]), flat(story[0][0]))
        other.reset(seed=10)
        other.restore(saved)
        self.assertEqual(other.np_random_seed, -1, "unknown")
        story = [env.restore(saved), env.reset(), env.reset()]
        for one in story[1:]:
            observed, started = other.reset()
            self.assertEqual((flat(observed), started), (flat(one[0]), one[1]), "the generator")
        for wrong, reason in (
            (b"", "not a saved environment"),
            (saved[:-1], "damaged"),
            (saved[:50] + b"x" + saved[51:], "damaged"),
        ):
            with self.assertRaisesRegex(ValueError, reason):
                other.restore(wrong)
        plain: Any = self.env()
        plain.reset(seed=1)
        with self.assertRaisesRegex(ValueError, "other worlds or arguments"):
            plain.restore(saved)

    def test_a_failed_reset_left_half_an_episode(self) -> None:
        env: Any = self.env(step_s=0.05)
        env.reset(seed=1)
        with self.assertRaises(ValueError):
            env.reset(options={"start": 1e308})
        with self.assertRaisesRegex(RuntimeError, "reset"):
            env.step(np.zeros(2, np.float32))
        env.reset(seed=1)
        env.step(np.zeros(2, np.float32))

    def test_a_reward_that_fails_or_changes_its_arrays_spoils_no_info(self) -> None:
        def reward(params: Any) -> Any:
            params["speed"] *= 3.6
            return params["speed"]

        plain, changed = self.vector(2), self.vector(2, batch_reward=reward)
        drive = np.full((2, 2), 0.5, np.float32)
        infos = []
        for vector in (plain, changed):
            vector.reset(seed=1)
            infos.append([vector.step(drive) for _ in range(5)][-1][4]["speed"].tolist())
        self.assertEqual(infos[0], infos[1])

    def test_negative_numbers_are_values_out_of_range(self) -> None:
        for arguments in ({"beams": -1}, {"frame_stack": -1}, {"camera_size": (-1, 20)}):
            with self.subTest(arguments), self.assertRaises(ValueError):
                self.env(**arguments)
        with self.assertRaisesRegex(ValueError, "threads must be 1 or more"):
            self.vector(2, threads=-1)

    def test_a_picture_before_the_first_reset_asks_for_a_reset(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "reset"):
            self.env(render_mode="rgb_array").render()

    def test_save_and_restore_a_vector(self) -> None:
        vector = self.vector(2, frame_stack=2)
        vector.reset(seed=3)
        drive = np.array([[1.0, 0.3], [1.0, -0.3]], np.float32)
        seen = [vector.step(drive) for _ in range(12)][-1][0]
        saved = vector.save()
        story = [vector.step(drive)[:4] for _ in range(20)]
        again, _ = vector.restore(saved)
        self.assertEqual(again.tobytes(), seen.tobytes())
        for one in story:
            for a, b in zip(one, vector.step(drive)[:4], strict=True):
                self.assertEqual(a.tobytes(), b.tobytes())
        with self.assertRaisesRegex(ValueError, "2 entries, not 1"):
            vector.restore(saved[:1])

    def test_arrays_are_new_unless_they_are_reused(self) -> None:
        for reuse in (False, True):
            vector = self.vector(2, reuse_arrays=reuse)
            first, _ = vector.reset(seed=1)
            kept = first.copy()
            second = vector.step(np.full((2, 2), 0.3, np.float32))[0]
            self.assertEqual(first is second, reuse)
            self.assertEqual(np.array_equal(first, kept), not reuse)

    def test_np_random_belongs_to_the_environment(self) -> None:
        env = self.env()
        env.reset(seed=1)
        drawn = env.np_random.random()
        env.reset()
        env.reset(seed=1)
        self.assertEqual(env.np_random.random(), drawn)

    def test_render_size_and_content(self) -> None:
        env = self.env(observation="lidar", render_mode="rgb_array")
        env.reset(seed=0, options={"start": 0.0})
        picture: Any = env.render()
        self.assertEqual((picture.shape, picture.dtype), ((360, 480, 3), np.uint8))
        sky, road = picture[:100, :, 2].mean(), picture[250:, :, 2].mean()
        self.assertGreater(sky, road + 30, "sky over road")
        self.assertIsNone(self.env().render())
        vector = self.vector(2, render_mode="rgb_array", render_camera="chase")
        vector.reset(seed=0)
        self.assertEqual([one.shape for one in vector.render()], [(360, 480, 3)] * 2)

    def test_episodes_end(self) -> None:
        env = self.env(time_limit_s=1.0)
        env.reset(seed=1)
        ends = [env.step(np.zeros(2, np.float32))[2:] for _ in range(10)][-1]
        self.assertEqual(
            (ends[0], ends[1], ends[2]["ended"], ends[2]["time"]), (False, True, "time", 1.0)
        )
        with self.assertRaisesRegex(ValueError, "finite number of laps"):
            env.reset(options={"start": math.nan})
        wrong: Any = ["start", 0.5]
        with self.assertRaisesRegex(TypeError, "options must be a dictionary, not list"):
            env.reset(options=wrong)


if __name__ == "__main__":
    unittest.main()
