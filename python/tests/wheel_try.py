"""Installs a wheel into fresh venvs of several Python versions, and compares what they simulate.

`make wheel-try` runs the program. For each version of CPython from 3.11 to 3.14 that is on the path
or in the folder of pyenv, it creates a venv, installs the wheel with Gymnasium and NumPy, and
drives eight cars. All versions have to give the same bytes. The program needs a connection to a
package index.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
LARGEST_BYTES = 25_000_000
STEPS = 300
# Runs in the venv. The actions are numbers that every version computes in the same way.
SCRIPT = """
import hashlib, json, platform, sys
import chicane.gym, gymnasium, numpy
envs = gymnasium.make_vec("chicane/Lap-v0", num_envs=8, observation=("state", "lidar", "camera"),
                          camera_size=(64, 48), backend="native")
seen, _ = envs.reset(seed=1)
digest, ended = hashlib.sha256(), 0
for step in range(int(sys.argv[1])):
    turns = [[0.25 + 0.125 * car, ((step * (car + 3)) % 9 - 4) / 32] for car in range(8)]
    seen, rewards, terminated, truncated, _ = envs.step(numpy.array(turns, numpy.float32))
    for array in (*seen.values(), rewards, terminated, truncated):
        digest.update(array.tobytes())
    ended += int((terminated | truncated).sum())
envs.close()
print(json.dumps({"python": platform.python_version(), "numpy": numpy.__version__,
                  "gymnasium": gymnasium.__version__, "file": chicane.gym.__file__,
                  "ended": ended, "digest": digest.hexdigest()}))
"""
KIND = (
    "import platform, sys, sysconfig; "
    "print(platform.python_implementation(), '%d.%d' % sys.version_info[:2], "
    "sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
)


def candidates(version: str) -> Iterator[str]:
    """Paths at which an interpreter of a version may be."""
    name = f"python{version}"
    for found in (shutil.which(name), shutil.which("python3")):
        if found:
            yield found
    if shutil.which("pyenv"):
        done = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False)
        folder = Path(done.stdout.strip() or "/nonexistent") / "versions"
        # The newest patch version comes first.
        for one in sorted(folder.glob(f"{version}.*"), key=_numbers, reverse=True):
            yield str(one / "bin" / name)


def _numbers(folder: Path) -> list[int]:
    return [int(part) if part.isdigit() else -1 for part in folder.name.split(".")]


def interpreter(version: str) -> str | None:
    """The first CPython of a version that starts. None if there is none.

    A build without the global lock is left out, because it has no stable ABI.
    """
    for path in candidates(version):
        try:
            done = subprocess.run([path, "-c", KIND], capture_output=True, text=True, timeout=60)
        except OSError:
            continue
        # A command of pyenv fails if its version is not selected in this folder.
        if done.returncode == 0 and done.stdout.split() == ["CPython", version, "0"]:
            return path
    return None


def simulate(python: str, steps: int, **run: Any) -> dict[str, Any]:
    """Drives eight cars with an interpreter. Returns its versions and the digest of all bytes."""
    command = [python, "-c", SCRIPT, str(steps)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=600, **run)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def install(python: str, wheel: Path, folder: Path) -> str:
    """Creates a venv with the wheel. Returns the path of its interpreter."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    inside = str(folder / "bin/python")
    pip = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"{wheel}[gym]"], check=True)
    return inside


def problems(wheel: Path, answers: list[dict[str, Any]]) -> list[str]:
    """The problems of a wheel and of the results of its installations."""
    found = []
    if wheel.stat().st_size >= LARGEST_BYTES:
        found.append(f"the wheel has {wheel.stat().st_size} bytes, not below {LARGEST_BYTES}")
    if not answers:
        found.append(f"no CPython {', '.join(VERSIONS)} was found: install one")
    if len({answer["digest"] for answer in answers}) > 1:
        found.append("the versions of Python gave different bytes")
    if any(answer["ended"] == 0 for answer in answers):
        found.append("no episode ended")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Tries a wheel with several Python versions.")
    parser.add_argument("folder", type=Path, help="folder with the wheel")
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    wheels = sorted(arguments.folder.resolve().glob("chicane-*linux*.whl"))
    if len(wheels) != 1:
        parser.error(f"{arguments.folder} must have one wheel with a program, not {len(wheels)}")
    answers = []
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        # In this environment, Python finds neither the checkout nor a simulator, except the one in
        # the wheel.
        environment = {"PATH": "/usr/bin:/bin", "HOME": name}
        for version in VERSIONS:
            python = interpreter(version)
            if python is None:
                print(f"CPython {version}: not found", flush=True)
                continue
            inside = install(python, wheels[0], home / version)
            answer = simulate(inside, arguments.steps, env=environment, cwd=home)
            if not answer["file"].startswith(name):
                raise RuntimeError(f"{answer['file']} is not the installed package")
            answers.append(answer)
            print(
                f"CPython {answer['python']}, NumPy {answer['numpy']}, "
                f"Gymnasium {answer['gymnasium']}: {arguments.steps} steps of 8 cars, "
                f"{answer['ended']} episodes ended, sha256 {answer['digest']}",
                flush=True,
            )
    size = wheels[0].stat().st_size
    print(f"{wheels[0].name}: {size / 1e6:.1f} MB", flush=True)
    found = problems(wheels[0], answers)
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
