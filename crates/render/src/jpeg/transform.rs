//! Turns pixels into quantised coefficients with portable code.
//!
//! The module `avx2` computes the same integers. All numbers are scaled so that factors fit into 16
//! bits and products into 32 bits, because processors multiply such numbers fastest.

use super::tables::{Quantiser, Tables, ZIGZAG};

/// Pixels along each side of a unit. A unit has four blocks of luminance and one block of each
/// chrominance.
pub(super) const UNIT: usize = 16;

/// The pixels of a unit: red, green and blue of 16 pixels per row. The rest of a row is padding,
/// so that vector loads stay inside the row.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Patch(pub(super) [[u8; 64]; UNIT]);

/// Two blocks of 8×8 values side by side. The lanes 0 to 7 of the eight rows contain the first
/// block, and the lanes 8 to 15 contain the second block.
///
/// Samples are stored row by row. Coefficients are stored column by column: lane `v` of row `u` is
/// the coefficient with column frequency `u` and row frequency `v`.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Pair(pub(super) [[i16; 16]; 8]);

/// The quantised coefficients of a unit: the upper and the lower two blocks of luminance, and both
/// blocks of chrominance.
pub(super) struct Coefficients {
    pub(super) pairs: [Pair; 3],
    /// For each block of each pair: which coefficients are not zero, in zigzag order.
    pub(super) nonzero: [[u64; 2]; 3],
}

impl Coefficients {
    pub(super) fn new() -> Coefficients {
        Coefficients { pairs: [Pair([[0; 16]; 8]); 3], nonzero: [[0; 2]; 3] }
    }
}

/// Weights of red, green and blue in 1/32768, as JFIF defines them: for the luminance, the blue
/// chrominance (`BLUE`) and the red chrominance (`RED`).
pub(super) const LUMA: [i16; 3] = [9798, 19235, 3735];
pub(super) const BLUE: [i16; 3] = [-5529, -10855, 16384];
pub(super) const RED: [i16; 3] = [16384, -13720, -2664];
/// Summand for rounding the luminance.
pub(super) const LUMA_HALF: i16 = 16384;
/// Summand for rounding the chrominance, per pixel. A full half would round 127.5 to 128, which is
/// outside of the range of the transform.
pub(super) const CHROMA_HALF: i16 = 16383;

/// Transforms a unit.
pub(super) fn transform(patch: &Patch, tables: &Tables, to: &mut Coefficients) {
    let [upper, lower, chroma] = &mut to.pairs;
    for (row, pixels) in patch.0.iter().enumerate() {
        let target = if row < 8 { &mut upper.0[row] } else { &mut lower.0[row - 8] };
        let (pixels, _) = pixels.as_chunks::<3>();
        for (to, [r, g, b]) in target.iter_mut().zip(pixels) {
            let sum = weighted(LUMA, [*r, *g, *b].map(i32::from)) + i32::from(LUMA_HALF);
            *to = ((sum >> 15) - 128) as i16;
        }
    }
    for (rows, target) in patch.0.as_chunks::<2>().0.iter().zip(&mut chroma.0) {
        for x in 0..8 {
            // The mean chrominance of four pixels is computed from the sum of their colours.
            let sum = |c: usize| {
                let at = |row: usize, column: usize| i32::from(rows[row][3 * (2 * x + column) + c]);
                at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1)
            };
            let sums = [sum(0), sum(1), sum(2)];
            target[x] = ((weighted(BLUE, sums) + 4 * i32::from(CHROMA_HALF)) >> 17) as i16;
            target[x + 8] = ((weighted(RED, sums) + 4 * i32::from(CHROMA_HALF)) >> 17) as i16;
        }
    }
    for (n, (pair, nonzero)) in to.pairs.iter_mut().zip(&mut to.nonzero).enumerate() {
        let quantiser = if n < 2 { &tables.luminance } else { &tables.chrominance };
        *nonzero = quantised(pair, quantiser);
    }
}

fn weighted(weights: [i16; 3], colour: [i32; 3]) -> i32 {
    i32::from(weights[0]) * colour[0] + i32::from(weights[1]) * colour[1] + i32::from(weights[2]) * colour[2]
}

