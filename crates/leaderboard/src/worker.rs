//! The queue, and the thread that judges its submissions one after another.

use crate::contest::{ContestWorld, LeaderboardOptions};
use crate::judging::{self, RunJob, Stopped};
use crate::rates::Rates;
use crate::run_result::RunResult;
use crate::standings::Standings;
use crate::uploads::Uploads;
use chicane_replay::RunError;
use chicane_store::{Data, StoreError, SubmissionRow, SubmissionRunRow, time};
use chicane_wire::{Role, SubmissionVerdict};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time after which a submission is tried again if the disk or the database failed.
const RETRY: Duration = Duration::from_secs(5);

/// What the worker and the requests share.
pub(crate) struct Shared {
    pub(crate) options: LeaderboardOptions,
    pub(crate) worlds: Vec<ContestWorld>,
    pub(crate) uploads: Uploads,
    pub(crate) data: Arc<Data>,
    state: Mutex<State>,
    /// Notified when a submission was added, and when the leaderboard stops.
    changed: Condvar,
    pub(crate) stop: AtomicBool,
}

/// The state that changes. It is not locked while an upload is unpacked or a run is judged.
#[derive(Default)]
pub(crate) struct State {
    /// The submissions that wait, the next one first.
    pub(crate) waiting: VecDeque<SubmissionRow>,
    /// Addresses of the waiting submissions, by number. A submission has no address here if it was
    /// handed in before the start of the program, or if it is tried again.
    pub(crate) addresses: BTreeMap<i64, IpAddr>,
    pub(crate) running: Option<Running>,
    pub(crate) standings: Standings,
    pub(crate) rates: Rates,
    /// Why submissions can't be judged at the moment; `None` if they can.
    pub(crate) problem: Option<String>,
}

impl State {
    /// Removes a submission from the queue.
    pub(crate) fn forget(&mut self, number: i64) {
        self.waiting.retain(|row| row.number != number);
        self.addresses.remove(&number);
    }
}

/// The submission that is being judged.
pub(crate) struct Running {
    pub(crate) row: SubmissionRow,
    pub(crate) world: usize,
    pub(crate) progress: f64,
}

/// Why a submission could not be judged now.
enum Interrupted {
    Stopped,
    /// The disk or the database failed. The worker tries the submission again.
    Store(String),
}

impl From<StoreError> for Interrupted {
    fn from(error: StoreError) -> Interrupted {
        Interrupted::Store(error.to_string())
    }
}

impl From<Stopped> for Interrupted {
    fn from(_: Stopped) -> Interrupted {
        Interrupted::Stopped
    }
}

impl Shared {
    pub(crate) fn new(
        options: LeaderboardOptions,
        worlds: Vec<ContestWorld>,
        uploads: Uploads,
        data: Arc<Data>,
    ) -> Result<Shared, StoreError> {
        let (state, changed, stop) = (Mutex::default(), Condvar::new(), AtomicBool::new(false));
        let shared = Shared { options, worlds, uploads, data, state, changed, stop };
        let standings = shared.stored_standings()?;
        let waiting = shared.data.submissions().waiting()?.into();
        *shared.state() = State { waiting, standings, ..State::default() };
        Ok(shared)
    }

    /// Computes the tables from the results in the database.
    pub(crate) fn stored_standings(&self) -> Result<Standings, StoreError> {
        let mut standings = Standings::new(self.worlds.iter().map(|world| world.better));
        for run in self.data.submissions().runs(None)? {
            let world = self.worlds.iter().position(|world| self.is_of(&run, world));
            if let (Some(world), Ok(result)) = (world, serde_json::from_str(&run.result)) {
                standings.add(world, &run.key, &result);
            }
        }
        Ok(standings)
    }

    /// Whether a stored run belongs to this world of the contest.
    fn is_of(&self, run: &SubmissionRunRow, world: &ContestWorld) -> bool {
        (&run.world, &run.world_sha256, run.seed) == (&world.name, &world.sha256, self.options.seed)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stored submission to the queue. Returns the number of submissions before it.
    pub(crate) fn add(&self, row: SubmissionRow, address: IpAddr) -> u32 {
        let mut state = self.state();
        state.addresses.insert(row.number, address);
        state.waiting.push_back(row);
        let before = state.waiting.len() + usize::from(state.running.is_some()) - 1;
        self.changed.notify_all();
        before as u32
    }

    /// Tells the worker to end.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let _state = self.state();
        self.changed.notify_all();
    }

