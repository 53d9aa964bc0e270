"""Types of the OpenAPI document "Chicane robot", made by `make wire`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict


class Battery(TypedDict):
    """Answer of `GET /battery`."""

    charging: bool
    """Whether it is being charged."""
    current: Num
    """A; negative while it gives."""
    percentage: Num
    """Charge, 0 to 100."""
    present: bool
    """Whether there is one."""
    voltage: Num
    """V."""


class BodyBox(TypedDict):
    """The body's box."""

    centre: list[Num]
    """Centre from the pose origin, m."""
    size: Size
    """Full extents, m."""


class CameraAngleRequest(TypedDict):
    """Body of `POST /camera/pan` and `POST /camera/tilt`."""

    value: float
    """rad, + is left and up. Out of the car's limits it is clamped."""


class CameraFrameRequired(TypedDict):
    """What is always there of CameraFrame."""

    frame: int
    """Which frame it is, from 0."""
    height: int
    """Pixels."""
    time: Num
    """Simulated seconds at which it was taken."""
    width: int
    """Pixels."""


class CameraFrame(CameraFrameRequired, total=False):
    """The last frame of the camera."""

    data: str | None
    """The picture, base64, if it was asked for by name."""
    encoding: str | None
    """`jpeg`, if the picture was asked for by name."""


class CameraProfile(TypedDict):
    """Camera parameters."""

    distortion: list[Num]
    """Radial distortion, second and fourth order."""
    height: int
    """Pixels."""
    horizontal_fov: Num
    """rad."""
    noise_sd: Num
    """Of full scale."""
    position: list[Num]
    """m from the pose origin."""
    rate: int
    """Frames a simulated second."""
    width: int
    """Pixels."""


class CommandedRequired(TypedDict):
    """What is always there of Commanded."""

    success: bool
    """Always true."""
    value: Num
    """Within the car's limits."""


class Commanded(CommandedRequired, total=False):
    """Answer to a command of one value."""

    message: str | None
    """What became of a speed that was held: `stopped` in its time, or `superseded` before."""


class Detail(TypedDict):
    """The body of an error of the robot's."""

    detail: str
    """What was wrong, and what would be right."""


class DriveCommand(TypedDict):
    """What the actuators are asked for."""

    pan: Num
    """Camera, rad, + is left."""
    speed: Num
    """m/s."""
    steering: Num
    """rad, + is left."""
    tilt: Num
    """Camera, rad, + is up."""


class DriveRequest(TypedDict):
    """Body of `POST /drive`."""

    speed: float
    """m/s, + is ahead. Out of the car's limits it is clamped."""
    steering: float
    """rad, + is left. Out of the car's limits it is clamped."""


class DriveValues(TypedDict):
    """Speed and steering."""

    speed: Num
    """m/s."""
    steering: Num
    """rad, + is left."""


class DrivenRequired(TypedDict):
    """What is always there of Driven."""

    success: bool
    """Always true."""
    value: DriveValues
    """Within the car's limits."""


class Driven(DrivenRequired, total=False):
    """Answer of `POST /drive`."""

    message: str | None
    """Always null."""


class ErrorBody(TypedDict):
    """The body of every error."""

    error: str
    """What was wrong, and what would be right."""


class Heading(TypedDict):
    """A heading, twice."""

    quaternion: Quaternion
    """The same."""
    yaw: Num
    """Degrees, + is left."""


class HealthRequired(TypedDict):
    """What is always there of Health."""

    paused: bool
    """Whether time stands still."""
    status: str
    """`ok`, or `waiting` before the first world."""


class Health(HealthRequired, total=False):
    """Answer of `GET /health`."""

    time: Num | None
    """Simulated seconds; null before the first world."""


class ImuProfile(TypedDict):
    """Parameters of the inertial measurement unit."""

    accelerometer_sd: Num
    """m/s²."""
    gyro_sd: Num
    """rad/s."""
    position: list[Num]
    """m from the pose origin."""
    rate: int
    """Samples a simulated second."""


class Inertial(TypedDict):
    """Answer of `GET /imu`."""

    acceleration: Xyz
    """m/s²; at rest +g upwards."""
    gyro: Xyz
    """rad/s."""
    orientation: Quaternion
    """Always none: it is not measured."""


class Info(TypedDict):
    """Answer of `GET /info`: what the robot is."""

    generation: str
    """Short name of the vehicle generation."""
    limits: Limits
    """What motor and servos can do."""
    mode: str
    """Always `sim` here: a physical car says otherwise."""
    model_name: str
    """Name for people."""
    rates: Rates
    """How often everything is said, a simulated second."""
    sensors: Sensors
    """What it senses with."""
    sizes: Sizes
    """How large it is."""
    version: str
    """Of the software."""


