"""Recorded runs: the file `run.chicane` as NumPy arrays.

The file has the commands of a run, not its poses. Therefore `load_run` lets the simulator's program
simulate the run again. This takes about a hundredth of the duration of the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chicane.errors import ProgramError
from chicane.program import find

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FILE = b"CHICANE RUN 1\n"
_TRACKS = b"CHTRACK1"
_SUM = 32
"""Size of the checksum at the end of a run file, bytes."""
_MAX_FILE = 1 << 30
_MAX_CONTENT = 2 << 30
_TYPES = {"f32": "<f4", "f64": "<f8", "u32": "<u4"}
TIMEOUT_S = 600.0
"""Seconds that the simulation of a run may take."""


@dataclass(frozen=True)
class RunTrack:
    """The poses of an object that moved. The rows have different distances in time.

    There is no row while the object stands still. Between two rows, the pose can be interpolated.
    """

    time: NDArray[Any]
    """Simulated seconds since the start of the run."""
    position: NDArray[Any]
    """x, y and z in metres, one row per time."""
    orientation: NDArray[Any]
    """Quaternion x, y, z, w, one row per time."""


@dataclass(frozen=True)
class Run:
    """A recorded run. All arrays except those of `objects` have the same rows.

    There is one row for each 20 ms of simulated time, and one for the end of the run.
    """

    record: dict[str, Any]
    """The record: outcome, record, student, world and all other keys of `Sim.record`."""
    events: list[dict[str, Any]]
    """The events of the run in order: phases, log lines, records, output of the program."""
    columns: dict[str, NDArray[Any]]
    """All columns by name, such as `columns["command_speed"]`."""
    objects: dict[str, RunTrack]
    """The objects that moved, by name."""
    header: dict[str, Any]
    """The JSON header of the tracks: lights, contacts, jumps, brightness, overlays."""

    @property
    def time(self) -> NDArray[Any]:
        """Simulated seconds since the start of the run."""
        return self.columns["time"]

    @property
    def position(self) -> NDArray[Any]:
        """x, y and z of the car in metres, one row per time."""
        return _rows(self.columns, ("x", "y", "z"))

    @property
    def orientation(self) -> NDArray[Any]:
        """The car's orientation as a quaternion x, y, z, w, one row per time."""
        return _rows(self.columns, ("qx", "qy", "qz", "qw"))

    @property
    def yaw(self) -> NDArray[Any]:
        """The car's heading in radians, from -π to π."""
        import numpy as np

        x, y, z, w = self.orientation.astype(float).T
        yaw: NDArray[Any] = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        return yaw

    @property
    def speed(self) -> NDArray[Any]:
        """Forward speed in m/s."""
        return self.columns["speed"]

    @property
    def steering(self) -> NDArray[Any]:
        """Steering angle in radians, positive to the left."""
        return self.columns["steering"]


def load_run(file: str | os.PathLike[str], *, program: str | None = None) -> Run:
    """Reads a run file and simulates its run.

    `file`: a file of `chicane evaluate --save`, `chicane records export --run` or the viewer.
    `program`: path of the simulator's program; default: the result of `chicane.program.find`.

    Raises `ValueError` if the file is not a run file or is damaged, and `ProgramError` if the
    program is not found or can't simulate the run.
    """
    path = Path(file)
    record = _record(path)
    command = [program or find(), "replay", str(path), "--tracks", "-"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramError(f"{path} can't be simulated: {error}") from error
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise ProgramError(f"{path} can't be simulated: {why or done.returncode}")
    header, columns, objects = _tracks(done.stdout)
    events = record.pop("events", [])
    return Run(record, events, columns, objects, header)


def _record(path: Path) -> dict[str, Any]:
    """The record in a run file."""
    with path.open("rb") as opened:
        content = opened.read(_MAX_FILE + 1)
    if len(content) > _MAX_FILE or not content.startswith(_FILE) or len(content) < _SUM:
        raise ValueError(f"{path} is not a run file")
    body, checksum = content[:-_SUM], content[-_SUM:]
    if hashlib.sha256(body).digest() != checksum:
        raise ValueError(f"{path} is damaged or was changed: its checksum is wrong")
    inflated = zlib.decompressobj(-zlib.MAX_WBITS).decompress(body[len(_FILE) :], _MAX_CONTENT)
    at = 0
    while at < len(inflated):
        (length,) = struct.unpack_from("<I", inflated, at)
        name = inflated[at + 4 : at + 4 + length]
        at += 4 + length
        (length,) = struct.unpack_from("<Q", inflated, at)
        at += 8
        if name == b"record.json":
            record: dict[str, Any] = json.loads(inflated[at : at + length])
            return record
        at += length
    raise ValueError(f"{path} has no record")


def _tracks(
    content: bytes,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]], dict[str, RunTrack]]:
    if not content.startswith(_TRACKS):
        raise ProgramError("the simulator's program is too old: it gives no tracks of a run")
    (length,) = struct.unpack_from("<I", content, len(_TRACKS))
    start = len(_TRACKS) + 4
    header: dict[str, Any] = json.loads(content[start : start + length])
    data = memoryview(content)[start + length :]
    objects = {}
    for track in header["objects"]:
        columns = _columns(track["columns"], data)
        position = _rows(columns, ("x", "y", "z"))
        objects[track["name"]] = RunTrack(
            columns["time"], position, _rows(columns, ("qx", "qy", "qz", "qw"))
        )
    return header, _columns(header["columns"], data), objects


def _columns(described: list[dict[str, Any]], data: memoryview) -> dict[str, NDArray[Any]]:
    import numpy as np

    return {
        column["name"]: np.frombuffer(
            data, _TYPES[column["type"]], count=column["count"], offset=column["offset"]
        )
        for column in described
    }


def _rows(columns: dict[str, NDArray[Any]], names: tuple[str, ...]) -> NDArray[Any]:
    import numpy as np

    return np.stack([columns[name] for name in names], axis=1)
