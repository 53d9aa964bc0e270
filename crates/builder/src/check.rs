//! Checks a project and describes its problems in plain words.
//!
//! [`check()`] checks the document only, and is fast enough to run while the user drags a node of
//! the track. [`check_files`] checks the files next to the document. An error prevents the build of
//! a world, but a warning does not.

mod evaluation;
mod finding;
mod objects;
mod pictures;
mod road;

pub use finding::{Finding, Location, Rule, Severity};
pub(crate) use road::overlapping;

use crate::files::Files;
use crate::project::Project;
use crate::track_line::TrackLine;

/// Checks the document: the road first, then objects and decals, then the evaluation.
pub fn check(project: &Project) -> Vec<Finding> {
    check_along(project, &TrackLine::of(&project.track))
}

/// Does the same as [`check()`] for a caller that has already computed the centre line.
pub(crate) fn check_along(project: &Project, line: &TrackLine) -> Vec<Finding> {
    let mut found = road::check(project, line);
    found.extend(objects::check(project, line));
    found.extend(evaluation::check(project));
    found
}

/// Checks the pictures and the script next to the document.
pub fn check_files(project: &Project, files: &dyn Files) -> Vec<Finding> {
    let mut found = pictures::check(project, files);
    found.extend(evaluation::check_script(project, files));
    found
}
