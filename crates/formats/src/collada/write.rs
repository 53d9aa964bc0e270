//! Writes COLLADA 1.4.1 files. This crate's reader, Blender and Gazebo can read these files.
//!
//! The same model always gives the same bytes, because ids are sequence numbers and dates are
//! constant. A number is written with the fewest digits that parse to the same `f32`.

use super::{Group, Material, MeshPart, Model};
use crate::xml::escape;
use std::fmt::Write;

/// Writes a model as COLLADA 1.4.1, in metres with z up.
pub fn write(model: &Model) -> String {
    let mut out = ColladaWriter(String::new());
    out.line(0, r#"<?xml version="1.0" encoding="utf-8"?>"#);
    out.line(0, r#"<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">"#);
    out.line(1, "<asset>");
    out.line(2, "<created>2000-01-01T00:00:00Z</created>");
    out.line(2, "<modified>2000-01-01T00:00:00Z</modified>");
    out.line(2, r#"<unit name="meter" meter="1"/>"#);
    out.line(2, "<up_axis>Z_UP</up_axis>");
    out.line(1, "</asset>");
    out.library("library_images", model.materials.iter().enumerate(), image);
    out.library("library_effects", model.materials.iter().enumerate(), effect);
    out.library("library_materials", model.materials.iter().enumerate(), material);
    out.library("library_geometries", model.parts.iter().enumerate(), geometry);
    out.line(1, "<library_visual_scenes>");
    out.line(2, r#"<visual_scene id="scene">"#);
    for (i, part) in model.parts.iter().enumerate() {
        node(&mut out, i, part);
    }
    out.line(2, "</visual_scene>");
    out.line(1, "</library_visual_scenes>");
    out.line(1, r##"<scene><instance_visual_scene url="#scene"/></scene>"##);
    out.line(0, "</COLLADA>");
    out.0
}

/// Writes indented lines. The string contains the text that is written so far.
struct ColladaWriter(String);

impl ColladaWriter {
    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.0.push_str("  ");
        }
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// Writes a library element. An empty library is omitted, because COLLADA forbids empty
    /// libraries.
    fn library<'m, T: 'm>(
        &mut self,
        name: &str,
        items: impl Iterator<Item = (usize, &'m T)>,
        item: fn(&mut ColladaWriter, usize, &T),
    ) {
        let start = self.0.len();
        self.line(1, &format!("<{name}>"));
        let empty = self.0.len();
        for (i, t) in items {
            item(self, i, t);
        }
        if self.0.len() == empty {
            self.0.truncate(start);
        } else {
            self.line(1, &format!("</{name}>"));
        }
    }

    /// Writes a list of vectors as a `<source>` element.
    fn source<const N: usize>(&mut self, id: &str, names: [&str; N], vectors: &[[f32; N]]) {
        self.line(4, &format!(r#"<source id="{id}">"#));
        let mut text = format!(r#"<float_array id="{id}-array" count="{}">"#, vectors.len() * N);
        list(&mut text, vectors.iter().flatten());
        text.push_str("</float_array>");
        self.line(5, &text);
        let params: String = names.map(|n| format!(r#"<param name="{n}" type="float"/>"#)).concat();
        let accessor = format!(r##"source="#{id}-array" count="{}" stride="{N}""##, vectors.len());
        self.line(
            5,
            &format!("<technique_common><accessor {accessor}>{params}</accessor></technique_common>"),
        );
        self.line(4, "</source>");
    }
}

/// Appends numbers to `text`, separated by spaces.
fn list<'n, T: std::fmt::Display + 'n>(text: &mut String, numbers: impl Iterator<Item = &'n T>) {
    for (i, number) in numbers.enumerate() {
        if i > 0 {
            text.push(' ');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{number}");
    }
}

fn numbers(numbers: &[f32]) -> String {
    let mut text = String::new();
    list(&mut text, numbers.iter());
    text
}

fn image(out: &mut ColladaWriter, i: usize, material: &Material) {
    if let Some(texture) = &material.texture {
        let path = uri(texture);
        out.line(2, &format!(r#"<image id="image-{i}"><init_from>{path}</init_from></image>"#));
    }
}

fn effect(out: &mut ColladaWriter, i: usize, material: &Material) {
    let [r, g, b, a] = material.colour;
    let [er, eg, eb] = material.emissive;
    out.line(2, &format!(r#"<effect id="effect-{i}"><profile_COMMON>"#));
    let diffuse = match material.texture {
        Some(_) => {
            let surface = format!(r#"<surface type="2D"><init_from>image-{i}</init_from></surface>"#);
            out.line(3, &format!(r#"<newparam sid="surface-{i}">{surface}</newparam>"#));
            let sampler = format!("<sampler2D><source>surface-{i}</source></sampler2D>");
            out.line(3, &format!(r#"<newparam sid="sampler-{i}">{sampler}</newparam>"#));
            format!(r#"<texture texture="sampler-{i}" texcoord="UV"/>"#)
        }
        None => format!("<color>{} 1</color>", numbers(&[r, g, b])),
    };
    out.line(3, r#"<technique sid="common">"#);
    out.line(4, "<lambert>");
    out.line(5, &format!("<emission><color>{} 1</color></emission>", numbers(&[er, eg, eb])));
    out.line(5, &format!("<diffuse>{diffuse}</diffuse>"));
    if a != 1.0 {
        out.line(5, &format!(r#"<transparent opaque="A_ONE"><color>1 1 1 {a}</color></transparent>"#));
        out.line(5, "<transparency><float>1</float></transparency>");
    }
    out.line(4, "</lambert>");
    // COLLADA cannot express a texture that is multiplied by a colour. The colour is therefore
    // written as an extension. Other readers ignore the extension.
    if material.texture.is_some() && [r, g, b] != [1.0; 3] {
        let tint = numbers(&[r, g, b]);
        out.line(
            4,
            &format!(r#"<extra><technique profile="CHICANE"><tint>{tint}</tint></technique></extra>"#),
        );
    }
    out.line(3, "</technique>");
    out.line(2, "</profile_COMMON></effect>");
}

fn material(out: &mut ColladaWriter, i: usize, material: &Material) {
    let name = escape(&printable(&material.name));
    let effect = format!(r##"<instance_effect url="#effect-{i}"/>"##);
    out.line(2, &format!(r#"<material id="material-{i}" name="{name}">{effect}</material>"#));
}

fn geometry(out: &mut ColladaWriter, i: usize, part: &MeshPart) {
    let id = format!("geometry-{i}");
    let count = part.positions.len();
    let (normals, uvs) = (part.normals.len() == count, part.uvs.len() == count);
    out.line(2, &format!(r#"<geometry id="{id}" name="{}">"#, escape(&printable(&part.name))));
    out.line(3, "<mesh>");
    out.source(&format!("{id}-positions"), ["X", "Y", "Z"], &part.positions);
    if normals {
        out.source(&format!("{id}-normals"), ["X", "Y", "Z"], &part.normals);
    }
    if uvs {
        out.source(&format!("{id}-uvs"), ["S", "T"], &part.uvs);
    }
    let positions = format!(r##"<input semantic="POSITION" source="#{id}-positions"/>"##);
    out.line(4, &format!(r#"<vertices id="{id}-vertices">{positions}</vertices>"#));
    for Group { material, indices } in &part.groups {
        let symbol = material.map_or(String::new(), |m| format!(r#" material="material-{m}""#));
        out.line(4, &format!(r#"<triangles{symbol} count="{}">"#, indices.len() / 3));
        out.line(5, &format!(r##"<input semantic="VERTEX" source="#{id}-vertices" offset="0"/>"##));
        if normals {
            out.line(5, &format!(r##"<input semantic="NORMAL" source="#{id}-normals" offset="0"/>"##));
        }
        if uvs {
            out.line(5, &format!(r##"<input semantic="TEXCOORD" source="#{id}-uvs" offset="0" set="0"/>"##));
        }
        let mut p = String::from("<p>");
        list(&mut p, indices.iter());
        p.push_str("</p>");
        out.line(5, &p);
        out.line(4, "</triangles>");
    }
    out.line(3, "</mesh>");
    out.line(2, "</geometry>");
}

fn node(out: &mut ColladaWriter, i: usize, part: &MeshPart) {
    out.line(3, &format!(r#"<node id="node-{i}" name="{}">"#, escape(&printable(&part.name))));
    let mut used: Vec<usize> = part.groups.iter().filter_map(|g| g.material).collect();
    used.sort_unstable();
    used.dedup();
    if used.is_empty() {
        out.line(4, &format!(r##"<instance_geometry url="#geometry-{i}"/>"##));
    } else {
        out.line(4, &format!(r##"<instance_geometry url="#geometry-{i}">"##));
        out.line(5, "<bind_material><technique_common>");
        for m in used {
            let uv = r#"<bind_vertex_input semantic="UV" input_semantic="TEXCOORD" input_set="0"/>"#;
            let bind = format!(r##"symbol="material-{m}" target="#material-{m}""##);
            out.line(6, &format!("<instance_material {bind}>{uv}</instance_material>"));
        }
        out.line(5, "</technique_common></bind_material>");
        out.line(4, "</instance_geometry>");
    }
    out.line(3, "</node>");
}

/// Replaces the characters that XML does not allow by U+FFFD.
fn printable(name: &str) -> String {
    let bad = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    name.chars().map(|c| if bad(c) { '\u{fffd}' } else { c }).collect()
}

/// Turns a path into a URI: special characters become percent escapes.
fn uri(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-~+,=@()".contains(&b);
    let mut text = String::with_capacity(path.len());
    for b in path.bytes() {
        if plain(b) {
            text.push(b as char);
        } else {
            let _ = write!(text, "%{b:02X}");
        }
    }
    text
}
