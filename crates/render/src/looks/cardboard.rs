//! A cardboard box, closed with tape, with arrows printed on its sides.

use super::field::{Field, STEP, hash, rgb, spread};
use super::shapes::cuboid;
use super::{Model, textured};
use crate::image::Image;
use chicane_world::scene::Group;

const SIZE: usize = 256;
const KRAFT: [i32; 3] = [184, 143, 96];
const INK: [i32; 3] = [62, 50, 42];
const TAPE: [i32; 3] = [206, 170, 112];

// Indices of the textures of the model.
const SIDE: usize = 0;
const END: usize = 1;
const LID: usize = 2;

/// The model of the cardboard box. It fills the unit box −0.5..0.5.
pub(super) fn model() -> Model {
    let mut mesh = cuboid([1.0; 3]);
    // The mesh has six indices per face. The order is: two ends (±x), two sides (±y), top, bottom.
    let faces = mesh.groups.pop().map(|g| g.indices).unwrap_or_default();
    let of = |material: usize, from: usize| Group { material, indices: faces[from..from + 12].to_vec() };
    mesh.groups = vec![of(SIDE, 12), of(END, 0), of(LID, 24)];
    let materials = vec![textured(SIDE), textured(END), textured(LID)];
    Model { mesh, materials, textures: vec![side(), end(), lid()] }
}

/// Brown paper over vertical corrugation, slightly worn at the edges.
fn kraft(seed: u32) -> Field {
    Field::new(SIZE, SIZE)
        .noise([4, 4], seed, 5 * STEP)
        .noise([128, 8], seed + 1, 3 * STEP)
        .noise([32, 128], seed + 2, 2 * STEP)
        .add(move |x, y| {
            let border = x.min(y).min(SIZE - 1 - x).min(SIZE - 1 - y) as i32;
            let worn = if border < 2 { 14 } else { (-6 + border).min(0) };
            worn * STEP + spread(hash(x as u32, y as u32, seed + 3), 3 * STEP)
        })
}

/// Brown paper with a print or tape on it. `cover(x, y)` gives the colour and the opacity, 0..=256,
/// of the print or tape, or `None` where the paper is bare. The coordinates are in −1..1 with y up.
fn draw(seed: u32, cover: impl Fn(f64, f64) -> Option<([i32; 3], i32)>) -> Image {
    let paper = kraft(seed);
    Image::from_fn(SIZE, SIZE, |x, y| {
        let shade = paper.values[y * SIZE + x];
        // Four samples per pixel make slanted edges smooth.
        let mut sum = [0; 3];
        for (i, j) in [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)] {
            let at = |p: usize, o: f64| (p as f64 + o) / (0.5 * SIZE as f64) - 1.0;
            let (over, strength) = cover(at(x, i), -at(y, j)).unwrap_or((KRAFT, 0));
            for c in 0..3 {
                sum[c] += KRAFT[c] * STEP + (over[c] - KRAFT[c]) * strength;
            }
        }
        rgb(sum.map(|v| v / 4 + shade))
    })
}

/// Whether a point is inside an arrow that is centred on the origin and points up.
fn arrow(x: f64, y: f64, size: f64) -> bool {
    let (x, y) = (x / size, y / size);
    let head = (0.1..=1.0).contains(&y) && x.abs() <= 0.75 * (1.0 - y) / 0.9;
    let shaft = (-0.8..=0.1).contains(&y) && x.abs() <= 0.26;
    head || shaft
}

/// The texture of a side: a label, and beside it two arrows over a bar ("this side up").
fn side() -> Image {
    draw(71, |x, y| {
        let arrows = arrow(x - 0.36, y - 0.04, 0.3) || arrow(x - 0.70, y - 0.04, 0.3);
        let bar = (0.2..=0.86).contains(&x) && (-0.33..=-0.26).contains(&y);
        // The label is a frame with three lines inside.
        let (u, v) = (x + 0.42, y + 0.02);
        let inside = u.abs() <= 0.38 && v.abs() <= 0.34;
        let frame = inside && (u.abs() >= 0.355 || v.abs() >= 0.315);
        let stripe = |at: f64, right: f64| (v - at).abs() <= 0.03 && u >= -0.28 && u <= right;
        let lines = stripe(0.17, 0.28) || stripe(0.02, 0.12) || stripe(-0.13, 0.2);
        (arrows || bar || frame || lines).then_some((INK, 225))
    })
}

/// The texture of an end: an arrow, and tape that continues from the lid and the bottom.
fn end() -> Image {
    draw(75, |x, y| {
        if x.abs() <= 0.22 && y.abs() >= 0.55 {
            let rim = x.abs() >= 0.205 || y.abs() <= 0.565;
            return Some((TAPE, if rim { 235 } else { 190 }));
        }
        (arrow(x, y, 0.3)).then_some((INK, 225))
    })
}

/// The texture of the lid: two flaps that meet below a strip of tape along x.
fn lid() -> Image {
    draw(79, |_, y| {
        let seam = y.abs() <= 0.012;
        if y.abs() <= 0.22 {
            let rim = y.abs() >= 0.205;
            return Some(if seam { ([150, 114, 72], 220) } else { (TAPE, if rim { 235 } else { 190 }) });
        }
        None
    })
}
