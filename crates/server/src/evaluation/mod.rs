//! Evaluations: one at a time, from the request to the record.
//!
//! `Evaluations` starts and stops sessions. Each has a thread that supervises it (crate `session`) and another that writes
//! its story down (`journal`). `Stage` is what the session sees of the simulator, `Current` what everyone sees of
//! the session.

mod finder;
mod journal;
pub(crate) mod observe;
pub(crate) mod records;
mod scene;
mod session;

use crate::driver::{Badge, DriveAt, Place, Simulator};
use crate::error::ApiError;
use crate::feed::Feed;
use crate::keeper::Keeper;
use chicane_session::{
    EngineOptions, LingeringProcesses, Note, Notes, SessionSpec, Setting, StopCause, StudentProgram,
    Unsupported, notes, supervise,
};
use chicane_store::{Data, NewSession, SessionResult, Sum, random_hex, time};
use chicane_wire::{CurrentSession, EvaluationKind, Num, RunState, Session, StartRequest};
use chicane_world::Profile;
use chicane_world::evaluation::{Better, Evaluation};
pub(crate) use finder::Finder;
use scene::Stage;
pub(crate) use session::Current;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long the end of a session is waited for when the simulator ends.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How judging scripts and student programs are to be run.
#[derive(Debug, Clone)]
pub struct JudgeOptions {
    /// The program `chicane`, which is started again for every jail; this program if omitted.
    pub launcher: Option<PathBuf>,
    /// Folder with the prepared Python; the one in the user's cache if omitted.
    pub folder: Option<PathBuf>,
    /// This way of holding limits and no other.
    pub isolation: Option<chicane_session::Isolation>,
    /// Judges instead of the world's own script.
    pub script: Option<String>,
    /// An engine that judging scripts run in, instead of a jail of our own.
    pub engine: Option<EngineOptions>,
}

/// What sessions need of the simulator.
pub(crate) struct Parts {
    pub(crate) simulator: Simulator,
    /// The loader's: no world is chosen while a session is begun in the one there is.
    pub(crate) choosing: Arc<tokio::sync::Mutex<()>>,
    pub(crate) keeper: Keeper,
    pub(crate) feed: Feed,
    pub(crate) data: Arc<Data>,
    pub(crate) profile: Arc<Profile>,
    pub(crate) badge: Arc<Mutex<Badge>>,
    pub(crate) workspace: PathBuf,
    /// Variables that a student's program finds.
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) options: JudgeOptions,
    /// The simulator listens to this machine only.
    pub(crate) loopback_only: bool,
}

/// Starts and stops sessions.
pub(crate) struct Evaluations {
    parts: Parts,
    current: Arc<Current>,
    finder: Arc<Finder>,
    /// Held while a session is being started.
    door: tokio::sync::Mutex<()>,
    notes: Mutex<Option<Notes<Note>>>,
    /// Processes of an earlier student that the kernel could not end: whoever waits for a device that does not answer outlives even a
    /// session that is over.
    left: Arc<Mutex<Option<LingeringProcesses>>>,
    /// Counts sessions that are over.
    over: Arc<watch::Sender<u64>>,
}

impl Evaluations {
    pub(crate) fn new(parts: Parts) -> Evaluations {
        let current = Arc::new(Current::new(Arc::clone(&parts.badge)));
        if let Ok(Some(last)) = records::last_session(&parts.data) {
            current.remember(last);
        }
        let finder = Arc::new(Finder::new(parts.options.clone(), parts.loopback_only));
        Evaluations {
            parts,
            current,
            finder,
            door: tokio::sync::Mutex::default(),
            notes: Mutex::default(),
            left: Arc::default(),
            over: Arc::new(watch::channel(0).0),
        }
    }

    /// As it is, whoever sees it yet.
    pub(crate) fn current(&self) -> &Current {
        &self.current
    }

    /// As everyone sees it: what this answers, the state of the simulator shows too by then.
    pub(crate) async fn session(&self) -> CurrentSession {
        let answer = self.current.answer();
        if let Some(Session { id, .. }) = &answer.session {
            // It may go on meanwhile.
            self.parts.simulator.shows(id, || self.current.active().as_ref() == Some(id)).await;
        }
        answer
    }

    /// How scripts are run here.
    pub(crate) fn finder(&self) -> &Arc<Finder> {
        &self.finder
    }

