//! The tables of a JPEG file, and the header that contains them.
//!
//! The quantisation and Huffman tables come from Annex K of ITU-T T.81. No table depends on the
//! content of the picture, so a picture is encoded in one pass.

use super::ROWS_PER_BAND;

/// Quantisation steps of the luminance at quality 50, row by row.
const LUMINANCE: [u8; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17,
    22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78,
    87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];
/// Quantisation steps of the chrominance at quality 50, row by row.
const CHROMINANCE: [u8; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
];
/// The order in which the coefficients of a block are stored: index in the block, row by row.
pub(super) const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// A Huffman table as a file contains it: the number of codes of each length, and the symbols.
struct Huffman {
    counts: [u8; 16],
    symbols: &'static [u8],
}

const DC_LUMINANCE: Huffman = Huffman {
    counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    symbols: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
};
const DC_CHROMINANCE: Huffman = Huffman {
    counts: [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
    symbols: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
};
const AC_LUMINANCE: Huffman = Huffman {
    counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d],
    symbols: &[
        0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22,
        0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33,
        0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34,
        0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55,
        0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76,
        0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96,
        0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5,
        0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4,
        0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1,
        0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
    ],
};
const AC_CHROMINANCE: Huffman = Huffman {
    counts: [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77],
    symbols: &[
        0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13,
        0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0, 0x15, 0x62,
        0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29,
        0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54,
        0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75,
        0x76, 0x77, 0x78, 0x79, 0x7a, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94,
        0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3,
        0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2,
        0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea,
        0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
    ],
};

/// The codes of a Huffman table by symbol: the code, shifted left by eight, and its length in bits.
pub(super) type Codes = [u32; 256];

/// Codes of the luminance: DC and AC.
pub(super) static LUMINANCE_CODES: [Codes; 2] = [DC_LUMINANCE.codes(), AC_LUMINANCE.codes()];
/// Codes of the chrominance: DC and AC.
pub(super) static CHROMINANCE_CODES: [Codes; 2] = [DC_CHROMINANCE.codes(), AC_CHROMINANCE.codes()];

impl Huffman {
    const fn codes(&self) -> Codes {
        let mut codes = [0; 256];
        let (mut code, mut next, mut length) = (0, 0, 1);
        while length <= 16 {
            let mut left = self.counts[length - 1];
            while left > 0 {
                codes[self.symbols[next] as usize] = code << 8 | length as u32;
                (code, next, left) = (code + 1, next + 1, left - 1);
            }
            (code, length) = (code << 1, length + 1);
        }
        codes
    }
}

/// How a block is quantised. The entries have the same order as in [`super::transform::Pair`]:
/// column frequency by column frequency, and for two blocks side by side.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Quantiser {
    /// Half of the divisor. It is added before the division, for rounding.
    pub(super) halves: [[u16; 16]; 8],
    /// To divide a number below 2¹⁵ exactly, the number is multiplied by this factor and then by
    /// the entry of `scales`. Each product is shifted right by 16 bits.
    pub(super) factors: [[u16; 16]; 8],
    pub(super) scales: [[u16; 16]; 8],
}

impl Quantiser {
    /// The transform multiplies coefficients by eight. The divisors are therefore eight times the
    /// `steps`.
    fn new(steps: &[u8; 64]) -> Quantiser {
        let mut quantiser = Quantiser { halves: [[0; 16]; 8], factors: [[0; 16]; 8], scales: [[0; 16]; 8] };
        for (i, &step) in steps.iter().enumerate() {
            let divisor = 8 * u32::from(step);
            // The largest shift for which the factor fits into 16 bits.
            let shift = (divisor - 1).ilog2();
            let factor = (1u32 << (16 + shift)).div_ceil(divisor);
            let (row, column) = (i / 8, i % 8);
            for lane in [row, row + 8] {
                quantiser.halves[column][lane] = (divisor / 2) as u16;
                quantiser.factors[column][lane] = factor as u16;
                quantiser.scales[column][lane] = 1 << (16 - shift);
            }
        }
        quantiser
    }
}

