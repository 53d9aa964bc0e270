//! Writes a file into the staging folder and computes its checksum at the same time.

use super::error::InstallError;
use super::plan::PlannedFile;
use crate::sum::RunningSum;
use std::fs::File;
use std::io::Write;

/// A `Write` that only computes the checksum.
pub(super) struct SumWriter<'a>(pub(super) &'a mut RunningSum);

impl Write for SumWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A staged file that is being written.
pub struct StagedFileWriter {
    to: File,
    file: PlannedFile,
    sum: RunningSum,
    written: u64,
}

impl StagedFileWriter {
    /// A writer that appends to the first `written` bytes, whose checksum is `sum`.
    pub(super) fn new(to: File, file: PlannedFile, sum: RunningSum, written: u64) -> StagedFileWriter {
        StagedFileWriter { to, file, sum, written }
    }

    /// Appends bytes. Fails if the file gets larger than the manifest says or, without a manifest,
    /// larger than the limit for a file.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), InstallError> {
        self.written += bytes.len() as u64;
        self.file.check_size(self.written)?;
        self.sum.add(bytes);
        Ok(self.to.write_all(bytes)?)
    }

    /// Flushes the file to disk, and compares it with the manifest if there is one.
    pub fn end(self) -> Result<(), InstallError> {
        self.to.sync_all()?;
        let path = &self.file.remote;
        match self.file.expected {
            Some((size, _)) if size != self.written => {
                Err(InstallError::Rule(format!("{path} is smaller than its manifest says")))
            }
            Some((_, sum)) if sum != self.sum.end() => {
                Err(InstallError::Rule(format!("the sha256 of {path} is not that of the manifest")))
            }
            _ => Ok(()),
        }
    }
}
