//! The visible part of a world. The camera renderer and the viewer both use this description.

use crate::pose::Pose;
use std::sync::Arc;

/// The meshes, materials and textures of a world, and the instances that use them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorldScene {
    /// Triangle meshes. Each mesh is used by at least one instance.
    pub meshes: Vec<Arc<Mesh>>,
    /// Materials of the meshes and instances.
    pub materials: Vec<Material>,
    /// Textures of the materials.
    pub textures: Vec<Texture>,
    /// The instances to draw, in file order.
    pub instances: Vec<Instance>,
    /// Ambient light, linear RGB.
    pub ambient: [f64; 3],
    /// Colour of the sky, RGB 0..1 as in the world file; `None` means the built-in sky.
    pub background: Option<[f64; 3]>,
    /// The sun. A scene has no other directional light.
    pub sun: Sun,
}

/// A directional light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sun {
    /// Direction in which the light travels, as a unit vector.
    pub direction: [f64; 3],
    /// Colour, RGB 0..1.
    pub colour: [f64; 3],
}

impl Default for Sun {
    fn default() -> Self {
        // The sun is 63° above the horizon, so that shadows are visible but short.
        Sun {
            direction: [-0.381_000_381_000_571_5, 0.254_000_254_000_381, -0.889_000_889_001_333_5],
            colour: [0.8, 0.8, 0.8],
        }
    }
}

/// A triangle mesh, with one group of triangles per material.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// Vertex positions, in metres.
    pub positions: Vec<[f32; 3]>,
    /// One normal per vertex.
    pub normals: Vec<[f32; 3]>,
    /// One texture coordinate per vertex; v increases upwards in the picture.
    pub uvs: Vec<[f32; 2]>,
    /// The triangles, grouped by material.
    pub groups: Vec<Group>,
}

/// Triangles that share a material.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Index into [`WorldScene::materials`].
    pub material: usize,
    /// Three vertex indices per triangle, in counter-clockwise order as seen from the front.
    pub indices: Vec<u32>,
}

/// The appearance of a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// RGBA 0..1. If there is a texture, the pixels of the texture are multiplied by this colour.
    pub colour: [f32; 4],
    /// Emitted light, RGB 0..1.
    pub emissive: [f32; 3],
    /// Index into [`WorldScene::textures`]; `None` means no texture.
    pub texture: Option<usize>,
}

impl Default for Material {
    fn default() -> Self {
        Material { colour: [0.7, 0.7, 0.7, 1.0], emissive: [0.0; 3], texture: None }
    }
}

/// A texture. The size of its picture was checked, but the pixels are not decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct Texture {
    /// Normalised path of the picture.
    pub path: String,
    /// Source of the pixels.
    pub source: TextureSource,
}

/// Source of the pixels of a texture.
#[derive(Debug, Clone, PartialEq)]
pub enum TextureSource {
    /// A picture file of the bundle or the shared assets.
    File {
        /// Content of the file.
        bytes: Arc<[u8]>,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// A standard picture that the renderer generates.
    BuiltIn(BuiltInTexture),
}

/// The built-in textures for the surfaces of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltInTexture {
    /// Asphalt.
    Road,
    /// The solid line at the road's edge.
    OuterLine,
    /// The dashed line in the middle of the road.
    CentreLine,
    /// The chequered start line.
    StartLine,
    /// The carpet of the field around the road.
    Carpet,
    /// The grass of the field around the road.
    Grass,
}

/// The built-in meshes of objects. The renderer generates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltInMesh {
    /// A cardboard box.
    BoxObstacle,
    /// A football.
    Ball,
    /// A traffic cone.
    Cone,
}

/// A shape to draw. The shape comes from a visual of a model or from the built-in ground plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The part of the world that the instance belongs to.
    pub owner: Owner,
    /// Name of the visual, or of the built-in ground plane.
    pub name: String,
    /// Special function of the visual.
    pub role: Role,
    /// Pose of the instance. If the owner is an object, the pose is relative to the object.
    /// Otherwise the pose is in the world.
    pub pose: Pose,
    /// Scale factor on each axis.
    pub scale: [f64; 3],
    /// Shape of the visual.
    pub look: Look,
    /// Index into [`WorldScene::materials`]. This material replaces the materials of a mesh. `None`
    /// means that the mesh keeps its own materials. The value is never `None` for a primitive.
    pub material: Option<usize>,
    /// Opacity: 1 means opaque, 0 means invisible.
    pub opacity: f64,
}

/// The part of the world that an instance belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The track.
    Track,
    /// Scenery, which never moves.
    Scenery,
    /// The object with this index in [`crate::World::objects`].
    Object(usize),
}

/// Special function of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// No special function.
    Plain,
    /// The red lamp of a traffic light.
    LampRed,
    /// The green lamp of a traffic light.
    LampGreen,
    /// The screen of a traffic light.
    Screen,
}

/// The shape of an instance. All lengths are in metres. Every shape except `Mesh` has its centre at
/// the origin of the instance.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// A mesh: its index in [`WorldScene::meshes`].
    Mesh(usize),
    /// A box: its full edge lengths.
    Box([f64; 3]),
    /// A cylinder along z: its radius and length.
    Cylinder(f64, f64),
    /// A sphere: its radius.
    Sphere(f64),
    /// A capsule along z: its radius, and its length without the caps.
    Capsule(f64, f64),
    /// A cone along z with its tip up: its radius and length.
    Cone(f64, f64),
    /// An ellipsoid: its half axes.
    Ellipsoid([f64; 3]),
    /// A rectangle that faces +z: its size along x and y.
    Plane([f64; 2]),
    /// A built-in mesh, and the full edge lengths of a box. The mesh is stretched to fill the box.
    BuiltIn(BuiltInMesh, [f64; 3]),
}
