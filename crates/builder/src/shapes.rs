//! Meshes of objects with their own pictures or colours. The origin is at the bottom of the mesh.

use crate::mesh::{MeshBuilder, WHITE};
use crate::pictures::Pictures;
use crate::project::{Colour, FileName, ObjectShape, ObstacleBody};
use chicane_world::collada::Model;
use glam::Vec3;
use std::f32::consts::{PI, TAU};

/// Number of faces around a cylinder, a cone and a ball.
const AROUND: u32 = 32;
/// Number of bands of a ball from pole to pole.
const BANDS: u32 = 16;
/// Default colour of faces without a picture.
const GREY: Colour = Colour([0xb3, 0xb3, 0xb3]);
/// Default colour of a cone.
const ORANGE: Colour = Colour([0xe8, 0x5d, 0x1a]);

/// The mesh of an object.
pub(crate) fn build(name: &str, kind: &ObjectShape, pictures: &Pictures<'_>) -> Model {
    let mut shape = ShapeBuilder { b: MeshBuilder::new(name), pictures };
    match kind {
        ObjectShape::Box { size, body, faces } => shape.add_box(size.map(|v| v as f32), body, faces),
        ObjectShape::Cylinder { radius, height, body, faces } => {
            shape.add_cylinder(*radius as f32, *height as f32, body, faces);
        }
        ObjectShape::Sphere { radius, body, surface } => {
            shape.add_ball(*radius as f32, body, surface.as_ref())
        }
        ObjectShape::Cone { base, height, body, side } => {
            shape.add_cone(*base as f32, *height as f32, body, side.as_ref());
        }
        ObjectShape::Light { .. } => {}
    }
    shape.b.finish()
}

struct ShapeBuilder<'a> {
    b: MeshBuilder,
    pictures: &'a Pictures<'a>,
}

