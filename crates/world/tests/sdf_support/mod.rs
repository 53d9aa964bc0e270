//! Helpers that the tests of world files share.
// Cargo compiles every test file as a separate crate, and each crate uses only some of the helpers.
#![allow(dead_code, unreachable_pub)]

use chicane_world::{Assets, Error, MemoryBundle, Spec, Warnings, World, sdf};

/// The text of a world file. `inside` is the content of its `<world>` element.
pub fn world_text(inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<sdf version=\"1.7\">\n<world name=\"t\">\n{inside}\n</world>\n</sdf>\n"
    )
}

/// Reads a world file. `inside` is the content of its `<world>` element.
pub fn read(inside: &str) -> Result<(Spec, Vec<String>), Error> {
    read_text(&world_text(inside))
}

/// Reads a world file and returns the spec and the warnings.
pub fn read_text(text: &str) -> Result<(Spec, Vec<String>), Error> {
    let mut warnings = Warnings::default();
    let spec = sdf::read("worlds/t.world", text.as_bytes(), &mut warnings)?;
    Ok((spec, warnings.into_vec().iter().map(ToString::to_string).collect()))
}

/// Returns the error message of the reader for a world file that it must refuse. `inside` is the
/// content of the `<world>` element.
pub fn refusal(inside: &str) -> String {
    read(inside).expect_err("should be refused").to_string()
}

/// A bundle with a world file and the given other files. `inside` is the content of the `<world>`
/// element.
pub fn bundle(inside: &str, files: &[(&str, &[u8])]) -> MemoryBundle {
    let mut bundle = MemoryBundle::default();
    bundle.insert("worlds/t.world", world_text(inside));
    for (path, bytes) in files {
        bundle.insert(*path, *bytes);
    }
    bundle
}

/// Loads the world of a bundle without shared assets. The parameters are the same as for
/// [`bundle`].
pub fn load(inside: &str, files: &[(&str, &[u8])]) -> Result<World, Error> {
    let bundle = bundle(inside, files);
    World::load(&Assets::of(&bundle))
}

/// The warnings of a world, as text. The warning about the start pose is left out, because most
/// tests put their models at the origin.
pub fn warnings(world: &World) -> Vec<String> {
    let about_start = |text: &String| text.contains("the world has no route");
    all_warnings(world).into_iter().filter(|text| !about_start(text)).collect()
}

/// All warnings of a world, as text.
pub fn all_warnings(world: &World) -> Vec<String> {
    world.warnings.iter().map(ToString::to_string).collect()
}

/// The model files that the fixtures include.
pub fn fixture_models() -> MemoryBundle {
    let mut bundle = MemoryBundle::default();
    for (path, text) in [
        ("models/arm/model.config", include_str!("../fixtures/sdf/models/arm/model.config")),
        ("models/arm/model.sdf", include_str!("../fixtures/sdf/models/arm/model.sdf")),
        ("models/gripper/model.config", include_str!("../fixtures/sdf/models/gripper/model.config")),
        ("models/gripper/model.sdf", include_str!("../fixtures/sdf/models/gripper/model.sdf")),
        ("models/racetrack/model.config", include_str!("../fixtures/sdf/models/racetrack/model.config")),
        ("models/racetrack/track.sdf", include_str!("../fixtures/sdf/models/racetrack/track.sdf")),
    ] {
        bundle.insert(path, text);
    }
    bundle
}

/// A bundle with the fixture world that has one object of each kind.
pub fn objects_bundle() -> MemoryBundle {
    let mut bundle = fixture_models();
    bundle.insert("worlds/objects.world", include_str!("../fixtures/sdf/objects.world"));
    bundle
}

/// A COLLADA file with one box of the given edge lengths. The box is centred at the origin.
pub fn box_mesh(size: [f32; 3], texture: Option<&str>) -> Vec<u8> {
    use chicane_world::collada::{Group, Material, MeshPart, Model, write};
    let mut part =
        MeshPart { name: "hull".to_owned(), positions: vec![], normals: vec![], uvs: vec![], groups: vec![] };
    let mut indices = Vec::new();
    for axis in 0..3 {
        for side in [-1.0f32, 1.0] {
            let base = part.positions.len() as u32;
            for (u, v) in [(-1.0f32, -1.0f32), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut p = [0.0; 3];
                p[axis] = side * size[axis] / 2.0;
                p[(axis + 1) % 3] = u * size[(axis + 1) % 3] / 2.0;
                p[(axis + 2) % 3] = v * size[(axis + 2) % 3] / 2.0;
                let mut n = [0.0; 3];
                n[axis] = side;
                part.positions.push(p);
                part.normals.push(n);
                part.uvs.push([(u + 1.0) / 2.0, (v + 1.0) / 2.0]);
            }
            let quad = if side > 0.0 { [0, 1, 2, 0, 2, 3] } else { [0, 2, 1, 0, 3, 2] };
            indices.extend(quad.map(|i| base + i));
        }
    }
    part.groups.push(Group { material: Some(0), indices });
    let material = Material {
        name: "paint".to_owned(),
        colour: [1.0, 0.5, 0.25, 1.0],
        emissive: [0.0; 3],
        texture: texture.map(str::to_owned),
    };
    write(&Model { parts: vec![part], materials: vec![material] }).into_bytes()
}

/// The header of a PNG picture with one pixel.
pub const PNG: &[u8] = &[
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0,
    1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xDE,
];