/// Replaces samples by their quantised coefficients. Returns which coefficients are not zero.
fn quantised(pair: &mut Pair, quantiser: &Quantiser) -> [u64; 2] {
    cosine_transform::<-2>(pair);
    transpose(pair);
    cosine_transform::<2>(pair);
    for row in 0..8 {
        for lane in 0..16 {
            let value = pair.0[row][lane];
            let size = value.unsigned_abs() + quantiser.halves[row][lane];
            let high = |a: u16, b: u16| ((u32::from(a) * u32::from(b)) >> 16) as u16;
            let size = high(high(size, quantiser.factors[row][lane]), quantiser.scales[row][lane]) as i16;
            pair.0[row][lane] = if value < 0 { -size } else { size };
        }
    }
    [0, 8].map(|offset| {
        let is_nonzero = |z: usize| {
            let n = usize::from(ZIGZAG[z]);
            pair.0[n % 8][n / 8 + offset] != 0
        };
        (0..64).fold(0, |bits, z| bits | u64::from(is_nonzero(z)) << z)
    })
}

fn transpose(pair: &mut Pair) {
    for row in 0..8 {
        for column in 0..row {
            for offset in [0, 8] {
                let other = pair.0[column][row + offset];
                pair.0[column][row + offset] = pair.0[row][column + offset];
                pair.0[row][column + offset] = other;
            }
        }
    }
}

/// Factors of the transform, in 1/8192. The digits of `E26`, `O17` and `O35` are the indices of the
/// two outputs for which the factors are. `Z34` has the factors of the values `z3` and `z4`.
pub(super) mod factor {
    pub(in super::super) const E26: [[i16; 2]; 2] = [[10703, 4433], [4433, -10704]];
    pub(in super::super) const Z34: [[i16; 2]; 2] = [[-6436, 9633], [9633, 6437]];
    pub(in super::super) const O17: [[i16; 2]; 2] = [[-7373, 4926], [-4927, -7373]];
    pub(in super::super) const O35: [[i16; 2]; 2] = [[-20995, 4177], [-4176, -20995]];
}

/// Transforms the columns of both blocks: a discrete cosine transform of eight values.
///
/// The algorithm is from Loeffler, Ligtenberg and Moschytz, "Practical fast 1-D DCT algorithms with
/// 11 multiplications" (1989). Rotations are written as sums of two products, so that a pass rounds
/// each result at most once. The results are divided by 2^`SHIFT`. Each pass also multiplies by √8,
/// so that two passes with opposite shifts multiply by eight.
fn cosine_transform<const SHIFT: i32>(pair: &mut Pair) {
    for lane in 0..16 {
        let column = std::array::from_fn(|row| i32::from(pair.0[row][lane]));
        let transformed = cosine_transform_of_column::<SHIFT>(column);
        for (row, value) in pair.0.iter_mut().zip(transformed) {
            row[lane] = value;
        }
    }
}

#[inline(always)]
fn cosine_transform_of_column<const SHIFT: i32>(v: [i32; 8]) -> [i16; 8] {
    let rounded = |sum: i32, shift: i32| ((sum + (1 << (shift - 1))) >> shift) as i16;
    let whole = |sum: i32| if SHIFT > 0 { rounded(sum, SHIFT) } else { (sum << -SHIFT) as i16 };
    let two = |[a, b]: [i16; 2], x: i32, y: i32| i32::from(a) * x + i32::from(b) * y;
    let (s0, s1, s2, s3) = (v[0] + v[7], v[1] + v[6], v[2] + v[5], v[3] + v[4]);
    let (d0, d1, d2, d3) = (v[0] - v[7], v[1] - v[6], v[2] - v[5], v[3] - v[4]);
    let (even0, even3) = (s0 + s3, s0 - s3);
    let (even1, even2) = (s1 + s2, s1 - s2);
    let (z3, z4) = (d3 + d1, d2 + d0);
    let (from3, from4) = (two(factor::Z34[0], z3, z4), two(factor::Z34[1], z3, z4));
    [
        whole(even0 + even1),
        rounded(two(factor::O17[0], d3, d0) + from4, 13 + SHIFT),
        rounded(two(factor::E26[0], even3, even2), 13 + SHIFT),
        rounded(two(factor::O35[0], d2, d1) + from3, 13 + SHIFT),
        whole(even0 - even1),
        rounded(two(factor::O35[1], d2, d1) + from4, 13 + SHIFT),
        rounded(two(factor::E26[1], even3, even2), 13 + SHIFT),
        rounded(two(factor::O17[1], d3, d0) + from3, 13 + SHIFT),
    ]
}
