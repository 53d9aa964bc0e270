//! Starts the threads of a session, and stores its start and its end.

use super::current::{Current, first_view};
use super::error::StartEvaluationError;
use super::program_folder::ProgramFolder;
use super::record_writer::{RecordWriter, RecordWriterError};
use super::run_bundle;
use super::session_world::{self, SessionWorld};
use super::unstored::Unstored;
use super::{Evaluations, Judging};
use crate::driver::{DriveAt, ServedWorld, Simulator};
use crate::variation::Seeded;
use chicane_session::{
    Note, Notes, NotesOut, SessionEnd, SessionSpec, Setting, StudentProgram, Unsupported, notes, supervise,
};
use chicane_store::{Addition, Data, NewSession, SessionResult, Sum, random_hex, time};
use chicane_vary::Vary;
use chicane_wire::{
    Better, EvaluationEvent, EvaluationKind, Num, Pace, Phase, RecordIdentity, Role, RunReport, Session,
    StartRequest, StoryEvent, StudentNetwork,
};
use chicane_world::evaluation::Evaluation;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// The judging script of a session without a judge. The script ends the session when the program
/// exits, and records nothing.
const UNJUDGED_SCRIPT: &str =
    "def evaluate(sim):\n    if sim.state.run.exit_code is not None:\n        sim.finish()\n";
/// Time limit of a session without a judge, in simulated seconds, if the request has no time limit.
const UNJUDGED_LIMIT_S: f64 = 3600.0;

impl Evaluations {
    /// Starts a session. Blocks on the disk until the stored record has the first event, and then,
    /// with a timeout, until the published state shows the session.
    pub(super) fn begin(
        &self,
        judging: Judging,
        served: &Arc<ServedWorld>,
        request: StartRequest,
        (drive, role): (Arc<[DriveAt]>, Role),
        runtime: tokio::runtime::Handle,
    ) -> Result<Session, StartEvaluationError> {
        let unjudged;
        let evaluation = match judging {
            Judging::Evaluation => {
                served.world.evaluation.as_ref().ok_or(StartEvaluationError::NoEvaluation)?
            }
            Judging::None => {
                unjudged = self.unjudged();
                &unjudged
            }
        };
        self.parts.data.check()?;
        self.unstored.write()?;
        let other = self.parts.options.script.as_ref().filter(|_| judging == Judging::Evaluation);
        let script = other.unwrap_or(&evaluation.script);
        let unsupported = self.unsupported(evaluation);
        let setting = match self.finder.setting() {
            Ok((setting, _)) => Some(setting),
            Err(_) if unsupported.is_some() => None,
            Err(error) => return Err(StartEvaluationError::NoJudge(error.to_string())),
        };
        let problem = setting.as_ref().filter(|_| request.command.is_some());
        if let Some(why) = problem.and_then(|setting| setting.box_problem(&self.parts.options.student)) {
            return Err(StartEvaluationError::NoBox(why));
        }
        let wall_limit_s = request.wall_limit(request.time_limit_s.unwrap_or(evaluation.time_limit_s));
        let seeded = Seeded { seed: request.seed, vary: evaluation.vary.clone() };
        let varied = served.varied(&self.parts.profile, &seeded);
        let served = &varied.map_err(|error| StartEvaluationError::Failed(error.to_string()))?;
        let identity = self.identity(served, &request, wall_limit_s);
        let files = request.files.clone();
        let start = new_session(served, evaluation, script, (request, role), identity)?;
        let kind = self.parts.options.student.kind;
        let folder = files.map(|files| ProgramFolder::new(&files, &start.id, kind)).transpose();
        let folder = folder.map_err(not_stored)?;
        let begun = EvaluationKind::Start {
            world: start.world.clone(),
            command: start.command.clone(),
            time_limit_s: Num(start.time_limit_s),
        };
        let (send, receive) = notes().map_err(not_stored)?;
        self.keep_world(served);
        let writer = self.store_start(&start, &begun, send.clone())?;
        let student = self.student(&start, setting.as_deref(), folder.as_ref());
        let brief = SessionSpec { student, unsupported, wall_limit_s, student_command: None, steps: None };
        let session_world =
            self.session_world(&start, served, script, drive, (runtime, send.clone(), writer));
        let session = first_view(&start);
        self.current.begin(session.clone());
        let parts = &self.parts;
        parts.simulator.wake();
        session_world.runtime.block_on(parts.simulator.wait_until_shown(&session.id, || true));
        session_world.send_event(0.0, begun);
        *self.notes.lock().unwrap_or_else(PoisonError::into_inner) = Some(send);
        self.supervise(session_world, start, (brief, folder), setting, receive)?;
        Ok(session)
    }

