//! Pictures: found, checked, and kept once each. They are not decoded here.

use super::uri::{Leads, Wanted, folder_of, leads, stem_of};
use crate::bundle::{Assets, normalise};
use crate::error::{Error, Place, Warnings};
use crate::picture;
use crate::scene::{BuiltInTexture, Texture, TextureSource};
use crate::xml::excerpt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where the standard pictures of built tracks are.
const STANDARD_FOLDER: &str = "meshes/world_builder/textures/";
/// Picture formats that exist and are not read here.
const FOREIGN: [&str; 7] = [".dds", ".exr", ".hdr", ".ktx", ".svg", ".tif", ".tiff"];

/// The pictures of a scene.
pub(super) struct Textures<'a> {
    assets: Assets<'a>,
    pub(super) list: Vec<Texture>,
    index: BTreeMap<String, usize>,
    /// What became of a name written in a folder.
    known: BTreeMap<(String, String), Option<usize>>,
}

impl<'a> Textures<'a> {
    pub(super) fn new(assets: Assets<'a>) -> Textures<'a> {
        Textures { assets, list: Vec::new(), index: BTreeMap::new(), known: BTreeMap::new() }
    }

    /// The picture that a file names; `None`, with a warning, where there is none.
    pub(super) fn find(
        &mut self,
        name: &str,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<Option<usize>, Error> {
        let key = (folder_of(file).to_owned(), name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let found = self.search(name, file, warnings)?;
        self.known.insert(key, found);
        Ok(found)
    }

    fn search(&mut self, name: &str, file: &str, warnings: &mut Warnings) -> Result<Option<usize>, Error> {
        let shown = excerpt(name);
        let message = match leads(name, folder_of(file), Wanted::Asset) {
            Leads::Network => {
                format!("picture \"{shown}\" is missing: nothing is ever fetched from a network")
            }
            Leads::Nowhere => format!("picture \"{shown}\" is missing: model:// is what is understood"),
            Leads::Paths(paths) => {
                for path in &paths {
                    if let Some(found) = self.file(path, file, warnings)? {
                        return Ok(found);
                    }
                }
                match paths.iter().find_map(|p| standard(p)) {
                    Some((path, texture)) => {
                        return Ok(Some(self.keep(path, || TextureSource::BuiltIn(texture))));
                    }
                    None => format!("picture \"{shown}\" was not found: a plain look is used"),
                }
            }
        };
        warnings.add(message, || Place::file(file));
        Ok(None)
    }

    /// A picture file; the outer `None`: there is none, the inner: none that is read.
    fn file(
        &mut self,
        path: &str,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<Option<Option<usize>>, Error> {
        if let Some(known) = normalise(path).and_then(|p| self.index.get(&p)) {
            return Ok(Some(Some(*known)));
        }
        let Some((path, bytes)) = self.assets.read(path) else { return Ok(None) };
        let lower = path.to_ascii_lowercase();
        if FOREIGN.iter().any(|ending| lower.ends_with(ending)) {
            let message = format!("picture \"{}\" is of a format that is not read", excerpt(&path));
            warnings.add(message, || Place::file(file));
            return Ok(Some(None));
        }
        let (width, height) = picture::check(&path, &bytes)?;
        let bytes: Arc<[u8]> = Arc::from(bytes.as_ref());
        Ok(Some(Some(self.keep(path, || TextureSource::File { bytes, width, height }))))
    }

    fn keep(&mut self, path: String, source: impl FnOnce() -> TextureSource) -> usize {
        let (list, index) = (&mut self.list, &mut self.index);
        *index.entry(path.clone()).or_insert_with(|| {
            list.push(Texture { path, source: source() });
            list.len() - 1
        })
    }
}

/// A standard picture of a built track, by its path.
fn standard(path: &str) -> Option<(String, BuiltInTexture)> {
    let path = normalise(path)?;
    let stem = stem_of(path.strip_prefix(STANDARD_FOLDER)?).to_ascii_lowercase();
    let has = |word: &str| stem.contains(word);
    let texture = if has("start") || has("finish") {
        BuiltInTexture::StartLine
    } else if has("line") && (has("center") || has("centre")) {
        BuiltInTexture::CentreLine
    } else if has("border") || (has("line") && has("outer")) {
        BuiltInTexture::OuterLine
    } else if has("carpet") {
        BuiltInTexture::Carpet
    } else if has("grass") {
        BuiltInTexture::Grass
    } else if has("road") {
        BuiltInTexture::Road
    } else {
        return None;
    };
    Some((path, texture))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_pictures_are_known_by_their_names() {
        for (name, want) in [
            ("road.png", Some(BuiltInTexture::Road)),
            ("road_outer_line.png", Some(BuiltInTexture::OuterLine)),
            ("track_border.jpg", Some(BuiltInTexture::OuterLine)),
            ("Center_Line.png", Some(BuiltInTexture::CentreLine)),
            ("centreline.png", Some(BuiltInTexture::CentreLine)),
            ("start_line.png", Some(BuiltInTexture::StartLine)),
            ("finish.png", Some(BuiltInTexture::StartLine)),
            ("carpet_blue.png", Some(BuiltInTexture::Carpet)),
            ("grass.png", Some(BuiltInTexture::Grass)),
            ("sand.png", None),
        ] {
            let path = format!("meshes/a/../world_builder/textures/{name}");
            assert_eq!(standard(&path).map(|s| s.1), want, "{name}");
        }
        assert_eq!(standard("meshes/other/textures/road.png"), None);
    }
}
