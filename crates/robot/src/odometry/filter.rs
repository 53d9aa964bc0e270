//! The Kalman filter. It estimates the pose and velocity of the car and the pose of the keyframe,
//! with one covariance matrix.
//!
//! The state has x, y, yaw of the car in the frame `odom`; the speed forward and to the left in the
//! car's frame; x, y, yaw of the keyframe; and x, y, yaw of the next keyframe while the keyframe is
//! changed. The turn rate is not part of the state, because the gyro is a thousand times as exact
//! as a scan.
//!
//! The pose of a keyframe is its *apparent* pose. This pose includes the error from the noise of
//! the keyframe's scan. When a matched scan becomes the next keyframe, the same noise is in the
//! match and in the new keyframe. Therefore the two errors cancel, and a change of the keyframe
//! adds only a small error.

#![allow(clippy::needless_range_loop)] // Matrix code is clearer with row and column indices.

use super::linear::{Matrix, eigen, inverse};
use super::matcher::Match;
use crate::topics::Odom;
use chicane_world::Profile;
use chicane_world::pose::wrap_angle;

/// Dimension of the state.
const N: usize = 11;
/// Dimension of the part of the state that `predict` changes.
const MOVING: usize = 5;
const YAW: usize = 2;
const FORWARD: usize = 3;
const SIDEWAYS: usize = 4;
const KEY: usize = 5;
const NEXT: usize = 8;

/// Error of an acceleration due to the body's tilt, as a fraction of the acceleration.
const TILT: f64 = 0.05;
/// Standard deviation of the time at which the speed changes within an interval, as a fraction of
/// the interval. All times in the interval are equally likely, so it is 1/√12.
const WHEN: f64 = 0.29;
/// Number of IMU samples for which a tilt error lasts.
const TILT_LASTS: f64 = 6.0;
/// Random error of the gyro, as a fraction of the turn.
const GYRO_SCALE: f64 = 3e-4;
/// Fraction of the variance of a keyframe's noise that does not cancel with the noise of its match.
const KEYFRAME_NOISE_PART: f64 = 0.1;
/// Minimum standard deviation of a match, m and rad.
const MATCH_SD: f64 = 1e-4;
/// Minimum information of a direction, as a fraction of the largest information of the match. A
/// direction with less information is ignored.
const LEAST_PART: f64 = 0.01;
/// Standard deviation of the velocity of a standing car, m/s.
const STANDING_SD: f64 = 1e-4;
/// Standard deviation of the velocity that a car may have reached before its motion is detected,
/// m/s.
const STARTING_SD: f64 = 0.01;
/// Standard deviation of the side slip. It is the sum of a constant in m/s and a fraction of the
/// speed.
const SLIP_SD: [f64; 2] = [0.03, 0.1];

/// The filter.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    state: [f64; N],
    covariance: [[f64; N]; N],
    gyro_sd: f64,
    accelerometer_sd: f64,
    max_speed: f64,
    /// Distance from the pose origin back to the rear axle, m.
    to_rear_axle: f64,
}

impl Filter {
    pub(super) fn new(profile: &Profile) -> Filter {
        Filter {
            state: [0.0; N],
            covariance: [[0.0; N]; N],
            gyro_sd: profile.imu.gyro_sd_radps,
            accelerometer_sd: profile.imu.accelerometer_sd_mps2,
            max_speed: profile.drive.max_speed_mps,
            to_rear_axle: 0.5 * profile.wheelbase_m,
        }
    }

