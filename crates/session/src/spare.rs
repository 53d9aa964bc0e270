//! A judge that is started before a session needs it.
//!
//! Most of the start of a judge does not depend on the session: namespaces, control groups, file
//! system, network and Python. A setting therefore keeps one started judge, whose harness waits for
//! its first call. A session takes this judge, and after the session another judge is started. A
//! judge is never used twice. Judges of container engines are not prepared, because their
//! containers are visible to other users of the engine.

use crate::judge::{Judge, JudgeError};
use crate::setting::{JudgeRunner, Setting};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a session waits for a judge that is just being prepared. After that, the session starts
/// its own judge.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(30);

/// The place for one prepared judge.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    slot: Mutex<Slot>,
    /// Notified when a judge is no longer being prepared.
    prepared: Condvar,
}

#[derive(Debug, Default)]
enum Slot {
    /// There is no judge.
    #[default]
    Empty,
    /// A thread starts a judge.
    Starting,
    /// A judge waits for its session.
    Ready(Box<Judge>),
    /// A judge waits for the only session, after which no more judges are prepared.
    Last(Box<Judge>),
    /// No more judges are prepared.
    Closed,
}

impl Spare {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the prepared judge, and waits if it is just being prepared. `None` if there is no
    /// judge, or if the judge is no longer usable.
    fn take(&self) -> Option<Judge> {
        let waiting = |slot: &mut Slot| matches!(slot, Slot::Starting);
        let slot = self.prepared.wait_timeout_while(self.lock(), PREPARE_TIMEOUT, waiting);
        let (mut slot, _) = slot.unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *slot) {
            Slot::Ready(mut judge) => {
                drop(slot);
                judge.is_unused().then_some(*judge)
            }
            Slot::Last(mut judge) => {
                *slot = Slot::Closed;
                drop(slot);
                judge.is_unused().then_some(*judge)
            }
            other => {
                *slot = other;
                None
            }
        }
    }

    /// Stores a judge that was started; `None` if the start failed. The judge is dropped, and
    /// thereby ended, if `close` was called during the start.
    fn store(&self, judge: Option<Judge>) {
        let mut slot = self.lock();
        if matches!(*slot, Slot::Starting) {
            *slot = judge.map_or(Slot::Empty, |judge| Slot::Ready(Box::new(judge)));
        }
        drop(slot);
        self.prepared.notify_all();
    }
}

impl Setting {
    /// Whether a started judge can wait for a session.
    pub(crate) fn keeps_judges(&self) -> bool {
        matches!(self.runner, JudgeRunner::Jail { .. })
    }

    /// Keeps a judge for the next session. No judge is prepared after that session.
    pub(crate) fn keep_last_judge(&self, judge: Judge) {
        *self.spare.lock() = Slot::Last(Box::new(judge));
    }

    /// Starts a judge in the background for the next session, unless there is one already.
    pub fn prepare_judge(&self) {
        if !self.keeps_judges() {
            return;
        }
        let mut slot = self.spare.lock();
        if !matches!(*slot, Slot::Empty) {
            return;
        }
        *slot = Slot::Starting;
        drop(slot);
        let setting = self.clone();
        let start = move || {
            let started = catch_unwind(AssertUnwindSafe(|| Judge::start(&setting)));
            // An error is dropped here, because a session without a prepared judge starts its own
            // judge, and then reports the error.
            setting.spare.store(started.ok().and_then(Result::ok));
        };
        if std::thread::Builder::new().name("judge".to_owned()).spawn(start).is_err() {
            self.spare.store(None);
        }
    }

    /// Whether a judge waits for the next session. The judge of a setting that is used for a single
    /// session does not count.
    pub fn has_prepared_judge(&self) -> bool {
        matches!(*self.spare.lock(), Slot::Ready(_))
    }

    /// The prepared judge, or else a new one.
    pub fn take_judge(&self) -> Result<Judge, JudgeError> {
        self.spare.take().map_or_else(|| Judge::start(self), Ok)
    }

    /// Ends the prepared judge. Moves the simulator out of the control group that it may have
    /// created for itself, and removes this group. Later calls of `prepare_judge` do nothing.
    pub fn close(&self) {
        let last = std::mem::replace(&mut *self.spare.lock(), Slot::Closed);
        self.spare.prepared.notify_all();
        drop(last);
        chicane_jail::leave_own_group();
    }
}
