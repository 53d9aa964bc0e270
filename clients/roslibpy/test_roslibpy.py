"""Tests of the rosbridge endpoint with roslibpy, without a ROS installation.

usage: CHICANE_PROGRAM=<chicane program> python -m unittest discover -s clients/roslibpy
"""

import base64
import logging
import math
import signal
import threading
import time
import unittest

import roslibpy
import txaio
from roslibpy.comm import RosBridgeClientFactory
from simulator import Simulator, wait_for
from twisted.internet import reactor
from twisted.internet.threads import blockingCallFromThread

# The log is off, because roslibpy logs an error for every status message and for every failed
# attempt to connect. The tests cause both on purpose.
logging.disable(logging.CRITICAL)
txaio.use_twisted()
txaio.set_global_log_level("critical")
RosBridgeClientFactory.set_initial_delay(0.2)
RosBridgeClientFactory.set_max_delay(1)

# Topic name -> type, and messages per simulated second.
TOPICS = {
    "/camera/image_raw": ("sensor_msgs/Image", 15),
    "/camera/image_raw/compressed": ("sensor_msgs/CompressedImage", 15),
    "/camera/camera_info": ("sensor_msgs/msg/CameraInfo", 15),
    "/scan": ("sensor_msgs/LaserScan", 10),
    "/scan_filtered": ("sensor_msgs/msg/LaserScan", 10),
    "/imu": ("sensor_msgs/Imu", 50),
    "/odom": ("nav_msgs/Odometry", 30),
    "/odom/laser": ("nav_msgs/msg/Odometry", 10),
    "/tf": ("tf2_msgs/TFMessage", 30),
    "/joint_states": ("sensor_msgs/JointState", 30),
    "/battery_state": ("sensor_msgs/BatteryState", 1),
    "/clock": ("rosgraph_msgs/Clock", 200),
}
LATCHED = {"/tf_static": "tf2_msgs/TFMessage", "/sim/epoch": "std_msgs/UInt64"}
# On a busy machine the renderer skips pictures, so these topics may miss samples. No picture is
# skipped if a client steps simulated time.
PICTURES = {"/camera/image_raw", "/camera/image_raw/compressed"}
SPAN = 5.0


def tick(message: dict) -> int:
    """The tick of a message's stamp."""
    if "clock" in message:
        stamp = message["clock"]
    elif "transforms" in message:
        stamp = message["transforms"][0]["header"]["stamp"]
    else:
        stamp = message["header"]["stamp"]
    return stamp["sec"] * 200 + stamp["nanosec"] // 5_000_000


