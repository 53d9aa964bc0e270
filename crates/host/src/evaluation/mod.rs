//! Evaluations: one at a time, from the request to the record.
//!
//! [`Evaluations`] starts and stops sessions. Each session has a thread that supervises it (crate
//! `session`) and another one that writes its events to the database (`journal`). `Stage` is the
//! simulator as the session uses it, [`Current`] the session as clients see it.

mod begin;
mod current;
mod error;
mod finder;
mod journal;
mod options;
pub mod records;
mod stage;

pub use current::Current;
pub use error::StartEvaluationError;
pub use finder::Finder;
pub use options::JudgeOptions;

use crate::badge::Badge;
use crate::driver::{DriveAt, Place, Simulator};
use crate::feed::Feed;
use crate::keeper::Keeper;
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
pub struct Parts {
    /// The sim thread.
    pub simulator: Simulator,
    /// The loader's lock: no world is chosen while a session begins in the present one.
    pub choosing: Arc<tokio::sync::Mutex<()>>,
    /// Stores brightness and lights.
    pub keeper: Keeper,
    /// The event stream.
    pub feed: Feed,
    /// The data folder, with the records.
    pub data: Arc<Data>,
    /// The robot.
    pub profile: Arc<Profile>,
    /// The evaluation as the state shows it.
    pub badge: Arc<Mutex<Badge>>,
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
    parts: Parts,
    current: Arc<Current>,
    finder: Arc<Finder>,
    /// Held while a session is being started.
    starting: tokio::sync::Mutex<()>,
    notes: Mutex<Option<Notes<Note>>>,
    /// Processes of an earlier student that the kernel could not end yet. A process that waits for
    /// a device in the kernel can outlive its session.
    left: Arc<Mutex<Option<LingeringProcesses>>>,
    /// Counts sessions that are over.
    over: Arc<watch::Sender<u64>>,
}

impl Evaluations {
    /// Evaluations of this simulator. The last stored session is shown until one is started.
    pub fn new(parts: Parts) -> Evaluations {
        let current = Arc::new(Current::new(Arc::clone(&parts.badge)));
        if let Ok(Some(last)) = records::last_session(&parts.data) {
            current.remember(last);
        }
        let finder = Arc::new(Finder::new(parts.options.clone(), parts.loopback_only));
        Evaluations {
            parts,
            current,
            finder,
            starting: tokio::sync::Mutex::default(),
            notes: Mutex::default(),
            left: Arc::default(),
            over: Arc::new(watch::channel(0).0),
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
            self.parts.simulator.shows(id, || self.current.active().as_ref() == Some(id)).await;
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
            if request.command.is_some() && own.student_is_left() {
                return Err(StartEvaluationError::StudentLeft);
            }
            // With this lock, a transition has either begun and is seen here, or begins after the
            // session is visible.
            let _choosing = own.parts.choosing.lock().await;
            let place = ready(&own.parts.simulator)?;
            let runtime = tokio::runtime::Handle::current();
            let starting = Arc::clone(&own);
            tokio::task::spawn_blocking(move || starting.begin(&place, request, drive, runtime)).await?
        });
        work.await?
    }

    /// Whether processes of an earlier student still exist, although they were killed.
    fn student_is_left(&self) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.over(&id).await;
        true
    }

    /// Waits for the end of the active session, if there is one.
    pub async fn ended(&self) {
        if let Some(id) = self.current.active() {
            self.over(&id).await;
        }
    }

    /// Waits until this session is over.
    async fn over(&self, id: &str) {
        let mut over = self.over.subscribe();
        loop {
            over.mark_unchanged();
            if self.current.active().as_deref() != Some(id) {
                return;
            }
            let _ = over.changed().await;
        }
    }

    /// Ends the session because the simulator stops.
    pub async fn shut_down(&self) {
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.stop(StopCause::Shutdown)).await;
    }
}

/// The running world, if it can be evaluated now.
fn ready(simulator: &Simulator) -> Result<Arc<Place>, StartEvaluationError> {
    let now = simulator.now();
    let seen = now.running.as_ref().filter(|_| now.transition.is_none());
    let seen = seen.ok_or(StartEvaluationError::NotReady)?;
    if seen.place.world.evaluation.is_none() {
        return Err(StartEvaluationError::NoEvaluation);
    }
    Ok(Arc::clone(&seen.place))
}
