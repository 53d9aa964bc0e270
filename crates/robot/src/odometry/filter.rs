//! The filter: pose and velocity of the car, and the pose of the keyframe, with one covariance.
//!
//! State: x, y, yaw in `odom`; speed ahead and to the left in the car's frame; x, y, yaw of the
//! keyframe, and those of the next one while it takes over. The turn rate is the gyro's, whose noise
//! is a thousandth of what a scan could say.
//!
//! A keyframe's pose is where it *seems* to be: its own noise moves it. When a scan becomes the next
//! keyframe, the noise with which it was matched against the last one is the very noise that moves
//! it, so the two cancel, and driving on from keyframe to keyframe adds little error.

#![allow(clippy::needless_range_loop)] // Matrices are written by rows and columns.

use super::linear::{Matrix, eigen, inverse};
use super::matcher::Match;
use crate::topics::Odom;
use chicane_world::Profile;
use chicane_world::pose::wrap_angle;

/// Numbers of the state.
const N: usize = 11;
/// Numbers that move.
const MOVING: usize = 5;
const YAW: usize = 2;
const AHEAD: usize = 3;
const ASIDE: usize = 4;
const KEY: usize = 5;
const NEXT: usize = 8;

/// Part of an acceleration that may be the body's tilt.
const TILT: f64 = 0.05;
/// When in an interval a change of speed comes, as a part of it.
const WHEN: f64 = 0.29;
/// How many samples such an error lasts.
const TILT_LASTS: f64 = 6.0;
/// Part of a turn that the gyro may be off by, at random.
const GYRO_SCALE: f64 = 3e-4;
/// Part of a keyframe's noise that does not cancel against the match it was taken with.
const HOP: f64 = 0.1;
/// How far a match may be off whatever its noise is, m and rad.
const MATCH_SD: f64 = 1e-4;
/// A direction in which so small a part of the points speaks is not known at all.
const LEAST_PART: f64 = 0.01;
/// How exactly the car stands while it stands, m/s.
const STANDING_SD: f64 = 1e-4;
/// How fast a car may be before it is noticed, m/s.
const STARTING_SD: f64 = 0.01;
/// How exactly the tyres hold sideways: m/s, and by speed.
const SLIP_SD: [f64; 2] = [0.03, 0.1];

