//! Reads the files of a student's program into memory, so that they can be stored with a run.

use crate::workspace_copy::{
    MAX_ENTRIES, Workspace, WorkspaceError, WorkspaceLimits, hash_head, mib, transfer,
};
use crate::workspace_stream::{CopyError, Frames};
use chicane_wire::ProgramIdentity;
use ring::digest::{Context, SHA256};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Maximum size of a program that is stored with a run, bytes.
pub const MAX_BYTES: u64 = 64 << 20;

/// Why the files of a program can't be stored with a run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The workspace can't be read.
    #[error(transparent)]
    Workspace(WorkspaceError),
    /// The files are too large.
    #[error(
        "the program in {folder} has {} MiB of files, and a run file holds at most {} MiB of them: save the \
         run without the program", mib(*.bytes), mib(MAX_BYTES)
    )]
    TooLarge {
        /// The workspace.
        folder: String,
        /// Bytes of all files and links, each rounded up to whole pages.
        bytes: u64,
    },
    /// The workspace changed while it was read, or a file of it can't be read.
    #[error("the program in {folder} can't be read: {source}")]
    Read {
        /// The workspace.
        folder: String,
        /// The cause.
        source: io::Error,
    },
    /// The name of a file is not UTF-8.
    #[error("the name of the file {0} is not UTF-8, so the program can't be stored with the run")]
    Name(String),
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A file that is not executable.
    Plain,
    /// An executable file.
    Executable,
    /// A symbolic link. Its content is the target.
    Link,
}

impl FileKind {
    /// All kinds.
    pub const ALL: [FileKind; 3] = [FileKind::Plain, FileKind::Executable, FileKind::Link];

    /// The letter of this kind in streams and identities.
    pub fn letter(self) -> u8 {
        match self {
            FileKind::Plain => b'f',
            FileKind::Executable => b'x',
            FileKind::Link => b'l',
        }
    }
}

/// A file of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Path relative to the workspace.
    pub path: String,
    /// The kind.
    pub kind: FileKind,
    /// The content.
    pub content: Vec<u8>,
}

/// Reads the files of a workspace, and computes their identity. A record has the same identity for
/// this workspace, unless folders of the workspace were hidden or mounted by `--student-path`.
pub fn read(folder: &Path) -> Result<(ProgramIdentity, Vec<ProgramFile>), ProgramError> {
    let limits = WorkspaceLimits { bytes: MAX_BYTES, entries: MAX_ENTRIES };
    let shown = || folder.display().to_string();
    // The error of `scan` is replaced, because it proposes a larger box. Here the limit is that of
    // a run file.
    let workspace = Workspace::scan(folder, limits, &[], &[]).map_err(|error| match error {
        WorkspaceError::TooLarge { bytes, .. } => ProgramError::TooLarge { folder: shown(), bytes },
        other => ProgramError::Workspace(other),
    })?;
    let failed = |source| ProgramError::Read { folder: shown(), source };
    let (identity, files) = transfer(&workspace, collect).map_err(failed)?;
    let utf8 = |(path, kind, content): ReceivedFile| {
        let named = |bad: std::string::FromUtf8Error| {
            ProgramError::Name(String::from_utf8_lossy(bad.as_bytes()).into_owned())
        };
        Ok(ProgramFile { path: String::from_utf8(path).map_err(named)?, kind, content })
    };
    Ok((identity, files.into_iter().map(utf8).collect::<Result<_, ProgramError>>()?))
}

/// The identity of files, as [`read`] gives it for a workspace with these files.
pub fn identity(files: &[ProgramFile]) -> ProgramIdentity {
    let mut sorted: Vec<&ProgramFile> = files.iter().collect();
    // The order is that of `Workspace::read`, which reads folder by folder. A comparison of whole
    // paths would put `a.py` before `a/b`.
    sorted.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
    let mut hash = Context::new(&SHA256);
    for file in &sorted {
        hash_head(&mut hash, file.kind.letter(), file.path.as_bytes(), file.content.len() as u64);
        hash.update(&file.content);
    }
    let sha256 = hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let sized = sorted.iter().filter(|file| file.kind != FileKind::Link);
    let bytes = sized.map(|file| file.content.len() as u64).sum();
    ProgramIdentity { sha256, files: sorted.len() as u64, bytes }
}

/// Path, kind and content of a file.
type ReceivedFile = (Vec<u8>, FileKind, Vec<u8>);

/// Receives the files of a stream.
fn collect(control: impl AsFd) -> Result<Vec<ReceivedFile>, CopyError> {
    let mut stream = Frames::new(control);
    let mut files = Vec::new();
    while let Some(letter) = stream.kind()? {
        let length = stream.number()?;
        let path = stream.text(length)?;
        let Some(kind) = FileKind::ALL.into_iter().find(|kind| kind.letter() == letter) else {
            // A folder is left out, because it has no content and its path is part of the paths of
            // its files.
            continue;
        };
        let mut left = stream.number()?;
        if kind != FileKind::Link {
            // The time of the last change is dropped, because it is not part of the identity.
            stream.number()?;
        }
        let mut content = Vec::new();
        while left > 0 {
            let piece = stream.piece(left)?;
            left -= piece.len() as u64;
            content.extend_from_slice(piece);
        }
        files.push((path, kind, content));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Regression test: the error proposed an option that changes the limit of a box.
    #[test]
    fn a_program_too_large_for_a_run_file_asked_for_a_larger_box() {
        let folder = std::env::temp_dir().join(format!("chicane-large-program-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = std::fs::File::create(folder.join("big")).expect("a file");
        file.set_len(MAX_BYTES + 1).expect("a sparse file");
        let error = read(&folder).expect_err("too large").to_string();
        std::fs::remove_dir_all(&folder).expect("removed");
        assert!(error.contains("has 65 MiB of files, and a run file holds at most 64 MiB"), "{error}");
        assert!(!error.contains("--student-files"), "{error}");
    }

    #[test]
    fn files_in_memory_have_the_identity_of_their_workspace() {
        let folder = std::env::temp_dir().join(format!("chicane-program-files-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("a/b")).expect("a folder");
        std::fs::write(folder.join("a.py"), "print(1)\n").expect("a file");
        std::fs::write(folder.join("a/b/data.bin"), vec![7; 700_000]).expect("a file");
        std::fs::write(folder.join("a/zero"), "").expect("a file");
        std::fs::write(folder.join("run.sh"), "#!/bin/sh\n").expect("a file");
        std::fs::set_permissions(folder.join("run.sh"), std::fs::Permissions::from_mode(0o755))
            .expect("executable");
        symlink("a.py", folder.join("main.py")).expect("a link");
        let (recorded, mut files) = read(&folder).expect("readable");
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!((files.len(), recorded.files), (5, 5));
        assert_eq!(identity(&files), recorded);
        files.reverse();
        assert_eq!(identity(&files), recorded, "the order of the files matters");
        files[0].content.push(0);
        assert_ne!(identity(&files).sha256, recorded.sha256);
    }
}
