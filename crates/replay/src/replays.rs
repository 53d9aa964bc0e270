//! Caches the last few runs that viewers looked at.

use crate::{Filming, RecordedRun, RunError, SeekError};
use bytes::Bytes;
use chicane_host::camera::{Camera, DrawnFrames};
use chicane_host::evaluation::{Evaluations, StoredRecord};
use chicane_store::run_file;
use chicane_wire::Role;
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of runs in memory. A run of three minutes needs about 10 MB. Runs of the same
/// world share the world, and all runs share the buffers of the renderer.
const MAX_RUNS: usize = 4;

/// Why a run can't be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is no such session.
    #[error("no record")]
    NoRecord,
    /// The run can't be simulated again.
    #[error(transparent)]
    Run(#[from] RunError),
    /// This version simulates the run in another way.
    #[error(transparent)]
    Seek(#[from] SeekError),
    /// The database can't be read.
    #[error("the records can't be read: {0}")]
    Store(#[from] chicane_store::StoreError),
    /// A picture could not be drawn.
    #[error("the picture could not be drawn")]
    NotDrawn,
    /// A thread of the simulator panicked.
    #[error("the simulator failed: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}

/// A run, and a camera for its car. The car may differ from the car of the running simulator.
struct Shown {
    session: String,
    filming: Filming,
    camera: Camera,
}

/// Runs that viewers look at.
pub struct Replays {
    evaluations: Arc<Evaluations>,
    /// The runs in memory, the most recently used first. The lock is held while a run is opened, so
    /// that only one run at a time is simulated as a whole.
    shown: tokio::sync::Mutex<VecDeque<Arc<Shown>>>,
    /// The renderer and the last pictures of all runs.
    frames: DrawnFrames,
}

impl Replays {
    /// Starts with no run in memory.
    pub fn new(evaluations: Arc<Evaluations>) -> Replays {
        Replays { evaluations, shown: tokio::sync::Mutex::default(), frames: DrawnFrames::default() }
    }

    /// The tracks of the session `id`, or of the last session if `id` is `None`. With `by`, only
    /// sessions that were started with this role are found.
    pub async fn tracks(&self, id: Option<String>, by: Option<Role>) -> Result<Bytes, ReplayError> {
        Ok(self.shown(id, by).await?.filming.tracks())
    }

    /// The picture of the on-board camera at a moment of a run, as JPEG. `time_s` is counted in
    /// simulated seconds from the start of the run. The bytes are the same as those of the camera
    /// during the run.
    pub async fn picture(
        &self,
        id: Option<String>,
        by: Option<Role>,
        time_s: f64,
    ) -> Result<Bytes, ReplayError> {
        let shown = self.shown(id, by).await?;
        let seeking = Arc::clone(&shown);
        let found = tokio::task::spawn_blocking(move || seeking.filming.exposure_at(time_s)).await?;
        let (exposure, brightness) = found?;
        let size = shown.camera.size(None, None);
        shown.camera.jpeg(&exposure, size, brightness).await.map_err(|_| ReplayError::NotDrawn)
    }

    /// The file of a run, and the id of its session.
    pub async fn file(&self, id: Option<String>, by: Option<Role>) -> Result<(String, Vec<u8>), ReplayError> {
        let evaluations = Arc::clone(&self.evaluations);
        let pack = move || {
            let found = evaluations.recorded(id.as_deref(), by)?.ok_or(ReplayError::NoRecord)?;
            let StoredRecord { record, journal, bundle } = found;
            let parts = RecordedRun::parts(&record, journal, bundle)?;
            Ok((record.session, run_file::pack(&parts)))
        };
        tokio::task::spawn_blocking(pack).await?
    }

    async fn shown(&self, id: Option<String>, by: Option<Role>) -> Result<Arc<Shown>, ReplayError> {
        let mut shown = self.shown.lock().await;
        let evaluations = Arc::clone(&self.evaluations);
        // The session is looked up even if its run is in memory, because it may be hidden from this
        // client.
        let find = move || evaluations.recorded(id.as_deref(), by);
        let found = tokio::task::spawn_blocking(find).await??.ok_or(ReplayError::NoRecord)?;
        let StoredRecord { record, journal, bundle } = found;
        if let Some(at) = shown.iter().position(|known| known.session == record.session)
            && let Some(known) = shown.remove(at)
        {
            shown.push_front(Arc::clone(&known));
            return Ok(known);
        }
        let (in_memory, frames): (Vec<_>, _) = (shown.iter().cloned().collect(), self.frames.clone());
        let made = tokio::task::spawn_blocking(move || {
            let known: Vec<&RecordedRun> = in_memory.iter().map(|shown| shown.filming.run()).collect();
            let run = RecordedRun::of_stored(&record, journal, bundle, &known)?;
            let camera = Camera::with_frames(Arc::clone(&run.profile), frames, Arc::default());
            let filming = Filming::new(run)?;
            Ok::<_, ReplayError>(Arc::new(Shown { session: record.session, filming, camera }))
        });
        let made = made.await??;
        shown.push_front(Arc::clone(&made));
        shown.truncate(MAX_RUNS);
        Ok(made)
    }
}
