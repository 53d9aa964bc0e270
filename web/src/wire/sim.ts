// Made from the OpenAPI document of "Chicane" by scripts/wire.js: do not edit, run `make wire`.

/** Which records are better. */
export type Better = "lower" | "higher";

/** Bounding box of the car's body. */
export type BodyBox = {
  /** Centre relative to the pose origin, m. */
  centre: Num[];
  /** Full extents, m. */
  size: Size;
};

/** An axis-aligned rectangle on the ground. */
export type Bounds = {
  /** Largest x, m. */
  maxX: Num;
  /** Largest y, m. */
  maxY: Num;
  /** Smallest x, m. */
  minX: Num;
  /** Smallest y, m. */
  minY: Num;
};

/** The kind of isolation that a student's program runs in. */
export type BoxKind = "closed" | "host";

/** Response of `GET /brightness`. */
export type Brightness = {
  /** Factor applied to every displayed pixel. */
  value: Num;
};

/** Response of `POST /brightness`. */
export type BrightnessChanged = {
  /** Always true. */
  ok: boolean;
  /** The factor after the change. */
  value: Num;
};

/** Request body of `POST /brightness`. */
export type BrightnessRequest = {
  /** Factor applied to every displayed pixel. */
  value: number;
};

/** The latest frame of the camera. */
export type CameraObservation = {
  /** The image, base64. */
  data: string;
  /** Always `jpeg`. The binary response contains raw pixels instead. */
  encoding: string;
  /** Index of the frame, from 0. */
  frame: number;
  /** Height, pixels. */
  height: number;
  /** Simulated time of the frame, s. */
  time: Num;
  /** Width, pixels. */
  width: number;
};

/** Camera parameters. */
export type CameraProfile = {
  /** Coefficients of radial distortion, second and fourth order. */
  distortion: Num[];
  /** Height of the image, pixels. */
  height: number;
  /** Horizontal field of view, rad. */
  horizontal_fov: Num;
  /** Standard deviation of the noise, as a fraction of full scale. */
  noise_sd: Num;
  /** Position relative to the pose origin, m. */
  position: Num[];
  /** Frames per simulated second. */
  rate: number;
  /** Width of the image, pixels. */
  width: number;
};

/** An object as the world file defines it. */
export type CatalogueEntry = {
  /** Shape of the object, from its marker and geometry. */
  kind: ObjectKind;
  /** Whether a pose command may move the object. */
  movable: boolean;
  /** Initial pose. */
  origin: FlatPose;
  /** Full extents of the object's bounding box. */
  size: Size;
  /** Whether physics never moves the object. */
  static: boolean;
  /** Type of the object, from its marker in the world file. */
  type: ObjectType;
};

/** Request body of `POST /builder/published/<world id>`. An omitted field keeps its value. */
export type ChangePublishedRequest = {
  /** Who may download the world. */
  access?: WorldAccess | null;
  /** Display name of the world. */
  name?: string | null;
};

/** Response of `PUT /builder/projects/<id>/files/<name>`. */
export type ChangedFile = {
  /** Size in bytes. The size of a picture is that of the stored picture, which was encoded again. */
  bytes: number;
  /** Height of a picture in pixels; null for a script. */
  height?: number | null;
  /** Name of the file, relative to the document. */
  name: string;
  /** The new revision of the project. */
  revision: number;
  /** Width of a picture in pixels; null for a script. */
  width?: number | null;
};

/** Response of `GET /clock`. */
export type Clock = {
  /** Whether the simulation is paused. */
  paused: boolean;
  /** Real seconds since the world was loaded. In virtual time equal to `sim_time`. */
  real_time: Num;
  /** Measured real-time factor (simulated seconds per real second) over the last second; 0 while paused. */
  rtf: Num;
  /** Simulated seconds since the world was loaded. */
  sim_time: Num;
  /** Requested real-time factor; 0 means as fast as possible. */
  speed: Num;
};

/** Response of `POST /clock`. */
export type ClockChanged = Clock & {
  /** Always true. */
  ok: boolean;
};

/** Request body of `POST /clock`. */
export type ClockRequest = {
  /** Whether to pause the simulation. */
  paused?: boolean | null;
  /** Requested real-time factor: 0.05 to 100, or 0 for as fast as possible. */
  speed?: number | null;
};

/** A command that a client sends during a session. */
export type CommandName = "reset" | "clock" | "step" | "pose" | "model" | "light" | "overlay" | "brightness";

/** The sender of a command. */
export type CommandSource = "viewer" | "api" | "student" | "judge" | "ros" | "replay";

/** Error response if somebody else has changed the project. */
export type ConflictBody = {
  /** Always `revision_conflict`. */
  code: ErrorCode;
  /** The current document. */
  document: { [name: string]: unknown };
  /** The cause of the error. */
  error: string;
  /** The current revision. */
  revision: number;
};

/** Request body of `POST /builder/projects`. */
export type CreateProject = {
  /** The project document. */
  document?: { [name: string]: unknown } | null;
  /** What the project is made from. */
  from: NewProjectSource;
  /** Name of an empty project; `new_world` if omitted. */
  name?: string | null;
  /** Options of the random track. */
  options?: RandomTrack | null;
  /** Id of the project to copy. */
  project?: string | null;
  /** Seed of the random track; 0 if omitted. */
  seed?: number | null;
  /** Name of the shipped world. */
  world?: string | null;
};

/** Response of `GET /evaluation/session`. */
export type CurrentSession = {
  /** Whether a session is active. */
  active: boolean;
  /** The active session, or else the most recent one; null if there was none. */
  session?: Session | null;
};

/** Response of `DELETE /worlds/<name>` and of `DELETE /submissions/<id>`. */
export type Deleted = {
  /** Name of the deleted world, or id of the deleted submission. */
  deleted: string;
  /** Always true. */
  ok: boolean;
};

/** Response of `DELETE /builder/projects/<id>/files/<name>`. */
export type DeletedFile = {
  /** Name of the deleted file. */
  deleted: string;
  /** The new revision of the project. */
  revision: number;
};

/** Response of `DELETE /builder/projects/<id>`. */
export type DeletedProject = {
  /** Id of the deleted project. */
  deleted: string;
};

/** The verdict of a recorded run. */
export type EarlierVerdict = {
  /** How the session ended; null if it is not known. */
  outcome?: Outcome | null;
  /** The last record: any JSON value. */
  record: unknown;
};

/** The body of every error response. */
export type ErrorBody = {
  /** The kind of error. It stays the same when the text changes. */
  code: ErrorCode;
  /** The cause of the error and, where possible, how to correct the request. */
  error: string;
};

/** The kind of an error, for programs. A text may change; a code does not. */
export type ErrorCode = "invalid_request" | "out_of_range" | "token_needed" | "foreign_site" | "unknown_host" | "not_json" | "not_a_proxy" | "judged_run" | "role_forbids" | "too_many_attempts" | "too_many_submissions" | "not_movable" | "protected_world" | "no_world" | "no_such_object" | "no_such_light" | "no_such_world" | "no_route" | "no_bounds" | "no_floor" | "no_evaluation" | "no_record" | "no_such_sound" | "no_leaderboard" | "no_such_submission" | "no_such_project" | "not_found" | "method_not_allowed" | "request_timeout" | "not_ready" | "switch_in_progress" | "evaluation_in_progress" | "no_journal" | "other_world" | "recording_in_progress" | "already_running" | "yellow_phase" | "world_in_use" | "revision_conflict" | "project_invalid" | "too_many_projects" | "no_publish_target" | "robot_refused" | "bad_submission" | "unsupported_type" | "too_large" | "range_not_satisfiable" | "bad_world" | "bad_project" | "upgrade_required" | "internal" | "not_stored" | "cdn_failed" | "busy" | "stopping" | "no_judge" | "no_reading";

/** Response of `GET /evaluation`. */
export type EvaluationDocument = {
  /** Config as in the world's file, without the whitespace between its tokens. Its field `vary` says what a seed changes. */
  config: { [name: string]: unknown };
  /** Source of the judging script, Python. */
  script: string;
  /** Format version of the document. */
  version: number;
};

