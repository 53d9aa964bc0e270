//! The session that is under way, or the last one, as everyone sees it.

use crate::session_status::SessionStatus;
use chicane_store::NewSession;
use chicane_wire::{CurrentSession, Num, Phase, RunState, Session};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines of the log that are shown.
pub(super) const SHOWN_LOG_LINES: usize = 200;

/// What everyone sees.
#[derive(Debug)]
pub struct Current {
    view: Mutex<CurrentView>,
    status: Arc<Mutex<SessionStatus>>,
}

#[derive(Debug, Default)]
struct CurrentView {
    active: bool,
    session: Option<Session>,
    log: VecDeque<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in here can panic half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Current {
    pub(super) fn new(status: Arc<Mutex<SessionStatus>>) -> Current {
        Current { view: Mutex::default(), status }
    }

    /// Shows a session of an earlier run of the program.
    pub(super) fn show_stored(&self, session: Session) {
        let log = session.log.iter().cloned().collect();
        *lock(&self.view) = CurrentView { active: false, session: Some(session), log };
    }

    /// As `GET /evaluation/session` shows it.
    pub fn answer(&self) -> CurrentSession {
        let view = lock(&self.view);
        let session = view.session.clone().map(|mut session| {
            session.log = view.log.iter().cloned().collect();
            session
        });
        CurrentSession { active: view.active, session }
    }

    /// Id of the session that is under way.
    pub(super) fn active(&self) -> Option<String> {
        let view = lock(&self.view);
        view.session.as_ref().filter(|_| view.active).map(|session| session.id.clone())
    }

    /// A new session. The state of the simulator shows it a moment later, never earlier: so does it at the end.
    pub(super) fn begin(&self, session: Session) {
        let (id, phase) = (session.id.clone(), session.phase);
        *lock(&self.view) = CurrentView { active: true, session: Some(session), log: VecDeque::new() };
        self.show(|status| {
            status.run = Default::default();
            status.evaluation.active = true;
            status.evaluation.session = Some(id);
            status.evaluation.phase = Some(phase);
        });
    }

    /// The session is over.
    pub(super) fn end(&self, change: impl FnOnce(&mut Session)) {
        self.update(change);
        lock(&self.view).active = false;
        self.show(|status| {
            status.run.running = false;
            status.evaluation.active = false;
            status.evaluation.phase = Some(Phase::Ended);
        });
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Session)) {
        if let Some(session) = &mut lock(&self.view).session {
            change(session);
        }
    }

    pub(super) fn log(&self, line: &str) {
        let log = &mut lock(&self.view).log;
        if log.len() == SHOWN_LOG_LINES {
            log.pop_front();
        }
        log.push_back(line.to_owned());
    }

    pub(super) fn show(&self, change: impl FnOnce(&mut SessionStatus)) {
        change(&mut lock(&self.status));
    }
}

/// A session as it begins.
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
        log: Vec::new(),
    }
}