class JointAngles(TypedDict):
    """Angles of everything that turns."""

    front_wheels: list[Num]
    """Front left and front right, rad."""
    pan: Num
    """Camera, rad, + is left."""
    steering: Num
    """The steering servo, rad, + is left."""
    tilt: Num
    """Camera, rad, + is up."""
    wheel_angles: list[Num]
    """How far front left, front right, rear left, rear right have turned, rad."""
    wheel_spins: list[Num]
    """rad/s."""


class LidarProfile(TypedDict):
    """Lidar parameters."""

    beams: int
    """Beams over the full circle."""
    noise_sd: Num
    """m."""
    position: list[Num]
    """m from the pose origin."""
    range_max: Num
    """m."""
    range_min: Num
    """m."""
    rate: int
    """Scans a simulated second."""


class LidarScan(TypedDict):
    """Answer of `GET /lidar`."""

    count: int
    """Number of keys."""
    meta: ScanMeta
    """About the scan."""
    range_max: Num
    """m."""
    range_min: Num
    """m."""
    ranges: dict[str, float | None]
    """m by degrees, + is left; null where nothing was hit."""
    step: Num
    """Degrees from key to key."""


class Limits(TypedDict):
    """What motor and servo can do, both ways."""

    acceleration: Num
    """m/s²."""
    pan: Num
    """rad."""
    speed: Num
    """m/s."""
    steering: Num
    """rad, at the virtual centre wheel."""
    steering_rate: Num
    """rad/s."""
    tilt: Num
    """rad."""


Num: TypeAlias = float
"""Num"""


Octets: TypeAlias = bytes
"""Bytes that are no JSON, as the document describes them."""


class Odometry(TypedDict):
    """Answer of `GET /odom`: where the car believes it is, from lidar and gyro alone."""

    frame_id: str
    """Always `odom`."""
    orientation: Heading
    """Heading."""
    position: Xyz
    """m, from where it started."""
    velocity: Velocity
    """How it moves."""


class PlayRequest(TypedDict, total=False):
    """Body of `POST /audio/play`. One of `url`, `path` and `data` says where the file comes
    from.
    """

    data: str | None
    """The file itself, base64; at most 16 MiB of it."""
    format: SoundFormat | None
    """What the file must be; its content says what it is."""
    loop: bool | None
    """Again and again until it is stopped; once if omitted."""
    path: str | None
    """A file of the workspace."""
    replace: bool | None
    """Everything else stops first; if omitted it plays on."""
    url: str | None
    """Address of a file on the open internet, http or https."""
    volume: float | None
    """1 if omitted."""


class Played(TypedDict):
    """Answer of `POST /audio/play`."""

    duration: Num
    """Seconds."""
    id: str
    """Of the sound that began."""
    success: bool
    """Always true."""


class Quaternion(TypedDict):
    """A rotation."""

    w: Num
    """Real part."""
    x: Num
    """First component."""
    y: Num
    """Second component."""
    z: Num
    """Third component."""


class Rates(TypedDict):
    """How often everything is said, a simulated second."""

    battery: int
    """Battery."""
    camera: int
    """Frames."""
    imu: int
    """Gyro and accelerometer."""
    joints: int
    """Speed, steering and everything that turns."""
    lidar: int
    """Scans."""
    odom: int
    """Odometry."""


class ScanMeta(TypedDict):
    """About a scan."""

    angle_increment: Num
    """Degrees from beam to beam."""
    beams: int
    """Beams over the full circle."""
    frame_id: str
    """Always `lidar_link`."""
    rate: int
    """Scans a simulated second."""
    sample: int
    """Which scan it is, from 0."""
    time: Num
    """Simulated seconds at which it was taken."""


class Sensors(TypedDict):
    """What a robot senses with."""

    camera: CameraProfile
    """Camera."""
    imu: ImuProfile
    """Inertial measurement unit."""
    lidar: LidarProfile
    """Lidar."""


class Size(TypedDict):
    """Full extents of an object's own bounding box."""

    x: Num
    """Metres."""
    y: Num
    """Metres."""
    z: Num
    """Metres."""


class Sizes(TypedDict):
    """How large a robot is."""

    body: BodyBox
    """The body's box."""
    mass: Num
    """Mass of the whole car, kg."""
    track: Num
    """Distance between left and right wheels, m."""
    wheel_radius: Num
    """m."""
    wheel_width: Num
    """m."""
    wheelbase: Num
    """Distance between the axles, m."""