/** An event of an evaluation session. */
export type EvaluationEvent = EvaluationKind & {
  /** Id of the session. */
  session: string;
  /** Simulated seconds since the phase `running` began. */
  time: Num;
};

/** Type and data of an event of a session. */
export type EvaluationKind = {
  /** Command of the student's program; null without a program. */
  command?: string | null;
  kind: "start";
  /** Time limit, simulated seconds. */
  time_limit_s: Num;
  /** Name of the world. */
  world: string;
} | {
  kind: "phase";
  /** The phase. */
  phase: Phase;
} | {
  kind: "record";
  /** Any JSON value. */
  record: unknown;
} | {
  kind: "log";
  /** The printed line. */
  line: string;
} | {
  /** The command. */
  command: CommandName;
  /** Parameters of the command. */
  detail?: { [name: string]: unknown };
  kind: "command";
} | RunEvent & {
  kind: "run";
} | {
  kind: "truncated";
} | {
  kind: "end";
  /** How the session ended. */
  outcome: Outcome;
  /** Why the session ended. */
  reason?: string | null;
  /** The last record. */
  record: unknown;
};

/** Summary of the evaluation session. */
export type EvaluationState = {
  /** Whether a session is active. */
  active: boolean;
  /** Phase of the session. */
  phase?: Phase | null;
  /** Id of the session. */
  session?: string | null;
};

/** Where a problem is. */
export type FindingLocation = {
  /** Index in the list of nodes, objects or decals; null for other parts. */
  index?: number | null;
  /** The part of the document. */
  kind: LocationKind;
  /** Name of the object; null for other parts. */
  name?: string | null;
  /** Position along x, m; null if the problem has no position. */
  x?: Num | null;
  /** Position along y, m; null if the problem has no position. */
  y?: Num | null;
};

/** Pose of an upright object, without roll and pitch. */
export type FlatPose = {
  /** X coordinate, m. */
  x: Num;
  /** Y coordinate, m. */
  y: Num;
  /** Yaw, rad, −π to π. */
  yaw: Num;
  /** Z coordinate, m. */
  z: Num;
};

/** The latest sample of the inertial measurement unit, in the car's frame. */
export type ImuObservation = {
  /** Acceleration, m/s². At rest it is +g upwards. */
  acceleration: Xyz;
  /** Turn rate about each axis, rad/s. */
  gyro: Xyz;
  /** Simulated time of the sample, s. */
  time: Num;
};

/** Parameters of the inertial measurement unit. */
export type ImuProfile = {
  /** Standard deviation of the accelerometer's noise, m/s². */
  accelerometer_sd: Num;
  /** Standard deviation of the gyro's noise, rad/s. */
  gyro_sd: Num;
  /** Position relative to the pose origin, m. */
  position: Num[];
  /** Samples per simulated second. */
  rate: number;
};

/** Response of `POST /worlds/install`. */
export type InstallAnswer = {
  /** Whether this revision was already installed, so that only its metadata was downloaded. */
  cached: boolean;
  /** Display name. */
  name: string;
  /** Always true. */
  ok: boolean;
  /** Revision of the world's files. */
  rev: string;
  /** Whether the world's id matches the hash of its files. */
  verified: boolean;
  /** File name of the world, for `POST /switch`. */
  world: string;
};

/** Request body of `POST /worlds/install`. */
export type InstallRequest = {
  /** Id of the published world. */
  world_id: string;
};

/** Error response if the project has errors, so that no world can be built. */
export type InvalidProjectBody = {
  /** Always `project_invalid`. */
  code: ErrorCode;
  /** The cause of the error. */
  error: string;
  /** Errors and warnings of the project. */
  findings: PreviewFinding[];
};

/** The journal of a run. */
export type JournalIdentity = {
  /** Size of the journal, bytes. */
  bytes: number;
  /** Why the run can't be verified; omitted if it can. */
  problem?: string | null;
  /** SHA-256 of the journal, hex. */
  sha256: string;
};

/** Sounds as a script sees them. */
export type JudgeAudio = {
  /** Events since the last observation, in order. */
  events: JudgeSoundEvent[];
  /** Sounds that are playing. */
  playing: JudgeSound[];
};

/** A call from the simulator to the harness. */
export type JudgeCall = Statics & {
  type: "load";
} | {
  /** Number of rows of moved objects that follow this line. */
  moved: number;
  /** Names of all objects. Omitted if the names have not changed since the last observation. */
  names?: string[] | null;
  /** The current state of the world. */
  state: Observation;
  type: "initialize";
} | {
  /** Number of rows of moved objects that follow this line. */
  moved: number;
  /** Names of all objects. Omitted if the names have not changed since the last observation. */
  names?: string[] | null;
  /** The current state of the world. */
  state: Observation;
  type: "evaluate";
} | {
  /** Source of the script, Python. */
  script: string;
  type: "check";
};

/** Reply of the simulator to an action. */
export type JudgeReply = {
  /** Why the action was refused; null if it was carried out. */
  error?: string | null;
};

/** A line from the harness. */
export type JudgeSaid = {
  type: "ready";
  /** Version of the protocol that the harness uses. */
  version: number;
} | {
  type: "act";
} | {
  type: "record";
  /** Any JSON value. A number is finite. */
  value: unknown;
} | {
  /** Number of the mark. */
  mark: number;
  type: "printed";
} | {
  /** Whether the script ends the session. */
  finish: boolean;
  type: "answer";
} | {
  /** Last line of the traceback. */
  error: string;
  /** Cause of the failure. */
  kind: RaisedKind;
  type: "raised";
} | {
  /** The fault of the script; null if it is valid. */
  error?: string | null;
  type: "checked";
};

/** A sound that is playing. */
export type JudgeSound = {
  /** Id of the sound in the robot's API. */
  id: string;
  /** `file` or `stream`. */
  kind: string;
  /** Playback position, seconds. */
  position: Num;
  /** Origin of the sound: its URL, its path, `data` or `stream`. */
  source: string;
  /** Volume, 0 to 1. */
  volume: Num;
};

/** A change of a sound. Binary data is base64. */
export type JudgeSoundEvent = JudgeSound & {
  /** Number of channels, 1 or 2. */
  channels: number;
  /** Content of the file; omitted for a stream. */
  data?: string | null;
  /** Sample rate, Hz. */
  sample_rate: number;
} & {
  type: "play";
} | {
  /** Number of channels, 1 or 2. */
  channels: number;
  /** 16-bit samples, little-endian. */
  data: string;
  /** Id of the stream. */
  id: string;
  /** Sample rate, Hz. */
  sample_rate: number;
  type: "pcm";
} | {
  /** Id of the sound. */
  id: string;
  type: "volume";
  /** New volume, 0 to 1. */
  volume: Num;
} | {
  /** Id of the sound. */
  id: string;
  type: "stop";
} | {
  /** Id of the sound. */
  id: string;
  type: "ended";
};

/** A shipped judging script. */
export type JudgeTemplate = {
  /** What the script judges. */
  description: string;
  /** Name of the template. A project document refers to the template by this name. */
  name: string;
  /** The script. */
  script: string;
};

/** The track as a script sees it. Without a route the list of waypoints is empty. */
export type JudgeTrack = {
  /** Bounds of the track's ground. */
  bounds?: Bounds | null;
  /** Points (x, y) of the inner border, m. */
  inner?: Num[][] | null;
  /** Points (x, y) of the outer border, m. */
  outer?: Num[][] | null;
  /** Points (x, y) of the centre line, m. */
  waypoints: Num[][];
};

/** A judging script and its statistics. */
export type JudgeWork = {
  /** Number of observations that the script evaluated. */
  observations: number;
  /** SHA-256 of the script, hex. */
  sha256: string;
  /** Total real seconds that the simulation waited for the script. */
  wait_s: Num;
};

/** Response of `GET /leaderboard`. */
export type Leaderboard = {
  /** Whether the names are pseudonyms. */
  anonymous: boolean;
  /** The last runs that improved the result of a student, newest first. */
  changes: LeaderboardChange[];
  /** Why submissions can't be judged at the moment; null if they can. */
  problem?: string | null;
  /** The submissions that are not judged yet. */
  queue: SubmissionQueue;
  /** Seed of all runs. */
  seed: number;
  /** One table for each world. */
  tables: LeaderboardTable[];
  /** Names of the worlds of the contest. */
  worlds: string[];
};

