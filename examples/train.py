"""Trains a linear policy to drive a lap, with the cross-entropy method, in a minute or two.

Each generation is a random sample of policies. Each policy drives one episode, and the best ones
give mean and spread of the next sample. The same seed gives exactly the same learning curve.

The mean of the best policies of the last generation is saved. At the end the simulator judges the
saved policy: `drive_policy.py` drives with this policy in an evaluation of the world.

Needs Gymnasium and NumPy, and matplotlib for --picture.
Usage: python3 examples/train.py --picture curve.png
"""

import argparse
import importlib.util
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from chicane.gym import VectorCarEnv
except ImportError as error:
    sys.exit(f"train.py: {error}")
import numpy as np

SCALE = np.array([1.5, 0.35, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])  # typical observed values


def act(policy, seen):
    """Returns speed and steering of one car: weighted sums, limited to their ranges by tanh."""
    features = np.append(seen / SCALE, 1.0)
    speed, steering = np.tanh(policy.reshape(2, -1) @ features)
    return [0.8 + 0.6 * speed, 0.349 * steering]


def returns_of(env, policies):
    """Drives one episode with each policy, on all cars in parallel.

    Returns the sum of rewards of each policy, and the number of completed laps.
    """
    cars = env.num_envs
    waiting = list(range(len(policies)))
    at = [waiting.pop(0) if waiting else None for _ in range(cars)]
    total, laps = np.zeros(len(policies)), 0
    seen, _ = env.reset()
    fresh = [True] * cars
    while any(one is not None for one in at):
        actions = [
            [0.0, 0.0] if one is None else act(policies[one], x)
            for one, x in zip(at, seen, strict=True)
        ]
        seen, rewards, terminated, truncated, info = env.step(np.array(actions, np.float32))
        for car in range(cars):
            if not fresh[car]:  # this step only reset the car
                fresh[car] = True
                continue
            if at[car] is not None:
                total[at[car]] += rewards[car]
            if terminated[car] or truncated[car]:
                laps += at[car] is not None and info["ended"][car] == "lap"
                at[car] = waiting.pop(0) if waiting else None
                fresh[car] = False
    return total, laps


def learn(env, generations, population, seed):
    """Yields for each generation: returns, number of completed laps, mean of the best policies."""
    random = np.random.default_rng(seed)
    size = 2 * (len(SCALE) + 1)
    middle, spread = np.zeros(size), np.full(size, 0.7)
    env.reset(seed=seed)
    for generation in range(generations):
        policies = middle + spread * random.standard_normal((population, size))
        total, laps = returns_of(env, policies)
        best = policies[np.argsort(total)[-max(2, population // 5) :]]
        middle = best.mean(axis=0)
        # The added spread keeps the search from converging too early. It decreases with each
        # generation.
        spread = best.std(axis=0) + 0.2 * 0.8**generation
        yield total, laps, middle


def draw(file, curve, population):
    """Writes the learning curve as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    generations = range(1, len(curve) + 1)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    totals = [total for total, _ in curve]
    left.fill_between(
        generations,
        [min(t) for t in totals],
        [max(t) for t in totals],
        alpha=0.2,
        label="worst to best",
    )
    left.plot(generations, [np.mean(t) for t in totals], marker="o", label="mean")
    left.set(
        title="Return of an episode",
        xlabel="generation",
        ylabel="metres (+10 lap, −5 crash)",
    )
    left.legend(loc="center right")
    right.bar(generations, [100 * laps / population for _, laps in curve], color="tab:green")
    right.set(title="Whole laps", xlabel="generation", ylabel="% of the generation", ylim=(0, 100))
    figure.savefig(file, dpi=110)


def save(file, policy):
    """Writes a policy as JSON, so that a program without NumPy can drive it."""
    weights = policy.reshape(2, -1).tolist()
    Path(file).write_text(json.dumps({"weights": weights, "scale": SCALE.tolist()}))


def judge(file, world):
    """Has the simulator judge a policy: the program `drive_policy.py` in an evaluation."""
    from chicane.program import find

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(file, Path(folder) / "policy.json")
        shutil.copy(Path(__file__).with_name("drive_policy.py"), folder)
        command = "python3 drive_policy.py policy.json"
        words = [find(), "evaluate", "--world", world, "--command", command]
        print(f"judging: {shlex.join(words)}", flush=True)
        # These exit statuses mean that the policy was judged. 0: the run has a record. 1: there is
        # no record, or the program failed. 2: the time limit ended the run.
        if subprocess.run(words, cwd=folder, check=False).returncode > 2:
            raise SystemExit("the policy was not judged: see the message above")


def main():
    parser = argparse.ArgumentParser(description="Trains a policy to drive a lap.")
    parser.add_argument("--world", default="oval")
    parser.add_argument("--generations", type=int, default=12, choices=range(1, 1001), metavar="N")
    parser.add_argument("--population", type=int, default=30)
    parser.add_argument("--cars", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", default="policy.json", help="file of the learned policy")
    parser.add_argument("--picture", help="file of the learning curve")
    parser.add_argument("--no-judge", action="store_true", help="end after the training")
    arguments = parser.parse_args()
    if arguments.picture and importlib.util.find_spec("matplotlib") is None:
        parser.error("--picture needs matplotlib: install it with pip install matplotlib")
    env = VectorCarEnv(arguments.cars, world=arguments.world, observation="state", time_limit_s=30)
    curve = []
    try:
        learned = learn(env, arguments.generations, arguments.population, arguments.seed)
        for total, laps, middle in learned:
            policy = middle
            curve.append((total, laps))
            print(
                f"generation {len(curve):2}: mean {np.mean(total):6.2f}, best {max(total):6.2f}, "
                f"{laps} of {len(total)} laps",
                flush=True,
            )
    finally:
        env.close()
    save(arguments.policy, policy)
    print(f"the policy is in {arguments.policy}", flush=True)
    if arguments.picture:
        draw(arguments.picture, curve, arguments.population)
    if not arguments.no_judge:
        judge(arguments.policy, arguments.world)


if __name__ == "__main__":
    main()
