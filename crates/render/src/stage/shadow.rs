//! Soft shadows on the ground below the car and the objects.

use super::ParentFrame;
use crate::image::Image;
use crate::looks::Joint;
use chicane_world::world::ObjectType;
use chicane_world::{Profile, World};
use glam::DVec3;

/// Distance by which a shadow extends beyond its object on each side, m.
const SPREAD_M: f64 = 0.05;
/// Height of an object above the ground at which its shadow has faded out, m.
pub(crate) const FADE_HEIGHT_M: f64 = 0.4;

/// The shadow of an object or the car.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shadow {
    pub(crate) parent: ParentFrame,
    /// Centre of the bottom side of the object or the car, in the parent frame.
    pub(crate) foot: DVec3,
    /// Half of the shadow's size along x and y, m.
    pub(crate) half: [f64; 2],
}

/// The shadows of the car and of all objects except walls.
pub(super) fn all(world: &World, profile: &Profile) -> Vec<Shadow> {
    let objects = world.objects.iter().enumerate().filter(|(_, o)| o.object_type != ObjectType::Wall);
    let mut shadows: Vec<Shadow> = objects
        .map(|(i, o)| Shadow {
            parent: ParentFrame::Object(i),
            foot: o.centre - DVec3::Z * 0.5 * o.size.z,
            half: [0.5 * o.size.x + SPREAD_M, 0.5 * o.size.y + SPREAD_M],
        })
        .collect();
    let [length, _, _] = profile.body.size_m;
    let width = profile.track_m + profile.wheel_width_m;
    shadows.push(Shadow {
        parent: ParentFrame::Car(Joint::Body),
        foot: DVec3::new(profile.body.centre_m[0], 0.0, 0.0),
        half: [0.5 * length + SPREAD_M, 0.5 * width + SPREAD_M],
    });
    shadows
}

/// The texture of a shadow: black, with an alpha that fades out towards the edge.
pub(super) fn picture() -> Image {
    const SIDE: usize = 64;
    Image::from_fn(SIDE, SIDE, |x, y| {
        let part = |v: usize| (2.0 * (v as f64 + 0.5) / SIDE as f64 - 1.0).abs();
        // The contour of a 4-norm is a square with rounded corners.
        let (a, b) = (part(x), part(y));
        let r = ((a * a * a * a + b * b * b * b).sqrt()).sqrt();
        let t = ((1.0 - r) / 0.6).clamp(0.0, 1.0);
        let alpha = 185.0 * t * t * (3.0 - 2.0 * t);
        [0, 0, 0, (alpha + 0.5) as u8]
    })
}
