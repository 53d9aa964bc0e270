"""The robot's WebSockets: streams of commands, and of sound.

`Robot.speed_socket`, `Robot.steering_socket` and `Robot.sound_socket` open them, and `AsyncRobot`
has the same methods. A command needs no response, so a socket is faster than requests.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from types import TracebackType
from typing import TypeVar

from chicane import _aclient, _client
from chicane._later import asyncio
from chicane._settings import Settings
from chicane._websocket import Frames, Handshake, Opcode, close_reason, frame
from chicane.errors import ChicaneError, ConnectError, ProtocolError, Timeout, refusal

SILENCE_S = 20.0
"""A connection without data for this many seconds is lost. The robot sends a ping every 3 s."""

S = TypeVar("S", bound="RobotSocket")
A = TypeVar("A", bound="AsyncRobotSocket")
B = TypeVar("B", bound="AsyncSoundSocket")


class Opened:
    """What the robot says about a new stream of sound."""

    def __init__(self, payload: bytes, name: str) -> None:
        """Raises `ApiError` for a text that does not describe a stream, such as an error."""
        try:
            said = json.loads(payload)
            self.id: str = said["id"]
            self.sample_rate: int = said["sample_rate"]
            self.channels: int = said["channels"]
        except (ValueError, KeyError, TypeError):
            raise refusal(422, payload, name) from None


def value_frame(value: float) -> bytes:
    """The frame of a command. Raises `ValueError` for a number that is not finite."""
    return frame(Opcode.TEXT, json.dumps({"value": value}, allow_nan=False).encode("ascii"))


class Inbox:
    """Parses what the robot sends. Keeps its texts, and the reason why the connection ended."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.frames = Frames()
        self.texts: list[bytes] = []
        self.lost: ChicaneError | None = None

    def feed(self, data: bytes) -> bytes:
        """Takes bytes of the connection. Returns the bytes to send as a response."""
        answer = b""
        for opcode, payload in self.frames.feed(data):
            if opcode is Opcode.PING:
                answer += frame(Opcode.PONG, payload)
            elif opcode is Opcode.TEXT:
                self.texts.append(payload)
            elif opcode is Opcode.CLOSE:
                self.lose(ConnectError(f"{self.name}: {close_reason(payload)}"))
        if not data:
            self.lose(ConnectError(f"{self.name}: the server closed the connection"))
        return answer

    def lose(self, why: ChicaneError) -> None:
        """Notes that the connection is lost. Only the first reason is kept."""
        self.lost = self.lost or why

    def check(self) -> None:
        """Raises the error that the robot sent, or the reason why the connection is lost."""
        if self.texts:
            raise refusal(422, self.texts.pop(0), self.name)
        if self.lost is not None:
            raise self.lost


