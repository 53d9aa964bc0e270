//! Evaluations: one at a time, from the request to the record.
//!
//! [`Evaluations`] starts and stops sessions. Each session has a thread that supervises it (crate
//! `session`) and another one that writes its events to the database (`journal`). `SessionWorld` is the
//! simulator as the session uses it, [`Current`] the session as clients see it.

mod begin;
mod current;
mod error;
mod finder;
mod journal;
mod options;
pub mod records;
mod session_world;

pub use current::Current;
pub use error::StartEvaluationError;
pub use finder::Finder;
pub use options::JudgeOptions;

use crate::driver::{DriveAt, ServedWorld, Simulator};
use crate::feed::Feed;
use crate::keeper::Keeper;
use crate::session_status::SessionStatus;
use chicane_session::{LingeringProcesses, Note, Notes, StopCause};
use chicane_store::Data;
use chicane_wire::{CurrentSession, Session, StartRequest};
use chicane_world::Profile;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How long a shutdown waits for the end of the session.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The parts of the simulator that sessions use.
pub struct EvaluationParts {
    /// The sim thread.
    pub simulator: Simulator,
    /// The loader's lock: no world is chosen while a session begins in the present one.
    pub choice_lock: Arc<tokio::sync::Mutex<()>>,
    /// Stores brightness and lights.
    pub keeper: Keeper,
    /// The event stream.
    pub feed: Feed,
    /// The data folder, with the records.
    pub data: Arc<Data>,
    /// The robot.
    pub profile: Arc<Profile>,
    /// The evaluation as the state shows it.
    pub status: Arc<Mutex<SessionStatus>>,
    /// Folder that student programs run in.
    pub workspace: PathBuf,
    /// Environment variables of a student's program.
    pub environment: BTreeMap<String, String>,
    /// How scripts and programs are run.
    pub options: JudgeOptions,
    /// The simulator accepts connections of this machine only.
    pub loopback_only: bool,
}

/// Starts and stops sessions.
pub struct Evaluations {
    parts: EvaluationParts,
    current: Arc<Current>,
    finder: Arc<Finder>,
    /// Held while a session is being started.
    starting: tokio::sync::Mutex<()>,
    notes: Mutex<Option<Notes<Note>>>,
    /// Processes of an earlier student that the kernel could not end yet. A process that waits for
    /// a device in the kernel can outlive its session.
    leftover_processes: Arc<Mutex<Option<LingeringProcesses>>>,
    /// Counts sessions that are over.
    ended_sessions: Arc<watch::Sender<u64>>,
}

impl Evaluations {
    /// Evaluations of this simulator. The last stored session is shown until one is started.
    pub fn new(parts: EvaluationParts) -> Evaluations {
        let current = Arc::new(Current::new(Arc::clone(&parts.status)));
        if let Ok(Some(last)) = records::last_session(&parts.data) {
            current.show_stored(last);
        }
        let finder = Arc::new(Finder::new(parts.options.clone(), parts.loopback_only));
        Evaluations {
            parts,
            current,
            finder,
            starting: tokio::sync::Mutex::default(),
            notes: Mutex::default(),
            leftover_processes: Arc::default(),
            ended_sessions: Arc::new(watch::channel(0).0),
        }
    }

    /// The session, which the published state may not show yet.
    pub fn current(&self) -> &Current {
        &self.current
    }

    /// The session, once the published state shows it too.
    pub async fn session(&self) -> CurrentSession {
        let answer = self.current.answer();
        if let Some(Session { id, .. }) = &answer.session {
            // The session may go on meanwhile, so its activity is read again each time.
            self.parts.simulator.wait_until_shown(id, || self.current.active().as_ref() == Some(id)).await;
        }
        answer
    }

    /// How scripts are run on this machine.
    pub fn finder(&self) -> &Arc<Finder> {
        &self.finder
    }

    /// Starts a session.
    pub async fn start(
        self: &Arc<Self>,
        request: StartRequest,
        drive: Arc<[DriveAt]>,
    ) -> Result<Session, StartEvaluationError> {
        ready(&self.parts.simulator)?;
        let own = Arc::clone(self);
        // Spawned, so that a cancelled request cannot leave a session half started.
        let work = tokio::spawn(async move {
            let Ok(_starting) = own.starting.try_lock() else { return Err(StartEvaluationError::InProgress) };
            if own.current.active().is_some() {
                return Err(StartEvaluationError::InProgress);
            }
            if request.command.is_some() && own.student_still_runs() {
                return Err(StartEvaluationError::StudentStillRunning);
            }
            // With this lock, a transition has either begun and is seen here, or begins after the
            // session is visible.
            let _choosing = own.parts.choice_lock.lock().await;
            let served = ready(&own.parts.simulator)?;
            let runtime = tokio::runtime::Handle::current();
            let starting = Arc::clone(&own);
            tokio::task::spawn_blocking(move || starting.begin(&served, request, drive, runtime)).await?
        });
        work.await?
    }

    /// Whether processes of an earlier student still exist, although they were killed.
    fn student_still_runs(&self) -> bool {
        let mut left = self.leftover_processes.lock().unwrap_or_else(PoisonError::into_inner);
        if !left.as_ref().is_some_and(LingeringProcesses::are_alive) {
            *left = None;
        }
        left.is_some()
    }

    /// Ends the session, if there is one, and waits for its end. Returns whether there was one.
    pub async fn stop(&self, cause: StopCause) -> bool {
        // Waits for a session that is being started.
        let _starting = self.starting.lock().await;
        let Some(id) = self.current.active() else {
            self.session().await;
            return false;
        };
        if let Some(notes) = &*self.notes.lock().unwrap_or_else(PoisonError::into_inner) {
            notes.send(Note::Stop(cause));
        }
        self.wait_for_end(&id).await;
        true
    }

    /// Waits for the end of the active session, if there is one.
    pub async fn wait_until_ended(&self) {
        if let Some(id) = self.current.active() {
            self.wait_for_end(&id).await;
        }
    }

    /// Waits until this session is over.
    async fn wait_for_end(&self, id: &str) {
        let mut ended = self.ended_sessions.subscribe();
        loop {
            ended.mark_unchanged();
            if self.current.active().as_deref() != Some(id) {
                return;
            }
            let _ = ended.changed().await;
        }
    }

    /// Ends the session because the simulator stops.
    pub async fn shut_down(&self) {
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.stop(StopCause::Shutdown)).await;
    }
}

/// The running world, if it can be evaluated now.
fn ready(simulator: &Simulator) -> Result<Arc<ServedWorld>, StartEvaluationError> {
    let now = simulator.now();
    let seen = now.running.as_ref().filter(|_| now.transition.is_none());
    let seen = seen.ok_or(StartEvaluationError::NotReady)?;
    if seen.served.world.evaluation.is_none() {
        return Err(StartEvaluationError::NoEvaluation);
    }
    Ok(Arc::clone(&seen.served))
}
