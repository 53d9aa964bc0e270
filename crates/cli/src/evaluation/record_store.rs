//! The data folder that keeps the record of an evaluation.
//!
//! An evaluation runs in a temporary data folder of its own. Its complete session is then added to
//! the data folder in one transaction. Therefore any number of evaluations can share a data folder
//! with each other and with a simulator, and a killed evaluation loses only its own session.

use super::EvaluationError;
use chicane_store::{Records, SessionRow, StoredRun};
use std::path::{Path, PathBuf};

/// A data folder that sessions can be added to.
pub(super) struct RecordStore {
    records: Records,
    /// The folder, as an absolute path.
    folder: PathBuf,
}

impl RecordStore {
    /// Opens a data folder, or creates it. The database stays open during the evaluation, so that
    /// the record goes to this folder even if the folder is renamed meanwhile.
    pub(super) fn open(folder: &Path) -> Result<RecordStore, EvaluationError> {
        let records = Records::open_shared(folder)?;
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Ok(RecordStore { records, folder })
    }

    /// The folder, as an absolute path.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds a session with its events and its journal. When this function returns, the session is
    /// on disk. Returns a line that says where the session is stored.
    pub(super) fn keep(
        &self,
        row: &SessionRow,
        events: &[String],
        run: &StoredRun,
    ) -> Result<String, EvaluationError> {
        let session = &row.start.id;
        let result =
            row.result.as_ref().ok_or_else(|| EvaluationError::NoRecord { session: session.clone() })?;
        let kept = self.records.import(&row.start, events, result, run);
        let folder = self.folder.clone();
        kept.map_err(|source| EvaluationError::NotKept { session: session.clone(), folder, source })?;
        Ok(format!("stored    session {session} in {}", self.folder.display()))
    }
}
