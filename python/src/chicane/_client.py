"""The blocking client: it reuses connections, and its streams reconnect."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Generic, TypeVar

from chicane._call import Feed, Procedure, Request
from chicane._http import (
    Head,
    Pieces,
    ReadMode,
    ReadRequest,
    Reply,
    head_of,
    read_head,
    read_reply,
    read_rest,
)
from chicane._settings import MAX_IDLE, SKIP_STALE_CHECK_S, STREAM_TIMEOUT_S, Reconnect, Settings
from chicane.errors import (
    ChicaneError,
    ConnectError,
    ProtocolError,
    ServerError,
    Timeout,
    refusal,
)

R = TypeVar("R")
T = TypeVar("T")
Self = TypeVar("Self", bound="Client")


class Connection:
    """A socket with a buffer of bytes that were received but not yet read."""

    def __init__(self, settings: Settings, deadline: float) -> None:
        address = settings.address
        try:
            limit = max(0.001, deadline - time.monotonic())
            self._socket = socket.create_connection((address.host, address.port), limit)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.tls:
                import ssl  # Takes long to import, and most addresses do not need it.

                context = ssl.create_default_context()
                self._socket = context.wrap_socket(self._socket, server_hostname=address.host)
        except TimeoutError:
            raise Timeout(f"no connection to {address.url} within {settings.timeout:g} s") from None
        except OSError as error:
            raise ConnectError(
                f"cannot connect to {address.url}: {error.strerror or error}"
            ) from error
        self._rest = b""
        self.used = time.monotonic()
        self.fresh = True
        """Whether no response has been read from this connection yet."""
        self.received = False
        """Whether part of the current response has been received."""

    def is_stale(self) -> bool:
        """Whether the server has closed the connection.

        A connection that was used within the last second is not checked, because the check costs
        a system call.
        """
        if time.monotonic() - self.used < SKIP_STALE_CHECK_S:
            return False
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            return bool(poll.poll(0))
        return bool(select.select([self._socket], [], [], 0)[0])

    def send(self, data: bytes, deadline: float) -> None:
        """Sends all bytes. `deadline` is a time of `time.monotonic`."""
        self.received = False
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        self._socket.sendall(data)

    def read(self, reading: Generator[ReadRequest, bytes, T], deadline: float) -> T:
        """Runs the generator `reading`: passes the requested bytes, and returns its result."""
        try:
            wanted = next(reading)
            while True:
                wanted = reading.send(self._read_bytes(wanted, deadline))
        except StopIteration as done:
            result: T = done.value
        self.used = time.monotonic()
        return result

    def _read_bytes(self, wanted: ReadRequest, deadline: float) -> bytes:
        mode, size = wanted
        if mode is ReadMode.EXACTLY:
            while len(self._rest) < size:
                if size > len(self._rest) + 65536:
                    self._rest = self._receive_large(size, deadline)
                else:
                    self._rest += self._receive(deadline)
            out, self._rest = self._rest[:size], self._rest[size:]
            return out
        if mode is ReadMode.SOME:
            if not self._rest:
                try:
                    self._rest = self._receive(deadline)
                except EOFError:
                    return b""
            out, self._rest = self._rest[:size], self._rest[size:]
            return out
        while (end := self._rest.find(mode.value)) < 0:
            if len(self._rest) > size:
                raise ProtocolError(f"the response has more than {size} bytes of headers")
            self._rest += self._receive(deadline)
        end += len(mode.value)
        out, self._rest = self._rest[:end], self._rest[end:]
        return out

    def _receive(self, deadline: float) -> bytes:
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        data = self._socket.recv(65536)
        if not data:
            raise EOFError
        self.received = True
        return data

    def _receive_large(self, size: int, deadline: float) -> bytes:
        """Receives `size` bytes into one buffer. Repeated `+=` would copy the bytes many times."""
        buffer = bytearray(size)
        at = len(self._rest)
        buffer[:at] = self._rest
        with memoryview(buffer) as view:
            while at < size:
                self._socket.settimeout(max(0.001, deadline - time.monotonic()))
                count = self._socket.recv_into(view[at:])
                if count == 0:
                    raise EOFError
                at += count
        return bytes(buffer)

    def receive(self, deadline: float) -> bytes:
        """The next bytes of a connection without a pending response; empty at its end."""
        rest, self._rest = self._rest, b""
        if rest:
            return rest
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        return self._socket.recv(65536)

    def shutdown(self) -> None:
        """Ends the connection, so that a thread that waits for data from it stops waiting."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the socket. A second call has no effect."""
        self._socket.close()


