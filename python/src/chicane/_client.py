"""The blocking client: connections that are kept, and streams that come back."""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Generic, TypeVar

from chicane._call import Feed, Procedure, Request
from chicane._http import (
    Head,
    Pieces,
    Reply,
    Want,
    Wish,
    head_of,
    read_head,
    read_reply,
    read_rest,
)
from chicane._settings import FRESH_S, KEPT, SILENCE_S, Comeback, Settings
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
    """A socket and what was read from it too early."""

    def __init__(self, settings: Settings, deadline: float) -> None:
        address = settings.address
        try:
            limit = max(0.001, deadline - time.monotonic())
            self._socket = socket.create_connection((address.host, address.port), limit)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.tls:
                context = ssl.create_default_context()
                self._socket = context.wrap_socket(self._socket, server_hostname=address.host)
        except TimeoutError:
            raise Timeout(f"{address.url} could not be reached in time") from None
        except OSError as error:
            raise ConnectError(
                f"nobody answers at {address.url}: {error.strerror or error}"
            ) from error
        self._rest = b""
        self.used = time.monotonic()
        self.fresh = True
        """Whether no answer has come on it yet."""
        self.heard = False
        """Whether any of the answer that is waited for has come."""

    def is_stale(self) -> bool:
        """Whether the other side has closed it meanwhile."""
        if time.monotonic() - self.used < FRESH_S:
            return False
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            return bool(poll.poll(0))
        return bool(select.select([self._socket], [], [], 0)[0])

    def send(self, data: bytes, deadline: float) -> None:
        """Sends all of it."""
        self.heard = False
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        self._socket.sendall(data)

    def read(self, reading: Generator[Wish, bytes, T], deadline: float) -> T:
        """Gives the reading what it wants until it is done."""
        try:
            wish = next(reading)
            while True:
                wish = reading.send(self._fulfil(wish, deadline))
        except StopIteration as done:
            result: T = done.value
        self.used = time.monotonic()
        return result

    def _fulfil(self, wish: Wish, deadline: float) -> bytes:
        want, size = wish
        if want is Want.EXACTLY:
            while len(self._rest) < size:
                if size > len(self._rest) + 65536:
                    self._rest = self._receive_large(size, deadline)
                else:
                    self._rest += self._receive(deadline)
            out, self._rest = self._rest[:size], self._rest[size:]
            return out
        if want is Want.SOME:
            if not self._rest:
                try:
                    self._rest = self._receive(deadline)
                except EOFError:
                    return b""
            out, self._rest = self._rest[:size], self._rest[size:]
            return out
        while (end := self._rest.find(want.value)) < 0:
            if len(self._rest) > size:
                raise ProtocolError("the head of an answer is too long")
            self._rest += self._receive(deadline)
        end += len(want.value)
        out, self._rest = self._rest[:end], self._rest[end:]
        return out

    def _receive(self, deadline: float) -> bytes:
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        data = self._socket.recv(65536)
        if not data:
            raise EOFError
        self.heard = True
        return data

    def _receive_large(self, size: int, deadline: float) -> bytes:
        """Without copying what came before for every piece."""
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

    def close(self) -> None:
        """Also when it is closed already."""
        self._socket.close()