/** A run that improved the result of a student. */
export type LeaderboardChange = {
  /** End of the run, RFC 3339. */
  at: string;
  /** The best record of the student before this run; null if this run gave the first one. */
  before?: Num | null;
  /** The rank after this run, from 1. */
  rank: number;
  /** The new record. */
  record: Num;
  /** Name of the student, or the pseudonym. */
  student: string;
  /** Name of the world. */
  world: string;
};

/** The best run of a student. A run counts only if it was verified, and if it finished with a number as its record. */
export type LeaderboardRow = {
  /** End of the run, RFC 3339. */
  at: string;
  /** Rank, from 1. Of two equal records, the earlier one is ahead. */
  rank: number;
  /** The record. */
  record: Num;
  /** Number of runs of this student in this world, including the runs that do not count. */
  runs: number;
  /** Id of the session, for the replay. */
  session: string;
  /** Name of the student, or the pseudonym. */
  student: string;
};

/** The best runs of one world. */
export type LeaderboardTable = {
  /** Whether a `lower` or a `higher` record is better. */
  better: Better;
  /** Display name of the world. */
  display: string;
  /** The best run of each student, the leader first. */
  rows: LeaderboardRow[];
  /** Unit of the records; null if it is not known. */
  unit?: string | null;
  /** Name of the world. */
  world: string;
};

/** The latest laser scan. */
export type LidarObservation = {
  /** Angle between neighbouring beams, rad, counter-clockwise. */
  angle_increment: Num;
  /** Direction of the first beam, rad, counter-clockwise from straight ahead. */
  angle_min: Num;
  /** Longest measurable distance, m. */
  range_max: Num;
  /** Shortest measurable distance, m. */
  range_min: Num;
  /** Distance of each beam, m; null if no distance from `range_min` to `range_max` was measured. */
  ranges: (Num | null)[];
  /** Simulated time of the scan, s. */
  time: Num;
};

/** Lidar parameters. */
export type LidarProfile = {
  /** Number of beams over the full circle. */
  beams: number;
  /** Standard deviation of the noise, m. */
  noise_sd: Num;
  /** Position relative to the pose origin, m. */
  position: Num[];
  /** Longest measurable distance, m. */
  range_max: Num;
  /** Shortest measurable distance, m. */
  range_min: Num;
  /** Scans per simulated second. */
  rate: number;
};

/** A traffic light. */
export type Light = {
  /** Always true: every light is part of the world. */
  builtin: boolean;
  /** Name of the light. */
  name: string;
  /** The light's screen, if it has one. */
  panel?: Panel | null;
  /** Colour that the light shows. */
  state: LightState;
  /** X coordinate, m. */
  x: Num;
  /** Y coordinate, m. */
  y: Num;
  /** Yaw, rad. */
  yaw: Num;
  /** Simulated seconds until the light turns red; only present while it is yellow. */
  yellow_left?: Num | null;
};

/** Response of `POST /traffic_lights/<name>`. */
export type LightChanged = {
  /** The light after the change. */
  light: Light;
  /** Always true. */
  ok: boolean;
};

/** Request body of `POST /traffic_lights/<name>`. */
export type LightRequest = {
  /** Colour to show. */
  state: RedOrGreen;
};

/** Colour that a traffic light shows. */
export type LightState = "red" | "yellow" | "green";

/** Limits of motor and servos, in both directions. */
export type Limits = {
  /** Acceleration, m/s². */
  acceleration: Num;
  /** Pan angle of the camera, rad. */
  pan: Num;
  /** Speed, m/s. */
  speed: Num;
  /** Angle of the virtual centre wheel, rad. */
  steering: Num;
  /** Rate of change of the steering angle, rad/s. */
  steering_rate: Num;
  /** Tilt angle of the camera, rad. */
  tilt: Num;
  /** Maximum change of the yaw rate, rad/s²; null if the car's controller does not limit it. */
  yaw_acceleration?: Num | null;
  /** Maximum yaw rate, rad/s; null if the car's controller does not limit it. */
  yaw_rate?: Num | null;
};

/** A part of a project document. */
export type LocationKind = "node" | "object" | "decal" | "field" | "evaluation" | "track";

/** Response of `POST /models/<name>/pose`. */
export type ModelMoved = {
  /** Always true: the new pose is visible to every client. */
  applied: boolean;
  /** The object after the change. */
  model: ModelPlace;
  /** Always true. */
  ok: boolean;
};

/** An object and its pose. */
export type ModelPlace = {
  /** Name of the object. */
  name: string;
  /** Type of the object, from its marker. */
  type: ObjectType;
  /** X coordinate, m. */
  x: Num;
  /** Y coordinate, m. */
  y: Num;
  /** Yaw, rad. */
  yaw: Num;
  /** Z coordinate, m. */
  z: Num;
};

/** Request body of `POST /models/<name>/pose`. Omitted fields keep their current value. With `duration` the object moves to the pose at constant speed; with `path` it follows the points. */
export type ModelRequest = {
  /** Duration of the motion, simulated seconds. */
  duration?: number | null;
  /** Whether the object continues from the last point straight to the first, without end. */
  loop?: boolean | null;
  /** Points (x, y) in metres, within ±100. */
  path?: number[][] | null;
  /** Speed along the path, m/s; required with `path`. */
  speed?: number | null;
  /** X coordinate, m. */
  x?: number | null;
  /** Y coordinate, m. */
  y?: number | null;
  /** Yaw, rad. */
  yaw?: number | null;
  /** Z coordinate, m. */
  z?: number | null;
};

/** What a new project is made from. */
export type NewProjectSource = "empty" | "world" | "random" | "document" | "project";

/** A request without fields. Any fields that a client sends are ignored. */
export type NoFields = { [name: string]: unknown };

export type Num = number;

/** Shape of an object, from its marker and geometry. */
export type ObjectKind = "box" | "cylinder" | "sphere" | "cone" | "light" | "wall";

/** Type of an object, from its marker in the world file. */
export type ObjectType = "object" | "wall" | "light";

/** Response of `GET /objects`, in the order of the world file. */
export type Objects = {
  /** The objects. */
  objects: WorldObject[];
  /** Name of the world. */
  world: string;
};

/** State of the world at one tick. */
export type Observation = {
  /** Playing sounds, and sound events since the last observation. */
  audio: JudgeAudio;
  /** Factor applied to every displayed pixel. */
  brightness: Num;
  /** Names of the objects and walls in contact with the car. */
  contacts: string[];
  /** Colour that each light shows, by name. */
  lights: { [name: string]: LightState };
  /** Whether the simulation is paused. */
  paused: boolean;
  /** State of the car. */
  pose: VehiclePose;
  /** Measured real-time factor (simulated seconds per real second); 1 in virtual time. */
  rtf: Num;
  /** State of the student's program. */
  run: RunState;
  /** Simulated seconds since the phase `running` began. */
  time: Num;
};

/** Sensor readings; sensors that were not requested are omitted. */
export type Observations = {
  /** Camera frame. */
  camera?: CameraObservation | null;
  /** Gyro and accelerometer. */
  imu?: ImuObservation | null;
  /** Laser scan. */
  lidar?: LidarObservation | null;
  /** Odometry. */
  odom?: OdomObservation | null;
};

/** A sensor whose reading a step can return. */
export type Observe = "camera" | "lidar" | "imu" | "odom";

/** Bytes that are not JSON. Only the OpenAPI document uses this type, as the schema of a body with such bytes. */
export type Octets = string;

/** Pose and velocity, estimated from lidar and IMU only. The pose is in the frame `odom`, whose origin is where the car was when its software started. The velocity is in the frame of the car. */
export type OdomObservation = {
  /** Forward speed, m/s. */
  forward: Num;
  /** Sideways speed, m/s, positive to the left. */
  sideways: Num;
  /** Simulated time of the estimate, s. */
  time: Num;
  /** Yaw rate, rad/s, positive to the left. */
  turning: Num;
  /** X coordinate, m. */
  x: Num;
  /** Y coordinate, m. */
  y: Num;
  /** Yaw, rad. */
  yaw: Num;
};

