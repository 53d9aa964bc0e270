"""Trains a neural network to drive a lap by lidar, with proximal policy optimisation (PPO).

Many cars drive at the same time inside this process, each from a random start. A network (actor)
turns the ranges of the lidar and the last action into the next action. Only for the training, a
second network (critic) estimates how far a car will get, and also sees where the road is. The same
arguments give the same learning curve on the same machine, whichever backend simulates the cars.

The first steps (--imitate) learn the actions of a simple controller that sees the road, and PPO
improves on them. This takes far fewer steps than to learn from nothing.

The policy is saved with the mean and the deviation of its inputs. At the end the simulator judges
the policy: `drive_policy.py` drives it in an evaluation of the world. Ctrl-C ends the training
early, and the policy so far is saved and judged.

Needs Gymnasium, NumPy and PyTorch (pip install torch).
Usage: python3 examples/train_ppo.py --world technical
"""

import argparse
import json
import sys
import time
from pathlib import Path

try:
    import chicane.gym  # noqa: F401 (registers the environments)
except ImportError as error:
    sys.exit(f"train_ppo.py: {error}")
import gymnasium
import numpy as np
from train import judge

try:
    import torch
except ImportError:
    torch = None

DISCOUNT = 0.98  # value of a reward that comes one step later, relative to a reward now
SMOOTHING = 0.95  # how far advantages look ahead: lambda of GAE
ROLLOUT = 64  # steps of each car between two updates
EPOCHS = 8  # maximum number of times that an update uses each step
MINIBATCH = 256  # steps per gradient
CLIP = 0.2  # largest relative change of an action's probability that an update rewards
RATE = 4e-4  # learning rate of the first update; it decreases to a tenth
ENTROPY = 0.001  # weight of the bonus for random actions
VALUE = 0.5  # weight of the critic's error
FARTHEST_STEP = 0.02  # an update ends when the policy has changed by more than this divergence
LONGEST_GRADIENT = 0.5  # longer gradients are shortened to this length
FARTHEST = 5.0  # normalised inputs are limited to the range from -FARTHEST to FARTHEST
HIDDEN = 128  # units of each hidden layer
CRASH = 0.5  # cost of leaving the road or of touching something, in metres


def reward(params):
    """Metres along the road, minus a cost for leaving the road or for touching something.

    The end of the lap has no bonus, because a scan does not show how far the car has driven.
    `params` are those of one car, or arrays for all cars.
    """
    return params["advance"] - CRASH * (params["off_track"] | params["crashed"])


def make(arguments):
    """Creates the environment with all cars."""
    native = arguments.backend == "native"
    return gymnasium.make_vec(
        "chicane/Lap-v0",
        num_envs=arguments.cars,
        world=arguments.world,
        observation=("lidar", "state"),
        beams=arguments.beams,
        backend=arguments.backend,
        # Only the native environments have rewards that are computed for all cars at once.
        **({"batch_reward": reward} if native else {"reward": reward}),
    )


def teacher(states):
    """Actions from -1 to 1 of a controller that sees the road. The first steps imitate it.

    The controller steers along the circle through the point of the centre line 0.4 m ahead, and
    brakes in bends.
    """
    offset, angle, bends = states[:, 2], states[:, 3], states[:, 4:8]
    curvature = 2 * (np.sin(bends[:, 1] / 2 - angle) / 0.4 - offset / 0.4**2)
    speed = np.clip(1.0 - 0.5 * np.abs(bends).max(axis=1), 0.5, 1.0)
    actions = np.stack([speed / 0.75 - 1.0, np.arctan(0.18 * curvature) / 0.349], axis=1)
    return np.clip(actions, -1.0, 1.0)


class Normaliser:
    """Mean and variance of all inputs so far."""

    def __init__(self, size):
        self.mean, self.variance, self.count = np.zeros(size), np.ones(size), 1e-4

    def add(self, rows):
        """Adds inputs, one in each row."""
        count = len(rows)
        mean, variance = rows.mean(axis=0), rows.var(axis=0)
        total, apart = self.count + count, mean - self.mean
        squares = self.variance * self.count + variance * count
        self.variance = (squares + apart**2 * self.count * count / total) / total
        self.mean = self.mean + apart * count / total
        self.count = total

    @property
    def deviation(self):
        return np.sqrt(self.variance) + 1e-6

    def __call__(self, rows):
        scaled = (rows - self.mean) / self.deviation
        return np.clip(scaled, -FARTHEST, FARTHEST).astype(np.float32)


