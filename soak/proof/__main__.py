"""`python3 -m soak.proof`: shows that runs of all kinds verify, and that falsified ones do not.

The exit status is 0 if every proof succeeds.
"""

import argparse
import pathlib
import shutil
import sys

from .kills import SCRIPT, kill_at_random_moments
from .program import ProofError, chicane
from .runs import Series, export, falsify


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m soak.proof", description=__doc__)
    parser.add_argument("program", help="path of the program chicane")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("target/proof"))
    parser.add_argument("--runs", type=int, default=10, help="number of runs of each kind")
    parser.add_argument("--false", type=int, default=200, help="number of falsified files")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument(
        "--other", action="append", default=[], help="another build that makes runs"
    )
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    shutil.rmtree(options.out, ignore_errors=True)
    out = options.out.resolve()
    out.mkdir(parents=True)
    try:
        for number, other in enumerate([options.program, *options.other]):
            made_by = str(pathlib.Path(other).resolve())
            prove_runs(program, made_by, out / f"build{number}", options.runs, options.false)
        world = Series(program, out / "kills").project("killed", SCRIPT)
        print(f"kill -9 at {options.kills} random moments", flush=True)
        for line in kill_at_random_moments(program, out / "kills", world, options.kills):
            print(f"  {line}")
    except ProofError as error:
        print(f"proof failed: {error}", file=sys.stderr)
        return 1
    print("all proofs succeeded")
    return 0


def prove_runs(program: str, made_by: str, folder: pathlib.Path, runs: int, false: int) -> None:
    """Makes runs with the build `made_by`, and verifies them with `program`: as they are, and after
    the data folder was copied. `program` must verify none of the falsified copies of these runs."""
    series = Series(made_by, folder)
    for kind, run in series.kinds().items():
        for number in range(runs):
            run(number)
        print(f"{runs} runs of kind: {kind}", flush=True)
    files = export(program, series.data, folder / "runs")
    if len(files) != runs * len(series.kinds()):
        raise ProofError(f"there are {len(files)} records of {runs * len(series.kinds())} runs")
    verify(program, folder / "runs", len(files))
    shutil.copytree(series.data, folder / "copied")
    copies = export(program, folder / "copied", folder / "copied-runs")
    verify(program, folder / "copied-runs", len(copies))
    falsify(files, folder / "false", false)
    done = chicane(program, "verify", str(folder / "false"))
    accepted = [line for line in done.stdout.splitlines() if line.startswith("verified")]
    if accepted or done.returncode != 1:
        raise ProofError(f"falsified files were verified: {accepted[:3]}")
    print(f"{false} of {false} falsified files were found", flush=True)


def verify(program: str, folder: pathlib.Path, count: int) -> None:
    """Verifies the runs of a folder. Raises `ProofError` unless all `count` runs are verified."""
    done = chicane(program, "verify", str(folder))
    verified = sum(line.startswith("verified") for line in done.stdout.splitlines())
    if done.returncode != 0 or verified != count:
        raise ProofError(f"{verified} of {count} runs verified: {done.stdout[-2000:]}{done.stderr}")
    print(f"{verified} of {count} runs verified", flush=True)


if __name__ == "__main__":
    sys.exit(main())
