//! Where things are seen: against `Optics::project`, and depths against geometry.

use crate::set::{Set, apart, at, centroid, look, pixel, seen};
use chicane_render::{Camera, CarMoment, Moment, Optics, label};
use chicane_world::scene::{Look, Owner};
use chicane_world::{Pose, Profile};
use glam::DVec3;

/// Small balls, each in a colour that nothing else has.
const BALLS: [([f64; 3], [f32; 3]); 6] = [
    ([1.5, 0.0, 0.1465], [1.0, 0.0, 0.0]),
    ([1.6, 0.9, 0.5], [0.0, 1.0, 0.0]),
    ([1.4, -1.1, 0.3], [0.0, 0.0, 1.0]),
    ([2.0, 0.5, -0.8], [1.0, 1.0, 0.0]),
    ([1.8, -1.0, -0.7], [1.0, 0.0, 1.0]),
    ([2.2, -0.2, 1.2], [0.0, 1.0, 1.0]),
];

fn balls() -> Set {
    let mut set = Set::new();
    for ([x, y, z], colour) in BALLS {
        let material = set.glow(colour);
        set.put(Owner::Scenery, Look::Sphere(0.04), at(x, y, z), Some(material));
    }
    set
}

fn optics(width: usize, height: usize) -> [Optics; 2] {
    let bent = Optics::on_board(&Profile::gen1(), width, height);
    assert!(bent.k1 != 0.0 && bent.k2 != 0.0, "the car's camera has a lens");
    [bent, Optics::pinhole(width, height, 1.7)]
}

/// The on-board camera of a car at the origin.
fn on_board(car: &CarMoment, optics: Optics) -> Camera {
    Camera { pose: car.camera(&Profile::gen1()), optics }
}

#[test]
fn small_things_are_seen_where_the_optics_say() {
    let set = balls();
    let mut renderer = set.renderer();
    let turned = Pose::from_xyz_rpy([0.1, 0.05, 0.2], [0.3, 0.1, -0.2]);
    for optics in optics(480, 360).into_iter().chain(optics(320, 240)) {
        for pose in [CarMoment::default().camera(&Profile::gen1()), turned] {
            let camera = Camera { pose, optics };
            let picture = renderer.picture(&camera, &set.moment());
            for (place, colour) in BALLS {
                let want = seen(&camera, place);
                let (got, n) = centroid(&picture, colour.map(|c| (c * 255.0) as u8));
                assert!(n > 10, "{n} pixels at {place:?}");
                let error = (got[0] - want[0]).abs().max((got[1] - want[1]).abs());
                assert!(error < 1.0, "{place:?}: {got:?}, not {want:?}, {optics:?}");
            }
        }
    }
}

#[test]
fn edges_of_a_large_box_are_where_the_optics_say() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    set.put(Owner::Scenery, Look::Box([1.0, 1.6, 1.0]), at(2.0, 0.2, 0.1), Some(red));
    let mut renderer = set.renderer();
    for optics in optics(480, 360) {
        let camera = Camera { pose: Pose::from_xyz_rpy([0.0; 3], [0.1, 0.05, 0.0]), optics };
        let picture = renderer.picture(&camera, &set.moment());
        // The front face: (1.5, -0.6..1.0, -0.4..0.6). Nothing of the box is seen beside it.
        for i in 0..=100 {
            let t = f64::from(i) / 100.0;
            let sides = [
                ([1.5, 1.0, -0.4 + t], [1.5, 1.05, -0.4 + t]),
                ([1.5, -0.6, -0.4 + t], [1.5, -0.65, -0.4 + t]),
                ([1.5, -0.6 + 1.6 * t, 0.6], [1.5, -0.6 + 1.6 * t, 0.65]),
                ([1.5, -0.6 + 1.6 * t, -0.4], [1.5, -0.6 + 1.6 * t, -0.45]),
            ];
            for (edge, beyond) in sides {
                let ([x, y], [bx, by]) = (seen(&camera, edge), seen(&camera, beyond));
                let length = (bx - x).hypot(by - y);
                let (dx, dy) = ((bx - x) / length, (by - y) / length);
                let is_red = |steps: f64| {
                    let (px, py) = (x + dx * steps, y + dy * steps);
                    apart(pixel(&picture, px as usize, py as usize), [255, 0, 0]) < 60
                };
                assert!(!is_red(1.3), "too wide at {edge:?}, {x} {y}");
                let at_corner = !(0.02..=0.98).contains(&t);
                assert!(at_corner || is_red(-1.3), "too narrow at {edge:?}, {x} {y}");
            }
        }
    }
}

