//! One `<geometry>`: polygons of any kind become triangles with positions, normals and uvs.
//!
//! Claims of the file (counts) are never trusted for allocation: what is kept grows with the data
//! that is really there.

use super::MAX_TRIANGLES;
use super::source::{indices, local, vectors};
use super::weld::{Arena, Corner, Welded, weld};
use crate::error::{Error, Warnings};
use crate::xml::{Document, Element, excerpt};
use glam::DVec3;
use std::collections::BTreeMap;
use std::ops::Range;

/// Vectors of one kind that a geometry may hold: more than its triangles can use.
const MAX_VECTORS: usize = 3 * MAX_TRIANGLES;
/// Inputs of one `<vertices>` that are looked at: many primitives may share it.
const MAX_INPUTS: usize = 64;
/// Largest offset of an input.
const MAX_OFFSET: usize = 63;

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

/// Where the indices of a corner lead: the offset in its step, and a piece of the arena.
#[derive(Clone)]
struct Input {
    offset: usize,
    vectors: Range<u32>,
}

/// What a primitive element refers to.
struct Inputs {
    stride: usize,
    position: Input,
    normal: Option<Input>,
    uv: Option<Input>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Position,
    Normal,
    Uv,
}

struct Builder<'a> {
    doc: &'a Document<'a>,
    /// Sources and vertices by id.
    parts: BTreeMap<&'a str, &'a Element>,
    arena: Arena,
    loaded: BTreeMap<(Kind, &'a str), Range<u32>>,
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

    /// Finds what the indices of a primitive lead to.
    fn inputs(&mut self, e: &'a Element) -> Result<Inputs, Error> {
        let doc = self.doc;
        let mut stride = 1;
        let (mut position, mut normal, mut uv) = (None, None, None);
        let mut vertices = None;
        let mut uv_set = u32::MAX;
        for input in e.all("input") {
            let text = input.attribute("offset").unwrap_or("0");
            let offset = text.trim().parse::<usize>().ok().filter(|o| *o <= MAX_OFFSET);
            let offset = offset.ok_or_else(|| doc.error(input, format!("bad offset '{}'", excerpt(text))))?;
            stride = stride.max(offset + 1);
            match input.attribute("semantic") {
                Some("VERTEX") => vertices = Some((offset, self.part(input)?)),
                Some("POSITION") => position = Some((offset, input)),
                Some("NORMAL") => normal = Some((offset, input)),
                Some("TEXCOORD") => {
                    let set = input.attribute("set").and_then(|s| s.trim().parse().ok()).unwrap_or(0);
                    if uv.is_none() || set < uv_set {
                        (uv, uv_set) = (Some((offset, input)), set);
                    }
                }
                _ => {}
            }
        }
        if let Some((offset, vertices)) = vertices {
            for input in vertices.all("input").take(MAX_INPUTS) {
                let slot = match input.attribute("semantic") {
                    Some("POSITION") => &mut position,
                    Some("NORMAL") => &mut normal,
                    Some("TEXCOORD") => &mut uv,
                    _ => continue,
                };
                slot.get_or_insert((offset, input));
            }
        }
        let Some(position) = position else {
            return Err(doc.error(e, format!("<{}> has no input of positions", e.name)));
        };
        Ok(Inputs {
            stride,
            position: self.load(Kind::Position, position)?,
            normal: normal.map(|n| self.load(Kind::Normal, n)).transpose()?,
            uv: uv.map(|t| self.load(Kind::Uv, t)).transpose()?,
        })
    }

    /// The source or vertices that an input names.
    fn part(&self, input: &'a Element) -> Result<&'a Element, Error> {
        let reference = input.attribute("source").unwrap_or("");
        local(reference)
            .and_then(|id| self.parts.get(id).copied())
            .ok_or_else(|| self.doc.error(input, format!("no source '{}' in this mesh", excerpt(reference))))
    }

    /// Brings the vectors of a source into the arena, once.
    fn load(&mut self, kind: Kind, (offset, input): (usize, &'a Element)) -> Result<Input, Error> {
        let source = self.part(input)?;
        let id = source.attribute("id").unwrap_or("");
        if let Some(vectors) = self.loaded.get(&(kind, id)) {
            return Ok(Input { offset, vectors: vectors.clone() });
        }
        let (start, end) = match kind {
            Kind::Position => append(&mut self.arena.positions, vectors(self.doc, source)?),
            Kind::Normal => append(&mut self.arena.normals, vectors(self.doc, source)?),
            Kind::Uv => append(&mut self.arena.uvs, vectors(self.doc, source)?),
        };
        if end > MAX_VECTORS {
            return Err(self.doc.error(source, format!("more than {MAX_VECTORS} vectors in one geometry")));
        }
        let vectors = start as u32..end as u32;
        self.loaded.insert((kind, id), vectors.clone());
        Ok(Input { offset, vectors })
    }

    /// Corners from steps of indices, all in range. Without normals they get index 0 for now.
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

/// Appends to a list; answers where the new piece starts and ends.
fn append<T>(list: &mut Vec<T>, more: Vec<T>) -> (usize, usize) {
    let start = list.len();
    list.extend(more);
    (start, list.len())
}
