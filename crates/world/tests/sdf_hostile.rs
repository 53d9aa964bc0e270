//! Tests that loading a hostile world file gives, in reasonable time, either a world or an error
//! with a location.

mod sdf_support;

use chicane_world::{Assets, MemoryBundle, Spec, Warnings, World, sdf};
use proptest::prelude::*;
use sdf_support::{fixture_models, load, objects_bundle, read, read_text, refusal, world_text};

const FIXTURES: [&str; 3] = [
    include_str!("fixtures/sdf/objects.world"),
    include_str!("fixtures/sdf/legacy.world"),
    include_str!("fixtures/sdf/frames.world"),
];

/// Reads and compiles a file. An error is accepted, but the error must have a file name and a
/// message of one line.
fn load_or_fail(bytes: &[u8], mut files: MemoryBundle) {
    files.files.retain(|path, _| !path.starts_with("worlds/"));
    files.insert("worlds/t.world", bytes);
    if let Err(e) = World::load(&Assets::of(&files)) {
        assert!(!e.location.file.is_empty() && !e.message.is_empty());
        assert!(!e.message.contains('\n'), "one line: {e}");
    }
    if let Ok(model) = sdf::read_model("m.sdf", bytes, &mut Warnings::default()) {
        sdf::write_model(&model, "1.7");
    }
    let _ = sdf::read_config("model.config", bytes);
}

