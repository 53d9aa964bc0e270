"""Many participants, one of them hostile: the simulation keeps its pace, the others their data."""

import os
import subprocess
import sys
import unittest
from itertools import pairwise

from cyclonedds.domain import DomainParticipant
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from . import idl
from .cyclone import TOPICS, Listener
from .simulator import Race, Simulator, wait_for

DOMAIN = 61
# Simulated seconds: long enough for what a silent reader may hold back to be full.
SPAN = 12.0


def never_read(domain: int) -> None:
    """Subscribes to all, reliably, and takes nothing: it acknowledges until its cache is full."""
    participant = DomainParticipant(domain)
    qos = Qos(
        Policy.Reliability.Reliable(duration(seconds=1)),
        Policy.History.KeepAll,
        Policy.ResourceLimits(max_samples=1, max_instances=1, max_samples_per_instance=1),
    )
    kept = []
    for name, (kind, _) in TOPICS.items():
        kept.append(DataReader(participant, Topic(participant, f"rt{name}", kind), qos))
    print("there", flush=True)
    sys.stdin.read()


class Crowd(unittest.TestCase):
    def test_forty_participants_and_one_that_never_reads(self):
        simulator = Simulator(DOMAIN)
        self.addCleanup(simulator.close)
        hostile = subprocess.Popen(
            [sys.executable, "-c", f"from ros.test_crowd import never_read; never_read({DOMAIN})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for step in [hostile.stdin.close, hostile.stdout.close, hostile.wait, hostile.kill]:
            self.addCleanup(step)
        self.assertEqual(hostile.stdout.readline(), b"there\n")
        crowd = [DomainParticipant(DOMAIN) for _ in range(38)]
        qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(5))
        readers = [DataReader(p, Topic(p, "rt/scan", idl.LaserScan), qos) for p in crowd]
        listener = Listener(DOMAIN)
        for name in ["/scan", "/imu", "/odom", "/clock", "/camera/image_raw"]:
            listener.listen(name, TOPICS[name][0])
        heard = listener.heard
        listener.take(20.0, until=lambda: all(h.at for h in heard.values()))
        race = Race(simulator)
        self.addCleanup(race.quiet.close)
        hear, end = set(), simulator.time() + SPAN

        def passed() -> bool:
            listener.take(1.0)
            hear.update(number for number, r in enumerate(readers) if r.take(20))
            return heard["/clock"].ticks[-1] >= 200 * end

        wait_for("time", passed, 120.0)
        self.assertGreater(race.pace(), 0.95)
        self.assertEqual(len(hear), 38, "all of them hear")
        for name, h in heard.items():
            longest = max(b - a for a, b in pairwise(h.ticks)) / 200
            self.assertLess(longest, 3.0, f"{name} never stops for long")
            self.assertGreater(h.ticks[-1], 200 * (end - 3.0), f"{name} goes on")
        self.assertIsNone(hostile.poll())