class Client:
    """A client of one simulator or robot. It may be used by several threads."""

    def __init__(
        self, url: str | None = None, *, token: str | None = None, timeout: float = 30.0
    ) -> None:
        """Stores the settings. Does not connect yet.

        `url`: base URL of the simulator or robot, or the address that the simulator prints when it
        is ready. Default: the environment variable `CHICANE_URL`, else http://127.0.0.1:8000.

        `token`: the access token. Default: the token in `url`, else `CHICANE_TOKEN`.

        `timeout`: real seconds to wait for a response. A request that takes simulated time, such as
        a step or a held speed, gets additional time.

        Raises `ValueError` for a malformed `url`, `token` or `timeout`.
        """
        self._settings = Settings(url, token, timeout)
        self._idle: deque[Connection] = deque()

    @property
    def url(self) -> str:
        """The base URL of the simulator or robot."""
        return self._settings.address.url

    def run(self, request: Request[R]) -> R:
        """Sends a request and returns the parsed response.

        Raises `ApiError` for a status other than 200 and 201. If there is no valid response, raises
        `ConnectError`, `Timeout` or `ProtocolError`.
        """
        return self.receive(request, self.send(request))

    def send(self, request: Request[Any]) -> Connection:
        """Sends a request without waiting for the response. `receive` reads the response.

        A caller can thus send requests to several simulators before it waits for the responses.
        """
        data = whole_request(self._settings, request)
        deadline = time.monotonic() + self._settings.timeout
        while True:
            connection = self._connection(deadline)
            try:
                connection.send(data, deadline)
                return connection
            except OSError as error:
                connection.close()
                # An error on a reused connection means that the server closed the connection before
                # it had received the whole request. The server cannot have processed the request,
                # so a request with any method is retried.
                if connection.fresh or isinstance(error, TimeoutError):
                    raise self._lost(request, error) from error

    def receive(self, request: Request[R], connection: Connection) -> R:
        """Reads and parses the response to a request that `send` sent."""
        deadline = time.monotonic() + self._settings.timeout + request.call.longer
        try:
            reply = connection.read(read_reply(request.method), deadline)
        except (OSError, EOFError) as error:
            connection.close()
            timed_out = isinstance(error, TimeoutError)
            was_closed = not (connection.fresh or connection.received or timed_out)
            if was_closed and request.method == "GET":
                # The server has probably closed this connection and all other connections while
                # they were idle. But the server may also have processed the request, so only GET
                # is retried.
                self.close()
                return self.run(request)
            raise self._lost(request, error) from error
        except BaseException:
            connection.close()
            raise
        if reply.reusable and len(self._idle) < MAX_IDLE:
            connection.fresh = False
            self._idle.append(connection)
        else:
            connection.close()
        return answer(request, reply)

    def proceed(self, procedure: Procedure[R]) -> R:
        """Runs a procedure: sends its requests one after the other and returns its result."""
        try:
            step = next(procedure)
            while True:
                if isinstance(step, Request):
                    step = attempt(procedure, self.run, step)
                else:
                    time.sleep(step)
                    step = procedure.send(None)
        except StopIteration as done:
            result: R = done.value
            return result

    def follow(self, request: Request[Any], feed: Callable[[dict[str, str]], Feed[T]]) -> Stream[T]:
        """Returns an iterator over a response that does not end."""
        return Stream(self._settings, request, feed)

    def close(self) -> None:
        """Closes the idle connections. The client can still be used and connects again."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        # `_idle` is missing if `__init__` raised.
        if hasattr(self, "_idle"):
            self.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _connection(self, deadline: float) -> Connection:
        while True:
            try:
                kept = self._idle.pop()
            except IndexError:
                return Connection(self._settings, deadline)
            if not kept.is_stale():
                return kept
            kept.close()

    def _lost(self, request: Request[Any], error: Exception) -> ChicaneError:
        if isinstance(error, TimeoutError):
            limit = self._settings.timeout + request.call.longer
            return Timeout(f"{request.name}: no answer from {self.url} within {limit:g} s")
        return ConnectError(
            f"{request.name}: lost the connection to {self.url}: {error or 'closed'}"
        )


def attempt(
    procedure: Procedure[R], run: Callable[[Request[Any]], Any], request: Request[Any]
) -> Any:
    """Sends a request and passes its result, or its error, to the procedure.

    The procedure may catch the error. Returns the next step of the procedure.
    """
    try:
        result = run(request)
    except ChicaneError as error:
        return procedure.throw(error)
    return procedure.send(result)


def answer(request: Request[R], reply: Reply) -> R:
    """Parses a response; raises `ApiError` for a status other than 200 and 201."""
    if reply.status not in (200, 201):
        raise refusal(reply.status, reply.body, request.name)
    try:
        result: R = request.call.read(reply)
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(f"{request.name}: cannot parse the response: {error}") from error
    return result


class Stream(Generic[T]):
    """An iterator over the events or pictures of a stream.

    After a lost connection the stream reconnects and continues. It retries for `patience` seconds,
    then raises the last error. The first connection is not retried, and a refusal is raised
    immediately.
    Call `close` or use `with` to end the stream.
    """

    def __init__(
        self,
        settings: Settings,
        request: Request[Any],
        feed: Callable[[dict[str, str]], Feed[T]],
        patience: float = 60.0,
    ) -> None:
        self.patience = patience
        self._settings = settings
        self._request = request
        self._feed = feed
        self._pieces = self._read()

    def __iter__(self) -> Stream[T]:
        return self

    def __next__(self) -> T:
        return next(self._pieces)

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the stream and closes its connection."""
        self._pieces.close()

    def _read(self) -> Generator[T, None, None]:
        reconnect, last_id = Reconnect(self.patience), None
        first = True
        while True:
            connection = None
            try:
                connection, head = self._open(last_id)
                feed = self._feed(head.headers)
                feed.last_id = last_id
                next_piece = Pieces(head)
                first = False
                while piece := connection.read(next_piece(), time.monotonic() + STREAM_TIMEOUT_S):
                    for one in feed.feed(piece):
                        reconnect.arrived()
                        yield one
                    last_id = feed.last_id
                why: Exception = ConnectError(f"{self._request.name}: the server closed the stream")
            except (ConnectError, Timeout, ServerError) as error:
                if first:
                    raise
                why = error
            except (OSError, EOFError) as error:
                why = ConnectError(f"{self._request.name}: lost the connection: {error}")
                if first:
                    raise why from error
            except ValueError as error:
                raise ProtocolError(f"{self._request.name}: {error}") from error
            finally:
                if connection:
                    connection.close()
            time.sleep(reconnect.wait(why))

    def _open(self, last_id: str | None) -> tuple[Connection, Head]:
        request, settings = self._request, self._settings
        deadline = time.monotonic() + settings.timeout
        connection = Connection(settings, deadline)
        try:
            connection.send(stream_head(settings, request, last_id), deadline)
            head = connection.read(read_head(), deadline)
            if head.status != 200:
                reply = connection.read(read_rest(head), deadline)
                raise refusal(reply.status, reply.body, request.name)
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):
                raise Timeout(
                    f"{request.name}: no answer from {settings.address.url} within "
                    f"{settings.timeout:g} s"
                ) from None
            raise
        return connection, head


def whole_request(settings: Settings, request: Request[Any]) -> bytes:
    """The bytes of a request: head and body."""
    body = request.body
    length = None if body is None else len(body)
    target = settings.address.prefix + request.target
    call = request.call
    head = head_of(request.method, target, settings.fixed, call.accept, length, call.kind)
    return head + (body or b"")


def stream_head(settings: Settings, request: Request[Any], last_id: str | None) -> bytes:
    """The head of the request that opens a stream. `last_id` is the last event received before."""
    fixed = settings.fixed
    if last_id is not None:
        fixed += f"Last-Event-ID: {last_id}\r\n".encode("latin-1", "replace")
    target = settings.address.prefix + request.target
    return head_of("GET", target, fixed, request.call.accept, None)