    /// The evaluation of a session without a judge.
    fn unjudged(&self) -> Evaluation {
        Evaluation {
            version: 1,
            config_json: "{}".to_owned(),
            description: String::new(),
            better: chicane_world::evaluation::Better::Lower,
            time_limit_s: UNJUDGED_LIMIT_S,
            robot: self.parts.profile.generation.clone(),
            allow: None,
            vary: Vary::default(),
            script: UNJUDGED_SCRIPT.to_owned(),
        }
    }

    /// Stores the files of the world, so that the run can be verified where the world is not
    /// installed.
    fn keep_world(&self, served: &ServedWorld) {
        let Some(sha256) = &served.sha256 else { return };
        let records = self.parts.data.records();
        if records.has_bundle(sha256).unwrap_or(false) {
            return;
        }
        let kept = match run_bundle::pack(&self.parts.library, &served.name) {
            Some((found, bytes)) if found == *sha256 => {
                records.keep_bundle(sha256, &bytes).map_err(|error| error.to_string())
            }
            _ => Err("its files were changed after it was loaded".to_owned()),
        };
        if let Err(why) = kept {
            tracing::warn!(
                world = &*served.name,
                why,
                "the world of this run is not kept for a verification"
            );
        }
    }

    /// Writes the session and its first event. Both are on disk before the client gets a response.
    fn store_start(
        &self,
        start: &NewSession,
        begun: &EvaluationKind,
        notes: Notes<Note>,
    ) -> Result<RecordWriter, StartEvaluationError> {
        let data = &self.parts.data;
        let number = data.records().begin(start).map_err(not_stored)?;
        let first = session_world::event_json(0.0, begun);
        let addition = Addition { place: 0, events: &[first], record: "null", elapsed_s: 0.0, journal: &[] };
        data.records().add(number, addition).map_err(not_stored)?;
        RecordWriter::start(Arc::clone(data), number, notes).map_err(not_stored)
    }

    /// Creates the access of a session to the simulator.
    fn session_world(
        &self,
        start: &NewSession,
        served: &Arc<ServedWorld>,
        script: &str,
        drive: Arc<[DriveAt]>,
        (runtime, notes, writer): (tokio::runtime::Handle, Notes<Note>, RecordWriter),
    ) -> SessionWorld {
        let parts = &self.parts;
        SessionWorld {
            id: start.id.clone(),
            script: script.to_owned(),
            served: Arc::clone(served),
            profile: Arc::clone(&parts.profile),
            seed: start.seed,
            time_limit_s: start.time_limit_s,
            command: start.command.clone(),
            drive,
            simulator: parts.simulator.clone(),
            keeper: parts.keeper.clone(),
            feed: parts.feed.clone(),
            runtime,
            notes,
            current: Arc::clone(&self.current),
            writer,
            requests: None,
            progress_written_at: Instant::now(),
            identity: start.identity.clone(),
            recognizes_student: start.identity.network.is_some_and(|network| network != StudentNetwork::Host)
                && parts.gate.is_some(),
            interference: self.current.begin_counts(),
            gate: parts.gate.clone(),
            open_gate: None,
            pacing: None,
        }
    }

    /// Starts the thread that supervises a session to its end.
    fn supervise(
        &self,
        mut session_world: SessionWorld,
        start: NewSession,
        (brief, folder): (SessionSpec, Option<ProgramFolder>),
        setting: Option<Arc<Setting>>,
        receive: NotesOut<Note>,
    ) -> Result<(), StartEvaluationError> {
        let guard = EndGuard {
            id: start.id.clone(),
            current: Arc::clone(&self.current),
            simulator: self.parts.simulator.clone(),
            ended_sessions: Arc::clone(&self.ended_sessions),
        };
        let leftover = Arc::clone(&self.leftover_processes);
        let (data, unstored) = (Arc::clone(&self.parts.data), Arc::clone(&self.unstored));
        let metrics = Arc::clone(&self.parts.metrics);
        let thread = std::thread::Builder::new().name("session".to_owned()).spawn(move || {
            let _guard = guard;
            let mut ended = supervise(&brief, setting.as_deref(), &mut session_world, &receive);
            // The program's folder is removed before clients learn of the end of the session.
            drop(folder);
            if let Some(processes) = ended.lingering.take() {
                tracing::warn!(session = start.id, "processes of the student program can't be ended yet");
                *leftover.lock().unwrap_or_else(PoisonError::into_inner) = Some(processes);
            }
            metrics.count_evaluation(ended.ending.outcome(), ended.time_s);
            finish(session_world, &start, &ended, (&data, &unstored));
        });
        thread.map(drop).map_err(|e| StartEvaluationError::Failed(e.to_string()))
    }

