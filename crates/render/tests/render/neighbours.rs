//! Tests that adjacent triangles leave no gap between them and do not overlap.

use crate::support::{TestScene, at, bare_mesh};
use chicane_render::{Camera, Optics};
use chicane_world::Pose;
use chicane_world::scene::{Look, Mesh, Owner};

/// A square that faces -x, divided into irregular triangles whose corners are not on a pixel grid.
fn patchwork(n: usize, side: f64) -> Mesh {
    let mut state = 12345u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
    };
    let (mut positions, mut indices) = (Vec::new(), Vec::new());
    for row in 0..=n {
        for column in 0..=n {
            let inner = row > 0 && row < n && column > 0 && column < n;
            let jitter = if inner { 0.5 } else { 0.0 };
            let place = |i: usize, r: f64| side * ((i as f64 + jitter * r) / n as f64 - 0.5);
            positions.push([0.0, -place(column, random()) as f32, place(row, random()) as f32]);
        }
    }
    let index = |row: usize, column: usize| (row * (n + 1) + column) as u32;
    for row in 0..n {
        for column in 0..n {
            let [a, b] = [index(row, column), index(row, column + 1)];
            let [c, d] = [index(row + 1, column + 1), index(row + 1, column)];
            indices.extend([a, b, c, a, c, d]);
        }
    }
    bare_mesh(positions, indices)
}

fn cameras() -> Vec<Camera> {
    let poses = [
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]),
        ([0.7, -0.3, 0.1], [2.0, -0.3, 0.3]),
        ([0.93, 0.0, 0.0], [0.1, 0.1, -0.1]),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.7]),
    ];
    let optics = Optics::pinhole(320, 240, 1.1);
    poses.into_iter().map(|(xyz, rpy)| Camera { pose: Pose::from_xyz_rpy(xyz, rpy), optics }).collect()
}

#[test]
fn a_patchwork_has_no_gaps() {
    // The cases range from two large triangles to many small triangles. The large triangles are
    // clipped at the borders of the picture.
    for (n, side) in [(1, 900.0), (3, 500.0), (7, 40.0), (40, 12.0), (150, 12.0)] {
        let mut scene = TestScene::new();
        let red = scene.emissive([1.0, 0.0, 0.0]);
        let look = scene.mesh(patchwork(n, side));
        scene.add(Owner::Scenery, look, at(1.0, 0.0, 0.0), Some(red));
        let mut renderer = scene.renderer();
        for camera in cameras() {
            let picture = renderer.layers(&camera, &scene.moment()).colour;
            let holes = picture.pixels.iter().filter(|p| **p != [255, 0, 0, 255]).count();
            assert_eq!(holes, 0, "{n} pieces a row, {:?}", camera.pose);
        }
    }
}

#[test]
fn a_transparent_patchwork_has_no_seams() {
    for (n, side) in [(1, 900.0), (3, 500.0), (7, 40.0), (40, 12.0), (150, 12.0)] {
        let mut scene = TestScene::new();
        let (white, black) = (scene.emissive([1.0; 3]), scene.emissive([0.0; 3]));
        let wall = Look::Box([1.0, 9000.0, 9000.0]);
        scene.add(Owner::Scenery, wall, at(3.0, 0.0, 0.0), Some(white));
        let look = scene.mesh(patchwork(n, side));
        scene.add(Owner::Scenery, look, at(1.0, 0.0, 0.0), Some(black)).opacity = 0.5;
        let mut renderer = scene.renderer();
        for camera in cameras() {
            let picture = renderer.layers(&camera, &scene.moment()).colour;
            // Black with an opacity of 0.5 over white gives 0.5 in linear light. As a byte, this is
            // 255·√0.5 = 180.
            let odd = picture.pixels.iter().filter(|p| **p != [180, 180, 180, 255]).count();
            assert_eq!(odd, 0, "{n} pieces a row, {:?}", camera.pose);
        }
    }
}
