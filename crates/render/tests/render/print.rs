//! Tests prints of floors: size, scale, colours, content, and hostile worlds.

use crate::support::{TestScene, at, bare_mesh, max_difference, pixel, png, renderer, start};
use chicane_render::{Camera, CarMoment, MAX_PRINT_SIDE, Moment, Optics, Print, PrintError, Rgb, STRIP_ROWS};
use chicane_testkit::{SHIPPED, shipped_world};
use chicane_world::scene::{Look, Owner};
use chicane_world::{Bounds, Pose, World};
use glam::DVec2;
use std::f64::consts::FRAC_PI_2;
use std::io::{Error, Write};

const INCH_M: f64 = 0.0254;

fn cut(mut world: World, min: DVec2, max: DVec2) -> World {
    world.ground.bounds = Some(Bounds { min, max });
    world
}

/// A square part of the oval around the start pose of the car. The start is on a straight.
fn start_of_oval(half: f64) -> World {
    let world = shipped_world("oval");
    let middle = world.spawn.position.truncate();
    cut(world, middle - half, middle + half)
}

/// The whole print as one picture.
fn drawn(print: &Print) -> Rgb {
    let (mut bytes, mut strip) = (Vec::new(), Vec::new());
    for row in (0..print.height()).step_by(STRIP_ROWS) {
        print.strip(row, &mut strip);
        bytes.extend_from_slice(&strip);
    }
    assert_eq!(bytes.len(), print.width() * print.height() * 3);
    Rgb { width: print.width(), height: print.height(), bytes }
}

/// The mean of 5×5 pixels around a world point.
fn colour(print: &Print, picture: &Rgb, place: DVec2) -> [u8; 3] {
    let [x, y] = print.pixel_of(place.x, place.y).map(|v| v as usize);
    let mut sum = [0u32; 3];
    for (dx, dy) in (0..25).map(|i| (i % 5, i / 5)) {
        let pixel = pixel(picture, x + dx - 2, y + dy - 2);
        sum.iter_mut().zip(pixel).for_each(|(s, v)| *s += u32::from(v));
    }
    sum.map(|s| ((s + 12) / 25) as u8)
}

fn jpeg(print: &Print) -> Vec<u8> {
    let mut bytes = Vec::new();
    print.write_jpeg(&mut bytes).unwrap();
    bytes
}

