//! `chicane __judge-run`: judges and verifies one run of the leaderboard. Only the simulator uses
//! this command.
//!
//! Standard output has lines `progress PART`, where PART is the elapsed part of the time limit. The
//! last line is `result JSON`. The command ends when its standard input is closed, because then the
//! simulator has ended or stops the run.

use super::evaluate;
use crate::args::EvaluateArgs;
use crate::evaluation::{self, Evaluated, EvaluationError, Verdict};
use crate::file_error::FileError;
use crate::judge_setting::{self, FindSettingError};
use crate::run_file;
use chicane_leaderboard::{LAST_LINE_OF_RUN, RunReportLine};
use chicane_replay::{RecordedRun, verify};
use chicane_wire::{Session, SubmissionVerdict};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Niceness of the processes of a run. It is positive, so that the running simulator gets processor
/// time first.
const NICENESS: i32 = 5;
/// Longest time that the run may take to end after standard input was closed.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// Smallest change of the progress that is printed, as a fraction of the time limit.
const PROGRESS_STEP: f64 = 0.002;

/// Why a run was not judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JudgeRunError {
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Setting(#[from] FindSettingError),
    #[error("--save is missing")]
    NoFile,
    #[error("can't write to standard output: {0}")]
    Print(std::io::Error),
}

/// Judges a run, verifies it, and prints the result.
pub(crate) fn run(args: &EvaluateArgs) -> Result<(), JudgeRunError> {
    // A run also works if the niceness can't be changed.
    let _ = rustix::process::nice(NICENESS);
    end_with_input();
    let file = args.save.as_deref().ok_or(JudgeRunError::NoFile)?;
    let mut printed = 0.0;
    let on_progress = move |session: &Session| {
        let part = session.elapsed_s.0 / session.time_limit_s.0;
        if part >= printed + PROGRESS_STEP {
            printed = part;
            let _ = print(&format!("progress {part:.4}"));
        }
    };
    let evaluated = evaluation::run_followed(&evaluate::job(args)?, on_progress)?;
    // Only a finished run can count, so only such a run is verified.
    let not_verified = match evaluated.verdict {
        Verdict::Finished => verified(args, file)?.err(),
        _ => None,
    };
    let report = report(&evaluated, not_verified);
    let json = serde_json::to_string(&report).map_err(EvaluationError::Json)?;
    print(&format!("{LAST_LINE_OF_RUN}{json}")).map_err(JudgeRunError::Print)
}

fn report(evaluated: &Evaluated, not_verified: Option<String>) -> RunReportLine {
    let Evaluated { record, verdict, .. } = evaluated;
    RunReportLine {
        verdict: match verdict {
            Verdict::Finished => SubmissionVerdict::Finished,
            Verdict::Failed => SubmissionVerdict::Failed,
            Verdict::Timeout => SubmissionVerdict::Timeout,
            Verdict::ScriptError => SubmissionVerdict::ScriptError,
            Verdict::Stopped => SubmissionVerdict::Stopped,
            Verdict::Unsupported => SubmissionVerdict::Unsupported,
            Verdict::Fault => SubmissionVerdict::Fault,
        },
        line: verdict.reason(record, None),
        not_verified,
    }
}

/// Verifies a run. The inner error is the first difference, or why the file is not a valid run.
fn verified(args: &EvaluateArgs, file: &Path) -> Result<Result<(), String>, JudgeRunError> {
    let bytes = run_file::read(file)?;
    let setting = judge_setting::find(&args.judge)?;
    let run = RecordedRun::read(&bytes).map_err(|error| error.to_string());
    Ok(run.and_then(|run| verify(&run, &setting).map(drop).map_err(|difference| difference.to_string())))
}

fn print(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush())
}

/// Ends this process when its standard input is closed. First sends SIGTERM to this process. The
/// signal ends the run as usual: all processes of the run end, and its temporary files are removed.
/// If the process is still running after [`END_TIMEOUT`], exits at once.
fn end_with_input() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let own = rustix::process::getpid();
        let _ = rustix::process::kill_process(own, rustix::process::Signal::TERM);
        std::thread::sleep(END_TIMEOUT);
        std::process::exit(70);
    });
}
