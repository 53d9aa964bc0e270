// Made from the OpenAPI document of "Chicane" by scripts/wire.js: do not edit, run `make wire`.

/** The body's box. */
export type BodyBox = {
  /** Centre from the pose origin, m. */
  centre: Num[];
  /** Full extents, m. */
  size: Size;
};

/** A rectangle on the ground. */
export type Bounds = {
  /** Metres. */
  maxX: Num;
  /** Metres. */
  maxY: Num;
  /** Metres. */
  minX: Num;
  /** Metres. */
  minY: Num;
};

/** Answer of `GET /brightness`. */
export type Brightness = {
  /** Factor of every shown pixel. */
  value: Num;
};

/** Answer of `POST /brightness`. */
export type BrightnessChanged = {
  /** Always true. */
  ok: boolean;
  /** The factor now. */
  value: Num;
};

/** Body of `POST /brightness`. */
export type BrightnessRequest = {
  /** Factor of every shown pixel. */
  value: number;
};

/** The last frame of the camera. */
export type CameraObservation = {
  /** The picture, base64. */
  data: string;
  /** Always `jpeg`; the binary answer brings raw pixels. */
  encoding: string;
  /** Which frame it is, from 0. */
  frame: number;
  /** Pixels. */
  height: number;
  /** Simulated seconds at which it was taken. */
  time: Num;
  /** Pixels. */
  width: number;
};

/** Camera parameters. */
export type CameraProfile = {
  /** Radial distortion, second and fourth order. */
  distortion: Num[];
  /** Pixels. */
  height: number;
  /** rad. */
  horizontal_fov: Num;
  /** Of full scale. */
  noise_sd: Num;
  /** m from the pose origin. */
  position: Num[];
  /** Frames a simulated second. */
  rate: number;
  /** Pixels. */
  width: number;
};

/** An object as the world file has it. */
export type CatalogueEntry = {
  /** By marker and geometry. */
  kind: ObjectKind;
  /** A pose command may move it. */
  movable: boolean;
  /** Pose at load. */
  origin: FlatPose;
  /** Full extents. */
  size: Size;
  /** Physics never moves it. */
  static: boolean;
  /** By the marker. */
  type: ObjectType;
};

/** Answer of `GET /clock`. */
export type Clock = {
  /** Whether time stands still. */
  paused: boolean;
  /** Real seconds since the world was loaded. */
  real_time: Num;
  /** Simulated seconds in a real one, measured over the last second; 0 while paused. */
  rtf: Num;
  /** Simulated seconds since the world was loaded. */
  sim_time: Num;
  /** Requested real-time factor; 0 is as fast as the machine can. */
  speed: Num;
};

/** Answer of `POST /clock`. */
export type ClockChanged = Clock & {
  /** Always true. */
  ok: boolean;
};

/** Body of `POST /clock`. */
export type ClockRequest = {
  /** Stops or starts time. */
  paused?: boolean | null;
  /** Requested real-time factor: 0.05 to 100, or 0 for as fast as the machine can. */
  speed?: number | null;
};

/** Answer of `GET /evaluation/session`. */
export type CurrentSession = {
  /** Whether a session is under way. */
  active: boolean;
  session?: Session | null;
};

/** Answer of `DELETE /worlds/<name>`. */
export type Deleted = {
  /** Name of the world that is gone. */
  deleted: string;
  /** Always true. */
  ok: boolean;
};

/** The body of every error. */
export type ErrorBody = {
  /** What was wrong, and what would be right. */
  error: string;
};

/** Answer of `GET /evaluation`. */
export type EvaluationDocument = {
  /** Config as its author wrote it. */
  config: { [name: string]: unknown };
  /** The judging script, Python. */
  script: string;
  /** Version of the document. */
  version: number;
};

/** The evaluation session in short. */
export type EvaluationState = {
  /** Whether one is under way. */
  active: boolean;
  /** Its phase. */
  phase?: string | null;
  /** Its id. */
  session?: string | null;
};

