"""Tests of the environments: Gymnasium's checks, determinism, episodes, and cleanup."""

import json
import math
import tempfile
import typing
import unittest
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from chicane.errors import BadRequest
from chicane.gym import ENVIRONMENTS, CarEnv, Params, Thing, VectorCarEnv
from chicane.gym.layout import PASSAGE_M
from chicane.gym.track import Track
from gymnasium.utils.env_checker import check_env

from .support import PROGRAM
from .test_program import is_alive

ALL = ("state", "lidar", "camera")
GEN1 = Path(__file__).parents[2] / "vehicles/gen1.json"


def make(name: str = "chicane/Lap-v0", **arguments: Any) -> CarEnv:
    env = gymnasium.make(name, program=PROGRAM, **arguments).unwrapped
    assert isinstance(env, CarEnv)
    return env


def rollout(env: CarEnv, seed: int, steps: int) -> list[Any]:
    """All observations, infos and rewards of episodes with random actions."""
    chance = np.random.default_rng(seed)
    seen, info = env.reset(seed=seed)
    story: list[Any] = []
    for _ in range(steps):
        story.append(
            [seen[kind].tobytes() for kind in ALL] if isinstance(seen, dict) else seen.tobytes()
        )
        story.append(repr(info))
        action = np.array([chance.uniform(0.3, 1.0), chance.uniform(-0.35, 0.35)], np.float32)
        seen, reward, terminated, truncated, info = env.step(action)
        story.append((reward, terminated, truncated))
        if terminated or truncated:
            seen, info = env.reset()
    return story


class Types(unittest.TestCase):
    def test_the_parameters_of_a_reward_could_not_be_resolved(self) -> None:
        self.assertEqual(typing.get_type_hints(Thing)["size"].__name__, "Size")
        self.assertEqual(typing.get_type_hints(Params)["objects"], list[Thing])


class Profiles(unittest.TestCase):
    def test_observations_follow_the_profile(self) -> None:
        """A profile with 1,080 lidar beams and a larger camera needs no further argument."""
        with tempfile.TemporaryDirectory() as folder:
            profile = json.loads(GEN1.read_text())
            profile["lidar"]["beams"] = 1080
            profile["camera"] |= {"width_px": 320, "height_px": 240}
            file = Path(folder) / "robot.json"
            file.write_text(json.dumps(profile))
            env = make(observation="lidar", robot=str(file), render_mode="rgb_array")
            self.addCleanup(env.close)
            seen, _ = env.reset(seed=1)
            self.assertEqual(seen.shape, (1080,))
            self.assertTrue(env.observation_space.contains(seen))
            picture = env.render()
            self.assertEqual(np.asarray(picture).shape, (240, 320, 3))


class Varied(unittest.TestCase):
    def episode(self, env: CarEnv, seed: int) -> tuple[Any, ...]:
        seen, _ = env.reset(seed=seed)
        car = env._sim.pose()
        return (
            seen.tobytes(),
            (car["x"], car["y"], car["yaw"]),
            sorted(env._catalogue),
            [light["state"] for light in env._sim.lights()["lights"]],
            env._sim.brightness()["value"],
        )

    def test_a_seed_changes_the_world_and_the_same_seed_gives_the_same_episode(self) -> None:
        env = make(observation="lidar", random_start=False, vary=True)
        self.addCleanup(env.close)
        first, second, again = (self.episode(env, seed) for seed in (1, 2, 1))
        self.assertEqual(first, again)
        for part, (one, other) in enumerate(zip(first[:2], second[:2], strict=True)):
            self.assertNotEqual(one, other, part)
        self.assertTrue(any(name.startswith("extra") for name in first[2]), first[2])
        self.assertTrue(0.8 <= first[4] <= 1.2 and first[4] != second[4], (first[4], second[4]))

    def test_a_document_changes_only_what_it_names(self) -> None:
        plain = make(random_start=False)
        varied = make(random_start=False, vary={"latency": [0.1, 0.1]})
        for env in (plain, varied):
            self.addCleanup(env.close)
        self.assertEqual(self.episode(plain, 3)[1:], self.episode(varied, 3)[1:])
        forward = np.array([1.0, 0.0], np.float32)
        self.assertGreater(plain.step(forward)[4]["speed"], 0.3)
        self.assertEqual(varied.step(forward)[4]["speed"], 0.0)

    def test_a_random_start_is_shifted_too(self) -> None:
        vary = {"start": {"across": [0.05, 0.05], "yaw": [0.1, 0.1]}}
        env = make(vary=vary)
        self.addCleanup(env.close)
        env.reset(seed=4, options={"start": 0.5})
        car = env._sim.pose()
        at = env._track.locate(car["x"], car["y"])
        self.assertAlmostEqual(at.offset, 0.05, 3)
        self.assertAlmostEqual(math.remainder(car["yaw"] - at.heading, math.tau), 0.1, 2)
        self.assertAlmostEqual(at.along / env._track.length, 0.5, 2)

    def test_a_wrong_document_is_refused_with_the_reason(self) -> None:
        env = make(vary={"friction": [1, 9]})
        self.addCleanup(env.close)
        with self.assertRaisesRegex(BadRequest, "vary.friction must be .least, most. with numbers"):
            env.reset(seed=1)


