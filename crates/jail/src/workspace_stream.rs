//! Receives the stream of a workspace that `workspace_copy` sends, and writes the files.

use crate::workspace_copy::{FRAME, MAX_PATH};
use rustix::fs::{Timespec, Timestamps};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Why the copy of a workspace could not be written inside the box.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The stream ended early or could not be read.
    #[error("the copy of the workspace can't be received: {0}")]
    Receive(#[source] io::Error),
    /// The stream has an entry of an unknown kind, or a length that is not allowed.
    #[error("the copy of the workspace is unreadable")]
    Unreadable,
    /// A file could not be written.
    #[error("{} can't be copied into the box: {source}", .path.display())]
    Write {
        /// Path relative to the workspace.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
}

/// Writes the copy of a workspace into an empty folder that no other process can access.
pub fn receive(control: impl AsFd, folder: &Path) -> Result<(), CopyError> {
    let mut stream = Frames::new(control);
    while let Some(kind) = stream.kind()? {
        let length = stream.number()?;
        let path = PathBuf::from(OsStr::from_bytes(&stream.text(length)?));
        let to = folder.join(&path);
        let written = match kind {
            b'd' => std::fs::create_dir(&to),
            b'l' => {
                let length = stream.number()?;
                let target = stream.text(length)?;
                std::os::unix::fs::symlink(OsStr::from_bytes(&target), &to)
            }
            b'f' | b'x' => stream.file(&to, kind == b'x')?,
            _ => return Err(CopyError::Unreadable),
        };
        written.map_err(|source| CopyError::Write { path, source })?;
    }
    Ok(())
}

/// Reads the stream of a copy without taking a byte that comes after the stream.
pub(crate) struct Frames<Fd> {
    control: Fd,
    frame: Vec<u8>,
    /// Index of the next byte in `frame`.
    at: usize,
}

impl<Fd: AsFd> Frames<Fd> {
    pub(crate) fn new(control: Fd) -> Frames<Fd> {
        Frames { control, frame: Vec::new(), at: 0 }
    }

    /// The kind of the next entry. `None` at the end of the stream.
    pub(crate) fn kind(&mut self) -> Result<Option<u8>, CopyError> {
        if self.at == self.frame.len() && !self.next_frame()? {
            return Ok(None);
        }
        self.at += 1;
        Ok(Some(self.frame[self.at - 1]))
    }

    fn next_frame(&mut self) -> Result<bool, CopyError> {
        let mut length = [0; 8];
        self.read_exactly(&mut length)?;
        let length = usize::try_from(u64::from_ne_bytes(length)).map_err(|_| CopyError::Unreadable)?;
        if length > 4 * FRAME {
            return Err(CopyError::Unreadable);
        }
        let mut frame = std::mem::take(&mut self.frame);
        frame.resize(length, 0);
        self.read_exactly(&mut frame)?;
        (self.frame, self.at) = (frame, 0);
        Ok(length > 0)
    }

    fn read_exactly(&self, mut room: &mut [u8]) -> Result<(), CopyError> {
        while !room.is_empty() {
            match rustix::io::read(&self.control, &mut *room) {
                Ok(0) => return Err(CopyError::Receive(io::ErrorKind::UnexpectedEof.into())),
                Ok(n) => room = &mut room[n..],
                Err(Errno::INTR) => {}
                Err(e) => return Err(CopyError::Receive(e.into())),
            }
        }
        Ok(())
    }

    /// The next bytes of the stream, at most `length`.
    pub(crate) fn piece(&mut self, length: u64) -> Result<&[u8], CopyError> {
        if self.at == self.frame.len() && !self.next_frame()? {
            return Err(CopyError::Unreadable);
        }
        let left = self.frame.len() - self.at;
        let n = usize::try_from(length).unwrap_or(left).min(left);
        self.at += n;
        Ok(&self.frame[self.at - n..self.at])
    }

    pub(crate) fn text(&mut self, length: u64) -> Result<Vec<u8>, CopyError> {
        let mut text = Vec::new();
        if length > MAX_PATH as u64 {
            return Err(CopyError::Unreadable);
        }
        while (text.len() as u64) < length {
            let left = length - text.len() as u64;
            text.extend_from_slice(self.piece(left)?);
        }
        Ok(text)
    }

    pub(crate) fn number(&mut self) -> Result<u64, CopyError> {
        let bytes = self.text(8)?.try_into().map_err(|_| CopyError::Unreadable)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// Writes a file. The outer result has errors of the stream, and the inner result has errors of
    /// the file.
    fn file(&mut self, to: &Path, executable: bool) -> Result<io::Result<()>, CopyError> {
        let mut left = self.number()?;
        let modified = self.number()?.cast_signed();
        let mode = if executable { 0o755 } else { 0o644 };
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(to);
        let mut file = match file {
            Ok(file) => file,
            Err(e) => return Ok(Err(e)),
        };
        while left > 0 {
            let piece = self.piece(left)?;
            left -= piece.len() as u64;
            if let Err(e) = io::Write::write_all(&mut file, piece) {
                return Ok(Err(e));
            }
        }
        let modified = Timespec { tv_sec: modified, tv_nsec: 0 };
        let times = Timestamps { last_access: modified, last_modification: modified };
        Ok(rustix::fs::futimens(&file, &times).map_err(io::Error::from))
    }
}
