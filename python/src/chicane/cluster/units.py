"""Runs the units of a plan of `chicane grade` on the nodes of a Ray cluster.

Programs and worlds go into the object store once. A unit is one task. Ray starts a task again if
its node dies, or if its process ends without a result. Results are stored as soon as they arrive,
so an interrupted run continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from chicane.cluster.connect import ClusterError, connect
from chicane.cluster.folder import ResultsFolder, Unit, pack
from chicane.cluster.node import UnitDied, UnitFiles, run_unit

RETRIES = 3
"""How often a unit is started again at most."""
OVERHEAD = 256 << 20
"""Memory of the simulator and of the judge beside the student's program, bytes."""
WAITING = 2
"""Tasks that Ray has for each processor of the cluster: one that runs, and one that waits.

More waiting tasks would only fill the memory of the cluster.
"""


@dataclass(frozen=True)
class Progress:
    """What happened to a unit."""

    kind: Literal["done", "failed"]
    unit: str
    """Hash of the unit."""
    why: str = ""
    """Why the unit failed."""


def run_units(
    results: str | Path,
    *,
    address: str = "auto",
    limit_s: float = 3600.0,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Runs the units of a plan that have no result yet.

    `results`: the folder of `chicane grade`. `address`: the cluster. `limit_s`: longest real time
    of a unit. `on_progress` is called for each unit that ends.

    Raises `ClusterError` if Ray or the cluster is missing, or if a node can't run units.
    """
    folder = ResultsFolder(Path(results))
    waiting = [unit for unit in folder.units() if not folder.is_done(unit)]
    if not waiting:
        return
    ray = connect(address)
    tasks = _Tasks(ray, folder, limit_s)
    for unit, files in tasks.run(waiting):
        if isinstance(files, UnitDied):
            on_progress(Progress("failed", unit.hash, str(files)))
            continue
        folder.store(unit, files)
        on_progress(Progress("done", unit.hash))


class _Tasks:
    """The tasks of the units of one plan."""

    def __init__(self, ray: Any, folder: ResultsFolder, limit_s: float) -> None:
        self.ray = ray
        self.folder = folder
        self.limit_s = limit_s
        self.packed: dict[str, Any] = {}
        profile = folder.plan["profile"]["file"]
        self.base = ray.put(_pack_files(folder.path, ["plan.json", profile]))
        memory = int(folder.plan["conditions"]["box"]["memory"]) + OVERHEAD
        self.task = ray.remote(
            # A task occupies one processor until the end of its unit, and leaves the other
            # processors of its node to other units.
            num_cpus=1,
            memory=memory,
            max_retries=RETRIES,
            retry_exceptions=[UnitDied],
            scheduling_strategy="SPREAD",
        )(_task)

    def run(self, waiting: list[Unit]) -> Iterator[tuple[Unit, dict[str, bytes] | UnitDied]]:
        """Runs the units and yields their results in the order in which they end."""
        processors = int(self.ray.cluster_resources().get("CPU", 1))
        limit, started = max(2, WAITING * processors), iter(waiting)
        running: dict[Any, Unit] = {}
        try:
            while True:
                while len(running) < limit and (unit := next(started, None)):
                    running[self.start(unit)] = unit
                if not running:
                    return
                ready, _ = self.ray.wait(list(running), num_returns=1)
                for task in ready:
                    yield running.pop(task), self.result(task)
        finally:
            for task in running:
                self.ray.cancel(task, force=True)

    def start(self, unit: Unit) -> Any:
        parts = [self.stored(folder) for folder in (unit.program, unit.world)]
        return self.task.remote(unit, self.base, *parts, self.limit_s)

    def stored(self, folder: str) -> Any:
        """The files of a folder in the object store."""
        if folder not in self.packed:
            self.packed[folder] = self.ray.put(pack(self.folder.path / folder))
        return self.packed[folder]

    def result(self, task: Any) -> dict[str, bytes] | UnitDied:
        """The files of a result, or the reason why there is none."""
        errors = self.ray.exceptions
        try:
            files: dict[str, bytes] = self.ray.get(task)
        except errors.RayTaskError as error:
            if isinstance(error.cause, UnitDied):
                return error.cause
            if isinstance(error.cause, ClusterError):
                raise error.cause from None
            # An error of one unit must not stop the other units.
            return UnitDied(f"the node failed: {error.cause!r}")
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError) as error:
            return UnitDied(str(error).strip().splitlines()[0])
        except errors.RayError as error:
            raise ClusterError(f"the cluster failed: {str(error).splitlines()[0]}") from error
        return files


def _task(
    unit: Unit, base: bytes, program: bytes, world: bytes, limit_s: float
) -> dict[str, bytes]:
    return run_unit(unit, UnitFiles(base, program, world), limit_s)


def _pack_files(folder: Path, names: list[str]) -> bytes:
    """The named files of a folder in one archive."""
    import tempfile

    with tempfile.TemporaryDirectory() as beside:
        for name in names:
            copy = Path(beside) / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((folder / name).read_bytes())
        return pack(Path(beside))
