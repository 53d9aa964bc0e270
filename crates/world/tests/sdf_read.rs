//! Tests which content of world and model files the SDF reader accepts, ignores and refuses.

mod sdf_support;

use chicane_world::spec::{Geometry, ModelSpec, SdfEntry, Submesh};
use chicane_world::{Spec, Warnings, sdf};
use sdf_support::{read, read_text, refusal, world_text};

fn model(spec: &Spec, i: usize) -> &ModelSpec {
    let SdfEntry::Model(model) = &spec.entries[i] else { unreachable!("not a model: {:?}", spec.entries[i]) };
    model
}

/// A model with one link. `inside` is the content of the link.
fn link(inside: &str) -> String {
    format!("<model name='m'><link name='l'>{inside}</link></model>")
}

fn shape(inside: &str) -> String {
    link(&format!("<collision name='c'><geometry>{inside}</geometry></collision>"))
}

#[test]
fn an_old_world_file_is_read_with_warnings() {
    let (spec, warnings) = read_text(include_str!("fixtures/sdf/legacy.world")).expect("readable");
    assert_eq!((spec.name.as_str(), spec.version.as_str()), ("legacy", "1.5"));
    assert_eq!(spec.gravity, Some([0.0, 0.0, -9.81]), "from <physics>");
    assert_eq!(spec.scene.ambient, Some([0.5, 0.5, 0.5, 1.0]));
    assert_eq!(spec.entries.len(), 4);
    assert_eq!(model(&spec, 3).links[1].pose.relative_to, "a");
    assert_eq!(
        warnings,
        [
            "worlds/t.world:4:5: `--` inside a comment is not valid XML; the comment is ignored",
            "worlds/t.world:36:5: unknown element <nonsense:thing> in <world> is ignored",
            "worlds/t.world:37:5: <state> in <world> is ignored",
            "worlds/t.world:34:7: plugin \"libshelf.so\" is ignored",
        ]
    );
}

#[test]
fn equal_warnings_are_merged() {
    let (_, warnings) = read(&link("<foo/><foo/><foo/><sensor name='s'/>")).expect("readable");
    assert_eq!(
        warnings,
        [
            "worlds/t.world:4:32: unknown element <foo> in <link> is ignored (3 times)",
            "worlds/t.world:4:50: <sensor> in <link> is ignored",
        ]
    );
}

#[test]
fn every_format_of_a_pose_is_read() {
    let pose = |attributes: &str, text: &str| {
        let (spec, _) =
            read(&format!("<frame name='f'><pose{attributes}>{text}</pose></frame>")).expect(text);
        (spec.frames[0].pose.xyz, spec.frames[0].pose.rpy, spec.frames[0].pose.relative_to.clone())
    };
    let half = std::f64::consts::FRAC_PI_2;
    assert_eq!(pose("", "1 2 3 0.1 0.2 0.3"), ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], String::new()));
    assert_eq!(pose("", "\n 1\t2 3\n0 -0 0 "), ([1.0, 2.0, 3.0], [0.0; 3], String::new()));
    assert_eq!(pose("", ""), ([0.0; 3], [0.0; 3], String::new()));
    assert_eq!(pose(" degrees='true'", "0 0 0 0 0 90").1[2], half);
    assert_eq!(pose(" rotation_format='euler_rpy' degrees='1'", "0 0 0 0 0 90").1[2], half);
    let (_, rpy, _) = pose(" rotation_format='quat_xyzw'", "0 0 0 0 0 2 2");
    assert!((rpy[2] - half).abs() < 1e-12, "normalised: {rpy:?}");
    assert_eq!(pose(" relative_to='a::b'", "").2, "a::b");
    assert_eq!(pose(" frame='a'", "").2, "a");
    assert_eq!(pose(" frame='world'", "").2, "");
}

