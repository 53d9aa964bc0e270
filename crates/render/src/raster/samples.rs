//! Places in a pixel at which the rasteriser tests which triangle covers them.

use super::setup::{Edge, SUBPIXELS};

/// Samples per pixel.
pub(super) const SAMPLES: usize = 4;
/// Distance of the farthest sample from the centre of its pixel along an axis, in 1/256 of a pixel.
pub(super) const FARTHEST_SAMPLE: i32 = 96;
/// Offsets of the samples from the centre of the pixel, in 1/256 of a pixel. All samples have
/// different rows and different columns, so that lines which are almost horizontal or vertical get
/// all shades. The pattern is symmetric about the centre.
pub(super) const OFFSETS: [[i32; 2]; SAMPLES] =
    [[-32, -FARTHEST_SAMPLE], [FARTHEST_SAMPLE, -32], [-FARTHEST_SAMPLE, 32], [32, FARTHEST_SAMPLE]];

/// Change of an edge function from the centre of a pixel to a sample.
pub(super) fn change(edge: &Edge, [x, y]: [i32; 2]) -> i64 {
    i64::from(edge.a) * i64::from(x) + i64::from(edge.b) * i64::from(y)
}

/// Largest change of an edge function from the centre of a pixel to any sample, divided by
/// `SUBPIXELS` and rounded up.
pub(super) fn margin(edge: &Edge) -> i32 {
    let largest = OFFSETS.map(|offset| change(edge, offset).abs()).into_iter().max().unwrap_or(0);
    ((largest + i64::from(SUBPIXELS) - 1) / i64::from(SUBPIXELS)) as i32
}
