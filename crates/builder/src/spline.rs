//! A smooth curve through points: a cubic spline, natural at open ends, periodic when closed.
//!
//! The parameter is the chord length, and curvature is continuous: nothing jerks the steering.

use glam::DVec2;

/// Points closer than this count as this far apart, so that nothing is divided by zero.
const LEAST_CHORD_M: f64 = 1e-6;
/// Each sweep halves the error of the second derivatives at least: the rows are dominated by
/// their diagonal two to one, whatever the chords are.
const SWEEPS: usize = 64;

/// A curve through points.
pub(crate) struct Spline {
    points: Vec<DVec2>,
    chords: Vec<f64>,
    /// Second derivatives at the points.
    bends: Vec<DVec2>,
}

/// A place on a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    pub(crate) at: DVec2,
    /// Unit vector in the direction of travel.
    pub(crate) ahead: DVec2,
    /// 1/radius, positive to the left.
    pub(crate) curvature: f64,
}

impl Spline {
    /// A curve through at least two points.
    pub(crate) fn through(points: Vec<DVec2>, closed: bool) -> Spline {
        let n = points.len();
        let pieces = if closed { n } else { n.saturating_sub(1) };
        let chord = |i: usize| points[i].distance(points[(i + 1) % n]).max(LEAST_CHORD_M);
        let chords: Vec<f64> = (0..pieces).map(chord).collect();
        let mut bends = vec![DVec2::ZERO; n];
        let (first, last) = if closed { (0, n) } else { (1, n.saturating_sub(1)) };
        for _ in 0..SWEEPS {
            for i in first..last {
                let (before, after) = ((i + n - 1) % n, (i + 1) % n);
                let (h, k) = (chords[before], chords[i]);
                let slopes = (points[after] - points[i]) / k - (points[i] - points[before]) / h;
                bends[i] = (slopes * 6.0 - bends[before] * h - bends[after] * k) / (2.0 * (h + k));
            }
        }
        Spline { points, chords, bends }
    }

    /// How many pieces it has: one from each point to the next.
    pub(crate) fn pieces(&self) -> usize {
        self.chords.len()
    }

    /// Straight distance of the ends of a piece.
    pub(crate) fn chord(&self, piece: usize) -> f64 {
        self.chords[piece]
    }

    /// The place at `u`, 0 to 1, of a piece.
    pub(crate) fn spot(&self, piece: usize, u: f64) -> Spot {
        let next = (piece + 1) % self.points.len();
        let (p, q, h) = (self.points[piece], self.points[next], self.chords[piece]);
        let (m, k, a) = (self.bends[piece], self.bends[next], 1.0 - u);
        let at = p * a + q * u + (m * (a * a * a - a) + k * (u * u * u - u)) * (h * h / 6.0);
        let speed = (q - p) / h + (k * (3.0 * u * u - 1.0) - m * (3.0 * a * a - 1.0)) * (h / 6.0);
        let bend = m * a + k * u;
        let length = speed.length();
        let ahead = speed.normalize_or((q - p).normalize_or(DVec2::X));
        let curvature = speed.perp_dot(bend) / (length * length * length).max(1e-9);
        Spot { at, ahead, curvature }
    }
}
