//! Tests worlds that were not written for Chicane: meshes with y up, missing values and meshes,
//! models without markers, worlds without a route, landscapes around a track, and routes with
//! repeated rows.

mod sdf_support;

use chicane_world::scene::{Look, Owner};
use chicane_world::world::{ObjectKind, ObjectType, Shape};
use chicane_world::{Pose, RouteFile, World, npy};
use glam::{DVec2, DVec3};
use sdf_support::{all_warnings, box_mesh, load, warnings};

const GROUND: &str = "<include><uri>model://ground_plane</uri></include>";

/// A collision and a visual of the same shape.
fn part(shape: &str) -> String {
    format!(
        "<collision name='c'><geometry>{shape}</geometry></collision>
         <visual name='v'><geometry>{shape}</geometry></visual>"
    )
}

fn cuboid(size: &str) -> String {
    part(&format!("<box><size>{size}</size></box>"))
}

fn mesh(uri: &str) -> String {
    part(&format!("<mesh><uri>{uri}</uri></mesh>"))
}

fn fixed(name: &str, pose: &str, link: &str) -> String {
    format!(
        "<model name='{name}'><static>true</static><pose>{pose}</pose><link name='l'>{link}</link></model>"
    )
}

fn loose(name: &str, pose: &str, link: &str) -> String {
    format!("<model name='{name}'><pose>{pose}</pose><link name='l'>{link}</link></model>")
}

/// A route of 2 columns.
fn route(points: &[[f64; 2]]) -> Vec<u8> {
    let values = points.iter().flatten().copied().collect();
    npy::write(&npy::Array { rows: points.len(), columns: 2, values })
}

fn start(world: &World) -> [f64; 3] {
    world.spawn.position.to_array()
}

#[test]
fn a_mesh_with_y_up_is_turned_by_its_pose_only() {
    // The mesh is 6 m along x, 0.02 m along y, and 4 m along z. The pose rotates the y axis of the
    // mesh to point upwards.
    let dae = String::from_utf8(box_mesh([6.0, 0.02, 4.0], None)).expect("text");
    for axis in ["Y_UP", "Z_UP", "X_UP"] {
        let dae = dae.replace("Z_UP", axis);
        let inside = fixed("racetrack", "0 0 0 1.5707963267948966 0 0", &mesh("model://meshes/a.dae"));
        let world = load(&inside, &[("meshes/a.dae", dae.as_bytes())]).expect("loads");
        let bounds = world.ground.bounds.expect("the track lies flat");
        assert!((bounds.max - DVec2::new(3.0, 2.0)).length() < 1e-6, "{axis}: {bounds:?}");
        assert!((bounds.min - DVec2::new(-3.0, -2.0)).length() < 1e-6, "{axis}: {bounds:?}");
    }
}

#[test]
fn missing_values_do_not_refuse_a_world() {
    let inside = fixed("a", "5 0 0 0 0 0", &(part("<sphere/>") + "<visual name='w'/><collision name='d'/>"))
        + &fixed("b", "9 0 0 0 0 0", &part("<box/>"));
    let world = load(&(GROUND.to_owned() + &inside), &[]).expect("loads");
    let shapes: Vec<&Shape> = world.scenery.iter().map(|s| &s.shape).collect();
    assert_eq!(shapes, [&Shape::Sphere { radius: 1.0 }, &Shape::Box(DVec3::splat(0.5))]);
    let looks: Vec<&Look> = world.scene.instances[1..].iter().map(|i| &i.look).collect();
    assert_eq!(looks, [&Look::Sphere(1.0), &Look::Box([1.0; 3])]);
}

#[test]
fn a_free_origin_is_the_start_without_a_warning() {
    let far = fixed("house", "4 0 1 0 0 0", &cuboid("2 2 2"));
    let world = load(&(GROUND.to_owned() + &far), &[]).expect("loads");
    assert_eq!((world.spawn, all_warnings(&world)), (Pose::IDENTITY, Vec::new()));
}

