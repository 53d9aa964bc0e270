"""Reads recordings with the packages mcap, mcap-ros2-support and rosbags.

The messages of most topics are compared with the readings of the web API at the same simulated
time.
"""

import signal
import tempfile
import unittest
from collections import Counter, defaultdict
from pathlib import Path

from compare import same, same_state
from drive import RATES, TICK_NS, Client, drive, due
from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.records import Channel, Chunk, Message, Schema
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore
from simulator import Simulator, wait_for

TICKS = 500
LATCHED = ["/sim/epoch", "/tf_static"]


def readable_records(path: Path):
    """The records of a file that may end in the middle of a record."""
    with path.open("rb") as file:
        try:
            yield from StreamReader(file, emit_chunks=True).records
        except (McapError, EOFError):
            return


class Drives(unittest.TestCase):
    """One recorded drive, which all tests of this class read."""

    @classmethod
    def setUpClass(cls):
        simulator = Simulator("--world", "technical")
        cls.addClassCleanup(simulator.close)
        client = Client(simulator.url)
        cls.addClassCleanup(client.close)
        client.ask("/sim/api/clock", {"paused": True})
        client.ask("/sim/api/respawn", {})
        client.ask("/sim/api/step", {"steps": 7})
        cls.started = client.ask("/sim/api/recording/start", {})["recording"]
        cls.readings = drive(client, TICKS)
        cls.stopped = client.ask("/sim/api/recording/stop", {})["recording"]
        cls.file = Path(cls.stopped["folder"]) / cls.stopped["file"]

    def test_the_recording_describes_itself(self):
        self.assertTrue(self.started["active"])
        self.assertEqual(self.stopped["file"], "000001-technical-0.035s.mcap")
        self.assertEqual(self.stopped["bytes"], self.file.stat().st_size)
        self.assertEqual(self.stopped["duration"], TICKS * 0.005)
        self.assertEqual([self.stopped["dropped_ticks"], self.stopped["skipped_images"]], [0, 0])
        self.assertFalse(self.stopped["active"])

    def test_mcap_reads_every_message(self):
        times: dict[str, list[int]] = defaultdict(list)
        with self.file.open("rb") as file:
            reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
            self.assertEqual(reader.get_header().profile, "ros2")
            count = reader.get_summary().statistics.message_count
            self.assertEqual(count, self.stopped["messages"])
            (about,) = reader.iter_metadata()
            self.assertEqual(about.metadata, {"world": "technical", "robot": "gen1"})
            for schema, channel, message in reader.iter_messages():
                topic, tick = channel.topic, message.log_time // TICK_NS
                if topic == "/sim/state":
                    described = [schema.name, channel.message_encoding]
                    self.assertEqual(described, ["chicane/State", "json"])
                    if tick in self.readings:
                        want = self.readings[tick]["state"]
                        self.assertTrue(same_state(message.data, want), f"{topic} at tick {tick}")
                elif topic not in LATCHED:
                    decoder = DecoderFactory().decoder_for(channel.message_encoding, schema)
                    decoded = decoder(message.data)
                    self.assertTrue(
                        same(topic, message.log_time, decoded, self.readings),
                        f"{topic} at tick {tick}",
                    )
                times[topic].append(tick)
        self.check_times(times)

    def test_rosbags_reads_every_message(self):
        times: dict[str, list[int]] = defaultdict(list)
        with AnyReader([self.file]) as reader:
            self.assertEqual(reader.message_count, self.stopped["messages"])
            for connection, time_ns, data in reader.messages():
                topic, tick = connection.topic, time_ns // TICK_NS
                times[topic].append(tick)
                if topic == "/sim/state":
                    if tick in self.readings:
                        self.assertTrue(same_state(data, self.readings[tick]["state"]))
                elif topic not in LATCHED:
                    message = reader.deserialize(data, connection.msgtype)
                    self.assertTrue(
                        same(topic, time_ns, message, self.readings), f"{topic} at tick {tick}"
                    )
            ros = [c for c in reader.connections if c.msgdef.data]
            qos = {c.topic: c.ext.offered_qos_profiles[0] for c in ros}
        self.check_times(times)
        self.assertEqual(qos["/tf_static"].durability.name, "TRANSIENT_LOCAL")
        self.assertEqual((qos["/scan"].depth, qos["/scan"].reliability.name), (5, "RELIABLE"))

    def test_the_definitions_are_those_of_ros(self):
        """A type has the hash that ROS 2 Jazzy computes from the names and types of its fields."""
        jazzy = get_typestore(Stores.ROS2_JAZZY)
        with AnyReader([self.file]) as reader:
            types = {c.msgtype for c in reader.connections if c.msgdef.data}
            self.assertEqual(len(types), 10)
            for name in types:
                self.assertEqual(reader.typestore.hash_rihs01(name), jazzy.hash_rihs01(name), name)

    def check_times(self, times: dict[str, list[int]]):
        """Every topic has a message at each of its ticks, and at no other tick."""
        for topic in LATCHED:
            self.assertEqual(times.pop(topic), [7], topic)
        # The state at the start of the recording is recorded too.
        self.assertEqual(times["/sim/state"].pop(0), 7)
        for topic in RATES:
            self.assertEqual(sorted(times.pop(topic)), due(topic, self.readings), topic)
        self.assertEqual(times, {})


class Interrupted(unittest.TestCase):
    def test_a_killed_simulator_leaves_a_readable_file(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        simulator = Simulator("--record", folder.name)
        self.addCleanup(simulator.close)
        # The recorder creates its file with the first tick.
        (path,) = wait_for("a file", lambda: list(Path(folder.name).glob("*.mcap")))
        # On a busy machine, a chunk may have few messages.
        wait_for("two written chunks", lambda: self.chunks(path) >= 2 and self.clocks(path) > 200)
        simulator.stop(signal.SIGKILL)
        with path.open("rb") as file, self.assertRaises(McapError):
            make_reader(file).get_summary()
        schemas, channels, counts, last = {}, {}, Counter(), 0
        for record in readable_records(path):
            for inner in breakup_chunk(record) if isinstance(record, Chunk) else [record]:
                if isinstance(inner, Schema):
                    schemas[inner.id] = inner
                elif isinstance(inner, Channel):
                    channels[inner.id] = inner
                elif isinstance(inner, Message):
                    topic = channels[inner.channel_id].topic
                    counts[topic] += 1
                    if topic == "/clock":
                        schema = schemas[channels[inner.channel_id].schema_id]
                        clock = DecoderFactory().decoder_for("cdr", schema)(inner.data).clock
                        self.assertEqual(clock.sec * 10**9 + clock.nanosec, inner.log_time)
                        self.assertEqual(inner.log_time, last)
                        last += TICK_NS
        self.assertGreater(counts["/clock"], 100)
        self.assertGreater(counts["/scan"], 5)
        self.assertGreater(counts["/sim/state"], 15)

    @staticmethod
    def chunks(path: Path) -> int:
        return sum(isinstance(record, Chunk) for record in readable_records(path))

    @staticmethod
    def clocks(path: Path) -> int:
        """Number of messages on `/clock`."""
        ids, count = set(), 0
        for record in readable_records(path):
            for inner in breakup_chunk(record) if isinstance(record, Chunk) else [record]:
                if isinstance(inner, Channel) and inner.topic == "/clock":
                    ids.add(inner.id)
                count += isinstance(inner, Message) and inner.channel_id in ids
        return count


if __name__ == "__main__":
    unittest.main()