#[test]
fn size_and_dpi_are_in_the_file() {
    for (dpi, side) in [(10, 197), (75, 1476), (76, 1496)] {
        let print = Print::new(&start_of_oval(0.25), dpi).unwrap();
        let bytes = jpeg(&print);
        assert_eq!(&bytes[6..11], b"JFIF\0");
        let [high, low] = dpi.to_be_bytes();
        assert_eq!(bytes[13..18], [1, high, low, high, low], "{dpi} dpi");
        let picture = image::load_from_memory(&bytes).unwrap().into_rgb8();
        assert_eq!((picture.width(), picture.height()), (side, side));
        // The decoded file is close to the drawn strips.
        let expected = drawn(&print);
        let sum: u64 =
            expected.bytes.iter().zip(picture.as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        assert!((sum as f64) < 4.0 * expected.bytes.len() as f64, "{sum}");
    }
    let print = Print::new(&cut(shipped_world("oval"), DVec2::ZERO, DVec2::splat(5.0)), 150).unwrap();
    assert_eq!((print.width(), print.height(), print.dpi()), (29_528, 29_528, 150));
    let print = Print::new(&shipped_world("oval"), 100).unwrap();
    assert_eq!([print.width(), print.height()], [8.0, 6.0].map(|m| (m / INCH_M * 100.0).round() as usize));
}

#[test]
fn road_lines_field_and_paper_have_their_colours() {
    let world = shipped_world("oval");
    let (here, ahead) = (world.spawn.position.truncate(), DVec2::from_angle(world.spawn.yaw()));
    let left = ahead.perp();
    let world = cut(world, here - 1.5, here + 1.0);
    let print = Print::new(&world, 60).unwrap();
    let picture = drawn(&print);
    let beside = |metres: f64| colour(&print, &picture, here + 0.3 * ahead + left * metres);
    for side in [-1.0, 1.0] {
        assert!(max_difference(beside(side * 0.17), [63, 64, 67]) < 14, "road {:?}", beside(side * 0.17));
        assert!(
            max_difference(beside(side * 0.335), [238, 238, 232]) < 45,
            "line {:?}",
            beside(side * 0.335)
        );
        let field = beside(side * 0.42);
        assert!(
            max_difference(field, [63, 64, 67]) > 15 && max_difference(field, [238; 3]) > 60,
            "field {field:?}"
        );
    }
    // The start line alternates between black and white.
    let across: Vec<u8> = (-15..=15)
        .map(|i| colour(&print, &picture, here + 0.025 * ahead + left * 0.02 * f64::from(i))[0])
        .collect();
    assert!(across.iter().any(|v| *v < 60) && across.iter().any(|v| *v > 180), "{across:?}");
    assert_eq!(colour(&print, &picture, DVec2::new(here.x, -0.3)), [255; 3], "paper");
    // The fence is not printed, so the field is visible below it.
    let below = colour(&print, &picture, DVec2::new(here.x, 0.015));
    assert!(
        max_difference(below, beside(0.42)) < 12 || max_difference(below, beside(-0.42)) < 12,
        "{below:?}"
    );
}

#[test]
fn the_printed_road_has_its_true_width() {
    let world = shipped_world("oval");
    let (here, yaw) = (world.spawn.position.truncate(), world.spawn.yaw());
    let world = cut(world, here + DVec2::new(0.25, -0.45), here + DVec2::new(0.35, 0.45));
    assert!(libm::sin(yaw).abs() < 1e-3, "the straight runs along x");
    for dpi in [50, 150, 300] {
        let print = Print::new(&world, dpi).unwrap();
        let picture = drawn(&print);
        let column = print.pixel_of(here.x + 0.3, 0.0)[0] as usize;
        let is_line = |y: &usize| picture.bytes[3 * (y * picture.width + column)] > 150;
        let first = (0..picture.height).find(is_line).unwrap();
        let last = (0..picture.height).rfind(is_line).unwrap();
        let wide = (last + 1 - first) as f64;
        assert!((wide - 0.7 / INCH_M * f64::from(dpi)).abs() < 2.0, "{dpi} dpi: {wide}");
    }
}

/// Compares a print with the renderer's picture from far above. Returns the mean difference in
/// levels, and the fraction of the pixels that differ by more than 24 levels.
fn print_and_view(mut world: World, dpi: u16, min: DVec2, max: DVec2) -> [f64; 2] {
    world.scene.ambient = [1.0; 3];
    world.scene.sun.colour = [0.0; 3];
    let world = cut(world, min, max);
    let print = Print::new(&world, dpi).unwrap();
    let picture = drawn(&print);
    let (height, middle) = (400.0, 0.5 * (min + max));
    let pose = Pose::from_xyz_rpy([middle.x, middle.y, height], [0.0, FRAC_PI_2, FRAC_PI_2]);
    let optics = Optics {
        focal: print.pixels_per_metre() * height,
        ..Optics::pinhole(picture.width, picture.height, 0.1)
    };
    let away = at(-900.0, 0.0, 0.0);
    let objects = vec![away; world.objects.len()];
    let moment = Moment { car: CarMoment { pose: away, ..CarMoment::default() }, objects, ..start(&world) };
    let seen = renderer(&world).picture(&Camera { pose, optics }, &moment);
    let apart: Vec<u8> = picture.bytes.iter().zip(&seen.bytes).map(|(a, b)| a.abs_diff(*b)).collect();
    let other = apart.chunks_exact(3).filter(|p| p.iter().any(|d| *d > 24)).count();
    let mean = apart.iter().map(|d| f64::from(*d)).sum::<f64>() / apart.len() as f64;
    [mean, other as f64 / (apart.len() / 3) as f64]
}

#[test]
fn a_print_equals_the_renderers_view_from_far_above() {
    let world = shipped_world("oval");
    let middle = world.spawn.position.truncate() + DVec2::new(0.2, 0.3);
    let half = 300.0 * INCH_M / 20.0;
    let [mean, other] = print_and_view(world, 20, middle - half, middle + half);
    assert!(mean < 2.5 && other < 0.02, "{mean} {other}");
}

#[test]
fn prints_of_shipped_worlds_equal_the_renderers_view_from_above() {
    for name in SHIPPED {
        let world = shipped_world(name);
        // Only the area inside of the fence is compared, because the fence is not printed.
        let Bounds { min, max } = world.ground.bounds.unwrap();
        let [mean, other] = print_and_view(world, 6, min + 0.06, max - 0.06);
        assert!(mean < 3.0 && other < 0.02, "{name}: {mean} {other}");
    }
}

#[test]
fn prints_of_different_worlds_differ() {
    // This test shows that the comparisons of prints in the tests above can fail.
    let (oval, technical) = (shipped_world("oval"), shipped_world("technical"));
    let Bounds { min, max } = oval.ground.bounds.unwrap();
    let print = drawn(&Print::new(&cut(oval, min, max), 6).unwrap());
    let other = drawn(&Print::new(&cut(technical, min, max), 6).unwrap());
    let differ = print.bytes.iter().zip(&other.bytes).filter(|(a, b)| a.abs_diff(**b) > 24).count();
    assert!(differ as f64 > 0.1 * print.bytes.len() as f64, "{differ}");
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    for dpi in [40, 90] {
        let world = start_of_oval(0.4);
        let first = jpeg(&Print::new(&world, dpi).unwrap());
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| jpeg(&Print::new(&world, dpi).unwrap())) == first, "{threads} threads");
        }
    }
}

