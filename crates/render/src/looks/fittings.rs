//! The parts on the shell of the car: bumpers, lights, wing, axles, lidar and camera.

use super::build::{MeshBuilder, ring};
use super::shapes::cuboid;
use super::shell::{GLASS, HEADLIGHT, METAL, Measures, PAINT, STRIPE, TAILLIGHT, TRIM};
use super::{Model, plain};
use chicane_world::scene::Material;
use chicane_world::{Pose, Profile};
use glam::DVec3;
use std::f64::consts::FRAC_PI_2;

// Indices of the materials of the lidar and the camera, in the order of `device_model`.
const CASE: usize = 0;
const GLOSS: usize = 1;
const ACCENT: usize = 2;
const BOARD: usize = 3;

/// Crease angle, rad. Faces that meet at a smaller angle share a smooth normal.
const CREASE: f64 = 0.6;

/// A pose without rotation.
fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose { position: DVec3::new(x, y, z), ..Pose::IDENTITY }
}

/// Adds a round bar along the z axis. The bar has few sides, because it is small.
fn rod(b: &mut MeshBuilder, material: usize, pose: &Pose, radius: f64, length: f64) {
    let circle = |z: f64| -> Vec<DVec3> { ring(16, radius, z).into_iter().map(|p| pose.point(p)).collect() };
    let rings = [circle(-0.5 * length), circle(0.5 * length)];
    b.skin(&rings, |_, _| material);
    b.fan(material, &rings[1]);
    b.fan_reversed(material, &rings[0]);
}

/// Adds a small ellipsoid with these half axes.
fn ellipsoid(b: &mut MeshBuilder, material: usize, pose: &Pose, half: [f64; 3]) {
    let circle = |step: i32| -> Vec<DVec3> {
        let (s, c) = libm::sincos(0.3 * f64::from(step) * FRAC_PI_2);
        let stretched = |p: DVec3| pose.point(p * DVec3::from_array(half));
        ring(14, c, s).into_iter().map(stretched).collect()
    };
    let rings: Vec<Vec<DVec3>> = (-3..=3).map(circle).collect();
    b.skin(&rings, |_, _| material);
    b.fan(material, &rings[6]);
    b.fan_reversed(material, &rings[0]);
}

/// Half of the height, and then the radius, of the lidar's housing, m.
const PUCK: [f64; 2] = [0.0155, 0.034];

/// The body of the car with all parts that are fixed to it.
pub(super) fn body(profile: &Profile) -> Model {
    let m = Measures::of(profile);
    let mut b = MeshBuilder::default();
    m.shell(&mut b);
    bumpers(&mut b, &m, profile);
    lights(&mut b, &m);
    wing(&mut b, &m);
    axles(&mut b, profile);
    mounts(&mut b, &m, profile);
    let glow = |colour: [f32; 3], emissive: [f32; 3]| Material { emissive, ..plain(colour) };
    let materials = vec![
        plain([0.80, 0.11, 0.12]),
        plain([0.95, 0.95, 0.93]),
        plain([0.09, 0.12, 0.16]),
        plain([0.13, 0.13, 0.14]),
        plain([0.55, 0.56, 0.58]),
        glow([0.93, 0.94, 0.90], [0.12, 0.12, 0.10]),
        glow([0.50, 0.03, 0.04], [0.08, 0.0, 0.0]),
    ];
    Model { mesh: b.finish(CREASE), materials, textures: Vec::new() }
}

/// Adds the grille, and a bumper across each end of the car. The tips of a bumper are bent around
/// the corners of the car.
fn bumpers(b: &mut MeshBuilder, m: &Measures, profile: &Profile) {
    let body = &profile.body;
    for (end, wide) in [(1.0, 0.80), (-1.0, 0.82)] {
        let tip = body.centre_m[0] + end * 0.5 * body.size_m[0];
        // Points of the bumper from right to left, seen from outside. Each point is a lateral
        // position, and a distance from the end of the car.
        let plan = [(-1.0, 0.07), (-0.86, 0.012), (-0.5, 0.0), (0.5, 0.0), (0.86, 0.012), (1.0, 0.07)];
        let deep = 0.045;
        let (low, high) = (m.z(0.115), m.z(0.235));
        let rings: Vec<Vec<DVec3>> = plan
            .iter()
            .map(|&(y, back)| {
                let x = |d: f64| tip - end * d * m.high.min(0.15);
                let y = -end * y * wide * m.wide;
                let lip = 0.02;
                [
                    (back + deep, low),
                    (back + lip, low),
                    (back, low + 0.004),
                    (back, high - 0.004),
                    (back + lip, high),
                    (back + deep, high),
                ]
                .map(|(d, z)| DVec3::new(x(d), y, z))
                .to_vec()
            })
            .collect();
        // Seen from outside, the rings go from right to left at both ends of the car. The winding
        // is therefore the same at both ends.
        b.skin(&rings, |_, _| TRIM);
        if let (Some(first), Some(last)) = (rings.first(), rings.last()) {
            b.fan_reversed(TRIM, first);
            b.fan(TRIM, last);
        }
    }
    // The grille.
    let x = m.x(1.0);
    b.mesh(TRIM, &at(x, 0.0, m.z(0.315)), &cuboid([0.003, 0.62 * m.wide, 0.07 * (m.high - m.low)]));
}

