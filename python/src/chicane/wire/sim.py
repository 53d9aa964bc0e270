"""Types of the OpenAPI document "Chicane", made by `make wire`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict


class BodyBox(TypedDict):
    """The body's box."""

    centre: list[Num]
    """Centre from the pose origin, m."""
    size: Size
    """Full extents, m."""


class Bounds(TypedDict):
    """A rectangle on the ground."""

    maxX: Num
    """Metres."""
    maxY: Num
    """Metres."""
    minX: Num
    """Metres."""
    minY: Num
    """Metres."""


class Brightness(TypedDict):
    """Answer of `GET /brightness`."""

    value: Num
    """Factor of every shown pixel."""


class BrightnessChanged(TypedDict):
    """Answer of `POST /brightness`."""

    ok: bool
    """Always true."""
    value: Num
    """The factor now."""


class BrightnessRequest(TypedDict):
    """Body of `POST /brightness`."""

    value: float
    """Factor of every shown pixel."""


class CameraObservation(TypedDict):
    """The last frame of the camera."""

    data: str
    """The picture, base64."""
    encoding: str
    """Always `jpeg`; the binary answer brings raw pixels."""
    frame: int
    """Which frame it is, from 0."""
    height: int
    """Pixels."""
    time: Num
    """Simulated seconds at which it was taken."""
    width: int
    """Pixels."""


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


class CatalogueEntry(TypedDict):
    """An object as the world file has it."""

    kind: ObjectKind
    """By marker and geometry."""
    movable: bool
    """A pose command may move it."""
    origin: FlatPose
    """Pose at load."""
    size: Size
    """Full extents."""
    static: bool
    """Physics never moves it."""
    type: ObjectType
    """By the marker."""


class Clock(TypedDict):
    """Answer of `GET /clock`."""

    paused: bool
    """Whether time stands still."""
    real_time: Num
    """Real seconds since the world was loaded."""
    rtf: Num
    """Simulated seconds in a real one, measured over the last second; 0 while paused."""
    sim_time: Num
    """Simulated seconds since the world was loaded."""
    speed: Num
    """Requested real-time factor; 0 is as fast as the machine can."""


class ClockChanged(Clock):
    """Answer of `POST /clock`."""

    ok: bool
    """Always true."""


class ClockRequest(TypedDict, total=False):
    """Body of `POST /clock`."""

    paused: bool | None
    """Stops or starts time."""
    speed: float | None
    """Requested real-time factor: 0.05 to 100, or 0 for as fast as the machine can."""


class CurrentSessionRequired(TypedDict):
    """What is always there of CurrentSession."""

    active: bool
    """Whether a session is under way."""


class CurrentSession(CurrentSessionRequired, total=False):
    """Answer of `GET /evaluation/session`."""

    session: Session | None
    """The session, or the last one; null if there was none."""


class Deleted(TypedDict):
    """Answer of `DELETE /worlds/<name>`."""

    deleted: str
    """Name of the world that is gone."""
    ok: bool
    """Always true."""


class ErrorBody(TypedDict):
    """The body of every error."""

    error: str
    """What was wrong, and what would be right."""


class EvaluationDocument(TypedDict):
    """Answer of `GET /evaluation`."""

    config: dict[str, Any]
    """Config as its author wrote it."""
    script: str
    """The judging script, Python."""
    version: int
    """Version of the document."""


class EvaluationStateRequired(TypedDict):
    """What is always there of EvaluationState."""

    active: bool
    """Whether one is under way."""


class EvaluationState(EvaluationStateRequired, total=False):
    """The evaluation session in short."""

    phase: str | None
    """Its phase."""
    session: str | None
    """Its id."""


class FlatPose(TypedDict):
    """A pose of something upright."""

    x: Num
    """Metres."""
    y: Num
    """Metres."""
    yaw: Num
    """Radians, −π to π."""
    z: Num
    """Metres."""


