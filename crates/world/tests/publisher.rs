//! Tests a whole bundle in the style of another publisher. The bundle uses SDF 1.6, includes its
//! track from a separate file, and has all kinds of objects. The names of its track, its meshes and
//! its plugin contain a brand.

mod sdf_support;

use chicane_world::collada::{Group, Material, MeshPart, Model, write};
use chicane_world::npy;
use chicane_world::scene::{BuiltInMesh, BuiltInTexture, Instance, Look, Owner, Role, TextureSource};
use chicane_world::world::{ObjectKind, ObjectType};
use chicane_world::{Assets, MemoryBundle, World};
use glam::{DVec2, DVec3};
use sdf_support::{PNG, warnings};

/// A rectangle with one corner at `at`. Its sides are parallel to the two `axes`. Its normal is
/// parallel to the third axis.
fn rectangle(name: &str, at: [f32; 3], sides: [f32; 2], axes: [usize; 2], material: usize) -> MeshPart {
    let corner = |u: f32, v: f32| {
        let mut p = at;
        p[axes[0]] += u * sides[0];
        p[axes[1]] += v * sides[1];
        p
    };
    let mut normal = [0.0; 3];
    normal[3 - axes[0] - axes[1]] = 1.0;
    MeshPart {
        name: name.to_owned(),
        positions: vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)],
        normals: vec![normal; 4],
        uvs: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        groups: vec![Group { material: Some(material), indices: vec![0, 1, 2, 0, 2, 3] }],
    }
}

fn painted(name: &str, texture: Option<&str>) -> Material {
    Material {
        name: name.to_owned(),
        colour: [1.0; 4],
        texture: texture.map(str::to_owned),
        ..Material::default()
    }
}

fn bundle() -> MemoryBundle {
    let mut bundle = MemoryBundle::default();
    bundle.insert("worlds/publisher.world", include_str!("fixtures/sdf/publisher.world"));
    bundle.insert(
        "models/acme_oval/model.config",
        "<?xml version='1.0'?><model><name>Oval</name><version>1.0</version><sdf version='1.6'>oval.sdf</sdf></model>",
    );
    bundle.insert(
        "models/acme_oval/oval.sdf",
        "<?xml version='1.0'?><sdf version='1.6'><model name='acme_oval'><static>true</static><link name='link'>
           <collision name='collision'><geometry><mesh><uri>model://meshes/acme_oval/track.dae</uri></mesh></geometry></collision>
           <visual name='visual'><geometry><mesh><uri>model://meshes/acme_oval/track.dae</uri></mesh></geometry></visual>
         </link></model></sdf>",
    );
    let standard = |name: &str| format!("../world_builder/textures/{name}.png");
    let track = Model {
        parts: vec![
            rectangle("field", [-4.0, -3.0, 0.0], [8.0, 6.0], [0, 1], 0),
            rectangle("road", [-2.0, -2.0, 0.001], [4.0, 1.0], [0, 1], 1),
            rectangle("line", [0.0, -2.0, 0.002], [0.1, 1.0], [0, 1], 2),
            // The fence stands slightly outside the border of the field.
            rectangle("fence", [-4.1, 3.1, 0.0], [8.2, 0.25], [0, 2], 3),
        ],
        materials: vec![
            painted("field", Some("textures/field.png")),
            painted("road", Some(&standard("road"))),
            painted("start", Some(&standard("start_line"))),
            painted("fence", None),
        ],
    };
    bundle.insert("meshes/acme_oval/track.dae", write(&track));
    bundle.insert("meshes/acme_oval/textures/field.png", PNG);
    // A cube with a different picture on each face.
    let faces = (0..6).map(|i| {
        let axes = [[0, 1], [1, 2], [0, 2]][i % 3];
        rectangle(&format!("face{i}"), [-0.5; 3], [1.0, 1.0], axes, i)
    });
    let skins: Vec<String> = (0..6).map(|i| format!("textures/box1_{i}.png")).collect();
    let cube =
        Model { parts: faces.collect(), materials: skins.iter().map(|s| painted(s, Some(s))).collect() };
    bundle.insert("meshes/acme_oval/box1.dae", write(&cube));
    for skin in &skins[..5] {
        bundle.insert(format!("meshes/acme_oval/{skin}"), PNG);
    }
    let parts = Model {
        parts: vec![
            rectangle("stand", [5.0, 5.0, 1.0], [0.2, 0.4], [0, 1], 0),
            rectangle("other", [9.0, 9.0, 9.0], [1.0, 1.0], [0, 1], 0),
        ],
        materials: vec![painted("grey", None)],
    };
    bundle.insert("meshes/acme_oval/parts.dae", write(&parts));
    let ring: Vec<f64> =
        [[6.0, 1.5], [6.0, 4.5], [2.0, 4.5], [2.0, 1.5]].iter().flat_map(|p| [p[0], p[1]]).collect();
    bundle.insert("routes/publisher.npy", npy::write(&npy::Array { rows: 4, columns: 2, values: ring }));
    bundle
}

