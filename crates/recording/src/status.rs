//! The status of the current or last recording. The thread of the recording writes it, and requests
//! read it.

use chicane_wire::{Num, Recording, RecordingRequest};
use chicane_world::readings::TICK_S;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The status of the current or last recording. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Status(Arc<Mutex<Values>>);

/// The values of a status.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    pub(crate) active: bool,
    pub(crate) camera: bool,
    pub(crate) state: bool,
    /// Name of the current or last file; `None` before the first file.
    pub(crate) file: Option<String>,
    /// Number of files.
    pub(crate) files: u64,
    /// Size of the finished files, bytes.
    pub(crate) finished_bytes: u64,
    /// Size of the current file, bytes.
    pub(crate) file_bytes: u64,
    pub(crate) finished_messages: u64,
    pub(crate) file_messages: u64,
    /// Recorded ticks.
    pub(crate) ticks: u64,
    pub(crate) dropped_ticks: u64,
    pub(crate) skipped_images: u64,
    /// Why the recording ended; `None` if it was stopped on request or is active.
    pub(crate) failure: Option<String>,
}

impl Status {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Values> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a new recording.
    pub(crate) fn begin(&self, RecordingRequest { camera, state }: RecordingRequest) {
        *self.lock() = Values { active: true, camera, state, ..Values::default() };
    }

    /// The response of the web API.
    pub(crate) fn response(&self, folder: &Path) -> Recording {
        let now = self.lock().clone();
        Recording {
            active: now.active,
            folder: folder.display().to_string(),
            file: now.file,
            files: now.files,
            bytes: now.finished_bytes + now.file_bytes,
            duration: Num(now.ticks as f64 * TICK_S),
            messages: now.finished_messages + now.file_messages,
            camera: now.camera,
            state: now.state,
            dropped_ticks: now.dropped_ticks,
            skipped_images: now.skipped_images,
            failure: now.failure,
        }
    }
}
