//! The plan of an installation: which files, their sizes, and their paths.

use super::error::InstallError;
use crate::manifest::{Manifest, Meta};
use crate::rules::{self, FilePath};
use crate::sum::Sum;
use chicane_bundles::MAX_FILE;
use chicane_wire::WorldId;

/// A file to download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Path on the CDN.
    pub remote: FilePath,
    /// Path in the installed world.
    pub(super) local: FilePath,
    /// Size in bytes and checksum. `None` without a manifest.
    pub expected: Option<(u64, Sum)>,
}

impl PlannedFile {
    /// The largest allowed size in bytes.
    pub fn max_size(&self) -> u64 {
        self.expected.map_or(MAX_FILE, |(size, _)| size)
    }

    /// Fails if a file of this size is not allowed.
    pub fn check_size(&self, size: u64) -> Result<(), InstallError> {
        let path = &self.remote;
        match self.expected {
            _ if size <= self.max_size() => Ok(()),
            Some(_) => Err(InstallError::Rule(format!("{path} is larger than its manifest says"))),
            None => Err(InstallError::TooLarge(format!("{path} is larger than 64 MiB"))),
        }
    }
}

/// The plan of an installation.
#[derive(Debug, Clone)]
pub struct InstallPlan {
    /// Id of the world.
    pub id: WorldId,
    /// The content of the world's `meta.json`.
    pub meta: Meta,
    /// The manifest. `Staging::check` verifies that the id was computed from it. `None` if the
    /// CDN has no manifest.
    pub(super) manifest: Option<Manifest>,
    /// All files of the world.
    pub files: Vec<PlannedFile>,
}

impl InstallPlan {
    /// Makes a plan from the documents of a CDN. Fails if these documents can't describe a world.
    pub fn new(id: &WorldId, meta: Meta, manifest: Option<Manifest>) -> Result<InstallPlan, InstallError> {
        let listed: Vec<(&FilePath, Option<(u64, Sum)>)> = match &manifest {
            Some(manifest) => manifest.files.iter().map(|f| (&f.path, Some((f.size, f.sum)))).collect(),
            None => meta.files.iter().map(|path| (path, None)).collect(),
        };
        rules::check_paths(listed.iter().map(|(path, _)| *path))?;
        rules::check_sizes(
            listed.iter().map(|(path, expected)| (*path, expected.map_or(0, |(size, _)| size))),
        )?;
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
            let text = "there is no track model (models/<name>/model.config)";
            return Err(InstallError::Rule(text.to_owned()));
        }
        let name = format!("custom_{id}");
        let planned = |(path, expected): &(&FilePath, Option<(u64, Sum)>)| {
            let local = rules::renamed(path, &stem, &name);
            PlannedFile { remote: (*path).clone(), local, expected: *expected }
        };
        let files: Vec<PlannedFile> = listed.iter().map(planned).collect();
        rules::check_paths(files.iter().map(|f| &f.local))?;
        Ok(InstallPlan { id: id.clone(), meta, manifest, files })
    }

    /// Whether the files can be verified against the id.
    pub fn verified(&self) -> bool {
        self.manifest.is_some()
    }

    /// The total size in bytes, if it is known.
    pub fn total(&self) -> Option<u64> {
        self.files.iter().map(|f| f.expected.map(|(size, _)| size)).sum()
    }
}

fn is_model(path: &FilePath) -> bool {
    let names: Vec<&str> = path.as_str().split('/').collect();
    matches!(names[..], ["models", _, "model.config"])
}
