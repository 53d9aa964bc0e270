//! What is to be installed: which files, how large, and where they go.

use super::InstallError;
use crate::manifest::{Manifest, Meta};
use crate::rules::{self, FilePath, MAX_FILE};
use crate::sum::Sum;
use chicane_wire::WorldId;

/// A file to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where the CDN has it.
    pub remote: FilePath,
    /// Where it is installed.
    pub(super) local: FilePath,
    /// Bytes and their sum, where a manifest says so.
    pub said: Option<(u64, Sum)>,
}

impl Wanted {
    /// The most bytes it may have.
    pub fn most(&self) -> u64 {
        self.said.map_or(MAX_FILE, |(size, _)| size)
    }

    /// Refuses more bytes than there may be.
    pub fn check_size(&self, size: u64) -> Result<(), InstallError> {
        let path = &self.remote;
        match self.said {
            _ if size <= self.most() => Ok(()),
            Some(_) => Err(InstallError::Rule(format!("{path} is larger than its manifest says"))),
            None => Err(InstallError::TooLarge(format!("{path} is larger than 64 MiB"))),
        }
    }
}

/// What is to be installed.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Id of the world.
    pub id: WorldId,
    /// Its description.
    pub meta: Meta,
    /// What its id should be the sum of.
    pub(super) manifest: Option<Manifest>,
    /// All files.
    pub files: Vec<Wanted>,
}

impl Plan {
    /// Makes a plan of what a CDN says, if that can be a world.
    pub fn new(id: &WorldId, meta: Meta, manifest: Option<Manifest>) -> Result<Plan, InstallError> {
        let listed: Vec<(&FilePath, Option<(u64, Sum)>)> = match &manifest {
            Some(manifest) => manifest.files.iter().map(|f| (&f.path, Some((f.size, f.sum)))).collect(),
            None => meta.files.iter().map(|path| (path, None)).collect(),
        };
        rules::check_paths(listed.iter().map(|(path, _)| *path))?;
        rules::check_sizes(listed.iter().map(|(path, said)| (*path, said.map_or(0, |(size, _)| size))))?;
        if manifest.is_some() {
            let sorted = |mut paths: Vec<&FilePath>| {
                paths.sort();
                paths.into_iter().cloned().collect::<Vec<_>>()
            };
            let promised = sorted(listed.iter().map(|(path, _)| *path).collect());
            if promised != sorted(meta.files.iter().collect()) {
                let text = "meta.json and manifest.json name different files";
                return Err(InstallError::Rule(text.to_owned()));
            }
        }
        let stem = rules::world_stem(listed.iter().map(|(path, _)| *path))?;
        if !listed.iter().any(|(path, _)| is_model(path)) {
            let text = "there is no track model, models/<name>/model.config";
            return Err(InstallError::Rule(text.to_owned()));
        }
        let name = format!("custom_{id}");
        let wanted = |(path, said): &(&FilePath, Option<(u64, Sum)>)| {
            let local = rules::renamed(path, &stem, &name);
            Wanted { remote: (*path).clone(), local, said: *said }
        };
        let files: Vec<Wanted> = listed.iter().map(wanted).collect();
        rules::check_paths(files.iter().map(|f| &f.local))?;
        Ok(Plan { id: id.clone(), meta, manifest, files })
    }

    /// Whether the id will prove the files.
    pub fn verified(&self) -> bool {
        self.manifest.is_some()
    }

    /// Bytes in all, where they are known.
    pub fn total(&self) -> Option<u64> {
        self.files.iter().map(|f| f.said.map(|(size, _)| size)).sum()
    }
}

fn is_model(path: &FilePath) -> bool {
    let names: Vec<&str> = path.as_str().split('/').collect();
    matches!(names[..], ["models", _, "model.config"])
}
