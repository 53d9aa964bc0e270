"""The parsers of streams limit their memory."""

from __future__ import annotations

import unittest
from unittest import mock

from chicane import _feeds
from chicane.errors import ProtocolError


class Feeds(unittest.TestCase):
    def test_events_are_parsed_in_any_pieces(self) -> None:
        stream = b'id: 7\nevent: run\ndata: {"a":\ndata: 1}\n\n: comment\ndata: 2\r\n\r\n'
        for size in (1, 3, 1000):
            feed = _feeds.events({})
            found: list[_feeds.Event] = []
            for start in range(0, len(stream), size):
                found += feed.feed(stream[start : start + size])
            wanted = [_feeds.Event("run", {"a": 1}, "7"), _feeds.Event("message", 2, "7")]
            self.assertEqual(found, wanted)

    def test_an_event_without_an_end_filled_the_memory(self) -> None:
        with mock.patch.object(_feeds, "MAX_EVENT", 100):
            for line in (b"data: 123456789\n", b"data:\n", b"data: " + 200 * b"1"):
                feed = _feeds.events({})
                with self.assertRaisesRegex(ProtocolError, "longer than 100 bytes"):
                    for _ in range(101):
                        feed.feed(line)
            feed = _feeds.events({})
            # The limit applies to each event.
            for _ in range(10):
                self.assertEqual(len(feed.feed(b"data: 123456789\n\n")), 1)
