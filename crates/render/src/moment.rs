//! Where everything that moves is, at one tick.

use crate::looks::{self, Joint};
use chicane_world::{Pose, Profile};

/// What changes from picture to picture.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moment {
    /// The car.
    pub car: CarMoment,
    /// Pose of each object, as in the catalogue.
    pub objects: Vec<Pose>,
    /// Which lamp each light shows, by its index in the catalogue.
    pub lamps: Vec<(usize, looks::Lamp)>,
}

/// The car at one tick.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CarMoment {
    /// Ground level, midway between the axles.
    pub pose: Pose,
    /// Angle of each front wheel, left and right, rad.
    pub front_wheels: [f64; 2],
    /// How far each wheel has turned, rad.
    pub wheel_angles: [f64; 4],
    /// Camera pan, rad, + is left.
    pub pan: f64,
    /// Camera tilt, rad, + is up.
    pub tilt: f64,
}

impl CarMoment {
    /// Pose of a joint's frame in the world.
    pub(crate) fn joint(&self, profile: &Profile, joint: Joint) -> Pose {
        let local =
            looks::joint_pose(profile, joint, self.front_wheels, self.wheel_angles, self.pan, self.tilt);
        self.pose.then(&local)
    }

    /// Pose of the on-board camera in the world: x is where it looks.
    pub fn camera(&self, profile: &Profile) -> Pose {
        self.joint(profile, Joint::Tilt)
    }
}