#[test]
fn invalid_poses_are_refused() {
    let refused = |attributes: &str, text: &str| {
        refusal(&format!("<frame name='f'>\n  <pose{attributes}>{text}</pose></frame>"))
    };
    for (attributes, text, message) in [
        ("", "1 2 3 4", "<pose> needs 6 numbers, found 4"),
        ("", "1 2 3 4 5 6 7", "<pose> needs 6 numbers, found 7"),
        ("", "1 2 3 0 0 x", "<pose> needs numbers, found \"x\""),
        ("", "1 2 3 0 0 nan", "<pose> needs finite numbers, found \"nan\""),
        ("", "1 2 3 0 0 -inf", "<pose> needs finite numbers, found \"-inf\""),
        ("", "1e999 2 3 0 0 0", "<pose> needs finite numbers, found \"1e999\""),
        ("", "1e7 2 3 0 0 0", "<pose> is farther than 1000000 m from its reference"),
        (" rotation_format='quat_xyzw'", "0 0 0 0 0 0", "<pose> needs 7 numbers, found 6"),
        (" rotation_format='quat_xyzw'", "0 0 0 0 0 0 0", "<pose> needs a quaternion of length 1"),
        (
            " rotation_format='euler'",
            "0 0 0 0 0 0",
            "rotation_format must be euler_rpy or quat_xyzw, found \"euler\"",
        ),
    ] {
        assert_eq!(refused(attributes, text), format!("worlds/t.world:5:3: {message}"));
    }
}

#[test]
fn invalid_shapes_are_refused() {
    for (inside, message) in [
        ("<box><size>1 -2 1</size></box>", "4:67: <size> needs numbers of at least 0, found -2"),
        ("<box><size>1 1</size></box>", "4:67: <size> needs 3 numbers, found 2"),
        ("<box><size>1 1 2e6</size></box>", "4:67: <size> of 2000000 m is larger than 1000000 m"),
        ("<sphere><radius>-1</radius></sphere>", "4:70: <radius> needs numbers of at least 0, found -1"),
        (
            "<mesh><uri>a</uri><scale>1 0 1</scale></mesh>",
            "4:80: <scale> needs factors other than 0, at most 1000000",
        ),
        ("<plane><normal>0 0 0</normal></plane>", "4:69: <normal> needs a direction of length 1"),
    ] {
        assert_eq!(refusal(&shape(inside)), format!("worlds/t.world:{message}"));
    }
}

#[test]
fn missing_values_of_shapes_get_the_defaults_of_the_standard() {
    for (inside, expected, warning) in [
        ("<box/>", Geometry::Box { size: [1.0; 3] }, "<box> has no <size>: 1 1 1 is used"),
        ("<box><size/></box>", Geometry::Box { size: [1.0; 3] }, "<box> has no <size>: 1 1 1 is used"),
        (
            "<sphere><radius></radius></sphere>",
            Geometry::Sphere { radius: 1.0 },
            "<sphere> has no <radius>: 1 is used",
        ),
        (
            "<cylinder><radius>2</radius></cylinder>",
            Geometry::Cylinder { radius: 2.0, length: 1.0 },
            "<cylinder> has no <length>: 1 is used",
        ),
        (
            "<capsule><length>2</length></capsule>",
            Geometry::Capsule { radius: 0.5, length: 2.0 },
            "<capsule> has no <radius>: 0.5 is used",
        ),
        (
            "<cone><length>2</length></cone>",
            Geometry::Cone { radius: 0.5, length: 2.0 },
            "<cone> has no <radius>: 0.5 is used",
        ),
        (
            "<ellipsoid/>",
            Geometry::Ellipsoid { radii: [1.0; 3] },
            "<ellipsoid> has no <radii>: 1 1 1 is used",
        ),
        (
            "<mesh><uri/></mesh>",
            Geometry::Unsupported { element: "mesh".to_owned() },
            "a <mesh> without <uri> is ignored",
        ),
    ] {
        let (spec, warnings) = read(&shape(inside)).expect(inside);
        assert_eq!(model(&spec, 0).links[0].collisions[0].geometry, expected, "{inside}");
        assert_eq!(warnings, [format!("worlds/t.world:4:62: {warning}")], "{inside}");
        let (again, _) = read_text(&sdf::write(&spec)).expect("readable again");
        assert_eq!(again, spec, "{inside}");
    }
    let (spec, warnings) = read(&link("<visual name='v'/><collision name='c'/>")).expect("readable");
    let link = &model(&spec, 0).links[0];
    assert_eq!(
        (&link.visuals[0].geometry, &link.collisions[0].geometry),
        (&Geometry::Empty, &Geometry::Empty)
    );
    assert_eq!(
        warnings,
        [
            "worlds/t.world:4:32: a <visual> without <geometry> has no shape",
            "worlds/t.world:4:50: a <collision> without <geometry> has no shape",
        ]
    );
}

