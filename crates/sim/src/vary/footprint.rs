//! The area on the ground that an object covers.

use chicane_world::Pose;
use chicane_world::world::{Object, Shape, Solid};
use glam::{DVec2, DVec3};

/// A rectangle on the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Footprint {
    pub(super) centre: DVec2,
    /// Direction of the rectangle's first side, a unit vector.
    axis: DVec2,
    /// Half the lengths of both sides, m.
    half: DVec2,
}

impl Footprint {
    /// A rectangle with this centre, heading and half size.
    pub(super) fn new(centre: DVec2, heading: f64, half: DVec2) -> Footprint {
        Footprint { centre, axis: DVec2::new(libm::cos(heading), libm::sin(heading)), half }
    }

    /// The rectangle that an object covers at a pose. For an object that is not upright, the result
    /// is a square that covers the object in every orientation.
    pub(super) fn of(object: &Object, pose: &Pose) -> Footprint {
        let centre = pose.point(object.centre).truncate();
        let up = (pose.rotation * DVec3::Z).z;
        let half = 0.5 * object.size;
        let half = if up > 0.999 { half.truncate() } else { DVec2::splat(half.length()) };
        Footprint { centre, axis: (pose.rotation * DVec3::X).truncate().normalize_or(DVec2::X), half }
    }

    /// Returns the rectangle around a solid of the scenery, or an empty list if the solid does not
    /// reach above the height `above`, m. A mesh gives one rectangle for each triangle that reaches
    /// above this height.
    pub(super) fn of_scenery(solid: &Solid, above: f64) -> Vec<Footprint> {
        let aligned = |corners: &[DVec3]| {
            let (low, high) = corners
                .iter()
                .fold((corners[0], corners[0]), |(low, high), corner| (low.min(*corner), high.max(*corner)));
            let (centre, half) = (0.5 * (low + high).truncate(), 0.5 * (high - low).truncate());
            (high.z > above).then_some(Footprint { centre, axis: DVec2::X, half })
        };
        let half = match &solid.shape {
            Shape::Mesh(mesh) => {
                let corner = |i: u32| solid.pose.point(mesh.vertices[i as usize]);
                return mesh.triangles.iter().filter_map(|t| aligned(&t.map(corner))).collect();
            }
            Shape::Box(half) => *half,
            Shape::Sphere { radius } => DVec3::splat(*radius),
            Shape::Cylinder { radius, half_length } | Shape::Cone { radius, half_length } => {
                DVec3::new(*radius, *radius, *half_length)
            }
            Shape::Capsule { radius, half_length } => DVec3::new(*radius, *radius, half_length + radius),
        };
        let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
        let corner = |i: usize| half * DVec3::new(sign(i & 1), sign(i & 2), sign(i & 4));
        let corners: [DVec3; 8] = std::array::from_fn(|i| solid.pose.point(corner(i)));
        aligned(&corners).into_iter().collect()
    }

    /// Radius of the circle around the rectangle, m.
    pub(super) fn reach(&self) -> f64 {
        self.half.length()
    }

    /// Distance of a point from the rectangle, m; 0 inside.
    fn distance(&self, p: DVec2) -> f64 {
        let d = p - self.centre;
        let local = DVec2::new(d.dot(self.axis), self.axis.perp_dot(d));
        (local.abs() - self.half).max(DVec2::ZERO).length()
    }

    /// Whether the rectangles are certainly at least `gap` apart. The test replaces one rectangle
    /// by the circle around it, so the answer can be false for rectangles that are apart.
    pub(super) fn is_apart(&self, other: &Footprint, gap: f64) -> bool {
        self.distance(other.centre) >= other.reach() + gap
            || other.distance(self.centre) >= self.reach() + gap
    }
}