/** A pose of something upright. */
export type FlatPose = {
  /** Metres. */
  x: Num;
  /** Metres. */
  y: Num;
  /** Radians, −π to π. */
  yaw: Num;
  /** Metres. */
  z: Num;
};

/** The last sample of the inertial measurement unit, in the car's frame. */
export type ImuObservation = {
  /** m/s²; at rest +g upwards. */
  acceleration: Xyz;
  /** rad/s. */
  gyro: Xyz;
  /** Simulated seconds at which it was taken. */
  time: Num;
};

/** Parameters of the inertial measurement unit. */
export type ImuProfile = {
  /** m/s². */
  accelerometer_sd: Num;
  /** rad/s. */
  gyro_sd: Num;
  /** m from the pose origin. */
  position: Num[];
  /** Samples a simulated second. */
  rate: number;
};

/** Answer of `POST /worlds/install`. */
export type InstallAnswer = {
  /** Whether it was there already, so that nothing was fetched but its description. */
  cached: boolean;
  /** Its name for people. */
  name: string;
  /** Always true. */
  ok: boolean;
  /** Revision of its files. */
  rev: string;
  /** Whether its id proves its files. */
  verified: boolean;
  /** World file, as `POST /switch` takes it. */
  world: string;
};

/** Body of `POST /worlds/install`. */
export type InstallRequest = {
  /** Published id. */
  world_id: string;
};

/** A script and its work. */
export type JudgeWork = {
  /** How often it judged. */
  observations: number;
  /** Fingerprint of the script. */
  sha256: string;
  /** How long the world waited for that, real seconds. */
  wait_s: Num;
};

/** The last laser scan. */
export type LidarObservation = {
  /** From beam to beam, rad, counter-clockwise. */
  angle_increment: Num;
  /** Direction of the first beam, rad. */
  angle_min: Num;
  /** m. */
  range_max: Num;
  /** m. */
  range_min: Num;
  /** m; null where nothing was hit. */
  ranges: (Num | null)[];
  /** Simulated seconds at which it was taken. */
  time: Num;
};

/** Lidar parameters. */
export type LidarProfile = {
  /** Beams over the full circle. */
  beams: number;
  /** m. */
  noise_sd: Num;
  /** m from the pose origin. */
  position: Num[];
  /** m. */
  range_max: Num;
  /** m. */
  range_min: Num;
  /** Scans a simulated second. */
  rate: number;
};

/** A traffic light. */
export type Light = {
  /** Always true: lights come with the world. */
  builtin: boolean;
  /** Name. */
  name: string;
  panel?: Panel | null;
  /** What it shows. */
  state: LightState;
  /** Metres. */
  x: Num;
  /** Metres. */
  y: Num;
  /** Radians. */
  yaw: Num;
  yellow_left?: Num | null;
};

/** Answer of `POST /traffic_lights/<name>`. */
export type LightChanged = {
  /** The light now. */
  light: Light;
  /** Always true. */
  ok: boolean;
};

/** Body of `POST /traffic_lights/<name>`. */
export type LightRequest = {
  /** What to show. */
  state: RedOrGreen;
};

/** What a light shows. */
export type LightState = "red" | "yellow" | "green";

/** What motor and servo can do, both ways. */
export type Limits = {
  /** m/s². */
  acceleration: Num;
  /** rad. */
  pan: Num;
  /** m/s. */
  speed: Num;
  /** rad, at the virtual centre wheel. */
  steering: Num;
  /** rad/s. */
  steering_rate: Num;
  /** rad. */
  tilt: Num;
};

/** Answer of `POST /models/<name>/pose`. */
export type ModelMoved = {
  /** Always true: every reader sees it already. */
  applied: boolean;
  /** Where the object is now. */
  model: ModelPlace;
  /** Always true. */
  ok: boolean;
};

/** An object and where it stands. */
export type ModelPlace = {
  /** Name. */
  name: string;
  /** By its marker. */
  type: ObjectType;
  /** Metres. */
  x: Num;
  /** Metres. */
  y: Num;
  /** Radians. */
  yaw: Num;
  /** Metres. */
  z: Num;
};