class RobotSocket:
    """An open WebSocket of the robot. A thread answers the robot's pings. Close it with `close`."""

    def __init__(self, settings: Settings, path: str) -> None:
        deadline = time.monotonic() + settings.timeout
        handshake = Handshake(settings.address.prefix + path, settings.fixed)
        self._inbox = Inbox(handshake.name)
        self._arrived = threading.Condition()
        self._writing = threading.Lock()
        self._connection = _client.Connection(settings, deadline)
        try:
            self._connection.send(handshake.request, deadline)
            rest = None
            while rest is None:
                rest = handshake.feed(self._connection.receive(deadline))
        except BaseException as error:
            self._connection.close()
            if isinstance(error, TimeoutError) and not isinstance(error, Timeout):
                raise Timeout(
                    f"{handshake.name}: no answer within {settings.timeout:g} s"
                ) from None
            raise
        self._listener = threading.Thread(target=self._listen, args=(rest,), daemon=True)
        self._listener.start()

    def close(self) -> None:
        """Closes the socket. The robot then stops what the socket controls."""
        with self._arrived:
            self._inbox.lose(ConnectError(f"{self._inbox.name}: the socket is closed"))
        with contextlib.suppress(OSError):
            self._write(frame(Opcode.CLOSE, b"\x03\xe8"))
        self._connection.shutdown()
        if threading.current_thread() is not self._listener:
            self._listener.join()
        self._connection.close()

    def __enter__(self: S) -> S:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _send(self, data: bytes) -> None:
        with self._arrived:
            self._inbox.check()
        try:
            self._write(data)
        except OSError as error:
            with self._arrived:
                self._inbox.lose(ConnectError(f"{self._inbox.name}: {error}"))
                self._inbox.check()

    def _write(self, data: bytes) -> None:
        with self._writing:
            self._connection.send(data, time.monotonic() + SILENCE_S)

    def _first_text(self, timeout: float) -> bytes:
        """Waits for a text from the robot."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._inbox.texts or self._inbox.lost, timeout)
            if self._inbox.texts:
                return self._inbox.texts.pop(0)
            raise self._inbox.lost or Timeout(f"{self._inbox.name}: no answer within {timeout:g} s")

    def _listen(self, data: bytes) -> None:
        """Reads until the connection ends. `data` are the bytes that came with the handshake."""
        inbox = self._inbox
        try:
            while inbox.lost is None:
                with self._arrived:
                    answer = inbox.feed(data) if data else b""
                    self._arrived.notify_all()
                if answer:
                    self._write(answer)
                if inbox.lost is None:
                    data = self._connection.receive(time.monotonic() + SILENCE_S)
                    if not data:
                        inbox.feed(data)
        except (OSError, ProtocolError) as error:
            with self._arrived:
                inbox.lose(ConnectError(f"{inbox.name}: lost the connection: {error}"))
        with self._arrived:
            self._arrived.notify_all()
        self._connection.shutdown()


class CommandSocket(RobotSocket):
    """A stream of commands of one kind: speeds or steering angles.

    When the socket is closed, the robot sets the value to zero after at most 0.7 simulated seconds,
    unless a newer command came.
    """

    def send(self, value: float) -> None:
        """Sends a command. Values outside the car's limits are clamped.

        The robot does not answer. If it refused an earlier command, or closed the connection, this
        method raises `ApiError` or `ConnectError`.
        """
        self._send(value_frame(value))


class SoundSocket(RobotSocket):
    """A stream of sound. Closing the socket stops the sound."""

    def __init__(self, settings: Settings, path: str) -> None:
        super().__init__(settings, path)
        try:
            opened = Opened(self._first_text(settings.timeout), self._inbox.name)
        except BaseException:
            self.close()
            raise
        self.id = opened.id
        """The id of the sound, as in `audio`."""
        self.sample_rate = opened.sample_rate
        """Samples per second and channel."""
        self.channels = opened.channels
        """Number of channels."""

    def send(self, samples: bytes) -> None:
        """Sends samples: 16-bit little-endian integers, channels interleaved.

        The robot plays the samples in simulated time. While the robot has enough samples in its
        buffer, it reads no further ones, and this method waits.
        """
        self._send(frame(Opcode.BINARY, samples))


class AsyncRobotSocket:
    """The asyncio version of `RobotSocket`. A task answers the robot's pings."""

    def __init__(self, settings: Settings, path: str) -> None:
        self._settings = settings
        self._handshake = Handshake(settings.address.prefix + path, settings.fixed)
        self._inbox = Inbox(self._handshake.name)
        self._arrived = asyncio.Event()
        self._connection: _aclient.Connection | None = None
        self._listener: asyncio.Task[None] | None = None

    async def open(self: A) -> A:
        """Connects to the robot. Raises `ApiError`, `ConnectError` or `Timeout`."""
        connection = await _aclient.Connection.open(self._settings)
        self._connection = connection
        try:
            await connection.send(self._handshake.request)
            rest = None
            while rest is None:
                receiving = connection.receive()
                data = await asyncio.wait_for(receiving, self._settings.timeout)
                rest = self._handshake.feed(data)
        except BaseException as error:
            connection.close()
            if isinstance(error, asyncio.TimeoutError):
                limit = self._settings.timeout
                raise Timeout(f"{self._inbox.name}: no answer within {limit:g} s") from None
            raise
        self._listener = asyncio.ensure_future(self._listen(connection, rest))
        return self

    async def close(self) -> None:
        """Closes the socket. The robot then stops what the socket controls."""
        self._inbox.lose(ConnectError(f"{self._inbox.name}: the socket is closed"))
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with contextlib.suppress(OSError):
            await connection.send(frame(Opcode.CLOSE, b"\x03\xe8"))
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener
        connection.close()

    async def __aenter__(self: A) -> A:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _send(self, data: bytes) -> None:
        self._inbox.check()
        if self._connection is None:
            raise ConnectError(f"{self._inbox.name}: the socket is not open; use `async with`")
        try:
            await self._connection.send(data)
        except OSError as error:
            self._inbox.lose(ConnectError(f"{self._inbox.name}: {error}"))
            self._inbox.check()

    async def _first_text(self, timeout: float) -> bytes:
        """Waits for a text from the robot."""
        while not self._inbox.texts:
            self._inbox.check()
            self._arrived.clear()
            try:
                await asyncio.wait_for(self._arrived.wait(), timeout)
            except asyncio.TimeoutError:
                text = f"{self._inbox.name}: no answer within {timeout:g} s"
                raise Timeout(text) from None
        return self._inbox.texts.pop(0)

    async def _listen(self, connection: _aclient.Connection, data: bytes) -> None:
        """Reads until the connection ends. `data` are the bytes that came with the handshake."""
        inbox = self._inbox
        try:
            while inbox.lost is None:
                answer = inbox.feed(data) if data else b""
                self._arrived.set()
                if answer:
                    await connection.send(answer)
                if inbox.lost is None:
                    data = await asyncio.wait_for(connection.receive(), SILENCE_S)
                    if not data:
                        inbox.feed(data)
        except (OSError, asyncio.TimeoutError, ProtocolError) as error:
            inbox.lose(ConnectError(f"{inbox.name}: lost the connection: {error}"))
        self._arrived.set()


class AsyncCommandSocket(AsyncRobotSocket):
    """The asyncio version of `CommandSocket`."""

    async def send(self, value: float) -> None:
        """Sends a command. See `CommandSocket.send`."""
        await self._send(value_frame(value))


class AsyncSoundSocket(AsyncRobotSocket):
    """The asyncio version of `SoundSocket`. `open` sets `id`, `sample_rate` and `channels`."""

    id: str
    """The id of the sound, as in `audio`."""
    sample_rate: int
    """Samples per second and channel."""
    channels: int
    """Number of channels."""

    async def open(self: B) -> B:
        """Connects to the robot. Raises `ApiError`, `ConnectError` or `Timeout`."""
        await super().open()
        try:
            opened = Opened(await self._first_text(self._settings.timeout), self._inbox.name)
        except BaseException:
            await self.close()
            raise
        self.id, self.sample_rate, self.channels = opened.id, opened.sample_rate, opened.channels
        return self

    async def send(self, samples: bytes) -> None:
        """Sends samples. See `SoundSocket.send`."""
        await self._send(frame(Opcode.BINARY, samples))


def sound_path(sample_rate: int, channels: int, volume: float) -> str:
    """The path that opens a stream of sound."""
    return f"/audio/stream?sample_rate={sample_rate}&channels={channels}&volume={volume}"