def network(inputs, outputs, last_scale):
    """A network with two hidden layers, with orthogonal weights."""
    sizes = [(inputs, HIDDEN, 2**0.5), (HIDDEN, HIDDEN, 2**0.5), (HIDDEN, outputs, last_scale)]
    parts = []
    for size_in, size_out, scale in sizes:
        layer = torch.nn.Linear(size_in, size_out)
        torch.nn.init.orthogonal_(layer.weight, scale)
        torch.nn.init.zeros_(layer.bias)
        parts += [layer, torch.nn.Tanh()]
    return torch.nn.Sequential(*parts[:-1])


class Learner:
    """The policy (actor), the value of a state (critic), and the optimiser that updates both.

    The critic sees all inputs. The actor sees only the first inputs, which a car also has when it
    is judged.
    """

    def __init__(self, inputs, seen_by_actor, seed):
        torch.manual_seed(seed)
        self.seen = seen_by_actor
        self.actor, self.critic = network(seen_by_actor, 2, 0.01), network(inputs, 1, 1.0)
        self.log_deviation = torch.nn.Parameter(torch.full((2,), -1.0))
        self.normaliser = Normaliser(inputs)
        self.parameters = [*self.actor.parameters(), *self.critic.parameters(), self.log_deviation]
        self.optimiser = torch.optim.Adam(self.parameters, lr=RATE, eps=1e-5)

    def actions(self, seen):
        """The distribution of actions for normalised inputs."""
        means = self.actor(seen[:, : self.seen])
        return torch.distributions.Normal(means, self.log_deviation.exp())

    def update(self, seen, taken, chances, advantages, returns, taught, *, rate, imitate):
        """Improves both networks with the steps of one rollout.

        With `imitate` the actor learns the actions of the teacher, otherwise the actions that had
        better results than expected.
        """
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        for _ in range(EPOCHS):
            for part in torch.randperm(len(seen)).split(MINIBATCH):
                actions = self.actions(seen[part])
                change = actions.log_prob(taken[part]).sum(1) - chances[part]
                ratio = change.exp()
                # This mean estimates how far the new policy diverges from the old one, and is never
                # negative. Without the limit, a single update can undo what hundreds of updates
                # have learned.
                if not imitate and (ratio - 1 - change).mean() > FARTHEST_STEP:
                    return
                gain = advantages[part]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8) if len(part) > 1 else gain
                limited = ratio.clamp(1 - CLIP, 1 + CLIP)
                loss = -torch.minimum(ratio * gain, limited * gain).mean()
                loss -= ENTROPY * actions.entropy().sum(1).mean()
                if imitate:
                    loss = (actions.mean - taught[part]).square().mean()
                loss += VALUE * (self.critic(seen[part])[:, 0] - returns[part]).square().mean()
                self.optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.parameters, LONGEST_GRADIENT)
                self.optimiser.step()


def advantages_of(rewards, values, terminated, ended):
    """Generalised advantage estimates. `values` has one row more than the other arrays.

    The environments reset a car in the step after the end of its episode. The observation after the
    last step of an episode therefore still belongs to the episode. The value of this observation
    counts unless the episode was terminated. The estimates of the steps that only reset a car have
    no meaning.
    """
    out, ahead = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    for step in reversed(range(len(rewards))):
        following = np.where(terminated[step], 0.0, values[step + 1])
        error = rewards[step] + DISCOUNT * following - values[step]
        ahead = error + DISCOUNT * SMOOTHING * np.where(ended[step], 0.0, ahead)
        out[step] = ahead
    return out


def scaled(env, actions):
    """Speeds in m/s and steering angles in rad, from actions between -1 and 1."""
    space = env.single_action_space
    return space.low + (actions + 1.0) / 2.0 * (space.high - space.low)


