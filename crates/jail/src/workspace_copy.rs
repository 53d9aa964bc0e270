//! Reads the files of a workspace, for the copy in a closed box and for the identity of a program.
//! `workspace_stream` receives the files on the other end.
//!
//! Theory of operation. [`Workspace::scan`] lists the files without opening them and checks the
//! limits. [`Workspace::read`] then opens each file once. The bytes that it hashes are the bytes
//! that it sends, so the identity describes exactly the files in the box. Both functions open a
//! folder or file only relative to the folder above it, and follow no symbolic link inside the
//! workspace. Therefore neither leaves the workspace, even if another process changes the files at
//! the same time.
//!
//! The copy is a stream of entries in frames (a length, then that many bytes). A frame of length 0
//! ends the stream, so the receiver reads no byte of the message that follows.

use crate::workspace_stream::{CopyError, receive};
use chicane_wire::ProgramIdentity;
use ring::digest::{Context, SHA256};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum number of entries of a workspace that is copied.
pub const MAX_ENTRIES: u64 = 100_000;
/// Names of folders that are left out of the copy and the identity, because programs create these
/// folders again or do not read them.
pub const SKIPPED: [&str; 3] = [".git", "__pycache__", "node_modules"];
/// The folders of [`SKIPPED`] that other programs change without a change of the files beside them.
const REWRITTEN: [&str; 2] = [".git", "__pycache__"];
/// A folder with this file holds a cache and is left out (bford.info/cachedir).
pub const CACHE_TAG: &str = "CACHEDIR.TAG";
/// The file that marks a folder of build results of cargo. Such a folder has no `CACHE_TAG` if it
/// existed before the first build.
const CARGO_MARK: &str = ".rustc_info.json";
/// The file that marks a virtual environment of Python.
const VENV_MARK: &str = "pyvenv.cfg";
/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 64;
/// A frame is sent as soon as it has at least this many bytes. The last entry in a frame can make
/// it longer.
pub(crate) const FRAME: usize = 256 << 10;
/// A file in memory takes whole pages of this size.
const PAGE: u64 = 4096;
/// Longest path or link of an entry, in bytes.
pub(crate) const MAX_PATH: usize = 16 << 10;

/// The limits of a workspace.
#[derive(Debug, Clone, Copy)]
pub struct WorkspaceLimits {
    /// Bytes of all files and links, each rounded up to whole pages. A link takes one page.
    pub bytes: u64,
    /// Number of files, links and folders that the scan lists. Entries that are left out count too,
    /// but the content of a hidden, mounted or [`SKIPPED`] folder is not listed.
    pub entries: u64,
}

/// Why a workspace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The folder could not be opened.
    #[error("the workspace {} can't be opened: {source}", .path.display())]
    Open {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// The files are larger than the box.
    #[error(
        "the workspace {} has {} MiB of files, and the box holds {} MiB: give --student-files {}, or \
         choose a smaller --workspace", .path.display(), mib(*.bytes), mib(*.limit), mib(*.bytes)
    )]
    TooLarge {
        /// The folder.
        path: PathBuf,
        /// Bytes of all files and links, each rounded up to whole pages.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// There are too many files.
    #[error("the workspace {} has more than {limit} files: choose a smaller --workspace", .path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// Folders are nested too deeply.
    #[error("{} is more than {MAX_DEPTH} folders deep: choose another --workspace", .0.display())]
    TooDeep(PathBuf),
    /// A file of the workspace could not be read.
    #[error("{} of the workspace can't be read: {source}", .path.display())]
    Unreadable {
        /// Path relative to the workspace.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// A file or folder was changed while the workspace was scanned, or before the reading of the
    /// workspace ended.
    #[error("{} of the workspace was changed while it was read; start again", .0.display())]
    Changed(PathBuf),
    /// The copy could not be sent to the box.
    #[error("the workspace can't be copied into the box: {0}")]
    Send(#[source] Errno),
}

/// Rounds bytes up to MiB.
pub(crate) fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// The files of a workspace.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    root: OwnedFd,
    tree: Vec<Entry>,
    files: u64,
    bytes: u64,
    /// Folders and files that are mounted instead of copied, relative to the workspace: virtual
    /// environments and paths of `--student-path`.
    mounted: Vec<PathBuf>,
}

#[derive(Debug)]
struct Entry {
    name: CString,
    node: Node,
}

#[derive(Debug)]
enum Node {
    Folder(Vec<Entry>),
    File { bytes: u64, executable: bool, modified: Timespec },
    Link(CString),
}

/// The state of a scan.
struct Scan<'a> {
    limits: WorkspaceLimits,
    /// Names of folders that are left out.
    skipped: &'a [&'a str],
    /// Whether caches and build results are left out, and virtual environments are mounted.
    is_copy: bool,
    /// Device and inode of folders that are left out.
    hidden: &'a BTreeSet<(u64, u64)>,
    /// Device and inode of folders and files that are mounted.
    mounted: &'a BTreeSet<(u64, u64)>,
    found: Vec<PathBuf>,
    files: u64,
    entries: u64,
    bytes: u64,
    /// Bytes of all files and links, each rounded up to whole pages.
    room: u64,
}

