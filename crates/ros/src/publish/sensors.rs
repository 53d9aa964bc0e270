//! Converts samples of the robot to messages.

use super::frames::{BASE, FOOTPRINT, IMU, LIDAR, ODOM, OPTICAL, header};
use crate::messages::{
    BatteryState, CameraInfo, Imu, JointState, LaserScan, Odometry, Point, Pose, PoseWithCovariance,
    Quaternion, RegionOfInterest, Time, Twist, TwistWithCovariance, Vector3,
};
use chicane_robot::Joints;
use chicane_world::Profile;
use chicane_world::readings::TICK_S;
use std::f64::consts::{PI, TAU};

/// Variance of height (m²), of roll and pitch (rad²), and of their rates of change (m²/s² and
/// rad²/s²). The planar odometry does not estimate these values, because the car stays on the
/// ground.
const PLANAR: f64 = 1e-4;
/// Names of the joints in the order of the message.
const JOINTS: [&str; 8] = [
    "front_left_wheel_joint",
    "front_right_wheel_joint",
    "rear_left_wheel_joint",
    "rear_right_wheel_joint",
    "front_left_steering_joint",
    "front_right_steering_joint",
    "camera_pan_joint",
    "camera_tilt_joint",
];

pub(super) fn imu(sample: &chicane_robot::Imu, stamp: Time, profile: &Profile) -> Imu {
    let vector = |x: f64, y: f64, z: f64| Vector3 { x, y, z };
    let diagonal = |sd: f64| {
        let v = sd * sd;
        [v, 0.0, 0.0, 0.0, v, 0.0, 0.0, 0.0, v]
    };
    let mut unknown = [0.0; 9];
    unknown[0] = -1.0;
    let (turning, force) = (sample.angular_velocity, sample.acceleration);
    Imu {
        header: header(stamp, IMU),
        orientation: Quaternion::default(),
        orientation_covariance: unknown,
        angular_velocity: vector(turning.x, turning.y, turning.z),
        angular_velocity_covariance: diagonal(profile.imu.gyro_sd_radps),
        linear_acceleration: vector(force.x, force.y, force.z),
        linear_acceleration_covariance: diagonal(profile.imu.accelerometer_sd_mps2),
    }
}

/// A scan from −π to +π. Both angles point backwards, so the first range is repeated at the end.
pub(super) fn scan(mut ranges: Vec<f32>, stamp: Time, profile: &Profile) -> LaserScan {
    let lidar = &profile.lidar;
    let step = TAU / ranges.len().max(1) as f64;
    ranges.extend(ranges.first().copied());
    LaserScan {
        header: header(stamp, LIDAR),
        angle_min: -PI as f32,
        angle_max: PI as f32,
        angle_increment: step as f32,
        // All beams are measured at the same time.
        time_increment: 0.0,
        scan_time: (1.0 / f64::from(lidar.rate_hz)) as f32,
        range_min: lidar.range_min_m as f32,
        range_max: lidar.range_max_m as f32,
        ranges,
        intensities: Vec::new(),
    }
}

/// The median of each beam and its two neighbours. The first beam and the last beam are neighbours.
/// The filter removes single outliers and gaps, but keeps edges. If at least two of the three
/// ranges are infinite, the median is infinite, and the result is 0.
pub(super) fn median(ranges: &[f32]) -> Vec<f32> {
    let n = ranges.len();
    let middle = |i: usize| {
        let (a, b, c) = (ranges[(i + n - 1) % n], ranges[i], ranges[(i + 1) % n]);
        let median = a.min(b).max(a.max(b).min(c));
        if median.is_finite() { median } else { 0.0 }
    };
    (0..n).map(middle).collect()
}

