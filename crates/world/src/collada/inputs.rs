//! What the indices of a primitive lead to: positions, normals and uvs, each read once.

use super::MAX_TRIANGLES;
use super::geometry::Builder;
use super::source::{local, vectors};
use crate::error::Error;
use crate::xml::{Element, excerpt};
use std::ops::Range;

/// Vectors of one kind that a geometry may hold: more than its triangles can use.
const MAX_VECTORS: usize = 3 * MAX_TRIANGLES;
/// Inputs of one `<vertices>` that are looked at: many primitives may share it.
const MAX_INPUTS: usize = 64;
/// Largest offset of an input.
const MAX_OFFSET: usize = 63;

/// Where the indices of a corner lead: the offset in its step, and a piece of the arena.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) offset: usize,
    pub(super) vectors: Range<u32>,
}

/// What a primitive element refers to.
pub(super) struct Inputs {
    pub(super) stride: usize,
    pub(super) position: Input,
    pub(super) normal: Option<Input>,
    pub(super) uv: Option<Input>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Position,
    Normal,
    Uv,
}

impl<'a> Builder<'a> {
    /// Finds what the indices of a primitive lead to.
    pub(super) fn inputs(&mut self, e: &'a Element) -> Result<Inputs, Error> {
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
}

/// Appends to a list; answers where the new piece starts and ends.
pub(super) fn append<T>(list: &mut Vec<T>, more: Vec<T>) -> (usize, usize) {
    let start = list.len();
    list.extend(more);
    (start, list.len())
}
