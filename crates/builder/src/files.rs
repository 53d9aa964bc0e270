//! The files beside a project: pictures and scripts, by relative name.

use chicane_world::{MemoryBundle, picture};
use imagesize::ImageType;
use std::borrow::Cow;

/// Where the files beside a project come from.
pub trait Files {
    /// The bytes of a file, or `None` where there is none (or none that can be read). The name
    /// is relative and never leads out of the project's folder.
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>>;
}

impl Files for MemoryBundle {
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.files.get(name).map(|b| Cow::Borrowed(b.as_slice()))
    }
}

/// No files at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Option<Cow<'_, [u8]>> {
        None
    }
}

/// Whether the bytes are a picture that a world may hold, and the ending its name should have.
pub(crate) fn picture_ending(name: &str, bytes: &[u8]) -> Result<&'static str, chicane_world::Error> {
    picture::check(name, bytes)?;
    Ok(match imagesize::image_type(bytes) {
        Ok(ImageType::Jpeg) => "jpg",
        Ok(ImageType::Gif) => "gif",
        Ok(ImageType::Bmp) => "bmp",
        Ok(ImageType::Tga) => "tga",
        Ok(ImageType::Webp) => "webp",
        _ => "png",
    })
}