#[test]
fn a_file_truncated_at_any_byte_is_an_error() {
    for text in FIXTURES {
        for end in 0..text.len() {
            let mut warnings = Warnings::default();
            match sdf::read("w", &text.as_bytes()[..end], &mut warnings) {
                // The file is still valid if only the whitespace at its end was cut off.
                Ok(_) => assert!(text[end..].trim().is_empty(), "cut at {end}"),
                Err(e) => assert!(e.location.line > 0 && e.location.column > 0, "{e}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        load_or_fail(&bytes, MemoryBundle::default());
    }

    #[test]
    fn arbitrary_text_inside_a_world_does_not_panic(text in "[<>/a-z ='\"&;!\\-\\[\\]?0-9]{0,120}") {
        load_or_fail(world_text(&text).as_bytes(), MemoryBundle::default());
    }

    #[test]
    fn files_with_changed_bytes_do_not_panic(
        which in 0..FIXTURES.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = FIXTURES[which].as_bytes().to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        load_or_fail(&bytes, fixture_models());
    }

    #[test]
    fn files_with_repeated_lines_do_not_panic(
        which in 0..FIXTURES.len(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        lines in 1..12usize,
    ) {
        // The test repeats whole lines, because a file with repeated bytes would rarely be
        // well-formed.
        let all: Vec<&str> = FIXTURES[which].lines().collect();
        let from = from.index(all.len());
        let piece = &all[from..(from + lines).min(all.len())];
        let mut moved = all.clone();
        let to = to.index(all.len());
        moved.splice(to..to, piece.iter().copied());
        load_or_fail(moved.join("\n").as_bytes(), fixture_models());
    }

    #[test]
    fn files_with_replaced_numbers_do_not_panic(
        which in 0..FIXTURES.len(),
        at in any::<prop::sample::Index>(),
        number in prop_oneof![
            Just("0"), Just("-1"), Just("1e6"), Just("-1e6"), Just("1e-300"), Just("nan"), Just("1e308"), Just(""),
        ],
    ) {
        let text = FIXTURES[which];
        let words: Vec<(usize, &str)> =
            text.match_indices(|c: char| c.is_ascii_digit()).map(|(i, _)| (i, &text[i..])).collect();
        let (start, rest) = words[at.index(words.len())];
        let end = start + rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        load_or_fail(format!("{}{number}{}", &text[..start], &text[end..]).as_bytes(), fixture_models());
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = "<model name='m'>".repeat(100_000);
    assert!(refusal(&deep).ends_with("nested deeper than 64 elements"));
    // A file that is nested almost to the limit can be read, compiled and written.
    let (open, close) = ("<model name='m'><link name='l'/>".repeat(60), "</model>".repeat(60));
    let (spec, _) = read(&(open.clone() + &close)).expect("readable");
    read_text(&sdf::write(&spec)).expect("readable again");
    load(&(open + &close), &[]).expect("loads");
}

#[test]
fn the_number_of_attributes_is_limited() {
    let many: String = (0..100_000).map(|i| format!(" a{i}='1'")).collect();
    assert!(refusal(&format!("<model name='m'{many}/>")).ends_with("more than 64 attributes on one element"));
}

#[test]
fn the_number_of_elements_is_limited() {
    assert!(refusal(&"<x/>".repeat(200_001)).ends_with("more than 200000 elements"));
    let (_, warnings) = read(&"<x/>".repeat(199_998)).expect("within the limit");
    assert_eq!(warnings.len(), 1);
}

#[test]
fn doctype_and_entities_are_refused() {
    let bomb = "<!DOCTYPE b [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>\n<sdf version='1.7'><world name='&b;'/></sdf>";
    assert_eq!(
        read_text(bomb).expect_err("refused").to_string(),
        "worlds/t.world:1:1: DOCTYPE is not allowed"
    );
    assert!(refusal("<model name='m'>&lol;</model>").contains("unknown entity &lol;"));
    assert!(refusal("<model name='&lol;'/>").contains("bad attribute value"));
    let outside = "<!DOCTYPE x SYSTEM 'file:///etc/passwd'><sdf/>";
    assert!(read_text(outside).expect_err("refused").message.contains("DOCTYPE"));
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let error = read_text(&world_text(&" ".repeat(8 << 20))).expect_err("refused");
    assert_eq!(error.to_string(), "worlds/t.world: file is larger than 8 MiB");
}

#[test]
fn a_huge_name_is_refused_in_a_short_message() {
    let message = refusal(&format!("<model name='{}'/>", "n".repeat(1 << 20)));
    assert!(message.len() < 200, "{}", message.len());
    let message = refusal(&format!(
        "<model name='m'><link name='l'><pose>{}</pose></link></model>",
        "9x".repeat(1 << 20)
    ));
    assert!(message.len() < 200, "{}", message.len());
    let message = refusal(&format!("</{}>", "n\n".repeat(1 << 20)));
    assert!(message.len() < 300 && !message.contains('\n'), "{}", message.len());
}

#[test]
fn the_number_of_warnings_is_limited() {
    let inside: String = (0..5_000).map(|i| format!("<e{i}/>")).collect();
    let (_, warnings) = read(&inside).expect("readable");
    assert_eq!(warnings.len(), 201);
    assert!(warnings[200].contains("4800 more warnings"));
}

/// A model file that includes the given URIs.
fn including(name: &str, uris: &[String]) -> Vec<u8> {
    let includes: String = uris
        .iter()
        .enumerate()
        .map(|(i, u)| format!("<include><uri>{u}</uri><name>i{i}</name></include>"))
        .collect();
    format!("<sdf version='1.7'><model name='{name}'><link name='l'/>{includes}</model></sdf>").into_bytes()
}

#[test]
fn cyclic_includes_are_refused() {
    let a = including("a", &["model://b".into()]);
    let b = including("b", &["model://a".into()]);
    let files: [(&str, &[u8]); 2] = [("models/a/model.sdf", &a), ("models/b/model.sdf", &b)];
    let error = load("<include><uri>model://a</uri></include>", &files).expect_err("refused");
    assert_eq!(error.to_string(), "models/b/model.sdf:1:52: \"models/a/model.sdf\" includes itself");
}

#[test]
fn exponential_includes_are_refused() {
    // Eight levels of ten includes each would give a hundred million models.
    let mut bundle = MemoryBundle::default();
    for level in 0..8 {
        let next: Vec<String> = (0..10).map(|_| format!("model://m{}", level + 1)).collect();
        bundle.insert(format!("models/m{level}/model.sdf"), including("m", &next));
    }
    bundle.insert("models/m8/model.sdf", including("m", &[]));
    bundle.insert("worlds/t.world", world_text("<include><uri>model://m0</uri></include>"));
    let error = World::load(&Assets::of(&bundle)).expect_err("refused");
    assert!(error.message.ends_with("more than 2000 includes"), "{error}");
}

#[test]
fn includes_nested_too_deep_are_refused() {
    let mut bundle = MemoryBundle::default();
    for level in 0..20 {
        bundle.insert(
            format!("models/m{level}/model.sdf"),
            including("m", &[format!("model://m{}", level + 1)]),
        );
    }
    bundle.insert("worlds/t.world", world_text("<include><uri>model://m0</uri></include>"));
    let error = World::load(&Assets::of(&bundle)).expect_err("refused");
    assert!(error.message.ends_with("includes are nested deeper than 16"), "{error}");
}

#[test]
fn a_large_model_included_often_is_refused() {
    let links: String = (0..2_000).map(|i| format!("<link name='l{i}'/>")).collect();
    let model = format!("<sdf version='1.7'><model name='m'>{links}</model></sdf>");
    let includes: String =
        (0..1_000).map(|i| format!("<include><uri>model://m</uri><name>n{i}</name></include>")).collect();
    let error = load(&includes, &[("models/m/model.sdf", model.as_bytes())]).expect_err("refused");
    assert!(error.message.contains("more than 200000 parts"), "{error}");
}

#[test]
fn many_models_of_one_name_are_numbered_in_linear_time() {
    let world = load(&"<model name='m'><link name='l'/></model>".repeat(60_000), &[]).expect("loads");
    assert_eq!(world.fixed_names[59_999].name, "m_60000");
}

#[test]
fn many_different_uris_of_one_model_are_refused() {
    let model: &[u8] = b"<sdf version='1.7'><model name='m'><link name='l'/></model></sdf>";
    let includes: String = (0..2_001)
        .map(|i| {
            format!("<include><uri>model://{}m</uri></include>", "./".repeat(i % 500) + &"/".repeat(i / 500))
        })
        .collect();
    let error = load(&includes, &[("models/m/model.sdf", model)]).expect_err("refused");
    assert!(error.message.ends_with("more than 2000 includes"), "{error}");
}

#[test]
fn a_collision_mesh_that_is_used_too_often_becomes_boxes() {
    use chicane_world::collada::{Group, MeshPart, Model, write};
    let positions: Vec<[f32; 3]> =
        (0..9_000u16).map(|i| [f32::from(i), f32::from((i % 3) * (i % 3)), 1.0]).collect();
    let groups = vec![Group { material: None, indices: (0..9_000).collect() }];
    let (normals, uvs) = (vec![[0.0, 0.0, 1.0]; 9_000], vec![[0.0; 2]; 9_000]);
    let part = MeshPart { name: "p".to_owned(), positions, normals, uvs, groups };
    let dae = write(&Model { parts: vec![part], materials: vec![] });
    let collision = |i| {
        format!(
            "<collision name='c{i}'><geometry><mesh><uri>model://meshes/a.dae</uri></mesh></geometry></collision>"
        )
    };
    let collisions: String = (0..400).map(collision).collect();
    let inside = format!("<model name='m'><static>1</static><link name='l'>{collisions}</link></model>");
    let world = load(&inside, &[("meshes/a.dae", dae.as_bytes())]).expect("loads");
    let meshes =
        world.scenery.iter().filter(|s| matches!(s.shape, chicane_world::world::Shape::Mesh(_))).count();
    // Each use of the mesh adds 3,000 triangles and 9,000 vertices to the total, so 333 uses stay
    // below the limit of 4,000,000. The other uses are replaced by bounding boxes.
    assert_eq!((meshes, world.scenery.len()), (333, 400));
    assert!(world.warnings[0].message.contains("too many triangles"), "{:?}", world.warnings);
}

#[test]
fn paths_never_leave_the_bundle() {
    for uri in [
        "model://../../etc/passwd",
        "file:///etc/passwd",
        "../../../secret",
        "/etc/passwd",
        "model://..",
        "model://%2e%2e/%2e%2e/x",
        "https://example.org/model",
        "c:\\windows",
        "model://",
    ] {
        let inside = format!(
            "<include><uri>{uri}</uri></include><model name='m'><link name='l'><visual name='v'><geometry><mesh>
             <uri>{uri}</uri></mesh></geometry></visual></link></model>"
        );
        let world = load(&inside, &[]).unwrap_or_else(|e| panic!("{uri}: {e}"));
        assert_eq!(world.warnings.len(), 2, "{uri}: {:?}", world.warnings);
    }
}

#[test]
fn an_empty_spec_compiles() {
    let assets = objects_bundle();
    let world = chicane_world::compile::compile(&Spec::default(), &Assets::of(&assets), Warnings::default());
    assert!(world.expect("compiles").objects.is_empty());
}