/** How a session ended. */
export type Outcome = "finished" | "timeout" | "script_error" | "stopped" | "unsupported";

/** An output stream of the student's program. */
export type OutputStream = "stdout" | "stderr";

/** Response of `GET /overlay`. */
export type Overlay = {
  /** Remaining display time, real seconds. */
  remaining_s: Num;
  /** Counter of the overlay requests. It increases with every request, even if the text stays the same. */
  seq: number;
  /** Multiplier of the font size. */
  size: Num;
  /** The text; empty when no overlay is shown. */
  text: string;
  /** Requested display time, real seconds. */
  ttl: Num;
};

/** Response of `POST /overlay`. */
export type OverlayChanged = Overlay & {
  /** Always true. */
  ok: boolean;
};

/** Request body of `POST /overlay`. */
export type OverlayRequest = {
  /** Multiplier of the font size; 1 if omitted. */
  size?: number | null;
  /** The text; an empty text removes the overlay. */
  text: string;
  /** Display time, real seconds; 10 if omitted. */
  ttl?: number | null;
};

/** How simulated time advances during a judged run. */
export type Pace = "real" | "virtual";

/** The screen of a light in the light's frame, for viewers. */
export type Panel = {
  /** Radius of the yellow disc, m. */
  lamp_r: Num;
  /** Pitch of the screen, rad. */
  pitch: Num;
  /** Forward offset of the screen's centre from the light's origin, m. */
  px: Num;
  /** Height of the screen's centre above the light's origin, m. */
  pz: Num;
};

/** The sheets of a print. */
export type Paper = "A4" | "A3" | "banner";

/** The phase of a session. */
export type Phase = "initializing" | "starting" | "running" | "ended";

/** Response of `POST /pose`. */
export type Placed = {
  /** Always true: the new pose is visible to every client. */
  applied: boolean;
  /** Always true. */
  ok: boolean;
  /** Pose of the car after the change. */
  pose: Pose;
};

/** A pose in the world frame: z points up, yaw is counter-clockwise from +x. */
export type Pose = {
  /** Pitch, rad. */
  pitch: Num;
  /** The same rotation as a quaternion x, y, z, w. */
  q: Num[];
  /** Roll, rad. */
  roll: Num;
  /** X coordinate, m. */
  x: Num;
  /** Y coordinate, m. */
  y: Num;
  /** Yaw, rad, −π to π. */
  yaw: Num;
  /** Z coordinate, m. */
  z: Num;
};

/** Request body of `POST /pose`. Omitted fields keep their current value. */
export type PoseRequest = {
  /** X coordinate, m. */
  x?: number | null;
  /** Y coordinate, m. */
  y?: number | null;
  /** Yaw, rad. */
  yaw?: number | null;
};

/** Response of `POST /builder/preview`. Lengths are in metres, angles in radians. */
export type PreviewAnswer = {
  /** Errors and warnings. */
  findings: PreviewFinding[];
  /** The objects, in the order of the document. */
  objects: PreviewObject[];
  /** The road; null if all nodes are so close together that the road has no direction. */
  road?: PreviewRoad | null;
};

/** A problem of a project. */
export type PreviewFinding = {
  /** Where the problem is. */
  location: FindingLocation;
  /** Name of the violated rule. */
  rule: string;
  /** How severe the problem is. */
  severity: PreviewSeverity;
  /** The problem, and how to solve it. */
  text: string;
};

/** An object of a project. */
export type PreviewObject = {
  /** Corners of the ground that the object covers, counter-clockwise. */
  footprint: Num[][];
  /** Height. */
  height: Num;
  /** Kind of the object, such as `box`. */
  kind: string;
  /** Name of the object. */
  name: string;
};

/** Request body of `POST /builder/preview`. */
export type PreviewRequest = {
  /** The document. */
  document: { [name: string]: unknown };
  /** Id of the project whose files belong to the document. If omitted, files are not checked. */
  project?: string | null;
};

/** The road as samples in the direction of travel. A closed road begins at its start line, and its samples have equal distances. On an open road, the distance between samples can be different before and after the start line. */
export type PreviewRoad = {
  /** x, y and width at each sample of the centre line. */
  centre: Num[][];
  /** Whether the road leads back to its first sample. */
  closed: boolean;
  /** The left edge at each sample. */
  left: Num[][];
  /** Length of the centre line. */
  length: Num;
  /** Distance of each node of the track from the first sample, measured along the centre line. */
  nodes_s: Num[];
  /** Places where the road overlaps another part of itself. */
  overlaps: Num[][];
  /** The right edge at each sample. */
  right: Num[][];
  /** The start line. */
  start: RoadStart;
  /** The tightest bend; null if the road is straight. */
  tightest?: TightestBend | null;
};

/** How severe a problem is. */
export type PreviewSeverity = "error" | "warning";

/** A part of the field, m. The origin is the lower left corner of the field. */
export type PrintArea = {
  /** Size along y. */
  height: number;
  /** Size along x. */
  width: number;
  /** Left edge. */
  x: number;
  /** Lower edge. */
  y: number;
};

/** Request body of `POST /builder/projects/<id>/print/size`. */
export type PrintRequest = {
  /** The part of the field to print; the whole field if omitted. */
  area?: PrintArea | null;
  /** Pixels per inch; 150 if omitted. */
  dpi?: number | null;
  /** The sheets; `A4` if omitted. */
  paper?: Paper | null;
};

/** Response of `POST /builder/projects/<id>/print/size`. */
export type PrintSize = {
  /** Estimated size of the file, in bytes. */
  bytes_estimate: number;
  /** Rows of the whole print. */
  height_px: number;
  /** Number of sheets of the PDF file. */
  sheets: number;
  /** Pixels per row of the whole print. */
  width_px: number;
};

/** The files of a student's program. */
export type ProgramIdentity = {
  /** Size of all files, bytes. */
  bytes: number;
  /** Number of files. */
  files: number;
  /** SHA-256 over the path, the kind (plain, executable or link) and the content of every file, hex. */
  sha256: string;
};

/** Response of `GET /evaluation/run` without `session`: the state of the last program. */
export type ProgramState = {
  /** Command of the program; null if there was none. */
  command?: string | null;
  /** Exit code, or the negated number of the signal that ended the program; null before the exit. */
  exit_code?: number | null;
  /** Whether the program is running. */
  running: boolean;
  /** Id of the session of the program; null if there was none. */
  session?: string | null;
};

/** The version of the simulator. */
export type ProgramVersion = {
  /** The commit that the program was built from; null if it was built without its repository. */
  commit?: string | null;
  /** The released version. */
  version: string;
};

/** Payload of the event `editors` in the event stream of a project. */
export type ProjectEditors = {
  /** Number of open event streams of the project. */
  count: number;
};

/** A project in the list. */
export type ProjectEntry = {
  /** Display name of the world. */
  display_name: string;
  /** Number of errors that prevent the build of a world. */
  errors: number;
  /** Height of the field, m. */
  height: Num;
  /** Id of the project. */
  id: string;
  /** Name of the world and of its files. */
  name: string;
  /** Number of nodes of the track. */
  nodes: number;
  /** Number of objects. */
  objects: number;
  /** The revision. It grows with every change. */
  revision: number;
  /** Time of the last change, RFC 3339. */
  updated: string;
  /** Number of warnings. */
  warnings: number;
  /** Width of the field, m. */
  width: Num;
};

/** A file of a project. */
export type ProjectFile = {
  /** Size in bytes. */
  bytes: number;
  /** Height of a picture in pixels; null for a script. */
  height?: number | null;
  /** Name of the file, relative to the document. */
  name: string;
  /** Width of a picture in pixels; null for a script. */
  width?: number | null;
};

/** Response of `GET /builder/projects`. */
export type ProjectList = {
  /** The projects that were deleted last and can be restored, the last deleted one first. */
  deleted: ProjectEntry[];
  /** The projects, the last changed one first. */
  projects: ProjectEntry[];
};

