//! A CDN that worlds are published to: a folder, or whatever else `object_store` can write.
//!
//! What a world consists of is written once and never again: its files, then its manifest, and its
//! `meta.json` last, so that a world is there as a whole or not at all. A folder is written by one
//! publisher at a time; what one left behind that was killed is removed by the next.

use crate::manifest::{MAX_META, Meta};
use crate::package::Package;
use chicane_wire::WorldId;
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Place;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that are written at a time.
const AT_ONCE: usize = 4;

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

    /// Any other store.
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
        change: impl FnOnce(&mut Meta) + Send,
    ) -> Result<Meta, PublishError> {
        let _lock = self.lock()?;
        let (mut meta, version) = self.read(id).await?;
        change(&mut meta);
        meta.seq += 1;
        // A folder is ours alone; others say themselves whether somebody was faster.
        let mode = if self.folder.is_some() { PutMode::Overwrite } else { PutMode::Update(version) };
        let path = format!("worlds/{id}/meta.json");
        let bytes = PutPayload::from(pretty(&meta.json(id)));
        let done = self.store.put_opts(&Place::from(path.as_str()), bytes, PutOptions::from(mode)).await;
        match done {
            Ok(_) => Ok(meta),
            Err(object_store::Error::Precondition { .. }) => Err(PublishError::Changed(id.clone())),
            Err(e) => Err(PublishError::Write { path, reason: reason(&e) }),
        }
    }

    /// All published worlds, by name and id. What is only half there is passed over.
    pub async fn worlds(&self) -> Result<Vec<(WorldId, Meta)>, PublishError> {
        let failed = |e: object_store::Error| PublishError::Target(format!("can't read it: {}", reason(&e)));
        let listed = self.store.list_with_delimiter(Some(&Place::from("worlds"))).await.map_err(failed)?;
        let ids =
            listed.common_prefixes.iter().filter_map(|p| WorldId::parse(p.parts().next_back()?.as_ref()));
        let mut worlds = Vec::new();
        for id in ids {
            match self.read(&id).await {
                Ok((meta, _)) => worlds.push((id, meta)),
                Err(PublishError::NotPublished(_)) => {}
                Err(e) => tracing::warn!(%id, "a published world can't be read: {e}"),
            }
        }
        worlds.sort_by(|(a, x), (b, y)| (&x.name, a).cmp(&(&y.name, b)));
        Ok(worlds)
    }

    async fn read(&self, id: &WorldId) -> Result<(Meta, UpdateVersion), PublishError> {
        let path = format!("worlds/{id}/meta.json");
        let failed = |e: object_store::Error| match e {
            object_store::Error::NotFound { .. } => PublishError::NotPublished(id.clone()),
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
        let options = PutOptions::from(PutMode::Create);
        let put = self.store.put_opts(&Place::from(path.as_str()), PutPayload::from(bytes), options).await;
        put.map(drop).map_err(|e| PublishError::Write { path, reason: reason(&e) })
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

fn pretty(value: &serde_json::Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// The innermost reason of an error: what the system said.
fn reason(e: &object_store::Error) -> String {
    let mut inner: &dyn std::error::Error = e;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Access, Manifest};
    use crate::package::tests::packed;
    use crate::scratch::Scratch;
    use object_store::memory::InMemory;
    use std::future::Future;

    fn run<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(work)
    }

    #[test]
    fn a_world_is_published_and_described() {
        run(async {
            let scratch = Scratch::new();
            let stores = [
                Cdn::folder(&scratch.path().join("new/cdn")).expect("a folder"),
                Cdn::store(Arc::new(InMemory::new())),
            ];
            for cdn in stores {
                let package = packed("oval");
                let mut parts = Vec::new();
                cdn.publish(&package, |part| parts.push(part)).await.expect("published");
                assert!(parts.is_sorted() && parts.last() == Some(&1.0), "{parts:?}");
                assert_eq!(cdn.worlds().await, Ok(vec![(package.id.clone(), package.meta.clone())]));
                let rev = package.meta.rev.as_str();
                let read = async |path: &str| {
                    let place = Place::from(format!("worlds/{}/{rev}/{path}", package.id));
                    cdn.store.get(&place).await.expect("there").bytes().await.expect("read")
                };
                let manifest = Manifest::read(&package.id, &package.meta.rev, &read("manifest.json").await);
                assert_eq!(manifest, Ok(package.manifest.clone()));
                for (path, bytes) in &package.files {
                    assert_eq!(read(path.as_str()).await, *bytes, "{path}");
                }
                let changed = cdn.change(&package.id, |m| m.access = Access::Private).await.expect("changed");
                assert_eq!((changed.access, changed.seq), (Access::Private, 2));
                let changed =
                    cdn.change(&package.id, |m| m.name = "Other".to_owned()).await.expect("changed");
                assert_eq!((changed.access, changed.seq), (Access::Private, 3));
                assert_eq!(cdn.worlds().await, Ok(vec![(package.id.clone(), changed)]));
                // Nothing is ever written twice.
                let again = cdn.publish(&package, |_| ()).await;
                assert!(matches!(again, Err(PublishError::Write { .. })), "{again:?}");
                let nobody = WorldId::parse(&"a".repeat(32)).expect("an id");
                assert_eq!(cdn.change(&nobody, |_| ()).await, Err(PublishError::NotPublished(nobody)));
            }
        });
    }

    #[test]
    fn what_was_left_behind_goes_and_nothing_else() {
        run(async {
            let scratch = Scratch::new();
            let cdn = Cdn::folder(scratch.path()).expect("a folder");
            let first = packed("oval");
            cdn.publish(&first, |_| ()).await.expect("published");
            let worlds = scratch.path().join("worlds");
            let torn = worlds.join("a".repeat(32));
            std::fs::create_dir_all(torn.join("abcd1234/worlds")).expect("made");
            let draft = worlds.join(first.id.as_str()).join("meta.json#1");
            std::fs::write(&draft, "{").expect("made");
            let foreign = worlds.join("notes");
            std::fs::create_dir(&foreign).expect("made");
            let second = packed("field");
            cdn.publish(&second, |_| ()).await.expect("published");
            assert!(!torn.exists() && !draft.exists() && foreign.exists());
            let ids: Vec<_> = cdn.worlds().await.expect("listed").into_iter().map(|(id, _)| id).collect();
            assert_eq!(ids, [second.id, first.id], "by name: The field, The oval");
        });
    }

    #[test]
    fn many_publish_into_one_folder() {
        let scratch = Scratch::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let cdn = Cdn::folder(scratch.path()).expect("a folder");
                    run(cdn.publish(&packed("field"), |_| ())).expect("published");
                });
            }
        });
        let cdn = Cdn::folder(scratch.path()).expect("a folder");
        assert_eq!(run(cdn.worlds()).expect("listed").len(), 4);
    }
}
