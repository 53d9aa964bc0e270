//! `Spec`: the content of an SDF world file as editable data.
//!
//! References are not resolved: a pose keeps the name of its reference frame, and includes and
//! meshes are URIs. [`crate::compile`] turns a `Spec` into a [`crate::World`].

use crate::world::ObjectType;

/// A world file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spec {
    /// SDF version as written, such as `"1.7"`.
    pub version: String,
    /// Name of the world, which equals the stem of its file name.
    pub name: String,
    /// Gravity, m/s²; `None` means the default of 9.8 m/s² downwards.
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
    /// A light source (not a traffic light).
    Light(LightSpec),
}

/// Ambient light and background.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SceneSpec {
    /// Ambient light, RGBA 0..1.
    pub ambient: Option<[f64; 4]>,
    /// Background, RGBA 0..1.
    pub background: Option<[f64; 4]>,
}

/// A pose as written in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoseSpec {
    /// Position, in metres.
    pub xyz: [f64; 3],
    /// Roll, pitch and yaw, in radians.
    pub rpy: [f64; 3],
    /// Name of the reference frame; empty means the default frame of the element.
    pub relative_to: String,
}

/// A named frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FrameSpec {
    /// Name of the frame.
    pub name: String,
    /// Name of the frame or link it is attached to; empty means the enclosing model or world.
    pub attached_to: String,
    /// Pose of the frame.
    pub pose: PoseSpec,
}

/// A model: inline in a world file, nested in another model, or the content of a model file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelSpec {
    /// Name of the model.
    pub name: String,
    /// Pose in the enclosing model or world.
    pub pose: PoseSpec,
    /// Frame inside the model to which `pose` applies; empty means the model frame.
    pub placement_frame: String,
    /// Link to which the model frame is attached; empty means the first link.
    pub canonical_link: String,
    /// Whether the model never moves.
    pub is_static: bool,
    /// Links, in file order.
    pub links: Vec<LinkSpec>,
    /// Joints. Other poses can use them as reference frames.
    pub joints: Vec<JointSpec>,
    /// Named frames.
    pub frames: Vec<FrameSpec>,
    /// Nested models.
    pub models: Vec<ModelSpec>,
    /// Nested includes.
    pub includes: Vec<IncludeSpec>,
}

impl ModelSpec {
    /// The object type that the link names of an inline model declare. The first link whose name is
    /// a marker decides; `None` means scenery.
    pub fn marker(&self) -> Option<ObjectType> {
        self.links.iter().find_map(|link| match link.name.as_str() {
            "object" => Some(ObjectType::Object),
            "wall" => Some(ObjectType::Wall),
            "light" | "signal" => Some(ObjectType::Light),
            _ => None,
        })
    }
}

/// A joint. Chicane treats a model as one rigid body, so a joint only serves as a reference frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointSpec {
    /// Name of the joint.
    pub name: String,
    /// Joint type, such as `fixed` or `revolute`.
    pub kind: String,
    /// Name of the parent link.
    pub parent: String,
    /// Name of the child link, which is the default reference frame of `pose`.
    pub child: String,
    /// Pose of the joint.
    pub pose: PoseSpec,
}

/// A model from another file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IncludeSpec {
    /// URI of the model folder or file, such as `model://cone`.
    pub uri: String,
    /// Name in this world; `None` means the name in the model file.
    pub name: Option<String>,
    /// Pose in this world; `None` means the pose in the model file.
    pub pose: Option<PoseSpec>,
    /// Frame inside the model to which `pose` applies; empty means that of the model file.
    pub placement_frame: String,
    /// Overrides the static flag of the model file.
    pub is_static: Option<bool>,
    /// Whether the content becomes part of the enclosing model. False outside of models.
    pub merge: bool,
}

