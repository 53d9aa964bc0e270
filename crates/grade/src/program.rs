//! How a submission is started, and the hash of its files.

use chicane_session::jail::workspace_copy::{MAX_ENTRIES, Workspace, WorkspaceError, WorkspaceLimits};
use chicane_wire::ProgramIdentity;
use std::io::Read;
use std::path::Path;

/// The file in which a student says how to start the program.
pub const RUN_FILE: &str = "run.toml";
/// The program that is started if there is no [`RUN_FILE`] and the teacher gave no command.
pub const MAIN_FILE: &str = "main.py";
/// Largest [`RUN_FILE`], in bytes.
const MAX_RUN_FILE: u64 = 64 << 10;
/// Longest command, in characters.
pub const MAX_COMMAND: usize = 1000;

/// Why a submission can't be started.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// There is nothing to start.
    #[error("no program: the submission has neither {RUN_FILE} nor {MAIN_FILE}")]
    None,
    /// The student's [`RUN_FILE`] can't be used.
    #[error("{RUN_FILE}: {0}")]
    RunFile(String),
    /// The files can't be read.
    #[error(transparent)]
    Files(#[from] WorkspaceError),
}

/// The command that starts the program in a folder: the student's command in [`RUN_FILE`], else the
/// teacher's command, else one that starts [`MAIN_FILE`].
pub fn command(folder: &Path, teachers: Option<&str>) -> Result<String, ProgramError> {
    if is_file(&folder.join(RUN_FILE)) {
        return of_run_file(&folder.join(RUN_FILE));
    }
    if let Some(command) = teachers {
        return Ok(command.to_owned());
    }
    if is_file(&folder.join(MAIN_FILE)) {
        Ok(format!("python3 {MAIN_FILE}"))
    } else {
        Err(ProgramError::None)
    }
}

/// Whether the path is a file and not a link.
pub(crate) fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

fn of_run_file(file: &Path) -> Result<String, ProgramError> {
    let bad = |why: String| ProgramError::RunFile(why);
    let mut text = String::new();
    let read =
        std::fs::File::open(file).and_then(|file| file.take(MAX_RUN_FILE + 1).read_to_string(&mut text));
    read.map_err(|error| bad(format!("it can't be read as text: {error}")))?;
    if text.len() as u64 > MAX_RUN_FILE {
        return Err(bad("it is larger than 64 KiB".to_owned()));
    }
    let document: toml_edit::DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        bad(format!("it is not TOML: {}", one_line(error.message())))
    })?;
    let wanted = "write command = \"python3 main.py\"";
    if let Some((key, _)) = document.iter().find(|(key, _)| *key != "command") {
        return Err(bad(format!("unknown key {key:?}; {wanted}")));
    }
    let command =
        document.get("command").ok_or_else(|| bad(format!("the key command is missing; {wanted}")))?;
    let command = command.as_str().ok_or_else(|| bad(format!("command is not a text; {wanted}")))?;
    let is_bad = command.trim().is_empty()
        || command.chars().count() > MAX_COMMAND
        || command.chars().any(|c| c == '\0' || c == '\n' || c == '\r');
    if is_bad {
        return Err(bad(format!("command must be one line of 1 to {MAX_COMMAND} characters")));
    }
    Ok(command.to_owned())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The hash, the number and the size of the files that are copied into a box.
pub fn identity(folder: &Path) -> Result<ProgramIdentity, ProgramError> {
    let limits = WorkspaceLimits { bytes: u64::MAX, entries: MAX_ENTRIES };
    Ok(Workspace::scan(folder, limits, &[], &[])?.read(None)?)
}
