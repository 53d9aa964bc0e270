//! Tests the objects of a world: the link names that mark a model as an object, and the kinds,
//! sizes and mass properties of objects.

mod sdf_support;

use chicane_world::world::{Object, ObjectKind, ObjectType, Shape};
use chicane_world::{Assets, World};
use glam::{DQuat, DVec3};
use sdf_support::{box_mesh, load, objects_bundle, warnings};

fn objects() -> World {
    World::load(&Assets::of(&objects_bundle())).expect("loads")
}

/// Loads a world and returns its only object and the warnings.
fn only(inside: &str) -> (Object, Vec<String>) {
    let world = load(inside, &[("meshes/m/box.dae", &box_mesh([0.4, 0.2, 0.1], None))]).expect("loads");
    assert_eq!(world.objects.len(), 1);
    (world.objects[0].clone(), warnings(&world))
}

fn near(a: DVec3, b: [f64; 3]) -> bool {
    (a - DVec3::from_array(b)).length() < 1e-9
}

#[test]
fn every_kind_of_object_is_recognised() {
    let world = objects();
    assert_eq!(warnings(&world), Vec::<String>::new());
    let table: Vec<_> = world
        .objects
        .iter()
        .map(|o| (o.name.as_str(), o.object_type, o.kind, o.is_static, o.movable))
        .collect();
    assert_eq!(
        table,
        [
            ("box1", ObjectType::Object, ObjectKind::Box, false, true),
            ("cylinder1", ObjectType::Object, ObjectKind::Cylinder, false, true),
            ("ball1", ObjectType::Object, ObjectKind::Sphere, false, true),
            ("cone1", ObjectType::Object, ObjectKind::Cone, true, true),
            ("signal1", ObjectType::Light, ObjectKind::Light, true, true),
            ("wall_0", ObjectType::Wall, ObjectKind::Wall, true, false),
        ]
    );
    let size = |name| world.objects[world.object(name).expect("there")].size;
    assert_eq!(size("box1").to_array(), [0.3, 0.2, 0.2]);
    assert_eq!(size("cylinder1").to_array(), [0.0946, 0.0946, 0.21]);
    assert_eq!(size("ball1").to_array(), [0.22; 3]);
    assert_eq!(size("cone1").to_array(), [0.135, 0.135, 0.23]);
    assert_eq!(size("wall_0").to_array(), [10.0, 0.03, 0.25]);
    let fixed: Vec<_> = world.fixed_names.iter().map(|f| (f.name.as_str(), f.is_track)).collect();
    assert_eq!(fixed, [("ground_plane", false), ("racetrack", true), ("table", false)]);
}

#[test]
fn objects_have_origin_centre_friction_and_restitution() {
    let world = objects();
    let cone = &world.objects[3];
    assert_eq!(cone.origin.position.to_array(), [4.0, 2.0, 0.0]);
    assert_eq!(cone.centre.to_array(), [0.0, 0.0, 0.115]);
    let surface = |i: usize| (world.objects[i].solids[0].friction, world.objects[i].solids[0].restitution);
    assert_eq!(surface(1), (0.8, 0.3));
    assert_eq!(surface(0), (0.6, 0.0));
    assert_eq!(surface(5), (0.4, 0.0));
}

#[test]
fn a_light_has_the_panel_of_its_screen() {
    let world = objects();
    let panel = world.objects[4].panel.expect("a screen");
    assert_eq!(panel.size, [0.18, 0.32]);
    assert!((panel.lamp_radius - 0.5 * 0.41 * 0.32).abs() < 1e-12);
    assert_eq!(panel.pose.position.to_array(), [0.06, 0.0, 0.2]);
    // The screen is tilted back by 15°, so that it faces slightly upwards.
    let front = panel.pose.rotation * DVec3::X;
    assert!((front.z - libm::sin(15f64.to_radians())).abs() < 1e-12 && front.x > 0.9, "{front}");
    assert!(world.objects.iter().filter(|o| o.kind != ObjectKind::Light).all(|o| o.panel.is_none()));
}

