//! Judges one run: starts the process of the run, follows its progress, and stores the result.
//!
//! The standard input of that process is a pipe from the simulator. When the simulator ends for any
//! reason, the pipe closes, and the run ends too. The process of the run writes lines to its
//! standard output: `progress 0.25`, and `result {…}` after the verification of the run.

use crate::contest::{ContestWorld, LeaderboardOptions};
use crate::run_result::{LAST_LINE_OF_RUN, RunReportLine, RunResult};
use chicane_replay::RecordedRun;
use chicane_store::{create_private, time};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Number of attempts at a run whose process fails or whose result can't be stored.
const ATTEMPTS: u32 = 3;
/// Longest time between two checks whether a run must be stopped or took too long.
const POLL: Duration = Duration::from_millis(50);
/// Time for the process to end after its standard input was closed.
const END_TIMEOUT: Duration = Duration::from_millis(500);
/// Longest real time of a process in addition to the limit of its run, for the start of the judge
/// and the verification.
const EXTRA_TIME: Duration = Duration::from_secs(600);
/// Longest line of the process, in bytes.
const MAX_LINE: u64 = 64 << 10;
/// Largest number of bytes that are read from the end of the standard error after a failure.
const MAX_TAIL: u64 = 4096;
/// Environment variables that the process does not get, because they contain tokens.
const SECRETS: [&str; 4] =
    ["CHICANE_TOKEN", "CHICANE_STUDENT_TOKEN", "CHICANE_SPECTATOR_TOKEN", "CHICANE_CDN_TOKEN"];
/// Names of two files in the folder of a result: the recorded run, and its result.
const RUN: &str = "run.chicane";
const RESULT: &str = "result.json";

/// One run.
pub(crate) struct RunJob<'a> {
    pub(crate) world: &'a ContestWorld,
    pub(crate) workspace: &'a Path,
    pub(crate) command: &'a str,
    /// Name of the student in the record.
    pub(crate) student: &'a str,
    /// The folder for the result. It appears complete or not at all.
    pub(crate) folder: &'a Path,
}

/// The run has no result, because the leaderboard is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopped;

/// Judges a run and stores its result in the folder of the job. After [`ATTEMPTS`] failed attempts,
/// the stored result says why the last one failed.
pub(crate) fn judge(
    job: &RunJob<'_>,
    options: &LeaderboardOptions,
    stop: &AtomicBool,
    on_progress: &dyn Fn(f64),
) -> Result<(), Stopped> {
    let draft = draft_of(job.folder);
    let mut failure = String::new();
    for _ in 0..ATTEMPTS {
        let _ = std::fs::remove_dir_all(&draft);
        let judged = create_private(&draft)
            .map_err(|error| Ended::Failed(error.to_string()))
            .and_then(|()| Process::start(job, options, &draft))
            .and_then(|process| process.follow(job, stop, on_progress))
            .and_then(|report| result_of(report, &draft, job.world));
        match judged {
            Ok(result) => match store(&result, &draft, job.folder) {
                Ok(()) => return Ok(()),
                Err(error) => failure = format!("the result can't be stored: {error}"),
            },
            Err(Ended::Stopped) => return Err(Stopped),
            Err(Ended::Failed(why)) => failure = why,
        }
        tracing::warn!(world = job.world.name, "a run of the leaderboard failed: {failure}");
    }
    let result = RunResult::fault(&failure, time::now());
    let _ = std::fs::remove_dir_all(&draft);
    let stored = create_private(&draft).and_then(|()| store(&result, &draft, job.folder));
    if let Err(error) = stored {
        tracing::error!("the result of a run can't be stored: {error}");
    }
    Ok(())
}

/// A stored result, and the file of its run if there is one. `None` if the folder has no readable
/// result.
pub(crate) fn load(folder: &Path) -> Option<(RunResult, Option<Vec<u8>>)> {
    let result = serde_json::from_slice(&std::fs::read(folder.join(RESULT)).ok()?).ok()?;
    Some((result, std::fs::read(folder.join(RUN)).ok()))
}

