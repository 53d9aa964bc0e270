//! A cubic spline through points. The second derivative of an open spline is zero at both ends. A
//! closed spline is periodic.
//!
//! The parameter of the spline advances by the straight distance between consecutive points. The
//! curvature is continuous, so the steering angle of a car that follows the curve has no jumps.

use glam::DVec2;

/// Minimum chord length, m. The minimum prevents a division by zero.
const LEAST_CHORD_M: f64 = 1e-6;
/// Number of Gauss–Seidel sweeps. Each sweep at least halves the error of the second derivatives,
/// because every diagonal element of the system of equations is twice the sum of the other elements
/// of its row.
const SWEEPS: usize = 64;

/// A spline through points.
pub(crate) struct Spline {
    points: Vec<DVec2>,
    chords: Vec<f64>,
    /// Second derivatives at the points.
    second_derivatives: Vec<DVec2>,
}

/// A point on a spline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplinePoint {
    pub(crate) at: DVec2,
    /// Unit vector in the direction of travel.
    pub(crate) ahead: DVec2,
    /// 1/radius, positive in a left bend.
    pub(crate) curvature: f64,
}

impl Spline {
    /// A spline through at least two points.
    pub(crate) fn through(points: Vec<DVec2>, closed: bool) -> Spline {
        let n = points.len();
        let pieces = if closed { n } else { n.saturating_sub(1) };
        let chord = |i: usize| points[i].distance(points[(i + 1) % n]).max(LEAST_CHORD_M);
        let chords: Vec<f64> = (0..pieces).map(chord).collect();
        let mut second_derivatives = vec![DVec2::ZERO; n];
        let (first, last) = if closed { (0, n) } else { (1, n.saturating_sub(1)) };
        for _ in 0..SWEEPS {
            for i in first..last {
                let (before, after) = ((i + n - 1) % n, (i + 1) % n);
                let (h, k) = (chords[before], chords[i]);
                let slopes = (points[after] - points[i]) / k - (points[i] - points[before]) / h;
                second_derivatives[i] =
                    (slopes * 6.0 - second_derivatives[before] * h - second_derivatives[after] * k)
                        / (2.0 * (h + k));
            }
        }
        Spline { points, chords, second_derivatives }
    }

    /// Number of segments: one from each point to the next.
    pub(crate) fn segments(&self) -> usize {
        self.chords.len()
    }

    /// Straight distance between the ends of a segment.
    pub(crate) fn chord(&self, segment: usize) -> f64 {
        self.chords[segment]
    }

    /// The point of a segment at the fraction `u` of the segment's parameter range: 0 is the start
    /// of the segment, and 1 is its end.
    pub(crate) fn point_at(&self, segment: usize, u: f64) -> SplinePoint {
        let next = (segment + 1) % self.points.len();
        let (p, q, h) = (self.points[segment], self.points[next], self.chords[segment]);
        let (m, k, a) = (self.second_derivatives[segment], self.second_derivatives[next], 1.0 - u);
        let at = p * a + q * u + (m * (a * a * a - a) + k * (u * u * u - u)) * (h * h / 6.0);
        let speed = (q - p) / h + (k * (3.0 * u * u - 1.0) - m * (3.0 * a * a - 1.0)) * (h / 6.0);
        let bend = m * a + k * u;
        let length = speed.length();
        let ahead = speed.normalize_or((q - p).normalize_or(DVec2::X));
        let curvature = speed.perp_dot(bend) / (length * length * length).max(1e-9);
        SplinePoint { at, ahead, curvature }
    }
}