class Drivers:
    """The cars with their current inputs: ranges, the last action, and the state on the road."""

    def __init__(self, env, seed):
        self.env = env
        seen, _ = env.reset(seed=seed)
        none = np.zeros((env.num_envs, 2), np.float32)
        self.inputs = np.hstack([seen["lidar"], none, seen["state"]])
        self.resets = np.zeros(env.num_envs, np.bool_)

    def step(self, actions):
        """Drives one step. The attribute `resets` then tells which cars the next step resets."""
        actions = np.clip(actions, -1.0, 1.0)
        seen, rewards, terminated, truncated, infos = self.env.step(scaled(self.env, actions))
        actions[self.resets] = 0.0  # these cars were reset and have no last action
        self.inputs = np.hstack([seen["lidar"], actions, seen["state"]])
        self.resets = terminated | truncated
        return rewards, terminated, infos


def rollout(drivers, learner):
    """Drives with random actions of the policy. Returns inputs, a batch, and the ended episodes.

    Inputs and batch do not contain the steps that only reset a car.

    An episode is a pair: the part of the lap that was driven, and whether it was the whole lap.
    """
    inputs, taken, chances, rewards, values, terminals, ends, real = ([] for _ in range(8))
    episodes = []
    for _ in range(ROLLOUT):
        real.append(~drivers.resets)
        inputs.append(drivers.inputs)
        seen = torch.from_numpy(learner.normaliser(drivers.inputs))
        with torch.no_grad():
            actions = learner.actions(seen)
            action = actions.sample()
            chances.append(actions.log_prob(action).sum(1).numpy())
            values.append(learner.critic(seen)[:, 0].numpy())
        taken.append(action.numpy())
        earned, terminated, infos = drivers.step(action.numpy())
        # After a finished lap the value of the next state counts, as after a time limit, because
        # the policy could drive on.
        lap = infos["ended"] == "lap"
        rewards.append(earned)
        terminals.append(terminated & ~lap)
        ends.append(drivers.resets)
        episodes += [(infos["progress"][car], lap[car]) for car in np.flatnonzero(drivers.resets)]
    with torch.no_grad():
        seen = torch.from_numpy(learner.normaliser(drivers.inputs))
        values.append(learner.critic(seen)[:, 0].numpy())
    values, real = np.stack(values), np.stack(real)
    gains = advantages_of(np.stack(rewards), values, np.stack(terminals), np.stack(ends))
    inputs = np.stack(inputs)[real]
    states = inputs[:, learner.seen :]
    batch = (
        learner.normaliser(inputs),
        np.stack(taken)[real],
        np.stack(chances)[real],
        gains[real],
        (gains + values[:-1])[real],
        teacher(states),
    )
    return inputs, [torch.from_numpy(part.astype(np.float32)) for part in batch], episodes


def learn(env, learner, steps, imitated, seed):
    """Yields after each update: steps of all cars, wall time in seconds, ended episodes."""
    drivers, started = Drivers(env, seed), time.monotonic()
    # The inputs before the first step give the first mean and variance, with which the inputs of
    # the first rollout are normalised.
    learner.normaliser.add(drivers.inputs)
    size = ROLLOUT * env.num_envs
    for done in range(size, max(steps, size) + 1, size):
        inputs, batch, episodes = rollout(drivers, learner)
        rate = RATE * (1 - 0.9 * done / max(steps, size))
        learner.update(*batch, rate=rate, imitate=done <= imitated)
        learner.normaliser.add(inputs)
        yield done, time.monotonic() - started, episodes


def drive(env, learner, seed):
    """Drives one episode with each car, without randomness. Returns the number of whole laps."""
    drivers = Drivers(env, seed)
    laps, driving = 0, np.ones(env.num_envs, np.bool_)
    while driving.any():
        with torch.no_grad():
            actions = learner.actions(torch.from_numpy(learner.normaliser(drivers.inputs)))
        _, _, infos = drivers.step(actions.mean.numpy())
        laps += int((driving & (infos["ended"] == "lap")).sum())
        driving &= ~drivers.resets
    return laps