def sample_tick(k: int, rate: int) -> int:
    return -(-200 * k // rate)


def connect(simulator: Simulator, **more) -> roslibpy.Ros:
    ros = roslibpy.Ros(f"ws://127.0.0.1:{simulator.port}/rosbridge", **more)
    ros.run(timeout=30)
    return ros


class MessageLog:
    """Subscribes to topics and collects their messages in order."""

    def __init__(self, ros, topics: dict[str, str]):
        self.lock = threading.Lock()
        self.messages = {name: [] for name in topics}
        # The queue is long, so that a busy machine loses no messages. For picture topics, only the
        # newest picture is queued.
        self.topics = [
            roslibpy.Topic(ros, name, kind, queue_length=0 if name in PICTURES else 1000)
            for name, kind in topics.items()
        ]
        for topic in self.topics:
            topic.subscribe(lambda message, name=topic.name: self.take(name, message))

    def take(self, name, message):
        with self.lock:
            self.messages[name].append(message)

    def on(self, name) -> list[dict]:
        with self.lock:
            return list(self.messages[name])

    def end(self):
        for topic in self.topics:
            topic.unsubscribe()


class Bridge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.simulator = Simulator()
        cls.addClassCleanup(cls.simulator.close)
        cls.ros = connect(cls.simulator)
        cls.addClassCleanup(cls.ros.close)

    def record(self, topics) -> MessageLog:
        log = MessageLog(self.ros, topics)
        self.addCleanup(log.end)
        return log

    def test_every_topic_has_its_rate_without_loss(self):
        kinds = {name: kind for name, (kind, _) in TOPICS.items()} | LATCHED
        log = self.record(kinds)
        for name in kinds:
            wait_for(name, lambda name=name: log.on(name))
        first = tick(log.on("/clock")[-1])
        wait_for("time", lambda: tick(log.on("/clock")[-1]) > first + 200 * SPAN)
        last = tick(log.on("/clock")[-1])
        for name, (_, rate) in TOPICS.items():
            ticks = [tick(m) for m in log.on(name) if first < tick(m) <= last]
            due = [sample_tick(k, rate) for k in range(last * rate // 200 + 1)]
            due = [t for t in due if first < t <= ticks[-1]]
            if name in PICTURES:
                self.assertLessEqual(set(ticks), set(due), name)
                self.assertGreater(len(ticks), SPAN, name)
            else:
                self.assertEqual(ticks, due, name)
                self.assertGreater(ticks[-1], last - 2 * 200 / rate - 20, f"{name} is late")
        self.assertEqual(len(log.on("/sim/epoch")), 1)
        frames = [t["child_frame_id"] for t in log.on("/tf_static")[0]["transforms"]]
        self.assertIn("lidar_link", frames)

    def test_no_picture_is_skipped_in_lockstep(self):
        log = self.record({name: TOPICS[name][0] for name in PICTURES})
        for name in PICTURES:
            wait_for(name, lambda name=name: log.on(name))
        now = self.pause()
        for k in range(now * 15 // 200 + 1, now * 15 // 200 + 16):
            due = sample_tick(k, 15)
            self.simulator.post("/sim/api/step", {"steps": due - now})
            now = due
            for name in PICTURES:
                wait_for(name, lambda name=name, due=due: tick(log.on(name)[-1]) == due)
        pixels = log.on("/camera/image_raw")[-1]
        self.assertEqual(len(base64.b64decode(pixels["data"])), 480 * 360 * 3)

    def pause(self) -> int:
        """Pauses simulated time until the end of the test and returns the current tick."""
        self.simulator.post("/sim/api/clock", {"paused": True})
        self.addCleanup(self.simulator.post, "/sim/api/clock", {"paused": False})
        return round(self.simulator.get("/sim/api/clock")["sim_time"] * 200)

    def test_values_match_the_web_api(self):
        simulator = self.simulator
        names = [
            "/odom",
            "/imu",
            "/scan",
            "/battery_state",
            "/camera/image_raw/compressed",
            "/clock",
        ]
        log = self.record({name: TOPICS[name][0] for name in names})
        for name in names:
            wait_for(name, lambda name=name: log.on(name))
        # Step to the next full second, at which every sensor has a sample.
        now = self.pause()
        simulator.post("/sim/api/step", {"steps": 200 - now % 200})
        end = now + 200 - now % 200
        wait_for("time", lambda: tick(log.on("/clock")[-1]) >= end)
        for name in names:
            wait_for(name, lambda name=name: tick(log.on(name)[-1]) == end)
        last = {name: log.on(name)[-1] for name in names}
        odom, received_pose = simulator.get("/odom"), last["/odom"]["pose"]["pose"]
        for axis in "xyz":
            self.assertAlmostEqual(received_pose["position"][axis], odom["position"][axis], 5)
        imu = simulator.get("/imu")
        for axis in "xyz":
            received = last["/imu"]["linear_acceleration"][axis]
            self.assertAlmostEqual(received, imu["acceleration"][axis], 5)
        self.assertEqual(last["/imu"]["orientation_covariance"][0], -1)
        ranges = list(simulator.get("/lidar?step=0.5")["ranges"].values())
        self.assertEqual(len(last["/scan"]["ranges"]), 721)
        nearest = min(r for r in last["/scan"]["ranges"] if r is not None)
        self.assertAlmostEqual(nearest, min(r for r in ranges if r is not None), 2)
        self.assertEqual(last["/scan"]["ranges"].count(None), ranges.count(None))
        self.assertAlmostEqual(
            last["/battery_state"]["voltage"], simulator.get("/battery")["voltage"], 3
        )
        self.assertIsNone(last["/battery_state"]["temperature"])
        jpeg = base64.b64decode(last["/camera/image_raw/compressed"]["data"])
        self.assertEqual(jpeg, simulator.request("/camera"))

    def test_commands_drive_the_car(self):
        simulator = self.simulator
        log = self.record({"/odom": "nav_msgs/Odometry"})
        before = wait_for("odometry", lambda: log.on("/odom"))[-1]["pose"]["pose"]["position"]
        twist = roslibpy.Topic(self.ros, "/cmd_vel", "geometry_msgs/Twist")
        twist.advertise()

        def driven():
            # A speed command expires after one second, so it is repeated.
            twist.publish(roslibpy.Message({"linear": {"x": 0.5}, "angular": {"z": 0.5}}))
            now = log.on("/odom")[-1]["pose"]["pose"]["position"]
            return math.dist((now["x"], now["y"]), (before["x"], before["y"])) > 0.3

        wait_for("the car to move", driven)
        self.assertAlmostEqual(simulator.commanded("steering"), math.atan(0.5 * 0.18 / 0.5), 5)
        twist.publish(roslibpy.Message({}))
        wait_for(
            "it stands",
            lambda: simulator.commanded("speed") == simulator.commanded("steering") == 0,
        )
        twist.unadvertise()
        values = [("speed", 0.2), ("steering", -0.1), ("camera/pan", 0.3), ("/camera/tilt", -0.2)]
        for name, value in values:
            topic = roslibpy.Topic(self.ros, name, "std_msgs/msg/Float64")
            axis = name.rsplit("/", 1)[-1]

            def is_commanded(topic=topic, axis=axis, value=value):
                # A speed command expires after one second, so it is repeated.
                topic.publish({"data": value})
                return simulator.commanded(axis) == value

            wait_for(name, is_commanded)
            topic.publish({"data": 0.0})
            topic.unadvertise()

    def test_services_answer(self):
        ros = self.ros
        known = set(TOPICS) | set(LATCHED) | {"/speed", "/steering", "/cmd_vel"}
        self.assertEqual(set(ros.get_topics()), known | {"/camera/pan", "/camera/tilt"})
        self.assertEqual(ros.get_topic_type("/scan"), "sensor_msgs/msg/LaserScan")
        self.assertEqual(ros.get_topics_for_type("nav_msgs/msg/Odometry"), ["/odom", "/odom/laser"])
        self.assertEqual(ros.get_nodes(), ["/chicane"])
        self.assertIn("/scan", ros.get_node_details("/chicane")["publishing"])
        self.assertIn("/rosapi/topics", ros.get_services())
        self.assertEqual(ros.get_service_type("/rosapi/topics"), "rosapi_msgs/srv/Topics")
        self.assertEqual(ros.get_services_for_type("rosapi_msgs/srv/Nodes"), ["/rosapi/nodes"])
        details = ros.get_message_details("geometry_msgs/Twist")["typedefs"]
        self.assertEqual(details[0]["fieldnames"], ["linear", "angular"])
        request = ros.get_service_request_details("rosapi_msgs/srv/TopicType")["typedefs"]
        self.assertEqual(request[0]["fieldnames"], ["topic"])
        self.assertTrue(ros.get_param("/use_sim_time"))
        self.assertIsNone(ros.get_param("/nothing"))
        self.assertEqual(ros.get_params(), ["/chicane:use_sim_time"])
        now = self.simulator.get("/sim/api/clock")["sim_time"]
        self.assertLess(abs(ros.get_time().to_sec() - now), 5)
        nothing = roslibpy.Service(ros, "/add_two_ints", "example_interfaces/AddTwoInts")
        with self.assertRaisesRegex(Exception, "unknown service"):
            nothing.call(roslibpy.ServiceRequest({"a": 1, "b": 2}), timeout=30)

    def test_messages_are_throttled(self):
        # Use a new connection, because messages of the subscriptions of other tests may still
        # arrive on the shared connection and delay the messages of this test.
        ros = connect(self.simulator)
        self.addCleanup(ros.close)
        log, began = [], time.monotonic()
        topic = roslibpy.Topic(ros, "/imu", "sensor_msgs/Imu", throttle_rate=500, queue_length=1)
        topic.subscribe(lambda message: log.append(time.monotonic() - began))
        wait_for("five messages", lambda: len(log) >= 5)
        for n, at in enumerate(log):
            self.assertGreaterEqual(at, 0.5 * n)

    def test_connection_by_host_and_port(self):
        ros = roslibpy.Ros("127.0.0.1", self.simulator.port)
        ros.run(timeout=30)
        self.addCleanup(ros.close)
        self.assertEqual(ros.get_nodes(), ["/chicane"])


class Restart(unittest.TestCase):
    def test_client_continues_after_a_restart_of_the_simulator(self):
        simulator = Simulator()
        self.addCleanup(simulator.close)
        ros = connect(simulator)
        self.addCleanup(ros.close)
        log = MessageLog(ros, {"/imu": "sensor_msgs/Imu", "/tf_static": "tf2_msgs/TFMessage"})
        self.addCleanup(log.end)
        for how in [signal.SIGTERM, signal.SIGKILL]:
            wait_for("the first messages", lambda: log.on("/imu") and log.on("/tf_static"))
            simulator.stop(how)
            wait_for("the lost connection", lambda: not ros.is_connected)
            with log.lock:
                log.messages = {name: [] for name in log.messages}
            simulator.start()
            wait_for(
                "messages after the restart",
                lambda: len(log.on("/imu")) > 50 and log.on("/tf_static"),
            )
            topic = roslibpy.Topic(ros, "/steering", "std_msgs/Float64")
            topic.publish({"data": 0.25})
            wait_for("the steering command", lambda: simulator.commanded("steering") == 0.25)


class Token(unittest.TestCase):
    def test_token_in_the_handshake_is_accepted(self):
        simulator = Simulator("--token", "a-long-secret-for-a-test")
        self.addCleanup(simulator.close)
        simulator.token = "a-long-secret-for-a-test"
        ros = connect(simulator, headers={"Authorization": f"Bearer {simulator.token}"})
        self.addCleanup(ros.close)
        topic = roslibpy.Topic(ros, "/steering", "std_msgs/Float64")
        topic.publish({"data": 0.25})
        wait_for("the steering command", lambda: simulator.commanded("steering") == 0.25)
        stranger = roslibpy.Ros(f"ws://127.0.0.1:{simulator.port}/rosbridge")
        with self.assertRaises(Exception):  # noqa: B017
            stranger.run(timeout=2)
        # Only the thread of the reactor may stop the attempts to connect, because that thread makes
        # them.
        blockingCallFromThread(reactor, stranger.factory.stopTrying)


if __name__ == "__main__":
    unittest.main()
