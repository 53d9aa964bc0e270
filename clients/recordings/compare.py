"""Compares recorded messages with readings of the web API, whose numbers are rounded."""

import json
import math

from drive import TICK_NS

WHEELS = ["front_left", "front_right", "rear_left", "rear_right"]
JOINTS = [
    *(f"{wheel}_wheel_joint" for wheel in WHEELS),
    "front_left_steering_joint",
    "front_right_steering_joint",
    "camera_pan_joint",
    "camera_tilt_joint",
]


def near(got: float, want: float, tolerance: float = 1e-6) -> bool:
    """Whether two numbers are equal, apart from rounding to single precision or to `tolerance`.

    The default tolerance is that of readings, which are rounded to six decimals.
    """
    return math.isclose(got, want, rel_tol=1e-6, abs_tol=tolerance)


def all_near(got, want, tolerance: float = 1e-6) -> bool:
    got, want = list(got), list(want)
    return len(got) == len(want) and all(map(lambda a, b: near(a, b, tolerance), got, want))


def xyz(vector) -> list[float]:
    return [vector.x, vector.y, vector.z]


def numbers(reading: dict, *names: str) -> list[float]:
    return [reading[name] for name in names]


def stamp_ns(stamp) -> int:
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def odom(message, reading: dict) -> bool:
    want = reading["odom"]
    pose, twist = message.pose.pose, message.twist.twist
    turn = want["orientation"]["quaternion"]
    velocity = [twist.linear.x, twist.angular.z]
    return (
        message.header.frame_id == want["frame_id"]
        and message.child_frame_id == "base_footprint"
        and all_near(xyz(pose.position), numbers(want["position"], "x", "y", "z"))
        and all_near([pose.orientation.z, pose.orientation.w], numbers(turn, "z", "w"))
        and all_near(velocity, numbers(want["velocity"], "linear", "angular"))
    )


def imu(message, reading: dict) -> bool:
    want = reading["imu"]
    acceleration = numbers(want["acceleration"], "x", "y", "z")
    return all_near(xyz(message.linear_acceleration), acceleration) and all_near(
        xyz(message.angular_velocity), numbers(want["gyro"], "x", "y", "z")
    )


def scan(message, reading: dict) -> bool:
    want = sorted((float(angle), r) for angle, r in reading["lidar"]["ranges"].items())
    if len(message.ranges) != 721 or len(want) != 721:
        return False
    for i, (angle, expected) in enumerate(want):
        beam = math.degrees(message.angle_min + i * message.angle_increment)
        if not near(beam, angle, 1e-3):
            return False
        got = float(message.ranges[i])
        # The web API rounds ranges to millimetres.
        if not (math.isinf(got) if expected is None else near(got, expected, 6e-4)):
            return False
    return True


def joints(message, reading: dict) -> bool:
    want = reading["joints"]
    servos = [*want["front_wheels"], want["pan"], want["tilt"]]
    return (
        list(message.name) == JOINTS
        and all_near(message.position, [*want["wheel_angles"], *servos])
        and all_near(list(message.velocity)[:4], want["wheel_spins"])
    )


def battery(message, reading: dict) -> bool:
    want = reading["battery"]
    got = [message.voltage, message.current, 100 * message.percentage]
    numbers_wanted = numbers(want, "voltage", "current", "percentage")
    return message.present and all_near(got, numbers_wanted, 1e-4)


def transforms(message, reading: dict) -> bool:
    car, camera = message.transforms
    want = reading["odom"]
    frames = [(one.header.frame_id, one.child_frame_id) for one in (car, camera)]
    return frames == [("odom", "base_footprint"), ("base_link", "camera_link")] and all_near(
        xyz(car.transform.translation), numbers(want["position"], "x", "y", "z")
    )


def image(message, reading: dict) -> bool:
    return message.format == "jpeg" and bytes(message.data) == reading["camera"]["jpeg"]


COMPARED = {
    "/odom": odom,
    "/odom/laser": odom,
    "/imu": imu,
    "/scan": scan,
    "/joint_states": joints,
    "/battery_state": battery,
    "/tf": transforms,
    "/camera/image_raw/compressed": image,
}


def same(topic: str, time_ns: int, message, readings: dict[int, dict]) -> bool:
    """Whether a ROS message has the right time stamp and equals the reading at its time.

    The content is compared only for the topics of `COMPARED`.
    """
    if topic == "/clock":
        return stamp_ns(message.clock) == time_ns
    header = getattr(message, "header", None) or message.transforms[0].header
    compare = COMPARED.get(topic, lambda *_: True)
    return stamp_ns(header.stamp) == time_ns and compare(message, readings[time_ns // TICK_NS])


def same_state(data: bytes, want: dict) -> bool:
    """Whether a message of /sim/state equals the response of `GET /sim/api/state`."""
    return json.loads(data) == want
