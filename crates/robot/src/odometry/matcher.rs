//! Where a scan was taken, seen from a keyframe: points to lines, by Gauss and Newton.

#![allow(clippy::needless_range_loop)] // Matrices are written by rows and columns.

use super::keyframe::{Beams, Keyframe, Line};
use super::linear::{Matrix, inverse, solve};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Rounds of finding lines for points.
const ROUNDS: usize = 4;
/// Steps with the lines of one round.
const STEPS: usize = 2;
/// A point belongs to a line this near at last, in deviations.
const NEAR_SD: f64 = 4.0;
/// Past so many deviations a point counts less.
const FAR_SD: f64 = 1.8;
/// Points of a keyframe and a scan never agree quite, m.
const MODEL_SD: f64 = 0.003;

/// What a scan says about where it was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Match {
    /// x, y and yaw in the keyframe.
    pub(super) pose: [f64; 3],
    /// How sure that is: the inverse of its covariance, by the scan's own noise.
    pub(super) information: Matrix,
    /// Slope of the misfit at `pose`.
    pub(super) slope: [f64; 3],
    /// Part of the points near lines that lie on them.
    pub(super) fit: f64,
    /// Part of all points that have a line to lie on.
    pub(super) overlap: f64,
}

/// Room for matching.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    pairs: Vec<Pair>,
}

/// A point and the line it belongs to.
#[derive(Debug, Clone, Copy)]
struct Pair {
    point: [f64; 2],
    normal: [f64; 2],
    /// Distance of the line from the origin.
    offset: f64,
    /// Inverse of the variance.
    weight: f64,
}

/// Sums of a Gauss–Newton step.
#[derive(Default)]
struct Normal {
    information: Matrix,
    slope: [f64; 3],
    close: usize,
}

impl Matcher {
    pub(super) fn new(beams: &Beams) -> Matcher {
        Matcher { pairs: Vec::with_capacity(beams.count()) }
    }

    /// Finds the pose from which a scan fits a keyframe, near a predicted one with its covariance.
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
            if paired < super::FEWEST_POINTS {
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

    /// How sure a pose is that is found by a scan against its own lines.
    pub(super) fn certainty(&mut self, beams: &Beams, keyframe: &Keyframe) -> Matrix {
        self.pair(beams, keyframe, [0.0; 3], NEAR_SD * beams.sd);
        self.sums([0.0; 3], beams.sd).information
    }

    /// Finds lines for points: the one that the keyframe saw in the same direction.
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
            let line: &Line = &keyframe.lines[index];
            let [nx, ny] = line.normal;
            let (dx, dy) = (qx - line.at[0], qy - line.at[1]);
            let (across, along) = (nx * dx + ny * dy, nx * dy - ny * dx);
            if across.abs() > gate || along.abs() > line.reach || (nx == 0.0 && ny == 0.0) {
                continue;
            }
            // Noise is along the beam: what hits a line at a slant is nearer to it.
            let [bx, by] = beams.direction(beam as usize);
            let slant = nx * (cos * bx - sin * by) + ny * (sin * bx + cos * by);
            let sd = beams.sd * slant;
            let weight = 1.0 / (sd * sd + MODEL_SD * MODEL_SD);
            let offset = nx * line.at[0] + ny * line.at[1];
            self.pairs.push(Pair { point: *point, normal: line.normal, offset, weight });
        }
        self.pairs.len()
    }

    fn sums(&self, [x, y, yaw]: [f64; 3], sd: f64) -> Normal {
        let (sin, cos) = libm::sincos(yaw);
        let mut sums = Normal::default();
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

/// The angle of a direction within a tenth of a thousandth: a beam is a hundred times as wide.
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
    fn angles_are_near_enough() {
        for i in 0..10_000 {
            let wanted = f64::from(i) / 10_000.0 * TAU - PI;
            let (sin, cos) = libm::sincos(wanted);
            assert!((angle(3.0 * sin, 3.0 * cos) - wanted).abs() < 1e-4, "{wanted}");
        }
    }

    /// Scans from two places 0.4 m apart, all along a track, with fresh noise each time.
    #[test]
    fn a_match_is_as_exact_as_it_says() {
        let profile = Arc::new(Profile::gen1());
        let world = Arc::new(shipped_world("technical"));
        let route = world.route.clone().expect("a route");
        let mut sim = Sim::new(world, Arc::clone(&profile), 1);
        let mut scans_at = |along: f64| -> (Pose, Vec<Scan>) {
            let (at, yaw) = route.point_at(along);
            let (x, y, yaw) = (Some(at.x), Some(at.y), Some(yaw));
            let place = Command::Place { who: Who::Vehicle, x, y, z: None, yaw, how: How::AtOnce };
            sim.apply(place).expect("it goes there");
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
                let back = solve(&found.information, &found.slope).expect("it is sure");
                let miss: [f64; 3] = std::array::from_fn(|i| found.pose[i] - back[i] - truth[i]);
                for i in 0..3 {
                    mean[i] += miss[i] / first.len() as f64;
                    // Both scans have noise.
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
