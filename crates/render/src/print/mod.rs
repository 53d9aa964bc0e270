//! A picture of the floor of a world from above, for printing.
//!
//! Theory of operation. A print is true to scale. It shows the surfaces that lie flat on the ground
//! in their own colours, without perspective, light, shadows, or objects that stand on the ground.
//!
//! A print can have a billion pixels, so the whole print is never in memory at once. `floor` keeps
//! the flat triangles in metres. The print is drawn in strips of rows. Each strip consists of cells
//! side by side (`cell`). The rasteriser that draws the camera's pictures also draws the cells.
//! `jpeg` encodes the strips into a writer. Cells are independent of each other, so the bytes do
//! not depend on the number of threads.

mod cell;
mod floor;
mod jpeg;

use cell::CellBuffers;
use chicane_world::World;
use floor::Floor;
use rayon::prelude::*;
use std::fmt;
use std::sync::Arc;

/// Length of an inch, m.
const INCH_M: f64 = 0.0254;
/// Maximum length of a side of a print, pixels. A JPEG picture cannot be larger.
pub const MAX_SIDE: usize = crate::jpeg::MAX_SIDE;
/// Rows per strip.
pub const STRIP_ROWS: usize = 64;
/// Prints up to this resolution average 2×2 samples per pixel, for smooth edges.
const COARSE_DPI: u16 = 75;

/// A print of the floor of a world, ready to be drawn.
pub struct Print {
    floor: Arc<Floor>,
    dpi: u16,
    /// Position of the upper left corner in the print of the whole floor, pixels.
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    /// Samples per pixel in each direction.
    samples: usize,
}

/// The reason why a world cannot be printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PrintError {
    /// The world has no surface that lies flat on the ground.
    NoFloor,
    /// A side of the print would exceed [`MAX_SIDE`] pixels.
    TooLarge {
        /// Width and depth of the floor, m.
        size_m: [f64; 2],
        /// Highest resolution at which no side exceeds the limit, dpi; 0 if there is no such
        /// resolution.
        max_dpi: u16,
    },
}

impl fmt::Display for PrintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrintError::NoFloor => {
                write!(f, "this world has no floor to print: no surface lies on the ground")
            }
            PrintError::TooLarge { size_m: [x, y], max_dpi: 0 } => {
                write!(f, "a floor of {x:.1} × {y:.1} m is too large to print, even at 1 dpi")
            }
            PrintError::TooLarge { size_m: [x, y], max_dpi } => write!(
                f,
                "a floor of {x:.1} × {y:.1} m exceeds the JPEG limit of {MAX_SIDE} pixels per side: use at most {max_dpi} dpi"
            ),
        }
    }
}

impl std::error::Error for PrintError {}

impl Print {
    /// Prepares a print of the floor of a world at a resolution of `dpi` pixels per inch.
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
        Ok(Print { floor: Arc::new(floor), dpi, left: 0, top: 0, width, height, samples })
    }

    /// A rectangle of this print, as a separate print. `left` and `top` are the numbers of pixels
    /// that are cut off at the left and at the top. A rectangle that extends beyond this print is
    /// reduced, but it is at least one pixel wide and one pixel high.
    pub fn part(&self, left: usize, top: usize, width: usize, height: usize) -> Print {
        let (left, top) = (left.min(self.width - 1), top.min(self.height - 1));
        Print {
            floor: Arc::clone(&self.floor),
            dpi: self.dpi,
            left: self.left + left,
            top: self.top + top,
            width: width.clamp(1, self.width - left),
            height: height.clamp(1, self.height - top),
            samples: self.samples,
        }
    }

    /// Pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Resolution, pixels per inch.
    pub fn dpi(&self) -> u16 {
        self.dpi
    }

    /// Resolution, pixels per metre.
    pub fn pixels_per_metre(&self) -> f64 {
        f64::from(self.dpi) / INCH_M
    }

    /// The position of a world point in the print, in pixels from the upper left corner. The
    /// world's x axis points right and its y axis up.
    pub fn pixel_of(&self, x: f64, y: f64) -> [f64; 2] {
        let scale = self.pixels_per_metre();
        let [left, top] = [self.left, self.top].map(|pixels| pixels as f64);
        [(x - self.floor.min.x) * scale - left, (self.floor.max.y - y) * scale - top]
    }

    /// Draws a strip into `to`: [`STRIP_ROWS`] rows from `first_row` on, or fewer rows at the end
    /// of the print. The bytes are red, green and blue of each pixel, row by row.
    pub fn strip(&self, first_row: usize, to: &mut Vec<u8>) {
        let rows = STRIP_ROWS.min(self.height.saturating_sub(first_row));
        to.clear();
        to.resize(rows * self.width * 3, 0);
        let in_strip = self.floor.between_rows(self, first_row, rows);
        let cells: Vec<Vec<u8>> = cell::columns(self)
            .into_par_iter()
            .map_init(CellBuffers::default, |buffers, columns| {
                buffers.draw(self, &in_strip, columns, first_row..first_row + rows)
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
