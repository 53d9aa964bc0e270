//! Odometry from lidar and IMU only.
//!
//! Theory of operation. Between scans the filter integrates gyro and accelerometer. Each scan is
//! matched, point to line, against a keyframe. A keyframe is an earlier scan with lines fitted to
//! its points. The keyframe is replaced when the car has moved 0.4 m or turned by 20°, or when less
//! than half of a scan overlaps with the keyframe. All scans that are matched against one keyframe
//! share the error from the noise of the keyframe's scan. The state of the filter contains the pose
//! of the keyframe with this error, so the covariance takes the shared error into account. A scan
//! that does not fit near the predicted pose is matched again in a wider range, because the car may
//! have crashed. If this match fails too, the estimator assumes that the car was placed elsewhere.
//! Then the scan becomes the new keyframe at the estimated pose, and the estimate does not include
//! the jump.

mod filter;
mod keyframe;
mod linear;
mod matcher;

use crate::topics::{Odom, Scan};
use chicane_world::Profile;
use chicane_world::readings::{ImuSample, TICK_S};
use filter::Filter;
use keyframe::{Beams, Keyframe};
use matcher::{Match, Matcher};

/// A keyframe is replaced when the car is farther than this from the keyframe, m.
const KEYFRAME_REACH: f64 = 0.4;
/// A keyframe is replaced after a turn of this angle, rad.
const KEYFRAME_TURN: f64 = 20.0 * std::f64::consts::PI / 180.0;
/// A keyframe is replaced if less than this fraction of the scan overlaps with the keyframe.
const KEYFRAME_OVERLAP: f64 = 0.5;
/// A scan does not fit if less than this fraction of its points near lines lies on these lines.
const LEAST_FIT: f64 = 0.5;
/// A scan does not fit if less than this fraction of its points is near the keyframe's lines.
const LEAST_OVERLAP: f64 = 0.3;
/// If the overlap of a scan is below this fraction of the last scan's overlap, the scan is matched
/// again in the same wider range as after a crash.
const USUAL_OVERLAP: f64 = 0.8;
/// Limit of the squared Mahalanobis distance between the pose of a scan and the predicted pose. A
/// match with a larger distance is discarded, and the scan is matched again in a wider range.
const MAX_MAHALANOBIS: f64 = 40.0;
/// The car counts as standing only after this number of consecutive quiet IMU samples. If the car
/// leans on something, the samples must be steady instead: no turn, and the same acceleration.
const QUIET_SAMPLES: u32 = 15;
/// An IMU sample is quiet if its values are at most this number of standard deviations of the
/// noise.
const QUIET_SD: f64 = 4.5;
/// The car counts as slow only after this number of consecutive scans that agree with the
/// prediction.
const AGREEING_SCANS: u32 = 4;
/// A scan agrees with the prediction if its squared Mahalanobis distance is smaller than this.
const AGREEMENT: f64 = 25.0;
/// The car counts as slow below this estimated speed, m/s. A slow car with a quiet IMU counts as
/// standing.
const STANDING_SPEED: f64 = 0.03;

/// Standard deviation of the predicted velocity in a crash, m/s.
const SHOCK_SPEED: f64 = 2.0;
/// Standard deviation of the gyro's heading in a crash, rad.
const SHOCK_TURN: f64 = 0.01;
/// After a crash a scan is accepted only if at least this fraction of its points near lines lies on
/// these lines.
const SURE_FIT: f64 = 0.8;
/// Two scans are from the same pose if their poses differ by less than this, m and rad.
const STILL: f64 = 0.004;
/// A car with quiet or steady IMU samples also counts as standing after this number of consecutive
/// scans from the same pose.
const STILL_SCANS: u32 = 6;
/// The mean acceleration of steady IMU samples is taken over about this number of samples.
const MEAN_SAMPLES: u32 = 50;

/// The odometry estimator.
#[derive(Debug, Clone)]
pub(crate) struct Odometry {
    filter: Filter,
    beams: Beams,
    keyframe: Keyframe,
    /// Whether `keyframe` contains a scan.
    has_keyframe: bool,
    matcher: Matcher,
    /// Position of the IMU relative to the pose origin: forward and to the left, m.
    imu_at: [f64; 2],
    gyro_sd: f64,
    accelerometer_sd: f64,
    imu_dt: f64,
    gyro: f64,
    quiet: u32,
    /// Number of consecutive IMU samples without a turn and with the same acceleration.
    steady: u32,
    /// Mean acceleration of the samples that `steady` counts, m/s².
    steady_acceleration: [f64; 2],
    /// Acceleration that the IMU of the standing car measures, m/s². It is zero unless the car
    /// leans on something, because only a tilted IMU measures a part of gravity.
    lean: [f64; 2],
    /// Number of consecutive scans that agreed with the prediction.
    agreeing: u32,
    /// Pose of the last scan, relative to the keyframe.
    last: [f64; 3],
    /// A pose at which the car may have come to rest, relative to the keyframe.
    rest: [f64; 3],
    /// Number of consecutive scans from the pose `rest`.
    still: u32,
    scan_dt: f64,
    /// Fraction of the last scan's points that were near a line.
    overlap: f64,
    /// Whether the car stands. While the car stands, IMU samples do not change the estimate. The
    /// car stands until the IMU or a scan shows a motion.
    standing: bool,
    /// Tick of the last reading; `None` before the first reading.
    tick: Option<u64>,
}

