//! A file on its way into the staging folder, summed as it comes.

use super::{InstallError, Wanted};
use crate::sum::Summing;
use std::fs::File;
use std::io::Write;

/// Sums what is written to it.
pub(super) struct Adding<'a>(pub(super) &'a mut Summing);

impl Write for Adding<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A file on its way in.
pub struct Writing {
    to: File,
    file: Wanted,
    summing: Summing,
    written: u64,
}

impl Writing {
    /// A file with so many bytes, which were summed.
    pub(super) fn new(to: File, file: Wanted, summing: Summing, written: u64) -> Writing {
        Writing { to, file, summing, written }
    }

    /// More bytes. Refused beyond what was said, or what there may be.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), InstallError> {
        self.written += bytes.len() as u64;
        self.file.check_size(self.written)?;
        self.summing.add(bytes);
        Ok(self.to.write_all(bytes)?)
    }

    /// The end of the file: it is on disk, and as was said.
    pub fn end(self) -> Result<(), InstallError> {
        self.to.sync_all()?;
        let path = &self.file.remote;
        match self.file.said {
            Some((size, _)) if size != self.written => {
                Err(InstallError::Rule(format!("{path} is smaller than its manifest says")))
            }
            Some((_, sum)) if sum != self.summing.end() => {
                Err(InstallError::Rule(format!("{path} is not what its manifest says: its sha256 differs")))
            }
            _ => Ok(()),
        }
    }
}
