"""Types of the OpenAPI document "Chicane robot", made by `make wire`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict


class Battery(TypedDict):
    """Response of `GET /battery`."""

    charging: bool
    """Whether the battery is charging."""
    current: Num
    """Current, A; negative while the battery discharges."""
    percentage: Num
    """Charge, percent."""
    present: bool
    """Whether the car has a battery."""
    voltage: Num
    """Voltage, V."""


class BodyBox(TypedDict):
    """Bounding box of the car's body."""

    centre: list[Num]
    """Centre relative to the pose origin, m."""
    size: Size
    """Full extents, m."""


class CameraAngleRequest(TypedDict):
    """Request body of `POST /camera/pan` and `POST /camera/tilt`."""

    value: float
    """Angle, rad, positive to the left or upwards; clamped to the car's limits."""


class CameraFrameRequired(TypedDict):
    """What is always there of CameraFrame."""

    frame: int
    """Index of the frame, from 0."""
    height: int
    """Height, pixels."""
    time: Num
    """Simulated time of the frame, s."""
    width: int
    """Width, pixels."""


class CameraFrame(CameraFrameRequired, total=False):
    """The latest frame of the camera."""

    data: str | None
    """The image, base64; omitted unless `include` names the camera."""
    encoding: str | None
    """`jpeg`; omitted unless `include` names the camera."""


class CameraProfile(TypedDict):
    """Camera parameters."""

    distortion: list[Num]
    """Coefficients of radial distortion, second and fourth order."""
    height: int
    """Height of the image, pixels."""
    horizontal_fov: Num
    """Horizontal field of view, rad."""
    noise_sd: Num
    """Standard deviation of the noise, as a fraction of full scale."""
    position: list[Num]
    """Position relative to the pose origin, m."""
    rate: int
    """Frames per simulated second."""
    width: int
    """Width of the image, pixels."""


class CommandedRequired(TypedDict):
    """What is always there of Commanded."""

    success: bool
    """Always true."""
    value: Num
    """The value after clamping to the car's limits."""


class Commanded(CommandedRequired, total=False):
    """Response to a command with one value."""

    message: str | None
    """How a held speed ended: `stopped` after its duration, or `superseded` by a newer command."""


class Detail(TypedDict):
    """The body of every error response of the robot's API."""

    detail: str
    """The cause of the error and, where possible, how to correct the request."""


class DriveCommand(TypedDict):
    """The current actuator commands."""

    pan: Num
    """Pan angle of the camera, rad, positive to the left."""
    speed: Num
    """Speed, m/s."""
    steering: Num
    """Steering angle, rad, positive to the left."""
    tilt: Num
    """Tilt angle of the camera, rad, positive upwards."""


class DriveRequest(TypedDict):
    """Request body of `POST /drive`."""

    speed: float
    """Speed, m/s, positive is forward; clamped to the car's limits."""
    steering: float
    """Steering angle, rad, positive to the left; clamped to the car's limits."""


class DriveValues(TypedDict):
    """Speed and steering."""

    speed: Num
    """Speed, m/s."""
    steering: Num
    """Steering angle, rad, positive to the left."""


class DrivenRequired(TypedDict):
    """What is always there of Driven."""

    success: bool
    """Always true."""
    value: DriveValues
    """The values after clamping to the car's limits."""


class Driven(DrivenRequired, total=False):
    """Response of `POST /drive`."""

    message: str | None
    """Always null."""


class ErrorBody(TypedDict):
    """The body of every error response."""

    error: str
    """The cause of the error and, where possible, how to correct the request."""


class Heading(TypedDict):
    """Orientation of the car in two notations."""

    quaternion: Quaternion
    """The same orientation as a quaternion."""
    yaw: Num
    """Yaw, degrees, positive to the left."""


class HealthRequired(TypedDict):
    """What is always there of Health."""

    paused: bool
    """Whether the simulation is paused."""
    status: str
    """`ok`, or `waiting` before the first world is loaded."""


