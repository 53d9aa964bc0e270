"""Types of the OpenAPI document "Chicane", made by `make wire`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict


class BodyBox(TypedDict):
    """Bounding box of the car's body."""

    centre: list[Num]
    """Centre relative to the pose origin, m."""
    size: Size
    """Full extents, m."""


class Bounds(TypedDict):
    """An axis-aligned rectangle on the ground."""

    maxX: Num
    """Largest x, m."""
    maxY: Num
    """Largest y, m."""
    minX: Num
    """Smallest x, m."""
    minY: Num
    """Smallest y, m."""


class Brightness(TypedDict):
    """Response of `GET /brightness`."""

    value: Num
    """Factor applied to every displayed pixel."""


class BrightnessChanged(TypedDict):
    """Response of `POST /brightness`."""

    ok: bool
    """Always true."""
    value: Num
    """The factor after the change."""


class BrightnessRequest(TypedDict):
    """Request body of `POST /brightness`."""

    value: float
    """Factor applied to every displayed pixel."""


class CameraObservation(TypedDict):
    """The latest frame of the camera."""

    data: str
    """The image, base64."""
    encoding: str
    """Always `jpeg`. The binary response contains raw pixels instead."""
    frame: int
    """Index of the frame, from 0."""
    height: int
    """Height, pixels."""
    time: Num
    """Simulated time of the frame, s."""
    width: int
    """Width, pixels."""


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


class CatalogueEntry(TypedDict):
    """An object as the world file defines it."""

    kind: ObjectKind
    """Shape, from marker and geometry."""
    movable: bool
    """Whether a pose command may move the object."""
    origin: FlatPose
    """Initial pose."""
    size: Size
    """Full extents of the object's bounding box."""
    static: bool
    """Whether physics never moves the object."""
    type: ObjectType
    """Type, from the marker."""


class Clock(TypedDict):
    """Response of `GET /clock`."""

    paused: bool
    """Whether the simulation is paused."""
    real_time: Num
    """Real seconds since the world was loaded."""
    rtf: Num
    """Measured real-time factor (simulated seconds per real second) over the last second; 0
    while paused.
    """
    sim_time: Num
    """Simulated seconds since the world was loaded."""
    speed: Num
    """Requested real-time factor; 0 means as fast as possible."""


class ClockChanged(Clock):
    """Response of `POST /clock`."""

    ok: bool
    """Always true."""


class ClockRequest(TypedDict, total=False):
    """Request body of `POST /clock`."""

    paused: bool | None
    """Whether to pause the simulation."""
    speed: float | None
    """Requested real-time factor: 0.05 to 100, or 0 for as fast as possible."""


class CurrentSessionRequired(TypedDict):
    """What is always there of CurrentSession."""

    active: bool
    """Whether a session is active."""


class CurrentSession(CurrentSessionRequired, total=False):
    """Response of `GET /evaluation/session`."""

    session: Session | None
    """The active session, or else the most recent one; null if there was none."""


class Deleted(TypedDict):
    """Response of `DELETE /worlds/<name>`."""

    deleted: str
    """Name of the deleted world."""
    ok: bool
    """Always true."""


class ErrorBody(TypedDict):
    """The body of every error response."""

    error: str
    """The cause of the error and, where possible, how to correct the request."""


class EvaluationDocument(TypedDict):
    """Response of `GET /evaluation`."""

    config: dict[str, Any]
    """Config, byte for byte as in the world's file."""
    script: str
    """Source of the judging script, Python."""
    version: int
    """Format version of the document."""


class EvaluationStateRequired(TypedDict):
    """What is always there of EvaluationState."""

    active: bool
    """Whether a session is active."""


class EvaluationState(EvaluationStateRequired, total=False):
    """Summary of the evaluation session."""

    phase: str | None
    """Phase of the session."""
    session: str | None
    """Id of the session."""


class FlatPose(TypedDict):
    """Pose of an upright object, without roll and pitch."""

    x: Num
    """X coordinate, m."""
    y: Num
    """Y coordinate, m."""
    yaw: Num
    """Yaw, rad, −π to π."""
    z: Num
    """Z coordinate, m."""


class ImuObservation(TypedDict):
    """The latest sample of the inertial measurement unit, in the car's frame."""

    acceleration: Xyz
    """Acceleration, m/s². At rest it is +g upwards."""
    gyro: Xyz
    """Turn rate about each axis, rad/s."""
    time: Num
    """Simulated time of the sample, s."""


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


