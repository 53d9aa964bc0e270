"""Trains a linear policy to drive a lap, by evolution strategies on a Ray cluster.

Each generation moves the policy in random directions, forwards and backwards. Every moved policy
drives one episode on some node. The sums of rewards of these episodes tell how far to move the
policy in each direction. The same seed gives the same learning curve with any number of nodes.

Needs the package with Ray: pip install 'chicane[ray]'. Start a cluster with: ray start --head
Usage: python3 examples/train_on_cluster.py --generations 15
"""

import argparse

import numpy as np
from chicane.cluster import Fleet

SCALE = np.array([1.5, 0.35, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])  # typical observed values
SPREAD = 0.4  # standard deviation of the moves of a policy
STEP = 0.35  # size of the step that the policy makes in one generation


def act(policy, seen):
    """Returns speed and steering: weighted sums of the observation, limited by tanh."""
    features = np.append(seen / SCALE, 1.0)
    speed, steering = np.tanh(policy.reshape(2, -1) @ features)
    return np.array([0.8 + 0.6 * speed, 0.349 * steering], np.float32)


def ranks(totals):
    """The ranks of the returns, spread from -0.5 to 0.5.

    With ranks instead of returns, a single very good episode does not outweigh all others.
    """
    order = np.empty(len(totals))
    order[np.argsort(totals)] = np.arange(len(totals))
    return order / (len(totals) - 1) - 0.5


def learn(fleet, generations, pairs, seed):
    """Yields the policy, the returns and the episodes of each generation."""
    random = np.random.default_rng(seed)
    policy = np.zeros(2 * (len(SCALE) + 1))
    for generation in range(generations):
        moves = random.standard_normal((pairs, len(policy)))
        moves = np.concatenate([moves, -moves])
        moved = list(policy + SPREAD * moves)
        # All episodes of a generation have the same seed, so that only the policies differ.
        episodes = fleet.rollouts(act, moved, seeds=[seed + generation] * len(moved))
        totals = np.array([episode.total for episode in episodes])
        policy = policy + STEP * (ranks(totals) @ moves) / len(moves) / SPREAD * 4
        yield policy, totals, episodes


def main():
    parser = argparse.ArgumentParser(description="Trains a policy to drive a lap on a cluster.")
    parser.add_argument("--address", default="auto", help="the Ray cluster")
    parser.add_argument("--world", default="oval")
    parser.add_argument("--generations", type=int, default=15)
    parser.add_argument("--pairs", type=int, default=16)
    parser.add_argument("--workers", type=int, help="default: the processors of the cluster")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="file for the policy, .npy")
    arguments = parser.parse_args()
    with Fleet(
        "chicane/Lap-v0",
        workers=arguments.workers,
        address=arguments.address,
        world=arguments.world,
        observation="state",
        time_limit_s=30,
    ) as fleet:
        curve = learn(fleet, arguments.generations, arguments.pairs, arguments.seed)
        for number, (policy, totals, episodes) in enumerate(curve, 1):
            laps = sum(episode.info.get("ended") == "lap" for episode in episodes)
            print(
                f"generation {number:2}: mean {totals.mean():6.2f}, best {totals.max():6.2f}, "
                f"{laps} of {len(totals)} laps",
                flush=True,
            )
            if arguments.save:
                np.save(arguments.save, policy)


if __name__ == "__main__":
    main()
