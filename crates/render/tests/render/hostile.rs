//! Tests that the renderer draws pictures of invalid scenes, and pictures with invalid cameras,
//! without a panic or an endless loop.

use crate::support::{TestScene, at, bare_mesh, camera_looking_at, max_difference, pixel, png};
use chicane_render::{Camera, Layers, Optics, Renderer, Stage};
use chicane_world::scene::{Group, Look, Material, Mesh, Owner};
use chicane_world::{Pose, Profile};
use glam::{DQuat, DVec3};
use std::sync::Arc;

const ODD: [f32; 8] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-40, -0.0, 0.0];

fn camera() -> Camera {
    camera_looking_at([-2.0, 0.1, 0.2], [0.0; 3], Optics::pinhole(64, 48, 1.2))
}

/// Draws layers and a picture. Checks the sizes of both, and the depths of the layers.
fn draw_all(renderer: &mut Renderer, camera: &Camera, scene: &TestScene) -> Layers {
    let layers = renderer.layers(camera, &scene.moment());
    let n = camera.optics.width * camera.optics.height;
    assert!(layers.depth.len() == n && layers.labels.len() == n && layers.colour.pixels.len() == n);
    assert!(layers.depth.iter().all(|d| *d > 0.0), "depths are positive and not NaN");
    let picture = renderer.picture(camera, &scene.moment());
    assert_eq!(picture.bytes.len(), 3 * n);
    layers
}

#[test]
fn positions_normals_and_uvs_that_are_not_finite() {
    let mut scene = TestScene::new();
    let printed = scene.textured(png(4, 4, |x, y| [60 * x as u8, 60 * y as u8, 9]));
    let good = [[0.0, 0.3, -0.3], [0.0, -0.3, -0.3], [0.0, 0.0, 0.3]];
    for odd in ODD {
        for place in 0..9 {
            let mut p = good;
            p[place / 3][place % 3] = odd;
            let uvs = vec![[odd, 0.0], [0.0, odd], [1e30, -1e30]];
            let mesh = Mesh { normals: vec![[odd; 3]; 3], uvs, ..bare_mesh(p.to_vec(), vec![0, 1, 2]) };
            let look = scene.mesh(mesh);
            scene.add(Owner::Scenery, look, Pose::IDENTITY, Some(printed));
        }
        let mesh = Mesh {
            normals: vec![[odd, 0.0, 0.0]; 3],
            uvs: vec![[odd; 2]; 3],
            ..bare_mesh(good.to_vec(), vec![0, 1, 2])
        };
        let look = scene.mesh(mesh);
        scene.add(Owner::Scenery, look, at(0.0, 0.5, 0.0), Some(printed));
    }
    let layers = draw_all(&mut scene.renderer(), &camera(), &scene);
    assert!(layers.labels.contains(&2), "valid triangles are drawn");
}

#[test]
fn triangles_without_area_and_indices_out_of_range() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    let p = vec![[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1e-30, 0.0]];
    let mut mesh =
        bare_mesh(p, vec![0, 0, 0, 0, 1, 1, 0, 1, 2, 0, 3, 1, 0, 4, 1, 5, 6, 7, 0, 1, u32::MAX, 0, 1]);
    mesh.groups.push(Group { material: 999, indices: vec![] });
    mesh.groups.push(Group { material: usize::MAX, indices: vec![0, 2, 1] });
    let look = scene.mesh(mesh);
    scene.add(Owner::Scenery, look.clone(), Pose::IDENTITY, Some(red));
    scene.add(Owner::Scenery, look, Pose::IDENTITY, None);
    scene.add(Owner::Scenery, Look::Mesh(77), Pose::IDENTITY, Some(55));
    scene.add(Owner::Object(12), Look::Box([0.1; 3]), Pose::IDENTITY, Some(55));
    let empty = scene.mesh(Mesh::default());
    scene.add(Owner::Scenery, empty, Pose::IDENTITY, Some(red));
    scene.world.scene.materials.push(Material {
        colour: [f32::NAN, f32::INFINITY, -1.0, f32::NAN],
        emissive: [f32::NAN, 1e30, -5.0],
        texture: Some(444),
    });
    scene.add(Owner::Scenery, Look::Box([0.1; 3]), Pose::IDENTITY, Some(1));
    draw_all(&mut scene.renderer(), &camera(), &scene);
}

#[test]
fn cameras_inside_of_objects_and_on_corners() {
    let mut scene = TestScene::new();
    let (red, blue) = (scene.emissive([1.0, 0.0, 0.0]), scene.emissive([0.0, 0.0, 1.0]));
    scene.add(Owner::Scenery, Look::Box([1.0, 1.0, 1.0]), Pose::IDENTITY, Some(red));
    scene.add(Owner::Scenery, Look::Sphere(0.3), at(3.0, 0.0, 0.0), Some(blue));
    scene.block([5.0, 0.0, 0.0], 0.5, blue);
    let mut renderer = scene.renderer();
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
                draw_all(&mut renderer, &camera, &scene);
            }
        }
    }
}

