//! Tests that the reader refuses broken and hostile mesh files with an error that has a location.
//! The files must never cause a panic, a hang or a large allocation.

use chicane_formats::Warnings;
use chicane_formats::collada::{self, Model};
use chicane_formats::{Error, collada::MAX_TRIANGLES};
use proptest::prelude::*;

const SMALL: &str = include_str!("data/triangle.dae");

fn read(text: &str) -> Result<Model, Error> {
    collada::read("meshes/m.dae", text.as_bytes(), &mut Warnings::default())
}

/// Returns the error message for a file. The error must have a line and a column.
fn error(text: &str) -> String {
    let e = read(text).expect_err("bad");
    assert!(e.location.line > 0 && e.location.column > 0 && e.location.file == "meshes/m.dae", "{e}");
    e.to_string()
}

fn changed(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    SMALL.replacen(from, to, 1)
}

#[test]
fn files_that_are_not_collada_are_refused() {
    assert!(error("").contains("no XML element"));
    assert!(error("<sdf/>").contains("not a COLLADA file: its root element is <sdf>"));
    assert!(error("<COLLADA>").contains("never closed"));
    assert!(error("<!DOCTYPE x><COLLADA/>").contains("DOCTYPE"));
    assert_eq!(read("<COLLADA/>").expect("empty"), Model::default());
}

#[test]
fn invalid_numbers_and_references_are_named_in_the_error() {
    let cases = [
        (changed("1.5", "nan"), "m.dae:33:11: number 4 of <float_array> is not finite: 'nan'"),
        (changed("1.5", "-inf"), "not finite"),
        (changed("1.5", "1e39"), "not finite: '1e39'"),
        (changed("1.5", "0x10"), "number 4 of <float_array> is not a number: '0x10'"),
        (changed("<p>0 1 2", "<p>0 1 3"), "corner 3 refers to position 3 (from 0), but there are 3"),
        (changed("<p>0 1 2", "<p>0 1 4294967295"), "corner 3 refers to position 4294967295 (from 0), but"),
        (changed("<p>0 1 2", "<p>0 1 -1"), "number 3 of <p> is not an index: '-1'"),
        (changed("<p>0 1 2", "<p>0 1 2 0"), "<p> has 4 indices, which is not a multiple of 3"),
        (
            changed("count=\"3\" stride=\"3\"", "count=\"4\" stride=\"3\""),
            "accessor has a count of 4, but its array has 3 vectors",
        ),
        (
            changed("count=\"3\" stride=\"3\"", "count=\"3\" stride=\"2\""),
            "a stride of 2 is too small for vectors of 3",
        ),
        (
            changed("count=\"3\" stride=\"3\"", "count=\"3\" stride=\"0\""),
            "a stride of 0 is too small for vectors of 3",
        ),
        (
            changed("count=\"3\" stride=\"3\"", "count=\"99999999999\" stride=\"3\""),
            "accessor has a count of 99999999999",
        ),
        (changed("stride=\"3\"", "stride=\"99999999999999999999999\""), "bad stride"),
        (changed("stride=\"3\"", "stride=\"18446744073709551615\""), "accessor has a count of 3, but"),
        (
            changed("stride=\"3\"", "stride=\"3\" offset=\"18446744073709551615\""),
            "accessor has a count of 3, but",
        ),
        (changed("offset=\"0\"", "offset=\"64\""), "bad offset '64'"),
        (changed("offset=\"0\"", "offset=\"-1\""), "bad offset '-1'"),
        (changed("semantic=\"POSITION\"", "semantic=\"NOTHING\""), "<triangles> has no input with positions"),
        (changed("source=\"#geometry-0-vertices\"", "source=\"#none\""), "no source '#none' in this mesh"),
        (changed("meter=\"1\"", "meter=\"NaN\""), "bad unit: meter=\"NaN\" must be a number above 0"),
        (changed("meter=\"1\"", "meter=\"-1\""), "bad unit"),
        (
            changed("<color>0 0 0 1</color>", "<color>0 0</color>"),
            "a colour must have 3 or 4 numbers, found 2",
        ),
        (
            changed("<instance_geometry", "<matrix>1 2 3</matrix><instance_geometry"),
            "<matrix> needs 16 numbers, found 3",
        ),
        (
            changed("<instance_geometry", "<translate>1 2 inf</translate><instance_geometry"),
            "number 3 of <translate> is not finite",
        ),
        (
            changed("<instance_geometry", "<scale>1e300 1 1</scale><instance_geometry"),
            "a transformed vertex of this geometry is out of range",
        ),
    ];
    for (text, part) in cases {
        let message = error(&text);
        assert!(message.contains(part), "expected {part}, got {message}");
    }
}

