//! Writes the messages of a run as an MCAP file.

use crate::file_error::FileError;
use crate::progress::Progress;
use crate::runtime::{self, RuntimeError};
use chicane_recording::{McapWriter, WriteMcapError};
use chicane_replay::{Difference, Messages, MessagesError, RecordedRun};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why no MCAP file was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum McapError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} can't be written: {source}", file.display())]
    Write { file: PathBuf, source: WriteMcapError },
    #[error("this version simulates the run in another way: {0}")]
    Differs(#[from] Difference),
    #[error(transparent)]
    Messages(#[from] MessagesError),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// Writes the MCAP file of a run completely or not at all. Writes a temporary file in the same
/// folder first, and renames it when it is complete.
pub(crate) fn write(run: &RecordedRun, file: &Path) -> Result<(), McapError> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let runtime = runtime::start_with_workers(1)?;
    let written = runtime.block_on(write_messages(run, file, &beside));
    let renamed = written.and_then(|()| Ok(std::fs::rename(&beside, file).map_err(FileError::write(file))?));
    if renamed.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    renamed
}

async fn write_messages(run: &RecordedRun, file: &Path, beside: &Path) -> Result<(), McapError> {
    let failed = |source| McapError::Write { file: file.to_owned(), source };
    let output = BufWriter::new(File::create(beside).map_err(FileError::write(file))?);
    let mut writer = McapWriter::new(output, Arc::clone(&run.profile), about(run)).map_err(failed)?;
    let mut messages = Messages::new(run)?;
    let duration_s = run.record["elapsed_s"].as_f64().unwrap_or_default().max(1e-3);
    let mut progress = Progress::new("writing the messages");
    while let Some(tick) = messages.next().await? {
        let jpeg = tick.jpeg.map(Vec::from);
        writer.write(&tick.sample, jpeg, tick.state.as_deref()).map_err(failed)?;
        progress.set(messages.time_s() / duration_s);
    }
    let output = writer.finish().map_err(failed)?;
    let output = output.into_inner().map_err(std::io::IntoInnerError::into_error);
    let synced = output.and_then(|output| output.sync_all());
    synced.map_err(FileError::write(file))?;
    progress.finish();
    Ok(())
}

/// The metadata of the run in the MCAP file.
fn about(run: &RecordedRun) -> BTreeMap<String, String> {
    let text = |key: &str| run.record[key].as_str().unwrap_or_default().to_owned();
    BTreeMap::from([
        ("world".to_owned(), run.journal.head.world.clone()),
        ("robot".to_owned(), run.profile.generation.clone()),
        ("session".to_owned(), run.session().to_owned()),
        ("outcome".to_owned(), text("outcome")),
    ])
}
