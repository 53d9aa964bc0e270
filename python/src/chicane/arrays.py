"""Sensor readings as they come with a binary step: raw numbers, for NumPy or without it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, cast

from chicane._http import Reply
from chicane.wire.sim import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FORMATS = {"<f4": "f", "<f8": "d", "|u1": "B"}


@dataclass(frozen=True)
class Array:
    """One reading."""

    shape: tuple[int, ...]
    type: str
    """Of an element, as NumPy writes it."""
    time: float
    """Simulated seconds at which it was taken."""
    data: memoryview

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """For `numpy.asarray`. Without `copy` or another type it is read-only and costs nothing."""
        import numpy as np

        array = np.frombuffer(self.data, np.dtype(self.type)).reshape(self.shape)
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def tolist(self) -> list[Any]:
        """Nested lists, without NumPy."""
        return self.data.cast(cast(Any, _FORMATS[self.type]), list(self.shape)).tolist()


@dataclass(frozen=True)
class Observation:
    """What a step left behind: the state, what was touched on the way, and the readings by name."""

    state: State
    touched: list[str]
    arrays: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]


def read(reply: Reply) -> Observation:
    """A line of JSON, then the arrays back to back."""
    end = reply.body.index(b"\n")
    header = json.loads(reply.body[:end])
    raw = memoryview(reply.body)[end + 1 :]
    arrays = {}
    for info in header["observations"]:
        shape, offset = tuple(info["shape"]), info["offset"]
        size = prod(shape) * int(info["type"][-1])
        if offset + size > len(raw):
            raise ValueError(f"{info['name']} is cut short")
        arrays[info["name"]] = Array(shape, info["type"], info["time"], raw[offset : offset + size])
    return Observation(header["state"], header["touched"], arrays)