#[test]
fn enormous_and_tiny_objects() {
    for size in [1e-6, 1e-3, 1e3, 1e6, 1e12, 1e300] {
        let mut scene = TestScene::new();
        let red = scene.emissive([1.0, 0.0, 0.0]);
        let printed = scene.textured(png(8, 8, |x, _| [30 * x as u8, 0, 0]));
        scene.add(Owner::Track, Look::Plane([size, size]), Pose::IDENTITY, Some(printed));
        scene.add(Owner::Scenery, Look::Box([size; 3]), at(1.0 + 0.5 * size, 0.0, 0.0), Some(red));
        scene.add(Owner::Scenery, Look::Sphere(1.0), at(0.0, 0.0, 0.0), Some(red)).scale = [size; 3];
        scene.add(Owner::Scenery, Look::Cone(size, 1.0), at(size, 0.0, 0.0), Some(red));
        let layers = draw_all(&mut scene.renderer(), &camera(), &scene);
        // A box with an edge of 10⁶ m covers a large part of the picture.
        assert!(size != 1e6 || layers.colour.pixels.iter().filter(|p| p[0] > 200).count() > 500, "{size}");
    }
}

#[test]
fn scales_poses_and_opacities_that_are_not_valid() {
    let nan = f64::NAN;
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    for scale in
        [[0.0; 3], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [nan, 1.0, 1.0], [1e-20; 3], [-1.0; 3], [1e200; 3]]
    {
        scene.add(Owner::Scenery, Look::Box([0.2; 3]), at(0.0, 0.5, 0.0), Some(red)).scale = scale;
        let ball = Look::Ellipsoid([0.1, f64::INFINITY, nan]);
        scene.add(Owner::Scenery, ball, at(0.0, 0.5, 0.0), Some(red)).scale = scale;
    }
    let zero = Pose { position: DVec3::ZERO, rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0) };
    let long = Pose { position: DVec3::ZERO, rotation: DQuat::from_xyzw(3.0, 4.0, 5.0, 6.0) };
    for pose in [at(nan, 0.0, 0.0), at(0.0, f64::INFINITY, 0.0), at(1e300, 0.0, 0.0), zero, long] {
        scene.add(Owner::Scenery, Look::Box([0.2; 3]), pose, Some(red));
    }
    for opacity in [0.0, nan, -1.0, 5.0, f64::INFINITY, 1e-9] {
        scene.add(Owner::Scenery, Look::Box([0.2; 3]), at(0.0, -0.5, 0.0), Some(red)).opacity = opacity;
    }
    let block = scene.block([0.0, 0.0, 0.1], 0.2, red);
    let mut renderer = scene.renderer();
    draw_all(&mut renderer, &camera(), &scene);
    let mut moment = scene.moment();
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
fn moments_with_too_few_or_too_many_objects() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    scene.block([0.0, 0.0, 0.1], 0.2, red);
    scene.block([0.0, 0.3, 0.1], 0.2, red);
    let mut renderer = scene.renderer();
    let mut moment = scene.moment();
    moment.objects.truncate(1);
    let mut few = renderer.layers(&camera(), &moment).labels;
    assert!(few.contains(&16) && !few.contains(&17), "an object without a pose is not drawn");
    moment.objects.clear();
    few = renderer.layers(&camera(), &moment).labels;
    assert!(!few.contains(&16));
    moment.objects = vec![Pose::IDENTITY; 50];
    moment.lamps = vec![(usize::MAX, chicane_render::looks::Lamp::Red); 3];
    renderer.layers(&camera(), &moment);
}

