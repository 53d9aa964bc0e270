//! Unpacks the submission of a student into a folder with a program.

use crate::archive::{self, ArchiveError, SUBMISSION};
use crate::copy::{self, CopyError};
use crate::program::{self, MAIN_FILE, RUN_FILE};
use crate::submissions::{Submission, is_junk};
use std::path::{Path, PathBuf};

/// Maximum number of nested wrappers, such as a folder in a zip file, that are removed around a
/// program.
const MAX_WRAPPERS: usize = 4;

/// Why a submission can't be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// An archive is refused.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A folder is refused.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The file is an archive, but not a zip file.
    #[error("{0} is not a zip file: upload a zip file")]
    Kind(String),
    /// There are several uploads, and one of them is a zip file.
    #[error(
        "there are several uploads, and one of them is the zip file {0}: upload everything in one zip file"
    )]
    Mixed(String),
    /// The submission has no file.
    #[error("the submission is empty")]
    Empty,
    /// A file can't be written.
    #[error("can't write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Unpacks a submission to the folder `to`, which must not exist. `scratch` is a temporary folder
/// that must not exist either.
pub fn unpack(submission: &Submission, to: &Path, scratch: &Path) -> Result<(), UnpackError> {
    let unpacked = unpack_into(submission, to, scratch);
    let _ = std::fs::remove_dir_all(scratch);
    if unpacked.is_err() {
        let _ = std::fs::remove_dir_all(to);
    }
    unpacked
}

fn unpack_into(submission: &Submission, to: &Path, scratch: &Path) -> Result<(), UnpackError> {
    let write = |path: &Path| {
        let path = path.to_owned();
        move |source| UnpackError::Write { path: path.clone(), source }
    };
    std::fs::create_dir(scratch).map_err(write(scratch))?;
    let mut folder = scratch.join("0");
    match &submission.parts[..] {
        [(path, _)] if path.is_dir() => copy::folder(path, &folder, SUBMISSION)?,
        [(path, name)] => one_file(path, name, &folder)?,
        parts => several(parts, &folder)?,
    }
    for round in 1..=MAX_WRAPPERS {
        match wrapper(&folder) {
            Wrapper::None => break,
            Wrapper::Folder(inner) => folder = inner,
            Wrapper::Archive(file) => {
                folder = scratch.join(round.to_string());
                archive::unpack(&file, &folder, SUBMISSION)?;
            }
        }
    }
    if entries(&folder).is_empty() {
        return Err(UnpackError::Empty);
    }
    remove_environments(&folder).map_err(write(&folder))?;
    // The program may be in a subfolder of the archive. A link that stays inside the archive can
    // still lead out of that subfolder.
    copy::check_links(&folder)?;
    std::fs::rename(&folder, to).map_err(write(to))
}

/// Unpacks a single uploaded zip file into a new folder. A single file of another kind is put into
/// the new folder.
fn one_file(path: &Path, name: &str, folder: &Path) -> Result<(), UnpackError> {
    if is_zip(name) || is_zip(&path.to_string_lossy()) {
        return Ok(archive::unpack(path, folder, SUBMISSION)?);
    }
    several(&[(path.to_owned(), name.to_owned())], folder)
}

/// Puts several uploads into a new folder.
fn several(parts: &[(PathBuf, String)], folder: &Path) -> Result<(), UnpackError> {
    std::fs::create_dir(folder).map_err(|source| UnpackError::Write { path: folder.to_owned(), source })?;
    for (path, name) in parts {
        let name = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or("upload");
        if parts.len() > 1 && is_zip(name) {
            return Err(UnpackError::Mixed(name.to_owned()));
        }
        if is_other_archive(name) {
            return Err(UnpackError::Kind(name.to_owned()));
        }
        if path.is_dir() {
            copy::folder(path, &folder.join(name), SUBMISSION)?;
        } else {
            copy::file(path, &folder.join(name), SUBMISSION)?;
        }
    }
    Ok(())
}

fn is_zip(name: &str) -> bool {
    name.to_lowercase().ends_with(".zip")
}

fn is_other_archive(name: &str) -> bool {
    let name = name.to_lowercase();
    [".rar", ".7z", ".tar", ".gz", ".tgz", ".xz", ".bz2"].iter().any(|end| name.ends_with(end))
}

/// Removes Python virtual environments below a folder. A box shows an environment without copying
/// it, so the program's hash would not cover it: after a change of the environment, the student
/// would keep the old grade.
fn remove_environments(folder: &Path) -> std::io::Result<()> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in std::fs::read_dir(&at)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let path = entry.path();
            if std::fs::symlink_metadata(path.join("pyvenv.cfg")).is_ok() {
                std::fs::remove_dir_all(&path)?;
            } else {
                waiting.push(path);
            }
        }
    }
    Ok(())
}

/// The only entry of a folder that is a wrapper, or `None` if the folder is no wrapper. The
/// function `wrapper` says when a folder is a wrapper.
enum Wrapper {
    None,
    Folder(PathBuf),
    Archive(PathBuf),
}

/// Returns the only entry of a folder that is a wrapper. A folder is a wrapper if it has no program
/// and its only entry is a folder or a zip archive.
fn wrapper(folder: &Path) -> Wrapper {
    if [RUN_FILE, MAIN_FILE].iter().any(|file| program::is_file(&folder.join(file))) {
        return Wrapper::None;
    }
    let entries = entries(folder);
    let [only] = &entries[..] else { return Wrapper::None };
    match std::fs::symlink_metadata(only) {
        Ok(found) if found.is_dir() => Wrapper::Folder(only.clone()),
        Ok(found) if found.is_file() && is_zip(&only.to_string_lossy()) => Wrapper::Archive(only.clone()),
        _ => Wrapper::None,
    }
}

/// The entries of a folder, without the files and folders that operating systems add.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_none_or(|name| !is_junk(name)))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_folder_that_looked_like_a_virtual_environment_kept_its_old_grade() {
        let scratch = std::env::temp_dir().join(format!("chicane-unpack-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&scratch);
        let handed_in = scratch.join("in");
        std::fs::create_dir_all(handed_in.join("lib")).expect("folders");
        std::fs::write(handed_in.join("main.py"), "import lib.drive").expect("written");
        std::fs::write(handed_in.join("lib/pyvenv.cfg"), "").expect("written");
        std::fs::write(handed_in.join("lib/drive.py"), "").expect("written");
        let submission = Submission { parts: vec![(handed_in, "in".to_owned())], ..Submission::default() };
        let to = scratch.join("out");
        unpack(&submission, &to, &scratch.join("work")).expect("unpacked");
        assert!(to.join("main.py").is_file() && !to.join("lib").exists());
        std::fs::remove_dir_all(&scratch).expect("removed");
    }
}
