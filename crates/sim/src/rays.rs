//! Closed-form ray casts against the solid shapes. Rays are given in the shape's own frame.
//!
//! `o` is the origin of the ray, `d` its direction (unit length). The result is the distance to the
//! first surface, or 0 for a ray that starts inside the shape.

use chicane_world::world::Shape;
use glam::DVec3;

/// Distance to a shape, or infinity if the ray misses the shape. A mesh always gives infinity,
/// because the lidar tests the triangles of a mesh in another way.
pub(crate) fn cast(shape: &Shape, o: DVec3, d: DVec3) -> f64 {
    match *shape {
        Shape::Box(half) => aligned_box(half, o, d),
        Shape::Sphere { radius } => sphere(radius, o, d),
        Shape::Cylinder { radius, half_length } => cylinder(radius, half_length, o, d),
        Shape::Capsule { radius, half_length } => capsule(radius, half_length, o, d),
        Shape::Cone { radius, half_length } => cone(radius, half_length, o, d),
        Shape::Mesh(_) => f64::INFINITY,
    }
}

/// Half extents of a bounding box that is centred at the shape's origin.
pub(crate) fn half_extents(shape: &Shape) -> DVec3 {
    match shape {
        Shape::Box(half) => *half,
        Shape::Sphere { radius } => DVec3::splat(*radius),
        Shape::Cylinder { radius, half_length } | Shape::Cone { radius, half_length } => {
            DVec3::new(*radius, *radius, *half_length)
        }
        Shape::Capsule { radius, half_length } => DVec3::new(*radius, *radius, half_length + radius),
        Shape::Mesh(mesh) => mesh.vertices.iter().fold(DVec3::ZERO, |m, v| m.max(v.abs())),
    }
}

fn aligned_box(half: DVec3, o: DVec3, d: DVec3) -> f64 {
    // A zero is replaced by a tiny number. Otherwise the sign of the zero would decide the result
    // for a ray parallel to a face.
    let safe = |v: f64| if v == 0.0 { 1e-300 } else { v };
    let inverse = DVec3::new(1.0 / safe(d.x), 1.0 / safe(d.y), 1.0 / safe(d.z));
    let (a, b) = ((-half - o) * inverse, (half - o) * inverse);
    let near = a.min(b).max_element().max(0.0);
    let far = a.max(b).min_element();
    if near <= far { near } else { f64::INFINITY }
}

fn sphere(radius: f64, o: DVec3, d: DVec3) -> f64 {
    let c = o.length_squared() - radius * radius;
    if c <= 0.0 {
        return 0.0;
    }
    let b = o.dot(d);
    let disc = b * b - c;
    if b > 0.0 || disc < 0.0 { f64::INFINITY } else { -b - disc.sqrt() }
}

/// Distances at which the ray enters and leaves an infinite cylinder around the z axis; `None` if
/// the ray misses the cylinder.
fn tube(radius: f64, o: DVec3, d: DVec3) -> Option<(f64, f64)> {
    let a = d.x * d.x + d.y * d.y;
    let c = o.x * o.x + o.y * o.y - radius * radius;
    if a < 1e-18 {
        return (c <= 0.0).then_some((f64::NEG_INFINITY, f64::INFINITY));
    }
    let b = o.x * d.x + o.y * d.y;
    let disc = b * b - a * c;
    if disc < 0.0 {
        return None;
    }
    let root = disc.sqrt();
    Some(((-b - root) / a, (-b + root) / a))
}

/// Distances at which the ray enters and leaves the slab |z| ≤ `half`; `None` if the ray misses the
/// slab.
fn slab(half: f64, o: DVec3, d: DVec3) -> Option<(f64, f64)> {
    if d.z == 0.0 {
        return (o.z.abs() <= half).then_some((f64::NEG_INFINITY, f64::INFINITY));
    }
    let (a, b) = ((-half - o.z) / d.z, (half - o.z) / d.z);
    Some((a.min(b), a.max(b)))
}

fn cylinder(radius: f64, half_length: f64, o: DVec3, d: DVec3) -> f64 {
    let (Some((a, b)), Some((p, q))) = (tube(radius, o, d), slab(half_length, o, d)) else {
        return f64::INFINITY;
    };
    let (near, far) = (a.max(p).max(0.0), b.min(q));
    if near <= far { near } else { f64::INFINITY }
}

fn capsule(radius: f64, half_length: f64, o: DVec3, d: DVec3) -> f64 {
    let cap = DVec3::new(0.0, 0.0, half_length);
    cylinder(radius, half_length, o, d).min(sphere(radius, o - cap, d)).min(sphere(radius, o + cap, d))
}