class Client:
    """A client of one simulator or robot. It may be used by several threads."""

    def __init__(
        self, url: str | None = None, *, token: str | None = None, timeout: float = 30.0
    ) -> None:
        """`url`: the argument, else `CHICANE_URL`, else http://127.0.0.1:8000. `token` likewise, or
        `CHICANE_TOKEN`.

        `timeout`: seconds within which an answer must have come; a request that takes simulated
        time, such as a held speed, has as much more.
        """
        self._settings = Settings(url, token, timeout)
        self._idle: deque[Connection] = deque()

    @property
    def url(self) -> str:
        """Where the simulator or robot is."""
        return self._settings.address.url

    def run(self, request: Request[R]) -> R:
        """Carries out a request."""
        return self.receive(request, self.send(request))

    def send(self, request: Request[Any]) -> Connection:
        """Sends a request, for those who talk with several at once; its answer waits."""
        data = whole_request(self._settings, request)
        deadline = time.monotonic() + self._settings.timeout
        while True:
            connection = self._connection(deadline)
            try:
                connection.send(data, deadline)
                return connection
            except OSError as error:
                connection.close()
                # Nothing of the request can have been taken on a connection that was closed before.
                if connection.fresh or isinstance(error, TimeoutError):
                    raise self._lost(request, error) from error

    def receive(self, request: Request[R], connection: Connection) -> R:
        """The answer of a request that was sent."""
        deadline = time.monotonic() + self._settings.timeout + request.call.longer
        try:
            reply = connection.read(read_reply(request.method), deadline)
        except (OSError, EOFError) as error:
            connection.close()
            quiet = not (connection.fresh or connection.heard or isinstance(error, TimeoutError))
            if quiet and request.method == "GET":
                # It was closed while it was kept; so were the others. A question may be asked
                # twice.
                self.close()
                return self.run(request)
            raise self._lost(request, error) from error
        except BaseException:
            connection.close()
            raise
        if reply.reusable and len(self._idle) < KEPT:
            connection.fresh = False
            self._idle.append(connection)
        else:
            connection.close()
        return answer(request, reply)

    def proceed(self, procedure: Procedure[R]) -> R:
        """Carries out several requests."""
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
        """Opens a stream."""
        return Stream(self._settings, request, feed)

    def close(self) -> None:
        """Closes the connections that are kept. The client can still be used."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        # It may never have come to be.
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
            return Timeout(f"{request.name}: no answer from {self.url} within the time")
        return ConnectError(
            f"{request.name}: the connection to {self.url} broke: {error or 'closed'}"
        )


def attempt(
    procedure: Procedure[R], run: Callable[[Request[Any]], Any], request: Request[Any]
) -> Any:
    """Gives a procedure the answer, or the refusal, which it may catch."""
    try:
        result = run(request)
    except ChicaneError as error:
        return procedure.throw(error)
    return procedure.send(result)


def answer(request: Request[R], reply: Reply) -> R:
    """What a method returns, or the refusal."""
    if reply.status != 200:
        raise refusal(reply.status, reply.body, request.name)
    try:
        result: R = request.call.read(reply)
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(f"{request.name}: the answer makes no sense: {error}") from error
    return result


class Stream(Generic[T]):
    """What a simulator or robot goes on telling: an iterator that reconnects by itself.

    `patience` is how many seconds it tries to come back before it gives up; close it, or use it
    with `with`, when you have had enough.
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
        """Ends it."""
        self._pieces.close()

    def _read(self) -> Generator[T, None, None]:
        comeback, last_id = Comeback(self.patience), None
        first = True
        while True:
            connection = None
            try:
                connection, head = self._open(last_id)
                feed = self._feed(head.headers)
                feed.last_id = last_id
                next_piece = Pieces(head)
                first = False
                while piece := connection.read(next_piece(), time.monotonic() + SILENCE_S):
                    for one in feed.feed(piece):
                        comeback.arrived()
                        yield one
                    last_id = feed.last_id
                why: Exception = ConnectError(f"{self._request.name}: the stream ended")
            except (ConnectError, Timeout, ServerError) as error:
                if first:
                    raise
                why = error
            except (OSError, EOFError) as error:
                why = ConnectError(f"{self._request.name}: the stream broke: {error}")
            except ValueError as error:
                raise ProtocolError(f"{self._request.name}: {error}") from error
            finally:
                if connection:
                    connection.close()
            time.sleep(comeback.wait(why))

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
                raise Timeout(f"{request.name}: no answer from {settings.address.url}") from None
            raise
        return connection, head


def whole_request(settings: Settings, request: Request[Any]) -> bytes:
    """A request as it is sent."""
    body = request.body
    length = None if body is None else len(body)
    target = settings.address.prefix + request.target
    head = head_of(request.method, target, settings.fixed, request.call.accept, length)
    return head + (body or b"")


def stream_head(settings: Settings, request: Request[Any], last_id: str | None) -> bytes:
    """The head of the request that opens a stream."""
    fixed = settings.fixed
    if last_id is not None:
        fixed += f"Last-Event-ID: {last_id}\r\n".encode("latin-1", "replace")
    target = settings.address.prefix + request.target
    return head_of("GET", target, fixed, request.call.accept, None)