/// Adds headlights, tail lights, mirrors and the number plate.
fn lights(b: &mut MeshBuilder, m: &Measures) {
    let h = m.high - m.low;
    for side in [-1.0, 1.0] {
        let front = at(m.x(0.985), side * 0.60 * m.wide, m.z(0.345));
        ellipsoid(b, HEADLIGHT, &front, [0.005, 0.15 * m.wide, 0.052 * h]);
        let rear = at(m.x(-0.995), side * 0.62 * m.wide, m.z(0.485));
        b.mesh(TAILLIGHT, &rear, &cuboid([0.004, 0.30 * m.wide, 0.075 * h]));
        // Mirrors.
        let mirror = at(m.x(0.36), side * 0.75 * m.wide, m.z(0.70));
        ellipsoid(b, PAINT, &mirror, [0.006, 0.008, 0.0055]);
    }
    b.mesh(STRIPE, &at(m.x(-0.995), 0.0, m.z(0.40)), &cuboid([0.004, 0.5 * m.wide, 0.11 * h]));
    b.mesh(TRIM, &at(m.x(-0.997), 0.0, m.z(0.40)), &cuboid([0.005, 0.38 * m.wide, 0.03 * h]));
}

/// Adds a rear wing: a thin board on two posts.
fn wing(b: &mut MeshBuilder, m: &Measures) {
    let (x, z) = (m.x(-0.905), m.z(0.90));
    let half = 0.74 * m.wide;
    let h = m.high - m.low;
    let board = |y: f64| -> Vec<DVec3> {
        [[-0.012, 0.006], [-0.0125, 0.0085], [0.0, 0.0025], [0.013, 0.0], [0.0, -0.001]]
            .map(|[dx, dz]| DVec3::new(x + dx, y, z + dz))
            .to_vec()
    };
    let rings = [board(-half), board(half)];
    b.skin(&rings, |_, _| STRIPE);
    b.fan(STRIPE, &rings[1]);
    b.fan_reversed(STRIPE, &rings[0]);
    for side in [-1.0, 1.0] {
        b.mesh(PAINT, &at(x, side * half, z + 0.002), &cuboid([0.03, 0.003, 0.1 * h]));
        let foot = m.ridge(x) - 0.004;
        let tall = (z - foot).max(0.001);
        b.mesh(TRIM, &at(x + 0.002, side * 0.42 * m.wide, foot + 0.5 * tall), &cuboid([0.012, 0.003, tall]));
    }
}

fn axles(b: &mut MeshBuilder, profile: &Profile) {
    for x in [-0.5, 0.5] {
        let pose =
            Pose::from_xyz_rpy([x * profile.wheelbase_m, 0.0, profile.wheel_radius_m], [FRAC_PI_2, 0.0, 0.0]);
        rod(b, METAL, &pose, 0.12 * profile.wheel_radius_m, profile.track_m);
    }
}

/// Adds the mounts of lidar and camera.
fn mounts(b: &mut MeshBuilder, m: &Measures, profile: &Profile) {
    let [x, y, z] = profile.lidar.position_m;
    let (roof, foot) = (m.ridge(x), z - PUCK[0]);
    if foot > roof {
        b.mesh(TRIM, &at(x, y, roof + 0.0005), &cuboid([0.062, 0.052, 0.005]));
        for (dx, dy) in [(-0.024, -0.019), (-0.024, 0.019), (0.024, -0.019), (0.024, 0.019)] {
            rod(b, METAL, &at(x + dx, y + dy, 0.5 * (roof + foot)), 0.0022, foot - roof + 0.002);
        }
        b.mesh(TRIM, &at(x, y, foot - 0.0012), &cuboid([0.062, 0.052, 0.0024]));
    }
    let [x, y, z] = profile.camera.position_m;
    let (bonnet, foot) = (m.ridge(x) - 0.006, z - TURNTABLE);
    if foot > bonnet {
        let tall = foot - bonnet;
        b.mesh(TRIM, &at(x - 0.004, y, bonnet + 0.5 * tall), &cuboid([0.026, 0.017, tall]));
        b.mesh(TRIM, &at(x - 0.004, y, foot - 0.006), &cuboid([0.036, 0.017, 0.0025]));
        rod(b, GLASS, &at(x, y, foot + 0.0008), 0.0075, 0.003);
    }
}

