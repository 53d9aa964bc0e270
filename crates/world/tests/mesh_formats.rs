//! Tests the readers of STL and OBJ meshes, with valid and with hostile files.

use chicane_world::collada::{MAX_TRIANGLES, Model};
use chicane_world::{Error, Warnings, obj, stl};
use proptest::prelude::*;

fn read_stl(bytes: &[u8]) -> Result<(Model, Vec<String>), Error> {
    let mut warnings = Warnings::default();
    let model = stl::read("meshes/m.stl", bytes, &mut warnings)?;
    Ok((model, warnings.into_vec().iter().map(ToString::to_string).collect()))
}

fn read_obj(text: &(impl AsRef<[u8]> + ?Sized), materials: &str) -> Result<(Model, Vec<String>), Error> {
    let mut warnings = Warnings::default();
    let mut open = |name: &str| (name == "m.mtl").then(|| materials.as_bytes().to_vec());
    let model = obj::read("meshes/m.obj", text.as_ref(), &mut open, &mut warnings)?;
    Ok((model, warnings.into_vec().iter().map(ToString::to_string).collect()))
}

/// The corner positions of all triangles of a model.
fn triangles(model: &Model) -> Vec<[[f32; 3]; 3]> {
    let of_part = |p: &chicane_world::collada::MeshPart| -> Vec<_> {
        let corners = p.groups.iter().flat_map(|g| g.indices.chunks_exact(3));
        corners.map(|t| [0, 1, 2].map(|i| p.positions[t[i] as usize])).collect()
    };
    model.parts.iter().flat_map(of_part).collect()
}

const TRIANGLE: [[f32; 3]; 3] = [[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [0.0, 3.0, 1.0]];

const TEXT_STL: &str =
    "solid my vertex facet\nfacet normal 0 0 9\n outer loop\n  vertex 0 0 1\n  VERTEX 2 0 1\n
    vertex 0 3e0 1\n endloop\nendfacet\nendsolid my\n";

fn binary_stl(triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut bytes = b"solid but binary".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        bytes.extend([0xFF; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|c| c.to_le_bytes()));
        bytes.extend([1, 2]);
    }
    bytes
}

#[test]
fn text_and_binary_stl_give_the_same_mesh() {
    let (text, warnings) = read_stl(TEXT_STL.as_bytes()).expect("text");
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(triangles(&text), [TRIANGLE]);
    assert_eq!(text.parts[0].normals, [[0.0, 0.0, 1.0]; 3]);
    assert_eq!(text.parts[0].groups[0].material, None);
    let binary = binary_stl(&[TRIANGLE]);
    assert_eq!(read_stl(&binary).expect("binary").0, text);
    let mut longer = binary.clone();
    longer.splice(..5, *b"other");
    longer.extend([0; 7]);
    let (model, warnings) = read_stl(&longer).expect("longer");
    assert_eq!(model, text);
    assert_eq!(warnings, ["meshes/m.stl: bytes after the last triangle are ignored"]);
}

#[test]
fn the_triangles_of_a_flat_stl_surface_share_vertices() {
    let quad = [TRIANGLE, [TRIANGLE[1], [2.0, 3.0, 1.0], TRIANGLE[2]]];
    let (model, _) = read_stl(&binary_stl(&quad)).expect("binary");
    assert_eq!(model.parts[0].positions.len(), 4);
    assert_eq!(triangles(&model), quad);
}

