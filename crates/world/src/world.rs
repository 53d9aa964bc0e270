//! `World`: compiled, immutable, shared behind an `Arc`. What everything else starts from.

use crate::error::Warning;
use crate::evaluation::Evaluation;
use crate::pose::Pose;
use crate::route::{Bounds, Route};
use crate::scene::Scene;
use glam::DVec3;
use std::sync::Arc;

/// A world that can be simulated and drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Stem of the world file.
    pub name: String,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// The plane that everything stands on.
    pub ground: Ground,
    /// Centre line and borders.
    pub route: Option<Route>,
    /// Where the car starts: on waypoint 0, heading to waypoint 1.
    pub spawn: Pose,
    /// The catalogue: marked objects, walls and lights in file order. Names are unique.
    pub objects: Vec<Object>,
    /// Solid things that never move and are not in the catalogue: track parts and scenery.
    pub scenery: Vec<Solid>,
    /// Names that exist but take no pose command: the track and scenery models.
    pub fixed_names: Vec<FixedName>,
    /// What there is to see.
    pub scene: Scene,
    /// How a run is judged.
    pub evaluation: Option<Evaluation>,
    /// What was passed over while loading.
    pub warnings: Vec<Warning>,
}

/// The plane that everything stands on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Its height.
    pub z: f64,
    /// Extent of the track's ground.
    pub bounds: Option<Bounds>,
    /// Coulomb friction against objects (the tyres have their own).
    pub friction: f64,
}

/// A model that is there but can't be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedName {
    /// Name of the model.
    pub name: String,
    /// Whether it is the track; scenery otherwise.
    pub is_track: bool,
}

/// What the link marker says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectType {
    /// An obstacle.
    Object,
    /// A wall or a side of the fence.
    Wall,
    /// A traffic light.
    Light,
}

/// What an object is.
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
    /// One word for it, in lower case.
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

/// An entry of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Unique name.
    pub name: String,
    /// By the marker.
    pub object_type: ObjectType,
    /// By marker and geometry.
    pub kind: ObjectKind,
    /// Physics never moves it.
    pub is_static: bool,
    /// A pose command may move it: everything but walls.
    pub movable: bool,
    /// Pose at load.
    pub origin: Pose,
    /// Full extents of its collision shapes in its own frame.
    pub size: DVec3,
    /// Centre of that box in its own frame.
    pub centre: DVec3,
    /// Mass properties; used where it is not static.
    pub mass: MassProperties,
    /// Its collision shapes in its own frame.
    pub solids: Vec<Solid>,
    /// The screen, on lights that have one.
    pub panel: Option<Panel>,
}

/// Mass, centre and inertia, always physical.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Kilograms, above 0.
    pub mass: f64,
    /// Centre of mass and the axes of inertia in the object's frame.
    pub frame: Pose,
    /// Principal moments in that frame, kg m².
    pub principal: DVec3,
}

/// A solid shape and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Solid {
    /// Pose in the owner's frame, or in the world for scenery.
    pub pose: Pose,
    /// Its shape.
    pub shape: Shape,
    /// Coulomb friction.
    pub friction: f64,
    /// Bounciness, 0..1.
    pub restitution: f64,
}

/// A solid shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Half edge lengths.
    Box(DVec3),
    /// Along z, centred.
    Cylinder {
        /// Metres.
        radius: f64,
        /// Metres.
        half_length: f64,
    },
    /// Centred.
    Sphere {
        /// Metres.
        radius: f64,
    },
    /// Along z, centred.
    Capsule {
        /// Metres.
        radius: f64,
        /// Metres, without the caps.
        half_length: f64,
    },
    /// Along z, tip up, centred.
    Cone {
        /// Metres.
        radius: f64,
        /// Metres.
        half_length: f64,
    },
    /// Triangles; only on things that never move.
    Mesh(Arc<TriangleMesh>),
}

/// A solid surface of triangles.
#[derive(Debug, Clone, PartialEq)]
pub struct TriangleMesh {
    /// Corners.
    pub vertices: Vec<DVec3>,
    /// Corners of each triangle; all in range.
    pub triangles: Vec<[u32; 3]>,
}

/// The screen of a traffic light in the light's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Panel {
    /// Centre and orientation; the screen faces its own +x.
    pub pose: Pose,
    /// Width (along y) and height (along z).
    pub size: [f64; 2],
    /// Radius of the yellow disc: half of min(0.98 width, 0.41 height).
    pub lamp_radius: f64,
}

impl World {
    /// Index of an object by name.
    pub fn object(&self, name: &str) -> Option<usize> {
        self.objects.iter().position(|o| o.name == name)
    }

    /// The traffic lights with their indices, in file order.
    pub fn lights(&self) -> impl Iterator<Item = (usize, &Object)> {
        self.objects.iter().enumerate().filter(|(_, o)| o.object_type == ObjectType::Light)
    }
}
