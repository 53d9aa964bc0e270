//! Writes a print as a JPEG file while it is drawn.

use super::{Print, STRIP_ROWS};
use jpeg_encoder::{
    Encoder, EncodingError, ImageBuffer, JpegColorType, PixelDensity, SamplingFactor, rgb_to_ycbcr,
};
use std::cell::RefCell;
use std::io::{Error, Write};

/// JPEG quality, 1 to 100.
const QUALITY: u8 = 90;

impl Print {
    /// Writes the print as a JPEG file with its resolution in the header. Returns the first error
    /// of the writer.
    pub fn write_jpeg(&self, to: impl Write) -> Result<(), Error> {
        self.write_jpeg_with_progress(to, |_| ())
    }

    /// Does the same as [`Print::write_jpeg`]. Also calls `done` after each strip, with the
    /// fraction of the print that is drawn, 0 to 1.
    pub fn write_jpeg_with_progress(&self, to: impl Write, done: impl FnMut(f64)) -> Result<(), Error> {
        let mut encoder = Encoder::new(to, QUALITY);
        encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
        encoder.set_density(PixelDensity::dpi(self.dpi));
        let rows = PrintRows { print: self, strip: RefCell::default(), done: RefCell::new(done) };
        encoder.encode_image(rows).map_err(|e| match e {
            EncodingError::IoError(error) => error,
            other => Error::other(other.to_string()),
        })
    }
}

/// The image that the encoder reads. A strip is drawn when the encoder reads the first row of the
/// strip.
struct PrintRows<'a, D> {
    print: &'a Print,
    strip: RefCell<Strip>,
    done: RefCell<D>,
}

/// The most recently drawn strip.
#[derive(Default)]
struct Strip {
    bytes: Vec<u8>,
    first_row: Option<usize>,
}

impl<D: FnMut(f64)> ImageBuffer for PrintRows<'_, D> {
    fn get_jpeg_color_type(&self) -> JpegColorType {
        JpegColorType::Ycbcr
    }

    fn width(&self) -> u16 {
        self.print.width as u16
    }

    fn height(&self) -> u16 {
        self.print.height as u16
    }

    fn fill_buffers(&self, y: u16, buffers: &mut [Vec<u8>; 4]) {
        let mut strip = self.strip.borrow_mut();
        let (row, length) = (usize::from(y), self.print.width * 3);
        let first = row - row % STRIP_ROWS;
        if strip.first_row != Some(first) {
            self.print.strip(first, &mut strip.bytes);
            strip.first_row = Some(first);
            let drawn = (first + STRIP_ROWS).min(self.print.height);
            self.done.borrow_mut()(drawn as f64 / self.print.height as f64);
        }
        let (pixels, _) = strip.bytes[(row - first) * length..][..length].as_chunks::<3>();
        let [luma, blue, red, _] = buffers;
        luma.extend(pixels.iter().map(|[r, g, b]| rgb_to_ycbcr(*r, *g, *b).0));
        blue.extend(pixels.iter().map(|[r, g, b]| rgb_to_ycbcr(*r, *g, *b).1));
        red.extend(pixels.iter().map(|[r, g, b]| rgb_to_ycbcr(*r, *g, *b).2));
    }
}
