//! The leaderboard's interface for the web server. A call that reads or writes the disk blocks its
//! thread.

use crate::contest::{self, LeaderboardOptions};
use crate::error::{HandInError, RemoveSubmissionError, StartLeaderboardError};
use crate::pseudonym;
use crate::rates;
use crate::run_result::RunResult;
use crate::student_name::StudentName;
use crate::uploads::Uploads;
use crate::worker::{Shared, State};
use chicane_store::{Data, Library, NewSubmission, StoreError, SubmissionRow, random_hex, time};
use chicane_wire::{
    Leaderboard as Document, LeaderboardChange, LeaderboardRow, LeaderboardTable, Num, RunningSubmission,
    Submission, SubmissionList, SubmissionQueue, SubmissionReceived, SubmissionResult, SubmissionState,
};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// Largest number of waiting submissions of one student.
const MAX_WAITING_OF_STUDENT: usize = 3;
/// Largest number of waiting submissions from one address. Without this limit, a client could fill
/// the whole queue with submissions under invented names. The limit is large, because a class can
/// share one address.
const MAX_WAITING_OF_ADDRESS: usize = LeaderboardOptions::MAX_WAITING / 2;
/// Largest number of submissions in the teacher's list.
const MAX_LISTED: usize = 500;

/// A running leaderboard.
pub struct Leaderboard {
    shared: Arc<Shared>,
    /// Locked while a submission is stored or removed. Otherwise two concurrent submissions could
    /// both pass the limits, or a submission could be removed before it is in the queue.
    receiving: Mutex<()>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

/// A student who passed [`Leaderboard::admit`] and may send the submission now.
pub struct Admitted {
    name: StudentName,
    /// The IPv4 address, or the network of an IPv6 address.
    address: IpAddr,
}

impl Leaderboard {
    /// Starts a leaderboard in a data folder, and continues with the submissions that are not
    /// judged yet. `first` is the only world of the contest if the options name none.
    pub fn start(
        options: LeaderboardOptions,
        data: Arc<Data>,
        library: &Library,
        first: &str,
    ) -> Result<Leaderboard, StartLeaderboardError> {
        let uploads = Uploads::open(data.dir().join("leaderboard"))?;
        uploads.remove_orphans(data.submissions());
        let names = if options.worlds.is_empty() { vec![first.to_owned()] } else { options.worlds.clone() };
        let worlds = contest::prepare(&names, library, &uploads.worlds())?;
        let shared = Arc::new(Shared::new(options, worlds, uploads, data)?);
        let worker = std::thread::Builder::new().name("leaderboard".to_owned());
        let working = Arc::clone(&shared);
        let worker = worker.spawn(move || working.work()).map_err(StartLeaderboardError::Thread)?;
        Ok(Leaderboard { shared, receiving: Mutex::new(()), worker: Mutex::new(Some(worker)) })
    }

    /// Ends the run in progress and the worker. After the next start, the worker continues with the
    /// submission of that run.
    pub fn stop(&self) {
        self.shared.stop();
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker {
            let _ = worker.join();
        }
    }

    /// Checks the name and the limits, and counts the attempt. The web server calls this function
    /// before it reads the body of the request.
    pub fn admit(&self, student: &str, address: IpAddr) -> Result<Admitted, HandInError> {
        let name = StudentName::parse(student).ok_or(HandInError::Name)?;
        let mut state = self.shared.state();
        let counted = state.rates.count_address(address, Instant::now());
        counted.map_err(|wait| HandInError::TooOften { wait })?;
        let admitted = Admitted { name, address: rates::of_network(address) };
        self.check(&mut state, &admitted)?;
        Ok(admitted)
    }

