//! Two forms of a scan: as points, and as line segments (a keyframe).

use crate::topics::Scan;
use chicane_world::vehicle::Lidar;

/// Lengths of the contour to which a line is fitted, m. The shorter length is tried if the contour
/// is not straight over the longer one.
const LENGTHS: [f64; 2] = [0.4, 0.2];
/// Minimum half length of a line segment, m. A shorter segment could be the surface of a round
/// object, whose visible side depends on the position of the lidar.
const MIN_REACH: f64 = 0.08;
/// Minimum number of points on a line.
const MIN_POINTS: usize = 5;
/// Maximum distance of the ends of a segment from its line, in standard deviations.
const MAX_BEND_SD: f64 = 1.5;
/// Deviation of real walls from a straight line, m.
const ROUGHNESS: f64 = 0.002;
/// Tolerance of the variance test of a line, in standard deviations of the variance.
const VARIANCE_TOLERANCE: f64 = 2.0;

/// A scan as points in the car's frame, and the constants of the lidar.
#[derive(Debug, Clone)]
pub(super) struct Beams {
    /// Directions of the beams.
    directions: Vec<[f64; 2]>,
    /// Position of the lidar relative to the pose origin: forward and to the left, m.
    pub(super) origin: [f64; 2],
    /// Standard deviation of a range, m.
    pub(super) sd: f64,
    /// The measured points, m.
    pub(super) points: Vec<[f64; 2]>,
    /// The index of the beam of each point.
    pub(super) beam: Vec<u32>,
}

impl Beams {
    pub(super) fn new(lidar: &Lidar) -> Beams {
        let n = lidar.beams as usize;
        let direction = |i: usize| {
            let (sin, cos) = libm::sincos(i as f64 / n as f64 * std::f64::consts::TAU - std::f64::consts::PI);
            [cos, sin]
        };
        Beams {
            directions: (0..n).map(direction).collect(),
            origin: [lidar.position_m[0], lidar.position_m[1]],
            // The value has a minimum, because real walls are not perfectly straight.
            sd: lidar.noise_sd_m.max(0.003),
            points: Vec::with_capacity(n),
            beam: Vec::with_capacity(n),
        }
    }

    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Number of beams.
    pub(super) fn count(&self) -> usize {
        self.directions.len()
    }

    pub(super) fn direction(&self, beam: usize) -> [f64; 2] {
        self.directions[beam]
    }

    /// Computes the points of a scan.
    pub(super) fn take(&mut self, scan: &Scan) {
        self.points.clear();
        self.beam.clear();
        for (i, (range, [cos, sin])) in scan.ranges.iter().zip(&self.directions).enumerate() {
            let range = f64::from(*range);
            if range.is_finite() {
                self.points.push([self.origin[0] + range * cos, self.origin[1] + range * sin]);
                self.beam.push(i as u32);
            }
        }
    }
}

/// A line segment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineSegment {
    /// The centre.
    pub(super) at: [f64; 2],
    /// Unit normal; zero if there is no line.
    pub(super) normal: [f64; 2],
    /// Half of the length, m.
    pub(super) reach: f64,
}

/// Prefix sums over points. The difference of two prefix sums gives the sums over the points in
/// between, so that a line can be fitted in constant time.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Sums {
    fn minus(&self, o: &Sums) -> Sums {
        Sums {
            n: self.n - o.n,
            x: self.x - o.x,
            y: self.y - o.y,
            xx: self.xx - o.xx,
            xy: self.xy - o.xy,
            yy: self.yy - o.yy,
        }
    }

    fn plus(&self, [x, y]: [f64; 2]) -> Sums {
        Sums {
            n: self.n + 1.0,
            x: self.x + x,
            y: self.y + y,
            xx: self.xx + x * x,
            xy: self.xy + x * y,
            yy: self.yy + y * y,
        }
    }

    /// The line that fits the points best, and the mean squared distance of the points from this
    /// line.
    fn line(&self) -> (LineSegment, f64) {
        let (mx, my) = (self.x / self.n, self.y / self.n);
        let xx = self.xx / self.n - mx * mx;
        let xy = self.xy / self.n - mx * my;
        let yy = self.yy / self.n - my * my;
        // The eigenvalues of the 2×2 covariance are the variances along the line and across it.
        let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
        let spread = (half * half + xy * xy).sqrt();
        let (along, across) = (mean + spread, (mean - spread).max(0.0));
        // The eigenvector can be computed in two forms. The longer form has the smaller rounding
        // error.
        let tangent = if half >= 0.0 { [half + spread, xy] } else { [xy, spread - half] };
        let length = (tangent[0] * tangent[0] + tangent[1] * tangent[1]).sqrt().max(1e-12);
        let normal = [-tangent[1] / length, tangent[0] / length];
        // Evenly distributed points extend to √3 standard deviations on both sides.
        (LineSegment { at: [mx, my], normal, reach: (3.0 * along).sqrt() }, across)
    }
}

