//! Starts and stops the recording of a running simulator. There is at most one recording at a time.

use crate::folder::{self, FolderError};
use crate::images::Images;
use crate::options::RecordingOptions;
use crate::session::{EndReason, Session, SessionParts};
use crate::status::Status;
use chicane_host::Host;
use chicane_host::camera::Camera;
use chicane_host::driver::Simulator;
use chicane_wire::{Recording, RecordingRequest};
use chicane_world::Profile;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, watch};

/// Maximum time that [`Recorder::stop`] waits until the file is finished. Writing can take long,
/// because the disk can be slow.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Why a recording could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartRecordingError {
    /// There is no world, or one is being loaded.
    #[error("world not ready")]
    NotReady,
    /// A recording is in progress.
    #[error("a recording is in progress; stop it first")]
    InProgress,
    /// The folder of recordings can't be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The first file could not be written, or a thread could not be started.
    #[error("the recording could not be started: {0}")]
    Failed(String),
}

impl From<EndReason> for StartRecordingError {
    fn from(reason: EndReason) -> StartRecordingError {
        match reason {
            EndReason::Folder(error) => StartRecordingError::Folder(error),
            other => StartRecordingError::Failed(other.to_string()),
        }
    }
}

/// Records a simulator. Clones share one recording.
#[derive(Clone)]
pub struct Recorder(Arc<Shared>);

struct Shared {
    simulator: Simulator,
    camera: Camera,
    profile: Arc<Profile>,
    options: RecordingOptions,
    status: Status,
    /// The thread of the last recording; `None` before the first recording and after a stop on
    /// request. A recording that ended by itself stays here until the next start or stop.
    running: Mutex<Option<RunningSession>>,
}

/// The thread of a recording.
struct RunningSession {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl Recorder {
    /// A recorder that does not record yet.
    pub fn new(host: &Host, options: RecordingOptions) -> Recorder {
        Recorder(Arc::new(Shared {
            simulator: host.simulator.clone(),
            camera: host.camera.clone(),
            profile: Arc::clone(&host.profile),
            options,
            status: Status::default(),
            running: Mutex::default(),
        }))
    }

    /// Starts a recording of the running world. When the call returns, its first file exists.
    pub async fn start(&self, request: RecordingRequest) -> Result<Recording, StartRecordingError> {
        self.start_now_or_later(request, false).await
    }

    /// Starts a recording of the running world. If no world is ready yet, the recording begins with
    /// the first tick.
    pub async fn start_with_first_tick(
        &self,
        request: RecordingRequest,
    ) -> Result<Recording, StartRecordingError> {
        self.start_now_or_later(request, true).await
    }

    async fn start_now_or_later(
        &self,
        request: RecordingRequest,
        later: bool,
    ) -> Result<Recording, StartRecordingError> {
        let shared = Arc::clone(&self.0);
        // The start runs in a task of its own. Otherwise a cancelled request could leave a new file
        // to which no thread writes.
        let started = tokio::spawn(async move { shared.start(request, later).await }).await;
        started.map_err(|e| StartRecordingError::Failed(e.to_string()))??;
        Ok(self.status())
    }

    /// Ends the recording, if there is one. When the call returns, its file is complete, unless the
    /// disk is very slow.
    pub async fn stop(&self) -> Recording {
        let shared = Arc::clone(&self.0);
        // The stop runs in a task of its own, so that a cancelled request does not release the lock
        // before the recording has ended.
        let _ = tokio::spawn(async move { shared.stop().await }).await;
        self.status()
    }

    /// The recording in progress, or the last one.
    pub fn status(&self) -> Recording {
        self.0.status.response(&self.0.options.folder)
    }
}

impl Shared {
    async fn start(
        self: Arc<Shared>,
        request: RecordingRequest,
        later: bool,
    ) -> Result<(), StartRecordingError> {
        let mut running = self.running.lock().await;
        // If `active` is false, the recording has ended. Its thread ends shortly afterwards, so the
        // join takes only a moment.
        if let Some(ended) = running.take_if(|_| !self.status.lock().active) {
            let _ = tokio::task::spawn_blocking(move || ended.thread.join()).await;
        }
        if running.is_some() {
            return Err(StartRecordingError::InProgress);
        }
        let before = self.status.lock().clone();
        self.status.begin(request);
        match self.begin(request, later).await {
            Ok(session) => {
                *running = Some(session);
                Ok(())
            }
            Err(error) => {
                *self.status.lock() = before;
                Err(error)
            }
        }
    }

    async fn begin(
        &self,
        request: RecordingRequest,
        later: bool,
    ) -> Result<RunningSession, StartRecordingError> {
        let mut session = Session::new(SessionParts {
            options: self.options.clone(),
            request,
            profile: Arc::clone(&self.profile),
            // The tap is opened before the state is read. Otherwise a tick between these two steps
            // would be missed.
            tap: self.simulator.tap_with_states(),
            images: request.camera.then(|| Images::start(self.camera.clone())),
            status: self.status.clone(),
        });
        let now = self.simulator.now();
        let is_ready = now.running.is_some() && now.transition.is_none();
        if !is_ready && !later {
            return Err(StartRecordingError::NotReady);
        }
        let options = self.options.clone();
        let begun = tokio::task::spawn_blocking(move || {
            if is_ready {
                session.begin_with(&now)?;
            } else {
                folder::create_folder(&options)?;
            }
            Ok::<_, StartRecordingError>(session)
        });
        let session = begun.await.map_err(|e| StartRecordingError::Failed(e.to_string()))??;
        let (stop, stopped) = watch::channel(false);
        let (runtime, status) = (Handle::current(), self.status.clone());
        let thread = std::thread::Builder::new().name("recording".to_owned()).spawn(move || {
            let _end = EndOnDrop(status);
            runtime.block_on(session.record(stopped));
        });
        let thread = thread.map_err(|e| StartRecordingError::Failed(e.to_string()))?;
        Ok(RunningSession { stop, thread })
    }

    async fn stop(self: Arc<Shared>) {
        let mut running = self.running.lock().await;
        let Some(RunningSession { stop, thread }) = running.take() else { return };
        stop.send_replace(true);
        let deadline = tokio::time::Instant::now() + STOP_TIMEOUT;
        while !thread.is_finished() {
            if tokio::time::Instant::now() >= deadline {
                tracing::warn!("the recording takes long to end, because the disk is slow");
                *running = Some(RunningSession { stop, thread });
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Marks the recording as ended when the thread ends, even by a panic.
struct EndOnDrop(Status);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let mut status = self.0.lock();
        status.active = false;
        if std::thread::panicking() {
            status.failure = Some("the recorder failed; the log has the details".to_owned());
        }
    }
}
