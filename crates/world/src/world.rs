//! `World`: the compiled form of a world. A `World` is immutable and is shared behind an `Arc`.

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
    /// Name of the world. If the world was loaded from a bundle, the name is the stem of the file
    /// name.
    pub name: String,
    /// Gravity, in m/s².
    pub gravity: DVec3,
    /// The ground plane.
    pub ground: Ground,
    /// Centre line and borders of the road; `None` if the bundle has no route.
    pub route: Option<Route>,
    /// The route with every row of its file, including repeated rows. Clients need all rows,
    /// because they refer to waypoints by row number. `None` if the world has no route file.
    pub route_rows: Option<Route>,
    /// Start pose of the car. In a world with a route, the car is on the first waypoint and faces the
    /// second one. In a world without a route, the car is at a free and level place, preferably
    /// near the origin and with a free road ahead. If no such place is found, the car is at the
    /// origin.
    pub spawn: Pose,
    /// The objects, walls and traffic lights, in file order. Their names are unique.
    pub objects: Vec<Object>,
    /// The collision shapes of the track and of scenery. These shapes never move.
    pub scenery: Vec<Solid>,
    /// The names of the track, of scenery models and of built-in ground planes. No command can move
    /// these models.
    pub fixed_names: Vec<FixedName>,
    /// The visible part of the world.
    pub scene: WorldScene,
    /// The evaluation that judges a run; `None` if the bundle has no evaluation.
    pub evaluation: Option<Evaluation>,
    /// The warnings of the loader.
    pub warnings: Vec<Warning>,
}

/// The ground plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Height of the plane, in metres.
    pub z: f64,
    /// Bounds of the track's drivable surface; `None` if there is no such surface.
    pub bounds: Option<Bounds>,
    /// Coefficient of Coulomb friction against objects. Tyres use the friction of the vehicle
    /// profile instead.
    pub friction: f64,
}

/// The name of a model that cannot be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedName {
    /// Name of the model.
    pub name: String,
    /// Whether the model is the track. The value is false for scenery and for a built-in ground
    /// plane.
    pub is_track: bool,
}

/// The type of an object. The name of one of its links declares the type. An object without such a
/// link has the type `Object`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectType {
    /// An object that is neither a wall nor a traffic light, for example an obstacle.
    Object,
    /// A wall or a side of the fence.
    Wall,
    /// A traffic light.
    Light,
}

/// The kind of an object. The kind is derived from the type of the object, and from the names and
/// shapes of its collisions.
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
    /// The name of the kind, as one lower-case word.
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
    /// Type of the object.
    pub object_type: ObjectType,
    /// Kind of the object, derived from its type and from the names and shapes of its collisions.
    pub kind: ObjectKind,
    /// Whether physics never moves the object.
    pub is_static: bool,
    /// Whether a pose command may move the object. The value is false for walls only.
    pub movable: bool,
    /// Pose of the object when the world is loaded.
    pub origin: Pose,
    /// Full edge lengths of the bounding box of the collision shapes, in the frame of the object.
    pub size: DVec3,
    /// Centre of the bounding box, in the frame of the object.
    pub centre: DVec3,
    /// Mass properties. Physics ignores these values if the object is static.
    pub mass: MassProperties,
    /// Collision shapes, in the frame of the object.
    pub solids: Vec<Solid>,
    /// The screen of a traffic light; `None` if the object has no screen.
    pub panel: Option<Panel>,
}

/// Mass, centre of mass and inertia. The values are always possible for a real body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Mass in kilograms, greater than 0.
    pub mass: f64,
    /// Centre of mass and principal axes of inertia, in the frame of the object.
    pub frame: Pose,
    /// Principal moments of inertia, in kg m².
    pub principal: DVec3,
}

/// A collision shape with its pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Solid {
    /// Pose of the shape. For a shape of an object, the pose is in the frame of the object. For
    /// scenery and the track, the pose is in the world.
    pub pose: Pose,
    /// The shape.
    pub shape: Shape,
    /// Coefficient of Coulomb friction.
    pub friction: f64,
    /// Coefficient of restitution, 0..1.
    pub restitution: f64,
}

/// A collision shape. All lengths are in metres. Every shape except `Mesh` has its centre at the
/// origin of its pose.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A box: its half edge lengths.
    Box(DVec3),
    /// A cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half the length.
        half_length: f64,
    },
    /// A sphere.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A capsule along z.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half the length, without the caps.
        half_length: f64,
    },
    /// A cone along z with its tip up.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Half the height.
        half_length: f64,
    },
    /// A triangle mesh. Only the track and scenery have such a shape.
    Mesh(Arc<TriangleMesh>),
}

/// A triangle mesh for collisions.
#[derive(Debug, Clone, PartialEq)]
pub struct TriangleMesh {
    /// Vertex positions, in metres.
    pub vertices: Vec<DVec3>,
    /// Three indices into `vertices` per triangle. All indices are in range.
    pub triangles: Vec<[u32; 3]>,
}

/// The screen of a traffic light, in the frame of the light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Panel {
    /// Pose of the centre of the screen. The screen faces the +x axis of this pose.
    pub pose: Pose,
    /// Width (along y) and height (along z), in metres.
    pub size: [f64; 2],
    /// Radius of the yellow disc, in metres: `0.5 * min(0.98 * width, 0.41 * height)`.
    pub lamp_radius: f64,
}

impl World {
    /// The route for clients. The result has every row of the route file if the world was loaded
    /// with a route file.
    pub fn published_route(&self) -> Option<&Route> {
        self.route_rows.as_ref().or(self.route.as_ref())
    }

    /// Index of the object with the name `name`; `None` if there is no such object.
    pub fn object(&self, name: &str) -> Option<usize> {
        self.objects.iter().position(|o| o.name == name)
    }

    /// The traffic lights and their indices in `objects`, in file order.
    pub fn lights(&self) -> impl Iterator<Item = (usize, &Object)> {
        self.objects.iter().enumerate().filter(|(_, o)| o.object_type == ObjectType::Light)
    }
}