#[test]
fn the_highest_layer_is_shown_and_upright_objects_are_not() {
    let mut scene = TestScene::new();
    let [red, green, blue, white] =
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0; 3]].map(|c| scene.emissive(c));
    // The layers are not in the order of their height, because the order must not matter.
    scene.add(Owner::Track, Look::Plane([0.2, 0.2]), at(0.0, 0.0, 0.0006), Some(blue));
    scene.add(Owner::Track, Look::Plane([2.0, 1.0]), at(0.0, 0.0, 0.0), Some(red));
    scene.add(Owner::Track, Look::Plane([0.6, 0.6]), at(0.0, 0.0, 0.0003), Some(green));
    // The layer at the upper right is half transparent.
    scene.add(Owner::Track, Look::Plane([0.2, 0.2]), at(0.8, 0.4, 0.001), Some(white)).opacity = 0.5;
    // The next three instances are not part of the track's floor: a box, a plane of the scenery,
    // and an object.
    scene.add(Owner::Track, Look::Box([0.3, 0.3, 0.2]), at(-0.7, 0.0, 0.1), Some(white));
    scene.add(Owner::Scenery, Look::Plane([0.3, 0.3]), at(0.6, -0.3, 0.002), Some(white));
    scene.block([-0.4, -0.3, 0.1], 0.1, white);
    let print = Print::new(&scene.world, 60).unwrap();
    let picture = drawn(&print);
    assert_eq!([print.width(), print.height()], [2.0, 1.0].map(|m| (m / INCH_M * 60.0).round() as usize));
    let seen = |x: f64, y: f64| colour(&print, &picture, DVec2::new(x, y));
    assert_eq!(seen(0.0, 0.0), [0, 0, 255]);
    assert_eq!(seen(0.2, 0.2), [0, 255, 0]);
    for (x, y) in [(-0.7, 0.0), (0.6, -0.3), (-0.4, -0.3), (-0.8, 0.4), (0.8, -0.4), (-0.8, -0.4)] {
        assert_eq!(seen(x, y), [255, 0, 0], "{x} {y}");
    }
    assert!(max_difference(seen(0.8, 0.4), [255, 180, 180]) < 4, "{:?}", seen(0.8, 0.4));
}

#[test]
fn a_texture_on_the_floor_has_the_right_orientation() {
    let mut scene = TestScene::new();
    // The left half of the texture is red, and the lower half is green.
    let printed =
        scene.textured(png(64, 64, |x, y| [if x < 32 { 255 } else { 0 }, if y < 32 { 0 } else { 255 }, 9]));
    let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let mut mesh = bare_mesh(corners, vec![0, 1, 2, 0, 2, 3]);
    mesh.uvs = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let look = scene.mesh(mesh);
    scene.add(Owner::Track, look, at(3.0, -2.0, 0.0), Some(printed));
    for dpi in [10, 100] {
        let print = Print::new(&scene.world, dpi).unwrap();
        let picture = drawn(&print);
        for (x, y) in [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)] {
            let want = [if x < 0.5 { 255 } else { 0 }, if y < 0.5 { 255 } else { 0 }, 9];
            let got = colour(&print, &picture, DVec2::new(3.0 + x, -2.0 + y));
            assert!(max_difference(got, want) < 3, "{dpi} dpi, {x} {y}: {got:?}");
        }
    }
}

#[test]
fn the_scenery_floor_is_printed_if_the_track_has_none() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    scene.add(Owner::Scenery, Look::Plane([0.5, 0.25]), Pose::IDENTITY, Some(red));
    let print = Print::new(&scene.world, 10).unwrap();
    assert_eq!((print.width(), print.height()), (197, 98));
}

