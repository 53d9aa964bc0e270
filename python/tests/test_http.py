"""Tests of the clients against unusual servers: partial responses, closed connections, timeouts,
malformed responses.
"""

import asyncio
import json
import os
import pickle
import unittest
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import chicane
from chicane import AsyncRobot, AsyncSim, Robot, Sim
from chicane.errors import refusal

from .fake import Fake, chunked, ok

POSE = b'{"x": 1}'


class Servers(unittest.TestCase):
    def fake(self, *connections: list[bytes]) -> Fake:
        fake = Fake(*connections)
        self.addCleanup(fake.close)
        return fake

    def both(
        self, script: list[list[bytes]], check: Callable[[Callable[[], Any], Fake], None]
    ) -> None:
        """Runs `check` with the blocking and with the asynchronous client, on the same script."""
        fake = self.fake(*script)
        with Sim(fake.url, timeout=5) as sim:
            check(sim.pose, fake)
        fake = self.fake(*script)
        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)
        waiting = AsyncSim(fake.url, timeout=5)
        check(lambda: loop.run_until_complete(waiting.pose()), fake)
        loop.run_until_complete(waiting.close())

    def test_all_forms_of_responses(self) -> None:
        for form in (
            ok(POSE),
            chunked(POSE[:3], POSE[3:]),
            b"HTTP/1.1 100 Continue\r\n\r\n" + ok(POSE),
            b"HTTP/1.1 200 OK\r\n\r\n" + POSE,  # the end of the connection is the end of the body
            b"HTTP/1.0 200 OK\r\nContent-Length: 8\r\n\r\n" + POSE,
        ):
            self.both([[form]], lambda ask, fake: self.assertEqual(ask(), {"x": 1}))

    def test_a_refusal_in_a_judged_run_names_its_code(self) -> None:
        body = b'{"error": "not allowed in a judged run", "code": "judged_run"}'

        def check(ask: Callable[[], Any], fake: Fake) -> None:
            with self.assertRaises(chicane.JudgedRun) as caught:
                ask()
            error = caught.exception
            self.assertIsInstance(error, chicane.Forbidden)
            self.assertEqual((error.status, error.code), (403, "judged_run"))
            self.assertEqual(error.text, "not allowed in a judged run")
            self.assertIn("GET /sim/api/pose: 403 not allowed in a judged run", str(error))
            self.assertIn("judged_run", str(error))
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again)), (chicane.JudgedRun, str(error)))
            self.assertEqual(again.code, "judged_run")

        self.both([[ok(body, status="403 Forbidden")]], check)

    def test_errors_of_roles_and_tokens_have_their_class_and_code(self) -> None:
        for status, code, kind in (
            ("403 Forbidden", "role_forbids", chicane.Forbidden),
            ("429 Too Many Requests", "too_many_attempts", chicane.TooManyAttempts),
        ):
            body = json.dumps({"error": "no", "code": code}).encode()

            def check(
                ask: Callable[[], Any], fake: Fake, code: str = code, kind: type = kind
            ) -> None:
                with self.assertRaises(chicane.ApiError) as caught:
                    ask()
                self.assertIs(type(caught.exception), kind)
                self.assertEqual(caught.exception.code, code)

            self.both([[ok(body, status=status)]], check)

    def test_an_error_without_a_code_has_none(self) -> None:
        for body in (b'{"error": "no"}', b'{"error": "no", "code": 7}', b"no"):
            error = refusal(403, body, "GET /")
            self.assertEqual((type(error), error.code), (chicane.Forbidden, None))
            self.assertEqual(str(error), "GET /: 403 no")

    def test_connection_is_reused(self) -> None:
        def check(ask: Callable[[], Any], fake: Fake) -> None:
            self.assertEqual([ask(), ask(), ask()], [{"x": 1}] * 3)
            self.assertEqual(len(fake.requests), 3)

        self.both([[ok(POSE), chunked(POSE), ok(POSE)]], check)

    def test_closed_idle_connection_is_replaced(self) -> None:
        def check(ask: Callable[[], Any], fake: Fake) -> None:
            for _ in range(4):
                self.assertEqual(ask(), {"x": 1})

        self.both([[ok(POSE)]] * 4, check)

    def test_post_is_not_retried(self) -> None:
        fake = self.fake([ok(b"{}"), b""], [ok(b"{}")])
        with Sim(fake.url, timeout=5) as sim:
            sim.reset()
            with self.assertRaises(chicane.ConnectError):
                sim.reset()
        self.assertEqual(len(fake.requests), 2)

    def test_missing_response_raises_timeout(self) -> None:
        fake = self.fake([Fake.HOLD])
        with Sim(fake.url, timeout=0.2) as sim, self.assertRaises(chicane.Timeout) as caught:
            sim.pose()
        self.assertIsInstance(caught.exception, TimeoutError)

        async def wait() -> None:
            async with AsyncSim(self.fake([Fake.HOLD]).url, timeout=0.2) as sim:
                with self.assertRaises(chicane.Timeout):
                    await sim.pose()

        asyncio.run(wait())

    def test_malformed_responses_raise(self) -> None:
        for nonsense, kind in (
            (b"SSH-2.0-OpenSSH\r\n\r\n", chicane.ProtocolError),
            (ok(b"<html>"), chicane.ProtocolError),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n", chicane.ProtocolError),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", chicane.ConnectError),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", chicane.ProtocolError),
            (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, chicane.ProtocolError),
            (b"", chicane.ConnectError),
        ):

            def check(ask: Callable[[], Any], _: Fake, kind: Any = kind) -> None:
                with self.assertRaises(kind):
                    ask()

            self.both([[nonsense]], check)

    def test_error_statuses_raise_their_exceptions(self) -> None:
        for status, body, kind, text in (
            (
                "503 x",
                b'{"error": "No odometry data", "status": "waiting"}',
                chicane.NotReady,
                "No odom",
            ),
            ("503 x", b'{"error": "not yet"}', chicane.Unavailable, "not yet"),
            ("422 x", b'{"detail": "no"}', chicane.Unprocessable, "no"),
            ("502 x", b"<h1>Bad Gateway</h1>", chicane.ServerError, "Bad Gateway"),
            ("418 x", b"", chicane.ApiError, "no reason given"),
            ("401 x", b'{"error": "token"}', chicane.Unauthorized, "token"),
        ):
            fake = self.fake([ok(body, status=status)])
            with Robot(fake.url, timeout=5) as robot, self.assertRaisesRegex(kind, text):
                robot.odom()

    def test_token_and_address(self) -> None:
        for arguments, environment in (
            ({"token": "s3cret"}, {}),
            ({}, {"CHICANE_TOKEN": "s3cret"}),
            ({"query": "/sim?token=s3cret"}, {}),
        ):
            fake = self.fake([ok(POSE)])
            query = arguments.pop("query", "")
            with mock.patch.dict(os.environ, environment | {"CHICANE_URL": fake.url + query}):
                Sim(**arguments, timeout=5).pose()
            self.assertIn(b"Authorization: Bearer s3cret\r\n", fake.requests[0])
        with self.assertRaises(ValueError):
            Sim(token="a\r\nHost: b")


