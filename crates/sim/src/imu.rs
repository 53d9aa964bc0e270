//! Gyro and accelerometer. Both give the mean since their last sample, as units that sum up between
//! two samples do: adding them up gives how far the car turned, and how much faster it became.

use crate::chance::{Sensor, Stream};
use crate::physics::Moving;
use chicane_world::readings::ImuSample;
use chicane_world::vehicle::Imu;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// What the unit remembers: how it was turned and how fast it moved at the last sample.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ImuState {
    rotation: DQuat,
    velocity: DVec3,
    ticks: u64,
}

impl ImuState {
    /// The car was put somewhere: it stands, and no acceleration took it there.
    pub(crate) fn stand(&mut self, rotation: DQuat) {
        self.rotation = rotation;
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
        let to_car = car.pose.rotation.conjugate();
        let (mut felt, mut turned) = (-gravity, DVec3::ZERO);
        if self.ticks > 0 {
            let per_second = 1.0 / (self.ticks as f64 * crate::TICK_S);
            felt += (velocity - self.velocity) * per_second;
            turned = turn(to_car * self.rotation) * -per_second;
        }
        *self = ImuState { rotation: car.pose.rotation, velocity, ticks: 0 };
        ImuSample {
            sample: k,
            acceleration: to_car * felt + noise(seed, Sensor::Accelerometer, k, model.accelerometer_sd_mps2),
            angular_velocity: turned + noise(seed, Sensor::Gyro, k, model.gyro_sd_radps),
        }
    }
}

/// A rotation as its axis times its angle.
fn turn(rotation: DQuat) -> DVec3 {
    let q = if rotation.w < 0.0 { -rotation } else { rotation };
    let sine = DVec3::new(q.x, q.y, q.z);
    let length = sine.length();
    if length < 1e-12 { 2.0 * sine } else { sine * (2.0 * libm::atan2(length, q.w) / length) }
}

fn noise(seed: u64, sensor: Sensor, k: u64, sd: f64) -> DVec3 {
    let stream = Stream::new(seed, sensor, k);
    DVec3::new(stream.normal(0), stream.normal(1), stream.normal(2)) * sd
}
