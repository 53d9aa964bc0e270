//! Compares positions in pictures with `Optics::project`, and depths with ray casting.

use crate::support::{TestScene, at, camera_looking_at, centroid, max_difference, pixel, project};
use chicane_render::{Camera, CarMoment, Moment, Optics, label};
use chicane_world::scene::{Look, Owner};
use chicane_world::{Pose, Profile};
use glam::DVec3;

/// Positions and unique colours of small balls.
const BALLS: [([f64; 3], [f32; 3]); 6] = [
    ([1.5, 0.0, 0.1465], [1.0, 0.0, 0.0]),
    ([1.6, 0.9, 0.5], [0.0, 1.0, 0.0]),
    ([1.4, -1.1, 0.3], [0.0, 0.0, 1.0]),
    ([2.0, 0.5, -0.8], [1.0, 1.0, 0.0]),
    ([1.8, -1.0, -0.7], [1.0, 0.0, 1.0]),
    ([2.2, -0.2, 1.2], [0.0, 1.0, 1.0]),
];

fn balls() -> TestScene {
    let mut scene = TestScene::new();
    for ([x, y, z], colour) in BALLS {
        let material = scene.emissive(colour);
        scene.add(Owner::Scenery, Look::Sphere(0.04), at(x, y, z), Some(material));
    }
    scene
}

fn optics(width: usize, height: usize) -> [Optics; 2] {
    let distorted = Optics::on_board(&Profile::gen1(), width, height);
    assert!(distorted.k1 != 0.0 && distorted.k2 != 0.0, "the on-board camera has distortion");
    [distorted, Optics::pinhole(width, height, 1.7)]
}

/// The on-board camera of a car.
fn on_board(car: &CarMoment, optics: Optics) -> Camera {
    Camera { pose: car.camera(&Profile::gen1()), optics }
}

#[test]
fn small_balls_appear_at_their_projected_position() {
    let scene = balls();
    let mut renderer = scene.renderer();
    let turned = Pose::from_xyz_rpy([0.1, 0.05, 0.2], [0.3, 0.1, -0.2]);
    for optics in optics(480, 360).into_iter().chain(optics(320, 240)) {
        for pose in [CarMoment::default().camera(&Profile::gen1()), turned] {
            let camera = Camera { pose, optics };
            let picture = renderer.picture(&camera, &scene.moment());
            for (place, colour) in BALLS {
                let want = project(&camera, place);
                let (got, n) = centroid(&picture, colour.map(|c| (c * 255.0) as u8));
                assert!(n > 10, "{n} pixels at {place:?}");
                let error = (got[0] - want[0]).abs().max((got[1] - want[1]).abs());
                assert!(error < 1.0, "{place:?}: {got:?}, not {want:?}, {optics:?}");
            }
        }
    }
}

#[test]
fn edges_of_a_large_box_appear_at_their_projected_position() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    scene.add(Owner::Scenery, Look::Box([1.0, 1.6, 1.0]), at(2.0, 0.2, 0.1), Some(red));
    let mut renderer = scene.renderer();
    for optics in optics(480, 360) {
        let camera = Camera { pose: Pose::from_xyz_rpy([0.0; 3], [0.1, 0.05, 0.0]), optics };
        let picture = renderer.picture(&camera, &scene.moment());
        // The front face is (1.5, -0.6..1.0, -0.4..0.6). The front face hides all other faces of
        // the box.
        for i in 0..=100 {
            let t = f64::from(i) / 100.0;
            let sides = [
                ([1.5, 1.0, -0.4 + t], [1.5, 1.05, -0.4 + t]),
                ([1.5, -0.6, -0.4 + t], [1.5, -0.65, -0.4 + t]),
                ([1.5, -0.6 + 1.6 * t, 0.6], [1.5, -0.6 + 1.6 * t, 0.65]),
                ([1.5, -0.6 + 1.6 * t, -0.4], [1.5, -0.6 + 1.6 * t, -0.45]),
            ];
            for (edge, beyond) in sides {
                let ([x, y], [bx, by]) = (project(&camera, edge), project(&camera, beyond));
                let length = (bx - x).hypot(by - y);
                let (dx, dy) = ((bx - x) / length, (by - y) / length);
                let is_red = |steps: f64| {
                    let (px, py) = (x + dx * steps, y + dy * steps);
                    max_difference(pixel(&picture, px as usize, py as usize), [255, 0, 0]) < 60
                };
                assert!(!is_red(1.3), "too wide at {edge:?}, {x} {y}");
                let at_corner = !(0.02..=0.98).contains(&t);
                assert!(at_corner || is_red(-1.3), "too narrow at {edge:?}, {x} {y}");
            }
        }
    }
}

