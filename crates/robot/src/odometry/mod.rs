//! Odometry from lidar and inertial measurements alone.

use crate::topics::{Imu, Odom, Scan};
use chicane_world::Profile;

/// The estimator.
#[derive(Debug, Clone)]
pub struct Odometry {}

impl Odometry {
    /// Starts at the origin, at rest.
    pub fn new(_profile: &Profile) -> Odometry {
        Odometry {}
    }

    /// Takes a sample of gyro and accelerometer in.
    pub fn feel(&mut self, _imu: &Imu, _tick: u64) {}

    /// Takes a scan in; gives the estimate at its tick.
    pub fn look(&mut self, _scan: &Scan, tick: u64) -> Odom {
        self.at(tick)
    }

    /// The estimate at a tick that is not before the last reading.
    pub fn at(&self, tick: u64) -> Odom {
        Odom { tick, ..Odom::default() }
    }
}
