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