impl Odometry {
    /// An estimator that starts at the origin, at rest.
    pub(crate) fn new(profile: &Profile) -> Odometry {
        let beams = Beams::new(&profile.lidar);
        Odometry {
            filter: Filter::new(profile),
            keyframe: Keyframe::new(&beams),
            has_keyframe: false,
            matcher: Matcher::new(&beams),
            beams,
            imu_at: [profile.imu.position_m[0], profile.imu.position_m[1]],
            gyro_sd: profile.imu.gyro_sd_radps,
            accelerometer_sd: profile.imu.accelerometer_sd_mps2,
            imu_dt: 1.0 / f64::from(profile.imu.rate_hz),
            gyro: 0.0,
            quiet: 0,
            steady: 0,
            steady_acceleration: [0.0; 2],
            lean: [0.0; 2],
            agreeing: AGREEING_SCANS,
            last: [0.0; 3],
            rest: [0.0; 3],
            still: 0,
            scan_dt: 1.0 / f64::from(profile.lidar.rate_hz),
            overlap: 0.0,
            // A car that was just switched on stands.
            standing: true,
            tick: None,
        }
    }

    /// Processes an IMU sample.
    pub(crate) fn add_imu_sample(&mut self, imu: &ImuSample, tick: u64) {
        if !(imu.acceleration.is_finite() && imu.angular_velocity.is_finite()) {
            return;
        }
        let turning = imu.angular_velocity.z;
        let dt = self.advance_to(tick);
        if dt <= 0.0 {
            self.gyro = turning;
            return;
        }
        let angular_acceleration = (turning - self.gyro) / dt;
        let [ahead, beside] = self.imu_at;
        // The acceleration is transformed from the position of the IMU to the pose origin.
        let ax = imu.acceleration.x + turning * turning * ahead + angular_acceleration * beside;
        let ay = imu.acceleration.y + turning * turning * beside - angular_acceleration * ahead;
        let exceeds = |v: f64, sd: f64| v.abs() > QUIET_SD * sd.max(1e-6);
        let moved = exceeds(turning, self.gyro_sd)
            || exceeds(ax - self.lean[0], self.accelerometer_sd)
            || exceeds(ay - self.lean[1], self.accelerometer_sd);
        self.quiet = if moved { 0 } else { self.quiet.saturating_add(1) };
        self.count_steady_samples(exceeds(turning, self.gyro_sd), [ax, ay]);
        if self.standing && moved {
            self.start_moving();
        }
        if !self.standing {
            self.filter.predict(dt, turning, [ax, ay], self.imu_dt);
        }
        self.gyro = turning;
    }

    /// Processes a scan and returns the estimate at the tick of the scan.
    pub(crate) fn add_scan(&mut self, scan: &Scan, tick: u64) -> Odom {
        let dt = self.advance_to(tick);
        if dt > 0.0 && !self.standing {
            self.filter.predict(dt, self.gyro, [0.0; 2], self.imu_dt);
        }
        self.beams.take(scan);
        if self.beams.len() >= matcher::MIN_POINTS {
            self.correct();
        }
        if self.standing && self.agreeing == 0 {
            self.start_moving();
        }
        if !self.standing {
            self.filter.constrain_motion(self.gyro);
            let slow = self.agreeing >= AGREEING_SCANS && self.filter.speed() < STANDING_SPEED;
            let (quiet, still) = (self.quiet >= QUIET_SAMPLES, self.still >= STILL_SCANS);
            let leans = !quiet && still && self.steady >= QUIET_SAMPLES;
            self.standing = quiet && (slow || still) || leans;
            if self.standing {
                self.lean = if leans { self.steady_acceleration } else { [0.0; 2] };
                self.filter.set_standing();
            }
        }
        self.at(tick)
    }

    /// The estimate at a tick. The tick must not be before the last reading.
    pub(crate) fn at(&self, tick: u64) -> Odom {
        if self.standing {
            return self.filter.odom(tick, 0.0, 0.0, self.gyro_sd);
        }
        let since = tick.saturating_sub(self.tick.unwrap_or(tick));
        self.filter.odom(tick, since as f64 * TICK_S, self.gyro, self.gyro_sd)
    }

    /// Stores the tick of a reading. Returns the seconds since the previous reading, or 0 for the
    /// first reading.
    fn advance_to(&mut self, tick: u64) -> f64 {
        let last = self.tick.replace(tick).unwrap_or(tick);
        tick.saturating_sub(last) as f64 * TICK_S
    }

    /// Leaves the state in which the car stands.
    fn start_moving(&mut self) {
        self.standing = false;
        self.lean = [0.0; 2];
        self.filter.leave_standing();
    }

