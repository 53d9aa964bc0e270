//! Builds a mesh, material by material.

use chicane_world::collada::{Group, Material, MeshPart, Model};
use glam::{DVec2, Vec3};

/// White: a picture with this colour is shown without a tint.
pub(crate) const WHITE: [f32; 4] = [1.0; 4];

/// A mesh under construction.
pub(crate) struct MeshBuilder {
    part: MeshPart,
    materials: Vec<Material>,
}

impl MeshBuilder {
    pub(crate) fn new(name: &str) -> MeshBuilder {
        MeshBuilder { part: MeshPart { name: name.to_owned(), ..MeshPart::default() }, materials: Vec::new() }
    }

    /// Starts a group of triangles with a new material. `texture` is the path of a picture,
    /// relative to the folder of the mesh; `None` for a plain colour.
    pub(crate) fn group(&mut self, name: &str, texture: Option<String>, colour: [f32; 4]) {
        self.drop_empty();
        self.part.groups.push(Group { material: Some(self.materials.len()), indices: Vec::new() });
        self.materials.push(Material { name: name.to_owned(), colour, texture, ..Material::default() });
    }

    /// Removes the last group and its material if the group has no triangles.
    fn drop_empty(&mut self) {
        if self.part.groups.last().is_some_and(|g| g.indices.is_empty()) {
            self.part.groups.pop();
            self.materials.pop();
        }
    }

    /// Adds corners (position, normal, texture coordinates) and triangles. A triangle consists of
    /// three indices into `corners`.
    pub(crate) fn add(&mut self, corners: &[(Vec3, Vec3, [f32; 2])], triangles: &[[u32; 3]]) {
        let first = self.part.positions.len() as u32;
        for (position, normal, uv) in corners {
            self.part.positions.push(position.to_array());
            self.part.normals.push(normal.to_array());
            self.part.uvs.push(*uv);
        }
        if let Some(group) = self.part.groups.last_mut() {
            group.indices.extend(triangles.iter().flatten().map(|i| first + i));
        }
    }

    /// Adds a quad: four corners, counter-clockwise as seen from the front, with their texture
    /// coordinates.
    pub(crate) fn quad(&mut self, corners: [(Vec3, [f32; 2]); 4]) {
        let normal = (corners[1].0 - corners[0].0).cross(corners[2].0 - corners[0].0).normalize_or(Vec3::Z);
        self.add(&corners.map(|(p, uv)| (p, normal, uv)), &[[0, 1, 2], [0, 2, 3]]);
    }

    /// Adds an upright box on the ground, without its bottom.
    pub(crate) fn block(&mut self, low: DVec2, high: DVec2, height: f32) {
        let (a, b) = (low.as_vec2(), high.as_vec2());
        let ring = [[a.x, a.y], [b.x, a.y], [b.x, b.y], [a.x, b.y]];
        for i in 0..4 {
            let ([x, y], [u, v]) = (ring[i], ring[(i + 1) % 4]);
            self.quad([
                (Vec3::new(x, y, 0.0), [0.0, 0.0]),
                (Vec3::new(u, v, 0.0), [1.0, 0.0]),
                (Vec3::new(u, v, height), [1.0, 1.0]),
                (Vec3::new(x, y, height), [0.0, 1.0]),
            ]);
        }
        self.quad(ring.map(|[x, y]| (Vec3::new(x, y, height), [0.0, 0.0])));
    }

    pub(crate) fn finish(mut self) -> Model {
        self.drop_empty();
        Model { parts: vec![self.part], materials: self.materials }
    }
}

/// The point above `p` at height `z`.
pub(crate) fn flat(p: DVec2, z: f32) -> Vec3 {
    Vec3::new(p.x as f32, p.y as f32, z)
}
