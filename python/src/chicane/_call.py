"""One request: its arguments, its HTTP form, and the parser of its response."""

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
    """Parses a response as JSON."""
    return json.loads(reply.body)


def read_bytes(reply: Reply) -> bytes:
    """Returns the body of a response unchanged, for requests that download a file."""
    return reply.body


@dataclass(frozen=True)
class Call(Generic[R]):
    """The arguments of one request, and the parser of its response."""

    path: dict[str, str] = field(default_factory=dict)
    """Values for the placeholders of the URL path, such as `{name}`."""
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    data: bytes | None = None
    """A body that is not JSON."""
    kind: str = "application/json"
    """Content type of the body."""
    accept: str = "application/json"
    read: Callable[[Reply], Any] = read_json
    longer: float = 0.0
    """Seconds that are added to the client's timeout for this request."""


def given(**fields: Any) -> dict[str, Any]:
    """Returns the fields that are not None. The server uses its defaults for all other fields."""
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
        """Method and path without the query, for messages."""
        return f"{self.method} {self.target.partition('?')[0]}"


def text(value: Any) -> str:
    """Formats a value for a query string."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def request(method: str, path: str, call: Call[R]) -> Request[R]:
    """Builds the HTTP request of a call."""
    if call.path:
        path = path.format(**{name: quote(value, safe="") for name, value in call.path.items()})
    if call.query:
        path += "?" + urlencode({name: text(value) for name, value in call.query.items()})
    body = None
    if call.data is not None:
        body = call.data
    elif method in ("POST", "PUT"):
        body = json.dumps(call.body or {}, allow_nan=False).encode()
    return Request(method, path, body, call)


class Feed(Protocol[T]):
    """A parser that turns the bytes of a stream into items."""

    last_id: str | None
    """Id of the last event, or None. A client that reconnects sends this id, to continue there."""

    def feed(self, piece: bytes) -> list[T]:
        """Takes the next bytes and returns the items that they complete."""


Sleep = float
Procedure = Generator["Request[Any] | Sleep", Any, R]
"""Several requests in a row, as a generator that the client runs.

The generator yields either a request or a number of seconds to sleep. After a request it receives
the result of that request.
"""