/// A scan as line segments, one for each beam. The normal of a segment is zero if no line was found
/// at the point of the beam.
#[derive(Debug, Clone)]
pub(super) struct Keyframe {
    pub(super) lines: Vec<LineSegment>,
    sums: Vec<Sums>,
}

impl Keyframe {
    pub(super) fn new(beams: &Beams) -> Keyframe {
        let n = beams.count();
        Keyframe { lines: vec![LineSegment::default(); n], sums: Vec::with_capacity(3 * n + 1) }
    }

    /// Fits lines to a scan.
    pub(super) fn take(&mut self, beams: &Beams) {
        let n = beams.len();
        self.lines.fill(LineSegment::default());
        // The sums cover three copies of the scan, so that a range of points can extend beyond both
        // ends of the scan.
        self.sums.clear();
        self.sums.push(Sums::default());
        let mut sum = Sums::default();
        for point in beams.points.iter().cycle().take(3 * n) {
            sum = sum.plus(*point);
            self.sums.push(sum);
        }
        let step = std::f64::consts::TAU / beams.count() as f64;
        for i in 0..n {
            let [x, y] = beams.points[i];
            let (dx, dy) = (x - beams.origin[0], y - beams.origin[1]);
            let spacing = (dx * dx + dy * dy).sqrt() * step;
            let beam = beams.direction(beams.beam[i] as usize);
            if let Some(line) = self.line(i + n, spacing, beam, n, beams.sd) {
                self.lines[beams.beam[i] as usize] = line;
            }
        }
    }

    /// A straight segment that contains a point; `None` if no segment is straight. `i` is the index
    /// of the point in the three copies of the scan. The longer segments are tried first.
    ///
    /// A line is accepted only if noise explains the distances of its points. Otherwise a curved
    /// surface would match best at the pose of its own scan, and bias the estimate towards no
    /// motion.
    fn line(&self, i: usize, spacing: f64, beam: [f64; 2], n: usize, sd: f64) -> Option<LineSegment> {
        for length in LENGTHS {
            let half = ((0.5 * length / spacing) as usize).clamp(MIN_POINTS / 2, n / 8);
            for (from, to) in [(i - half, i + half), (i, i + 2 * half), (i - 2 * half, i)] {
                let sums = self.sums[to + 1].minus(&self.sums[from]);
                let (line, across) = sums.line();
                // Range noise acts along the beam. Only the part of this noise across the line
                // counts.
                let slant = line.normal[0] * beam[0] + line.normal[1] * beam[1];
                let noise = sd * sd * slant * slant + ROUGHNESS * ROUGHNESS;
                let most = noise * (1.0 + VARIANCE_TOLERANCE * (2.0 / sums.n).sqrt());
                if across <= most && line.reach > MIN_REACH && !self.bends(&line, from, to, noise) {
                    return Some(line);
                }
            }
        }
        None
    }

    /// Whether the ends of a segment are farther from its line than noise explains, for example at
    /// a corner. The ends are the first and the last third of the points.
    fn bends(&self, line: &LineSegment, from: usize, to: usize, noise: f64) -> bool {
        let third = (to + 1 - from) / 3;
        let off = |from: usize, to: usize| {
            let sums = self.sums[to].minus(&self.sums[from]);
            let (x, y) = (sums.x / sums.n - line.at[0], sums.y / sums.n - line.at[1]);
            line.normal[0] * x + line.normal[1] * y
        };
        let most = MAX_BEND_SD * (noise / third as f64).sqrt();
        off(from, from + third).abs() > most || off(to + 1 - third, to + 1).abs() > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_world::Profile;

    /// A scan of a room of 4 m × 3 m with the lidar in its centre.
    fn room(beams: &Beams) -> Scan {
        let range = |d: &[f64; 2]| (2.0 / d[0].abs()).min(1.5 / d[1].abs()) as f32;
        Scan { sample: 0, ranges: (0..beams.count()).map(|i| range(&beams.direction(i))).collect() }
    }

    #[test]
    fn walls_become_lines_with_their_normals() {
        let mut beams = Beams::new(&Profile::gen1().lidar);
        let scan = room(&beams);
        beams.take(&scan);
        let mut keyframe = Keyframe::new(&beams);
        keyframe.take(&beams);
        let fitted: Vec<&LineSegment> = keyframe.lines.iter().filter(|l| l.normal != [0.0; 2]).collect();
        assert!(fitted.len() > 700, "{}", fitted.len());
        let odd = fitted.iter().filter(|l| l.normal[0].abs().max(l.normal[1].abs()) < 0.999).count();
        assert!(odd < 20, "{odd} lines are not those of a wall");
        let ahead = keyframe.lines[beams.count() / 2];
        assert!((ahead.at[0] - (2.0 + beams.origin[0])).abs() < 1e-6, "{ahead:?}");
    }
}
