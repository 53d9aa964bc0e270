//! A recorded run, with everything that is needed to simulate it again.

use crate::difference::Difference;
use crate::program::program_of;
use chicane_host::driver::ServedWorld;
use chicane_host::evaluation::run_bundle;
use chicane_host::variation::Seeded;
use chicane_journal::{Head, Journal, NotAJournal};
use chicane_session::jail::program_files::{ProgramError, ProgramFile};
use chicane_session::{BadStep, Step};
use chicane_store::run_file::{self, NotARunFile, Parts};
use chicane_store::{Library, LoadError, StoreError, StoredJournal, Sum};
use chicane_world::{MemoryBundle, Profile};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Name of the journal in a run file.
pub(super) const JOURNAL: &str = "journal";
/// Name of the record in a run file.
const RECORD: &str = "record.json";
/// Maximum size of a decompressed journal, bytes: `MAX_BYTES` for its changes and its steps
/// together, and 9 MiB for its head and the lengths of the parts.
const MAX_JOURNAL: u64 = chicane_journal::MAX_BYTES as u64 + (9 << 20);

/// Why a run can't be simulated again.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The file is not a run file.
    #[error(transparent)]
    File(#[from] NotARunFile),
    /// A part is missing in the file.
    #[error("the file has no {0}")]
    Missing(&'static str),
    /// The journal can't be read.
    #[error(transparent)]
    Journal(#[from] NotAJournal),
    /// The stored journal can't be decompressed.
    #[error("the journal is damaged: {0}")]
    Damaged(std::io::Error),
    /// The steps of the session can't be read.
    #[error(transparent)]
    Steps(#[from] BadStep),
    /// The record can't be read.
    #[error("the record can't be read: {0}")]
    Record(serde_json::Error),
    /// The profile can't be used.
    #[error("the profile of the car can't be used: {0}")]
    Profile(chicane_world::Error),
    /// The world can't be loaded.
    #[error(transparent)]
    World(#[from] LoadError),
    /// The world's configuration is not valid.
    #[error("the world can't be used: {0}")]
    Served(serde_json::Error),
    /// The session has no journal. Holds the reason.
    #[error("this run has no journal: {0}")]
    NoJournal(String),
    /// The files of the world are not stored.
    #[error("the world of this run is not stored, so the run can't be simulated again")]
    NoWorld,
    /// The database can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The record does not identify a program, for example because no program was judged.
    #[error("no program was judged in this run, or an older version drove it")]
    NoProgram,
    /// The folder has another program than the one that was judged.
    #[error(
        "the program in {folder} is not the one of this run: its checksum is {found}, the record has {recorded}"
    )]
    OtherProgram {
        /// The folder.
        folder: String,
        /// Checksum of the program in the folder.
        found: String,
        /// Checksum of the program that was judged.
        recorded: String,
    },
    /// The program can't be read.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A file of the program has a name that is not allowed.
    #[error("the name {0:?} of a file of the program is not allowed")]
    ProgramFile(String),
}

/// The events of a record as raw text, because they are compared byte by byte.
#[derive(Deserialize)]
struct Events {
    events: Vec<Box<RawValue>>,
}

/// A run with everything that is needed to simulate it again.
pub struct RecordedRun {
    /// The journal.
    pub journal: Journal,
    /// SHA-256 of the journal, hex, and its size in bytes.
    pub(super) journal_sum: (String, u64),
    /// The recorded steps of the session, such as a line of the program or the time limit.
    pub(super) steps: Vec<Step>,
    /// The record with its events, JSON.
    pub record: Value,
    /// The events of the record, each as the JSON text that was stored.
    pub(super) events: Vec<String>,
    /// The world.
    pub served: Arc<ServedWorld>,
    /// The car's profile.
    pub profile: Arc<Profile>,
    /// SHA-256 of the world's files, hex.
    pub(super) world_sum: String,
    /// The files of the world.
    pub bundle: Arc<MemoryBundle>,
    /// The files of the student's program; empty if they are not in the file.
    pub program: Vec<ProgramFile>,
}

impl RecordedRun {
    /// Reads a run file.
    pub fn read(bytes: &[u8]) -> Result<RecordedRun, RunError> {
        RecordedRun::of_parts(&run_file::unpack(bytes)?, &[])
    }

    /// Reads a run file whose parts, with their names and lengths, have at most `max` bytes
    /// together after decompression.
    pub fn read_within(bytes: &[u8], max: u64) -> Result<RecordedRun, RunError> {
        RecordedRun::of_parts(&run_file::unpack_within(bytes, max)?, &[])
    }

    /// Reads the parts of a run file. If a run in `known` has the same world and the same car, both
    /// runs share the world and the car's profile in memory.
    pub fn of_parts(parts: &Parts, known: &[&RecordedRun]) -> Result<RecordedRun, RunError> {
        let journal = parts.get(JOURNAL).ok_or(RunError::Missing("journal"))?;
        let record = parts.get(RECORD).ok_or(RunError::Missing("record"))?;
        let Events { events } = serde_json::from_slice(record).map_err(RunError::Record)?;
        let events = events.iter().map(|event| event.get().to_owned()).collect();
        let record = serde_json::from_slice(record).map_err(RunError::Record)?;
        let (world_sum, bundle) = run_bundle::world_of(parts);
        if bundle.files.is_empty() {
            return Err(RunError::Missing("world"));
        }
        let journal_sum = (Sum::of(journal).hex(), journal.len() as u64);
        let journal = Journal::decode(journal)?;
        let steps = Step::read_all(&journal.steps)?;
        let has_same_world = |other: &&&RecordedRun| {
            let (ours, theirs) = (&journal.head, &other.journal.head);
            other.world_sum == world_sum && theirs.world == ours.world && theirs.profile == ours.profile
        };
        let (published, profile, bundle) = match known.iter().find(has_same_world) {
            Some(other) => (other.served.published(), Arc::clone(&other.profile), Arc::clone(&other.bundle)),
            None => load(&journal.head, &world_sum, bundle)?,
        };
        let vary = published.world.evaluation.as_ref().map(|e| e.vary.clone()).unwrap_or_default();
        let seeded = Seeded { seed: journal.head.seed, vary };
        let served = published.varied(&profile, &seeded).map_err(RunError::Served)?;
        let program = program_of(parts)?;
        let run = RecordedRun {
            journal,
            journal_sum,
            steps,
            record,
            events,
            served,
            profile,
            world_sum,
            bundle,
            program,
        };
        Ok(run)
    }

    /// The parts of the file of a run: the record with its events, the journal, and the files of
    /// the world. `journal` and `bundle` are compressed, as the database stores them.
    pub fn parts(
        record: &chicane_wire::Record,
        journal: StoredJournal,
        bundle: Option<Vec<u8>>,
    ) -> Result<Parts, RunError> {
        let problem = record.report.journal.as_ref().and_then(|journal| journal.problem.clone());
        let StoredJournal::Whole(journal) = journal else {
            let why = match (problem, record.outcome) {
                (Some(problem), _) => problem,
                (None, None) => "it is not over yet".to_owned(),
                (None, Some(_)) => "it did not begin, or an older version drove it".to_owned(),
            };
            return Err(RunError::NoJournal(why));
        };
        let mut parts = run_file::unpack(&bundle.ok_or(RunError::NoWorld)?)?;
        let journal = run_file::inflate(&journal, MAX_JOURNAL).map_err(RunError::Damaged)?;
        parts.insert(JOURNAL.to_owned(), journal);
        parts.insert(RECORD.to_owned(), serde_json::to_vec(record).map_err(RunError::Record)?);
        Ok(parts)
    }

    /// A run as it is stored in a data folder. It may share its world with a run of `known`.
    pub fn of_stored(
        record: &chicane_wire::Record,
        journal: StoredJournal,
        bundle: Option<Vec<u8>>,
        known: &[&RecordedRun],
    ) -> Result<RecordedRun, RunError> {
        RecordedRun::of_parts(&RecordedRun::parts(record, journal, bundle)?, known)
    }

    /// Compares the changes that the seed makes in the world with the journal.
    pub(super) fn check_variation(&self) -> Result<(), Difference> {
        let variation = serde_json::to_value(self.served.variation()).unwrap_or_default();
        if variation == self.journal.head.variation {
            return Ok(());
        }
        Err(Difference::at(0, "the seed changes the world in another way than in the journal"))
    }

    /// Id of the session.
    pub fn session(&self) -> &str {
        self.record["session"].as_str().unwrap_or_default()
    }
}

/// A world with its configuration, the profile of the car, and the files of the world.
type LoadedWorld = (Arc<ServedWorld>, Arc<Profile>, Arc<MemoryBundle>);

/// Loads the world and the profile of a run from the files of the world.
fn load(head: &Head, world_sum: &str, bundle: MemoryBundle) -> Result<LoadedWorld, RunError> {
    let profile = serde_json::to_vec(&head.profile).map_err(RunError::Record)?;
    let profile = Profile::from_json("profile", &profile).map_err(RunError::Profile)?;
    let bundle = Arc::new(bundle);
    let library = Library::default().with_bundle(head.world.clone(), Arc::clone(&bundle) as _);
    let world = Arc::new(library.load(&head.world)?);
    let entry = library.entry(&head.world).ok_or(LoadError::NotFound)?;
    let served = ServedWorld::new(entry, world, Some(world_sum.to_owned())).map_err(RunError::Served)?;
    Ok((Arc::new(served), Arc::new(profile), bundle))
}
