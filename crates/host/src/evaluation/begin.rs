//! From an accepted request to the thread of the session, and to its record.

use super::Evaluations;
use super::current::{Current, first_view};
use super::error::StartEvaluationError;
use super::journal::Journal;
use super::stage::{self, Stage};
use crate::driver::{DriveAt, Place, Simulator};
use chicane_session::{
    Note, Notes, NotesOut, SessionEnd, SessionSpec, Setting, StudentProgram, Unsupported, notes, supervise,
};
use chicane_store::{NewSession, SessionResult, Sum, random_hex, time};
use chicane_wire::{EvaluationEvent, EvaluationKind, Num, Session, StartRequest, StoryEvent};
use chicane_world::evaluation::{Better, Evaluation};
use std::fmt::Display;
use std::sync::{Arc, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

impl Evaluations {
    /// Starts the threads of a session. Blocks on the disk. The session is visible when this
    /// returns.
    pub(super) fn begin(
        &self,
        place: &Arc<Place>,
        request: StartRequest,
        drive: Arc<[DriveAt]>,
        runtime: tokio::runtime::Handle,
    ) -> Result<Session, StartEvaluationError> {
        let evaluation = place.world.evaluation.as_ref().ok_or(StartEvaluationError::NoEvaluation)?;
        let script = self.parts.options.script.as_ref().unwrap_or(&evaluation.script);
        let unsupported = self.unsupported(evaluation);
        let setting = match self.finder.setting() {
            Ok((setting, _)) => Some(setting),
            Err(_) if unsupported.is_some() => None,
            Err(why) => return Err(StartEvaluationError::NoJudge(why.to_string())),
        };
        let start = new_session(place, evaluation, script, request)?;
        let begun = EvaluationKind::Start {
            world: start.world.clone(),
            command: start.command.clone(),
            time_limit_s: Num(start.time_limit_s),
        };
        let (send, receive) = notes().map_err(not_stored)?;
        let journal = self.store_start(&start, &begun, send.clone())?;
        let brief = SessionSpec { student: self.student(&start, setting.as_deref()), unsupported };
        let stage = self.stage(&start, place, script, drive, (runtime, send.clone(), journal));
        let session = first_view(&start);
        self.current.begin(session.clone());
        let parts = &self.parts;
        parts.simulator.look();
        stage.runtime.block_on(parts.simulator.shows(&session.id, || true));
        stage.tell_everyone(0.0, begun);
        *self.notes.lock().unwrap_or_else(PoisonError::into_inner) = Some(send);
        self.supervise(stage, start, brief, setting, receive)?;
        Ok(session)
    }

    /// Writes the session and its first event. Both are on disk before the client is answered.
    fn store_start(
        &self,
        start: &NewSession,
        begun: &EvaluationKind,
        notes: Notes<Note>,
    ) -> Result<Journal, StartEvaluationError> {
        let data = &self.parts.data;
        let number = data.records().begin(start).map_err(not_stored)?;
        let first = stage::written(0.0, begun);
        data.records().add(number, 0, &[first], "null", 0.0).map_err(not_stored)?;
        Journal::start(Arc::clone(data), number, notes).map_err(not_stored)
    }

    fn stage(
        &self,
        start: &NewSession,
        place: &Arc<Place>,
        script: &str,
        drive: Arc<[DriveAt]>,
        (runtime, notes, journal): (tokio::runtime::Handle, Notes<Note>, Journal),
    ) -> Stage {
        let parts = &self.parts;
        Stage {
            id: start.id.clone(),
            script: script.to_owned(),
            place: Arc::clone(place),
            profile: Arc::clone(&parts.profile),
            seed: start.seed,
            time_limit_s: start.time_limit_s,
            drive,
            simulator: parts.simulator.clone(),
            keeper: parts.keeper.clone(),
            feed: parts.feed.clone(),
            runtime,
            notes,
            current: Arc::clone(&self.current),
            journal,
            requests: None,
            stood: Instant::now(),
        }
    }

    /// Starts the thread that supervises a session to its end.
    fn supervise(
        &self,
        mut stage: Stage,
        start: NewSession,
        brief: SessionSpec,
        setting: Option<Arc<Setting>>,
        receive: NotesOut<Note>,
    ) -> Result<(), StartEvaluationError> {
        let guard = EndGuard {
            id: start.id.clone(),
            current: Arc::clone(&self.current),
            simulator: self.parts.simulator.clone(),
            over: Arc::clone(&self.over),
        };
        let left = Arc::clone(&self.left);
        let thread = std::thread::Builder::new().name("session".to_owned()).spawn(move || {
            let _guard = guard;
            let mut ended = supervise(&brief, setting.as_deref(), &mut stage, &receive);
            if let Some(still) = ended.lingering.take() {
                tracing::warn!(session = start.id, "processes of the student program can't be ended yet");
                *left.lock().unwrap_or_else(PoisonError::into_inner) = Some(still);
            }
            finish(stage, &start, &ended);
        });
        thread.map(drop).map_err(|e| StartEvaluationError::Failed(e.to_string()))
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
}

fn not_stored(error: impl Display) -> StartEvaluationError {
    StartEvaluationError::NotStored(error.to_string())
}

fn new_session(
    place: &Place,
    evaluation: &Evaluation,
    script: &str,
    request: StartRequest,
) -> Result<NewSession, StartEvaluationError> {
    Ok(NewSession {
        // Random, because the id gives access to the record.
        id: random_hex().map_err(|e| StartEvaluationError::Failed(e.to_string()))?,
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
    })
}

/// Marks the session as ended when it is dropped: after its end, if its thread panics, and if its
/// thread could not be started.
struct EndGuard {
    id: String,
    current: Arc<Current>,
    simulator: Simulator,
    over: Arc<watch::Sender<u64>>,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        // The next session may have begun already.
        if self.current.active().as_ref() == Some(&self.id) {
            self.current.end(|session| session.phase = "ended");
            self.simulator.look();
        }
        self.over.send_modify(|count| *count += 1);
    }
}

/// Stores how a session ended, then publishes it.
fn finish(mut stage: Stage, start: &NewSession, ended: &SessionEnd) {
    let outcome = ended.ending.outcome().to_owned();
    let reason = ended.ending.reason(start.time_limit_s);
    let record = ended.record.clone();
    let (feed, current, simulator) =
        (stage.feed.clone(), Arc::clone(&stage.current), stage.simulator.clone());
    let runtime = stage.runtime.clone();
    stage.announce(ended.time_s, EvaluationKind::Phase { phase: "ended".to_owned() });
    let end =
        EvaluationKind::End { outcome: outcome.clone(), record: record.clone(), reason: reason.clone() };
    let result = SessionResult {
        ended_at: time::now(),
        outcome: outcome.clone(),
        reason: reason.clone(),
        record: record.to_string(),
        elapsed_s: ended.time_s,
        observations: ended.observations,
        wait_s: ended.wait_s,
    };
    if let Err(why) = stage.close(ended.time_s, &end, result) {
        tracing::error!(session = start.id, why, "the record of an evaluation is incomplete on disk");
    }
    current.end(|session| {
        session.phase = "ended";
        session.outcome = Some(outcome);
        session.record = record;
        session.reason = reason;
        session.elapsed_s = Num(ended.time_s);
    });
    simulator.look();
    // The event is sent after the state shows the end, so that a client that reacts to it reads the
    // ended session.
    runtime.block_on(simulator.shows(&start.id, || false));
    let event = EvaluationEvent { session: start.id.clone(), time: Num(ended.time_s), kind: end };
    feed.tell(&StoryEvent::Evaluation(event));
    let outcome = ended.ending.outcome();
    tracing::info!(session = start.id, outcome, elapsed_s = ended.time_s, "evaluation over");
}
