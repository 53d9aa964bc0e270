//! The session as clients see it: the active session, or the last session if none is active.

use super::output::{LineSource, NewOutput, Output, SessionLine};
use crate::session_status::SessionStatus;
use chicane_pace::PaceReport;
use chicane_store::NewSession;
use chicane_wire::{CommandSource, CurrentSession, Num, Phase, RunState, SentCommand, SentCommands, Session};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of log lines in `GET /evaluation/session`.
pub(super) const SHOWN_LOG_LINES: usize = 200;

/// Maximum length of the path of a refused request in the record, characters. The rest of the path
/// is cut off.
const MAX_PATH: usize = 200;

/// The session as clients see it: the active session, or the last session if none is active.
#[derive(Debug)]
pub(crate) struct Current {
    view: Mutex<CurrentView>,
    /// The status that the sim thread publishes.
    status: Arc<Mutex<SessionStatus>>,
    counts: Mutex<Counts>,
    /// The newest output of the session.
    output: Mutex<Output>,
}

/// The counters of the active session, or of the last session if none is active.
#[derive(Debug, Default)]
struct Counts {
    /// The interference: commands during the run whose sender is neither the student's program, nor
    /// the judging script, nor the simulator.
    interference: Arc<Mutex<SentCommands>>,
    /// Requests of the judged program that were not allowed.
    refused: SentCommands,
}

#[derive(Debug, Default)]
struct CurrentView {
    /// Whether the session has not ended.
    active: bool,
    session: Option<Session>,
    /// The newest log lines of the judging script. `response` copies them into `session.log`.
    log: VecDeque<String>,
    /// Whether a fault of the simulator ended the session or left its record incomplete on disk.
    simulator_failed: bool,
    /// How a session in virtual time spent its real time. `None` before the end of the session, and
    /// for a session in real time.
    pace_report: Option<PaceReport>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A lock that a panic has poisoned can still be used, because no code under this lock panics
    // between two changes that belong together.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Current {
    pub(super) fn new(status: Arc<Mutex<SessionStatus>>) -> Current {
        Current { view: Mutex::default(), status, counts: Mutex::default(), output: Mutex::default() }
    }

    /// Shows a session that the data folder has from an earlier run of the simulator.
    pub(super) fn show_stored(&self, session: Session) {
        let log = session.log.iter().cloned().collect();
        *lock(&self.view) = CurrentView { session: Some(session), log, ..CurrentView::default() };
    }

    /// The response of `GET /evaluation/session`.
    pub(crate) fn response(&self) -> CurrentSession {
        let view = lock(&self.view);
        let session = view.session.clone().map(|mut session| {
            session.log = view.log.iter().cloned().collect();
            session
        });
        CurrentSession { active: view.active, session }
    }

    /// Id of the active session; `None` if no session is active.
    pub(super) fn active(&self) -> Option<String> {
        let view = lock(&self.view);
        view.session.as_ref().filter(|_| view.active).map(|session| session.id.clone())
    }

    /// Shows a new session. `view` changes before the published `status`, so the status never names
    /// a session that `view` does not have yet. `end` also changes `view` first.
    pub(super) fn begin(&self, session: Session) {
        let (id, phase) = (session.id.clone(), session.phase);
        *lock(&self.output) = Output::default();
        *lock(&self.view) = CurrentView { active: true, session: Some(session), ..CurrentView::default() };
        self.change_status(|status| {
            status.run = Default::default();
            status.evaluation.active = true;
            status.evaluation.session = Some(id);
            status.evaluation.phase = Some(phase);
        });
    }

    /// Resets the counters for a new session. Returns the counter of commands that count as
    /// interference.
    pub(super) fn begin_counts(&self) -> Arc<Mutex<SentCommands>> {
        let mut counts = lock(&self.counts);
        *counts = Counts::default();
        Arc::clone(&counts.interference)
    }

    /// Counts a request of the judged program that was not allowed.
    pub(super) fn count_refused(&self, path: &str, values: serde_json::Value) {
        let time = lock(&self.view).session.as_ref().map_or(Num(0.0), |session| session.elapsed_s);
        let source = CommandSource::Student;
        let path = || path.chars().take(MAX_PATH).collect();
        lock(&self.counts).refused.add(|| SentCommand { time, source, path: path(), values });
    }

    /// The requests of the judged program that were not allowed.
    pub(super) fn refused(&self) -> SentCommands {
        lock(&self.counts).refused.clone()
    }

    /// Shows the end of the session, after `change` has changed the session.
    pub(super) fn end(&self, change: impl FnOnce(&mut Session)) {
        self.update(change);
        lock(&self.view).active = false;
        self.change_status(|status| {
            status.run.running = false;
            status.evaluation.active = false;
            status.evaluation.phase = Some(Phase::Ended);
        });
    }

    /// Changes the session, if there is one.
    pub(super) fn update(&self, change: impl FnOnce(&mut Session)) {
        if let Some(session) = &mut lock(&self.view).session {
            change(session);
        }
    }

    /// Stores that a fault of the simulator ended the session or left its record incomplete on
    /// disk.
    pub(super) fn note_failure(&self) {
        lock(&self.view).simulator_failed = true;
    }

    /// Whether a fault of the simulator ended the last session or left its record incomplete on
    /// disk.
    pub(crate) fn simulator_failed(&self) -> bool {
        lock(&self.view).simulator_failed
    }

    /// Stores what the session spent its time on.
    pub(super) fn set_pace_report(&self, report: PaceReport) {
        lock(&self.view).pace_report = Some(report);
    }

    /// What the last session spent its time on. `None` in real time, and before the end of the
    /// session.
    pub(crate) fn pace_report(&self) -> Option<PaceReport> {
        lock(&self.view).pace_report.clone()
    }

    /// Adds a line of output.
    pub(super) fn add_output(&self, source: LineSource, text: &str) {
        lock(&self.output).add(SessionLine { source, text: text.to_owned() });
    }

    /// The output of the session from line number `from` on.
    pub(crate) fn output(&self, from: u64) -> NewOutput {
        lock(&self.output).since(from)
    }

    /// Adds a log line of the judging script. If there are too many lines, the oldest line is
    /// dropped.
    pub(super) fn log(&self, line: &str) {
        let log = &mut lock(&self.view).log;
        if log.len() == SHOWN_LOG_LINES {
            log.pop_front();
        }
        log.push_back(line.to_owned());
    }

    /// Changes the status that the sim thread publishes.
    pub(super) fn change_status(&self, change: impl FnOnce(&mut SessionStatus)) {
        change(&mut lock(&self.status));
    }
}

/// A session at its start.
pub(super) fn first_view(start: &NewSession) -> Session {
    Session {
        id: start.id.clone(),
        world: start.world.clone(),
        world_id: start.world_id.clone(),
        rev: start.rev.clone(),
        phase: Phase::Initializing,
        outcome: None,
        record: serde_json::Value::Null,
        reason: None,
        better: start.better,
        command: start.command.clone(),
        time_limit_s: Num(start.time_limit_s),
        seed: start.seed,
        started_at: start.started_at.clone(),
        elapsed_s: Num(0.0),
        run: RunState::default(),
        interference: 0,
        log: Vec::new(),
    }
}
