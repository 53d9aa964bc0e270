//! Tests the encoder against an independent decoder, and the instruction sets of the encoder
//! against each other.

use super::*;

/// A generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A picture of one of several kinds: noise, extreme values, a gradient with noise, or one colour.
fn picture(width: usize, height: usize, kind: usize, random: &mut Random) -> Rgb {
    let mut bytes = Vec::with_capacity(3 * width * height);
    let plain = random.next();
    for i in 0..3 * width * height {
        let (x, y, noise) = (i / 3 % width, i / 3 / width, random.next());
        bytes.push(match kind % 4 {
            0 => noise as u8,
            1 => {
                if noise & 1 == 0 {
                    0
                } else {
                    255
                }
            }
            2 => (3 * x + 2 * y + 40 * (i % 3)) as u8 / 2 + (noise & 7) as u8,
            _ => (plain >> (8 * (i % 3))) as u8,
        });
    }
    Rgb { width, height, bytes }
}

fn sizes() -> impl Iterator<Item = (usize, usize)> {
    let small = (1..=34).flat_map(|w| [1, 2, 7, 8, 9, 15, 16, 17, 33].map(|h| (w, h)));
    small.chain([(160, 120), (63, 64), (64, 65), (100, 191), (480, 360), (1, 300), (300, 1)])
}

#[test]
fn every_instruction_set_gives_the_same_bytes() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for quality in [1, 30, 80, 90, 100] {
        let jpeg = Jpeg::new(quality);
        for (kind, (width, height)) in sizes().enumerate() {
            let picture = picture(width, height, kind, &mut random);
            let of = |set| jpeg.clone().with_instructions(set).encode(&picture).unwrap();
            let portable = of(Instructions::Portable);
            for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
                assert!(of(set) == portable, "{set:?}, {width}×{height}, quality {quality}");
            }
        }
    }
}

/// The mean squared difference of a picture and its decoded file.
fn error(picture: &Rgb, file: &[u8]) -> f64 {
    let decoded = image::load_from_memory_with_format(file, image::ImageFormat::Jpeg).unwrap().into_rgb8();
    assert_eq!((decoded.width() as usize, decoded.height() as usize), (picture.width, picture.height));
    let square = |(a, b): (&u8, &u8)| f64::from(u32::from(a.abs_diff(*b)).pow(2));
    picture.bytes.iter().zip(decoded.as_raw()).map(square).sum::<f64>() / picture.bytes.len() as f64
}

#[test]
fn a_decoder_reads_pictures_of_every_size() {
    let mut random = Random(99);
    for (width, height) in sizes() {
        // The picture is grey noise, because chrominance would lose detail: it is stored at half
        // the resolution. At quality 100, only rounding changes a grey picture.
        let mut grey = picture(width, height, 0, &mut random);
        grey.bytes.as_chunks_mut::<3>().0.iter_mut().for_each(|p| *p = [p[0]; 3]);
        let squares = error(&grey, &Jpeg::new(100).encode(&grey).unwrap());
        assert!(squares < 1.0, "{width}×{height}: {squares}");
        let plain = picture(width, height, 3, &mut random);
        let squares = error(&plain, &Jpeg::new(90).encode(&plain).unwrap());
        assert!(squares < 4.0, "{width}×{height}: {squares}");
    }
}

#[test]
fn better_quality_gives_larger_files_and_smaller_errors() {
    let mut picture = picture(200, 120, 2, &mut Random(5));
    picture.bytes.iter_mut().for_each(|b| *b = b.wrapping_mul(2));
    let measured = [10, 40, 80, 95].map(|quality| {
        let file = Jpeg::new(quality).encode(&picture).unwrap();
        (file.len(), error(&picture, &file))
    });
    assert!(measured.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 > w[1].1), "{measured:?}");
}

#[test]
fn impossible_sizes_are_refused() {
    let jpeg = Jpeg::new(80);
    let of = |width: usize, height: usize, bytes: usize| {
        jpeg.encode(&Rgb { width, height, bytes: vec![0; bytes] }).err()
    };
    assert_eq!(of(0, 5, 0), Some(JpegError::Size { width: 0, height: 5 }));
    assert_eq!(of(65_536, 1, 3 * 65_536), Some(JpegError::Size { width: 65_536, height: 1 }));
    assert_eq!(of(2, 2, 11), Some(JpegError::Bytes { found: 11, expected: 12 }));
    assert_eq!(of(65_535, 1, 3 * 65_535), None);
    assert_eq!(of(0, 5, 0).unwrap().to_string(), "a JPEG picture has 1 to 65535 pixels per side, not 0 × 5");
}