/** Response of `POST /builder/projects/<id>/publish`. */
export type ProjectPublished = {
  /** Address of the world's `meta.json`. */
  link: string;
  /** The revision of the project that was published. */
  revision: number;
  /** Id of the published world. */
  world_id: string;
};

/** Payload of the event `revision` in the event stream of a project. */
export type ProjectRevision = {
  /** Name of the editor that made the last change; null if the name is not known. */
  editor?: string | null;
  /** The current revision. */
  revision: number;
};

/** A recorded run. */
export type ProjectRun = {
  /** Command of the student's program; null if there was none. */
  command?: string | null;
  /** Duration of the phase `running`, simulated seconds. */
  elapsed_s: Num;
  /** How the session ended. */
  outcome: Outcome;
  /** The last record of the script that judged the run: any JSON value. */
  record: unknown;
  /** Id of the session. */
  session: string;
  /** Start of the session, RFC 3339. */
  started_at: string;
  /** Name of the student; null if it was not given. */
  student?: string | null;
  /** Name of the world. */
  world: string;
};

/** Response of `GET /builder/projects/<id>/runs`. */
export type ProjectRuns = {
  /** At most 100 runs in worlds that have the name or the display name of the project, the newest first. Runs that can't be simulated again are left out. */
  runs: ProjectRun[];
};

/** Response of `PUT /builder/projects/<id>`. */
export type ProjectSaved = {
  /** Number of errors that prevent the build of a world. */
  errors: number;
  /** The new revision. */
  revision: number;
  /** Time of the change, RFC 3339. */
  updated: string;
  /** Number of warnings. */
  warnings: number;
};

/** A project with its document. */
export type ProjectView = {
  /** The document, as `docs/project.schema.json` describes it. */
  document: { [name: string]: unknown };
  /** The files beside the document. */
  files: ProjectFile[];
  /** Id of the project. */
  id: string;
  /** The revision. It grows with every change. */
  revision: number;
  /** Time of the last change, RFC 3339. */
  updated: string;
};

/** Response of `GET /worldpub`. */
export type Publication = {
  /** Revision of the assets that all worlds share. */
  assets_rev: string;
  /** Address from which worlds are installed. */
  cdn: string;
  /** Revision of a published world, or of the world of a project; null for every other world. */
  rev?: string | null;
  /** Name of the world. */
  world: string;
  /** Id of the published world; null for every other world. */
  world_id?: string | null;
};

/** Request body of `POST /builder/projects/<id>/publish`. */
export type PublishRequest = {
  /** Who may download the world; `unlisted` if omitted. */
  access?: WorldAccess | null;
  /** Display name of the world; the display name of the project if omitted. */
  name?: string | null;
};

/** A published world. */
export type PublishedWorld = {
  /** Who may download the world. */
  access: WorldAccess;
  /** Address of the world's `meta.json`. */
  link: string;
  /** Display name of the world. */
  name: string;
  /** Time of the publication, RFC 3339; null if it is not known. */
  published?: string | null;
  /** Id of the world. */
  world_id: string;
};

/** Response of `GET /builder/published`. */
export type PublishedWorlds = {
  /** The worlds that are published at this simulator, sorted by name. */
  worlds: PublishedWorld[];
};

/** Why a call failed. */
export type RaisedKind = "raised" | "exited" | "memory" | "files";

/** The options of a random track. */
export type RandomTrack = {
  /** Width and height of the field, m; `[8, 6]` if omitted. */
  field?: number[] | null;
  /** Maximum length of the track, m; any length if omitted. */
  length?: number | null;
  /** Tightness of the bends, from 0 (nearly round) to 1; 0.5 if omitted. */
  tightness?: number | null;
  /** Width of the road, m; 0.6 if omitted. */
  width?: number | null;
};

/** Response of `GET /evaluation/record`. */
export type Record = RecordIdentity & RunReport & {
  /** Whether a `lower` or a `higher` record is better. */
  better: Better;
  /** Command of the student's program; null without a program. */
  command?: string | null;
  /** Simulated seconds since the phase `running` began. */
  elapsed_s: Num;
  /** End of the session, RFC 3339; null while it is active. */
  ended_at?: string | null;
  /** Events of the session in order; omitted in lists. */
  events?: RecordedEvent[] | null;
  /** The judging script and its statistics. */
  judge: JudgeWork;
  /** How the session ended; null while it is active. */
  outcome?: Outcome | null;
  /** Why the session ended; null while it is active or after a normal finish. */
  reason?: string | null;
  /** The latest record of the script: any JSON value. */
  record: unknown;
  /** Revision of a published world, or of the world of a project; null for every other world. */
  rev?: string | null;
  /** Seed of all random streams. */
  seed: number;
  /** Id of the session. */
  session: string;
  /** Start of the session, RFC 3339. */
  started_at: string;
  /** Time limit, simulated seconds. */
  time_limit_s: Num;
  /** Name of the world. */
  world: string;
  /** Id of the published world; null for every other world. */
  world_id?: string | null;
};

/** What was judged, and how: the part of a record that is known at the start of its session. Records of older versions have null for every field. */
export type RecordIdentity = {
  /** The isolation of the student's program; null without a program. */
  box?: BoxKind | null;
  /** The version of the simulator. */
  chicane?: ProgramVersion | null;
  /** What the student's program could reach besides the simulator; null without a program. */
  network?: StudentNetwork | null;
  /** How simulated time advanced. */
  pace?: Pace | null;
  /** Why the pace is not the requested one; null if it is the requested one. */
  pace_reason?: string | null;
  /** SHA-256 of the car's profile, hex. */
  profile_sha256?: string | null;
  /** Checksum, number and size of the files of the student's program at its start; null without a program. */
  program?: ProgramIdentity | null;
  /** Name of the student; null if it was not given. */
  student?: string | null;
  /** What the seed changed in the world; null if nothing. */
  variation?: Variation | null;
  /** Real seconds after which the run is stopped. */
  wall_limit_s?: Num | null;
  /** SHA-256 of the world's files, hex. */
  world_sha256?: string | null;
};

/** Response of `GET /evaluation/records`. */
export type RecordList = {
  /** Value for the parameter `cursor` to get the next page; null on the last page. */
  next?: string | null;
  /** Records without their events, newest first. */
  records: Record[];
};

/** An event as a record holds it. */
export type RecordedEvent = EvaluationKind & {
  /** Simulated seconds since the phase `running` began. */
  time: Num;
};

/** Response of `GET /recording`: the recording in progress, or the last one. */
export type Recording = {
  /** Whether a recording is in progress. */
  active: boolean;
  /** Size of all files of this recording, bytes. */
  bytes: number;
  /** Whether camera images are recorded. */
  camera: boolean;
  /** Number of ticks that are missing because the simulation was faster than the disk. */
  dropped_ticks: number;
  /** Recorded simulated time, seconds. */
  duration: Num;
  /** Why the recording ended by itself; null if it is in progress or was stopped. */
  failure?: string | null;
  /** Name of the current or last file; null before the first recording. */
  file?: string | null;
  /** Number of files of this recording. */
  files: number;
  /** Folder of the files, on the machine of the simulator. */
  folder: string;
  /** Number of recorded messages. */
  messages: number;
  /** Number of images that are missing because they were not drawn in time. */
  skipped_images: number;
  /** Whether the state of the simulator is recorded. */
  state: boolean;
};

/** Response of `POST /recording/start` and `POST /recording/stop`. */
export type RecordingChanged = {
  /** Always true. */
  ok: boolean;
  /** The recording after the change. */
  recording: Recording;
};

/** Request body of `POST /recording/start`. */
export type RecordingRequest = {
  /** Whether to record camera images; true if omitted. */
  camera?: boolean | null;
  /** Whether to record the state of the simulator as JSON; true if omitted. `ros2 bag play` accepts no JSON, so it needs a recording without the state. */
  state?: boolean | null;
};

/** Colour that a request can set. */
export type RedOrGreen = "red" | "green";