#[test]
fn invalid_stl_files_are_refused() {
    let refusal = |bytes: &[u8]| read_stl(bytes).expect_err("refused").to_string();
    assert_eq!(refusal(b""), "meshes/m.stl: not an STL file: it is shorter than a header of 84 bytes");
    let mut torn = binary_stl(&[TRIANGLE; 3]);
    torn.splice(..5, *b"other");
    torn.pop();
    assert_eq!(refusal(&torn), "meshes/m.stl: 3 triangles need 234 bytes, but the file has 233");
    let infinite = [[f32::INFINITY, 0.0, 0.0], TRIANGLE[1], TRIANGLE[2]];
    assert_eq!(
        refusal(&binary_stl(&[TRIANGLE, infinite])),
        "meshes/m.stl: triangle 1 (from 0) has a coordinate that is not finite"
    );
    assert_eq!(
        refusal(TEXT_STL.replace("2 0 1", "2 x 1").as_bytes()),
        "meshes/m.stl:5:12: a vertex needs three finite numbers, found \"x\""
    );
    assert!(refusal(b"solid\nvertex 1 2").ends_with("found \"\""));
    let (empty, warnings) = read_stl(b"solid nothing\nendsolid nothing\n").expect("readable");
    assert_eq!((empty, warnings.len()), (Model::default(), 1));
    let mut many = vec![0; 84];
    many[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(refusal(&many).contains("triangles need"));
}

const OBJ: &str = "# two rectangles\nmtllib m.mtl\nv 0 0 0\nv 2 0 0 1.0\nv 2 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvn 0 0 3\n
    o floor\nusemtl red\nf 1/1/1 2/2/1 3/3/1 4//1\n
    g wall\\\n one\nusemtl brick\nf -4 -3 -2\ns off\nusemtl red\nf 1 2 3\nl 1 2\n";

const MTL: &str = "# colours\nnewmtl red\nKa 1 1 1\nKd 1 0 0.5\nd 0.5\nKe 0 0 0.25\nnewmtl brick\nKd 0 0 0\nmap_Kd -s 1 1 1 textures\\brick.png\nTr 0\n";

#[test]
fn an_obj_file_gives_parts_and_materials() {
    let (model, warnings) = read_obj(OBJ, MTL).expect("readable");
    assert_eq!(warnings, ["meshes/m.obj:23:1: element \"l\" of a mesh is ignored"]);
    let names: Vec<&str> = model.parts.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["floor", "wall  one"]);
    let floor = &model.parts[0];
    assert_eq!((floor.positions.len(), floor.groups[0].indices.len()), (4, 6));
    assert_eq!(floor.normals, [[0.0, 0.0, 1.0]; 4]);
    assert_eq!((floor.uvs[2], floor.uvs[3]), ([1.0, 1.0], [0.0, 0.0]));
    let groups: Vec<_> = model.parts[1].groups.iter().map(|g| (g.material, g.indices.len())).collect();
    assert_eq!(groups, [(Some(0), 3), (Some(1), 3)]);
    assert_eq!(model.parts[1].normals[0], [0.0, 0.0, 1.0], "computed");
    let red = &model.materials[0];
    assert_eq!((red.colour, red.emissive, &red.texture), ([1.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.25], &None));
    let brick = &model.materials[1];
    assert_eq!((brick.colour, brick.texture.as_deref()), ([1.0; 4], Some("textures/brick.png")));
}

#[test]
fn missing_materials_are_warnings() {
    let text = OBJ.replace("m.mtl", "none.mtl other.mtl");
    let (model, warnings) = read_obj(&text, MTL).expect("readable");
    assert!(model.materials.is_empty() && model.parts.len() == 2);
    assert_eq!(
        warnings[..2],
        [
            "meshes/m.obj:2:1: no material file 'none.mtl other.mtl' (2 times)",
            "meshes/m.obj:13:1: no material 'red' for a mesh (2 times)",
        ]
    );
}

