//! Tests that read written files back and follow every reference.

use super::*;
use crate::image::Image;
use chicane_world::WorldScene;
use chicane_world::scene::Sun;

/// Splits a file into its JSON document and its binary chunk.
fn open(file: &[u8]) -> (Value, Vec<u8>) {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&file[..4], b"glTF");
    assert_eq!((word(4), word(8)), (2, file.len()));
    let text = word(12);
    assert_eq!(&file[16..20], b"JSON");
    assert!(text.is_multiple_of(4));
    let document = serde_json::from_slice(&file[20..20 + text]).unwrap();
    let body = 20 + text;
    assert_eq!(&file[body + 4..body + 8], b"BIN\0");
    assert_eq!(body + 8 + word(body), file.len());
    (document, file[body + 8..].to_vec())
}

fn list<'a>(document: &'a Value, name: &str) -> &'a [Value] {
    document[name].as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// Asserts that every index in a file refers to an existing item. Returns the JSON document.
fn check(file: &[u8]) -> Value {
    let (document, bytes) = open(file);
    assert_eq!(number(&document["buffers"][0]["byteLength"]), bytes.len());
    let views = list(&document, "bufferViews");
    for view in views {
        let (from, length) = (number(&view["byteOffset"]), number(&view["byteLength"]));
        assert!(from.is_multiple_of(4) && from + length <= bytes.len());
    }
    let accessors = list(&document, "accessors");
    for a in accessors {
        let part = match number(&a["componentType"]) {
            5123 => 2,
            5125 | 5126 => 4,
            other => panic!("{other}"),
        };
        let parts = match a["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            other => panic!("{other}"),
        };
        let view = &views[number(&a["bufferView"])];
        assert_eq!(number(&view["byteLength"]), number(&a["count"]) * part * parts);
    }
    for mesh in list(&document, "meshes") {
        for primitive in list(mesh, "primitives") {
            let material = &list(&document, "materials")[number(&primitive["material"])];
            let printed = material["pbrMetallicRoughness"]["baseColorTexture"].is_object();
            assert_eq!(primitive["attributes"]["TEXCOORD_0"].is_u64(), printed);
            let position = &accessors[number(&primitive["attributes"]["POSITION"])];
            assert!(position["min"].is_array() && position["max"].is_array());
            for (_, other) in primitive["attributes"].as_object().unwrap() {
                let other = &accessors[number(other)];
                assert_eq!(other["count"], position["count"]);
            }
            let indices = &accessors[number(&primitive["indices"])];
            let view = &views[number(&indices["bufferView"])];
            let (from, n) = (number(&view["byteOffset"]), number(&indices["count"]));
            assert!(n.is_multiple_of(3));
            let size = number(&view["byteLength"]) / n;
            for i in 0..n {
                let mut word = [0; 4];
                word[..size].copy_from_slice(&bytes[from + i * size..from + (i + 1) * size]);
                assert!((u32::from_le_bytes(word) as usize) < number(&position["count"]));
            }
        }
    }
    for texture in list(&document, "textures") {
        assert!(number(&texture["source"]) < list(&document, "images").len());
    }
    for material in list(&document, "materials") {
        if let Some(i) = material["pbrMetallicRoughness"]["baseColorTexture"]["index"].as_u64() {
            assert!((i as usize) < list(&document, "textures").len());
        }
    }
    // Every node has exactly one parent. The scene counts as the parent of the root.
    let nodes = list(&document, "nodes");
    let mut above = vec![0; nodes.len()];
    for child in nodes.iter().flat_map(|n| list(n, "children")) {
        above[number(child)] += 1;
    }
    above[number(&document["scenes"][0]["nodes"][0])] += 1;
    assert!(above.iter().all(|n| *n == 1), "{above:?}");
    document
}

fn instance(name: &str, owner: Owner, look: Look, material: Option<usize>) -> Instance {
    let (role, pose) = (Role::Plain, Pose::from_xyz_yaw(1.0, 2.0, 0.0, 0.5));
    Instance { owner, name: name.to_owned(), role, pose, scale: [1.0; 3], look, material, opacity: 1.0 }
}

