//! The files next to a project: pictures and scripts, by relative name.

use chicane_world::{MemoryBundle, picture};
use image::{DynamicImage, ImageError, ImageFormat, ImageReader, Limits};
use imagesize::ImageType;
use std::borrow::Cow;
use std::io::Cursor;

/// Access to the files next to a project.
pub trait Files {
    /// The bytes of a file, or `None` if the file does not exist or cannot be read. The name is
    /// relative and stays within the project's folder.
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>>;
}

impl Files for MemoryBundle {
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.files.get(name).map(|b| Cow::Borrowed(b.as_slice()))
    }
}

/// Maximum memory for decoding one picture, bytes.
const MAX_MEMORY: u64 = 1 << 30;

/// Decodes a picture. The caller has already checked the header of the picture.
pub(crate) fn decode(bytes: &[u8]) -> Result<DynamicImage, ImageError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_MEMORY);
    reader.limits(limits);
    reader.decode()
}

/// Converts a picture to a PNG file. `bytes` is the file of the picture. A file that is already a
/// PNG file is returned unchanged.
pub(crate) fn as_png(bytes: Cow<'_, [u8]>, decoded: &DynamicImage) -> Result<Vec<u8>, ImageError> {
    if matches!(imagesize::image_type(&bytes), Ok(ImageType::Png)) {
        return Ok(bytes.into_owned());
    }
    let mut png = Cursor::new(Vec::new());
    decoded.to_rgba8().write_to(&mut png, ImageFormat::Png)?;
    Ok(png.into_inner())
}

/// Checks that a picture can be used in a world. Returns the file extension of its format.
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
