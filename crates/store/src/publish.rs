//! A CDN that worlds are published to: a folder, or whatever else `object_store` can write.
//!
//! What a world consists of is written once and never again: its files, then its manifest, and its
//! `meta.json` last, so that a world is there as a whole or not at all. A folder is written by one
//! publisher at a time; what one left behind that was killed is removed by the next. A bucket has no lock and
//! needs none: ids never meet, and what may change is changed on the condition that nobody else did. What a
//! killed publisher left there stays; nobody sees it.

use crate::manifest::{MAX_META, Meta};
use crate::package::Package;
use chicane_wire::WorldId;
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Place;
use object_store::{
    Attribute, Attributes, Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that are written at a time.
const AT_ONCE: usize = 4;
/// Descriptions that are read at a time.
const READ_AT_ONCE: usize = 8;
/// Bytes that are read back at a time.
const PART: usize = 1 << 20;
/// How often a change is tried again, because somebody else changed the same.
const MAX_RACES: usize = 8;
/// How long others may keep what never changes, and what does.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const FOR_A_MOMENT: &str = "public, max-age=5";

/// Why a CDN was not written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The place can't be used.
    #[error("{0}")]
    Target(String),
    /// Writing failed on the way. Nothing was published.
    #[error("can't write {path}: {reason}")]
    Write {
        /// What was written.
        path: String,
        /// Why not.
        reason: String,
    },
    /// No world of this id was published here.
    #[error("world {0} was not published there")]
    NotPublished(WorldId),
    /// Its description can't be understood.
    #[error("{0}")]
    Damaged(String),
    /// Somebody else changed it in the same moment.
    #[error("world {0} is being changed by another at the moment; try again")]
    Changed(WorldId),
}

/// A CDN as its publisher sees it.
#[derive(Debug, Clone)]
pub struct Cdn {
    store: Arc<dyn ObjectStore>,
    folder: Option<PathBuf>,
}

impl Cdn {
    /// A folder, which is made if it is not there.
    pub fn folder(folder: &Path) -> Result<Cdn, PublishError> {
        let failed = |e: &dyn std::fmt::Display| {
            PublishError::Target(format!("can't write {}: {e}", folder.display()))
        };
        std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
        let folder = std::path::absolute(folder).map_err(|e| failed(&e))?;
        let store = LocalFileSystem::new_with_prefix(&folder).map_err(|e| failed(&e))?;
        Ok(Cdn { store: Arc::new(store.with_fsync(true)), folder: Some(folder) })
    }

    /// A folder to read; `None` where there is none.
    pub fn reading(folder: &Path) -> Option<Cdn> {
        let store = LocalFileSystem::new_with_prefix(folder).ok()?;
        Some(Cdn { store: Arc::new(store), folder: Some(folder.to_owned()) })
    }

    /// Any other store, which many may write to at the same time.
    pub fn store(store: Arc<dyn ObjectStore>) -> Cdn {
        Cdn { store, folder: None }
    }

    /// Publishes a world. Says how far it is, 0 to 1.
    pub async fn publish(
        &self,
        package: &Package,
        mut progress: impl FnMut(f64),
    ) -> Result<(), PublishError> {
        let _lock = self.lock()?;
        self.sweep();
        let world = format!("worlds/{}", package.id);
        let rev = format!("{world}/{}", package.meta.rev.as_str());
        let manifest = package.manifest.json(&package.id, &package.meta.rev);
        let size = |bytes: &Vec<u8>| bytes.len() as f64 + 1.0;
        let total: f64 = package.files.iter().map(|(_, bytes)| size(bytes)).sum::<f64>() + 1.0;
        let mut done = 0.0;
        let writes = package.files.iter().map(|(path, bytes)| {
            let place = format!("{rev}/{path}");
            async move { self.create(place, bytes.clone()).await.map(|()| size(bytes)) }
        });
        let mut writes = futures_util::stream::iter(writes).buffer_unordered(AT_ONCE);
        while let Some(part) = writes.try_next().await? {
            done += part;
            progress(done / total);
        }
        self.create(format!("{rev}/manifest.json"), pretty(&manifest)).await?;
        self.create(format!("{world}/meta.json"), pretty(&package.meta.json(&package.id))).await?;
        progress(1.0);
        Ok(())
    }