fn draft_of(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Writes the result beside the file of its run, and gives the folder its final name.
fn store(result: &RunResult, draft: &Path, folder: &Path) -> std::io::Result<()> {
    let mut file = File::create(draft.join(RESULT))?;
    file.write_all(&serde_json::to_vec(result)?)?;
    file.sync_all()?;
    if let Ok(run) = File::open(draft.join(RUN)) {
        run.sync_all()?;
    }
    File::open(draft)?.sync_all()?;
    let _ = std::fs::remove_dir_all(folder);
    std::fs::rename(draft, folder)?;
    // Synchronising the parent folder makes the new name survive a power cut. Errors are ignored,
    // because not every file system supports this call.
    let _ = folder.parent().map(|above| File::open(above).and_then(|above| above.sync_all()));
    Ok(())
}

fn result_of(report: RunReportLine, draft: &Path, world: &ContestWorld) -> Result<RunResult, Ended> {
    let failed = |error: &dyn std::fmt::Display| Ended::Failed(format!("the run can't be read: {error}"));
    let bytes = std::fs::read(draft.join(RUN)).map_err(|error| failed(&error))?;
    let record: Value = RecordedRun::read(&bytes).map_err(|error| failed(&error))?.record;
    Ok(RunResult::of(report, &record, world.unit.as_deref()))
}

/// Why an attempt gave no result.
enum Ended {
    Stopped,
    Failed(String),
}

/// The process of a run. It is killed on drop.
struct Process {
    child: Child,
    lines: Receiver<String>,
    errors: PathBuf,
}

impl Process {
    fn start(job: &RunJob<'_>, options: &LeaderboardOptions, draft: &Path) -> Result<Process, Ended> {
        let failed = |error: std::io::Error| Ended::Failed(format!("the run can't be started: {error}"));
        let errors = draft.join("errors.txt");
        let mut command = Command::new(&options.program);
        command
            .args(&options.arguments)
            .args(["--box", "closed", "--student-network", "none", "--pace", "virtual"])
            .arg("--world")
            .arg(&job.world.folder)
            .args(["--seed", &options.seed.to_string()])
            .arg("--workspace")
            .arg(job.workspace)
            .arg(format!("--command={}", job.command))
            .arg(format!("--student={}", job.student))
            .arg("--save")
            .arg(draft.join(RUN))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&errors).map_err(failed)?);
        for name in SECRETS {
            command.env_remove(name);
        }
        let mut child = command.spawn().map_err(failed)?;
        let lines = child.stdout.take().map(lines_of);
        let lines = lines.ok_or_else(|| Ended::Failed("the run has no output".to_owned()))?;
        Ok(Process { child, lines, errors })
    }

    /// Passes on the progress of the process until its output ends. Returns the result line of the
    /// process.
    fn follow(
        mut self,
        job: &RunJob<'_>,
        stop: &AtomicBool,
        on_progress: &dyn Fn(f64),
    ) -> Result<RunReportLine, Ended> {
        let wall_s = (5.0 * job.world.time_limit_s).clamp(120.0, 86_400.0);
        let deadline = Instant::now() + Duration::from_secs_f64(wall_s) + EXTRA_TIME;
        let mut report = None;
        loop {
            if stop.load(Ordering::Relaxed) {
                self.end();
                return Err(Ended::Stopped);
            }
            if Instant::now() > deadline {
                return Err(Ended::Failed("the run took too long".to_owned()));
            }
            match self.lines.recv_timeout(POLL) {
                Ok(line) => {
                    if let Some(part) = line.strip_prefix("progress ").and_then(|text| text.parse().ok()) {
                        on_progress(f64::clamp(part, 0.0, 1.0));
                    } else if let Some(json) = line.strip_prefix(LAST_LINE_OF_RUN) {
                        report = serde_json::from_str(json).ok();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.child.wait();
        report.ok_or_else(|| Ended::Failed(self.failure(status.ok().as_ref())))
    }

    /// The last line of the standard error, or how the process ended.
    fn failure(&self, status: Option<&std::process::ExitStatus>) -> String {
        let tail = tail_of(&self.errors).unwrap_or_default();
        let last = tail.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.map(|line| line.trim().trim_start_matches("chicane: ").to_owned());
        let status =
            || status.map_or("the run died".to_owned(), |status| format!("the run ended with {status}"));
        last.unwrap_or_else(status)
    }

    /// Asks the process to end by closing its standard input, and waits up to [`END_TIMEOUT`].
    fn end(&mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + END_TIMEOUT;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines on a separate thread. The channel closes at the end of the output.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            match output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
                Ok(1..) if send.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_ok() => {}
                _ => return,
            }
        }
    });
    lines
}

fn tail_of(file: &Path) -> std::io::Result<String> {
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL)))?;
    let mut bytes = Vec::new();
    file.take(MAX_TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
