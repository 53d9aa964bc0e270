//! Compares pictures with stored pictures, byte for byte. Each picture is drawn with several
//! numbers of threads, and with every set of instructions that the processor has. JPEG files are
//! compared with stored checksums.
//!
//! `UPDATE_GOLDENS=1 cargo nextest run --release -p chicane-render goldens` writes the stored
//! pictures and checksums.

use crate::support::{TestScene, at, camera_looking_at, png, renderer, start};
use chicane_render::looks::Lamp;
use chicane_render::{Instructions, Jpeg, Moment, Optics, Print, Renderer, Rgb, Stage};
use chicane_testkit::shipped_world;
use chicane_world::scene::{BuiltInMesh, Look, Material, Owner};
use chicane_world::{Bounds, Pose, Profile, World};
use rayon::ThreadPoolBuilder;
use std::path::PathBuf;
use std::sync::Arc;

const SIZE: [usize; 2] = [160, 120];
const THREADS: [usize; 3] = [1, 2, 3];

/// Asserts that a picture equals the stored picture. If the two differ, saves the new picture for
/// inspection.
fn check(name: &str, picture: &Rgb) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/render/goldens/{name}.png"));
    let image = image::RgbImage::from_raw(picture.width as u32, picture.height as u32, picture.bytes.clone());
    let image = image.expect("three bytes a pixel");
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        image.save(&file).unwrap();
        return;
    }
    let golden = image::open(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display())).into_rgb8();
    assert_eq!(golden.dimensions(), image.dimensions(), "{name}");
    let worst = |(a, b): (&image::Rgb<u8>, &image::Rgb<u8>)| {
        a.0.iter().zip(b.0).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0)
    };
    let differences: Vec<u8> = golden.pixels().zip(image.pixels()).map(worst).collect();
    let count = differences.iter().filter(|d| **d > 0).count();
    if count > 0 {
        let folder = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let folder = folder
            .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target"))
            .join("goldens");
        std::fs::create_dir_all(&folder).unwrap();
        let new = folder.join(format!("{name}.png"));
        image.save(&new).unwrap();
        let largest = differences.iter().max().unwrap();
        panic!("{name}: {count} pixels differ, by up to {largest}; the new picture is {}", new.display());
    }
}

fn available() -> impl Iterator<Item = Instructions> {
    Instructions::ALL.into_iter().filter(|set| set.is_available())
}

/// Checks two pictures of a world, each drawn with several numbers of threads and with every set of
/// instructions.
fn two(name: &str, world: &World, moments: [Moment; 2]) {
    let stage = Arc::new(Stage::new(world, Arc::new(Profile::gen1())));
    for (i, moment) in moments.iter().enumerate() {
        for (threads, set) in THREADS.into_iter().flat_map(|n| available().map(move |set| (n, set))) {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let picture = pool.install(|| {
                let mut renderer = Renderer::new(Arc::clone(&stage)).with_instructions(set);
                renderer.on_board(moment, SIZE, 7, 3 + i as u64)
            });
            check(&format!("{name}_{i}"), &picture);
        }
    }
}

/// Checks two pictures of a shipped world: one at the start, and one halfway along the route. If
/// the world has no route, the second picture is taken beside the start.
fn shipped(name: &str) {
    let world = shipped_world(name);
    let mut first = start(&world);
    first.lamps = lights(&world, Lamp::Red);
    let mut second = first.clone();
    second.car.pose = match &world.route {
        Some(route) => {
            let (here, heading) = route.point_at(0.5 * route.length());
            Pose::from_xyz_yaw(here.x, here.y, world.spawn.position.z, heading)
        }
        None => world.spawn.then(&Pose::from_xyz_yaw(1.0, 0.3, 0.0, 1.0)),
    };
    second.car.pan = 0.2;
    second.car.tilt = -0.1;
    second.lamps = lights(&world, Lamp::Green);
    two(name, &world, [first, second]);
}

fn lights(world: &World, lamp: Lamp) -> Vec<(usize, Lamp)> {
    let lights = world.objects.iter().enumerate().filter(|(_, o)| o.panel.is_some());
    lights.map(|(i, _)| (i, lamp)).collect()
}

#[test]
fn oval() {
    shipped("oval");
}

#[test]
fn technical() {
    shipped("technical");
}

#[test]
fn field() {
    shipped("field");
}

