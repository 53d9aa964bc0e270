"""The asynchronous client, based on asyncio streams."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from types import TracebackType
from typing import Any, Generic, TypeVar

from chicane._call import Feed, Procedure, Request
from chicane._client import answer, stream_head, whole_request
from chicane._http import (
    MAX_HEAD,
    Head,
    Pieces,
    ReadMode,
    ReadRequest,
    read_head,
    read_reply,
    read_rest,
)
from chicane._later import asyncio
from chicane._settings import MAX_IDLE, STREAM_TIMEOUT_S, Reconnect, Settings
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
Self = TypeVar("Self", bound="AsyncClient")


class Connection:
    """An open connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @staticmethod
    async def open(settings: Settings) -> Connection:
        """Connects within the timeout of the settings.

        Raises `Timeout` or `ConnectError`.
        """
        address = settings.address
        try:
            opened = asyncio.open_connection(
                address.host, address.port, ssl=address.tls or None, limit=MAX_HEAD
            )
            return Connection(*await asyncio.wait_for(opened, settings.timeout))
        except asyncio.TimeoutError:
            raise Timeout(f"no connection to {address.url} within {settings.timeout:g} s") from None
        except OSError as error:
            raise ConnectError(
                f"cannot connect to {address.url}: {error.strerror or error}"
            ) from error

    def is_stale(self) -> bool:
        """Whether the server has closed the connection."""
        return self._reader.at_eof() or self._writer.is_closing()

    async def send(self, data: bytes) -> None:
        """Sends all bytes."""
        self._writer.write(data)
        await self._writer.drain()

    async def receive(self) -> bytes:
        """The next bytes of a connection without a pending response; empty at its end."""
        return await self._reader.read(65536)

    async def exchange(self, data: bytes, reading: Generator[ReadRequest, bytes, T]) -> T:
        """Sends `data`, then reads the response with the generator `reading`."""
        self._writer.write(data)
        await self._writer.drain()
        return await self.read(reading)

    async def read(self, reading: Generator[ReadRequest, bytes, T]) -> T:
        """Runs the generator `reading`: passes the requested bytes, and returns its result."""
        try:
            wanted = next(reading)
            while True:
                wanted = reading.send(await self._read_bytes(wanted))
        except StopIteration as done:
            result: T = done.value
            return result

    async def _read_bytes(self, wanted: ReadRequest) -> bytes:
        mode, size = wanted
        if mode is ReadMode.EXACTLY:
            return await self._reader.readexactly(size)
        if mode is ReadMode.SOME:
            return await self._reader.read(size)
        try:
            return await self._reader.readuntil(mode.value)
        except asyncio.LimitOverrunError:
            raise ProtocolError(f"the response has more than {MAX_HEAD} bytes of headers") from None

    def close(self) -> None:
        """Closes the connection. A second call has no effect."""
        self._writer.close()


