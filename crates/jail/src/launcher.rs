//! The program `chicane`, which the simulator starts again for every jail.
//!
//! The simulator opens the program once and starts it through the descriptor. Otherwise a file that
//! later takes the place of the program would run outside of a jail.

use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The link to the program of this process. It leads to the program even if its file was removed.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The program `chicane`, open for starts. Clones share the descriptor.
#[derive(Debug, Clone)]
pub struct Launcher {
    program: Arc<OwnedFd>,
    path: PathBuf,
}

impl Launcher {
    /// The program of this process.
    pub fn own() -> io::Result<Launcher> {
        let path = std::fs::read_link(OWN_PROGRAM)?;
        Ok(Launcher { path, ..Launcher::open(Path::new(OWN_PROGRAM))? })
    }

    /// The program at a path.
    pub fn open(path: &Path) -> io::Result<Launcher> {
        // A path descriptor is enough to start a program, and needs no right to read its file.
        let program = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Launcher { program: Arc::new(program), path: path.to_owned() })
    }

    /// The path at which the program was opened, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command that starts the program. The command is valid while a clone of this value exists.
    pub fn command(&self) -> Command {
        // The new process still has the descriptor when the kernel resolves this path. The kernel
        // closes the descriptor afterwards.
        let mut command = Command::new(format!("/proc/self/fd/{}", self.program.as_raw_fd()));
        command.arg0(&self.path);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_is_not_started() {
        let folder = std::env::temp_dir().join(format!("chicane-launcher-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        let program = folder.join("program");
        std::fs::copy("/bin/true", &program).expect("copied");
        let launcher = Launcher::open(&program).expect("opens");
        let succeeds = || launcher.command().status().expect("started").success();
        assert!(succeeds());
        std::fs::remove_file(&program).expect("removed");
        assert!(succeeds(), "the removed program");
        std::fs::copy("/bin/false", &program).expect("replaced");
        assert!(succeeds(), "the replaced program");
        std::fs::rename(&folder, folder.with_extension("away")).expect("renamed");
        assert!(succeeds(), "the renamed folder");
        std::fs::remove_dir_all(folder.with_extension("away")).expect("removed");
    }
}
