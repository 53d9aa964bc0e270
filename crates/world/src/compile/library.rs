//! The models that a world includes, read once each, together with what they include in turn.

use super::tree::MAX_PARTS;
use super::uri::{Leads, Wanted, folder_of, join, leads};
use crate::bundle::{Assets, normalise};
use crate::error::{Error, Place, Warnings};
use crate::sdf;
use crate::spec::{Entry, IncludeSpec, LinkSpec, ModelSpec, Spec};
use crate::xml::excerpt;
use std::collections::BTreeMap;

/// Model files of one world.
pub(super) const MAX_INCLUDES: usize = 2_000;

/// What an include leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// The model file of this path.
    Model(String),
    /// The built-in light.
    Sun,
    /// The built-in ground.
    GroundPlane,
    /// Nothing; a warning was given.
    Missing,
}

/// Every model file that the world leads to.
#[derive(Debug, Default)]
pub(super) struct Library {
    models: BTreeMap<String, ModelSpec>,
    found: BTreeMap<(String, String), Found>,
    /// The model files of folders that were looked into.
    folders: BTreeMap<String, Option<String>>,
}

impl Library {
    /// Reads all included models, the included ones of those, and so on.
    pub(super) fn load(
        spec: &Spec,
        file: &str,
        assets: &Assets<'_>,
        warnings: &mut Warnings,
    ) -> Result<Library, Error> {
        let mut library = Library::default();
        // The file an include was seen in, and its URI.
        let mut todo: Vec<(String, String)> = Vec::new();
        for entry in spec.entries.iter().rev() {
            match entry {
                Entry::Include(i) => todo.push((file.to_owned(), i.uri.clone())),
                Entry::Model(m) => uris_of(m, file, &mut todo),
                Entry::Light(_) => {}
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
            if let Found::Model(path) = &found
                && !library.models.contains_key(path)
            {
                let Some((path, bytes)) = assets.read(path) else { continue };
                let Some(model) = sdf::read_included(&path, &bytes, warnings)? else {
                    let message = format!("include \"{}\" holds no model and is left out", excerpt(&key.1));
                    warnings.add(message, || Place::file(&file));
                    library.found.insert(key, Found::Missing);
                    continue;
                };
                // Each will be in the tree at least once, so there is no need to go on reading.
                parts += parts_in(&model);
                if parts > MAX_PARTS {
                    return Err(Error::file(&path, format!("more than {MAX_PARTS} parts, includes counted")));
                }
                uris_of(&model, &path, &mut todo);
                library.models.insert(path, model);
            }
            library.found.insert(key, found);
        }
        Ok(library)
    }

    /// The model that an include leads to, with the path of its file.
    pub(super) fn get(&self, folder: &str, include: &IncludeSpec) -> Result<(&str, &ModelSpec), Found> {
        match self.found.get(&(folder.to_owned(), include.uri.clone())) {
            Some(Found::Model(path)) => {
                self.models.get_key_value(path).map(|(p, m)| (p.as_str(), m)).ok_or(Found::Missing)
            }
            Some(other) => Err(other.clone()),
            None => Err(Found::Missing),
        }
    }

    fn find(
        &mut self,
        file: &str,
        uri: &str,
        assets: &Assets<'_>,
        warnings: &mut Warnings,
    ) -> Result<Found, Error> {
        match uri.trim_end_matches('/') {
            "model://sun" => return Ok(Found::Sun),
            "model://ground_plane" => return Ok(Found::GroundPlane),
            _ => {}
        }
        let shown = excerpt(uri);
        let message = match leads(uri, folder_of(file), Wanted::Model) {
            Leads::Network => {
                format!("include \"{shown}\" is left out: nothing is ever fetched from a network")
            }
            Leads::Nowhere => format!("include \"{shown}\" is left out: model:// is what is understood"),
            Leads::Paths(paths) => {
                for path in paths {
                    let Some(path) = normalise(&path) else { continue };
                    let found = match self.folders.get(&path) {
                        Some(known) => known.clone(),
                        None => model_file(&path, assets, warnings)?,
                    };
                    self.folders.insert(path, found.clone());
                    if let Some(found) = found {
                        return Ok(Found::Model(found));
                    }
                }
                format!("include \"{shown}\" was not found and is left out")
            }
        };
        warnings.add(message, || Place::file(file));
        Ok(Found::Missing)
    }
}

/// The model file at a path: itself, or what the folder's `model.config` names.
fn model_file(path: &str, assets: &Assets<'_>, warnings: &mut Warnings) -> Result<Option<String>, Error> {
    if path.ends_with(".sdf") {
        return Ok(assets.read(path).map(|(path, _)| path));
    }
    if let Some((config, bytes)) = assets.read(&join(path, "model.config")) {
        let name = sdf::read_config(&config, &bytes)?;
        if let Some((found, _)) = assets.read(&join(folder_of(&config), &name)) {
            return Ok(Some(found));
        }
        let message = format!("model.config names \"{}\", which is not there", excerpt(&name));
        warnings.add(message, || Place::file(&config));
    }
    Ok(assets.read(&join(path, "model.sdf")).map(|(path, _)| path))
}

/// The includes of a model and of the models nested in it.
fn uris_of(model: &ModelSpec, file: &str, todo: &mut Vec<(String, String)>) {
    let mut models = vec![model];
    while let Some(model) = models.pop() {
        models.extend(&model.models);
        todo.extend(model.includes.iter().map(|i| (file.to_owned(), i.uri.clone())));
    }
}

/// How many parts the tree will have for a model, without its includes.
fn parts_in(model: &ModelSpec) -> usize {
    let of_link = |l: &LinkSpec| 1 + l.collisions.len() + l.visuals.len();
    let links: usize = model.links.iter().map(of_link).sum();
    let nested: usize = model.models.iter().map(parts_in).sum();
    1 + links + nested + model.frames.len() + model.joints.len()
}