class Health(HealthRequired, total=False):
    """Response of `GET /health`."""

    time: Num | None
    """Simulated seconds; null before the first world is loaded."""


class ImuProfile(TypedDict):
    """Parameters of the inertial measurement unit."""

    accelerometer_sd: Num
    """Standard deviation of the accelerometer's noise, m/s²."""
    gyro_sd: Num
    """Standard deviation of the gyro's noise, rad/s."""
    position: list[Num]
    """Position relative to the pose origin, m."""
    rate: int
    """Samples per simulated second."""


class Inertial(TypedDict):
    """Response of `GET /imu`."""

    acceleration: Xyz
    """Acceleration, m/s². At rest it is +g upwards."""
    gyro: Xyz
    """Turn rate about each axis, rad/s."""
    orientation: Quaternion
    """Always the identity, because the sensor does not measure orientation."""


class Info(TypedDict):
    """Response of `GET /info`: description of the robot."""

    generation: str
    """Short name of the vehicle generation."""
    limits: Limits
    """Limits of motor and servos."""
    mode: str
    """Always `sim`. A physical car reports another mode."""
    model_name: str
    """Display name."""
    rates: Rates
    """Rates of readings, per simulated second."""
    sensors: Sensors
    """Parameters of the sensors."""
    sizes: Sizes
    """Dimensions and mass."""
    version: str
    """Version of the software."""


class JointAngles(TypedDict):
    """Angles of all joints."""

    front_wheels: list[Num]
    """Steering angles of the front left and front right wheel, rad."""
    pan: Num
    """Pan angle of the camera, rad, positive to the left."""
    steering: Num
    """Angle of the steering servo, rad, positive to the left."""
    tilt: Num
    """Tilt angle of the camera, rad, positive upwards."""
    wheel_angles: list[Num]
    """Total rotation of each wheel, rad: front left, front right, rear left, rear right."""
    wheel_spins: list[Num]
    """Angular speed of each wheel, rad/s, in the same order."""


class LidarProfile(TypedDict):
    """Lidar parameters."""

    beams: int
    """Number of beams over the full circle."""
    noise_sd: Num
    """Standard deviation of the noise, m."""
    position: list[Num]
    """Position relative to the pose origin, m."""
    range_max: Num
    """Longest measurable distance, m."""
    range_min: Num
    """Shortest measurable distance, m."""
    rate: int
    """Scans per simulated second."""


class LidarScan(TypedDict):
    """Response of `GET /lidar`."""

    count: int
    """Number of keys of `ranges`."""
    meta: ScanMeta
    """Time and geometry of the scan."""
    range_max: Num
    """Longest measurable distance, m."""
    range_min: Num
    """Shortest measurable distance, m."""
    ranges: dict[str, float | None]
    """Distance in metres by angle in degrees, positive to the left; null if the beam hit
    nothing.
    """
    step: Num
    """Angle between neighbouring keys of `ranges`, degrees."""


class Limits(TypedDict):
    """Limits of motor and servos, in both directions."""

    acceleration: Num
    """Acceleration, m/s²."""
    pan: Num
    """Pan angle of the camera, rad."""
    speed: Num
    """Speed, m/s."""
    steering: Num
    """Angle of the virtual centre wheel, rad."""
    steering_rate: Num
    """Rate of change of the steering angle, rad/s."""
    tilt: Num
    """Tilt angle of the camera, rad."""


Num: TypeAlias = float
"""Num"""


Octets: TypeAlias = bytes
"""Bytes that are not JSON, for the OpenAPI document."""


class Odometry(TypedDict):
    """Response of `GET /odom`: estimated pose from lidar and gyro alone."""

    frame_id: str
    """Always `odom`."""
    orientation: Heading
    """Orientation of the car."""
    position: Xyz
    """Position relative to the start, m."""
    velocity: Velocity
    """Velocity of the car."""


