"""HTTP/1.1 without sockets: building requests and parsing responses.

The parsers are generators. They yield a `ReadRequest` and receive the bytes. The blocking and the
asynchronous client both run the parsers, so the parsing code exists once. `http.client` is not used
because it takes 190 µs of processor time for a small request. This module takes 50 µs.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from chicane.errors import ProtocolError

MAX_HEAD = 64 * 1024
"""Largest status line with headers, in bytes."""
MAX_BODY = 1 << 30
"""Largest response body in bytes. A simulator's largest body is the print file of a large floor."""


class ReadMode(Enum):
    """How many bytes a parser needs next. For `HEAD` and `LINE` the value is the terminator."""

    HEAD = b"\r\n\r\n"
    """All bytes up to and including an empty line."""
    LINE = b"\r\n"
    """All bytes up to and including the end of the line."""
    EXACTLY = b""
    """Exactly the given number of bytes."""
    SOME = b" "
    """From one byte up to the given number. Zero bytes mean that the connection was closed."""


ReadRequest = tuple[ReadMode, int]
"""What to read, and the number of bytes: exact for `EXACTLY`, else the maximum."""
Reading = Generator[ReadRequest, bytes, "Reply"]


class Head(NamedTuple):
    """Status and headers of a response. Header names are in lower case."""

    status: int
    headers: dict[str, str]

    def keeps_open(self) -> bool:
        """Whether another request may follow on the same connection."""
        return "close" not in self.headers.get("connection", "").lower()


class Reply(NamedTuple):
    """A complete response."""

    status: int
    headers: dict[str, str]
    body: bytes
    reusable: bool
    """Whether another request may follow on the same connection."""


class Address(NamedTuple):
    """The address of a simulator or a robot."""

    host: str
    port: int
    tls: bool
    prefix: str
    """Path that is put before the path of every request."""
    token: str | None
    """The token in the address, or None. The address that a simulator prints may have a token."""

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http{'s' if self.tls else ''}://{self.netloc}{self.prefix}"

    @property
    def netloc(self) -> str:
        """Host and port for the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == (443 if self.tls else 80)
        return host if usual else f"{host}:{self.port}"

    @staticmethod
    def parse(url: str) -> Address:
        """Parses `http://host:port`, `host:port`, or the address that the simulator prints.

        Raises `ValueError` for anything else.
        """
        parts = urlsplit(url if "//" in url else f"http://{url}")
        try:
            port = parts.port
        except ValueError:
            port = 0
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise ValueError(f"{url!r} is not a valid address: write http://127.0.0.1:8000")
        tls = parts.scheme == "https"
        prefix = parts.path.rstrip("/").removesuffix("/sim")
        token = parse_qs(parts.query).get("token", [None])[0]
        return Address(parts.hostname, port or (443 if tls else 80), tls, prefix, token)


def head_of(
    method: str,
    target: str,
    fixed: bytes,
    accept: str,
    length: int | None,
    kind: str = "application/json",
) -> bytes:
    """The head of a request. `fixed` holds the headers that every request of a client has.

    `kind` is the content type of a body.
    """
    lines = f"{method} {target} HTTP/1.1\r\nAccept: {accept}\r\n".encode("ascii")
    if length is not None:
        lines += f"Content-Type: {kind}\r\nContent-Length: {length}\r\n".encode("ascii")
    return lines + fixed + b"\r\n"


def read_head() -> Generator[ReadRequest, bytes, Head]:
    """Reads status and headers. Skips interim responses (1xx)."""
    while True:
        raw = yield (ReadMode.HEAD, MAX_HEAD)
        first, *lines = raw[:-4].decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise ProtocolError(f"the server did not answer with HTTP/1.x: {first[:80]!r}")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        status = int(rest[:3])
        if version == "HTTP/1.0":
            headers.setdefault("connection", "close")
        if status >= 200:
            return Head(status, headers)


def read_reply(method: str) -> Reading:
    """Reads a complete response to a request with this method."""
    head = yield from read_head()
    if method == "HEAD":
        return Reply(*head, b"", head.keeps_open())
    return (yield from read_rest(head))


def read_rest(head: Head) -> Reading:
    """Reads the body that follows the head of a response."""
    length = head.headers.get("content-length")
    if head.status in (204, 304):
        return Reply(*head, b"", head.keeps_open())
    if length is not None and "transfer-encoding" not in head.headers:
        if not length.isdigit() or int(length) > MAX_BODY:
            raise ProtocolError(f"the response length {length!r} is invalid or above {MAX_BODY}")
        body = (yield (ReadMode.EXACTLY, int(length))) if length != "0" else b""
        return Reply(*head, body, head.keeps_open())
    pieces, size = [], 0
    next_piece = Pieces(head)
    piece = yield from next_piece()
    while piece:
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BODY:
            raise ProtocolError(f"the response is longer than {MAX_BODY} bytes")
        piece = yield from next_piece()
    return Reply(*head, b"".join(pieces), head.keeps_open() and next_piece.framed)


class Pieces:
    """Reads a body piece by piece, one piece per call. An empty piece means the end.

    `framed` says whether the body is chunked. The end of any other body is a closed connection.
    """

    def __init__(self, head: Head) -> None:
        self.framed = "chunked" in head.headers.get("transfer-encoding", "").lower()
        self._left = 0
        self._ended = False

    def __call__(self) -> Generator[ReadRequest, bytes, bytes]:
        if not self.framed:
            return (yield (ReadMode.SOME, 65536))
        if self._ended:
            return b""
        if self._left == 0:
            line = yield (ReadMode.LINE, 1024)
            try:
                self._left = int(line.split(b";")[0], 16)
            except ValueError:
                raise ProtocolError(f"invalid length of a chunk: {line[:80]!r}") from None
            if self._left == 0:
                self._ended = True
                while (yield (ReadMode.LINE, MAX_HEAD)) != b"\r\n":
                    pass
                return b""
        piece = yield (ReadMode.SOME, min(self._left, 65536))
        if not piece:
            raise EOFError
        self._left -= len(piece)
        if self._left == 0:
            yield (ReadMode.EXACTLY, 2)
        return piece
