//! Rules for pictures: the file exists, has a supported format and is not too large.

use super::finding::{Finding, Location, Rule};
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
                problem(name, files).map(|(rule, message)| rule.finding(Location::File { path }, message)),
            );
        }
    }
    found
}

fn problem(name: &FileName, files: &dyn Files) -> Option<(Rule, String)> {
    let Some(bytes) = files.read(name.as_str()) else {
        let message = format!(
            "The picture \"{name}\" was not found next to the project file. Add it or choose another picture."
        );
        return Some((Rule::PictureMissing, message));
    };
    let error = picture_ending(name.as_str(), &bytes).err()?;
    let pixels = imagesize::blob_size(&bytes).ok().filter(|s| s.width > 0 && s.height > 0);
    match pixels {
        Some(size) => {
            let message = format!(
                "The picture \"{name}\" is too large: {}×{} pixels, {} MiB. The limits are {} pixels per side, {} pixels in total and {} MiB.",
                size.width,
                size.height,
                bytes.len() >> 20,
                picture::MAX_SIDE,
                picture::MAX_PIXELS,
                picture::MAX_BYTES >> 20
            );
            Some((Rule::PictureTooLarge, message))
        }
        None => Some((
            Rule::PictureUnreadable,
            format!("The picture \"{name}\" cannot be read: {}.", error.message),
        )),
    }
}
