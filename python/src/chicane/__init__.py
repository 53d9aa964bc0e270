"""Chicane, a robot-car simulator: clients for the simulator and for the robot in it.

`Sim` is the simulator, `Robot` the car, which may also be a physical one; `AsyncSim` and
`AsyncRobot` are the same for asyncio. `Program` starts a simulator of one's own. `chicane.gym` has
environments for training.
"""

from chicane._aclient import AsyncStream
from chicane._client import Stream
from chicane._feeds import Event
from chicane.arrays import Array, Observation
from chicane.errors import (
    ApiError,
    BadRequest,
    ChicaneError,
    Conflict,
    ConnectError,
    Forbidden,
    NotFound,
    NotReady,
    ProgramError,
    ProtocolError,
    ServerError,
    Timeout,
    TooLarge,
    Unauthorized,
    Unavailable,
    Unprocessable,
)
from chicane.program import Program
from chicane.robot import AsyncRobot, Robot
from chicane.sim import AsyncSim, Sim

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "Array",
    "AsyncRobot",
    "AsyncSim",
    "AsyncStream",
    "BadRequest",
    "ChicaneError",
    "Conflict",
    "ConnectError",
    "Event",
    "Forbidden",
    "NotFound",
    "NotReady",
    "Observation",
    "Program",
    "ProgramError",
    "ProtocolError",
    "Robot",
    "ServerError",
    "Sim",
    "Stream",
    "Timeout",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
    "Unprocessable",
]
