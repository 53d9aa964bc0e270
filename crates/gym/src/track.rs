//! Geometry of the road: its width, its direction, and the position of a car on the road.
//!
//! The Python package has the same geometry for environments over HTTP. Both compute the same bits:
//! the coordinates are rounded as in the API, Python calls the `atan2` of the module `native` if the
//! module is installed, and every other operation is exact or has one rounding.

use crate::error::GymError;
use chicane_world::Route;
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// The search for a car covers about this many metres of road on each side of its last position, or
/// more if a step is long. The search is local because roads may cross.
pub const NEAR_M: f64 = 0.6;

/// Lower limit of a segment's squared length, m². It avoids a division by zero where a route
/// repeats a waypoint.
const LEAST_LENGTH2: f64 = 1e-12;

/// A value as clients of the API get it: at most six decimals, and never −0.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6 + 0.0
}

/// Rounds to the nearest millionth. The numbers of commands have no more decimals, so that their
/// JSON text is exact.
pub fn micro(value: f64) -> f64 {
    (value * 1e6 + 0.5).floor() / 1e6
}

/// A position relative to the road.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrackPosition {
    /// Metres along the centre line, from the first waypoint.
    pub along: f64,
    /// Metres from the centre line; positive is left.
    pub offset: f64,
    /// Direction of the road, rad.
    pub heading: f64,
    /// Index of the waypoint behind the position.
    pub behind: usize,
    /// Metres from the centre line to the left border.
    pub width_left: f64,
    /// Metres from the centre line to the right border.
    pub width_right: f64,
}

impl TrackPosition {
    /// Whether the position is outside the road.
    pub fn off_track(&self) -> bool {
        self.offset > self.width_left || -self.offset > self.width_right
    }
}

/// The part of a road from one waypoint to the next.
#[derive(Debug, Clone, Copy)]
struct Segment {
    from: DVec2,
    /// Whether the next waypoint is at the same place. [`Track::locate`] never finds such a
    /// segment.
    is_repeated: bool,
    way: DVec2,
    inverse_length2: f64,
    length: f64,
    /// Metres from the first waypoint.
    start: f64,
    heading: f64,
    left: f64,
    right: f64,
}

/// A closed road. An open route is closed by a straight segment from its last waypoint to its first
/// waypoint.
#[derive(Debug, Clone)]
pub struct Track {
    segments: Vec<Segment>,
    length: f64,
    /// Number of segments on each side of the last position that a search covers.
    reach: usize,
}

impl Track {
    /// The road of a route. `near_m` is the largest distance that a car drives between two calls of
    /// [`Track::locate`], m. Fails if the route has fewer than three waypoints, or if all waypoints
    /// are at the same place.
    pub fn new(route: &Route, near_m: f64) -> Result<Track, GymError> {
        let point = |p: &DVec2| DVec2::new(rounded(p.x), rounded(p.y));
        let mut points: Vec<DVec2> = route.centre.iter().map(point).collect();
        if points.len() > 1 && is_close(points[0], points[points.len() - 1]) {
            points.pop();
        }
        if points.len() < 3 {
            return Err(GymError::ShortRoute { waypoints: points.len() });
        }
        let count = points.len();
        let ways: Vec<DVec2> = (0..count).map(|i| points[(i + 1) % count] - points[i]).collect();
        let length2_of = |way: DVec2| (way.x * way.x + way.y * way.y).max(LEAST_LENGTH2);
        // A route may repeat a waypoint. The direction there is the direction of the next segment
        // whose two waypoints differ.
        let is_long = |way: &DVec2| length2_of(*way) > LEAST_LENGTH2;
        let Some(mut ahead) = ways.iter().copied().find(is_long) else {
            return Err(GymError::ShortRoute { waypoints: 1 });
        };
        let mut aheads = ways.clone();
        for way in aheads.iter_mut().rev() {
            if is_long(way) {
                ahead = *way;
            }
            *way = ahead;
        }
        let mut start = 0.0;
        let mut segments = Vec::with_capacity(count);
        for (i, &from) in points.iter().enumerate() {
            let way = ways[i];
            let length2 = length2_of(way);
            let length = length2.sqrt();
            let is_repeated = !is_long(&way);
            let ahead = aheads[i];
            let ahead_length = length2_of(ahead).sqrt();
            let direction = DVec2::new(ahead.x / ahead_length, ahead.y / ahead_length);
            let towards = if is_repeated { direction } else { way };
            let heading = libm::atan2(towards.y, towards.x);
            let left = DVec2::new(-direction.y, direction.x);
            let side = |border: &[DVec2]| {
                let away = point(border.get(i).unwrap_or(&from)) - from;
                away.x * left.x + away.y * left.y
            };
            let sides = route.borders.as_ref().map(|b| [side(&b.inner), side(&b.outer)]);
            let [left, right] =
                sides.map_or([f64::INFINITY; 2], |[inner, outer]| [inner.max(outer), -inner.min(outer)]);
            let inverse_length2 = 1.0 / length2;
            segments.push(Segment {
                from,
                is_repeated,
                way,
                inverse_length2,
                length,
                start,
                heading,
                left,
                right,
            });
            start += length;
        }
        let reach = (near_m / (start / count as f64)).round_ties_even().max(2.0) as usize;
        Ok(Track { segments, length: start, reach })
    }

