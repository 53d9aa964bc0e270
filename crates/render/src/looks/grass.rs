//! The grass texture: a lawn from above, drawn blade by blade.

use super::field::{Field, STEP, hash, rgb, spread};
use crate::image::Image;

/// Side of the texture, pixels.
const SIZE: usize = 512;
/// Number of blades of grass.
const BLADES: u32 = 26_000;

/// Colour of the soil below the blades.
const SOIL: [i32; 3] = [54, 78, 36];

/// A square metre of lawn that repeats seamlessly.
pub(super) fn grass() -> Image {
    let patches = Field::new(SIZE, SIZE).noise([4, 4], 51, 6 * STEP).noise([16, 16], 52, 4 * STEP);
    let mut pixels: Vec<[i32; 3]> = (0..SIZE * SIZE)
        .map(|i| {
            let grain = spread(hash(i as u32, 0, 53), 5 * STEP);
            SOIL.map(|v| v * STEP + grain)
        })
        .collect();
    for blade in 0..BLADES {
        let h = |n: u32| hash(blade, n, 54);
        // Position, direction and curvature of the blade, in 1/256 of a pixel.
        let (mut x, mut y) = ((h(0) % (SIZE as u32 * 256)) as i32, (h(1) % (SIZE as u32 * 256)) as i32);
        let (mut dx, mut dy) = (spread(h(2), 230), spread(h(3), 230));
        let (bend_x, bend_y) = (spread(h(4), 6), spread(h(5), 6));
        let length = 6 + (h(6) % 7) as i32;
        let (bright, warm) = (spread(h(7), 9), spread(h(8), 9));
        for i in 0..length {
            let (px, py) = ((x >> 8) as usize % SIZE, (y >> 8) as usize % SIZE);
            let light = bright + 22 * i / length;
            let base = [64 + light + warm, 94 + light, 40 + light / 2 - warm / 2];
            let pixel = &mut pixels[py * SIZE + px];
            for c in 0..3 {
                pixel[c] += (base[c] * STEP - pixel[c]) * 5 / 8;
            }
            x = (x + dx).rem_euclid(SIZE as i32 * 256);
            y = (y + dy).rem_euclid(SIZE as i32 * 256);
            dx += bend_x;
            dy += bend_y;
        }
    }
    let pixels = pixels.iter().zip(&patches.values).map(|(c, p)| rgb(c.map(|v| v + p))).collect();
    Image { width: SIZE, height: SIZE, pixels }
}