class Checked(unittest.TestCase):
    def test_gymnasium_env_checker_has_no_warnings(self) -> None:
        for name in ENVIRONMENTS:
            for observation in ("state", "lidar", "camera", ALL):
                with self.subTest(name=name, observation=observation), warnings.catch_warnings():
                    warnings.simplefilter("error")
                    # The action space is in m/s and rad on purpose, not normalized.
                    warnings.filterwarnings("ignore", message=".*symmetric and normalized.*")
                    env = make(name, observation=observation, render_mode="rgb_array")
                    self.addCleanup(env.close)
                    check_env(env)
                    env.close()

    def test_same_seed_gives_the_same_rollout(self) -> None:
        for name in ENVIRONMENTS:
            first, second = (make(name, observation=ALL) for _ in range(2))
            self.addCleanup(first.close)
            self.addCleanup(second.close)
            story = rollout(first, 7, 40)
            self.assertEqual(rollout(second, 7, 40), story, "another simulator")
            self.assertEqual(rollout(first, 7, 40), story, "the same one again")
            self.assertNotEqual(rollout(second, 8, 40), story, "another seed")

    def test_closing_ten_environments_ends_all_simulators(self) -> None:
        envs = [make() for _ in range(10)]
        pids = [env._program.pid for env in envs if env._program]
        self.assertEqual(len(set(pids)), 10)
        self.assertTrue(all(map(is_alive, pids)))
        for env in envs:
            env.reset(seed=1)
            env.close()
        self.assertFalse([pid for pid in pids if is_alive(pid)])

    def test_invalid_arguments_raise(self) -> None:
        for arguments in (
            {"observation": "smell"},
            {"observation": ()},
            {"beams": 7},
            {"render_mode": "human"},
            {"step_s": 0},
            {"world": "technical", "obstacles": True},
        ):
            with self.subTest(arguments), self.assertRaises((ValueError, gymnasium.error.Error)):
                env = CarEnv(program=PROGRAM, **arguments)
                self.addCleanup(env.close)
                env.reset(seed=0)


