//! Reader and writer of COLLADA mesh files (`.dae`).
//!
//! The reader applies node transforms, units and instances. All parts of a [`Model`] are therefore
//! in one frame, in metres. The reader ignores the up axis of a file, as Gazebo does. The triangles
//! of a part are grouped by material. The reader returns the paths of pictures, but it does not
//! read the pictures.
//!
//! | module | content |
//! |---|---|
//! | `source` | parses numbers and `<source>` elements |
//! | `inputs` | loads the positions, normals and uvs that a primitive refers to |
//! | `geometry` | turns one `<geometry>` into triangles |
//! | `weld` | merges equal corners into vertices |
//! | `material` | reads materials, effects and picture paths |
//! | `transform` | reads node transforms and applies them to a mesh |
//! | `read` | traverses the scene and assembles the model |
//! | `write` | writes a model |

mod geometry;
mod inputs;
mod material;
mod read;
mod source;
mod transform;
pub(crate) mod weld;
mod write;

pub(crate) use material::picture_path;
pub use read::read;
pub use write::write;

/// Maximum number of triangles of a file. The triangles of a geometry count once per instance.
pub const MAX_TRIANGLES: usize = 2_000_000;

/// The content of a mesh file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// The parts, in file order. Each part has at least one triangle.
    pub parts: Vec<MeshPart>,
    /// All materials of the file, in file order, including unused ones.
    pub materials: Vec<Material>,
}

/// A part of a mesh file. In a COLLADA file, it is one instance of one geometry. In an OBJ file, it
/// is an object or a group. An STL file has one part.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeshPart {
    /// Name of the part. In a COLLADA file, it is the name or id of the node, or of the geometry if
    /// the node has neither. The name may be empty and need not be unique.
    pub name: String,
    /// Vertex positions, in metres.
    pub positions: Vec<[f32; 3]>,
    /// One unit normal per vertex.
    pub normals: Vec<[f32; 3]>,
    /// One texture coordinate per vertex; v increases upwards in the picture.
    pub uvs: Vec<[f32; 2]>,
    /// The triangles, one group per material.
    pub groups: Vec<Group>,
}

/// Triangles that share a material.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    /// Index into [`Model::materials`]; `None` if the triangles have no known material.
    pub material: Option<usize>,
    /// Three vertex indices per triangle, in counter-clockwise order as seen from the front. All
    /// indices are in range.
    pub indices: Vec<u32>,
}

/// The appearance of a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name of the material, or its id if it has no name.
    pub name: String,
    /// RGBA 0..1. If there is a texture, the pixels of the texture are multiplied by this colour.
    pub colour: [f32; 4],
    /// Emitted light, RGB 0..1.
    pub emissive: [f32; 3],
    /// Path of the texture picture, relative to the folder of the mesh file. The path may contain
    /// `..`. The value is `None` if the material has no texture.
    pub texture: Option<String>,
}

impl Default for Material {
    fn default() -> Self {
        Material { name: String::new(), colour: [0.7, 0.7, 0.7, 1.0], emissive: [0.0; 3], texture: None }
    }
}
