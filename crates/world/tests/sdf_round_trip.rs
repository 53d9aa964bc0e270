//! Tests that a `Spec` stays the same, to the last bit, when it is written and read.

mod sdf_support;

use chicane_world::spec::*;
use chicane_world::{Warnings, sdf};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use sdf_support::read_text;

/// Generates any number from −1,000,000 to 1,000,000. The reader refuses larger coordinates.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        -10.0..10.0f64,
        -1e6..1e6f64,
        any::<f64>().prop_filter("bounded", |x| x.is_finite() && x.abs() <= 1e6),
    ]
}

fn length() -> impl Strategy<Value = f64> {
    prop_oneof![0.001..10.0f64, Just(0.0), Just(f64::MIN_POSITIVE), Just(5e-324), Just(1e6)]
}

fn numbers<const N: usize>() -> impl Strategy<Value = [f64; N]> {
    vec(number(), N).prop_map(|v| v.try_into().expect("N of them"))
}

fn lengths<const N: usize>() -> impl Strategy<Value = [f64; N]> {
    vec(length(), N).prop_map(|v| v.try_into().expect("N of them"))
}

/// Generates names that may contain all characters that are special in XML.
fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z][a-z0-9_]{0,8}", "[ <>&\"'a-zé:/\u{1F697};#-]{1,12}"]
}

/// Generates the text between two tags. The text has no surrounding whitespace, because the reader
/// would remove the whitespace.
fn text() -> impl Strategy<Value = String> {
    name().prop_map(|n| format!("x{}", n.trim()))
}

fn reference() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), name()]
}

fn pose() -> impl Strategy<Value = PoseSpec> {
    let zero = Just(PoseSpec::default());
    let any = (numbers(), numbers(), reference()).prop_map(|(xyz, rpy, relative_to)| PoseSpec {
        xyz,
        rpy,
        relative_to,
    });
    prop_oneof![zero, any]
}

fn submesh() -> impl Strategy<Value = Submesh> {
    (text(), any::<bool>()).prop_map(|(name, centred)| Submesh { name, centred })
}

fn geometry() -> impl Strategy<Value = Geometry> {
    prop_oneof![
        Just(Geometry::Empty),
        lengths().prop_map(|size| Geometry::Box { size }),
        (length(), length()).prop_map(|(radius, length)| Geometry::Cylinder { radius, length }),
        (length(), length()).prop_map(|(radius, length)| Geometry::Capsule { radius, length }),
        (length(), length()).prop_map(|(radius, length)| Geometry::Cone { radius, length }),
        length().prop_map(|radius| Geometry::Sphere { radius }),
        lengths().prop_map(|radii| Geometry::Ellipsoid { radii }),
        (prop::array::uniform3(-1.0..-0.1f64), lengths())
            .prop_map(|(normal, size)| Geometry::Plane { normal, size }),
        (text(), prop::array::uniform3(-9.0..-0.1f64), option::of(submesh()))
            .prop_map(|(uri, scale, submesh)| Geometry::Mesh { uri, scale, submesh }),
        (vec(numbers(), 3..6), length()).prop_map(|(points, height)| Geometry::Polyline { points, height }),
        prop_oneof![Just("heightmap"), Just("polyline"), Just("image")]
            .prop_map(|e| Geometry::Unsupported { element: e.to_owned() }),
    ]
}

fn material() -> impl Strategy<Value = MaterialSpec> {
    let colour = || option::of(numbers::<4>());
    (colour(), colour(), colour(), colour(), option::of(text()), option::of(text())).prop_map(
        |(ambient, diffuse, specular, emissive, script, albedo_map)| MaterialSpec {
            ambient,
            diffuse,
            specular,
            emissive,
            script,
            albedo_map,
        },
    )
}

fn collision() -> impl Strategy<Value = CollisionSpec> {
    (name(), pose(), geometry(), option::of(number()), option::of(number())).prop_map(
        |(name, pose, geometry, friction, restitution)| CollisionSpec {
            name,
            pose,
            geometry,
            friction,
            restitution,
        },
    )
}

fn visual() -> impl Strategy<Value = VisualSpec> {
    (name(), pose(), geometry(), option::of(material()), number(), option::of(any::<bool>())).prop_map(
        |(name, pose, geometry, material, transparency, cast_shadows)| VisualSpec {
            name,
            pose,
            geometry,
            material,
            transparency,
            cast_shadows,
        },
    )
}

fn link() -> impl Strategy<Value = LinkSpec> {
    let inertial = (option::of(number()), pose(), option::of(numbers()))
        .prop_map(|(mass, pose, inertia)| InertialSpec { mass, pose, inertia });
    (name(), pose(), option::of(inertial), vec(collision(), 0..3), vec(visual(), 0..3)).prop_map(
        |(name, pose, inertial, collisions, visuals)| LinkSpec { name, pose, inertial, collisions, visuals },
    )
}

fn frame() -> impl Strategy<Value = FrameSpec> {
    (name(), reference(), pose()).prop_map(|(name, attached_to, pose)| FrameSpec { name, attached_to, pose })
}

fn joint() -> impl Strategy<Value = JointSpec> {
    (name(), name(), text(), text(), pose()).prop_map(|(name, kind, parent, child, pose)| JointSpec {
        name,
        kind,
        parent,
        child,
        pose,
    })
}