impl Workspace {
    /// Lists the files of a folder. Leaves out the folders in `hidden`. Does not list the folders
    /// and files in `mounted`, because they will be mounted instead of copied.
    pub fn scan(
        path: &Path,
        limits: WorkspaceLimits,
        hidden: &[PathBuf],
        mounted: &[PathBuf],
    ) -> Result<Workspace, WorkspaceError> {
        let numbers = |paths: &[PathBuf]| -> BTreeSet<(u64, u64)> {
            paths.iter().filter_map(|path| rustix::fs::stat(path).ok()).map(|stat| number(&stat)).collect()
        };
        let (hidden, mounted) = (numbers(hidden), numbers(mounted));
        Scan::new(limits, &hidden, &mounted).run(path)
    }

    /// Lists the files of a folder that a box shows in its place instead of a copy. Caches, build
    /// results and virtual environments are listed too.
    pub fn scan_shown(path: &Path, limits: WorkspaceLimits) -> Result<Workspace, WorkspaceError> {
        let none = BTreeSet::new();
        Scan { skipped: &REWRITTEN, is_copy: false, ..Scan::new(limits, &none, &none) }.run(path)
    }

    /// The folder on the host.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Folders and files that are mounted instead of copied, relative to the workspace.
    pub fn mounted(&self) -> &[PathBuf] {
        &self.mounted
    }

    /// Number of files and links, and the bytes of the files.
    pub fn size(&self) -> (u64, u64) {
        (self.files, self.bytes)
    }

    /// Reads every file, and sends it to a box if `control` is given. Returns the identity of the
    /// files: the same files give the same identity on every machine.
    pub fn read(&self, control: Option<BorrowedFd<'_>>) -> Result<ProgramIdentity, WorkspaceError> {
        let mut reader = Reader { control, frame: Vec::new(), hash: Context::new(&SHA256) };
        reader.frame.reserve(2 * FRAME);
        reader.folder(&self.root, &self.tree, &mut PathBuf::new())?;
        reader.finish()?;
        let sha256 = reader.hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(ProgramIdentity { sha256, files: self.files, bytes: self.bytes })
    }
}

