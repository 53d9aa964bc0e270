//! COLLADA meshes: what is read from a `.dae` file, and the way back.
//!
//! A [`Model`] is plain: everything stands in one frame, z up, in metres, and the triangles of a
//! part are grouped by material. Node transforms, units, up axes and instances are resolved while
//! reading. Pictures are named, not read.
//!
//! `source` reads the numbers, `inputs` finds them, `geometry` makes triangles of one `<geometry>`, `weld` joins equal
//! corners, `material` reads looks, `transform` node transforms; `read` walks the scene and puts it
//! all together, `write` is the way back.

mod geometry;
mod inputs;
mod material;
mod read;
mod source;
mod transform;
mod weld;
mod write;

pub use read::read;
pub use write::write;

/// Triangles of a file, instances counted.
pub const MAX_TRIANGLES: usize = 2_000_000;

/// A mesh file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// What is drawn, in file order; each part has at least one triangle.
    pub parts: Vec<Part>,
    /// All materials of the file, in file order, used or not.
    pub materials: Vec<Material>,
}

/// Triangles that belong together: one instance of one geometry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// Name of the node, else of the geometry; may be empty, need not be unique.
    pub name: String,
    /// Corners, metres, z up.
    pub positions: Vec<[f32; 3]>,
    /// Unit length, one for each position.
    pub normals: Vec<[f32; 3]>,
    /// One for each position; v grows upwards in the picture.
    pub uvs: Vec<[f32; 2]>,
    /// Triangles, one group for each material.
    pub groups: Vec<Group>,
}

/// Triangles of one material.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    /// Index into [`Model::materials`].
    pub material: Option<usize>,
    /// Three corners a triangle, counter-clockwise from the front; all in range.
    pub indices: Vec<u32>,
}

/// How a surface looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name, else id.
    pub name: String,
    /// RGBA 0..1; multiplied with the texture if there is one.
    pub colour: [f32; 4],
    /// Light of its own, RGB 0..1.
    pub emissive: [f32; 3],
    /// Path of a picture, relative to the folder of the mesh file. It may hold `..`.
    pub texture: Option<String>,
}

impl Default for Material {
    fn default() -> Self {
        Material { name: String::new(), colour: [0.7, 0.7, 0.7, 1.0], emissive: [0.0; 3], texture: None }
    }
}