class PlayRequest(TypedDict, total=False):
    """Request body of `POST /audio/play`. Exactly one of `url`, `path` and `data` is required."""

    data: str | None
    """Content of the file, base64; at most 16 MiB."""
    format: SoundFormat | None
    """Expected format of the file. The format itself is detected from the content."""
    loop: bool | None
    """Whether to repeat the sound until it is stopped; false if omitted."""
    path: str | None
    """Path of a file in the workspace."""
    replace: bool | None
    """Whether to stop all other sounds first; false if omitted."""
    url: str | None
    """URL of a file on the public internet, http or https."""
    volume: float | None
    """Volume, 0 to 1; 1 if omitted."""


class Played(TypedDict):
    """Response of `POST /audio/play`."""

    duration: Num
    """Duration of the sound, seconds."""
    id: str
    """Id of the new sound."""
    success: bool
    """Always true."""


class Quaternion(TypedDict):
    """A rotation as a unit quaternion."""

    w: Num
    """Real part."""
    x: Num
    """X component."""
    y: Num
    """Y component."""
    z: Num
    """Z component."""


class Rates(TypedDict):
    """Rates of readings, per simulated second."""

    battery: int
    """Battery readings."""
    camera: int
    """Camera frames."""
    imu: int
    """Gyro and accelerometer samples."""
    joints: int
    """Speed, steering and joint angles."""
    lidar: int
    """Laser scans."""
    odom: int
    """Odometry estimates."""


class ScanMeta(TypedDict):
    """Time and geometry of a scan."""

    angle_increment: Num
    """Angle between neighbouring beams, degrees."""
    beams: int
    """Number of beams over the full circle."""
    frame_id: str
    """Always `lidar_link`."""
    rate: int
    """Scans per simulated second."""
    sample: int
    """Index of the scan, from 0."""
    time: Num
    """Simulated time of the scan, s."""


class Sensors(TypedDict):
    """Parameters of a robot's sensors."""

    camera: CameraProfile
    """Camera."""
    imu: ImuProfile
    """Inertial measurement unit."""
    lidar: LidarProfile
    """Lidar."""


class Size(TypedDict):
    """Full extents of an object's bounding box in the object's own frame."""

    x: Num
    """Extent along x, m."""
    y: Num
    """Extent along y, m."""
    z: Num
    """Extent along z, m."""


class Sizes(TypedDict):
    """Dimensions and mass of a robot."""

    body: BodyBox
    """Bounding box of the body."""
    mass: Num
    """Total mass of the car, kg."""
    track: Num
    """Distance between left and right wheels, m."""
    wheel_radius: Num
    """Radius of a wheel, m."""
    wheel_width: Num
    """Width of a wheel, m."""
    wheelbase: Num
    """Distance between the axles, m."""


class SoundBegunRequired(TypedDict):
    """What is always there of SoundBegun."""

    channels: int
    """Number of channels, 1 or 2."""
    id: str
    """Id of the sound."""
    kind: SoundKind
    """Whether the sound is a file or a stream."""
    loop: bool
    """Whether the sound is repeated."""
    position: Num
    """Playback position, simulated seconds."""
    sample_rate: int
    """Sample rate, Hz."""
    time: Num
    """Simulated time at which the sound was at `position`, s."""
    volume: Num
    """Volume, 0 to 1."""


class SoundBegun(SoundBegunRequired, total=False):
    """A sound that started."""

    duration: Num | None
    """Duration, seconds; null for a stream."""
    format: SoundFormat | None
    """Format of the file; null for a stream."""
    url: str | None
    """Path under which the file is served; null for a stream."""


SoundEvent: TypeAlias = "SoundBegun | SoundSamples | dict[str, Any]"
"""Data of an event of `GET /audio/events`; the event's name is sent separately."""


SoundFormat: TypeAlias = Literal["wav", "mp3", "ogg", "flac"]
"""Formats of sound files."""


SoundKind: TypeAlias = Literal["file", "stream"]
"""Whether a sound is a file or a stream."""


