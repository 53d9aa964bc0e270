//! Draws the thumbnail that represents a world in lists of worlds: the whole field, seen obliquely
//! from above, with every object at its initial pose.

use crate::looks::Lamp;
use crate::{Camera, CarMoment, Moment, Optics, Renderer, Rgb, Stage};
use chicane_world::{Pose, Profile, World};
use glam::{DVec2, DVec3};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

/// Width and height of a thumbnail, pixels.
pub const THUMBNAIL_SIZE: [usize; 2] = [640, 480];
/// Rendered pixels per thumbnail pixel in each direction. More than one pixel gives smooth edges.
const SUPERSAMPLING: usize = 2;
/// Horizontal field of view, rad.
const HORIZONTAL_FOV_RAD: f64 = 0.6;
/// Angle of the view axis below the horizon, rad.
const PITCH_DOWN_RAD: f64 = 0.82;
/// Margin around the field, as a fraction of the picture.
const MARGIN: f64 = 0.03;
/// Distance shown on each side of the car, m, if the world has neither ground bounds nor a route.
const DEFAULT_HALF_SIZE_M: f64 = 3.0;

/// Draws the thumbnail of a world as a PNG file. The same world gives the same bytes.
pub fn thumbnail(world: &World, profile: Arc<Profile>) -> Vec<u8> {
    let [width, height] = THUMBNAIL_SIZE;
    let optics = Optics::pinhole(width * SUPERSAMPLING, height * SUPERSAMPLING, HORIZONTAL_FOV_RAD);
    let camera = Camera { pose: camera_pose(world, &optics), optics };
    let moment = Moment {
        car: CarMoment { pose: world.spawn, ..CarMoment::default() },
        objects: world.objects.iter().map(|o| o.origin).collect(),
        lamps: world.lights().map(|(i, _)| (i, Lamp::Green)).collect(),
    };
    let drawn = Renderer::new(Arc::new(Stage::new(world, profile))).picture(&camera, &moment);
    let small = downsampled(&drawn);
    let mut file = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Default, FilterType::Adaptive);
    // Writing cannot fail: the target is a `Vec`, and `small` has the size that is passed.
    let _ = encoder.write_image(&small, width as u32, height as u32, ExtendedColorType::Rgb8);
    file
}

/// The nearest camera pose from which all corners of the field are in the picture. Returns the
/// start pose of the car if no such pose is found.
fn camera_pose(world: &World, optics: &Optics) -> Pose {
    let spawn = world.spawn.position.truncate();
    let known = world.ground.bounds.or_else(|| world.route.as_ref().map(|r| r.bounds()));
    let (low, high) =
        known.map_or((spawn - DEFAULT_HALF_SIZE_M, spawn + DEFAULT_HALF_SIZE_M), |b| (b.min, b.max));
    // In a world without a drivable surface, the ground plane can lie below the scenery on which the
    // car stands.
    let height = if known.is_some() { world.ground.z } else { world.spawn.position.z };
    let corners = [low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y)];
    let (s, c) = libm::sincos(PITCH_DOWN_RAD);
    let (back, up) = (DVec3::new(0.0, -c, s), DVec3::new(0.0, s, c));
    let (w, h) = (optics.width as f64, optics.height as f64);
    // Returns the bounding box of the projected field, pixels, or `None` if a corner of the field
    // is behind the camera.
    let frame = |pose: &Pose| {
        let seen = corners.map(|p| optics.project(pose.inverse().point(p.extend(height)).to_array()));
        seen.iter().try_fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(least, most), p| {
            let p = DVec2::from_array((*p)?);
            Some((least.min(p), most.max(p)))
        })
    };
    // Returns the camera pose at this distance whose picture is centred on the field, or `None` if
    // the field does not fit into the picture. A camera that looks at the centre of the field does
    // not show the field centred, because of the perspective. The loop therefore moves the camera
    // up or down eight times, which centres the bounding box vertically.
    let centred = |distance: f64| {
        let mut lift = 0.0;
        let at = |lift: f64| {
            let eye = (0.5 * (low + high)).extend(height) + back * distance + up * lift;
            Pose::from_xyz_rpy(eye.to_array(), [0.0, PITCH_DOWN_RAD, FRAC_PI_2])
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

/// Reduces the rendered picture: each pixel is the mean of `SUPERSAMPLING`² rendered pixels.
fn downsampled(drawn: &Rgb) -> Vec<u8> {
    let [width, height] = THUMBNAIL_SIZE;
    let mut small = Vec::with_capacity(3 * width * height);
    for y in 0..height {
        for x in 0..width {
            for channel in 0..3 {
                let at = |dx: usize, dy: usize| {
                    let pixel = (y * SUPERSAMPLING + dy) * drawn.width + x * SUPERSAMPLING + dx;
                    u32::from(drawn.bytes[3 * pixel + channel])
                };
                let sum: u32 = (0..SUPERSAMPLING)
                    .flat_map(|dy| (0..SUPERSAMPLING).map(move |dx| (dx, dy)))
                    .map(|(dx, dy)| at(dx, dy))
                    .sum();
                let count = (SUPERSAMPLING * SUPERSAMPLING) as u32;
                small.push(((sum + count / 2) / count) as u8);
            }
        }
    }
    small
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_testkit::Yard;
    use chicane_world::Bounds;

    #[test]
    fn the_thumbnail_of_a_raised_field_was_shifted() {
        let optics = Optics::pinhole(THUMBNAIL_SIZE[0], THUMBNAIL_SIZE[1], HORIZONTAL_FOV_RAD);
        let mut world = Arc::unwrap_or_clone(Yard::new().build());
        let raised = |world: &World, other: &World| {
            let (low, high) = (camera_pose(world, &optics), camera_pose(other, &optics));
            assert!((high.position - low.position - 5.0 * DVec3::Z).length() < 1e-9, "{low:?} {high:?}");
            assert_eq!(high.rotation, low.rotation);
        };
        world.ground.bounds = None;
        let mut other = world.clone();
        other.spawn.position.z += 5.0;
        raised(&world, &other);
        world.ground.bounds = Some(Bounds { min: DVec2::new(-2.0, -1.0), max: DVec2::new(3.0, 2.0) });
        other.clone_from(&world);
        other.ground.z += 5.0;
        raised(&world, &other);
    }
}
