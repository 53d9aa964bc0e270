//! The data folder: locked by this command, or in use by a simulator.

use super::WorldsError;
use crate::args::DataDirArgs;
use crate::{colour, data_dir, runtime};
use chicane_remote::{RunningSimulator, call_simulator};
use chicane_store::{Data, OpenError};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A simulator that is starting or ending holds the lock although its address is not in the data
/// folder. The command waits at most this long until the address appears or the lock is free.
const ADDRESS_TIMEOUT: Duration = Duration::from_secs(3);
/// Time between two attempts to open the data folder.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// An opened data folder.
pub(super) enum DataFolder {
    /// This command holds the lock until the value is dropped.
    Locked(Box<Data>),
    /// A simulator holds the lock.
    InUse(RunningSimulator),
    /// The folder does not exist, or has no database. Neither is created.
    Unused(PathBuf),
}

impl DataFolder {
    /// Opens the data folder if it has a database. Creates neither the folder nor a database.
    pub(super) fn open_existing(args: &DataDirArgs) -> Result<DataFolder, WorldsError> {
        let dir = data_dir::resolve_absolute(args.data_dir.as_deref())?;
        // An error of the file system, such as a missing permission, is reported by `open`.
        if matches!(chicane_store::has_database(&dir), Ok(false)) {
            return Ok(DataFolder::Unused(dir));
        }
        DataFolder::open(args)
    }

    /// Locks the data folder, or finds the simulator that uses it. The folder is created if
    /// necessary.
    pub(super) fn open(args: &DataDirArgs) -> Result<DataFolder, WorldsError> {
        let dir = data_dir::resolve_absolute(args.data_dir.as_deref())?;
        let deadline = Instant::now() + ADDRESS_TIMEOUT;
        loop {
            let refused = match Data::open(&dir) {
                Ok(data) => {
                    // This command has no log, so it prints the notes about a salvaged database as
                    // warnings.
                    data.salvaged().into_iter().for_each(colour::warn);
                    return Ok(DataFolder::Locked(Box::new(data)));
                }
                Err(OpenError::InUse { dir, pid }) => OpenError::InUse { dir, pid },
                Err(e) => return Err(e.into()),
            };
            if let OpenError::InUse { pid: Some(pid), .. } = &refused
                && let Some(running) = RunningSimulator::read(&dir, *pid)
            {
                return Ok(DataFolder::InUse(running));
            }
            if Instant::now() > deadline {
                return Err(refused.into());
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
    }
}

/// Sends a request to a simulator and returns the body of its response.
pub(super) async fn request(
    running: &RunningSimulator,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Result<Value, WorldsError> {
    Ok(call_simulator(running, method, path, body).await?)
}

/// Sends a request without a body to a simulator and blocks until the response arrives.
pub(super) fn request_blocking(
    running: &RunningSimulator,
    method: &str,
    path: &str,
) -> Result<Value, WorldsError> {
    runtime::start()?.block_on(request(running, method, path, None))
}