#[test]
fn a_car_does_not_start_inside_of_something() {
    let block = box_mesh([2.0, 2.0, 2.0], None);
    let files: [(&str, &[u8]); 1] = [("meshes/b.dae", &block)];
    for inside in [
        fixed("house", "0 0 0.5 0 0 0.3", &cuboid("2 2 2")),
        fixed("block", "0 0 0.5 0 0 0", &mesh("model://meshes/b.dae")),
        loose("crate", "0 0 0.5 0 0 0", &cuboid("0.4 0.4 0.4")),
        fixed(
            "post",
            "0.1 0 0.5 0 0 0",
            &part("<cylinder><radius>0.1</radius><length>1</length></cylinder>"),
        ),
    ] {
        let world = load(&(GROUND.to_owned() + &inside), &files).expect("loads");
        let [x, y, z] = start(&world);
        assert!(z == 0.0 && DVec2::new(x, y).length() > 0.1, "{inside}: {:?}", world.spawn);
        let told = all_warnings(&world);
        assert!(
            told.iter().any(|w| w.contains(&format!("the car starts at ({x:.2}, {y:.2}, {z:.2})"))),
            "{told:?}"
        );
    }
}

#[test]
fn a_hollow_hall_is_a_place_to_start_but_the_inside_of_a_rock_is_not() {
    // Four walls and a ceiling of boxes around the origin.
    let hall = [("0 3 1", "6 0.1 2"), ("0 -3 1", "6 0.1 2"), ("3 0 1", "0.1 6 2"), ("-3 0 1", "0.1 6 2")];
    let mut inside = GROUND.to_owned() + &fixed("ceiling", "0 0 2.05 0 0 0", &cuboid("6 6 0.1"));
    for (i, (at, size)) in hall.iter().enumerate() {
        inside += &fixed(&format!("wall{i}"), &format!("{at} 0 0 0"), &cuboid(size));
    }
    assert_eq!(load(&inside, &[]).expect("loads").spawn, Pose::IDENTITY);
    // A closed mesh is hollow too, but it stands for a solid body, so the car must start outside.
    let rock = box_mesh([8.0, 8.0, 4.0], None);
    let inside = GROUND.to_owned() + &fixed("rock", "0 0 0 0 0 0", &mesh("model://meshes/rock.dae"));
    let world = load(&inside, &[("meshes/rock.dae", &rock)]).expect("loads");
    let [x, y, _] = start(&world);
    assert!(x.abs().max(y.abs()) > 4.0, "{:?}", world.spawn);
}

#[test]
fn a_car_starts_on_the_floor_of_a_world_without_a_ground_plane() {
    for (z, top) in [(0.2, 0.3), (-1.5, -1.4)] {
        let inside = fixed("floor", &format!("0 0 {z} 0 0 0"), &cuboid("12 12 0.2"));
        let world = load(&inside, &[]).expect("loads");
        let [x, y, height] = start(&world);
        assert!(x == 0.0 && y == 0.0 && (height - top).abs() < 1e-9, "{:?}", world.spawn);
        assert!(world.ground.z <= z - 0.1 + 1e-9, "the floor is not below the ground: {}", world.ground.z);
    }
    // A small table does not count as a floor, because the car would fall off.
    let world = load(&fixed("table", "0 0 0.5 0 0 0", &cuboid("0.8 0.8 1")), &[]).expect("loads");
    assert_eq!(start(&world)[2], 0.0);
}

#[test]
fn a_start_that_cannot_be_found_is_reported() {
    let inside = GROUND.to_owned() + &fixed("all", "0 0 0 0 0 0", &cuboid("900 900 100"));
    let world = load(&inside, &[]).expect("loads");
    // A box of 900 m around the origin still has a start: the top of the box is level and free. The
    // ball below has no level surface, so no start is found there.
    assert_eq!(start(&world), [0.0, 0.0, 50.0]);
    let ball = "<sphere><radius>500</radius></sphere>";
    let world = load(&(GROUND.to_owned() + &fixed("all", "0 0 0 0 0 0", &part(ball))), &[]).expect("loads");
    assert_eq!(world.spawn, Pose::IDENTITY);
    assert!(all_warnings(&world)[0].contains("no free, level place was found"), "{:?}", world.warnings);
}

