//! Where the simulator of a data folder listens, for programs that find the folder in use.
//!
//! The file holds the token, so it is for this user alone, as the folder is. It counts only while the
//! folder is in use by the process that wrote it.

use crate::Token;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

const FILE: &str = "running.json";

/// A simulator that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its process.
    pub pid: u32,
    /// An address that programs on this machine can ask.
    pub address: SocketAddr,
    /// What every request must carry.
    pub token: Option<String>,
}

impl Running {
    /// The simulator that holds a data folder, if it has said where it is.
    pub fn of(data_dir: &Path, pid: u32) -> Option<Running> {
        let bytes = std::fs::read(data_dir.join(FILE)).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|running: &Running| running.pid == pid)
    }
}

/// Says where we are. Where that can't be written, other programs do without.
pub fn write(data_dir: &Path, address: SocketAddr, token: Option<&Token>) {
    let token = token.map(|t| t.secret().to_owned());
    let running = Running { pid: std::process::id(), address, token };
    let written = serde_json::to_vec(&running).map_err(std::io::Error::other).and_then(|bytes| {
        let draft = data_dir.join(format!("{FILE}.new"));
        // Whatever was there may be for others to read.
        let _ = std::fs::remove_file(&draft);
        let mut options = std::fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&draft)?.write_all(&bytes)?;
        std::fs::rename(&draft, data_dir.join(FILE))
    });
    if let Err(error) = written {
        tracing::warn!(%error, "other programs won't find this simulator by its data folder");
    }
}

/// Says that we are gone.
pub fn remove(data_dir: &Path) {
    let _ = std::fs::remove_file(data_dir.join(FILE));
}
