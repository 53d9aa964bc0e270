//! The built-in textures of a track.
//!
//! The camera sees these textures from 15 cm above the ground. Their grain is fine and faint,
//! because strong grain would shimmer in the picture. Lines are much brighter than the road.

use super::field::{Field, STEP, hash, rgb, spread};
use crate::image::Image;
use chicane_world::scene::BuiltInTexture;

/// Side of a square texture, pixels. Most textures show one metre.
const SIZE: usize = 512;

const ASPHALT: [i32; 3] = [63, 64, 67];
const WHITE: [i32; 3] = [238, 238, 232];
const YELLOW: [i32; 3] = [244, 186, 38];

/// Generates a built-in texture. Row 0 is the top row, at v = 1.
pub(crate) fn texture(kind: BuiltInTexture) -> Image {
    match kind {
        BuiltInTexture::Road => road(),
        BuiltInTexture::OuterLine => paint(WHITE, 21),
        BuiltInTexture::CentreLine => paint(YELLOW, 22),
        BuiltInTexture::StartLine => chequers(),
        BuiltInTexture::Carpet => carpet(),
        BuiltInTexture::Grass => super::grass::grass(),
    }
}

/// Makes a picture: each pixel is `base` plus the value of the field. `tint` scales the value for
/// each channel, in sixteenths.
fn shade(field: &Field, base: [i32; 3], tint: [i32; 3]) -> Image {
    let pixel = |v: &i32| rgb(std::array::from_fn(|i| base[i] * STEP + v * tint[i] / 16));
    let pixels = field.values.iter().map(pixel).collect();
    Image { width: field.width, height: field.height, pixels }
}

/// Interpolates from `a` (t = 0) to `b` (t = 256), in field units.
fn mix(a: [i32; 3], b: [i32; 3], t: i32) -> [i32; 3] {
    std::array::from_fn(|i| a[i] * STEP + (b[i] - a[i]) * t)
}

/// The grain of asphalt: fine stones and faint patches.
fn asphalt(width: usize, height: usize, seed: u32) -> Field {
    let cells = |metres: usize| [(width / metres).max(1), (height / metres).max(1)];
    Field::new(width, height)
        .noise(cells(128), seed, 3 * STEP)
        .noise(cells(32), seed + 1, 2 * STEP)
        .noise(cells(4), seed + 2, 4 * STEP)
        .add(move |x, y| {
            let h = hash(x as u32, y as u32, seed + 3);
            // One pixel in forty is a pale stone, and one pixel in forty is a dark hole.
            let stone = match h % 80 {
                0 | 1 => 11 * STEP,
                2 | 3 => -9 * STEP,
                _ => 0,
            };
            spread(h, 5 * STEP) + stone
        })
}

fn road() -> Image {
    // The road is a little darker where wheels roll, at a quarter of its width from either side.
    let worn: Vec<i32> = (0..SIZE as i32)
        .map(|x| {
            let from = ((x * 2) % SIZE as i32 - SIZE as i32 / 2).abs();
            -(3 * STEP) * (SIZE as i32 / 2 - from) / (SIZE as i32 / 2)
        })
        .collect();
    let field = asphalt(SIZE, SIZE, 11).add(|x, _| worn[x] + STEP);
    shade(&field, ASPHALT, [16, 16, 16])
}

/// A slightly worn painted line on asphalt. The texture coordinate u runs across the line. The
/// coordinate v runs along the line, in metres.
fn paint(colour: [i32; 3], seed: u32) -> Image {
    let (width, height) = (32, SIZE);
    let grain = asphalt(width, height, 11);
    let wear = Field::new(width, height).noise([2, 16], seed, 90).noise([8, 128], seed + 1, 80).noise(
        [32, 512],
        seed + 2,
        50,
    );
    Image::from_fn(width, height, |x, y| {
        let i = y * width + x;
        // The paint is thinner at the edges of the line.
        let edge = match x.min(width - 1 - x) {
            0 => 60,
            1 => 25,
            _ => 0,
        };
        let gone = (wear.values[i] + edge - 70).clamp(0, 105);
        let c = mix(colour, ASPHALT, gone);
        rgb(c.map(|v| v + grain.values[i] / 3))
    })
}

/// A chequered line of black and white squares, sixteen across and two along the road.
fn chequers() -> Image {
    let (width, height) = (512, 64);
    let grain = asphalt(width, height, 31);
    let wear = Field::new(width, height).noise([32, 4], 33, 60).noise([256, 32], 34, 60);
    Image::from_fn(width, height, |x, y| {
        let i = y * width + x;
        let white = (x / 32 + y / 32) % 2 == 0;
        let gone = (wear.values[i] - 50).clamp(0, 70);
        let c = if white { mix(WHITE, ASPHALT, gone) } else { mix([24, 24, 26], ASPHALT, gone) };
        rgb(c.map(|v| v + grain.values[i] / 3))
    })
}

