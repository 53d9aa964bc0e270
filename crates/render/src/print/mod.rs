//! A picture of a world's floor from above, for printing.
//!
//! Theory of operation. A print is true to scale and shows what lies flat on the ground, in its own
//! colours: no perspective, no light, no shadow, and nothing that stands there. It can have a billion
//! pixels, so it is never whole in memory: `floor` keeps the flat triangles, in metres; strips of rows are
//! drawn one after another, each in cells side by side (`cell`), with the same rasteriser that draws what the
//! camera sees; `jpeg` packs them row by row into a writer. Cells don't know of each other, so the bytes
//! don't depend on the number of threads.

mod cell;
mod floor;
mod jpeg;

use cell::Scratch;
use chicane_world::World;
use floor::Floor;
use rayon::prelude::*;
use std::fmt;

/// Metres of an inch.
const INCH_M: f64 = 0.0254;
/// Pixels of a side that a JPEG file can have.
pub const MAX_SIDE: usize = 65_535;
/// Rows of a strip.
pub const STRIP_ROWS: usize = 64;
/// Up to this many pixels an inch each is the mean of four: edges of coarse prints are smooth.
const COARSE_DPI: u16 = 75;

/// A print that can be drawn.
pub struct Print {
    floor: Floor,
    dpi: u16,
    width: usize,
    height: usize,
    /// Samples along each side of a pixel.
    samples: usize,
}

/// Why there is no print.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PrintError {
    /// Nothing lies on the floor.
    NoFloor,
    /// More pixels than a JPEG file can have.
    TooLarge {
        /// Size of the floor, m.
        size_m: [f64; 2],
        /// The finest print that would fit; 0 if none does.
        max_dpi: u16,
    },
}

impl fmt::Display for PrintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrintError::NoFloor => write!(f, "nothing lies on the floor of this world"),
            PrintError::TooLarge { size_m: [x, y], max_dpi: 0 } => {
                write!(f, "a floor of {x:.1} × {y:.1} m is too large to be printed")
            }
            PrintError::TooLarge { size_m: [x, y], max_dpi } => write!(
                f,
                "a floor of {x:.1} × {y:.1} m fits at up to {max_dpi} dpi: a JPEG ends at {MAX_SIDE} pixels a side"
            ),
        }
    }
}

impl std::error::Error for PrintError {}

impl Print {
    /// A print of a world's floor with so many pixels an inch.
    pub fn new(world: &World, dpi: u16) -> Result<Print, PrintError> {
        let dpi = dpi.max(1);
        let floor = Floor::new(world).ok_or(PrintError::NoFloor)?;
        let size = floor.max - floor.min;
        let side = |metres: f64, dpi: u16| (metres / INCH_M * f64::from(dpi)).round().max(1.0);
        let longest = size.x.max(size.y);
        let fits = |dpi: &u16| side(longest, *dpi) <= MAX_SIDE as f64;
        if !fits(&dpi) {
            let max_dpi = (1..dpi).rev().find(fits).unwrap_or(0);
            return Err(PrintError::TooLarge { size_m: size.to_array(), max_dpi });
        }
        let (width, height) = (side(size.x, dpi) as usize, side(size.y, dpi) as usize);
        let samples = if dpi <= COARSE_DPI { 2 } else { 1 };
        Ok(Print { floor, dpi, width, height, samples })
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Pixels an inch.
    pub fn dpi(&self) -> u16 {
        self.dpi
    }

    /// Pixels a metre.
    pub fn pixels_per_metre(&self) -> f64 {
        f64::from(self.dpi) / INCH_M
    }

    /// Where a point of the world is, in pixels from the upper left corner: x is right, y is up.
    pub fn place(&self, x: f64, y: f64) -> [f64; 2] {
        let scale = self.pixels_per_metre();
        [(x - self.floor.min.x) * scale, (self.floor.max.y - y) * scale]
    }

    /// Draws the strip of [`STRIP_ROWS`] rows (the last has fewer) that begins with this row: red, green
    /// and blue, 8 bits each, row by row.
    pub fn strip(&self, first_row: usize, to: &mut Vec<u8>) {
        let rows = STRIP_ROWS.min(self.height.saturating_sub(first_row));
        to.clear();
        to.resize(rows * self.width * 3, 0);
        let in_strip = self.floor.between_rows(self, first_row, rows);
        let cells: Vec<Vec<u8>> = cell::columns(self)
            .into_par_iter()
            .map_init(Scratch::default, |scratch, columns| {
                scratch.draw(self, &in_strip, columns, first_row..first_row + rows)
            })
            .collect();
        for (columns, cell) in cell::columns(self).into_iter().zip(&cells) {
            let length = columns.len() * 3;
            for (row, from) in cell.chunks_exact(length).enumerate() {
                let at = (row * self.width + columns.start) * 3;
                to[at..at + length].copy_from_slice(from);
            }
        }
    }
}
