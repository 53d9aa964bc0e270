"""Sensor readings in the binary response of a step: raw numbers, usable with or without NumPy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, cast

from chicane._http import Reply

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chicane.wire.sim import State

_FORMATS = {"<f4": "f", "<f8": "d", "|u1": "B"}


@dataclass(frozen=True)
class Array:
    """One sensor reading. `numpy.asarray` converts it without a copy."""

    shape: tuple[int, ...]
    """Size of each dimension, as in NumPy."""
    type: str
    """Element type in NumPy's notation, such as `<f4`."""
    time: float
    """Time at which the sensor took the reading, in simulated seconds."""
    data: memoryview
    """The elements as bytes, row by row."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Converts the reading. `numpy.asarray` calls this method.

        Without a copy, and if the element type stays the same, the result is a read-only view of
        `data`.
        """
        import numpy as np

        array = np.frombuffer(self.data, np.dtype(self.type)).reshape(self.shape)
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def tolist(self) -> list[Any]:
        """Returns the elements as nested lists. Does not need NumPy."""
        return self.data.cast(cast(Any, _FORMATS[self.type]), list(self.shape)).tolist()


@dataclass(frozen=True)
class Observation:
    """The result of a step. `observation["lidar"]` is a sensor reading."""

    state: State
    """State of the world after the step."""
    touched: list[str]
    """Names of the objects that the car touched during the step."""
    arrays: dict[str, Array]
    """Readings by name of the sensor."""

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]


def read(reply: Reply) -> Observation:
    """Parses a binary response: a line of JSON, followed by the bytes of the arrays."""
    end = reply.body.index(b"\n")
    header = json.loads(reply.body[:end])
    raw = memoryview(reply.body)[end + 1 :]
    arrays = {}
    for info in header["observations"]:
        shape, offset = tuple(info["shape"]), info["offset"]
        size = prod(shape) * int(info["type"][-1])
        if offset + size > len(raw):
            raise ValueError(f"the array {info['name']!r} is truncated")
        arrays[info["name"]] = Array(shape, info["type"], info["time"], raw[offset : offset + size])
    return Observation(header["state"], header["touched"], arrays)
