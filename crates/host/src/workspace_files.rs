//! Reads files of the workspace (the folder of `--workspace`) for the page's editor, and sound
//! files. Every client may name sound files of the workspace. A client that counts as a program of
//! the simulator's own user may name any file that this user may read.
//!
//! A path in the workspace is opened name by name: each name is opened relative to the folder
//! before it, and links are never followed. Therefore a path can't leave the workspace, even if
//! files are changed meanwhile.

use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Maximum size of a file that this module reads, bytes. Sound files from the web and in requests
/// have the same limit.
pub const MAX_FILE_BYTES: usize = 16 << 20;
/// Maximum number of names in a path.
const MAX_NAMES: usize = 64;

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path is empty, absolute or too long, or contains `..`, an empty name or a null
    /// character.
    #[error("path must be relative to the workspace, such as sounds/beep.wav, and must not contain ..")]
    InvalidPath,
    /// There is no such file.
    #[error("there is no file {0} in the workspace")]
    NoSuchFile(String),
    /// There is no file with this absolute path.
    #[error("there is no file {0}")]
    Missing(String),
    /// The path does not lead to a regular file, or contains a link.
    #[error("{0} is not a regular file, or its path contains a link")]
    NotAFile(String),
    /// The file is larger than [`MAX_FILE_BYTES`].
    #[error("the file is larger than 16 MiB")]
    TooLarge,
    /// The kernel refused to read the file. Holds the path and the kernel's error.
    #[error("{0} can't be read: {1}")]
    Unreadable(String, String),
}

/// Reads a file of the workspace. The path may be absolute if it is below the workspace. Blocks the
/// calling thread.
pub fn read(workspace: &Path, path: &str) -> Result<Vec<u8>, PathError> {
    let below = Path::new(path).strip_prefix(workspace).ok().and_then(Path::to_str);
    read_opened(File::from(find(workspace, below.unwrap_or(path))?), path)
}

/// Reads a file. A relative path names a file of the workspace. An absolute path may name any
/// regular file that the account of the simulator may read. Blocks the calling thread.
pub fn read_any(workspace: &Path, path: &str) -> Result<Vec<u8>, PathError> {
    if !path.starts_with('/') {
        return read(workspace, path);
    }
    if path.contains('\0') {
        return Err(PathError::InvalidPath);
    }
    let explain = |errno: Errno| match errno {
        Errno::NOENT => PathError::Missing(path.to_owned()),
        Errno::LOOP | Errno::NOTDIR | Errno::NXIO => PathError::NotAFile(path.to_owned()),
        other => PathError::Unreadable(path.to_owned(), other.to_string()),
    };
    // The type is checked before the file is opened, because opening a device can have an effect.
    let found = rustix::fs::stat(path).map_err(explain)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(PathError::NotAFile(path.to_owned()));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    read_opened(File::from(open(path, flags, Mode::empty()).map_err(explain)?), path)
}

fn read_opened(file: File, path: &str) -> Result<Vec<u8>, PathError> {
    let unreadable = |e: &dyn std::fmt::Display| PathError::Unreadable(path.to_owned(), e.to_string());
    let found = fstat(&file).map_err(|e| unreadable(&e))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(PathError::NotAFile(path.to_owned()));
    }
    if usize::try_from(found.st_size).is_ok_and(|size| size > MAX_FILE_BYTES) {
        return Err(PathError::TooLarge);
    }
    let mut bytes = Vec::new();
    // The read is limited, because the file may have grown since its size was checked.
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
    if bytes.len() > MAX_FILE_BYTES { Err(PathError::TooLarge) } else { Ok(bytes) }
}

