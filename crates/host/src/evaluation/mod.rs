//! Runs evaluations, one at a time, from the request to the record.
//!
//! [`Evaluations`] starts and stops sessions. Each session has a thread that supervises it (crate
//! `session`) and a second thread that writes its events and its journal to the database
//! (`record_writer`). `SessionWorld` is the session's access to the simulator. `Current` is the
//! session as clients see it.

mod begin;
mod current;
mod error;
mod finder;
mod journal;
mod options;
mod output;
mod paced_world;
mod program_folder;
mod record_writer;
pub mod records;
pub mod run_bundle;
mod session_world;
mod unstored;

use current::Current;
pub use error::StartEvaluationError;
pub use finder::{CheckScriptError, Finder};
pub use journal::EventLimit;
pub use options::JudgeOptions;
pub use output::{LineSource, NewOutput, SessionLine};
pub use session_world::event_json;
pub use unstored::RecordNotWritten;
use unstored::Unstored;

use crate::driver::{DriveAt, ServedWorld, Simulator};
use crate::feed::Feed;
use crate::gate::StudentGate;
use crate::keeper::Keeper;
use crate::metrics::Metrics;
use crate::session_status::SessionStatus;
use chicane_session::{LingeringProcesses, Note, Notes, StopCause};
use chicane_store::{Data, Library, SessionRow, StoreError, StoredJournal, StoredRun};
use chicane_wire::{CurrentSession, ProgramVersion, Record, RecordList, Role, Session, StartRequest};
use chicane_world::Profile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Minimum free space on the disk of the data folder, bytes. With less, the simulator reports a
/// fault. The record of a short run has about this size.
const MIN_FREE_BYTES: u64 = 1 << 20;
/// Limit of each of two waits of a shutdown: for the end of the session, and then for the end of
/// the prepared judge.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The parts of the simulator that sessions use.
pub(crate) struct EvaluationParts {
    /// The sim thread.
    pub(crate) simulator: Simulator,
    /// The lock of the loader. A starting session holds this lock, so that no transition is
    /// registered before the session owns the world.
    pub(crate) choice_lock: Arc<tokio::sync::Mutex<()>>,
    /// Stores brightness, last world and lights.
    pub(crate) keeper: Keeper,
    /// The event stream.
    pub(crate) feed: Feed,
    /// The data folder, with the records.
    pub(crate) data: Arc<Data>,
    /// All worlds.
    pub(crate) library: Arc<Library>,
    /// Profile of the car.
    pub(crate) profile: Arc<Profile>,
    /// The status of the evaluation in the response of `GET /state`.
    pub(crate) status: Arc<Mutex<SessionStatus>>,
    /// Folder that student programs run in.
    pub(crate) workspace: PathBuf,
    /// Environment variables of a student's program.
    pub(crate) environment: BTreeMap<String, String>,
    /// How judging scripts and student programs are run.
    pub(crate) options: JudgeOptions,
    /// The version of the program.
    pub(crate) version: ProgramVersion,
    /// Whether the simulator accepts connections from this machine only.
    pub(crate) loopback_only: bool,
    /// Port of the web server; `None` without one.
    pub(crate) port: Option<u16>,
    /// Metrics, among them the number of ended evaluations.
    pub(crate) metrics: Arc<Metrics>,
    /// Serves the requests of student programs; `None` without a web server.
    pub(crate) gate: Option<Arc<dyn StudentGate>>,
}

/// How a session is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judging {
    /// By the evaluation of the world.
    Evaluation,
    /// Not at all. The session lasts as long as the student's program, within its time limit.
    None,
}

/// A record with its events, its journal and the packed files of its world.
pub struct StoredRecord {
    /// The record with its events.
    pub record: Record,
    /// The journal.
    pub journal: StoredJournal,
    /// The packed files of the world; `None` if they are not stored.
    pub bundle: Option<Vec<u8>>,
}

/// Why nothing can be stored in a folder; `None` if its disk has enough free space, or if the free
/// space is unknown.
fn full_disk(dir: &Path) -> Option<String> {
    let free = chicane_store::free_space(dir).ok().filter(|free| *free < MIN_FREE_BYTES)?;
    let (dir, free, least) = (dir.display(), free >> 10, MIN_FREE_BYTES >> 10);
    Some(format!("the disk of {dir} is full: {free} KiB are free, at least {least} are needed"))
}

/// Starts and stops sessions.
pub struct Evaluations {
    parts: EvaluationParts,
    current: Arc<Current>,
    finder: Arc<Finder>,
    /// This lock is held while a session is being started or stopped.
    starting: tokio::sync::Mutex<()>,
    /// Channel to the supervisor of the last session; `None` before the first session.
    notes: Mutex<Option<Notes<Note>>>,
    /// Processes of an earlier student program that were killed but still exist. A process that
    /// waits for a device in the kernel can outlive its session.
    leftover_processes: Arc<Mutex<Option<LingeringProcesses>>>,
    /// Number of ended sessions. A change of the number wakes the tasks that wait for the end of a
    /// session.
    ended_sessions: Arc<watch::Sender<u64>>,
    /// The end of a session that could not be written to disk yet.
    unstored: Arc<Unstored>,
}

