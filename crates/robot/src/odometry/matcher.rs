//! Finds the pose of a scan relative to a keyframe. Points are matched to lines by the Gauss–Newton
//! method.

#![allow(clippy::needless_range_loop)] // Matrix code is clearer with row and column indices.

use super::keyframe::{Beams, Keyframe, LineSegment};
use super::linear::{Matrix, inverse, solve};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Maximum number of rounds. In each round the points are assigned to lines again.
const ROUNDS: usize = 4;
/// Gauss–Newton steps per round.
const STEPS: usize = 2;
/// Maximum distance of a point from its line after the first round, in standard deviations.
const NEAR_SD: f64 = 4.0;
/// The weight of a point decreases beyond this distance from its line, in standard deviations.
const FAR_SD: f64 = 1.8;
/// Standard deviation of the error of a keyframe's lines, m.
const MODEL_SD: f64 = 0.003;
/// Minimum number of points for a match.
pub(super) const MIN_POINTS: usize = 40;

/// The pose of a scan relative to a keyframe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Match {
    /// x, y and yaw relative to the keyframe.
    pub(super) pose: [f64; 3],
    /// Inverse of the covariance that comes from the noise of the scan.
    pub(super) information: Matrix,
    /// Gradient of the cost at `pose`.
    pub(super) slope: [f64; 3],
    /// Of the points near a line, the fraction that lies on the line.
    pub(super) fit: f64,
    /// Fraction of all points that are near a line.
    pub(super) overlap: f64,
}

/// The matcher. It keeps a buffer, so that matching allocates no memory.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    pairs: Vec<Pair>,
}

/// A point and its line.
#[derive(Debug, Clone, Copy)]
struct Pair {
    point: [f64; 2],
    normal: [f64; 2],
    /// Distance of the line from the keyframe's origin in the direction of `normal`, m.
    offset: f64,
    /// Inverse of the variance of the distance between point and line.
    weight: f64,
}

/// The normal equations of a Gauss–Newton step.
#[derive(Default)]
struct NormalEquations {
    information: Matrix,
    slope: [f64; 3],
    close: usize,
}

impl Matcher {
    pub(super) fn new(beams: &Beams) -> Matcher {
        Matcher { pairs: Vec::with_capacity(beams.count()) }
    }

    /// Finds the pose at which a scan fits a keyframe. The search starts at the predicted pose;
    /// `spread` is the covariance of this pose. Returns `None` if too few points are near a line,
    /// or if a matrix has no inverse.
    pub(super) fn fit(
        &mut self,
        beams: &Beams,
        keyframe: &Keyframe,
        predicted: [f64; 3],
        spread: &Matrix,
    ) -> Option<Match> {
        let prior = inverse(spread)?;
        let mut pose = predicted;
        let unsure = (spread[0][0] + spread[1][1] + spread[2][2]).sqrt();
        let near = NEAR_SD * beams.sd;
        let mut gate = near + 3.0 * unsure.min(0.2);
        let mut paired = 0;
        for _ in 0..ROUNDS {
            paired = self.pair(beams, keyframe, pose, gate);
            if paired < MIN_POINTS {
                return None;
            }
            let mut moved = 0.0;
            for _ in 0..STEPS {
                let sums = self.sums(pose, beams.sd);
                let mut h = sums.information;
                let mut g = sums.slope;
                for i in 0..3 {
                    for j in 0..3 {
                        h[i][j] += prior[i][j];
                        g[i] += prior[i][j] * (pose[j] - predicted[j]);
                    }
                }
                let step = solve(&h, &g)?;
                for (p, s) in pose.iter_mut().zip(step) {
                    *p -= s;
                }
                moved = step.iter().fold(moved, |m: f64, s| m.max(s.abs()));
            }
            let last = gate <= near;
            gate = near;
            if last && moved < 2e-5 {
                break;
            }
        }
        let sums = self.sums(pose, beams.sd);
        let fit = sums.close as f64 / paired as f64;
        let overlap = paired as f64 / beams.len() as f64;
        Some(Match { pose, information: sums.information, slope: sums.slope, fit, overlap })
    }

    /// The information (inverse covariance) of a scan that is matched against its own lines.
    pub(super) fn certainty(&mut self, beams: &Beams, keyframe: &Keyframe) -> Matrix {
        self.pair(beams, keyframe, [0.0; 3], NEAR_SD * beams.sd);
        self.sums([0.0; 3], beams.sd).information
    }

    /// Pairs points with line segments. A point is paired with the segment that the keyframe has in
    /// the same direction from the lidar. Points that are not beside their segment, or that are
    /// more than `gate` metres from its line, are left out. Returns the number of pairs.
    fn pair(&mut self, beams: &Beams, keyframe: &Keyframe, [x, y, yaw]: [f64; 3], gate: f64) -> usize {
        self.pairs.clear();
        let (sin, cos) = libm::sincos(yaw);
        let [ox, oy] = beams.origin;
        let count = beams.count();
        let per_radian = count as f64 / TAU;
        for (point, &beam) in beams.points.iter().zip(&beams.beam) {
            let [px, py] = *point;
            let (qx, qy) = (x + cos * px - sin * py, y + sin * px + cos * py);
            let index = ((angle(qy - oy, qx - ox) + PI) * per_radian + 0.5) as usize % count;
            let line: &LineSegment = &keyframe.lines[index];
            let [nx, ny] = line.normal;
            let (dx, dy) = (qx - line.at[0], qy - line.at[1]);
            let (across, along) = (nx * dx + ny * dy, nx * dy - ny * dx);
            if across.abs() > gate || along.abs() > line.reach || (nx == 0.0 && ny == 0.0) {
                continue;
            }
            // Range noise acts along the beam, so a beam at a slant to the line causes less noise
            // across the line.
            let [bx, by] = beams.direction(beam as usize);
            let slant = nx * (cos * bx - sin * by) + ny * (sin * bx + cos * by);
            let sd = beams.sd * slant;
            let weight = 1.0 / (sd * sd + MODEL_SD * MODEL_SD);
            let offset = nx * line.at[0] + ny * line.at[1];
            self.pairs.push(Pair { point: *point, normal: line.normal, offset, weight });
        }
        self.pairs.len()
    }