/** Body of `POST /models/<name>/pose`. Omitted fields keep their current value. With `duration` the object moves there evenly; with `path` it follows the points. */
export type ModelRequest = {
  /** Simulated seconds. */
  duration?: number | null;
  /** Goes from the last point straight to the first, again and again. */
  loop?: boolean | null;
  /** Points x, y in metres, within ±100. */
  path?: number[][] | null;
  /** m/s along the path; needed with it. */
  speed?: number | null;
  /** Metres. */
  x?: number | null;
  /** Metres. */
  y?: number | null;
  /** Radians. */
  yaw?: number | null;
  /** Metres. */
  z?: number | null;
};

/** A request without fields; those that are there are ignored. */
export type NoFields = { [name: string]: unknown };

export type Num = number;

/** By marker and geometry. */
export type ObjectKind = "box" | "cylinder" | "sphere" | "cone" | "light" | "wall";

/** By the marker. */
export type ObjectType = "object" | "wall" | "light";

/** Answer of `GET /objects`, in the order of the world file. */
export type Objects = {
  /** The objects. */
  objects: WorldObject[];
  /** Name of the world. */
  world: string;
};

/** Sensor readings; those that were asked for. */
export type Observations = {
  camera?: CameraObservation | null;
  imu?: ImuObservation | null;
  lidar?: LidarObservation | null;
  odom?: OdomObservation | null;
};

/** A sensor that can be asked for. */
export type Observe = "camera" | "lidar" | "imu" | "odom";

/** Bytes that are no JSON, as the document describes them. */
export type Octets = string;

/** Where the car believes it is, from lidar and gyro alone: the frame `odom` is where it started. */
export type OdomObservation = {
  /** m/s ahead. */
  forward: Num;
  /** m/s to the left. */
  sideways: Num;
  /** Simulated seconds that it speaks of. */
  time: Num;
  /** rad/s, + is left. */
  turning: Num;
  /** m. */
  x: Num;
  /** m. */
  y: Num;
  /** rad. */
  yaw: Num;
};

/** Answer of `GET /overlay`. */
export type Overlay = {
  /** Real seconds it will still stay. */
  remaining_s: Num;
  /** Grows with every request. */
  seq: number;
  /** Multiplier of the font size. */
  size: Num;
  /** The text; empty when there is none. */
  text: string;
  /** Real seconds it was asked to stay. */
  ttl: Num;
};

/** Answer of `POST /overlay`. */
export type OverlayChanged = Overlay & {
  /** Always true. */
  ok: boolean;
};

/** Body of `POST /overlay`. */
export type OverlayRequest = {
  /** Multiplier of the font size; 1 if omitted. */
  size?: number | null;
  /** The text; empty takes it away. */
  text: string;
  /** Real seconds to stay; 10 if omitted. */
  ttl?: number | null;
};

/** The screen of a light, for viewers. */
export type Panel = {
  /** Radius of the yellow disc, m. */
  lamp_r: Num;
  /** Tilt, rad. */
  pitch: Num;
  /** Centre ahead of the light's origin, m. */
  px: Num;
  /** Centre above the light's origin, m. */
  pz: Num;
};

/** Answer of `POST /pose`. */
export type Placed = {
  /** Always true: every reader sees it already. */
  applied: boolean;
  /** Always true. */
  ok: boolean;
  /** Where the car is now. */
  pose: Pose;
};

/** A pose in the world: z up, yaw counter-clockwise from +x. */
export type Pose = {
  /** Radians. */
  pitch: Num;
  /** The same rotation as a quaternion x, y, z, w. */
  q: Num[];
  /** Radians. */
  roll: Num;
  /** Metres. */
  x: Num;
  /** Metres. */
  y: Num;
  /** Radians, −π to π. */
  yaw: Num;
  /** Metres. */
  z: Num;
};

/** Body of `POST /pose`. Omitted fields keep their current value. */
export type PoseRequest = {
  /** Metres. */
  x?: number | null;
  /** Metres. */
  y?: number | null;
  /** Radians. */
  yaw?: number | null;
};