/// Pose, velocity, keyframe.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    state: [f64; N],
    covariance: [[f64; N]; N],
    gyro_sd: f64,
    accelerometer_sd: f64,
    max_speed: f64,
    /// From the pose origin back to the rear axle.
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

    /// Goes on by `dt`: mean turn rate, and mean acceleration in the frame after.
    pub(super) fn predict(&mut self, dt: f64, turning: f64, [ax, ay]: [f64; 2], sample_dt: f64) {
        let turn = turning * dt;
        let [x, y, yaw, u, v, ..] = self.state;
        let (sin, cos) = libm::sincos(yaw);
        let (ts, tc) = libm::sincos(turn);
        // The velocity keeps its direction in the world while the car turns under it.
        let (u1, v1) = (tc * u + ts * v + ax * dt, tc * v - ts * u + ay * dt);
        let (sin1, cos1) = (sin * tc + cos * ts, cos * tc - sin * ts);
        let world = [cos * u - sin * v, sin * u + cos * v];
        let world1 = [cos1 * u1 - sin1 * v1, sin1 * u1 + cos1 * v1];
        let (dx, dy) = (0.5 * dt * (world[0] + world1[0]), 0.5 * dt * (world[1] + world1[1]));
        self.state[0] = x + dx;
        self.state[1] = y + dy;
        self.state[YAW] = yaw + turn;
        self.state[AHEAD] = u1;
        self.state[ASIDE] = v1;
        // How errors of the state go on.
        let mut f = [[0.0; MOVING]; MOVING];
        for (i, row) in f.iter_mut().enumerate() {
            row[i] = 1.0;
        }
        (f[0][YAW], f[1][YAW]) = (-dy, dx);
        (f[0][AHEAD], f[0][ASIDE]) = (dt * cos, -dt * sin);
        (f[1][AHEAD], f[1][ASIDE]) = (dt * sin, dt * cos);
        (f[AHEAD][AHEAD], f[AHEAD][ASIDE]) = (tc, ts);
        (f[ASIDE][AHEAD], f[ASIDE][ASIDE]) = (-ts, tc);
        self.carry(&f);
        let samples = (dt / sample_dt).max(1.0);
        let (gyro, scale) = (self.gyro_sd * dt, GYRO_SCALE * turn);
        self.covariance[YAW][YAW] += gyro * gyro / samples + scale * scale;
        for (i, a) in [(AHEAD, ax), (ASIDE, ay)] {
            let (noise, tilt) = (self.accelerometer_sd * dt, TILT * a * dt);
            self.covariance[i][i] += noise * noise / samples + TILT_LASTS * tilt * tilt;
        }
        // A blow comes at one moment of the interval, and nobody knows at which.
        let when = WHEN * WHEN * (ax * ax + ay * ay) * dt * dt * dt * dt;
        self.covariance[0][0] += when;
        self.covariance[1][1] += when;
    }

    /// Takes the covariance through a step of the moving part.
    fn carry(&mut self, f: &[[f64; MOVING]; MOVING]) {
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

    /// A keyframe is taken here; `information` is how sure its own noise lets it be.
    pub(super) fn key(&mut self, information: &Matrix) {
        self.clone_pose(information);
        self.pass_on();
    }

    /// The scan that was matched becomes the next keyframe.
    pub(super) fn hop(&mut self, found: &Match, information: &Matrix) {
        self.clone_pose(information);
        self.take(found, NEXT, HOP);
        self.pass_on();
    }

    /// Puts a keyframe where the car is, moved by its own noise.
    fn clone_pose(&mut self, information: &Matrix) {
        for i in 0..3 {
            self.state[NEXT + i] = self.state[i];
            for j in 0..NEXT {
                self.covariance[NEXT + i][j] = self.covariance[i][j];
                self.covariance[j][NEXT + i] = self.covariance[i][j];
            }
        }
        let noise = inverse(information).unwrap_or_default();
        // It is known in the frame of the keyframe.
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

    /// The next keyframe takes the place of the last one.
    fn pass_on(&mut self) {
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

    /// The pose of the car in the keyframe, and its covariance.
    pub(super) fn relative(&self) -> ([f64; 3], Matrix) {
        let (pose, jacobian) = self.relation(0);
        let mut spread = [[0.0; 3]; 3];
        let through: [[f64; N]; 3] = std::array::from_fn(|i| self.times(&jacobian[i]));
        for i in 0..3 {
            for j in 0..3 {
                spread[i][j] = (0..N).map(|k| through[i][k] * jacobian[j][k]).sum();
            }
            // A touch, so that there is always an inverse.
            spread[i][i] += 1e-10;
        }
        (pose, spread)
    }

    /// The pose at `of` in the keyframe, and how it goes with the state.
    fn relation(&self, of: usize) -> ([f64; 3], [[f64; N]; 3]) {
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

    /// How far a scan's pose is from the predicted one, in squared deviations.
    pub(super) fn surprise(&self, found: &Match) -> f64 {
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

    /// Takes in what a scan says of the car. Gives the squared surprise of it, in deviations.
    pub(super) fn correct(&mut self, found: &Match) -> f64 {
        self.take(found, 0, 1.0)
    }

    /// Takes in what a scan says of the pose at `of`, with a part of its noise: one direction at a time,
    /// and only those in which it says something.
    fn take(&mut self, found: &Match, of: usize, part: f64) -> f64 {
        let (predicted, jacobian) = self.relation(of);
        let (values, vectors) = eigen(found.information);
        let most = values.iter().fold(0.0, |m: f64, v| m.max(*v));
        let mut surprise = 0.0;
        let start = self.state;
        for (value, vector) in values.iter().zip(&vectors) {
            if *value < LEAST_PART * most {
                continue;
            }
            let row: [f64; N] = std::array::from_fn(|j| (0..3).map(|i| vector[i] * jacobian[i][j]).sum());
            let along = |v: &[f64; 3]| (0..3).map(|i| vector[i] * v[i]).sum::<f64>();
            let measured = along(&found.pose) - along(&found.slope) / value;
            // The directions before this one have moved the state already.
            let moved: f64 = (0..N).map(|j| row[j] * (self.state[j] - start[j])).sum();
            let miss = measured - along(&predicted) - moved;
            surprise += self.update(&row, miss, part / value + MATCH_SD * MATCH_SD);
        }
        surprise
    }

    /// One measurement of one number. Gives the squared surprise in deviations.
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

    /// What is likely anyway: tyres roll rather than slide, and no speed is past what the motor can do.
    pub(super) fn presume(&mut self, turning: f64) {
        let mut row = [0.0; N];
        row[ASIDE] = 1.0;
        let sd = SLIP_SD[0] + SLIP_SD[1] * self.state[AHEAD].abs();
        self.update(&row, turning * self.to_rear_axle - self.state[ASIDE], sd * sd);
        if self.covariance[AHEAD][AHEAD] > 0.25 {
            let mut row = [0.0; N];
            row[AHEAD] = 1.0;
            self.update(&row, -self.state[AHEAD], self.max_speed * self.max_speed);
        }
    }

    /// The car stands.
    pub(super) fn stand(&mut self) {
        for i in [AHEAD, ASIDE] {
            let mut row = [0.0; N];
            row[i] = 1.0;
            self.update(&row, -self.state[i], STANDING_SD * STANDING_SD);
        }
    }

    /// The car no longer stands; it may have begun to move a little earlier.
    pub(super) fn start(&mut self) {
        for i in [AHEAD, ASIDE] {
            self.covariance[i][i] += STARTING_SD * STARTING_SD;
        }
    }

    /// Something hit the car: it is within reach of where it should be, at any speed. The gyro is right
    /// all the same.
    pub(super) fn jolt(&mut self, reach: f64) {
        for (i, add) in [(0, reach * reach), (1, reach * reach), (YAW, 1e-6), (AHEAD, 1.0), (ASIDE, 1.0)] {
            self.covariance[i][i] += add;
        }
    }

    /// The car was put elsewhere: how fast it is now is anyone's guess.
    pub(super) fn doubt(&mut self) {
        for (i, add) in [(0, 2.5e-3), (1, 2.5e-3), (YAW, 1e-6), (AHEAD, 1.0), (ASIDE, 0.04)] {
            self.covariance[i][i] += add;
        }
    }

    pub(super) fn speed(&self) -> f64 {
        libm::hypot(self.state[AHEAD], self.state[ASIDE])
    }

    /// The estimate `ahead` seconds after the last reading.
    pub(super) fn odom(&self, tick: u64, ahead: f64, turning: f64, gyro_sd: f64) -> Odom {
        let mut later = self.clone();
        if ahead > 0.0 {
            later.predict(ahead, turning, [0.0; 2], ahead);
        }
        let (s, p) = (&later.state, &later.covariance);
        let mut twist_covariance = [[0.0; 3]; 3];
        for i in 0..2 {
            for j in 0..2 {
                twist_covariance[i][j] = p[AHEAD + i][AHEAD + j];
            }
        }
        twist_covariance[2][2] = gyro_sd * gyro_sd;
        Odom {
            sample: 0,
            tick,
            x: s[0],
            y: s[1],
            yaw: wrap_angle(s[YAW]),
            forward: s[AHEAD],
            sideways: s[ASIDE],
            turning,
            // At the start it is exact, but no covariance is to be without an inverse.
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
    fn straight_ahead_and_round_a_circle() {
        let mut filter = Filter::new(&Profile::gen1());
        filter.predict(1.0, 0.0, [1.0, 0.0], 0.02);
        filter.predict(1.0, 0.0, [0.0; 2], 0.02);
        let odom = filter.odom(0, 0.0, 0.0, 0.0);
        assert!((odom.x - 1.5).abs() < 1e-12 && odom.forward == 1.0, "{odom:?}");
        // A turn of 1 rad/s at 1 m/s is a circle of 1 m, and pushes inwards with 1 m/s².
        let mut filter = Filter::new(&Profile::gen1());
        filter.state[AHEAD] = 1.0;
        let steps = 10_000;
        let dt = std::f64::consts::TAU / f64::from(steps);
        for _ in 0..steps {
            filter.predict(dt, 1.0, [0.0, 1.0], dt);
        }
        let odom = filter.odom(0, 0.0, 0.0, 0.0);
        assert!(odom.x.abs() < 5e-3 && odom.y.abs() < 5e-3, "{odom:?}");
    }
}
