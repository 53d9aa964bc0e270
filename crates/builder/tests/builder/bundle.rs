//! Tests the files of the bundles that the builder makes. Also tests that a world that is loaded
//! from a bundle agrees with the project.

use crate::support::{
    circle, example_files, example_projects, png as png_head_of, read, ring, shipped_projects,
};
use chicane_builder::project::ObjectShape;
use chicane_builder::{Project, TrackLine, build};
use chicane_world::scene::{Look, TextureSource};
use chicane_world::world::ObjectKind;
use chicane_world::{Assets, MemoryBundle, World};
use glam::DVec3;
use proptest::prelude::*;
use serde_json::{Value, json};

fn load(bundle: &MemoryBundle) -> World {
    let world = World::load(&Assets::of(bundle)).unwrap_or_else(|e| panic!("{e}"));
    assert!(world.warnings.is_empty(), "{:?}", world.warnings);
    world
}

fn everything() -> Project {
    let (_, bytes) = example_projects().into_iter().find(|(n, _)| n.contains("everything")).expect("it");
    Project::read(&bytes).expect("a project")
}

#[test]
fn a_bundle_contains_all_files_of_a_world() {
    let bundle = build(&everything(), &example_files()).expect("a world");
    let paths: Vec<&str> = bundle.files.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "evaluations/everything.json",
            "evaluations/everything.py",
            "meshes/everything/everything.dae",
            "meshes/everything/object_0.dae",
            "meshes/everything/object_1.dae",
            "meshes/everything/object_2.dae",
            "meshes/everything/object_3.dae",
            "meshes/everything/textures/field.png",
            "meshes/everything/textures/picture_0.png",
            "models/everything/model.config",
            "models/everything/model.sdf",
            "routes/everything.npy",
            "worlds/everything.world",
        ]
    );
    assert_eq!(build(&everything(), &example_files()), Ok(bundle), "the same bytes again");
}

#[test]
fn the_loaded_world_agrees_with_the_project() {
    for (name, bytes) in example_projects() {
        let project = Project::read(&bytes).expect("a project");
        let world = load(&build(&project, &example_files()).expect("a world"));
        same(&project, &world);
        let evaluation = world.evaluation.as_ref().expect("an evaluation");
        assert_eq!(evaluation.description, project.evaluation.as_ref().expect("one").description, "{name}");
        let bounds = world.ground.bounds.expect("bounds");
        assert_eq!([bounds.min.to_array(), bounds.max.to_array()], [[0.0; 2], project.field.size], "{name}");
        for texture in &world.scene.textures {
            let standard = texture.path.starts_with("meshes/world_builder/textures/");
            assert_eq!(standard, matches!(texture.source, TextureSource::BuiltIn(_)), "{}", texture.path);
        }
        let panels = world.objects.iter().filter(|o| o.panel.is_some()).count();
        assert_eq!(panels, 1, "{name}");
    }
}

#[test]
fn the_mesh_of_an_object_fills_its_collision_box() {
    let world = load(&build(&everything(), &example_files()).expect("a world"));
    for (i, object) in world.objects.iter().enumerate().skip(4).take(4) {
        let seen = world.scene.instances.iter().find(|s| s.owner == chicane_world::scene::Owner::Object(i));
        let seen = seen.expect("an instance");
        let Look::Mesh(mesh) = seen.look else { panic!("{}: {:?}", object.name, seen.look) };
        let points = || world.scene.meshes[mesh].positions.iter().map(|p| DVec3::from(p.map(f64::from)));
        let (low, high) =
            points().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        assert!((high - low - object.size).abs().max_element() < 1e-5, "{}: {}", object.name, high - low);
        assert!((0.5 * (low + high) - object.centre).abs().max_element() < 1e-5, "{}", object.name);
        // Every triangle faces outwards.
        let mesh = &world.scene.meshes[mesh];
        for t in mesh.groups.iter().flat_map(|g| g.indices.chunks_exact(3)) {
            let [a, b, c] =
                [t[0], t[1], t[2]].map(|i| DVec3::from(mesh.positions[i as usize].map(f64::from)));
            let normal = DVec3::from(mesh.normals[t[0] as usize].map(f64::from));
            assert!((b - a).cross(c - a).dot(normal) > 0.0, "{}", object.name);
        }
    }
}

#[test]
fn the_road_has_the_width_of_the_project_and_faces_up() {
    let mut value = ring();
    value["track"]["nodes"][3]["width"] = json!(1.0);
    let project = read(&value);
    let world = load(&build(&project, &MemoryBundle::default()).expect("a world"));
    let mesh = &world.scene.meshes[0];
    let mut area = 0.0;
    for group in &mesh.groups {
        let texture = world.scene.materials[group.material].texture.expect("a picture");
        for t in group.indices.chunks_exact(3) {
            let [a, b, c] =
                [t[0], t[1], t[2]].map(|i| DVec3::from(mesh.positions[i as usize].map(f64::from)));
            let cross = (b - a).cross(c - a);
            assert!(cross.z > 0.0);
            if world.scene.textures[texture].path.ends_with("road.png") {
                area += 0.5 * cross.z;
            }
        }
    }
    let line = TrackLine::of(&project.track);
    let expected: f64 = line.steps().map(|(a, b)| 0.25 * (a.width + b.width) * 2.0 * 0.05).sum();
    assert!((area / expected - 1.0).abs() < 0.01, "{area} {expected}");
}

