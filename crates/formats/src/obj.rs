//! Reader of Wavefront mesh files (`.obj`) and of their material files (`.mtl`). Coordinates are
//! metres, as Gazebo reads them. Curves, lines and points are ignored with a warning.

mod material;

use crate::collada::weld::{Arena, Corner, Welded, weld};
use crate::collada::{Group, MAX_TRIANGLES, Material, MeshPart, Model};
use crate::error::{Error, SourceLocation, Warnings};
use crate::xml::{MAX_MESH, excerpt};
use glam::DVec3;
use material::MaterialLibrary;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum length of a part's name, in characters. Longer names are truncated.
const MAX_NAME: usize = 200;
/// Maximum number of vertices, normals and texture coordinates of a file together.
const MAX_VALUES: usize = 18_000_000;
/// Maximum number of parts of a file.
const MAX_PARTS: usize = 100_000;
/// Keywords of elements that have no triangles and change nothing that is drawn. Such elements are
/// ignored without a warning.
const HARMLESS: &[&str] =
    &["s", "mg", "vp", "lod", "bevel", "c_interp", "d_interp", "shadow_obj", "trace_obj"];

/// Reads a mesh file. `open` returns the bytes of a material file, by its path relative to the
/// folder of the mesh file; `None` if there is no such file.
pub fn read(
    file: &str,
    bytes: &[u8],
    open: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    warnings: &mut Warnings,
) -> Result<Model, Error> {
    if bytes.len() > MAX_MESH {
        return Err(Error::file(file, format!("the file is larger than {} MiB", MAX_MESH >> 20)));
    }
    let mut reader = ObjReader {
        file,
        bytes,
        warnings,
        arena: Arena { uvs: vec![[0.0; 2]], ..Arena::default() },
        file_normals: 0,
        faces_without_normal: Vec::new(),
        corners: Vec::new(),
        parts: Vec::new(),
        material: None,
        library: MaterialLibrary::default(),
    };
    let mut start = 0;
    let mut joined = String::new();
    for line in bytes.split(|b| *b == b'\n') {
        let offset = start;
        start += line.len() + 1;
        // Some editors begin a file with a byte order mark.
        let line = if offset == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        // A name may be in any encoding, so bytes that are not UTF-8 are replaced. Numbers and
        // keywords are ASCII.
        let text = std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let text = text.trim_end();
        // The next line does not continue a comment, because a comment may end with the `\` of a
        // Windows path.
        let is_comment = joined.is_empty() && text.trim_start().starts_with('#');
        match text.strip_suffix('\\') {
            Some(first) if !is_comment && !ends_with_character(line) => {
                joined.push_str(first);
                joined.push(' ');
            }
            _ if joined.is_empty() => reader.line(text, offset, open)?,
            _ => {
                joined.push_str(text);
                reader.line(&std::mem::take(&mut joined), offset, open)?;
            }
        }
    }
    reader.line(&joined, bytes.len(), open)?;
    Ok(reader.finish())
}

/// Whether the `\` at the end of a line belongs to a character of Shift-JIS or a similar encoding, in
/// which `\` can be the second one of two bytes. The first byte of a character is not ASCII, so the
/// number of such bytes before the `\` is then odd. In other encodings, an odd number is ambiguous.
fn ends_with_character(line: &[u8]) -> bool {
    let Some(rest) = line.trim_ascii_end().strip_suffix(b"\\") else { return false };
    let is_utf_8 = std::str::from_utf8(line).is_ok();
    !is_utf_8 && rest.iter().rev().take_while(|byte| !byte.is_ascii()).count() % 2 == 1
}

/// A part of the file. Each run is a range of corners whose triangles have the same material.
struct ObjPart {
    name: String,
    runs: Vec<(Option<usize>, Range<usize>)>,
}

struct ObjReader<'a, 'w> {
    file: &'a str,
    bytes: &'a [u8],
    warnings: &'w mut Warnings,
    /// The positions, normals and uvs of the file. The first uv is not from the file: corners
    /// without a uv use it.
    arena: Arena,
    /// Number of normals in the file. `finish` appends computed normals to the arena, so the arena
    /// can have more normals than the file.
    file_normals: usize,
    /// Index of the first corner of every triangle of a face in which a corner has no normal.
    faces_without_normal: Vec<usize>,
    corners: Vec<Corner>,
    parts: Vec<ObjPart>,
    material: Option<usize>,
    library: MaterialLibrary,
}

