//! Mass properties of an object: taken from the file if they are physical, else from its shape.

use super::body::{Body, Part};
use super::extents::Extents;
use crate::pose::Pose;
use crate::spec::InertialSpec;
use crate::world::{MassProperties, Shape, Solid};
use glam::{DMat3, DQuat, DVec3};

/// What an object weighs that does not say, kg.
const DEFAULT_MASS: f64 = 0.5;
/// Lighter is taken for a mistake, kg.
const MIN_MASS: f64 = 1e-6;

/// The mass properties of a model that has these solids and extents.
pub(super) fn mass_of(body: &Body<'_>, solids: &[Solid], extents: &Extents) -> MassProperties {
    let heavy: Vec<(f64, &Part<'_, InertialSpec>)> = body
        .inertials
        .iter()
        .filter_map(|p| p.spec.mass.filter(|m| *m >= MIN_MASS).map(|m| (m, p)))
        .collect();
    let mass: f64 = heavy.iter().map(|(m, _)| m).sum();
    if heavy.is_empty() || !mass.is_finite() {
        return from_shape(DEFAULT_MASS, solids, extents);
    }
    composed(mass, &heavy)
        .filter(|m| is_physical(m, extents))
        .unwrap_or_else(|| from_shape(mass, solids, extents))
}

/// All links together as one rigid thing; `None` if one of them has no inertia.
fn composed(mass: f64, links: &[(f64, &Part<'_, InertialSpec>)]) -> Option<MassProperties> {
    let centre = links.iter().map(|(m, p)| p.pose.position * (m / mass)).sum::<DVec3>();
    let mut total = DMat3::ZERO;
    for (m, part) in links {
        let own = tensor(part.spec.inertia?);
        principal_axes(own).filter(|(_, moments)| can_exist(*moments))?;
        let turn = DMat3::from_quat(part.pose.rotation);
        total += turn * own * turn.transpose() + steiner(*m, part.pose.position - centre);
    }
    let (axes, principal) = principal_axes(total)?;
    Some(MassProperties { mass, frame: Pose { position: centre, rotation: axes }, principal })
}

/// `ixx, iyy, izz, ixy, ixz, iyz` as a matrix.
fn tensor([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> DMat3 {
    DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
}

/// What a mass adds to the inertia round a point that is `r` away.
fn steiner(mass: f64, r: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
    (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * mass
}

/// Moments that some body could have: positive, and none larger than the other two together.
fn can_exist(m: DVec3) -> bool {
    let largest = m.max_element();
    m.is_finite() && m.min_element() > largest * 1e-6 && m.element_sum() - largest >= largest * (1.0 - 1e-6)
}

/// Whether a body of these extents could have these mass properties.
fn is_physical(m: &MassProperties, extents: &Extents) -> bool {
    let off = (m.frame.position - extents.centre).abs();
    let half = extents.size * 0.5;
    // Even with all of the mass in the farthest corner no moment can be larger than this.
    let farthest = (off + half).length_squared();
    m.frame.is_finite()
        && off.cmple(half + DVec3::splat(1e-6)).all()
        && can_exist(m.principal)
        && m.principal.max_element() <= m.mass * farthest * (1.0 + 1e-6)
}

/// A solid body of even density.
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
            // Shares of the cylinder and of the two caps, which make one ball.
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
            // Its centre of mass is a quarter of the height above the base.
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

/// Axes and moments of a symmetric matrix by Jacobi's method. Only additions, products and
/// square roots, in a fixed order: the same bits everywhere. `None` if a number is not finite.
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
        fn axes_and_moments_make_the_matrix_again(
            d in prop::array::uniform3(0.1..5.0f64),
            rpy in prop::array::uniform3(-3.0..3.0f64),
        ) {
            let turn = DMat3::from_quat(crate::pose::quat_from_rpy(rpy));
            let matrix = turn * DMat3::from_diagonal(DVec3::from_array(d)) * turn.transpose();
            let (axes, moments) = principal_axes(matrix).expect("finite");
            let r = DMat3::from_quat(axes);
            let back = r * DMat3::from_diagonal(moments) * r.transpose();
            prop_assert!(back.abs_diff_eq(matrix, 1e-9), "{back:?} {matrix:?}");
        }

        #[test]
        fn any_matrix_is_answered(m in prop::array::uniform6(any::<f64>())) {
            let _ = principal_axes(tensor(m));
        }
    }

    #[test]
    fn a_diagonal_matrix_is_left_alone() {
        let d = DVec3::new(3.0, 1.0, 2.0);
        assert_eq!(principal_axes(DMat3::from_diagonal(d)), Some((DQuat::IDENTITY, d)));
    }

    #[test]
    fn a_capsule_of_no_length_is_a_ball() {
        let solid = |shape| [Solid { pose: Pose::IDENTITY, shape, friction: 0.0, restitution: 0.0 }];
        let capsule = solid(Shape::Capsule { radius: 0.3, half_length: 1e-12 });
        let ball = solid(Shape::Sphere { radius: 0.3 });
        let of = |s: &[Solid]| from_shape(2.0, s, &Extents::of_solids(s).expect("one")).principal;
        assert!((of(&capsule) - of(&ball)).length() < 1e-9);
    }
}