class ImuObservation(TypedDict):
    """The last sample of the inertial measurement unit, in the car's frame."""

    acceleration: Xyz
    """m/s²; at rest +g upwards."""
    gyro: Xyz
    """rad/s."""
    time: Num
    """Simulated seconds at which it was taken."""


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


class InstallAnswer(TypedDict):
    """Answer of `POST /worlds/install`."""

    cached: bool
    """Whether it was there already, so that nothing was fetched but its description."""
    name: str
    """Its name for people."""
    ok: bool
    """Always true."""
    rev: str
    """Revision of its files."""
    verified: bool
    """Whether its id proves its files."""
    world: str
    """World file, as `POST /switch` takes it."""


class InstallRequest(TypedDict):
    """Body of `POST /worlds/install`."""

    world_id: str
    """Published id."""


class JudgeWork(TypedDict):
    """A script and its work."""

    observations: int
    """How often it judged."""
    sha256: str
    """Fingerprint of the script."""
    wait_s: Num
    """How long the world waited for that, real seconds."""


class LidarObservation(TypedDict):
    """The last laser scan."""

    angle_increment: Num
    """From beam to beam, rad, counter-clockwise."""
    angle_min: Num
    """Direction of the first beam, rad."""
    range_max: Num
    """m."""
    range_min: Num
    """m."""
    ranges: list[Num | None]
    """m; null where nothing was hit."""
    time: Num
    """Simulated seconds at which it was taken."""


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


class LightRequired(TypedDict):
    """What is always there of Light."""

    builtin: bool
    """Always true: lights come with the world."""
    name: str
    """Name."""
    state: LightState
    """What it shows."""
    x: Num
    """Metres."""
    y: Num
    """Metres."""
    yaw: Num
    """Radians."""


class Light(LightRequired, total=False):
    """A traffic light."""

    panel: Panel | None
    """The screen in the light's frame, where it has one."""
    yellow_left: Num | None
    """Simulated seconds until it is red, in the yellow phase only."""


class LightChanged(TypedDict):
    """Answer of `POST /traffic_lights/<name>`."""

    light: Light
    """The light now."""
    ok: bool
    """Always true."""


class LightRequest(TypedDict):
    """Body of `POST /traffic_lights/<name>`."""

    state: RedOrGreen
    """What to show."""


LightState: TypeAlias = Literal["red", "yellow", "green"]
"""What a light shows."""


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


class ModelMoved(TypedDict):
    """Answer of `POST /models/<name>/pose`."""

    applied: bool
    """Always true: every reader sees it already."""
    model: ModelPlace
    """Where the object is now."""
    ok: bool
    """Always true."""


class ModelPlace(TypedDict):
    """An object and where it stands."""

    name: str
    """Name."""
    type: ObjectType
    """By its marker."""
    x: Num
    """Metres."""
    y: Num
    """Metres."""
    yaw: Num
    """Radians."""
    z: Num
    """Metres."""


class ModelRequest(TypedDict, total=False):
    """Body of `POST /models/<name>/pose`. Omitted fields keep their current value. With
    `duration` the object moves there evenly; with `path` it follows the points.
    """

    duration: float | None
    """Simulated seconds."""
    loop: bool | None
    """Goes from the last point straight to the first, again and again."""
    path: list[list[float]] | None
    """Points x, y in metres, within ±100."""
    speed: float | None
    """m/s along the path; needed with it."""
    x: float | None
    """Metres."""
    y: float | None
    """Metres."""
    yaw: float | None
    """Radians."""
    z: float | None
    """Metres."""


NoFields: TypeAlias = dict[str, Any]
"""A request without fields; those that are there are ignored."""


Num: TypeAlias = float
"""Num"""


ObjectKind: TypeAlias = Literal["box", "cylinder", "sphere", "cone", "light", "wall"]
"""By marker and geometry."""


ObjectType: TypeAlias = Literal["object", "wall", "light"]
"""By the marker."""


class Objects(TypedDict):
    """Answer of `GET /objects`, in the order of the world file."""

    objects: list[WorldObject]
    """The objects."""
    world: str
    """Name of the world."""