    /// The environment variables that tell a student's program how to reach the simulator. A
    /// program in a network of its own needs no token, because its requests come through the
    /// sockets of its session.
    fn student_environment(&self, id: &str) -> BTreeMap<String, String> {
        let mut variables = self.parts.environment.clone();
        variables.insert("CHICANE_SESSION".to_owned(), id.to_owned());
        if self.parts.options.student.network != StudentNetwork::Host
            && let Some(port) = self.parts.port
        {
            variables.remove("CHICANE_TOKEN");
            variables.insert("CHICANE_URL".to_owned(), format!("http://127.0.0.1:{port}"));
        }
        variables
    }

    /// Why this version of Chicane or this car can't be used for the evaluation; `None` if both
    /// can.
    fn unsupported(&self, evaluation: &Evaluation) -> Option<Unsupported> {
        let profile = &self.parts.profile;
        if evaluation.version != 1 {
            return Some(Unsupported::Version(evaluation.version));
        }
        let (wanted, own) = (&evaluation.robot, &profile.generation);
        (!profile.is_named(wanted)).then(|| Unsupported::Robot { wanted: wanted.clone(), own: own.clone() })
    }

    /// What a new session judges, and under which conditions: student, car, world, pace and box.
    fn identity(&self, served: &ServedWorld, request: &StartRequest, wall_limit_s: f64) -> RecordIdentity {
        let parts = &self.parts;
        let student = request.command.as_ref().map(|_| &parts.options.student);
        let wanted = request.pace.unwrap_or(parts.options.pace);
        let pace_reason = student.filter(|_| wanted == Pace::Virtual).and_then(|_| self.no_virtual_time());
        RecordIdentity {
            student: request.student.clone(),
            program: None,
            chicane: Some(parts.version.clone()),
            profile_sha256: serde_json::to_vec(&*parts.profile).ok().map(|json| Sum::of(&json).hex()),
            world_sha256: served.sha256.clone(),
            pace: Some(if pace_reason.is_some() { Pace::Real } else { wanted }),
            pace_reason,
            box_kind: student.map(|options| options.kind),
            network: student.map(|options| options.network),
            wall_limit_s: Some(Num(wall_limit_s)),
            variation: served.variation(),
        }
    }

    /// Why a student's program can't be run in virtual time; `None` if it can.
    fn no_virtual_time(&self) -> Option<String> {
        let student = &self.parts.options.student;
        if student.network == StudentNetwork::None && self.parts.gate.is_none() {
            return Some("the simulator has no web server".to_owned());
        }
        student.no_virtual_time()
    }

    /// How to start the student's program; `None` if the request has no command.
    fn student(
        &self,
        start: &NewSession,
        setting: Option<&Setting>,
        folder: Option<&ProgramFolder>,
    ) -> Option<StudentProgram> {
        let command = start.command.clone()?;
        let own = [Some(self.parts.data.dir().to_owned()), setting.map(|s| s.folder.clone())];
        let judge = chicane_session::root::folder().ok();
        let hide = own.into_iter().flatten().chain(judge).chain(chicane_store::known_folders());
        let hide = hide.chain(self.parts.options.hidden.iter().cloned());
        let mut environment = self.student_environment(&start.id);
        let before = environment.get("PYTHONPATH").cloned().or_else(|| std::env::var("PYTHONPATH").ok());
        if let Some(path) = folder.and_then(|folder| folder.python_path(before.as_deref())) {
            environment.insert("PYTHONPATH".to_owned(), path);
        }
        Some(StudentProgram {
            command,
            workspace: folder.map_or(&*self.parts.workspace, ProgramFolder::path).to_owned(),
            environment,
            hide: hide.collect(),
            options: self.parts.options.student.clone(),
            port: self.parts.port,
            virtual_time: (start.identity.pace == Some(Pace::Virtual)).then_some(start.seed),
        })
    }
}

