//! Tests features of newer SDF files (merged includes, lights in frames, polylines, ellipsoids),
//! and content that the compiler tolerates or refuses.

mod sdf_support;

use chicane_world::scene::Look;
use chicane_world::world::{ObjectKind, ObjectType, Shape};
use chicane_world::{Assets, World, compile};
use glam::DVec3;
use sdf_support::{bundle, load, read, warnings};

fn collision(shape: &str) -> String {
    format!("<collision name='c'><geometry>{shape}</geometry></collision>")
}

fn model(link: &str, inside: &str) -> String {
    let fixed = if link == "l" { "<static>true</static>" } else { "" };
    format!("<model name='m'>{fixed}<link name='{link}'>{inside}</link></model>")
}

/// Loads a world and checks that there are no warnings.
fn load_without_warnings(inside: &str) -> World {
    let world = load(inside, &[]).expect("loads");
    assert_eq!(warnings(&world), Vec::<String>::new());
    world
}

const PART: &str = "<sdf version='1.10'><model name='part'><pose>0 0 1 0 0 0</pose>
    <link name='object'><pose>1 0 0 0 0 0</pose>
    <collision name='c'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link>
    <frame name='tip' attached_to='object'><pose>0 0 5 0 0 0</pose></frame></model></sdf>";

#[test]
fn a_merged_include_is_part_of_the_enclosing_model() {
    let inside = "<model name='m'><pose>10 0 0 0 0 0</pose><link name='base'/>
        <frame name='f'><pose relative_to='tip'>0 0 1 0 0 0</pose></frame>
        <include merge='true'><uri>model://part</uri><pose>0 2 0 0 0 0</pose></include></model>";
    let files: [(&str, &[u8]); 1] = [("models/part/model.sdf", PART.as_bytes())];
    let (spec, warnings_read) = read(inside).expect("readable");
    assert_eq!(warnings_read, Vec::<String>::new());
    let poses = compile::poses(&spec, &Assets::of(&bundle(inside, &files))).expect("resolvable");
    let all: Vec<_> = poses.iter().map(|(n, p)| (n.as_str(), p.position.to_array())).collect();
    assert_eq!(
        all,
        [
            ("m", [10.0, 0.0, 0.0]),
            ("m::base", [10.0, 0.0, 0.0]),
            ("m::f", [11.0, 2.0, 6.0]),
            ("m::object", [11.0, 2.0, 0.0]),
            ("m::tip", [11.0, 2.0, 5.0]),
            ("m::object::c", [11.0, 2.0, 0.0]),
        ]
    );
    let world = load(inside, &files).expect("loads");
    assert_eq!(
        (world.objects[0].object_type, world.objects[0].kind),
        (ObjectType::Object, ObjectKind::Sphere)
    );
    // Without merging, the link `object` of the nested model does not make the outer model an
    // object. References to the frames of the nested model need the prefix `part::`.
    let nested = inside.replace(" merge='true'", "");
    assert!(load(&nested, &files).expect_err("no tip here").message.starts_with("no frame named \"tip\""));
    let nested = nested.replace("relative_to='tip'", "relative_to='part::tip'");
    let nested = nested.replace("<model name='m'>", "<model name='m'><static>true</static>");
    assert!(load(&nested, &files).expect("loads").objects.is_empty());
}

#[test]
fn the_merge_attribute_outside_a_model_is_ignored() {
    let (spec, warnings_read) =
        read("<include merge='1'><uri>model://part</uri></include>").expect("readable");
    assert_eq!(
        warnings_read,
        ["worlds/t.world:4:1: the merge attribute of an <include> outside a model is ignored"]
    );
    assert!(matches!(&spec.entries[0], chicane_world::spec::SdfEntry::Include(i) if !i.merge));
}

#[test]
fn the_direction_of_a_light_is_relative_to_its_frame() {
    let light = |pose: &str, more: &str| format!("<light name='l' type='directional'>{pose}{more}</light>");
    let frame = "<frame name='f'><pose degrees='true'>0 0 0 0 0 90</pose></frame>";
    let direction = |inside: &str| DVec3::from_array(load_without_warnings(inside).scene.sun.direction);
    let along = "<direction>1 0 -1</direction>";
    let slanted = DVec3::new(0.0, 1.0, -1.0).normalize();
    assert!(
        (direction(&(frame.to_owned() + &light("<pose relative_to='f'/>", along))) - slanted).length()
            < 1e-12
    );
    assert!((direction(&light("", "")) - DVec3::NEG_Z).length() < 1e-12, "downwards by default");
    let quarter = "<pose degrees='true'>0 0 9 90 0 0</pose>";
    assert!((direction(&light(quarter, "")) - DVec3::Y).length() < 1e-12);
    let world = load(&light("<pose relative_to='nobody'/>", along), &[]).expect("loads");
    assert_eq!(
        warnings(&world),
        ["worlds/t.world:4:36: no frame named \"nobody\" in the world: the light is ignored"]
    );
}

const POLYLINE: &str = "<polyline><point>0 0</point><point>2 0</point><point>2 1</point><point>1 1</point>
    <point>1 3</point><point>0 3</point><height>0.5</height></polyline>";