class Observations(TypedDict, total=False):
    """Sensor readings; those that were asked for."""

    camera: CameraObservation | None
    """Camera frame."""
    imu: ImuObservation | None
    """Gyro and accelerometer."""
    lidar: LidarObservation | None
    """Laser scan."""
    odom: OdomObservation | None
    """Odometry."""


Observe: TypeAlias = Literal["camera", "lidar", "imu", "odom"]
"""A sensor that can be asked for."""


Octets: TypeAlias = bytes
"""Bytes that are no JSON, as the document describes them."""


class OdomObservation(TypedDict):
    """Where the car believes it is, from lidar and gyro alone: the frame `odom` is where it
    started.
    """

    forward: Num
    """m/s ahead."""
    sideways: Num
    """m/s to the left."""
    time: Num
    """Simulated seconds that it speaks of."""
    turning: Num
    """rad/s, + is left."""
    x: Num
    """m."""
    y: Num
    """m."""
    yaw: Num
    """rad."""


class Overlay(TypedDict):
    """Answer of `GET /overlay`."""

    remaining_s: Num
    """Real seconds it will still stay."""
    seq: int
    """Grows with every request."""
    size: Num
    """Multiplier of the font size."""
    text: str
    """The text; empty when there is none."""
    ttl: Num
    """Real seconds it was asked to stay."""


class OverlayChanged(Overlay):
    """Answer of `POST /overlay`."""

    ok: bool
    """Always true."""


class OverlayRequestRequired(TypedDict):
    """What is always there of OverlayRequest."""

    text: str
    """The text; empty takes it away."""


class OverlayRequest(OverlayRequestRequired, total=False):
    """Body of `POST /overlay`."""

    size: float | None
    """Multiplier of the font size; 1 if omitted."""
    ttl: float | None
    """Real seconds to stay; 10 if omitted."""


class Panel(TypedDict):
    """The screen of a light, for viewers."""

    lamp_r: Num
    """Radius of the yellow disc, m."""
    pitch: Num
    """Tilt, rad."""
    px: Num
    """Centre ahead of the light's origin, m."""
    pz: Num
    """Centre above the light's origin, m."""


class Placed(TypedDict):
    """Answer of `POST /pose`."""

    applied: bool
    """Always true: every reader sees it already."""
    ok: bool
    """Always true."""
    pose: Pose
    """Where the car is now."""


class Pose(TypedDict):
    """A pose in the world: z up, yaw counter-clockwise from +x."""

    pitch: Num
    """Radians."""
    q: list[Num]
    """The same rotation as a quaternion x, y, z, w."""
    roll: Num
    """Radians."""
    x: Num
    """Metres."""
    y: Num
    """Metres."""
    yaw: Num
    """Radians, −π to π."""
    z: Num
    """Metres."""


class PoseRequest(TypedDict, total=False):
    """Body of `POST /pose`. Omitted fields keep their current value."""

    x: float | None
    """Metres."""
    y: float | None
    """Metres."""
    yaw: float | None
    """Radians."""


class PublicationRequired(TypedDict):
    """What is always there of Publication."""

    assets_rev: str
    """Revision of the assets that every world shares."""
    cdn: str
    """Where worlds are installed from."""
    world: str
    """Name of the world."""


class Publication(PublicationRequired, total=False):
    """Answer of `GET /worldpub`."""

    rev: str | None
    """Revision of a published world."""
    world_id: str | None
    """Published id; null for built-in worlds."""


class RecordRequired(TypedDict):
    """What is always there of Record."""

    better: str
    """`lower` or `higher`."""
    elapsed_s: Num
    """Simulated seconds."""
    judge: JudgeWork
    """The script and its work."""
    record: Any
    """The last record: any JSON value."""
    seed: int
    """Of every random stream."""
    session: str
    """Id of the session."""
    started_at: str
    """When it began, RFC 3339."""
    time_limit_s: Num
    """Simulated seconds."""
    world: str
    """Name of the world."""


