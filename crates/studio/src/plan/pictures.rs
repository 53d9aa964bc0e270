//! The pictures of a project, reduced to the size that its plan needs.

use crate::picture;
use chicane_builder::Files;
use chicane_builder::project::{FileName, Project};
use glam::DVec2;
use image::RgbaImage;
use std::collections::BTreeMap;

/// Largest side of a reduced picture, in pixels.
const SIDE: u32 = 192;
/// Maximum number of pixels that are decoded for one plan. A picture that would exceed this number
/// is drawn as an area of one colour.
const MAX_PIXELS: u64 = 48 << 20;

/// The decoded pictures of a project by their names.
pub(super) struct Pictures(BTreeMap<String, RgbaImage>);

impl Pictures {
    /// Decodes the pictures that a project names. A picture that is missing, damaged or too large
    /// is omitted.
    pub(super) fn of(project: &Project, files: &dyn Files) -> Pictures {
        let mut room = MAX_PIXELS;
        let mut found = BTreeMap::new();
        for name in project.file_names() {
            let Some(bytes) = files.read(name.as_str()) else { continue };
            let Ok(size) = imagesize::blob_size(&bytes) else { continue };
            let pixels = (size.width as u64).saturating_mul(size.height as u64);
            if pixels > room {
                continue;
            }
            room -= pixels;
            if let Ok(picture) = picture::decoded(name.as_str(), &bytes) {
                found.insert(name.to_string(), picture.thumbnail(SIDE, SIDE).into_rgba8());
            }
        }
        Pictures(found)
    }

    pub(super) fn get(&self, name: &FileName) -> Option<&RgbaImage> {
        self.0.get(name.as_str())
    }
}

/// The colour of a picture at texture coordinates: (0, 0) is its lower left corner, (1, 1) its
/// upper right corner. Beyond this range the picture repeats.
pub(super) fn colour_at(picture: &RgbaImage, at: DVec2) -> [u8; 4] {
    let pixel = |part: f64, side: u32| {
        let wrapped = part - part.floor();
        ((wrapped * f64::from(side)) as u32).min(side.saturating_sub(1))
    };
    picture.get_pixel(pixel(at.x, picture.width()), pixel(1.0 - at.y, picture.height())).0
}
