//! What anyone may see of a simulation at one tick: complete, immutable, cheap to share.

use crate::lights::Lamp;
use chicane_world::Pose;
use glam::DVec3;

/// A simulation at one tick.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Ticks since the start.
    pub tick: u64,
    /// Simulated seconds since the start.
    pub time_s: f64,
    /// The car.
    pub vehicle: VehicleState,
    /// Pose of each object, as in the catalogue.
    pub objects: Vec<Pose>,
    /// Each light: its index in the catalogue and what it shows.
    pub lights: Vec<(usize, Lamp)>,
    /// Objects and walls that the car touched in this tick, by index, ascending.
    pub contacts: Vec<usize>,
    /// The tick in which the car last touched each object: a touch between two looks is not lost.
    pub last_contact: Vec<Option<u64>>,
    /// Objects that a motion carries, by index, ascending.
    pub carried: Vec<usize>,
}

/// The car at one tick.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VehicleState {
    /// Pose: ground level, midway between the axles.
    pub pose: Pose,
    /// Velocity of that point in the world, m/s.
    pub velocity: DVec3,
    /// Angular velocity in the world, rad/s.
    pub angular_velocity: DVec3,
    /// Speed ahead, m/s.
    pub speed: f64,
    /// Angle of the virtual centre wheel, rad.
    pub steering: f64,
    /// Angle of each front wheel, left and right, rad.
    pub front_wheels: [f64; 2],
    /// How far each wheel has turned, rad, 0..2π.
    pub wheel_angles: [f64; 4],
    /// Camera pan, rad.
    pub pan: f64,
    /// Camera tilt, rad.
    pub tilt: f64,
    /// Whether a motion carries it.
    pub carried: bool,
}