class Streams(unittest.TestCase):
    def fake(self, *connections: list[bytes]) -> Fake:
        fake = Fake(*connections)
        self.addCleanup(fake.close)
        return fake

    FIRST = (
        b'event: run\nid: 7\ndata: {"a"',
        b": 1}\n\n",
        b": beat\n\nid: 8\nevent: run\ndata: 2\r\n\r\n",
    )
    SECOND = (b"id: 9\nevent: run\ndata: 3\n\n",)

    def script(self) -> list[list[bytes]]:
        kind = "text/event-stream"
        first = chunked(*self.FIRST, kind=kind, end=False)
        stopping = ok(b'{"error": "the simulator is stopping"}', status="503 x")
        return [[first], [stopping], [chunked(*self.SECOND, kind=kind, end=False) + Fake.HOLD]]

    def test_lost_stream_continues_after_the_last_event(self) -> None:
        fake = self.fake(*self.script())
        with Sim(fake.url, timeout=5).events() as events:
            got = [next(events) for _ in range(3)]
        self.assertEqual(
            [(e.name, e.data, e.id) for e in got],
            [("run", {"a": 1}, "7"), ("run", 2, "8"), ("run", 3, "9")],
        )
        self.assertNotIn(b"Last-Event-ID", fake.requests[0])
        for again in fake.requests[1:]:
            self.assertIn(b"Last-Event-ID: 8\r\n", again)

    def test_lost_async_stream_continues_after_the_last_event(self) -> None:
        fake = self.fake(*self.script())

        async def read() -> list[Any]:
            async with AsyncSim(fake.url, timeout=5).events() as events:
                return [(await events.__anext__()).data for _ in range(3)]

        self.assertEqual(asyncio.run(read()), [{"a": 1}, 2, 3])
        self.assertIn(b"Last-Event-ID: 8\r\n", fake.requests[2])

    def test_stream_raises_if_the_server_stays_away(self) -> None:
        fake = Fake(self.script()[0])
        events = Sim(fake.url, timeout=5).events()
        events.patience = 0.3
        self.assertEqual(next(events).data, {"a": 1})
        fake.close()
        self.assertEqual(next(events).data, 2)
        with self.assertRaises(chicane.ConnectError):
            next(events)

    def first_event(self, *connections: bytes, timeout: float) -> Iterator[Callable[[], Any]]:
        """Yields a function for the blocking and one for the asynchronous client.

        Each function returns the first event of a stream. `connections` has one response per
        connection.
        """
        script = [[answer] for answer in connections]
        url = self.fake(*script).url
        yield lambda: next(Sim(url, timeout=timeout).events())
        url = self.fake(*script).url

        async def wait() -> Any:
            return await AsyncSim(url, timeout=timeout).events().__anext__()

        yield lambda: asyncio.run(wait())

    def test_refused_stream_raises(self) -> None:
        for refused, text in (
            (ok(b'{"error": "token"}', status="401 x"), "token"),
            (ok(b"", status="401 x") + Fake.HOLD, "no reason given"),
        ):
            for first_event in self.first_event(refused, timeout=5):
                with self.assertRaisesRegex(chicane.Unauthorized, text):
                    first_event()

    def test_stream_without_a_response_raises_timeout(self) -> None:
        for first_event in self.first_event(Fake.HOLD, timeout=0.2):
            with self.assertRaises(chicane.Timeout):
                first_event()

    def test_first_connection_without_a_response_is_not_retried(self) -> None:
        stream = chunked(*self.SECOND, kind="text/event-stream")
        for first_event in self.first_event(b"", stream, timeout=5):
            with self.assertRaisesRegex(chicane.ConnectError, "lost the connection"):
                first_event()

    def test_mjpeg_parts_with_and_without_a_length(self) -> None:
        def part(data: bytes, head: bytes) -> bytes:
            return b"--b\r\nContent-Type: image/jpeg\r\n" + head + b"\r\n" + data + b"\r\n"

        whole = (
            part(b"\xff\xd8--b\xff\xd9", b"Content-Length: 7\r\n")
            + part(b"\xff\xd8two", b"")
            + b"--b"
        )
        pieces = [whole[i : i + 5] for i in range(0, len(whole), 5)]
        kind = "multipart/x-mixed-replace; boundary=b"
        fake = self.fake([chunked(*pieces, kind=kind, end=False) + Fake.HOLD])
        with Robot(fake.url, timeout=5).camera_stream() as pictures:
            self.assertEqual(
                [next(pictures), next(pictures)], [b"\xff\xd8--b\xff\xd9", b"\xff\xd8two"]
            )

        async def read() -> bytes:
            fake = self.fake([chunked(*pieces, kind=kind, end=False) + Fake.HOLD])
            async with AsyncRobot(fake.url, timeout=5).camera_stream() as pictures:
                return await pictures.__anext__()

        self.assertEqual(asyncio.run(read()), b"\xff\xd8--b\xff\xd9")