/// A cone with its base at z = −half_length and its tip at z = +half_length.
fn cone(radius: f64, half_length: f64, o: DVec3, d: DVec3) -> f64 {
    let height = 2.0 * half_length;
    let slope = radius / height;
    let inside = |p: DVec3| {
        let r = (half_length - p.z) * slope;
        p.z.abs() <= half_length && p.x * p.x + p.y * p.y <= r * r
    };
    if inside(o) {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    // The side satisfies x² + y² = slope²·(half_length − z)².
    let h = half_length - o.z;
    let k = slope * slope;
    let a = d.x * d.x + d.y * d.y - k * d.z * d.z;
    let b = o.x * d.x + o.y * d.y + k * h * d.z;
    let c = o.x * o.x + o.y * o.y - k * h * h;
    let mut side = |t: f64| {
        if t >= 0.0 && t < best && (o.z + d.z * t).abs() <= half_length {
            best = t;
        }
    };
    if a.abs() < 1e-15 {
        if b.abs() > 1e-15 {
            side(-c / (2.0 * b));
        }
    } else {
        let disc = b * b - a * c;
        if disc >= 0.0 {
            let root = disc.sqrt();
            side((-b - root) / a);
            side((-b + root) / a);
        }
    }
    // The base disc.
    if d.z != 0.0 {
        let t = (-half_length - o.z) / d.z;
        let p = o + d * t;
        if t >= 0.0 && t < best && p.x * p.x + p.y * p.y <= radius * radius {
            best = t;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether a point is inside a shape, computed without ray casts. The ray casts are compared
    /// with this function.
    fn contains(shape: &Shape, p: DVec3) -> bool {
        match *shape {
            Shape::Box(h) => p.abs().cmple(h).all(),
            Shape::Sphere { radius } => p.length() <= radius,
            Shape::Cylinder { radius, half_length } => {
                p.truncate().length() <= radius && p.z.abs() <= half_length
            }
            Shape::Capsule { radius, half_length } => {
                let axis = DVec3::new(0.0, 0.0, p.z.clamp(-half_length, half_length));
                p.distance(axis) <= radius
            }
            Shape::Cone { radius, half_length } => {
                let r = radius * (half_length - p.z) / (2.0 * half_length);
                p.z.abs() <= half_length && p.truncate().length() <= r
            }
            Shape::Mesh(_) => false,
        }
    }

    /// Distance to the first point inside the shape, found in small steps along the ray; `None` if
    /// no point is found.
    fn march(shape: &Shape, o: DVec3, d: DVec3) -> Option<f64> {
        (0..60_000).map(|i| f64::from(i) * 1e-4).find(|&t| contains(shape, o + d * t))
    }

    fn shapes() -> impl Strategy<Value = Shape> {
        let s = 0.05..1.0f64;
        prop_oneof![
            (s.clone(), s.clone(), s.clone()).prop_map(|(x, y, z)| Shape::Box(DVec3::new(x, y, z))),
            s.clone().prop_map(|radius| Shape::Sphere { radius }),
            (s.clone(), s.clone()).prop_map(|(radius, half_length)| Shape::Cylinder { radius, half_length }),
            (s.clone(), s.clone()).prop_map(|(radius, half_length)| Shape::Capsule { radius, half_length }),
            (s.clone(), s).prop_map(|(radius, half_length)| Shape::Cone { radius, half_length }),
        ]
    }

    proptest! {
        #[test]
        fn rays_agree_with_marching(
            shape in shapes(),
            o in prop::array::uniform3(-2.0..2.0f64),
            t in prop::array::uniform3(-0.5..0.5f64),
        ) {
            let o = DVec3::from_array(o);
            let d = (DVec3::from_array(t) - o).normalize_or(DVec3::X);
            let got = cast(&shape, o, d);
            match march(&shape, o, d) {
                Some(wanted) => prop_assert!((got - wanted).abs() < 3e-4, "{got} not {wanted}"),
                // `march` can step over a corner that the ray only grazes.
                None if got.is_finite() => {
                    let h = half_extents(&shape);
                    let p = o + d * got;
                    prop_assert!(p.abs().cmple(h + 1e-9).all());
                    let through = (1..40).filter(|&i| contains(&shape, p + d * (f64::from(i) * 1e-4))).count();
                    prop_assert!(through <= 1);
                }
                None => {}
            }
        }
    }
}