fn include() -> impl Strategy<Value = IncludeSpec> {
    let placement = prop_oneof![Just(String::new()), text()];
    (text(), option::of(text()), option::of(pose()), placement, option::of(any::<bool>())).prop_map(
        |(uri, name, pose, placement_frame, is_static)| IncludeSpec {
            uri,
            name,
            pose,
            placement_frame,
            is_static,
            merge: false,
        },
    )
}

/// Generates an include inside a model. Only such an include can have the merge flag.
fn nested_include() -> impl Strategy<Value = IncludeSpec> {
    (include(), any::<bool>()).prop_map(|(include, merge)| IncludeSpec { merge, ..include })
}

fn model() -> impl Strategy<Value = ModelSpec> {
    let head = || (name(), pose(), reference(), reference(), any::<bool>());
    let parts = || (vec(link(), 0..3), vec(joint(), 0..2), vec(frame(), 0..2), vec(nested_include(), 0..2));
    let make = |(
        (name, pose, placement_frame, canonical_link, is_static),
        (links, joints, frames, includes),
        models,
    )| {
        ModelSpec {
            name,
            pose,
            placement_frame,
            canonical_link,
            is_static,
            links,
            joints,
            frames,
            models,
            includes,
        }
    };
    let leaf = (head(), parts(), Just(Vec::new())).prop_map(make);
    leaf.prop_recursive(3, 8, 2, move |inner| (head(), parts(), vec(inner, 0..3)).prop_map(make))
}

fn light() -> impl Strategy<Value = LightSpec> {
    let flags = (option::of(any::<bool>()), option::of(0.0..100.0f64));
    (name(), name(), pose(), option::of(numbers()), option::of(numbers()), flags).prop_map(
        |(name, kind, pose, diffuse, direction, (cast_shadows, intensity))| LightSpec {
            name,
            kind,
            pose,
            diffuse,
            direction,
            cast_shadows,
            intensity,
        },
    )
}

fn spec() -> impl Strategy<Value = Spec> {
    let entry = prop_oneof![
        model().prop_map(SdfEntry::Model),
        include().prop_map(SdfEntry::Include),
        light().prop_map(SdfEntry::Light),
    ];
    let scene = (option::of(numbers()), option::of(numbers()))
        .prop_map(|(ambient, background)| SceneSpec { ambient, background });
    let gravity = option::of(prop::array::uniform3(-100.0..100.0f64));
    (4..13u32, name(), gravity, scene, vec(frame(), 0..3), vec(entry, 0..4)).prop_map(
        |(version, name, gravity, scene, frames, entries)| Spec {
            version: format!("1.{version}"),
            name,
            gravity,
            scene,
            frames,
            entries,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_spec_survives_writing_and_reading(spec in spec()) {
        let text = sdf::write(&spec);
        let (back, _) = match read_text(&text) {
            Ok(read) => read,
            // The generated spec may have two objects of the same name, which the reader refuses.
            Err(e) if e.message.starts_with("a second object") => return Ok(()),
            Err(e) => return Err(TestCaseError::fail(format!("{e}\n{text}"))),
        };
        // The specs are compared as Debug text, because `==` does not distinguish −0.0 from 0.0.
        prop_assert_eq!(format!("{back:?}"), format!("{spec:?}"));
        prop_assert_eq!(sdf::write(&back), text);
    }

    #[test]
    fn a_model_survives_writing_and_reading(model in model(), version in 4..13u32) {
        let text = sdf::write_model(&model, &format!("1.{version}"));
        let back = sdf::read_model("m.sdf", text.as_bytes(), &mut Warnings::default());
        prop_assert_eq!(format!("{:?}", back.expect("readable")), format!("{model:?}"));
    }

    #[test]
    fn a_number_survives_writing_and_reading(x in any::<f64>().prop_filter("bounded", |x| x.is_finite() && x.abs() <= 1e6)) {
        let frame = FrameSpec { name: "f".into(), pose: PoseSpec { rpy: [x, 0.0, 0.0], ..Default::default() }, ..Default::default() };
        let spec = Spec { version: "1.7".into(), name: "w".into(), frames: vec![frame], ..Default::default() };
        let (back, _) = read_text(&sdf::write(&spec)).expect("readable");
        prop_assert_eq!(back.frames[0].pose.rpy[0].to_bits(), x.to_bits());
    }
}

#[test]
fn the_fixtures_survive_writing_and_reading() {
    for text in [
        include_str!("fixtures/sdf/frames.world"),
        include_str!("fixtures/sdf/legacy.world"),
        include_str!("fixtures/sdf/objects.world"),
    ] {
        let (spec, _) = read_text(text).expect("readable");
        let (back, warnings) = read_text(&sdf::write(&spec)).expect("readable");
        assert_eq!(format!("{back:?}"), format!("{spec:?}"));
        assert_eq!(warnings, Vec::<String>::new());
    }
}

#[test]
fn the_writer_escapes_and_indents() {
    let spec = Spec {
        version: "1.7".into(),
        name: "a<b".into(),
        entries: vec![SdfEntry::Include(IncludeSpec { uri: "model://x".into(), ..Default::default() })],
        ..Default::default()
    };
    let expected = "<?xml version=\"1.0\"?>\n<sdf version=\"1.7\">\n  <world name=\"a&lt;b\">\n    <include>\n      \
                <uri>model://x</uri>\n    </include>\n  </world>\n</sdf>\n";
    assert_eq!(sdf::write(&spec), expected);
}
