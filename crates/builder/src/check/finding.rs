//! The findings of the check, and the rules that they violate.

use glam::DVec2;
use std::fmt;

/// A problem of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The violated rule.
    pub rule: Rule,
    /// The severity of the rule.
    pub severity: Severity,
    /// The location in the document.
    pub location: Location,
    /// The position on the field, m; `None` if the finding has no position.
    pub at: Option<DVec2>,
    /// The problem, and how to solve it.
    pub message: String,
}

impl Finding {
    /// The same finding at a position on the field.
    pub(crate) fn at(self, at: DVec2) -> Finding {
        Finding { at: Some(at), ..self }
    }
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The world cannot be built.
    Error,
    /// The world can be built, but may not be as intended.
    Warning,
}

/// The location of a finding. Indices start at 0, as in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A node of the track.
    Node(usize),
    /// The track as a whole.
    Track,
    /// An object.
    Object {
        /// Index of the object.
        index: usize,
        /// Name of the object.
        name: String,
    },
    /// A decal.
    Decal(usize),
    /// The evaluation.
    Evaluation,
    /// A field of the document that names a file.
    File {
        /// Path of the field, such as `decals[2].picture`.
        path: String,
    },
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Node(i) => write!(f, "track.nodes[{i}]"),
            Location::Track => f.write_str("track"),
            Location::Object { index, name } => write!(f, "objects[{index}] ({name})"),
            Location::Decal(i) => write!(f, "decals[{i}]"),
            Location::Evaluation => f.write_str("evaluation"),
            Location::File { path } => f.write_str(path),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity} {}: {}: {}", self.rule.id(), self.location, self.message)
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])+ $name:ident $id:literal $severity:ident,)+) => {
        /// The rules for projects.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule { $($(#[$doc])+ $name,)+ }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[$(Rule::$name,)+];

            /// Identifier of the rule in reports.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// Severity of a violation.
            pub fn severity(self) -> Severity {
                match self { $(Rule::$name => Severity::$severity,)+ }
            }
        }
    };
}

rules! {
    /// Two consecutive nodes are too close to each other.
    NodesTooClose "nodes-too-close" Error,
    /// The track is longer than the maximum.
    TrackTooLong "track-too-long" Error,
    /// The start line of an open track is beyond the end of the track, or too near to the end.
    StartOutside "start-outside" Error,
    /// The centre line crosses itself.
    CrossesItself "crosses-itself" Error,
    /// The radius of a bend is below the minimum turning radius of the car.
    BendTooTight "bend-too-tight" Error,
    /// The inner border of a bend overlaps itself.
    BorderFolds "border-folds" Error,
    /// Two parts of the road overlap.
    RoadOverlaps "road-overlaps" Error,
    /// The road overlaps the fence or leaves the field.
    RoadOutside "road-outside" Error,
    /// An object's name is empty, or contains other characters than `A-Za-z0-9_`.
    NameCharacters "name-characters" Error,
    /// Two objects have the same name.
    NameTaken "name-taken" Error,
    /// An object has a name that is reserved for the simulator.
    NameReserved "name-reserved" Error,
    /// An object overlaps the fence, or is not completely on the field.
    ObjectOutside "object-outside" Error,
    /// Two objects overlap.
    ObjectsOverlap "objects-overlap" Error,
    /// An object is on the road.
    ObjectOnRoad "object-on-road" Warning,
    /// A decal extends beyond the field.
    DecalOutside "decal-outside" Warning,
    /// The file of a picture is missing.
    PictureMissing "picture-missing" Error,
    /// A file is not a picture of a supported format.
    PictureUnreadable "picture-unreadable" Error,
    /// A picture has too many bytes or pixels.
    PictureTooLarge "picture-too-large" Error,
    /// The evaluation has no usable script.
    EvaluationIncomplete "evaluation-incomplete" Error,
}

impl Rule {
    pub(crate) fn finding(self, location: Location, message: String) -> Finding {
        Finding { rule: self, severity: self.severity(), location, at: None, message }
    }
}
