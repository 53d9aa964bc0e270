//! Tests the COLLADA reader with the units, axes, polygons, nodes and materials that modelling
//! programs write.

use chicane_formats::Warnings;
use chicane_formats::collada::{self, Model};

fn read_with_warnings(text: &str) -> (Model, Vec<String>) {
    let mut warnings = Warnings::default();
    let model = collada::read("meshes/m.dae", text.as_bytes(), &mut warnings).expect("mesh");
    (model, warnings.into_vec().into_iter().map(|w| w.message).collect())
}

fn read(text: &str) -> Model {
    let (model, warnings) = read_with_warnings(text);
    assert_eq!(warnings, [""; 0], "no warnings");
    model
}

const Z_UP: &str = r#"<asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>"#;

/// A geometry with one triangle. Its corners are (1, 2, 3), (4, 2, 3) and (1, 5, 3).
const TRIANGLE: &str = r##"<geometry id="g" name="gee"><mesh>
  <source id="p"><float_array id="pa" count="9">1 2 3 4 2 3 1 5 3</float_array>
    <technique_common><accessor source="#pa" count="3" stride="3">
      <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
    </accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="1" material="sym"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry>"##;

fn file(asset: &str, geometries: &str, rest: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\
         {asset}<library_geometries>{geometries}</library_geometries>{rest}</COLLADA>"
    )
}

fn scene(nodes: &str) -> String {
    format!(
        "<library_visual_scenes><visual_scene id=\"s\">{nodes}</visual_scene></library_visual_scenes>\
         <scene><instance_visual_scene url=\"#s\"/></scene>"
    )
}

/// A mesh file with a unit square in the xy plane. `primitives` is the text of the elements that
/// contain the polygons. A corner of a polygon has separate indices for position, normal and
/// texture coordinates.
fn square(primitives: &str) -> String {
    let geometry = format!(
        r##"<geometry id="g"><mesh>
        <source id="p"><float_array id="pa">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
          <technique_common><accessor source="#pa" count="4" stride="3"><param name="X"/><param name="Y"/><param name="Z"/></accessor></technique_common></source>
        <source id="n"><float_array id="na">0 0 1</float_array>
          <technique_common><accessor source="#na" count="1" stride="3"><param name="X"/><param name="Y"/><param name="Z"/></accessor></technique_common></source>
        <source id="t"><float_array id="ta">9 0 0 9 9 1 0 9 9 1 1 9 9 0 1 9</float_array>
          <technique_common><accessor source="#ta" count="4" stride="4"><param type="float"/><param name="S"/><param name="T"/><param/></accessor></technique_common></source>
        <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{primitives}</mesh></geometry>"##
    );
    file(Z_UP, &geometry.replace("<param name=\"X\"/>", "<param name=\"X\" type=\"float\"/>"), "")
}

const INPUTS: &str = r##"<input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="2"/><input semantic="TEXCOORD" source="#t" offset="1" set="0"/><input semantic="COLOR" source="#nowhere" offset="3"/>"##;

