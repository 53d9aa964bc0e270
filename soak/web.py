"""An HTTP client that records every request and its answer in the history."""

import contextlib
import hashlib
import http.client
import json
import socket
import time
from typing import Any

from . import contract, projection
from .history import History

#: Timeout of a request in seconds. Every answer of the simulator except a print is faster.
ANSWER_TIMEOUT_S = 60.0


class Client:
    """Sends requests one after the other over a persistent connection."""

    def __init__(self, who: str, address: tuple[str, int], history: History) -> None:
        self.who, self._address, self._history = who, address, history
        self._connection: http.client.HTTPConnection | None = None

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        allow: list[int] | None = None,
        timeout: float = ANSWER_TIMEOUT_S,
        note: dict[str, Any] | None = None,
    ) -> tuple[int | None, Any]:
        """Sends a request and returns status and answer. The status is None if no answer arrives.

        A body of type `bytes` is sent unchanged, any other body as JSON. `allow` is the list of
        allowed statuses, if it differs from the table of operations.
        """
        status, answer, _ = self._call(method, path, body, allow, timeout, note)
        return status, answer

    def fetch(
        self, path: str, *, allow: list[int] | None = None, timeout: float = ANSWER_TIMEOUT_S
    ) -> tuple[int | None, bytes]:
        """Sends a GET request and returns status and bytes of the answer.

        The history line of the request has the hash of the bytes.
        """
        status, _, raw = self._call("GET", path, None, allow, timeout, None, hashed=True)
        return status, raw

    def _call(
        self,
        method: str,
        path: str,
        body: Any,
        allow: list[int] | None,
        timeout: float,
        note: dict[str, Any] | None,
        hashed: bool = False,
    ) -> tuple[int | None, Any, bytes]:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        t0 = self._history.now()
        status, kind, raw, fail = None, "", b"", None
        try:
            status, kind, raw, headers = self._exchange(method, path, data, timeout)
        except TimeoutError:
            fail = f"no answer within {timeout:g} s"
        except (OSError, http.client.HTTPException) as error:
            fail = f"{type(error).__name__}: {error}"
        t1 = self._history.now()
        if fail:
            self.close()
        answer, wrong = self._read(method, path, status, kind, raw)
        if status == 405 and "Allow" not in headers:
            wrong = "a 405 without the header Allow"
        shown = body if not isinstance(body, bytes) else body[:80].decode(errors="replace")
        self._history.add(
            "call",
            who=self.who,
            t0=t0,
            t1=t1,
            method=method,
            path=path,
            body=_short(projection.body(path, shown)),
            status=status,
            answer=projection.answer(path.split("?")[0], answer) if wrong is None else answer,
            **({"allow": allow} if allow is not None else {}),
            **({"wrong": wrong} if wrong else {}),
            **({"fail": fail} if fail else {}),
            **({"sha256": hashlib.sha256(raw).hexdigest()} if hashed else {}),
            **(note or {}),
        )
        return status, answer, raw

    def leave(self, method: str, path: str, body: Any, after: float) -> None:
        """Sends a request and disconnects after `after` seconds without reading the answer."""
        data = json.dumps(body).encode() if body is not None else None
        t0 = self._history.now()
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection(*self._address, timeout=5)
            connection.request(method, path, data, {"Content-Type": "application/json"})
            time.sleep(after)
            connection.close()
        self._history.add(
            "left",
            who=self.who,
            t0=t0,
            t1=self._history.now(),
            method=method,
            path=path,
            body=_short(projection.body(path, body)),
        )

    def _exchange(self, method: str, path: str, data: bytes | None, timeout: float):
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self._address)
        connection = self._connection
        connection.timeout = timeout
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        headers = {"Content-Type": "application/json"} if data is not None else {}
        # If a body is too large, the server answers before it has read the whole body.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, data, headers)
            if connection.sock is not None:
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        response = connection.getresponse()
        raw = response.read()
        return response.status, response.headers.get("Content-Type", ""), raw, response.headers

    def _read(self, method: str, path: str, status: int | None, kind: str, raw: bytes):
        if status is None:
            return None, None
        of = contract.operation(method, path)
        answer: Any = {"type": kind, "bytes": len(raw)}
        if kind.startswith("application/json"):
            try:
                answer = json.loads(raw)
            except ValueError:
                return answer, f"the answer is not JSON: {raw[:80]!r}"
        return answer, contract.wrong_answer(of, status, kind, answer)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _short(body: Any) -> Any:
    if isinstance(body, dict):
        return {
            k: v[:60] + "…" if isinstance(v, str) and len(v) > 400 else v for k, v in body.items()
        }
    return body
