//! One `<geometry>`: polygons of any kind become triangles with positions, normals and uvs.
//!
//! Claims of the file (counts) are never trusted for allocation: what is kept grows with the data
//! that is really there.

use super::MAX_TRIANGLES;
use super::inputs::{Input, Inputs, Kind, append};
use super::source::indices;
use super::weld::{Arena, Corner, Welded, weld};
use crate::error::{Error, Warnings};
use crate::xml::{Document, Element};
use glam::DVec3;
use std::collections::BTreeMap;
use std::ops::Range;

/// The triangles of a geometry in its own frame.
pub(super) struct Mesh<'a> {
    pub(super) welded: Welded,
    /// Runs of indices that share a material symbol, in file order.
    pub(super) runs: Vec<(Option<&'a str>, Range<usize>)>,
}

/// Reads a `<geometry>`.
pub(super) fn read<'a>(
    doc: &'a Document<'a>,
    geometry: &'a Element,
    warnings: &mut Warnings,
) -> Result<Mesh<'a>, Error> {
    let mut builder = Builder::new(doc);
    let Some(mesh) = geometry.child("mesh") else {
        warnings.add("a geometry without <mesh> is passed over", || doc.place(geometry));
        return Ok(builder.finish());
    };
    for e in &mesh.children {
        if let ("source" | "vertices", Some(id)) = (e.name.as_str(), e.attribute("id")) {
            builder.parts.entry(id).or_insert(e);
        }
    }
    for e in &mesh.children {
        if matches!(e.name.as_str(), "triangles" | "polylist" | "polygons" | "tristrips" | "trifans") {
            let start = builder.corners.len();
            builder.primitive(e, warnings)?;
            if builder.corners.len() > start {
                builder.runs.push((e.attribute("material"), start..builder.corners.len()));
            }
        }
    }
    Ok(builder.finish())
}