fn world() -> World {
    World::load(&Assets::of(&bundle())).expect("loads")
}

fn drawn<'a>(world: &'a World, object: &str, visual: &str) -> &'a Instance {
    let owner = Owner::Object(world.object(object).expect("there"));
    world.scene.instances.iter().find(|i| i.owner == owner && i.name == visual).expect("drawn")
}

#[test]
fn each_ignored_input_gives_one_warning() {
    assert_eq!(
        warnings(&world()),
        [
            "worlds/publisher.world:2:1: `--` inside a comment is not valid XML; the comment is ignored",
            "worlds/publisher.world:83:5: plugin \"libacme_world.so\" is ignored",
            "meshes/acme_oval/box1.dae: picture \"textures/box1_5.png\" was not found: a plain colour is used",
        ]
    );
}

#[test]
fn all_objects_and_fixed_names_are_found() {
    let world = world();
    let table: Vec<_> = world
        .objects
        .iter()
        .map(|o| (o.name.as_str(), o.object_type, o.kind, o.is_static, o.movable, o.size.to_array()))
        .collect();
    let (object, wall) = (ObjectType::Object, ObjectType::Wall);
    let fence = |name, length| (name, wall, ObjectKind::Wall, true, false, [length, 0.03, 0.25]);
    assert_eq!(
        table,
        [
            ("box1", object, ObjectKind::Box, false, true, [0.3, 0.2, 0.2]),
            ("box2", object, ObjectKind::Box, false, true, [0.3, 0.2, 0.2]),
            ("cylinder1", object, ObjectKind::Cylinder, false, true, [0.09454, 0.09454, 0.21]),
            ("sphere1", object, ObjectKind::Sphere, false, true, [0.22; 3]),
            ("sphere2", object, ObjectKind::Sphere, false, true, [0.4; 3]),
            ("cone1", object, ObjectKind::Cone, false, true, [0.135, 0.135, 0.23]),
            ("signal1", ObjectType::Light, ObjectKind::Light, true, true, [0.12, 0.18, 0.34]),
            fence("wall_0", 8.0),
            fence("wall_1", 6.0),
            fence("wall_2", 8.0),
            fence("wall_3", 6.0),
        ]
    );
    assert_eq!(world.objects[0].mass.mass, 0.3);
    assert!(
        world.objects[0].mass.principal.max_element() < 0.01,
        "an inertia of 1 is impossible for this box"
    );
    assert_eq!(world.objects[3].mass.mass, 0.5);
    let fixed: Vec<_> = world.fixed_names.iter().map(|f| (f.name.as_str(), f.is_track)).collect();
    assert_eq!(fixed, [("ground_plane", false), ("racetrack", true)]);
}