fn find(workspace: &Path, path: &str) -> Result<OwnedFd, PathError> {
    let names: Vec<&str> = path.split('/').filter(|name| *name != ".").collect();
    let is_bad = |name: &&str| name.is_empty() || *name == ".." || name.contains('\0');
    if names.is_empty() || names.len() > MAX_NAMES || names.iter().any(is_bad) {
        return Err(PathError::InvalidPath);
    }
    let explain = |errno: Errno| match errno {
        Errno::NOENT => PathError::NoSuchFile(path.to_owned()),
        // The path contains a link, or a file in place of a folder, or leads to a socket.
        Errno::LOOP | Errno::NOTDIR | Errno::NXIO => PathError::NotAFile(path.to_owned()),
        Errno::NAMETOOLONG => PathError::InvalidPath,
        other => PathError::Unreadable(path.to_owned(), other.to_string()),
    };
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The workspace itself may be a link, because the operator chose it with `--workspace`.
    let mut current = open(workspace, folder, Mode::empty()).map_err(explain)?;
    let Some((last, folders)) = names.split_last() else { return Err(PathError::InvalidPath) };
    for name in folders {
        current = openat(&current, *name, folder | OFlags::NOFOLLOW, Mode::empty()).map_err(explain)?;
    }
    // `NONBLOCK` is set, because opening a pipe would otherwise wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    openat(&current, *last, flags, Mode::empty()).map_err(explain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, mknodat};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A temporary folder that contains a workspace. The folder is removed on drop.
    struct TestWorkspace(PathBuf);

    impl TestWorkspace {
        fn new(name: &str) -> TestWorkspace {
            let path = std::env::temp_dir().join(format!("chicane-workspace-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(path.join("work/sounds/deep")).expect("a folder");
            std::fs::write(path.join("secret"), "secret").expect("a file");
            std::fs::write(path.join("work/beep"), "beep").expect("a file");
            std::fs::write(path.join("work/sounds/deep/horn"), "horn").expect("a file");
            TestWorkspace(path)
        }

        fn read(&self, path: &str) -> Result<Vec<u8>, PathError> {
            read(&self.0.join("work"), path)
        }
    }

    impl Drop for TestWorkspace {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_below_the_workspace_are_read() {
        let scratch = TestWorkspace::new("read");
        assert_eq!(scratch.read("beep").as_deref(), Ok(&b"beep"[..]));
        assert_eq!(scratch.read("./sounds/./deep/horn").as_deref(), Ok(&b"horn"[..]));
        symlink(scratch.0.join("work"), scratch.0.join("link")).expect("a link");
        assert_eq!(read(&scratch.0.join("link"), "beep").as_deref(), Ok(&b"beep"[..]));
    }

    #[test]
    fn paths_out_of_the_workspace_are_refused() {
        let scratch = TestWorkspace::new("out");
        let absolute = scratch.0.join("secret").to_string_lossy().into_owned();
        for path in
            ["", ".", "..", "../secret", "sounds/../../secret", "/", &absolute, "beep/", "a//b", "a\0b"]
        {
            assert_eq!(scratch.read(path), Err(PathError::InvalidPath), "{path:?}");
        }
        assert_eq!(scratch.read(&"a/".repeat(100)), Err(PathError::InvalidPath));
        let long = "a".repeat(300);
        assert_eq!(scratch.read(&long), Err(PathError::InvalidPath));
        for path in ["nothing", "sounds/nothing", "nothing/beep"] {
            assert_eq!(scratch.read(path), Err(PathError::NoSuchFile(path.to_owned())), "{path}");
        }
    }

    #[test]
    fn absolute_paths_are_read_below_the_workspace_or_on_request() {
        let scratch = TestWorkspace::new("absolute");
        let work = scratch.0.join("work");
        let text = |path: &str| scratch.0.join(path).to_string_lossy().into_owned();
        assert_eq!(read(&work, &text("work/sounds/deep/horn")).as_deref(), Ok(&b"horn"[..]));
        assert_eq!(read(&work, &text("work/../secret")), Err(PathError::InvalidPath));
        assert_eq!(read(&work, &text("secret")), Err(PathError::InvalidPath));
        assert_eq!(read_any(&work, &text("secret")).as_deref(), Ok(&b"secret"[..]));
        assert_eq!(read_any(&work, "beep").as_deref(), Ok(&b"beep"[..]));
        assert_eq!(read_any(&work, "../secret"), Err(PathError::InvalidPath));
        assert_eq!(read_any(&work, &text("nothing")), Err(PathError::Missing(text("nothing"))));
        for other in ["/dev/zero".to_owned(), text("work")] {
            assert_eq!(read_any(&work, &other), Err(PathError::NotAFile(other.clone())), "{other}");
        }
    }

    #[test]
    fn links_are_not_followed_at_any_level() {
        let scratch = TestWorkspace::new("links");
        let work = scratch.0.join("work");
        symlink("../secret", work.join("out")).expect("a link");
        symlink("beep", work.join("in")).expect("a link");
        symlink("..", work.join("up")).expect("a link");
        symlink("sounds", work.join("same")).expect("a link");
        for path in ["out", "in", "up/secret", "same/deep/horn"] {
            assert_eq!(scratch.read(path), Err(PathError::NotAFile(path.to_owned())), "{path}");
        }
    }

    #[test]
    fn only_regular_files_up_to_the_size_limit_are_read() {
        let scratch = TestWorkspace::new("plain");
        let work = scratch.0.join("work");
        mknodat(CWD, work.join("pipe"), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        let _socket = std::os::unix::net::UnixListener::bind(work.join("socket")).expect("a socket");
        for path in ["pipe", "socket", "sounds", "beep/more"] {
            assert_eq!(scratch.read(path), Err(PathError::NotAFile(path.to_owned())), "{path}");
        }
        let large = File::create(work.join("large")).expect("a file");
        large.set_len(MAX_FILE_BYTES as u64 + 1).expect("a size");
        assert_eq!(scratch.read("large"), Err(PathError::TooLarge));
        large.set_len(MAX_FILE_BYTES as u64).expect("a size");
        assert_eq!(scratch.read("large").map(|bytes| bytes.len()), Ok(MAX_FILE_BYTES));
    }
}
