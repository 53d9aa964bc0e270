//! Tests that the materials and triangles of a model stay the same when the model is written and
//! read.

use chicane_formats::Warnings;
use chicane_formats::collada::{self, Group, Material, MeshPart, Model};
use proptest::prelude::*;

fn read(text: &str) -> Model {
    let mut warnings = Warnings::default();
    collada::read("m.dae", text.as_bytes(), &mut warnings).expect("written files are readable")
}

/// Returns the model as lines of text. Each group of triangles has a line with the name of the part
/// and the material. After it, each corner of the group has a line with its position, normal and
/// texture coordinates.
fn corners(model: &Model) -> Vec<String> {
    let mut lines = Vec::new();
    for part in &model.parts {
        for group in &part.groups {
            lines.push(format!("{:?} {:?}", part.name, group.material));
            for i in group.indices.iter().map(|i| *i as usize) {
                lines.push(format!("{:?} {:?} {:?}", part.positions[i], part.normals[i], part.uvs[i]));
            }
        }
    }
    lines
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -100.0..100.0f32,
        2 => (-3i8..3).prop_map(f32::from),
        1 => proptest::num::f32::NORMAL | proptest::num::f32::SUBNORMAL | proptest::num::f32::ZERO,
    ]
}

fn unit() -> impl Strategy<Value = [f32; 3]> {
    [-1.0..1.0f32, -1.0..1.0, 0.1..1.0].prop_map(|v| {
        let length = v.iter().map(|c| c * c).sum::<f32>().sqrt();
        v.map(|c| c / length)
    })
}

fn material() -> impl Strategy<Value = Material> {
    let part = 0.0..=1.0f32;
    let texture = proptest::option::of("[a-z][a-zA-Z0-9 ._%&<>'\"#?ä/-]{0,12}");
    (
        ".{0,8}",
        [part.clone(), part.clone(), part.clone(), 0.01..=1.0f32],
        [part.clone(), part.clone(), part],
        texture,
    )
        .prop_map(|(name, colour, emissive, texture)| {
            let name = name.chars().filter(|c| !c.is_control()).collect();
            Material { name, colour, emissive, texture }
        })
}

/// Generates parts with vertices in any order. A vertex may be used several times or not at all.
fn part(materials: usize) -> impl Strategy<Value = MeshPart> {
    let vertices =
        proptest::collection::vec(([number(), number(), number()], unit(), [number(), number()]), 3..12);
    (vertices, "[^\\p{C}]{0,8}").prop_flat_map(move |(vertices, name)| {
        let n = vertices.len() as u32;
        let indices = move || {
            proptest::collection::vec([0..n, 0..n, 0..n], 1..6)
                .prop_map(|t| t.into_iter().flatten().collect::<Vec<_>>())
        };
        // Each part has at most one group per material, like the parts that the reader returns.
        proptest::sample::subsequence((0..=materials).collect::<Vec<_>>(), 1..=materials + 1)
            .prop_flat_map(move |chosen| {
                let group = move |m: usize| {
                    indices().prop_map(move |indices| Group { material: m.checked_sub(1), indices })
                };
                chosen.into_iter().map(group).collect::<Vec<_>>()
            })
            .prop_map(move |groups| MeshPart {
                name: name.clone(),
                positions: vertices.iter().map(|v| v.0).collect(),
                normals: vertices.iter().map(|v| v.1).collect(),
                uvs: vertices.iter().map(|v| v.2).collect(),
                groups,
            })
    })
}

fn model() -> impl Strategy<Value = Model> {
    proptest::collection::vec(material(), 0..4).prop_flat_map(|materials| {
        let parts = proptest::collection::vec(part(materials.len()), 0..4);
        parts.prop_map(move |parts| Model { parts, materials: materials.clone() })
    })
}

proptest! {
    #[test]
    fn materials_and_corners_survive_a_round_trip(model in model()) {
        let again = read(&collada::write(&model));
        prop_assert_eq!(&again.materials, &model.materials);
        prop_assert_eq!(corners(&again), corners(&model));
    }

    #[test]
    fn a_second_round_trip_gives_the_same_bits(model in model()) {
        let read_once = read(&collada::write(&model));
        let text = collada::write(&read_once);
        prop_assert_eq!(&read(&text), &read_once);
        prop_assert_eq!(collada::write(&read(&text)), text);
    }
}

#[test]
fn an_empty_model_survives_a_round_trip() {
    assert_eq!(read(&collada::write(&Model::default())), Model::default());
}

#[test]
fn the_writer_gives_the_golden_text_of_one_triangle() {
    let model = Model {
        parts: vec![MeshPart {
            name: "track <1>".to_owned(),
            positions: vec![[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [0.0, 0.1, 0.0]],
            normals: vec![[0.0, 0.0, 1.0]; 3],
            uvs: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
            groups: vec![Group { material: Some(0), indices: vec![0, 1, 2] }],
        }],
        materials: vec![Material {
            name: "road".to_owned(),
            colour: [1.0, 1.0, 1.0, 0.5],
            emissive: [0.0; 3],
            texture: Some("textures/my road.png".to_owned()),
        }],
    };
    assert_eq!(collada::write(&model), include_str!("data/triangle.dae"));
    assert_eq!(read(include_str!("data/triangle.dae")), model);
}