    fn sums(&self, [x, y, yaw]: [f64; 3], sd: f64) -> NormalEquations {
        let (sin, cos) = libm::sincos(yaw);
        let mut sums = NormalEquations::default();
        let far = FAR_SD * sd;
        for pair in &self.pairs {
            let ([px, py], [nx, ny]) = (pair.point, pair.normal);
            let (rx, ry) = (cos * px - sin * py, sin * px + cos * py);
            let miss = nx * (x + rx) + ny * (y + ry) - pair.offset;
            let turn = ny * rx - nx * ry;
            let off = miss.abs();
            let robust = if off > far { far / off } else { 1.0 };
            sums.close += usize::from(off < 2.0 * far);
            let w = pair.weight * robust;
            let row = [nx, ny, turn];
            for i in 0..3 {
                for j in i..3 {
                    sums.information[i][j] += w * row[i] * row[j];
                }
                sums.slope[i] += w * row[i] * miss;
            }
        }
        for i in 0..3 {
            for j in 0..i {
                sums.information[i][j] = sums.information[j][i];
            }
        }
        sums
    }
}

/// Angle of a direction with an error below 1e-4 rad. The angle between two beams is about a
/// hundred times as large.
fn angle(y: f64, x: f64) -> f64 {
    let (ax, ay) = (x.abs(), y.abs());
    let t = ax.min(ay) / ax.max(ay).max(1e-12);
    let s = t * t;
    let mut a = t * (0.999_866 + s * (-0.330_299_5 + s * (0.180_141 + s * (-0.085_133 + s * 0.020_835_1))));
    if ay > ax {
        a = FRAC_PI_2 - a;
    }
    if x < 0.0 {
        a = PI - a;
    }
    if y < 0.0 { -a } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::Scan;
    use chicane_sim::{Command, Drive, How, Sim, Who};
    use chicane_testkit::shipped_world;
    use chicane_world::{Pose, Profile};
    use std::sync::Arc;

    #[test]
    fn the_approximate_angle_is_exact_enough() {
        for i in 0..10_000 {
            let wanted = f64::from(i) / 10_000.0 * TAU - PI;
            let (sin, cos) = libm::sincos(wanted);
            assert!((angle(3.0 * sin, 3.0 * cos) - wanted).abs() < 1e-4, "{wanted}");
        }
    }

    /// Matches scans of pairs of poses along a track. The poses of a pair are 0.4 m apart, and
    /// every scan has different noise.
    #[test]
    fn the_error_of_a_match_agrees_with_its_information() {
        let profile = Arc::new(Profile::gen1());
        let world = Arc::new(shipped_world("technical"));
        let route = world.route.clone().expect("a route");
        let mut sim = Sim::new(world, Arc::clone(&profile), 1);
        let mut scans_at = |along: f64| -> (Pose, Vec<Scan>) {
            let (at, yaw) = route.point_at(along);
            let (x, y, yaw) = (Some(at.x), Some(at.y), Some(yaw));
            let place = Command::Place { who: Who::Vehicle, x, y, z: None, yaw, how: How::AtOnce };
            sim.apply(place).expect("the pose is in range");
            let scans = (0..400).filter_map(|_| sim.step(Drive::default()).lidar.cloned()).collect();
            (sim.vehicle().pose, scans)
        };
        let mut beams = Beams::new(&profile.lidar);
        let mut keyframe = Keyframe::new(&beams);
        let mut matcher = Matcher::new(&beams);
        let (mut squares, mut count) = (0.0, 0.0);
        for place in 0..24 {
            let (here, first) = scans_at(1.3 * f64::from(place));
            let (there, second) = scans_at(1.3 * f64::from(place) + 0.4);
            let between = here.inverse().then(&there);
            let truth = [between.position.x, between.position.y, between.yaw()];
            let guess = [truth[0] - 0.03, truth[1] + 0.02, truth[2] + 0.01];
            let spread = [[1e-3, 0.0, 0.0], [0.0, 1e-3, 0.0], [0.0, 0.0, 1e-3]];
            let mut mean = [0.0; 3];
            for (a, b) in first.iter().zip(&second) {
                beams.take(a);
                keyframe.take(&beams);
                beams.take(b);
                let found = matcher.fit(&beams, &keyframe, guess, &spread).expect("it fits");
                assert!(found.fit > 0.9 && found.overlap > 0.6, "{found:?}");
                let back = solve(&found.information, &found.slope).expect("the information has an inverse");
                let miss: [f64; 3] = std::array::from_fn(|i| found.pose[i] - back[i] - truth[i]);
                for i in 0..3 {
                    mean[i] += miss[i] / first.len() as f64;
                    // The square is divided by two, because both scans have noise and the
                    // information covers the noise of only one scan.
                    squares += (0..3).map(|j| miss[i] * found.information[i][j] * miss[j]).sum::<f64>() / 2.0;
                }
                count += 1.0;
            }
            assert!(
                mean[0].abs() < 1e-3 && mean[1].abs() < 1e-3 && mean[2].abs() < 5e-4,
                "{place}: {mean:?}"
            );
        }
        let squares = squares / count;
        assert!((2.0..4.0).contains(&squares), "mean squared error in deviations, 3 expected: {squares}");
    }
}
