//! The frames of the car and their transforms.
//!
//! The tree of frames is `odom` → `base_footprint` → `base_link` → `lidar_link`, `imu_link`,
//! `camera_link` → `camera_optical_frame`. `base_footprint` is on the ground midway between the
//! axles. `base_link` is above `base_footprint`, at the height of the axles. x points ahead, y
//! left, z up; in the optical frame z points ahead, x right, y down. The servos move the camera, so
//! `camera_link` is a moving frame.

use crate::messages::{Header, Quaternion, TFMessage, Time, Transform, TransformStamped, Vector3};
use chicane_robot::{Joints, Odom};
use chicane_world::Profile;

/// The fixed frame of the odometry. Its origin is where the car was when the stack started.
pub(super) const ODOM: &str = "odom";
/// The frame of the car on the ground.
pub(super) const FOOTPRINT: &str = "base_footprint";
/// The frame of the car at the height of its axles.
pub(super) const BASE: &str = "base_link";
/// The frame of the lidar.
pub(super) const LIDAR: &str = "lidar_link";
/// The frame of the IMU.
pub(super) const IMU: &str = "imu_link";
/// The frame of the camera; x points ahead.
pub(super) const CAMERA: &str = "camera_link";
/// The frame of the camera images; z points ahead.
pub(super) const OPTICAL: &str = "camera_optical_frame";

pub(super) fn header(stamp: Time, frame: &str) -> Header {
    Header { stamp, frame_id: frame.to_owned() }
}

/// Transforms of the fixed frames.
pub(super) fn fixed(profile: &Profile) -> TFMessage {
    let link = |parent: &str, child: &str, at: [f64; 3], rotation: Quaternion| {
        transform(Time::default(), parent, child, at, rotation)
    };
    let straight = Quaternion::default();
    // The rotation consists of two quarter turns, after which z points ahead and x right.
    let optical = Quaternion { x: -0.5, y: 0.5, z: -0.5, w: 0.5 };
    TFMessage {
        transforms: vec![
            link(FOOTPRINT, BASE, [0.0, 0.0, profile.wheel_radius_m], straight),
            link(BASE, LIDAR, on_base(profile.lidar.position_m, profile), straight),
            link(BASE, IMU, on_base(profile.imu.position_m, profile), straight),
            link(CAMERA, OPTICAL, [0.0; 3], optical),
        ],
    }
}

/// Transforms of the moving frames.
pub(super) fn moving(
    odom: Option<&Odom>,
    joints: Option<&Joints>,
    stamp: Time,
    profile: &Profile,
) -> TFMessage {
    let car = odom.map(|o| transform(stamp, ODOM, FOOTPRINT, [o.x, o.y, 0.0], Quaternion::of_yaw(o.yaw)));
    let camera = joints.map(|j| {
        let at = on_base(profile.camera.position_m, profile);
        transform(stamp, BASE, CAMERA, at, Quaternion::of_pan_tilt(j.pan, j.tilt))
    });
    TFMessage { transforms: car.into_iter().chain(camera).collect() }
}

/// Converts a position on the car to the frame [`BASE`]. `z` is a height above the ground, but the
/// origin of the frame is at the height of the axles.
fn on_base([x, y, z]: [f64; 3], profile: &Profile) -> [f64; 3] {
    [x, y, z - profile.wheel_radius_m]
}

fn transform(
    stamp: Time,
    parent: &str,
    child: &str,
    [x, y, z]: [f64; 3],
    rotation: Quaternion,
) -> TransformStamped {
    let transform = Transform { translation: Vector3 { x, y, z }, rotation };
    TransformStamped { header: header(stamp, parent), child_frame_id: child.to_owned(), transform }
}
