//! The centre line of a track: a smooth curve through the nodes in the direction of travel. The
//! line is sampled at nearly equal distances, with the width of the road at every sample. The route
//! is made from these samples.

use crate::project::{Direction, Track};
use crate::spline::{Spline, SplinePoint};
use chicane_world::{Route, route};
use glam::DVec2;

/// Approximate distance between two samples, m. The actual distance differs slightly, because a
/// whole number of equal steps must fit on the line.
pub const STEP_M: f64 = 0.05;
/// Maximum number of samples; an open line may have two more. If the line is too long for this
/// number, the samples are farther apart than [`STEP_M`], and the check reports that the track is
/// too long.
pub const MAX_SAMPLES: usize = 20_000;
/// Distance between the points that are used to measure the length, m.
const FINE_M: f64 = 0.01;
/// Approximate maximum number of points that are used to measure the length.
const MAX_FINE: f64 = 100_000.0;

/// A sample of the centre line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackSample {
    /// Position.
    pub at: DVec2,
    /// Unit vector to the left of the direction of travel.
    pub left: DVec2,
    /// 1/radius, positive in a left bend.
    pub curvature: f64,
    /// Width of the road, m.
    pub width: f64,
    /// Distance along the line from its first sample, m.
    pub along: f64,
    /// Index of the node that is nearest along the line, in the order of the project.
    pub node: usize,
}

impl TrackSample {
    /// The point `offset` metres to the left of the sample.
    pub fn point_left(&self, offset: f64) -> DVec2 {
        self.at + self.left * offset
    }
}

/// A sampled centre line.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackLine {
    /// Samples in the direction of travel. A closed line begins at the start line and does not
    /// repeat its first sample.
    pub samples: Vec<TrackSample>,
    /// Whether the line leads back to its first sample.
    pub closed: bool,
    /// Length, m.
    pub length: f64,
    /// Index of the sample on the start line; 0 on a closed line.
    pub start: usize,
    /// Distance of each node along the line from the first sample, m, in the order of the project.
    pub nodes: Vec<f64>,
}

/// A point of the spline, with the length of the curve from the start of the spline to this point.
struct LengthMark {
    segment: usize,
    u: f64,
    along: f64,
}

impl TrackLine {
    /// The centre line of a track.
    pub fn of(track: &Track) -> TrackLine {
        let n = track.nodes.len();
        let backward = track.direction == Direction::Backward;
        // Returns the index, in the project, of the i-th node in the direction of travel.
        let node = |i: usize| match (backward, track.closed) {
            (false, _) => i % n,
            (true, true) => (n - i % n) % n,
            (true, false) => n - 1 - i.min(n - 1),
        };
        let point = |i: usize| DVec2::new(track.nodes[node(i)].x, track.nodes[node(i)].y);
        let width = |i: usize| track.nodes[node(i)].width.unwrap_or(track.width);
        let spline = Spline::through((0..n).map(point).collect(), track.closed);
        let (fine, length) = measure(&spline);
        // Returns the distances of the nodes from the first sample, which is `offset` metres after
        // the first node of the spline.
        let distances = |offset: f64| {
            let mut nodes = vec![length; n];
            for mark in fine.iter().filter(|mark| mark.u == 0.0) {
                let along = mark.along - offset;
                nodes[node(mark.segment)] = if along < 0.0 { along + length } else { along };
            }
            nodes
        };

        let sample = |s: f64, along: f64| {
            let (segment, u) = find(&fine, s);
            let SplinePoint { at, ahead, curvature } = spline.point_at(segment, u);
            // The width changes smoothly from one node to the next.
            let t = u * u * (3.0 - 2.0 * u);
            let width = width(segment) + (width(segment + 1) - width(segment)) * t;
            let node = node(if u < 0.5 { segment } else { segment + 1 });
            TrackSample { at, left: ahead.perp(), curvature, width, along, node }
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
            let (samples, nodes) = (samples.collect(), distances(start));
            return TrackLine { samples, closed: true, length, start: 0, nodes };
        }
        // The start line is limited to 90 % of the length, so that the route has points after the
        // start line. The check reports a start line that is too near to the end.
        let start = track.start.min(0.9 * length);
        let (before, after) =
            ((start / step).ceil() as usize, ((length - start) / step).round().max(1.0) as usize);
        let lead = (0..before).map(|i| start * i as f64 / before as f64);
        let rest = (0..=after).map(|i| start + (length - start) * i as f64 / after as f64);
        let samples = lead.chain(rest).map(|s| sample(s, s)).collect();
        TrackLine { samples, closed: false, length, start: before, nodes: distances(0.0) }
    }

