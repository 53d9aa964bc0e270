//! Tests with mono frames that have subframes of every kind, including kinds that encoders rarely
//! write.

use super::*;
use crate::audio::decode::crc::{CRC_8, CRC_16};

/// Writes bits. The highest bit of each number comes first.
#[derive(Default)]
struct Writer(Vec<bool>);

impl Writer {
    fn put(mut self, value: u64, count: u32) -> Writer {
        self.0.extend((0..count).rev().map(|i| i < 64 && value >> i & 1 == 1));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| (0..8).fold(0, |b, i| b << 1 | u8::from(bits.get(i) == Some(&true)));
        self.0.chunks(8).map(byte).collect()
    }
}

/// A mono frame of 16 samples with this subframe. `depth` is the code of the sample size in the
/// frame header.
fn frame(depth: u64, subframe: Writer) -> Vec<u8> {
    let head = Writer::default().put(0xfff8, 16).put(6, 4).put(0, 4).put(0, 4).put(depth, 3).put(0, 1);
    let mut frame = head.put(0, 8).put(15, 8).bytes();
    frame.push((CRC_8.add(0, &frame) >> 24) as u8);
    frame.extend(subframe.bytes());
    let sum = CRC_16.add(0, &frame) >> 16;
    frame.extend((sum as u16).to_be_bytes());
    frame
}

/// The start of a subframe of this kind, without omitted bits.
fn subframe(kind: u64) -> Writer {
    Writer::default().put(0, 1).put(kind, 6).put(0, 1)
}

fn is_valid(depth: u64, subframe: Writer) -> bool {
    let bytes = [&frame(depth, subframe)[..], b"tail"].concat();
    frame::read(&bytes, 20).is_ok_and(|(frame, after)| frame.samples == 16 && after == b"tail")
}

#[test]
fn the_sample_size_comes_from_the_frame_or_the_stream_info() {
    for (code, depth) in [(0, 20), (1, 8), (2, 12), (4, 16), (5, 20), (6, 24), (7, 32)] {
        assert!(is_valid(code, (0..16).fold(subframe(1), |w, i| w.put(i, depth))), "{code}");
        assert!(is_valid(code, subframe(0).put(3, depth)), "{code}");
    }
    assert!(!is_valid(3, subframe(0).put(0, 64)));
}

#[test]
fn residuals_can_be_encoded_in_two_ways_or_not_at_all() {
    let codes = |w: Writer, count: usize| (0..count).fold(w, |w, i| w.put(1, i as u32 % 3 + 1).put(0, 2));
    for (method, width) in [(0, 4), (1, 5)] {
        assert!(is_valid(4, codes(subframe(8).put(method, 2).put(0, 4).put(2, width), 16)));
        // The first of two partitions is not encoded: each of its numbers has three bits.
        let raw = subframe(8).put(method, 2).put(1, 4).put(31, width).put(3, 5).put(0, 24);
        assert!(is_valid(4, codes(raw.put(2, width), 8)));
    }
    assert!(!is_valid(4, subframe(8).put(2, 2).put(0, 100)));
    // 16 samples can't be divided into 32 partitions.
    assert!(!is_valid(4, subframe(8).put(0, 2).put(5, 4).put(0, 400)));
}

#[test]
fn predictors_are_limited() {
    // A linear predictor of order 2. `precision` is the number of bits of a coefficient minus 1,
    // and 15 is invalid.
    let predictor = |precision, shift| {
        let start = subframe(33).put(0, 32).put(precision, 4).put(shift, 5).put(0, 8);
        start.put(0, 2).put(0, 4).put(15, 4).put(0, 5)
    };
    assert!(is_valid(4, predictor(3, 15)));
    assert!(!is_valid(4, predictor(3, 16)));
    assert!(!is_valid(4, predictor(15, 0)));
    // An order of 17 or more is too large for 16 samples. The kinds 2 to 7 and 13 to 31 are reserved.
    for kind in (2..8).chain(13..32).chain([48, 63]) {
        assert!(!is_valid(4, subframe(kind).put(0, 2000)), "{kind}");
    }
}

#[test]
fn omitted_bits_leave_at_least_one_bit_per_sample() {
    let omitted = |count: u32, left: u32| Writer::default().put(1, 8).put(1, count).put(0, left);
    assert!(is_valid(1, omitted(3, 5)));
    assert!(is_valid(1, omitted(7, 1)));
    assert!(!is_valid(1, omitted(8, 8)));
    assert!(!is_valid(1, omitted(500, 8)));
}
