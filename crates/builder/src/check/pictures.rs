//! Rules of pictures: they are there, are pictures, and are not too large.

use super::{Finding, Place, Rule};
use crate::files::{Files, picture_ending};
use crate::project::{FileName, Project};
use chicane_world::picture;
use std::collections::BTreeSet;

pub(super) fn check(project: &Project, files: &dyn Files) -> Vec<Finding> {
    let mut seen: BTreeSet<&FileName> = BTreeSet::new();
    let mut found = Vec::new();
    for (path, name) in project.pictures() {
        if seen.insert(name) {
            found.extend(
                problem(name, files).map(|(rule, message)| rule.broken(Place::File { path }, message)),
            );
        }
    }
    found
}

fn problem(name: &FileName, files: &dyn Files) -> Option<(Rule, String)> {
    let Some(bytes) = files.read(name.as_str()) else {
        return Some((Rule::PictureMissing, format!("There is no picture {name} beside the project.")));
    };
    let error = picture_ending(name.as_str(), &bytes).err()?;
    let pixels = imagesize::blob_size(&bytes).ok().filter(|s| s.width > 0 && s.height > 0);
    match pixels {
        Some(size) => {
            let message = format!(
                "The picture {name} is too large: {}×{} pixels, {} MiB. At most {} pixels a side, {} in all and {} MiB.",
                size.width,
                size.height,
                bytes.len() >> 20,
                picture::MAX_SIDE,
                picture::MAX_PIXELS,
                picture::MAX_BYTES >> 20
            );
            Some((Rule::PictureTooLarge, message))
        }
        None => Some((Rule::PictureUnreadable, format!("{name} is {}.", error.message))),
    }
}