fn some_world() -> World {
    let mut world =
        World::clone(&chicane_testkit::Yard::new().block("crate", [1.0, 0.0, 0.1], [0.2; 3], 1.0).build());
    let built = |kind| Look::BuiltIn(kind, [0.3, 0.2, 0.2]);
    let mut lamp = instance("lamp_red", Owner::Object(0), Look::Cylinder(0.05, 0.01), Some(0));
    lamp.role = Role::LampRed;
    let mut glass = instance("glass", Owner::Scenery, Look::Box([1.0, 0.1, 1.0]), Some(0));
    glass.opacity = 0.5;
    world.scene = WorldScene {
        meshes: Vec::new(),
        materials: vec![Material::default(), Material { texture: Some(0), ..Material::default() }],
        textures: vec![Texture {
            path: "grass.png".to_owned(),
            source: chicane_world::scene::TextureSource::BuiltIn(chicane_world::scene::BuiltInTexture::Grass),
        }],
        instances: vec![
            instance("visual", Owner::Object(0), built(BuiltInMesh::BoxObstacle), None),
            instance("visual", Owner::Object(0), built(BuiltInMesh::Ball), None),
            instance("again", Owner::Scenery, built(BuiltInMesh::Ball), None),
            instance("cone", Owner::Scenery, built(BuiltInMesh::Cone), Some(1)),
            instance("lawn", Owner::Track, Look::Plane([4.0, 4.0]), Some(1)),
            instance("nothing", Owner::Scenery, Look::Sphere(0.0), Some(1)),
            lamp,
            glass,
        ],
        ambient: [0.4; 3],
        background: None,
        sun: Sun::default(),
    };
    world
}

#[test]
fn a_world_is_written_as_a_valid_file() {
    let world = some_world();
    let file = super::world(&world);
    let document = check(&file);
    let nodes = list(&document, "nodes");
    let object = nodes.iter().find(|n| n["name"] == "crate").unwrap();
    assert_eq!(list(object, "children").len(), 3);
    assert_eq!(object["extras"]["kind"], "box");
    let lamp = nodes.iter().find(|n| n["name"] == "lamp_red").unwrap();
    assert_eq!(lamp["extras"]["role"], "lamp_red");
    assert_eq!(list(&document, "images").len(), 5, "box 3, ball 1, grass 1");
    assert_eq!(file, super::world(&world), "the same world gives the same bytes");
}

#[test]
fn shipped_worlds_are_written_as_valid_files() {
    for name in chicane_testkit::SHIPPED {
        let world = chicane_testkit::shipped_world(name);
        let document = check(&super::world(&world));
        for object in &world.objects {
            assert!(list(&document, "nodes").iter().any(|n| n["name"] == object.name.as_str()));
        }
    }
}

#[test]
fn the_car_is_written_as_a_valid_file() {
    let document = check(&super::car(&Profile::gen1()));
    let nodes = list(&document, "nodes");
    let find = |name: &str| nodes.iter().position(|n| n["name"] == name).unwrap();
    let pan = list(&nodes[find("joint_pan")], "children");
    assert!(pan.iter().any(|n| number(n) == find("joint_tilt")));
    assert_eq!(nodes[find("joint_rear_right")]["translation"], json!([-0.09, -0.08, 0.0375]));
}

#[test]
fn transparent_and_emissive_textures_are_declared_in_the_material() {
    let mut world = some_world();
    let holes = Image::from_fn(2, 2, |x, y| [200, 100, 50, if x == y { 0 } else { 255 }]);
    let mut writer = GlbWriter::default();
    let texture = writer.picture(&holes);
    assert_eq!(writer.material(&Material::default(), Some(texture), 1.0), 0);
    assert_eq!(writer.material(&Material::default(), None, 1.0), 1);
    let root = writer.node(json!({}));
    let file = writer.finish(root, json!({}));
    let (document, _) = open(&file);
    assert_eq!(document["materials"][0]["alphaMode"], "BLEND");
    assert!(document["materials"][1]["alphaMode"].is_null());
    world.scene.materials[1].emissive = [0.5; 3];
    let document = check(&super::world(&world));
    let glowing = |m: &&Value| m["emissiveFactor"].is_array();
    let material = list(&document, "materials").iter().find(glowing).unwrap();
    assert_eq!(material["emissiveTexture"], material["pbrMetallicRoughness"]["baseColorTexture"]);
}
