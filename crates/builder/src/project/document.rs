//! The types of a project document. Lengths are in metres, angles in radians.

use super::names::{Colour, FileName, WorldName};
use chicane_vary::Vary;
use std::collections::BTreeSet;

/// A builder project.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Name of the world and of its files.
    pub name: WorldName,
    /// Display name of the world.
    pub display_name: String,
    /// The floor.
    pub field: Field,
    /// The fence around the field; `None` for a field without a fence.
    pub fence: Option<Fence>,
    /// The road.
    pub track: Track,
    /// Pictures on the floor; a later picture covers an earlier one.
    pub decals: Vec<Decal>,
    /// The objects on the field.
    pub objects: Vec<Object>,
    /// The evaluation, which defines how runs of students are judged; `None` for a world without an
    /// evaluation.
    pub evaluation: Option<Evaluation>,
}

/// The floor.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Size along x and y.
    pub size: [f64; 2],
    /// The material of the floor.
    pub ground: Ground,
}

/// The material of a field. Its texture repeats every metre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ground {
    /// The built-in carpet.
    Carpet,
    /// The built-in grass.
    Grass,
    /// A picture of the project.
    Picture(FileName),
}

/// The fence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fence {
    /// Height, 0.2 to 1 m.
    pub height: f64,
    /// Colour of all sides.
    pub colour: Colour,
}

impl Fence {
    /// Thickness of a fence.
    pub const THICKNESS_M: f64 = 0.03;
}

/// The road: a smooth line through nodes, with a width.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Whether the line continues from the last node to the first.
    pub closed: bool,
    /// Width of the road at nodes without a width of their own.
    pub width: f64,
    /// The nodes of the line: at least three, or two for an open line.
    pub nodes: Vec<Node>,
    /// The direction of travel.
    pub direction: Direction,
    /// Position of the start line: a distance along the line in the direction of travel. The
    /// distance is measured from the first node. If an open line is driven backward, the distance
    /// is measured from the last node.
    pub start: f64,
    /// The lines at both edges.
    pub outer_line: OuterLine,
    /// The dashed line in the centre; `None` for a road without a centre line.
    pub centre_line: Option<CentreLine>,
    /// Whether a start line is painted.
    pub start_line: bool,
}

/// A point of the centre line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// Position along x.
    pub x: f64,
    /// Position along y.
    pub y: f64,
    /// Width of the road at this node; `None` for [`Track::width`].
    pub width: Option<f64>,
}

/// The direction of travel on a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the first node to the second.
    Forward,
    /// Against the order of the nodes.
    Backward,
}

/// The lines at the edges of the road.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OuterLine {
    /// Width of each line; 0 for no lines.
    pub width: f64,
    /// Colour; `None` for the standard appearance.
    pub colour: Option<Colour>,
}

/// The dashed line in the centre of the road.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CentreLine {
    /// Width of the line.
    pub width: f64,
    /// Length of a dash.
    pub dash: f64,
    /// Distance between two dashes.
    pub gap: f64,
    /// Colour; `None` for the standard appearance.
    pub colour: Option<Colour>,
}

/// A picture on the floor.
#[derive(Debug, Clone, PartialEq)]
pub struct Decal {
    /// File of the picture.
    pub picture: FileName,
    /// Centre along x.
    pub x: f64,
    /// Centre along y.
    pub y: f64,
    /// Direction from the left side to the right side of the picture, as an angle from the x axis.
    pub yaw: f64,
    /// Size from left to right.
    pub width: f64,
    /// Size from bottom to top.
    pub height: f64,
}

/// An object on the field.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Name of the object. [`crate::check()`] checks that the name is valid and unique.
    pub name: String,
    /// Centre along x.
    pub x: f64,
    /// Centre along y.
    pub y: f64,
    /// Heading of the object, as an angle from the x axis.
    pub yaw: f64,
    /// Objects with the same group are selected together in an editor; `None` for an object without
    /// a group. The built world does not depend on the group.
    pub group: Option<String>,
    /// Kind and properties of the object.
    pub kind: ObjectShape,
}