class InstallAnswer(TypedDict):
    """Response of `POST /worlds/install`."""

    cached: bool
    """Whether this revision was already installed, so that only its metadata was downloaded."""
    name: str
    """Display name."""
    ok: bool
    """Always true."""
    rev: str
    """Revision of the world's files."""
    verified: bool
    """Whether the world's id matches the hash of its files."""
    world: str
    """File name of the world, for `POST /switch`."""


class InstallRequest(TypedDict):
    """Request body of `POST /worlds/install`."""

    world_id: str
    """Id of the published world."""


class JudgeWork(TypedDict):
    """A judging script and its statistics."""

    observations: int
    """Number of observations that the script evaluated."""
    sha256: str
    """SHA-256 of the script, hex."""
    wait_s: Num
    """Total real seconds that the simulation waited for the script."""


class LidarObservation(TypedDict):
    """The latest laser scan."""

    angle_increment: Num
    """Angle between neighbouring beams, rad, counter-clockwise."""
    angle_min: Num
    """Direction of the first beam, rad."""
    range_max: Num
    """Longest measurable distance, m."""
    range_min: Num
    """Shortest measurable distance, m."""
    ranges: list[Num | None]
    """Distance of each beam, m; null if the beam hit nothing."""
    time: Num
    """Simulated time of the scan, s."""


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


class LightRequired(TypedDict):
    """What is always there of Light."""

    builtin: bool
    """Always true: every light is part of the world."""
    name: str
    """Name of the light."""
    state: LightState
    """Colour that the light shows."""
    x: Num
    """X coordinate, m."""
    y: Num
    """Y coordinate, m."""
    yaw: Num
    """Yaw, rad."""


class Light(LightRequired, total=False):
    """A traffic light."""

    panel: Panel | None
    """The light's screen, if it has one."""
    yellow_left: Num | None
    """Simulated seconds until the light turns red; only present while it is yellow."""


class LightChanged(TypedDict):
    """Response of `POST /traffic_lights/<name>`."""

    light: Light
    """The light after the change."""
    ok: bool
    """Always true."""


class LightRequest(TypedDict):
    """Request body of `POST /traffic_lights/<name>`."""

    state: RedOrGreen
    """Colour to show."""


LightState: TypeAlias = Literal["red", "yellow", "green"]
"""Colour that a traffic light shows."""


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


class ModelMoved(TypedDict):
    """Response of `POST /models/<name>/pose`."""

    applied: bool
    """Always true: the new pose is visible to every client."""
    model: ModelPlace
    """The object after the change."""
    ok: bool
    """Always true."""


class ModelPlace(TypedDict):
    """An object and its pose."""

    name: str
    """Name of the object."""
    type: ObjectType
    """Type of the object, from its marker."""
    x: Num
    """X coordinate, m."""
    y: Num
    """Y coordinate, m."""
    yaw: Num
    """Yaw, rad."""
    z: Num
    """Z coordinate, m."""


class ModelRequest(TypedDict, total=False):
    """Request body of `POST /models/<name>/pose`. Omitted fields keep their current value.
    With `duration` the object moves to the pose at constant speed; with `path` it follows
    the points.
    """

    duration: float | None
    """Duration of the motion, simulated seconds."""
    loop: bool | None
    """Whether the object continues from the last point straight to the first, without end."""
    path: list[list[float]] | None
    """Points (x, y) in metres, within ±100."""
    speed: float | None
    """Speed along the path, m/s; required with `path`."""
    x: float | None
    """X coordinate, m."""
    y: float | None
    """Y coordinate, m."""
    yaw: float | None
    """Yaw, rad."""
    z: float | None
    """Z coordinate, m."""


NoFields: TypeAlias = dict[str, Any]
"""A request without fields. Any fields that a client sends are ignored."""


Num: TypeAlias = float
"""Num"""


ObjectKind: TypeAlias = Literal["box", "cylinder", "sphere", "cone", "light", "wall"]
"""Shape of an object, from its marker and geometry."""


ObjectType: TypeAlias = Literal["object", "wall", "light"]
"""Type of an object, from its marker in the world file."""


class Objects(TypedDict):
    """Response of `GET /objects`, in the order of the world file."""

    objects: list[WorldObject]
    """The objects."""
    world: str
    """Name of the world."""


