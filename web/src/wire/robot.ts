// Made from the OpenAPI document of "Chicane robot" by scripts/wire.js: do not edit, run `make wire`.

/** Answer of `GET /battery`. */
export type Battery = {
  /** Whether it is being charged. */
  charging: boolean;
  /** A; negative while it gives. */
  current: Num;
  /** Charge, 0 to 100. */
  percentage: Num;
  /** Whether there is one. */
  present: boolean;
  /** V. */
  voltage: Num;
};

/** The body's box. */
export type BodyBox = {
  /** Centre from the pose origin, m. */
  centre: Num[];
  /** Full extents, m. */
  size: Size;
};

/** Body of `POST /camera/pan` and `POST /camera/tilt`. */
export type CameraAngleRequest = {
  /** rad, + is left and up. Out of the car's limits it is clamped. */
  value: number;
};

/** The last frame of the camera. */
export type CameraFrame = {
  /** The picture, base64, if it was asked for by name. */
  data?: string | null;
  /** `jpeg`, if the picture was asked for by name. */
  encoding?: string | null;
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

/** Answer to a command of one value. */
export type Commanded = {
  /** What became of a speed that was held: `stopped` in its time, or `superseded` before. */
  message?: string | null;
  /** Always true. */
  success: boolean;
  /** Within the car's limits. */
  value: Num;
};

/** The body of an error of the robot's. */
export type Detail = {
  /** What was wrong, and what would be right. */
  detail: string;
};

/** What the actuators are asked for. */
export type DriveCommand = {
  /** Camera, rad, + is left. */
  pan: Num;
  /** m/s. */
  speed: Num;
  /** rad, + is left. */
  steering: Num;
  /** Camera, rad, + is up. */
  tilt: Num;
};

/** Body of `POST /drive`. */
export type DriveRequest = {
  /** m/s, + is ahead. Out of the car's limits it is clamped. */
  speed: number;
  /** rad, + is left. Out of the car's limits it is clamped. */
  steering: number;
};

/** Speed and steering. */
export type DriveValues = {
  /** m/s. */
  speed: Num;
  /** rad, + is left. */
  steering: Num;
};

/** Answer of `POST /drive`. */
export type Driven = {
  /** Always null. */
  message?: string | null;
  /** Always true. */
  success: boolean;
  /** Within the car's limits. */
  value: DriveValues;
};

/** The body of every error. */
export type ErrorBody = {
  /** What was wrong, and what would be right. */
  error: string;
};

/** A heading, twice. */
export type Heading = {
  /** The same. */
  quaternion: Quaternion;
  /** Degrees, + is left. */
  yaw: Num;
};

/** Answer of `GET /health`. */
export type Health = {
  /** Whether time stands still. */
  paused: boolean;
  /** `ok`, or `waiting` before the first world. */
  status: string;
  time?: Num | null;
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

/** Answer of `GET /imu`. */
export type Inertial = {
  /** m/s²; at rest +g upwards. */
  acceleration: Xyz;
  /** rad/s. */
  gyro: Xyz;
  /** Always none: it is not measured. */
  orientation: Quaternion;
};

/** Answer of `GET /info`: what the robot is. */
export type Info = {
  /** Short name of the vehicle generation. */
  generation: string;
  /** What motor and servos can do. */
  limits: Limits;
  /** Always `sim` here: a physical car says otherwise. */
  mode: string;
  /** Name for people. */
  model_name: string;
  /** How often everything is said, a simulated second. */
  rates: Rates;
  /** What it senses with. */
  sensors: Sensors;
  /** How large it is. */
  sizes: Sizes;
  /** Of the software. */
  version: string;
};

/** Angles of everything that turns. */
export type JointAngles = {
  /** Front left and front right, rad. */
  front_wheels: Num[];
  /** Camera, rad, + is left. */
  pan: Num;
  /** The steering servo, rad, + is left. */
  steering: Num;
  /** Camera, rad, + is up. */
  tilt: Num;
  /** How far front left, front right, rear left, rear right have turned, rad. */
  wheel_angles: Num[];
  /** rad/s. */
  wheel_spins: Num[];
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

/** Answer of `GET /lidar`. */
export type LidarScan = {
  /** Number of keys. */
  count: number;
  /** About the scan. */
  meta: ScanMeta;
  /** m. */
  range_max: Num;
  /** m. */
  range_min: Num;
  /** m by degrees, + is left; null where nothing was hit. */
  ranges: Record<string, number | null>;
  /** Degrees from key to key. */
  step: Num;
};

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

export type Num = number;

/** Bytes that are no JSON, as the document describes them. */
export type Octets = string;

/** Answer of `GET /odom`: where the car believes it is, from lidar and gyro alone. */
export type Odometry = {
  /** Always `odom`. */
  frame_id: string;
  /** Heading. */
  orientation: Heading;
  /** m, from where it started. */
  position: Xyz;
  /** How it moves. */
  velocity: Velocity;
};

/** Body of `POST /audio/play`. One of `url`, `path` and `data` says where the file comes from. */
export type PlayRequest = {
  /** The file itself, base64; at most 16 MiB of it. */
  data?: string | null;
  format?: SoundFormat | null;
  /** Again and again until it is stopped; once if omitted. */
  loop?: boolean | null;
  /** A file of the workspace. */
  path?: string | null;
  /** Everything else stops first; if omitted it plays on. */
  replace?: boolean | null;
  /** Address of a file on the open internet, http or https. */
  url?: string | null;
  /** 1 if omitted. */
  volume?: number | null;
};

/** Answer of `POST /audio/play`. */
export type Played = {
  /** Seconds. */
  duration: Num;
  /** Of the sound that began. */
  id: string;
  /** Always true. */
  success: boolean;
};

/** A rotation. */
export type Quaternion = {
  /** Real part. */
  w: Num;
  /** First component. */
  x: Num;
  /** Second component. */
  y: Num;
  /** Third component. */
  z: Num;
};

/** How often everything is said, a simulated second. */
export type Rates = {
  /** Battery. */
  battery: number;
  /** Frames. */
  camera: number;
  /** Gyro and accelerometer. */
  imu: number;
  /** Speed, steering and everything that turns. */
  joints: number;
  /** Scans. */
  lidar: number;
  /** Odometry. */
  odom: number;
};

/** About a scan. */
export type ScanMeta = {
  /** Degrees from beam to beam. */
  angle_increment: Num;
  /** Beams over the full circle. */
  beams: number;
  /** Always `lidar_link`. */
  frame_id: string;
  /** Scans a simulated second. */
  rate: number;
  /** Which scan it is, from 0. */
  sample: number;
  /** Simulated seconds at which it was taken. */
  time: Num;
};

/** What a robot senses with. */
export type Sensors = {
  /** Camera. */
  camera: CameraProfile;
  /** Inertial measurement unit. */
  imu: ImuProfile;
  /** Lidar. */
  lidar: LidarProfile;
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

/** How large a robot is. */
export type Sizes = {
  /** The body's box. */
  body: BodyBox;
  /** Mass of the whole car, kg. */
  mass: Num;
  /** Distance between left and right wheels, m. */
  track: Num;
  /** m. */
  wheel_radius: Num;
  /** m. */
  wheel_width: Num;
  /** Distance between the axles, m. */
  wheelbase: Num;
};

/** A sound that began. */
export type SoundBegun = {
  /** 1 or 2. */
  channels: number;
  duration?: Num | null;
  format?: SoundFormat | null;
  /** Of the sound. */
  id: string;
  /** File or stream. */
  kind: SoundKind;
  /** Again and again. */
  loop: boolean;
  /** Simulated seconds into it. */
  position: Num;
  /** Hz. */
  sample_rate: number;
  /** Simulated seconds at which it was at this position. */
  time: Num;
  /** Where the file is served; null for a stream. */
  url?: string | null;
  /** 0 to 1. */
  volume: Num;
};

/** An event of `GET /audio/events`: its name, and its fields as data. */
export type SoundEvent = SoundBegun | SoundSamples | {
  /** Which sound. */
  id: string;
  /** 0 to 1. */
  volume: Num;
} | {
  /** Which sound. */
  id: string;
} | Record<string, unknown>;

/** Kinds of files. */
export type SoundFormat = "wav" | "mp3" | "ogg" | "flac";

/** A file or samples. */
export type SoundKind = "file" | "stream";

/** A sound that plays. */
export type SoundPlaying = {
  /** 1 or 2. */
  channels: number;
  duration?: Num | null;
  format?: SoundFormat | null;
  /** By which it can be stopped. */
  id: string;
  /** File or stream. */
  kind: SoundKind;
  /** Again and again. */
  loop: boolean;
  /** Simulated seconds into it. */
  position: Num;
  /** Hz. */
  sample_rate: number;
  /** Where it came from: its address, its path, `data` or `stream`. */
  source: string;
  /** 0 to 1. */
  volume: Num;
};

/** Samples of a stream. */
export type SoundSamples = {
  /** 1 or 2. */
  channels: number;
  /** 16 bits a sample, little end first, channels by turns; base64. */
  data: string;
  /** Of the stream. */
  id: string;
  /** Hz. */
  sample_rate: number;
};

/** Answer of `POST /audio/stop`. */
export type SoundStopped = {
  /** Always true. */
  success: boolean;
};

/** Answer of `GET /audio`: what plays, in the order in which it began. */
export type Sounds = {
  /** Every sound. */
  playing: SoundPlaying[];
};

/** Body of `POST /speed`. */
export type SpeedRequest = {
  /** Simulated seconds to hold it; answered at their end. One second, answered at once, if omitted. */
  duration?: number | null;
  /** m/s, + is ahead. Out of the car's limits it is clamped. */
  value: number;
};

/** Answer of `GET /states`: what was asked for. A reading that is not there yet is null. */
export type States = {
  audio?: Sounds | null;
  battery?: Battery | null;
  camera?: CameraFrame | null;
  /** What the actuators are asked for. */
  cmd: DriveCommand;
  imu?: Inertial | null;
  joints?: JointAngles | null;
  lidar?: LidarScan | null;
  odom?: Odometry | null;
  /** As `GET /speed`. */
  speed?: number | null;
  /** As `GET /steering`. */
  steering?: number | null;
};

/** Body of `POST /steering`, and a frame of the WebSocket `/steering/stream`. */
export type SteeringRequest = {
  /** rad, + is left. Out of the car's limits it is clamped. */
  value: number;
};

/** Body of `POST /audio/stop`: one sound, or all of them. */
export type StopSoundRequest = {
  /** All of them. */
  all?: boolean | null;
  /** Which sound. */
  id?: string | null;
};

/** How the car moves. */
export type Velocity = {
  /** rad/s, + is left. */
  angular: Num;
  /** m/s, + is ahead. */
  linear: Num;
};

/** Answer of `POST /audio/volume`. */
export type VolumeChanged = {
  /** Which sound. */
  id: string;
  /** Always true. */
  success: boolean;
  /** How loud it is now. */
  volume: Num;
};

/** Body of `POST /audio/volume`. */
export type VolumeRequest = {
  /** Which sound. */
  id: string;
  /** How loud. */
  volume: number;
};

/** What a sensor says before its first reading. */
export type Waiting = {
  /** Which data there is none of. */
  error: string;
  /** Always `waiting`. */
  status: string;
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