pub(super) struct Builder<'a> {
    pub(super) doc: &'a Document<'a>,
    /// Sources and vertices by id.
    pub(super) parts: BTreeMap<&'a str, &'a Element>,
    pub(super) arena: Arena,
    pub(super) loaded: BTreeMap<(Kind, &'a str), Range<u32>>,
    zero_uv: Option<u32>,
    corners: Vec<Corner>,
    runs: Vec<(Option<&'a str>, Range<usize>)>,
}

impl<'a> Builder<'a> {
    fn new(doc: &'a Document<'a>) -> Builder<'a> {
        Builder {
            doc,
            parts: BTreeMap::new(),
            arena: Arena::default(),
            loaded: BTreeMap::new(),
            zero_uv: None,
            corners: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn finish(self) -> Mesh<'a> {
        Mesh { welded: weld(&self.arena, &self.corners), runs: self.runs }
    }

    /// Reads one element of polygons.
    fn primitive(&mut self, e: &'a Element, warnings: &mut Warnings) -> Result<(), Error> {
        let doc = self.doc;
        // Holes are rare in what builders export, and a filled hole is better than no face.
        let holed = e.all("ph").filter_map(|ph| ph.child("p"));
        let lists: Vec<&Element> = e.all("p").chain(holed).collect();
        if e.child("ph").is_some() {
            warnings.add("holes in polygons are filled", || doc.place(e));
        }
        if lists.is_empty() {
            return Ok(());
        }
        let inputs = self.inputs(e)?;
        let stride = inputs.stride;
        let mut faces = 0u64;
        let mut vcount = match e.child("vcount") {
            Some(v) if e.name == "polylist" => indices(doc, v)?.into_iter(),
            _ => Vec::new().into_iter(),
        };
        for p in lists {
            let words = indices(doc, p)?;
            let whole = if e.name == "triangles" { 3 * stride } else { stride };
            if words.len() % whole != 0 {
                let message = format!("{} indices are no multiple of {whole}", words.len());
                return Err(doc.error(p, message));
            }
            if words.len() / stride > 3 * MAX_TRIANGLES {
                return Err(doc.error(p, format!("more than {MAX_TRIANGLES} triangles")));
            }
            let corners = self.corners(&words, &inputs, p)?;
            match e.name.as_str() {
                "triangles" => {
                    for t in corners.chunks_exact(3) {
                        self.triangle([t[0], t[1], t[2]], p)?;
                    }
                    faces += corners.len() as u64 / 3;
                }
                "tristrips" => {
                    for (i, t) in corners.windows(3).enumerate() {
                        let turned = if i % 2 == 0 { [t[0], t[1], t[2]] } else { [t[1], t[0], t[2]] };
                        self.triangle(turned, p)?;
                    }
                    faces += 1;
                }
                "polylist" => {
                    let mut rest = corners.as_slice();
                    for n in vcount.by_ref() {
                        let Some((face, after)) = rest.split_at_checked(n as usize) else {
                            return Err(doc.error(e, "<vcount> asks for more corners than <p> holds"));
                        };
                        self.fan(face, p)?;
                        rest = after;
                        faces += 1;
                    }
                    if !rest.is_empty() {
                        warnings
                            .add("<p> of a <polylist> holds more than <vcount> asks for", || doc.place(p));
                    }
                }
                _ => {
                    self.fan(&corners, p)?;
                    faces += 1;
                }
            }
        }
        if e.attribute("count").is_some_and(|c| c.trim().parse() != Ok(faces)) {
            warnings.add(format!("count of <{}> does not match its data", e.name), || doc.place(e));
        }
        Ok(())
    }

    /// Corners from steps of indices, all in range. Without normals they get index 0 until those are made.
    fn corners(&mut self, words: &[u32], inputs: &Inputs, p: &Element) -> Result<Vec<Corner>, Error> {
        let uvs = &mut self.arena.uvs;
        let zero_uv = match &inputs.uv {
            Some(_) => 0,
            None => *self.zero_uv.get_or_insert_with(|| append(uvs, vec![[0.0; 2]]).0 as u32),
        };
        let mut corners = Vec::with_capacity(words.len() / inputs.stride);
        for (i, step) in words.chunks_exact(inputs.stride).enumerate() {
            let find = |input: &Input, what: &str| {
                let index = step[input.offset];
                let found = input.vectors.start.checked_add(index).filter(|i| *i < input.vectors.end);
                found.ok_or_else(|| {
                    let n = input.vectors.len();
                    self.doc.error(p, format!("corner {} wants {what} {index} (from 0) of {n}", i + 1))
                })
            };
            corners.push(Corner {
                position: find(&inputs.position, "position")?,
                normal: inputs.normal.as_ref().map_or(Ok(NO_NORMAL), |input| find(input, "normal"))?,
                uv: inputs.uv.as_ref().map_or(Ok(zero_uv), |input| find(input, "uv"))?,
            });
        }
        Ok(corners)
    }

    /// Triangles from the first corner of a face to each of its sides.
    fn fan(&mut self, face: &[Corner], p: &Element) -> Result<(), Error> {
        if let Some((&first, rest)) = face.split_first() {
            for side in rest.windows(2) {
                self.triangle([first, side[0], side[1]], p)?;
            }
        }
        Ok(())
    }

    fn triangle(&mut self, mut corners: [Corner; 3], p: &Element) -> Result<(), Error> {
        if self.corners.len() >= 3 * MAX_TRIANGLES {
            return Err(self.doc.error(p, format!("more than {MAX_TRIANGLES} triangles")));
        }
        if corners[0].normal == NO_NORMAL {
            let [a, b, c] = corners.map(|c| self.arena.positions[c.position as usize].map(f64::from));
            let [a, b, c] = [a, b, c].map(DVec3::from_array);
            let normal = (b - a).cross(c - a).try_normalize().unwrap_or(DVec3::Z);
            let index = self.arena.normals.len() as u32;
            self.arena.normals.push(normal.to_array().map(|n| n as f32));
            corners = corners.map(|c| Corner { normal: index, ..c });
        }
        self.corners.extend(corners);
        Ok(())
    }
}

/// Stands for a normal that is still to be worked out.
const NO_NORMAL: u32 = u32::MAX;