class Observations(TypedDict, total=False):
    """Sensor readings; sensors that were not requested are omitted."""

    camera: CameraObservation | None
    """Camera frame."""
    imu: ImuObservation | None
    """Gyro and accelerometer."""
    lidar: LidarObservation | None
    """Laser scan."""
    odom: OdomObservation | None
    """Odometry."""


Observe: TypeAlias = Literal["camera", "lidar", "imu", "odom"]
"""A sensor whose reading a step can return."""


Octets: TypeAlias = bytes
"""Bytes that are not JSON, for the OpenAPI document."""


class OdomObservation(TypedDict):
    """Estimated pose and velocity from lidar and gyro alone, in the frame `odom`, whose origin
    is the start of the car.
    """

    forward: Num
    """Forward speed, m/s."""
    sideways: Num
    """Sideways speed, m/s, positive to the left."""
    time: Num
    """Simulated time of the estimate, s."""
    turning: Num
    """Yaw rate, rad/s, positive to the left."""
    x: Num
    """X coordinate, m."""
    y: Num
    """Y coordinate, m."""
    yaw: Num
    """Yaw, rad."""


class Overlay(TypedDict):
    """Response of `GET /overlay`."""

    remaining_s: Num
    """Remaining display time, real seconds."""
    seq: int
    """Counter that increases with every request."""
    size: Num
    """Multiplier of the font size."""
    text: str
    """The text; empty when no overlay is shown."""
    ttl: Num
    """Requested display time, real seconds."""


class OverlayChanged(Overlay):
    """Response of `POST /overlay`."""

    ok: bool
    """Always true."""


class OverlayRequestRequired(TypedDict):
    """What is always there of OverlayRequest."""

    text: str
    """The text; an empty text removes the overlay."""


class OverlayRequest(OverlayRequestRequired, total=False):
    """Request body of `POST /overlay`."""

    size: float | None
    """Multiplier of the font size; 1 if omitted."""
    ttl: float | None
    """Display time, real seconds; 10 if omitted."""


class Panel(TypedDict):
    """The screen of a light in the light's frame, for viewers."""

    lamp_r: Num
    """Radius of the yellow disc, m."""
    pitch: Num
    """Pitch of the screen, rad."""
    px: Num
    """Forward offset of the screen's centre from the light's origin, m."""
    pz: Num
    """Height of the screen's centre above the light's origin, m."""


class Placed(TypedDict):
    """Response of `POST /pose`."""

    applied: bool
    """Always true: the new pose is visible to every client."""
    ok: bool
    """Always true."""
    pose: Pose
    """Pose of the car after the change."""


class Pose(TypedDict):
    """A pose in the world frame: z points up, yaw is counter-clockwise from +x."""

    pitch: Num
    """Pitch, rad."""
    q: list[Num]
    """The same rotation as a quaternion x, y, z, w."""
    roll: Num
    """Roll, rad."""
    x: Num
    """X coordinate, m."""
    y: Num
    """Y coordinate, m."""
    yaw: Num
    """Yaw, rad, −π to π."""
    z: Num
    """Z coordinate, m."""


class PoseRequest(TypedDict, total=False):
    """Request body of `POST /pose`. Omitted fields keep their current value."""

    x: float | None
    """X coordinate, m."""
    y: float | None
    """Y coordinate, m."""
    yaw: float | None
    """Yaw, rad."""


class PublicationRequired(TypedDict):
    """What is always there of Publication."""

    assets_rev: str
    """Revision of the assets that all worlds share."""
    cdn: str
    """Address from which worlds are installed."""
    world: str
    """Name of the world."""


class Publication(PublicationRequired, total=False):
    """Response of `GET /worldpub`."""

    rev: str | None
    """Revision of the published world; null for a built-in world."""
    world_id: str | None
    """Id of the published world; null for a built-in world."""


class RecordRequired(TypedDict):
    """What is always there of Record."""

    better: str
    """Whether a `lower` or a `higher` record is better."""
    elapsed_s: Num
    """Simulated seconds since the phase `running` began."""
    judge: JudgeWork
    """The judging script and its statistics."""
    record: Any
    """The latest record of the script: any JSON value."""
    seed: int
    """Seed of all random streams."""
    session: str
    """Id of the session."""
    started_at: str
    """Start of the session, RFC 3339."""
    time_limit_s: Num
    """Time limit, simulated seconds."""
    world: str
    """Name of the world."""


