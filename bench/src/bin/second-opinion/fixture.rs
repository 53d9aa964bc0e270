//! A world with every kind of look except the mesh of a file. The textures are asymmetrical, so
//! that a wrong orientation is visible.

use chicane_testkit::Yard;
use chicane_world::scene::{
    BuiltInMesh, BuiltInTexture, Instance, Look, Material, Owner, Role, Texture, TextureSource,
};
use chicane_world::{Pose, World};
use image::{ImageFormat, Rgba, RgbaImage};
use std::sync::Arc;

/// A world with a floor, two rows of plain looks, and two rows of difficult looks: rotated,
/// stretched, mirrored, transparent, emissive, or with a transparent texture.
pub(crate) fn world() -> World {
    let built = Yard::new().spawn(1.6, -0.8, 0.5).build();
    let mut world = World::clone(&built);
    let scene = &mut world.scene;
    scene.ambient = [0.35, 0.4, 0.45];
    scene.sun.colour = [0.85, 0.8, 0.7];
    let first = scene.textures.len();
    // The lengths of the sides of the letter textures are not powers of two, so that our renderer
    // has to scale these textures.
    scene.textures.extend([
        file("letter.png", &letter([255; 4])),
        file("holes.png", &letter([255, 255, 255, 0])),
        Texture { path: String::new(), source: TextureSource::BuiltIn(BuiltInTexture::StartLine) },
        Texture { path: String::new(), source: TextureSource::BuiltIn(BuiltInTexture::Carpet) },
    ]);
    let base = scene.materials.len();
    let paint = |colour: [f32; 4], texture: Option<usize>| Material { colour, emissive: [0.0; 3], texture };
    scene.materials.extend([
        paint([1.0; 4], Some(first)),
        paint([1.0; 4], Some(first + 1)),
        paint([0.9, 0.3, 0.2, 1.0], None),
        paint([0.2, 0.4, 0.9, 1.0], None),
        Material { colour: [0.1, 0.1, 0.1, 1.0], emissive: [0.9, 0.5, 0.1], texture: None },
        paint([0.6, 0.9, 0.7, 1.0], Some(first)),
        paint([1.0; 4], Some(first + 2)),
        paint([1.0; 4], Some(first + 3)),
        Material { colour: [0.1, 0.1, 0.1, 1.0], emissive: [0.9, 0.8, 0.3], texture: Some(first) },
    ]);
    let [letter, holes, red, blue, glow, tinted, chequered, carpet, sign] = std::array::from_fn(|i| base + i);
    let mut put =
        |name: &str, at: [f64; 3], rpy: [f64; 3], scale: [f64; 3], look: Look, material, opacity| {
            scene.instances.push(Instance {
                owner: Owner::Scenery,
                name: name.to_owned(),
                role: Role::Plain,
                pose: Pose::from_xyz_rpy(at, rpy),
                scale,
                look,
                material,
                opacity,
            });
        };
    let (even, one) = ([0.0; 3], [1.0; 3]);
    let floor = Look::Plane([5.0, 5.0]);
    put("floor", [1.6, 1.0, 0.0], even, one, floor, Some(carpet), 1.0);
    put("box", [0.0, 0.0, 0.25], [0.0, 0.0, 0.4], one, Look::Box([0.5, 0.4, 0.5]), Some(letter), 1.0);
    put("cylinder", [0.8, 0.0, 0.25], [0.0, 0.0, 2.0], one, Look::Cylinder(0.2, 0.5), Some(letter), 1.0);
    put("sphere", [1.6, 0.0, 0.25], [0.2, 0.3, -1.0], one, Look::Sphere(0.25), Some(letter), 1.0);
    put("capsule", [2.4, 0.0, 0.4], [0.3, 0.2, 0.0], one, Look::Capsule(0.15, 0.4), Some(tinted), 1.0);
    put("cone", [3.2, 0.0, 0.25], [0.0, 0.0, 0.0], one, Look::Cone(0.2, 0.5), Some(letter), 1.0);
    let ellipsoid = Look::Ellipsoid([0.3, 0.15, 0.2]);
    put("ellipsoid", [0.0, 0.9, 0.4], [0.5, -0.4, 0.8], one, ellipsoid, Some(red), 1.0);
    put("plane", [0.8, 0.9, 0.4], [1.2, 0.1, 0.2], one, Look::Plane([0.5, 0.4]), Some(letter), 1.0);
    let object = |kind| Look::BuiltIn(kind, [0.4, 0.3, 0.5]);
    put("crate", [1.6, 0.9, 0.3], [0.2, 0.1, 0.7], one, object(BuiltInMesh::BoxObstacle), None, 1.0);
    put("ball", [2.4, 0.9, 0.3], [0.2, 0.1, 0.7], one, object(BuiltInMesh::Ball), None, 1.0);
    put("cone2", [3.2, 0.9, 0.3], [0.2, 0.1, 0.7], one, object(BuiltInMesh::Cone), None, 1.0);
    let cube = || Look::Box([0.4; 3]);
    let slant = [0.4, 0.3, 0.5];
    put("stretched", [0.0, 1.8, 0.4], slant, [1.4, 0.5, 1.2], Look::Sphere(0.25), Some(blue), 1.0);
    put("mirrored", [0.8, 1.8, 0.4], slant, [-1.0, 0.8, 1.1], cube(), Some(letter), 1.0);
    put("painted", [1.6, 1.8, 0.4], slant, one, object(BuiltInMesh::Ball), Some(chequered), 1.0);
    put("glass", [2.4, 1.8, 0.4], slant, one, cube(), Some(blue), 0.5);
    put("behind glass", [2.4, 2.5, 0.4], slant, one, cube(), Some(letter), 1.0);
    put("sign", [3.2, 2.6, 0.4], slant, one, cube(), Some(sign), 1.0);
    put("glowing", [3.2, 1.8, 0.4], slant, one, cube(), Some(glow), 1.0);
    put("holes", [0.0, 2.6, 0.4], [1.4, 0.0, 0.2], one, Look::Plane([0.6, 0.5]), Some(holes), 1.0);
    put("behind holes", [0.0, 2.9, 0.4], even, one, Look::Box([0.4, 0.2, 0.3]), Some(red), 1.0);
    world
}

/// A picture of the letter F with a red left and a green right border. Every rotation and every
/// mirror image of the picture looks different.
fn letter(paper: [u8; 4]) -> RgbaImage {
    const STROKES: [&str; 7] = ["#####..", "#......", "#......", "####...", "#......", "#......", "#......"];
    RgbaImage::from_fn(96, 112, |x, y| {
        let (column, row) = (x as usize / 12, y as usize / 16);
        match (column, row) {
            (0, _) => Rgba([220, 40, 40, 255]),
            (7, _) => Rgba([40, 160, 60, 255]),
            _ if STROKES[row].as_bytes()[column - 1] == b'#' => Rgba([30, 40, 90, 255]),
            _ => Rgba(paper),
        }
    })
}

fn file(path: &str, picture: &RgbaImage) -> Texture {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png).expect("a picture in memory");
    let (width, height) = picture.dimensions();
    let source = TextureSource::File { bytes: Arc::from(bytes.into_inner()), width, height };
    Texture { path: path.to_owned(), source }
}