class SoundBegunRequired(TypedDict):
    """What is always there of SoundBegun."""

    channels: int
    """1 or 2."""
    id: str
    """Of the sound."""
    kind: SoundKind
    """File or stream."""
    loop: bool
    """Again and again."""
    position: Num
    """Simulated seconds into it."""
    sample_rate: int
    """Hz."""
    time: Num
    """Simulated seconds at which it was at this position."""
    volume: Num
    """0 to 1."""


class SoundBegun(SoundBegunRequired, total=False):
    """A sound that began."""

    duration: Num | None
    """Seconds; null for a stream."""
    format: SoundFormat | None
    """Null for a stream."""
    url: str | None
    """Where the file is served; null for a stream."""


SoundEvent: TypeAlias = "SoundBegun | SoundSamples | dict[str, Any]"
"""An event of `GET /audio/events`: its name, and its fields as data."""


SoundFormat: TypeAlias = Literal["wav", "mp3", "ogg", "flac"]
"""Kinds of files."""


SoundKind: TypeAlias = Literal["file", "stream"]
"""A file or samples."""


class SoundPlayingRequired(TypedDict):
    """What is always there of SoundPlaying."""

    channels: int
    """1 or 2."""
    id: str
    """By which it can be stopped."""
    kind: SoundKind
    """File or stream."""
    loop: bool
    """Again and again."""
    position: Num
    """Simulated seconds into it."""
    sample_rate: int
    """Hz."""
    source: str
    """Where it came from: its address, its path, `data` or `stream`."""
    volume: Num
    """0 to 1."""


class SoundPlaying(SoundPlayingRequired, total=False):
    """A sound that plays."""

    duration: Num | None
    """Seconds; null for a stream."""
    format: SoundFormat | None
    """Null for a stream."""


class SoundSamples(TypedDict):
    """Samples of a stream."""

    channels: int
    """1 or 2."""
    data: str
    """16 bits a sample, little end first, channels by turns; base64."""
    id: str
    """Of the stream."""
    sample_rate: int
    """Hz."""


class SoundStopped(TypedDict):
    """Answer of `POST /audio/stop`."""

    success: bool
    """Always true."""


class Sounds(TypedDict):
    """Answer of `GET /audio`: what plays, in the order in which it began."""

    playing: list[SoundPlaying]
    """Every sound."""


class SpeedRequestRequired(TypedDict):
    """What is always there of SpeedRequest."""

    value: float
    """m/s, + is ahead. Out of the car's limits it is clamped."""


class SpeedRequest(SpeedRequestRequired, total=False):
    """Body of `POST /speed`."""

    duration: float | None
    """Simulated seconds to hold it; answered at their end. One second, answered at once, if
    omitted.
    """


class StatesRequired(TypedDict):
    """What is always there of States."""

    cmd: DriveCommand
    """What the actuators are asked for."""


class States(StatesRequired, total=False):
    """Answer of `GET /states`: what was asked for. A reading that is not there yet is null."""

    audio: Sounds | None
    """As `GET /audio`."""
    battery: Battery | None
    """As `GET /battery`."""
    camera: CameraFrame | None
    """The last frame of the camera."""
    imu: Inertial | None
    """As `GET /imu`."""
    joints: JointAngles | None
    """Everything that turns."""
    lidar: LidarScan | None
    """As `GET /lidar`."""
    odom: Odometry | None
    """As `GET /odom`."""
    speed: float | None
    """As `GET /speed`."""
    steering: float | None
    """As `GET /steering`."""


class SteeringRequest(TypedDict):
    """Body of `POST /steering`, and a frame of the WebSocket `/steering/stream`."""

    value: float
    """rad, + is left. Out of the car's limits it is clamped."""


class StopSoundRequest(TypedDict, total=False):
    """Body of `POST /audio/stop`: one sound, or all of them."""

    all: bool | None
    """All of them."""
    id: str | None
    """Which sound."""


class Velocity(TypedDict):
    """How the car moves."""

    angular: Num
    """rad/s, + is left."""
    linear: Num
    """m/s, + is ahead."""


class VolumeChanged(TypedDict):
    """Answer of `POST /audio/volume`."""

    id: str
    """Which sound."""
    success: bool
    """Always true."""
    volume: Num
    """How loud it is now."""


class VolumeRequest(TypedDict):
    """Body of `POST /audio/volume`."""

    id: str
    """Which sound."""
    volume: float
    """How loud."""


class Waiting(TypedDict):
    """What a sensor says before its first reading."""

    error: str
    """Which data there is none of."""
    status: str
    """Always `waiting`."""


class Xyz(TypedDict):
    """Three components."""

    x: Num
    """Ahead."""
    y: Num
    """Left."""
    z: Num
    """Up."""
