"""Tests of the robot's topics and commands against an independent DDS implementation."""

import math
import subprocess
import tempfile
import unittest
from itertools import pairwise

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.domain import DomainParticipant

from . import idl
from .cyclone import LATCHED, TOPICS, CommandWriter, Listener, twist
from .simulator import OUTSIDE, Simulator, program, sent_outside, wait_for

DOMAIN = 21
# Simulated seconds for which messages are received.
SPAN = 5.0


def sample_tick(k: int, rate: int) -> int:
    return -(-200 * k // rate)


class Topics(unittest.TestCase):
    """Receives all topics at once, and checks rates and contents."""

    @classmethod
    def setUpClass(cls):
        cls.sent_before = sent_outside()
        cls.simulator = Simulator(DOMAIN)
        cls.addClassCleanup(cls.simulator.close)
        cls.other = DomainParticipant(DOMAIN + 1)
        cls.listener = listener = Listener(DOMAIN)
        for name, (kind, _) in TOPICS.items():
            listener.listen(name, kind)
        for name in ["/scan", "/imu", "/odom", "/camera/image_raw/compressed"]:
            listener.listen(name, TOPICS[name][0], reliable=False, key=f"best effort {name}")
        for name, kind in LATCHED.items():
            listener.listen(name, kind, depth=1, kept=True)
        logs = listener.logs
        listener.take(60.0, until=lambda: all(log.at for log in logs.values()))
        missing = [name for name, log in logs.items() if not log.at]
        assert not missing, f"no message arrived on {missing}"
        cls.receive()
        cls.sent_after = sent_outside()

    @classmethod
    def receive(cls):
        for log in cls.listener.logs.values():
            log.forget()
        ticks = cls.listener.logs["/clock"].ticks
        cls.listener.take(60.0, until=lambda: ticks and ticks[-1] - ticks[0] >= 200 * (SPAN + 1.0))

    def lost(self) -> list[str]:
        """Topics that lost a sample or had a wrong rate."""
        clock = self.listener.logs["/clock"]
        # The measured real-time factor. It is below 1 if the machine is busy.
        pace = (clock.ticks[-1] - clock.ticks[0]) / 200 / (clock.at[-1] - clock.at[0])
        lost = []
        for name, (_, rate) in TOPICS.items():
            log = self.listener.logs[name]
            by_tick = {sample_tick(k, rate): k for k in range(rate * 1000)}
            samples = [by_tick.get(tick) for tick in log.ticks]
            self.assertNotIn(None, samples, f"{name}: a stamp is not on a tick of a sample")
            gaps = [(a, b) for a, b in pairwise(samples) if b != a + 1]
            span = (log.ticks[-1] - log.ticks[0]) / 200
            by_stamp = (len(samples) - 1) / span
            by_count = (len(samples) - 1) / (log.at[-1] - log.at[0]) / pace
            wrong = rate > 1 and any(abs(r / rate - 1) > 0.05 for r in (by_stamp, by_count))
            if gaps or wrong or span < SPAN - 1.5:
                lost.append(f"{name}: {by_stamp:.1f} and {by_count:.1f} Hz, gaps {gaps[:9]}")
        for name, log in self.listener.logs.items():
            if name.startswith("best effort"):
                rate = TOPICS[name.removeprefix("best effort ")][1]
                if len(log.ticks) < 0.9 * rate * pace * SPAN:
                    lost.append(f"{name}: {len(log.ticks)} samples")
        return lost

    def test_every_topic_has_its_rate_and_none_is_lost(self):
        for _ in range(12):
            if not (lost := self.lost()):
                return
            # Receives again, because other load on the machine can cause lost samples.
            self.receive()
        self.fail("\n".join(lost))

    def test_every_message_can_be_decoded(self):
        for name, log in self.listener.logs.items():
            for encoded in log.encoded:
                message = encoded.message()
                stamp = getattr(getattr(message, "header", None), "stamp", None)
                if stamp:
                    self.assertEqual(
                        stamp.sec * 200 + stamp.nanosec // 5_000_000, encoded.tick(), name
                    )

    def test_late_reader_receives_latched_topics(self):
        late = Listener(DOMAIN)
        for name, kind in LATCHED.items():
            late.listen(name, kind, depth=1, kept=True)
        late.take(60.0, until=lambda: all(log.at for log in late.logs.values()))
        self.assertEqual(
            late.logs["/sim/epoch"].last.data, self.simulator.get("/sim/api/state")["epoch"]
        )
        self.assertEqual(len(late.logs["/tf_static"].last.transforms), 4)

    def test_frames_form_one_tree(self):
        logs = self.listener.logs
        transforms = [*logs["/tf"].last.transforms, *logs["/tf_static"].last.transforms]
        tree = {t.child_frame_id: t.header.frame_id for t in transforms}
        wanted = {
            "base_footprint": "odom",
            "base_link": "base_footprint",
            "lidar_link": "base_link",
            "imu_link": "base_link",
            "camera_link": "base_link",
            "camera_optical_frame": "camera_link",
        }
        self.assertEqual(tree, wanted)

    def test_messages_have_the_expected_content(self):
        last = {name: log.last for name, log in self.listener.logs.items()}
        image = last["/camera/image_raw"]
        self.assertEqual((image.width, image.height, image.encoding), (480, 360, "rgb8"))
        self.assertEqual((image.step, len(image.data)), (1440, 1440 * 360))
        self.assertGreater(
            len(set(image.data[:: 3 * 97])), 10, "the picture has more than 10 different values"
        )
        jpeg = bytes(last["/camera/image_raw/compressed"].data)
        self.assertEqual((jpeg[:2], jpeg[-2:]), (b"\xff\xd8", b"\xff\xd9"))
        info = last["/camera/camera_info"]
        self.assertEqual((info.width, info.height, len(info.d)), (480, 360, 5))
        self.assertAlmostEqual(info.k[0], 240 / math.tan(math.radians(50)), places=6)
        scan = last["/scan"]
        self.assertEqual((len(scan.ranges), scan.header.frame_id), (721, "lidar_link"))
        self.assertAlmostEqual(
            scan.angle_min + 720 * scan.angle_increment, scan.angle_max, places=4
        )
        hits = [r for r in scan.ranges if math.isfinite(r)]
        self.assertTrue(hits and all(0.1 <= r <= 16.1 for r in hits))
        imu = last["/imu"]
        self.assertEqual(imu.orientation_covariance[0], -1.0)
        self.assertAlmostEqual(imu.linear_acceleration.z, 9.81, delta=0.2)
        self.assertGreater(imu.angular_velocity_covariance[0], 0)
        for name in ["/odom", "/odom/laser"]:
            odom = last[name]
            self.assertEqual(
                (odom.header.frame_id, odom.child_frame_id), ("odom", "base_footprint")
            )
        joints = last["/joint_states"]
        self.assertEqual(len(joints.name), len(joints.position))
        self.assertIn("front_left_wheel_joint", joints.name)
        battery = last["/battery_state"]
        self.assertAlmostEqual(battery.voltage, 8.4, places=3)
        self.assertTrue(battery.present and 0.99 <= battery.percentage <= 1.0)

    def test_participant_of_another_domain_finds_no_topics(self):
        reader = BuiltinDataReader(self.other, BuiltinTopicDcpsPublication)
        self.assertEqual([p.topic_name for p in reader.take(100)], [])

    def test_no_packet_was_sent_to_the_external_network(self):
        self.assertEqual(self.sent_after, self.sent_before)


class Commands(unittest.TestCase):
    """Commands on topics."""

    @classmethod
    def setUpClass(cls):
        cls.simulator = Simulator(DOMAIN + 2)
        cls.addClassCleanup(cls.simulator.close)
        cls.participant = DomainParticipant(DOMAIN + 2)

    def writer(self, name, kind) -> CommandWriter:
        writer = CommandWriter(self.participant, name, kind)
        wait_for(f"a subscriber of {name}", writer.has_subscriber)
        return writer

    def commanded(self) -> dict:
        return self.simulator.get("/states?include=odom")["cmd"]

    def test_numbers_drive_the_car(self):
        for name, key, value in [
            ("/speed", "speed", 0.5),
            ("/steering", "steering", -0.2),
            ("/camera/pan", "pan", 0.3),
            ("/camera/tilt", "tilt", -0.25),
        ]:
            with self.subTest(name):
                writer = self.writer(name, idl.Float64)

                def is_commanded(writer=writer, key=key, value=value) -> bool:
                    # A speed command expires after one second, so it is repeated.
                    writer.publish(idl.Float64(value))
                    return abs(self.commanded()[key] - value) < 1e-6

                wait_for(name, is_commanded)
        wait_for("the speed to expire", lambda: self.commanded()["speed"] == 0.0)
        self.assertAlmostEqual(self.commanded()["steering"], -0.2, places=6)

    def test_a_twist_drives_the_car_and_stops_it(self):
        writer = self.writer("/cmd_vel", idl.Twist)
        before = self.simulator.get("/sim/api/pose")

        def moved():
            writer.publish(twist(0.5, 0.4))
            now = self.simulator.get("/sim/api/pose")
            return math.dist((before["x"], before["y"]), (now["x"], now["y"])) > 0.3

        wait_for("the car to move", moved)
        self.assertAlmostEqual(self.commanded()["steering"], math.atan(0.4 * 0.18 / 0.5), places=5)
        writer.publish(twist(0.0, 0.0))
        # The steering is checked first: a speed command expires by itself, but a steering command
        # does not.
        wait_for("the stop command", lambda: self.commanded()["steering"] == 0.0)
        self.assertEqual(self.commanded()["speed"], 0.0)

    def test_non_finite_values_are_ignored_and_large_ones_clamped(self):
        writer = self.writer("/steering", idl.Float64)
        writer.publish(idl.Float64(0.1))
        wait_for("steering", lambda: abs(self.commanded()["steering"] - 0.1) < 1e-9)
        writer.publish(idl.Float64(math.nan))
        writer.publish(idl.Float64(math.inf))
        pan = self.writer("/camera/pan", idl.Float64)
        pan.publish(idl.Float64(99.0))
        wait_for("pan", lambda: abs(self.commanded()["pan"] - 0.5236) < 1e-6)
        self.assertAlmostEqual(self.commanded()["steering"], 0.1, places=9)

    def test_pose_reset_and_respawn_publish_a_new_epoch(self):
        listener = Listener(DOMAIN + 2, self.participant)
        epochs = listener.listen("/sim/epoch", idl.UInt64, depth=1, kept=True)
        clock = listener.listen("/clock", idl.Clock)
        listener.take(60.0, until=lambda: epochs.at and clock.at)
        for path, body in [
            ("/sim/api/pose", {"x": 1.0}),
            ("/sim/api/reset", {}),
            ("/sim/api/respawn", {}),
        ]:
            with self.subTest(path):
                before = epochs.last.data
                self.simulator.post(path, body)
                now = self.simulator.get("/sim/api/state")["epoch"]
                self.assertGreater(now, before)
                listener.take(60.0, until=lambda n=now: epochs.last.data == n)
                self.assertEqual(epochs.last.data, now)
        # The respawn restarted simulated time, so the clock topic has small ticks.
        clock.forget()
        listener.take(60.0, until=lambda: len(clock.ticks) > 100)
        self.assertLess(clock.ticks[-1], 200 * 20)
        self.assertEqual(clock.ticks, sorted(clock.ticks))
        # The epoch is also published while simulated time is paused.
        self.simulator.post("/sim/api/clock", {"paused": True})
        self.simulator.post("/sim/api/pose", {"x": 1.2})
        now = self.simulator.get("/sim/api/state")["epoch"]
        listener.take(60.0, until=lambda: epochs.last.data == now)
        self.assertEqual(epochs.last.data, now)
        self.simulator.post("/sim/api/clock", {"paused": False})


class Network(unittest.TestCase):
    """The option `--ros-network`.

    The first test also shows that the packet counter works, on which a test of the class `Topics`
    relies.
    """

    def test_network_option_sends_to_the_external_network(self):
        before = sent_outside()
        simulator = Simulator(DOMAIN + 3, "--ros-network", OUTSIDE)
        self.addCleanup(simulator.close)
        wait_for("packets", lambda: sent_outside() > before + 3)

    def test_an_unknown_network_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [program(), "serve", "--listen", "127.0.0.1:0", "--data-dir", folder]
            command += ["--ros", "--ros-network", "nothing0"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--ros-network nothing0 is not a network interface", done.stderr)
        self.assertIn(OUTSIDE, done.stderr)


class Speed(unittest.TestCase):
    """A simulator that runs faster than real time."""

    def test_topic_rates_are_per_simulated_second(self):
        simulator = Simulator(DOMAIN + 4, "--speed", "4")
        self.addCleanup(simulator.close)
        listener = Listener(DOMAIN + 4)
        # /imu has 200 messages per real second here. The depth is so large that the readers lose no
        # message while this process is delayed for some seconds.
        scan = listener.listen("/scan", idl.LaserScan, depth=4000)
        imu = listener.listen("/imu", idl.Imu, depth=4000)

        def factor() -> float:
            """The real-time factor of the last 200 scans, which are 20 simulated seconds.

            The factor is computed from the times at which the simulator sent the scans, because
            many scans arrive at once after a delay of this process.
            """
            if len(scan.ticks) <= 200:
                return 0.0
            first, last = (scan.at[i] - scan.ages[i] for i in (-200, -1))
            return (scan.ticks[-1] - scan.ticks[-200]) / 200 / (last - first)

        # After a delay of the machine, the factor is too low only until 200 newer scans have
        # arrived.
        listener.take(60.0, until=lambda: factor() > 2.0 and len(imu.ticks) > 1000)
        for log, every in [(scan, 20), (imu, 4)]:
            steps = {b - a for a, b in pairwise(log.ticks)}
            self.assertEqual(steps, {every})
        self.assertGreater(factor(), 2.0, "real-time factor")
        self.assertGreater(len(imu.ticks), 1000)