#[test]
fn a_vcount_larger_than_the_data_is_refused() {
    for vcount in ["4", "3 1", "4294967295", "4294967295 4294967295"] {
        let text =
            SMALL.replace("<p>", &format!("<vcount>{vcount}</vcount><p>")).replace("triangles", "polylist");
        assert!(error(&text).contains("<vcount> needs more corners than <p> has"), "{vcount}");
    }
}

/// A file with a chain of nodes. Each node instances the next node twice, so the reader visits the
/// innermost content 2^nodes times.
fn doubling(nodes: usize, innermost: &str) -> String {
    let mut text = String::from("<library_nodes>");
    for i in 0..nodes {
        let next = format!("<instance_node url=\"#d{}\"/>", i + 1);
        text += &format!("<node id=\"d{i}\">{next}{next}</node>");
    }
    text += &format!("<node id=\"d{nodes}\">{innermost}</node></library_nodes>");
    changed("<library_visual_scenes>", &(text + "<library_visual_scenes>"))
        .replace("<node id=\"node-0\"", "<instance_node url=\"#d0\"/><node id=\"node-0\"")
}

#[test]
fn exponential_instancing_is_refused() {
    let too_many = "more than 500000 elements, counting every instance";
    assert!(error(&doubling(40, "")).contains(too_many));
    assert!(error(&doubling(63, "")).contains(too_many));
    let itself = doubling(3, "<instance_node url=\"#d0\"/>");
    assert!(error(&itself).contains("nodes are nested deeper than 64"));
    // This file has few instances, but each instance has many triangles. Therefore it exceeds the
    // limit on triangles and not the limit on elements.
    let many = "0 1 2 ".repeat(3000);
    let bomb = doubling(10, "<instance_geometry url=\"#geometry-0\"/>")
        .replace("<p>0 1 2</p>", &format!("<p>{many}</p>"));
    assert!(error(&bomb).contains(&format!("more than {MAX_TRIANGLES} triangles in total")));
    assert_eq!(
        read(&doubling(4, "<instance_geometry url=\"#geometry-0\"/>")).expect("harmless").parts.len(),
        17
    );
}

#[test]
fn long_names_are_cut() {
    let name = "n".repeat(100_000);
    let text = doubling(8, "<instance_geometry url=\"#geometry-0\"/>")
        .replace("<node id=\"d8\"", &format!("<node id=\"d8\" name=\"{name}\""));
    let model = read(&text).expect("mesh");
    assert_eq!((model.parts.len(), model.parts[0].name.len()), (257, 200));
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!("<COLLADA>{}{}</COLLADA>", "<node>".repeat(100_000), "</node>".repeat(100_000));
    assert!(error(&text).contains("nested deeper than 64"));
}

#[test]
fn a_file_truncated_at_any_byte_is_an_error() {
    let end = SMALL.trim_end().len();
    for end in 0..end {
        assert!(read(&SMALL[..end]).is_err(), "{end}");
    }
}