/// Distance of the camera's turntable below the lens, m.
const TURNTABLE: f64 = 0.031;

/// A model with the materials of the lidar and the camera.
fn device_model(b: MeshBuilder) -> Model {
    let materials = vec![
        plain([0.15, 0.16, 0.17]),
        plain([0.03, 0.04, 0.07]),
        plain([0.85, 0.86, 0.88]),
        plain([0.06, 0.36, 0.22]),
    ];
    Model { mesh: b.finish(CREASE), materials, textures: Vec::new() }
}

/// The lidar, centred on the origin: a foot, a dark window all around, and a lid.
pub(super) fn lidar() -> Model {
    const SIDES: usize = 32;
    let [half, radius] = PUCK;
    let levels = [
        (0.90, -1.0, CASE),
        (1.0, -0.9, CASE),
        (1.0, -0.42, ACCENT),
        (1.0, -0.34, GLOSS),
        (0.955, -0.30, GLOSS),
        (0.955, 0.46, GLOSS),
        (1.0, 0.5, CASE),
        (1.0, 0.84, CASE),
        (0.93, 1.0, CASE),
    ];
    let rings: Vec<Vec<DVec3>> = levels.iter().map(|&(r, z, _)| ring(SIDES, r * radius, z * half)).collect();
    let mut b = MeshBuilder::default();
    b.skin(&rings, |i, _| levels[i].2);
    if let (Some(low), Some(top)) = (rings.first(), rings.last()) {
        b.fan(CASE, top);
        b.fan_reversed(CASE, low);
    }
    // The mark on the lid points forward.
    b.mesh(ACCENT, &at(0.55 * radius, 0.0, half), &cuboid([0.3 * radius, 0.08 * radius, 0.0008]));
    device_model(b)
}

/// The fork that pans the camera. The origin is the centre of the lens.
pub(super) fn fork() -> Model {
    let mut b = MeshBuilder::default();
    rod(&mut b, CASE, &at(0.0, 0.0, -TURNTABLE + 0.0025), 0.0105, 0.004);
    b.mesh(CASE, &at(-0.009, 0.0, -TURNTABLE + 0.0055), &cuboid([0.014, 0.042, 0.003]));
    for side in [-1.0, 1.0] {
        b.mesh(CASE, &at(-0.012, side * 0.0198, -0.5 * TURNTABLE + 0.005), &cuboid([0.009, 0.0024, 0.030]));
        let screw = Pose::from_xyz_rpy([-0.012, side * 0.0212, 0.0], [FRAC_PI_2, 0.0, 0.0]);
        rod(&mut b, ACCENT, &screw, 0.0028, 0.0016);
    }
    device_model(b)
}

/// The camera. It looks along x. The origin is the centre of the lens, and all parts are behind the
/// origin.
pub(super) fn head() -> Model {
    let mut b = MeshBuilder::default();
    b.mesh(CASE, &at(-0.0135, 0.0, 0.0), &cuboid([0.013, 0.036, 0.030]));
    b.mesh(BOARD, &at(-0.0205, 0.0, 0.0), &cuboid([0.0016, 0.034, 0.028]));
    b.mesh(ACCENT, &at(-0.0071, 0.0135, 0.0105), &cuboid([0.0008, 0.003, 0.003]));
    // The barrel is a surface of revolution around x. `circle` takes the radius and the x position
    // of a ring.
    let ahead = Pose::from_xyz_rpy([0.0; 3], [0.0, FRAC_PI_2, 0.0]);
    let circle = |radius: f64, x: f64| -> Vec<DVec3> {
        ring(24, radius, x).into_iter().map(|p| ahead.point(p)).collect()
    };
    let barrel = [
        circle(0.0115, -0.0075),
        circle(0.0115, -0.004),
        circle(0.0105, -0.003),
        circle(0.0098, -0.0012),
        circle(0.0082, -0.0012),
        circle(0.0075, -0.0026),
        circle(0.0040, -0.0016),
    ];
    b.skin(&barrel, |i, _| match i {
        0 | 3 | 4 => CASE,
        1 | 2 => ACCENT,
        _ => GLOSS,
    });
    b.fan(GLOSS, &barrel[6]);
    device_model(b)
}