#[test]
fn mass_and_inertia_of_the_file_are_used_if_they_are_possible() {
    let world = objects();
    let mass = world.objects[0].mass;
    assert_eq!((mass.mass, mass.frame.position.to_array()), (0.4, [0.0, 0.0, 0.1]));
    assert_eq!(mass.principal.to_array(), [0.003, 0.004, 0.005]);
    assert_eq!(mass.frame.rotation, DQuat::IDENTITY);
}

#[test]
fn the_default_mass_is_half_a_kilogram() {
    let world = objects();
    let ball = world.objects[2].mass;
    assert_eq!(ball.mass, 0.5);
    assert!(near(ball.principal, [0.4 * 0.5 * 0.11 * 0.11; 3]));
    assert_eq!(world.objects[1].mass.mass, 0.5);
    let r2 = 0.0473 * 0.0473;
    let across = 0.5 * (r2 / 4.0 + 0.105 * 0.105 / 3.0);
    assert!(near(world.objects[1].mass.principal, [across, across, 0.25 * r2]));
}

/// An object that is a box of 0.3 × 0.2 × 0.1 m with the given `<inertial>`.
fn boxed(inertial: &str) -> Object {
    only(&format!(
        "<model name='b'><link name='object'>{inertial}<collision name='c'>
         <geometry><box><size>0.3 0.2 0.1</size></box></geometry></collision></link></model>"
    ))
    .0
}

#[test]
fn an_impossible_inertia_is_replaced_by_that_of_the_shape() {
    let by_shape = [2.0 / 12.0 * 0.05, 2.0 / 12.0 * 0.1, 2.0 / 12.0 * 0.13];
    for inertia in [
        "",
        "<inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia>",
        "<inertia><ixx>-0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia>",
        "<inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.01</izz></inertia>",
        // These moments are too large for a box of this size.
        "<inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>",
        "<inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz><ixy>0.02</ixy></inertia>",
        "<inertia><ixx>1e-300</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia>",
    ] {
        let object = boxed(&format!("<inertial><mass>2</mass>{inertia}</inertial>"));
        assert_eq!(object.mass.mass, 2.0);
        assert!(near(object.mass.principal, by_shape), "{inertia}: {:?}", object.mass);
    }
    assert_eq!(boxed("<inertial><mass>-3</mass></inertial>").mass.mass, 0.5);
    // A centre of mass outside the box is impossible too.
    let inertia = "<inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia>";
    let away = boxed(&format!("<inertial><mass>2</mass><pose>5 0 0 0 0 0</pose>{inertia}</inertial>"));
    assert!(near(away.mass.frame.position, [0.0; 3]) && near(away.mass.principal, by_shape));
}

#[test]
fn the_masses_of_all_links_are_combined() {
    let link = |name, x| {
        format!(
            "<link name='{name}'><pose>{x} 0 0 0 0 0</pose>
             <inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
             <collision name='c'><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision></link>"
        )
    };
    let inside = format!(
        "<model name='b'>{}{}<joint name='j' type='revolute'><parent>object</parent><child>b</child></joint></model>",
        link("object", -0.5),
        link("b", 0.5)
    );
    let (object, warnings) = only(&inside);
    assert_eq!(warnings, ["worlds/t.world: joints are treated as fixed"]);
    assert_eq!(object.mass.mass, 2.0);
    assert!(near(object.mass.frame.position, [0.0; 3]));
    assert!(near(object.mass.principal, [0.02, 0.52, 0.52]), "{:?}", object.mass);
    assert!(near(object.size, [1.2, 0.2, 0.2]));
}

#[test]
fn products_of_inertia_give_rotated_principal_axes() {
    let inertia = "<inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.012</izz><ixy>0.002</ixy></inertia>";
    let mass = boxed(&format!("<inertial><mass>2</mass>{inertia}</inertial>")).mass;
    let mut moments = mass.principal.to_array();
    moments.sort_by(f64::total_cmp);
    assert!(near(DVec3::from_array(moments), [0.008, 0.012, 0.012]), "{mass:?}");
}

