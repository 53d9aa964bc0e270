//! Loads the positions, normals and uvs that the indices of a primitive refer to. Each source is
//! loaded once for each of these three kinds of vectors.

use super::MAX_TRIANGLES;
use super::source::{local, vectors};
use super::weld::Arena;
use crate::error::Error;
use crate::xml::{Document, Element, excerpt};
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of positions, of normals and of uvs in a geometry. The maximum number of
/// triangles has this many corners, so a valid geometry needs no more vectors.
const MAX_VECTORS: usize = 3 * MAX_TRIANGLES;
/// Maximum number of inputs that are read from a `<vertices>` element. The reader visits this
/// element again for every primitive. Without a limit, the reading time could therefore be
/// quadratic.
const MAX_INPUTS: usize = 64;
/// Maximum `offset` attribute of an input. It limits the number of indices per corner.
const MAX_OFFSET: usize = 63;

/// One input of a primitive.
#[derive(Clone)]
pub(super) struct Input {
    /// Position of this input's index among the indices of one corner.
    pub(super) offset: usize,
    /// Range of the input's vectors in the arena.
    pub(super) vectors: Range<u32>,
}

/// The inputs of a primitive.
pub(super) struct Inputs {
    /// Number of indices per corner.
    pub(super) stride: usize,
    pub(super) position: Input,
    pub(super) normal: Option<Input>,
    pub(super) uv: Option<Input>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VectorKind {
    Position,
    Normal,
    Uv,
}

/// Loads the sources of one `<mesh>` into an arena.
pub(super) struct InputLoader<'a> {
    doc: &'a Document<'a>,
    /// The `<source>` and `<vertices>` elements of the mesh, by id.
    by_id: BTreeMap<&'a str, &'a Element>,
    pub(super) arena: Arena,
    /// The sources that are already loaded, with the range of their vectors in the arena.
    loaded: BTreeMap<(VectorKind, &'a str), Range<u32>>,
}

impl<'a> InputLoader<'a> {
    pub(super) fn new(doc: &'a Document<'a>, mesh: &'a Element) -> InputLoader<'a> {
        let mut by_id = BTreeMap::new();
        for e in &mesh.children {
            if let ("source" | "vertices", Some(id)) = (e.name.as_str(), e.attribute("id")) {
                by_id.entry(id).or_insert(e);
            }
        }
        InputLoader { doc, by_id, arena: Arena::default(), loaded: BTreeMap::new() }
    }

    /// Loads the inputs of a primitive element.
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
                Some("VERTEX") => vertices = Some((offset, self.source_of(input)?)),
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
            return Err(doc.error(e, format!("<{}> has no input with positions", e.name)));
        };
        Ok(Inputs {
            stride,
            position: self.load(VectorKind::Position, position)?,
            normal: normal.map(|n| self.load(VectorKind::Normal, n)).transpose()?,
            uv: uv.map(|t| self.load(VectorKind::Uv, t)).transpose()?,
        })
    }

    /// The `<source>` or `<vertices>` element that an input refers to.
    fn source_of(&self, input: &'a Element) -> Result<&'a Element, Error> {
        let reference = input.attribute("source").unwrap_or("");
        local(reference)
            .and_then(|id| self.by_id.get(id).copied())
            .ok_or_else(|| self.doc.error(input, format!("no source '{}' in this mesh", excerpt(reference))))
    }

    /// Appends the vectors of a source to the arena, unless the arena already contains them.
    fn load(&mut self, kind: VectorKind, (offset, input): (usize, &'a Element)) -> Result<Input, Error> {
        let source = self.source_of(input)?;
        let id = source.attribute("id").unwrap_or("");
        if let Some(vectors) = self.loaded.get(&(kind, id)) {
            return Ok(Input { offset, vectors: vectors.clone() });
        }
        let (start, end) = match kind {
            VectorKind::Position => append(&mut self.arena.positions, vectors(self.doc, source)?),
            VectorKind::Normal => append(&mut self.arena.normals, vectors(self.doc, source)?),
            VectorKind::Uv => append(&mut self.arena.uvs, vectors(self.doc, source)?),
        };
        if end > MAX_VECTORS {
            return Err(self.doc.error(source, format!("more than {MAX_VECTORS} vectors in one geometry")));
        }
        let vectors = start as u32..end as u32;
        self.loaded.insert((kind, id), vectors.clone());
        Ok(Input { offset, vectors })
    }
}

/// Appends items to a list. Returns the index of the first new item and the index after the last
/// one.
pub(super) fn append<T>(list: &mut Vec<T>, more: Vec<T>) -> (usize, usize) {
    let start = list.len();
    list.extend(more);
    (start, list.len())
}
