"""Chicane, a robot-car simulator: clients for the simulator and for the robot.

- `Sim` controls a simulator: time, world, objects, evaluations.
- `Robot` drives a car and reads its sensors. The car is simulated or physical.
- `Builder` makes worlds on a simulator: projects, their files, publishing.
- `AsyncSim`, `AsyncRobot` and `AsyncBuilder` are the same clients for asyncio.
- `Program` starts a simulator that ends together with the Python process.
- `load_run` reads a recorded run as NumPy arrays.
- `chicane.gym` has Gymnasium environments for training.

A failed request raises a subclass of `ChicaneError`. An invalid argument raises a `ValueError`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chicane._aclient import AsyncStream
    from chicane._client import Stream
    from chicane._feeds import Event
    from chicane.arrays import Array, Observation
    from chicane.builder import AsyncBuilder, Builder
    from chicane.errors import (
        ApiError,
        BadRequest,
        ChicaneError,
        Conflict,
        ConnectError,
        Forbidden,
        JudgedRun,
        NotFound,
        NotReady,
        ProgramError,
        ProtocolError,
        RevisionConflict,
        ServerError,
        Timeout,
        TooLarge,
        TooManyAttempts,
        Unauthorized,
        Unavailable,
        Unprocessable,
    )
    from chicane.program import Program
    from chicane.robot import AsyncRobot, Robot
    from chicane.runs import Run, RunTrack, load_run
    from chicane.sim import AsyncSim, Sim

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "Array",
    "AsyncBuilder",
    "AsyncRobot",
    "AsyncSim",
    "AsyncStream",
    "BadRequest",
    "Builder",
    "ChicaneError",
    "Conflict",
    "ConnectError",
    "Event",
    "Forbidden",
    "JudgedRun",
    "NotFound",
    "NotReady",
    "Observation",
    "Program",
    "ProgramError",
    "ProtocolError",
    "RevisionConflict",
    "Robot",
    "Run",
    "RunTrack",
    "ServerError",
    "Sim",
    "Stream",
    "Timeout",
    "TooLarge",
    "TooManyAttempts",
    "Unauthorized",
    "Unavailable",
    "Unprocessable",
    "load_run",
]

_HOMES = {
    "ApiError": "chicane.errors",
    "Array": "chicane.arrays",
    "AsyncBuilder": "chicane.builder",
    "AsyncRobot": "chicane.robot",
    "AsyncSim": "chicane.sim",
    "AsyncStream": "chicane._aclient",
    "BadRequest": "chicane.errors",
    "Builder": "chicane.builder",
    "ChicaneError": "chicane.errors",
    "Conflict": "chicane.errors",
    "ConnectError": "chicane.errors",
    "Event": "chicane._feeds",
    "Forbidden": "chicane.errors",
    "JudgedRun": "chicane.errors",
    "NotFound": "chicane.errors",
    "NotReady": "chicane.errors",
    "Observation": "chicane.arrays",
    "Program": "chicane.program",
    "ProgramError": "chicane.errors",
    "ProtocolError": "chicane.errors",
    "RevisionConflict": "chicane.errors",
    "Robot": "chicane.robot",
    "Run": "chicane.runs",
    "RunTrack": "chicane.runs",
    "ServerError": "chicane.errors",
    "Sim": "chicane.sim",
    "Stream": "chicane._client",
    "Timeout": "chicane.errors",
    "TooLarge": "chicane.errors",
    "TooManyAttempts": "chicane.errors",
    "Unauthorized": "chicane.errors",
    "Unavailable": "chicane.errors",
    "Unprocessable": "chicane.errors",
    "load_run": "chicane.runs",
}
"""The module of each name. A module is imported on first use of a name, because imports of modules
that a program does not need would double the time until the program runs."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
