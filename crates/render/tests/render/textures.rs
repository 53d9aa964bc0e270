//! Tests that textures appear on the correct face and in the correct orientation.

use crate::support::{TestScene, at, camera_looking_at, max_difference, pixel, png, project};
use chicane_render::Optics;
use chicane_world::Pose;
use chicane_world::scene::{Group, Look, Mesh, Owner};
use glam::Vec3;

const COLOURS: [[u8; 3]; 6] =
    [[250, 10, 10], [10, 250, 10], [10, 10, 250], [250, 250, 10], [250, 10, 250], [10, 250, 250]];
const SIDES: [[f32; 3]; 6] =
    [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];

/// A cube with an edge length of 1. Each face is a group with its own material.
fn six_faced(materials: &[usize]) -> Mesh {
    let mut mesh = Mesh::default();
    for (side, material) in SIDES.iter().zip(materials) {
        let normal = Vec3::from_array(*side);
        let up = if side[2] == 0.0 { Vec3::Z } else { Vec3::X };
        let right = up.cross(normal);
        let first = mesh.positions.len() as u32;
        for (u, v) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
            mesh.positions.push((normal * 0.5 + right * (u - 0.5) + up * (v - 0.5)).to_array());
            mesh.normals.push(*side);
            mesh.uvs.push([u, v]);
        }
        let indices = [0, 1, 2, 0, 2, 3].map(|i| first + i).to_vec();
        mesh.groups.push(Group { material: *material, indices });
    }
    mesh
}

#[test]
fn each_face_of_a_box_shows_its_own_texture() {
    let mut scene = TestScene::new();
    let materials: Vec<usize> = COLOURS.iter().map(|c| scene.textured(png(8, 8, |_, _| *c))).collect();
    let cube = scene.mesh(six_faced(&materials));
    scene.add(Owner::Scenery, cube, at(5.0, 5.0, 5.0), None);
    let mut renderer = scene.renderer();
    for (side, colour) in SIDES.iter().zip(COLOURS) {
        let from = side.map(|v| 5.0 + 2.0 * f64::from(v) + 1e-6);
        let camera = camera_looking_at(from, [5.0; 3], Optics::pinhole(64, 64, 0.35));
        let picture = renderer.picture(&camera, &scene.moment());
        for y in 0..64 {
            for x in 0..64 {
                assert!(max_difference(pixel(&picture, x, y), colour) <= 2, "{side:?} {x} {y}");
            }
        }
    }
}

/// A PNG file with four quarters: red and green at the top, blue and yellow at the bottom.
fn quartered() -> Vec<u8> {
    png(64, 64, |x, y| match (x < 32, y < 32) {
        (true, true) => [250, 10, 10],
        (false, true) => [10, 250, 10],
        (true, false) => [10, 10, 250],
        (false, false) => [250, 250, 10],
    })
}

const QUARTERS: [([f64; 2], [u8; 3]); 4] = [
    ([-0.25, 0.25], [250, 10, 10]),
    ([0.25, 0.25], [10, 250, 10]),
    ([-0.25, -0.25], [10, 10, 250]),
    ([0.25, -0.25], [250, 250, 10]),
];

#[test]
fn a_texture_is_upright_and_not_mirrored() {
    let mut scene = TestScene::new();
    let material = scene.textured(quartered());
    let cube = scene.mesh(six_faced(&[material; 6]));
    scene.add(Owner::Scenery, cube, at(0.0, 0.0, 0.0), None);
    // The plane faces +z. The x axis points right in the texture, and the y axis points up.
    scene.add(Owner::Scenery, Look::Plane([1.0, 1.0]), at(0.0, 9.0, 0.0), Some(material));
    let mut renderer = scene.renderer();
    let optics = Optics::pinhole(96, 96, 0.8);
    // For a camera at -x with z up, right is -y.
    let camera = camera_looking_at([-2.0, 0.0, 0.0], [0.0; 3], optics);
    let picture = renderer.picture(&camera, &scene.moment());
    for ([right, up], colour) in QUARTERS {
        let [x, y] = project(&camera, [-0.5, -right, up]);
        assert!(max_difference(pixel(&picture, x as usize, y as usize), colour) <= 2, "{right} {up}");
        assert!((x > 48.0) == (right > 0.0) && (y < 48.0) == (up > 0.0), "{x} {y}");
    }
    // This camera looks down. +y is at the top of its picture.
    let from =
        Pose::from_xyz_rpy([0.0, 9.0, 2.0], [0.0, std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2]);
    let camera = chicane_render::Camera { pose: from, optics };
    let picture = renderer.picture(&camera, &scene.moment());
    for ([right, up], colour) in QUARTERS {
        let [x, y] = project(&camera, [right, 9.0 + up, 0.0]);
        assert!(max_difference(pixel(&picture, x as usize, y as usize), colour) <= 2, "{right} {up}");
        assert!((x > 48.0) == (right > 0.0) && (y < 48.0) == (up > 0.0), "{x} {y}");
    }
}

#[test]
fn a_mirrored_mesh_still_shows_its_front() {
    let mut scene = TestScene::new();
    let materials: Vec<usize> = COLOURS.iter().map(|c| scene.textured(png(8, 8, |_, _| *c))).collect();
    let cube = scene.mesh(six_faced(&materials));
    scene.add(Owner::Scenery, cube, Pose::IDENTITY, None).scale = [-1.0, 1.0, 1.0];
    let mut renderer = scene.renderer();
    // Mirroring swaps the faces at -x and +x.
    for (side, colour) in [([1.0, 0.0, 0.0], COLOURS[1]), ([-1.0, 0.0, 0.0], COLOURS[0])] {
        let camera = camera_looking_at(side.map(|v| 2.0 * v), [0.0; 3], Optics::pinhole(32, 32, 0.35));
        let picture = renderer.picture(&camera, &scene.moment());
        assert!(picture.bytes.as_chunks::<3>().0.iter().all(|p| max_difference(*p, colour) <= 2), "{side:?}");
    }
    for (side, colour) in SIDES.iter().zip(COLOURS).skip(2) {
        let camera = camera_looking_at(
            side.map(|v| 2.0 * f64::from(v) + 1e-6),
            [0.0; 3],
            Optics::pinhole(32, 32, 0.35),
        );
        let picture = renderer.picture(&camera, &scene.moment());
        assert!(picture.bytes.as_chunks::<3>().0.iter().all(|p| max_difference(*p, colour) <= 2), "{side:?}");
    }
}