class Record(RecordRequired, total=False):
    """Answer of `GET /evaluation/record`."""

    command: str | None
    """The student's command."""
    ended_at: str | None
    """When it ended; null while it goes on."""
    events: list[dict[str, Any]] | None
    """The story, in order; left out in lists."""
    outcome: str | None
    """How it ended; null while it goes on."""
    reason: str | None
    """Why it ended."""
    rev: str | None
    """Its revision."""
    world_id: str | None
    """Id of the published world; null for built-in ones."""


class RecordListRequired(TypedDict):
    """What is always there of RecordList."""

    records: list[Record]
    """The newest first, without their stories."""


class RecordList(RecordListRequired, total=False):
    """Answer of `GET /evaluation/records`."""

    next: str | None
    """For `cursor`, to go on; null at the end."""


RedOrGreen: TypeAlias = Literal["red", "green"]
"""What a light can be asked for."""


class ResetDone(TypedDict):
    """Answer of `POST /reset`."""

    ok: bool
    """Always true."""
    reset: list[str]
    """What went back to its start: movable objects and lights, then `vehicle`."""


class RespawnRequest(TypedDict, total=False):
    """Body of `POST /respawn`."""

    seed: int | None
    """Seed of every random stream, such as the noise of sensors; 0 if omitted."""


class Respawned(TypedDict):
    """Answer of `POST /respawn`."""

    inplace: bool
    """Always false: the world was loaded anew."""
    ok: bool
    """Always true."""
    world: str
    """File name of the world."""


class RouteLinesRequired(TypedDict):
    """What is always there of RouteLines."""

    closed: bool
    """Whether the road itself leads back to its start; if not, the last point is only there to
    close the loop.
    """
    waypoints: list[list[Num]]
    """Points x, y of the centre line, m."""


class RouteLines(RouteLinesRequired, total=False):
    """Centre line and borders: a loop whose last point equals the first; row i of a border
    belongs to row i of the centre line.
    """

    inner: list[list[Num]] | None
    """Points of the inner border."""
    outer: list[list[Num]] | None
    """Points of the outer border."""


class Route(RouteLines):
    """Answer of `GET /route`."""

    world: str
    """Name of the world."""


class RunStateRequired(TypedDict):
    """What is always there of RunState."""

    running: bool
    """Whether it runs."""


class RunState(RunStateRequired, total=False):
    """The student's program."""

    exit_code: int | None
    """Its exit code; negative is a signal."""


class Scene(TypedDict):
    """Answer of `GET /scene`. A file never changes under its address: another world has
    another one.
    """

    car_glb: str
    """Address of the car as binary glTF, everything straight."""
    version: str
    """16 hex digits that change with anything that is drawn."""
    world: str
    """Name of the world that is served."""
    world_glb: str
    """Address of the world as binary glTF, everything as at load."""


class SessionRequired(TypedDict):
    """What is always there of Session."""

    better: str
    """`lower` or `higher`."""
    elapsed_s: Num
    """Simulated seconds since it began to run."""
    id: str
    """Its id."""
    log: list[str]
    """The last 200 lines of the script's log."""
    phase: str
    """`initializing`, `starting`, `running` or `ended`."""
    record: Any
    """The last record: any JSON value."""
    run: RunState
    """The student's program."""
    seed: int
    """Of every random stream."""
    started_at: str
    """When it began, RFC 3339."""
    time_limit_s: Num
    """Simulated seconds."""
    world: str
    """Name of the world."""


class Session(SessionRequired, total=False):
    """A session as it stands."""

    command: str | None
    """The student's command."""
    outcome: str | None
    """How it ended; null while it goes on."""
    reason: str | None
    """Why it ended."""
    rev: str | None
    """Its revision."""
    world_id: str | None
    """Id of the published world; null for built-in ones."""


class Size(TypedDict):
    """Full extents of an object's own bounding box."""

    x: Num
    """Metres."""
    y: Num
    """Metres."""
    z: Num
    """Metres."""