#[test]
fn depths_and_labels_are_those_of_the_plane_and_the_wall() {
    let mut set = Set::new();
    let grey = set.glow([0.5; 3]);
    set.put(Owner::Track, Look::Plane([40.0, 40.0]), Pose::IDENTITY, Some(grey));
    set.put(Owner::Scenery, Look::Box([0.5, 2.0, 1.0]), at(3.25, 0.5, 0.5), Some(grey));
    let block = set.block([1.5, -0.6, 0.1], 0.2, grey);
    let mut renderer = set.renderer();
    let pose = Pose::from_xyz_rpy([0.2, 0.1, 0.3], [0.05, 0.12, 0.1]);
    let optics = Optics::pinhole(320, 240, 1.5);
    let layers = renderer.layers(&Camera { pose, optics }, &set.moment());
    // What a ray through a place of the picture meets first: distance along the axis, label.
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
    assert!(counts.iter().all(|n| *n > 100), "all of them are in the picture: {counts:?}");
}

#[test]
fn the_car_and_the_second_object_have_their_labels() {
    let mut set = Set::new();
    let grey = set.glow([0.5; 3]);
    set.block([30.0, 0.0, 0.1], 0.2, grey);
    set.block([1.0, 0.0, 0.1], 0.2, grey);
    let moment = Moment { car: CarMoment::default(), ..set.moment() };
    let camera = look([-1.0, 0.0, 0.6], [0.5, 0.0, 0.0], Optics::pinhole(160, 120, 1.2));
    let labels = set.renderer().layers(&camera, &moment).labels;
    for wanted in [label::CAR, label::OBJECTS + 1] {
        assert!(labels.iter().filter(|l| **l == wanted).count() > 50, "{wanted}");
    }
    assert!(!labels.contains(&label::TRACK));
}

#[test]
fn pan_is_to_the_left_and_tilt_upwards() {
    let set = balls();
    let mut renderer = set.renderer();
    let optics = Optics::on_board(&Profile::gen1(), 480, 360);
    let mut red = |pan: f64, tilt: f64| {
        let car = CarMoment { pan, tilt, ..CarMoment::default() };
        let camera = on_board(&car, optics);
        let picture = renderer.picture(&camera, &set.moment());
        let (got, want) = (centroid(&picture, [255, 0, 0]).0, seen(&camera, BALLS[0].0));
        assert!((got[0] - want[0]).hypot(got[1] - want[1]) < 1.0, "{got:?}, not {want:?}");
        got
    };
    let (ahead, left, up) = (red(0.0, 0.0), red(0.2, 0.0), red(0.0, 0.2));
    assert!((ahead[0] - 240.0).abs() < 1.0 && (ahead[1] - 180.0).abs() < 1.0, "{ahead:?}");
    assert!(left[0] > ahead[0] + 30.0 && (left[1] - ahead[1]).abs() < 1.0, "it goes to the right: {left:?}");
    assert!(up[1] > ahead[1] + 30.0 && (up[0] - ahead[0]).abs() < 1.0, "it goes down: {up:?}");
    red(-0.4, -0.3);
}

#[test]
fn the_horizon_of_a_level_camera_is_in_the_middle() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    set.put(Owner::Track, Look::Plane([4000.0, 4000.0]), Pose::IDENTITY, Some(red));
    let mut renderer = set.renderer();
    for optics in optics(480, 360) {
        for tilt in [0.0, 0.25, -0.25] {
            let camera = on_board(&CarMoment { tilt, ..CarMoment::default() }, optics);
            let picture = renderer.picture(&camera, &set.moment());
            let sky =
                (0..360).take_while(|y| apart(pixel(&picture, 240, *y), [255, 0, 0]) >= 60).count() as f64;
            let far = camera.pose.position + DVec3::X * 1e6;
            let want = seen(&camera, far.to_array())[1];
            assert!((sky - want).abs() <= 1.0, "{tilt}: {sky}, not {want}");
            assert!(tilt != 0.0 || (want - 180.0).abs() < 1e-6);
        }
    }
}
