//! Downloads the files of a world into its staging folder. If the folder already has the first part
//! of a file, the download begins after this part.

use super::source::CdnSource;
use bytes::BytesMut;
use chicane_store::{InstallError, MAX_TOTAL, PlannedFile, Staged, StagedFileWriter, Staging};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of bytes that are buffered before they are written to disk.
const WRITE_BUFFER: usize = 256 << 10;

/// The state that all file downloads of one world share.
pub(super) struct WorldDownload {
    pub(super) source: Arc<CdnSource>,
    pub(super) staging: Arc<Staging>,
    /// Number of bytes of all files so far that were received or were already staged.
    pub(super) received: AtomicU64,
    /// This callback is called with `received` whenever the number changes.
    pub(super) on_received: Box<dyn Fn(u64) + Send + Sync>,
}

impl WorldDownload {
    /// Downloads a file, unless the staging folder has it already. If there is a manifest, the
    /// checksum of the file is verified.
    pub(super) async fn file(&self, file: &PlannedFile) -> Result<(), InstallError> {
        let (staging, wanted) = (Arc::clone(&self.staging), file.clone());
        match blocking(move || Ok(staging.staged(&wanted))).await? {
            Staged::All => {
                self.count(file.expected.map_or(0, |(size, _)| size))?;
                Ok(())
            }
            Staged::Some(0) => self.fetch(file, 0).await,
            // The partial file may be damaged, because a checksum is verified only at the end of a
            // file. If the download of the rest fails, the file is downloaded again from its first
            // byte.
            Staged::Some(present) => match self.fetch(file, present).await {
                Err(InstallError::Rule(_) | InstallError::Cdn(_)) => self.fetch(file, 0).await,
                done => done,
            },
        }
    }

    async fn fetch(&self, file: &PlannedFile, start: u64) -> Result<(), InstallError> {
        let plan = self.staging.plan();
        let path = format!("worlds/{}/{}/{}", plan.id, plan.meta.rev.as_str(), file.remote);
        let absent = || InstallError::Cdn(format!("it does not have {}", file.remote));
        let mut arriving = self.source.file(&path, start).await?.ok_or_else(absent)?;
        let start = arriving.start;
        file.check_size(start.saturating_add(arriving.length.unwrap_or(0)))?;
        let (staging, wanted) = (Arc::clone(&self.staging), file.clone());
        let mut writing = blocking(move || staging.write(&wanted, start)).await?;
        self.count(start)?;
        let mut buffer = BytesMut::new();
        loop {
            let chunk = match arriving.next().await {
                Ok(chunk) => chunk,
                Err(e) => {
                    // The received bytes are written, so that the next attempt can continue after
                    // them.
                    let _ = write(writing, buffer.split()).await;
                    return Err(e);
                }
            };
            let at_end = chunk.is_none();
            if let Some(chunk) = chunk {
                self.count(chunk.len() as u64)?;
                buffer.extend_from_slice(&chunk);
            }
            if buffer.len() >= WRITE_BUFFER || at_end {
                writing = write(writing, buffer.split()).await?;
            }
            if at_end {
                return blocking(move || writing.end()).await;
            }
        }
    }

    /// Adds to the number of received bytes. Fails if a world without a manifest gets too large.
    fn count(&self, bytes: u64) -> Result<(), InstallError> {
        let received = self.received.fetch_add(bytes, Ordering::Relaxed) + bytes;
        (self.on_received)(received);
        // A world with a manifest is not checked here, because its total size was checked before
        // the download. For such a world, `received` may exceed the total size, because a file that
        // is downloaded twice is counted twice.
        if received > MAX_TOTAL && !self.staging.plan().verified() {
            return Err(InstallError::TooLarge("the world is larger than 256 MiB".to_owned()));
        }
        Ok(())
    }
}

async fn write(mut writing: StagedFileWriter, bytes: BytesMut) -> Result<StagedFileWriter, InstallError> {
    blocking(move || writing.add(&bytes).map(|()| writing)).await
}

/// Runs disk operations on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstallError> + Send + 'static,
) -> Result<T, InstallError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|e| Err(InstallError::Disk(format!("a disk operation failed: {e}"))))
}
