//! Axis-aligned bounding boxes of shapes.

use crate::pose::Pose;
use crate::world::{Shape, Solid};
use glam::{DMat3, DVec3};

/// An axis-aligned bounding box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extents {
    pub(super) centre: DVec3,
    /// Full edge lengths.
    pub(super) size: DVec3,
}

impl Extents {
    /// The bounding box of points. The result is `None` if there are no points.
    pub(super) fn of_points(points: impl Iterator<Item = DVec3>) -> Option<Extents> {
        let bounds = points.fold(None, |bounds: Option<(DVec3, DVec3)>, p| match bounds {
            None => Some((p, p)),
            Some((min, max)) => Some((min.min(p), max.max(p))),
        });
        bounds.map(|(min, max)| Extents { centre: (min + max) * 0.5, size: max - min })
    }

    /// The bounding box of a shape at `pose`.
    pub(super) fn of(pose: &Pose, shape: &Shape) -> Extents {
        let rotation = DMat3::from_quat(pose.rotation);
        let axis = rotation.z_axis;
        // Half the edge lengths of the bounding box of a disc. The disc is perpendicular to the
        // shape's axis.
        let disc = |radius: f64| (DVec3::ONE - axis * axis).max(DVec3::ZERO).map(libm::sqrt) * radius;
        let at = |half: DVec3| Extents { centre: pose.position, size: half * 2.0 };
        match shape {
            Shape::Box(half) => {
                at(rotation.x_axis.abs() * half.x + rotation.y_axis.abs() * half.y + axis.abs() * half.z)
            }
            Shape::Sphere { radius } => at(DVec3::splat(*radius)),
            Shape::Cylinder { radius, half_length } => at(disc(*radius) + axis.abs() * *half_length),
            Shape::Capsule { radius, half_length } => at(DVec3::splat(*radius) + axis.abs() * *half_length),
            Shape::Cone { radius, half_length } => {
                let (tip, base) = (axis * *half_length, axis * -*half_length);
                let disc = disc(*radius);
                let (min, max) = ((base - disc).min(tip), (base + disc).max(tip));
                Extents { centre: pose.position + (min + max) * 0.5, size: max - min }
            }
            Shape::Mesh(mesh) => {
                Extents::of_points(mesh.vertices.iter().map(|v| pose.point(*v))).unwrap_or(at(DVec3::ZERO))
            }
        }
    }

    /// The bounding box of solids. The result is `None` if there are no solids.
    pub(super) fn of_solids(solids: &[Solid]) -> Option<Extents> {
        Extents::union(solids.iter().map(|s| Extents::of(&s.pose, &s.shape)))
    }

    /// The bounding box of several boxes. The result is `None` if there are no boxes. If there is
    /// only one box, the result is exactly this box, without rounding errors.
    pub(super) fn union(mut all: impl Iterator<Item = Extents>) -> Option<Extents> {
        let first = all.next()?;
        Some(all.fold(first, |a, b| {
            let min = a.min().min(b.min());
            let max = a.max().max(b.max());
            Extents { centre: (min + max) * 0.5, size: max - min }
        }))
    }

    pub(super) fn min(&self) -> DVec3 {
        self.centre - self.size * 0.5
    }

    pub(super) fn max(&self) -> DVec3 {
        self.centre + self.size * 0.5
    }

    /// Turns the bounding box into a collision shape with a minimum thickness. `pose` is the pose
    /// of the frame in which the bounding box is given.
    pub(super) fn to_solid(self, pose: &Pose) -> (Pose, Shape) {
        let box_pose = Pose { position: pose.point(self.centre), rotation: pose.rotation };
        (box_pose, Shape::Box((self.size * 0.5).max(DVec3::splat(MIN_HALF))))
    }
}

/// Minimum half thickness of the collision box of a flat mesh or a plane, in metres.
pub(super) const MIN_HALF: f64 = 5e-4;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_box_of_a_rotated_shape_is_tight(
            rpy in prop::array::uniform3(-3.0..3.0f64),
            radius in 0.1..2.0f64,
            half_length in 0.1..2.0f64,
        ) {
            let pose = Pose::from_xyz_rpy([1.0, 2.0, 3.0], rpy);
            for shape in [Shape::Cylinder { radius, half_length }, Shape::Cone { radius, half_length }] {
                let got = Extents::of(&pose, &shape);
                let top = if matches!(shape, Shape::Cone { .. }) { 0.0 } else { radius };
                let rim = (0..3600).flat_map(|i| {
                    let (s, c) = libm::sincos(f64::from(i) * std::f64::consts::TAU / 3600.0);
                    [
                        DVec3::new(radius * c, radius * s, -half_length),
                        DVec3::new(top * c, top * s, half_length),
                    ]
                });
                let want = Extents::of_points(rim.map(|p| pose.point(p))).expect("points");
                prop_assert!((got.size - want.size).length() < 1e-5, "{shape:?}: {got:?} {want:?}");
                prop_assert!((got.centre - want.centre).length() < 1e-5);
            }
        }
    }

    #[test]
    fn the_box_of_an_unrotated_box_is_exact() {
        let pose = Pose::from_xyz_rpy([0.1, 0.2, 0.3], [0.0; 3]);
        let got = Extents::of(&pose, &Shape::Box(DVec3::new(0.05, 0.1, 0.15)));
        assert_eq!(got, Extents { centre: pose.position, size: DVec3::new(0.1, 0.2, 0.3) });
    }
}