/** Answer of `GET /worldpub`. */
export type Publication = {
  /** Revision of the assets that every world shares. */
  assets_rev: string;
  /** Where worlds are installed from. */
  cdn: string;
  /** Revision of a published world. */
  rev?: string | null;
  /** Name of the world. */
  world: string;
  /** Published id; null for built-in worlds. */
  world_id?: string | null;
};

/** Answer of `GET /evaluation/record`. */
export type Record = {
  /** `lower` or `higher`. */
  better: string;
  /** The student's command. */
  command?: string | null;
  /** Simulated seconds. */
  elapsed_s: Num;
  /** When it ended; null while it goes on. */
  ended_at?: string | null;
  /** The story, in order; left out in lists. */
  events?: { [name: string]: unknown }[] | null;
  /** The script and its work. */
  judge: JudgeWork;
  /** How it ended; null while it goes on. */
  outcome?: string | null;
  /** Why it ended. */
  reason?: string | null;
  /** The last record: any JSON value. */
  record: unknown;
  /** Its revision. */
  rev?: string | null;
  /** Of every random stream. */
  seed: number;
  /** Id of the session. */
  session: string;
  /** When it began, RFC 3339. */
  started_at: string;
  /** Simulated seconds. */
  time_limit_s: Num;
  /** Name of the world. */
  world: string;
  /** Id of the published world; null for built-in ones. */
  world_id?: string | null;
};

/** Answer of `GET /evaluation/records`. */
export type RecordList = {
  /** For `cursor`, to go on; null at the end. */
  next?: string | null;
  /** The newest first, without their stories. */
  records: Record[];
};

/** What a light can be asked for. */
export type RedOrGreen = "red" | "green";

/** Answer of `POST /reset`. */
export type ResetDone = {
  /** Always true. */
  ok: boolean;
  /** What went back to its start: movable objects and lights, then `vehicle`. */
  reset: string[];
};

/** Body of `POST /respawn`. */
export type RespawnRequest = {
  /** Seed of every random stream, such as the noise of sensors; 0 if omitted. */
  seed?: number | null;
};

/** Answer of `POST /respawn`. */
export type Respawned = {
  /** Always false: the world was loaded anew. */
  inplace: boolean;
  /** Always true. */
  ok: boolean;
  /** File name of the world. */
  world: string;
};

/** Answer of `GET /route`. */
export type Route = RouteLines & {
  /** Name of the world. */
  world: string;
};

/** Centre line and borders: a loop whose last point equals the first; row i of a border belongs to row i of the centre line. */
export type RouteLines = {
  /** Whether the road itself leads back to its start; if not, the last point is only there to close the loop. */
  closed: boolean;
  /** Points of the inner border. */
  inner?: Num[][] | null;
  /** Points of the outer border. */
  outer?: Num[][] | null;
  /** Points x, y of the centre line, m. */
  waypoints: Num[][];
};

/** The student's program. */
export type RunState = {
  /** Its exit code; negative is a signal. */
  exit_code?: number | null;
  /** Whether it runs. */
  running: boolean;
};

/** Answer of `GET /scene`. A file never changes under its address: another world has another one. */
export type Scene = {
  /** Address of the car as binary glTF, everything straight. */
  car_glb: string;
  /** 16 hex digits that change with anything that is drawn. */
  version: string;
  /** Name of the world that is served. */
  world: string;
  /** Address of the world as binary glTF, everything as at load. */
  world_glb: string;
};

/** A session as it stands. */
export type Session = {
  /** `lower` or `higher`. */
  better: string;
  /** The student's command. */
  command?: string | null;
  /** Simulated seconds since it began to run. */
  elapsed_s: Num;
  /** Its id. */
  id: string;
  /** The last 200 lines of the script's log. */
  log: string[];
  /** How it ended; null while it goes on. */
  outcome?: string | null;
  /** `initializing`, `starting`, `running` or `ended`. */
  phase: string;
  /** Why it ended. */
  reason?: string | null;
  /** The last record: any JSON value. */
  record: unknown;
  /** Its revision. */
  rev?: string | null;
  /** The student's program. */
  run: RunState;
  /** Of every random stream. */
  seed: number;
  /** When it began, RFC 3339. */
  started_at: string;
  /** Simulated seconds. */
  time_limit_s: Num;
  /** Name of the world. */
  world: string;
  /** Id of the published world; null for built-in ones. */
  world_id?: string | null;
};