    /// Changes what may change of a published world, and gives what it is then.
    pub async fn change(
        &self,
        id: &WorldId,
        change: impl Fn(&mut Meta) + Send,
    ) -> Result<Meta, PublishError> {
        let _lock = self.lock()?;
        for _ in 0..MAX_RACES {
            let (mut meta, version) = self.read(id).await?;
            change(&mut meta);
            meta.seq += 1;
            // A folder is ours alone; others say themselves whether somebody was faster.
            let mode = if self.folder.is_some() { PutMode::Overwrite } else { PutMode::Update(version) };
            let path = format!("worlds/{id}/meta.json");
            let bytes = pretty(&meta.json(id));
            match self.put(&path, bytes.clone(), mode).await {
                Ok(()) => return Ok(meta),
                // Or it was us, and the answer was lost on the way.
                Err(Error::Precondition { .. }) if self.holds(&path, &bytes).await => return Ok(meta),
                Err(Error::Precondition { .. }) => {}
                Err(e) => return Err(PublishError::Write { path, reason: reason(&e) }),
            }
        }
        Err(PublishError::Changed(id.clone()))
    }

    /// All published worlds, by name and id. What is only half there is passed over.
    pub async fn worlds(&self) -> Result<Vec<(WorldId, Meta)>, PublishError> {
        let failed = |e: Error| PublishError::Target(format!("it can't be listed: {}", reason(&e)));
        let listed = self.store.list_with_delimiter(Some(&Place::from("worlds"))).await.map_err(failed)?;
        let id_of = |place: &Place| WorldId::parse(place.parts().next_back()?.as_ref());
        let ids: Vec<WorldId> = listed.common_prefixes.iter().filter_map(id_of).collect();
        let reads = ids.into_iter().map(|id| async move { (self.read(&id).await, id) });
        let mut reads = futures_util::stream::iter(reads).buffer_unordered(READ_AT_ONCE);
        let mut worlds = Vec::new();
        while let Some((read, id)) = reads.next().await {
            match read {
                Ok((meta, _)) => worlds.push((id, meta)),
                Err(PublishError::NotPublished(_)) => {}
                // Whoever may not read one may read none.
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
        let found = self.store.get(&Place::from(path.as_str())).await.map_err(failed)?;
        if found.meta.size > MAX_META as u64 {
            return Err(PublishError::Damaged(format!("{path} is larger than 1 MiB")));
        }
        let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        let bytes = found.bytes().await.map_err(failed)?;
        let meta = Meta::read(id, &bytes).map_err(|e| PublishError::Damaged(format!("{path}: {e}")))?;
        Ok((meta, version))
    }

    /// Writes what is not there yet.
    async fn create(&self, path: String, bytes: Vec<u8>) -> Result<(), PublishError> {
        match self.put(&path, bytes.clone(), PutMode::Create).await {
            Ok(()) => Ok(()),
            // A request that was sent twice, because the answer to the first was lost on the way.
            Err(Error::AlreadyExists { .. }) if self.folder.is_none() && self.holds(&path, &bytes).await => {
                Ok(())
            }
            Err(e) => Err(PublishError::Write { path, reason: reason(&e) }),
        }
    }

    async fn put(&self, path: &str, bytes: Vec<u8>, mode: PutMode) -> Result<(), Error> {
        let mut options = PutOptions::from(mode);
        // A folder has no place for more than bytes.
        if self.folder.is_none() {
            let keep = if path.ends_with("/meta.json") { FOR_A_MOMENT } else { FOR_EVER };
            options.attributes = Attributes::from_iter([
                (Attribute::ContentType, media_type(path)),
                (Attribute::CacheControl, keep),
            ]);
        }
        self.store.put_opts(&Place::from(path), PutPayload::from(bytes), options).await.map(drop)
    }

    /// Whether exactly these bytes are there.
    async fn holds(&self, path: &str, bytes: &[u8]) -> bool {
        let place = Place::from(path);
        if !self.store.head(&place).await.is_ok_and(|found| found.size == bytes.len() as u64) {
            return false;
        }
        for (k, part) in bytes.chunks(PART).enumerate() {
            let from = (k * PART) as u64;
            let there = self.store.get_range(&place, from..from + part.len() as u64).await;
            if !there.is_ok_and(|there| there == *part) {
                return false;
            }
        }
        true
    }

    /// Waits for its turn in a folder.
    fn lock(&self) -> Result<Option<File>, PublishError> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let path = folder.join("lock");
        let options = File::options().write(true).create(true).truncate(false).clone();
        let locked = options.open(&path).and_then(|file| file.lock().map(|()| file));
        let failed = |e: std::io::Error| PublishError::Target(format!("can't write {}: {e}", path.display()));
        locked.map(Some).map_err(failed)
    }

    /// Removes what publishers left behind that were killed: worlds without a `meta.json`, and drafts of one.
    fn sweep(&self) {
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

/// What kind of file a browser is to take it for.
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

/// The innermost reason of an error: what the system said.
fn reason(e: &Error) -> String {
    let mut inner: &dyn std::error::Error = e;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests;