#[test]
fn damaged_and_unusual_picture_files_as_textures() {
    let whole = png(64, 64, |x, y| [x as u8, y as u8, 200]);
    let mut huge = whole.clone();
    // The header claims 60000×60000 pixels and has a correct checksum.
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
    let mut scene = TestScene::new();
    for (i, file) in files.into_iter().enumerate() {
        let material = scene.textured(file);
        scene.add(Owner::Scenery, Look::Box([0.1; 3]), at(0.0, 0.45 - 0.15 * i as f64, 0.0), Some(material));
    }
    let layers = draw_all(&mut scene.renderer(), &camera(), &scene);
    assert!(layers.labels.contains(&2));
    let mut one = TestScene::new();
    let material = one.textured(png(1, 1, |_, _| [1, 250, 1]));
    one.add(Owner::Scenery, Look::Box([1.0; 3]), Pose::IDENTITY, Some(material));
    let picture = one
        .renderer()
        .picture(&camera_looking_at([-2.0, 0.0, 0.0], [0.0; 3], Optics::pinhole(9, 9, 0.2)), &one.moment());
    assert!(max_difference(pixel(&picture, 4, 4), [1, 250, 1]) <= 1, "a file of one pixel is a texture");
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

#[test]
fn all_picture_sizes_and_extreme_optics() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    scene.add(Owner::Track, Look::Box([1.0, 9000.0, 9000.0]), at(3.0, 0.0, 0.0), Some(red));
    let mut renderer = scene.renderer();
    let sizes = [[0, 0], [0, 9], [9, 0], [1, 1], [16, 16], [1, 700], [700, 1], [33, 65], [1920, 1080]];
    for [width, height] in sizes {
        renderer.on_board(&scene.moment(), [width, height], 1, 1);
        let straight = Optics::pinhole(width, height, 1.2);
        let bent = Optics { k1: -0.3, k2: 0.1, ..straight };
        for optics in [straight, bent] {
            let camera = Camera { pose: Pose::IDENTITY, optics };
            let layers = renderer.layers(&camera, &scene.moment());
            assert!(layers.colour.pixels.iter().all(|p| *p == [255, 0, 0, 255]), "{optics:?}");
            let picture = renderer.picture(&camera, &scene.moment());
            let whole = picture.bytes.as_chunks::<3>().0.iter().all(|p| *p == [255, 0, 0]);
            assert!(whole && picture.bytes.len() == 3 * width * height, "{optics:?}");
        }
    }
    for (k1, k2) in [(9.0, 9.0), (-9.0, 0.0), (0.0, -9.0), (f64::NAN, 0.0), (0.0, f64::INFINITY), (-0.5, 0.5)]
    {
        let optics = Optics { k1, k2, ..Optics::pinhole(40, 30, 1.7) };
        renderer.picture(&Camera { pose: Pose::IDENTITY, optics }, &scene.moment());
    }
    for focal in [0.0, 1e-9, 1e9, f64::NAN, f64::INFINITY, -20.0] {
        for k1 in [0.0, -0.1] {
            let optics = Optics { focal, k1, ..Optics::pinhole(40, 30, 1.7) };
            renderer.picture(&Camera { pose: Pose::IDENTITY, optics }, &scene.moment());
            renderer.layers(&Camera { pose: Pose::IDENTITY, optics }, &scene.moment());
        }
    }
}

#[test]
fn a_large_picture_is_drawn_completely() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    scene.add(Owner::Track, Look::Box([1.0, 9000.0, 9000.0]), at(3.0, 0.0, 0.0), Some(red));
    let camera = Camera { pose: Pose::IDENTITY, optics: Optics::pinhole(4096, 300, 1.5) };
    let picture = scene.renderer().picture(&camera, &scene.moment());
    assert!(picture.bytes.as_chunks::<3>().0.iter().all(|p| *p == [255, 0, 0]));
}

/// A mesh with this number of triangles. They have equal size, and lie one behind the other.
fn stacked_triangles(triangles: u32, size: f32) -> Mesh {
    let corner = |i: u32| {
        let (x, side) = (i as f32 * 1e-6, (i % 1000) as f32 * 0.001 - 0.5);
        [[x, side + size, -size], [x, side - size, -size], [x, side, size]]
    };
    bare_mesh((0..triangles).flat_map(corner).collect(), (0..3 * triangles).collect())
}

#[test]
fn a_mesh_of_three_million_triangles() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    let look = scene.mesh(stacked_triangles(3_000_000, 0.01));
    scene.add(Owner::Scenery, look, Pose::IDENTITY, Some(red));
    let stage = Stage::new(&scene.world, Arc::new(Profile::gen1()));
    assert!(stage.triangles() < 4_100_000 && stage.bytes() < 1 << 30, "{}", stage.bytes());
    let layers = draw_all(&mut Renderer::new(Arc::new(stage)), &camera(), &scene);
    assert!(layers.labels.contains(&2));
}

#[test]
fn many_triangles_that_fill_the_picture() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    let look = scene.mesh(stacked_triangles(400_000, 9.0));
    scene.add(Owner::Scenery, look, Pose::IDENTITY, Some(red));
    let mut renderer = scene.renderer();
    let camera = Camera { optics: Optics::pinhole(640, 480, 1.2), ..camera() };
    let layers = renderer.layers(&camera, &scene.moment());
    assert!(layers.colour.pixels.iter().all(|p| *p == [255, 0, 0, 255]));
}

#[test]
fn many_instances_of_a_large_mesh() {
    let mut scene = TestScene::new();
    let red = scene.emissive([1.0, 0.0, 0.0]);
    let look = scene.mesh(stacked_triangles(100_000, 0.02));
    for i in 0..2000 {
        scene.add(Owner::Scenery, look.clone(), at(0.001 * f64::from(i), 0.0, 0.0), Some(red));
    }
    let layers = scene.renderer().layers(&camera(), &scene.moment());
    assert!(layers.labels.contains(&2), "the instances within the limit are drawn");
}