/** Request body of `POST /builder/projects/<id>/rejudge`. */
export type RejudgeRequest = {
  /** Id of the session whose drive is judged. */
  session: string;
};

/** Response of `POST /builder/projects/<id>/rejudge`: what the rules of the project say about the drive of a recorded run. Nothing is stored. */
export type RejudgedRun = {
  /** The verdict of the recorded run. */
  before: EarlierVerdict;
  /** Simulated seconds of the drive until the judging ended. */
  elapsed_s: Num;
  /** The error of the script; null if the script had no error. */
  error?: ScriptError | null;
  /** The last lines that the script printed, at most 500. */
  log: string[];
  /** Number of earlier lines that are not in `log`. */
  omitted: number;
  /** How the judging ended. */
  outcome: Outcome;
  /** Why the judging ended; null after a normal finish. */
  reason?: string | null;
  /** The last record of the script: any JSON value. */
  record: unknown;
  /** Whether a world that is built from the project now equals the world of the run. Names, rules and the thumbnail of the world are not compared. The drive is judged in the world of the run in either case. */
  same_world: boolean;
  /** Id of the session that was judged again. */
  session: string;
  /** Name of the world of the run. */
  world: string;
};

/** Response of `POST /reset`. */
export type ResetDone = {
  /** Always true. */
  ok: boolean;
  /** Names of everything that was reset: movable objects and lights, then `vehicle`. */
  reset: string[];
};

/** Request body of `POST /respawn`. */
export type RespawnRequest = {
  /** Seed of all random streams, such as sensor noise; 0 if omitted. */
  seed?: number | null;
  /** What the seed changes in the world, as in the config of an evaluation. If omitted, the world is as published. */
  vary?: Vary | null;
};

/** Response of `POST /respawn`. */
export type Respawned = {
  /** Always false: the world was loaded again. */
  inplace: boolean;
  /** Always true. */
  ok: boolean;
  /** What the seed changed in the world; omitted if nothing. */
  variation?: Variation | null;
  /** File name of the world. */
  world: string;
};

/** The start line of a road. */
export type RoadStart = {
  /** Position along x. */
  x: Num;
  /** Position along y. */
  y: Num;
  /** Direction of travel. */
  yaw: Num;
};

/** Response of `GET /route`. */
export type Route = RouteLines & {
  /** Name of the world. */
  world: string;
};

/** Centre line and borders. Each line is a loop whose last point equals the first. Row i of a border belongs to row i of the centre line. */
export type RouteLines = {
  /** Whether the road itself is a loop. If false, the last point only closes the list of points. */
  closed: boolean;
  /** Points (x, y) of the inner border, m. */
  inner?: Num[][] | null;
  /** Points (x, y) of the outer border, m. */
  outer?: Num[][] | null;
  /** Points (x, y) of the centre line, m. */
  waypoints: Num[][];
};

/** Start, output and exit of the student's program. */
export type RunEvent = {
  /** Shell command that started the program. */
  command: string;
  phase: "start";
} | {
  /** The line, at most 2,000 characters. */
  line: string;
  phase: "log";
  /** The stream that the line was written to. */
  stream: OutputStream;
  /** True if the line was cut. */
  truncated?: boolean | null;
} | {
  /** Exit code, or the negated number of the signal that ended the program. */
  exit_code: number;
  phase: "exit";
};

/** What happened during a run besides the judgement: the part of a record that is known at its end. */
export type RunReport = {
  /** Commands that neither the judged program nor the judging script sent. */
  interference: SentCommands;
  /** The journal of the run; null if there is none. */
  journal?: JournalIdentity | null;
  /** Requests of the judged program that were not allowed. */
  refused: SentCommands;
  /** How the student's program ended; null without a program. */
  run?: RunResult | null;
};

/** Request body of `POST /evaluation/run`. */
export type RunRequest = {
  /** Shell command that runs the student's program. */
  command: string;
  /** The files of the program, at most 32 texts by their relative paths, together at most 512 KiB. The command then runs in a folder with these files. If omitted, it runs in the workspace. */
  files?: { [name: string]: string } | null;
};

/** How a student's program ended. */
export type RunResult = {
  /** Exit status; null if a signal ended the program, or if it still ran at the end. */
  exit_code?: number | null;
  /** Whether the kernel ended a process of the program because the program reached its memory limit. */
  oom: boolean;
  /** The last 40 lines that the program wrote to standard output and standard error. */
  output_tail: string[];
  /** Number of the signal that ended the program; null if it exited, or if it still ran at the end. */
  signal?: number | null;
};

/** State of the student's program. */
export type RunState = {
  /** Exit code, or the negated number of the signal that ended the program; null before the exit. */
  exit_code?: number | null;
  /** Whether the program is running. */
  running: boolean;
};

/** The submission that is being judged. */
export type RunningSubmission = {
  /** Simulated time of the run as a fraction of its time limit, 0 to 1. */
  progress: Num;
  /** Name of the student, or the pseudonym. */
  student: string;
  /** Name of the world in which the program drives. */
  world: string;
};

/** Request body of `PUT /builder/projects/<id>`. */
export type SaveProject = {
  /** The whole document. */
  document: { [name: string]: unknown };
  /** Name of the editor. The event `revision` of the project contains this name. */
  editor?: string | null;
  /** The revision that the change is based on. If it is no longer the current revision, the server refuses the change. */
  revision: number;
};

/** Response of `GET /scene`. The file at an address never changes: a changed scene gets a new address. */
export type Scene = {
  /** Address of the car as binary glTF, with every joint at zero. */
  car_glb: string;
  /** 16 hex digits that change whenever the file of the world changes. */
  version: string;
  /** Name of the running world. */
  world: string;
  /** Address of the world as binary glTF, with every object at its initial pose. */
  world_glb: string;
};

/** Request body of `POST /builder/script/check`. */
export type ScriptCheckRequest = {
  /** The judging script, at most 256 KiB. */
  script: string;
};

/** Response of `POST /builder/script/check`. */
export type ScriptChecked = {
  /** The errors of the script. */
  errors: ScriptError[];
  /** Whether the script can judge. */
  ok: boolean;
};

/** An error of a script. */
export type ScriptError = {
  /** Line of the error, from 1; null if the error has no line. */
  line?: number | null;
  /** The error. */
  text: string;
};

/** A command and its sender. */
export type SentCommand = {
  /** Path of the request, or name of the ROS topic. */
  path: string;
  /** The sender. */
  source: CommandSource;
  /** Simulated seconds since the phase `running` began. */
  time: Num;
  /** Parameters of the command. */
  values: { [name: string]: unknown };
};

/** The number of commands, and the first 20 of them. */
export type SentCommands = {
  /** Number of commands. */
  count: number;
  /** The first 20 commands. */
  first: SentCommand[];
};

/** Current state of a session. */
export type Session = {
  /** Whether a `lower` or a `higher` record is better. */
  better: Better;
  /** Command of the student's program; null without a program. */
  command?: string | null;
  /** Simulated seconds since the phase `running` began. */
  elapsed_s: Num;
  /** Id of the session. */
  id: string;
  /** Number of commands that neither the judged program nor the judging script sent. */
  interference: number;
  /** The last 200 lines that the script printed. */
  log: string[];
  /** How the session ended; null while it is active. */
  outcome?: Outcome | null;
  /** The phase of the session. */
  phase: Phase;
  /** Why the session ended; null while it is active or after a normal finish. */
  reason?: string | null;
  /** The latest record of the script: any JSON value. */
  record: unknown;
  /** Revision of a published world, or of the world of a project; null for every other world. */
  rev?: string | null;
  /** State of the student's program. */
  run: RunState;
  /** Seed of all random streams. */
  seed: number;
  /** Start of the session, RFC 3339. */
  started_at: string;
  /** Time limit, simulated seconds. */
  time_limit_s: Num;
  /** Name of the world. */
  world: string;
  /** Id of the published world; null for every other world. */
  world_id?: string | null;
};

/** Full extents of an object's bounding box in the object's own frame. */
export type Size = {
  /** Extent along x, m. */
  x: Num;
  /** Extent along y, m. */
  y: Num;
  /** Extent along z, m. */
  z: Num;
};

