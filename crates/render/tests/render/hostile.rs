//! Scenes that nobody should send: no panic, no hang, and pictures all the same.

use crate::set::{Set, apart, at, bare, look, pixel, png};
use chicane_render::{Camera, Layers, Optics, Renderer, Stage};
use chicane_world::scene::{Group, Look, Material, Mesh, Owner};
use chicane_world::{Pose, Profile};
use glam::{DQuat, DVec3};
use std::sync::Arc;

const ODD: [f32; 8] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-40, -0.0, 0.0];

fn camera() -> Camera {
    look([-2.0, 0.1, 0.2], [0.0; 3], Optics::pinhole(64, 48, 1.2))
}

/// Takes every kind of picture and looks at it.
fn shoot(renderer: &mut Renderer, camera: &Camera, set: &Set) -> Layers {
    let layers = renderer.layers(camera, &set.moment());
    let n = camera.optics.width * camera.optics.height;
    assert!(layers.depth.len() == n && layers.labels.len() == n && layers.colour.pixels.len() == n);
    assert!(layers.depth.iter().all(|d| *d > 0.0), "depths are numbers");
    let picture = renderer.picture(camera, &set.moment());
    assert_eq!(picture.bytes.len(), 3 * n);
    layers
}

#[test]
fn odd_corners_normals_and_uvs() {
    let mut set = Set::new();
    let printed = set.print(png(4, 4, |x, y| [60 * x as u8, 60 * y as u8, 9]));
    let good = [[0.0, 0.3, -0.3], [0.0, -0.3, -0.3], [0.0, 0.0, 0.3]];
    for odd in ODD {
        for place in 0..9 {
            let mut p = good;
            p[place / 3][place % 3] = odd;
            let uvs = vec![[odd, 0.0], [0.0, odd], [1e30, -1e30]];
            let mesh = Mesh { normals: vec![[odd; 3]; 3], uvs, ..bare(p.to_vec(), vec![0, 1, 2]) };
            let look = set.mesh(mesh);
            set.put(Owner::Scenery, look, Pose::IDENTITY, Some(printed));
        }
        let mesh = Mesh {
            normals: vec![[odd, 0.0, 0.0]; 3],
            uvs: vec![[odd; 2]; 3],
            ..bare(good.to_vec(), vec![0, 1, 2])
        };
        let look = set.mesh(mesh);
        set.put(Owner::Scenery, look, at(0.0, 0.5, 0.0), Some(printed));
    }
    let layers = shoot(&mut set.renderer(), &camera(), &set);
    assert!(layers.labels.contains(&2), "what is good is drawn");
}

#[test]
fn triangles_without_area_or_corners() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    let p = vec![[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1e-30, 0.0]];
    let mut mesh = bare(p, vec![0, 0, 0, 0, 1, 1, 0, 1, 2, 0, 3, 1, 0, 4, 1, 5, 6, 7, 0, 1, u32::MAX, 0, 1]);
    mesh.groups.push(Group { material: 999, indices: vec![] });
    mesh.groups.push(Group { material: usize::MAX, indices: vec![0, 2, 1] });
    let look = set.mesh(mesh);
    set.put(Owner::Scenery, look.clone(), Pose::IDENTITY, Some(red));
    set.put(Owner::Scenery, look, Pose::IDENTITY, None);
    set.put(Owner::Scenery, Look::Mesh(77), Pose::IDENTITY, Some(55));
    set.put(Owner::Object(12), Look::Box([0.1; 3]), Pose::IDENTITY, Some(55));
    let empty = set.mesh(Mesh::default());
    set.put(Owner::Scenery, empty, Pose::IDENTITY, Some(red));
    set.world.scene.materials.push(Material {
        colour: [f32::NAN, f32::INFINITY, -1.0, f32::NAN],
        emissive: [f32::NAN, 1e30, -5.0],
        texture: Some(444),
    });
    set.put(Owner::Scenery, Look::Box([0.1; 3]), Pose::IDENTITY, Some(1));
    shoot(&mut set.renderer(), &camera(), &set);
}

