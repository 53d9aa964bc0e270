//! Primitive shapes, centred on the origin, with outward normals and one group with material 0.
//!
//! A box shows the whole texture on every face. On cylinders and balls the texture goes around
//! once, with its upper edge at +z.

use chicane_world::scene::{Group, Look, Mesh};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Number of sides that approximate a circle.
const SIDES: usize = 32;

/// The mesh of a primitive; `None` for mesh files and built-in models.
pub(crate) fn shape(look: &Look) -> Option<Mesh> {
    Some(match *look {
        Look::Box(size) => cuboid(size),
        Look::Cylinder(radius, length) => cylinder(radius, length),
        Look::Sphere(radius) => sphere(radius),
        Look::Capsule(radius, length) => capsule(radius, length),
        Look::Cone(radius, length) => cone(radius, length),
        Look::Ellipsoid(half) => ellipsoid(half),
        Look::Plane(size) => plane(size),
        Look::Mesh(_) | Look::BuiltIn(..) => return None,
    })
}

/// Collects the vertices and indices of a shape.
#[derive(Default)]
struct ShapeBuilder {
    mesh: Mesh,
    indices: Vec<u32>,
}

impl ShapeBuilder {
    /// Adds a vertex and returns its index. The normal is scaled to unit length.
    fn corner(&mut self, p: [f64; 3], n: [f64; 3], uv: [f64; 2]) -> u32 {
        let length = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
        let length = if length > 0.0 { length } else { 1.0 };
        self.mesh.positions.push(p.map(|v| v as f32));
        self.mesh.normals.push(n.map(|v| (v / length) as f32));
        self.mesh.uvs.push(uv.map(|v| v as f32));
        self.mesh.positions.len() as u32 - 1
    }

    fn quad(&mut self, [a, b, c, d]: [u32; 4]) {
        self.indices.extend([a, b, c, a, c, d]);
    }

    /// Adds a surface of revolution around the z axis. Each ring is (radius, z, outward part of the
    /// normal, upward part of the normal, v), where v is the vertical texture coordinate.
    fn revolve(&mut self, rings: &[[f64; 5]]) {
        let start = self.mesh.positions.len() as u32;
        for &[radius, z, out, up, v] in rings {
            for i in 0..=SIDES {
                let (s, c) = around(i);
                // At a pole every side has its own vertex. The texture coordinate u of this vertex
                // is in the middle of the side.
                let u = if radius == 0.0 { i as f64 + 0.5 } else { i as f64 } / SIDES as f64;
                let (ns, nc) = if radius == 0.0 && up.abs() < 0.99 { half_around(i) } else { (s, c) };
                self.corner([radius * c, radius * s, z], [out * nc, out * ns, up], [u, v]);
            }
        }
        let across = SIDES as u32 + 1;
        for (r, pair) in rings.windows(2).enumerate() {
            for i in 0..SIDES as u32 {
                let a = start + r as u32 * across + i;
                let (b, c, d) = (a + 1, a + across + 1, a + across);
                if pair[0][0] > 0.0 {
                    self.indices.extend([a, b, if pair[1][0] > 0.0 { c } else { d }]);
                }
                if pair[1][0] > 0.0 {
                    self.indices.extend([a, c, d]);
                }
            }
        }
    }

    /// Adds a flat disc around the z axis. The disc faces up if `up` is 1, and down if `up` is −1.
    fn disc(&mut self, radius: f64, z: f64, up: f64) {
        let middle = self.corner([0.0, 0.0, z], [0.0, 0.0, up], [0.5, 0.5]);
        for i in 0..SIDES {
            let (s, c) = around(i);
            self.corner([radius * c, radius * s, z], [0.0, 0.0, up], [0.5 + 0.5 * c, 0.5 + 0.5 * s * up]);
        }
        for i in 0..SIDES as u32 {
            let (a, b) = (middle + 1 + i, middle + 1 + (i + 1) % SIDES as u32);
            self.indices.extend(if up > 0.0 { [middle, a, b] } else { [middle, b, a] });
        }
    }

    fn finish(mut self) -> Mesh {
        self.mesh.groups = vec![Group { material: 0, indices: self.indices }];
        self.mesh
    }
}

/// Sine and cosine of the angle of corner `i`.
fn around(i: usize) -> (f64, f64) {
    libm::sincos(TAU * (i % SIDES) as f64 / SIDES as f64)
}

/// Sine and cosine of the angle midway between corners `i` and `i + 1`.
fn half_around(i: usize) -> (f64, f64) {
    libm::sincos(TAU * ((i % SIDES) as f64 + 0.5) / SIDES as f64)
}

/// A box with these edge lengths. Every face shows the whole texture, upright on the sides.
pub(crate) fn cuboid(size: [f64; 3]) -> Mesh {
    // For each face: the normal, then the directions of u and v.
    const FACES: [[[f64; 3]; 3]; 6] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
    ];
    let mut out = ShapeBuilder::default();
    for [n, u, v] in FACES {
        let corner = |a: f64, b: f64| -> [f64; 3] {
            std::array::from_fn(|i| 0.5 * size[i] * (n[i] + (2.0 * a - 1.0) * u[i] + (2.0 * b - 1.0) * v[i]))
        };
        let at = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let corners = at.map(|[a, b]| out.corner(corner(a, b), n, [a, b]));
        out.quad(corners);
    }
    out.finish()
}

