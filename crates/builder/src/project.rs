//! `Project`: what a teacher has drawn, as typed data.
//!
//! Reading ([`Project::read`]) checks every number, length and name, so that a `Project` holds
//! nothing that is out of range. Whether it makes a good world is another question, which
//! [`crate::check()`] answers. Lengths are metres, angles radians, the field's corner is (0, 0).

mod fields;
mod json;
mod names;
mod read;
mod write;

pub use fields::FIELDS;
pub use json::ReadError;
pub use names::{Colour, FileName, WorldName};
pub use read::MAX_JSON;

pub(crate) use names::is_plain;
pub(crate) use write::config as evaluation_config;

/// A builder project.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Name of the world and of its files.
    pub name: WorldName,
    /// Name for people.
    pub display_name: String,
    /// What everything stands on.
    pub field: Field,
    /// The fence round the field.
    pub fence: Option<Fence>,
    /// The road.
    pub track: Track,
    /// Pictures on the floor, the lowest first.
    pub decals: Vec<Decal>,
    /// What stands on the field.
    pub objects: Vec<Object>,
    /// How a run is judged.
    pub evaluation: Option<Evaluation>,
}

/// The floor.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Extent along x and y.
    pub size: [f64; 2],
    /// What it is covered with.
    pub ground: Ground,
}

/// What a field is covered with, in tiles of 1 m.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ground {
    /// The built-in carpet.
    Carpet,
    /// The built-in grass.
    Grass,
    /// A picture of one's own.
    Picture(FileName),
}

/// The fence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fence {
    /// 0.2 to 1 m.
    pub height: f64,
    /// Of all sides.
    pub colour: Colour,
}

impl Fence {
    /// How thick a fence is.
    pub const THICKNESS_M: f64 = 0.03;
}

/// The road: a smooth line through nodes, with a width.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Whether the last node leads to the first.
    pub closed: bool,
    /// Width where a node says nothing.
    pub width: f64,
    /// What the line goes through; three at least, two where it is open.
    pub nodes: Vec<Node>,
    /// Which way is driven.
    pub direction: Direction,
    /// Where the start line is: metres along the line from where travel begins, the first node
    /// (driving against an open line: the last).
    pub start: f64,
    /// The lines at both edges.
    pub outer_line: OuterLine,
    /// The dashed line in the middle.
    pub centre_line: Option<CentreLine>,
    /// Whether a start line is painted.
    pub start_line: bool,
}

/// A point of the centre line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Width of the road here.
    pub width: Option<f64>,
}

/// Which way a track is driven.
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
    /// 0: none is painted.
    pub width: f64,
    /// `None`: the standard look.
    pub colour: Option<Colour>,
}

/// The dashed line in the middle of the road.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CentreLine {
    /// Across.
    pub width: f64,
    /// Length of a dash.
    pub dash: f64,
    /// Length between two dashes.
    pub gap: f64,
    /// `None`: the standard look.
    pub colour: Option<Colour>,
}

/// A picture on the floor.
#[derive(Debug, Clone, PartialEq)]
pub struct Decal {
    /// Its file.
    pub picture: FileName,
    /// Its middle.
    pub x: f64,
    /// Its middle.
    pub y: f64,
    /// Which way its right side points.
    pub yaw: f64,
    /// From its left to its right side.
    pub width: f64,
    /// From its lower to its upper side.
    pub height: f64,
}

/// Something that stands on the field.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Name of its model; that it is unique and well made is checked, not read.
    pub name: String,
    /// Its middle.
    pub x: f64,
    /// Its middle.
    pub y: f64,
    /// Its heading.
    pub yaw: f64,
    /// What it is.
    pub kind: Kind,
}

/// What an object is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A box.
    Box {
        /// Along its x, y and z.
        size: [f64; 3],
        /// Mass, look, whether it stays.
        body: Body,
        /// Pictures on its faces: front (+x), back, left (+y), right, top, bottom.
        faces: [Option<FileName>; 6],
    },
    /// An upright cylinder.
    Cylinder {
        /// Metres.
        radius: f64,
        /// Metres.
        height: f64,
        /// Mass, look, whether it stays.
        body: Body,
        /// Pictures: round its side, on top, at the bottom.
        faces: [Option<FileName>; 3],
    },
    /// A ball.
    Sphere {
        /// Metres.
        radius: f64,
        /// Mass, look, whether it stays.
        body: Body,
        /// A picture all over it.
        surface: Option<FileName>,
    },
    /// A traffic cone on a square base.
    Cone {
        /// Side of its base.
        base: f64,
        /// Metres.
        height: f64,
        /// Mass, look, whether it stays.
        body: Body,
        /// A picture round its slanted side.
        side: Option<FileName>,
    },
    /// A traffic light; it never moves by itself.
    Light {
        /// Width of its screen, which is 16/9 as tall.
        width: f64,
        /// How far it leans back.
        tilt: f64,
    },
}

/// What obstacles have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Kilograms.
    pub mass: f64,
    /// Whether nothing can push it.
    pub is_static: bool,
    /// `None`: the standard look.
    pub colour: Option<Colour>,
}

/// How a run is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// What a run is about.
    pub description: String,
    /// Whether lower records are better.
    pub lower_is_better: bool,
    /// Simulated seconds.
    pub time_limit_s: f64,
    /// Robot generation.
    pub robot: String,
    /// The judging script; without one the evaluation is incomplete.
    pub script: Option<Script>,
}

/// Where a judging script comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// A file beside the project.
    File(FileName),
    /// The lap-time template.
    LapTime,
}

impl Kind {
    /// One word for it, as in the document.
    pub fn word(&self) -> &'static str {
        match self {
            Kind::Box { .. } => "box",
            Kind::Cylinder { .. } => "cylinder",
            Kind::Sphere { .. } => "sphere",
            Kind::Cone { .. } => "cone",
            Kind::Light { .. } => "light",
        }
    }

    /// The pictures on it.
    pub(crate) fn pictures(&self) -> Vec<&FileName> {
        match self {
            Kind::Box { faces, .. } => faces.iter().flatten().collect(),
            Kind::Cylinder { faces, .. } => faces.iter().flatten().collect(),
            Kind::Sphere { surface, .. } => surface.iter().collect(),
            Kind::Cone { side, .. } => side.iter().collect(),
            Kind::Light { .. } => Vec::new(),
        }
    }
}

impl Project {
    /// All pictures that the project names and where, in the order of the document; one that is
    /// named twice comes twice.
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