    /// Counts consecutive IMU samples without a turn and with the same acceleration.
    fn count_steady_samples(&mut self, turned: bool, acceleration: [f64; 2]) {
        let limit = QUIET_SD * self.accelerometer_sd.max(1e-6);
        let off: [f64; 2] = std::array::from_fn(|i| acceleration[i] - self.steady_acceleration[i]);
        if turned || off.iter().any(|v| v.abs() > limit) {
            (self.steady, self.steady_acceleration) = (0, acceleration);
            return;
        }
        self.steady = self.steady.saturating_add(1);
        let weight = 1.0 / f64::from(self.steady.min(MEAN_SAMPLES) + 1);
        for (mean, v) in self.steady_acceleration.iter_mut().zip(off) {
            *mean += weight * v;
        }
    }

    fn correct(&mut self) {
        if !self.has_keyframe {
            return self.take_keyframe();
        }
        let (predicted, spread) = self.filter.relative();
        let found = self.matcher.fit(&self.beams, &self.keyframe, predicted, &spread);
        let expected = found.filter(|f| fits(f) && self.filter.mahalanobis(f) <= MAX_MAHALANOBIS);
        let usual = expected.filter(|f| f.overlap >= USUAL_OVERLAP * self.overlap);
        let found = usual.or_else(|| self.match_after_shock(predicted, expected)).or(expected);
        let Some(found) = found else { return self.restart() };
        self.overlap = found.overlap;
        self.count_still_scans(&found);
        let Match { pose: [x, y, yaw], overlap, .. } = found;
        if x * x + y * y > KEYFRAME_REACH * KEYFRAME_REACH
            || yaw.abs() > KEYFRAME_TURN
            || overlap < KEYFRAME_OVERLAP
        {
            self.keyframe.take(&self.beams);
            let certainty = self.matcher.certainty(&self.beams, &self.keyframe);
            self.filter.change_keyframe(&found, &certainty);
            self.reset_rest();
            return;
        }
        let step = self.filter.correct(&found);
        self.agreeing = if step < AGREEMENT { self.agreeing.saturating_add(1) } else { 0 };
    }

    /// Matches the scan again in a wider range, because in a crash the prediction from the
    /// accelerometer has a large error. The new match must be near the pose of the last scan, agree
    /// with the heading of the gyro, and be clearly better than the match `expected` (if any).
    /// Returns `None` if there is no such match.
    fn match_after_shock(&mut self, predicted: [f64; 3], expected: Option<Match>) -> Option<Match> {
        let before = self.last;
        let reach = SHOCK_SPEED * self.scan_dt;
        let spread =
            [[reach * reach, 0.0, 0.0], [0.0, reach * reach, 0.0], [0.0, 0.0, SHOCK_TURN * SHOCK_TURN]];
        let from_rest = [before[0], before[1], predicted[2]];
        let starts = [predicted, from_rest];
        let tried = starts.map(|guess| {
            let found = self.matcher.fit(&self.beams, &self.keyframe, guess, &spread)?;
            let [dx, dy] = [found.pose[0] - before[0], found.pose[1] - before[1]];
            let near = dx * dx + dy * dy < 4.0 * reach * reach;
            let turned = (found.pose[2] - predicted[2]).abs() < 3.0 * SHOCK_TURN;
            (near && turned && fits(&found) && found.fit >= SURE_FIT).then_some(found)
        });
        let score = |f: &Match| f.fit * f.overlap;
        let best = tried.into_iter().flatten().max_by(|a, b| score(a).total_cmp(&score(b)))?;
        if expected.is_some_and(|expected| score(&best) < score(&expected) + 0.05) {
            return None;
        }
        self.agreeing = 0;
        self.filter.widen_after_shock(reach);
        Some(best)
    }

    /// Counts consecutive scans from the same pose.
    fn count_still_scans(&mut self, found: &Match) {
        let still = (0..3).all(|i| (found.pose[i] - self.rest[i]).abs() < STILL);
        (self.rest, self.still) = if still { (self.rest, self.still + 1) } else { (found.pose, 0) };
        self.last = found.pose;
    }

    /// Resets the poses relative to the keyframe, because the current scan became the keyframe.
    fn reset_rest(&mut self) {
        (self.last, self.rest, self.still) = ([0.0; 3], [0.0; 3], 0);
    }

    /// Restarts after the car was placed elsewhere: the current scan becomes the keyframe at the
    /// estimated pose.
    fn restart(&mut self) {
        self.agreeing = 0;
        self.filter.widen_after_teleport();
        self.take_keyframe();
    }

    /// Makes the current scan the keyframe.
    fn take_keyframe(&mut self) {
        self.keyframe.take(&self.beams);
        self.filter.set_keyframe(&self.matcher.certainty(&self.beams, &self.keyframe));
        self.reset_rest();
        self.has_keyframe = true;
    }
}

/// Whether enough points of a scan lie on the lines of its keyframe.
fn fits(found: &Match) -> bool {
    found.fit >= LEAST_FIT && found.overlap >= LEAST_OVERLAP
}