class StartRequest(TypedDict, total=False):
    """Body of `POST /evaluation/start`."""

    command: str | None
    """Command that runs the student's program; without one the run is only observed."""
    seed: int | None
    """Seed of every random stream; 0 if omitted."""
    time_limit_s: float | None
    """Simulated seconds; the world's own limit if omitted."""


class Started(TypedDict):
    """Answer of `POST /evaluation/start`."""

    ok: bool
    """Always true."""
    session: Session
    """The session, as it begins."""


class StateRequired(TypedDict):
    """What is always there of State."""

    brightness: Num
    """Factor of every shown pixel."""
    contacts: list[str]
    """Names of the objects and walls that the car touches."""
    evaluation: EvaluationState
    """The evaluation session."""
    lights: list[Light]
    """Traffic lights by name."""
    objects: dict[str, Pose]
    """Poses of all objects by name."""
    overlay: str
    """Overlay text; empty when there is none."""
    overlay_seq: int
    """Grows with every overlay request."""
    overlay_size: Num
    """Multiplier of its font size."""
    paused: bool
    """Whether time stands still."""
    rtf: Num
    """Measured real-time factor."""
    run: RunState
    """The student's program."""
    running: bool
    """A world is loaded, stepping or paused."""
    switching: bool
    """A world is being loaded."""
    websocket: bool
    """Always true."""


class State(StateRequired, total=False):
    """Answer of `GET /state` and data of the `state` event."""

    current: str | None
    """Name of the world that is ready; null while one is being loaded."""
    time: Num | None
    """Simulated seconds; null before the first world."""
    transition: Transition | None
    """What is being loaded, or else what is being installed (`kind: 'install'`), which
    disturbs nothing.
    """
    vehicle: VehiclePose | None
    """The car; null before the first world."""
    world: str | None
    """Name of the world that is served."""


class StatusRequired(TypedDict):
    """What is always there of Status."""

    assets_version: int
    """Grows whenever a served mesh or texture may have changed."""
    generation: str
    """Robot generation."""
    running: bool
    """A world is loaded, stepping or paused."""
    switching: bool
    """A world is being loaded."""
    uptime_s: Num
    """Real seconds since the program started."""
    version: str
    """Version of the program."""
    websocket: bool
    """Always true."""


class Status(StatusRequired, total=False):
    """Answer of `GET /status`."""

    current: str | None
    """Name of the world; null until one is ready."""


class StepRequest(TypedDict, total=False):
    """Body of `POST /step`."""

    camera_height: int | None
    """Largest height of the camera's picture, pixels."""
    camera_width: int | None
    """Largest width of the camera's picture, pixels; its shape is kept, and it is never
    enlarged.
    """
    duration: float | None
    """Simulated seconds, rounded to the nearest tick. Not together with `steps`."""
    observe: list[Observe] | None
    """What the answer is to hold besides the state."""
    speed: float | None
    """Drive command: m/s. Held while stepping; out of the car's limits it is clamped."""
    steering: float | None
    """Drive command: rad, + is left. Held while stepping; out of the car's limits it is clamped."""
    steps: int | None
    """Ticks of 5 ms; 1 if neither this nor `duration` is given."""


class SteppedRequired(State):
    """What is always there of Stepped."""

    ok: bool
    """Always true."""
    touched: list[str]
    """Names of the objects and walls that the car touched on the way, also those that it left
    again.
    """


class Stepped(SteppedRequired, total=False):
    """Answer of `POST /step`."""

    observations: Observations | None
    """What was asked for, by name."""


class Stopped(TypedDict):
    """Answer of `POST /evaluation/stop`."""

    ok: bool
    """Always true."""
    stopped: bool
    """Whether there was a session to stop."""


class SwitchRequest(TypedDict, total=False):
    """Body of `POST /switch`: one of the two."""

    world: str | None
    """World file."""
    world_id: str | None
    """Published id."""


class Switched(TypedDict):
    """Answer of `POST /switch`."""

    ok: bool
    """Always true."""
    world: str
    """World file."""