#[test]
fn cameras_inside_of_things_and_on_corners() {
    let mut set = Set::new();
    let (red, blue) = (set.glow([1.0, 0.0, 0.0]), set.glow([0.0, 0.0, 1.0]));
    set.put(Owner::Scenery, Look::Box([1.0, 1.0, 1.0]), Pose::IDENTITY, Some(red));
    set.put(Owner::Scenery, Look::Sphere(0.3), at(3.0, 0.0, 0.0), Some(blue));
    set.block([5.0, 0.0, 0.0], 0.5, blue);
    let mut renderer = set.renderer();
    let places = [
        [0.0, 0.0, 0.0],
        [0.5, 0.5, 0.5],
        [-0.5, 0.5, -0.5],
        [0.5, 0.0, 0.0],
        [0.499_999, 0.1, 0.1],
        [3.0, 0.0, 0.0],
        [3.0, 0.0, 0.3],
        [5.0, 0.0, 0.0],
        [4.75, 0.25, 0.25],
    ];
    for place in places {
        for rpy in [[0.0; 3], [0.0, 0.0, 3.2], [0.3, 0.2, 0.7], [0.0, std::f64::consts::FRAC_PI_2, 0.0]] {
            for optics in [Optics::pinhole(64, 48, 1.2), Optics::on_board(&Profile::gen1(), 64, 48)] {
                let camera = Camera { pose: Pose::from_xyz_rpy(place, rpy), optics };
                shoot(&mut renderer, &camera, &set);
            }
        }
    }
}

#[test]
fn enormous_and_tiny_things() {
    for size in [1e-6, 1e-3, 1e3, 1e6, 1e12, 1e300] {
        let mut set = Set::new();
        let red = set.glow([1.0, 0.0, 0.0]);
        let printed = set.print(png(8, 8, |x, _| [30 * x as u8, 0, 0]));
        set.put(Owner::Track, Look::Plane([size, size]), Pose::IDENTITY, Some(printed));
        set.put(Owner::Scenery, Look::Box([size; 3]), at(1.0 + 0.5 * size, 0.0, 0.0), Some(red));
        set.put(Owner::Scenery, Look::Sphere(1.0), at(0.0, 0.0, 0.0), Some(red)).scale = [size; 3];
        set.put(Owner::Scenery, Look::Cone(size, 1.0), at(size, 0.0, 0.0), Some(red));
        let layers = shoot(&mut set.renderer(), &camera(), &set);
        // A box of a million metres is a wall.
        assert!(size != 1e6 || layers.colour.pixels.iter().filter(|p| p[0] > 200).count() > 500, "{size}");
    }
}

#[test]
fn odd_scales_and_poses() {
    let nan = f64::NAN;
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    for scale in
        [[0.0; 3], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [nan, 1.0, 1.0], [1e-20; 3], [-1.0; 3], [1e200; 3]]
    {
        set.put(Owner::Scenery, Look::Box([0.2; 3]), at(0.0, 0.5, 0.0), Some(red)).scale = scale;
        let ball = Look::Ellipsoid([0.1, f64::INFINITY, nan]);
        set.put(Owner::Scenery, ball, at(0.0, 0.5, 0.0), Some(red)).scale = scale;
    }
    let zero = Pose { position: DVec3::ZERO, rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0) };
    let long = Pose { position: DVec3::ZERO, rotation: DQuat::from_xyzw(3.0, 4.0, 5.0, 6.0) };
    for pose in [at(nan, 0.0, 0.0), at(0.0, f64::INFINITY, 0.0), at(1e300, 0.0, 0.0), zero, long] {
        set.put(Owner::Scenery, Look::Box([0.2; 3]), pose, Some(red));
    }
    for opacity in [0.0, nan, -1.0, 5.0, f64::INFINITY, 1e-9] {
        set.put(Owner::Scenery, Look::Box([0.2; 3]), at(0.0, -0.5, 0.0), Some(red)).opacity = opacity;
    }
    let block = set.block([0.0, 0.0, 0.1], 0.2, red);
    let mut renderer = set.renderer();
    shoot(&mut renderer, &camera(), &set);
    let mut moment = set.moment();
    for pose in [at(nan, 0.0, 0.0), at(0.0, 0.0, f64::NEG_INFINITY), zero, long, at(1e300, 1e300, 0.0)] {
        moment.objects[block] = pose;
        moment.car.pose = pose;
        moment.car.pan = pose.position.x;
        moment.car.tilt = pose.position.z;
        moment.car.wheel_angles = [pose.position.x; 4];
        moment.car.front_wheels = [pose.position.x; 2];
        renderer.on_board(&moment, [64, 48], 1, 1);
        renderer.picture(&camera(), &moment);
        renderer.layers(&Camera { pose, ..camera() }, &moment);
    }
}