#[test]
fn the_first_marker_of_an_inline_model_decides() {
    let shape = "<collision name='c'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>";
    let (object, _) = only(&format!(
        "<model name='b'><link name='base'/><link name='wall'>{shape}</link><link name='object'/></model>"
    ));
    assert_eq!((object.object_type, object.is_static), (ObjectType::Wall, true));
    // The track of the fixture has a link named `object`, but the track is not an object.
    assert!(objects().object("racetrack").is_none());
    let nested = format!(
        "<model name='a'><static>1</static><link name='l'/><model name='b'><link name='object'>{shape}</link></model></model>"
    );
    assert!(load(&nested, &[]).expect("loads").objects.is_empty());
}

#[test]
fn a_mesh_collision_of_an_object_is_its_bounding_box() {
    let (object, _) = only(
        "<model name='b'><link name='object'><collision name='c'><pose>0 0 1 0 0 0</pose><geometry><mesh>
         <uri>model://meshes/m/box.dae</uri><scale>2 1 1</scale></mesh></geometry></collision></link></model>",
    );
    assert_eq!(object.kind, ObjectKind::Box);
    assert!((object.size - DVec3::new(0.8, 0.2, 0.1)).length() < 1e-6, "{}", object.size);
    assert!(matches!(object.solids[0].shape, Shape::Box(_)));
    assert!(near(object.centre, [0.0, 0.0, 1.0]));
}

#[test]
fn an_object_without_collision_gets_the_bounding_box_of_its_visuals() {
    let (object, warnings) = only(
        "<model name='b'><link name='object'><visual name='v'><pose>0 0 0.5 0 0 0</pose>
         <geometry><cylinder><radius>0.1</radius><length>1</length></cylinder></geometry></visual></link></model>",
    );
    assert_eq!(warnings, ["worlds/t.world: \"b\" has no collision: the bounding box of its visuals is used"]);
    assert!(near(object.size, [0.2, 0.2, 1.0]) && near(object.centre, [0.0, 0.0, 0.5]));
    let (object, warnings) = only("<model name='b'><link name='object'/></model>");
    assert_eq!(warnings, ["worlds/t.world: \"b\" has no shape: a small box is used"]);
    assert!(near(object.size, [0.1; 3]));
}

#[test]
fn kinds_follow_the_geometry() {
    for (geometry, kind) in [
        ("<box><size>1 1 1</size></box>", ObjectKind::Box),
        ("<cylinder><radius>1</radius><length>1</length></cylinder>", ObjectKind::Cylinder),
        ("<capsule><radius>1</radius><length>1</length></capsule>", ObjectKind::Cylinder),
        ("<cone><radius>1</radius><length>1</length></cone>", ObjectKind::Cone),
        ("<sphere><radius>1</radius></sphere>", ObjectKind::Sphere),
        ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", ObjectKind::Box),
        ("<mesh><uri>model://meshes/m/box.dae</uri></mesh>", ObjectKind::Box),
    ] {
        let (object, _) = only(&format!(
            "<model name='b'><link name='object'><collision name='c'><geometry>{geometry}</geometry></collision></link></model>"
        ));
        assert_eq!(object.kind, kind, "{geometry}");
    }
}

#[test]
fn a_rotated_collision_has_a_larger_bounding_box() {
    let (object, _) = only(
        "<model name='b'><pose>0 0 0 0 0 0.7</pose><link name='object'><collision name='c'>
         <pose>0 0 0 0 0 0.7853981633974483</pose><geometry><box><size>1 1 1</size></box></geometry></collision></link></model>",
    );
    let diagonal = libm::sqrt(2.0);
    assert!(
        near(object.size, [diagonal, diagonal, 1.0]),
        "the rotation of the model has no effect: {}",
        object.size
    );
}

#[test]
fn names_of_objects_are_unique() {
    let object = "<model name='a'><link name='object'/></model>";
    let error = load(&format!("{object}\n{object}"), &[]).expect_err("twice").to_string();
    assert_eq!(error, "worlds/t.world:5:1: a second object is named \"a\": names of objects must be unique");
    // Scenery with the name of an object is renamed, even if the scenery comes first in the file.
    let scenery = "<model name='a'><link name='l'/></model>";
    let world = load(&format!("{scenery}{scenery}{object}"), &[]).expect("loads");
    let names: Vec<_> = world.fixed_names.iter().map(|f| f.name.as_str()).collect();
    assert_eq!((world.objects[0].name.as_str(), names), ("a", vec!["a_2", "a_3"]));
}
