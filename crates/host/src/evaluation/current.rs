//! The session that is under way, or the last one, as everyone sees it.

use crate::badge::Badge;
use chicane_store::NewSession;
use chicane_wire::{CurrentSession, Num, RunState, Session};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines of the log that are shown.
pub(super) const LOG: usize = 200;

/// What everyone sees.
#[derive(Debug)]
pub struct Current {
    seen: Mutex<Seen>,
    badge: Arc<Mutex<Badge>>,
}

#[derive(Debug, Default)]
struct Seen {
    active: bool,
    session: Option<Session>,
    log: VecDeque<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in here can panic half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Current {
    pub(super) fn new(badge: Arc<Mutex<Badge>>) -> Current {
        Current { seen: Mutex::default(), badge }
    }

    /// Shows a session of an earlier run of the program.
    pub(super) fn remember(&self, session: Session) {
        let log = session.log.iter().cloned().collect();
        *lock(&self.seen) = Seen { active: false, session: Some(session), log };
    }

    /// As `GET /evaluation/session` shows it.
    pub fn answer(&self) -> CurrentSession {
        let seen = lock(&self.seen);
        let session = seen.session.clone().map(|mut session| {
            session.log = seen.log.iter().cloned().collect();
            session
        });
        CurrentSession { active: seen.active, session }
    }

    /// Id of the session that is under way.
    pub(super) fn active(&self) -> Option<String> {
        let seen = lock(&self.seen);
        seen.session.as_ref().filter(|_| seen.active).map(|session| session.id.clone())
    }

    /// A new session. The state of the simulator shows it a moment later, never earlier: so does it at the end.
    pub(super) fn begin(&self, session: Session) {
        let (id, phase) = (session.id.clone(), session.phase.to_owned());
        *lock(&self.seen) = Seen { active: true, session: Some(session), log: VecDeque::new() };
        self.show(|badge| {
            badge.run = Default::default();
            badge.evaluation.active = true;
            badge.evaluation.session = Some(id);
            badge.evaluation.phase = Some(phase);
        });
    }

    /// The session is over.
    pub(super) fn end(&self, change: impl FnOnce(&mut Session)) {
        self.update(change);
        lock(&self.seen).active = false;
        self.show(|badge| {
            badge.run.running = false;
            badge.evaluation.active = false;
            badge.evaluation.phase = Some("ended".to_owned());
        });
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Session)) {
        if let Some(session) = &mut lock(&self.seen).session {
            change(session);
        }
    }

    pub(super) fn log(&self, line: &str) {
        let log = &mut lock(&self.seen).log;
        if log.len() == LOG {
            log.pop_front();
        }
        log.push_back(line.to_owned());
    }

    pub(super) fn show(&self, change: impl FnOnce(&mut Badge)) {
        change(&mut lock(&self.badge));
    }
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
