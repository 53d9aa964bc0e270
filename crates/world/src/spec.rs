//! `Spec`: the content of an SDF world file as editable data.
//!
//! A `Spec` keeps references as they are in the file: a pose has the name of its reference frame,
//! and includes and meshes have URIs. [`crate::compile`] turns a `Spec` into a [`crate::World`].
//!
//! The range 0..1 of colours, restitution and transparency is the range of the SDF standard. The
//! reader keeps values outside this range, and the compiler clamps them.

use crate::world::ObjectType;

/// A world file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spec {
    /// SDF version as it is in the file, such as `"1.7"`.
    pub version: String,
    /// Name of the world. When a bundle is loaded, the name is set to the stem of the file name.
    pub name: String,
    /// Gravity in m/s²; `None` means the default, which is 9.8 m/s² downwards.
    pub gravity: Option<[f64; 3]>,
    /// Colours of ambient light and background.
    pub scene: SceneSpec,
    /// Named frames of the world.
    pub frames: Vec<FrameSpec>,
    /// Models, includes and light sources, in file order.
    pub entries: Vec<SdfEntry>,
}

/// A top-level element of a world.
#[derive(Debug, Clone, PartialEq)]
pub enum SdfEntry {
    /// A model that is defined in the world file.
    Model(ModelSpec),
    /// A model from another file.
    Include(IncludeSpec),
    /// A light source. A traffic light is a model instead.
    Light(LightSpec),
}

/// Colours of ambient light and background.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SceneSpec {
    /// Colour of the ambient light, RGBA 0..1; `None` means the default colour.
    pub ambient: Option<[f64; 4]>,
    /// Colour of the background, RGBA 0..1; `None` if the file gives no colour.
    pub background: Option<[f64; 4]>,
}

/// A pose as it is in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoseSpec {
    /// Position, in metres.
    pub xyz: [f64; 3],
    /// Roll, pitch and yaw relative to the reference frame, in radians.
    pub rpy: [f64; 3],
    /// Name of the reference frame. An empty name means the default reference frame of the element.
    pub relative_to: String,
}

/// A named frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FrameSpec {
    /// Name of the frame.
    pub name: String,
    /// Name of the frame, link, joint or model that this frame is attached to. An empty name means
    /// the enclosing model or world.
    pub attached_to: String,
    /// Pose of the frame.
    pub pose: PoseSpec,
}

/// A model. The model is defined in a world file, is nested in another model, or is the content of
/// a model file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelSpec {
    /// Name of the model.
    pub name: String,
    /// Pose in the enclosing model or world.
    pub pose: PoseSpec,
    /// Name of the frame inside the model that `pose` describes. An empty name means the frame of
    /// the model.
    pub placement_frame: String,
    /// Name of the link that the model's frame is attached to. An empty name means the first link.
    pub canonical_link: String,
    /// Whether the model never moves.
    pub is_static: bool,
    /// Links, in file order.
    pub links: Vec<LinkSpec>,
    /// Joints. Other poses can use a joint as a reference frame.
    pub joints: Vec<JointSpec>,
    /// Named frames.
    pub frames: Vec<FrameSpec>,
    /// Nested models.
    pub models: Vec<ModelSpec>,
    /// Nested includes.
    pub includes: Vec<IncludeSpec>,
}

impl ModelSpec {
    /// The object type of a model that is defined in the world file. A marker declares the type. A
    /// marker is a link with the name `object`, `wall`, `light` or `signal`. If there are several
    /// markers, the first one is used. The result is `None` if no link is a marker.
    pub fn marker(&self) -> Option<ObjectType> {
        self.links.iter().find_map(|link| match link.name.as_str() {
            "object" => Some(ObjectType::Object),
            "wall" => Some(ObjectType::Wall),
            "light" | "signal" => Some(ObjectType::Light),
            _ => None,
        })
    }
}

/// A joint. Chicane treats a model as one rigid body, so a joint is only used as a reference frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointSpec {
    /// Name of the joint.
    pub name: String,
    /// Joint type, such as `fixed` or `revolute`.
    pub kind: String,
    /// Name of the parent link or frame.
    pub parent: String,
    /// Name of the child link or frame, which is the default reference frame of `pose`.
    pub child: String,
    /// Pose of the joint.
    pub pose: PoseSpec,
}

/// An include: a model from another file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IncludeSpec {
    /// URI of the model folder or file, such as `model://cone`.
    pub uri: String,
    /// Name of the included model; `None` means the name in the model file.
    pub name: Option<String>,
    /// Pose of the included model; `None` means the pose in the model file.
    pub pose: Option<PoseSpec>,
    /// Name of the frame inside the model that `pose` describes. An empty name means the placement
    /// frame in the model file.
    pub placement_frame: String,
    /// Replaces the static flag of the model file; `None` keeps the flag.
    pub is_static: Option<bool>,
    /// Whether the content of the included model becomes part of the enclosing model. The value is
    /// false if the include is not inside a model.
    pub merge: bool,
}

