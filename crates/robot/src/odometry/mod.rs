//! Odometry from lidar and inertial measurements alone.
//!
//! Theory of operation. Between scans the filter goes by gyro and accelerometer. Each scan is
//! matched, point to line, against a keyframe: an earlier scan whose lines were fitted once, taken
//! anew after 0.4 m or 20°. The filter holds the pose of the keyframe beside that of the car, with
//! the error that the keyframe's own noise gives it, so that all scans matched against one keyframe
//! share that error, and the covariance is honest. A scan that fits nowhere near the prediction says
//! that the car was put elsewhere: it becomes the new keyframe where the car believes it is, and
//! the offset stays.

mod filter;
mod keyframe;
mod linear;
mod matcher;

use crate::topics::{Imu, Odom, Scan};
use chicane_world::Profile;
use chicane_world::readings::TICK_S;
use filter::Filter;
use keyframe::{Beams, Keyframe};
use matcher::{Match, Matcher};

/// A keyframe serves this far around it, m.
const KEYFRAME_REACH: f64 = 0.4;
/// And for turns up to this, rad.
const KEYFRAME_TURN: f64 = 20.0 * std::f64::consts::PI / 180.0;
/// A smaller part of a scan that meets the keyframe asks for a new one.
const KEYFRAME_OVERLAP: f64 = 0.5;
/// A scan with a smaller part of it on the lines of the keyframe does not fit.
const LEAST_FIT: f64 = 0.5;
/// Fewer points say nothing.
const FEWEST_POINTS: usize = 40;
/// Squared distance of a scan's pose from the predicted one, in deviations, past which the car was
/// put elsewhere.
const MOST_SURPRISE: f64 = 40.0;
/// Samples of gyro and accelerometer that must be quiet before the car is thought to stand.
const QUIET_SAMPLES: u32 = 15;
/// Deviations within which a sample is quiet.
const QUIET_SD: f64 = 4.5;
/// Scans in a row that must be no surprise before that, and what is none, in squared deviations.
const AGREEING_SCANS: u32 = 4;
const AGREEMENT: f64 = 25.0;
/// A car that is slower may be one that stands, m/s.
const STANDING_SPEED: f64 = 0.03;

/// The estimator.
#[derive(Debug, Clone)]
pub struct Odometry {
    filter: Filter,
    beams: Beams,
    keyframe: Keyframe,
    /// A keyframe was taken.
    keyed: bool,
    matcher: Matcher,
    /// Where the unit is, ahead of and beside the pose origin.
    imu_at: [f64; 2],
    gyro_sd: f64,
    accelerometer_sd: f64,
    imu_dt: f64,
    gyro: f64,
    quiet: u32,
    /// Scans in a row that were no surprise.
    agreeing: u32,
    /// The car stands: nothing moves until something is felt or seen.
    standing: bool,
    /// Tick of the last reading, once there was one.
    tick: Option<u64>,
}

impl Odometry {
    /// Starts at the origin, at rest.
    pub fn new(profile: &Profile) -> Odometry {
        let beams = Beams::new(&profile.lidar);
        Odometry {
            filter: Filter::new(profile),
            keyframe: Keyframe::new(&beams),
            keyed: false,
            matcher: Matcher::new(&beams),
            beams,
            imu_at: [profile.imu.position_m[0], profile.imu.position_m[1]],
            gyro_sd: profile.imu.gyro_sd_radps,
            accelerometer_sd: profile.imu.accelerometer_sd_mps2,
            imu_dt: 1.0 / f64::from(profile.imu.rate_hz),
            gyro: 0.0,
            quiet: 0,
            agreeing: AGREEING_SCANS,
            // It was just switched on.
            standing: true,
            tick: None,
        }
    }

