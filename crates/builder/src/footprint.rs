//! The areas of the ground that objects and decals cover, and a test whether two areas overlap.

use crate::objects::size_of;
use crate::project::{Decal, Object, ObjectShape};
use glam::DVec2;
use std::f64::consts::TAU;

/// Number of corners of the polygon that shows a disc.
const DISC_CORNERS: usize = 24;

/// An area of the ground: a rotated rectangle, or a disc.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    pub(crate) at: DVec2,
    /// Unit vectors along the rectangle's sides.
    axes: [DVec2; 2],
    /// Half lengths of the sides, m; 0 for a disc.
    half: DVec2,
    /// Radius of a disc, m; 0 for a rectangle.
    radius: f64,
}

impl Footprint {
    fn new(at: [f64; 2], yaw: f64, half: [f64; 2], radius: f64) -> Footprint {
        let (s, c) = libm::sincos(yaw);
        let axes = [DVec2::new(c, s), DVec2::new(-s, c)];
        Footprint { at: DVec2::from_array(at), axes, half: DVec2::from_array(half), radius }
    }

    pub(crate) fn of(object: &Object) -> Footprint {
        let [x, y, _] = size_of(&object.kind);
        let at = [object.x, object.y];
        match object.kind {
            ObjectShape::Cylinder { .. } | ObjectShape::Sphere { .. } => {
                Footprint::new(at, 0.0, [0.0; 2], 0.5 * x)
            }
            _ => Footprint::new(at, object.yaw, [0.5 * x, 0.5 * y], 0.0),
        }
    }

    pub(crate) fn of_decal(decal: &Decal) -> Footprint {
        Footprint::new([decal.x, decal.y], decal.yaw, [0.5 * decal.width, 0.5 * decal.height], 0.0)
    }

    /// The outline of the area, counter-clockwise. A disc becomes a polygon.
    pub(crate) fn outline(&self) -> Vec<DVec2> {
        if self.half == DVec2::ZERO {
            let corner = |i: usize| {
                let (s, c) = libm::sincos(TAU * i as f64 / DISC_CORNERS as f64);
                self.at + DVec2::new(c, s) * self.radius
            };
            return (0..DISC_CORNERS).map(corner).collect();
        }
        let [x, y] = [self.axes[0] * self.half.x, self.axes[1] * self.half.y];
        [-x - y, x - y, x + y, y - x].map(|corner| self.at + corner).to_vec()
    }

    /// Radius of the bounding circle around the centre of the area, m.
    pub(crate) fn reach(&self) -> f64 {
        self.half.length() + self.radius
    }

    /// Half of the length of the area's projection onto a direction, m.
    fn along(&self, direction: DVec2) -> f64 {
        let [a, b] = self.axes.map(|axis| axis.dot(direction).abs());
        a * self.half.x + b * self.half.y + self.radius
    }

    /// Half size of the bounding rectangle along x and y, m.
    pub(crate) fn extent(&self) -> DVec2 {
        DVec2::new(self.along(DVec2::X), self.along(DVec2::Y))
    }

    /// Distance of a point from the area, m; 0 if the point is inside.
    pub(crate) fn distance(&self, p: DVec2) -> f64 {
        let [x, y] = self.axes.map(|axis| axis.dot(p - self.at).abs());
        let out = (DVec2::new(x, y) - self.half).max(DVec2::ZERO);
        (out.length() - self.radius).max(0.0)
    }

    /// Whether two areas overlap. Areas that only touch do not overlap.
    pub(crate) fn overlaps(&self, other: &Footprint) -> bool {
        let offset = other.at - self.at;
        if offset.length() >= self.reach() + other.reach() {
            return false;
        }
        match (self.half == DVec2::ZERO, other.half == DVec2::ZERO) {
            (true, true) => true,
            (true, false) => other.distance(self.at) < self.radius,
            (false, true) => self.distance(other.at) < other.radius,
            // Separating axis test: two rectangles are disjoint if their projections onto one of
            // the axes are disjoint.
            (false, false) => {
                let apart = |d: &DVec2| offset.dot(*d).abs() >= self.along(*d) + other.along(*d) - 1e-9;
                !self.axes.iter().chain(&other.axes).any(apart)
            }
        }
    }
}