pub(super) fn odometry(odom: &chicane_robot::Odom, stamp: Time) -> Odometry {
    let position = Point { x: odom.x, y: odom.y, z: 0.0 };
    let pose = Pose { position, orientation: Quaternion::of_yaw(odom.yaw) };
    let linear = Vector3 { x: odom.forward, y: odom.sideways, z: 0.0 };
    let twist = Twist { linear, angular: Vector3 { x: 0.0, y: 0.0, z: odom.turning } };
    Odometry {
        header: header(stamp, ODOM),
        child_frame_id: FOOTPRINT.to_owned(),
        pose: PoseWithCovariance { pose, covariance: spatial(&odom.pose_covariance) },
        twist: TwistWithCovariance { twist, covariance: spatial(&odom.twist_covariance) },
    }
}

/// Expands a covariance of (x, y, yaw) to (x, y, z, roll, pitch, yaw).
fn spatial(planar: &[[f64; 3]; 3]) -> [f64; 36] {
    const INDEX: [usize; 3] = [0, 1, 5];
    let mut all = [0.0; 36];
    for (row, &r) in planar.iter().zip(&INDEX) {
        for (&value, &c) in row.iter().zip(&INDEX) {
            all[6 * r + c] = value;
        }
    }
    for i in [2, 3, 4] {
        all[7 * i] = PLANAR;
    }
    all
}

pub(super) fn joints(now: &Joints, before: Option<&Joints>, stamp: Time) -> JointState {
    let servos = |j: &Joints| [j.front_wheels[0], j.front_wheels[1], j.pan, j.tilt];
    let speed = |i: usize| {
        let Some(before) = before.filter(|before| before.tick < now.tick) else { return 0.0 };
        (servos(now)[i] - servos(before)[i]) / ((now.tick - before.tick) as f64 * TICK_S)
    };
    JointState {
        header: header(stamp, BASE),
        name: JOINTS.map(str::to_owned).to_vec(),
        position: now.wheel_angles.into_iter().chain(servos(now)).collect(),
        velocity: now.wheel_spins.into_iter().chain((0..4).map(speed)).collect(),
        effort: Vec::new(),
    }
}

pub(super) fn battery(sample: &chicane_robot::Battery, stamp: Time) -> BatteryState {
    let charging = sample.current > 0.0;
    BatteryState {
        header: header(stamp, BASE),
        voltage: sample.voltage as f32,
        temperature: f32::NAN,
        current: sample.current as f32,
        charge: f32::NAN,
        capacity: f32::NAN,
        design_capacity: f32::NAN,
        percentage: (sample.percentage / 100.0) as f32,
        power_supply_status: if charging {
            BatteryState::POWER_SUPPLY_STATUS_CHARGING
        } else {
            BatteryState::POWER_SUPPLY_STATUS_DISCHARGING
        },
        power_supply_health: BatteryState::POWER_SUPPLY_HEALTH_GOOD,
        power_supply_technology: BatteryState::POWER_SUPPLY_TECHNOLOGY_LION,
        present: true,
        cell_voltage: Vec::new(),
        cell_temperature: Vec::new(),
        location: String::new(),
        serial_number: String::new(),
    }
}

/// The intrinsic parameters of the camera. In the renderer, the edges of pixels have integer
/// coordinates. In this message, the centres of pixels have integer coordinates. The offset of 0.5
/// converts between the two.
pub(super) fn camera_info(stamp: Time, profile: &Profile) -> CameraInfo {
    let camera = &profile.camera;
    let (width, height) = (f64::from(camera.width_px), f64::from(camera.height_px));
    let focal = 0.5 * width / libm::tan(0.5 * camera.horizontal_fov_rad);
    let (cx, cy) = (0.5 * width - 0.5, 0.5 * height - 0.5);
    CameraInfo {
        header: header(stamp, OPTICAL),
        height: camera.height_px,
        width: camera.width_px,
        distortion_model: "plumb_bob".to_owned(),
        d: vec![camera.distortion_k1, camera.distortion_k2, 0.0, 0.0, 0.0],
        k: [focal, 0.0, cx, 0.0, focal, cy, 0.0, 0.0, 1.0],
        r: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p: [focal, 0.0, cx, 0.0, 0.0, focal, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        binning_x: 0,
        binning_y: 0,
        roi: RegionOfInterest::default(),
    }
}