#[test]
fn lists_that_do_not_fit_the_world() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    set.block([0.0, 0.0, 0.1], 0.2, red);
    set.block([0.0, 0.3, 0.1], 0.2, red);
    let mut renderer = set.renderer();
    let mut moment = set.moment();
    moment.objects.truncate(1);
    let mut few = renderer.layers(&camera(), &moment).labels;
    assert!(few.contains(&16) && !few.contains(&17), "the list of objects is shorter than the world's");
    moment.objects.clear();
    few = renderer.layers(&camera(), &moment).labels;
    assert!(!few.contains(&16));
    moment.objects = vec![Pose::IDENTITY; 50];
    moment.lamps = vec![(usize::MAX, chicane_render::looks::Lamp::Red); 3];
    renderer.layers(&camera(), &moment);
}

#[test]
fn strange_pictures_on_things() {
    let whole = png(64, 64, |x, y| [x as u8, y as u8, 200]);
    let mut huge = whole.clone();
    // Width and height in the header, with its checksum made right.
    huge[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    let sum = crc(&huge[12..29]);
    huge[29..33].copy_from_slice(&sum.to_be_bytes());
    let files = [
        png(1, 1, |_, _| [1, 250, 1]),
        whole[..whole.len() / 2].to_vec(),
        whole[..20].to_vec(),
        huge,
        Vec::new(),
        b"GIF89a".to_vec(),
        png(3, 700, |x, y| [x as u8, y as u8, 1]),
    ];
    let mut set = Set::new();
    for (i, file) in files.into_iter().enumerate() {
        let material = set.print(file);
        set.put(Owner::Scenery, Look::Box([0.1; 3]), at(0.0, 0.45 - 0.15 * i as f64, 0.0), Some(material));
    }
    let layers = shoot(&mut set.renderer(), &camera(), &set);
    assert!(layers.labels.contains(&2));
    let mut one = Set::new();
    let material = one.print(png(1, 1, |_, _| [1, 250, 1]));
    one.put(Owner::Scenery, Look::Box([1.0; 3]), Pose::IDENTITY, Some(material));
    let picture =
        one.renderer().picture(&look([-2.0, 0.0, 0.0], [0.0; 3], Optics::pinhole(9, 9, 0.2)), &one.moment());
    assert!(apart(pixel(&picture, 4, 4), [1, 250, 1]) <= 1, "one pixel is a picture");
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

#[test]
fn every_size_and_every_lens() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    set.put(Owner::Track, Look::Box([1.0, 9000.0, 9000.0]), at(3.0, 0.0, 0.0), Some(red));
    let mut renderer = set.renderer();
    let sizes = [[0, 0], [0, 9], [9, 0], [1, 1], [16, 16], [1, 700], [700, 1], [33, 65], [1920, 1080]];
    for [width, height] in sizes {
        renderer.on_board(&set.moment(), [width, height], 1, 1);
        let straight = Optics::pinhole(width, height, 1.2);
        let bent = Optics { k1: -0.3, k2: 0.1, ..straight };
        for optics in [straight, bent] {
            let camera = Camera { pose: Pose::IDENTITY, optics };
            let layers = renderer.layers(&camera, &set.moment());
            assert!(layers.colour.pixels.iter().all(|p| *p == [255, 0, 0, 255]), "{optics:?}");
            let picture = renderer.picture(&camera, &set.moment());
            let whole = picture.bytes.as_chunks::<3>().0.iter().all(|p| *p == [255, 0, 0]);
            assert!(whole && picture.bytes.len() == 3 * width * height, "{optics:?}");
        }
    }
    for (k1, k2) in [(9.0, 9.0), (-9.0, 0.0), (0.0, -9.0), (f64::NAN, 0.0), (0.0, f64::INFINITY), (-0.5, 0.5)]
    {
        let optics = Optics { k1, k2, ..Optics::pinhole(40, 30, 1.7) };
        renderer.picture(&Camera { pose: Pose::IDENTITY, optics }, &set.moment());
    }
    for focal in [0.0, 1e-9, 1e9, f64::NAN, f64::INFINITY, -20.0] {
        for k1 in [0.0, -0.1] {
            let optics = Optics { focal, k1, ..Optics::pinhole(40, 30, 1.7) };
            renderer.picture(&Camera { pose: Pose::IDENTITY, optics }, &set.moment());
            renderer.layers(&Camera { pose: Pose::IDENTITY, optics }, &set.moment());
        }
    }
}

#[test]
fn a_large_picture_is_whole() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    set.put(Owner::Track, Look::Box([1.0, 9000.0, 9000.0]), at(3.0, 0.0, 0.0), Some(red));
    let camera = Camera { pose: Pose::IDENTITY, optics: Optics::pinhole(4096, 300, 1.5) };
    let picture = set.renderer().picture(&camera, &set.moment());
    assert!(picture.bytes.as_chunks::<3>().0.iter().all(|p| *p == [255, 0, 0]));
}

