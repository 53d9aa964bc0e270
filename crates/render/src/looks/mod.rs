//! The built-in looks: pictures, shapes, objects, the car and the sky, all made by code.
//!
//! Nothing here is copied from anywhere, and the same bytes come out on every machine.
//! Colours of materials are display colours (sRGB), like those of a world file.

mod ball;
mod build;
mod car;
mod cardboard;
mod field;
mod fittings;
mod grass;
mod lamps;
mod objects;
mod shapes;
mod shell;
pub(crate) mod sky;
mod textures;
mod wheel;

pub(crate) use car::{Joint, car, joint_pose};
pub use lamps::{Lamp, LampColours, lamp_colours};
pub(crate) use objects::object;
pub(crate) use shapes::{cylinder, shape};
pub(crate) use sky::Sky;
pub(crate) use textures::texture;

use crate::image::Image;
use chicane_world::scene::{Material, Mesh};

/// A thing with everything it needs to be drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Model {
    /// Its triangles; [`chicane_world::scene::Group::material`] counts in `materials`.
    pub(crate) mesh: Mesh,
    /// Its materials; their textures count in `textures`.
    pub(crate) materials: Vec<Material>,
    /// Its pictures.
    pub(crate) textures: Vec<Image>,
}

/// A material of one colour.
fn plain(colour: [f32; 3]) -> Material {
    let [r, g, b] = colour;
    Material { colour: [r, g, b, 1.0], ..Material::default() }
}

/// A material that shows a picture of the model.
fn printed(texture: usize) -> Material {
    Material { colour: [1.0; 4], texture: Some(texture), ..Material::default() }
}

#[cfg(test)]
mod check {
    //! What every mesh must hold.

    use super::*;
    use glam::Vec3;

    /// Indices in range, unit normals that agree with the winding, a uv for every corner.
    pub(super) fn mesh(mesh: &Mesh, materials: usize) {
        let n = mesh.positions.len();
        assert!(n > 0 && mesh.normals.len() == n && mesh.uvs.len() == n);
        assert!(mesh.positions.iter().flatten().chain(mesh.uvs.iter().flatten()).all(|v| v.is_finite()));
        for normal in &mesh.normals {
            assert!((Vec3::from_array(*normal).length() - 1.0).abs() < 1e-5, "{normal:?}");
        }
        for group in &mesh.groups {
            assert!(group.material < materials && group.indices.len().is_multiple_of(3));
            assert!(!group.indices.is_empty());
            for t in group.indices.chunks_exact(3) {
                assert!(t.iter().all(|&i| (i as usize) < n));
                let [a, b, c] = [0, 1, 2].map(|k| Vec3::from_array(mesh.positions[t[k] as usize]));
                let face = (b - a).cross(c - a);
                assert!(face.length() > 0.0, "a triangle without area: {a} {b} {c}");
                for &i in t {
                    assert!(face.dot(Vec3::from_array(mesh.normals[i as usize])) > 0.0, "{a} {b} {c}");
                }
            }
        }
    }

    /// Volume inside the triangles, all groups together.
    pub(super) fn volume(mesh: &Mesh) -> f64 {
        let corner = |i: u32| Vec3::from_array(mesh.positions[i as usize]).as_dvec3();
        let triangles = mesh.groups.iter().flat_map(|g| g.indices.chunks_exact(3));
        triangles.map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0).sum()
    }

    /// Lowest and highest corner.
    pub(super) fn bounds(mesh: &Mesh) -> (Vec3, Vec3) {
        let points = mesh.positions.iter().map(|p| Vec3::from_array(*p));
        points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)))
    }

    /// A hash of bytes (FNV-1a).
    pub(super) fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
        bytes
            .into_iter()
            .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
    }
}