/// A blue-grey woven carpet of loops of 8 mm. Every other loop is rotated by 90°.
fn carpet() -> Image {
    // Brightness profile of a loop across and along its thread.
    const ACROSS: [i32; 4] = [-5, 2, 5, 0];
    const ALONG: [i32; 4] = [-2, 1, 2, 0];
    let field = Field::new(SIZE, SIZE)
        .noise([4, 4], 41, 2 * STEP)
        .noise([16, 16], 42, 2 * STEP)
        .noise([256, 64], 43, 3 * STEP)
        .noise([64, 256], 44, 3 * STEP)
        .add(|x, y| {
            let turned = (x / 4 + y / 4) % 2 == 0;
            let (a, b) = if turned { (x % 4, y % 4) } else { (y % 4, x % 4) };
            // The brightness varies slightly from loop to loop.
            let dye = spread(hash((x / 4) as u32, (y / 4) as u32, 45), 4 * STEP);
            (ACROSS[a] + ALONG[b]) * STEP + dye + spread(hash(x as u32, y as u32, 46), 3 * STEP)
        });
    shade(&field, [88, 103, 126], [15, 16, 17])
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    const ALL: [(BuiltInTexture, u64); 6] = [
        (BuiltInTexture::Road, 0x2773_117b_cfb9_57cf),
        (BuiltInTexture::OuterLine, 0xaf23_6130_01d9_c658),
        (BuiltInTexture::CentreLine, 0x375c_415e_2bc9_fb82),
        (BuiltInTexture::StartLine, 0x8622_338d_8974_624b),
        (BuiltInTexture::Carpet, 0xfcd6_bb7d_81d8_7780),
        (BuiltInTexture::Grass, 0x6e84_4388_efcc_2375),
    ];

    fn luma(p: [u8; 4]) -> f64 {
        0.2126 * f64::from(p[0]) + 0.7152 * f64::from(p[1]) + 0.0722 * f64::from(p[2])
    }

    fn mean(image: &Image) -> f64 {
        image.pixels.iter().map(|p| luma(*p)).sum::<f64>() / image.pixels.len() as f64
    }

    #[test]
    fn textures_match_their_golden_hashes() {
        let got = ALL.map(|(kind, _)| (kind, check::hash(texture(kind).pixels.into_iter().flatten())));
        assert_eq!(got, ALL, "{got:#x?}");
    }

    #[test]
    fn sides_are_powers_of_two() {
        for (kind, _) in ALL {
            let image = texture(kind);
            assert!(image.width.is_power_of_two() && image.height.is_power_of_two());
            assert_eq!(image.pixels.len(), image.width * image.height);
            assert!(image.pixels.iter().all(|p| p[3] == 255));
        }
    }

    #[test]
    fn repeating_textures_have_no_seams() {
        for kind in [BuiltInTexture::Road, BuiltInTexture::Carpet, BuiltInTexture::Grass] {
            let image = texture(kind);
            let (w, h) = (image.width, image.height);
            let at = |x: usize, y: usize| luma(image.pixels[y % h * w + x % w]);
            let across = |x: usize| (0..h).map(|y| (at(x, y) - at(x + 1, y)).abs()).sum::<f64>() / h as f64;
            let down = |y: usize| (0..w).map(|x| (at(x, y) - at(x, y + 1)).abs()).sum::<f64>() / w as f64;
            // At a visible seam, neighbouring columns or rows would differ more than anywhere else.
            let most = |f: &dyn Fn(usize) -> f64, n: usize| (0..n - 1).map(f).fold(0.0, f64::max);
            assert!(across(w - 1) <= 1.1 * most(&across, w), "{kind:?}");
            assert!(down(h - 1) <= 1.1 * most(&down, h), "{kind:?}");
        }
    }

    #[test]
    fn lines_are_much_brighter_than_the_road() {
        let road = mean(&texture(BuiltInTexture::Road));
        assert!((40.0..80.0).contains(&road), "{road}");
        for line in [BuiltInTexture::OuterLine, BuiltInTexture::CentreLine] {
            let line = texture(line);
            assert!(mean(&line) > road + 100.0, "{}", mean(&line));
            assert!(line.pixels.iter().all(|p| luma(*p) > road + 45.0));
        }
    }

    #[test]
    fn grain_is_faint() {
        for kind in [BuiltInTexture::Road, BuiltInTexture::Carpet, BuiltInTexture::Grass] {
            let image = texture(kind);
            let mean = mean(&image);
            let spread = image.pixels.iter().map(|p| (luma(*p) - mean) * (luma(*p) - mean)).sum::<f64>();
            let deviation = (spread / image.pixels.len() as f64).sqrt();
            assert!(deviation < 16.0, "{kind:?}: {deviation}");
        }
    }
}
