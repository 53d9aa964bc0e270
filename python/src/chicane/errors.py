"""What can go wrong: one class for each kind of refusal, with the words of whoever refused."""

from __future__ import annotations

import json


class ChicaneError(Exception):
    """Everything that this package raises by itself."""


class ConnectError(ChicaneError, ConnectionError):
    """Nobody answers there, or the connection broke."""


class Timeout(ChicaneError, TimeoutError):
    """No answer within the time that was given."""


class ProtocolError(ChicaneError):
    """Whoever answered does not speak as a simulator or a robot does."""


class ProgramError(ChicaneError):
    """The simulator's program is not there, or did not start."""


class ApiError(ChicaneError):
    """A request was refused. `status` is the HTTP status, `text` what was said."""

    def __init__(self, status: int, text: str, request: str) -> None:
        super().__init__(f"{request}: {status} {text}")
        self.status = status
        self.text = text
        self.request = request

    def __reduce__(self) -> tuple[type[ApiError], tuple[int, str, str]]:
        return type(self), (self.status, self.text, self.request)


class BadRequest(ApiError):
    """400: a value is missing, of the wrong type or out of range."""


class Unauthorized(ApiError):
    """401: a token is needed: `token=`, or `CHICANE_TOKEN`."""


class Forbidden(ApiError):
    """403: not with this object, or not from there."""


class NotFound(ApiError):
    """404: there is nothing of that name, or no world."""


class Conflict(ApiError):
    """409: not in the current state, such as in a light's yellow phase."""


class TooLarge(ApiError):
    """413: larger than the simulator takes."""


class Unprocessable(ApiError):
    """422: understood, but it makes no sense: a bad value for the robot, a world that can't be
    loaded.
    """


class ServerError(ApiError):
    """5xx: not the fault of whoever asked."""


class Unavailable(ServerError):
    """503: not yet, or not here."""


class NotReady(Unavailable):
    """503 of a sensor that has no reading yet: ask again."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: Unprocessable,
    503: Unavailable,
}


def refusal(status: int, body: bytes, request: str) -> ApiError:
    """The error that an answer other than 200 is."""
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        return kind(
            status, body[:200].decode("utf-8", "replace").strip() or "no reason given", request
        )
    if said.get("status") == "waiting":
        kind = NotReady
    text = said.get("error", said.get("detail"))
    return kind(status, text if isinstance(text, str) else json.dumps(said), request)