#[test]
fn worlds_without_a_floor_have_no_print() {
    let mut scene = TestScene::new();
    assert_eq!(Print::new(&scene.world, 100).err(), Some(PrintError::NoFloor));
    let red = scene.emissive([1.0, 0.0, 0.0]);
    scene.block([0.0, 0.0, 0.1], 0.2, red);
    scene.add(Owner::Track, Look::Plane([1.0, 1.0]), at(0.0, 0.0, 0.3), Some(red));
    scene.add(Owner::Track, Look::Plane([0.0, 0.0]), Pose::IDENTITY, Some(red));
    scene.add(Owner::Track, Look::Plane([f64::NAN, 1.0]), Pose::IDENTITY, Some(red));
    assert_eq!(Print::new(&scene.world, 100).err(), Some(PrintError::NoFloor));
}

#[test]
fn an_error_for_a_large_floor_contains_the_highest_dpi() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    scene.add(Owner::Track, Look::Plane([10.0, 3.0]), Pose::IDENTITY, Some(red));
    let Err(PrintError::TooLarge { max_dpi, size_m }) = Print::new(&scene.world, 600) else {
        panic!("too large")
    };
    assert_eq!((max_dpi, size_m), (166, [10.0, 3.0]));
    assert!(Print::new(&scene.world, max_dpi + 1).is_err());
    let print = Print::new(&scene.world, max_dpi).unwrap();
    assert!(print.width() <= MAX_PRINT_SIDE && print.width() > MAX_PRINT_SIDE - 400);
    for size in [1e5, 1e9, 1e30] {
        scene.world.ground.bounds = Some(Bounds { min: DVec2::ZERO, max: DVec2::new(1.0, size) });
        let refused = Print::new(&scene.world, 10).err().unwrap();
        assert!(matches!(refused, PrintError::TooLarge { max_dpi: 0, .. }), "{refused}");
    }
    // Bounds that are not finite are ignored.
    scene.world.ground.bounds = Some(Bounds { min: DVec2::NAN, max: DVec2::INFINITY });
    assert_eq!(Print::new(&scene.world, 10).unwrap().width(), 3937);
    // Bounds of size zero give a print of one pixel.
    scene.world.ground.bounds = Some(Bounds { min: DVec2::ZERO, max: DVec2::ZERO });
    assert_eq!(jpeg(&Print::new(&scene.world, 0).unwrap())[..2], [0xff, 0xd8]);
}

#[test]
fn a_write_error_ends_the_print() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| Error::other("full"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> Result<(), Error> {
            Ok(())
        }
    }
    // The whole print would take half a minute. The test is therefore fast only if the write error
    // stops the drawing.
    let print = Print::new(&cut(shipped_world("oval"), DVec2::ZERO, DVec2::splat(5.0)), 300).unwrap();
    for room in [0, 1, 100, 50_000] {
        assert_eq!(print.write_jpeg(Full(room)).err().map(|e| e.to_string()), Some("full".to_owned()));
    }
}

#[test]
fn a_part_of_a_print_has_the_pixels_of_the_whole_print() {
    let world = start_of_oval(1.0);
    for dpi in [40, 100] {
        let print = Print::new(&world, dpi).expect("a print");
        let whole = drawn(&print);
        let (left, top, width, height) = (print.width() / 3, print.height() / 4, 100, 70);
        let part = print.part(left, top, width, height);
        assert_eq!((part.width(), part.height(), part.dpi()), (width, height, dpi));
        let picture = drawn(&part);
        let row = |y: usize| {
            let from = ((top + y) * whole.width + left) * 3;
            &whole.bytes[from..from + width * 3]
        };
        let differ =
            |y: usize| row(y).iter().zip(&picture.bytes[y * width * 3..]).filter(|(a, b)| a != b).count();
        // If an edge passes exactly through a sample, rounding decides on which side of the edge
        // the sample is. A few values may therefore differ.
        let differing: usize = (0..height).map(differ).sum();
        assert!(differing <= width * height * 3 / 500, "{differing} values differ at {dpi} dpi");
        let inner = part.part(10, 20, 30, 10_000);
        assert_eq!((inner.width(), inner.height()), (30, 50), "a part is not larger than its print");
        let [x, y] = inner.pixel_of(0.0, 0.0);
        let [whole_x, whole_y] = print.pixel_of(0.0, 0.0);
        assert!(
            (whole_x - x - (left + 10) as f64).abs() < 1e-6 && (whole_y - y - (top + 20) as f64).abs() < 1e-6
        );
    }
}
