//! Reads material files (`.mtl`): colour, opacity, emitted light and colour texture.

use crate::collada::{Material, picture_path};
use crate::error::{Error, SourceLocation};
use crate::xml::excerpt;
use std::collections::BTreeMap;

/// Maximum number of materials of a mesh file.
const MAX_MATERIALS: usize = 10_000;

/// The materials that a mesh file can use, by name.
#[derive(Default)]
pub(super) struct MaterialLibrary {
    list: Vec<Material>,
    by_name: BTreeMap<String, usize>,
}

impl MaterialLibrary {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(super) fn into_list(self) -> Vec<Material> {
        self.list
    }

    /// Adds the materials of a file. `name` is the path of the file relative to the folder of the
    /// mesh file `mesh`. If several materials have the same name, the name refers to the first one.
    pub(super) fn read(&mut self, mesh: &str, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let folder = mesh.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let file = format!("{folder}{name}");
        let subfolder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut start = 0;
        let mut current: Option<usize> = None;
        for line in bytes.split(|b| *b == b'\n') {
            let offset = start;
            start += line.len() + 1;
            let text = String::from_utf8_lossy(line);
            // Some editors begin a file with a byte order mark.
            let text = text.trim_start_matches('\u{feff}').trim();
            let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            let rest = rest.trim();
            let fail = |message: String| Error::at(SourceLocation::at(&file, bytes, offset), message);
            if word == "newmtl" {
                if self.list.len() >= MAX_MATERIALS {
                    return Err(fail(format!("more than {MAX_MATERIALS} materials")));
                }
                let index = self.list.len();
                self.by_name.entry(rest.to_owned()).or_insert(index);
                self.list.push(Material { name: rest.chars().take(200).collect(), ..Material::default() });
                current = Some(index);
                continue;
            }
            let Some(material) = current.and_then(|i| self.list.get_mut(i)) else { continue };
            set(material, word, rest, subfolder).map_err(fail)?;
        }
        Ok(())
    }
}

/// Sets the property that one line of a material file describes.
fn set(material: &mut Material, word: &str, rest: &str, subfolder: &str) -> Result<(), String> {
    match word {
        "Kd" if material.texture.is_none() => {
            let [r, g, b] = colour(word, rest)?;
            material.colour = [r, g, b, material.colour[3]];
        }
        "Ke" if is_convertible(rest) => material.emissive = colour(word, rest)?,
        // An opacity of 0 is replaced by 1, because some exporters write 0 for an opaque surface.
        "d" => material.colour[3] = opacity(number(word, rest.rsplit(' ').next().unwrap_or(""))?),
        "Tr" => material.colour[3] = opacity(1.0 - number(word, rest)?),
        "map_Kd" => {
            // Options such as `-s 1 1 1` precede the path, so the path is the last word. Without
            // options, the path may contain spaces.
            let path = if rest.starts_with('-') { rest.rsplit(' ').next().unwrap_or("") } else { rest };
            let path = picture_path(path);
            material.texture =
                path.map(|p| if subfolder.is_empty() { p } else { format!("{subfolder}/{p}") });
            if material.texture.is_some() {
                material.colour = [1.0, 1.0, 1.0, material.colour[3]];
            }
        }
        _ => {}
    }
    Ok(())
}

fn opacity(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha.min(1.0) } else { 1.0 }
}

fn number(what: &str, text: &str) -> Result<f32, String> {
    let parsed = text.parse().ok().filter(|x: &f32| x.is_finite());
    parsed.ok_or_else(|| format!("{what} needs a finite number, found \"{}\"", excerpt(text)))
}

/// Whether a colour is given as RGB. A spectral curve or a CIE colour is not converted to RGB. Such
/// a diffuse colour is replaced by grey, and such an emission is ignored.
fn is_convertible(text: &str) -> bool {
    !matches!(text.split_whitespace().next(), Some("spectral" | "xyz"))
}

/// Reads three numbers and clamps each of them to 0..1. One number stands for three equal numbers.
/// A colour that is not given as RGB becomes grey.
fn colour(what: &str, text: &str) -> Result<[f32; 3], String> {
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    match words[..] {
        _ if !is_convertible(text) => Ok([0.7; 3]),
        [grey] => number(what, grey).map(|grey| [grey.clamp(0.0, 1.0); 3]),
        [r, g, b, ..] => {
            let rgb = [number(what, r)?, number(what, g)?, number(what, b)?];
            Ok(rgb.map(|x| x.clamp(0.0, 1.0)))
        }
        _ => Err(format!("{what} needs three numbers, found \"{}\"", excerpt(text))),
    }
}
