//! Finds and checks the picture files of a scene. Each file is checked once and is not decoded.

use super::uri::{UriResolution, UriTarget, folder_of, resolve_uri, stem_of};
use crate::bundle::{Assets, normalise};
use crate::error::{Error, SourceLocation, Warnings};
use crate::picture;
use crate::scene::{BuiltInTexture, Texture, TextureSource};
use crate::xml::excerpt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Folder of the track textures. If a file of this folder is missing, a built-in texture can
/// replace it.
const STANDARD_FOLDER: &str = "meshes/world_builder/textures/";
/// File extensions of unsupported picture formats. A picture with such an extension causes a
/// warning instead of an error.
const UNSUPPORTED: [&str; 7] = [".dds", ".exr", ".hdr", ".ktx", ".svg", ".tif", ".tiff"];

/// The textures of a scene.
pub(super) struct Textures<'a> {
    assets: Assets<'a>,
    pub(super) list: Vec<Texture>,
    /// Index of each texture in `list`, by path.
    index: BTreeMap<String, usize>,
    /// Cache of the results of `find`, by the folder of the referring file and the name.
    known: BTreeMap<(String, String), Option<usize>>,
}

impl<'a> Textures<'a> {
    pub(super) fn new(assets: Assets<'a>) -> Textures<'a> {
        Textures { assets, list: Vec::new(), index: BTreeMap::new(), known: BTreeMap::new() }
    }

    /// Index of the texture that `file` refers to by `name`. If the texture does not exist or is
    /// not supported, a warning is added and the result is `None`.
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
        let message = match resolve_uri(name, folder_of(file), UriTarget::Asset) {
            UriResolution::Network => {
                format!("picture \"{shown}\" is ignored: the simulator does not download files")
            }
            UriResolution::Unsupported => format!("picture \"{shown}\" is ignored: use a model:// URI"),
            UriResolution::Paths(paths) => {
                for path in &paths {
                    if let Some(found) = self.read_file(path, file, warnings)? {
                        return Ok(found);
                    }
                }
                match paths.iter().find_map(|p| standard(p)) {
                    Some((path, texture)) => {
                        return Ok(Some(self.insert(path, || TextureSource::BuiltIn(texture))));
                    }
                    None => format!("picture \"{shown}\" was not found: a plain colour is used"),
                }
            }
        };
        warnings.add(message, || SourceLocation::file(file));
        Ok(None)
    }

    /// Index of the texture of a picture file. The outer `None` means that the file does not exist.
    /// The inner `None` means that the format of the file is not supported.
    fn read_file(
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
        if UNSUPPORTED.iter().any(|extension| lower.ends_with(extension)) {
            let message =
                format!("picture \"{}\" has an unsupported format: a plain colour is used", excerpt(&path));
            warnings.add(message, || SourceLocation::file(file));
            return Ok(Some(None));
        }
        let (width, height) = picture::check(&path, &bytes)?;
        let bytes: Arc<[u8]> = Arc::from(bytes.as_ref());
        Ok(Some(Some(self.insert(path, || TextureSource::File { bytes, width, height }))))
    }

    fn insert(&mut self, path: String, source: impl FnOnce() -> TextureSource) -> usize {
        let (list, index) = (&mut self.list, &mut self.index);
        *index.entry(path.clone()).or_insert_with(|| {
            list.push(Texture { path, source: source() });
            list.len() - 1
        })
    }
}

/// The built-in texture for a path, together with the normalised path. The file name selects the
/// texture. The result is `None` if there is no built-in texture for the path.
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
    fn built_in_textures_are_recognised_by_their_names() {
        for (name, expected) in [
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
            assert_eq!(standard(&path).map(|s| s.1), expected, "{name}");
        }
        assert_eq!(standard("meshes/other/textures/road.png"), None);
    }
}