/// The corner positions of all triangles of a model.
fn triangles(model: &Model) -> Vec<[[f32; 3]; 3]> {
    let parts = model.parts.iter();
    parts
        .flat_map(|p| {
            let corners = p.groups.iter().flat_map(|g| g.indices.chunks_exact(3));
            corners.map(|t| [0, 1, 2].map(|i| p.positions[t[i] as usize])).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn units_are_converted_to_metres_and_up_axes_are_ignored() {
    let first = |asset: &str| {
        read(&file(asset, &TRIANGLE.replace(" material=\"sym\"", ""), "")).parts[0].positions[0]
    };
    assert_eq!(first(Z_UP), [1.0, 2.0, 3.0]);
    assert_eq!(first("<asset><up_axis>Y_UP</up_axis></asset>"), [1.0, 2.0, 3.0]);
    assert_eq!(first(""), [1.0, 2.0, 3.0]);
    assert_eq!(first("<asset><up_axis>X_UP</up_axis></asset>"), [1.0, 2.0, 3.0]);
    assert_eq!(first("<asset><unit meter=\"0.01\"/><up_axis>Z_UP</up_axis></asset>"), [0.01, 0.02, 0.03]);
}

#[test]
fn missing_normals_and_uvs_are_generated() {
    let part = &read(&file(Z_UP, &TRIANGLE.replace(" material=\"sym\"", ""), "")).parts[0];
    assert_eq!(part.name, "gee");
    assert_eq!(part.normals, [[0.0, 0.0, 1.0]; 3]);
    assert_eq!(part.uvs, [[0.0, 0.0]; 3]);
    assert_eq!((part.groups.len(), part.groups[0].material), (1, None));
}

#[test]
fn every_primitive_element_becomes_triangles() {
    let expected = [[[0., 0., 0.], [1., 0., 0.], [1., 1., 0.]], [[0., 0., 0.], [1., 1., 0.], [0., 1., 0.]]];
    let corner = |i: usize| format!("{i} {i} 0 7");
    let p = |order: &[usize]| {
        format!("<p>{}</p>", order.iter().map(|i| corner(*i)).collect::<Vec<_>>().join(" "))
    };
    let kinds = [
        format!("<triangles count=\"2\">{INPUTS}{}</triangles>", p(&[0, 1, 2, 0, 2, 3])),
        format!("<polylist count=\"1\">{INPUTS}<vcount>4</vcount>{}</polylist>", p(&[0, 1, 2, 3])),
        format!("<polylist count=\"2\">{INPUTS}<vcount>3 3</vcount>{}</polylist>", p(&[0, 1, 2, 0, 2, 3])),
        format!("<polygons count=\"1\">{INPUTS}{}</polygons>", p(&[0, 1, 2, 3])),
        format!("<trifans count=\"1\">{INPUTS}{}</trifans>", p(&[0, 1, 2, 3])),
        format!(
            "<lines count=\"1\">{INPUTS}<p>5 5 5 5</p></lines><triangles>{INPUTS}{}</triangles>",
            p(&[0, 1, 2, 0, 2, 3])
        ),
    ];
    for kind in kinds {
        let model = read(&square(&kind));
        assert_eq!(triangles(&model), expected, "{kind}");
        let part = &model.parts[0];
        assert_eq!(part.positions.len(), 4, "equal corners become one vertex");
        assert_eq!(part.uvs, [[0., 0.], [1., 0.], [1., 1.], [0., 1.]]);
        assert_eq!(part.normals, [[0., 0., 1.]; 4]);
    }
    let strip = read(&square(&format!("<tristrips count=\"1\">{INPUTS}{}</tristrips>", p(&[0, 1, 3, 2]))));
    assert_eq!(
        triangles(&strip)[1],
        [[0., 1., 0.], [1., 0., 0.], [1., 1., 0.]],
        "the second triangle is reversed"
    );
    let points = format!("<polylist>{INPUTS}<vcount>1 2 0 3</vcount>{}</polylist>", p(&[0, 0, 1, 0, 1, 2]));
    assert_eq!(triangles(&read(&square(&points))), expected[..1], "faces without area are dropped");
}

#[test]
fn holes_and_wrong_counts_give_warnings() {
    let corner = "0 0 0 0 1 1 0 0 2 2 0 0";
    let holed =
        square(&format!("<polygons count=\"1\">{INPUTS}<ph><p>{corner}</p><h>3 3 0 0</h></ph></polygons>"));
    let (model, warnings) = read_with_warnings(&holed);
    assert_eq!((triangles(&model).len(), warnings), (1, vec!["holes in polygons are filled".to_owned()]));
    for count in ["100000000000", "1e11", "-1", "2"] {
        let (model, warnings) = read_with_warnings(&square(&format!(
            "<triangles count=\"{count}\">{INPUTS}<p>{corner}</p></triangles>"
        )));
        assert_eq!(
            (triangles(&model).len(), warnings[0].as_str()),
            (1, "count of <triangles> does not match its data")
        );
    }
}

#[test]
fn inputs_of_a_vertices_element_share_its_index() {
    let text = square(
        "<triangles><input semantic=\"VERTEX\" source=\"#v\" offset=\"1\"/><p>9 0 9 1 9 2</p></triangles>",
    );
    let text = text.replace(
        "<vertices id=\"v\">",
        "<vertices id=\"v\"><input semantic=\"TEXCOORD\" source=\"#t\"/><input semantic=\"NORMAL\" source=\"#p\"/>",
    );
    let part = &read(&text).parts[0];
    assert_eq!(part.uvs, [[0., 0.], [1., 0.], [1., 1.]]);
    // The file uses the positions (0, 0, 0), (1, 0, 0) and (1, 1, 0) as normals too. The reader
    // normalises them, and replaces the zero vector by +z.
    assert_eq!(part.normals[..2], [[0., 0., 1.], [1., 0., 0.]]);
    assert!((part.normals[2][0] - 0.5f32.sqrt()).abs() < 1e-6);
}

#[test]
fn the_texture_coordinates_with_the_lowest_set_are_used() {
    let inputs = INPUTS
        .replace("set=\"0\"", "set=\"1\"")
        .replace("semantic=\"COLOR\" source=\"#nowhere\"", "semantic=\"TEXCOORD\" source=\"#t\" set=\"0\"");
    let part =
        &read(&square(&format!("<triangles>{inputs}<p>0 0 0 3 1 0 0 2 2 0 0 1</p></triangles>"))).parts[0];
    assert_eq!(part.uvs, [[0., 1.], [1., 1.], [1., 0.]]);
}

#[test]
fn transforms_of_nested_and_instanced_nodes_are_applied() {
    let geometry = TRIANGLE.replace(" material=\"sym\"", "");
    let nodes = r##"<node name="a"><translate>10 0 0</translate><rotate>0 0 1 90</rotate><scale>2 1 1</scale>
          <instance_geometry url="#g"/>
          <node id="b"><matrix>1 0 0 0  0 1 0 0  0 0 1 5  0 0 0 1</matrix><instance_geometry url="#g"/></node>
          <instance_node url="#shared"/></node>"##;
    let rest = r##"<library_nodes><node id="shared"><instance_geometry url="#g"/></node></library_nodes>"##
        .to_owned()
        + &scene(nodes);
    let model = read(&file(Z_UP, &geometry, &rest));
    let names: Vec<&str> = model.parts.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "shared"]);
    // (1, 2, 3) is scaled by 2 along x, rotated by 90° about z, then moved by 10 along x.
    let near = |p: [f32; 3], q: [f32; 3]| p.iter().zip(q).all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(near(model.parts[0].positions[0], [8.0, 2.0, 3.0]), "{:?}", model.parts[0]);
    assert!(near(model.parts[1].positions[0], [8.0, 2.0, 8.0]), "{:?}", model.parts[1]);
    assert_eq!(model.parts[2].positions, model.parts[0].positions);
    assert!(near(model.parts[0].normals[0], [0.0, 0.0, 1.0]));
}

#[test]
fn a_mirroring_scale_keeps_the_front_of_triangles() {
    let nodes = r##"<node><scale>-1 1 1</scale><instance_geometry url="#g"/></node>"##;
    let part = &read(&file(Z_UP, &TRIANGLE.replace(" material=\"sym\"", ""), &scene(nodes))).parts[0];
    assert_eq!(part.normals, [[0.0, 0.0, 1.0]; 3]);
    let [a, b, c] = [0, 1, 2].map(|i| part.positions[part.groups[0].indices[i] as usize]);
    assert_eq!([a, b, c], [[-1., 2., 3.], [-1., 5., 3.], [-4., 2., 3.]]);
}

#[test]
fn normals_are_correct_under_a_non_uniform_scale() {
    // The node scales the height of this slope by 0.1, so that the normal points nearly up.
    let geometry =
        TRIANGLE.replace(" material=\"sym\"", "").replace("1 2 3 4 2 3 1 5 3", "0 0 0 1 0 1 0 1 0");
    let nodes = r##"<node><scale>1 1 0.1</scale><instance_geometry url="#g"/></node>"##;
    let n = read(&file(Z_UP, &geometry, &scene(nodes))).parts[0].normals[0];
    let length = (1.0f32 + 0.01).sqrt();
    assert!((n[0] + 0.1 / length).abs() < 1e-6 && (n[2] - 1.0 / length).abs() < 1e-6, "{n:?}");
}

#[test]
fn the_instanced_scene_is_used_else_the_first() {
    let geometry = TRIANGLE.replace(" material=\"sym\"", "");
    let scenes = |url: &str| {
        format!(
            r##"<library_visual_scenes><visual_scene id="one"/><visual_scene id="two"><node name="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="{url}"/></scene>"##
        )
    };
    assert_eq!(read(&file(Z_UP, &geometry, &scenes("#two"))).parts.len(), 1);
    let (model, warnings) = read_with_warnings(&file(Z_UP, &geometry, &scenes("#three")));
    assert_eq!((model.parts.len(), warnings), (0, vec!["the mesh has no triangles".to_owned()]));
}

#[test]
fn missing_references_are_warnings() {
    let nodes = r##"<node><instance_geometry url="#none"/><instance_node url="other.dae#x"/><skew>1 2 3</skew><instance_geometry url="#g"/></node>"##;
    let (model, warnings) = read_with_warnings(&file(Z_UP, TRIANGLE, &scene(nodes)));
    assert_eq!(model.parts.len(), 1);
    assert_eq!(
        warnings,
        [
            "<skew> of a mesh node is ignored",
            "no geometry '#none' in this file",
            "no node 'other.dae#x' in this file",
            "no material 'sym' for a mesh"
        ]
    );
}

#[test]
fn a_skinned_mesh_is_shown_in_its_rest_pose() {
    let controllers = r##"<library_controllers><controller id="c"><skin source="#g"><bind_shape_matrix>1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix></skin></controller></library_controllers>"##;
    let nodes = scene(r##"<node><instance_controller url="#c"/></node>"##);
    let geometry = TRIANGLE.replace(" material=\"sym\"", "");
    let (model, warnings) = read_with_warnings(&file(Z_UP, &geometry, &(controllers.to_owned() + &nodes)));
    assert_eq!(model.parts[0].positions[0], [2.0, 2.0, 3.0]);
    assert_eq!(warnings, ["an animated mesh is shown in its rest pose"]);
}

#[test]
fn materials_are_bound_by_symbol_and_give_one_group_each() {
    let primitive = |symbol: &str| {
        format!(
            "<triangles material=\"{symbol}\"><input semantic=\"VERTEX\" source=\"#v\"/><p>0 1 2</p></triangles>"
        )
    };
    let geometry = TRIANGLE.replace("</mesh>", &(primitive("other") + &primitive("sym") + "</mesh>"));
    let materials = r##"<library_effects><effect id="e1"><profile_COMMON><technique><phong><diffuse><color>1 0 0 1</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>
      <library_materials><material id="red" name="Red"><instance_effect url="#e1"/></material><material id="other"><instance_effect url="#e2"/></material></library_materials>"##;
    let nodes = scene(
        r##"<node><instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="sym" target="#red"/></technique_common></bind_material></instance_geometry></node>"##,
    );
    let (model, warnings) = read_with_warnings(&file(Z_UP, &geometry, &(materials.to_owned() + &nodes)));
    assert_eq!(warnings, ["no effect '#e2' for a material"]);
    let names: Vec<&str> = model.materials.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["Red", "other"]);
    assert_eq!(model.materials[0].colour, [1.0, 0.0, 0.0, 1.0]);
    let groups: Vec<_> = model.parts[0].groups.iter().map(|g| (g.material, g.indices.len())).collect();
    assert_eq!(groups, [(Some(0), 6), (Some(1), 3)]);
}
