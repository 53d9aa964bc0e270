//! Reader of STL mesh files (`.stl`), text and binary. STL has neither units nor colours: the
//! coordinates are metres with z up, as Gazebo reads them, and the mesh has the default material.

use crate::collada::weld::{Arena, Corner, weld};
use crate::collada::{Group, MAX_TRIANGLES, MeshPart, Model};
use crate::error::{Error, SourceLocation, Warnings};
use crate::xml::{MAX_MESH, excerpt};
use glam::DVec3;

/// Size of the header of a binary file, in bytes: 80 bytes of any content, and the number of
/// triangles.
const HEADER: usize = 84;
/// Size of a triangle of a binary file, in bytes: a normal, three corners, and two bytes of any
/// content.
const RECORD: usize = 50;

/// Reads a mesh file. Normals of the file are ignored, because the reader computes them from the
/// corners.
pub fn read(file: &str, bytes: &[u8], warnings: &mut Warnings) -> Result<Model, Error> {
    if bytes.len() > MAX_MESH {
        return Err(Error::file(file, format!("the file is larger than {} MiB", MAX_MESH >> 20)));
    }
    let declared = bytes.get(80..HEADER).and_then(|n| n.try_into().ok()).map(u32::from_le_bytes);
    let needed = declared.map(|n| HEADER as u64 + u64::from(n) * RECORD as u64);
    let starts_as_text = bytes.trim_ascii_start().get(..5).is_some_and(|s| s.eq_ignore_ascii_case(b"solid"));
    let corners = match (declared, needed) {
        // Some programs write binary files that start with the word `solid`. A file that starts
        // with `solid` is therefore binary if its size matches the number of triangles in the
        // header.
        (Some(n), Some(needed)) if needed == bytes.len() as u64 || !starts_as_text => {
            if needed > bytes.len() as u64 {
                let message = format!("{n} triangles need {needed} bytes, but the file has {}", bytes.len());
                return Err(Error::file(file, message));
            }
            if needed < bytes.len() as u64 {
                warnings.add("bytes after the last triangle are ignored", || SourceLocation::file(file));
            }
            binary(file, bytes, n as usize)?
        }
        _ if starts_as_text => text(file, bytes)?,
        _ => return Err(Error::file(file, "not an STL file: it is shorter than a header of 84 bytes")),
    };
    Ok(model(file, corners, warnings))
}

fn too_many(location: SourceLocation) -> Error {
    Error::at(location, format!("more than {MAX_TRIANGLES} triangles"))
}

/// The corners of all triangles of a binary file. The caller has checked the size of the file.
fn binary(file: &str, bytes: &[u8], triangles: usize) -> Result<Vec<[f32; 3]>, Error> {
    if triangles > MAX_TRIANGLES {
        return Err(too_many(SourceLocation::file(file)));
    }
    let mut corners = Vec::with_capacity(3 * triangles);
    for (i, record) in bytes[HEADER..].chunks_exact(RECORD).take(triangles).enumerate() {
        for corner in record[12..48].chunks_exact(12) {
            let number = |k: usize| {
                f32::from_le_bytes([corner[4 * k], corner[4 * k + 1], corner[4 * k + 2], corner[4 * k + 3]])
            };
            let point = [number(0), number(1), number(2)];
            if !point.iter().all(|c| c.is_finite()) {
                let message = format!("triangle {i} (from 0) has a coordinate that is not finite");
                return Err(Error::file(file, message));
            }
            corners.push(point);
        }
    }
    Ok(corners)
}

/// The corners of all triangles of a text file. A loop of more than three corners is split into
/// triangles.
fn text(file: &str, bytes: &[u8]) -> Result<Vec<[f32; 3]>, Error> {
    let mut words = Words { bytes, at: 0 };
    let mut corners: Vec<[f32; 3]> = Vec::new();
    let mut ring: Vec<[f32; 3]> = Vec::new();
    while let Some((offset, word)) = words.next() {
        let place = |offset| SourceLocation::at(file, bytes, offset);
        if word.eq_ignore_ascii_case("solid") || word.eq_ignore_ascii_case("endsolid") {
            // The rest of the line is a name, which may contain any words.
            words.skip_line();
        } else if word.eq_ignore_ascii_case("vertex") {
            let mut point = [0.0; 3];
            for slot in &mut point {
                let (offset, word) = words.next().unwrap_or((bytes.len(), ""));
                *slot = word.parse().ok().filter(|c: &f32| c.is_finite()).ok_or_else(|| {
                    let message = format!("a vertex needs three finite numbers, found \"{}\"", excerpt(word));
                    Error::at(place(offset), message)
                })?;
            }
            ring.push(point);
            if corners.len() + 3 * ring.len() > 3 * (MAX_TRIANGLES + 3) {
                return Err(too_many(place(offset)));
            }
        } else if word.eq_ignore_ascii_case("endloop") {
            for side in ring.get(1..).unwrap_or_default().windows(2) {
                corners.extend([ring[0], side[0], side[1]]);
            }
            ring.clear();
        }
    }
    if corners.len() > 3 * MAX_TRIANGLES {
        return Err(too_many(SourceLocation::file(file)));
    }
    Ok(corners)
}

/// The words of a text with their byte offsets. A word that is not UTF-8 is returned as empty text.
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = &self.bytes[self.at..];
        let start = self.at + rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let word = &self.bytes[start..];
        let length = word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
        self.at = start + length;
        Some((start, std::str::from_utf8(&word[..length]).unwrap_or("")))
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }
}

fn model(file: &str, corners: Vec<[f32; 3]>, warnings: &mut Warnings) -> Model {
    if corners.is_empty() {
        warnings.add("the mesh has no triangles", || SourceLocation::file(file));
        return Model::default();
    }
    let mut arena = Arena { positions: corners, normals: Vec::new(), uvs: vec![[0.0; 2]] };
    for t in arena.positions.chunks_exact(3) {
        let [a, b, c] = [t[0], t[1], t[2]].map(|p| DVec3::from_array(p.map(f64::from)));
        let normal = (b - a).cross(c - a).try_normalize().unwrap_or(DVec3::Z);
        // Adding 0 turns −0 into 0, so that equal normals have equal bits.
        arena.normals.push(normal.to_array().map(|n| n as f32 + 0.0));
    }
    let count = arena.positions.len() as u32;
    let all: Vec<Corner> = (0..count).map(|i| Corner { position: i, normal: i / 3, uv: 0 }).collect();
    let welded = weld(&arena, &all);
    let part = MeshPart {
        name: String::new(),
        positions: welded.positions,
        normals: welded.normals,
        uvs: welded.uvs,
        groups: vec![Group { material: None, indices: welded.indices }],
    };
    Model { parts: vec![part], materials: Vec::new() }
}