/// A light source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LightSpec {
    /// Name of the light.
    pub name: String,
    /// Light type as it is in the file: `directional`, `point` or `spot` in the SDF standard.
    pub kind: String,
    /// Pose of the light.
    pub pose: PoseSpec,
    /// Colour, RGBA 0..1; `None` means white.
    pub diffuse: Option<[f64; 4]>,
    /// Direction in which the light travels, in the frame of the light; `None` means straight down.
    pub direction: Option<[f64; 3]>,
    /// Whether the light casts shadows; `None` if the file has no such flag.
    pub cast_shadows: Option<bool>,
    /// Factor by which the colour is multiplied, at least 0; `None` means 1.
    pub intensity: Option<f64>,
}

/// A rigid part of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkSpec {
    /// Name of the link. In a model of a world file, the name may be a marker (see
    /// [`ModelSpec::marker`]).
    pub name: String,
    /// Pose in the frame of the model.
    pub pose: PoseSpec,
    /// Mass and inertia; `None` if the link has no `<inertial>` element.
    pub inertial: Option<InertialSpec>,
    /// Collision shapes. Physics uses these shapes.
    pub collisions: Vec<CollisionSpec>,
    /// Visible shapes. The scene uses these shapes.
    pub visuals: Vec<VisualSpec>,
}

/// Mass properties as they are in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InertialSpec {
    /// Mass, in kilograms; `None` if the file gives no mass.
    pub mass: Option<f64>,
    /// Pose of the centre of mass and of the inertia axes, in the frame of the link.
    pub pose: PoseSpec,
    /// Moments and products of inertia in kg m²: `ixx, iyy, izz, ixy, ixz, iyz`. The value is
    /// `None` if the file gives no inertia.
    pub inertia: Option<[f64; 6]>,
}

/// A collision shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollisionSpec {
    /// Name of the collision. If an object has a collision named `cone`, the object is a traffic
    /// cone.
    pub name: String,
    /// Pose in the frame of the link.
    pub pose: PoseSpec,
    /// The shape.
    pub geometry: Geometry,
    /// Coefficient of Coulomb friction; `None` means the default.
    pub friction: Option<f64>,
    /// Coefficient of restitution, 0..1; `None` means 0.
    pub restitution: Option<f64>,
}

/// A visible shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VisualSpec {
    /// Name of the visual. In a traffic light, the names `lamp_red`, `lamp_green` and `screen` have
    /// a special function.
    pub name: String,
    /// Pose in the frame of the link.
    pub pose: PoseSpec,
    /// The shape.
    pub geometry: Geometry,
    /// Material of the visual; `None` means the materials of the mesh, or the default material of a
    /// primitive.
    pub material: Option<MaterialSpec>,
    /// Transparency: 0 means opaque, 1 means invisible.
    pub transparency: f64,
    /// Whether the visual casts a shadow; `None` if the file has no such flag.
    pub cast_shadows: Option<bool>,
}

/// Colours and textures of a visual. A value is `None` if the file does not give it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaterialSpec {
    /// Ambient colour, RGBA 0..1.
    pub ambient: Option<[f64; 4]>,
    /// Diffuse colour, RGBA 0..1.
    pub diffuse: Option<[f64; 4]>,
    /// Specular colour, RGBA 0..1.
    pub specular: Option<[f64; 4]>,
    /// Emitted light, RGBA 0..1.
    pub emissive: Option<[f64; 4]>,
    /// Name of a Gazebo script material, such as `Gazebo/Red`.
    pub script: Option<String>,
    /// URI of the colour texture of a physically based material.
    pub albedo_map: Option<String>,
}

/// A reference to a single part of a mesh file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Submesh {
    /// Name of the part.
    pub name: String,
    /// Whether the part is moved so that the centre of its bounding box is at the origin.
    pub centred: bool,
}

/// A shape as it is in the file. All lengths are in metres.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Geometry {
    /// No shape.
    #[default]
    Empty,
    /// A box. Its centre is at the origin.
    Box {
        /// Full edge lengths.
        size: [f64; 3],
    },
    /// A cylinder along z. Its centre is at the origin.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Full length.
        length: f64,
    },
    /// A sphere. Its centre is at the origin.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A capsule along z. Its centre is at the origin.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length without the caps.
        length: f64,
    },
    /// A cone along z with its tip up. The origin is halfway between base and tip.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Height.
        length: f64,
    },
    /// An ellipsoid. Its centre is at the origin.
    Ellipsoid {
        /// Half axes along x, y and z.
        radii: [f64; 3],
    },
    /// A plane: a rectangle in a visual, a half-space in a collision.
    Plane {
        /// Normal vector.
        normal: [f64; 3],
        /// Size of the rectangle. For physics, a half-space has no size. In a collision of the
        /// track, the size can limit the bounds of the field.
        size: [f64; 2],
    },
    /// A mesh file.
    Mesh {
        /// URI of the file, such as `model://meshes/a/b.dae`.
        uri: String,
        /// Scale factor on each axis.
        scale: [f64; 3],
        /// The part of the file to use; `None` means the whole file.
        submesh: Option<Submesh>,
    },
    /// A prism: a polygon in the plane z = 0, extruded upwards.
    Polyline {
        /// Corners of the polygon.
        points: Vec<[f64; 2]>,
        /// Height of the prism.
        height: f64,
    },
    /// A shape that Chicane does not support.
    Unsupported {
        /// Name of the shape's XML element, such as `heightmap` or `image`.
        element: String,
    },
}