impl ShapeBuilder<'_> {
    /// Starts a group with a picture. If `picture` is `None`, the group has a plain colour.
    fn group(&mut self, name: &str, picture: Option<&FileName>, colour: Colour) {
        match picture.and_then(|p| self.pictures.path(p)) {
            Some(path) => self.b.group(name, Some(path), WHITE),
            None => self.b.group(name, None, colour.rgba()),
        }
    }

    fn add_box(&mut self, [x, y, z]: [f32; 3], body: &ObstacleBody, faces: &[Option<FileName>; 6]) {
        let (x, y) = (0.5 * x, 0.5 * y);
        // The corners of each face as seen from outside the box: lower left, lower right, upper
        // right, upper left.
        let sides: [(&str, [[f32; 3]; 4]); 6] = [
            ("front", [[x, -y, 0.0], [x, y, 0.0], [x, y, z], [x, -y, z]]),
            ("back", [[-x, y, 0.0], [-x, -y, 0.0], [-x, -y, z], [-x, y, z]]),
            ("left", [[x, y, 0.0], [-x, y, 0.0], [-x, y, z], [x, y, z]]),
            ("right", [[-x, -y, 0.0], [x, -y, 0.0], [x, -y, z], [-x, -y, z]]),
            ("top", [[x, -y, z], [x, y, z], [-x, y, z], [-x, -y, z]]),
            ("bottom", [[-x, -y, 0.0], [-x, y, 0.0], [x, y, 0.0], [x, -y, 0.0]]),
        ];
        let uvs = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        for ((name, corners), picture) in sides.into_iter().zip(faces) {
            self.group(name, picture.as_ref(), body.colour.unwrap_or(GREY));
            let mut quad = [(Vec3::ZERO, [0.0; 2]); 4];
            for (corner, (p, uv)) in quad.iter_mut().zip(corners.into_iter().zip(uvs)) {
                *corner = (Vec3::from_array(p), uv);
            }
            self.b.quad(quad);
        }
    }

    fn add_cylinder(&mut self, radius: f32, height: f32, body: &ObstacleBody, faces: &[Option<FileName>; 3]) {
        let colour = body.colour.unwrap_or(GREY);
        let [side, top, bottom] = faces;
        self.group("side", side.as_ref(), colour);
        self.add_side([(radius, 0.0, 0.0), (radius, height, 1.0)]);
        self.group("top", top.as_ref(), colour);
        self.add_disc(radius, height, 1.0);
        self.group("bottom", bottom.as_ref(), colour);
        self.add_disc(radius, 0.0, -1.0);
    }

    /// Adds a square base, a slanted side and a flat top.
    fn add_cone(&mut self, base: f32, height: f32, body: &ObstacleBody, side: Option<&FileName>) {
        let colour = body.colour.unwrap_or(ORANGE);
        let (half, plate) = (0.5 * base, 0.06 * height);
        let (foot, tip) = (0.4 * base, 0.1 * base);
        self.group("base", None, colour);
        let corner = f64::from(half);
        self.b.block(glam::DVec2::splat(-corner), glam::DVec2::splat(corner), plate);
        self.add_disc(tip, height, 1.0);
        self.group("side", side, colour);
        self.add_side([(foot, plate, 0.0), (tip, height, 1.0)]);
    }

    fn add_ball(&mut self, radius: f32, body: &ObstacleBody, surface: Option<&FileName>) {
        self.group("surface", surface, body.colour.unwrap_or(GREY));
        let mut corners = Vec::new();
        for band in 0..=BANDS {
            let v = band as f32 / BANDS as f32;
            let (z, ring) = libm::sincosf((v - 0.5) * PI);
            for i in 0..=AROUND {
                let u = i as f32 / AROUND as f32;
                let (s, c) = libm::sincosf(u * TAU);
                let normal = Vec3::new(ring * c, ring * s, z).normalize_or(Vec3::Z);
                corners.push((normal * radius + Vec3::new(0.0, 0.0, radius), normal, [u, v]));
            }
        }
        let row = AROUND + 1;
        let triangles: Vec<[u32; 3]> = (0..BANDS)
            .flat_map(|band| {
                (0..AROUND).flat_map(move |i| {
                    let a = band * row + i;
                    let (lower, upper) = ([a, a + 1, a + row + 1], [a, a + row + 1, a + row]);
                    // At the poles, one of the two triangles has no area and is left out.
                    let keep = [(lower, band > 0), (upper, band + 1 < BANDS)];
                    keep.into_iter().filter_map(|(t, keep)| keep.then_some(t))
                })
            })
            .collect();
        self.b.add(&corners, &triangles);
    }

    /// Adds the surface between two rings. A ring has a radius, a height, and a texture coordinate
    /// v.
    fn add_side(&mut self, [low, high]: [(f32, f32, f32); 2]) {
        let slope = Vec3::new(high.1 - low.1, 0.0, low.0 - high.0).normalize_or(Vec3::X);
        let mut corners = Vec::new();
        for i in 0..=AROUND {
            let u = i as f32 / AROUND as f32;
            let (s, c) = libm::sincosf(u * TAU);
            let normal = Vec3::new(slope.x * c, slope.x * s, slope.z);
            for (r, z, v) in [low, high] {
                corners.push((Vec3::new(r * c, r * s, z), normal, [u, v]));
            }
        }
        let triangles: Vec<[u32; 3]> = (0..AROUND)
            .flat_map(|i| [[2 * i, 2 * i + 2, 2 * i + 3], [2 * i, 2 * i + 3, 2 * i + 1]])
            .collect();
        self.b.add(&corners, &triangles);
    }

    /// Adds a disc that faces up (`up` = 1) or down (`up` = −1).
    fn add_disc(&mut self, radius: f32, z: f32, up: f32) {
        let normal = Vec3::new(0.0, 0.0, up);
        let mut corners = vec![(Vec3::new(0.0, 0.0, z), normal, [0.5, 0.5])];
        for i in 0..=AROUND {
            let (s, c) = libm::sincosf(i as f32 / AROUND as f32 * TAU);
            let uv = [0.5 + 0.5 * c, 0.5 + 0.5 * s * up];
            corners.push((Vec3::new(radius * c, radius * s, z), normal, uv));
        }
        let turn = |i: u32| if up > 0.0 { [0, i, i + 1] } else { [0, i + 1, i] };
        let triangles: Vec<[u32; 3]> = (1..=AROUND).map(turn).collect();
        self.b.add(&corners, &triangles);
    }
}
