//! What there is to see: one description for the renderer and the viewer.

use crate::pose::Pose;
use std::sync::Arc;

/// Meshes, materials, textures, and where they stand.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scene {
    /// Triangle meshes, each used by one instance or more.
    pub meshes: Vec<Arc<Mesh>>,
    /// Materials.
    pub materials: Vec<Material>,
    /// Pictures.
    pub textures: Vec<Texture>,
    /// What is drawn, in file order.
    pub instances: Vec<Instance>,
    /// Light that comes from everywhere, linear RGB.
    pub ambient: [f64; 3],
    /// The sun.
    pub sun: Sun,
}

/// A light from infinitely far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sun {
    /// Where it shines to; unit length.
    pub direction: [f64; 3],
    /// RGB.
    pub colour: [f64; 3],
}

impl Default for Sun {
    fn default() -> Self {
        // A quarter past ten in summer: shadows fall, but not far.
        Sun {
            direction: [-0.381_000_381_000_571_5, 0.254_000_254_000_381, -0.889_000_889_001_333_5],
            colour: [0.8, 0.8, 0.8],
        }
    }
}

/// Triangles in groups of one material each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// Corners, metres.
    pub positions: Vec<[f32; 3]>,
    /// One per corner.
    pub normals: Vec<[f32; 3]>,
    /// One per corner; v grows upwards in the picture.
    pub uvs: Vec<[f32; 2]>,
    /// Triangles by material.
    pub groups: Vec<Group>,
}

/// Triangles that share a material.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// Three corners a triangle, counter-clockwise from the front.
    pub indices: Vec<u32>,
}

/// How a surface looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// RGBA 0..1; multiplied with the texture if there is one.
    pub colour: [f32; 4],
    /// Light of its own, RGB.
    pub emissive: [f32; 3],
    /// Index into [`Scene::textures`].
    pub texture: Option<usize>,
}

impl Default for Material {
    fn default() -> Self {
        Material { colour: [0.7, 0.7, 0.7, 1.0], emissive: [0.0; 3], texture: None }
    }
}

/// A picture, not decoded; its size was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Texture {
    /// Path it came from.
    pub path: String,
    /// Where the pixels are.
    pub source: TextureSource,
}

/// Where the pixels of a texture are.
#[derive(Debug, Clone, PartialEq)]
pub enum TextureSource {
    /// In a picture file of the bundle or the shared assets.
    File {
        /// The file's bytes.
        bytes: Arc<[u8]>,
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// One of the standard pictures that the simulator makes itself.
    BuiltIn(BuiltInTexture),
}

/// The standard surfaces of a built track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltInTexture {
    /// Asphalt.
    Road,
    /// The solid line at the road's edge.
    OuterLine,
    /// The dashed line in the middle.
    CentreLine,
    /// The chequered start line.
    StartLine,
    /// Carpet field.
    Carpet,
    /// Grass field.
    Grass,
}

/// The standard looks of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltInMesh {
    /// A cardboard box.
    BoxObstacle,
    /// A football.
    Ball,
    /// A traffic cone.
    Cone,
}

/// A thing that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Whose part it is.
    pub owner: Owner,
    /// Name of the visual.
    pub name: String,
    /// What it means beyond its looks.
    pub role: Role,
    /// Pose in the owner's frame (objects), or in the world (all else).
    pub pose: Pose,
    /// Factor on each axis.
    pub scale: [f64; 3],
    /// Its shape.
    pub look: Look,
    /// Replaces the mesh's own materials; what a primitive is painted with.
    pub material: Option<usize>,
    /// 1 solid, 0 invisible.
    pub opacity: f64,
}

/// Whose part an instance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The track.
    Track,
    /// Scenery that never moves.
    Scenery,
    /// The object of this index in [`crate::World::objects`].
    Object(usize),
}

/// What an instance means beyond its looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    Plain,
    /// The red lamp of a traffic light.
    LampRed,
    /// The green lamp.
    LampGreen,
    /// The screen.
    Screen,
}

/// The shape of an instance.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// Index into [`Scene::meshes`].
    Mesh(usize),
    /// Full edge lengths.
    Box([f64; 3]),
    /// Along z, centred: radius, length.
    Cylinder(f64, f64),
    /// Radius.
    Sphere(f64),
    /// Along z, centred: radius, length without the caps.
    Capsule(f64, f64),
    /// Along z, tip up, centred: radius, length.
    Cone(f64, f64),
    /// Half axes.
    Ellipsoid([f64; 3]),
    /// A rectangle facing +z: size.
    Plane([f64; 2]),
    /// A standard look stretched to these extents, centred.
    BuiltIn(BuiltInMesh, [f64; 3]),
}
