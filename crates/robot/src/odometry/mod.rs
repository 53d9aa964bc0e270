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
/// Nor does one with a smaller part of it near them.
const LEAST_OVERLAP: f64 = 0.3;
/// Nor is one quite believed that has so much less of it near them than the last one.
const USUAL_OVERLAP: f64 = 0.8;
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

/// How fast a car may be pushed in a crash, m/s, and turned against what its gyro says, rad.
const SHOCK_SPEED: f64 = 2.0;
const SHOCK_TURN: f64 = 0.01;
/// Part of the points that must lie on lines for a scan to be believed against all expectation.
const SURE_FIT: f64 = 0.8;
/// Scans this near to the first of them are from the same place, m and rad; so many of them say that the car
/// stands.
const STILL: f64 = 0.004;
const STILL_SCANS: u32 = 6;

/// The estimator.
#[derive(Debug, Clone)]
pub(crate) struct Odometry {
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
    /// Where the last scan was taken, in the keyframe.
    last: [f64; 3],
    /// The place where the car may rest, and the scans in a row that were taken there.
    rest: [f64; 3],
    still: u32,
    scan_dt: f64,
    /// Part of the last scan that had lines to lie on.
    overlap: f64,
    /// The car stands: nothing moves until something is felt or seen.
    standing: bool,
    /// Tick of the last reading, once there was one.
    tick: Option<u64>,
}

impl Odometry {
    /// Starts at the origin, at rest.
    pub(crate) fn new(profile: &Profile) -> Odometry {
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
            last: [0.0; 3],
            rest: [0.0; 3],
            still: 0,
            scan_dt: 1.0 / f64::from(profile.lidar.rate_hz),
            overlap: 0.0,
            // It was just switched on.
            standing: true,
            tick: None,
        }
    }

    /// Takes a sample of gyro and accelerometer in.
    pub(crate) fn feel(&mut self, imu: &Imu, tick: u64) {
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
    pub(crate) fn look(&mut self, scan: &Scan, tick: u64) -> Odom {
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
            let slow = self.agreeing >= AGREEING_SCANS && self.filter.speed() < STANDING_SPEED;
            self.standing = self.quiet >= QUIET_SAMPLES && (slow || self.still >= STILL_SCANS);
            if self.standing {
                self.filter.stand();
            }
        }
        self.at(tick)
    }

    /// The estimate at a tick that is not before the last reading.
    pub(crate) fn at(&self, tick: u64) -> Odom {
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
        let expected = found.filter(|f| fits(f) && self.filter.surprise(f) <= MOST_SURPRISE);
        let usual = expected.filter(|f| f.overlap >= USUAL_OVERLAP * self.overlap);
        let found = usual.or_else(|| self.after_a_shock(predicted, expected)).or(expected);
        let Some(found) = found else { return self.lose() };
        self.overlap = found.overlap;
        self.note_rest(&found);
        let Match { pose: [x, y, yaw], overlap, .. } = found;
        if x * x + y * y > KEYFRAME_REACH * KEYFRAME_REACH
            || yaw.abs() > KEYFRAME_TURN
            || overlap < KEYFRAME_OVERLAP
        {
            self.keyframe.take(&self.beams);
            let certainty = self.matcher.certainty(&self.beams, &self.keyframe);
            self.filter.hop(&found, &certainty);
            self.rest_from_here();
            return;
        }
        let step = self.filter.correct(&found);
        self.agreeing = if step < AGREEMENT { self.agreeing.saturating_add(1) } else { 0 };
    }

    /// Looks around wider: in a crash the accelerometer tells less than it should. What is found must be
    /// where a car can have got to since the last scan, turned as the gyro says, and better than what was
    /// expected.
    fn after_a_shock(&mut self, predicted: [f64; 3], expected: Option<Match>) -> Option<Match> {
        let before = self.last;
        let reach = SHOCK_SPEED * self.scan_dt;
        let spread =
            [[reach * reach, 0.0, 0.0], [0.0, reach * reach, 0.0], [0.0, 0.0, SHOCK_TURN * SHOCK_TURN]];
        let from_rest = [before[0], before[1], predicted[2]];
        let guesses = [predicted, from_rest];
        let tried = guesses.map(|guess| {
            let found = self.matcher.fit(&self.beams, &self.keyframe, guess, &spread)?;
            let [dx, dy] = [found.pose[0] - before[0], found.pose[1] - before[1]];
            let near = dx * dx + dy * dy < 4.0 * reach * reach;
            let turned = (found.pose[2] - predicted[2]).abs() < 3.0 * SHOCK_TURN;
            (near && turned && fits(&found) && found.fit >= SURE_FIT).then_some(found)
        });
        let worth = |f: &Match| f.fit * f.overlap;
        let best = tried.into_iter().flatten().max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
        if expected.is_some_and(|expected| worth(&best) < worth(&expected) + 0.05) {
            return None;
        }
        self.agreeing = 0;
        self.filter.jolt(reach);
        Some(best)
    }

    /// Counts scans that were taken from the same place.
    fn note_rest(&mut self, found: &Match) {
        let still = (0..3).all(|i| (found.pose[i] - self.rest[i]).abs() < STILL);
        (self.rest, self.still) = if still { (self.rest, self.still + 1) } else { (found.pose, 0) };
        self.last = found.pose;
    }

    /// The scan is the keyframe now, and its own place is where it was taken.
    fn rest_from_here(&mut self) {
        (self.last, self.rest, self.still) = ([0.0; 3], [0.0; 3], 0);
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
        self.rest_from_here();
        self.keyed = true;
    }
}

/// Whether enough of a scan lies on the lines of its keyframe.
fn fits(found: &Match) -> bool {
    found.fit >= LEAST_FIT && found.overlap >= LEAST_OVERLAP
}
