"""The work of a node: one unit of a plan, in a process of the simulator's program."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from chicane.cluster.connect import ClusterError
from chicane.cluster.folder import RESULT, RUN, Unit, is_result, unpack
from chicane.errors import ProgramError
from chicane.program import find

MAX_LINE = 300
"""Longest reason, in characters."""
UNUSED_S = 86_400.0
"""Seconds without use after which the files of a plan may be removed from a node."""
USAGE = 64
"""Exit status of a program that can't run the unit, such as one of another version."""


class UnitDied(Exception):
    """The process of a unit ended without a result. The unit is tried again."""


@dataclass(frozen=True)
class UnitFiles:
    """What a node needs for a unit. Each part is an archive of `folder.pack`."""

    base: bytes
    """The plan and the profile of the car."""
    program: bytes
    world: bytes


def run_unit(unit: Unit, files: UnitFiles, limit_s: float) -> dict[str, bytes]:
    """Evaluates a unit and returns the files of its result.

    Raises `UnitDied` if the process ends without a result, and `ClusterError` if this node can't
    run units at all.
    """
    try:
        program = find()
    except ProgramError as error:
        raise ClusterError(f"the node {platform.node()} can't run a unit: {error}") from error
    plan = _write(unit, files)
    with tempfile.TemporaryDirectory(dir=_scratch(), prefix="unit-") as folder:
        out = Path(folder) / "result"
        command = [program, "grade-unit", str(plan / "plan.json"), unit.hash, "-o", str(out)]
        command.append("--lifeline")
        status, said = _run(command, Path(folder) / "errors", limit_s)
        if is_result(out, unit.hash):
            names = (name for name in (RESULT, RUN) if (out / name).exists())
            return {name: (out / name).read_bytes() for name in names}
    if status == USAGE:
        raise ClusterError(f"the node {platform.node()} can't run a unit: {said}")
    raise UnitDied(said)


def _scratch() -> Path:
    """The folder for programs and worlds on this node, to which only this user has access."""
    folder = Path(tempfile.gettempdir()) / f"chicane-cluster-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise ClusterError(f"{folder} belongs to another user: remove it or set TMPDIR")
    return folder


def _write(unit: Unit, files: UnitFiles) -> Path:
    """Writes the files of a unit that are missing, and returns the folder of the plan."""
    key = hashlib.sha256(files.base).hexdigest()[:32]
    plan = _scratch() / key
    if not plan.exists():
        _remove_old_plans()
    unpack(files.base, plan)
    os.utime(plan)
    for folder, packed in ((unit.program, files.program), (unit.world, files.world)):
        unpack(packed, plan / folder)
    return plan


def _remove_old_plans() -> None:
    """Removes the files of plans that have not been used for a day."""
    now = time.time()
    for folder in _scratch().iterdir():
        try:
            if now - folder.stat().st_mtime > UNUSED_S:
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            # Another process of this node removed the folder after `iterdir` had listed it.
            continue


def _run(command: list[str], errors: Path, limit_s: float) -> tuple[int | None, str]:
    """Runs a process to its end. Returns its exit status and the last line of its errors.

    After `limit_s` the process is killed, and the exit status is None. The process ends when its
    standard input is closed, so it does not outlive the process that called this function.
    """
    with errors.open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log
        )
        try:
            process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None, f"it took longer than {limit_s:.0f} s"
        finally:
            process.kill()
            process.wait()
            if process.stdin:
                process.stdin.close()
    with errors.open("rb") as log:
        log.seek(max(0, errors.stat().st_size - 4096))
        lines = log.read().decode(errors="replace").strip().splitlines()
    last = lines[-1] if lines else f"the process ended with {process.returncode}"
    return process.returncode, last.removeprefix("chicane: ")[:MAX_LINE]
