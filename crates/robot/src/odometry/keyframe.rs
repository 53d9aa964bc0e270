//! A scan as points, and a scan as pieces of lines.

use crate::topics::Scan;
use chicane_world::vehicle::Lidar;

/// Length of scan that a line is fitted to, m; shorter ones are tried where it is not straight.
const LENGTHS: [f64; 2] = [0.4, 0.2];
/// A shorter piece, both ways, may as well be the face of something round, which turns with whoever looks.
const SHORTEST: f64 = 0.08;
/// Fewest points on a line.
const FEWEST: usize = 5;
/// How far the ends of a line may lie off it, in deviations.
const BEND: f64 = 1.5;
/// Walls are straight to this, m.
const ROUGHNESS: f64 = 0.002;
/// How much more than by the lidar's noise points may lie off their line, in deviations of that.
const STRAIGHT: f64 = 2.0;

/// A scan as points in the car's frame, and what is known of the lidar.
#[derive(Debug, Clone)]
pub(super) struct Beams {
    /// Directions of the beams.
    directions: Vec<[f64; 2]>,
    /// Where the lidar is, ahead of and beside the pose origin.
    pub(super) origin: [f64; 2],
    /// Noise of a range, m.
    pub(super) sd: f64,
    /// The points that were hit, and the beams they came by.
    pub(super) points: Vec<[f64; 2]>,
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
            // A real wall is never quite as straight as the lidar is exact.
            sd: lidar.noise_sd_m.max(0.003),
            points: Vec::with_capacity(n),
            beam: Vec::with_capacity(n),
        }
    }

    /// How many points were hit.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// How many beams there are.
    pub(super) fn count(&self) -> usize {
        self.directions.len()
    }

    pub(super) fn direction(&self, beam: usize) -> [f64; 2] {
        self.directions[beam]
    }

    /// Takes a scan in.
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

/// A piece of a line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    /// A point of it.
    pub(super) at: [f64; 2],
    /// Across it, length 1; zero where there is no line.
    pub(super) normal: [f64; 2],
    /// How far it reaches both ways from `at`.
    pub(super) reach: f64,
}

/// Running sums over points, so that any stretch of them can be fitted at once.
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

    /// The line through the points, and their mean squared distance from it.
    fn line(&self) -> (Line, f64) {
        let (mx, my) = (self.x / self.n, self.y / self.n);
        let xx = self.xx / self.n - mx * mx;
        let xy = self.xy / self.n - mx * my;
        let yy = self.yy / self.n - my * my;
        // Eigenvalues of the 2 by 2 covariance: along the line and across it.
        let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
        let spread = (half * half + xy * xy).sqrt();
        let (along, across) = (mean + spread, (mean - spread).max(0.0));
        // The longer of two forms of the eigenvector is the exact one.
        let tangent = if half >= 0.0 { [half + spread, xy] } else { [xy, spread - half] };
        let length = (tangent[0] * tangent[0] + tangent[1] * tangent[1]).sqrt().max(1e-12);
        let normal = [-tangent[1] / length, tangent[0] / length];
        // Evenly spread points reach √3 deviations both ways.
        (Line { at: [mx, my], normal, reach: (3.0 * along).sqrt() }, across)
    }
}

/// A scan as pieces of lines, one for each beam.
#[derive(Debug, Clone)]
pub(super) struct Keyframe {
    pub(super) lines: Vec<Line>,
    sums: Vec<Sums>,
}

impl Keyframe {
    pub(super) fn new(beams: &Beams) -> Keyframe {
        let n = beams.count();
        Keyframe { lines: vec![Line::default(); n], sums: Vec::with_capacity(3 * n + 1) }
    }

    /// Fits lines to a scan.
    pub(super) fn take(&mut self, beams: &Beams) {
        let n = beams.len();
        self.lines.fill(Line::default());
        // Three turns, so that a stretch may go over the ends.
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

    /// The longest straight stretch of the scan around a point (of the middle turn).
    ///
    /// What is not straight would fit itself best where it was seen from, and hold the car back: a line
    /// is one only if its points lie off it by no more than their noise.
    fn line(&self, i: usize, spacing: f64, beam: [f64; 2], n: usize, sd: f64) -> Option<Line> {
        for length in LENGTHS {
            let half = ((0.5 * length / spacing) as usize).clamp(FEWEST / 2, n / 8);
            for (from, to) in [(i - half, i + half), (i, i + 2 * half), (i - 2 * half, i)] {
                let sums = self.sums[to + 1].minus(&self.sums[from]);
                let (line, across) = sums.line();
                // Noise is along the beam.
                let slant = line.normal[0] * beam[0] + line.normal[1] * beam[1];
                let noise = sd * sd * slant * slant + ROUGHNESS * ROUGHNESS;
                let most = noise * (1.0 + STRAIGHT * (2.0 / sums.n).sqrt());
                if across <= most && line.reach > SHORTEST && !self.bends(&line, from, to, noise) {
                    return Some(line);
                }
            }
        }
        None
    }

    /// Whether the ends of a stretch lie off its line by more than noise does it: it goes round a corner.
    fn bends(&self, line: &Line, from: usize, to: usize, noise: f64) -> bool {
        let third = (to + 1 - from) / 3;
        let off = |from: usize, to: usize| {
            let sums = self.sums[to].minus(&self.sums[from]);
            let (x, y) = (sums.x / sums.n - line.at[0], sums.y / sums.n - line.at[1]);
            line.normal[0] * x + line.normal[1] * y
        };
        let most = BEND * (noise / third as f64).sqrt();
        off(from, from + third).abs() > most || off(to + 1 - third, to + 1).abs() > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_world::Profile;

    /// A room of 4 by 3 m around a car in its middle.
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
        let fitted: Vec<&Line> = keyframe.lines.iter().filter(|l| l.normal != [0.0; 2]).collect();
        assert!(fitted.len() > 700, "{}", fitted.len());
        let odd = fitted.iter().filter(|l| l.normal[0].abs().max(l.normal[1].abs()) < 0.999).count();
        assert!(odd < 20, "{odd} lines are not those of a wall");
        let ahead = keyframe.lines[beams.count() / 2];
        assert!((ahead.at[0] - (2.0 + beams.origin[0])).abs() < 1e-6, "{ahead:?}");
    }
}