#[test]
fn models_without_markers_become_objects_in_worlds_of_others() {
    let inside = loose("crate", "4 0 0.5 0 0 0", &cuboid("0.5 0.5 1"))
        + &loose("crate", "6 0 0.5 0 0 0", &cuboid("0.5 0.5 1"))
        + &loose("ball", "4 2 0.1 0 0 0", &part("<sphere><radius>0.1</radius></sphere>"))
        + &fixed("house", "9 0 1 0 0 0", &cuboid("2 2 2"))
        + &loose("hall", "20 0 1 0 0 0", &cuboid("9 9 2"))
        + &loose("statue", "4 4 0 0 0 0", &mesh("model://meshes/a.dae"));
    let dae = box_mesh([1.0; 3], None);
    let files: [(&str, &[u8]); 1] = [("meshes/a.dae", &dae)];
    let world = load(&inside, &files).expect("loads");
    let table: Vec<_> = world
        .objects
        .iter()
        .map(|o| (o.name.as_str(), o.object_type, o.kind, o.is_static, o.movable))
        .collect();
    assert_eq!(
        table,
        [
            ("crate", ObjectType::Object, ObjectKind::Box, false, true),
            ("crate_2", ObjectType::Object, ObjectKind::Box, false, true),
            ("ball", ObjectType::Object, ObjectKind::Sphere, false, true),
        ]
    );
    let fixed_names: Vec<_> = world.fixed_names.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(fixed_names, ["house", "hall", "statue"]);
    assert_eq!(
        warnings(&world),
        [
            "worlds/t.world: 2 models without <static> cannot move here, because only simple shapes of up to 5 m become objects",
            "worlds/t.world: a second model named \"crate\" gets a number as suffix",
        ]
    );
    // In a world with a marker or a track, models without a marker stay scenery, because the world
    // was written for this simulator.
    let marked = "<model name='o'><link name='object'/></model>";
    let track = fixed("racetrack", "0 0 0 0 0 0", &cuboid("1 1 0.01"));
    for ours in [marked, &track] {
        let world = load(&(inside.clone() + ours), &files).expect("loads");
        assert!(world.object("crate").is_none() && world.objects.len() <= 1);
    }
}

#[test]
fn stl_and_obj_meshes_are_drawn_and_solid() {
    let stl = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 2 0 0\nvertex 0 2 1\nendloop\nendfacet\nendsolid\n";
    let obj = "mtllib a.mtl\nv 0 0 0\nv 2 0 0\nv 0 2 1\nusemtl paint\nf 1 2 3\n";
    let files: [(&str, &[u8]); 3] = [
        ("meshes/x/a.STL", stl.as_bytes()),
        ("meshes/x/a.obj", obj.as_bytes()),
        ("meshes/x/a.mtl", b"newmtl paint\nKd 1 0.5 0\n"),
    ];
    for (uri, colour) in
        [("model://meshes/x/a.STL", [0.7, 0.7, 0.7, 1.0]), ("model://x/a.obj", [1.0, 0.5, 0.0, 1.0])]
    {
        let world = load(&fixed("a", "3 0 0 0 0 0", &mesh(uri)), &files).expect("loads");
        assert_eq!(warnings(&world), Vec::<String>::new());
        let Shape::Mesh(solid) = &world.scenery[0].shape else { panic!("{:?}", world.scenery) };
        assert_eq!((solid.triangles.len(), solid.vertices[2]), (1, DVec3::new(0.0, 2.0, 1.0)));
        let drawn = &world.scene.meshes[0];
        assert_eq!(world.scene.materials[drawn.groups[0].material].colour, colour);
    }
    let error = load(&fixed("a", "0 0 0 0 0 0", &mesh("model://x/a.obj")), &[("meshes/x/a.obj", b"v 1\n")]);
    assert_eq!(error.expect_err("broken").location.line, 1);
}

#[test]
fn a_missing_mesh_has_a_stand_in_that_is_drawn_and_solid() {
    let missing = mesh("model://meshes/nobody.dae");
    let world = load(&fixed("statue", "5 1 0 0 0 0", &missing), &[]).expect("loads");
    assert_eq!(world.scenery.len(), 1);
    assert_eq!(world.scenery[0].pose.position.to_array(), [5.0, 1.0, 0.5]);
    assert_eq!(world.scenery[0].shape, Shape::Box(DVec3::splat(0.5)));
    assert_eq!(world.scene.instances[0].look, Look::Box([1.0; 3]));
    assert_eq!(warnings(&world).len(), 1);
    // The size of the visual replaces the size of a missing collision mesh. Below, the size of the
    // collision shape replaces the size of a missing visual mesh.
    let size = "<geometry><box><size>1 2 3</size></box></geometry>";
    let absent = "<geometry><mesh><uri>model://no.dae</uri></mesh></geometry>";
    let seen = format!("<collision name='c'>{absent}</collision><visual name='v'>{size}</visual>");
    let world = load(&fixed("a", "5 0 0 0 0 0", &seen), &[]).expect("loads");
    assert_eq!(world.scenery[0].shape, Shape::Box(DVec3::new(0.5, 1.0, 1.5)));
    let solid = format!("<collision name='c'>{size}</collision><visual name='v'>{absent}</visual>");
    let world = load(&fixed("a", "5 0 0 0 0 0", &solid), &[]).expect("loads");
    assert_eq!(world.scene.instances[0].look, Look::Box([1.0, 2.0, 3.0]));
    // This model has a box besides the missing mesh. The missing visual is drawn as the bounding
    // box of this collision shape, and no further collision shape is added.
    let both = cuboid("1 1 1") + &missing.replace("name='c'", "name='d'").replace("name='v'", "name='w'");
    let world = load(&fixed("a", "5 0 0 0 0 0", &both), &[]).expect("loads");
    assert_eq!((world.scenery.len(), world.scene.instances.len()), (1, 2));
}

