//! The centre line: a smooth curve through the nodes in the direction of travel, sampled evenly
//! by length, with the road's width everywhere; and the waypoints made of it.

use crate::project::{Direction, Track};
use crate::spline::{Spline, Spot};
use chicane_world::{Route, route};
use glam::DVec2;

/// Distance between two samples.
pub const STEP_M: f64 = 0.05;
/// Samples of a line. A longer line gets a longer step (and a finding in the check).
pub const MAX_SAMPLES: usize = 20_000;
/// Distance of the points that lengths are measured by.
const FINE_M: f64 = 0.01;
/// And how many there are at most.
const MAX_FINE: f64 = 100_000.0;

/// A place on the centre line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Where it is.
    pub at: DVec2,
    /// Unit vector to the left of travel.
    pub left: DVec2,
    /// 1/radius, positive in a left bend.
    pub curvature: f64,
    /// Width of the road.
    pub width: f64,
    /// Distance along the line from its first sample.
    pub along: f64,
    /// The node that is nearest along the line, as the project counts.
    pub node: usize,
}

impl Sample {
    /// A point `offset` to the left.
    pub fn beside(&self, offset: f64) -> DVec2 {
        self.at + self.left * offset
    }
}

/// A sampled centre line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// In the direction of travel. A closed line begins at the start line and does not repeat
    /// its first sample.
    pub samples: Vec<Sample>,
    /// Whether it leads back to its first sample.
    pub closed: bool,
    /// Metres.
    pub length: f64,
    /// Index of the sample on the start line; 0 on a closed line.
    pub start: usize,
}

/// A point of the curve with the length up to it.
struct Fine {
    piece: usize,
    u: f64,
    along: f64,
}

impl Line {
    /// The centre line of a track.
    pub fn of(track: &Track) -> Line {
        let n = track.nodes.len();
        let backward = track.direction == Direction::Backward;
        // The node of the project that is number i on the way.
        let node = |i: usize| match (backward, track.closed) {
            (false, _) => i % n,
            (true, true) => (n - i % n) % n,
            (true, false) => n - 1 - i.min(n - 1),
        };
        let point = |i: usize| DVec2::new(track.nodes[node(i)].x, track.nodes[node(i)].y);
        let width = |i: usize| track.nodes[node(i)].width.unwrap_or(track.width);
        let spline = Spline::through((0..n).map(point).collect(), track.closed);
        let (fine, length) = measure(&spline);

        let sample = |s: f64, along: f64| {
            let (piece, u) = find(&fine, s);
            let Spot { at, ahead, curvature } = spline.spot(piece, u);
            // From one node's width to the next without a kink.
            let t = u * u * (3.0 - 2.0 * u);
            let width = width(piece) + (width(piece + 1) - width(piece)) * t;
            let node = node(if u < 0.5 { piece } else { piece + 1 });
            Sample { at, left: ahead.perp(), curvature, width, along, node }
        };
        let step = STEP_M.max(length / MAX_SAMPLES as f64);
        if track.closed {
            let start = track.start % length.max(1e-9);
            let count = (length / step).round().max(3.0) as usize;
            let samples = (0..count).map(|i| {
                let along = length * i as f64 / count as f64;
                let s = start + along;
                sample(if s >= length { s - length } else { s }, along)
            });
            return Line { samples: samples.collect(), closed: true, length, start: 0 };
        }
        // A start line beyond the end is a finding of the check.
        let start = track.start.min(0.9 * length);
        let (before, after) =
            ((start / step).ceil() as usize, ((length - start) / step).round().max(1.0) as usize);
        let lead = (0..before).map(|i| start * i as f64 / before as f64);
        let rest = (0..=after).map(|i| start + (length - start) * i as f64 / after as f64);
        let samples = lead.chain(rest).map(|s| sample(s, s)).collect();
        Line { samples, closed: false, length, start: before }
    }