/// A light source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LightSpec {
    /// Name of the light.
    pub name: String,
    /// Light type: `directional`, `point` or `spot`.
    pub kind: String,
    /// Pose of the light.
    pub pose: PoseSpec,
    /// Colour, RGBA 0..1.
    pub diffuse: Option<[f64; 4]>,
    /// Direction in which the light travels, in the light's frame.
    pub direction: Option<[f64; 3]>,
    /// Whether the light casts shadows.
    pub cast_shadows: Option<bool>,
}

/// A rigid part of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkSpec {
    /// Name of the link. In an inline model it may be a marker (see [`ModelSpec::marker`]).
    pub name: String,
    /// Pose in the model.
    pub pose: PoseSpec,
    /// Mass and inertia.
    pub inertial: Option<InertialSpec>,
    /// Collision shapes, for physics.
    pub collisions: Vec<CollisionSpec>,
    /// Visible shapes.
    pub visuals: Vec<VisualSpec>,
}

/// Mass properties as written in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InertialSpec {
    /// Mass, in kilograms.
    pub mass: Option<f64>,
    /// Pose in the link of the centre of mass and of the inertia axes.
    pub pose: PoseSpec,
    /// Moments and products of inertia in kg m²: `ixx, iyy, izz, ixy, ixz, iyz`.
    pub inertia: Option<[f64; 6]>,
}

/// A collision shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollisionSpec {
    /// Name of the collision. The name `cone` makes the object a traffic cone.
    pub name: String,
    /// Pose in the link.
    pub pose: PoseSpec,
    /// The shape.
    pub geometry: Geometry,
    /// Coefficient of Coulomb friction.
    pub friction: Option<f64>,
    /// Coefficient of restitution, 0..1.
    pub restitution: Option<f64>,
}

/// A visible shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VisualSpec {
    /// Name of the visual. On a traffic light, `lamp_red`, `lamp_green` and `screen` are special.
    pub name: String,
    /// Pose in the link.
    pub pose: PoseSpec,
    /// The shape.
    pub geometry: Geometry,
    /// Material; `None` means the mesh's own materials, or the default one for a primitive.
    pub material: Option<MaterialSpec>,
    /// Transparency: 0 is solid, 1 is invisible.
    pub transparency: f64,
    /// Whether the visual casts a shadow.
    pub cast_shadows: Option<bool>,
}

/// Colours and textures of a visual.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaterialSpec {
    /// RGBA 0..1.
    pub ambient: Option<[f64; 4]>,
    /// RGBA 0..1.
    pub diffuse: Option<[f64; 4]>,
    /// RGBA 0..1.
    pub specular: Option<[f64; 4]>,
    /// RGBA 0..1.
    pub emissive: Option<[f64; 4]>,
    /// Name of a script material, such as `Gazebo/Red`.
    pub script: Option<String>,
    /// URI of the colour texture of a physically based material.
    pub albedo_map: Option<String>,
}

/// A single part of a mesh file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Submesh {
    /// Name of the part.
    pub name: String,
    /// Whether the centre of the part's bounding box is moved to the origin.
    pub centred: bool,
}

/// A shape as written in the file. All lengths are in metres.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Geometry {
    /// No shape.
    #[default]
    Empty,
    /// A centred box.
    Box {
        /// Full edge lengths.
        size: [f64; 3],
    },
    /// A centred cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Full length.
        length: f64,
    },
    /// A centred sphere.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A centred capsule along z.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length without the caps.
        length: f64,
    },
    /// A centred cone along z with its tip up.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Height.
        length: f64,
    },
    /// A centred ellipsoid.
    Ellipsoid {
        /// Half axes.
        radii: [f64; 3],
    },
    /// A rectangle (visual) or a half-space (collision).
    Plane {
        /// Normal vector.
        normal: [f64; 3],
        /// Size of the rectangle.
        size: [f64; 2],
    },
    /// A mesh file.
    Mesh {
        /// URI of the file, such as `model://meshes/a/b.dae`.
        uri: String,
        /// Scale factor on each axis.
        scale: [f64; 3],
        /// The only part of the file to use; `None` means the whole file.
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
        /// Name of its XML element, such as `heightmap` or `image`.
        element: String,
    },
}