    /// Takes a sample of gyro and accelerometer in.
    pub fn feel(&mut self, imu: &Imu, tick: u64) {
        if !(imu.acceleration.is_finite() && imu.angular_velocity.is_finite()) {
            return;
        }
        let turning = imu.angular_velocity.z;
        let dt = self.pass(tick);
        if dt <= 0.0 {
            self.gyro = turning;
            return;
        }
        let swing = (turning - self.gyro) / dt;
        let [ahead, beside] = self.imu_at;
        // Brought from where the unit is to the pose origin.
        let ax = imu.acceleration.x + turning * turning * ahead + swing * beside;
        let ay = imu.acceleration.y + turning * turning * beside - swing * ahead;
        let loud = |v: f64, sd: f64| v.abs() > QUIET_SD * sd.max(1e-6);
        let moved =
            loud(turning, self.gyro_sd) || loud(ax, self.accelerometer_sd) || loud(ay, self.accelerometer_sd);
        self.quiet = if moved { 0 } else { self.quiet.saturating_add(1) };
        if self.standing && moved {
            self.leave();
        }
        if !self.standing {
            self.filter.predict(dt, turning, [ax, ay], self.imu_dt);
        }
        self.gyro = turning;
    }

    /// Takes a scan in; gives the estimate at its tick.
    pub fn look(&mut self, scan: &Scan, tick: u64) -> Odom {
        let dt = self.pass(tick);
        if dt > 0.0 && !self.standing {
            self.filter.predict(dt, self.gyro, [0.0; 2], self.imu_dt);
        }
        self.beams.take(scan);
        if self.beams.len() >= FEWEST_POINTS {
            self.correct();
        }
        if self.standing && self.agreeing == 0 {
            self.leave();
        }
        if !self.standing {
            self.filter.presume(self.gyro);
            let slow = self.filter.speed() < STANDING_SPEED;
            self.standing = self.quiet >= QUIET_SAMPLES && self.agreeing >= AGREEING_SCANS && slow;
            if self.standing {
                self.filter.stand();
            }
        }
        self.at(tick)
    }

    /// The estimate at a tick that is not before the last reading.
    pub fn at(&self, tick: u64) -> Odom {
        if self.standing {
            return self.filter.odom(tick, 0.0, 0.0, self.gyro_sd);
        }
        let since = tick.saturating_sub(self.tick.unwrap_or(tick));
        self.filter.odom(tick, since as f64 * TICK_S, self.gyro, self.gyro_sd)
    }

    /// Seconds since the last reading.
    fn pass(&mut self, tick: u64) -> f64 {
        let last = self.tick.replace(tick).unwrap_or(tick);
        tick.saturating_sub(last) as f64 * TICK_S
    }

    /// Something moves.
    fn leave(&mut self) {
        self.standing = false;
        self.filter.start();
    }

    fn correct(&mut self) {
        if !self.keyed {
            return self.key();
        }
        let (predicted, spread) = self.filter.relative();
        let found = self.matcher.fit(&self.beams, &self.keyframe, predicted, &spread);
        let Some(found) = found.filter(|f| f.fit >= LEAST_FIT) else { return self.lose() };
        if self.filter.surprise(&found) > MOST_SURPRISE {
            return self.lose();
        }
        let Match { pose: [x, y, yaw], overlap, .. } = found;
        if x * x + y * y > KEYFRAME_REACH * KEYFRAME_REACH
            || yaw.abs() > KEYFRAME_TURN
            || overlap < KEYFRAME_OVERLAP
        {
            self.keyframe.take(&self.beams);
            let certainty = self.matcher.certainty(&self.beams, &self.keyframe);
            self.filter.hop(&found, &certainty);
            return;
        }
        let step = self.filter.correct(&found);
        self.agreeing = if step < AGREEMENT { self.agreeing.saturating_add(1) } else { 0 };
    }

    /// The car is not where it should be: begins anew from where it believes it is.
    fn lose(&mut self) {
        self.agreeing = 0;
        self.filter.doubt();
        self.key();
    }

    /// Takes the scan as the new keyframe.
    fn key(&mut self) {
        self.keyframe.take(&self.beams);
        self.filter.key(&self.matcher.certainty(&self.beams, &self.keyframe));
        self.keyed = true;
    }
}
