//! Gyro and accelerometer. Each sample is the mean turn rate and the mean acceleration since the
//! last sample, as in a real unit that integrates between two samples. Without noise and gravity,
//! the samples times their intervals therefore add up to the exact change of heading and velocity.

use crate::noise::{Sensor, Stream};
use crate::physics::BodyState;
use chicane_world::readings::{ImuSample, TICK_S};
use chicane_world::vehicle::Imu;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// State of the IMU: rotation and velocity at the last sample, and the number of ticks since that
/// sample.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ImuState {
    rotation: DQuat,
    velocity: DVec3,
    ticks: u64,
}

impl ImuState {
    /// Sets the rotation and velocity of the last sample to those of a car that was placed at rest.
    /// Otherwise the next sample would contain the change as an acceleration and a turn rate.
    pub(crate) fn set_at_rest(&mut self, rotation: DQuat) {
        self.rotation = rotation;
        self.velocity = DVec3::ZERO;
    }

    /// Counts one tick.
    pub(crate) fn tick(&mut self) {
        self.ticks += 1;
    }

    /// Takes sample `k`. `centre` is the centre of mass in the car's frame, m.
    pub(crate) fn sample(
        &mut self,
        k: u64,
        seed: u64,
        model: &Imu,
        car: &BodyState,
        centre: DVec3,
        gravity: DVec3,
    ) -> ImuSample {
        let arm = car.pose.rotation * (DVec3::from_array(model.position_m) - centre);
        let velocity = car.linear + car.angular.cross(arm);
        let to_car = car.pose.rotation.conjugate();
        let (mut felt, mut turned) = (-gravity, DVec3::ZERO);
        if self.ticks > 0 {
            let per_second = 1.0 / (self.ticks as f64 * TICK_S);
            felt += (velocity - self.velocity) * per_second;
            turned = rotation_vector(to_car * self.rotation) * -per_second;
        }
        *self = ImuState { rotation: car.pose.rotation, velocity, ticks: 0 };
        ImuSample {
            sample: k,
            acceleration: to_car * felt + noise(seed, Sensor::Accelerometer, k, model.accelerometer_sd_mps2),
            angular_velocity: turned + noise(seed, Sensor::Gyro, k, model.gyro_sd_radps),
        }
    }
}

/// The rotation vector: the axis times the angle in radians.
fn rotation_vector(rotation: DQuat) -> DVec3 {
    let q = if rotation.w < 0.0 { -rotation } else { rotation };
    let sine = DVec3::new(q.x, q.y, q.z);
    let length = sine.length();
    if length < 1e-12 { 2.0 * sine } else { sine * (2.0 * libm::atan2(length, q.w) / length) }
}

fn noise(seed: u64, sensor: Sensor, k: u64, sd: f64) -> DVec3 {
    let stream = Stream::new(seed, sensor, k);
    DVec3::new(stream.normal(0), stream.normal(1), stream.normal(2)) * sd
}
