//! A world's picture for lists: all of its field from a slant, as it is when it is loaded.

use crate::looks::Lamp;
use crate::{Camera, CarMoment, Moment, Optics, Renderer, Rgb, Stage};
use chicane_world::{Pose, Profile, World};
use glam::{DVec2, DVec3};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

/// Pixels in a row and rows.
pub const THUMBNAIL_SIZE: [usize; 2] = [640, 480];
/// Pixels of the drawing to one of the picture, each way: edges are smooth.
const FINER: usize = 2;
/// Field of view from left to right, rad.
const VIEW: f64 = 0.6;
/// How far down it looks, rad.
const DOWN: f64 = 0.82;
/// What is left free at the edges, as a part of the picture.
const MARGIN: f64 = 0.03;
/// Metres to each side of the car, where nobody says how large the field is.
const AROUND: f64 = 3.0;

/// The picture as a PNG file. The same world gives the same bytes.
pub fn thumbnail(world: &World, profile: Arc<Profile>) -> Vec<u8> {
    let [width, height] = THUMBNAIL_SIZE;
    let optics = Optics::pinhole(width * FINER, height * FINER, VIEW);
    let camera = Camera { pose: outlook(world, &optics), optics };
    let moment = Moment {
        car: CarMoment { pose: world.spawn, ..CarMoment::default() },
        objects: world.objects.iter().map(|o| o.origin).collect(),
        lamps: world.lights().map(|(i, _)| (i, Lamp::Green)).collect(),
    };
    let drawn = Renderer::new(Arc::new(Stage::new(world, profile))).picture(&camera, &moment);
    let small = halved(&drawn);
    let mut file = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Default, FilterType::Adaptive);
    // Into memory and at a size that fits: it can't fail.
    let _ = encoder.write_image(&small, width as u32, height as u32, ExtendedColorType::Rgb8);
    file
}

/// From where all corners of the field are just seen.
fn outlook(world: &World, optics: &Optics) -> Pose {
    let spawn = world.spawn.position.truncate();
    let known = world.ground.bounds.or_else(|| world.route.as_ref().map(|r| r.bounds()));
    let (low, high) = known.map_or((spawn - AROUND, spawn + AROUND), |b| (b.min, b.max));
    let corners = [low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y)];
    let (s, c) = libm::sincos(DOWN);
    let (back, up) = (DVec3::new(0.0, -c, s), DVec3::new(0.0, s, c));
    let (w, h) = (optics.width as f64, optics.height as f64);
    // What is seen of the field: its least and its largest x and y. None: a corner is behind the camera.
    let frame = |pose: &Pose| {
        let seen = corners.map(|p| optics.project(pose.inverse().point(p.extend(0.0)).to_array()));
        seen.iter().try_fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(least, most), p| {
            let p = DVec2::from_array((*p)?);
            Some((least.min(p), most.max(p)))
        })
    };
    // What is nearer looks larger, so that the middle of the field is not that of the picture.
    let centred = |distance: f64| {
        let mut lift = 0.0;
        let at = |lift: f64| {
            let eye = (0.5 * (low + high)).extend(0.0) + back * distance + up * lift;
            Pose::from_xyz_rpy(eye.to_array(), [0.0, DOWN, FRAC_PI_2])
        };
        for _ in 0..8 {
            let (least, most) = frame(&at(lift))?;
            lift -= (0.5 * (least.y + most.y) - 0.5 * h) * distance / optics.focal;
        }
        let (least, most) = frame(&at(lift))?;
        let room = DVec2::new(w, h) * (1.0 - 2.0 * MARGIN);
        (most - least).cmple(room).all().then(|| at(lift))
    };
    let size = (high - low).length().max(0.5);
    let (mut near, mut far) = (0.1 * size, 10.0 * size);
    for _ in 0..40 {
        let distance = 0.5 * (near + far);
        match centred(distance) {
            Some(_) => far = distance,
            None => near = distance,
        }
    }
    centred(far).unwrap_or(world.spawn)
}

/// Each pixel the mean of `FINER`² drawn ones.
fn halved(drawn: &Rgb) -> Vec<u8> {
    let [width, height] = THUMBNAIL_SIZE;
    let mut small = Vec::with_capacity(3 * width * height);
    for y in 0..height {
        for x in 0..width {
            for channel in 0..3 {
                let at = |dx: usize, dy: usize| {
                    let pixel = (y * FINER + dy) * drawn.width + x * FINER + dx;
                    u32::from(drawn.bytes[3 * pixel + channel])
                };
                let sum: u32 = (0..FINER)
                    .flat_map(|dy| (0..FINER).map(move |dx| (dx, dy)))
                    .map(|(dx, dy)| at(dx, dy))
                    .sum();
                let count = (FINER * FINER) as u32;
                small.push(((sum + count / 2) / count) as u8);
            }
        }
    }
    small
}