class Episodes(unittest.TestCase):
    def env(self, **arguments: Any) -> CarEnv:
        env = make(**arguments)
        self.addCleanup(env.close)
        return env

    def drive(
        self, env: CarEnv, policy: Any, **options: Any
    ) -> tuple[list[float], dict[str, Any], bool, bool]:
        seen, _ = env.reset(seed=3, options=options)
        rewards = []
        for _ in range(2000):
            seen, reward, terminated, truncated, info = env.step(policy(seen))
            rewards.append(reward)
            if terminated or truncated:
                return rewards, info, terminated, truncated
        raise AssertionError("the episode did not end within 2000 steps")

    def test_lap_terminates_the_episode(self) -> None:
        def follow(seen: Any) -> Any:
            _, _, offset, angle, *bends = seen
            return np.array([1.0, 0.6 * (bends[1] - angle) - 0.7 * offset])

        env = self.env()
        rewards, info, terminated, truncated = self.drive(env, follow, start=0.1)
        self.assertEqual((info["ended"], terminated, truncated), ("lap", True, False))
        self.assertGreaterEqual(info["progress"], 1.0)
        self.assertAlmostEqual(sum(rewards), env._track.length + 10, delta=0.5)

    def test_leaving_the_road_terminates_the_episode(self) -> None:
        rewards, info, terminated, truncated = self.drive(
            self.env(), lambda _: np.array([1.0, 0.3])
        )
        self.assertEqual((info["ended"], terminated, truncated), ("off_track", True, False))
        self.assertLess(rewards[-1], -4)

    def test_time_limit_truncates_the_episode(self) -> None:
        env = self.env(time_limit_s=1.0)
        rewards, info, terminated, truncated = self.drive(env, lambda _: np.array([0.0, 0.0]))
        self.assertEqual((info["ended"], terminated, truncated), ("time", False, True))
        self.assertEqual((len(rewards), info["time"]), (10, 1.0))

    def test_collision_terminates_the_episode_and_reward_gets_all_params(self) -> None:
        received: list[Params] = []

        def reward(params: Params) -> float:
            received.append(params)
            return 42.0

        env = self.env(reward=reward, world="slalom")
        env.reset(seed=0, options={"start": 0.0})
        x, y, heading = env._track.at(0.6)
        env._sim.move_object("cone1", x=x, y=y)
        for _ in range(30):
            _, given, terminated, _, info = env.step(np.array([1.0, 0.0]))
            self.assertEqual(given, 42.0)
            if terminated:
                break
        self.assertEqual(info["ended"], "collision")
        last = received[-1]
        self.assertEqual(set(last), set(Params.__annotations__))
        self.assertEqual(
            (last["crashed"], last["contacts"], last["steps"]), (True, ["cone1"], len(received))
        )
        kinds = {thing["name"]: thing["type"] for thing in last["objects"]}
        self.assertEqual(
            (kinds["cone1"], kinds["box1"], kinds["signal1"], kinds["wall_0"]),
            ("cone", "box", "light", "wall"),
        )
        behind, ahead = last["closest_waypoints"]
        self.assertEqual(ahead, behind + 1)
        self.assertLess(math.dist(last["waypoints"][behind], (last["x"], last["y"])), 0.1)
        self.assertAlmostEqual(last["heading"], heading, delta=0.2)
        self.assertAlmostEqual(last["track_width"], 1.4, delta=0.01)
        self.assertEqual(last["lights"], {"signal1": "green"})

    def test_obstacles_leave_a_passage_and_differ_between_episodes(self) -> None:
        env = self.env(name="chicane/Obstacles-v0")
        layouts = []
        for seed in (1, 2):
            env.reset(seed=seed)
            state = env._sim.state()
            cones = {
                name: pose for name, pose in state["objects"].items() if name.startswith("cone")
            }
            layouts.append({name: (pose["x"], pose["y"]) for name, pose in cones.items()})
            for pose in cones.values():
                position = env._track.locate(pose["x"], pose["y"])
                self.assertFalse(position.off_track)
                free = (
                    max(
                        position.width_left - position.offset,
                        position.width_right + position.offset,
                    )
                    - 0.1
                )
                self.assertGreaterEqual(free, PASSAGE_M - 0.02)
            self.assertEqual(state["contacts"], [])
        self.assertNotEqual(*layouts)

    def test_render_returns_the_camera_picture(self) -> None:
        env = self.env(observation="lidar", render_mode="rgb_array")
        env.reset(seed=0, options={"start": 0.0})
        picture = env.render()
        self.assertEqual((picture.shape, picture.dtype), ((360, 480, 3), np.uint8))
        self.assertGreater(
            picture[:100, :, 2].mean(), picture[250:, :, 2].mean() + 30, "sky over road"
        )
        env.step(np.array([1.0, 0.0]))
        self.assertFalse(np.array_equal(env.render(), picture))

    def test_episode_does_not_depend_on_the_one_before(self) -> None:
        env = self.env(observation=ALL)
        first = rollout(env, 5, 3)
        env._sim.set_light("signal1", "red")
        env._sim.move_object("box1", x=3, y=3)
        self.assertEqual(rollout(env, 5, 3), first)

    def test_actions_are_clamped_and_malformed_ones_raise(self) -> None:
        env = self.env(max_speed=0.5)
        env.reset(seed=0)
        for _ in range(8):
            *_, info = env.step(np.array([99.0, 0.0]))
        self.assertAlmostEqual(info["speed"], 0.5, delta=0.05)
        for wrong in (np.array([math.nan, 0.0]), np.array([1.0]), np.zeros((2, 2))):
            with self.assertRaisesRegex(ValueError, "two numbers"):
                env.step(wrong)


class Vectors(unittest.TestCase):
    def test_vector_gives_the_same_results_as_a_single_environment(self) -> None:
        vector = gymnasium.make_vec(
            "chicane/Lap-v0",
            2,
            "vector_entry_point",
            observation=("lidar", "state"),
            program=PROGRAM,
        )
        self.addCleanup(vector.close)
        self.assertIsInstance(vector.unwrapped, VectorCarEnv)
        alone = make(observation=("lidar", "state"))
        self.addCleanup(alone.close)
        both, infos = vector.reset(seed=4)
        self.assertTrue(vector.observation_space.contains(both))
        one, _ = alone.reset(seed=5)
        np.testing.assert_array_equal(both["lidar"][1], one["lidar"])
        ended = False
        resets = 0
        for _ in range(30):
            actions = np.array([[1.0, 0.0], [1.0, 0.25]], np.float32)
            both, rewards, terminated, _, infos = vector.step(actions)
            if ended:
                one, _ = alone.reset()
                reward, ended = 0.0, False
                resets += 1
            else:
                one, reward, ended, _, info = alone.step(actions[1])
                self.assertEqual(infos["ended"][1], info["ended"])
            self.assertEqual((rewards[1], terminated[1]), (reward, ended))
            np.testing.assert_array_equal(both["state"][1], one["state"])
        self.assertGreater(resets, 0, "no episode ended during the test")

    def test_closing_a_vector_ends_all_simulators(self) -> None:
        vector = VectorCarEnv(3, program=PROGRAM)
        pids = [env._program.pid for env in vector.envs if env._program]
        vector.close()
        self.assertFalse([pid for pid in pids if is_alive(pid)])