    /// Judges submissions until the leaderboard stops.
    pub(crate) fn work(&self) {
        while let Some(row) = self.next() {
            let judged = self.judge(&row);
            self.uploads.remove_unpacked(&row.id);
            self.uploads.trim(self.data.submissions());
            let mut state = self.state();
            state.running = None;
            match judged {
                Ok(()) => state.problem = None,
                Err(Interrupted::Stopped) => return,
                Err(Interrupted::Store(why)) => {
                    tracing::error!("a submission can't be judged, and is tried again: {why}");
                    state.problem = Some(why);
                    state.waiting.push_front(row);
                    let goes_on = |_: &mut State| !self.stop.load(Ordering::Relaxed);
                    let waited = self.changed.wait_timeout_while(state, RETRY, goes_on);
                    drop(waited);
                }
            }
        }
    }

    /// Waits for the next submission. `None` if the leaderboard stops.
    fn next(&self) -> Option<SubmissionRow> {
        let mut state = self.state();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(row) = state.waiting.pop_front() {
                state.addresses.remove(&row.number);
                state.running = Some(Running { row: row.clone(), world: 0, progress: 0.0 });
                return Some(row);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn judge(&self, row: &SubmissionRow) -> Result<(), Interrupted> {
        let submissions = self.data.submissions();
        let done = submissions.runs(Some(row.number))?;
        let is_done = |world: &ContestWorld| done.iter().any(|run| self.is_of(run, world));
        let mut unpacked = None;
        for (i, world) in self.worlds.iter().enumerate() {
            if is_done(world) {
                continue;
            }
            self.show_progress(i, 0.0);
            let folder = self.uploads.run(&row.id, &world.sha256, self.options.seed);
            if judging::load(&folder).is_none() {
                if unpacked.is_none() {
                    match self.uploads.unpack(&row.id, &row.file) {
                        Ok(found) => unpacked = Some(found),
                        Err(error) if error.is_of_machine() => {
                            return Err(Interrupted::Store(error.to_string()));
                        }
                        // The upload was valid when it was handed in, so its file was probably
                        // changed or removed since then. No later attempt can succeed.
                        Err(error) => {
                            submissions.end(row.number, &time::now(), Some(&error.to_string()))?;
                            return Ok(());
                        }
                    }
                }
                let Some((workspace, command)) = &unpacked else { continue };
                let student = self.shown(row);
                let job = RunJob { world, workspace, command, student, folder: &folder };
                judging::judge(&job, &self.options, &self.stop, &|part| self.show_progress(i, part))?;
            }
            self.record(row, i, &folder)?;
        }
        submissions.end(row.number, &time::now(), None)?;
        Ok(())
    }

    fn show_progress(&self, world: usize, progress: f64) {
        if let Some(running) = &mut self.state().running {
            (running.world, running.progress) = (world, progress);
        }
    }

    /// The name of a student in tables and records.
    pub(crate) fn shown<'a>(&self, row: &'a SubmissionRow) -> &'a str {
        if self.options.anonymous { &row.pseudonym } else { &row.name }
    }

    /// Moves the result of a run from its folder to the database and the table.
    fn record(&self, row: &SubmissionRow, i: usize, folder: &std::path::Path) -> Result<(), Interrupted> {
        let (mut result, run) = judging::load(folder)
            .ok_or_else(|| Interrupted::Store(format!("{} can't be read", folder.display())))?;
        if let (Some(run), Some(session)) = (run, result.session.clone()) {
            self.import(&session, &run, &mut result)?;
        }
        let world = &self.worlds[i];
        // If a submission is removed, the tables are computed again from the database. Therefore
        // the database and the table change under one lock. Otherwise a run could count twice.
        let mut state = self.state();
        self.data.submissions().add_run(&SubmissionRunRow {
            submission: row.number,
            key: row.key.clone(),
            world: world.name.clone(),
            world_sha256: world.sha256.clone(),
            seed: self.options.seed,
            ended_at: result.ended_at.clone(),
            session: result.session.clone(),
            result: serde_json::to_string(&result).unwrap_or_default(),
        })?;
        state.standings.add(i, &row.key, &result);
        drop(state);
        let _ = std::fs::remove_dir_all(folder);
        Ok(())
    }

    /// Stores the run, so that it can be replayed. The run may be stored already, if an earlier
    /// attempt stored it but could not finish.
    fn import(&self, session: &str, run: &[u8], result: &mut RunResult) -> Result<(), Interrupted> {
        let records = self.data.records();
        if records.session(Some(session), None)?.is_some() {
            return Ok(());
        }
        match chicane_replay::import(run, records, Role::Student) {
            Ok(_) => Ok(()),
            Err(RunError::Store(error)) => Err(error.into()),
            Err(error) => {
                tracing::error!(session, "a run can't be stored: {error}");
                result.verdict = SubmissionVerdict::Fault;
                result.verified = false;
                result.session = None;
                result.line = format!("the run can't be stored: {error}");
                Ok(())
            }
        }
    }
}
