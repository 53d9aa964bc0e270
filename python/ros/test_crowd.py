"""Many participants and a hostile one: the simulation keeps its pace, and the others get data."""

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
from .simulator import PaceCheck, Simulator, wait_for

DOMAIN = 61
# Duration of the test in simulated seconds, long enough to fill the buffers for a reader that never
# reads.
SPAN = 12.0


def never_read(domain: int) -> None:
    """Subscribes reliably to all topics and never reads.

    The reader acknowledges messages until its cache is full.
    """
    participant = DomainParticipant(domain)
    qos = Qos(
        Policy.Reliability.Reliable(duration(seconds=1)),
        Policy.History.KeepAll,
        Policy.ResourceLimits(max_samples=1, max_instances=1, max_samples_per_instance=1),
    )
    readers = []
    for name, (kind, _) in TOPICS.items():
        readers.append(DataReader(participant, Topic(participant, f"rt{name}", kind), qos))
    print("subscribed", flush=True)
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
        self.assertEqual(hostile.stdout.readline(), b"subscribed\n")
        qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(5))
        readers = []
        for number in range(38):
            participant = DomainParticipant(DOMAIN)
            reader = DataReader(participant, Topic(participant, "rt/scan", idl.LaserScan), qos)
            readers.append(reader)
            # Participants announce themselves at intervals that begin when they join. The programs
            # of a real class do not join in the same millisecond, so the next participant joins
            # only after this one has received a scan.
            wait_for(f"participant {number} to receive a scan", lambda r=reader: r.take(20))
        listener = Listener(DOMAIN)
        for name in ["/scan", "/imu", "/odom", "/clock", "/camera/image_raw"]:
            listener.listen(name, TOPICS[name][0])
        logs = listener.logs
        listener.take(60.0, until=lambda: all(log.at for log in logs.values()))
        self.assertEqual([name for name, log in logs.items() if not log.at], [])
        pace_check = PaceCheck(simulator)
        self.addCleanup(pace_check.quiet.close)
        served, end = set(), simulator.time() + SPAN

        def passed() -> bool:
            listener.take(1.0)
            served.update(number for number, r in enumerate(readers) if r.take(20))
            return logs["/clock"].ticks[-1] >= 200 * end

        try:
            wait_for("simulated time to pass", passed, 120.0)
        except AssertionError as failure:
            last = {name: log.ticks[-1] for name, log in logs.items()}
            now = simulator.time()
            raise AssertionError(f"{failure}; last ticks {last}, simulated time {now}") from failure
        pace_check.wait_for_pace(passed)
        self.assertEqual(len(served), 38, "every participant receives scans")
        for name, log in logs.items():
            longest = max(b - a for a, b in pairwise(log.ticks)) / 200
            self.assertLess(longest, 3.0, f"{name}: longest gap in simulated seconds")
            self.assertGreater(
                log.ticks[-1], 200 * (end - 3.0), f"{name}: tick of the last message"
            )
        self.assertIsNone(hostile.poll())
