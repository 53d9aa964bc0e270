"""Those who mean harm: floods of commands, messages of another shape, datagrams of noise."""

import random
import socket
import struct
import unittest
from dataclasses import dataclass

from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import sequence, uint8

from . import idl
from .cyclone import Listener, Talker, twist
from .simulator import Race, Simulator, wait_for

DOMAIN = 91


@dataclass
class Liar(IdlStruct, typename="std_msgs::msg::dds_::Float64_"):
    """Says that it is a number, and is not."""

    data: sequence[uint8]


# Of the protocol: kinds of submessages, and the readers and writers that find others.
KINDS = [0x01, 0x06, 0x07, 0x08, 0x09, 0x0C, 0x0E, 0x12, 0x13, 0x15, 0x16]
ENTITIES = [0x000100C2, 0x000100C7, 0x000003C2, 0x000003C7, 0x000004C2, 0x000004C7, 0x00000103]


def almost_right(chance: random.Random) -> bytes:
    """A message of the protocol with a mistake or many."""
    packet = b"RTPS\x02\x04\x01\x10" + chance.randbytes(12)
    for _ in range(chance.randrange(1, 4)):
        kind, flags = chance.choice(KINDS), chance.choice([1, 3, 5, 7, chance.randrange(256)])
        body = struct.pack("<HH", 0, 16) if kind in (0x15, 0x16) else b""
        body += struct.pack(">II", chance.choice(ENTITIES), chance.choice(ENTITIES))
        body += struct.pack("<iI", 0, chance.choice([0, 1, 2, 2**32 - 1]))
        if kind == 0x15:
            # A list of parameters: each says how long it is, truly or not.
            body += b"\x00\x03\x00\x00"
            for _ in range(chance.randrange(8)):
                data = chance.randbytes(4 * chance.randrange(8))
                length = chance.choice([len(data), len(data), chance.randrange(65536)])
                body += struct.pack("<HH", chance.randrange(0x80), length) + data
        body += chance.randbytes(chance.randrange(64))
        length = chance.choice([len(body), len(body), len(body), 0, 65535])
        packet += struct.pack("<BBH", kind, flags, length) + body
    return packet


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.simulator = Simulator(DOMAIN)
        cls.addClassCleanup(cls.simulator.close)
        cls.participant = DomainParticipant(DOMAIN)

    def race(self) -> Race:
        race = Race(self.simulator)
        self.addCleanup(race.quiet.close)
        return race

    def goes_on(self, race: Race):
        """Data comes, commands are obeyed, time goes at its pace."""
        listener = Listener(DOMAIN)
        clock = listener.listen("/clock", idl.Clock)
        listener.take(10.0, until=lambda: len(clock.at) > 100)
        self.assertGreater(len(clock.at), 100)
        talker = Talker(listener.participant, "/camera/pan", idl.Float64)
        wait_for("someone who hears", talker.is_heard)
        value = random.uniform(-0.5, 0.5)
        talker.say(idl.Float64(value))
        wait_for("pan", lambda: abs(self.simulator.get("/camera/pan") - value) < 0.01)
        self.assertGreater(race.pace(), 0.95)

    def test_a_flood_of_commands_disturbs_nobody(self):
        talker = Talker(self.participant, "/cmd_vel", idl.Twist)
        wait_for("someone who hears", talker.is_heard)
        race = self.race()
        for _ in range(200):
            for _ in range(200):
                talker.say(twist(0.5, 0.1))
            # Others are heard meanwhile.
            self.simulator.post("/steering", {"value": 0.0})
        self.goes_on(race)

    def test_messages_of_another_shape_are_no_commands(self):
        talker = Talker(self.participant, "/steering", Liar)
        wait_for("someone who hears", talker.is_heard)
        race = self.race()
        for size in [0, 1, 3, 60_000]:
            talker.say(Liar([255] * size))
        self.goes_on(race)
        self.assertEqual(self.simulator.get("/states?include=odom")["cmd"]["steering"], 0.0)

    def test_noise_disturbs_nobody(self):
        chance = random.Random(1)
        # Those of the first participant, which was the simulator.
        ports = [7400 + 250 * DOMAIN + offset for offset in (10, 11)]
        race = self.race()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as noise:
            for i in range(20_000):
                packet = almost_right(chance) if i % 4 else chance.randbytes(chance.randrange(400))
                noise.sendto(packet, ("127.0.0.1", chance.choice(ports)))
        self.goes_on(race)
