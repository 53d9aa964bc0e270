//! The file `running.json` in a data folder: address and token of the simulator that uses the
//! folder.
//!
//! The command line reads the file to find the simulator, for example when the data folder is
//! locked by another process. Only the user who started the simulator can read the file, because it
//! contains the token. A killed process may leave its file behind. Such a file is ignored, because
//! its process id differs from the id of the process that holds the lock.

use crate::Token;
use chicane_store::HeldFolder;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

const FILE_NAME: &str = "running.json";

/// A simulator that runs and uses a data folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningSimulator {
    /// Process id of the simulator.
    pub pid: u32,
    /// Address of the simulator's web server, for programs on this machine.
    pub address: SocketAddr,
    /// The teacher's token, which gives access to the simulator. `None` if the simulator requires
    /// no token.
    pub token: Option<String>,
    /// URL of the CDN that the simulator installs worlds from. `None` for its own CDN.
    #[serde(default)]
    pub cdn: Option<String>,
}

impl RunningSimulator {
    /// Reads the file of a data folder. `None` if there is no valid file, or if a process other
    /// than `pid` wrote it.
    pub fn read(data_dir: &Path, pid: u32) -> Option<RunningSimulator> {
        let bytes = std::fs::read(data_dir.join(FILE_NAME)).ok()?;
        let running: RunningSimulator = serde_json::from_slice(&bytes).ok()?;
        (running.pid == pid).then_some(running)
    }

    /// Writes the file for this process. If that fails, the simulator logs a warning and continues,
    /// because only the command line needs the file.
    pub fn write(data_folder: &HeldFolder, address: SocketAddr, token: Option<&Token>, cdn: Option<&str>) {
        let token = token.map(|t| t.secret().to_owned());
        let running =
            RunningSimulator { pid: std::process::id(), address, token, cdn: cdn.map(str::to_owned) };
        if let Err(error) = running.replace_file(data_folder) {
            tracing::warn!(%error, "can't write running.json: commands can't find this simulator by its data folder");
        }
    }

    /// Removes the file. The simulator calls this function before it unlocks the data folder.
    pub fn remove(data_folder: &HeldFolder) {
        let _ = std::fs::remove_file(data_folder.join(FILE_NAME));
    }

    fn replace_file(&self, data_folder: &HeldFolder) -> std::io::Result<()> {
        let bytes = serde_json::to_vec(self)?;
        let draft = data_folder.join(&format!("{FILE_NAME}.new"));
        // A draft of an earlier process is removed first, because its permissions could let other
        // users read the token.
        let _ = std::fs::remove_file(&draft);
        let mut options = std::fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&draft)?.write_all(&bytes)?;
        std::fs::rename(&draft, data_folder.join(FILE_NAME))
    }
}