#[test]
fn invalid_obj_files_are_refused() {
    let refusal = |text: &str, materials: &str| read_obj(text, materials).expect_err("refused").to_string();
    for (text, message) in [
        ("v 0 0\n", "meshes/m.obj:1:1: 3 finite numbers are needed, found \"\""),
        ("v 0 0 nan\n", "meshes/m.obj:1:1: 3 finite numbers are needed, found \"nan\""),
        ("\nf 1 2 3\n", "meshes/m.obj:2:1: no vertex \"1\": there are 0 before this line"),
        ("v 0 0 0\nf 1 -2 1\n", "meshes/m.obj:2:1: no vertex \"-2\": there are 1 before this line"),
        (
            "v 0 0 0\nf 1/1 1 1\n",
            "meshes/m.obj:2:1: no texture coordinate \"1\": there are 0 before this line",
        ),
        ("v 0 0 0\nf 1//1 1 1\n", "meshes/m.obj:2:1: no normal \"1\": there are 0 before this line"),
        ("v 0 0 0\nf / 1 1\n", "meshes/m.obj:2:1: a corner of a face needs the number of a vertex"),
        (
            "v 0 0 0\nf 99999999999999999999 1 1\n",
            "meshes/m.obj:2:1: no vertex \"99999999999999999999\": there are 1 before this line",
        ),
    ] {
        assert_eq!(refusal(text, ""), message);
    }
    assert_eq!(
        refusal("mtllib m.mtl\n", "newmtl a\nKd 1 x 1\n"),
        "meshes/m.mtl:2:1: Kd needs a finite number, found \"x\""
    );
    let (model, warnings) = read_obj("v 0 0 0\nf 1 1\n", "").expect("readable");
    assert_eq!((model, warnings.len()), (Model::default(), 2));
}

#[test]
fn a_comment_that_ended_with_a_backslash_swallowed_the_next_line() {
    let text = "# from C:\\models\\\nv 0 0 1\nv 2 0 1\n  # more from C:\\models\\\r\nv 0 3 1\nf 1 2 3\n";
    let (model, warnings) = read_obj(text, "").expect("readable");
    assert_eq!((triangles(&model), warnings), (vec![TRIANGLE], vec![]));
}

#[test]
fn a_line_that_is_not_utf_8_was_not_joined_with_its_continuation() {
    // `\xFC` is the letter ü in Latin-1.
    let vertices = b"v 0 0 1\nv 2 0 1\nv 0 3 1\n";
    for name in [&b"o T\xFCr \\\nlinks"[..], b"o \\\nT\xFCr links", b"o \\\nT\xFCr\\\nlinks"] {
        let (model, warnings) = read_obj(&[vertices, name, b"\nf 1 2 3\n"].concat(), "").expect("readable");
        assert_eq!((triangles(&model), warnings), (vec![TRIANGLE], vec![]));
        let words: Vec<&str> = model.parts[0].name.split_whitespace().collect();
        assert_eq!(words, ["T\u{FFFD}r", "links"], "{}", name.escape_ascii());
    }
}

#[test]
fn a_name_in_shift_jis_that_ended_with_a_backslash_swallowed_the_next_line() {
    // In Shift-JIS, the bytes `\x83\x5C` are one character, and `\x5C` alone is a backslash.
    for name in [&b"o \x83\x5C"[..], b"o \x82\xA0\x83\x5C \r", b"o \x82\xA0\\\nb"] {
        let text = [name, b"\nv 0 0 1\nv 2 0 1\nv 0 3 1\nf 1 2 3\n"].concat();
        let (model, warnings) = read_obj(&text, "").expect("readable");
        assert_eq!((triangles(&model), warnings), (vec![TRIANGLE], vec![]), "{}", name.escape_ascii());
    }
}

#[test]
fn a_comment_after_a_byte_order_mark_swallowed_the_next_line() {
    let text = "\u{FEFF}# from C:\\models\\\nv 0 0 1\nv 2 0 1\nv 0 3 1\nf 1 2 3\n";
    let (model, warnings) = read_obj(text, "").expect("readable");
    assert_eq!((triangles(&model), warnings), (vec![TRIANGLE], vec![]));
}

