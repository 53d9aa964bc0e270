"""Measures how the speed of grading grows with the number of workers of a Ray cluster.

usage: CHICANE=<program> workers.py [--students 12] [--seeds 4] [--workers 1 2 4]

Every student hands in the same program, a lap of about 40 simulated seconds. Ray counts one
processor of this machine for each worker. If there are more workers than processors, the result
shows what it costs to share processors. The last lines compare with `--jobs` on the same machine,
without Ray.
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

from nodes import ENVIRONMENT, PROGRAM, ROOT, Nodes


def make_class(folder: Path, students: int) -> None:
    """Writes submissions that differ in a comment, because equal programs would share a unit."""
    source = (ROOT / "examples/lap_by_route.py").read_text()
    for number in range(students):
        submission = folder / f"student-{number:03}"
        submission.mkdir(parents=True)
        (submission / "main.py").write_text(f"{source}\n# student {number}\n")


def grade(submissions: Path, seeds: int, results: Path, *more: str) -> float:
    """Grades the class, and returns the seconds that this took."""
    command = [PROGRAM, "grade", submissions, "--world", "technical", "--seeds", f"1-{seeds}"]
    begun = time.monotonic()
    subprocess.run(
        [*command, "-o", results, *more],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | ENVIRONMENT,
    )
    return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    arguments = parser.parse_args()
    units = arguments.students * arguments.seeds

    def say(name: str, seconds: float) -> None:
        print(
            f"{name:<12} {units} runs in {seconds:5.1f} s, {units * 60 / seconds:5.1f} a minute",
            flush=True,
        )

    with tempfile.TemporaryDirectory(prefix="chicane-workers-") as scratch:
        folder = Path(scratch)
        make_class(folder / "submissions", arguments.students)
        for workers in arguments.workers:
            # The head is a node with a processor too.
            nodes = Nodes(workers - 1, ENVIRONMENT)
            try:
                seconds = grade(
                    folder / "submissions",
                    arguments.seeds,
                    folder / f"ray-{workers}",
                    "--ray",
                    nodes.address,
                )
            finally:
                nodes.close()
            say(f"Ray, {workers}", seconds)
        for jobs in (1, 2):
            seconds = grade(
                folder / "submissions",
                arguments.seeds,
                folder / f"local-{jobs}",
                "--jobs",
                str(jobs),
            )
            say(f"--jobs {jobs}", seconds)


if __name__ == "__main__":
    main()