#[test]
fn the_stand_in_of_a_track_is_seen_but_neither_solid_nor_part_of_the_bounds() {
    let world = load(&fixed("racetrack", "2 0 0 0 0 0", &mesh("model://meshes/no.dae")), &[]).expect("loads");
    assert!(world.scenery.is_empty());
    assert_eq!(world.ground.bounds, None);
    let stand_in = &world.scene.instances[0];
    assert!(stand_in.owner == Owner::Track && matches!(stand_in.look, Look::Box([_, _, z]) if z < 0.05));
}

/// A track of level plates. Each entry of `plates` has the centre and the size of one plate.
fn track(plates: &[(&str, &str)]) -> String {
    let visual = |(i, (at, size)): (usize, &(&str, &str))| {
        format!(
            "<visual name='v{i}'><pose>{at} 0 0 0</pose><geometry><box><size>{size}</size></box></geometry></visual>"
        )
    };
    fixed("racetrack", "0 0 0 0 0 0", &plates.iter().enumerate().map(visual).collect::<String>())
}

fn bounds(inside: &str, files: &[(&str, &[u8])]) -> [[f64; 2]; 2] {
    let found = load(inside, files).expect("loads").ground.bounds.expect("bounds");
    [found.min.to_array(), found.max.to_array()]
}

#[test]
fn the_foot_of_a_fence_is_not_part_of_the_bounds() {
    let field = ("2.5 2.5 0", "5 5 0.01");
    let feet =
        [("2.5 -0.02 0", "5.08 0.04 0.02"), ("2.5 5.02 0", "5.08 0.04 0.02"), ("-0.02 2.5 0", "0.04 5 0.02")];
    let mut plates = vec![field];
    plates.extend(feet);
    assert_eq!(bounds(&track(&plates), &[]), [[0.0, 0.0], [5.0, 5.0]]);
    // Tiles of similar size are all part of the field.
    let tiles =
        [("1 1 0", "2 2 0.01"), ("3.5 1 0", "3 2 0.01"), ("1 3 0", "2 2 0.01"), ("3.5 3 0", "3 2 0.01")];
    assert_eq!(bounds(&track(&tiles), &[]), [[0.0, 0.0], [5.0, 4.0]]);
}

#[test]
fn the_plane_of_a_track_limits_its_bounds() {
    // The visual is 4 cm larger than the field on each side. The plane declares the field.
    let skirt = track(&[("2.5 2.5 0", "5.08 5.08 0.01")]);
    let plane = |size: &str| {
        let plane = format!("<plane><normal>0 0 1</normal><size>{size}</size></plane>");
        let collision = format!(
            "<collision name='c'><pose>2.5 2.5 0 0 0 0</pose><geometry>{plane}</geometry></collision></link>"
        );
        skirt.replace("</link>", &collision)
    };
    assert_eq!(bounds(&plane("5 5"), &[]), [[0.0, 0.0], [5.0, 5.0]]);
    let whole = bounds(&skirt, &[]);
    assert!((whole[0][0] + 0.04).abs() < 1e-9 && (whole[1][1] - 5.04).abs() < 1e-9, "{whole:?}");
    // A plane of the default size, 1 × 1 m, says nothing about the field.
    assert_eq!(bounds(&plane("1 1"), &[]), whole);
}

