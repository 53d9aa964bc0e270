//! The poses of everything that moves, at one tick.

use crate::looks::{self, Joint};
use chicane_world::{Pose, Profile};

/// The part of a world that differs from picture to picture.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moment {
    /// State of the car.
    pub car: CarMoment,
    /// Pose of each object, in the order of [`chicane_world::World::objects`].
    pub objects: Vec<Pose>,
    /// For each traffic light: the index of the light in `objects`, and the lamp that is lit. A
    /// light that is not listed has no lit lamp.
    pub lamps: Vec<(usize, looks::Lamp)>,
}

/// The pose and the joint angles of the car at one tick.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CarMoment {
    /// Pose of the car's origin. The origin is at ground level midway between the axles.
    pub pose: Pose,
    /// Steering angle of the left and the right front wheel, rad.
    pub front_wheels: [f64; 2],
    /// Rolling angle of each wheel, rad.
    pub wheel_angles: [f64; 4],
    /// Camera pan, rad; positive is left.
    pub pan: f64,
    /// Camera tilt, rad; positive is up.
    pub tilt: f64,
}

impl CarMoment {
    /// Pose of the frame of a joint, in the world frame.
    pub(crate) fn joint(&self, profile: &Profile, joint: Joint) -> Pose {
        let local =
            looks::joint_pose(profile, joint, self.front_wheels, self.wheel_angles, self.pan, self.tilt);
        self.pose.then(&local)
    }

    /// Pose of the on-board camera in the world frame; the camera looks along its x axis.
    pub fn camera(&self, profile: &Profile) -> Pose {
        self.joint(profile, Joint::Tilt)
    }
}
