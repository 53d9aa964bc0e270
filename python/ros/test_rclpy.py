"""Tests of the robot's topics with rclpy: its types, its clock and its graph.

Without a ROS installation the package tf2_msgs is missing. Therefore test_cyclone.py tests the
topics whose types are in tf2_msgs.
"""

import math
import os
import pathlib
import threading
import time
import unittest
from itertools import pairwise

PROFILE = pathlib.Path(__file__).parents[2] / "docs/ros/fastdds.xml"
os.environ["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(PROFILE)
os.environ["RMW_IMPLEMENTATION"] = "rmw_fastrtps_cpp"
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

import rclpy  # noqa: E402
from geometry_msgs.msg import Twist  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import (  # noqa: E402
    DurabilityPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_sensor_data,
)
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import (  # noqa: E402
    BatteryState,
    CameraInfo,
    CompressedImage,
    Image,
    Imu,
    JointState,
    LaserScan,
)
from std_msgs.msg import Float64, UInt64  # noqa: E402

from .simulator import Simulator, wait_for  # noqa: E402

DOMAIN = 41
SPAN = 5.0
TOPICS = {
    "/camera/image_raw": (Image, 15),
    "/camera/image_raw/compressed": (CompressedImage, 15),
    "/camera/camera_info": (CameraInfo, 15),
    "/scan": (LaserScan, 10),
    "/scan_filtered": (LaserScan, 10),
    "/imu": (Imu, 50),
    "/odom": (Odometry, 30),
    "/odom/laser": (Odometry, 10),
    "/joint_states": (JointState, 30),
    "/battery_state": (BatteryState, 1),
    "/clock": (Clock, 200),
}


def start(domain: int):
    """A new rclpy context."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    return context


class Listener:
    """A node that takes messages without an executor, which would be too slow for all topics."""

    def __init__(self, domain: int):
        self.context = start(domain)
        self.node = rclpy.create_node("listener", context=self.context)
        self.logs: dict[str, list] = {}
        self.last: dict[str, object] = {}
        self.subscriptions = []

    def listen(self, name: str, kind, qos, key=None) -> None:
        key = key or name
        self.logs[key] = []
        subscription = self.node.create_subscription(kind, name, lambda _: None, qos)
        self.subscriptions.append((key, subscription))

    def take(self, seconds: float, until=lambda: False) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            taken = False
            for key, subscription in self.subscriptions:
                while found := subscription.handle.take_message(subscription.msg_type, False):
                    taken = True
                    self.note(key, found[0])
            if not taken:
                time.sleep(0.001)

    def note(self, key: str, message) -> None:
        stamp = message.clock if isinstance(message, Clock) else getattr(message, "header", None)
        stamp = getattr(stamp, "stamp", stamp)
        tick = stamp.sec * 200 + stamp.nanosec // 5_000_000 if stamp else None
        self.logs[key].append((tick, time.monotonic()))
        self.last[key] = message

    def close(self) -> None:
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class Node:
    """A typical user's node: it uses simulated time and receives messages in callbacks."""

    def __init__(self, domain: int):
        self.context = start(domain)
        simulated = [Parameter("use_sim_time", Parameter.Type.BOOL, True)]
        self.node = rclpy.create_node("node", context=self.context, parameter_overrides=simulated)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)

    def start(self) -> None:
        self.thread.start()

    def close(self) -> None:
        self.executor.shutdown()
        self.thread.join(10)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class Topics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.simulator = Simulator(DOMAIN)
        cls.addClassCleanup(cls.simulator.close)
        cls.listener = listener = Listener(DOMAIN)
        cls.addClassCleanup(listener.close)
        for name, (kind, _) in TOPICS.items():
            listener.listen(name, kind, 200)
        for name in ["/scan", "/imu"]:
            listener.listen(name, TOPICS[name][0], qos_profile_sensor_data, f"best effort {name}")
        kept = QoSProfile(
            depth=1,
            reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL,
        )
        listener.listen("/sim/epoch", UInt64, kept)
        listener.take(60.0, until=lambda: all(listener.logs.values()))
        missing = [name for name, log in listener.logs.items() if not log]
        assert not missing, f"no message arrived on {missing}"

    def lost(self) -> list[str]:
        """Topics that lost a sample within `SPAN` seconds or had a wrong rate."""
        logs = self.listener.logs
        for samples in logs.values():
            samples.clear()
        self.listener.take(SPAN)
        clock = logs["/clock"]
        # The measured real-time factor. It is below 1 if the machine is busy.
        pace = (clock[-1][0] - clock[0][0]) / 200 / (clock[-1][1] - clock[0][1])
        lost = []
        for name, (_, rate) in TOPICS.items():
            if rate < 2:
                continue
            ticks = [tick for tick, _ in logs[name]]
            gap = max((b - a for a, b in pairwise(ticks)), default=math.inf)
            wall = logs[name][-1][1] - logs[name][0][1] if ticks else math.inf
            by_stamp = (len(ticks) - 1) / max(ticks[-1] - ticks[0], 1) * 200 if ticks else 0.0
            by_count = (len(ticks) - 1) / wall / pace
            exact = gap <= math.ceil(200 / rate)
            if not (exact and all(abs(r / rate - 1) < 0.05 for r in (by_stamp, by_count))):
                lost.append(f"{name}: {by_stamp:.1f} and {by_count:.1f} Hz, {gap} ticks without")
        for name in ["/scan", "/imu"]:
            if len(logs[f"best effort {name}"]) < 0.9 * SPAN * pace * TOPICS[name][1]:
                lost.append(f"best effort {name}")
        return lost

    def test_every_topic_has_its_rate(self):
        # Tries several times, because other load on the machine can cause lost samples.
        for _ in range(12):
            if not (lost := self.lost()):
                return
        self.assertEqual(lost, [])

    def test_messages_have_the_expected_content(self):
        last = self.listener.last
        image = last["/camera/image_raw"]
        self.assertEqual((image.width, image.height, image.encoding), (480, 360, "rgb8"))
        self.assertEqual(len(image.data), 1440 * 360)
        self.assertEqual(bytes(last["/camera/image_raw/compressed"].data[:2]), b"\xff\xd8")
        self.assertEqual(len(last["/scan"].ranges), 721)
        self.assertEqual(last["/imu"].orientation_covariance[0], -1.0)
        self.assertEqual(last["/odom"].child_frame_id, "base_footprint")
        self.assertEqual(len(last["/joint_states"].name), 8)
        self.assertAlmostEqual(last["/battery_state"].voltage, 8.4, places=3)
        epoch = self.simulator.get("/sim/api/state")["epoch"]
        self.assertEqual(last["/sim/epoch"].data, epoch)


class Callbacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.simulator = Simulator(DOMAIN + 2)
        cls.addClassCleanup(cls.simulator.close)
        cls.node = Node(DOMAIN + 2)
        cls.addClassCleanup(cls.node.close)
        cls.node.start()

    def test_node_clock_follows_simulated_time(self):
        def seconds():
            return self.node.node.get_clock().now().nanoseconds * 1e-9

        wait_for("the clock", lambda: seconds() > 0)
        self.simulator.post("/sim/api/clock", {"paused": True})
        paused = self.simulator.get("/sim/api/state")["time"]
        wait_for("the clock to stop", lambda: abs(seconds() - paused) < 1e-6)
        self.simulator.post("/sim/api/step", {"steps": 400})
        wait_for("the clock to advance by 2 s", lambda: abs(seconds() - paused - 2.0) < 1e-6)
        self.simulator.post("/sim/api/clock", {"paused": False})

    def test_the_graph_shows_the_node_and_its_topics(self):
        node = self.node.node
        wait_for("the node", lambda: "chicane" in node.get_node_names())
        topics = dict(node.get_publisher_names_and_types_by_node("chicane", "/"))
        for name, kind in [
            ("/scan", "sensor_msgs/msg/LaserScan"),
            ("/tf", "tf2_msgs/msg/TFMessage"),
            ("/tf_static", "tf2_msgs/msg/TFMessage"),
            ("/clock", "rosgraph_msgs/msg/Clock"),
        ]:
            self.assertEqual(topics.get(name), [kind], name)
        subscribed = dict(node.get_subscriber_names_and_types_by_node("chicane", "/"))
        self.assertEqual(subscribed["/cmd_vel"], ["geometry_msgs/msg/Twist"])

    def test_commands_drive_the_car(self):
        def commanded():
            return self.simulator.get("/states?include=odom")["cmd"]

        for name, key, value in [
            ("/speed", "speed", 0.25),
            ("/steering", "steering", 0.1),
            ("/camera/pan", "pan", -0.3),
            ("/camera/tilt", "tilt", 0.2),
        ]:
            with self.subTest(name):
                writer = self.node.node.create_publisher(Float64, name, 10)
                wait_for("a subscriber", lambda t=writer: t.get_subscription_count() > 0)

                def is_commanded(writer=writer, key=key, value=value) -> bool:
                    # A speed command expires after one second, so it is repeated.
                    writer.publish(Float64(data=value))
                    return abs(commanded()[key] - value) < 1e-6

                wait_for(name, is_commanded)
        writer = self.node.node.create_publisher(Twist, "/cmd_vel", 10)
        wait_for("a subscriber", lambda: writer.get_subscription_count() > 0)
        twist = Twist()
        twist.linear.x, twist.angular.z = 0.4, -0.5
        wanted = math.atan(-0.5 * 0.18 / 0.4)

        def is_turning() -> bool:
            # The steering command sent above may arrive after the first twist.
            writer.publish(twist)
            return abs(commanded()["steering"] - wanted) < 1e-5

        wait_for("a twist", is_turning)


class Restart(unittest.TestCase):
    def test_subscription_receives_data_after_a_restart(self):
        simulator = Simulator(DOMAIN + 1)
        self.addCleanup(simulator.close)
        node = Node(DOMAIN + 1)
        self.addCleanup(node.close)
        odom = []
        node.node.create_subscription(Odometry, "/odom", odom.append, 10)
        node.start()
        wait_for("data", lambda: len(odom) > 10)
        for kill in [False, True]:
            with self.subTest(kill=kill):
                if kill:
                    simulator.process.kill()
                simulator.stop()
                simulator.start()
                count = len(odom)
                wait_for("data again", lambda n=count: len(odom) > n + 10)