/// Placeholder for the index of a normal that is not computed yet.
const NO_NORMAL: u32 = u32::MAX;

impl ObjReader<'_, '_> {
    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::at(SourceLocation::at(self.file, self.bytes, offset), message)
    }

    fn warn(&mut self, offset: usize, message: impl Into<String>) {
        let (file, bytes) = (self.file, self.bytes);
        self.warnings.add(message, || SourceLocation::at(file, bytes, offset));
    }

    fn line(
        &mut self,
        line: &str,
        offset: usize,
        open: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Result<(), Error> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "v" | "vt" | "vn" if self.values() >= MAX_VALUES => {
                let message = format!("more than {MAX_VALUES} vertices, normals and texture coordinates");
                return Err(self.error(offset, message));
            }
            "v" => {
                let point = self.numbers::<3>(rest, offset)?;
                self.arena.positions.push(point);
            }
            "vt" => {
                // The second coordinate is optional. The appended 0 is its default value.
                let padded = format!("{rest} 0");
                let uv = self.numbers::<2>(&padded, offset)?;
                self.arena.uvs.push(uv);
            }
            "vn" => {
                let normal = self.numbers::<3>(rest, offset)?;
                let unit = DVec3::from_array(normal.map(f64::from)).try_normalize().unwrap_or(DVec3::Z);
                self.arena.normals.push(unit.to_array().map(|n| n as f32 + 0.0));
                self.file_normals += 1;
            }
            "f" => self.face(rest, offset)?,
            "o" | "g" => self.start_part(rest, offset)?,
            "usemtl" => {
                self.material = self.library.find(rest);
                if self.material.is_none() {
                    self.warn(offset, format!("no material '{}' for a mesh", excerpt(rest)));
                }
            }
            "mtllib" => self.read_materials(rest, offset, open)?,
            "" => {}
            comment if comment.starts_with('#') => {}
            other if HARMLESS.contains(&other) => {}
            other => self.warn(offset, format!("element \"{}\" of a mesh is ignored", excerpt(other))),
        }
        Ok(())
    }

    fn values(&self) -> usize {
        self.arena.positions.len() + self.arena.normals.len() + self.arena.uvs.len()
    }

    /// Reads the first `N` numbers of a line. Further numbers, such as weights, are ignored.
    fn numbers<const N: usize>(&self, text: &str, offset: usize) -> Result<[f32; N], Error> {
        let mut out = [0.0; N];
        let mut words = text.split_whitespace();
        for slot in &mut out {
            let word = words.next().unwrap_or("");
            *slot = word.parse().ok().filter(|x: &f32| x.is_finite()).ok_or_else(|| {
                self.error(offset, format!("{N} finite numbers are needed, found \"{}\"", excerpt(word)))
            })?;
        }
        Ok(out)
    }

    fn start_part(&mut self, name: &str, offset: usize) -> Result<(), Error> {
        if self.parts.len() >= MAX_PARTS {
            return Err(self.error(offset, format!("more than {MAX_PARTS} parts")));
        }
        let name = name.chars().take(MAX_NAME).collect();
        self.parts.push(ObjPart { name, runs: Vec::new() });
        Ok(())
    }

    fn read_materials(
        &mut self,
        names: &str,
        offset: usize,
        open: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Result<(), Error> {
        // The name of a material file may contain spaces, but a line may also have several names.
        // Therefore the whole text is tried as one name first.
        let whole = open(names).map(|bytes| (names, bytes));
        let files = match whole {
            Some(found) => vec![Some(found)],
            None => names.split_whitespace().map(|name| open(name).map(|bytes| (name, bytes))).collect(),
        };
        for found in files {
            match found {
                Some((name, bytes)) => self.library.read(self.file, name, &bytes)?,
                None => self.warn(offset, format!("no material file '{}'", excerpt(names))),
            }
        }
        Ok(())
    }

    /// Adds a face. A face with more than three corners is split into triangles.
    fn face(&mut self, text: &str, offset: usize) -> Result<(), Error> {
        let first = self.corners.len();
        let mut ring: Vec<Corner> = Vec::new();
        for word in text.split_whitespace() {
            ring.push(self.corner(word, offset)?);
            if first / 3 + ring.len() > MAX_TRIANGLES + 2 {
                return Err(self.error(offset, format!("more than {MAX_TRIANGLES} triangles")));
            }
        }
        if ring.len() < 3 {
            self.warn(offset, "a face with fewer than three corners is ignored");
            return Ok(());
        }
        let without_normal = ring.iter().any(|c| c.normal == NO_NORMAL);
        for side in ring[1..].windows(2) {
            if without_normal {
                self.faces_without_normal.push(self.corners.len());
            }
            self.corners.extend([ring[0], side[0], side[1]]);
        }
        if self.parts.is_empty() {
            self.start_part("", offset)?;
        }
        let (material, end) = (self.material, self.corners.len());
        let Some(part) = self.parts.last_mut() else { return Ok(()) };
        match part.runs.last_mut() {
            Some((same, run)) if *same == material && run.end == first => run.end = end,
            _ => part.runs.push((material, first..end)),
        }
        Ok(())
    }

    /// Reads a corner: `position`, `position/uv`, `position//normal` or `position/uv/normal`.
    fn corner(&self, word: &str, offset: usize) -> Result<Corner, Error> {
        let mut indices = word.split('/');
        let mut index = |what: &str, count: usize| match indices.next() {
            None | Some("") => Ok(None),
            Some(text) => {
                let found = text.parse::<i64>().ok().and_then(|i| {
                    let from_zero = if i < 0 { count as i64 + i } else { i - 1 };
                    usize::try_from(from_zero).ok().filter(|i| *i < count)
                });
                found.map(Some).ok_or_else(|| {
                    let message =
                        format!("no {what} \"{}\": there are {count} before this line", excerpt(text));
                    self.error(offset, message)
                })
            }
        };
        let position = index("vertex", self.arena.positions.len())?;
        let uv = index("texture coordinate", self.arena.uvs.len() - 1)?;
        let normal = index("normal", self.file_normals)?;
        let Some(position) = position else {
            return Err(self.error(offset, "a corner of a face needs the number of a vertex"));
        };
        Ok(Corner {
            position: position as u32,
            normal: normal.map_or(NO_NORMAL, |n| n as u32),
            uv: uv.map_or(0, |t| t as u32 + 1),
        })
    }

    fn finish(mut self) -> Model {
        for first in std::mem::take(&mut self.faces_without_normal) {
            let corners = &mut self.corners[first..first + 3];
            let at = |i: usize| {
                let point: [f32; 3] = self.arena.positions[corners[i].position as usize];
                DVec3::from_array(point.map(f64::from))
            };
            let normal = (at(1) - at(0)).cross(at(2) - at(0)).try_normalize().unwrap_or(DVec3::Z);
            let index = self.arena.normals.len() as u32;
            self.arena.normals.push(normal.to_array().map(|n| n as f32 + 0.0));
            corners.iter_mut().filter(|c| c.normal == NO_NORMAL).for_each(|c| c.normal = index);
        }
        if self.corners.is_empty() {
            self.warn(0, "the mesh has no triangles");
            return Model::default();
        }
        let welded = weld(&self.arena, &self.corners);
        let parts = parts_of(&self.parts, &welded);
        let materials: Vec<Material> = self.library.into_list();
        Model { parts, materials }
    }
}

