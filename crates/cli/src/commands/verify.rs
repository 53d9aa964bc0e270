//! `chicane verify`: simulates and judges runs again, and compares them with their records.

use crate::args::VerifyArgs;
use crate::file_error::FileError;
use crate::judge_setting::{self, FindSettingError};
use crate::progress::Progress;
use crate::run_file;
use crate::terminal_text::printable;
use chicane_replay::{RecordedRun, Verified, verify};
use chicane_session::Setting;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Largest number of characters that are printed of a difference or an error. A longer text ends
/// with an ellipsis.
const MAX_TEXT: usize = 600;

/// Why not all runs were verified.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Setting(#[from] FindSettingError),
    #[error("{} has no file *.chicane. Give the file of a run, or a folder with such files", folder.display())]
    NoRuns { folder: PathBuf },
    /// Some runs differ, are damaged or can't be read. Their lines were already printed.
    #[error("{failed} of {all} runs not verified")]
    Differs { failed: usize, all: usize },
}

impl VerifyError {
    /// Whether the command line names something that can't be read or has no runs.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, VerifyError::File(_) | VerifyError::NoRuns { .. })
    }
}

/// Verifies all runs, prints a line for each, and fails if one of them is not verified.
pub(crate) fn run(args: &VerifyArgs) -> Result<(), VerifyError> {
    let mut files = Vec::new();
    for path in &args.paths {
        let found = run_file::find(path)?;
        if found.is_empty() {
            return Err(VerifyError::NoRuns { folder: path.clone() });
        }
        files.extend(found);
    }
    let setting = judge_setting::find(&args.judge)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(processors, usize::from).min(files.len());
    let next = AtomicUsize::new(0);
    let mut failed = 0;
    std::thread::scope(|scope| {
        let (send, results) = mpsc::channel();
        for _ in 0..jobs {
            let (send, next, files, setting) = (send.clone(), &next, &files, &setting);
            scope.spawn(move || {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if send.send((file, check(file, setting))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut progress = (files.len() > 1).then(|| Progress::new("verifying runs"));
        for (done, (file, result)) in results.iter().enumerate() {
            failed += usize::from(result.is_err());
            if let Some(progress) = &mut progress {
                progress.clear();
            }
            println!("{}", line(file, &result));
            if let Some(progress) = &mut progress {
                progress.set_text(format!("verified {} of {}", done + 1 - failed, files.len()));
                progress.set_ended(done + 1, files.len());
            }
        }
    });
    match failed {
        0 => Ok(()),
        _ => Err(VerifyError::Differs { failed, all: files.len() }),
    }
}

/// Verifies one file. The error is a word for the kind of failure, and the reason.
fn check(file: &Path, setting: &Setting) -> Result<Verified, (&'static str, String)> {
    let bytes = run_file::read(file).map_err(|error| ("unreadable", error.to_string()))?;
    let run = RecordedRun::read(&bytes).map_err(|error| ("damaged", error.to_string()))?;
    verify(&run, setting).map_err(|difference| ("differs", difference.to_string()))
}

/// The first `MAX_TEXT` characters of a text, with an ellipsis if the text is longer.
fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(MAX_TEXT).collect();
    if characters.next().is_some() { start + "…" } else { start }
}

fn line(file: &Path, result: &Result<Verified, (&'static str, String)>) -> String {
    let file = file.display();
    match result {
        Ok(verified) => {
            let Verified { time_s, observations, events, is_cut, .. } = verified;
            let time_s = (time_s * 1e3).round() / 1e3;
            let cut = if *is_cut { ", up to where the simulator was killed" } else { "" };
            format!("verified    {file}: {time_s} s, {observations} observations, {events} events{cut}")
        }
        Err((kind, why)) => format!("{kind:<10}  {file}: {}", shortened(&printable(why))),
    }
}
