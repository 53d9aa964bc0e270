//! The car, part by part, to the measures of its profile.

use super::build::Builder;
use super::shapes::{cuboid, cylinder};
use super::{Model, plain};
use chicane_world::{Pose, Profile};
use glam::DVec3;

/// A rigid part of the car.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it is.
    pub name: &'static str,
    /// What it moves with.
    pub joint: Joint,
    /// Its pose in the joint's frame.
    pub pose: Pose,
    /// What it looks like.
    pub model: Model,
}

/// What moves on the car.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Joint {
    /// Nothing: the frame of the car itself.
    Body,
    /// A wheel, in its middle: front left, front right, rear left, rear right. It spins about y;
    /// the front ones steer about z.
    Wheel(usize),
    /// The camera's foot, in the middle of the lens; turns about z.
    Pan,
    /// The camera, in the middle of the lens; turns about y inside [`Joint::Pan`]. The lens
    /// looks along x, and everything of the camera is behind it.
    Tilt,
}

/// Pose of a joint's frame in the car's: ground level, midway between the axles, x ahead.
///
/// `steering` of the left and right front wheel and `pan` are positive to the left, `tilt` is
/// positive upwards, and `wheel_angles` grow as the car rolls ahead; all in radians.
pub fn joint_pose(
    profile: &Profile,
    joint: Joint,
    steering: [f64; 2],
    wheel_angles: [f64; 4],
    pan: f64,
    tilt: f64,
) -> Pose {
    match joint {
        Joint::Body => Pose::IDENTITY,
        Joint::Wheel(i) => {
            let [x, y] = profile.wheel_position(i);
            let spin = wheel_angles.get(i).copied().unwrap_or(0.0);
            let steer = steering.get(i).copied().unwrap_or(0.0);
            Pose::from_xyz_rpy([x, y, profile.wheel_radius_m], [0.0, spin, steer])
        }
        Joint::Pan => Pose::from_xyz_rpy(profile.camera.position_m, [0.0, 0.0, pan]),
        Joint::Tilt => Pose::from_xyz_rpy(profile.camera.position_m, [0.0, -tilt, pan]),
    }
}

/// All parts of the car.
pub fn car(profile: &Profile) -> Vec<Part> {
    let part = |name, joint, model| Part { name, joint, pose: Pose::IDENTITY, model };
    let block = |at: [f64; 3], size: [f64; 3], colour: [f32; 3]| {
        let mut b = Builder::default();
        b.mesh(0, &Pose { position: DVec3::from_array(at), ..Pose::IDENTITY }, &cuboid(size));
        Model { mesh: b.finish(0.6), materials: vec![plain(colour)], textures: Vec::new() }
    };
    let [length, width, height] = profile.body.size_m;
    let mut parts = vec![part(
        "shell",
        Joint::Body,
        block(profile.body.centre_m, [length, width, 0.6 * height], [0.75, 0.1, 0.1]),
    )];
    for i in 0..4 {
        let mut b = Builder::default();
        let lie = Pose::from_xyz_rpy([0.0; 3], [std::f64::consts::FRAC_PI_2, 0.0, 0.0]);
        b.mesh(0, &lie, &cylinder(profile.wheel_radius_m, profile.wheel_width_m));
        let model = Model { mesh: b.finish(0.6), materials: vec![plain([0.1; 3])], textures: Vec::new() };
        parts.push(part("wheel", Joint::Wheel(i), model));
    }
    parts.push(part("lidar", Joint::Body, block(profile.lidar.position_m, [0.06, 0.06, 0.03], [0.1; 3])));
    parts.push(part("head", Joint::Tilt, block([-0.012, 0.0, 0.0], [0.02, 0.03, 0.03], [0.12; 3])));
    parts
}
