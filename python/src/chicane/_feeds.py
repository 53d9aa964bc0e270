"""Parsers of streams: server-sent events, and MJPEG."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from chicane.errors import ProtocolError

T = TypeVar("T")

MAX_EVENT = 32 << 20
"""Largest event, incomplete line of an event, or incomplete picture, in bytes."""


@dataclass(frozen=True)
class Event:
    """An event of a stream."""

    name: str
    """Type of the event. `Sim.events` has `state`, `run` and `evaluation`."""
    data: Any
    """Content of the event: the parsed JSON."""
    id: str | None = None
    """Id of this event, or of the last event before it that had an id. None if no event had one."""


class Events(Generic[T]):
    """Parser of server-sent events. `read` converts each event to the item that `feed` returns."""

    def __init__(self, read: Callable[[Event], T]) -> None:
        self.last_id: str | None = None
        self._read = read
        self._rest = b""
        self._name = ""
        self._data: list[str] = []
        self._size = 0
        """Length of the lines of `_data`."""

    def feed(self, piece: bytes) -> list[T]:
        """Takes the next bytes and returns the events that they complete."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > MAX_EVENT:
            raise ProtocolError(f"a line of the event stream is longer than {MAX_EVENT} bytes")
        out = []
        for raw in lines:
            line = raw.removesuffix(b"\r").decode("utf-8", "replace")
            if line:
                self._take(line)
                continue
            if self._data:
                data = json.loads("\n".join(self._data))
                out.append(self._read(Event(self._name or "message", data, self.last_id)))
            self._name, self._data, self._size = "", [], 0
        return out

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            # An empty line needs memory too.
            self._size += len(value) + 1
            if self._size > MAX_EVENT:
                raise ProtocolError(f"an event of the stream is longer than {MAX_EVENT} bytes")
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id":
            self.last_id = value


class Pictures:
    """Parser of MJPEG: a multipart response with one JPEG file in each part."""

    def __init__(self, content_type: str) -> None:
        self.last_id: str | None = None
        _, _, boundary = content_type.partition("boundary=")
        if not boundary:
            raise ProtocolError(f"expected an MJPEG stream, got the content type {content_type!r}")
        self._boundary = b"--" + boundary.strip('"; ').encode("latin-1")
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """Takes the next bytes and returns the pictures that they complete."""
        self._rest += piece
        if len(self._rest) > MAX_EVENT:
            raise ProtocolError(f"a picture of the stream is larger than {MAX_EVENT} bytes")
        out = []
        while (picture := self._next()) is not None:
            out.append(picture)
        return out

    def _next(self) -> bytes | None:
        start = self._rest.find(self._boundary)
        head_end = self._rest.find(b"\r\n\r\n", start) if start >= 0 else -1
        if head_end < 0:
            return None
        length = -1
        for line in self._rest[start:head_end].split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
        begin = head_end + 4
        end = begin + length
        if length < 0:
            end = self._rest.find(b"\r\n" + self._boundary, begin)
        if end < 0 or len(self._rest) < end:
            return None
        picture, self._rest = self._rest[begin:end], self._rest[end:]
        return picture


def events(_headers: dict[str, str]) -> Events[Event]:
    """A parser that returns whole events."""
    return Events(lambda event: event)


def data(_headers: dict[str, str]) -> Events[Any]:
    """A parser that returns only the data of events, for streams with one type of event."""
    return Events(lambda event: event.data)


def pictures(headers: dict[str, str]) -> Pictures:
    """A parser that returns each picture as the bytes of a JPEG file."""
    return Pictures(headers.get("content-type", ""))
