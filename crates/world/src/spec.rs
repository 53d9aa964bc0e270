//! `Spec`: a world file as typed data, one to one and editable.
//!
//! Nothing is resolved here: poses are relative to whatever the file says, includes are names,
//! meshes are URIs. [`crate::compile`] turns it into a [`crate::World`].

use crate::world::ObjectType;

/// A world file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spec {
    /// SDF version as written, `"1.7"`.
    pub version: String,
    /// Name of the world: the file's stem.
    pub name: String,
    /// Gravity, m/s²; `None`: the usual.
    pub gravity: Option<[f64; 3]>,
    /// Colours of ambient light and background.
    pub scene: SceneSpec,
    /// Named frames of the world.
    pub frames: Vec<FrameSpec>,
    /// Models, includes and lights in file order.
    pub entries: Vec<Entry>,
}

/// What a world is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A model written out in the world file.
    Model(ModelSpec),
    /// A model from a file of its own.
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

/// A pose as written: radians, and the frame it is relative to (empty: the default one).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoseSpec {
    /// Position, metres.
    pub xyz: [f64; 3],
    /// Roll, pitch, yaw, radians.
    pub rpy: [f64; 3],
    /// Name of the frame, or empty.
    pub relative_to: String,
}

/// A named frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FrameSpec {
    /// Its name.
    pub name: String,
    /// What it is attached to; empty: the enclosing model or world.
    pub attached_to: String,
    /// Its pose.
    pub pose: PoseSpec,
}

/// An inline or included model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelSpec {
    /// Its name.
    pub name: String,
    /// Its pose in the enclosing frame.
    pub pose: PoseSpec,
    /// The frame of the model that the pose places; empty: the model's own.
    pub placement_frame: String,
    /// The link that carries the model frame; empty: the first.
    pub canonical_link: String,
    /// Whether physics leaves it alone.
    pub is_static: bool,
    /// Links in file order.
    pub links: Vec<LinkSpec>,
    /// Joints, whose poses and names can serve as frames.
    pub joints: Vec<JointSpec>,
    /// Named frames.
    pub frames: Vec<FrameSpec>,
    /// Nested models.
    pub models: Vec<ModelSpec>,
    /// Nested includes.
    pub includes: Vec<IncludeSpec>,
}

impl ModelSpec {
    /// What the names of its links mark it as, if it is written out in a world file: the first
    /// link that is a marker counts. `None`: scenery.
    pub fn marker(&self) -> Option<ObjectType> {
        self.links.iter().find_map(|link| match link.name.as_str() {
            "object" => Some(ObjectType::Object),
            "wall" => Some(ObjectType::Wall),
            "light" | "signal" => Some(ObjectType::Light),
            _ => None,
        })
    }
}

/// A joint. Chicane takes a model as one rigid thing; a joint only matters as a frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointSpec {
    /// Its name.
    pub name: String,
    /// `fixed`, `revolute`, …
    pub kind: String,
    /// Parent link.
    pub parent: String,
    /// Child link, whose frame the pose is relative to by default.
    pub child: String,
    /// Its pose.
    pub pose: PoseSpec,
}

/// A model taken from another file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IncludeSpec {
    /// `model://…`
    pub uri: String,
    /// Name in this world; `None`: the model's own.
    pub name: Option<String>,
    /// Pose here; `None`: the model's own.
    pub pose: Option<PoseSpec>,
    /// The frame of the model that the pose places.
    pub placement_frame: String,
    /// Overrides the model's own flag.
    pub is_static: Option<bool>,
    /// Whether what is in the model becomes part of the model around it; only inside of models.
    pub merge: bool,
}

/// A light source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LightSpec {
    /// Its name.
    pub name: String,
    /// `directional`, `point` or `spot`.
    pub kind: String,
    /// Its pose.
    pub pose: PoseSpec,
    /// Colour, RGBA 0..1.
    pub diffuse: Option<[f64; 4]>,
    /// Where it shines to.
    pub direction: Option<[f64; 3]>,
    /// Whether it throws shadows.
    pub cast_shadows: Option<bool>,
}

/// A rigid part of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkSpec {
    /// Its name; in an inline model it may be a kind marker.
    pub name: String,
    /// Its pose in the model.
    pub pose: PoseSpec,
    /// Mass and inertia.
    pub inertial: Option<InertialSpec>,
    /// What is solid.
    pub collisions: Vec<CollisionSpec>,
    /// What is seen.
    pub visuals: Vec<VisualSpec>,
}

/// Mass properties as written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InertialSpec {
    /// Kilograms.
    pub mass: Option<f64>,
    /// Centre of mass in the link.
    pub pose: PoseSpec,
    /// `ixx, iyy, izz, ixy, ixz, iyz`.
    pub inertia: Option<[f64; 6]>,
}

/// A solid shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollisionSpec {
    /// Its name; `cone` marks the kind.
    pub name: String,
    /// Its pose in the link.
    pub pose: PoseSpec,
    /// Its shape.
    pub geometry: Geometry,
    /// Coulomb friction.
    pub friction: Option<f64>,
    /// Bounciness, 0..1.
    pub restitution: Option<f64>,
}

/// A visible shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VisualSpec {
    /// Its name; `lamp_red`, `lamp_green` and `screen` matter on lights.
    pub name: String,
    /// Its pose in the link.
    pub pose: PoseSpec,
    /// Its shape.
    pub geometry: Geometry,
    /// Its look; `None`: the mesh's own, or plain.
    pub material: Option<MaterialSpec>,
    /// 0 solid, 1 invisible.
    pub transparency: f64,
    /// Whether it throws a shadow.
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
    /// Name of a script material, `Gazebo/Red`.
    pub script: Option<String>,
    /// Picture URI of a physically based material.
    pub albedo_map: Option<String>,
}

/// One part of a mesh file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Submesh {
    /// Its name.
    pub name: String,
    /// Whether it is moved so that the middle of its box is the origin.
    pub centred: bool,
}

/// A shape as written.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Geometry {
    /// Nothing at all.
    #[default]
    Empty,
    /// Full edge lengths.
    Box {
        /// Metres.
        size: [f64; 3],
    },
    /// Along z, centred.
    Cylinder {
        /// Metres.
        radius: f64,
        /// Metres.
        length: f64,
    },
    /// Centred.
    Sphere {
        /// Metres.
        radius: f64,
    },
    /// Along z, centred; `length` without the caps.
    Capsule {
        /// Metres.
        radius: f64,
        /// Metres.
        length: f64,
    },
    /// Along z, tip up, centred.
    Cone {
        /// Metres.
        radius: f64,
        /// Metres.
        length: f64,
    },
    /// Half axes.
    Ellipsoid {
        /// Metres.
        radii: [f64; 3],
    },
    /// A rectangle (visual) or half-space (collision).
    Plane {
        /// Which way is up.
        normal: [f64; 3],
        /// Metres.
        size: [f64; 2],
    },
    /// A mesh file.
    Mesh {
        /// `model://…`
        uri: String,
        /// Factor on each axis.
        scale: [f64; 3],
        /// One part of the file only.
        submesh: Option<Submesh>,
    },
    /// A polygon in the plane z = 0 and what is above it up to a height.
    Polyline {
        /// Corners, metres.
        points: Vec<[f64; 2]>,
        /// Metres.
        height: f64,
    },
    /// A shape that Chicane does not know, by its element name.
    Unsupported {
        /// `heightmap`, `image`, …
        element: String,
    },
}
