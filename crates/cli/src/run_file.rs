//! Files of runs on disk.

use crate::file_error::FileError;
use chicane_store::run_file::MAX_FILE;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Number of levels below the given folder that are searched for runs.
const MAX_DEPTH: usize = 8;

/// Reads the file of a run.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, FileError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(file)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(io::Error::other("it is larger than 1 GiB, so it is not the file of a run"));
        }
        Ok(bytes)
    };
    read().map_err(FileError::read(file))
}

/// The files of runs at a path: the file itself, or the files `*.chicane` in a folder and in its
/// subfolders down to [`MAX_DEPTH`] levels, sorted.
pub(crate) fn find(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    if std::fs::metadata(path).map_err(FileError::read(path))?.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    collect(path, 0, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), FileError> {
    for entry in std::fs::read_dir(folder).map_err(FileError::read(folder))? {
        let entry = entry.map_err(FileError::read(folder))?;
        // For a symbolic link, `file_type` returns the type of the link itself, so links to files
        // and to folders are skipped.
        let kind = entry.file_type().map_err(FileError::read(folder))?;
        let path = entry.path();
        if kind.is_dir() && depth < MAX_DEPTH {
            collect(&path, depth + 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "chicane") {
            found.push(path);
        }
    }
    Ok(())
}

/// Writes a file completely or not at all. Writes a temporary file in the same folder first, and
/// renames it when it is complete.
pub(crate) fn write(file: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let write = || -> io::Result<()> {
        let mut out = std::fs::File::create(&beside)?;
        out.write_all(bytes)?;
        out.sync_all()?;
        std::fs::rename(&beside, file)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        FileError::write(file)(error)
    })
}
