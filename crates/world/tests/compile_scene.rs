//! Tests the scene of a world, and the collision shapes of its track, scenery and ground.

mod sdf_support;

use chicane_world::scene::{BuiltInMesh, BuiltInTexture, Instance, Look, Owner, Role, TextureSource};
use chicane_world::world::Shape;
use chicane_world::{Assets, World};
use glam::DVec2;
use sdf_support::{PNG, box_mesh, bundle, load, objects_bundle, warnings};

fn objects() -> World {
    World::load(&Assets::of(&objects_bundle())).expect("loads")
}

fn instance<'a>(world: &'a World, owner: Owner, name: &str) -> &'a Instance {
    world.scene.instances.iter().find(|i| i.owner == owner && i.name == name).expect("drawn")
}

/// A scenery model with one visual. `inside` is the content of the visual.
fn visual(inside: &str) -> String {
    format!(
        "<model name='m'><static>1</static><link name='l'><visual name='v'>{inside}</visual></link></model>"
    )
}

fn mesh(uri: &str, more: &str) -> String {
    visual(&format!("<geometry><mesh><uri>{uri}</uri>{more}</mesh></geometry>"))
}

#[test]
fn built_in_meshes_fill_the_bounding_box_of_an_object() {
    let world = objects();
    let look = |i: usize| instance(&world, Owner::Object(i), "visual");
    assert_eq!(look(0).look, Look::BuiltIn(BuiltInMesh::BoxObstacle, [0.3, 0.2, 0.2]));
    assert_eq!(look(0).pose.position.to_array(), [0.0, 0.0, 0.1]);
    assert_eq!(look(2).look, Look::BuiltIn(BuiltInMesh::Ball, [0.22; 3]), "by the folder of another brand");
    assert_eq!(look(3).look, Look::BuiltIn(BuiltInMesh::Cone, [0.135, 0.135, 0.23]));
    assert_eq!(look(3).material, None);
}

#[test]
fn a_mesh_of_the_bundle_takes_precedence_over_a_built_in_mesh() {
    let own = box_mesh([0.1, 0.1, 0.2], None);
    let world = load(
        &mesh("model://meshes/vehicle_cone/vehicle_cone.dae", ""),
        &[("meshes/vehicle_cone/vehicle_cone.dae", &own)],
    );
    assert!(matches!(world.expect("loads").scene.instances[0].look, Look::Mesh(0)));
}