#[test]
fn the_shipped_worlds_agree_with_their_projects() {
    let (projects, pictures) = shipped_projects();
    for (name, bytes) in projects {
        let project = Project::read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        same(&project, &load(&build(&project, &pictures).unwrap_or_else(|e| panic!("{name}: {e}"))));
    }
}

#[test]
fn the_picture_of_a_field_is_converted_to_png() {
    let mut value = ring();
    value["field"]["ground"] = json!({ "picture": "floor.jpg" });
    value["decals"] = json!([{ "picture": "floor.jpg", "x": 4, "y": 4, "yaw": 0, "width": 1, "height": 1 }]);
    let floor = image::RgbImage::from_fn(32, 16, |x, _| image::Rgb([if x < 16 { 250 } else { 5 }, 60, 60]));
    let mut jpeg = std::io::Cursor::new(Vec::new());
    floor.write_to(&mut jpeg, image::ImageFormat::Jpeg).expect("a JPEG");
    let jpeg = jpeg.into_inner();
    let mut files = MemoryBundle::default();
    files.insert("floor.jpg", jpeg.clone());
    let bundle = build(&read(&value), &files).expect("a world");
    let field = &bundle.files["meshes/ring/textures/field.png"];
    assert_eq!(image::guess_format(field).expect("known"), image::ImageFormat::Png);
    let field = image::load_from_memory(field).expect("a picture").to_rgb8();
    assert!(field == image::load_from_memory(&jpeg).expect("a picture").to_rgb8(), "the same pixels");
    assert_eq!(bundle.files["meshes/ring/textures/picture_0.jpg"], jpeg, "other pictures are unchanged");
    // The picture has a valid header, but no valid data.
    files.insert("floor.jpg", png_head_of(32, 16));
    let error = build(&read(&value), &files).expect_err("invalid data").to_string();
    let expected =
        "error picture-unreadable: field.ground.picture: The picture \"floor.jpg\" cannot be read: ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_project_with_an_error_is_not_built() {
    let mut value = ring();
    value["track"]["nodes"] = circle(1.0, 1.0, 0.3, 8);
    let error = build(&read(&value), &MemoryBundle::default()).expect_err("too tight");
    assert!(error.to_string().starts_with("error bend-too-tight: track.nodes["), "{error}");
}

/// Asserts that a world has all objects of its project. Positions must agree within a micrometre,
/// and headings within a microradian.
fn same(project: &Project, world: &World) {
    let walls = if project.fence.is_some() { 4 } else { 0 };
    assert_eq!(world.objects.len(), project.objects.len() + walls);
    for (i, wall) in world.objects[..walls].iter().enumerate() {
        assert_eq!((wall.kind, wall.name.as_str()), (ObjectKind::Wall, format!("wall_{i}").as_str()));
        assert_eq!(wall.size.z, project.fence.expect("a fence").height);
        assert!((wall.size.x.min(wall.size.y) - 0.03).abs() < 1e-9);
    }
    for (drawn, loaded) in project.objects.iter().zip(&world.objects[walls..]) {
        assert_eq!(drawn.name, loaded.name);
        assert_eq!(drawn.kind.name(), loaded.kind.name());
        let (size, is_static, mass) = match &drawn.kind {
            ObjectShape::Box { size, body, .. } => (*size, body.is_static, body.mass),
            ObjectShape::Cylinder { radius: r, height, body, .. } => {
                ([2.0 * r, 2.0 * r, *height], body.is_static, body.mass)
            }
            ObjectShape::Sphere { radius, body, .. } => ([2.0 * radius; 3], body.is_static, body.mass),
            ObjectShape::Cone { base, height, body, .. } => {
                ([*base, *base, *height], body.is_static, body.mass)
            }
            ObjectShape::Light { width, tilt } => {
                let panel = loaded.panel.expect("a screen");
                assert!(
                    (panel.size[0] - width).abs() < 1e-6 && (panel.size[1] - width * 16.0 / 9.0).abs() < 1e-6
                );
                assert!((panel.pose.rpy()[1] + tilt).abs() < 1e-6);
                ([loaded.size.x, *width, loaded.size.z], true, loaded.mass.mass)
            }
        };
        assert!((loaded.size - DVec3::from_array(size)).abs().max_element() < 1e-6, "{}", drawn.name);
        assert!((loaded.origin.position - DVec3::new(drawn.x, drawn.y, 0.0)).length() < 1e-6);
        let turn = chicane_world::pose::wrap_angle(loaded.origin.yaw() - drawn.yaw);
        assert!(turn.abs() < 1e-6, "{}", drawn.name);
        assert!((loaded.centre.z - 0.5 * loaded.size.z).abs() < 1e-6, "it stands on the ground");
        assert_eq!(loaded.is_static, is_static, "{}", drawn.name);
        assert!((loaded.mass.mass - mass).abs() < 1e-9, "{}", drawn.name);
    }
    let (route, drawn) = (world.route.as_ref().expect("a route"), TrackLine::of(&project.track).route());
    assert_eq!(route, &drawn);
    assert!((world.spawn.position.truncate() - drawn.centre[0]).length() < 1e-9);
}