class Record(RecordRequired, total=False):
    """Response of `GET /evaluation/record`."""

    command: str | None
    """Command of the student's program; null without one."""
    ended_at: str | None
    """End of the session, RFC 3339; null while it is active."""
    events: list[dict[str, Any]] | None
    """Events of the session in order; omitted in lists."""
    outcome: str | None
    """How the session ended; null while it is active."""
    reason: str | None
    """Why the session ended; null while it is active or after a normal finish."""
    rev: str | None
    """Revision of the published world; null for a built-in world."""
    world_id: str | None
    """Id of the published world; null for a built-in world."""


class RecordListRequired(TypedDict):
    """What is always there of RecordList."""

    records: list[Record]
    """Records without their events, newest first."""


class RecordList(RecordListRequired, total=False):
    """Response of `GET /evaluation/records`."""

    next: str | None
    """Value for the parameter `cursor` to get the next page; null on the last page."""


RedOrGreen: TypeAlias = Literal["red", "green"]
"""Colour that a request can set."""


class ResetDone(TypedDict):
    """Response of `POST /reset`."""

    ok: bool
    """Always true."""
    reset: list[str]
    """Names of everything that was reset: movable objects and lights, then `vehicle`."""


class RespawnRequest(TypedDict, total=False):
    """Request body of `POST /respawn`."""

    seed: int | None
    """Seed of all random streams, such as sensor noise; 0 if omitted."""


class Respawned(TypedDict):
    """Response of `POST /respawn`."""

    inplace: bool
    """Always false: the world was loaded again."""
    ok: bool
    """Always true."""
    world: str
    """File name of the world."""


class RouteLinesRequired(TypedDict):
    """What is always there of RouteLines."""

    closed: bool
    """Whether the road itself is a loop. If false, the last point only closes the list of
    points.
    """
    waypoints: list[list[Num]]
    """Points (x, y) of the centre line, m."""


class RouteLines(RouteLinesRequired, total=False):
    """Centre line and borders. Each line is a loop whose last point equals the first. Row i of
    a border belongs to row i of the centre line.
    """

    inner: list[list[Num]] | None
    """Points (x, y) of the inner border, m."""
    outer: list[list[Num]] | None
    """Points (x, y) of the outer border, m."""


class Route(RouteLines):
    """Response of `GET /route`."""

    world: str
    """Name of the world."""


class RunStateRequired(TypedDict):
    """What is always there of RunState."""

    running: bool
    """Whether the program is running."""


class RunState(RunStateRequired, total=False):
    """State of the student's program."""

    exit_code: int | None
    """Exit code, or the negated number of the signal that ended it; null before the exit."""


class Scene(TypedDict):
    """Response of `GET /scene`. The file at an address never changes: a changed scene gets a
    new address.
    """

    car_glb: str
    """Address of the car as binary glTF, with every joint at zero."""
    version: str
    """16 hex digits that change whenever anything that is drawn changes."""
    world: str
    """Name of the running world."""
    world_glb: str
    """Address of the world as binary glTF, with every object at its initial pose."""


class SessionRequired(TypedDict):
    """What is always there of Session."""

    better: str
    """Whether a `lower` or a `higher` record is better."""
    elapsed_s: Num
    """Simulated seconds since the phase `running` began."""
    id: str
    """Id of the session."""
    log: list[str]
    """The last 200 lines that the script printed."""
    phase: str
    """`initializing`, `starting`, `running` or `ended`."""
    record: Any
    """The latest record of the script: any JSON value."""
    run: RunState
    """State of the student's program."""
    seed: int
    """Seed of all random streams."""
    started_at: str
    """Start of the session, RFC 3339."""
    time_limit_s: Num
    """Time limit, simulated seconds."""
    world: str
    """Name of the world."""


class Session(SessionRequired, total=False):
    """Current state of a session."""

    command: str | None
    """Command of the student's program; null without one."""
    outcome: str | None
    """How the session ended; null while it is active."""
    reason: str | None
    """Why the session ended; null while it is active or after a normal finish."""
    rev: str | None
    """Revision of the published world; null for a built-in world."""
    world_id: str | None
    """Id of the published world; null for a built-in world."""


class Size(TypedDict):
    """Full extents of an object's bounding box in the object's own frame."""

    x: Num
    """Extent along x, m."""
    y: Num
    """Extent along y, m."""
    z: Num
    """Extent along z, m."""


