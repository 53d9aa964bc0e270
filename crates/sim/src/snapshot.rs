//! The visible state of a simulation at one tick. It is complete, immutable and cheap to share.

use crate::lights::Lamp;
use chicane_world::Pose;
use glam::DVec3;

/// The visible state of a simulation at one tick.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Ticks since the start.
    pub tick: u64,
    /// Simulated seconds since the start.
    pub time_s: f64,
    /// The car.
    pub vehicle: VehicleState,
    /// Pose of each object, in the order of `World::objects`.
    pub objects: Vec<Pose>,
    /// The lights, each with its index in `World::objects` and its state.
    pub lights: Vec<(usize, Lamp)>,
    /// Indices of the objects and walls that the car touched in this tick, ascending.
    pub contacts: Vec<usize>,
    /// The tick in which the car last touched each object; `None` if the car never touched the
    /// object. A reader that skips ticks can still detect a short contact from this tick.
    pub last_contact: Vec<Option<u64>>,
    /// Indices of the objects that a motion carries, ascending.
    pub carried: Vec<usize>,
}

/// The car at one tick.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VehicleState {
    /// Pose of the reference point: on the ground, midway between the axles.
    pub pose: Pose,
    /// Velocity of the reference point in the world, m/s.
    pub velocity: DVec3,
    /// Angular velocity in the world, rad/s.
    pub angular_velocity: DVec3,
    /// Forward speed, m/s.
    pub speed: f64,
    /// Steering angle of a virtual wheel in the centre of the front axle, rad.
    pub steering: f64,
    /// Steering angle of each front wheel, left and right, rad.
    pub front_wheels: [f64; 2],
    /// Rotation angle of each wheel about its axle, rad, 0..2π.
    pub wheel_angles: [f64; 4],
    /// Camera pan, rad.
    pub pan: f64,
    /// Camera tilt, rad.
    pub tilt: f64,
    /// Whether a motion carries the car.
    pub carried: bool,
}
