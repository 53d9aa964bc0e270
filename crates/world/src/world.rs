//! `World`: the compiled form of a world, immutable and shared behind an `Arc`.

use crate::error::Warning;
use crate::evaluation::Evaluation;
use crate::pose::Pose;
use crate::route::{Bounds, Route};
use crate::scene::WorldScene;
use glam::DVec3;
use std::sync::Arc;

/// A world that can be simulated and drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Name of the world: the stem of its file name.
    pub name: String,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// The ground plane.
    pub ground: Ground,
    /// Centre line and borders of the road.
    pub route: Option<Route>,
    /// Start pose of the car: on waypoint 0, heading to waypoint 1.
    pub spawn: Pose,
    /// The objects, walls and traffic lights, in file order. Names are unique.
    pub objects: Vec<Object>,
    /// Collision shapes that never move: those of the track and of scenery.
    pub scenery: Vec<Solid>,
    /// The names of the track and scenery models, which cannot be moved by a pose command.
    pub fixed_names: Vec<FixedName>,
    /// The visible part of the world.
    pub scene: WorldScene,
    /// The rules by which a run is judged.
    pub evaluation: Option<Evaluation>,
    /// Warnings of the loader.
    pub warnings: Vec<Warning>,
}

/// The ground plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Height, in metres.
    pub z: f64,
    /// Bounds of the track's drivable surface.
    pub bounds: Option<Bounds>,
    /// Coefficient of Coulomb friction against objects. Tyres use that of their profile.
    pub friction: f64,
}

/// A model that cannot be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedName {
    /// Name of the model.
    pub name: String,
    /// Whether the model is the track. Otherwise it is scenery.
    pub is_track: bool,
}

/// The type of an object, declared by the name of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectType {
    /// An obstacle.
    Object,
    /// A wall or a side of the fence.
    Wall,
    /// A traffic light.
    Light,
}

/// The kind of an object, derived from its type and its collision shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    /// A box.
    Box,
    /// A cylinder.
    Cylinder,
    /// A ball.
    Sphere,
    /// A traffic cone.
    Cone,
    /// A traffic light.
    Light,
    /// A wall.
    Wall,
}

impl ObjectKind {
    /// The kind as one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Box => "box",
            ObjectKind::Cylinder => "cylinder",
            ObjectKind::Sphere => "sphere",
            ObjectKind::Cone => "cone",
            ObjectKind::Light => "light",
            ObjectKind::Wall => "wall",
        }
    }
}

/// An object, a wall or a traffic light.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Unique name.
    pub name: String,
    /// Type, declared by the name of a link.
    pub object_type: ObjectType,
    /// Kind, derived from the type and the collision shape.
    pub kind: ObjectKind,
    /// Whether the object never moves by physics.
    pub is_static: bool,
    /// Whether a pose command may move the object. False for walls only.
    pub movable: bool,
    /// Pose at load.
    pub origin: Pose,
    /// Full edge lengths of the bounding box of its collision shapes, in the object's frame.
    pub size: DVec3,
    /// Centre of that bounding box, in the object's frame.
    pub centre: DVec3,
    /// Mass properties. Physics ignores them if the object is static.
    pub mass: MassProperties,
    /// Collision shapes, in the object's frame.
    pub solids: Vec<Solid>,
    /// The screen of a traffic light, if it has one.
    pub panel: Option<Panel>,
}

/// Mass, centre of mass and inertia. The values are always physically possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Mass in kilograms, greater than 0.
    pub mass: f64,
    /// Centre of mass and principal axes of inertia, in the object's frame.
    pub frame: Pose,
    /// Principal moments of inertia, kg m².
    pub principal: DVec3,
}

/// A collision shape with its pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Solid {
    /// Pose in the object's frame, or in the world for scenery.
    pub pose: Pose,
    /// The shape.
    pub shape: Shape,
    /// Coefficient of Coulomb friction.
    pub friction: f64,
    /// Coefficient of restitution, 0..1.
    pub restitution: f64,
}

/// A collision shape. All lengths are in metres.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A centred box: half edge lengths.
    Box(DVec3),
    /// A centred cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half the length.
        half_length: f64,
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
        /// Half the length, without the caps.
        half_length: f64,
    },
    /// A centred cone along z with its tip up.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Half the height.
        half_length: f64,
    },
    /// A triangle mesh. Only the track and scenery have one.
    Mesh(Arc<TriangleMesh>),
}

/// A triangle mesh for collisions.
#[derive(Debug, Clone, PartialEq)]
pub struct TriangleMesh {
    /// Vertex positions, in metres.
    pub vertices: Vec<DVec3>,
    /// Three indices into `vertices` per triangle, all in range.
    pub triangles: Vec<[u32; 3]>,
}

/// The screen of a traffic light, in the light's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Panel {
    /// Pose of the screen's centre. The screen faces +x.
    pub pose: Pose,
    /// Width (along y) and height (along z), in metres.
    pub size: [f64; 2],
    /// Radius of the yellow disc in metres: half of min(0.98 width, 0.41 height).
    pub lamp_radius: f64,
}

impl World {
    /// Index of the object with a name.
    pub fn object(&self, name: &str) -> Option<usize> {
        self.objects.iter().position(|o| o.name == name)
    }

    /// The traffic lights with their indices, in file order.
    pub fn lights(&self) -> impl Iterator<Item = (usize, &Object)> {
        self.objects.iter().enumerate().filter(|(_, o)| o.object_type == ObjectType::Light)
    }
}