#[test]
fn every_shape_is_read() {
    let read_shape = |inside: &str| {
        let (spec, warnings) = read(&shape(inside)).expect(inside);
        (model(&spec, 0).links[0].collisions[0].geometry.clone(), warnings.len())
    };
    let lengths = "<radius>1</radius><length>2</length>";
    for (inside, expected) in [
        ("", Geometry::Empty),
        ("<empty/>", Geometry::Empty),
        ("<box><size>1 2 3</size></box>", Geometry::Box { size: [1.0, 2.0, 3.0] }),
        ("<sphere><radius>1</radius></sphere>", Geometry::Sphere { radius: 1.0 }),
        (&format!("<cylinder>{lengths}</cylinder>"), Geometry::Cylinder { radius: 1.0, length: 2.0 }),
        (&format!("<capsule>{lengths}</capsule>"), Geometry::Capsule { radius: 1.0, length: 2.0 }),
        (&format!("<cone>{lengths}</cone>"), Geometry::Cone { radius: 1.0, length: 2.0 }),
        ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", Geometry::Ellipsoid { radii: [1.0, 2.0, 3.0] }),
        ("<plane/>", Geometry::Plane { normal: [0.0, 0.0, 1.0], size: [1.0, 1.0] }),
        (
            "<mesh><uri>a.dae</uri><scale>1 -1 1</scale><submesh><name>s</name></submesh></mesh>",
            Geometry::Mesh {
                uri: "a.dae".into(),
                scale: [1.0, -1.0, 1.0],
                submesh: Some(Submesh { name: "s".into(), centred: false }),
            },
        ),
    ] {
        assert_eq!(read_shape(inside), (expected, 0), "{inside}");
    }
    let point = |x, y| format!("<point>{x} {y}</point>");
    let points = point(0, 0) + &point(1, 0) + &point(0, 2);
    let polygon = |height| Geometry::Polyline { points: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], height };
    assert_eq!(read_shape(&format!("<polyline>{points}<height>3</height></polyline>")), (polygon(3.0), 0));
    assert_eq!(read_shape(&format!("<polyline>{points}</polyline>")), (polygon(1.0), 0));
    let (geometry, warnings) = read_shape(&format!("<polyline>{}</polyline>", point(0, 0)));
    assert_eq!((geometry, warnings), (Geometry::Unsupported { element: "polyline".into() }, 1));
    // The reader skips unknown elements before a shape.
    let known = "<my:hint/><sphere><radius>1</radius></sphere><heightmap/>";
    assert_eq!(read_shape(known), (Geometry::Sphere { radius: 1.0 }, 2));
    let (geometry, warnings) = read_shape("<heightmap><uri>x</uri></heightmap>");
    assert_eq!((geometry, warnings), (Geometry::Unsupported { element: "heightmap".into() }, 1));
}

#[test]
fn names_are_required_and_limited_in_length() {
    assert_eq!(refusal("<model><link name='l'/></model>"), "worlds/t.world:4:1: <model> needs a name");
    assert_eq!(refusal("<model name=''/>"), "worlds/t.world:4:1: <model> needs a name");
    assert_eq!(refusal("<model name='m'><link/></model>"), "worlds/t.world:4:17: <link> needs a name");
    let long = "n".repeat(201);
    assert!(refusal(&format!("<model name='{long}'/>")).ends_with("is longer than 200 characters"));
    assert!(read(&format!("<model name='{}'/>", "é".repeat(200))).is_ok());
    assert!(refusal("<model name='a&#10;b'/>").ends_with("contains a control character"));
}

#[test]
fn other_invalid_values_are_refused() {
    for (inside, message) in [
        ("<gravity>0 0</gravity>", "4:1: <gravity> needs 3 numbers, found 2"),
        ("<gravity>0 0 -1e9</gravity>", "4:1: <gravity> is stronger than 1000 m/s²"),
        (
            "<model name='m'><static>maybe</static></model>",
            "4:17: <static> needs true or false, found \"maybe\"",
        ),
        ("<scene><ambient>1 1</ambient></scene>", "4:8: <ambient> needs 4 numbers, found 2"),
        ("<include><name>x</name></include>", "4:1: <include> needs a <uri>"),
        (
            "<include><uri></uri></include>",
            "4:10: the <uri> of an <include> must be a path such as model://name",
        ),
    ] {
        assert_eq!(refusal(inside), format!("worlds/t.world:{message}"));
    }
    assert!(
        refusal(&link("<inertial><mass>1e300</mass></inertial>")).ends_with("is larger than 1000000000 kg")
    );
}

