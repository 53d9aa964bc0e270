//! What is wrong with a project, in words that a teacher understands.
//!
//! [`check()`] looks at the document alone and is cheap enough for every move of a mouse;
//! [`check_files`] looks at the files beside it. An error keeps a world from being built, a
//! warning does not.

mod evaluation;
mod objects;
mod pictures;
mod road;

use crate::files::Files;
use crate::line::Line;
use crate::project::Project;
use std::fmt;

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule is broken.
    pub rule: Rule,
    /// How bad that is.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What is wrong and what would help.
    pub message: String,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No world can be built.
    Error,
    /// A world can be built; it may not be what was meant.
    Warning,
}

/// Where something was found. Numbers count from 0, as the document does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A node of the track.
    Node(usize),
    /// The track as a whole.
    Track,
    /// An object.
    Object {
        /// Its number.
        index: usize,
        /// Its name.
        name: String,
    },
    /// A decal.
    Decal(usize),
    /// The evaluation.
    Evaluation,
    /// A field of the document that names a file.
    File {
        /// `decals[2].picture`
        path: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Node(i) => write!(f, "track.nodes[{i}]"),
            Place::Track => f.write_str("track"),
            Place::Object { index, name } => write!(f, "objects[{index}] ({name})"),
            Place::Decal(i) => write!(f, "decals[{i}]"),
            Place::Evaluation => f.write_str("evaluation"),
            Place::File { path } => f.write_str(path),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity} {}: {}: {}", self.rule.id(), self.place, self.message)
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])+ $name:ident $id:literal $severity:ident,)+) => {
        /// The rules of a good project.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule { $($(#[$doc])+ $name,)+ }

        impl Rule {
            /// All of them.
            pub const ALL: &[Rule] = &[$(Rule::$name,)+];

            /// Its name in lists and answers.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// How bad it is to break it.
            pub fn severity(self) -> Severity {
                match self { $(Rule::$name => Severity::$severity,)+ }
            }
        }
    };
}

rules! {
    /// Two nodes that follow each other are in the same place.
    NodesTooClose "nodes-too-close" Error,
    /// The line is longer than can be sampled finely.
    TrackTooLong "track-too-long" Error,
    /// The start line of an open track lies beyond its end.
    StartOutside "start-outside" Error,
    /// The centre line crosses itself.
    CrossesItself "crosses-itself" Error,
    /// The car can't steer this bend.
    BendTooTight "bend-too-tight" Error,
    /// The inner border of a bend folds over.
    BorderFolds "border-folds" Error,
    /// Two parts of the road lie on each other.
    RoadOverlaps "road-overlaps" Error,
    /// The road leaves the field.
    RoadOutside "road-outside" Error,
    /// An object's name holds other characters than `A-Za-z0-9_`.
    NameCharacters "name-characters" Error,
    /// Two objects have the same name.
    NameTaken "name-taken" Error,
    /// An object has a name that the simulator uses itself.
    NameReserved "name-reserved" Error,
    /// An object stands in the fence or outside of the field.
    ObjectOutside "object-outside" Error,
    /// Two objects stand in each other.
    ObjectsOverlap "objects-overlap" Error,
    /// An object stands on the road.
    ObjectOnRoad "object-on-road" Warning,
    /// A decal reaches beyond the field.
    DecalOutside "decal-outside" Warning,
    /// A picture is not there.
    PictureMissing "picture-missing" Error,
    /// A file is no picture that is known.
    PictureUnreadable "picture-unreadable" Error,
    /// A picture has too many bytes or pixels.
    PictureTooLarge "picture-too-large" Error,
    /// The evaluation has no script that could judge.
    EvaluationIncomplete "evaluation-incomplete" Error,
}

impl Rule {
    pub(crate) fn broken(self, place: Place, message: String) -> Finding {
        Finding { rule: self, severity: self.severity(), place, message }
    }
}

/// Looks at the document: the road first, then objects and decals, then the evaluation.
pub fn check(project: &Project) -> Vec<Finding> {
    let line = Line::of(&project.track);
    let mut found = road::check(project, &line);
    found.extend(objects::check(project, &line));
    found.extend(evaluation::check(project));
    found
}

/// Looks at the pictures and the script beside the document.
pub fn check_files(project: &Project, files: &dyn Files) -> Vec<Finding> {
    let mut found = pictures::check(project, files);
    found.extend(evaluation::check_script(project, files));
    found
}