/// One mesh of so many triangles, all of this size, one behind another.
fn heap(triangles: u32, size: f32) -> Mesh {
    let corner = |i: u32| {
        let (x, side) = (i as f32 * 1e-6, (i % 1000) as f32 * 0.001 - 0.5);
        [[x, side + size, -size], [x, side - size, -size], [x, side, size]]
    };
    bare((0..triangles).flat_map(corner).collect(), (0..3 * triangles).collect())
}

#[test]
fn three_million_triangles() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    let look = set.mesh(heap(3_000_000, 0.01));
    set.put(Owner::Scenery, look, Pose::IDENTITY, Some(red));
    let stage = Stage::new(&set.world, Arc::new(Profile::gen1()));
    assert!(stage.triangles() < 4_100_000 && stage.bytes() < 1 << 30, "{}", stage.bytes());
    let layers = shoot(&mut Renderer::new(Arc::new(stage)), &camera(), &set);
    assert!(layers.labels.contains(&2));
}

#[test]
fn very_many_triangles_that_fill_the_picture() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    let look = set.mesh(heap(400_000, 9.0));
    set.put(Owner::Scenery, look, Pose::IDENTITY, Some(red));
    let mut renderer = set.renderer();
    let camera = Camera { optics: Optics::pinhole(640, 480, 1.2), ..camera() };
    let layers = renderer.layers(&camera, &set.moment());
    assert!(layers.colour.pixels.iter().all(|p| *p == [255, 0, 0, 255]));
}

#[test]
fn very_many_instances_of_a_large_mesh() {
    let mut set = Set::new();
    let red = set.glow([1.0, 0.0, 0.0]);
    let look = set.mesh(heap(100_000, 0.02));
    for i in 0..2000 {
        set.put(Owner::Scenery, look.clone(), at(0.001 * f64::from(i), 0.0, 0.0), Some(red));
    }
    let layers = set.renderer().layers(&camera(), &set.moment());
    assert!(layers.labels.contains(&2), "drawn in part");
}
