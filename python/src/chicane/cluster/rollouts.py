"""Episodes of the Gymnasium environments on all nodes of a Ray cluster, for trainers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from chicane.cluster.connect import ClusterError, connect

Policy = Callable[[Any, Any], Any]
"""Maps parameters and an observation to an action."""
RESTARTS = 3
"""How often a worker, and an episode whose worker died, is started again at most."""


@dataclass(frozen=True)
class Episode:
    """One driven episode."""

    seed: int
    total: float
    """Sum of the rewards."""
    steps: int
    terminated: bool
    """Whether the episode reached its end, such as a lap or a crash, and not a time limit."""
    info: dict[str, Any]
    """The info of the last step."""
    observations: list[Any] | None = None
    """All observations, if they were asked for: that of the reset, then one for each step."""
    actions: list[Any] | None = None
    """All actions, if they were asked for."""
    rewards: list[float] | None = None
    """All rewards, if they were asked for."""


class Fleet:
    """Environments on the nodes of a cluster. They stay open between calls of `rollouts`.

    >>> with Fleet("chicane/Lap-v0", observation="state") as fleet:
    ...     episodes = fleet.rollouts(policy, parameters, seeds=range(30))
    """

    def __init__(
        self,
        env: str = "chicane/Lap-v0",
        *,
        workers: int | None = None,
        address: str = "auto",
        **arguments: Any,
    ) -> None:
        """Starts the environments.

        `env`: id of the environment. `workers`: number of environments; default: number of
        processors of the cluster. `address`: the cluster. `arguments`: further arguments of the
        environment.

        Raises `ClusterError` if Ray or the cluster is missing, or an environment does not start.
        """
        self._ray = connect(address)
        if workers is None:
            workers = int(self._ray.cluster_resources().get("CPU", 1))
        if workers < 1:
            raise ValueError(f"workers must be 1 or more, not {workers}")
        options = {"num_cpus": 1, "max_restarts": RESTARTS, "max_task_retries": RESTARTS}
        worker = self._ray.remote(**options, scheduling_strategy="SPREAD")(_Worker)
        self._workers = [worker.remote(env, arguments) for _ in range(workers)]
        try:
            self._get([one.ready.remote() for one in self._workers])
        except BaseException:
            self.close()
            raise

    def rollouts(
        self,
        policy: Policy,
        parameters: Sequence[Any],
        *,
        seeds: Sequence[int],
        max_steps: int = 10_000,
        keep_steps: bool = False,
    ) -> list[Episode]:
        """Drives one episode with each of the parameters. Returns the episodes in the same order.

        `policy`: called with the parameters and an observation, returns an action. `seeds`: the
        seed of each episode; the same seed and parameters give the same episode on every node.
        `max_steps`: number of steps after which an episode ends at the latest. `keep_steps`:
        whether an episode has its observations, actions and rewards.

        Raises `ClusterError` if an episode fails on its node.
        """
        if len(seeds) != len(parameters):
            raise ValueError(f"seeds must have {len(parameters)} numbers, not {len(seeds)}")
        shared = self._ray.put(policy)
        waiting = deque(enumerate(zip(parameters, seeds, strict=True)))
        running: dict[Any, tuple[int, Any]] = {}
        episodes: list[Episode | None] = [None] * len(parameters)

        def start(worker: Any) -> None:
            if waiting:
                index, (one, seed) = waiting.popleft()
                task = worker.drive.remote(shared, one, int(seed), max_steps, keep_steps)
                running[task] = (index, worker)

        for worker in self._workers:
            start(worker)
        while running:
            (task,), _ = self._ray.wait(list(running), num_returns=1)
            index, worker = running.pop(task)
            episodes[index] = self._get(task)
            start(worker)
        return [episode for episode in episodes if episode is not None]

    def close(self) -> None:
        """Ends the environments."""
        for worker in self._workers:
            self._ray.kill(worker)
        self._workers = []

    def _get(self, tasks: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(tasks)
        except errors.RayTaskError as error:
            raise ClusterError(f"an episode failed: {error.cause}") from error
        except errors.RayError as error:
            reason = str(error).strip().splitlines()[0]
            raise ClusterError(f"an environment failed: {reason}") from error

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def rollouts(
    policy: Policy,
    parameters: Sequence[Any],
    *,
    env: str = "chicane/Lap-v0",
    seeds: Sequence[int],
    workers: int | None = None,
    address: str = "auto",
    max_steps: int = 10_000,
    keep_steps: bool = False,
    **arguments: Any,
) -> list[Episode]:
    """Drives one episode with each of the parameters on the nodes of a cluster.

    Starts the environments and ends them again. A trainer that drives many batches of episodes
    should use a `Fleet` instead. The arguments are those of `Fleet` and of its method `rollouts`.
    """
    with Fleet(env, workers=workers, address=address, **arguments) as fleet:
        return fleet.rollouts(
            policy, parameters, seeds=seeds, max_steps=max_steps, keep_steps=keep_steps
        )


class _Worker:
    """One environment on a node."""

    def __init__(self, env: str, arguments: dict[str, Any]) -> None:
        import gymnasium

        import chicane.gym  # noqa: F401  registers the environments

        self.env = gymnasium.make(env, **arguments)

    def ready(self) -> bool:
        return True

    def drive(
        self, policy: Policy, parameters: Any, seed: int, max_steps: int, keep_steps: bool
    ) -> Episode:
        seen, info = self.env.reset(seed=seed)
        observations, actions, rewards = [seen], [], []
        total, steps, terminated, truncated = 0.0, 0, False, False
        while not (terminated or truncated) and steps < max_steps:
            action = policy(parameters, seen)
            seen, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            steps += 1
            if keep_steps:
                observations.append(seen)
                actions.append(action)
                rewards.append(float(reward))
        kept = (observations, actions, rewards) if keep_steps else (None, None, None)
        return Episode(seed, total, steps, bool(terminated), info, *kept)