    /// Predicts the state after `dt` seconds from the mean turn rate and the mean acceleration. The
    /// acceleration is given in the car's frame at the end of the interval. `sample_dt` is the
    /// interval of the IMU samples in seconds. The noise averages out over the samples in `dt`,
    /// whose number is `dt` / `sample_dt`.
    pub(super) fn predict(&mut self, dt: f64, turning: f64, [ax, ay]: [f64; 2], sample_dt: f64) {
        let turn = turning * dt;
        let [x, y, yaw, u, v, ..] = self.state;
        let (sin, cos) = libm::sincos(yaw);
        let (ts, tc) = libm::sincos(turn);
        // Without acceleration, the velocity vector is constant in the world frame while the car
        // turns.
        let (u1, v1) = (tc * u + ts * v + ax * dt, tc * v - ts * u + ay * dt);
        let (sin1, cos1) = (sin * tc + cos * ts, cos * tc - sin * ts);
        let world = [cos * u - sin * v, sin * u + cos * v];
        let world1 = [cos1 * u1 - sin1 * v1, sin1 * u1 + cos1 * v1];
        let (dx, dy) = (0.5 * dt * (world[0] + world1[0]), 0.5 * dt * (world[1] + world1[1]));
        self.state[0] = x + dx;
        self.state[1] = y + dy;
        self.state[YAW] = yaw + turn;
        self.state[FORWARD] = u1;
        self.state[SIDEWAYS] = v1;
        // Jacobian of the prediction.
        let mut f = [[0.0; MOVING]; MOVING];
        for (i, row) in f.iter_mut().enumerate() {
            row[i] = 1.0;
        }
        (f[0][YAW], f[1][YAW]) = (-dy, dx);
        (f[0][FORWARD], f[0][SIDEWAYS]) = (dt * cos, -dt * sin);
        (f[1][FORWARD], f[1][SIDEWAYS]) = (dt * sin, dt * cos);
        (f[FORWARD][FORWARD], f[FORWARD][SIDEWAYS]) = (tc, ts);
        (f[SIDEWAYS][FORWARD], f[SIDEWAYS][SIDEWAYS]) = (-ts, tc);
        self.propagate_covariance(&f);
        let samples = (dt / sample_dt).max(1.0);
        let (gyro, scale) = (self.gyro_sd * dt, GYRO_SCALE * turn);
        self.covariance[YAW][YAW] += gyro * gyro / samples + scale * scale;
        for (i, a) in [(FORWARD, ax), (SIDEWAYS, ay)] {
            let (noise, tilt) = (self.accelerometer_sd * dt, TILT * a * dt);
            self.covariance[i][i] += noise * noise / samples + TILT_LASTS * tilt * tilt;
        }
        // It is unknown at which time within the interval the speed changed. The position therefore
        // has an error.
        let when = WHEN * WHEN * (ax * ax + ay * ay) * dt * dt * dt * dt;
        self.covariance[0][0] += when;
        self.covariance[1][1] += when;
    }

    /// Propagates the covariance with the Jacobian of the part of the state that `predict` changes.
    fn propagate_covariance(&mut self, f: &[[f64; MOVING]; MOVING]) {
        let p = self.covariance;
        let mut half = [[0.0; N]; MOVING];
        for i in 0..MOVING {
            for j in 0..N {
                half[i][j] = (0..MOVING).map(|k| f[i][k] * p[k][j]).sum();
            }
        }
        for i in 0..MOVING {
            for j in 0..=i {
                let both: f64 = (0..MOVING).map(|k| half[i][k] * f[j][k]).sum();
                self.covariance[i][j] = both;
                self.covariance[j][i] = both;
            }
            for j in MOVING..N {
                self.covariance[i][j] = half[i][j];
                self.covariance[j][i] = half[i][j];
            }
        }
    }

    /// Makes a new scan the keyframe. The pose of the keyframe is the current pose of the car.
    /// `information` is the inverse covariance of the scan's noise.
    pub(super) fn set_keyframe(&mut self, information: &Matrix) {
        self.clone_pose(information);
        self.activate_next();
    }

    /// Makes a matched scan the keyframe. `information` is the inverse covariance of the scan's
    /// noise.
    pub(super) fn change_keyframe(&mut self, found: &Match, information: &Matrix) {
        self.clone_pose(information);
        self.apply_match(found, NEXT, KEYFRAME_NOISE_PART);
        self.activate_next();
    }

