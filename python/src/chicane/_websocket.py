"""The protocol of WebSockets (RFC 6455) without a connection: handshake, and frames."""

from __future__ import annotations

import base64
import hashlib
import os
import struct
from enum import IntEnum

from chicane._http import MAX_HEAD
from chicane.errors import ProtocolError, refusal

MAX_MESSAGE = 1 << 20
"""Largest message of a server, in bytes. The robot sends short texts only."""
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Opcode(IntEnum):
    """The kind of a frame."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class Handshake:
    """The request that opens a WebSocket, and the check of its response."""

    def __init__(self, target: str, fixed: bytes) -> None:
        """`target` is the path with its query. `fixed` are the headers of every request."""
        self.name = f"WS {target.partition('?')[0]}"
        self._key = base64.b64encode(os.urandom(16))
        self.request = (
            f"GET {target} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\n"
        ).encode("ascii")
        self.request += b"Sec-WebSocket-Key: " + self._key + b"\r\n" + fixed + b"\r\n"
        self._response = b""

    def feed(self, data: bytes) -> bytes | None:
        """Takes bytes of the response. Returns the bytes after it, or None if it is incomplete.

        An empty `data` means that the server closed the connection. Raises `ApiError` if the server
        refused the request, and `ProtocolError` for a response that is not a WebSocket's.
        """
        self._response += data
        head, found, rest = self._response.partition(b"\r\n\r\n")
        if not found:
            if not data or len(head) > MAX_HEAD:
                raise ProtocolError(f"{self.name}: the server did not answer with HTTP/1.x")
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        status = first.partition(" ")[2][:3]
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        if status == "101":
            accept = base64.b64encode(hashlib.sha1(self._key + _GUID).digest()).decode("ascii")
            if headers.get("sec-websocket-accept") != accept:
                raise ProtocolError(f"{self.name}: the server does not speak WebSocket")
            return rest
        if not status.isdigit():
            raise ProtocolError(f"{self.name}: the server did not answer with HTTP/1.x")
        length = headers.get("content-length", "0")
        missing = int(length) - len(rest) if length.isdigit() else 0
        if data and 0 < missing <= MAX_MESSAGE:
            return None
        raise refusal(int(status), rest, self.name)


def frame(opcode: Opcode, payload: bytes) -> bytes:
    """A whole message as one frame. A client masks each frame with random bytes."""
    size = len(payload)
    if size < 126:
        head = struct.pack(">BB", 0x80 | opcode, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack(">BBH", 0x80 | opcode, 0x80 | 126, size)
    else:
        head = struct.pack(">BBQ", 0x80 | opcode, 0x80 | 127, size)
    mask = os.urandom(4)
    whole = (mask * (size // 4 + 1))[:size]
    # All bytes are combined at once, as large integers, because a loop in Python would be slow.
    masked = int.from_bytes(payload, "little") ^ int.from_bytes(whole, "little")
    return head + mask + masked.to_bytes(size, "little")


class Frames:
    """Parses the frames of a server."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun: tuple[Opcode, bytes] | None = None

    def feed(self, data: bytes) -> list[tuple[Opcode, bytes]]:
        """Takes bytes and returns the messages that are complete. Raises `ProtocolError`."""
        self._rest += data
        messages = []
        while (parsed := self._next()) is not None:
            final, opcode, payload = parsed
            if opcode >= Opcode.CLOSE:
                messages.append((opcode, payload))
                continue
            kind, before = self._begun or (opcode, b"")
            payload = before + payload
            if len(payload) > MAX_MESSAGE:
                raise ProtocolError("the message of the WebSocket is too large")
            self._begun = None if final else (kind, payload)
            if final:
                messages.append((kind, payload))
        return messages

    def _next(self) -> tuple[bool, Opcode, bytes] | None:
        """The next frame, or None if it is incomplete."""
        rest = self._rest
        if len(rest) < 2:
            return None
        size, start = rest[1] & 0x7F, 2
        if rest[1] & 0x80 or rest[0] & 0x70:
            raise ProtocolError("the frame of the WebSocket is malformed")
        if size >= 126:
            start = 4 if size == 126 else 10
            if len(rest) < start:
                return None
            size = int.from_bytes(rest[2:start], "big")
        if size > MAX_MESSAGE:
            raise ProtocolError("the message of the WebSocket is too large")
        if len(rest) < start + size:
            return None
        try:
            opcode = Opcode(rest[0] & 0x0F)
        except ValueError:
            raise ProtocolError("the frame of the WebSocket is malformed") from None
        self._rest = rest[start + size :]
        return bool(rest[0] & 0x80), opcode, rest[start : start + size]


def close_reason(payload: bytes) -> str:
    """The reason in the payload of a close frame."""
    return payload[2:].decode("utf-8", "replace") or "the server closed the connection"