/// A small scene with all features that the renderer handles in a special way: textures,
/// transparency, a mirrored mesh, built-in objects and shadows.
fn fixture() -> TestScene {
    let mut scene = TestScene::new();
    scene.world.scene.ambient = [0.4; 3];
    scene.world.scene.sun.colour = [0.8; 3];
    let chequered = png(32, 32, |x, y| if (x / 4 + y / 4) % 2 == 0 { [220, 200, 60] } else { [30, 60, 120] });
    let chequered = scene.textured(chequered);
    scene.world.scene.materials[chequered].colour = [1.0; 4];
    scene.world.scene.materials[chequered].emissive = [0.0; 3];
    let lit = |r, g, b, a| Material { colour: [r, g, b, a], ..Material::default() };
    let red = scene.material(lit(0.8, 0.1, 0.1, 1.0));
    let glass = scene.material(lit(0.2, 0.8, 0.6, 0.5));
    scene.add(Owner::Track, Look::Plane([20.0, 20.0]), Pose::IDENTITY, Some(chequered));
    scene.add(Owner::Scenery, Look::Box([0.1, 2.0, 0.5]), at(2.5, 0.6, 0.25), Some(red));
    scene.add(Owner::Scenery, Look::Sphere(0.15), at(1.2, 0.4, 0.15), Some(chequered));
    scene.add(Owner::Scenery, Look::Cone(0.1, 0.3), at(1.4, -0.3, 0.15), Some(red)).scale = [1.0, -1.0, 1.0];
    scene.add(Owner::Scenery, Look::Box([0.02, 0.5, 0.3]), at(0.9, -0.2, 0.2), Some(glass));
    let ball = Look::BuiltIn(BuiltInMesh::Ball, [0.2; 3]);
    scene.add(Owner::Scenery, ball, at(1.6, -0.8, 0.1), None).opacity = 0.7;
    scene.block([1.8, 0.0, 0.1], 0.2, red);
    scene
}

#[test]
fn things_of_every_kind() {
    let scene = fixture();
    let first = start(&scene.world);
    let mut second = first.clone();
    second.car.pose = Pose::from_xyz_yaw(0.7, 1.5, 0.0, -0.9);
    second.car.tilt = -0.2;
    second.objects[0] = Pose::from_xyz_rpy([1.3, 0.0, 0.3], [0.5, 0.4, 0.3]);
    two("things", &scene.world, [first, second]);
}

/// Asserts that the bytes of a file have the stored checksum and length.
fn check_file(name: &str, bytes: &[u8]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/render/goldens/{name}.txt"));
    // The checksum is FNV-1a. It is sufficient, because the test only has to find accidental
    // changes.
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    let line = format!("{hash:016x} {}\n", bytes.len());
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(&path, line).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(line, golden, "{name}");
}

#[test]
fn jpeg_files_of_the_camera() {
    let world = shipped_world("technical");
    let stage = Arc::new(Stage::new(&world, Arc::new(Profile::gen1())));
    let moment = start(&world);
    for size in [[480, 360], [161, 121]] {
        for set in available() {
            let mut renderer = Renderer::new(Arc::clone(&stage)).with_instructions(set);
            let picture = renderer.on_board(&moment, size, 7, 3);
            let file = Jpeg::new(80).with_instructions(set).encode(&picture).unwrap();
            check_file(&format!("camera_{}x{}", size[0], size[1]), &file);
        }
    }
}

#[test]
fn jpeg_files_of_prints() {
    for dpi in [5, 80] {
        let mut world = shipped_world("oval");
        if dpi > 75 {
            let middle = world.spawn.position.truncate();
            world.ground.bounds = Some(Bounds { min: middle - 0.4, max: middle + 0.4 });
        }
        let mut file = Vec::new();
        Print::new(&world, dpi).unwrap().write_jpeg(&mut file).unwrap();
        check_file(&format!("print_{dpi}_dpi"), &file);
    }
}

#[test]
fn layers_and_pictures_do_not_depend_on_threads_and_instructions() {
    let scene = fixture();
    let camera = camera_looking_at([-0.5, -0.4, 0.7], [1.5, 0.0, 0.0], Optics::pinhole(333, 211, 1.3));
    let with = |threads: usize, set: Instructions| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut renderer = renderer(&scene.world).with_instructions(set);
            let layers = renderer.layers(&camera, &start(&scene.world));
            (layers, renderer.picture(&camera, &start(&scene.world)))
        })
    };
    let one = with(1, Instructions::Portable);
    let colours: Vec<u8> = one.0.colour.pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
    assert_eq!(colours, one.1.bytes, "without distortion both are the same picture");
    for (threads, set) in [1, 2, 3].into_iter().flat_map(|n| available().map(move |set| (n, set))) {
        assert!(with(threads, set) == one, "{threads} threads, {set:?}");
    }
}
