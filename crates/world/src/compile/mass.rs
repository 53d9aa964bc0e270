//! Mass properties of an object. The values of the file are used if they are physically possible.
//! Otherwise the values are computed from the object's shape.

use super::extents::Extents;
use super::rigid_model::{PlacedSpec, RigidModel};
use crate::pose::Pose;
use crate::spec::InertialSpec;
use crate::world::{MassProperties, Shape, Solid};
use glam::{DMat3, DQuat, DVec3};

/// Mass of an object in kg, if its file gives no valid mass.
const DEFAULT_MASS: f64 = 0.5;
/// Minimum mass of a link, in kg. A smaller mass is treated as missing.
const MIN_MASS: f64 = 1e-6;

/// The mass properties of a model. `solids` are the collision shapes of the model, and `extents` is
/// the bounding box of these shapes.
pub(super) fn mass_of(body: &RigidModel<'_>, solids: &[Solid], extents: &Extents) -> MassProperties {
    let links: Vec<(f64, &PlacedSpec<'_, InertialSpec>)> = body
        .inertials
        .iter()
        .filter_map(|p| p.spec.mass.filter(|m| *m >= MIN_MASS).map(|m| (m, p)))
        .collect();
    let mass: f64 = links.iter().map(|(m, _)| m).sum();
    if links.is_empty() || !mass.is_finite() {
        return from_shape(DEFAULT_MASS, solids, extents);
    }
    composed(mass, &links)
        .filter(|m| is_physical(m, extents))
        .unwrap_or_else(|| from_shape(mass, solids, extents))
}

/// The mass properties of all links together, as one rigid body. The result is `None` if a link has
/// no valid inertia.
fn composed(mass: f64, links: &[(f64, &PlacedSpec<'_, InertialSpec>)]) -> Option<MassProperties> {
    let centre = links.iter().map(|(m, p)| p.pose.position * (m / mass)).sum::<DVec3>();
    let mut total = DMat3::ZERO;
    for (m, part) in links {
        let own = tensor(part.spec.inertia?);
        principal_axes(own).filter(|(_, moments)| are_possible(*moments))?;
        let rotation = DMat3::from_quat(part.pose.rotation);
        total += rotation * own * rotation.transpose() + parallel_axis(*m, part.pose.position - centre);
    }
    let (axes, principal) = principal_axes(total)?;
    Some(MassProperties { mass, frame: Pose { position: centre, rotation: axes }, principal })
}

/// The inertia matrix with the entries `ixx, iyy, izz, ixy, ixz, iyz`.
fn tensor([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> DMat3 {
    DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
}

/// The inertia of a point mass at position `r` about the origin. By the parallel axis theorem, the
/// inertia of a body about the origin is this inertia plus the inertia of the body about its own
/// centre of mass at `r`.
fn parallel_axis(mass: f64, r: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
    (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * mass
}

/// Whether a rigid body can have these principal moments of inertia. All moments must be positive,
/// and no moment may be larger than the sum of the other two.
fn are_possible(m: DVec3) -> bool {
    let largest = m.max_element();
    m.is_finite() && m.min_element() > largest * 1e-6 && m.element_sum() - largest >= largest * (1.0 - 1e-6)
}

/// Whether a rigid body inside this bounding box can have these mass properties.
fn is_physical(m: &MassProperties, extents: &Extents) -> bool {
    let off = (m.frame.position - extents.centre).abs();
    let half = extents.size * 0.5;
    // The square of the largest distance between the centre of mass and a corner of the bounding
    // box. No moment of inertia can exceed the mass times this square.
    let farthest = (off + half).length_squared();
    m.frame.is_finite()
        && off.cmple(half + DVec3::splat(1e-6)).all()
        && are_possible(m.principal)
        && m.principal.max_element() <= m.mass * farthest * (1.0 + 1e-6)
}

/// The mass properties of a body of uniform density. A mesh, or a body of several solids, is
/// approximated by its bounding box.
fn from_shape(mass: f64, solids: &[Solid], extents: &Extents) -> MassProperties {
    let boxed = |half: DVec3| {
        let q = half * half * (mass / 3.0);
        DVec3::new(q.y + q.z, q.x + q.z, q.x + q.y)
    };
    let [only] = solids else {
        let frame = Pose { position: extents.centre, rotation: DQuat::IDENTITY };
        return MassProperties { mass, frame, principal: boxed(extents.size * 0.5) };
    };
    let mut frame = only.pose;
    let round = |across: f64, along: f64| DVec3::new(across, across, along) * mass;
    let principal = match &only.shape {
        Shape::Box(half) => boxed(*half),
        Shape::Sphere { radius } => DVec3::splat(0.4 * mass * radius * radius),
        Shape::Cylinder { radius, half_length } => {
            let r2 = radius * radius;
            round(r2 / 4.0 + half_length * half_length / 3.0, r2 / 2.0)
        }
        Shape::Capsule { radius, half_length } => {
            let (r, length) = (*radius, 2.0 * half_length);
            // Mass fractions of the cylinder and of the two caps. The two caps together form a
            // ball.
            let (cylinder, ball) = (length, 4.0 / 3.0 * r);
            let (c, b) = (cylinder / (cylinder + ball), ball / (cylinder + ball));
            round(
                c * (r * r / 4.0 + length * length / 12.0)
                    + b * (0.4 * r * r + length * length / 4.0 + 3.0 / 8.0 * length * r),
                c * r * r / 2.0 + b * 0.4 * r * r,
            )
        }
        Shape::Cone { radius, half_length } => {
            let (r2, h) = (radius * radius, 2.0 * half_length);
            // The distance from the base of a cone to its centre of mass is a quarter of the
            // height.
            frame.position = only.pose.point(DVec3::new(0.0, 0.0, -h / 4.0));
            round(0.15 * r2 + 0.0375 * h * h, 0.3 * r2)
        }
        Shape::Mesh(_) => {
            frame = Pose { position: extents.centre, rotation: DQuat::IDENTITY };
            boxed(extents.size * 0.5)
        }
    };
    MassProperties { mass, frame, principal }
}

/// The eigenvectors and eigenvalues of a symmetric matrix, computed by Jacobi's method. This method
/// uses only basic arithmetic and square roots in a fixed order, so every machine computes the same
/// bits. The result is `None` if a number is not finite.
fn principal_axes(matrix: DMat3) -> Option<(DQuat, DVec3)> {
    let mut a = matrix.to_cols_array_2d();
    let mut v = DMat3::IDENTITY.to_cols_array_2d();
    if !matrix.is_finite() {
        return None;
    }
    for _ in 0..32 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = if theta.is_finite() {
                (1.0 / (theta.abs() + libm::sqrt(theta * theta + 1.0))).copysign(theta)
            } else {
                0.0
            };
            let c = 1.0 / libm::sqrt(t * t + 1.0);
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            for k in 0..3 {
                (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                (v[p][k], v[q][k]) = (c * v[p][k] - s * v[q][k], s * v[p][k] + c * v[q][k]);
            }
            (a[p][q], a[q][p]) = (0.0, 0.0);
        }
    }
    let moments = DVec3::new(a[0][0], a[1][1], a[2][2]);
    let axes = DMat3::from_cols_array_2d(&v);
    let rotation =
        if axes == DMat3::IDENTITY { DQuat::IDENTITY } else { DQuat::from_mat3(&axes).normalize() };
    (moments.is_finite() && rotation.is_finite()).then_some((rotation, moments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn axes_and_moments_reproduce_the_matrix(
            d in prop::array::uniform3(0.1..5.0f64),
            rpy in prop::array::uniform3(-3.0..3.0f64),
        ) {
            let rotation = DMat3::from_quat(crate::pose::quat_from_rpy(rpy));
            let matrix = rotation * DMat3::from_diagonal(DVec3::from_array(d)) * rotation.transpose();
            let (axes, moments) = principal_axes(matrix).expect("finite");
            let r = DMat3::from_quat(axes);
            let back = r * DMat3::from_diagonal(moments) * r.transpose();
            prop_assert!(back.abs_diff_eq(matrix, 1e-9), "{back:?} {matrix:?}");
        }

        #[test]
        fn principal_axes_does_not_panic_for_any_matrix(m in prop::array::uniform6(any::<f64>())) {
            let _ = principal_axes(tensor(m));
        }
    }

    #[test]
    fn a_diagonal_matrix_keeps_its_axes_and_moments() {
        let d = DVec3::new(3.0, 1.0, 2.0);
        assert_eq!(principal_axes(DMat3::from_diagonal(d)), Some((DQuat::IDENTITY, d)));
    }

    #[test]
    fn a_capsule_without_length_has_the_inertia_of_a_ball() {
        let solid = |shape| [Solid { pose: Pose::IDENTITY, shape, friction: 0.0, restitution: 0.0 }];
        let capsule = solid(Shape::Capsule { radius: 0.3, half_length: 1e-12 });
        let ball = solid(Shape::Sphere { radius: 0.3 });
        let of = |s: &[Solid]| from_shape(2.0, s, &Extents::of_solids(s).expect("one")).principal;
        assert!((of(&capsule) - of(&ball)).length() < 1e-9);
    }
}
