//! Turns one `<geometry>` into triangles with positions, normals and uvs.
//!
//! The reader allocates memory for the data that the file contains. It does not rely on a `count`
//! attribute of the file, because the count may be wrong.

use super::MAX_TRIANGLES;
use super::inputs::{Input, InputLoader, Inputs, append};
use super::source::indices;
use super::weld::{Corner, Welded, weld};
use crate::error::{Error, Warnings};
use crate::xml::{Document, Element};
use glam::DVec3;
use std::ops::Range;

/// The triangles of a geometry, in the frame of the geometry.
pub(super) struct Mesh<'a> {
    pub(super) welded: Welded,
    /// Consecutive ranges of `welded.indices`, in file order. The triangles of a range share the
    /// given material symbol; `None` if they have no symbol.
    pub(super) runs: Vec<(Option<&'a str>, Range<usize>)>,
}

/// Reads a `<geometry>`. If it has no `<mesh>`, a warning is added and the result has no triangles.
pub(super) fn read<'a>(
    doc: &'a Document<'a>,
    geometry: &'a Element,
    warnings: &mut Warnings,
) -> Result<Mesh<'a>, Error> {
    let Some(mesh) = geometry.child("mesh") else {
        warnings.add("a geometry without <mesh> is ignored", || doc.location(geometry));
        return Ok(Mesh { welded: Welded::default(), runs: Vec::new() });
    };
    let mut builder = TriangleBuilder::new(doc, mesh);
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

/// Collects the triangles of one `<mesh>`.
struct TriangleBuilder<'a> {
    doc: &'a Document<'a>,
    loader: InputLoader<'a>,
    /// Index of the uv `[0, 0]`; `None` until this uv is needed. The corners of primitives without
    /// uvs use it.
    zero_uv: Option<u32>,
    corners: Vec<Corner>,
    runs: Vec<(Option<&'a str>, Range<usize>)>,
}

impl<'a> TriangleBuilder<'a> {
    fn new(doc: &'a Document<'a>, mesh: &'a Element) -> TriangleBuilder<'a> {
        TriangleBuilder {
            doc,
            loader: InputLoader::new(doc, mesh),
            zero_uv: None,
            corners: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn finish(self) -> Mesh<'a> {
        Mesh { welded: weld(&self.loader.arena, &self.corners), runs: self.runs }
    }

    /// Reads one primitive element, such as `<triangles>` or `<polylist>`.
    fn primitive(&mut self, e: &'a Element, warnings: &mut Warnings) -> Result<(), Error> {
        let doc = self.doc;
        // The holes of a polygon are filled, because a filled hole is better than a missing face.
        let holed = e.all("ph").filter_map(|ph| ph.child("p"));
        let lists: Vec<&Element> = e.all("p").chain(holed).collect();
        if e.child("ph").is_some() {
            warnings.add("holes in polygons are filled", || doc.location(e));
        }
        if lists.is_empty() {
            return Ok(());
        }
        let inputs = self.loader.inputs(e)?;
        let stride = inputs.stride;
        // The number of faces, which is compared with the `count` attribute below.
        let mut faces = 0u64;
        let mut vcount = match e.child("vcount") {
            Some(v) if e.name == "polylist" => indices(doc, v)?.into_iter(),
            _ => Vec::new().into_iter(),
        };
        for p in lists {
            let indices = indices(doc, p)?;
            let unit = if e.name == "triangles" { 3 * stride } else { stride };
            if indices.len() % unit != 0 {
                let message = format!("<p> has {} indices, which is not a multiple of {unit}", indices.len());
                return Err(doc.error(p, message));
            }
            if indices.len() / stride > 3 * MAX_TRIANGLES {
                return Err(doc.error(p, format!("more than {MAX_TRIANGLES} triangles")));
            }
            let corners = self.corners(&indices, &inputs, p)?;
            match e.name.as_str() {
                "triangles" => {
                    for t in corners.chunks_exact(3) {
                        self.triangle([t[0], t[1], t[2]], p)?;
                    }
                    faces += corners.len() as u64 / 3;
                }
                "tristrips" => {
                    for (i, t) in corners.windows(3).enumerate() {
                        // Every second triangle of a strip has the opposite orientation, so two of
                        // its corners are swapped.
                        let ordered = if i % 2 == 0 { [t[0], t[1], t[2]] } else { [t[1], t[0], t[2]] };
                        self.triangle(ordered, p)?;
                    }
                    faces += 1;
                }
                "polylist" => {
                    let mut rest = corners.as_slice();
                    for n in vcount.by_ref() {
                        let Some((face, after)) = rest.split_at_checked(n as usize) else {
                            return Err(doc.error(e, "<vcount> needs more corners than <p> has"));
                        };
                        self.fan(face, p)?;
                        rest = after;
                        faces += 1;
                    }
                    if !rest.is_empty() {
                        warnings.add("<p> of a <polylist> has more corners than <vcount> needs", || {
                            doc.location(p)
                        });
                    }
                }
                _ => {
                    self.fan(&corners, p)?;
                    faces += 1;
                }
            }
        }
        if e.attribute("count").is_some_and(|c| c.trim().parse() != Ok(faces)) {
            warnings.add(format!("count of <{}> does not match its data", e.name), || doc.location(e));
        }
        Ok(())
    }

    /// Turns the indices of a `<p>` into corners and checks their range. If the primitive has no
    /// normals, the corners get `NO_NORMAL`. Later `triangle` replaces `NO_NORMAL` by a computed
    /// normal.
    fn corners(&mut self, indices: &[u32], inputs: &Inputs, p: &Element) -> Result<Vec<Corner>, Error> {
        let uvs = &mut self.loader.arena.uvs;
        let zero_uv = match &inputs.uv {
            Some(_) => 0,
            None => *self.zero_uv.get_or_insert_with(|| append(uvs, vec![[0.0; 2]]).0 as u32),
        };
        let mut corners = Vec::with_capacity(indices.len() / inputs.stride);
        for (i, tuple) in indices.chunks_exact(inputs.stride).enumerate() {
            let find = |input: &Input, what: &str| {
                let index = tuple[input.offset];
                let found = input.vectors.start.checked_add(index).filter(|i| *i < input.vectors.end);
                found.ok_or_else(|| {
                    let n = input.vectors.len();
                    let message =
                        format!("corner {} refers to {what} {index} (from 0), but there are {n}", i + 1);
                    self.doc.error(p, message)
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

    /// Splits a face into triangles. All these triangles share the first corner of the face.
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
            let arena = &mut self.loader.arena;
            let [a, b, c] = corners.map(|c| arena.positions[c.position as usize].map(f64::from));
            let [a, b, c] = [a, b, c].map(DVec3::from_array);
            let normal = (b - a).cross(c - a).try_normalize().unwrap_or(DVec3::Z);
            let index = arena.normals.len() as u32;
            arena.normals.push(normal.to_array().map(|n| n as f32));
            corners = corners.map(|c| Corner { normal: index, ..c });
        }
        self.corners.extend(corners);
        Ok(())
    }
}

/// Placeholder for the index of a normal that is not computed yet.
const NO_NORMAL: u32 = u32::MAX;