/// A cylinder along the z axis.
pub(crate) fn cylinder(radius: f64, length: f64) -> Mesh {
    let h = 0.5 * length;
    let mut out = ShapeBuilder::default();
    out.revolve(&[[radius, -h, 1.0, 0.0, 0.0], [radius, h, 1.0, 0.0, 1.0]]);
    out.disc(radius, h, 1.0);
    out.disc(radius, -h, -1.0);
    out.finish()
}

/// A sphere.
pub(crate) fn sphere(radius: f64) -> Mesh {
    ellipsoid([radius; 3])
}

/// An ellipsoid with these half axes.
pub(crate) fn ellipsoid(half: [f64; 3]) -> Mesh {
    let mut out = ShapeBuilder::default();
    let rings: Vec<[f64; 5]> = (0..=SIDES / 2)
        .map(|i| {
            let v = i as f64 / (SIDES / 2) as f64;
            let (s, c) = libm::sincos(PI * v - FRAC_PI_2);
            let c = if i == 0 || i == SIDES / 2 { 0.0 } else { c };
            [c, s, c, s, v]
        })
        .collect();
    out.revolve(&rings);
    let mut mesh = out.finish();
    let [a, b, c] = half.map(|v| v as f32);
    for (p, n) in mesh.positions.iter_mut().zip(&mut mesh.normals) {
        *p = [p[0] * a, p[1] * b, p[2] * c];
        // The components of a normal scale with the inverse of the half axes. A division by a tiny
        // half axis could overflow. Each component is therefore multiplied by the other two half
        // axes, which gives the same direction.
        let stretched = [n[0] * b * c, n[1] * a * c, n[2] * a * b].map(f64::from);
        let length = stretched.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length > 0.0 {
            *n = stretched.map(|v| (v / length) as f32);
        }
    }
    mesh
}

/// A capsule along the z axis; `length` excludes the round ends.
pub(crate) fn capsule(radius: f64, length: f64) -> Mesh {
    let quarter = SIDES / 4;
    let total = length + PI * radius;
    let mut rings = Vec::with_capacity(2 * quarter + 2);
    for i in 0..=2 * quarter + 1 {
        let upper = i > quarter;
        let step = if upper { i - 1 } else { i };
        let angle = PI * step as f64 / (2 * quarter) as f64 - FRAC_PI_2;
        let (s, c) = libm::sincos(angle);
        let c = if step == 0 || step == 2 * quarter { 0.0 } else { c };
        let shift = if upper { 0.5 * length } else { -0.5 * length };
        let along = radius * (angle + FRAC_PI_2) + if upper { length } else { 0.0 };
        let v = if total > 0.0 { along / total } else { 0.0 };
        rings.push([radius * c, shift + radius * s, c, s, v]);
    }
    let mut out = ShapeBuilder::default();
    out.revolve(&rings);
    out.finish()
}

/// A cone along the z axis with the tip up.
pub(crate) fn cone(radius: f64, length: f64) -> Mesh {
    let h = 0.5 * length;
    let mut out = ShapeBuilder::default();
    out.revolve(&[[radius, -h, length, radius, 0.0], [0.0, h, length, radius, 1.0]]);
    out.disc(radius, -h, -1.0);
    out.finish()
}

/// A rectangle in the xy plane that faces +z.
pub(crate) fn plane(size: [f64; 2]) -> Mesh {
    let mut out = ShapeBuilder::default();
    let at = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let corners =
        at.map(|[a, b]| out.corner([(a - 0.5) * size[0], (b - 0.5) * size[1], 0.0], [0.0, 0.0, 1.0], [a, b]));
    out.quad(corners);
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use glam::Vec3;

    #[test]
    fn shapes_are_closed_and_face_outwards() {
        let near = |mesh: Mesh, volume: f64, half: [f64; 3]| {
            check::mesh(&mesh, 1);
            let got = check::volume(&mesh);
            assert!(got > 0.97 * volume && got < 1.0001 * volume, "{got} of {volume}");
            let (low, high) = check::bounds(&mesh);
            let half = Vec3::from_array(half.map(|v| v as f32));
            assert!(low.abs_diff_eq(-half, 1e-6) && high.abs_diff_eq(half, 1e-6), "{low} {high}");
        };
        near(cuboid([1.0, 2.0, 3.0]), 6.0, [0.5, 1.0, 1.5]);
        near(cylinder(0.5, 2.0), 0.5 * PI, [0.5, 0.5, 1.0]);
        near(sphere(0.11), 4.0 / 3.0 * PI * 0.11 * 0.11 * 0.11, [0.11; 3]);
        near(ellipsoid([0.1, 0.2, 0.3]), 4.0 / 3.0 * PI * 0.006, [0.1, 0.2, 0.3]);
        near(capsule(0.1, 0.4), PI * (0.004 + 0.004 / 3.0), [0.1, 0.1, 0.3]);
        near(cone(0.3, 0.6), PI * 0.09 * 0.2, [0.3, 0.3, 0.3]);
        check::mesh(&plane([1.0, 2.0]), 1);
    }

    #[test]
    fn a_shape_of_size_zero_is_finite() {
        let shapes = [cuboid([0.0; 3]), cylinder(0.0, 0.0), sphere(0.0), capsule(0.0, 0.0), cone(0.0, 0.0)];
        for mesh in shapes {
            let numbers = mesh.positions.iter().chain(&mesh.normals).flatten();
            assert!(numbers.chain(mesh.uvs.iter().flatten()).all(|v| v.is_finite()));
        }
    }

    #[test]
    fn only_primitives_have_a_shape() {
        assert!(shape(&Look::Sphere(1.0)).is_some() && shape(&Look::Mesh(0)).is_none());
    }
}
