"""Compares Chicane with other simulators (`make bench`): writes a table, a picture and JSON.

`python -m compare --chicane <program> --programs <folder of the Rust benchmarks>
[--others <Python with the driving environments>] [--quick] [--only <contest>]… [--publish]
[--against <result.json>] [--join <contests.json>]…`. The program needs no Python package, because
it installs MuJoCo and PyBullet in `target/bench/venv`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from . import change, contests, files, joined, machine, own, publish, table, venv
from .contest import BenchError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "bench"
GYM = ROOT / "bench" / "gym"
_STARTED = time.monotonic()


def progress(text: str, passing: bool = False) -> None:
    """Prints progress to standard error.

    If `passing`, the next line overwrites this line on a terminal. Without a terminal, a passing
    line is not printed.
    """
    seconds = int(time.monotonic() - _STARTED)
    line = f"[{seconds // 60:2}:{seconds % 60:02}] {text}"
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="" if passing else "\n", file=sys.stderr, flush=True)
    elif not passing:
        print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Runs all contests and reports the result. Returns the exit status."""
    options = read_options()
    programs, chicane = Path(options.programs).resolve(), str(Path(options.chicane).resolve())
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT / "bench"), str(ROOT / "python" / "src")))
    python = venv.prepare(FOLDER / "venv", progress)
    scene = FOLDER / "scene"
    files.write(scene, ROOT / "vehicles" / "gen1.json")
    result = {
        "quick": options.quick,
        "machine": machine.describe(ROOT),
        "versions": venv.versions(),
    }
    only = set(options.only)
    sides = contests.contenders(python, str(programs / "contender"), scene, chicane)
    begin = contests.first_step_contenders(python, scene, chicane)
    result |= contests.run(sides, begin, options.quick, only, FOLDER / "pictures", progress)
    result["figures"], result["missing"] = ([], [])
    to_join = list(options.join)
    if options.others and (not only or "gym" in only):
        result["versions"] |= venv.versions(GYM / "requirements.txt")
        to_join.append(driving(options.others, chicane, options.quick))
    if options.others and (not only or "native" in only):
        to_join.append(batches(options.others, options.quick))
    for file in to_join:
        more = joined.read(file)
        result["versions"] |= more["versions"]
        result["contests"] += more["contests"]
        result["missing"] += more["missing"]
    broken = []
    if not only or "own" in only:
        result["figures"], broken = own.run(programs, chicane, FOLDER, options.quick, progress)
        result["missing"] += broken
    result["machine"]["load_end"] = round(os.getloadavg()[0], 2)
    report(result, options, python)
    # The exit status is 1 only if a benchmark of Chicane failed. If another simulator did not
    # start, the report says so, but the status stays 0.
    return 1 if broken else 0


def driving(python: str, chicane: str, quick: bool) -> Path:
    """Runs the contests of driving environments and returns the path of the result file."""
    file = FOLDER / "gym.json"
    progress("driving environments, through Gymnasium")
    file.unlink(missing_ok=True)
    words = [str(GYM), *(("1", "1") if quick else ("3", "3")), str(file)]
    env = {**os.environ, "CHICANE": chicane}
    with (FOLDER / "gym.log").open("w") as log:
        done = subprocess.run(
            [python, "-m", "compare.driving", *words], stdout=log, stderr=log, env=env, check=False
        )
    if done.returncode != 0:
        raise BenchError("the driving environments failed: see target/bench/gym.log")
    return file


def batches(python: str, quick: bool) -> Path:
    """Runs the contests of the native environments and returns the path of the result file."""
    file = FOLDER / "native.json"
    progress("native environments, in batches")
    file.unlink(missing_ok=True)
    words = [*(("0.5", "1") if quick else ("2", "3")), str(file)]
    with (FOLDER / "native.log").open("w") as log:
        done = subprocess.run(
            [python, "-m", "compare.batches", *words], stdout=log, stderr=log, check=False
        )
    if done.returncode != 0:
        raise BenchError("the native environments failed: see target/bench/native.log")
    return file


def read_options() -> argparse.Namespace:
    """Parses the command line."""
    names = [*(c.key for c in contests.contests()), "start", "gym", "native", "own"]
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0])
    parser.add_argument("--chicane", required=True, help="path of the program chicane")
    parser.add_argument("--programs", required=True, help="folder of the Rust benchmarks")
    parser.add_argument(
        "--others", help="Python with the packages of bench/gym, to compare them too"
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer and shorter rounds, only to check that it works"
    )
    parser.add_argument(
        "--only", action="append", default=[], choices=names, help="run only this contest"
    )
    parser.add_argument(
        "--publish", action="store_true", help="write docs/BENCHMARKS.md and its picture"
    )
    parser.add_argument(
        "--against", type=Path, help="compare with this result instead of the last one"
    )
    parser.add_argument(
        "--join", type=Path, action="append", default=[], help="add the contests of this file"
    )
    options = parser.parse_args()
    if options.publish and (options.only or options.quick):
        parser.error("--publish needs a complete run: leave out --only and --quick")
    if options.against and not options.against.is_file():
        parser.error(f"--against: there is no file {str(options.against)!r}")
    return options


def report(result: dict, options: argparse.Namespace, python: str) -> None:
    """Prints and stores the result of a run, and prints the changes since another run."""
    print(f"\n{table.text(result)}\n")
    last = FOLDER / "last.json"
    against = options.against or (last if last.is_file() else None)
    if against:
        old = json.loads(against.read_text())
        changes = change.lines(old, result)
        was = old["machine"]
        print(f"Changes since the run of {was['date']}, commit {was['commit']}:")
        print("\n".join(f"  {line}" for line in changes or ["none beyond the noise"]))
    stamp = result["machine"]["date"][:19].replace(":", "")
    kept = FOLDER / f"{stamp}{'-quick' if result['quick'] else ''}.json"
    kept.write_text(json.dumps(result, indent=1))
    picture = kept.with_suffix(".png")
    subprocess.run([python, "-m", "compare.plot", str(kept), str(picture)], check=True)
    if not options.only:
        shutil.copyfile(kept, last)
    print(f"\n{kept.relative_to(ROOT)} and {picture.relative_to(ROOT)}")
    if options.publish:
        publish.write(ROOT / "docs" / "BENCHMARKS.md", result)
        shutil.copyfile(picture, ROOT / "docs" / "benchmarks.png")
        print("wrote docs/BENCHMARKS.md and docs/benchmarks.png")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"bench: {error}")
    except KeyboardInterrupt:
        sys.exit("bench: interrupted")