/** Full extents of an object's own bounding box. */
export type Size = {
  /** Metres. */
  x: Num;
  /** Metres. */
  y: Num;
  /** Metres. */
  z: Num;
};

/** Body of `POST /evaluation/start`. */
export type StartRequest = {
  /** Command that runs the student's program; without one the run is only observed. */
  command?: string | null;
  /** Seed of every random stream; 0 if omitted. */
  seed?: number | null;
  /** Simulated seconds; the world's own limit if omitted. */
  time_limit_s?: number | null;
};

/** Answer of `POST /evaluation/start`. */
export type Started = {
  /** Always true. */
  ok: boolean;
  /** The session, as it begins. */
  session: Session;
};

/** Answer of `GET /state` and data of the `state` event. */
export type State = {
  /** Factor of every shown pixel. */
  brightness: Num;
  /** Names of the objects and walls that the car touches. */
  contacts: string[];
  /** Name of the world that is ready; null while one is being loaded. */
  current?: string | null;
  /** Grows when the car is put elsewhere: by a pose, a reset, a respawn, another world. Not in the answer of a step, which is the same after two respawns. */
  epoch?: number;
  /** The evaluation session. */
  evaluation: EvaluationState;
  /** Traffic lights by name. */
  lights: Light[];
  /** Poses of all objects by name. */
  objects: { [name: string]: Pose };
  /** Overlay text; empty when there is none. */
  overlay: string;
  /** Grows with every overlay request. */
  overlay_seq: number;
  /** Multiplier of its font size. */
  overlay_size: Num;
  /** Whether time stands still. */
  paused: boolean;
  /** Measured real-time factor. */
  rtf: Num;
  /** The student's program. */
  run: RunState;
  /** A world is loaded, stepping or paused. */
  running: boolean;
  /** A world is being loaded. */
  switching: boolean;
  time?: Num | null;
  transition?: Transition | null;
  vehicle?: VehiclePose | null;
  /** Always true. */
  websocket: boolean;
  /** Name of the world that is served. */
  world?: string | null;
};

/** Answer of `GET /status`. */
export type Status = {
  /** Grows whenever a served mesh or texture may have changed. */
  assets_version: number;
  /** Name of the world; null until one is ready. */
  current?: string | null;
  /** Robot generation. */
  generation: string;
  /** A world is loaded, stepping or paused. */
  running: boolean;
  /** A world is being loaded. */
  switching: boolean;
  /** Real seconds since the program started. */
  uptime_s: Num;
  /** Version of the program. */
  version: string;
  /** Always true. */
  websocket: boolean;
};

/** Body of `POST /step`. */
export type StepRequest = {
  /** Largest height of the camera's picture, pixels. */
  camera_height?: number | null;
  /** Largest width of the camera's picture, pixels; its shape is kept, and it is never enlarged. */
  camera_width?: number | null;
  /** Simulated seconds, rounded to the nearest tick. Not together with `steps`. */
  duration?: number | null;
  /** What the answer is to hold besides the state. */
  observe?: Observe[] | null;
  /** Drive command: m/s. Held while stepping; out of the car's limits it is clamped. */
  speed?: number | null;
  /** Drive command: rad, + is left. Held while stepping; out of the car's limits it is clamped. */
  steering?: number | null;
  /** Ticks of 5 ms; 1 if neither this nor `duration` is given. */
  steps?: number | null;
};

/** Answer of `POST /step`. */
export type Stepped = State & {
  observations?: Observations | null;
  /** Always true. */
  ok: boolean;
  /** Names of the objects and walls that the car touched on the way, also those that it left again. */
  touched: string[];
};

/** Answer of `POST /evaluation/stop`. */
export type Stopped = {
  /** Always true. */
  ok: boolean;
  /** Whether there was a session to stop. */
  stopped: boolean;
};

