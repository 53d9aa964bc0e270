"""HTTP/1.1 without a socket: what to send, and what to read next.

Reading is written once, as generators that say what they want and are given it. A blocking client
and an asynchronous one carry that out, each in its way. It is our own and not `http.client` because
of what that costs: 190 µs of processor time for a small request, against 50 µs.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from chicane.errors import ProtocolError

MAX_HEAD = 64 * 1024
"""Bytes of a status line with its headers."""
MAX_BODY = 1 << 30
"""Bytes of an answer; a print of a large floor is the largest that there is."""


class Want(Enum):
    """What the reader of a connection needs next."""

    HEAD = b"\r\n\r\n"
    """Everything up to and with an empty line."""
    LINE = b"\r\n"
    """Everything up to and with the end of the line."""
    EXACTLY = b""
    """So many bytes."""
    SOME = b" "
    """At least one byte and at most so many; none only at the end."""


Wish = tuple[Want, int]
Reading = Generator[Wish, bytes, "Reply"]


class Head(NamedTuple):
    """Status and headers, whose names are in lower case."""

    status: int
    headers: dict[str, str]

    def keeps_open(self) -> bool:
        """Whether another request may follow on the same connection."""
        return "close" not in self.headers.get("connection", "").lower()


class Reply(NamedTuple):
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes
    reusable: bool
    """Whether another request may follow on the same connection."""


class Address(NamedTuple):
    """Where a simulator or a robot is."""

    host: str
    port: int
    tls: bool
    prefix: str
    """Comes before every path."""
    token: str | None
    """Of an address as the simulator prints it."""

    @property
    def url(self) -> str:
        """As one writes it."""
        return f"http{'s' if self.tls else ''}://{self.netloc}{self.prefix}"

    @property
    def netloc(self) -> str:
        """Host and port, as the header `Host` has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == (443 if self.tls else 80)
        return host if usual else f"{host}:{self.port}"

    @staticmethod
    def parse(url: str) -> Address:
        """Reads `http://host:port`, `host:port`, or what the simulator prints when it is ready."""
        parts = urlsplit(url if "//" in url else f"http://{url}")
        try:
            port = parts.port
        except ValueError:
            port = 0
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise ValueError(f"{url!r} is no address: it should look like http://127.0.0.1:8000")
        tls = parts.scheme == "https"
        prefix = parts.path.rstrip("/").removesuffix("/sim")
        token = parse_qs(parts.query).get("token", [None])[0]
        return Address(parts.hostname, port or (443 if tls else 80), tls, prefix, token)


def head_of(method: str, target: str, fixed: bytes, accept: str, length: int | None) -> bytes:
    """The head of a request. `fixed` are the headers that all requests of a client have."""
    lines = f"{method} {target} HTTP/1.1\r\nAccept: {accept}\r\n".encode("ascii")
    if length is not None:
        lines += b"Content-Type: application/json\r\nContent-Length: %d\r\n" % length
    return lines + fixed + b"\r\n"


def read_head() -> Generator[Wish, bytes, Head]:
    """Reads status and headers; interim answers are passed over."""
    while True:
        raw = yield (Want.HEAD, MAX_HEAD)
        first, *lines = raw[:-4].decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise ProtocolError(f"this is no answer of HTTP: {first[:80]!r}")
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
    """Reads a whole answer."""
    head = yield from read_head()
    if method == "HEAD":
        return Reply(*head, b"", head.keeps_open())
    return (yield from read_rest(head))


def read_rest(head: Head) -> Reading:
    """Reads what comes after the head of an answer."""
    length = head.headers.get("content-length")
    if head.status in (204, 304):
        return Reply(*head, b"", head.keeps_open())
    if length is not None and "transfer-encoding" not in head.headers:
        if not length.isdigit() or int(length) > MAX_BODY:
            raise ProtocolError(f"an answer of {length} bytes is not taken")
        body = (yield (Want.EXACTLY, int(length))) if length != "0" else b""
        return Reply(*head, body, head.keeps_open())
    pieces, size = [], 0
    next_piece = Pieces(head)
    piece = yield from next_piece()
    while piece:
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BODY:
            raise ProtocolError("an answer without end is not taken")
        piece = yield from next_piece()
    return Reply(*head, b"".join(pieces), head.keeps_open() and next_piece.framed)


class Pieces:
    """Reads an answer as it comes, a piece a call; an empty one is the end."""

    def __init__(self, head: Head) -> None:
        self.framed = "chunked" in head.headers.get("transfer-encoding", "").lower()
        self._left = 0
        self._ended = False

    def __call__(self) -> Generator[Wish, bytes, bytes]:
        if not self.framed:
            return (yield (Want.SOME, 65536))
        if self._ended:
            return b""
        if self._left == 0:
            line = yield (Want.LINE, 1024)
            try:
                self._left = int(line.split(b";")[0], 16)
            except ValueError:
                raise ProtocolError("a chunk of an answer has no length") from None
            if self._left == 0:
                self._ended = True
                while (yield (Want.LINE, MAX_HEAD)) != b"\r\n":
                    pass
                return b""
        piece = yield (Want.SOME, min(self._left, 65536))
        if not piece:
            raise EOFError
        self._left -= len(piece)
        if self._left == 0:
            yield (Want.EXACTLY, 2)
        return piece