class AsyncClient:
    """A client of one simulator or robot. It may only be used in one event loop."""

    def __init__(
        self, url: str | None = None, *, token: str | None = None, timeout: float = 30.0
    ) -> None:
        """Takes the same arguments as the blocking `Client`. Does not connect yet.

        Raises `ValueError` for a malformed `url`, `token` or `timeout`.
        """
        self._settings = Settings(url, token, timeout)
        self._idle: deque[Connection] = deque()

    @property
    def url(self) -> str:
        """The base URL of the simulator or robot."""
        return self._settings.address.url

    async def run(self, request: Request[R]) -> R:
        """Sends a request and returns the parsed response.

        Raises `ApiError` for a status other than 200 and 201. If there is no valid response, raises
        `ConnectError`, `Timeout` or `ProtocolError`.
        """
        data = whole_request(self._settings, request)
        while True:
            connection, fresh = await self._connection()
            try:
                exchange = connection.exchange(data, read_reply(request.method))
                limit = self._settings.timeout + request.call.longer
                reply = await asyncio.wait_for(exchange, limit)
                break
            except asyncio.TimeoutError:
                connection.close()
                raise Timeout(
                    f"{request.name}: no answer from {self.url} within {limit:g} s"
                ) from None
            except (OSError, EOFError) as error:
                connection.close()
                if not fresh and request.method == "GET":
                    self._drop_idle()
                    continue
                text = f"{request.name}: lost the connection to {self.url}: {error or 'closed'}"
                raise ConnectError(text) from error
            except BaseException:
                connection.close()
                raise
        if reply.reusable and len(self._idle) < MAX_IDLE:
            self._idle.append(connection)
        else:
            connection.close()
        return answer(request, reply)

    async def proceed(self, procedure: Procedure[R]) -> R:
        """Runs a procedure: sends its requests one after the other and returns its result."""
        try:
            step = next(procedure)
            while True:
                if isinstance(step, Request):
                    try:
                        result = await self.run(step)
                    except ChicaneError as error:
                        step = procedure.throw(error)
                    else:
                        step = procedure.send(result)
                else:
                    await asyncio.sleep(step)
                    step = procedure.send(None)
        except StopIteration as done:
            value: R = done.value
            return value

    def follow(
        self, request: Request[Any], feed: Callable[[dict[str, str]], Feed[T]]
    ) -> AsyncStream[T]:
        """Returns an iterator over a response that does not end."""
        return AsyncStream(self._settings, request, feed)

    async def close(self) -> None:
        """Closes the idle connections. The client can still be used and connects again."""
        self._drop_idle()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _drop_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    async def _connection(self) -> tuple[Connection, bool]:
        while self._idle:
            kept = self._idle.pop()
            if not kept.is_stale():
                return kept, False
            kept.close()
        return await Connection.open(self._settings), True


class AsyncStream(Generic[T]):
    """An asynchronous iterator over the events or pictures of a stream.

    After a lost connection the stream reconnects and continues. It retries for `patience` seconds,
    then raises the last error. The first connection is not retried, and a refusal is raised
    immediately.
    Call `close` or use `async with` to end the stream.
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

    def __aiter__(self) -> AsyncStream[T]:
        return self

    async def __anext__(self) -> T:
        return await self._pieces.__anext__()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the stream and closes its connection."""
        await self._pieces.aclose()

    async def _read(self) -> AsyncGenerator[T, None]:
        reconnect, last_id = Reconnect(self.patience), None
        first = True
        while True:
            connection = None
            try:
                connection, head = await self._open(last_id)
                feed = self._feed(head.headers)
                feed.last_id = last_id
                next_piece = Pieces(head)
                first = False
                while piece := await asyncio.wait_for(
                    connection.read(next_piece()), STREAM_TIMEOUT_S
                ):
                    for one in feed.feed(piece):
                        reconnect.arrived()
                        yield one
                    last_id = feed.last_id
                why: Exception = ConnectError(f"{self._request.name}: the server closed the stream")
            except (ConnectError, Timeout, ServerError) as error:
                if first:
                    raise
                why = error
            except (OSError, EOFError, asyncio.TimeoutError) as error:
                why = ConnectError(f"{self._request.name}: lost the connection: {error}")
                if first:
                    raise why from error
            except ValueError as error:
                raise ProtocolError(f"{self._request.name}: {error}") from error
            finally:
                if connection:
                    connection.close()
            await asyncio.sleep(reconnect.wait(why))

    async def _open(self, last_id: str | None) -> tuple[Connection, Head]:
        request, settings = self._request, self._settings
        connection = await Connection.open(settings)
        data = stream_head(settings, request, last_id)
        try:
            head = await asyncio.wait_for(connection.exchange(data, read_head()), settings.timeout)
            if head.status != 200:
                reply = await asyncio.wait_for(connection.read(read_rest(head)), settings.timeout)
                raise refusal(reply.status, reply.body, request.name)
        except asyncio.TimeoutError:
            connection.close()
            raise Timeout(
                f"{request.name}: no answer from {settings.address.url} within "
                f"{settings.timeout:g} s"
            ) from None
        except BaseException:
            connection.close()
            raise
        return connection, head


__all__ = ["AsyncClient", "AsyncStream"]