    /// The pairs of samples that follow each other.
    pub fn steps(&self) -> impl Iterator<Item = (&Sample, &Sample)> {
        let n = self.samples.len();
        let pairs = if self.closed { n } else { n.saturating_sub(1) };
        (0..pairs).map(move |i| (&self.samples[i], &self.samples[(i + 1) % n]))
    }

    /// Distance along the line between two samples, the shorter way.
    pub(crate) fn way(&self, a: &Sample, b: &Sample) -> f64 {
        let way = (a.along - b.along).abs();
        if self.closed { way.min(self.length - way) } else { way }
    }

    /// The line from `from` to `to` metres along it, ends included. On a closed line `to` may
    /// be its whole length; what is given then is its first sample again.
    pub(crate) fn stretch(&self, from: f64, to: f64) -> Vec<Sample> {
        let (first, last) = (self.between(from), self.between(to));
        let inside = self.samples.iter().filter(|s| s.along > from + 1e-6 && s.along < to - 1e-6);
        std::iter::once(first).chain(inside.copied()).chain([last]).collect()
    }

    /// The place between two samples.
    fn between(&self, along: f64) -> Sample {
        let n = self.samples.len();
        let i = self.samples.partition_point(|s| s.along <= along).clamp(1, n) - 1;
        let a = self.samples[i];
        let (b, end) = if i + 1 < n {
            (self.samples[i + 1], self.samples[i + 1].along)
        } else if self.closed {
            (self.samples[0], self.length)
        } else {
            return Sample { along, ..a };
        };
        let t = ((along - a.along) / (end - a.along).max(1e-9)).clamp(0.0, 1.0);
        Sample {
            at: a.at.lerp(b.at, t),
            left: a.left.lerp(b.left, t).normalize_or(a.left),
            curvature: a.curvature + (b.curvature - a.curvature) * t,
            width: a.width + (b.width - a.width) * t,
            along,
            node: a.node,
        }
    }

    /// The waypoints: row 0 on the start line, a closed route with its first row at the end.
    /// The inner border is the one that encloses less.
    pub fn route(&self) -> Route {
        let rows = self.samples[self.start..].iter().chain(self.closed.then(|| &self.samples[0]));
        let side = |factor: f64| -> Vec<DVec2> { rows.clone().map(|s| s.beside(factor * s.width)).collect() };
        let (left, right) = (side(0.5), side(-0.5));
        let left_is_inner = route::enclosed_area(&left) <= route::enclosed_area(&right);
        let (inner, outer) = if left_is_inner { (left, right) } else { (right, left) };
        Route { centre: side(0.0), borders: Some(route::Borders { inner, outer }) }
    }
}

/// The curve in small pieces, and its length.
fn measure(spline: &Spline) -> (Vec<Fine>, f64) {
    let chords: f64 = (0..spline.pieces()).map(|i| spline.chord(i)).sum();
    let step = FINE_M.max(chords / MAX_FINE);
    let mut fine = Vec::new();
    let mut along = 0.0;
    let mut last = spline.spot(0, 0.0).at;
    for piece in 0..spline.pieces() {
        let parts = (spline.chord(piece) / step).ceil().max(8.0) as usize;
        for i in 0..parts {
            let u = i as f64 / parts as f64;
            let at = spline.spot(piece, u).at;
            along += at.distance(last);
            fine.push(Fine { piece, u, along });
            last = at;
        }
    }
    let piece = spline.pieces() - 1;
    along += spline.spot(piece, 1.0).at.distance(last);
    fine.push(Fine { piece, u: 1.0, along });
    (fine, along)
}

/// Piece and parameter at a length.
fn find(fine: &[Fine], s: f64) -> (usize, f64) {
    let i = fine.partition_point(|f| f.along <= s).clamp(1, fine.len() - 1);
    let (a, b) = (&fine[i - 1], &fine[i]);
    let t = ((s - a.along) / (b.along - a.along).max(1e-12)).clamp(0.0, 1.0);
    // The first point of a piece is the last one of the piece before.
    let end = if b.piece == a.piece { b.u } else { 1.0 };
    (a.piece, a.u + (end - a.u) * t)
}