#[test]
fn renaming_any_element_does_not_panic() {
    let starts: Vec<usize> = SMALL
        .match_indices('<')
        .map(|(i, _)| i)
        .filter(|i| SMALL.as_bytes()[i + 1].is_ascii_alphabetic())
        .collect();
    for start in starts {
        let name: String =
            SMALL[start + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let text =
            SMALL.replace(&format!("<{name}"), "<unknown").replace(&format!("</{name}>"), "</unknown>");
        let _ = read(&text);
    }
}

/// Fuzzing found this bug: a vertex with −0 changed when it was written and read.
#[test]
fn minus_zero_becomes_zero() {
    let text = changed("0 0 0 1.5 0 0 0 0.1 0", "-0 0 -1e-46 1.5 -0.0 0 0 0.1 0");
    let text = text.replace(
        "<node ",
        "<node><rotate>0 0 1 180</rotate><instance_geometry url=\"#geometry-0\"/></node><node ",
    );
    let model = read(&text.replace("count=\"6\">0 0 1 0", "count=\"6\">-0 0 1 0")).expect("mesh");
    for part in &model.parts {
        let numbers = part.positions.iter().chain(&part.normals).flatten().chain(part.uvs.iter().flatten());
        assert!(numbers.clone().count() > 0 && numbers.filter(|c| **c == 0.0).all(|c| c.is_sign_positive()));
    }
    assert_eq!(read(&collada::write(&model)), Ok(model));
}

/// Fuzzing found this file: a mirrored and rotated scene with every primitive element except
/// `<triangles>`.
#[test]
fn a_rotated_mirror_image_survives_writing_and_reading() {
    let model = read(include_str!("data/turned_mirror.dae")).expect("mesh");
    let corners = |m: &Model| -> Vec<[[f32; 3]; 2]> {
        let corners = |p: &collada::MeshPart| {
            let indices = p.groups.iter().flat_map(|g| &g.indices).map(|i| *i as usize);
            indices.map(|i| [p.positions[i], p.normals[i]]).collect::<Vec<_>>()
        };
        m.parts.iter().flat_map(corners).collect()
    };
    let bits = |m: &Model| corners(m).iter().map(|c| c.map(|v| v.map(f32::to_bits))).collect::<Vec<_>>();
    let again = read(&collada::write(&model)).expect("again");
    assert_eq!(model.parts.len(), 3);
    assert_eq!(bits(&again), bits(&model));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>()) {
        let _ = collada::read("m", &bytes, &mut Warnings::default());
    }

    #[test]
    fn changed_bytes_never_panic(changes in proptest::collection::vec((0..SMALL.len(), any::<u8>()), 1..6)) {
        let mut bytes = SMALL.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        check(&bytes)?;
    }

    #[test]
    fn changed_words_never_panic(changes in proptest::collection::vec((0..200usize, word()), 1..6)) {
        let mut words: Vec<&str> = SMALL.split_inclusive(&[' ', '>', '<', '"', '\n'][..]).collect();
        for (at, word) in &changes {
            let at = at % words.len();
            words[at] = word;
        }
        check(words.concat().as_bytes())?;
    }

    #[test]
    fn swapped_pieces_never_panic(a in 0..SMALL.len(), b in 0..SMALL.len(), length in 0..400usize) {
        let piece = &SMALL.as_bytes()[a..SMALL.len().min(a + length)];
        let mut bytes = SMALL.as_bytes().to_vec();
        bytes.splice(b..b, piece.iter().copied());
        check(&bytes)?;
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("0 ".to_owned()),
        Just("-1 ".to_owned()),
        Just("4294967296 ".to_owned()),
        Just("1e308 ".to_owned()),
        Just("nan ".to_owned()),
        Just("3\"".to_owned()),
        Just("geometry-0-positions\"".to_owned()),
        Just("polylist ".to_owned()),
        "[a-z0-9<>\"/ #]{0,6}",
    ]
}

/// Reads a file. If the reader accepts the file, the model must be valid: the indices must be in
/// range and the numbers finite.
fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(model) = collada::read("m", bytes, &mut Warnings::default()) {
        for part in &model.parts {
            let n = part.positions.len();
            prop_assert!(part.normals.len() == n && part.uvs.len() == n && !part.groups.is_empty());
            prop_assert!(part.positions.iter().chain(&part.normals).flatten().all(|c| c.is_finite()));
            for group in &part.groups {
                prop_assert!(group.indices.iter().all(|i| (*i as usize) < n) && group.indices.len() % 3 == 0);
                prop_assert!(group.material.is_none_or(|m| m < model.materials.len()));
            }
        }
    }
    Ok(())
}