    /// Starts a session.
    pub(crate) async fn start(
        self: &Arc<Self>,
        request: StartRequest,
        drive: Arc<[DriveAt]>,
    ) -> Result<Session, ApiError> {
        ready(&self.parts.simulator)?;
        // Goes on to its end also when nobody waits any more: no session is begun by half.
        let own = Arc::clone(self);
        let work = tokio::spawn(async move {
            let in_progress = || ApiError::conflict("evaluation in progress");
            let _door = own.door.try_lock().map_err(|_| in_progress())?;
            if own.current.active().is_some() {
                return Err(in_progress());
            }
            if request.command.is_some() && own.student_is_left() {
                return Err(ApiError::conflict("already running"));
            }
            // A world on its way in is seen here, and none sets out before the session is there to be seen.
            let _choosing = own.parts.choosing.lock().await;
            let place = ready(&own.parts.simulator)?;
            let runtime = tokio::runtime::Handle::current();
            let starting = Arc::clone(&own);
            let started =
                tokio::task::spawn_blocking(move || starting.begin(&place, request, drive, runtime)).await;
            started.unwrap_or_else(|e| Err(ApiError::internal(e.to_string())))
        });
        work.await.unwrap_or_else(|e| Err(ApiError::internal(e.to_string())))
    }

    /// Everything that may take a moment. The session exists when this returns.
    fn begin(
        &self,
        place: &Arc<Place>,
        request: StartRequest,
        drive: Arc<[DriveAt]>,
        runtime: tokio::runtime::Handle,
    ) -> Result<Session, ApiError> {
        let evaluation = place.world.evaluation.as_ref().ok_or_else(no_evaluation)?;
        let script = self.parts.options.script.as_ref().unwrap_or(&evaluation.script);
        let unsupported = self.unsupported(evaluation);
        let setting = match self.finder.setting() {
            Ok((setting, _)) => Some(setting),
            Err(_) if unsupported.is_some() => None,
            Err(why) => return Err(ApiError::unavailable(format!("judge not available: {why}"))),
        };
        let start = NewSession {
            // One that nobody can guess.
            id: random_hex().map_err(|e| ApiError::internal(e.to_string()))?,
            world: place.name.to_string(),
            world_id: place.entry.world_id.clone(),
            rev: place.entry.rev.clone(),
            command: request.command,
            time_limit_s: request.time_limit_s.unwrap_or(evaluation.time_limit_s),
            seed: request.seed,
            better: match evaluation.better {
                Better::Lower => "lower".to_owned(),
                Better::Higher => "higher".to_owned(),
            },
            sha256: Sum::of(script.as_bytes()).hex(),
            started_at: time::now(),
        };
        let not_kept = |e: String| ApiError::internal(format!("the session could not be stored: {e}"));
        let parts = &self.parts;
        let number = parts.data.records().begin(&start).map_err(|e| not_kept(e.to_string()))?;
        let begun = EvaluationKind::Start {
            world: start.world.clone(),
            command: start.command.clone(),
            time_limit_s: Num(start.time_limit_s),
        };
        // On disk before the answer, like the session itself.
        let first = scene::written(0.0, &begun);
        parts.data.records().add(number, 0, &[first], "null", 0.0).map_err(|e| not_kept(e.to_string()))?;
        let (send, receive) = notes().map_err(|e| not_kept(e.to_string()))?;
        let journal = journal::Journal::start(Arc::clone(&parts.data), number, send.clone())
            .map_err(|e| not_kept(e.to_string()))?;
        let brief = SessionSpec { student: self.student(&start, setting.as_deref()), unsupported };
        let stage = Stage {
            id: start.id.clone(),
            script: script.clone(),
            place: Arc::clone(place),
            profile: Arc::clone(&parts.profile),
            seed: start.seed,
            time_limit_s: start.time_limit_s,
            drive,
            simulator: parts.simulator.clone(),
            keeper: parts.keeper.clone(),
            feed: parts.feed.clone(),
            data: Arc::clone(&parts.data),
            runtime,
            notes: send.clone(),
            current: Arc::clone(&self.current),
            journal,
            wishes: None,
            stood: Instant::now(),
        };
        let session = first_view(&start);
        self.current.begin(session.clone());
        parts.simulator.look();
        stage.runtime.block_on(parts.simulator.shows(&session.id, || true));
        stage.tell_everyone(0.0, begun);
        *self.notes.lock().unwrap_or_else(PoisonError::into_inner) = Some(send);
        let last = LastWord {
            id: session.id.clone(),
            current: Arc::clone(&self.current),
            simulator: parts.simulator.clone(),
            over: Arc::clone(&self.over),
        };
        let left = Arc::clone(&self.left);
        let supervised = std::thread::Builder::new().name("session".to_owned()).spawn(move || {
            let _last = last;
            let mut stage = stage;
            let mut ended = supervise(&brief, setting.as_deref(), &mut stage, &receive);
            if let Some(still) = ended.lingering.take() {
                tracing::warn!(session = start.id, "processes of the student program can't be ended yet");
                *left.lock().unwrap_or_else(PoisonError::into_inner) = Some(still);
            }
            finish(stage, &start, &ended);
        });
        let failed = |e| ApiError::internal(format!("the session could not be started: {e}"));
        supervised.map_err(failed).map(|_| session)
    }

