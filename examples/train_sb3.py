"""Trains a neural network to drive a lap by lidar, with PPO of Stable-Baselines3.

Stable-Baselines3 has vector environments of its own. The class `Cars` below is one of them: all
cars stay in one batch of the simulator, and no car needs a process.

The policy is saved as a file that `drive_policy.py` drives, and the simulator judges it.

Needs Gymnasium, NumPy and Stable-Baselines3 (pip install stable-baselines3).
Usage: python3 examples/train_sb3.py --world oval --steps 1000000
"""

import argparse
import sys
import time

try:
    import chicane.gym  # noqa: F401 (registers the environments)
except ImportError as error:
    sys.exit(f"train_sb3.py: {error}")
import gymnasium
import numpy as np
from train import judge
from train_ppo import FARTHEST, reward, save, scaled

try:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecEnv, VecNormalize
except ImportError:
    PPO = None
    BaseCallback = VecEnv = object

ROLLOUT = 64  # steps of each car between two updates


class Cars(VecEnv):
    """A vector environment of Gymnasium as one of Stable-Baselines3. Actions are from -1 to 1.

    Stable-Baselines3 expects that the last step of an episode returns the first observation of the
    next one. Our cars are reset one step later. In between, the observation is blank (all zeros),
    and the action has no effect. So every episode but the first begins with a blank observation.
    """

    def __init__(self, envs):
        self.envs = envs
        self.render_mode = envs.render_mode
        actions = gymnasium.spaces.Box(-1.0, 1.0, envs.single_action_space.shape, np.float32)
        super().__init__(envs.num_envs, envs.single_observation_space, actions)
        self._actions = np.zeros((self.num_envs, *actions.shape), np.float32)
        self._returns, self._lengths = np.zeros(self.num_envs), np.zeros(self.num_envs, np.int64)

    def reset(self):
        seeds = None if self._seeds[0] is None else self._seeds
        seen, _ = self.envs.reset(seed=seeds)
        self._reset_seeds()
        self._returns[:], self._lengths[:] = 0.0, 0
        return seen

    def step_async(self, actions):
        self._actions = np.clip(actions, -1.0, 1.0)

    def step_wait(self):
        actions = scaled(self.envs, self._actions)
        seen, rewards, terminated, truncated, infos = self.envs.step(actions)
        ended = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        rows = [{} for _ in range(self.num_envs)]
        for car in np.flatnonzero(ended):
            rows[car] = {
                "ended": infos["ended"][car],
                "progress": infos["progress"][car],
                "terminal_observation": seen[car].copy(),
                # After a whole lap the car could drive on, as after the time limit. Therefore the
                # value of the next state counts for both.
                "TimeLimit.truncated": infos["ended"][car] in ("time", "lap"),
                "episode": {"r": float(self._returns[car]), "l": int(self._lengths[car])},
            }
        self._returns[ended], self._lengths[ended] = 0.0, 0
        seen[ended] = 0.0
        return seen, rewards, ended, rows

    def close(self):
        self.envs.close()

    def get_attr(self, attr_name, indices=None):
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name, value, indices=None):
        raise AttributeError(f"the cars share one environment: {attr_name} cannot be set")

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        raise AttributeError(f"the cars share one environment: {method_name} cannot be called")

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False for _ in self._get_indices(indices)]

    def get_images(self):
        return list(self.envs.render() or [])


class Report(BaseCallback):
    """Prints how far the cars drive."""

    def __init__(self):
        super().__init__()
        self.recent, self.started = [], time.monotonic()

    def _on_step(self):
        for info in self.locals["infos"]:
            if "progress" in info:
                self.recent.append((info["progress"], info["ended"] == "lap"))
        self.recent = self.recent[-200:]
        return True

    def _on_rollout_end(self):
        progress, laps = np.mean(self.recent, axis=0) if self.recent else (0.0, 0.0)
        print(
            f"{time.monotonic() - self.started:6.0f} s, {self.num_timesteps:8} steps: "
            f"{progress:4.2f} of a lap in an episode, whole laps in {100 * laps:3.0f} %",
            flush=True,
        )


def layers_of(model):
    """Weights and biases of the network that chooses the actions."""
    parts = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    linear = [part for part in parts if isinstance(part, torch.nn.Linear)]
    return [(one.weight.detach().cpu(), one.bias.detach().cpu()) for one in linear]


def arguments_of(words):
    """Reads the arguments of the program."""
    parser = argparse.ArgumentParser(description="Trains a policy with Stable-Baselines3.")
    parser.add_argument("--world", default="oval")
    parser.add_argument("--steps", type=int, default=1_000_000, help="steps of all cars together")
    parser.add_argument("--cars", type=int, default=64)
    parser.add_argument("--beams", type=int, default=72, help="beams that the policy sees")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", default="policy.json", help="file of the learned policy")
    parser.add_argument("--no-judge", action="store_true", help="end after the training")
    arguments = parser.parse_args(words)
    if arguments.steps < 1 or arguments.cars < 1:
        parser.error("--steps and --cars must be 1 or more")
    return arguments


def main(words=None):
    arguments = arguments_of(words)
    if PPO is None:
        sys.exit(
            "train_sb3.py needs Stable-Baselines3: install it with pip install stable-baselines3"
        )
    # One thread is enough for the small networks, and the cars need the other processors.
    torch.set_num_threads(1)
    env = gymnasium.make_vec(
        "chicane/Lap-v0",
        num_envs=arguments.cars,
        world=arguments.world,
        observation="lidar",
        beams=arguments.beams,
        batch_reward=reward,
    )
    cars = VecNormalize(Cars(env), norm_reward=False, clip_obs=FARTHEST)
    try:
        model = PPO(
            "MlpPolicy",
            cars,
            n_steps=ROLLOUT,
            batch_size=min(1024, ROLLOUT * arguments.cars),
            n_epochs=10,
            gamma=0.98,
            learning_rate=4e-4,
            ent_coef=0.001,
            target_kl=0.02,
            policy_kwargs={"net_arch": [256, 256], "log_std_init": -1.0},
            seed=arguments.seed,
            device="cpu",
        )
        model.learn(arguments.steps, callback=Report())
        mean, deviation = cars.obs_rms.mean, np.sqrt(cars.obs_rms.var + cars.epsilon)
        spaces = env.single_observation_space, env.single_action_space
        save(arguments.policy, layers_of(model), mean, deviation, *spaces, sees_action=False)
    finally:
        cars.close()
    print(f"the policy is in {arguments.policy}", flush=True)
    if not arguments.no_judge:
        judge(arguments.policy, arguments.world)


if __name__ == "__main__":
    main()
