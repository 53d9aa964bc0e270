//! Gyro and accelerometer.

use crate::chance::{Sensor, Stream};
use crate::physics::Moving;
use chicane_world::readings::ImuSample;
use chicane_world::vehicle::Imu;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// What the unit remembers: how fast it moved at the last sample.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ImuState {
    velocity: DVec3,
    ticks: u64,
}

impl ImuState {
    /// The car was put somewhere: it stands, and no acceleration took it there.
    pub(crate) fn stand(&mut self) {
        self.velocity = DVec3::ZERO;
    }

    /// One tick has passed.
    pub(crate) fn tick(&mut self) {
        self.ticks += 1;
    }

    /// Takes sample `k`.
    pub(crate) fn sample(
        &mut self,
        k: u64,
        seed: u64,
        model: &Imu,
        car: &Moving,
        centre: DVec3,
        gravity: DVec3,
    ) -> ImuSample {
        let arm = car.pose.rotation * (DVec3::from_array(model.position_m) - centre);
        let velocity = car.linear + car.angular.cross(arm);
        let felt = if self.ticks == 0 {
            -gravity
        } else {
            (velocity - self.velocity) / (self.ticks as f64 * crate::TICK_S) - gravity
        };
        *self = ImuState { velocity, ticks: 0 };
        let to_car = car.pose.rotation.conjugate();
        ImuSample {
            sample: k,
            acceleration: to_car * felt + noise(seed, Sensor::Accelerometer, k, model.accelerometer_sd_mps2),
            angular_velocity: to_car * car.angular + noise(seed, Sensor::Gyro, k, model.gyro_sd_radps),
        }
    }
}

fn noise(seed: u64, sensor: Sensor, k: u64, sd: f64) -> DVec3 {
    let stream = Stream::new(seed, sensor, k);
    DVec3::new(stream.normal(0), stream.normal(1), stream.normal(2)) * sd
}
