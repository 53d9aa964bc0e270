//! Files of the workspace. A path is walked name by name from the folder itself, and no link is
//! followed at any of them, so that it leads nowhere else whatever is changed meanwhile.

use super::MAX_FILE;
use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Names in a path.
const MAX_DEPTH: usize = 64;

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PathError {
    #[error(
        "path must be a file of the workspace such as sounds/beep.wav, without / at its start and without .."
    )]
    NoPath,
    #[error("there is no file {0} in the workspace")]
    NoSuchFile(String),
    #[error("{0} is no file that can be played, or leads through a link")]
    NoFile(String),
    #[error("the file is larger than 16 MiB")]
    TooLarge,
    #[error("{0} can't be read: {1}")]
    Unreadable(String, String),
}

/// Reads a file below a folder. Blocks.
pub(super) fn read(workspace: &Path, path: &str) -> Result<Vec<u8>, PathError> {
    let file = File::from(find(workspace, path)?);
    let unreadable = |e: &dyn std::fmt::Display| PathError::Unreadable(path.to_owned(), e.to_string());
    let found = fstat(&file).map_err(|e| unreadable(&e))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(PathError::NoFile(path.to_owned()));
    }
    if usize::try_from(found.st_size).is_ok_and(|size| size > MAX_FILE) {
        return Err(PathError::TooLarge);
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
    if bytes.len() > MAX_FILE { Err(PathError::TooLarge) } else { Ok(bytes) }
}

fn find(workspace: &Path, path: &str) -> Result<OwnedFd, PathError> {
    let names: Vec<&str> = path.split('/').filter(|name| *name != ".").collect();
    let is_bad = |name: &&str| name.is_empty() || *name == ".." || name.contains('\0');
    if names.is_empty() || names.len() > MAX_DEPTH || names.iter().any(is_bad) {
        return Err(PathError::NoPath);
    }
    let explain = |errno: Errno| match errno {
        Errno::NOENT => PathError::NoSuchFile(path.to_owned()),
        // A link, or a file where a folder should be; a pipe or a socket.
        Errno::LOOP | Errno::NOTDIR | Errno::NXIO => PathError::NoFile(path.to_owned()),
        Errno::NAMETOOLONG => PathError::NoPath,
        other => PathError::Unreadable(path.to_owned(), other.to_string()),
    };
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The workspace itself was named by whoever started the simulator, and may be a link.
    let mut at = open(workspace, folder, Mode::empty()).map_err(explain)?;
    let Some((last, folders)) = names.split_last() else { return Err(PathError::NoPath) };
    for name in folders {
        at = openat(&at, *name, folder | OFlags::NOFOLLOW, Mode::empty()).map_err(explain)?;
    }
    // A pipe is opened without waiting for its other end, and refused as what it is.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    openat(&at, *last, flags, Mode::empty()).map_err(explain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, mknodat};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A folder with a workspace in it, gone at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("chicane-workspace-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(path.join("work/sounds/deep")).expect("a folder");
            std::fs::write(path.join("secret"), "secret").expect("a file");
            std::fs::write(path.join("work/beep"), "beep").expect("a file");
            std::fs::write(path.join("work/sounds/deep/horn"), "horn").expect("a file");
            Scratch(path)
        }

        fn read(&self, path: &str) -> Result<Vec<u8>, PathError> {
            read(&self.0.join("work"), path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_below_the_workspace_are_read() {
        let scratch = Scratch::new("read");
        assert_eq!(scratch.read("beep").as_deref(), Ok(&b"beep"[..]));
        assert_eq!(scratch.read("./sounds/./deep/horn").as_deref(), Ok(&b"horn"[..]));
        symlink(scratch.0.join("work"), scratch.0.join("link")).expect("a link");
        assert_eq!(read(&scratch.0.join("link"), "beep").as_deref(), Ok(&b"beep"[..]));
    }

    #[test]
    fn no_path_leads_out_of_it() {
        let scratch = Scratch::new("out");
        let absolute = scratch.0.join("secret").to_string_lossy().into_owned();
        for path in
            ["", ".", "..", "../secret", "sounds/../../secret", "/", &absolute, "beep/", "a//b", "a\0b"]
        {
            assert_eq!(scratch.read(path), Err(PathError::NoPath), "{path:?}");
        }
        assert_eq!(scratch.read(&"a/".repeat(100)), Err(PathError::NoPath));
        let long = "a".repeat(300);
        assert_eq!(scratch.read(&long), Err(PathError::NoPath));
        for path in ["nothing", "sounds/nothing", "nothing/beep"] {
            assert_eq!(scratch.read(path), Err(PathError::NoSuchFile(path.to_owned())), "{path}");
        }
    }

    #[test]
    fn no_link_is_followed_at_any_level() {
        let scratch = Scratch::new("links");
        let work = scratch.0.join("work");
        symlink("../secret", work.join("out")).expect("a link");
        symlink("beep", work.join("in")).expect("a link");
        symlink("..", work.join("up")).expect("a link");
        symlink("sounds", work.join("same")).expect("a link");
        for path in ["out", "in", "up/secret", "same/deep/horn"] {
            assert_eq!(scratch.read(path), Err(PathError::NoFile(path.to_owned())), "{path}");
        }
    }

    #[test]
    fn only_plain_files_of_bounded_size_are_read() {
        let scratch = Scratch::new("plain");
        let work = scratch.0.join("work");
        mknodat(CWD, work.join("pipe"), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        let _socket = std::os::unix::net::UnixListener::bind(work.join("socket")).expect("a socket");
        for path in ["pipe", "socket", "sounds", "beep/more"] {
            assert_eq!(scratch.read(path), Err(PathError::NoFile(path.to_owned())), "{path}");
        }
        let large = File::create(work.join("large")).expect("a file");
        large.set_len(MAX_FILE as u64 + 1).expect("a size");
        assert_eq!(scratch.read("large"), Err(PathError::TooLarge));
        large.set_len(MAX_FILE as u64).expect("a size");
        assert_eq!(scratch.read("large").map(|bytes| bytes.len()), Ok(MAX_FILE));
    }
}