/// Splits the vertices of a file into parts. Parts without triangles are left out.
fn parts_of(parts: &[ObjPart], welded: &Welded) -> Vec<MeshPart> {
    const NEW: u32 = u32::MAX;
    let mut number = vec![NEW; welded.positions.len()];
    let mut out = Vec::new();
    for ObjPart { name, runs } in parts.iter().filter(|part| !part.runs.is_empty()) {
        let mut part = MeshPart { name: name.clone(), ..MeshPart::default() };
        let mut used: Vec<usize> = Vec::new();
        let mut groups: BTreeMap<Option<usize>, Vec<u32>> = BTreeMap::new();
        for (material, run) in runs {
            let indices = groups.entry(*material).or_default();
            for index in &welded.indices[run.clone()] {
                let old = *index as usize;
                if number[old] == NEW {
                    number[old] = part.positions.len() as u32;
                    used.push(old);
                    part.positions.push(welded.positions[old]);
                    part.normals.push(welded.normals[old]);
                    part.uvs.push(welded.uvs[old]);
                }
                indices.push(number[old]);
            }
        }
        used.into_iter().for_each(|old| number[old] = NEW);
        part.groups = groups.into_iter().map(|(material, indices)| Group { material, indices }).collect();
        out.push(part);
    }
    out
}