#[test]
fn the_root_element_and_the_version_are_checked() {
    let refused = |text: &str| read_text(text).expect_err(text).to_string();
    assert_eq!(refused("<robot/>"), "worlds/t.world:1:1: the root element must be <sdf>, found <robot>");
    assert_eq!(refused("<sdf version='1.7'/>"), "worlds/t.world:1:1: no <world> in the file");
    let world =
        |attributes: &str| read_text(&format!("<sdf{attributes}><world name='w'/></sdf>")).expect("fine");
    for version in 4..=12 {
        let (spec, warnings) = world(&format!(" version='1.{version}'"));
        assert_eq!((spec.version, warnings.len()), (format!("1.{version}"), 0));
    }
    for odd in ["", " version='1.13'", " version='1.3'", " version='2.0'", " version='one'", " version='1.'"]
    {
        assert_eq!(world(odd).1.len(), 1, "{odd}");
    }
    let (spec, warnings) =
        read_text("<sdf version='1.6'><world name='a'/><world name='b'/></sdf>").expect("fine");
    assert_eq!(spec.name, "a");
    assert_eq!(warnings, ["worlds/t.world:1:37: more than one <world>: only the first is used"]);
}

#[test]
fn a_model_file_is_read() {
    let mut warnings = Warnings::default();
    let text = include_bytes!("fixtures/sdf/models/arm/model.sdf");
    let model = sdf::read_model("models/arm/model.sdf", text, &mut warnings).expect("readable");
    assert_eq!((model.name.as_str(), model.links.len(), model.includes.len()), ("arm", 2, 1));
    assert!(warnings.is_empty());
    let error = sdf::read_model("m.sdf", world_text("").as_bytes(), &mut warnings).expect_err("a world");
    assert_eq!(error.to_string(), "m.sdf:2:1: no <model> in the file");
}

#[test]
fn the_newest_supported_model_file_is_used() {
    let config = include_bytes!("fixtures/sdf/models/arm/model.config");
    assert_eq!(sdf::read_config("model.config", config).expect("readable"), "model.sdf");
    let written = sdf::write_config("a & b", "track.sdf", "1.7");
    assert_eq!(sdf::read_config("model.config", written.as_bytes()).expect("readable"), "track.sdf");
    let two = b"<model><sdf version='1.10'>ten</sdf><sdf version='1.9'>nine</sdf><sdf>none</sdf></model>";
    assert_eq!(sdf::read_config("model.config", two).expect("readable"), "ten");
    let error = sdf::read_config("model.config", b"<model/>").expect_err("nothing named");
    assert_eq!(
        error.to_string(),
        "model.config:1:1: model.config needs an <sdf> element with the name of the model file"
    );
}

#[test]
fn materials_and_surfaces_are_read() {
    let (spec, _) = read(&link(
        "<visual name='v'><geometry/><transparency>0.5</transparency><cast_shadows>0</cast_shadows><material>
         <script><uri>file://x</uri><name>Gazebo/Red</name></script><diffuse>1 0 0</diffuse>
         <pbr><metal><albedo_map>model://a.png</albedo_map></metal></pbr></material></visual>
         <collision name='c'><geometry/><surface><bounce><restitution_coefficient>0.2</restitution_coefficient></bounce>
         <friction><bullet><friction>0.7</friction></bullet></friction></surface></collision>",
    ))
    .expect("readable");
    let link = &model(&spec, 0).links[0];
    let material = link.visuals[0].material.clone().expect("a material");
    assert_eq!(material.diffuse, Some([1.0, 0.0, 0.0, 1.0]));
    assert_eq!(material.script.as_deref(), Some("Gazebo/Red"));
    assert_eq!(material.albedo_map.as_deref(), Some("model://a.png"));
    assert_eq!((link.visuals[0].transparency, link.visuals[0].cast_shadows), (0.5, Some(false)));
    assert_eq!((link.collisions[0].friction, link.collisions[0].restitution), (Some(0.7), Some(0.2)));
}

#[test]
fn dashes_in_comments_give_one_warning() {
    let text = "<sdf version='1.7'>\n <!-- a -- b --><!-- c -- d -->\n<world name='w'/></sdf>";
    let mut warnings = Warnings::default();
    sdf::read("w.world", text.as_bytes(), &mut warnings).expect("tolerated");
    let list: Vec<String> = warnings.into_vec().iter().map(ToString::to_string).collect();
    assert_eq!(list, ["w.world:2:2: `--` inside a comment is not valid XML; the comment is ignored"]);
}
