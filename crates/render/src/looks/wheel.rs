//! A wheel: a tyre with tread, and a rim with five spokes. The wheel rolls about the y axis, and
//! the rim faces +y.

use super::build::{MeshBuilder, ring};
use super::shapes::cuboid;
use super::{Model, plain};
use chicane_world::{Pose, Profile};
use glam::DVec3;
use std::f64::consts::{FRAC_PI_2, TAU};

const RUBBER: usize = 0;
const GROOVE: usize = 1;
const RIM: usize = 2;
const DARK: usize = 3;
const HUB: usize = 4;

const SIDES: usize = 30;
const SPOKES: usize = 5;

/// A wheel with the dimensions of the profile, centred on the origin.
pub(super) fn model(profile: &Profile) -> Model {
    let (r, w) = (profile.wheel_radius_m, profile.wheel_width_m);
    // The shapes are built around the z axis. This rotation turns the z axis onto the y axis.
    let lie = Pose::from_xyz_rpy([0.0; 3], [-FRAC_PI_2, 0.0, 0.0]);
    let circle = |radius: f64, z: f64| -> Vec<DVec3> {
        ring(SIDES, radius * r, z * w).into_iter().map(|p| lie.point(p)).collect()
    };
    let mut b = MeshBuilder::default();
    let tyre = [
        circle(0.68, -0.40),
        circle(0.86, -0.49),
        circle(0.95, -0.46),
        circle(1.0, -0.36),
        circle(1.0, -0.11),
        circle(1.0, 0.11),
        circle(1.0, 0.36),
        circle(0.95, 0.46),
        circle(0.86, 0.49),
        circle(0.69, 0.42),
    ];
    b.skin(&tyre, |i, j| match i {
        // The tread blocks of the two shoulders of the tyre are offset against each other.
        2 | 3 if j % 3 == 0 => GROOVE,
        5 | 6 if j % 3 == 1 => GROOVE,
        4 => GROOVE,
        _ => RUBBER,
    });
    // The inner side is flat, and the outer side is a dish with spokes.
    b.fan_reversed(DARK, &tyre[0]);
    let dish = [circle(0.69, 0.42), circle(0.655, 0.44), circle(0.61, 0.40), circle(0.58, 0.16)];
    b.skin(&dish, |i, _| if i < 2 { RIM } else { DARK });
    b.fan(DARK, &dish[3]);
    for i in 0..SPOKES {
        let turn = TAU * i as f64 / SPOKES as f64;
        let (s, c) = libm::sincos(turn);
        let at = Pose::from_xyz_yaw(0.37 * r * c, 0.37 * r * s, 0.3 * w, turn);
        b.mesh(RIM, &lie.then(&at), &cuboid([0.52 * r, 0.13 * r, 0.14 * w]));
    }
    let hub = [circle(0.17, 0.2), circle(0.17, 0.42), circle(0.13, 0.46)];
    b.skin(&hub, |_, _| HUB);
    b.fan(HUB, &hub[2]);
    let materials = vec![
        plain([0.105, 0.105, 0.11]),
        plain([0.055, 0.055, 0.06]),
        plain([0.80, 0.81, 0.83]),
        plain([0.09, 0.09, 0.10]),
        plain([0.78, 0.10, 0.11]),
    ];
    Model { mesh: b.finish(0.55), materials, textures: Vec::new() }
}