    /// Whether processes of an earlier student are still there, although they were ended.
    fn student_is_left(&self) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if !left.as_ref().is_some_and(LingeringProcesses::are_alive) {
            *left = None;
        }
        left.is_some()
    }

    fn unsupported(&self, evaluation: &Evaluation) -> Option<Unsupported> {
        let own = &self.parts.profile.generation;
        if evaluation.version != 1 {
            return Some(Unsupported::Version(evaluation.version));
        }
        (evaluation.robot != *own)
            .then(|| Unsupported::Robot { wanted: evaluation.robot.clone(), own: own.clone() })
    }

    fn student(&self, start: &NewSession, setting: Option<&Setting>) -> Option<StudentProgram> {
        let hide = [Some(self.parts.data.dir().to_owned()), setting.map(|s| s.folder.clone())];
        Some(StudentProgram {
            command: start.command.clone()?,
            workspace: self.parts.workspace.clone(),
            environment: self.parts.environment.clone(),
            hide: hide.into_iter().flatten().collect(),
        })
    }

    /// Ends the session, if there is one, and waits until nothing of it is left. Whether there was one.
    pub(crate) async fn stop(&self, cause: StopCause) -> bool {
        // One that is just being started is waited for.
        let _door = self.door.lock().await;
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

    /// Waits until the session that is under way, if one is, is over.
    pub(crate) async fn ended(&self) {
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

    /// Ends the session because the simulator ends.
    pub(crate) async fn shut_down(&self) {
        let _ = tokio::time::timeout(LAST_WAIT, self.stop(StopCause::Shutdown)).await;
    }
}

/// Says that a session is over, whatever became of its thread, and also where it never had one.
struct LastWord {
    id: String,
    current: Arc<Current>,
    simulator: Simulator,
    over: Arc<watch::Sender<u64>>,
}

impl Drop for LastWord {
    fn drop(&mut self) {
        // The next one may have begun.
        if self.current.active().as_ref() == Some(&self.id) {
            self.current.end(|session| session.phase = "ended");
            self.simulator.look();
        }
        self.over.send_modify(|count| *count += 1);
    }
}

/// Writes down how a session ended, then tells everyone.
fn finish(mut stage: Stage, start: &NewSession, ended: &chicane_session::SessionEnd) {
    let outcome = ended.ending.outcome().to_owned();
    let reason = ended.ending.reason(start.time_limit_s);
    let record = ended.record.clone();
    let (feed, current, simulator) =
        (stage.feed.clone(), Arc::clone(&stage.current), stage.simulator.clone());
    let runtime = stage.runtime.clone();
    stage.announce(ended.time_s, EvaluationKind::Phase { phase: "ended".to_owned() });
    let end =
        EvaluationKind::End { outcome: outcome.clone(), record: record.clone(), reason: reason.clone() };
    let kept = stage.close(
        ended.time_s,
        &end,
        SessionResult {
            ended_at: time::now(),
            outcome: outcome.clone(),
            reason: reason.clone(),
            record: record.to_string(),
            elapsed_s: ended.time_s,
            observations: ended.observations,
            wait_s: ended.wait_s,
        },
    );
    if let Err(why) = kept {
        tracing::error!(
            session = start.id,
            why,
            "the record of an evaluation could not be written to its end"
        );
    }
    current.end(|session| {
        session.phase = "ended";
        session.outcome = Some(outcome);
        session.record = record;
        session.reason = reason;
        session.elapsed_s = Num(ended.time_s);
    });
    simulator.look();
    // Whoever is told of the end finds it wherever they look.
    runtime.block_on(simulator.shows(&start.id, || false));
    let event =
        chicane_wire::EvaluationEvent { session: start.id.clone(), time: Num(ended.time_s), kind: end };
    feed.tell(&chicane_wire::StoryEvent::Evaluation(event));
    tracing::info!(
        session = start.id,
        outcome = ended.ending.outcome(),
        elapsed_s = ended.time_s,
        "evaluation over"
    );
}

/// The world that can be evaluated now.
fn ready(simulator: &Simulator) -> Result<Arc<Place>, ApiError> {
    let now = simulator.now();
    let seen = now.running.as_ref().filter(|_| now.transition.is_none());
    let seen = seen.ok_or_else(|| ApiError::conflict("world not ready"))?;
    if seen.place.world.evaluation.is_none() {
        return Err(no_evaluation());
    }
    Ok(Arc::clone(&seen.place))
}

pub(crate) fn no_evaluation() -> ApiError {
    ApiError::not_found("world has no evaluation")
}

/// A session as it begins.
pub(super) fn first_view(start: &NewSession) -> Session {
    Session {
        id: start.id.clone(),
        world: start.world.clone(),
        world_id: start.world_id.clone(),
        rev: start.rev.clone(),
        phase: "initializing",
        outcome: None,
        record: serde_json::Value::Null,
        reason: None,
        better: start.better.clone(),
        command: start.command.clone(),
        time_limit_s: Num(start.time_limit_s),
        seed: start.seed,
        started_at: start.started_at.clone(),
        elapsed_s: Num(0.0),
        run: RunState::default(),
        log: Vec::new(),
    }
}