    /// Length of the centre line, m.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The points of the centre line, without a repeated first point.
    pub fn waypoints(&self) -> impl ExactSizeIterator<Item = [f64; 2]> + '_ {
        self.segments.iter().map(|segment| segment.from.to_array())
    }

    /// The position on the road that is nearest to a point. `near` is the field `behind` of the last
    /// position, and limits the search to the road around that waypoint.
    pub fn locate(&self, x: f64, y: f64, near: Option<usize>) -> TrackPosition {
        let count = self.segments.len();
        let near = near.filter(|_| 2 * self.reach < count);
        let first = near.map_or(0, |near| near + count - self.reach);
        let rows = if near.is_some() { 2 * self.reach + 1 } else { count };
        let (mut best, mut found, mut fraction, mut across) = (f64::INFINITY, 0, 0.0, 0.0);
        for row in (first..first + rows).map(|row| row % count) {
            let Segment { from, way, inverse_length2, is_repeated, .. } = self.segments[row];
            if is_repeated {
                continue;
            }
            let (off_x, off_y) = (x - from.x, y - from.y);
            let part = (off_x * way.x + off_y * way.y) * inverse_length2;
            let part = if part < 0.0 { 0.0 } else { part.min(1.0) };
            let (gap_x, gap_y) = (off_x - part * way.x, off_y - part * way.y);
            let gap = gap_x * gap_x + gap_y * gap_y;
            if gap < best {
                (best, found, fraction) = (gap, row, part);
                across = way.x * gap_y - way.y * gap_x;
            }
        }
        let segment = &self.segments[found];
        TrackPosition {
            along: segment.start + fraction * segment.length,
            offset: best.sqrt().copysign(across),
            heading: segment.heading,
            behind: found,
            width_left: segment.left,
            width_right: segment.right,
        }
    }

    /// x, y and heading of the road, `along` metres from the first waypoint and `offset` metres to
    /// the left of the centre line.
    pub fn at(&self, along: f64, offset: f64) -> [f64; 3] {
        let (segment, rest) = self.segment(along);
        let Segment { from, way, length, heading, .. } = *segment;
        let part = rest / length;
        let x = from.x + way.x * part - offset * (way.y / length);
        let y = from.y + way.y * part + offset * (way.x / length);
        [x, y, heading]
    }

    /// Metres of road to the left and to the right of the centre line.
    pub fn widths(&self, along: f64) -> [f64; 2] {
        let (segment, _) = self.segment(along);
        [segment.left, segment.right]
    }

    /// Direction of the road `along` metres from the first waypoint, rad.
    pub fn heading(&self, along: f64) -> f64 {
        self.segment(along).0.heading
    }

    /// Metres along the road from one position to another, in the shorter direction; negative if
    /// this direction is backward.
    pub fn advance(&self, before: f64, now: f64) -> f64 {
        libm::remainder(now - before, self.length)
    }

    /// Number of waypoints.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Always false: a road has three waypoints or more.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    fn segment(&self, along: f64) -> (&Segment, f64) {
        let along = modulo(along, self.length);
        let after = self.segments.partition_point(|segment| segment.start <= along);
        let segment = &self.segments[after.max(1) - 1];
        (segment, along - segment.start)
    }
}

