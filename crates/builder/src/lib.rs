//! The core of the world builder: turns a project document into a world.
//!
//! A [`Project`] is a JSON document with field, fence, track, decals, objects and evaluation.
//! [`check()`] lists the problems of a project in plain words, and [`build`] makes a bundle from
//! the project. [`random`] generates a project with a random track. Pictures and scripts are
//! separate files, and are read through the trait [`Files`].
//!
//! This crate uses no disk, clock, network or screen. The same project gives the same bytes.
//!
//! # Example
//!
//! ```
//! use chicane_builder::{Project, Rule, build, check};
//! use chicane_world::{Assets, MemoryBundle, World};
//!
//! let document = r#"{
//!     "version": 1,
//!     "name": "loop",
//!     "field": { "size": [8, 8] },
//!     "track": {
//!         "width": 0.6,
//!         "nodes": [{ "x": 2, "y": 2 }, { "x": 6, "y": 2 }, { "x": 6, "y": 6 }, { "x": 2, "y": 6 }]
//!     },
//!     "objects": [{ "kind": "cone", "name": "cone1", "x": 4, "y": 4 }]
//! }"#;
//! let mut project = Project::read(document.as_bytes())?;
//! assert_eq!(check(&project), [], "no errors and no warnings");
//!
//! // The project uses no pictures or scripts, so there are no other files to read.
//! let bundle = build(&project, &MemoryBundle::default())?;
//! let world = World::load(&Assets::of(&bundle))?;
//! assert_eq!((world.name.as_str(), world.objects.len()), ("loop", 1));
//!
//! // A road that is too wide leaves the field.
//! project.track.width = 3.0;
//! assert!(check(&project).iter().any(|finding| finding.rule == Rule::RoadOutside));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bundle;
pub mod check;
pub mod files;
mod footprint;
mod grid;
mod mesh;
mod objects;
mod pictures;
pub mod preview;
pub mod project;
pub mod random;
mod road;
mod shapes;
mod spline;
pub mod templates;
pub mod track_line;

pub use bundle::{BuildError, Rules, build, rules};
pub use check::{Finding, Location, Rule, Severity, check, check_files};
pub use files::Files;
pub use preview::{Preview, preview};
pub use project::{Project, ReadError};
pub use random::{RandomError, RandomTrackOptions};
pub use track_line::TrackLine;
