//! Writes a print as a JPEG file while it is drawn.

use super::{Print, STRIP_ROWS};
use crate::jpeg::{Jpeg, ROWS_PER_BAND};
use std::io::{Error, Write};

/// JPEG quality, 1 to 100.
const QUALITY: u8 = 90;
/// A strip has as many rows as a JPEG band, so that a strip can be encoded without the other
/// strips.
const _: () = assert!(STRIP_ROWS == ROWS_PER_BAND);

impl Print {
    /// Writes the print as a JPEG file with its resolution in the header. Returns the first error
    /// of the writer.
    pub fn write_jpeg(&self, to: impl Write) -> Result<(), Error> {
        self.write_jpeg_with_progress(to, |_| ())
    }

    /// Does the same as [`Print::write_jpeg`]. Also calls `done` after each strip, with the
    /// fraction of the print that is drawn, 0 to 1.
    pub fn write_jpeg_with_progress(
        &self,
        mut to: impl Write,
        mut done: impl FnMut(f64),
    ) -> Result<(), Error> {
        let jpeg = Jpeg::new(QUALITY);
        let header = jpeg.header(self.width, self.height, Some(self.dpi));
        to.write_all(&header.map_err(Error::other)?)?;
        let (mut strip, mut next) = (Vec::new(), Vec::new());
        self.strip(0, &mut strip);
        for first_row in (0..self.height).step_by(STRIP_ROWS) {
            let end = (first_row + STRIP_ROWS).min(self.height);
            done(end as f64 / self.height as f64);
            // The next strip is drawn while this one is encoded.
            let encode = || jpeg.band(&strip, self.width, first_row / STRIP_ROWS, end == self.height);
            let draw = || {
                if end < self.height {
                    self.strip(end, &mut next);
                }
            };
            let (band, ()) = rayon::join(encode, draw);
            to.write_all(&band)?;
            std::mem::swap(&mut strip, &mut next);
        }
        Ok(())
    }
}
