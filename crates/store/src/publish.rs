//! A CDN that worlds are published to: a folder, or any other store of `object_store`.
//!
//! The files of a world are written once and never change. They are written first, then the
//! manifest, and `meta.json` last, so that a world is visible only when it is complete. Only one
//! publisher at a time writes to a folder, and each publisher removes the leftovers of killed
//! publishers. A bucket has no lock and needs none: ids are unique, and `meta.json` is changed by a
//! conditional update. Leftovers of killed publishers stay in a bucket, where no client sees them.

use crate::manifest::{MAX_META, Meta};
use crate::package::Package;
use chicane_wire::WorldId;
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{
    Attribute, Attributes, Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of files that are written at the same time.
const PARALLEL_WRITES: usize = 4;
/// Maximum number of `meta.json` documents that are read at the same time.
const PARALLEL_READS: usize = 8;
/// Maximum number of bytes that are read at a time when a stored file is compared with the bytes
/// that were written.
const READ_BACK_BYTES: usize = 1 << 20;
/// Maximum number of attempts to change a `meta.json`, while other publishers change it too.
const MAX_ATTEMPTS: usize = 8;
/// `Cache-Control` of files that never change.
const CACHE_FOREVER: &str = "public, max-age=31536000, immutable";
/// `Cache-Control` of `meta.json`, which may change.
const CACHE_SHORT: &str = "public, max-age=5";

/// Why a CDN could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The folder or bucket can't be used.
    #[error("{0}")]
    Target(String),
    /// A file can't be written. The world was not published, or not changed.
    #[error("can't write {path}: {reason}")]
    Write {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
    /// No world with this id was published here.
    #[error("world {0} was not published there")]
    NotPublished(WorldId),
    /// The `meta.json` of a world is invalid.
    #[error("{0}")]
    Damaged(String),
    /// Other publishers changed the world at the same time.
    #[error("world {0} is being changed by another publisher; try again")]
    Changed(WorldId),
}

/// A CDN, as a publisher uses it.
#[derive(Debug, Clone)]
pub struct Cdn {
    store: Arc<dyn ObjectStore>,
    folder: Option<PathBuf>,
}

impl Cdn {
    /// A CDN in a folder. The folder is created if necessary.
    pub fn folder(folder: &Path) -> Result<Cdn, PublishError> {
        let failed = |e: &dyn std::fmt::Display| {
            PublishError::Target(format!("can't write {}: {e}", folder.display()))
        };
        std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
        let folder = std::path::absolute(folder).map_err(|e| failed(&e))?;
        let store = LocalFileSystem::new_with_prefix(&folder).map_err(|e| failed(&e))?;
        Ok(Cdn { store: Arc::new(store.with_fsync(true)), folder: Some(folder) })
    }

    /// A CDN in a folder, for reading only. `None` if the folder does not exist.
    pub fn reading(folder: &Path) -> Option<Cdn> {
        let store = LocalFileSystem::new_with_prefix(folder).ok()?;
        Some(Cdn { store: Arc::new(store), folder: Some(folder.to_owned()) })
    }

    /// A CDN in any other store. Several publishers may write to the store at the same time.
    pub fn store(store: Arc<dyn ObjectStore>) -> Cdn {
        Cdn { store, folder: None }
    }

    /// Publishes a world. Calls `progress` with values from 0 to 1.
    pub async fn publish(
        &self,
        package: &Package,
        mut progress: impl FnMut(f64),
    ) -> Result<(), PublishError> {
        let _lock = self.lock()?;
        self.remove_leftovers();
        let world = format!("worlds/{}", package.id);
        let rev = format!("{world}/{}", package.meta.rev.as_str());
        let manifest = package.manifest.json(&package.id, &package.meta.rev);
        let size = |bytes: &Vec<u8>| bytes.len() as f64 + 1.0;
        let total: f64 = package.files.iter().map(|(_, bytes)| size(bytes)).sum::<f64>() + 1.0;
        let mut done = 0.0;
        let writes = package.files.iter().map(|(path, bytes)| {
            let path = format!("{rev}/{path}");
            async move { self.create(path, bytes.clone()).await.map(|()| size(bytes)) }
        });
        let mut writes = futures_util::stream::iter(writes).buffer_unordered(PARALLEL_WRITES);
        while let Some(part) = writes.try_next().await? {
            done += part;
            progress(done / total);
        }
        self.create(format!("{rev}/manifest.json"), pretty(&manifest)).await?;
        self.create(format!("{world}/meta.json"), pretty(&package.meta.json(&package.id))).await?;
        progress(1.0);
        Ok(())
    }

    /// Changes the `meta.json` of a published world and returns it.
    pub async fn change(
        &self,
        id: &WorldId,
        change: impl Fn(&mut Meta) + Send,
    ) -> Result<Meta, PublishError> {
        let _lock = self.lock()?;
        for _ in 0..MAX_ATTEMPTS {
            let (mut meta, version) = self.read(id).await?;
            change(&mut meta);
            meta.seq += 1;
            // A folder needs no check, because it is locked. Other stores check that the document
            // still has the version that was read.
            let mode = if self.folder.is_some() { PutMode::Overwrite } else { PutMode::Update(version) };
            let path = format!("worlds/{id}/meta.json");
            let bytes = pretty(&meta.json(id));
            match self.put(&path, bytes.clone(), mode).await {
                Ok(()) => return Ok(meta),
                // The store's client repeats a write whose response was lost. If the first write
                // had succeeded, the repeated write fails with `Precondition`. Therefore the write
                // succeeded if the stored bytes are the bytes of this write.
                Err(Error::Precondition { .. }) if self.holds(&path, &bytes).await => return Ok(meta),
                Err(Error::Precondition { .. }) => {}
                Err(e) => return Err(PublishError::Write { path, reason: reason(&e) }),
            }
        }
        Err(PublishError::Changed(id.clone()))
    }

    /// All published worlds, sorted by name and id. Incomplete and invalid worlds are skipped.
    pub async fn worlds(&self) -> Result<Vec<(WorldId, Meta)>, PublishError> {
        let failed = |e: Error| PublishError::Target(format!("the worlds can't be listed: {}", reason(&e)));
        let listed =
            self.store.list_with_delimiter(Some(&ObjectPath::from("worlds"))).await.map_err(failed)?;
        let id_of = |path: &ObjectPath| WorldId::parse(path.parts().next_back()?.as_ref());
        let ids: Vec<WorldId> = listed.common_prefixes.iter().filter_map(id_of).collect();
        let reads = ids.into_iter().map(|id| async move { (self.read(&id).await, id) });
        let mut reads = futures_util::stream::iter(reads).buffer_unordered(PARALLEL_READS);
        let mut worlds = Vec::new();
        while let Some((read, id)) = reads.next().await {
            match read {
                Ok((meta, _)) => worlds.push((id, meta)),
                Err(PublishError::NotPublished(_)) => {}
                // A bucket that refuses one read usually refuses all of them, so the list fails
                // instead of being empty.
                Err(e @ PublishError::Target(_)) if self.folder.is_none() => return Err(e),
                Err(e) => tracing::warn!(%id, "a published world can't be read: {e}"),
            }
        }
        worlds.sort_by(|(a, x), (b, y)| (&x.name, a).cmp(&(&y.name, b)));
        Ok(worlds)
    }

    async fn read(&self, id: &WorldId) -> Result<(Meta, UpdateVersion), PublishError> {
        let path = format!("worlds/{id}/meta.json");
        let failed = |e: Error| match e {
            Error::NotFound { .. } => PublishError::NotPublished(id.clone()),
            e => PublishError::Target(format!("can't read {path}: {}", reason(&e))),
        };
        let found = self.store.get(&ObjectPath::from(path.as_str())).await.map_err(failed)?;
        if found.meta.size > MAX_META as u64 {
            return Err(PublishError::Damaged(format!("{path} is larger than 1 MiB")));
        }
        let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        let bytes = found.bytes().await.map_err(failed)?;
        let meta = Meta::read(id, &bytes).map_err(|e| PublishError::Damaged(format!("{path}: {e}")))?;
        Ok((meta, version))
    }

    /// Writes a new file.
    async fn create(&self, path: String, bytes: Vec<u8>) -> Result<(), PublishError> {
        match self.put(&path, bytes.clone(), PutMode::Create).await {
            Ok(()) => Ok(()),
            // The store's client repeats a write whose response was lost. If the first write had
            // succeeded, the repeated write fails with `AlreadyExists`. Therefore the write
            // succeeded if the stored bytes are the bytes of this write.
            Err(Error::AlreadyExists { .. }) if self.folder.is_none() && self.holds(&path, &bytes).await => {
                Ok(())
            }
            Err(e) => Err(PublishError::Write { path, reason: reason(&e) }),
        }
    }

    async fn put(&self, path: &str, bytes: Vec<u8>, mode: PutMode) -> Result<(), Error> {
        let mut options = PutOptions::from(mode);
        // A folder can't store attributes.
        if self.folder.is_none() {
            let cache = if path.ends_with("/meta.json") { CACHE_SHORT } else { CACHE_FOREVER };
            options.attributes = Attributes::from_iter([
                (Attribute::ContentType, media_type(path)),
                (Attribute::CacheControl, cache),
            ]);
        }
        self.store.put_opts(&ObjectPath::from(path), PutPayload::from(bytes), options).await.map(drop)
    }

    /// Whether a stored file has exactly these bytes.
    async fn holds(&self, path: &str, bytes: &[u8]) -> bool {
        let path = ObjectPath::from(path);
        if !self.store.head(&path).await.is_ok_and(|found| found.size == bytes.len() as u64) {
            return false;
        }
        for (k, part) in bytes.chunks(READ_BACK_BYTES).enumerate() {
            let from = (k * READ_BACK_BYTES) as u64;
            let there = self.store.get_range(&path, from..from + part.len() as u64).await;
            if !there.is_ok_and(|there| there == *part) {
                return false;
            }
        }
        true
    }

    /// Waits for the lock of the folder. `None` for other stores, because they have no lock.
    fn lock(&self) -> Result<Option<File>, PublishError> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let path = folder.join("lock");
        let options = File::options().write(true).create(true).truncate(false).clone();
        let locked = options.open(&path).and_then(|file| file.lock().map(|()| file));
        let failed = |e: std::io::Error| PublishError::Target(format!("can't write {}: {e}", path.display()));
        locked.map(Some).map_err(failed)
    }

    /// Removes leftovers of killed publishers: worlds without a `meta.json`, and drafts of a
    /// `meta.json`.
    fn remove_leftovers(&self) {
        let Some(folder) = &self.folder else { return };
        let Ok(worlds) = std::fs::read_dir(folder.join("worlds")) else { return };
        for world in worlds.flatten() {
            let is_id = world.file_name().to_str().is_some_and(|name| WorldId::parse(name).is_some());
            if is_id && !world.path().join("meta.json").exists() {
                let _ = std::fs::remove_dir_all(world.path());
                continue;
            }
            for entry in std::fs::read_dir(world.path()).into_iter().flatten().flatten() {
                if entry.file_name().to_string_lossy().starts_with("meta.json#") {
                    let _ = std::fs::remove_file(entry.path());
                }
            }
        }
    }
}

/// The media type of a file, by its extension.
pub fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("webp") => "image/webp",
        Some("world" | "sdf" | "dae" | "config") => "application/xml",
        Some("py") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn pretty(value: &serde_json::Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// The innermost source of an error: the error of the operating system or the network.
fn reason(e: &Error) -> String {
    let mut inner: &dyn std::error::Error = e;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests;