class StartRequest(TypedDict, total=False):
    """Request body of `POST /evaluation/start`."""

    command: str | None
    """Shell command that runs the student's program. If omitted, the session only observes the
    car.
    """
    seed: int | None
    """Seed of all random streams; 0 if omitted."""
    time_limit_s: float | None
    """Time limit, simulated seconds; the world's own limit if omitted."""


class Started(TypedDict):
    """Response of `POST /evaluation/start`."""

    ok: bool
    """Always true."""
    session: Session
    """The session at its start."""


class StateRequired(TypedDict):
    """What is always there of State."""

    brightness: Num
    """Factor applied to every displayed pixel."""
    contacts: list[str]
    """Names of the objects and walls in contact with the car."""
    evaluation: EvaluationState
    """Summary of the evaluation session."""
    lights: list[Light]
    """Traffic lights, sorted by name."""
    objects: dict[str, Pose]
    """Current poses of all objects by name."""
    overlay: str
    """Overlay text; empty when no overlay is shown."""
    overlay_seq: int
    """Counter that increases with every overlay request."""
    overlay_size: Num
    """Multiplier of the overlay's font size."""
    paused: bool
    """Whether the simulation is paused."""
    rtf: Num
    """Measured real-time factor (simulated seconds per real second)."""
    run: RunState
    """State of the student's program."""
    running: bool
    """Whether a world is loaded, whether it is stepping or paused."""
    switching: bool
    """Whether a world is being loaded."""
    websocket: bool
    """Always true."""


class State(StateRequired, total=False):
    """Response of `GET /state`, and data of the event `state`."""

    current: str | None
    """Name of the world that is ready; null while a world is being loaded."""
    epoch: int
    """Counter that increases when the car is moved by a pose, a reset, a respawn or a switch.
    A step's response omits it, because that response must be the same after two respawns.
    """
    time: Num | None
    """Simulated seconds; null before the first world is loaded."""
    transition: Transition | None
    """The world that is being loaded, or else the world that is being installed (`kind:
    'install'`). An installation does not affect the running world.
    """
    vehicle: VehiclePose | None
    """State of the car; null before the first world is loaded."""
    world: str | None
    """Name of the running world."""


class StatusRequired(TypedDict):
    """What is always there of Status."""

    assets_version: int
    """Counter that increases whenever a served mesh or texture may have changed."""
    generation: str
    """Short name of the vehicle generation."""
    running: bool
    """Whether a world is loaded, whether it is stepping or paused."""
    switching: bool
    """Whether a world is being loaded."""
    uptime_s: Num
    """Real seconds since the program started."""
    version: str
    """Version of the program."""
    websocket: bool
    """Always true."""


class Status(StatusRequired, total=False):
    """Response of `GET /status`."""

    current: str | None
    """Name of the loaded world; null until a world is ready."""


class StepRequest(TypedDict, total=False):
    """Request body of `POST /step`."""

    camera_height: int | None
    """Largest height of the camera image, pixels."""
    camera_width: int | None
    """Largest width of the camera image, pixels. The aspect ratio is kept, and the image is
    never enlarged.
    """
    duration: float | None
    """Simulated seconds, rounded to the nearest tick. Mutually exclusive with `steps`."""
    observe: list[Observe] | None
    """Sensors whose readings the response includes."""
    speed: float | None
    """Speed command, m/s, held during the step and clamped to the car's limits."""
    steering: float | None
    """Steering command, rad, positive to the left, held during the step and clamped to the
    car's limits.
    """
    steps: int | None
    """Number of ticks of 5 ms; 1 if both `steps` and `duration` are omitted."""


class SteppedRequired(State):
    """What is always there of Stepped."""

    ok: bool
    """Always true."""
    touched: list[str]
    """Names of the objects and walls that the car touched during the step, even if the contact
    has ended.
    """


class Stepped(SteppedRequired, total=False):
    """Response of `POST /step`."""

    observations: Observations | None
    """Readings of the requested sensors."""


class Stopped(TypedDict):
    """Response of `POST /evaluation/stop`."""

    ok: bool
    """Always true."""
    stopped: bool
    """Whether a session was running."""


class SwitchRequest(TypedDict, total=False):
    """Request body of `POST /switch`. Exactly one of the two fields is required."""

    world: str | None
    """File name of the world."""
    world_id: str | None
    """Id of the published world."""


