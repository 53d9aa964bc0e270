"""Reads the tracks of a recorded run, as `docs/runs.md` describes them."""

import itertools
import json
import struct
from typing import Any

MAGIC = b"CHTRACK1"
_SIZES = {"f64": 8, "f32": 4, "u32": 4, "u16": 2, "u8": 1}


class TracksError(Exception):
    """The bytes are not tracks."""


def read(content: bytes) -> dict[str, Any]:
    """The header of tracks. Raises `TracksError` if header, columns or times are wrong."""
    if content[:8] != MAGIC or len(content) < 12:
        raise TracksError(f"the tracks begin with {content[:8]!r}")
    (length,) = struct.unpack_from("<I", content, 8)
    try:
        header = json.loads(content[12 : 12 + length])
    except ValueError as error:
        raise TracksError(f"the header is not JSON: {error}") from error
    base = 12 + length
    columns = {column["name"]: column for column in header["columns"]}
    for name, column in columns.items():
        size = _SIZES.get(column["type"])
        if size is None:
            raise TracksError(f"the column {name} has the type {column['type']}")
        if base + column["offset"] + size * column["count"] > len(content):
            raise TracksError(f"the column {name} ends after the file")
    time = columns.get("time")
    if time is None or time["type"] != "f64" or time["count"] != header["samples"]:
        raise TracksError(f"the column of times is {time}")
    times = struct.unpack_from(f"<{time['count']}d", content, base + time["offset"])
    if any(later <= earlier for earlier, later in itertools.pairwise(times)):
        raise TracksError("the times do not increase")
    if times and not 0 <= times[0] <= times[-1] <= header["duration"] + 0.021:
        raise TracksError(f"the times reach from {times[0]} to {times[-1]}")
    return header
