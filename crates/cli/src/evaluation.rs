//! Runs one evaluation in this process, for `chicane evaluate` and `chicane judge`.
//!
//! A student's program drives the car through the web API, so the simulator needs a web server for
//! it. Without such a program, the simulator has no web server and opens no port.

use crate::args::{JudgeArgs, JudgeArgsError};
use crate::drive_file::DriveFileError;
use crate::file_error::FileError;
use crate::robot::RobotError;
use crate::root_warning::root_warning;
use crate::runtime::{self, RuntimeError};
use crate::terminal_text::printable;
use crate::version;
use crate::workspace::{self, WorkspaceError};
use crate::world_source::{self, WorldSourceError};
use chicane_host::evaluation::StartEvaluationError;
use chicane_host::{
    BootError, DriveAt, Host, HostOptions, JudgeOptions, Prepared, StartHostError, StudentAccess,
};
use chicane_server::{Options, Server, StartError};
use chicane_session::BoxOptions;
use chicane_store::StoreError;
use chicane_wire::{Outcome, Phase, Record, Session, StartRequest};
use chicane_world::Profile;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Longest time between two updates of the progress.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Why an evaluation did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvaluationError {
    #[error(transparent)]
    World(#[from] WorldSourceError),
    #[error(transparent)]
    Robot(#[from] RobotError),
    #[error(transparent)]
    Drive(#[from] DriveFileError),
    /// The judging script or the temporary data folder can't be used.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Judge(#[from] JudgeArgsError),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
    #[error(transparent)]
    Server(#[from] StartError),
    #[error(transparent)]
    Host(#[from] StartHostError),
    /// The world could not be loaded.
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Start(#[from] StartEvaluationError),
    #[error(transparent)]
    Record(#[from] StoreError),
    #[error("the record of session {session} is missing")]
    NoRecord { session: String },
    #[error("the record can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// One evaluation and its options.
pub(crate) struct EvaluationJob {
    /// Project file, world folder, or built-in world.
    pub(crate) world: String,
    pub(crate) profile: Profile,
    pub(crate) request: StartRequest,
    /// Commands that drive the car at given ticks. The list may be empty, because a student's
    /// program may drive the car instead.
    pub(crate) drive: Vec<DriveAt>,
    /// Judging script that replaces the script of the world. `None`: the script of the world is
    /// used.
    pub(crate) script: Option<String>,
    /// Real-time factor; 0 is as fast as possible.
    pub(crate) speed: f64,
    pub(crate) workspace: PathBuf,
    /// Data folder that stores the record. `None`: a temporary folder is used, and the record is
    /// not kept.
    pub(crate) data_dir: Option<PathBuf>,
    /// Whether only the record is printed, as JSON.
    pub(crate) json: bool,
    pub(crate) judge: JudgeArgs,
    /// How the student's program is isolated.
    pub(crate) student_box: BoxOptions,
}

/// Runs an evaluation, prints its record, and returns the outcome in the record. `None` if the
/// record has no outcome.
pub(crate) fn run(job: &EvaluationJob) -> Result<Option<Outcome>, EvaluationError> {
    let runtime = runtime::start_with_workers(2)?;
    let temporary = TempFolder::new()?;
    let ended = runtime.block_on(evaluate(job, job.data_dir.as_deref().unwrap_or(&temporary.0)));
    // This call ends the runtime without waiting for blocking tasks, such as the loading of a
    // world.
    runtime.shutdown_background();
    let record = ended?;
    if job.json {
        println!("{}", serde_json::to_string(&record)?);
    } else {
        println!("{}", describe(&record));
    }
    Ok(record.outcome)
}

async fn evaluate(job: &EvaluationJob, data_dir: &Path) -> Result<Record, EvaluationError> {
    let (library, world) = world_source::find(&job.world)?;
    let options = HostOptions {
        data_dir: data_dir.to_owned(),
        world: Some(world),
        profile: job.profile.clone(),
        speed: job.speed,
        workspace: workspace::resolve(&job.workspace)?,
        library,
        judge: JudgeOptions {
            script: job.script.clone(),
            engine: job.judge.engine()?,
            student: job.student_box.clone(),
            ..JudgeOptions::default()
        },
        version: version::own(),
    };
    let warning = job.request.command.as_ref().and_then(|_| root_warning(job.student_box.kind));
    if let Some(warning) = warning {
        eprintln!("warning: {warning}");
    }
    let simulator = LocalSimulator::start(options, job.request.command.is_some()).await?;
    let ended = follow_session(job, simulator.host()).await;
    let fault = job.data_dir.as_ref().and_then(|_| simulator.host().fault());
    simulator.stop().await;
    if let Some(fault) = fault {
        eprintln!("chicane: {fault}");
    }
    ended
}

/// A simulator for one evaluation.
enum LocalSimulator {
    /// A simulator with a web server, for a student's program.
    Web(Box<Server>),
    /// A simulator without any port.
    Portless(Arc<Host>),
}

impl LocalSimulator {
    async fn start(host: HostOptions, needs_web: bool) -> Result<LocalSimulator, EvaluationError> {
        if needs_web {
            let server = Server::start(Options { host, ..Options::default() }).await?;
            return Ok(LocalSimulator::Web(Box::new(server)));
        }
        let access = StudentAccess { loopback_only: true, ..StudentAccess::default() };
        Ok(LocalSimulator::Portless(Prepared::new(host)?.start(access)?))
    }

    fn host(&self) -> &Host {
        match self {
            LocalSimulator::Web(server) => server.host(),
            LocalSimulator::Portless(host) => host,
        }
    }

    async fn stop(self) {
        match self {
            LocalSimulator::Web(server) => server.stop().await,
            LocalSimulator::Portless(host) => {
                host.stop().await;
                host.finish().await;
            }
        }
    }
}

/// Starts a session, shows its progress, and returns its record. Ctrl-C stops the session.
async fn follow_session(job: &EvaluationJob, host: &Host) -> Result<Record, EvaluationError> {
    host.ready().await?;
    let id = host.evaluate(job.request.clone(), job.drive.clone()).await?;
    let mut shown = SessionProgress::default();
    loop {
        let ended = host.session_ended();
        tokio::select! {
            () = ended => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = tokio::signal::ctrl_c() => host.stop_session().await,
        }
        let now = host.session();
        if let Some(session) = &now.session {
            shown.update(job, session, host);
        }
        if !now.active {
            clear_status_line();
            return host.record(&id)?.ok_or(EvaluationError::NoRecord { session: id });
        }
    }
}

/// How much of a session's progress was already shown.
#[derive(Default)]
struct SessionProgress {
    phase: Option<Phase>,
    /// Number of log lines that were already printed.
    lines: u64,
}

impl SessionProgress {
    /// Prints new log lines to standard output, and the phase and the time to standard error.
    fn update(&mut self, job: &EvaluationJob, session: &Session, host: &Host) {
        let mut out = std::io::stderr();
        if !job.json {
            let new = host.output(self.lines);
            for line in &new.lines {
                clear_status_line();
                println!("{}", printable(&line.text));
            }
            self.lines = new.next;
        }
        if out.is_terminal() {
            let record =
                if session.record.is_null() { String::new() } else { format!("  record {}", session.record) };
            let record: String = printable(&record).chars().take(60).collect();
            let text = format!("{:<12} {:>8.2} s{record}", session.phase, session.elapsed_s.0);
            let _ = write!(out, "\r{text:<90}\r").and_then(|()| out.flush());
        } else if Some(session.phase) != self.phase {
            let _ = writeln!(out, "{} at {:.2} s", session.phase, session.elapsed_s.0);
        }
        self.phase = Some(session.phase);
    }
}

fn clear_status_line() {
    let mut out = std::io::stderr();
    if out.is_terminal() {
        let _ = write!(out, "\r{:<90}\r", "").and_then(|()| out.flush());
    }
}

fn describe(record: &Record) -> String {
    let outcome = record.outcome.map_or("unknown", Outcome::name);
    let reason = record.reason.as_ref().map(|r| format!(": {}", printable(r))).unwrap_or_default();
    let value = record.record.to_string();
    format!("{outcome}{reason}\nrecord {} after {:.3} s", printable(&value), record.elapsed_s.0)
}

/// A temporary folder that is removed on drop.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new() -> Result<TempFolder, EvaluationError> {
        // Other users can write to the parent folder. Therefore the name is random, and an existing
        // folder is refused. Otherwise these users could control the data of the simulator.
        let number = getrandom::u64().map_err(EvaluationError::Random)?;
        let folder = std::env::temp_dir().join(format!("chicane-evaluate-{number:016x}"));
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(FileError::write(&folder))?;
        Ok(TempFolder(folder))
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