fn not_stored(error: impl Display) -> StartEvaluationError {
    StartEvaluationError::NotStored(error.to_string())
}

/// The stored description of a new session.
fn new_session(
    served: &ServedWorld,
    evaluation: &Evaluation,
    script: &str,
    (request, role): (StartRequest, Role),
    identity: RecordIdentity,
) -> Result<NewSession, StartEvaluationError> {
    Ok(NewSession {
        // The id is random, because a client that knows the id can read the record.
        id: random_hex().map_err(|e| StartEvaluationError::Failed(e.to_string()))?,
        world: served.name.to_string(),
        world_id: served.entry.world_id.clone(),
        rev: served.entry.rev.clone(),
        command: request.command,
        time_limit_s: request.time_limit_s.unwrap_or(evaluation.time_limit_s),
        seed: request.seed,
        better: match evaluation.better {
            chicane_world::evaluation::Better::Lower => Better::Lower,
            chicane_world::evaluation::Better::Higher => Better::Higher,
        },
        sha256: Sum::of(script.as_bytes()).hex(),
        started_at: time::now(),
        identity,
        role,
    })
}

/// Marks the session as ended when this value is dropped: after the normal end, if the thread
/// panics, and if the thread could not be started.
struct EndGuard {
    id: String,
    current: Arc<Current>,
    simulator: Simulator,
    ended_sessions: Arc<watch::Sender<u64>>,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        // The next session may have begun already. This guard must not end that session.
        if self.current.active().as_ref() == Some(&self.id) {
            self.current.end(|session| session.phase = Phase::Ended);
            self.simulator.wake();
        }
        self.ended_sessions.send_modify(|count| *count += 1);
    }
}

/// Stores the end of a session, then publishes this end.
fn finish(
    mut session_world: SessionWorld,
    start: &NewSession,
    ended: &SessionEnd,
    (data, unstored): (&Arc<Data>, &Arc<Unstored>),
) {
    let outcome = ended.ending.outcome();
    let reason = ended.ending.reason(start.time_limit_s);
    let record = ended.record.clone();
    let (feed, current, simulator) =
        (session_world.feed.clone(), Arc::clone(&session_world.current), session_world.simulator.clone());
    let runtime = session_world.runtime.clone();
    session_world.announce(ended.time_s, EvaluationKind::Phase { phase: Phase::Ended });
    let end = EvaluationKind::End { outcome, record: record.clone(), reason: reason.clone() };
    let result = SessionResult {
        ended_at: time::now(),
        outcome,
        reason: reason.clone(),
        record: record.to_string(),
        elapsed_s: ended.time_s,
        observations: ended.observations,
        wait_s: ended.wait_s,
        report: RunReport {
            run: ended.run.clone(),
            interference: session_world.interference.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            refused: session_world.current.refused(),
            journal: None,
        },
    };
    if ended.ending.is_fault() {
        current.note_failure();
    }
    match session_world.close(ended.time_s, &end, result) {
        Ok(()) => {}
        Err(RecordWriterError::Store { error, rest }) => {
            current.note_failure();
            unstored.keep(data, &start.id, &error, *rest);
        }
        Err(RecordWriterError::WriterPanicked) => {
            current.note_failure();
            tracing::error!(session = start.id, "the record of an evaluation is incomplete on disk");
        }
    }
    current.end(|session| {
        session.phase = Phase::Ended;
        session.outcome = Some(outcome);
        session.record = record;
        session.reason = reason;
        session.elapsed_s = Num(ended.time_s);
    });
    simulator.wake();
    // The event is sent when the published state shows the end, so that a client that reacts to the
    // event reads the ended session. After a timeout the event is sent anyway.
    runtime.block_on(simulator.wait_until_shown(&start.id, || false));
    let event = EvaluationEvent { session: start.id.clone(), time: Num(ended.time_s), kind: end };
    feed.send(&StoryEvent::Evaluation(event));
    tracing::info!(
        session = start.id,
        outcome = outcome.name(),
        elapsed_s = ended.time_s,
        "evaluation ended"
    );
}
