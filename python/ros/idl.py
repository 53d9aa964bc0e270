"""Message types of the robot's topics for Cyclone DDS, following the ROS 2 definitions."""

import struct
from dataclasses import dataclass
from types import new_class

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int32, sequence, uint8, uint32, uint64


class Encoded:
    """An undecoded message. Decoding a picture takes 20 ms in Python and would delay the reader."""

    def __init__(self, kind, data: bytes):
        self.kind, self.data, self.sample_info = kind, data, None

    def message(self):
        return self.kind.__idl__.deserialize(self.data)

    def tick(self) -> int:
        """The tick of the message's stamp.

        The stamp is the first field, except in `TFMessage`. There the number of transforms comes
        before the stamp.
        """
        sec, nanosec = struct.unpack_from("<iI", self.data, 8 if self.kind is TFMessage else 4)
        return sec * 200 + nanosec // 5_000_000


def ros(name: str):
    """Decorator: makes a struct with the DDS type name of `package/Type`."""
    package, kind = name.split("/")

    def named(cls):
        fields = {"__annotations__": cls.__annotations__, "__module__": __name__}
        typename = {"typename": f"{package}::msg::dds_::{kind}_"}
        made = dataclass(new_class(kind, (IdlStruct,), typename, lambda body: body.update(fields)))
        made.deserialize = classmethod(lambda kind, data, **_: Encoded(kind, data))
        return made

    return named


@ros("builtin_interfaces/Time")
class Time:
    sec: int32
    nanosec: uint32


@ros("std_msgs/Header")
class Header:
    stamp: Time
    frame_id: str


@ros("std_msgs/Float64")
class Float64:
    data: float64


@ros("std_msgs/UInt64")
class UInt64:
    data: uint64


@ros("rosgraph_msgs/Clock")
class Clock:
    clock: Time


@ros("geometry_msgs/Vector3")
class Vector3:
    x: float64
    y: float64
    z: float64


@ros("geometry_msgs/Point")
class Point:
    x: float64
    y: float64
    z: float64


@ros("geometry_msgs/Quaternion")
class Quaternion:
    x: float64
    y: float64
    z: float64
    w: float64


@ros("geometry_msgs/Pose")
class Pose:
    position: Point
    orientation: Quaternion


@ros("geometry_msgs/PoseWithCovariance")
class PoseWithCovariance:
    pose: Pose
    covariance: array[float64, 36]


@ros("geometry_msgs/Twist")
class Twist:
    linear: Vector3
    angular: Vector3


@ros("geometry_msgs/TwistWithCovariance")
class TwistWithCovariance:
    twist: Twist
    covariance: array[float64, 36]


@ros("geometry_msgs/Transform")
class Transform:
    translation: Vector3
    rotation: Quaternion


@ros("geometry_msgs/TransformStamped")
class TransformStamped:
    header: Header
    child_frame_id: str
    transform: Transform


@ros("tf2_msgs/TFMessage")
class TFMessage:
    transforms: sequence[TransformStamped]


@ros("nav_msgs/Odometry")
class Odometry:
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


@ros("sensor_msgs/Image")
class Image:
    header: Header
    height: uint32
    width: uint32
    encoding: str
    is_bigendian: uint8
    step: uint32
    data: sequence[uint8]


@ros("sensor_msgs/CompressedImage")
class CompressedImage:
    header: Header
    format: str
    data: sequence[uint8]


@ros("sensor_msgs/RegionOfInterest")
class RegionOfInterest:
    x_offset: uint32
    y_offset: uint32
    height: uint32
    width: uint32
    do_rectify: bool


@ros("sensor_msgs/CameraInfo")
class CameraInfo:
    header: Header
    height: uint32
    width: uint32
    distortion_model: str
    d: sequence[float64]
    k: array[float64, 9]
    r: array[float64, 9]
    p: array[float64, 12]
    binning_x: uint32
    binning_y: uint32
    roi: RegionOfInterest


@ros("sensor_msgs/LaserScan")
class LaserScan:
    header: Header
    angle_min: float32
    angle_max: float32
    angle_increment: float32
    time_increment: float32
    scan_time: float32
    range_min: float32
    range_max: float32
    ranges: sequence[float32]
    intensities: sequence[float32]


@ros("sensor_msgs/Imu")
class Imu:
    header: Header
    orientation: Quaternion
    orientation_covariance: array[float64, 9]
    angular_velocity: Vector3
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vector3
    linear_acceleration_covariance: array[float64, 9]


@ros("sensor_msgs/JointState")
class JointState:
    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]


@ros("sensor_msgs/BatteryState")
class BatteryState:
    header: Header
    voltage: float32
    temperature: float32
    current: float32
    charge: float32
    capacity: float32
    design_capacity: float32
    percentage: float32
    power_supply_status: uint8
    power_supply_health: uint8
    power_supply_technology: uint8
    present: bool
    cell_voltage: sequence[float32]
    cell_temperature: sequence[float32]
    location: str
    serial_number: str