class SoundPlayingRequired(TypedDict):
    """What is always there of SoundPlaying."""

    channels: int
    """Number of channels, 1 or 2."""
    id: str
    """Id of the sound."""
    kind: SoundKind
    """Whether the sound is a file or a stream."""
    loop: bool
    """Whether the sound is repeated."""
    position: Num
    """Playback position, simulated seconds."""
    sample_rate: int
    """Sample rate, Hz."""
    source: str
    """Origin of the sound: its URL, its path, `data` or `stream`."""
    volume: Num
    """Volume, 0 to 1."""


class SoundPlaying(SoundPlayingRequired, total=False):
    """A sound that is playing."""

    duration: Num | None
    """Duration, seconds; null for a stream."""
    format: SoundFormat | None
    """Format of the file; null for a stream."""


class SoundSamples(TypedDict):
    """Samples of a stream."""

    channels: int
    """Number of channels, 1 or 2."""
    data: str
    """16-bit samples, little-endian, channels interleaved; base64."""
    id: str
    """Id of the stream."""
    sample_rate: int
    """Sample rate, Hz."""


class SoundStopped(TypedDict):
    """Response of `POST /audio/stop`."""

    success: bool
    """Always true."""


class Sounds(TypedDict):
    """Response of `GET /audio`."""

    playing: list[SoundPlaying]
    """Playing sounds, in the order in which they started."""


class SpeedRequestRequired(TypedDict):
    """What is always there of SpeedRequest."""

    value: float
    """Speed, m/s, positive is forward; clamped to the car's limits."""


class SpeedRequest(SpeedRequestRequired, total=False):
    """Request body of `POST /speed`."""

    duration: float | None
    """How long to hold the speed, simulated seconds; the response is sent at the end. If
    omitted, the speed is held for one second and the response is sent at once.
    """


class StatesRequired(TypedDict):
    """What is always there of States."""

    cmd: DriveCommand
    """The current actuator commands."""


class States(StatesRequired, total=False):
    """Response of `GET /states`: the requested readings. A reading that does not exist yet is
    null.
    """

    audio: Sounds | None
    """Same as `GET /audio`."""
    battery: Battery | None
    """Same as `GET /battery`."""
    camera: CameraFrame | None
    """The latest frame of the camera."""
    imu: Inertial | None
    """Same as `GET /imu`."""
    joints: JointAngles | None
    """Angles of all joints."""
    lidar: LidarScan | None
    """Same as `GET /lidar`."""
    odom: Odometry | None
    """Same as `GET /odom`."""
    speed: float | None
    """Same as `GET /speed`."""
    steering: float | None
    """Same as `GET /steering`."""


class SteeringRequest(TypedDict):
    """Request body of `POST /steering`, and a frame of the WebSocket `/steering/stream`."""

    value: float
    """Steering angle, rad, positive to the left; clamped to the car's limits."""


class StopSoundRequest(TypedDict, total=False):
    """Request body of `POST /audio/stop`: either `id` or `all`."""

    all: bool | None
    """Whether to stop all sounds."""
    id: str | None
    """Id of the sound to stop."""


class Velocity(TypedDict):
    """Velocity of the car."""

    angular: Num
    """Yaw rate, rad/s, positive to the left."""
    linear: Num
    """Forward speed, m/s."""


class VolumeChanged(TypedDict):
    """Response of `POST /audio/volume`."""

    id: str
    """Id of the sound."""
    success: bool
    """Always true."""
    volume: Num
    """Volume after the change, 0 to 1."""


class VolumeRequest(TypedDict):
    """Request body of `POST /audio/volume`."""

    id: str
    """Id of the sound."""
    volume: float
    """New volume, 0 to 1."""


class Waiting(TypedDict):
    """Response of a sensor's path before the first reading."""

    error: str
    """Names the missing reading."""
    status: str
    """Always `waiting`."""


class Xyz(TypedDict):
    """A vector in the car's frame."""

    x: Num
    """Forward component."""
    y: Num
    """Left component."""
    z: Num
    """Upward component."""
