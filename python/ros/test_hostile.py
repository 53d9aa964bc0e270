"""Hostile participants: floods of commands, messages with a wrong layout, random datagrams."""

import random
import socket
import struct
import unittest
from dataclasses import dataclass

from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import sequence, uint8

from . import idl
from .cyclone import CommandWriter, Listener, twist
from .simulator import PaceCheck, Simulator, wait_for

DOMAIN = 91


@dataclass
class WrongShape(IdlStruct, typename="std_msgs::msg::dds_::Float64_"):
    """A type with the name of Float64 and another layout."""

    data: sequence[uint8]


# Numbers of the protocol RTPS: the ids of its submessages, and the entity ids of the readers and
# writers of the discovery and of one writer of messages.
SUBMESSAGES = [0x01, 0x06, 0x07, 0x08, 0x09, 0x0C, 0x0E, 0x12, 0x13, 0x15, 0x16]
ENTITIES = [0x000100C2, 0x000100C7, 0x000003C2, 0x000003C7, 0x000004C2, 0x000004C7, 0x00000103]


def malformed(chance: random.Random) -> bytes:
    """An RTPS message with one or more errors."""
    packet = b"RTPS\x02\x04\x01\x10" + chance.randbytes(12)
    for _ in range(chance.randrange(1, 4)):
        kind, flags = chance.choice(SUBMESSAGES), chance.choice([1, 3, 5, 7, chance.randrange(256)])
        body = struct.pack("<HH", 0, 16) if kind in (0x15, 0x16) else b""
        body += struct.pack(">II", chance.choice(ENTITIES), chance.choice(ENTITIES))
        body += struct.pack("<iI", 0, chance.choice([0, 1, 2, 2**32 - 1]))
        if kind == 0x15:
            # A parameter list. Some parameters have a wrong length.
            body += b"\x00\x03\x00\x00"
            for _ in range(chance.randrange(8)):
                data = chance.randbytes(4 * chance.randrange(8))
                length = chance.choice([len(data), len(data), chance.randrange(65536)])
                body += struct.pack("<HH", chance.randrange(0x80), length) + data
        body += chance.randbytes(chance.randrange(64))
        length = chance.choice([len(body), len(body), len(body), 0, 65535])
        packet += struct.pack("<BBH", kind, flags, length) + body
    return packet


def send_noise():
    """Sends malformed and random datagrams to the simulator."""
    chance = random.Random(1)
    # The ports of the domain's first participant, which is the simulator.
    ports = [7400 + 250 * DOMAIN + offset for offset in (10, 11)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as noise:
        for i in range(20_000):
            packet = malformed(chance) if i % 4 else chance.randbytes(chance.randrange(400))
            noise.sendto(packet, ("127.0.0.1", chance.choice(ports)))


class Hostile(unittest.TestCase):
    def setUp(self):
        # Each test has its own simulator, because commands of a flood may still arrive after the
        # end of the test that sent them.
        self.simulator = Simulator(DOMAIN)
        self.addCleanup(self.simulator.close)

    def pace_check(self) -> PaceCheck:
        pace_check = PaceCheck(self.simulator)
        self.addCleanup(pace_check.quiet.close)
        return pace_check

    def commanded_steering(self) -> float:
        return self.simulator.get("/states?include=odom")["cmd"]["steering"]

    def assert_works(self, pace_check: PaceCheck, disturb):
        """Asserts that topics have data, commands take effect, and time keeps its pace.

        `disturb` sends the hostile messages again.
        """
        listener = Listener(DOMAIN)
        self.assert_clock(listener)
        writer = CommandWriter(listener.participant, "/camera/pan", idl.Float64)
        wait_for("a subscriber", writer.has_subscriber)
        value = random.uniform(-0.5, 0.5)
        writer.publish(idl.Float64(value))
        wait_for("pan", lambda: abs(self.simulator.get("/camera/pan") - value) < 0.01)
        pace_check.wait_for_pace(disturb)

    def assert_clock(self, listener: Listener):
        """Asserts that a new participant finds the clock.

        The participant's first announcement may be lost in a full socket. The simulator announces
        itself every 10 s, and the participant answers with an announcement of its own.
        """
        clock = listener.listen("/clock", idl.Clock)
        listener.take(60.0, until=lambda: len(clock.at) > 100)
        self.assertGreater(len(clock.at), 100)

    def test_flood_of_commands_does_not_disturb_the_simulator(self):
        writer = CommandWriter(DomainParticipant(DOMAIN), "/cmd_vel", idl.Twist)
        wait_for("a subscriber", writer.has_subscriber)
        pace_check = self.pace_check()

        def flood():
            for _ in range(200):
                writer.publish(twist(0.5, 0.1))
            # The web API still answers during the flood.
            self.simulator.post("/steering", {"value": 0.0})

        for _ in range(200):
            flood()
        self.assert_works(pace_check, flood)

    def test_messages_with_a_wrong_layout_are_ignored(self):
        self.simulator.post("/steering", {"value": 0.2})
        wait_for("steering", lambda: self.commanded_steering() == 0.2)
        writer = CommandWriter(DomainParticipant(DOMAIN), "/steering", WrongShape)
        wait_for("a subscriber", writer.has_subscriber)
        pace_check = self.pace_check()

        def send():
            # Each message begins with the length of its sequence, in four bytes. The first message
            # is too short for a number. The first eight bytes of the other two messages are a NaN.
            for size in [0, 4, 60_000]:
                writer.publish(WrongShape([255] * size))

        send()
        self.assert_works(pace_check, send)
        self.assertEqual(self.commanded_steering(), 0.2)

    def test_messages_that_padding_makes_a_number_do_no_harm(self):
        self.simulator.post("/steering", {"value": 0.2})
        wait_for("steering", lambda: self.commanded_steering() == 0.2)
        writer = CommandWriter(DomainParticipant(DOMAIN), "/steering", WrongShape)
        wait_for("a subscriber", writer.has_subscriber)
        pace_check = self.pace_check()

        def send():
            # DDS pads both messages to eight bytes, which are numbers very close to 0.
            for size in [1, 3]:
                writer.publish(WrongShape([255] * size))

        send()
        self.assert_works(pace_check, send)
        wait_for("steering", lambda: abs(self.commanded_steering()) < 1e-300)

    def test_malformed_datagrams_do_not_disturb_the_simulator(self):
        pace_check = self.pace_check()
        send_noise()
        self.assert_works(pace_check, send_noise)