    fn check(&self, state: &mut State, Admitted { name, address }: &Admitted) -> Result<(), HandInError> {
        let interval = self.shared.options.interval;
        let checked = state.rates.check_student(&name.key, interval, Instant::now());
        checked.map_err(|wait| HandInError::TooOften { wait })?;
        if state.waiting.len() >= LeaderboardOptions::MAX_WAITING {
            return Err(HandInError::QueueFull);
        }
        let own = state.waiting.iter().filter(|row| row.key == name.key).count();
        if own >= MAX_WAITING_OF_STUDENT {
            return Err(HandInError::OthersWait { max: MAX_WAITING_OF_STUDENT });
        }
        let from_address = state.addresses.values().filter(|other| *other == address).count();
        if from_address >= MAX_WAITING_OF_ADDRESS {
            return Err(HandInError::AddressWaits { max: MAX_WAITING_OF_ADDRESS });
        }
        Ok(())
    }

    /// Checks and stores a submission. When the call succeeds, the submission is on disk.
    pub fn hand_in(&self, admitted: Admitted, bytes: &[u8]) -> Result<SubmissionReceived, HandInError> {
        let id = random_hex()?;
        let file = self.shared.uploads.store(&id, bytes)?;
        let added = self.add(&admitted, &id, &file, bytes.len() as u64);
        if added.is_err() {
            self.shared.uploads.remove(&file);
        }
        let (row, position) = added?;
        Ok(SubmissionReceived {
            ok: true,
            id,
            shown_as: self.shared.shown(&row).to_owned(),
            position,
            worlds: self.shared.worlds.iter().map(|world| world.name.clone()).collect(),
        })
    }

    fn add(
        &self,
        admitted: &Admitted,
        id: &str,
        file: &str,
        bytes: u64,
    ) -> Result<(SubmissionRow, u32), HandInError> {
        let _receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        self.check(&mut self.shared.state(), admitted)?;
        let name = &admitted.name;
        let new = NewSubmission {
            id: id.to_owned(),
            key: name.key.clone(),
            name: name.shown.clone(),
            pseudonyms: pseudonym::choices()?,
            file: file.to_owned(),
            bytes,
            received_at: time::now(),
        };
        let row = self.shared.data.submissions().add(&new)?.ok_or(HandInError::TooManyStudents)?;
        self.shared.state().rates.count_student(&name.key, Instant::now());
        let position = self.shared.add(row.clone(), admitted.address);
        Ok((row, position))
    }

    /// Removes a submission with its upload and its results. Its recorded runs are kept.
    pub fn remove(&self, id: &str) -> Result<(), RemoveSubmissionError> {
        let shared = &self.shared;
        let _receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        let row = shared.data.submissions().find(id)?.ok_or(RemoveSubmissionError::NoSuchSubmission)?;
        // While this lock is held, the worker can neither begin a submission nor store a result.
        let mut state = shared.state();
        if state.running.as_ref().is_some_and(|running| running.row.number == row.number) {
            return Err(RemoveSubmissionError::InProgress);
        }
        shared.data.submissions().remove(row.number)?;
        state.forget(row.number);
        state.standings = shared.stored_standings()?;
        drop(state);
        shared.uploads.remove(&row.file);
        Ok(())
    }

    /// The tables, the last changes and the queue.
    pub fn document(&self) -> Result<Document, StoreError> {
        let shared = &self.shared;
        let contestants = shared.data.submissions().contestants()?;
        let shown = |key: &str| match contestants.get(key) {
            Some((_, pseudonym)) if shared.options.anonymous => pseudonym.clone(),
            Some((name, _)) => name.clone(),
            None => String::new(),
        };
        let state = shared.state();
        let tables =
            shared.worlds.iter().zip(&state.standings.tables).map(|(world, table)| LeaderboardTable {
                world: world.name.clone(),
                display: world.display.clone(),
                better: world.better,
                unit: world.unit.clone().or_else(|| table.unit.clone()),
                rows: (1..)
                    .zip(&table.rows)
                    .map(|(rank, row)| LeaderboardRow {
                        rank,
                        student: shown(&row.key),
                        record: Num(row.record),
                        session: row.session.clone(),
                        at: row.at.clone(),
                        runs: table.runs(&row.key),
                    })
                    .collect(),
            });
        let changes = state.standings.changes.iter().map(|change| LeaderboardChange {
            at: change.at.clone(),
            student: shown(&change.key),
            world: shared.worlds[change.world].name.clone(),
            record: Num(change.record),
            before: change.before.map(Num),
            rank: change.rank,
        });
        let running = state.running.as_ref().map(|running| RunningSubmission {
            student: shared.shown(&running.row).to_owned(),
            world: shared.worlds[running.world].name.clone(),
            progress: Num(running.progress),
        });
        Ok(Document {
            anonymous: shared.options.anonymous,
            worlds: shared.worlds.iter().map(|world| world.name.clone()).collect(),
            seed: shared.options.seed,
            tables: tables.collect(),
            changes: changes.collect(),
            queue: SubmissionQueue { waiting: state.waiting.len() as u32, running },
            problem: state.problem.clone(),
        })
    }

