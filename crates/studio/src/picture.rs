//! Files that a user adds to a project: pictures, which are decoded and encoded again, and judging
//! scripts.
//!
//! A picture is encoded again, so that the stored file contains only pixels: no metadata such as
//! the location of a photo, and no bytes that another program could execute as a script.

use chicane_builder::project::FileName;
use chicane_render::{Jpeg, Rgb};
use chicane_store::NewFile;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, Limits};
use imagesize::ImageType;
use std::io::Cursor;

/// Largest uploaded picture, in bytes.
pub const MAX_PICTURE_BYTES: usize = 8 << 20;
/// Largest script, in bytes.
pub const MAX_SCRIPT_BYTES: usize = 256 << 10;
/// Largest width and height of a picture, in pixels.
const MAX_SIDE: u32 = 8192;
/// Largest number of pixels of a picture.
const MAX_PIXELS: u64 = 32 << 20;
/// Largest memory for decoding a picture, in bytes.
const MAX_MEMORY: u64 = 512 << 20;
/// Quality of JPEG files, 1 to 100.
const QUALITY: u8 = 92;

/// Why a file can't be added to a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The name is not allowed for a file of a project.
    #[error("{0:?} can't be the name of a file: use {rule}", rule = FileName::RULE)]
    Name(String),
    /// The name does not end like the name of a picture or a script.
    #[error("{0:?} must end with .png, .jpg, .jpeg or .py")]
    Ending(String),
    /// The file is neither a PNG nor a JPEG picture.
    #[error("{0:?} is not a PNG or JPEG picture")]
    NotAPicture(String),
    /// The format of the content is not the one that the name's ending stands for.
    #[error("{name:?} is a {found} picture: give it a name that ends with {ending}")]
    OtherFormat {
        /// Name of the file.
        name: String,
        /// The format of the content.
        found: &'static str,
        /// The ending of that format.
        ending: &'static str,
    },
    /// The picture has too many pixels, or none.
    #[error(
        "{name:?} has {width} × {height} pixels: at most {MAX_SIDE} per side and {MAX_PIXELS} in total are allowed"
    )]
    TooManyPixels {
        /// Name of the file.
        name: String,
        /// Pixels per row.
        width: u32,
        /// Number of rows.
        height: u32,
    },
    /// The picture is damaged.
    #[error("{name:?} can't be decoded: {reason}")]
    Damaged {
        /// Name of the file.
        name: String,
        /// The error of the decoder.
        reason: String,
    },
    /// The file is too large.
    #[error("{name:?} has {bytes} bytes: at most {max} are allowed")]
    TooLarge {
        /// Name of the file.
        name: String,
        /// Size of the file.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The script is not text.
    #[error("{0:?} is not UTF-8 text without NUL")]
    NotText(String),
}

/// Checks a file and, if it is a picture, encodes it again.
pub(crate) fn prepare(name: &str, bytes: &[u8]) -> Result<NewFile, FileError> {
    let shown: String = name.chars().take(80).collect();
    if FileName::parse(name).is_none() {
        return Err(FileError::Name(shown));
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let (size, bytes) = match ending.as_str() {
        "png" => picture(&shown, bytes, ImageFormat::Png)?,
        "jpg" | "jpeg" => picture(&shown, bytes, ImageFormat::Jpeg)?,
        "py" => (None, script(&shown, bytes)?),
        _ => return Err(FileError::Ending(shown)),
    };
    Ok(NewFile { name: name.to_owned(), bytes, size })
}

/// A file that is part of Chicane. It is stored unchanged.
pub(crate) fn shipped(name: &str, bytes: &[u8]) -> NewFile {
    let size = imagesize::blob_size(bytes).ok().map(|s| [s.width as u32, s.height as u32]);
    NewFile { name: name.to_owned(), bytes: bytes.to_vec(), size }
}

fn script(name: &str, bytes: &[u8]) -> Result<Vec<u8>, FileError> {
    within(name, bytes, MAX_SCRIPT_BYTES)?;
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(bytes.to_vec()),
        _ => Err(FileError::NotText(name.to_owned())),
    }
}

fn within(name: &str, bytes: &[u8], max: usize) -> Result<(), FileError> {
    if bytes.len() <= max {
        return Ok(());
    }
    Err(FileError::TooLarge { name: name.to_owned(), bytes: bytes.len(), max })
}

fn picture(name: &str, bytes: &[u8], format: ImageFormat) -> Result<(Option<[u32; 2]>, Vec<u8>), FileError> {
    within(name, bytes, MAX_PICTURE_BYTES)?;
    let found = match imagesize::image_type(bytes) {
        Ok(ImageType::Png) => ImageFormat::Png,
        Ok(ImageType::Jpeg) => ImageFormat::Jpeg,
        _ => return Err(FileError::NotAPicture(name.to_owned())),
    };
    if found != format {
        let (found, ending) = if found == ImageFormat::Png { ("PNG", ".png") } else { ("JPEG", ".jpg") };
        return Err(FileError::OtherFormat { name: name.to_owned(), found, ending });
    }
    let decoded = decode(name, bytes, format)?;
    let (width, height) = (decoded.width(), decoded.height());
    let damaged = |reason: String| FileError::Damaged { name: name.to_owned(), reason };
    let encoded = match format {
        ImageFormat::Jpeg => {
            let bytes = decoded.into_rgb8().into_raw();
            let picture = Rgb { width: width as usize, height: height as usize, bytes };
            Jpeg::new(QUALITY).encode(&picture).map_err(|e| damaged(e.to_string()))?
        }
        _ => png(&decoded).map_err(|e| damaged(e.to_string()))?,
    };
    Ok((Some([width, height]), encoded))
}