impl Evaluations {
    /// Evaluations of this simulator. Until a session starts, clients see the last stored session.
    pub(crate) fn new(parts: EvaluationParts) -> Evaluations {
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
            unstored: Arc::default(),
        }
    }

    /// The current session. The published state may not show the last change of the session yet.
    pub(crate) fn current(&self) -> &Current {
        &self.current
    }

    /// Returns the current session after the published state agrees with this session, so that the
    /// response does not contradict `GET /state`. The wait for this agreement has a timeout.
    pub async fn session(&self) -> CurrentSession {
        let response = self.current.response();
        if let Some(Session { id, .. }) = &response.session {
            // The session may end during the wait, so `wait_until_shown` asks again whether the
            // session is active.
            self.parts.simulator.wait_until_shown(id, || self.current.active().as_ref() == Some(id)).await;
        }
        response
    }

    /// The record of the session `id`, or of the last session if `id` is `None`. With `by`, only
    /// sessions that were started with this role are found. Blocks on the disk.
    pub fn record(&self, id: Option<&str>, by: Option<Role>) -> Result<Option<Record>, StoreError> {
        records::record(&self.parts.data, self.unstored.rest().as_deref(), id, by)
    }

    /// A session with its events, also if its end is not on disk yet; `None` if there is no such
    /// session. Blocks on the disk.
    pub(crate) fn stored(&self, id: &str) -> Result<Option<(SessionRow, Vec<String>)>, StoreError> {
        records::stored(&self.parts.data, self.unstored.rest().as_deref(), Some(id), None)
    }

    /// The session `id`, or the last session if `id` is `None`, with its events, its journal and
    /// the files of its world. With `by`, only sessions that were started with this role are found.
    /// Blocks on the disk.
    pub fn recorded(&self, id: Option<&str>, by: Option<Role>) -> Result<Option<StoredRecord>, StoreError> {
        let rest = self.unstored.rest();
        let Some((row, events)) = records::stored(&self.parts.data, rest.as_deref(), id, by)? else {
            return Ok(None);
        };
        let StoredRun { journal, bundle } = self.stored_run(&row)?;
        let journal = journal.map_or(StoredJournal::None, StoredJournal::Whole);
        let (record, bundle) = (records::record_of(row, Some(events)), bundle.map(|(_, bytes)| bytes));
        Ok(Some(StoredRecord { record, journal, bundle }))
    }

    /// The journal of a session and the files of its world, as they are stored. A journal that is
    /// not on disk yet comes from memory. Blocks on the disk.
    pub(crate) fn stored_run(&self, row: &SessionRow) -> Result<StoredRun, StoreError> {
        let unwritten = self.unstored.rest().and_then(|rest| rest.journal_of(row.number));
        let records = self.parts.data.records();
        let journal = match (unwritten, records.journal(row.number)?) {
            (Some(journal), _) | (None, StoredJournal::Whole(journal)) => Some(journal),
            _ => None,
        };
        let sha256 = row.start.identity.world_sha256.clone();
        let bundle = sha256.map(|sha256| Ok((sha256.clone(), records.bundle(&sha256)?))).transpose()?;
        let bundle = bundle.and_then(|(sha256, bytes)| Some((sha256, bytes?)));
        Ok(StoredRun { journal, bundle })
    }

    /// A page of records, the newest first. The page has at most `limit` records with numbers below
    /// `below`. If `world` is given, only records of this world are listed. If `by` is given, only
    /// records of sessions that were started with this role are listed. Blocks on the disk.
    pub fn records(
        &self,
        world: Option<&str>,
        by: Option<Role>,
        below: Option<i64>,
        limit: usize,
    ) -> Result<RecordList, StoreError> {
        records::list(&self.parts.data, self.unstored.rest().as_deref(), world, by, below, limit)
    }

    /// Why the simulator can't evaluate or can't keep records now; `None` if it can.
    pub fn fault(&self) -> Option<String> {
        let replaced = self.parts.data.check().err().map(|error| error.to_string());
        replaced
            .or_else(|| self.unstored.error().map(|error| error.to_string()))
            .or_else(|| full_disk(self.parts.data.dir()))
            .or_else(|| self.finder.lost())
    }

    /// Whether a session is active.
    pub fn is_active(&self) -> bool {
        self.current.active().is_some()
    }

    /// Counts a request of the judged program that was not allowed.
    pub fn count_refused(&self, path: &str, values: serde_json::Value) {
        self.current.count_refused(path, values);
    }

    /// The finder, which tests how judging scripts can be run on this machine.
    pub fn finder(&self) -> &Arc<Finder> {
        &self.finder
    }

    /// Starts a session in the running world. `drive` is a recorded drive, or empty. `role` is the
    /// role of the client that asks for the session.
    pub async fn start(
        self: &Arc<Self>,
        request: StartRequest,
        drive: Arc<[DriveAt]>,
        role: Role,
    ) -> Result<Session, StartEvaluationError> {
        self.start_by(Judging::Evaluation, request, drive, role).await
    }

    /// Starts a student's program without a judge, also in a world without an evaluation. The
    /// session ends with the program, or when its time limit has passed.
    pub async fn run_program(
        self: &Arc<Self>,
        request: StartRequest,
        role: Role,
    ) -> Result<Session, StartEvaluationError> {
        self.start_by(Judging::None, request, Arc::default(), role).await
    }

    async fn start_by(
        self: &Arc<Self>,
        judging: Judging,
        request: StartRequest,
        drive: Arc<[DriveAt]>,
        role: Role,
    ) -> Result<Session, StartEvaluationError> {
        ready(&self.parts.simulator, judging)?;
        let own = Arc::clone(self);
        // The work is spawned, so that a cancelled request cannot leave a session half started.
        let work = tokio::spawn(async move {
            let Ok(_starting) = own.starting.try_lock() else { return Err(StartEvaluationError::InProgress) };
            if own.current.active().is_some() {
                return Err(StartEvaluationError::InProgress);
            }
            if request.command.is_some() && own.student_still_runs() {
                return Err(StartEvaluationError::StudentStillRunning);
            }
            // No transition can begin while this lock is held. `ready` fails if a transition began
            // earlier. A later transition is refused because of the session.
            let _choice = own.parts.choice_lock.lock().await;
            let served = ready(&own.parts.simulator, judging)?;
            let runtime = tokio::runtime::Handle::current();
            let starting = Arc::clone(&own);
            let begin = move || starting.begin(judging, &served, request, (drive, role), runtime);
            tokio::task::spawn_blocking(begin).await?
        });
        work.await?
    }

    /// Whether processes of an earlier student program were killed but still exist.
    fn student_still_runs(&self) -> bool {
        let mut left = self.leftover_processes.lock().unwrap_or_else(PoisonError::into_inner);
        if !left.as_ref().is_some_and(LingeringProcesses::are_alive) {
            *left = None;
        }
        left.is_some()
    }

    /// Ends the active session, if there is one, and waits for its end. Returns whether a session
    /// was active.
    pub async fn stop(&self, cause: StopCause) -> bool {
        self.stop_if(cause, |_| true).await
    }

    /// Same as [`Evaluations::stop`], but only for a session for whose id `fits` returns true.
    pub async fn stop_if(&self, cause: StopCause, fits: impl FnOnce(&str) -> bool) -> bool {
        // A session may be starting now. The lock becomes free when the start of that session is
        // complete.
        let _starting = self.starting.lock().await;
        let Some(id) = self.current.active().filter(|id| fits(id)) else {
            self.session().await;
            return false;
        };
        if let Some(notes) = &*self.notes.lock().unwrap_or_else(PoisonError::into_inner) {
            notes.send(Note::Stop(cause));
        }
        self.wait_for_end(&id).await;
        // Waits until the sim thread shows the end.
        self.session().await;
        true
    }

    /// Waits for the end of the active session, if there is one.
    pub(crate) async fn wait_until_ended(&self) {
        if let Some(id) = self.current.active() {
            self.wait_for_end(&id).await;
        }
    }

    /// Waits until this session has ended.
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

    /// Ends the session because the simulator stops. Waits at most `SHUTDOWN_TIMEOUT` for the end
    /// of the session, and then at most as long for the end of the prepared judge. Then tries a
    /// last time, without a time limit, to write a record that is not on disk.
    pub(crate) async fn shut_down(&self) {
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.stop(StopCause::Shutdown)).await;
        let finder = Arc::clone(&self.finder);
        let closed = tokio::task::spawn_blocking(move || finder.close());
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, closed).await;
        let unstored = Arc::clone(&self.unstored);
        let _ = tokio::task::spawn_blocking(move || unstored.stop()).await;
    }
}

/// The running world without the changes of a seed, if a session can be started in this world.
fn ready(simulator: &Simulator, judging: Judging) -> Result<Arc<ServedWorld>, StartEvaluationError> {
    let now = simulator.now();
    let seen = now.running.as_ref().filter(|_| now.transition.is_none());
    let seen = seen.ok_or(StartEvaluationError::NotReady)?;
    if judging == Judging::Evaluation && seen.served.world.evaluation.is_none() {
        return Err(StartEvaluationError::NoEvaluation);
    }
    Ok(seen.served.published())
}