#[test]
fn objects_have_their_shapes_and_materials() {
    let world = world();
    let material =
        |object, visual| &world.scene.materials[drawn(&world, object, visual).material.expect("painted")];
    assert_eq!(
        drawn(&world, "box2", "visual").look,
        Look::BuiltIn(BuiltInMesh::BoxObstacle, [0.3, 0.2, 0.2])
    );
    assert_eq!(drawn(&world, "sphere1", "visual").look, Look::BuiltIn(BuiltInMesh::Ball, [0.22; 3]));
    assert_eq!(drawn(&world, "cone1", "visual").look, Look::BuiltIn(BuiltInMesh::Cone, [0.135, 0.135, 0.23]));
    assert_eq!(drawn(&world, "cone1", "visual").pose.position.z, 0.115);
    assert_eq!(drawn(&world, "cylinder1", "visual").look, Look::Cylinder(0.04727, 0.21));
    assert_eq!(material("cylinder1", "visual").colour, [0.0, 0.5, 0.0, 1.0]);
    assert_eq!(material("sphere2", "visual").colour, [1.0, 0.0, 0.0, 1.0]);

    // The cube has six materials. The picture of the last material is missing.
    let cube = drawn(&world, "box1", "visual");
    assert_eq!((cube.scale, cube.material), ([0.3, 0.2, 0.2], None));
    let Look::Mesh(mesh) = cube.look else { panic!("{cube:?}") };
    let pictures: Vec<Option<&str>> = world.scene.meshes[mesh]
        .groups
        .iter()
        .map(|g| world.scene.materials[g.material].texture.map(|t| world.scene.textures[t].path.as_str()))
        .collect();
    let skin = |i| format!("meshes/acme_oval/textures/box1_{i}.png");
    let mut expected: Vec<Option<String>> = (0..5).map(|i| Some(skin(i))).collect();
    expected.push(None);
    assert_eq!(pictures, expected.iter().map(Option::as_deref).collect::<Vec<_>>());
}

#[test]
fn the_light_has_a_panel_and_roles() {
    let world = world();
    let light = &world.objects[world.object("signal1").expect("there")];
    let panel = light.panel.expect("a screen");
    assert_eq!((panel.size, panel.pose.position.to_array()), ([0.18, 0.32], [0.06, 0.0, 0.18]));
    assert!((panel.lamp_radius - 0.0656).abs() < 1e-12);
    assert!((panel.pose.rpy()[1] + 15f64.to_radians()).abs() < 1e-12);
    let roles: Vec<_> =
        ["stand", "screen", "lamp_red", "lamp_green"].map(|v| drawn(&world, "signal1", v).role).into();
    assert_eq!(roles, [Role::Plain, Role::Screen, Role::LampRed, Role::LampGreen]);
    // The visual of the stand uses only one part of the mesh, and that part is centred at the
    // origin.
    let Look::Mesh(mesh) = drawn(&world, "signal1", "stand").look else { panic!("a mesh") };
    let mesh = &world.scene.meshes[mesh];
    assert_eq!(mesh.positions.len(), 4);
    let far = mesh.positions.iter().map(|p| glam::Vec3::from_array(*p).length()).fold(0.0, f32::max);
    assert!((far - glam::Vec2::new(0.1, 0.2).length()).abs() < 1e-5, "{far}");
}

#[test]
fn the_track_gives_bounds_textures_and_route() {
    let world = world();
    let bounds = world.ground.bounds.expect("ground");
    assert_eq!((bounds.min, bounds.max), (DVec2::ZERO, DVec2::new(8.0, 6.0)), "without the fence");
    let track: Vec<&Instance> = world.scene.instances.iter().filter(|i| i.owner == Owner::Track).collect();
    assert_eq!((track.len(), track[0].pose.position.to_array()), (1, [4.0, 3.0, 0.0]));
    let source = |path: &str| &world.scene.textures.iter().find(|t| t.path == path).expect("used").source;
    assert!(matches!(source("meshes/acme_oval/textures/field.png"), TextureSource::File { .. }));
    let standard = |name: &str| source(&format!("meshes/world_builder/textures/{name}.png")).clone();
    assert_eq!(standard("road"), TextureSource::BuiltIn(BuiltInTexture::Road));
    assert_eq!(standard("start_line"), TextureSource::BuiltIn(BuiltInTexture::StartLine));
    // The collision mesh of the track now contains only the fence. The rest of the mesh was
    // removed, because it coincides with the ground.
    assert_eq!(world.scenery.len(), 1);
    assert_eq!(world.scene.ambient, [0.6; 3]);
    let along = DVec3::from_array(world.scene.sun.direction);
    assert!(
        (along - DVec3::new(0.0, 1.0, -1.0).normalize()).length() < 1e-12,
        "rotated by its pose: {along}"
    );
    assert_eq!(world.spawn.position.to_array(), [6.0, 1.5, 0.0]);
    assert!((world.spawn.yaw() - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    let route = world.route.expect("a route");
    assert!(route.is_closed() && route.borders.is_none());
}
