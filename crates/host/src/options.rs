//! The options of a host, and the errors of its start.

use crate::evaluation::JudgeOptions;
use crate::gate::StudentGate;
use chicane_store::{Library, OpenError, StoreError};
use chicane_wire::ProgramVersion;
use chicane_world::Profile;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// How a simulator is started. The options of the web server are not included.
pub struct HostOptions {
    /// Folder of settings, records and installed worlds.
    pub data_dir: PathBuf,
    /// Name of the first world; the last used world, or else the default world, if `None`.
    pub world: Option<String>,
    /// Profile of the car.
    pub profile: Profile,
    /// Requested real-time factor; 0 is as fast as possible.
    pub speed: f64,
    /// Whether time is paused before and after a session, unless a client lets time continue.
    pub only_sessions: bool,
    /// Folder that student programs run in.
    pub workspace: PathBuf,
    /// The worlds that are not installed: the built-in worlds, and worlds that the caller added.
    /// The host adds the installed worlds of the data folder.
    pub library: Library,
    /// How judging scripts and student programs are run.
    pub judge: JudgeOptions,
    /// The version of the program, for the records.
    pub version: ProgramVersion,
}

impl Default for HostOptions {
    /// The built-in worlds and car, in real time, with data and programs in the current folder.
    fn default() -> HostOptions {
        HostOptions {
            data_dir: PathBuf::from("."),
            world: None,
            profile: Profile::gen1(),
            speed: 1.0,
            only_sessions: false,
            workspace: PathBuf::from("."),
            library: Library::built_in(),
            judge: JudgeOptions::default(),
            version: ProgramVersion { version: env!("CARGO_PKG_VERSION").to_owned(), commit: None },
        }
    }
}

/// How student programs reach the simulator.
#[derive(Clone, Default)]
pub struct StudentAccess {
    /// Environment variables of a student's program, such as `CHICANE_URL`.
    pub environment: BTreeMap<String, String>,
    /// Whether the simulator accepts connections from this machine only.
    pub loopback_only: bool,
    /// Port of the web server; `None` without one.
    pub port: Option<u16>,
    /// Serves the requests of student programs; `None` without a web server.
    pub gate: Option<Arc<dyn StudentGate>>,
}

/// Why a host did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartHostError {
    /// The data folder can't be used.
    #[error(transparent)]
    Data(#[from] OpenError),
    /// The database can't be read, or the sessions of a killed simulator can't be closed in it.
    #[error("the settings can't be read: {0}")]
    Settings(#[from] StoreError),
    /// No world has this name.
    #[error("Unknown world \"{name}\". Give one of: {known}")]
    NoSuchWorld {
        /// The requested name.
        name: String,
        /// Names of all worlds, separated by commas.
        known: String,
    },
    /// The sim thread could not be started.
    #[error("can't start the sim thread: {0}")]
    Thread(std::io::Error),
}