/// Generates an object of any kind, without a position.
fn object() -> impl Strategy<Value = Value> {
    let kinds = prop_oneof![
        (prop::array::uniform3(0.05..0.5f64)).prop_map(|size| json!({ "kind": "box", "size": size })),
        (0.02..0.3f64, 0.05..1.0f64)
            .prop_map(|(r, h)| json!({ "kind": "cylinder", "radius": r, "height": h })),
        (0.02..0.3f64).prop_map(|r| json!({ "kind": "sphere", "radius": r })),
        (0.05..0.4f64, 0.05..0.6f64).prop_map(|(b, h)| json!({ "kind": "cone", "base": b, "height": h })),
        (0.05..0.4f64, 0.0..0.5f64).prop_map(|(w, t)| json!({ "kind": "light", "width": w, "tilt": t })),
    ];
    let common =
        (-6.3..6.3f64, 0.01..20.0f64, any::<bool>(), prop::option::of(0u32..0x100_0000), any::<bool>());
    (kinds, common).prop_map(|(mut object, (yaw, mass, is_static, colour, textured))| {
        object["yaw"] = json!(yaw);
        if object["kind"] != "light" {
            object["mass"] = json!(mass);
            object["static"] = json!(is_static);
            if let Some(colour) = colour {
                object["colour"] = json!(format!("#{colour:06x}"));
            }
            if textured {
                let face = match object["kind"].as_str() {
                    Some("box") => "top",
                    Some("sphere") => "surface",
                    _ => "side",
                };
                object["textures"] = json!({ face: "chequers.png" });
            }
        }
        object
    })
}

/// Generates a random project without errors. The nodes of the track are on an irregular circle,
/// and the track is closed or open. The objects are in the cells of a grid to the right of the
/// track.
fn any_project() -> impl Strategy<Value = Value> {
    let node = (0.92..1.0f64, prop::option::of(0.3..0.8f64));
    let track =
        (prop::collection::vec(node, 10..=10), 0.3..0.8f64, 0.0..10.0f64, any::<bool>(), any::<bool>());
    let more = (prop::option::of(0.2..1.0f64), any::<bool>(), prop::collection::vec(-3.0..3.0f64, 0..4));
    (track, more, prop::collection::vec(object(), 0..24)).prop_map(
        |((wobble, width, start, backward, closed), (fence, dashes, decals), objects)| {
            let mut nodes = circle(3.5, 3.5, 2.5, 10);
            for (i, (factor, width)) in wobble.iter().enumerate() {
                if let Some(width) = width {
                    nodes[i]["width"] = json!(width);
                }
                for axis in ["x", "y"] {
                    let v = nodes[i][axis].as_f64().expect("a number");
                    nodes[i][axis] = json!(3.5 + (v - 3.5) * factor);
                }
            }
            let place = |(i, mut o): (usize, Value)| {
                o["name"] = json!(format!("thing_{i}"));
                o["x"] = json!(7.5 + (i % 4) as f64 * 1.3);
                o["y"] = json!(1.0 + (i / 4) as f64 * 1.2);
                o
            };
            let decal = |yaw: &f64| json!({ "picture": "chequers.png", "x": 3.5, "y": 3.5, "yaw": yaw, "width": 1, "height": 0.5 });
            let mut p = json!({
                "version": 1, "name": "any_ball", "display_name": "A & <B>",
                "field": { "size": [13, 8] },
                "track": {
                    "nodes": nodes, "width": width, "start": start, "closed": closed,
                    "direction": if backward { "backward" } else { "forward" },
                },
                "decals": decals.iter().map(decal).collect::<Vec<_>>(),
                "objects": objects.into_iter().enumerate().map(place).collect::<Vec<_>>(),
            });
            if dashes {
                p["track"]["centre_line"] = json!({});
            }
            if let Some(height) = fence {
                p["fence"] = json!({ "height": height });
            }
            p
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]
    #[test]
    fn any_loaded_world_agrees_with_its_project(value in any_project()) {
        let project = read(&value);
        let bundle = build(&project, &example_files()).unwrap_or_else(|e| panic!("{e}"));
        same(&project, &load(&bundle));
        prop_assert!(build(&read(&value), &example_files()).as_ref() == Ok(&bundle), "the same bytes again");
    }
}