/// Device and inode of a file or folder, which identify it on this machine.
#[allow(clippy::unnecessary_cast)] // The types differ between architectures.
fn number(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

fn name_of(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}

impl<'a> Scan<'a> {
    fn new(
        limits: WorkspaceLimits,
        hidden: &'a BTreeSet<(u64, u64)>,
        mounted: &'a BTreeSet<(u64, u64)>,
    ) -> Scan<'a> {
        Scan {
            limits,
            skipped: &SKIPPED,
            is_copy: true,
            hidden,
            mounted,
            found: Vec::new(),
            files: 0,
            entries: 0,
            bytes: 0,
            room: 0,
        }
    }

    /// Lists the files of the folder at `path`.
    fn run(mut self, path: &Path) -> Result<Workspace, WorkspaceError> {
        let open = |source| WorkspaceError::Open { path: path.to_owned(), source };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty()).map_err(open)?;
        let stat = rustix::fs::fstat(&root).map_err(open)?;
        let tree = if self.hidden.contains(&number(&stat)) {
            Vec::new()
        } else {
            self.folder(&root, &mut PathBuf::new(), 0, path)?.unwrap_or_default()
        };
        if self.room > self.limits.bytes {
            let (bytes, limit) = (self.room, self.limits.bytes);
            return Err(WorkspaceError::TooLarge { path: path.to_owned(), bytes, limit });
        }
        let Scan { found, files, bytes, .. } = self;
        Ok(Workspace { path: path.to_owned(), root, tree, files, bytes, mounted: found })
    }

    /// Lists a folder, sorted by name. `None` if the folder is left out. `at` is its path relative
    /// to the workspace.
    fn folder(
        &mut self,
        folder: &OwnedFd,
        at: &mut PathBuf,
        depth: usize,
        workspace: &Path,
    ) -> Result<Option<Vec<Entry>>, WorkspaceError> {
        if depth > MAX_DEPTH {
            return Err(WorkspaceError::TooDeep(at.clone()));
        }
        let unreadable = |at: &Path, source| WorkspaceError::Unreadable { path: at.to_owned(), source };
        let mut names = Vec::new();
        for entry in Dir::read_from(folder).map_err(|e| unreadable(at, e))? {
            let entry = entry.map_err(|e| unreadable(at, e))?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            names.push(name.to_owned());
            self.entries += 1;
            if self.entries > self.limits.entries {
                let (path, limit) = (workspace.to_owned(), self.limits.entries);
                return Err(WorkspaceError::TooMany { path, limit });
            }
        }
        let has = |mark: &str| names.iter().any(|name| name.to_bytes() == mark.as_bytes());
        let can_leave_out = self.is_copy && depth > 0;
        if can_leave_out && (has(CACHE_TAG) || has(CARGO_MARK)) {
            return Ok(None);
        }
        if can_leave_out && has(VENV_MARK) {
            self.found.push(at.clone());
            return Ok(None);
        }
        names.sort();
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            at.push(name_of(&name));
            let node = self.node(folder, &name, at, depth, workspace)?;
            at.pop();
            entries.extend(node.map(|node| Entry { name, node }));
        }
        Ok(Some(entries))
    }

    /// Looks at one entry of a folder. Returns `None` if the entry is left out.
    fn node(
        &mut self,
        folder: &OwnedFd,
        name: &CStr,
        at: &mut PathBuf,
        depth: usize,
        workspace: &Path,
    ) -> Result<Option<Node>, WorkspaceError> {
        let failed = |path: &Path, source| match source {
            Errno::NOENT | Errno::LOOP | Errno::NOTDIR => WorkspaceError::Changed(path.to_owned()),
            source => WorkspaceError::Unreadable { path: path.to_owned(), source },
        };
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|e| failed(at, e))?;
        if self.mounted.contains(&number(&stat)) {
            self.found.push(at.clone());
            return Ok(None);
        }
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let skipped = self.skipped.iter().any(|skipped| name.to_bytes() == skipped.as_bytes());
                if skipped || self.hidden.contains(&number(&stat)) {
                    return Ok(None);
                }
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let inner = rustix::fs::openat(folder, name, flags, Mode::empty());
                let inner = inner.map_err(|e| failed(at, e))?;
                Ok(self.folder(&inner, at, depth + 1, workspace)?.map(Node::Folder))
            }
            FileType::RegularFile => {
                let bytes = u64::try_from(stat.st_size).unwrap_or(0);
                self.files += 1;
                self.bytes += bytes;
                self.room = self.room.saturating_add(bytes.div_ceil(PAGE).saturating_mul(PAGE));
                let modified = Timespec { tv_sec: stat.st_mtime, tv_nsec: stat.st_mtime_nsec as _ };
                Ok(Some(Node::File { bytes, executable: stat.st_mode & 0o100 != 0, modified }))
            }
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(folder, name, Vec::new()).map_err(|e| failed(at, e))?;
                self.files += 1;
                self.room = self.room.saturating_add(PAGE);
                Ok(Some(Node::Link(target)))
            }
            // Sockets, pipes and devices are left out, because they have no content.
            _ => Ok(None),
        }
    }
}

/// Reads the files of a workspace: hashes them, and sends them if there is a box.
struct Reader<'a> {
    control: Option<BorrowedFd<'a>>,
    frame: Vec<u8>,
    hash: Context,
}