def save(file, layers, mean, deviation, ranges, actions, *, sees_action):
    """Writes a policy as JSON, so that a program without PyTorch can drive it.

    `layers`: pairs of weights and biases. `ranges`, `actions`: spaces of one car. `sees_action`:
    whether the inputs end with the last action, from -1 to 1.
    """
    policy = {
        "beams": ranges.shape[0],
        "range_max": float(ranges.high[0]),
        "lowest": actions.low.tolist(),
        "highest": actions.high.tolist(),
        "sees_action": sees_action,
        "mean": mean.tolist(),
        "deviation": deviation.tolist(),
        "farthest": FARTHEST,
        "layers": [
            {"weights": np.asarray(w).round(6).tolist(), "biases": np.asarray(b).round(6).tolist()}
            for w, b in layers
        ],
    }
    Path(file).write_text(json.dumps(policy))


def arguments_of(words):
    """Reads the arguments of the program."""
    parser = argparse.ArgumentParser(description="Trains a policy to drive a lap by lidar.")
    parser.add_argument("--world", default="technical")
    parser.add_argument("--steps", type=int, default=1_000_000, help="steps of all cars together")
    help_text = "first steps, which imitate a controller"
    parser.add_argument("--imitate", type=int, default=200_000, help=help_text)
    parser.add_argument("--cars", type=int, default=64)
    parser.add_argument("--beams", type=int, default=72, help="beams that the policy sees")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=["native", "http"], default="native")
    parser.add_argument("--policy", default="policy.json", help="file of the learned policy")
    parser.add_argument("--curve", help="file for the learning curve, JSON")
    parser.add_argument("--no-judge", action="store_true", help="end after the training")
    arguments = parser.parse_args(words)
    if arguments.steps < 1 or arguments.cars < 1:
        parser.error("--steps and --cars must be 1 or more")
    return arguments


def train(env, learner, arguments):
    """Trains until all steps are done or the user interrupts. Returns the learning curve."""
    curve, recent = [], []
    try:
        learned = learn(env, learner, arguments.steps, arguments.imitate, arguments.seed)
        for steps, wall_s, episodes in learned:
            recent = (recent + episodes)[-200:]
            progress, laps = np.mean(recent, axis=0).tolist() if recent else (0.0, 0.0)
            curve.append({"steps": steps, "wall_s": wall_s, "progress": progress, "laps": laps})
            print(
                f"{wall_s:6.0f} s, {steps:8} steps: {progress:4.2f} of a lap in an episode, "
                f"whole laps in {100 * laps:3.0f} %",
                flush=True,
            )
    except KeyboardInterrupt:
        print("interrupted: the policy so far is saved", flush=True)
    return curve


def main(words=None):
    arguments = arguments_of(words)
    if torch is None:
        sys.exit("train_ppo.py needs PyTorch: install it with pip install torch")
    # One thread is enough for the small networks, and the cars need the other processors.
    torch.set_num_threads(1)
    env = make(arguments)
    try:
        ranges, state = (env.single_observation_space[kind] for kind in ("lidar", "state"))
        seen = ranges.shape[0] + 2
        learner = Learner(seen + state.shape[0], seen, arguments.seed)
        curve = train(env, learner, arguments)
        laps = drive(env, learner, arguments.seed)
        print(f"without randomness: {laps} laps in {env.num_envs} episodes", flush=True)
        layers = [part for part in learner.actor if isinstance(part, torch.nn.Linear)]
        weights = [(one.weight.detach(), one.bias.detach()) for one in layers]
        mean, deviation = learner.normaliser.mean[:seen], learner.normaliser.deviation[:seen]
        actions = env.single_action_space
        save(arguments.policy, weights, mean, deviation, ranges, actions, sees_action=True)
    finally:
        env.close()
    print(f"the policy is in {arguments.policy}", flush=True)
    if arguments.curve:
        content = {"backend": arguments.backend, "world": arguments.world, "curve": curve}
        Path(arguments.curve).write_text(json.dumps(content))
    if not arguments.no_judge:
        judge(arguments.policy, arguments.world)


if __name__ == "__main__":
    main()
