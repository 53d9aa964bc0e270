"""One request: its arguments, its words on the wire, and how its answer is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote, urlencode

from chicane._http import Reply

R = TypeVar("R")
T = TypeVar("T")


def read_json(reply: Reply) -> Any:
    """The answer of most requests."""
    return json.loads(reply.body)


def read_bytes(reply: Reply) -> bytes:
    """The answer of those that bring a file."""
    return reply.body


@dataclass(frozen=True)
class Call(Generic[R]):
    """The arguments of one request, and how its answer is read."""

    path: dict[str, str] = field(default_factory=dict)
    """For the braces in the path."""
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    accept: str = "application/json"
    read: Callable[[Reply], Any] = read_json
    longer: float = 0.0
    """Seconds that this one may take beyond the client's timeout."""


def given(**fields: Any) -> dict[str, Any]:
    """The fields that are not None: the others are left to whoever answers."""
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True)
class Request(Generic[R]):
    """A request that is ready to be sent."""

    method: str
    target: str
    body: bytes | None
    call: Call[R]

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.method} {self.target.partition('?')[0]}"


def text(value: Any) -> str:
    """A value of a query string."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def request(method: str, path: str, call: Call[R]) -> Request[R]:
    """Puts a call into the words of HTTP."""
    if call.path:
        path = path.format(**{name: quote(value, safe="") for name, value in call.path.items()})
    if call.query:
        path += "?" + urlencode({name: text(value) for name, value in call.query.items()})
    body = None
    if method == "POST":
        body = json.dumps(call.body or {}, allow_nan=False).encode()
    return Request(method, path, body, call)


class Feed(Protocol[T]):
    """Makes things out of the bytes of a stream."""

    last_id: str | None
    """Where to go on after an interruption."""

    def feed(self, piece: bytes) -> list[T]:
        """What is complete with this piece."""


Sleep = float
Procedure = Generator["Request[Any] | Sleep", Any, R]
"""Several requests in a row: yields a request and is given its answer; yields seconds and waits."""