class Tracks(unittest.TestCase):
    def square(self, clockwise: bool) -> Track:
        side = [i / 10 for i in range(41)]
        points = [(s, 0.0) for s in side[:-1]] + [(4.0, s) for s in side[:-1]]
        points += [(4 - s, 4.0) for s in side[:-1]] + [(0.0, 4 - s) for s in side]
        inner = [[2 + (x - 2) * 0.9, 2 + (y - 2) * 0.9] for x, y in points]
        outer = [[2 + (x - 2) * 1.2, 2 + (y - 2) * 1.2] for x, y in points]
        turn = -1 if clockwise else 1
        return Track(
            {
                "world": "x",
                "waypoints": points[::turn],
                "inner": inner[::turn],
                "outer": outer[::turn],
            }
        )

    def test_positions_on_a_square_track(self) -> None:
        track = self.square(clockwise=False)
        self.assertAlmostEqual(track.length, 16)
        position = track.locate(2.03, 0.1)
        self.assertAlmostEqual(position.along, 2.03)
        self.assertAlmostEqual(position.offset, 0.1)
        self.assertAlmostEqual(position.heading, 0.0)
        self.assertEqual((position.behind, position.off_track), (20, False))
        self.assertAlmostEqual(position.width_left, 0.2)
        self.assertAlmostEqual(position.width_right, 0.4)
        self.assertTrue(track.locate(2, 0.21).off_track)
        self.assertFalse(track.locate(2, -0.39).off_track)
        back = self.square(clockwise=True).locate(2.0, 0.1)
        self.assertAlmostEqual(back.offset, -0.1)
        self.assertAlmostEqual(back.width_right, 0.2)
        self.assertAlmostEqual(track.advance(15.9, 0.1), 0.2)
        self.assertAlmostEqual(track.advance(0.1, 15.9), -0.2)
        x, y, heading = track.at(17.0, offset=0.1)
        self.assertAlmostEqual(x, 1.0)
        self.assertAlmostEqual(y, 0.1)
        self.assertAlmostEqual(heading, 0.0)

    def test_a_repeated_waypoint_keeps_its_row_and_changes_no_position(self) -> None:
        plain = self.square(clockwise=False)
        rows = [0, 0, *range(1, 21), 20, 20, *range(21, 160), 0]
        points = [list(plain.waypoints[row]) for row in rows]
        inner = [[2 + (x - 2) * 0.9, 2 + (y - 2) * 0.9] for x, y in points]
        outer = [[2 + (x - 2) * 1.2, 2 + (y - 2) * 1.2] for x, y in points]
        track = Track({"world": "x", "waypoints": points, "inner": inner, "outer": outer})
        self.assertEqual(len(track.waypoints), 163)
        self.assertAlmostEqual(track.length, 16, places=4)
        for x, y in [(0.0, 0.0), (-0.1, 0.05), (2.0, 0.1), (2.03, -0.1), (0.04, 3.9), (4.1, 1.0)]:
            here, expected = track.locate(x, y), plain.locate(x, y)
            self.assertAlmostEqual(here.along, expected.along, places=4)
            self.assertAlmostEqual(here.offset, expected.offset)
            self.assertAlmostEqual(here.heading, expected.heading)
            self.assertAlmostEqual(here.width_left, expected.width_left)
            self.assertAlmostEqual(here.width_right, expected.width_right)
        self.assertAlmostEqual(track.at(2.00000001)[2], 0.0)

    def test_locate_follows_a_road_that_crosses_itself(self) -> None:
        angles = np.linspace(0, 2 * np.pi, 401)
        eight = [[float(2 * np.sin(a)), float(np.sin(2 * a))] for a in angles]
        track = Track({"world": "x", "waypoints": eight})
        near, along = 0, 0.0
        for x, y in eight[1:]:
            position = track.locate(x, y, near)
            step = track.advance(along, position.along)
            self.assertLess(abs(step), 0.1)
            near, along = position.behind, position.along