/// The kind of an object, with its properties.
#[derive(Debug, Clone, PartialEq)]
pub enum ObjectShape {
    /// A box.
    Box {
        /// Size along x, y and z.
        size: [f64; 3],
        /// Mass, colour, and whether the object is static.
        body: ObstacleBody,
        /// Pictures on the faces: front (+x), back, left (+y), right, top, bottom; `None` for a
        /// face without a picture.
        faces: [Option<FileName>; 6],
    },
    /// An upright cylinder.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Height.
        height: f64,
        /// Mass, colour, and whether the object is static.
        body: ObstacleBody,
        /// Pictures on the side, the top and the bottom; `None` for a face without a picture.
        faces: [Option<FileName>; 3],
    },
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
        /// Mass, colour, and whether the object is static.
        body: ObstacleBody,
        /// A picture on the whole surface; `None` for a ball without a picture.
        surface: Option<FileName>,
    },
    /// A traffic cone on a square base.
    Cone {
        /// Side length of the base.
        base: f64,
        /// Height.
        height: f64,
        /// Mass, colour, and whether the object is static.
        body: ObstacleBody,
        /// A picture on the side; `None` for a cone without a picture.
        side: Option<FileName>,
    },
    /// A traffic light. Lights are always static.
    Light {
        /// Width of the screen. The height of the screen is 16/9 of the width.
        width: f64,
        /// Backward inclination of the screen.
        tilt: f64,
    },
}

/// The properties that all obstacles have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObstacleBody {
    /// Mass, kg.
    pub mass: f64,
    /// Whether the object cannot be pushed.
    pub is_static: bool,
    /// Colour; `None` for the standard appearance.
    pub colour: Option<Colour>,
}

/// The evaluation of a world. It defines how runs of students are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The task of a run, in words for users.
    pub description: String,
    /// Whether a lower recorded value is a better result.
    pub lower_is_better: bool,
    /// Time limit, simulated seconds.
    pub time_limit_s: f64,
    /// Generation of the car that the evaluation is made for, such as `gen1`.
    pub robot: String,
    /// Groups of HTTP paths that the judged program may use besides the robot's own: `state`,
    /// `step` and `world`. `None` for the simulator's default.
    pub allow: Option<Vec<String>>,
    /// What a seed changes in the world. Empty if every seed gives the same world.
    pub vary: Vary,
    /// The judging script; `None` if the user has not chosen a script yet. The check reports a
    /// missing script as an error.
    pub script: Option<Script>,
}

/// The source of a judging script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// A file next to the project.
    File(FileName),
    /// The built-in script that measures the time of a lap.
    LapTime,
}

impl ObjectShape {
    /// Name of the kind in the document, such as `box`.
    pub fn name(&self) -> &'static str {
        match self {
            ObjectShape::Box { .. } => "box",
            ObjectShape::Cylinder { .. } => "cylinder",
            ObjectShape::Sphere { .. } => "sphere",
            ObjectShape::Cone { .. } => "cone",
            ObjectShape::Light { .. } => "light",
        }
    }

    /// The pictures on the object.
    pub(crate) fn pictures(&self) -> Vec<&FileName> {
        match self {
            ObjectShape::Box { faces, .. } => faces.iter().flatten().collect(),
            ObjectShape::Cylinder { faces, .. } => faces.iter().flatten().collect(),
            ObjectShape::Sphere { surface, .. } => surface.iter().collect(),
            ObjectShape::Cone { side, .. } => side.iter().collect(),
            ObjectShape::Light { .. } => Vec::new(),
        }
    }
}

impl Project {
    /// The files that the project uses: pictures and the judging script. Each file is listed once,
    /// sorted by name.
    pub fn file_names(&self) -> BTreeSet<&FileName> {
        let script = match self.evaluation.as_ref().and_then(|e| e.script.as_ref()) {
            Some(Script::File(name)) => Some(name),
            Some(Script::LapTime) | None => None,
        };
        self.pictures().into_iter().map(|(_, name)| name).chain(script).collect()
    }

    /// All pictures of the project, in the order of the document. Each picture comes with the path
    /// of the field that names it. A picture that is used twice is listed twice.
    pub(crate) fn pictures(&self) -> Vec<(String, &FileName)> {
        let field = match &self.field.ground {
            Ground::Picture(file) => Some(("field.ground.picture".to_owned(), file)),
            Ground::Carpet | Ground::Grass => None,
        };
        let decals =
            self.decals.iter().enumerate().map(|(i, d)| (format!("decals[{i}].picture"), &d.picture));
        let objects = self.objects.iter().enumerate().flat_map(|(i, o)| {
            o.kind.pictures().into_iter().map(move |p| (format!("objects[{i}].textures"), p))
        });
        field.into_iter().chain(decals).chain(objects).collect()
    }
}