#[test]
fn a_polyline_is_a_mesh_on_scenery_and_a_box_on_objects() {
    let visual = format!("<visual name='v'><geometry>{POLYLINE}</geometry></visual>");
    let world = load_without_warnings(&model("l", &(collision(POLYLINE) + &visual)));
    let Shape::Mesh(mesh) = &world.scenery[0].shape else { panic!("{:?}", world.scenery) };
    assert_eq!(mesh.triangles.len(), 20);
    assert!(matches!(world.scene.instances[0].look, Look::Mesh(0)));
    assert_eq!(world.scene.meshes[0].positions.len(), 60);

    let world = load(&model("object", &(collision(POLYLINE) + &visual)), &[]).expect("loads");
    assert_eq!(warnings(&world), ["worlds/t.world: the collision of a polyline is replaced by a box"]);
    let object = &world.objects[0];
    assert_eq!((object.size.to_array(), object.centre.to_array()), ([2.0, 3.0, 0.5], [1.0, 1.5, 0.25]));
    // An object without a collision shape has the size of the bounding box of its visual.
    let size = load(&model("object", &visual), &[]).expect("loads").objects[0].size;
    assert_eq!(size.to_array(), [2.0, 3.0, 0.5]);
}

#[test]
fn a_polyline_that_intersects_itself_is_a_box() {
    let crossed =
        "<polyline><point>0 0</point><point>1 1</point><point>1 0</point><point>0 1</point></polyline>";
    let visual = format!("<visual name='v'><geometry>{crossed}</geometry></visual>");
    let world = load(&model("l", &(collision(crossed) + &visual)), &[]).expect("loads");
    assert_eq!(
        warnings(&world),
        [
            "worlds/t.world: the collision of a polyline is replaced by a box",
            "worlds/t.world: a polyline that cannot be triangulated is drawn as a box",
        ]
    );
    assert_eq!(world.scenery[0].shape, Shape::Box(DVec3::splat(0.5)));
    assert_eq!(world.scene.instances[0].look, Look::Box([1.0; 3]));
}

#[test]
fn an_ellipsoid_is_a_sphere_a_box_or_a_mesh() {
    let of = |radii: &str| collision(&format!("<ellipsoid><radii>{radii}</radii></ellipsoid>"));
    let ball = &load_without_warnings(&model("object", &of("0.2 0.2 0.2"))).objects[0];
    assert_eq!((ball.kind, ball.size.to_array()), (ObjectKind::Sphere, [0.4; 3]));
    assert!(matches!(ball.solids[0].shape, Shape::Sphere { .. }));
    let world = load(&model("object", &of("0.1 0.2 0.3")), &[]).expect("loads");
    assert_eq!(warnings(&world), ["worlds/t.world: the collision of an ellipsoid is replaced by a box"]);
    assert_eq!(world.objects[0].size.to_array(), [0.2, 0.4, 0.6]);
    let Shape::Mesh(mesh) = &load_without_warnings(&model("l", &of("0.1 0.2 0.3"))).scenery[0].shape else {
        panic!("a mesh")
    };
    assert!(mesh.vertices.iter().all(|v| v.abs().cmple(DVec3::new(0.1, 0.2, 0.3) + 1e-12).all()));
}

#[test]
fn the_kind_follows_the_first_non_empty_shape() {
    let ball = collision("<sphere><radius>0.1</radius></sphere>");
    let empty = collision("<empty/>").replace("'c'", "'e'");
    assert_eq!(load_without_warnings(&model("object", &(empty + &ball))).objects[0].kind, ObjectKind::Sphere);
}

#[test]
fn a_flat_collision_box_gets_a_minimum_thickness() {
    let visual = "<visual name='v'><geometry><box><size>1 1 0</size></box></geometry></visual>";
    let world =
        load_without_warnings(&model("object", &(collision("<box><size>1 1 0</size></box>") + visual)));
    let size = world.objects[0].size;
    assert!(size.z > 0.0 && size.z < 0.001, "{size}");
    assert_eq!(world.scene.instances[0].look, Look::Box([1.0, 1.0, 0.0]));
}

#[test]
fn a_built_in_cone_on_the_track_has_its_default_size() {
    let cone = "<visual name='v'><geometry><mesh><uri>model://meshes/acme_cone/acme_cone.dae</uri></mesh></geometry></visual>";
    let kerb = collision("<box><size>9 9 1</size></box>");
    let world = load_without_warnings(&model("l", &(kerb + cone)).replace("'m'", "'racetrack'"));
    assert!(matches!(world.scene.instances[0].look, Look::BuiltIn(_, [0.135, 0.135, 0.23])));
}

#[test]
fn an_included_light_is_ignored() {
    let sun: &[u8] = b"<sdf version='1.6'><light name='s' type='directional'/></sdf>";
    let world = load("<include><uri>model://my_sun</uri></include>", &[("models/my_sun/model.sdf", sun)]);
    assert_eq!(
        warnings(&world.expect("loads")),
        [
            "models/my_sun/model.sdf:1:20: <light> in <sdf> is ignored",
            "worlds/t.world: include \"model://my_sun\" has no model and is ignored",
        ]
    );
}

#[test]
fn a_visual_mesh_that_is_too_large_is_refused() {
    let dae = sdf_support::box_mesh([100.0; 3], None);
    let visual = "<visual name='v'><geometry><mesh><uri>model://meshes/a.dae</uri><scale>1e5 1 1</scale></mesh></geometry></visual>";
    let error = load(&model("l", visual), &[("meshes/a.dae", &dae)]).expect_err("ten million metres");
    assert_eq!(error.to_string(), "meshes/a.dae: the mesh is larger than 1000000 m");
}

#[test]
fn the_length_of_uris_is_limited() {
    let long = "a".repeat(5_000);
    let mesh = format!("<visual name='v'><geometry><mesh><uri>{long}</uri></mesh></geometry></visual>");
    assert!(load(&model("l", &mesh), &[]).expect_err("long").message.ends_with("is longer than 4096 bytes"));
}