#[test]
fn a_landscape_around_a_track_is_not_part_of_the_bounds() {
    let ring = route(&[[1.0, 1.0], [7.0, 1.0], [7.0, 5.0], [1.0, 5.0]]);
    let files: [(&str, &[u8]); 1] = [("routes/t.npy", &ring)];
    let landscape = ("0 0 -0.01", "598 589 0.01");
    let with_field = track(&[landscape, ("4 3 0", "8 6 0.01")]);
    assert_eq!(bounds(&with_field, &files), [[0.0, 0.0], [8.0, 6.0]]);
    // If the track has no field, the bounds are the bounds of the road plus a margin.
    assert_eq!(bounds(&track(&[landscape]), &files), [[0.5, 0.5], [7.5, 5.5]]);
    // Without a route, the compiler cannot tell the landscape from the field.
    assert_eq!(bounds(&with_field, &[]), [[-299.0, -294.5], [299.0, 294.5]]);
}

#[test]
fn clients_get_every_row_of_a_route_and_the_simulator_none_twice() {
    let points = [[0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [2.0, 2.0], [2.0, 2.0], [0.0, 2.0]];
    let bytes = route(&points);
    let world = load("", &[("routes/t.npy", &bytes)]).expect("loads");
    let line = world.route.as_ref().expect("a route");
    assert_eq!((line.centre.len(), line.is_closed()), (5, true));
    let rows = world.published_route().expect("rows");
    let mut expected: Vec<DVec2> = points.iter().map(|p| DVec2::from_array(*p)).collect();
    expected.push(expected[0]);
    assert_eq!(rows.centre, expected, "every row, and the first one again");
    // Writing the rows to a file and reading the file again gives the same rows.
    let again = RouteFile::read("r", &rows.to_npy()).expect("again");
    assert_eq!((&again.rows, &again.route), (rows, line));
    assert!((world.spawn.yaw()).abs() < 1e-12, "the car faces the next different waypoint");
}

#[test]
fn the_rows_of_a_route_with_borders_keep_their_pairs() {
    let row = |x: f64, y: f64| [x, y, 0.8 * x, 0.8 * y, 1.2 * x, 1.2 * y];
    let mut rows: Vec<[f64; 6]> =
        [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]].map(|[x, y]| row(x, y)).into();
    rows.insert(2, rows[1]);
    for swapped in [false, true] {
        let order = |r: &[f64; 6]| if swapped { [r[0], r[1], r[4], r[5], r[2], r[3]] } else { *r };
        let values: Vec<f64> = rows.iter().flat_map(order).collect();
        let bytes = npy::write(&npy::Array { rows: rows.len(), columns: 6, values });
        let file = RouteFile::read("r", &bytes).expect("readable");
        let borders = file.rows.borders.as_ref().expect("borders");
        assert_eq!((file.rows.centre.len(), file.route.centre.len()), (6, 5));
        for (i, centre) in file.rows.centre.iter().enumerate() {
            assert!((borders.inner[i] - 0.8 * *centre).length() < 1e-12, "{swapped} {i}");
            assert!((borders.outer[i] - 1.2 * *centre).length() < 1e-12, "{swapped} {i}");
        }
    }
}

#[test]
fn background_and_intensity_of_lights_are_used() {
    let scene = "<scene><ambient>0.2 0.3 0.4 1</ambient><background>0.7 0.6 2 1</background></scene>";
    let light = |intensity: &str| {
        format!(
            "<light name='s' type='directional'><diffuse>0.8 0.6 0.4 1</diffuse><intensity>{intensity}</intensity></light>"
        )
    };
    let world = load(&(scene.to_owned() + &light("0.5")), &[]).expect("loads");
    assert_eq!(world.scene.background, Some([0.7, 0.6, 1.0]));
    assert_eq!((world.scene.ambient, world.scene.sun.colour), ([0.2, 0.3, 0.4], [0.4, 0.3, 0.2]));
    assert_eq!(load(&light("2"), &[]).expect("loads").scene.sun.colour, [1.0, 1.0, 0.8]);
    assert!(load("", &[]).expect("loads").scene.background.is_none());
    let two = light("0.5") + &light("1").replace("'s'", "'moon'") + "<light name='l' type='spot'/>";
    assert_eq!(
        warnings(&load(&two, &[]).expect("loads")),
        [
            "worlds/t.world: light \"moon\" is ignored: there is one sun already",
            "worlds/t.world: light \"l\" is not directional and is ignored",
        ]
    );
    let error = load(&light("-1"), &[]).expect_err("negative");
    assert!(error.message.contains("<intensity> needs a number of at least 0"), "{error}");
}