/** Request body of `POST /evaluation/start`. */
export type StartRequest = {
  /** Shell command that runs the student's program. If omitted, the session only observes the car. */
  command?: string | null;
  /** The files of the program, at most 32 texts by their relative paths, together at most 512 KiB. The command then runs in a folder with these files. If omitted, it runs in the workspace. */
  files?: { [name: string]: string } | null;
  /** How simulated time advances; if omitted, as the simulator's option `--pace` says. */
  pace?: Pace | null;
  /** Seed of all random streams; 0 if omitted. */
  seed?: number | null;
  /** Name of the student, for the record. */
  student?: string | null;
  /** Time limit, simulated seconds; the world's own limit if omitted. */
  time_limit_s?: number | null;
  /** Real seconds after which the run is stopped; `max(120, 5 × time_limit_s)` if omitted. */
  wall_limit_s?: number | null;
};

/** Response of `POST /evaluation/start`. */
export type Started = {
  /** Always true. */
  ok: boolean;
  /** The session at its start. */
  session: Session;
};

/** Response of `GET /state`, and data of the event `state`. */
export type State = {
  /** Factor applied to every displayed pixel. */
  brightness: Num;
  /** Names of the objects and walls in contact with the car. */
  contacts: string[];
  /** Name of the world that is ready; null while a world is being loaded, or if no world runs. */
  current?: string | null;
  /** Counter that increases when the car is moved by other means than driving: by a pose, a reset, a respawn, a switch or the start of a session. The response of a step omits the counter, because the same step after two respawns must get the same response. */
  epoch?: number;
  /** Summary of the evaluation session. */
  evaluation: EvaluationState;
  /** Traffic lights, sorted by name. */
  lights: Light[];
  /** Current poses of all objects by name. */
  objects: { [name: string]: Pose };
  /** Overlay text; empty when no overlay is shown. */
  overlay: string;
  /** Counter that increases with every overlay request. */
  overlay_seq: number;
  /** Multiplier of the overlay's font size. */
  overlay_size: Num;
  /** Whether the simulation is paused. */
  paused: boolean;
  /** Measured real-time factor (simulated seconds per real second). */
  rtf: Num;
  /** State of the student's program. */
  run: RunState;
  /** Whether a world is loaded. It may be stepping or paused. */
  running: boolean;
  /** Whether a world is being loaded. */
  switching: boolean;
  /** Simulated seconds; null before the first world is loaded. */
  time?: Num | null;
  /** The world that is being loaded, or else the world that is being installed (`kind: "install"`); null if there is neither. An installation does not affect the running world. */
  transition?: Transition | null;
  /** State of the car; null before the first world is loaded. */
  vehicle?: VehiclePose | null;
  /** Always true. */
  websocket: boolean;
  /** Name of the running world; null before the first world is loaded. */
  world?: string | null;
};

/** Data that is constant during a session. */
export type Statics = {
  /** The config as in the world's file, without the whitespace between its tokens. */
  config: { [name: string]: unknown };
  /** Catalogue entries by name. */
  objects: { [name: string]: CatalogueEntry };
  /** Source of the script, Python. */
  script: string;
  /** Seed of the session. */
  seed: number;
  /** Route and bounds of the track. */
  track: JudgeTrack;
};

/** Response of `GET /status`. */
export type Status = {
  /** Counter that increases whenever a served mesh or texture may have changed. */
  assets_version: number;
  /** Name of the world that is ready; null while a world is being loaded, or if no world runs. */
  current?: string | null;
  /** Short name of the vehicle generation. */
  generation: string;
  /** Whether a world is loaded. It may be stepping or paused. */
  running: boolean;
  /** Whether a world is being loaded. */
  switching: boolean;
  /** Real seconds since the program started. */
  uptime_s: Num;
  /** Version of the program. */
  version: string;
  /** Always true. */
  websocket: boolean;
};

/** Request body of `POST /step`. */
export type StepRequest = {
  /** Largest height of the camera image, pixels. */
  camera_height?: number | null;
  /** Largest width of the camera image, pixels. The aspect ratio is kept, and the image is never enlarged. */
  camera_width?: number | null;
  /** Simulated seconds, rounded to the nearest tick. Mutually exclusive with `steps`. */
  duration?: number | null;
  /** Sensors whose readings the response includes. */
  observe?: Observe[] | null;
  /** Speed command, m/s, held during the step and clamped to the car's limits. */
  speed?: number | null;
  /** Steering command, rad, positive to the left, held during the step and clamped to the car's limits. */
  steering?: number | null;
  /** Number of ticks of 5 ms; 1 if both `steps` and `duration` are omitted. */
  steps?: number | null;
};

/** Response of `POST /step`. */
export type Stepped = State & {
  /** Readings of the requested sensors. */
  observations?: Observations | null;
  /** Always true. */
  ok: boolean;
  /** Names of the objects and walls that the car touched during the step, even if the contact has ended. */
  touched: string[];
};

/** Response of `POST /evaluation/stop`. */
export type Stopped = {
  /** Always true. */
  ok: boolean;
  /** Whether a session was running. */
  stopped: boolean;
};

/** What a student's program can reach besides the simulator. */
export type StudentNetwork = "none" | "internet" | "host";

/** Response of `GET /submissions/{id}`. */
export type Submission = {
  /** Id of the submission. */
  id: string;
  /** Number of submissions that are judged before this one; null unless this one is waiting. */
  position?: number | null;
  /** Simulated time of the current run as a fraction of its time limit, 0 to 1; null unless the submission is being judged. */
  progress?: Num | null;
  /** Why the submission failed; null if it did not fail. */
  reason?: string | null;
  /** Time at which the submission was received, RFC 3339. */
  received_at: string;
  /** The results so far, in the order of the worlds. */
  results: SubmissionResult[];
  /** The name in the tables. */
  shown_as: string;
  /** The state. */
  state: SubmissionState;
  /** Name of the student. */
  student: string;
  /** Name of the world in which the program drives; null unless the submission is being judged. */
  world?: string | null;
};

/** Response of `GET /submissions`. */
export type SubmissionList = {
  /** Whether there are older submissions, which are not listed. */
  more: boolean;
  /** The submissions, newest first. */
  submissions: Submission[];
};

/** The submissions that are not judged yet. */
export type SubmissionQueue = {
  /** The submission that is being judged; null if there is none. */
  running?: RunningSubmission | null;
  /** Number of submissions that wait. */
  waiting: number;
};

/** Response of `POST /submissions`. It is sent after the submission was stored. */
export type SubmissionReceived = {
  /** Id of the submission. The student needs the id to read the result, and nobody can guess it. */
  id: string;
  /** Always true. */
  ok: boolean;
  /** Number of submissions that are judged before this one. */
  position: number;
  /** The name in the tables: the name of the student, or the pseudonym. */
  shown_as: string;
  /** Names of the worlds that the program will drive in. */
  worlds: string[];
};

/** The result of a submission in one world. */
export type SubmissionResult = {
  /** Number of students in the table of the world. */
  of: number;
  /** How the session ended; null if there was no session. */
  outcome?: Outcome | null;
  /** The last lines that the program printed. */
  output_tail: string[];
  /** Rank in the table of the world; null if this is not the best run of the student. */
  rank?: number | null;
  /** What happened, in one line. */
  reason: string;
  /** The record of the script: any JSON value. */
  record: unknown;
  /** Id of the session, for the replay; null if there is no session. */
  session?: string | null;
  /** Unit of the record; null if it is not known. */
  unit?: string | null;
  /** How the run ended. */
  verdict: SubmissionVerdict;
  /** Name of the world. */
  world: string;
};

/** The state of a submission. */
export type SubmissionState = "waiting" | "running" | "done" | "failed";

/** How a run of a submission ended. */
export type SubmissionVerdict = "finished" | "failed" | "timeout" | "script_error" | "stopped" | "unsupported" | "fault";

/** Request body of `POST /switch`. Exactly one of the two fields is required. */
export type SwitchRequest = {
  /** Name of the world, with or without `.world`. */
  world?: string | null;
  /** Id of the published world. */
  world_id?: string | null;
};

