"""Exceptions of this package: one class for each kind of failure."""

from __future__ import annotations

import json
from typing import Any


class ChicaneError(Exception):
    """Base class of the exceptions that this package defines."""


class ConnectError(ChicaneError, ConnectionError):
    """The client could not connect to the server, or lost the connection."""


class Timeout(ChicaneError, TimeoutError):
    """The server did not answer within the timeout, or a world was not ready within a timeout."""


class ProtocolError(ChicaneError):
    """The server's response is malformed: perhaps the server is neither a simulator nor a robot."""


class ProgramError(ChicaneError):
    """The simulator's program was not found, did not start, or could not do its work."""


class ApiError(ChicaneError):
    """The server answered a request with an error.

    `status` is the HTTP status, `text` the server's message, `request` the method and path. `code`
    is the kind of error, such as `not_movable` (`chicane.wire.sim.ErrorCode`), or None if the
    server sent none. A text may change in a later version; a code does not.
    """

    def __init__(self, status: int, text: str, request: str, code: str | None = None) -> None:
        super().__init__(f"{request}: {status} {self._explained(text)}")
        self.status = status
        self.text = text
        self.request = request
        self.code = code

    def _explained(self, text: str) -> str:
        """The server's message, as the message of the exception contains it."""
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.text, self.request, self.code)


class BadRequest(ApiError):
    """400: a value is missing, has the wrong type or is out of range, or a handed-in program is not
    accepted.
    """


class Unauthorized(ApiError):
    """401: the server needs a token. Pass `token=` or set `CHICANE_TOKEN`."""


class Forbidden(ApiError):
    """403: the object or world may not be changed, the role of the token does not permit the
    request, or the server does not accept the headers of the request, such as its `Host`.
    """


class JudgedRun(Forbidden):
    """403, code `judged_run`: a judged program may not send this request. Nothing was changed.

    The program may drive the robot, read its sensors and stop the evaluation. The evaluation's
    `allow` lists what else it may use, by default `state` and `step`. The refused request is
    counted in the record.
    """

    def _explained(self, text: str) -> str:
        return f"{text} (judged_run): the evaluation's config does not allow this request"


class NotFound(ApiError):
    """404: the name is unknown, no world is loaded, or there is nothing of the requested kind.

    For example, the world has no route, or the simulator has no leaderboard.
    """


class Conflict(ApiError):
    """409: the request does not fit the current state. For example, the light is still yellow."""


class RevisionConflict(Conflict):
    """409, code `revision_conflict`: somebody else has changed the project.

    `revision` and `document` are the current ones. Apply the change to this document, and save it
    with this revision.
    """

    revision: int
    document: dict[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"revision": self.revision, "document": self.document}
        return (*super().__reduce__(), state)


class TooLarge(ApiError):
    """413: the request is larger than the server accepts."""


class TooManyAttempts(ApiError):
    """429: too many requests with a wrong token came from this address. Retry after a second.

    Also raised if the student or the address has handed in too many programs (code
    `too_many_submissions`).
    """


class Unprocessable(ApiError):
    """422: a value or a sound file is invalid for the robot, the world cannot be loaded, or a
    document or file of the world builder is not valid.
    """


class ServerError(ApiError):
    """5xx: the server failed. The request itself is not at fault."""


class Unavailable(ServerError):
    """503: the server is busy or stopping, or the requested function is not available."""


class NotReady(Unavailable):
    """503: the sensor has no reading yet. Retry the request."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: Unprocessable,
    429: TooManyAttempts,
    503: Unavailable,
}
_BY_CODE: dict[str, type[ApiError]] = {"judged_run": JudgedRun}


def refusal(status: int, body: bytes, request: str) -> ApiError:
    """The exception for a response that reports an error."""
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        return kind(
            status, body[:200].decode("utf-8", "replace").strip() or "no reason given", request
        )
    if parsed.get("status") == "waiting":
        kind = NotReady
    text = parsed.get("error", parsed.get("detail"))
    code = parsed.get("code")
    code = code if isinstance(code, str) else None
    kind = _BY_CODE.get(code or "", kind)
    revision, document = parsed.get("revision"), parsed.get("document")
    if code == "revision_conflict" and isinstance(revision, int) and isinstance(document, dict):
        conflict = RevisionConflict(status, str(text), request, code)
        conflict.revision, conflict.document = revision, document
        return conflict
    return kind(status, text if isinstance(text, str) else json.dumps(parsed), request, code)