    /// Sets the pose of the next keyframe to the pose of the car, and adds the noise of the
    /// keyframe's scan to the covariance.
    fn clone_pose(&mut self, information: &Matrix) {
        for i in 0..3 {
            self.state[NEXT + i] = self.state[i];
            for j in 0..NEXT {
                self.covariance[NEXT + i][j] = self.covariance[i][j];
                self.covariance[j][NEXT + i] = self.covariance[i][j];
            }
        }
        let noise = inverse(information).unwrap_or_default();
        // The noise is given in the keyframe's frame.
        let (sin, cos) = libm::sincos(self.state[YAW]);
        let turn = [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]];
        for i in 0..3 {
            for j in 0..3 {
                let turned: f64 =
                    (0..3).map(|k| (0..3).map(|l| turn[i][k] * noise[k][l] * turn[j][l]).sum::<f64>()).sum();
                self.covariance[NEXT + i][NEXT + j] = self.covariance[i][j] + turned;
            }
        }
    }

    /// Replaces the keyframe by the next keyframe.
    fn activate_next(&mut self) {
        for i in 0..3 {
            self.state[KEY + i] = self.state[NEXT + i];
            for j in 0..KEY {
                self.covariance[KEY + i][j] = self.covariance[NEXT + i][j];
                self.covariance[j][KEY + i] = self.covariance[NEXT + i][j];
            }
            for j in 0..3 {
                self.covariance[KEY + i][KEY + j] = self.covariance[NEXT + i][NEXT + j];
            }
        }
        for i in NEXT..N {
            self.state[i] = 0.0;
            self.covariance[i] = [0.0; N];
        }
        for row in &mut self.covariance {
            row[NEXT..].fill(0.0);
        }
    }

    /// The pose of the car relative to the keyframe, and the covariance of this relative pose.
    pub(super) fn relative(&self) -> ([f64; 3], Matrix) {
        let (pose, jacobian) = self.relative_pose(0);
        let mut spread = [[0.0; 3]; 3];
        let through: [[f64; N]; 3] = std::array::from_fn(|i| self.times(&jacobian[i]));
        for i in 0..3 {
            for j in 0..3 {
                spread[i][j] = (0..N).map(|k| through[i][k] * jacobian[j][k]).sum();
            }
            // A small variance is added, so that the matrix always has an inverse.
            spread[i][i] += 1e-10;
        }
        (pose, spread)
    }

    /// The pose at index `of` of the state, relative to the keyframe, and the Jacobian of this
    /// relative pose.
    fn relative_pose(&self, of: usize) -> ([f64; 3], [[f64; N]; 3]) {
        let s = &self.state;
        let (sin, cos) = libm::sincos(s[KEY + YAW]);
        let (dx, dy) = (s[of] - s[KEY], s[of + 1] - s[KEY + 1]);
        let pose = [cos * dx + sin * dy, cos * dy - sin * dx, s[of + YAW] - s[KEY + YAW]];
        let mut jacobian = [[0.0; N]; 3];
        jacobian[0][of..of + 3].copy_from_slice(&[cos, sin, 0.0]);
        jacobian[1][of..of + 3].copy_from_slice(&[-sin, cos, 0.0]);
        jacobian[2][of..of + 3].copy_from_slice(&[0.0, 0.0, 1.0]);
        jacobian[0][KEY..NEXT].copy_from_slice(&[-cos, -sin, pose[1]]);
        jacobian[1][KEY..NEXT].copy_from_slice(&[sin, -cos, -pose[0]]);
        jacobian[2][KEY..NEXT].copy_from_slice(&[0.0, 0.0, -1.0]);
        (pose, jacobian)
    }

    fn times(&self, row: &[f64; N]) -> [f64; N] {
        std::array::from_fn(|i| (0..N).map(|j| self.covariance[i][j] * row[j]).sum())
    }

    /// Squared Mahalanobis distance between the pose of a match and the predicted pose; 0 if a
    /// matrix has no inverse.
    pub(super) fn mahalanobis(&self, found: &Match) -> f64 {
        let (predicted, mut spread) = self.relative();
        let Some(noise) = inverse(&found.information) else { return 0.0 };
        for i in 0..3 {
            for j in 0..3 {
                spread[i][j] += noise[i][j];
            }
        }
        let Some(inverse) = inverse(&spread) else { return 0.0 };
        let miss: [f64; 3] = std::array::from_fn(|i| found.pose[i] - predicted[i]);
        (0..3).map(|i| (0..3).map(|j| miss[i] * inverse[i][j] * miss[j]).sum::<f64>()).sum()
    }

    /// Corrects the pose of the car by a match. Returns the squared Mahalanobis distance.
    pub(super) fn correct(&mut self, found: &Match) -> f64 {
        self.apply_match(found, 0, 1.0)
    }

    /// Corrects the pose at index `of` by a match. `part` is the fraction of the variance of the
    /// match that counts. Each eigenvector of the information is one scalar measurement. Directions
    /// with little information are skipped. Returns the squared Mahalanobis distance.
    fn apply_match(&mut self, found: &Match, of: usize, part: f64) -> f64 {
        let (predicted, jacobian) = self.relative_pose(of);
        let (values, vectors) = eigen(found.information);
        let most = values.iter().fold(0.0, |m: f64, v| m.max(*v));
        let mut mahalanobis = 0.0;
        let start = self.state;
        for (value, vector) in values.iter().zip(&vectors) {
            if *value < LEAST_PART * most {
                continue;
            }
            let row: [f64; N] = std::array::from_fn(|j| (0..3).map(|i| vector[i] * jacobian[i][j]).sum());
            let along = |v: &[f64; 3]| (0..3).map(|i| vector[i] * v[i]).sum::<f64>();
            // The search for the match pulled the pose of the match towards the prediction. The
            // gradient removes this effect, so that the prediction does not count twice.
            let measured = along(&found.pose) - along(&found.slope) / value;
            // The measurements in earlier directions have already changed the state, so the change
            // is subtracted.
            let moved: f64 = (0..N).map(|j| row[j] * (self.state[j] - start[j])).sum();
            let miss = measured - along(&predicted) - moved;
            mahalanobis += self.update(&row, miss, part / value + MATCH_SD * MATCH_SD);
        }
        mahalanobis
    }

    /// Applies a scalar measurement. `row` is the derivative of the measured value with respect to
    /// the state, and `miss` is the measured value minus the predicted value. Returns the squared
    /// Mahalanobis distance.
    fn update(&mut self, row: &[f64; N], miss: f64, variance: f64) -> f64 {
        let through = self.times(row);
        let total = (0..N).map(|i| row[i] * through[i]).sum::<f64>() + variance;
        for i in 0..N {
            self.state[i] += through[i] / total * miss;
            for j in 0..N {
                self.covariance[i][j] -= through[i] * through[j] / total;
            }
        }
        miss * miss / total
    }

    /// Applies weak constraints as measurements: tyres hardly slide sideways, and the speed is
    /// within the limit of the motor. The second constraint is applied only while the speed is very
    /// uncertain.
    pub(super) fn constrain_motion(&mut self, turning: f64) {
        let mut row = [0.0; N];
        row[SIDEWAYS] = 1.0;
        let sd = SLIP_SD[0] + SLIP_SD[1] * self.state[FORWARD].abs();
        self.update(&row, turning * self.to_rear_axle - self.state[SIDEWAYS], sd * sd);
        if self.covariance[FORWARD][FORWARD] > 0.25 {
            let mut row = [0.0; N];
            row[FORWARD] = 1.0;
            self.update(&row, -self.state[FORWARD], self.max_speed * self.max_speed);
        }
    }

    /// Applies the velocity zero as a measurement, because the car stands.
    pub(super) fn set_standing(&mut self) {
        for i in [FORWARD, SIDEWAYS] {
            let mut row = [0.0; N];
            row[i] = 1.0;
            self.update(&row, -self.state[i], STANDING_SD * STANDING_SD);
        }
    }

    /// Increases the covariance of the velocity when the car starts, because the car may have
    /// started slightly before its motion was detected.
    pub(super) fn leave_standing(&mut self) {
        for i in [FORWARD, SIDEWAYS] {
            self.covariance[i][i] += STARTING_SD * STARTING_SD;
        }
    }

    /// Increases the covariance after a collision. The position is known within `reach` metres and
    /// the velocity is unknown, but the gyro is still reliable.
    pub(super) fn widen_after_shock(&mut self, reach: f64) {
        for (i, add) in [(0, reach * reach), (1, reach * reach), (YAW, 1e-6), (FORWARD, 1.0), (SIDEWAYS, 1.0)]
        {
            self.covariance[i][i] += add;
        }
    }

    /// Increases the covariance after the car was placed elsewhere, because the velocity of the car
    /// is then unknown.
    pub(super) fn widen_after_teleport(&mut self) {
        for (i, add) in [(0, 2.5e-3), (1, 2.5e-3), (YAW, 1e-6), (FORWARD, 1.0), (SIDEWAYS, 0.04)] {
            self.covariance[i][i] += add;
        }
    }

    pub(super) fn speed(&self) -> f64 {
        libm::hypot(self.state[FORWARD], self.state[SIDEWAYS])
    }

    /// The estimate, predicted `ahead` seconds after the last reading.
    pub(super) fn odom(&self, tick: u64, ahead: f64, turning: f64, gyro_sd: f64) -> Odom {
        let mut later = self.clone();
        if ahead > 0.0 {
            later.predict(ahead, turning, [0.0; 2], ahead);
        }
        let (s, p) = (&later.state, &later.covariance);
        let mut twist_covariance = [[0.0; 3]; 3];
        for i in 0..2 {
            for j in 0..2 {
                twist_covariance[i][j] = p[FORWARD + i][FORWARD + j];
            }
        }
        twist_covariance[2][2] = gyro_sd * gyro_sd;
        Odom {
            sample: 0,
            tick,
            x: s[0],
            y: s[1],
            yaw: wrap_angle(s[YAW]),
            forward: s[FORWARD],
            sideways: s[SIDEWAYS],
            turning,
            // The initial pose is exact, so its variances are zero. Programs that read the topic
            // need a covariance with an inverse, so a variance has a minimum.
            pose_covariance: std::array::from_fn(|i| {
                std::array::from_fn(|j| if i == j { p[i][i].max(1e-10) } else { p[i][j] })
            }),
            twist_covariance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predict_integrates_a_straight_line_and_a_circle() {
        let mut filter = Filter::new(&Profile::gen1());
        filter.predict(1.0, 0.0, [1.0, 0.0], 0.02);
        filter.predict(1.0, 0.0, [0.0; 2], 0.02);
        let odom = filter.odom(0, 0.0, 0.0, 0.0);
        assert!((odom.x - 1.5).abs() < 1e-12 && odom.forward == 1.0, "{odom:?}");
        // A turn of 1 rad/s at 1 m/s is a circle with a radius of 1 m and a centripetal
        // acceleration of 1 m/s².
        let mut filter = Filter::new(&Profile::gen1());
        filter.state[FORWARD] = 1.0;
        let steps = 10_000;
        let dt = std::f64::consts::TAU / f64::from(steps);
        for _ in 0..steps {
            filter.predict(dt, 1.0, [0.0, 1.0], dt);
        }
        let odom = filter.odom(0, 0.0, 0.0, 0.0);
        assert!(odom.x.abs() < 5e-3 && odom.y.abs() < 5e-3, "{odom:?}");
    }
}
