//! The sample positions of a pixel. For each sample, the rasteriser tests which triangles cover the
//! sample.

use super::setup::{Edge, SUBPIXELS};

/// Samples per pixel.
pub(super) const SAMPLES: usize = 4;
/// Distance from one sample to the next one along an axis, in 1/256 of a pixel.
pub(super) const SAMPLE_SPACING: i32 = SUBPIXELS / SAMPLES as i32;
/// Position of the first sample of a pixel along an axis, in 1/256 of a pixel.
pub(super) const FIRST_SAMPLE: i32 = SAMPLE_SPACING / 2;
/// Offsets of the samples from the centre of the pixel, in 1/256 of a pixel. The samples have four
/// different rows and four different columns, both equally spaced. An edge that is almost
/// horizontal or vertical therefore passes the samples of a pixel one after another, and the pixel
/// gets every mixture of the two colours in turn. The pattern is symmetric about the centre.
pub(super) const OFFSETS: [[i32; 2]; SAMPLES] = [[-32, -96], [96, -32], [-96, 32], [32, 96]];

/// Change of an edge function from the centre of a pixel to a sample. The change is 0 for an inner
/// edge, because all samples of a pixel count as being on the same side of this edge.
pub(super) fn change(edge: &Edge, [x, y]: [i32; 2]) -> i64 {
    if edge.is_inner {
        return 0;
    }
    i64::from(edge.a) * i64::from(x) + i64::from(edge.b) * i64::from(y)
}

/// Largest change of an edge function from the centre of a pixel to any sample, divided by
/// `SUBPIXELS` and rounded up.
pub(super) fn margin(edge: &Edge) -> i32 {
    // The other two samples are opposite to these two, so their changes have the same absolute
    // values.
    let largest = change(edge, OFFSETS[0]).abs().max(change(edge, OFFSETS[1]).abs());
    ((largest + i64::from(SUBPIXELS) - 1) / i64::from(SUBPIXELS)) as i32
}
