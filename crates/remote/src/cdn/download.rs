//! One file of a world: from where it was left to its last byte, into the staging folder.

use super::source::Source;
use bytes::BytesMut;
use chicane_store::{InstallError, MAX_TOTAL, PlannedFile, Staged, StagedFileWriter, Staging};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are collected before they are written.
const WRITE_AT: usize = 256 << 10;

/// What all downloads of one world share.
pub(super) struct Download {
    pub(super) source: Arc<Source>,
    pub(super) staging: Arc<Staging>,
    /// Bytes so far, of all files.
    pub(super) came: AtomicU64,
    /// Told how many bytes came so far.
    pub(super) tell: Box<dyn Fn(u64) + Send + Sync>,
}

impl Download {
    /// Has a file staged, whole and right.
    pub(super) async fn file(&self, file: &PlannedFile) -> Result<(), InstallError> {
        let (staging, wanted) = (Arc::clone(&self.staging), file.clone());
        match blocking(move || Ok(staging.staged(&wanted))).await? {
            Staged::All => {
                self.add(file.expected.map_or(0, |(size, _)| size))?;
                Ok(())
            }
            Staged::Some(0) => self.fetch(file, 0).await,
            // Bytes that were left behind may be wrong, or of another file: then all of it comes anew.
            Staged::Some(there) => match self.fetch(file, there).await {
                Err(InstallError::Rule(_) | InstallError::Cdn(_)) => self.fetch(file, 0).await,
                done => done,
            },
        }
    }

    async fn fetch(&self, file: &PlannedFile, from: u64) -> Result<(), InstallError> {
        let plan = self.staging.plan();
        let path = format!("worlds/{}/{}/{}", plan.id, plan.meta.rev.as_str(), file.remote);
        let absent = || InstallError::Cdn(format!("it does not have {}", file.remote));
        let mut arriving = self.source.file(&path, from).await?.ok_or_else(absent)?;
        let from = arriving.from;
        file.check_size(from.saturating_add(arriving.length.unwrap_or(0)))?;
        let (staging, wanted) = (Arc::clone(&self.staging), file.clone());
        let mut writing = blocking(move || staging.write(&wanted, from)).await?;
        self.add(from)?;
        let mut buffer = BytesMut::new();
        loop {
            let chunk = match arriving.next().await {
                Ok(chunk) => chunk,
                Err(e) => {
                    // What came is kept, to go on with.
                    let _ = add(writing, buffer.split()).await;
                    return Err(e);
                }
            };
            let at_end = chunk.is_none();
            if let Some(chunk) = chunk {
                self.add(chunk.len() as u64)?;
                buffer.extend_from_slice(&chunk);
            }
            if buffer.len() >= WRITE_AT || at_end {
                writing = add(writing, buffer.split()).await?;
            }
            if at_end {
                return blocking(move || writing.end()).await;
            }
        }
    }

    /// Counts bytes, and refuses what is too much in all.
    fn add(&self, bytes: u64) -> Result<(), InstallError> {
        let came = self.came.fetch_add(bytes, Ordering::Relaxed) + bytes;
        (self.tell)(came);
        // Files that came twice are counted twice: what a manifest promises was checked before.
        if came > MAX_TOTAL && !self.staging.plan().verified() {
            return Err(InstallError::TooLarge("the world is larger than 256 MiB".to_owned()));
        }
        Ok(())
    }
}

async fn add(mut writing: StagedFileWriter, bytes: BytesMut) -> Result<StagedFileWriter, InstallError> {
    blocking(move || writing.add(&bytes).map(|()| writing)).await
}

/// Does disk work on a thread for such things.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstallError> + Send + 'static,
) -> Result<T, InstallError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|e| Err(InstallError::Disk(format!("the work on it failed: {e}"))))
}
