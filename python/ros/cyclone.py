"""Participants of Eclipse Cyclone DDS that read the robot's topics and send commands to it."""

import os
import time
from dataclasses import dataclass, field

from cyclonedds.core import (
    InstanceState,
    ReadCondition,
    SampleState,
    ViewState,
    WaitSet,
)
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from . import idl

# Participants use only loopback. They discover each other by unicast, because loopback has no
# multicast.
CONFIGURATION = """<CycloneDDS><Domain><General>
<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex>
<Peers><Peer address="127.0.0.1"/></Peers></Discovery>
<Internal><SocketReceiveBufferSize min="1MB"/></Internal>
</Domain></CycloneDDS>"""
os.environ.setdefault("CYCLONEDDS_URI", CONFIGURATION)

# Topic name -> type, and messages per simulated second.
TOPICS = {
    "/camera/image_raw": (idl.Image, 15),
    "/camera/image_raw/compressed": (idl.CompressedImage, 15),
    "/camera/camera_info": (idl.CameraInfo, 15),
    "/scan": (idl.LaserScan, 10),
    "/scan_filtered": (idl.LaserScan, 10),
    "/imu": (idl.Imu, 50),
    "/odom": (idl.Odometry, 30),
    "/odom/laser": (idl.Odometry, 10),
    "/tf": (idl.TFMessage, 30),
    "/joint_states": (idl.JointState, 30),
    "/battery_state": (idl.BatteryState, 1),
    "/clock": (idl.Clock, 200),
}
# Topics with the durability transient-local: a late reader receives the last message too.
LATCHED = {"/tf_static": idl.TFMessage, "/sim/epoch": idl.UInt64}


def qos(reliable: bool, depth: int, kept: bool = False) -> Qos:
    reliability = (
        Policy.Reliability.Reliable(duration(seconds=1))
        if reliable
        else Policy.Reliability.BestEffort
    )
    durability = Policy.Durability.TransientLocal if kept else Policy.Durability.Volatile
    return Qos(reliability, durability, Policy.History.KeepLast(depth))


@dataclass
class TopicLog:
    """The messages received on one topic: simulated ticks, times of arrival (s), latencies (s)."""

    reader: DataReader
    ticks: list[int] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    ages: list[float] = field(default_factory=list)
    encoded: list[idl.Encoded] = field(default_factory=list)

    def note(self, sample: idl.Encoded) -> None:
        self.ticks.append(sample.tick())
        self.at.append(time.monotonic())
        self.ages.append((time.time_ns() - sample.sample_info.source_timestamp) * 1e-9)
        if len(sample.data) > 10_000:
            self.encoded.clear()
        self.encoded.append(sample)

    @property
    def last(self):
        """The last message, or None if none has arrived."""
        return self.encoded[-1].message() if self.encoded else None

    def forget(self) -> None:
        """Clears the lists, but keeps the last message."""
        self.ticks.clear()
        self.at.clear()
        self.ages.clear()
        del self.encoded[:-1]


class Listener:
    """A participant that logs the messages of several topics."""

    def __init__(self, domain: int, participant: DomainParticipant | None = None):
        self.participant = participant or DomainParticipant(domain)
        self.waitset = WaitSet(self.participant)
        self.logs: dict[str, TopicLog] = {}

    def listen(self, name: str, kind, reliable=True, depth=200, kept=False, key=None) -> TopicLog:
        how = qos(reliable, depth, kept)
        reader = DataReader(self.participant, Topic(self.participant, f"rt{name}", kind), how)
        states = SampleState.Any | ViewState.Any | InstanceState.Any
        self.waitset.attach(ReadCondition(reader, states))
        log = self.logs[key or name] = TopicLog(reader)
        return log

    def take(self, seconds: float, until=lambda: False) -> None:
        """Receives messages for a number of seconds, or until a condition is true."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not until():
            self.waitset.wait(duration(milliseconds=max(1, int(1000 * min(left, 0.05)))))
            for log in self.logs.values():
                for sample in log.reader.take(1000):
                    if isinstance(sample, idl.Encoded):
                        log.note(sample)


class CommandWriter:
    """A writer of one command topic."""

    def __init__(self, participant: DomainParticipant, name: str, kind):
        topic = Topic(participant, f"rt{name}", kind)
        self.writer = DataWriter(participant, topic, qos(True, 10))

    def publish(self, message) -> None:
        self.writer.write(message)

    def has_subscriber(self) -> bool:
        return bool(self.writer.get_matched_subscriptions())


def twist(linear: float, angular: float) -> idl.Twist:
    return idl.Twist(idl.Vector3(linear, 0.0, 0.0), idl.Vector3(0.0, 0.0, angular))