class Switched(TypedDict):
    """Response of `POST /switch`."""

    ok: bool
    """Always true."""
    world: str
    """File name of the world."""


class Track(TypedDict, total=False):
    """Route and bounds of a world."""

    bounds: Bounds | None
    """Bounds of the track's ground; null if the world has no ground."""
    route: RouteLines | None
    """Centre line and borders; null if the world has no route."""


class TrafficLights(TypedDict):
    """Response of `GET /traffic_lights`, sorted by name."""

    lights: list[Light]
    """The lights."""
    world: str
    """Name of the world."""


class Transition(TypedDict):
    """A world that is being loaded or installed."""

    kind: TransitionKind
    """Why the world is being loaded."""
    progress: Num
    """Progress, 0 to 1."""
    target: str
    """File name of the world."""


TransitionKind: TypeAlias = Literal["boot", "switch", "respawn", "install"]
"""Why a world is being loaded."""


class Vehicle(TypedDict):
    """Response of `GET /vehicle`: the profile of the robot."""

    body: BodyBox
    """Bounding box of the body."""
    camera: CameraProfile
    """Camera."""
    centre_of_mass: list[Num]
    """Centre of mass relative to the pose origin, m."""
    generation: str
    """Short name of the vehicle generation."""
    imu: ImuProfile
    """Inertial measurement unit."""
    lidar: LidarProfile
    """Lidar."""
    limits: Limits
    """Limits of motor and servos."""
    mass: Num
    """Total mass of the car, kg."""
    model_name: str
    """Display name."""
    track: Num
    """Distance between left and right wheels, m."""
    wheel_radius: Num
    """Radius of a wheel, m."""
    wheel_width: Num
    """Width of a wheel, m."""
    wheelbase: Num
    """Distance between the axles, m."""


class VehiclePose(Pose):
    """State of the car."""

    pan: Num
    """Pan angle of the camera, rad, positive to the left."""
    speed: Num
    """Forward speed, m/s."""
    steering: Num
    """Angle of the virtual centre wheel, rad, positive to the left."""
    tilt: Num
    """Tilt angle of the camera, rad, positive upwards."""


class WorldRequired(TypedDict):
    """What is always there of World."""

    display: str
    """Display name."""
    evaluation: bool
    """Whether the world has an evaluation."""
    objects: dict[str, CatalogueEntry]
    """Catalogue entries by name, in the order of the world file."""
    track: Track
    """Route and bounds of the track."""
    world: str
    """Name of the world."""


class World(WorldRequired, total=False):
    """Response of `GET /world`."""

    rev: str | None
    """Revision of the published world; null for a built-in world."""
    world_id: str | None
    """Id of the published world; null for a built-in world."""


class WorldEntryRequired(TypedDict):
    """What is always there of WorldEntry."""

    deletable: bool
    """Whether the world can be deleted."""
    display: str
    """Display name."""
    evaluation: bool
    """Whether the world has an evaluation."""
    file: str
    """File name of the world, for `POST /switch`."""
    name: str
    """Name of the world."""
    official: bool
    """Whether the world is an official one."""
    size: list[Num]
    """Width and height, m."""
    verified: bool
    """Whether the files are known to be unmodified: the world is built in, or its id is the
    hash of its files.
    """


class WorldEntry(WorldEntryRequired, total=False):
    """A world that a client can switch to."""

    world_id: str | None
    """Id of the published world; null for a built-in world."""


class WorldObject(TypedDict):
    """An object with its current pose."""

    current: Pose
    """Current pose."""
    kind: ObjectKind
    """Shape, from marker and geometry."""
    movable: bool
    """Whether a pose command may move the object."""
    name: str
    """Name of the object."""
    origin: Pose
    """Initial pose."""
    size: Size
    """Full extents of the object's bounding box."""
    static: bool
    """Whether physics never moves the object."""
    type: ObjectType
    """Type, from the marker."""


class WorldsRequired(TypedDict):
    """What is always there of Worlds."""

    worlds: list[WorldEntry]
    """The worlds."""


class Worlds(WorldsRequired, total=False):
    """Response of `GET /worlds`: first the worlds that cannot be deleted, then the others,
    each sorted by name.
    """

    current: str | None
    """Name of the world that is ready; null while one is being loaded."""


class Xyz(TypedDict):
    """A vector in the car's frame."""

    x: Num
    """Forward component."""
    y: Num
    """Left component."""
    z: Num
    """Upward component."""
