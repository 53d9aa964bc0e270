//! Distances along and across a route.
//!
//! Every function scans the whole polyline. The scan is fast enough, because a route usually has a
//! few hundred points. Lookup tables would be faster, but they could become inconsistent with the
//! points.

use super::Route;
use glam::DVec2;

/// The projection of a point onto the centre line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    /// Distance along the centre line, from the first waypoint to the nearest point, in metres.
    pub distance_along: f64,
    /// Distance from the centre line to the point that was projected, in metres. The distance is
    /// positive to the left of the direction of travel.
    pub offset: f64,
    /// The nearest point of the centre line.
    pub point: DVec2,
    /// Index of the segment that contains the nearest point. The segment goes from waypoint
    /// `segment` to waypoint `segment + 1`.
    pub segment: usize,
}

/// Distances from a point to the borders of the road.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lateral {
    /// Distance to the inner border, in metres.
    pub inner: f64,
    /// Distance to the outer border, in metres.
    pub outer: f64,
}

/// The nearest point of a polyline.
struct Nearest {
    point: DVec2,
    segment: usize,
    distance: f64,
}

impl Route {
    /// Length of the centre line, in metres.
    pub fn length(&self) -> f64 {
        self.centre.windows(2).map(|w| w[0].distance(w[1])).sum()
    }

    /// Projects `p` onto the centre line. If several points of the centre line are equally near,
    /// the first of these points is used. If the centre line has fewer than two points, every value
    /// of the result is 0.
    pub fn project(&self, p: DVec2) -> Projection {
        let Some(Nearest { point, segment, distance }) = nearest(&self.centre, p) else {
            return Projection { distance_along: 0.0, offset: 0.0, point: DVec2::ZERO, segment: 0 };
        };
        let before: f64 = self.centre[..=segment].windows(2).map(|w| w[0].distance(w[1])).sum();
        let side = self.direction_at(segment, point).perp_dot(p - point);
        Projection {
            distance_along: before + self.centre[segment].distance(point),
            offset: if side < 0.0 { -distance } else { distance },
            point,
            segment,
        }
    }

    /// Direction of travel at a point of a segment, as a vector of any length. At a waypoint, the
    /// result is the mean direction of the two adjacent segments. The direction of only one segment
    /// could give an `offset` with the wrong sign for a point outside a sharp corner.
    fn direction_at(&self, segment: usize, point: DVec2) -> DVec2 {
        let n = self.centre.len() - 1;
        let direction = |i: usize| (self.centre[i + 1] - self.centre[i]).normalize_or_zero();
        let other = if point == self.centre[segment + 1] {
            match segment + 1 < n {
                true => Some(segment + 1),
                false => self.is_closed().then_some(0),
            }
        } else if point == self.centre[segment] {
            match segment > 0 {
                true => Some(segment - 1),
                false => self.is_closed().then_some(n - 1),
            }
        } else {
            None
        };
        direction(segment) + other.map_or(DVec2::ZERO, direction)
    }

    /// Returns the point of the centre line at the distance `distance_along` and the heading of the
    /// road at this point. The heading is in radians from the x axis. On a closed route, a distance
    /// beyond the end wraps around. On an open route, the distance is clamped. A distance that is
    /// not finite counts as 0.
    pub fn point_at(&self, distance_along: f64) -> (DVec2, f64) {
        let length = self.length();
        let mut rest = if !distance_along.is_finite() || length <= 0.0 {
            0.0
        } else if self.is_closed() {
            distance_along.rem_euclid(length)
        } else {
            distance_along.clamp(0.0, length)
        };
        let mut end = (self.centre.first().copied().unwrap_or_default(), 0.0);
        for w in self.centre.windows(2) {
            let (step, along) = (w[0].distance(w[1]), w[1] - w[0]);
            if step <= 0.0 {
                continue;
            }
            let heading = libm::atan2(along.y, along.x);
            if rest < step {
                return (w[0] + along * (rest / step), heading);
            }
            rest -= step;
            end = (w[1], heading);
        }
        // Because of rounding errors, `rest` can reach the end of a closed route. The end of such a
        // route is the same point as its start.
        if self.is_closed() && length > 0.0 {
            return self.point_at(0.0);
        }
        end
    }

    /// Distances from a point to both borders. The result is `None` if the route has no borders.
    pub fn lateral(&self, p: DVec2) -> Option<Lateral> {
        let borders = self.borders.as_ref()?;
        let inner = nearest(&borders.inner, p)?.distance;
        let outer = nearest(&borders.outer, p)?.distance;
        Some(Lateral { inner, outer })
    }

    /// Half the width of the road at the distance `distance_along` along the centre line, in
    /// metres. The result is `None` if the route has no borders. The centre line need not be in the
    /// middle of the road.
    pub fn half_width_at(&self, distance_along: f64) -> Option<f64> {
        let Lateral { inner, outer } = self.lateral(self.point_at(distance_along).0)?;
        Some(0.5 * (inner + outer))
    }
}

/// The point of a polyline that is nearest to `p`. If several points are equally near, the first of
/// these points is used. The result is `None` if the polyline has fewer than two points.
fn nearest(line: &[DVec2], p: DVec2) -> Option<Nearest> {
    let mut best: Option<(f64, Nearest)> = None;
    for (segment, w) in line.windows(2).enumerate() {
        let (a, b) = (w[0], w[1]);
        let along = b - a;
        let t = (p - a).dot(along);
        let square = along.length_squared();
        // Use the exact end points, so that both segments at a waypoint give the same bits.
        let point = if t <= 0.0 || square <= 0.0 {
            a
        } else if t >= square {
            b
        } else {
            a + along * (t / square)
        };
        let d = p.distance_squared(point);
        if best.as_ref().is_none_or(|(least, _)| d < *least) {
            best = Some((d, Nearest { point, segment, distance: 0.0 }));
        }
    }
    best.map(|(_, found)| Nearest { distance: p.distance(found.point), ..found })
}