class Track(TypedDict, total=False):
    """Route and bounds of a world."""

    bounds: Bounds | None
    """Extent of the track's ground; null where there is none."""
    route: RouteLines | None
    """Centre line and borders; null where there are none."""


class TrafficLights(TypedDict):
    """Answer of `GET /traffic_lights`, by name."""

    lights: list[Light]
    """The lights."""
    world: str
    """Name of the world."""


class Transition(TypedDict):
    """A world on its way in."""

    kind: TransitionKind
    """Why."""
    progress: Num
    """0 to 1."""
    target: str
    """File name of the world."""


TransitionKind: TypeAlias = Literal["boot", "switch", "respawn", "install"]
"""Why a world is being loaded."""


class Vehicle(TypedDict):
    """Answer of `GET /vehicle`: the profile of the robot."""

    body: BodyBox
    """The body's box."""
    camera: CameraProfile
    """Camera."""
    centre_of_mass: list[Num]
    """m from the pose origin."""
    generation: str
    """Short name."""
    imu: ImuProfile
    """Inertial measurement unit."""
    lidar: LidarProfile
    """Lidar."""
    limits: Limits
    """What motor and servo can do."""
    mass: Num
    """Mass of the whole car, kg."""
    model_name: str
    """Name for people."""
    track: Num
    """Distance between left and right wheels, m."""
    wheel_radius: Num
    """m."""
    wheel_width: Num
    """m."""
    wheelbase: Num
    """Distance between the axles, m."""


class VehiclePose(Pose):
    """The car in the live state."""

    pan: Num
    """Where the camera looks, rad, + is left."""
    speed: Num
    """Ahead, m/s."""
    steering: Num
    """Angle of the virtual centre wheel, rad, + is left."""
    tilt: Num
    """Where the camera looks, rad, + is up."""


class WorldRequired(TypedDict):
    """What is always there of World."""

    display: str
    """Name for people."""
    evaluation: bool
    """Whether it has an evaluation."""
    objects: dict[str, CatalogueEntry]
    """The catalogue by name, in the order of the world file."""
    track: Track
    """Route and bounds."""
    world: str
    """Name of the world."""


class World(WorldRequired, total=False):
    """Answer of `GET /world`."""

    rev: str | None
    """Revision of a published world."""
    world_id: str | None
    """Published id; null for built-in worlds."""


class WorldEntryRequired(TypedDict):
    """What is always there of WorldEntry."""

    deletable: bool
    """Whether it may be deleted."""
    display: str
    """Name for people."""
    evaluation: bool
    """Whether it has an evaluation."""
    file: str
    """World file, as `POST /switch` takes it."""
    name: str
    """Name."""
    official: bool
    """Whether it is an official world."""
    size: list[Num]
    """Width and height, m."""
    verified: bool
    """Whether its files are proven: it came with the program, or its id is the sum of its files."""


class WorldEntry(WorldEntryRequired, total=False):
    """A world that can be switched to."""

    world_id: str | None
    """Published id; null for built-in worlds."""


class WorldObject(TypedDict):
    """An object and where it is now."""

    current: Pose
    """Pose now."""
    kind: ObjectKind
    """By marker and geometry."""
    movable: bool
    """A pose command may move it."""
    name: str
    """Name."""
    origin: Pose
    """Pose at load."""
    size: Size
    """Full extents."""
    static: bool
    """Physics never moves it."""
    type: ObjectType
    """By the marker."""


class WorldsRequired(TypedDict):
    """What is always there of Worlds."""

    worlds: list[WorldEntry]
    """The worlds."""


class Worlds(WorldsRequired, total=False):
    """Answer of `GET /worlds`: those that can't be deleted first, then by name."""

    current: str | None
    """Name of the world that is ready; null while one is being loaded."""


class Xyz(TypedDict):
    """Three components."""

    x: Num
    """Ahead."""
    y: Num
    """Left."""
    z: Num
    """Up."""