#[test]
fn depths_and_labels_agree_with_ray_casting() {
    let mut scene = TestScene::new();
    let grey = scene.emissive([0.5; 3]);
    scene.add(Owner::Track, Look::Plane([40.0, 40.0]), Pose::IDENTITY, Some(grey));
    scene.add(Owner::Scenery, Look::Box([0.5, 2.0, 1.0]), at(3.25, 0.5, 0.5), Some(grey));
    let block = scene.block([1.5, -0.6, 0.1], 0.2, grey);
    let mut renderer = scene.renderer();
    let pose = Pose::from_xyz_rpy([0.2, 0.1, 0.3], [0.05, 0.12, 0.1]);
    let optics = Optics::pinhole(320, 240, 1.5);
    let layers = renderer.layers(&Camera { pose, optics }, &scene.moment());
    // Returns the depth and the label of the first surface on the ray through a position of the
    // picture.
    let cast = |x: f64, y: f64| {
        let (u, v) = ((x - 160.0) / optics.focal, (y - 120.0) / optics.focal);
        let (o, d) = (pose.position, pose.rotation * DVec3::new(1.0, -u, -v));
        let mut best = (f64::INFINITY, label::NOTHING);
        let ground = -o.z / d.z;
        let foot = o + d * ground;
        if ground > 0.0 && foot.x.abs() <= 20.0 && foot.y.abs() <= 20.0 {
            best = (ground, label::TRACK);
        }
        let boxes = [
            (DVec3::new(3.25, 0.5, 0.5), DVec3::new(0.25, 1.0, 0.5), label::SCENERY),
            (DVec3::new(1.5, -0.6, 0.1), DVec3::splat(0.1), label::OBJECTS + block as u16),
        ];
        for (centre, half, label) in boxes {
            let (near, far) = ((centre - half - o) / d, (centre + half - o) / d);
            let (enter, leave) = (near.min(far).max_element(), near.max(far).min_element());
            if enter > 0.0 && enter < leave && enter < best.0 {
                best = (enter, label);
            }
        }
        best
    };
    let mut counts = [0; 4];
    for y in 0..240 {
        for x in 0..320 {
            let (fx, fy) = (x as f64 + 0.5, y as f64 + 0.5);
            let (depth, label) = cast(fx, fy);
            let near = [(-0.6, -0.6), (0.6, -0.6), (-0.6, 0.6), (0.6, 0.6)];
            if near.iter().any(|(dx, dy)| cast(fx + dx, fy + dy).1 != label) {
                continue;
            }
            let i = y * 320 + x;
            assert_eq!(layers.labels[i], label, "{x} {y}");
            let got = f64::from(layers.depth[i]);
            if depth.is_finite() {
                assert!((got - depth).abs() < 1e-3 * depth.max(1.0), "{x} {y}: {got}, not {depth}");
            } else {
                assert_eq!(got, depth);
            }
            counts[[0, 1, 2, 16].iter().position(|l| *l == label).unwrap()] += 1;
        }
    }
    assert!(counts.iter().all(|n| *n > 100), "each label is in the picture: {counts:?}");
}

#[test]
fn the_car_and_the_second_object_have_their_labels() {
    let mut scene = TestScene::new();
    let grey = scene.emissive([0.5; 3]);
    scene.block([30.0, 0.0, 0.1], 0.2, grey);
    scene.block([1.0, 0.0, 0.1], 0.2, grey);
    let moment = Moment { car: CarMoment::default(), ..scene.moment() };
    let camera = camera_looking_at([-1.0, 0.0, 0.6], [0.5, 0.0, 0.0], Optics::pinhole(160, 120, 1.2));
    let labels = scene.renderer().layers(&camera, &moment).labels;
    for wanted in [label::CAR, label::OBJECTS + 1] {
        assert!(labels.iter().filter(|l| **l == wanted).count() > 50, "{wanted}");
    }
    assert!(!labels.contains(&label::TRACK));
}

#[test]
fn pan_is_to_the_left_and_tilt_upwards() {
    let scene = balls();
    let mut renderer = scene.renderer();
    let optics = Optics::on_board(&Profile::gen1(), 480, 360);
    let mut red = |pan: f64, tilt: f64| {
        let car = CarMoment { pan, tilt, ..CarMoment::default() };
        let camera = on_board(&car, optics);
        let picture = renderer.picture(&camera, &scene.moment());
        let (got, want) = (centroid(&picture, [255, 0, 0]).0, project(&camera, BALLS[0].0));
        assert!((got[0] - want[0]).hypot(got[1] - want[1]) < 1.0, "{got:?}, not {want:?}");
        got
    };
    let (ahead, left, up) = (red(0.0, 0.0), red(0.2, 0.0), red(0.0, 0.2));
    assert!((ahead[0] - 240.0).abs() < 1.0 && (ahead[1] - 180.0).abs() < 1.0, "{ahead:?}");
    assert!(left[0] > ahead[0] + 30.0 && (left[1] - ahead[1]).abs() < 1.0, "the ball moves right: {left:?}");
    assert!(up[1] > ahead[1] + 30.0 && (up[0] - ahead[0]).abs() < 1.0, "the ball moves down: {up:?}");
    red(-0.4, -0.3);
}

#[test]
fn the_horizon_of_a_level_camera_is_in_the_middle() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    scene.add(Owner::Track, Look::Plane([4000.0, 4000.0]), Pose::IDENTITY, Some(red));
    let mut renderer = scene.renderer();
    for optics in optics(480, 360) {
        for tilt in [0.0, 0.25, -0.25] {
            let camera = on_board(&CarMoment { tilt, ..CarMoment::default() }, optics);
            let picture = renderer.picture(&camera, &scene.moment());
            let sky = (0..360)
                .take_while(|y| max_difference(pixel(&picture, 240, *y), [255, 0, 0]) >= 60)
                .count() as f64;
            let far = camera.pose.position + DVec3::X * 1e6;
            let want = project(&camera, far.to_array())[1];
            assert!((sky - want).abs() <= 1.0, "{tilt}: {sky}, not {want}");
            assert!(tilt != 0.0 || (want - 180.0).abs() < 1e-6);
        }
    }
}
