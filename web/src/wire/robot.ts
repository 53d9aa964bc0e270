// Made from the OpenAPI document of "Chicane robot" by scripts/wire.js: do not edit, run `make wire`.

/** Response of `GET /battery`. */
export type Battery = {
  /** Whether the battery is charging. */
  charging: boolean;
  /** Current, A; negative while the battery discharges. */
  current: Num;
  /** Charge, percent. */
  percentage: Num;
  /** Whether the car has a battery. */
  present: boolean;
  /** Voltage, V. */
  voltage: Num;
};

/** Bounding box of the car's body. */
export type BodyBox = {
  /** Centre relative to the pose origin, m. */
  centre: Num[];
  /** Full extents, m. */
  size: Size;
};

/** Request body of `POST /camera/pan` and `POST /camera/tilt`. */
export type CameraAngleRequest = {
  /** Angle, rad, positive to the left or upwards; clamped to the car's limits. */
  value: number;
};

/** The latest frame of the camera. */
export type CameraFrame = {
  /** The image, base64. */
  data: string;
  /** Always `jpeg`. */
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

/** Response to a command with one value. */
export type Commanded = {
  /** How a held speed ended: `stopped` after its duration, or `superseded` by a newer command. Null for every other command. */
  message?: string | null;
  /** Always true. */
  success: boolean;
  /** The value after clamping to the car's limits. */
  value: Num;
};

/** The body of every error response of the robot's API. */
export type Detail = {
  /** The kind of error. It stays the same when the text changes. */
  code: ErrorCode;
  /** The cause of the error and, where possible, how to correct the request. */
  detail: string;
};

/** The current actuator commands. */
export type DriveCommand = {
  /** Pan angle of the camera, rad, positive to the left. */
  pan: Num;
  /** Speed, m/s. */
  speed: Num;
  /** Steering angle, rad, positive to the left. */
  steering: Num;
  /** Tilt angle of the camera, rad, positive upwards. */
  tilt: Num;
};

/** Request body of `POST /drive`. */
export type DriveRequest = {
  /** Speed, m/s, positive is forward; clamped to the car's limits. */
  speed: number;
  /** Steering angle, rad, positive to the left; clamped to the car's limits. */
  steering: number;
};

/** Speed and steering. */
export type DriveValues = {
  /** Speed, m/s. */
  speed: Num;
  /** Steering angle, rad, positive to the left. */
  steering: Num;
};

/** Response of `POST /drive`. */
export type Driven = {
  /** Always null. */
  message?: string | null;
  /** Always true. */
  success: boolean;
  /** The values after clamping to the car's limits. */
  value: DriveValues;
};

/** Request body of `POST /audio/duration`. Exactly one of `url`, `path` and `data` is required. */
export type DurationRequest = {
  /** Content of the file, base64; at most 16 MiB. */
  data?: string | null;
  /** Expected format of the file. */
  format?: SoundFormat | null;
  /** Path of a file, as in a request to play. */
  path?: string | null;
  /** URL of a file, as in a request to play. */
  url?: string | null;
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

/** Parts of a robot. */
export type Hardware = {
  /** Names of the actuators. */
  actuators: string[];
  /** Short name of the vehicle generation. */
  generation: string;
  /** Names of the sensors. */
  sensors: string[];
  /** Display name of the vehicle. */
  vehicle: string;
};

/** Orientation of the car in two notations. */
export type Heading = {
  /** The same orientation as a quaternion. */
  quaternion: Quaternion;
  /** Yaw, degrees, positive to the left. */
  yaw: Num;
};

/** Response of `GET /health`. */
export type Health = {
  /** Whether the simulation is paused. */
  paused: boolean;
  /** Why the status is `failing`; omitted otherwise. */
  reason?: string | null;
  /** `ok`, `waiting` before the first world is loaded, or `failing` if the simulator can't evaluate or can't keep records. */
  status: string;
  /** Simulated seconds; null before the first world is loaded. */
  time?: Num | null;
  /** Time of this status, simulated seconds; 0 before the first world is loaded. The robot's ROS 2 topics use the same clock. */
  timestamp: Num;
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

/** Response of `GET /imu`. */
export type Inertial = {
  /** Acceleration, m/s². At rest it is +g upwards. */
  acceleration: Xyz;
  /** Turn rate about each axis, rad/s. */
  gyro: Xyz;
  /** Orientation that the car's filter computes from gyro and accelerometer. Its yaw is relative to the start. */
  orientation: Quaternion;
};

/** Response of `GET /info`: description of the robot. */
export type Info = {
  /** Paths of the robot's API, in alphabetical order. */
  endpoints: string[];
  /** Short name of the vehicle generation. */
  generation: string;
  /** Parts of the robot. */
  hardware: Hardware;
  /** Limits of motor and servos. */
  limits: Limits;
  /** Always `sim`. A physical car reports another mode. */
  mode: string;
  /** Display name. */
  model_name: string;
  /** Name of the robot. */
  name: string;
  /** Always false. A physical car reports true. */
  physical: boolean;
  /** Rates of readings, per simulated second. */
  rates: Rates;
  /** Parameters of the sensors. */
  sensors: Sensors;
  /** Serial number. A simulated car has `sim-` and the short name of its generation. */
  serial: string;
  /** Dimensions and mass. */
  sizes: Sizes;
  /** Software of the robot. */
  software: Software;
  /** Version of the software. */
  version: string;
};

/** Angles of all joints. */
export type JointAngles = {
  /** Steering angles of the front left and front right wheel, rad. */
  front_wheels: Num[];
  /** Pan angle of the camera, rad, positive to the left. */
  pan: Num;
  /** Angle of the steering servo, rad, positive to the left. */
  steering: Num;
  /** Tilt angle of the camera, rad, positive upwards. */
  tilt: Num;
  /** Total rotation of each wheel, rad: front left, front right, rear left, rear right. */
  wheel_angles: Num[];
  /** Angular speed of each wheel, rad/s, in the same order. */
  wheel_spins: Num[];
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

/** Response of `GET /lidar`. */
export type LidarScan = {
  /** Number of keys of `ranges`. */
  count: number;
  /** Time and geometry of the scan. */
  meta: ScanMeta;
  /** Longest measurable distance, m. */
  range_max: Num;
  /** Shortest measurable distance, m. */
  range_min: Num;
  /** Distance in metres for each angle in degrees; null if no distance from `range_min` to `range_max` was measured. Positive angles are to the left. */
  ranges: { [name: string]: number | null };
  /** Angle between neighbouring keys of `ranges`, degrees. */
  step: Num;
};

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

export type Num = number;

/** Bytes that are not JSON. Only the OpenAPI document uses this type, as the schema of a body with such bytes. */
export type Octets = string;

/** Response of `GET /odom`: estimated pose from lidar and gyro alone. */
export type Odometry = {
  /** Always `odom`. */
  frame_id: string;
  /** Orientation of the car. */
  orientation: Heading;
  /** Position relative to the start, m. */
  position: Xyz;
  /** Velocity of the car. */
  velocity: Velocity;
};

/** Request body of `POST /audio/play`. Exactly one of `url`, `path` and `data` is required. */
export type PlayRequest = {
  /** Content of the file, base64; at most 16 MiB. */
  data?: string | null;
  /** Expected format of the file. The format itself is detected from the content. */
  format?: SoundFormat | null;
  /** Whether to repeat the sound until it is stopped; false if omitted. */
  loop?: boolean | null;
  /** Path of a file in the workspace. If the simulator has no token and accepts connections of its own machine only, also the absolute path of any file that the simulator's user may read. */
  path?: string | null;
  /** Whether to stop all other sounds first; false if omitted. */
  replace?: boolean | null;
  /** URL of a file on the public internet, http or https. If the simulator has no token and accepts connections of its own machine only, the URL may also name that machine. */
  url?: string | null;
  /** Volume, 0 to 1; 1 if omitted. */
  volume?: number | null;
};

/** Response of `POST /audio/play`. */
export type Played = {
  /** Duration of the sound, seconds. */
  duration: Num;
  /** Id of the new sound. */
  id: string;
  /** Always true. */
  success: boolean;
};

/** A rotation as a unit quaternion. */
export type Quaternion = {
  /** Real part. */
  w: Num;
  /** X component. */
  x: Num;
  /** Y component. */
  y: Num;
  /** Z component. */
  z: Num;
};

/** Rates of readings, per simulated second. */
export type Rates = {
  /** Battery readings. */
  battery: number;
  /** Camera frames. */
  camera: number;
  /** Gyro and accelerometer samples. */
  imu: number;
  /** Speed, steering and joint angles. */
  joints: number;
  /** Laser scans. */
  lidar: number;
  /** Odometry estimates. */
  odom: number;
};

/** Time and geometry of a scan. */
export type ScanMeta = {
  /** Angle between neighbouring beams, degrees. */
  angle_increment: Num;
  /** Number of beams over the full circle. */
  beams: number;
  /** Always `lidar_link`. */
  frame_id: string;
  /** Text that says in which direction the angle is 0, and on which side it is positive. */
  orientation: string;
  /** Scans per simulated second. */
  rate: number;
  /** Index of the scan, from 0. */
  sample: number;
  /** Simulated time of the scan, s. */
  time: Num;
  /** Units of keys and values of `ranges`. */
  units: ScanUnits;
};

/** Units of a scan. */
export type ScanUnits = {
  /** Always `degrees`. */
  angle: string;
  /** Always `metres`. */
  range: string;
};

/** Parameters of a robot's sensors. */
export type Sensors = {
  /** Camera. */
  camera: CameraProfile;
  /** Inertial measurement unit. */
  imu: ImuProfile;
  /** Lidar. */
  lidar: LidarProfile;
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

/** Dimensions and mass of a robot. */
export type Sizes = {
  /** Bounding box of the body. */
  body: BodyBox;
  /** Total mass of the car, kg. */
  mass: Num;
  /** Distance between left and right wheels, m. */
  track: Num;
  /** Radius of a wheel, m. */
  wheel_radius: Num;
  /** Width of a wheel, m. */
  wheel_width: Num;
  /** Distance between the axles, m. */
  wheelbase: Num;
};

/** Software of a robot. */
export type Software = {
  /** Always `chicane`. */
  name: string;
  /** Version. */
  version: string;
};

/** A sound that started. */
export type SoundBegun = {
  /** Number of channels, 1 or 2. */
  channels: number;
  /** Duration, seconds; null for a stream. */
  duration?: Num | null;
  /** Format of the file; null for a stream. */
  format?: SoundFormat | null;
  /** Id of the sound. */
  id: string;
  /** Whether the sound is a file or a stream. */
  kind: SoundKind;
  /** Whether the sound is repeated. */
  loop: boolean;
  /** Playback position, simulated seconds. */
  position: Num;
  /** Sample rate, Hz. */
  sample_rate: number;
  /** Simulated time at which the sound was at `position`, s. */
  time: Num;
  /** Path under which the file is served; null for a stream. */
  url?: string | null;
  /** Volume, 0 to 1. */
  volume: Num;
};

/** Response of `/audio/duration`. */
export type SoundDuration = {
  /** Duration of the sound, seconds; null for a stream of samples, whose end is not known. */
  duration?: Num | null;
  /** Always true. */
  success: boolean;
};

/** Data of an event of `GET /audio/events`; the event's name is sent separately. */
export type SoundEvent = SoundBegun | SoundSamples | {
  /** Id of the sound. */
  id: string;
  /** New volume, 0 to 1. */
  volume: Num;
} | {
  /** Id of the sound. */
  id: string;
} | { [name: string]: unknown };

/** Formats of sound files. */
export type SoundFormat = "wav" | "mp3" | "ogg" | "flac";

/** Whether a sound is a file or a stream. */
export type SoundKind = "file" | "stream";

/** A sound that is playing. */
export type SoundPlaying = {
  /** Number of channels, 1 or 2. */
  channels: number;
  /** Duration, seconds; null for a stream. */
  duration?: Num | null;
  /** Format of the file; null for a stream. */
  format?: SoundFormat | null;
  /** Id of the sound. */
  id: string;
  /** Whether the sound is a file or a stream. */
  kind: SoundKind;
  /** Whether the sound is repeated. */
  loop: boolean;
  /** Playback position, simulated seconds. */
  position: Num;
  /** Sample rate, Hz. */
  sample_rate: number;
  /** Origin of the sound: its URL, its path, `data` or `stream`. */
  source: string;
  /** Volume, 0 to 1. */
  volume: Num;
};

/** Samples of a stream. */
export type SoundSamples = {
  /** Number of channels, 1 or 2. */
  channels: number;
  /** 16-bit samples, little-endian, channels interleaved; base64. */
  data: string;
  /** Id of the stream. */
  id: string;
  /** Sample rate, Hz. */
  sample_rate: number;
};

/** Response of `POST /audio/stop`. */
export type SoundStopped = {
  /** Always true. */
  success: boolean;
};

/** Response of `GET /audio`. */
export type Sounds = {
  /** Playing sounds, in the order in which they started. */
  playing: SoundPlaying[];
};

/** Request body of `POST /speed`. */
export type SpeedRequest = {
  /** How long to hold the speed, simulated seconds. The response is sent when this time is over, or when a newer command replaces the speed. If omitted, the speed is held for one second and the response is sent at once. */
  duration?: number | null;
  /** Speed, m/s, positive is forward; clamped to the car's limits. */
  value: number;
};

/** Response of `GET /states`: the requested readings. A reading that does not exist yet is null. */
export type States = {
  /** Same as `GET /audio`. */
  audio?: Sounds | null;
  /** Same as `GET /battery`. */
  battery?: Battery | null;
  /** The latest frame of the camera. */
  camera?: CameraFrame | null;
  /** Same as `GET /camera/pan`. */
  camera_pan?: number | null;
  /** Same as `GET /camera/tilt`. */
  camera_tilt?: number | null;
  /** The current actuator commands. */
  cmd: DriveCommand;
  /** Same as `GET /imu`. */
  imu?: Inertial | null;
  /** Measured angles of all joints, with the measured `steering`, `pan` and `tilt`. */
  joints?: JointAngles | null;
  /** Always null, because this car has no joystick. */
  joy?: number | null;
  /** Same as `GET /lidar`. */
  lidar?: LidarScan | null;
  /** Same as `GET /odom`. */
  odom?: Odometry | null;
  /** Same as `GET /speed`. */
  speed?: number | null;
  /** Same as `GET /steering`. */
  steering?: number | null;
};

/** Request body of `POST /steering`, and a frame of the WebSocket `/steering/stream`. */
export type SteeringRequest = {
  /** Steering angle, rad, positive to the left; clamped to the car's limits. */
  value: number;
};

/** Request body of `POST /audio/stop`: either `id` or `all`. */
export type StopSoundRequest = {
  /** Whether to stop all sounds. */
  all?: boolean | null;
  /** Id of the sound to stop. */
  id?: string | null;
};

/** Velocity of the car. */
export type Velocity = {
  /** Yaw rate, rad/s, positive to the left. */
  angular: Num;
  /** Forward speed, m/s. */
  linear: Num;
};

/** Response of `POST /audio/volume`. */
export type VolumeChanged = {
  /** Id of the sound. */
  id: string;
  /** Always true. */
  success: boolean;
  /** Volume after the change, 0 to 1. */
  volume: Num;
};

/** Request body of `POST /audio/volume`. */
export type VolumeRequest = {
  /** Id of the sound. */
  id: string;
  /** New volume, 0 to 1. */
  volume: number;
};

/** Response of a sensor's path before the first reading. */
export type Waiting = {
  /** Always `no_reading`. */
  code: ErrorCode;
  /** Names the missing reading. */
  error: string;
  /** Always `waiting`. */
  status: string;
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
