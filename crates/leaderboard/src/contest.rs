//! The contest: its worlds, its seed, and how runs are started.

use crate::error::StartLeaderboardError;
use crate::run_result::unit_of;
use chicane_store::{Library, create_private};
use chicane_wire::Better;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Largest number of worlds of a contest.
const MAX_WORLDS: usize = 20;

/// Options of a leaderboard.
#[derive(Debug, Clone)]
pub struct LeaderboardOptions {
    /// Names of the worlds. If empty, the contest has only the world that the simulator starts
    /// with.
    pub worlds: Vec<String>,
    /// Seed of all runs.
    pub seed: u64,
    /// Whether the tables show pseudonyms.
    pub anonymous: bool,
    /// Shortest time between two submissions of a student.
    pub interval: Duration,
    /// The program that judges a run.
    pub program: PathBuf,
    /// The first arguments of the program. The arguments for a run come after them.
    pub arguments: Vec<OsString>,
}

impl LeaderboardOptions {
    /// Largest number of submissions that may wait to be judged.
    pub const MAX_WAITING: usize = 500;
    /// Default of [`LeaderboardOptions::interval`].
    pub const INTERVAL: Duration = Duration::from_secs(10);

    /// The default options, with the program that judges a run.
    pub fn new(program: impl Into<PathBuf>) -> LeaderboardOptions {
        LeaderboardOptions {
            worlds: Vec::new(),
            seed: 0,
            anonymous: false,
            interval: LeaderboardOptions::INTERVAL,
            program: program.into(),
            arguments: Vec::new(),
        }
    }
}

/// A world of the contest.
#[derive(Debug, Clone)]
pub(crate) struct ContestWorld {
    pub(crate) name: String,
    pub(crate) display: String,
    pub(crate) better: Better,
    /// The unit of measurement of the records, such as `s`. `None` if the config of the world's
    /// evaluation names no valid unit.
    pub(crate) unit: Option<String>,
    /// SHA-256 of the world's files, hex.
    pub(crate) sha256: String,
    pub(crate) time_limit_s: f64,
    /// A copy of the world's files, so that the world does not change during the contest.
    pub(crate) folder: PathBuf,
}

/// Finds the worlds and copies their files to a folder.
pub(crate) fn prepare(
    names: &[String],
    library: &Library,
    folder: &Path,
) -> Result<Vec<ContestWorld>, StartLeaderboardError> {
    if names.len() > MAX_WORLDS {
        return Err(StartLeaderboardError::TooManyWorlds { max: MAX_WORLDS });
    }
    let _ = std::fs::remove_dir_all(folder);
    let mut worlds: Vec<ContestWorld> = Vec::new();
    for name in names {
        let name = name.strip_suffix(".world").unwrap_or(name);
        if worlds.iter().all(|world| world.name != *name) {
            worlds.push(prepare_one(name, library, &folder.join(worlds.len().to_string()))?);
        }
    }
    Ok(worlds)
}

fn prepare_one(name: &str, library: &Library, folder: &Path) -> Result<ContestWorld, StartLeaderboardError> {
    let unknown = || {
        let known: Vec<String> = library.entries().into_iter().map(|entry| entry.name).collect();
        StartLeaderboardError::NoSuchWorld { name: name.to_owned(), known: known.join(", ") }
    };
    let entry = library.entry(name).ok_or_else(unknown)?;
    let (files, sha256) = library.files(name).zip(library.sha256(name)).ok_or_else(unknown)?;
    let broken = |error| StartLeaderboardError::World { name: name.to_owned(), error };
    let world = library.load(name).map_err(broken)?;
    let evaluation = world
        .evaluation
        .as_ref()
        .ok_or_else(|| StartLeaderboardError::NoEvaluation { name: name.to_owned() })?;
    for (path, bytes) in files {
        let file = folder.join(path);
        let write = |source| StartLeaderboardError::Write { path: file.clone(), source };
        create_private(file.parent().unwrap_or(folder)).map_err(write)?;
        std::fs::write(&file, bytes).map_err(write)?;
    }
    Ok(ContestWorld {
        name: name.to_owned(),
        display: entry.display,
        better: match evaluation.better {
            chicane_world::evaluation::Better::Lower => Better::Lower,
            chicane_world::evaluation::Better::Higher => Better::Higher,
        },
        unit: unit_of(&evaluation.config_json),
        sha256,
        time_limit_s: evaluation.time_limit_s,
        folder: folder.to_owned(),
    })
}