#[test]
fn the_first_material_after_a_byte_order_mark_was_lost() {
    let text = "mtllib m.mtl\nusemtl red\nv 0 0 1\nv 2 0 1\nv 0 3 1\nf 1 2 3\n";
    let (model, warnings) = read_obj(text, "\u{FEFF}newmtl red\nKd 1 0 0\n").expect("readable");
    assert_eq!((model.materials[0].colour, warnings), ([1.0, 0.0, 0.0, 1.0], vec![]));
}

#[test]
fn a_surface_with_a_spectral_emission_glowed_grey() {
    let mtl = "newmtl a\nKd spectral blue.rfl\nKe spectral lamp.rfl 1\nnewmtl b\nKd 0 0 1\nKe xyz 1 1 1\n";
    let obj = "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nusemtl a\nf 1 2 3\nusemtl b\nf 1 2 3\n";
    let (model, _) = read_obj(obj, mtl).expect("readable");
    let seen: Vec<_> = model.materials.iter().map(|m| (m.colour, m.emissive)).collect();
    assert_eq!(seen, [([0.7, 0.7, 0.7, 1.0], [0.0; 3]), ([0.0, 0.0, 1.0, 1.0], [0.0; 3])]);
}

#[test]
fn the_number_of_obj_triangles_is_limited() {
    // The reader splits a face with many corners into triangles, so the limit must also apply to a
    // single face.
    let corners = "1 ".repeat(MAX_TRIANGLES + 3);
    let error = read_obj(&format!("v 0 0 0\nf {corners}\n"), "").expect_err("too many");
    assert_eq!(error.to_string(), format!("meshes/m.obj:2:1: more than {MAX_TRIANGLES} triangles"));
}

/// Checks that a model is valid: the indices must be in range and the numbers finite.
fn check(model: &Model) -> Result<(), TestCaseError> {
    for part in &model.parts {
        let n = part.positions.len();
        prop_assert!(part.normals.len() == n && part.uvs.len() == n && !part.groups.is_empty());
        prop_assert!(part.positions.iter().chain(&part.normals).flatten().all(|c| c.is_finite()));
        for group in &part.groups {
            prop_assert!(group.indices.iter().all(|i| (*i as usize) < n) && group.indices.len() % 3 == 0);
            prop_assert!(group.material.is_none_or(|m| m < model.materials.len()));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut warnings = Warnings::default();
        if let Ok(model) = stl::read("m", &bytes, &mut warnings) {
            check(&model)?;
        }
        if let Ok(model) = obj::read("m", &bytes, &mut |_| Some(bytes.clone()), &mut warnings) {
            check(&model)?;
        }
    }

    #[test]
    fn damaged_files_do_not_panic(
        which in 0..4usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let binary = binary_stl(&[TRIANGLE; 2]);
        let mut bytes = [TEXT_STL.as_bytes(), &binary, OBJ.as_bytes(), MTL.as_bytes()][which].to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut warnings = Warnings::default();
        if which < 2 && let Ok(model) = stl::read("m", &bytes, &mut warnings) {
            check(&model)?;
        }
        let (text, materials) = if which == 3 { (OBJ.as_bytes(), &*bytes) } else { (&*bytes, MTL.as_bytes()) };
        if let Ok(model) = obj::read("m", text, &mut |_| Some(materials.to_vec()), &mut warnings) {
            check(&model)?;
        }
    }

    #[test]
    fn words_of_obj_files_in_any_order_do_not_panic(
        words in prop::collection::vec(
            prop_oneof![
                Just("v 1 2 3\n"), Just("v 0 0 1\n"), Just("vt 1\n"), Just("vn 0 0 0\n"), Just("f 1 2 3\n"),
                Just("f -1 -2 -3\n"), Just("f 1/1/1 2//1 3/1 1\n"), Just("o a\n"), Just("usemtl red\n"),
                Just("mtllib m.mtl\n"), Just("\\\n"), Just("g\n"),
            ],
            0..60,
        ),
    ) {
        if let Ok((model, _)) = read_obj(&words.concat(), MTL) {
            check(&model)?;
        }
    }
}