/// Decodes a stored picture.
pub(crate) fn decoded(name: &str, bytes: &[u8]) -> Result<DynamicImage, FileError> {
    let format = match imagesize::image_type(bytes) {
        Ok(ImageType::Png) => ImageFormat::Png,
        Ok(ImageType::Jpeg) => ImageFormat::Jpeg,
        _ => return Err(FileError::NotAPicture(name.to_owned())),
    };
    decode(name, bytes, format)
}

fn png(decoded: &DynamicImage) -> image::ImageResult<Vec<u8>> {
    let (colour, pixels) = match decoded.color().has_alpha() {
        true => (ExtendedColorType::Rgba8, decoded.to_rgba8().into_raw()),
        false => (ExtendedColorType::Rgb8, decoded.to_rgb8().into_raw()),
    };
    let mut file = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Default, FilterType::Adaptive);
    encoder.write_image(&pixels, decoded.width(), decoded.height(), colour)?;
    Ok(file)
}

/// Decodes a picture, and rotates or mirrors it by the orientation in its metadata.
fn decode(name: &str, bytes: &[u8], format: ImageFormat) -> Result<DynamicImage, FileError> {
    let damaged = |e: image::ImageError| FileError::Damaged { name: name.to_owned(), reason: e.to_string() };
    // The decoder allocates memory for all pixels, so the size in the header is checked first.
    let size = imagesize::blob_size(bytes)
        .map_err(|e| FileError::Damaged { name: name.to_owned(), reason: e.to_string() })?;
    let [width, height] = [size.width, size.height].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
    let pixels = u64::from(width) * u64::from(height);
    if width.max(height) > MAX_SIDE || pixels > MAX_PIXELS || pixels == 0 {
        return Err(FileError::TooManyPixels { name: name.to_owned(), width, height });
    }
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    let orientation = decoder.orientation().map_err(damaged)?;
    let mut decoded = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    decoded.apply_orientation(orientation);
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_of(width: u32, height: u32) -> Vec<u8> {
        png(&DynamicImage::new_rgb8(width, height)).expect("encoded")
    }

    #[test]
    fn a_picture_keeps_its_pixels_and_loses_everything_else() {
        let mut picture = image::RgbaImage::new(5, 3);
        picture.put_pixel(2, 1, image::Rgba([10, 20, 30, 40]));
        let plain = png(&DynamicImage::ImageRgba8(picture.clone())).expect("encoded");
        // A text chunk is inserted after the header. Cameras and editors write such chunks.
        let mut chunk = b"\0\0\0\x09tEXtsecret\0it".to_vec();
        chunk.extend([0; 4]);
        let mut noisy = plain[..33].to_vec();
        noisy.extend(&chunk);
        noisy.extend(&plain[33..]);
        noisy.extend(b"<script>alert(1)</script>");
        let stored = match prepare("a.png", &noisy) {
            Ok(file) => file,
            // The decoder may refuse the checksum of the inserted chunk. Then nothing is stored.
            Err(FileError::Damaged { .. }) => prepare("a.png", &plain).expect("a picture"),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(stored.size, Some([5, 3]));
        for word in [&b"secret"[..], b"script"] {
            assert!(!stored.bytes.windows(word.len()).any(|part| part == word));
        }
        let again = image::load_from_memory(&stored.bytes).expect("a picture").to_rgba8();
        assert_eq!(again.into_raw(), picture.into_raw());
        assert_eq!(
            prepare("a.png", &stored.bytes).expect("a picture"),
            stored,
            "the second time changes nothing"
        );
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        let good = png_of(4, 4);
        let name = |name: &str| prepare(name, &good).expect_err("refused");
        for bad in ["../a.png", "/a.png", ".a.png", "a\\b.png", "a:b.png", "", "x/../y.png", "a\n.png"] {
            assert!(matches!(name(bad), FileError::Name(_)), "{bad}");
        }
        for bad in ["a.svg", "a", "a.png.html", "a.exe", "a.gif"] {
            assert!(matches!(name(bad), FileError::Ending(_)), "{bad}");
        }
        assert!(matches!(name("a.jpg"), FileError::OtherFormat { .. }));
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
        assert!(matches!(prepare("a.png", svg), Err(FileError::NotAPicture(_))));
        assert!(matches!(prepare("a.png", b""), Err(FileError::NotAPicture(_))));
        assert!(matches!(prepare("a.png", &good[..40]), Err(FileError::Damaged { .. })));
        assert!(matches!(prepare("a.py", b"\xff\xfe"), Err(FileError::NotText(_))));
        assert!(matches!(prepare("a.py", b"a\0b"), Err(FileError::NotText(_))));
        let long = vec![b'#'; MAX_SCRIPT_BYTES + 1];
        assert!(matches!(prepare("a.py", &long), Err(FileError::TooLarge { .. })));
        assert!(prepare("a.py", &long[1..]).is_ok());
    }

    #[test]
    fn a_picture_with_too_many_pixels_is_refused_before_it_is_decoded() {
        for (width, height) in [(60_000u32, 60_000u32), (8193, 1), (1, 8193), (8192, 8192)] {
            let mut header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
            header.extend(width.to_be_bytes());
            header.extend(height.to_be_bytes());
            header.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
            let refused = prepare("a.png", &header).expect_err("refused");
            assert!(matches!(refused, FileError::TooManyPixels { .. }), "{refused}");
        }
    }
}