/** Body of `POST /switch`: one of the two. */
export type SwitchRequest = {
  /** World file. */
  world?: string | null;
  /** Published id. */
  world_id?: string | null;
};

/** Answer of `POST /switch`. */
export type Switched = {
  /** Always true. */
  ok: boolean;
  /** World file. */
  world: string;
};

/** Route and bounds of a world. */
export type Track = {
  bounds?: Bounds | null;
  route?: RouteLines | null;
};

/** Answer of `GET /traffic_lights`, by name. */
export type TrafficLights = {
  /** The lights. */
  lights: Light[];
  /** Name of the world. */
  world: string;
};

/** A world on its way in. */
export type Transition = {
  /** Why. */
  kind: TransitionKind;
  /** 0 to 1. */
  progress: Num;
  /** File name of the world. */
  target: string;
};

/** Why a world is being loaded. */
export type TransitionKind = "boot" | "switch" | "respawn" | "install";

/** Answer of `GET /vehicle`: the profile of the robot. */
export type Vehicle = {
  /** The body's box. */
  body: BodyBox;
  /** Camera. */
  camera: CameraProfile;
  /** m from the pose origin. */
  centre_of_mass: Num[];
  /** Short name. */
  generation: string;
  /** Inertial measurement unit. */
  imu: ImuProfile;
  /** Lidar. */
  lidar: LidarProfile;
  /** What motor and servo can do. */
  limits: Limits;
  /** Mass of the whole car, kg. */
  mass: Num;
  /** Name for people. */
  model_name: string;
  /** Distance between left and right wheels, m. */
  track: Num;
  /** m. */
  wheel_radius: Num;
  /** m. */
  wheel_width: Num;
  /** Distance between the axles, m. */
  wheelbase: Num;
};

/** The car in the live state. */
export type VehiclePose = Pose & {
  /** Where the camera looks, rad, + is left. */
  pan: Num;
  /** Ahead, m/s. */
  speed: Num;
  /** Angle of the virtual centre wheel, rad, + is left. */
  steering: Num;
  /** Where the camera looks, rad, + is up. */
  tilt: Num;
};

/** Answer of `GET /world`. */
export type World = {
  /** Name for people. */
  display: string;
  /** Whether it has an evaluation. */
  evaluation: boolean;
  /** The catalogue by name, in the order of the world file. */
  objects: { [name: string]: CatalogueEntry };
  /** Revision of a published world. */
  rev?: string | null;
  /** Route and bounds. */
  track: Track;
  /** Name of the world. */
  world: string;
  /** Published id; null for built-in worlds. */
  world_id?: string | null;
};

/** A world that can be switched to. */
export type WorldEntry = {
  /** Whether it may be deleted. */
  deletable: boolean;
  /** Name for people. */
  display: string;
  /** Whether it has an evaluation. */
  evaluation: boolean;
  /** World file, as `POST /switch` takes it. */
  file: string;
  /** Name. */
  name: string;
  /** Whether it is an official world. */
  official: boolean;
  /** Width and height, m. */
  size: Num[];
  /** Whether its files are proven: it came with the program, or its id is the sum of its files. */
  verified: boolean;
  /** Published id; null for built-in worlds. */
  world_id?: string | null;
};

/** An object and where it is now. */
export type WorldObject = {
  /** Pose now. */
  current: Pose;
  /** By marker and geometry. */
  kind: ObjectKind;
  /** A pose command may move it. */
  movable: boolean;
  /** Name. */
  name: string;
  /** Pose at load. */
  origin: Pose;
  /** Full extents. */
  size: Size;
  /** Physics never moves it. */
  static: boolean;
  /** By the marker. */
  type: ObjectType;
};

/** Answer of `GET /worlds`: those that can't be deleted first, then by name. */
export type Worlds = {
  /** Name of the world that is ready; null while one is being loaded. */
  current?: string | null;
  /** The worlds. */
  worlds: WorldEntry[];
};

/** Three components. */
export type Xyz = {
  /** Ahead. */
  x: Num;
  /** Left. */
  y: Num;
  /** Up. */
  z: Num;
};