/// The tables that depend on the quality.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    /// Quantisation steps of luminance and chrominance, row by row.
    steps: [[u8; 64]; 2],
    pub(super) luminance: Quantiser,
    pub(super) chrominance: Quantiser,
}

impl Tables {
    /// The tables for a quality of 1 to 100. The steps are scaled with the formula of the
    /// Independent JPEG Group's software.
    pub(super) fn new(quality: u8) -> Tables {
        let quality = u32::from(quality.clamp(1, 100));
        let percent = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
        let step = |base: u8| ((u32::from(base) * percent + 50) / 100).clamp(1, 255) as u8;
        let steps = [LUMINANCE.map(step), CHROMINANCE.map(step)];
        Tables { steps, luminance: Quantiser::new(&steps[0]), chrominance: Quantiser::new(&steps[1]) }
    }

    /// Everything before the first band. `dpi` is the resolution in pixels per inch; `None` gives
    /// square pixels of unknown size.
    pub(super) fn header(&self, width: u16, height: u16, dpi: Option<u16>) -> Vec<u8> {
        let mut file = vec![0xff, 0xd8];
        let mut segment = |marker: u8, parts: &[&[u8]]| {
            let length = 2 + parts.iter().map(|p| p.len()).sum::<usize>();
            file.extend([0xff, marker]);
            file.extend((length as u16).to_be_bytes());
            parts.iter().for_each(|part| file.extend_from_slice(part));
        };
        let density = dpi.unwrap_or(1).to_be_bytes();
        segment(0xe0, &[b"JFIF\0", &[1, 2, u8::from(dpi.is_some())], &density, &density, &[0, 0]]);
        for (table, steps) in (0..).zip(&self.steps) {
            segment(0xdb, &[&[table], &ZIGZAG.map(|i| steps[usize::from(i)])]);
        }
        let components = [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1];
        segment(0xc0, &[&[8], &height.to_be_bytes(), &width.to_be_bytes(), &components]);
        let tables = [(0, DC_LUMINANCE), (0x10, AC_LUMINANCE), (1, DC_CHROMINANCE), (0x11, AC_CHROMINANCE)];
        for (place, table) in tables {
            segment(0xc4, &[&[place], &table.counts, table.symbols]);
        }
        let units_per_band = usize::from(width).div_ceil(16) * (ROWS_PER_BAND / 16);
        segment(0xdd, &[&(units_per_band as u16).to_be_bytes()]);
        segment(0xda, &[&[3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]]);
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_divide_exactly() {
        for step in 1..=255u8 {
            let quantiser = Quantiser::new(&[step; 64]);
            let (factor, scale) = (u32::from(quantiser.factors[0][0]), u32::from(quantiser.scales[0][0]));
            for n in 0..1 << 15 {
                let quotient = (((n * factor) >> 16) * scale) >> 16;
                assert_eq!(quotient, n / (8 * u32::from(step)), "{n} / 8·{step}");
            }
        }
    }

    #[test]
    fn huffman_codes_are_complete_and_no_code_begins_with_another() {
        for table in [DC_LUMINANCE, AC_LUMINANCE, DC_CHROMINANCE, AC_CHROMINANCE] {
            let codes = table.codes();
            assert_eq!(codes.iter().filter(|c| **c != 0).count(), table.symbols.len());
            assert_eq!(table.counts.iter().map(|c| usize::from(*c)).sum::<usize>(), table.symbols.len());
            let left_aligned = |c: u32| (c >> 8) << (16 - (c & 255));
            let mut spans: Vec<[u32; 2]> = codes
                .iter()
                .filter(|c| **c != 0)
                .map(|c| [left_aligned(*c), left_aligned(*c) + (1 << (16 - (c & 255)))])
                .collect();
            spans.sort_unstable();
            assert!(spans.windows(2).all(|w| w[0][1] <= w[1][0]));
            assert!(spans.last().is_some_and(|s| s[1] < 1 << 16), "the code of ones only is reserved");
        }
    }
}