/** Response of `POST /switch`. */
export type Switched = {
  /** Always true. */
  ok: boolean;
  /** File name of the world. */
  world: string;
};

/** Response of `GET /builder/templates`. */
export type Templates = {
  /** The shipped judging scripts. */
  templates: JudgeTemplate[];
};

/** The tightest bend of a road. */
export type TightestBend = {
  /** Radius of the centre line. */
  radius: Num;
  /** Position along x. */
  x: Num;
  /** Position along y. */
  y: Num;
};

/** Route and bounds of a world. */
export type Track = {
  /** Bounds of the drivable surface; null if the world has no such surface. */
  bounds?: Bounds | null;
  /** Centre line and borders; null if the world has no route. */
  route?: RouteLines | null;
};

/** Response of `GET /traffic_lights`: the lights, sorted by name. */
export type TrafficLights = {
  /** The lights. */
  lights: Light[];
  /** Name of the world. */
  world: string;
};

/** A world that is being loaded or installed. */
export type Transition = {
  /** Why the world is being loaded, or `install`. */
  kind: TransitionKind;
  /** Progress, 0 to 1. */
  progress: Num;
  /** File name of the world. */
  target: string;
};

/** The reason for which a world is being loaded, or `install` for an installation. */
export type TransitionKind = "boot" | "switch" | "respawn" | "install";

/** What a seed changed in a world. */
export type Variation = {
  /** The seed. */
  seed: number;
  /** SHA-256 of the changes, hex. Equal changes have equal sums. */
  sha256: string;
};

/** What a seed may change in a world. A pair of numbers is the smallest and the largest possible value. An omitted field changes nothing, and seed 0 changes nothing. */
export type Vary = {
  /** Brightness of the picture at the start, within 0.2 to 2. */
  brightness?: number[] | null;
  /** Factor of the grip of the tyres, within 0.2 to 2. */
  friction?: number[] | null;
  /** Delay of the car's commands in simulated seconds, within 0 to 0.5. */
  latency?: number[] | null;
  /** The traffic lights. */
  lights?: VaryLights | null;
  /** Factor of the car's mass, within 0.5 to 2. */
  mass?: number[] | null;
  /** The noise of the sensors. */
  noise?: VaryNoise | null;
  /** The objects. */
  objects?: VaryObjects | null;
  /** The start pose of the car. */
  start?: VaryStart | null;
  /** Surfaces of the road, of which one is chosen. */
  surface?: VarySurface[] | null;
};

/** What changes about the traffic lights. */
export type VaryLights = {
  /** Simulated seconds for which a light is red at the start, within 0 to 60. Every light gets a time of its own, and turns green afterwards. */
  phase?: number[] | null;
};

/** Factors of the sensors' noise, each within 0 to 10. */
export type VaryNoise = {
  /** Pixel noise of the camera. */
  camera?: number[] | null;
  /** Noise of gyro and accelerometer. */
  imu?: number[] | null;
  /** Range noise of the lidar. */
  lidar?: number[] | null;
};

/** What changes about the objects. */
export type VaryObjects = {
  /** Largest distance by which an object that can be pushed is moved, m. */
  jitter?: number | null;
  /** Number of additional objects beside the road, within 0 to 50. */
  scatter?: number[] | null;
  /** Largest angle by which an object that can be pushed is turned, rad. */
  turn?: number | null;
};

/** How far the start pose may differ from the published one. */
export type VaryStart = {
  /** Shift across the road in metres, within -1 to 1; positive is left. The car stays on the road. */
  across?: number[] | null;
  /** Shift along the road in metres, within -10 to 10; positive is forward. */
  along?: number[] | null;
  /** Turn of the car in rad, within -3.15 to 3.15; positive is left. */
  yaw?: number[] | null;
};

/** A surface of the road, with its grip and its look. */
export type VarySurface = "dry" | "damp" | "dusty" | "wet";

/** Response of `GET /vehicle`: the profile of the robot. */
export type Vehicle = {
  /** Other names of the same car. */
  aliases: string[];
  /** Bounding box of the body. */
  body: BodyBox;
  /** Camera. */
  camera: CameraProfile;
  /** Centre of mass relative to the pose origin, m. */
  centre_of_mass: Num[];
  /** Short name of the vehicle generation. */
  generation: string;
  /** Inertial measurement unit. */
  imu: ImuProfile;
  /** Lidar. */
  lidar: LidarProfile;
  /** Limits of motor and servos. */
  limits: Limits;
  /** Total mass of the car, kg. */
  mass: Num;
  /** Display name. */
  model_name: string;
  /** Distance between left and right wheels, m. */
  track: Num;
  /** Radius of a wheel, m. */
  wheel_radius: Num;
  /** Width of a wheel, m. */
  wheel_width: Num;
  /** Distance between the axles, m. */
  wheelbase: Num;
};

/** State of the car. */
export type VehiclePose = Pose & {
  /** Pan angle of the camera, rad, positive to the left. */
  pan: Num;
  /** Forward speed, m/s. */
  speed: Num;
  /** Angle of the virtual centre wheel, rad, positive to the left. */
  steering: Num;
  /** Tilt angle of the camera, rad, positive upwards. */
  tilt: Num;
};

/** Response of `GET /workspace`. */
export type Workspace = {
  /** The files. Files in upper folders come before files in deeper folders. */
  files: WorkspaceFile[];
  /** Whether the list was cut at its limit, so that the workspace may have more files. */
  more: boolean;
};

/** A file of the workspace. */
export type WorkspaceFile = {
  /** Size in bytes. */
  bytes: number;
  /** Path relative to the workspace. */
  path: string;
};

/** Response of `GET /world`. */
export type World = {
  /** Display name. */
  display: string;
  /** Whether the world has an evaluation. */
  evaluation: boolean;
  /** Catalogue entries by name, in the order of the world file. */
  objects: { [name: string]: CatalogueEntry };
  /** Revision of a published world, or of the world of a project; null for every other world. */
  rev?: string | null;
  /** Route and bounds of the track. */
  track: Track;
  /** Name of the world. */
  world: string;
  /** Id of the published world; null for every other world. */
  world_id?: string | null;
  /** Length of the yellow phase of a light, simulated seconds. */
  yellow_s: Num;
};

/** Who may download a published world. */
export type WorldAccess = "public" | "unlisted" | "private";

/** A world that a client can switch to. */
export type WorldEntry = {
  /** Whether the world can be deleted. */
  deletable: boolean;
  /** Display name. */
  display: string;
  /** Whether the world has an evaluation. */
  evaluation: boolean;
  /** File name of the world, for `POST /switch`. */
  file: string;
  /** Name of the world. */
  name: string;
  /** Whether the world is part of the program. */
  official: boolean;
  /** Width and height of the drivable ground, or of the route if the world has no such ground, m; zero if neither is known. */
  size: Num[];
  /** False for an installed world whose files could not be verified against its id; true for every other world. */
  verified: boolean;
  /** Id of the published world; null for every other world. */
  world_id?: string | null;
};

/** An object with its current pose. */
export type WorldObject = {
  /** Current pose. */
  current: Pose;
  /** Shape of the object, from its marker and geometry. */
  kind: ObjectKind;
  /** Whether a pose command may move the object. */
  movable: boolean;
  /** Name of the object. */
  name: string;
  /** Initial pose. */
  origin: Pose;
  /** Full extents of the object's bounding box. */
  size: Size;
  /** Whether physics never moves the object. */
  static: boolean;
  /** Type of the object, from its marker in the world file. */
  type: ObjectType;
};

/** Response of `GET /worlds`: first the worlds that cannot be deleted, then the others. Both groups are sorted by name. */
export type Worlds = {
  /** Name of the world that is ready; null while a world is being loaded, or if no world runs. */
  current?: string | null;
  /** The worlds. */
  worlds: WorldEntry[];
};

/** A vector in the car's frame. A position is in the frame that the car had at its start. */
export type Xyz = {
  /** Forward component. */
  x: Num;
  /** Left component. */
  y: Num;
  /** Upward component. */
  z: Num;
};
