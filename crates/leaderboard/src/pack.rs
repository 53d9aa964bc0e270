//! Packs the folder of a student as a zip file, for `chicane submit`.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Folders that are left out of an archive, because they are not part of a program.
const LEFT_OUT: [&str; 12] = [
    ".git",
    ".hg",
    ".svn",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "node_modules",
    ".idea",
];
/// Files that are left out of an archive, because they are not part of a program.
const LEFT_OUT_FILES: [&str; 3] = [".DS_Store", "Thumbs.db", "desktop.ini"];
/// Largest number of files in an archive.
const MAX_FILES: usize = 10_000;
/// Largest depth of nested folders in an archive. Deeper folders are left out.
const MAX_DEPTH: usize = 32;

/// Why a folder can't be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A file or folder can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A name is not text.
    #[error("the name of {} is not UTF-8 text", .0.display())]
    Name(PathBuf),
    /// There are too many files.
    #[error("the folder has more than {MAX_FILES} files; hand in the program only")]
    TooMany,
    /// The files are too large.
    #[error("the packed folder is larger than {} MiB; hand in the program only", .0 >> 20)]
    TooLarge(usize),
    /// There is no file.
    #[error("{} has no files", .0.display())]
    Empty(PathBuf),
    /// The archive can't be written.
    #[error("the zip file can't be made: {0}")]
    Zip(#[from] zip::result::ZipError),
}

/// Packs a folder. The archive is not larger than `max` bytes.
pub fn folder(folder: &Path, max: usize) -> Result<Vec<u8>, PackError> {
    let mut files = Vec::new();
    find(folder, "", 0, &mut files)?;
    if files.is_empty() {
        return Err(PackError::Empty(folder.to_owned()));
    }
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, name) in files {
        add(&mut archive, &path, &name)?;
        if archive.get_ref().is_some_and(|bytes| bytes.get_ref().len() > max) {
            return Err(PackError::TooLarge(max));
        }
    }
    let bytes = archive.finish()?.into_inner();
    if bytes.len() > max { Err(PackError::TooLarge(max)) } else { Ok(bytes) }
}

/// Finds the files to pack below a folder. The entries of each folder are sorted by name.
fn find(
    folder: &Path,
    name: &str,
    depth: usize,
    files: &mut Vec<(PathBuf, String)>,
) -> Result<(), PackError> {
    let read = |source| PackError::Read { path: folder.to_owned(), source };
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).map_err(read)?.collect::<Result<_, _>>().map_err(read)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let Ok(own) = entry.file_name().into_string() else { return Err(PackError::Name(path)) };
        let kind = entry.file_type().map_err(read)?;
        let whole = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
        if kind.is_dir() {
            // A virtual environment can have any name, so it is recognised by its file
            // `pyvenv.cfg`.
            let left_out = LEFT_OUT.contains(&own.as_str()) || path.join("pyvenv.cfg").is_file();
            if !left_out && depth < MAX_DEPTH {
                find(&path, &whole, depth + 1, files)?;
            }
        } else if !LEFT_OUT_FILES.contains(&own.as_str()) && !own.ends_with(".pyc") {
            files.push((path, whole));
        }
        if files.len() > MAX_FILES {
            return Err(PackError::TooMany);
        }
    }
    Ok(())
}

fn add(archive: &mut ZipWriter<Cursor<Vec<u8>>>, path: &Path, name: &str) -> Result<(), PackError> {
    use std::os::unix::fs::PermissionsExt;
    let read = |source| PackError::Read { path: path.to_owned(), source };
    let found = std::fs::symlink_metadata(path).map_err(read)?;
    if found.is_symlink() {
        let target = std::fs::read_link(path).map_err(read)?;
        let target = target.to_str().ok_or_else(|| PackError::Name(path.to_owned()))?;
        return Ok(archive.add_symlink(name, target, SimpleFileOptions::default())?);
    }
    // Reading a pipe or a device could block, so only regular files are packed.
    if !found.is_file() {
        return Ok(());
    }
    let mode = if found.permissions().mode() & 0o100 == 0 { 0o644 } else { 0o755 };
    archive.start_file(name, SimpleFileOptions::default().unix_permissions(mode))?;
    let bytes = std::fs::read(path).map_err(read)?;
    archive.write_all(&bytes).map_err(zip::result::ZipError::Io)?;
    Ok(())
}
