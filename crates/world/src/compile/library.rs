//! Reads all model files that a world includes, directly or indirectly. Each file is parsed once.

use super::uri::{UriResolution, UriTarget, folder_of, join, resolve_uri};
use crate::bundle::{Assets, normalise};
use crate::error::{Error, SourceLocation, Warnings};
use crate::sdf;
use crate::spec::{IncludeSpec, LinkSpec, ModelSpec, SdfEntry, Spec};
use crate::xml::excerpt;
use std::collections::BTreeMap;

/// Maximum number of includes of a world.
pub(super) const MAX_INCLUDES: usize = 2_000;
/// Maximum number of models, links, joints, frames, visuals and collisions of a world together.
pub(super) const MAX_PARTS: usize = 200_000;

/// The target of an include.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IncludeTarget {
    /// The model file with this path.
    Model(String),
    /// The built-in sun.
    Sun,
    /// The built-in ground plane.
    GroundPlane,
    /// There is no usable target. A warning was already added.
    Missing,
}

/// All included model files of a world.
#[derive(Debug, Default)]
pub(super) struct ModelLibrary {
    /// The models that were read, by the path of their file.
    models: BTreeMap<String, ModelSpec>,
    /// The target of each include, by the folder of the including file and the URI.
    found: BTreeMap<(String, String), IncludeTarget>,
    /// Cache: the path of the model file of each folder that was searched; `None` if the folder has
    /// no model file.
    folders: BTreeMap<String, Option<String>>,
}

impl ModelLibrary {
    /// Reads all model files that the world includes, and all model files that those files include.
    pub(super) fn load(
        spec: &Spec,
        file: &str,
        assets: &Assets<'_>,
        warnings: &mut Warnings,
    ) -> Result<ModelLibrary, Error> {
        let mut library = ModelLibrary::default();
        // Includes that are not read yet: the path of the including file, and the URI.
        let mut todo: Vec<(String, String)> = Vec::new();
        for entry in spec.entries.iter().rev() {
            match entry {
                SdfEntry::Include(i) => todo.push((file.to_owned(), i.uri.clone())),
                SdfEntry::Model(m) => uris_of(m, file, &mut todo),
                SdfEntry::Light(_) => {}
            }
        }
        let mut parts = 0;
        while let Some((file, uri)) = todo.pop() {
            let key = (folder_of(&file).to_owned(), uri);
            if library.found.contains_key(&key) {
                continue;
            }
            if library.found.len() >= MAX_INCLUDES {
                return Err(Error::file(&file, format!("more than {MAX_INCLUDES} includes")));
            }
            let found = library.find(&file, &key.1, assets, warnings)?;
            if let IncludeTarget::Model(path) = &found
                && !library.models.contains_key(path)
            {
                let Some((path, bytes)) = assets.read(path) else { continue };
                let Some(model) = sdf::read_included(&path, &bytes, warnings)? else {
                    let message = format!("include \"{}\" has no model and is ignored", excerpt(&key.1));
                    warnings.add(message, || SourceLocation::file(&file));
                    library.found.insert(key, IncludeTarget::Missing);
                    continue;
                };
                // Check the limit before the tree is built. The tree contains every part of a read
                // model at least once, so it would exceed the limit too.
                parts += parts_in(&model);
                if parts > MAX_PARTS {
                    return Err(Error::file(&path, format!("more than {MAX_PARTS} parts, with includes")));
                }
                uris_of(&model, &path, &mut todo);
                library.models.insert(path, model);
            }
            library.found.insert(key, found);
        }
        Ok(library)
    }

    /// Returns the path and the model of an include. If the target of the include is not a model,
    /// the target is returned as `Err`.
    pub(super) fn get(
        &self,
        folder: &str,
        include: &IncludeSpec,
    ) -> Result<(&str, &ModelSpec), IncludeTarget> {
        match self.found.get(&(folder.to_owned(), include.uri.clone())) {
            Some(IncludeTarget::Model(path)) => {
                self.models.get_key_value(path).map(|(p, m)| (p.as_str(), m)).ok_or(IncludeTarget::Missing)
            }
            Some(other) => Err(other.clone()),
            None => Err(IncludeTarget::Missing),
        }
    }

    fn find(
        &mut self,
        file: &str,
        uri: &str,
        assets: &Assets<'_>,
        warnings: &mut Warnings,
    ) -> Result<IncludeTarget, Error> {
        match uri.trim_end_matches('/') {
            "model://sun" => return Ok(IncludeTarget::Sun),
            "model://ground_plane" => return Ok(IncludeTarget::GroundPlane),
            _ => {}
        }
        let shown = excerpt(uri);
        let message = match resolve_uri(uri, folder_of(file), UriTarget::Model) {
            UriResolution::Network => {
                format!("include \"{shown}\" is ignored: the simulator does not download files")
            }
            UriResolution::Unsupported => format!("include \"{shown}\" is ignored: use a model:// URI"),
            UriResolution::Paths(paths) => {
                for path in paths {
                    let Some(path) = normalise(&path) else { continue };
                    let found = match self.folders.get(&path) {
                        Some(known) => known.clone(),
                        None => model_file(&path, assets, warnings)?,
                    };
                    self.folders.insert(path, found.clone());
                    if let Some(found) = found {
                        return Ok(IncludeTarget::Model(found));
                    }
                }
                format!("include \"{shown}\" was not found and is ignored")
            }
        };
        warnings.add(message, || SourceLocation::file(file));
        Ok(IncludeTarget::Missing)
    }
}

/// The path of the model file at `path`. If `path` ends with `.sdf`, `path` is the model file.
/// Otherwise `path` is a folder, and its `model.config` names the model file. If the folder has no
/// `model.config` or the named file is missing, the model file is `model.sdf`. The result is `None`
/// if the model file does not exist.
fn model_file(path: &str, assets: &Assets<'_>, warnings: &mut Warnings) -> Result<Option<String>, Error> {
    if path.ends_with(".sdf") {
        return Ok(assets.read(path).map(|(path, _)| path));
    }
    if let Some((config, bytes)) = assets.read(&join(path, "model.config")) {
        let name = sdf::read_config(&config, &bytes)?;
        if let Some((found, _)) = assets.read(&join(folder_of(&config), &name)) {
            return Ok(Some(found));
        }
        let message = format!("model.config names \"{}\", which does not exist", excerpt(&name));
        warnings.add(message, || SourceLocation::file(&config));
    }
    Ok(assets.read(&join(path, "model.sdf")).map(|(path, _)| path))
}

/// Appends the URIs of the includes of a model and of its nested models.
fn uris_of(model: &ModelSpec, file: &str, todo: &mut Vec<(String, String)>) {
    let mut models = vec![model];
    while let Some(model) = models.pop() {
        models.extend(&model.models);
        todo.extend(model.includes.iter().map(|i| (file.to_owned(), i.uri.clone())));
    }
}

/// The number of parts of a model and its nested models. Parts of included models do not count.
fn parts_in(model: &ModelSpec) -> usize {
    let of_link = |l: &LinkSpec| 1 + l.collisions.len() + l.visuals.len();
    let links: usize = model.links.iter().map(of_link).sum();
    let nested: usize = model.models.iter().map(parts_in).sum();
    1 + links + nested + model.frames.len() + model.joints.len()
}
