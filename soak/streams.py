"""Clients of server-sent events, MJPEG and WebSockets. They use only the standard library."""

import base64
import contextlib
import http.client
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any


class StreamError(Exception):
    """A stream violates its protocol."""


def connect(
    address: tuple[str, int],
    path: str,
    headers: dict[str, str] | None = None,
    timeout: float = 60.0,
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """Opens a stream with GET."""
    connection = http.client.HTTPConnection(*address, timeout=timeout)
    connection.request("GET", path, headers=headers or {})
    response = connection.getresponse()
    return connection, response


def cut(connection: http.client.HTTPConnection | socket.socket) -> None:
    """Closes a connection at once, even while another thread reads from it."""
    sock = connection.sock if isinstance(connection, http.client.HTTPConnection) else connection
    with contextlib.suppress(OSError, AttributeError):
        sock.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        connection.close()


def events(response: http.client.HTTPResponse) -> Iterator[tuple[int | None, str, Any]]:
    """Yields id, name and data of server-sent events. A heartbeat has an empty name."""
    number, name, data = None, "message", None
    while line := response.readline():
        text = line.decode().rstrip("\n").rstrip("\r")
        if not text:
            if data is not None:
                yield number, name, data
            number, name, data = None, "message", None
        elif text.startswith(":"):
            yield None, "", None
        else:
            key, _, value = text.partition(": ")
            if key == "id":
                number = int(value)
            elif key == "event":
                name = value
            elif key == "data":
                if data is not None:
                    raise StreamError("an event has two data lines")
                try:
                    data = json.loads(value)
                except ValueError as error:
                    raise StreamError(f"the data is not JSON: {value[:80]!r}") from error
            else:
                raise StreamError(f"a line is not one of id, event, data: {text[:80]!r}")


def pictures(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yields the parts of a multipart stream."""
    kind = response.headers.get("Content-Type", "")
    if not kind.startswith("multipart/x-mixed-replace"):
        raise StreamError(f"the MJPEG stream has the content type {kind!r}")
    while True:
        length = None
        line = response.readline()
        while line in (b"\r\n", b"\n"):
            line = response.readline()
        if not line:
            return
        if not line.startswith(b"--"):
            raise StreamError(f"no boundary between pictures: {line[:40]!r}")
        while (line := response.readline()) not in (b"\r\n", b"\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if length is None:
            raise StreamError("a picture has no Content-Length")
        picture = response.read(length)
        if len(picture) < length:
            return
        yield picture


def is_jpeg(picture: bytes) -> bool:
    return picture.startswith(b"\xff\xd8") and picture.endswith(b"\xff\xd9")


class WebSocket:
    """A WebSocket client."""

    def __init__(self, address: tuple[str, int], path: str, timeout: float = 60.0) -> None:
        self.sock = socket.create_connection(address, timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET {path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nConnection: Upgrade\r\n"
        head += (
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        )
        self.sock.sendall(head.encode())
        self._file = self.sock.makefile("rb")
        status = self._file.readline()
        while self._file.readline() not in (b"\r\n", b""):
            pass
        if b" 101 " not in status:
            raise StreamError(f"the WebSocket handshake failed: {status[:60]!r}")

    def send(self, payload: bytes, opcode: int = 1, mask: bool = True) -> None:
        """Sends a frame. `mask=False` violates the protocol."""
        bit = 0x80 if mask else 0
        if len(payload) < 126:
            head = struct.pack("!BB", 0x80 | opcode, bit | len(payload))
        elif len(payload) < 1 << 16:
            head = struct.pack("!BBH", 0x80 | opcode, bit | 126, len(payload))
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, bit | 127, len(payload))
        if mask:
            key = os.urandom(4)
            stretched = key * (len(payload) // 4 + 1)
            number = int.from_bytes(payload, "big") ^ int.from_bytes(
                stretched[: len(payload)], "big"
            )
            payload = key + number.to_bytes(len(payload), "big")
        self.sock.sendall(head + payload)

    def read(self) -> tuple[int, bytes] | None:
        """Returns opcode and payload of the next frame, or None at the end."""
        head = self._file.read(2)
        if len(head) < 2:
            return None
        length = head[1] & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._file.read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._file.read(8))
        return head[0] & 0x0F, self._file.read(length)

    def close_code(self) -> int | None:
        """Reads to the end and returns the code of the close frame, or None."""
        try:
            while frame := self.read():
                if frame[0] == 8:
                    return struct.unpack("!H", frame[1][:2])[0] if len(frame[1]) >= 2 else 1005
        except OSError:
            pass
        return None

    def close(self) -> None:
        cut(self.sock)
        with contextlib.suppress(OSError):
            self._file.close()
