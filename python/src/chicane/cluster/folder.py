"""The results folder of `chicane grade`, as its plan describes it.

`plan.json` names the units and the files that they need, relative to the folder. A finished unit
is a folder of `cache`, named after the hash of the unit.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chicane.cluster.connect import ClusterError

FORMAT = 1
"""The version of plans and results that this module reads."""
RESULT = "result.json"
RUN = "run.chicane"


@dataclass(frozen=True)
class Unit:
    """One run of a plan."""

    id: str
    """Student, world and seed."""
    hash: str
    """Hash of everything that the result depends on."""
    program: str
    """Folder of the student's program, relative to the plan."""
    world: str
    """Folder of the world, relative to the plan."""


class ResultsFolder:
    """A folder in which `chicane grade` has stored its plan."""

    def __init__(self, path: Path) -> None:
        """Reads the plan. Raises `ClusterError` if the folder has no readable plan."""
        self.path = path
        try:
            self.plan: dict[str, Any] = json.loads((path / "plan.json").read_bytes())
        except (OSError, ValueError) as error:
            raise ClusterError(f"{path} has no readable plan.json: {error}") from error
        found = self.plan.get("format")
        if found != FORMAT:
            raise ClusterError(
                f"{path / 'plan.json'} has the format {found}, and this version reads {FORMAT}: "
                "install the version of chicane that wrote it"
            )

    def units(self) -> list[Unit]:
        """All units of the plan."""
        programs = {student["key"]: student["program"] for student in self.plan["students"]}
        worlds = {world["name"]: world["folder"] for world in self.plan["worlds"]}
        return [
            Unit(
                id=unit["id"],
                hash=unit["hash"],
                program=programs[unit["student"]]["folder"],
                world=worlds[unit["world"]],
            )
            for unit in self.plan["units"]
        ]

    def is_done(self, unit: Unit) -> bool:
        """Whether the unit has a result that is complete."""
        return is_result(self.path / "cache" / unit.hash, unit.hash)

    def store(self, unit: Unit, files: Mapping[str, bytes]) -> None:
        """Stores the result of a unit. The folder of the result appears complete or not at all."""
        cache = self.path / "cache"
        cache.mkdir(exist_ok=True)
        beside = cache / f"{unit.hash}.{os.getpid()}.part"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        for name, content in files.items():
            with (beside / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        target = cache / unit.hash
        # If the folder exists, its result is incomplete or damaged, because units with a complete
        # result are not run again. The folder is therefore replaced.
        shutil.rmtree(target, ignore_errors=True)
        beside.rename(target)


def is_result(folder: Path, unit_hash: str) -> bool:
    """Whether a folder has the complete result of a unit."""
    try:
        result = json.loads((folder / RESULT).read_bytes())
        run = result["run"]
        has_run = run is None or (folder / RUN).stat().st_size == run["bytes"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(result.get("format") == FORMAT and result.get("hash") == unit_hash and has_run)


def pack(folder: Path) -> bytes:
    """The files of a folder in one archive. Equal files give equal bytes."""
    out = io.BytesIO()

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(fileobj=out, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.add(path, str(path.relative_to(folder)), recursive=False, filter=plain)
    return out.getvalue()


def unpack(packed: bytes, folder: Path) -> None:
    """Writes the files of an archive to a folder, unless the folder exists.

    The folder appears complete or not at all.
    """
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        # The filter `tar` refuses names that lead out of the folder. Old versions of Python have no
        # filters. The filter `data` would also change the targets of links, and with them the hash
        # of a program.
        if hasattr(tarfile, "tar_filter"):
            archive.extractall(beside, filter="tar")
        else:
            archive.extractall(beside)
    try:
        beside.rename(folder)
    except OSError:
        # The rename fails if another process of this machine has written the folder first. That
        # folder has the same content. If there is no folder, the error has another cause, and is
        # raised again.
        shutil.rmtree(beside, ignore_errors=True)
        if not folder.exists():
            raise