impl Reader<'_> {
    fn folder(
        &mut self,
        folder: &OwnedFd,
        entries: &[Entry],
        at: &mut PathBuf,
    ) -> Result<(), WorkspaceError> {
        for Entry { name, node } in entries {
            at.push(name_of(name));
            match node {
                Node::Folder(entries) => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let inner = rustix::fs::openat(folder, name, flags, Mode::empty())
                        .map_err(|_| WorkspaceError::Changed(at.clone()))?;
                    self.head(b'd', at);
                    self.folder(&inner, entries, at)?;
                }
                Node::File { bytes, executable, modified } => {
                    self.file(folder, name, at, (*bytes, *executable, *modified))?;
                }
                Node::Link(target) => {
                    self.head(b'l', at);
                    self.hash_head(b'l', at, target.count_bytes() as u64);
                    self.hash.update(target.to_bytes());
                    self.frame.extend((target.count_bytes() as u64).to_ne_bytes());
                    self.frame.extend(target.to_bytes());
                }
            }
            self.send_full_frame()?;
            at.pop();
        }
        Ok(())
    }

    fn file(
        &mut self,
        folder: &OwnedFd,
        name: &CStr,
        at: &Path,
        (bytes, executable, modified): (u64, bool, Timespec),
    ) -> Result<(), WorkspaceError> {
        let changed = || WorkspaceError::Changed(at.to_owned());
        // With `NONBLOCK`, a pipe that took the place of the file does not block this call.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(|source| match source {
            Errno::ACCESS | Errno::PERM => WorkspaceError::Unreadable { path: at.to_owned(), source },
            _ => changed(),
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|_| changed())?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(changed());
        }
        let kind = if executable { b'x' } else { b'f' };
        self.head(kind, at);
        self.frame.extend(bytes.to_ne_bytes());
        self.frame.extend(modified.tv_sec.to_ne_bytes());
        self.hash_head(kind, at, bytes);
        let mut left = bytes;
        while left > 0 {
            let start = self.frame.len();
            // A file that grew since the scan is read only up to its size at the scan.
            let piece = usize::try_from(left).unwrap_or(FRAME).min(FRAME);
            self.frame.resize(start + piece, 0);
            let read = loop {
                match rustix::io::read(&file, &mut self.frame[start..]) {
                    Err(Errno::INTR) => {}
                    other => break other,
                }
            };
            let read = read.map_err(|source| WorkspaceError::Unreadable { path: at.to_owned(), source })?;
            if read == 0 {
                return Err(changed());
            }
            self.frame.truncate(start + read);
            self.hash.update(&self.frame[start..]);
            left -= read as u64;
            self.send_full_frame()?;
        }
        Ok(())
    }

    /// Adds the kind and the path of an entry to the frame.
    fn head(&mut self, kind: u8, at: &Path) {
        let path = at.as_os_str().as_bytes();
        self.frame.push(kind);
        self.frame.extend((path.len() as u64).to_ne_bytes());
        self.frame.extend(path);
    }

    fn hash_head(&mut self, kind: u8, at: &Path, length: u64) {
        hash_head(&mut self.hash, kind, at.as_os_str().as_bytes(), length);
    }

    fn send_full_frame(&mut self) -> Result<(), WorkspaceError> {
        if self.frame.len() >= FRAME { self.send_frame() } else { Ok(()) }
    }

    fn send_frame(&mut self) -> Result<(), WorkspaceError> {
        if let Some(control) = self.control.filter(|_| !self.frame.is_empty()) {
            send_all(control, &(self.frame.len() as u64).to_ne_bytes())?;
            send_all(control, &self.frame)?;
        }
        self.frame.clear();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), WorkspaceError> {
        self.send_frame()?;
        self.control.map_or(Ok(()), |control| send_all(control, &0u64.to_ne_bytes()))
    }
}

/// Adds the head of a file or link to the hash of a workspace. The lengths are hashed too.
/// Otherwise the same bytes, divided differently into paths and contents, would give the same hash.
pub(crate) fn hash_head(hash: &mut Context, kind: u8, path: &[u8], length: u64) {
    hash.update(&[kind]);
    hash.update(&(path.len() as u64).to_le_bytes());
    hash.update(path);
    hash.update(&length.to_le_bytes());
}

fn send_all(control: BorrowedFd<'_>, mut rest: &[u8]) -> Result<(), WorkspaceError> {
    while !rest.is_empty() {
        match send(control, rest, SendFlags::NOSIGNAL) {
            Ok(n) => rest = &rest[n..],
            Err(Errno::INTR) => {}
            Err(e) => return Err(WorkspaceError::Send(e)),
        }
    }
    Ok(())
}

/// Copies a workspace into an empty folder in the same way as into a closed box. This function is
/// for measurements.
pub fn copy_workspace(from: &Path, to: &Path) -> Result<ProgramIdentity, io::Error> {
    let limits = WorkspaceLimits { bytes: u64::MAX, entries: MAX_ENTRIES };
    let workspace = Workspace::scan(from, limits, &[], &[]).map_err(io::Error::other)?;
    let (identity, ()) = transfer(&workspace, |there| receive(there, to))?;
    Ok(identity)
}

/// Reads a workspace and passes its stream to `receive`, which runs on another thread.
pub(crate) fn transfer<T: Send>(
    workspace: &Workspace,
    receive: impl FnOnce(OwnedFd) -> Result<T, CopyError> + Send,
) -> Result<(ProgramIdentity, T), io::Error> {
    let (here, there) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    std::thread::scope(move |scope| {
        let reader = scope.spawn(move || receive(there));
        let identity = workspace.read(Some(here.as_fd()));
        drop(here);
        // If the receiving thread failed, its error is returned, because the error of `read` says
        // only that the socket closed.
        match reader.join() {
            Ok(Ok(received)) => Ok((identity.map_err(io::Error::other)?, received)),
            Ok(Err(error)) => Err(io::Error::other(error)),
            Err(_) => Err(io::Error::other("the reader of the copy panicked")),
        }
    })
}

#[cfg(test)]
#[path = "workspace_copy_tests.rs"]
mod tests;