    /// A submission; `None` if there is none with this id.
    pub fn submission(&self, id: &str) -> Result<Option<Submission>, StoreError> {
        let row = self.shared.data.submissions().find(id)?;
        row.map(|row| self.describe(row)).transpose()
    }

    /// The newest submissions with the names of the students.
    pub fn submissions(&self) -> Result<SubmissionList, StoreError> {
        let mut rows = self.shared.data.submissions().newest(MAX_LISTED + 1)?;
        let more = rows.len() > MAX_LISTED;
        rows.truncate(MAX_LISTED);
        let submissions = rows.into_iter().map(|row| self.describe(row)).collect::<Result<_, _>>()?;
        Ok(SubmissionList { submissions, more })
    }

    fn describe(&self, row: SubmissionRow) -> Result<Submission, StoreError> {
        let shared = &self.shared;
        // The row is read again after the queue. Otherwise a submission that ends in between would
        // appear to be waiting. The results are read after the row. The worker stores the last
        // result before it stores the end of the submission, so a submission that appears finished
        // has all its results.
        let (position, running) = {
            let state = shared.state();
            let place = state.waiting.iter().position(|waiting| waiting.number == row.number);
            let before = place.map(|place| (place + usize::from(state.running.is_some())) as u32);
            let running = state.running.as_ref().filter(|running| running.row.number == row.number);
            (before, running.map(|running| (running.world, running.progress)))
        };
        let row = shared.data.submissions().find(&row.id)?.unwrap_or(row);
        let runs = shared.data.submissions().runs(Some(row.number))?;
        let results = runs.iter().filter_map(|run| Some((run, serde_json::from_str(&run.result).ok()?)));
        let results = results.map(|(run, result)| self.result(&run.world, result)).collect();
        let state = match (&row.ended_at, &row.failure, running) {
            (Some(_), Some(_), _) => SubmissionState::Failed,
            (Some(_), None, _) => SubmissionState::Done,
            (None, _, Some(_)) => SubmissionState::Running,
            (None, _, None) => SubmissionState::Waiting,
        };
        let (is_running, is_waiting) = (state == SubmissionState::Running, state == SubmissionState::Waiting);
        Ok(Submission {
            shown_as: shared.shown(&row).to_owned(),
            id: row.id,
            student: row.name,
            received_at: row.received_at,
            state,
            position: position.filter(|_| is_waiting),
            world: running.filter(|_| is_running).map(|(world, _)| shared.worlds[world].name.clone()),
            progress: running.filter(|_| is_running).map(|(_, progress)| Num(progress)),
            reason: row.failure,
            results,
        })
    }

    fn result(&self, world: &str, result: RunResult) -> SubmissionResult {
        let at = self.shared.worlds.iter().position(|one| one.name == world);
        let state = self.shared.state();
        let rank = at.zip(result.session.as_deref()).and_then(|(at, id)| state.standings.rank_of(at, id));
        let table = at.and_then(|at| state.standings.tables.get(at));
        SubmissionResult {
            world: world.to_owned(),
            verdict: result.verdict,
            outcome: result.outcome,
            record: result.record,
            unit: result.unit,
            reason: result.line,
            rank,
            of: table.map_or(0, |table| table.rows.len() as u32),
            output_tail: result.output,
            session: result.session,
        }
    }
}

impl Drop for Leaderboard {
    fn drop(&mut self) {
        self.stop();
    }
}