    /// The pairs of consecutive samples.
    pub fn steps(&self) -> impl Iterator<Item = (&TrackSample, &TrackSample)> {
        let n = self.samples.len();
        let pairs = if self.closed { n } else { n.saturating_sub(1) };
        (0..pairs).map(move |i| (&self.samples[i], &self.samples[(i + 1) % n]))
    }

    /// Distance along the line between two samples, in the shorter direction.
    pub(crate) fn distance_along(&self, a: &TrackSample, b: &TrackSample) -> f64 {
        let distance = (a.along - b.along).abs();
        if self.closed { distance.min(self.length - distance) } else { distance }
    }

    /// The section from `from` to `to` metres along the line, including both ends. If `to` is the
    /// length of a closed line, the section ends at the first sample.
    pub(crate) fn section(&self, from: f64, to: f64) -> Vec<TrackSample> {
        let (first, last) = (self.interpolate(from), self.interpolate(to));
        let inside = self.samples.iter().filter(|s| s.along > from + 1e-6 && s.along < to - 1e-6);
        std::iter::once(first).chain(inside.copied()).chain([last]).collect()
    }

    /// Returns the sample at the distance `along`, interpolated between its two neighbours.
    fn interpolate(&self, along: f64) -> TrackSample {
        let n = self.samples.len();
        let i = self.samples.partition_point(|s| s.along <= along).clamp(1, n) - 1;
        let a = self.samples[i];
        let (b, end) = if i + 1 < n {
            (self.samples[i + 1], self.samples[i + 1].along)
        } else if self.closed {
            (self.samples[0], self.length)
        } else {
            return TrackSample { along, ..a };
        };
        let t = ((along - a.along) / (end - a.along).max(1e-9)).clamp(0.0, 1.0);
        TrackSample {
            at: a.at.lerp(b.at, t),
            left: a.left.lerp(b.left, t).normalize_or(a.left),
            curvature: a.curvature + (b.curvature - a.curvature) * t,
            width: a.width + (b.width - a.width) * t,
            along,
            node: a.node,
        }
    }

    /// The route of the track. The first waypoint is on the start line, and a closed route repeats
    /// the first waypoint at the end. The border that encloses the smaller area is the inner
    /// border.
    pub fn route(&self) -> Route {
        let rows = self.samples[self.start..].iter().chain(self.closed.then(|| &self.samples[0]));
        let side =
            |factor: f64| -> Vec<DVec2> { rows.clone().map(|s| s.point_left(factor * s.width)).collect() };
        let (left, right) = (side(0.5), side(-0.5));
        let left_is_inner = route::enclosed_area(&left) <= route::enclosed_area(&right);
        let (inner, outer) = if left_is_inner { (left, right) } else { (right, left) };
        Route { centre: side(0.0), borders: Some(route::Borders { inner, outer }) }
    }
}

/// Measures the spline in small steps. Returns the measured points and the total length.
fn measure(spline: &Spline) -> (Vec<LengthMark>, f64) {
    let chords: f64 = (0..spline.segments()).map(|i| spline.chord(i)).sum();
    let step = FINE_M.max(chords / MAX_FINE);
    let mut fine = Vec::new();
    let mut along = 0.0;
    let mut last = spline.point_at(0, 0.0).at;
    for segment in 0..spline.segments() {
        let parts = (spline.chord(segment) / step).ceil().max(8.0) as usize;
        for i in 0..parts {
            let u = i as f64 / parts as f64;
            let at = spline.point_at(segment, u).at;
            along += at.distance(last);
            fine.push(LengthMark { segment, u, along });
            last = at;
        }
    }
    let segment = spline.segments() - 1;
    along += spline.point_at(segment, 1.0).at.distance(last);
    fine.push(LengthMark { segment, u: 1.0, along });
    (fine, along)
}

/// Finds the segment and the parameter of the spline at the distance `s` along the curve.
fn find(fine: &[LengthMark], s: f64) -> (usize, f64) {
    let i = fine.partition_point(|f| f.along <= s).clamp(1, fine.len() - 1);
    let (a, b) = (&fine[i - 1], &fine[i]);
    let t = ((s - a.along) / (b.along - a.along).max(1e-12)).clamp(0.0, 1.0);
    // If `b` is the first point of the next segment, `b` is also the last point of the segment of
    // `a`. The parameter of the last point is 1.
    let end = if b.segment == a.segment { b.u } else { 1.0 };
    (a.segment, a.u + (end - a.u) * t)
}