/// `a` modulo `b` with the sign of `b`, as in Python. `b` is positive.
pub fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest < 0.0 { rest + b } else { rest + 0.0 }
}

fn is_close(a: DVec2, b: DVec2) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-8 + 1e-5 * b.abs();
    near(a.x, b.x) && near(a.y, b.y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_world::route::Borders;

    /// A square road with sides of 4 m. Its borders are 0.2 m to the left and 0.4 m to the right of
    /// the centre line.
    fn square() -> Track {
        let side = |i: i32| f64::from(i) / 10.0;
        let mut centre: Vec<DVec2> = (0..40).map(|i| DVec2::new(side(i), 0.0)).collect();
        centre.extend((0..40).map(|i| DVec2::new(4.0, side(i))));
        centre.extend((0..40).map(|i| DVec2::new(4.0 - side(i), 4.0)));
        centre.extend((0..=40).map(|i| DVec2::new(0.0, 4.0 - side(i))));
        let middle = DVec2::splat(2.0);
        let scaled = |factor: f64| centre.iter().map(|p| middle + (*p - middle) * factor).collect();
        let borders = Some(Borders { inner: scaled(0.9), outer: scaled(1.2) });
        Track::new(&Route { centre, borders }, NEAR_M).expect("a road")
    }

    #[test]
    fn positions_on_a_square_track() {
        let track = square();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(track.length(), 16.0);
        let at = track.locate(2.03, 0.1, None);
        near(at.along, 2.03);
        near(at.offset, 0.1);
        assert_eq!((at.behind, at.off_track()), (20, false));
        near(at.width_left, 0.2);
        near(at.width_right, 0.4);
        assert!(track.locate(2.0, 0.21, Some(20)).off_track());
        assert!(!track.locate(2.0, -0.39, Some(20)).off_track());
        near(track.advance(15.9, 0.1), 0.2);
        near(track.advance(0.1, 15.9), -0.2);
        let [x, y, heading] = track.at(17.0, 0.1);
        near(x, 1.0);
        near(y, 0.1);
        near(heading, 0.0);
        near(track.heading(-1.0), -std::f64::consts::FRAC_PI_2);
    }

    #[test]
    fn a_repeated_waypoint_keeps_its_row_and_is_never_found() {
        let corners = [[0.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]];
        let centre: Vec<DVec2> = corners.into_iter().map(DVec2::from_array).collect();
        let middle = DVec2::splat(2.0);
        let scaled = |factor: f64| centre.iter().map(|p| middle + (*p - middle) * factor).collect();
        let borders = Some(Borders { inner: scaled(0.9), outer: scaled(1.2) });
        let track = Track::new(&Route { centre: centre.clone(), borders }, NEAR_M).expect("a road");
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(track.length(), 16.0 + 1e-6);
        assert_eq!(track.len(), 5);
        assert_ne!(track.locate(4.1, 0.0, None).behind, 1, "the segment without a length");
        let at = track.locate(4.1, 2.0, None);
        assert_eq!(at.behind, 2);
        near(at.along, 6.0 + 1e-6);
        // The direction at the repeated waypoint is the direction of the next segment.
        near(track.heading(4.0 + 5e-7), std::f64::consts::FRAC_PI_2);
        assert_eq!(track.widths(4.0 + 5e-7), track.widths(4.5));
    }

    #[test]
    fn a_route_without_borders_has_no_outside() {
        let centre = vec![DVec2::ZERO, DVec2::new(4.0, 0.0), DVec2::new(4.0, 4.0)];
        let track = Track::new(&Route { centre, borders: None }, NEAR_M).expect("a road");
        assert!(!track.locate(2.0, -50.0, None).off_track());
    }

    #[test]
    fn two_waypoints_are_no_road() {
        let centre = vec![DVec2::ZERO, DVec2::new(4.0, 0.0), DVec2::ZERO];
        let error = Track::new(&Route { centre, borders: None }, NEAR_M).expect_err("too short");
        assert_eq!(error.to_string(), "a road needs three waypoints or more, not 2");
    }
}
