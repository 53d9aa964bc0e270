"""What streams are made of: server-sent events, and pictures one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from chicane.errors import ProtocolError

T = TypeVar("T")

MAX_EVENT = 32 << 20
"""Bytes that may wait for the end of an event or of a picture."""


@dataclass(frozen=True)
class Event:
    """An event of the simulator: `name` is state, run or evaluation, `data` its content."""

    name: str
    data: Any
    id: str | None = None


class Events(Generic[T]):
    """Server-sent events."""

    def __init__(self, read: Callable[[Event], T]) -> None:
        self.last_id: str | None = None
        self._read = read
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[T]:
        """The events that are complete with this piece."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > MAX_EVENT:
            raise ProtocolError("a line of the event stream does not end")
        out = []
        for raw in lines:
            line = raw.removesuffix(b"\r").decode("utf-8", "replace")
            if line:
                self._take(line)
                continue
            if self._data:
                data = json.loads("\n".join(self._data))
                out.append(self._read(Event(self._name or "message", data, self.last_id)))
            self._name, self._data = "", []
        return out

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id":
            self.last_id = value


class Pictures:
    """Pictures one after the other (MJPEG): each a part with headers of its own."""

    def __init__(self, content_type: str) -> None:
        self.last_id: str | None = None
        _, _, boundary = content_type.partition("boundary=")
        if not boundary:
            raise ProtocolError(f"{content_type!r} is no stream of pictures")
        self._boundary = b"--" + boundary.strip('"; ').encode("latin-1")
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """The pictures that are complete with this piece."""
        self._rest += piece
        if len(self._rest) > MAX_EVENT:
            raise ProtocolError("a picture of the stream does not end")
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
    """Events as they are."""
    return Events(lambda event: event)


def data(_headers: dict[str, str]) -> Events[Any]:
    """Events of one kind: their data alone."""
    return Events(lambda event: event.data)


def pictures(headers: dict[str, str]) -> Pictures:
    """Pictures as bytes of JPEG files."""
    return Pictures(headers.get("content-type", ""))
