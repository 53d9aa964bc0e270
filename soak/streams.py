"""Streams as viewers read them: server-sent events, pictures one after the other, WebSockets.
Standard library only.
"""

import base64
import contextlib
import http.client
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any


class Broken(Exception):
    """A stream that is not what it should be."""


def connect(
    address: tuple[str, int],
    path: str,
    headers: dict[str, str] | None = None,
    patience: float = 20.0,
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """Opens a stream by GET."""
    connection = http.client.HTTPConnection(*address, timeout=patience)
    connection.request("GET", path, headers=headers or {})
    response = connection.getresponse()
    return connection, response


def cut(connection: http.client.HTTPConnection | socket.socket) -> None:
    """Hangs up at once, also while another thread reads."""
    sock = connection.sock if isinstance(connection, http.client.HTTPConnection) else connection
    with contextlib.suppress(OSError, AttributeError):
        sock.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        connection.close()


def events(response: http.client.HTTPResponse) -> Iterator[tuple[int | None, str, Any]]:
    """id, name and data of server-sent events; a heartbeat has the name `` (nothing)."""
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
                    raise Broken("an event of two data lines")
                try:
                    data = json.loads(value)
                except ValueError as error:
                    raise Broken(f"data that is no JSON: {value[:80]!r}") from error
            else:
                raise Broken(f"a line that is none of id, event, data: {text[:80]!r}")


def pictures(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The parts of a multipart stream."""
    kind = response.headers.get("Content-Type", "")
    if not kind.startswith("multipart/x-mixed-replace"):
        raise Broken(f"pictures of type {kind!r}")
    while True:
        length = None
        line = response.readline()
        while line in (b"\r\n", b"\n"):
            line = response.readline()
        if not line:
            return
        if not line.startswith(b"--"):
            raise Broken(f"no boundary between pictures: {line[:40]!r}")
        while (line := response.readline()) not in (b"\r\n", b"\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if length is None:
            raise Broken("a picture without its length")
        picture = response.read(length)
        if len(picture) < length:
            return
        yield picture


def is_jpeg(picture: bytes) -> bool:
    return picture.startswith(b"\xff\xd8") and picture.endswith(b"\xff\xd9")


class WebSocket:
    """A client's end of a WebSocket."""

    def __init__(self, address: tuple[str, int], path: str, patience: float = 10.0) -> None:
        self.sock = socket.create_connection(address, timeout=patience)
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
            raise Broken(f"no WebSocket: {status[:60]!r}")

    def send(self, payload: bytes, opcode: int = 1, mask: bool = True) -> None:
        """Sends a frame. One without a mask is against the protocol."""
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
        """The next frame: opcode and payload; nothing at the end."""
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
        """Reads to the end; the code of the close frame, if one came."""
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