#[test]
fn visuals_of_a_light_have_roles() {
    let world = objects();
    let role = |name| instance(&world, Owner::Object(4), name).role;
    assert_eq!(role("lamp_red"), Role::LampRed);
    assert_eq!(role("lamp_green"), Role::LampGreen);
    assert_eq!(role("screen"), Role::Screen);
    assert_eq!(role("stand"), Role::Plain);
    let red = instance(&world, Owner::Object(4), "lamp_red").material.expect("painted");
    assert_eq!(world.scene.materials[red].colour, [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(world.scene.materials[red].emissive, [1.0, 0.0, 0.0]);
}

#[test]
fn instance_poses_are_in_the_world_or_in_the_object() {
    let world = objects();
    let table = instance(&world, Owner::Scenery, "v");
    assert_eq!(table.pose.position.to_array(), [-3.0, 0.0, 0.7]);
    assert_eq!((table.opacity, table.look.clone()), (0.75, Look::Box([1.0, 1.0, 0.05])));
    assert_eq!(instance(&world, Owner::Object(1), "visual").pose.position.to_array(), [0.0; 3]);
    let orange = instance(&world, Owner::Object(1), "visual").material.expect("painted");
    assert_eq!(world.scene.materials[orange].colour, [1.0, 0.508, 0.0, 1.0]);
}

#[test]
fn the_track_gives_the_bounds_of_the_ground() {
    let world = objects();
    assert_eq!(world.ground.z, 0.0);
    let bounds = world.ground.bounds.expect("a road");
    // The fence is longer than the road, but it is not part of the ground.
    assert_eq!((bounds.min, bounds.max), (DVec2::new(-3.0, -2.0), DVec2::new(3.0, 2.0)));
    // The collision shape of the road is removed, because the road coincides with the ground. The
    // collision shapes of the kerb and the table top remain.
    let solid: Vec<_> = world.scenery.iter().map(|s| (s.shape.clone(), s.pose.position.to_array())).collect();
    assert_eq!(solid.len(), 2);
    assert_eq!(solid[0], (Shape::Box(glam::DVec3::new(0.5, 0.05, 0.1)), [0.0, 1.0, 0.0]));
    assert_eq!(solid[1].1, [-3.0, 0.0, 0.7]);
    assert_eq!(world.scenery[0].friction, 0.4);
    let ground = instance(&world, Owner::Scenery, "ground_plane");
    assert!(matches!(ground.look, Look::Plane(_)) && ground.pose.position.z < 0.0);
}

#[test]
fn a_plane_collision_is_the_ground() {
    let plane = |pose: &str, more: &str| {
        format!(
            "<model name='p'><pose>{pose}</pose><link name='l'><collision name='c'>
             <geometry><plane><normal>0 0 1</normal><size>9 9</size></plane></geometry>{more}</collision></link></model>"
        )
    };
    let mu = "<surface><friction><ode><mu>0.3</mu></ode></friction></surface>";
    let world = load(&(plane("0 0 0.5 0 0 1", mu) + &plane("0 0 2 0 0 0", "")), &[]).expect("loads");
    assert_eq!((world.ground.z, world.ground.friction, world.spawn.position.z), (0.5, 0.3, 0.5));
    assert!(world.scenery.is_empty() && world.ground.bounds.is_none());
    let world = load(&plane("0 0 0.5 0.3 0 0", ""), &[]).expect("loads");
    assert_eq!(world.ground.z, 0.0);
    assert_eq!(warnings(&world), ["worlds/t.world: the plane of \"p\" is not level and is ignored"]);
    let world = load("<include><uri>model://ground_plane</uri><pose>0 0 -1 0 0 0</pose></include>", &[]);
    assert_eq!(world.expect("loads").ground.z, -1.0);
}

#[test]
fn lights_and_colours_of_an_old_world_file_are_read() {
    let mut bundle = bundle("", &[]);
    bundle.files.clear();
    bundle.insert("worlds/legacy.world", include_str!("fixtures/sdf/legacy.world"));
    let world = World::load(&Assets::of(&bundle)).expect("loads");
    assert_eq!(world.gravity.to_array(), [0.0, 0.0, -9.81]);
    assert_eq!(world.scene.ambient, [0.5; 3]);
    assert_eq!(world.scene.sun.colour, [0.9, 0.8, 0.7]);
    let along = world.scene.sun.direction;
    assert!(along.iter().zip([0.0, 0.6, -0.8]).all(|(a, b)| (a - b).abs() < 1e-12), "{along:?}");
    assert_eq!(world.ground.friction, 2.0, "a friction of 100 is clamped");
    let messages = warnings(&world);
    assert!(messages.iter().any(|w| w.contains("light \"lamp\" is not directional")), "{messages:?}");
    let objects = objects();
    assert_eq!(objects.scene.sun, chicane_world::scene::Sun::default());
    assert_eq!(objects.scene.ambient, [0.4; 3]);
}

#[test]
fn equal_meshes_and_textures_are_stored_once() {
    let dae = box_mesh([1.0, 1.0, 0.002], Some("textures/skin.png"));
    let files: [(&str, &[u8]); 2] = [("meshes/a/x.dae", &dae), ("meshes/a/textures/skin.png", PNG)];
    let one = mesh("model://meshes/a/x.dae", "");
    let two = mesh("model://a/x.dae", "<scale>2 2 2</scale>").replace("name='m'", "name='n'");
    let world = load(&(one + &two), &files).expect("loads");
    assert_eq!(warnings(&world), Vec::<String>::new());
    let scene = &world.scene;
    assert_eq!((scene.meshes.len(), scene.textures.len(), scene.instances.len()), (1, 1, 2));
    assert_eq!(scene.textures[0].path, "meshes/a/textures/skin.png");
    assert!(matches!(scene.textures[0].source, TextureSource::File { width: 1, height: 1, .. }));
    assert_eq!(scene.instances[1].scale, [2.0; 3]);
    let material = &scene.materials[scene.meshes[0].groups[0].material];
    assert_eq!((material.colour, material.texture), ([1.0, 0.5, 0.25, 1.0], Some(0)));
}

#[test]
fn shared_assets_take_precedence_over_built_in_textures() {
    let dae = box_mesh([1.0; 3], Some("../world_builder/textures/road.png"));
    let own = bundle(&mesh("model://meshes/a/x.dae", ""), &[("meshes/a/x.dae", &dae)]);
    // The picture does not exist, so the built-in texture with this name is used.
    let world = World::load(&Assets::of(&own)).expect("loads");
    assert_eq!(world.scene.textures[0].source, TextureSource::BuiltIn(BuiltInTexture::Road));
    assert!(world.warnings.is_empty());
    let shared = bundle("", &[("meshes/world_builder/textures/road.png", PNG)]);
    let world =
        World::load(&Assets::with_shared(&own, &shared)).expect("the world of the shared assets is ignored");
    assert!(matches!(world.scene.textures[0].source, TextureSource::File { .. }));
}

#[test]
fn missing_files_are_replaced_with_a_warning() {
    let dae = box_mesh([1.0; 3], Some("../../../../etc/x.png"));
    let world = load(&mesh("model://meshes/a/x.dae", ""), &[("meshes/a/x.dae", &dae)]).expect("loads");
    assert!(world.scene.textures.is_empty());
    assert_eq!(
        warnings(&world),
        ["meshes/a/x.dae: picture \"../../../../etc/x.png\" was not found: a plain colour is used"]
    );

    // A missing mesh is replaced by the bounding box of the collision shapes.
    let solid = "<collision name='c'><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry></collision>";
    let inside = mesh("model://meshes/nobody.dae", "").replace("</link>", &format!("{solid}</link>"));
    let world = load(&inside, &[]).expect("loads");
    assert_eq!(
        warnings(&world),
        ["worlds/t.world: mesh \"model://meshes/nobody.dae\" was not found and is replaced by a plain shape"]
    );
    assert_eq!(world.scene.instances[0].look, Look::Box([1.0, 2.0, 3.0]));
    assert_eq!(world.scene.instances[0].pose.position.z, 1.0);

    let world = load(&mesh("model://a.glb", ""), &[("meshes/a.glb", b"glTF")]).expect("loads");
    assert_eq!(
        warnings(&world),
        [
            "worlds/t.world: mesh \"model://a.glb\" is replaced by a plain shape: use COLLADA (.dae), STL or OBJ"
        ]
    );
    let script = "<geometry><sphere><radius>1</radius></sphere></geometry><material><script><name>My/Own</name></script></material>";
    let world = load(&visual(script), &[]).expect("loads");
    assert_eq!(
        warnings(&world),
        ["worlds/t.world: unknown script material \"My/Own\": a plain colour is used"]
    );
    let includes =
        "<include><uri>model://nobody</uri></include><include><uri>https://example.org/Cart</uri></include>";
    assert_eq!(
        warnings(&load(includes, &[]).expect("loads")),
        [
            "worlds/t.world: include \"model://nobody\" was not found and is ignored",
            "worlds/t.world: include \"https://example.org/Cart\" is ignored: the simulator does not download files",
        ]
    );
}

#[test]
fn a_picture_that_is_too_large_is_refused() {
    let map = "<geometry><sphere><radius>1</radius></sphere></geometry>
               <material><pbr><metal><albedo_map>model://meshes/a.png</albedo_map></metal></pbr></material>";
    let mut huge = PNG.to_vec();
    huge[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let error = load(&visual(map), &[("meshes/a.png", &huge)]).expect_err("65536² pixels");
    assert_eq!(error.location.file, "meshes/a.png");
    let world = load(&visual(map), &[("meshes/a.png", PNG)]).expect("loads");
    let material = world.scene.instances[0].material.expect("painted");
    assert_eq!(
        (world.scene.materials[material].texture, world.scene.materials[material].colour),
        (Some(0), [1.0; 4])
    );
}

#[test]
fn an_error_in_a_mesh_file_has_its_file_and_line() {
    let error = load(&mesh("model://meshes/a.dae", ""), &[("meshes/a.dae", b"<COLLADA>\n<library")])
        .expect_err("broken");
    assert_eq!(error.location.file, "meshes/a.dae");
    assert!(error.location.line > 0);
}

#[test]
fn a_mirrored_mesh_keeps_the_front_of_its_triangles() {
    let dae = box_mesh([1.0, 2.0, 3.0], None);
    let world = load(&mesh("model://meshes/a.dae", "<scale>-2 1 1</scale>"), &[("meshes/a.dae", &dae)])
        .expect("loads");
    assert_eq!(world.scene.instances[0].scale, [2.0, 1.0, 1.0]);
    let mesh = &world.scene.meshes[0];
    for t in mesh.groups[0].indices.chunks_exact(3) {
        let [a, b, c] = [t[0], t[1], t[2]].map(|i| glam::Vec3::from_array(mesh.positions[i as usize]));
        let normal = glam::Vec3::from_array(mesh.normals[t[0] as usize]);
        assert!((b - a).cross(c - a).dot(normal) > 0.0, "{t:?} shows its back");
    }
}

/// A track model with a collision mesh at height `z`.
fn track(z: f64) -> String {
    format!(
        "<model name='racetrack'><static>1</static><link name='l'><collision name='c'><pose>0 0 {z} 0 0 0</pose><geometry>
         <mesh><uri>model://meshes/a.dae</uri></mesh></geometry></collision></link></model>"
    )
}

#[test]
fn collision_meshes_of_the_track_lose_their_ground_triangles() {
    let block = box_mesh([1.0, 1.0, 1.0], None);
    let world = load(&track(0.5), &[("meshes/a.dae", &block)]).expect("loads");
    let [solid] = world.scenery.as_slice() else { panic!("{:?}", world.scenery) };
    let Shape::Mesh(mesh) = &solid.shape else { panic!("{solid:?}") };
    assert_eq!(mesh.triangles.len(), 10, "all triangles but the two on the ground");
    assert!(mesh.triangles.iter().flatten().all(|i| (*i as usize) < mesh.vertices.len()));
    // A flat road coincides with the ground and is removed completely.
    let road = box_mesh([9.0, 9.0, 0.01], None);
    let world = load(&track(0.0), &[("meshes/a.dae", &road)]).expect("loads");
    assert!(world.scenery.is_empty() && world.fixed_names[0].is_track);
    // Scenery keeps all triangles, and two models with the same mesh share it in memory.
    let scenery = |name| track(0.5).replace("racetrack", name);
    let world = load(&(scenery("a") + &scenery("b")), &[("meshes/a.dae", &block)]).expect("loads");
    let shapes: Vec<_> = world
        .scenery
        .iter()
        .map(|s| match &s.shape {
            Shape::Mesh(m) => m,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(std::sync::Arc::ptr_eq(shapes[0], shapes[1]) && shapes[0].triangles.len() == 12);
}

#[test]
fn an_empty_collision_mesh_was_said_to_have_too_many_triangles() {
    let world = load(&track(0.0), &[("meshes/a.dae", b"<COLLADA/>")]).expect("loads");
    assert!(world.scenery.is_empty(), "{:?}", world.scenery);
    assert_eq!(
        warnings(&world),
        [
            "meshes/a.dae:1:1: the mesh has no triangles",
            "worlds/t.world: collision mesh \"meshes/a.dae\" has no triangles and is ignored",
        ]
    );
}

#[test]
fn a_track_mesh_gives_the_bounds_of_the_ground() {
    let road = box_mesh([5.0, 3.0, 0.01], None);
    let inside = "<model name='racetrack'><pose>1 0 0 0 0 1.5707963267948966</pose><link name='l'><visual name='v'>
        <geometry><mesh><uri>model://meshes/a.dae</uri><scale>2 1 1</scale></mesh></geometry></visual></link></model>";
    let bounds = load(inside, &[("meshes/a.dae", &road)]).expect("loads").ground.bounds.expect("a road");
    assert!((bounds.min - DVec2::new(-0.5, -5.0)).length() < 1e-6, "{bounds:?}");
    assert!((bounds.max - DVec2::new(2.5, 5.0)).length() < 1e-6);
}
