//! Runs one evaluation in this process, for `chicane evaluate`, `chicane judge` and other commands.
//!
//! A student's program drives the car through the web API, so a simulator for such a program needs
//! a web server. Without such a program, the simulator has no web server and opens no port.

mod record_store;
mod session_view;
mod time_report;
mod verdict;

pub(crate) use verdict::Verdict;

use crate::args::{JudgeArgs, JudgeArgsError};
use crate::colour;
use crate::drive_file::DriveFileError;
use crate::file_error::FileError;
use crate::robot::RobotError;
use crate::root_warning::root_warning;
use crate::run_file;
use crate::runtime::{self, RuntimeError};
use crate::stop_signal::{SignalError, StopSignal};
use crate::temp_folder::TempFolder;
use crate::version;
use crate::workspace::{self, WorkspaceError};
use crate::world_source::{self, WorldSourceError};
use chicane_host::evaluation::StartEvaluationError;
use chicane_host::evaluation::records::record_of;
use chicane_host::{
    BootError, DriveAt, Host, HostOptions, JudgeOptions, PaceReport, Prepared, StartHostError, StudentAccess,
};
use chicane_remote::Token;
use chicane_replay::{RecordedRun, RunError, add_program};
use chicane_server::{Options, Server, StartError};
use chicane_session::BoxOptions;
use chicane_store::{OpenError, RandomError, SessionRow, StoreError, StoredJournal, StoredRun};
use chicane_wire::{Record, Session, StartRequest};
use chicane_world::Profile;
use record_store::RecordStore;
use session_view::SessionView;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Longest time between two updates of the progress.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Why an evaluation did not run to its end, or why its record was not stored or printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvaluationError {
    #[error(transparent)]
    World(#[from] WorldSourceError),
    #[error(transparent)]
    Robot(#[from] RobotError),
    #[error(transparent)]
    Drive(#[from] DriveFileError),
    /// The judging script, the temporary data folder or the file for the run can't be used.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Judge(#[from] JudgeArgsError),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Signals(#[from] SignalError),
    #[error("can't create a token: {0}")]
    Token(RandomError),
    #[error(transparent)]
    Server(#[from] StartError),
    #[error(transparent)]
    Host(#[from] StartHostError),
    /// The world could not be loaded, or the simulator was stopped while it loaded the world.
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Start(#[from] StartEvaluationError),
    #[error(transparent)]
    Record(#[from] StoreError),
    #[error("the record of session {session} is missing or incomplete")]
    NoRecord { session: String },
    /// The data folder can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the record of session {session} can't be stored in {}: {source}", folder.display())]
    NotKept { session: String, folder: PathBuf, source: StoreError },
    #[error(
        "--workspace {} is in the data folder, which student programs must not see. Choose another folder",
        workspace.display()
    )]
    WorkspaceInDataDir { workspace: PathBuf },
    #[error("the run can't be saved: {0}")]
    NotSaved(#[from] RunError),
    #[error("the record can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("can't write to standard output: {0}")]
    Print(std::io::Error),
}

impl EvaluationError {
    /// Whether the command line is wrong: its options, or a file that it names.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            EvaluationError::World(_)
            | EvaluationError::Robot(_)
            | EvaluationError::Drive(_)
            | EvaluationError::File(FileError::Read { .. })
            | EvaluationError::Workspace(_)
            | EvaluationError::WorkspaceInDataDir { .. }
            | EvaluationError::Judge(_)
            | EvaluationError::Start(StartEvaluationError::NoEvaluation) => true,
            EvaluationError::File(FileError::Write { .. })
            | EvaluationError::Runtime(_)
            | EvaluationError::Signals(_)
            | EvaluationError::Token(_)
            | EvaluationError::Server(_)
            | EvaluationError::Host(_)
            | EvaluationError::Boot(_)
            | EvaluationError::Start(_)
            | EvaluationError::Record(_)
            | EvaluationError::NoRecord { .. }
            | EvaluationError::Open(_)
            | EvaluationError::NotKept { .. }
            | EvaluationError::NotSaved(_)
            | EvaluationError::Json(_)
            | EvaluationError::Print(_) => false,
        }
    }
}

/// One evaluation and its options.
pub(crate) struct EvaluationJob {
    /// Project file, world folder, world file, built-in world, or installed world.
    pub(crate) world: String,
    /// Folders to search for the models of a world file.
    pub(crate) resources: Vec<PathBuf>,
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
    /// Whether to print where the time of a run in virtual time went.
    pub(crate) explain_time: bool,
    pub(crate) workspace: PathBuf,
    /// Data folder that stores the record. `None`: the record is not kept.
    pub(crate) data_dir: Option<PathBuf>,
    /// File that the run is written to. `None`: the run is not written.
    pub(crate) save: Option<PathBuf>,
    /// Whether the file of the run has the student's program too.
    pub(crate) save_program: bool,
    /// Whether standard output has only the record, as JSON.
    pub(crate) json: bool,
    pub(crate) judge: JudgeArgs,
    /// How the student's program is isolated.
    pub(crate) student_box: BoxOptions,
}

/// The result of an evaluation.
pub(crate) struct Evaluated {
    pub(crate) record: Record,
    pub(crate) verdict: Verdict,
    /// Where the time of a run in virtual time went. `None` in real time.
    pub(crate) pace: Option<PaceReport>,
    /// The journal and the world. `None` if the job has a file that they are written to.
    pub(crate) run: Option<StoredRun>,
}

/// Runs an evaluation, shows it, and returns its verdict.
pub(crate) fn run(job: &EvaluationJob) -> Result<Verdict, EvaluationError> {
    let mut view = SessionView::new(job.json);
    run_with(job, &mut view).map(|evaluated| evaluated.verdict)
}

/// Runs an evaluation without showing it.
pub(crate) fn run_unseen(job: &EvaluationJob) -> Result<Evaluated, EvaluationError> {
    run_with(job, &mut SessionView::unseen())
}

/// Runs an evaluation without showing it, and calls `on_progress` while it runs.
pub(crate) fn run_followed(
    job: &EvaluationJob,
    on_progress: impl FnMut(&Session) + 'static,
) -> Result<Evaluated, EvaluationError> {
    run_with(job, &mut SessionView::followed(Box::new(on_progress)))
}

fn run_with(job: &EvaluationJob, view: &mut SessionView) -> Result<Evaluated, EvaluationError> {
    let (library, world) = world_source::find_with(&job.world, job.data_dir.as_deref(), &job.resources)?;
    let workspace = workspace::resolve(&job.workspace)?;
    let engine = job.judge.engine()?;
    let store = job.data_dir.as_deref().map(RecordStore::open).transpose()?;
    let hidden = store.as_ref().map(|store| store.folder().to_owned());
    if hidden.as_ref().is_some_and(|hidden| workspace.starts_with(hidden)) {
        return Err(EvaluationError::WorkspaceInDataDir { workspace });
    }
    let temporary = TempFolder::new()?;
    let options = HostOptions {
        data_dir: temporary.path().to_owned(),
        world: Some(world),
        profile: job.profile.clone(),
        speed: job.speed,
        // Time is paused until the session runs. Otherwise the simulation could use a whole
        // processor while the judge is started.
        only_sessions: true,
        workspace,
        library,
        judge: JudgeOptions {
            launcher: job.judge.launcher(),
            script: job.script.clone(),
            engine,
            student: job.student_box.clone(),
            hidden: hidden.into_iter().collect(),
            one_session: true,
            ..JudgeOptions::default()
        },
        version: version::own(),
    };
    let runtime = runtime::start_with_workers(2)?;
    let ended = runtime.block_on(evaluate(job, options, view));
    // This call ends the runtime without waiting for blocking tasks, such as the loading of a
    // world.
    runtime.shutdown_background();
    let EndedSession { row, events, run, simulator_failed, pace } = ended?;
    let kept = store.as_ref().map(|store| store.keep(&row, &events, &run)).transpose();
    let record = record_of(row, Some(events));
    let (saved, run) = match job.save.as_deref() {
        Some(file) => (save(job, file, &record, run), None),
        None => (Ok(()), Some(run)),
    };
    let verdict = Verdict::of(&record, simulator_failed);
    if job.json {
        print_json(&record)?;
    }
    view.end(&record, verdict, kept.as_ref().ok().and_then(|stored| stored.as_deref()));
    kept?;
    saved?;
    Ok(Evaluated { record, verdict, pace, run })
}

/// Writes a run to a file.
fn save(job: &EvaluationJob, file: &Path, record: &Record, run: StoredRun) -> Result<(), EvaluationError> {
    let program = job.save_program.then_some(job.workspace.as_path());
    Ok(run_file::write(file, &pack(record, run, program)?)?)
}

/// The bytes of the file of a run. If `program` is a folder, the file includes the program in this
/// folder.
pub(crate) fn pack(record: &Record, run: StoredRun, program: Option<&Path>) -> Result<Vec<u8>, RunError> {
    let journal = run.journal.map_or(StoredJournal::None, StoredJournal::Whole);
    let mut parts = RecordedRun::parts(record, journal, run.bundle.map(|(_, bytes)| bytes))?;
    if let Some(program) = program {
        add_program(&mut parts, record, program)?;
    }
    Ok(chicane_store::run_file::pack(&parts))
}

/// Prints a record to standard output.
fn print_json(record: &Record) -> Result<(), EvaluationError> {
    let mut out = std::io::stdout();
    let line = serde_json::to_string(record)? + "\n";
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(EvaluationError::Print)
}

/// A session that has ended, as it is stored.
struct EndedSession {
    row: SessionRow,
    events: Vec<String>,
    /// The journal and the world.
    run: StoredRun,
    /// Whether a fault of the simulator ended the session.
    simulator_failed: bool,
    /// Where the time of a run in virtual time went. `None` in real time.
    pace: Option<PaceReport>,
}

async fn evaluate(
    job: &EvaluationJob,
    options: HostOptions,
    view: &mut SessionView,
) -> Result<EndedSession, EvaluationError> {
    let warning = job.request.command.as_ref().and_then(|_| root_warning(job.student_box.kind));
    if let Some(warning) = warning {
        colour::warn(warning);
    }
    let simulator = LocalSimulator::start(options, job.request.command.is_some()).await?;
    let ended = follow_session(job, simulator.host(), view).await;
    view.clear_status();
    let fault = simulator.host().fault();
    let report = ended.as_ref().ok().and_then(|ended| ended.pace.as_ref());
    for line in report.filter(|_| job.explain_time).into_iter().flat_map(time_report::lines) {
        eprintln!("{line}");
    }
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
            // Other users of this machine can reach the port. Without the token they can't change
            // the run. A program in a network of its own needs no token, because its requests come
            // through the sockets of its session.
            let token = Some(Token::random().map_err(EvaluationError::Token)?);
            let server = Server::start(Options { host, token, ..Options::default() }).await?;
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

/// Starts a session, shows its progress, waits for its end, and returns the ended session. Ctrl-C
/// and SIGTERM stop the session.
async fn follow_session(
    job: &EvaluationJob,
    host: &Host,
    view: &mut SessionView,
) -> Result<EndedSession, EvaluationError> {
    let mut stop = StopSignal::new(false)?;
    // The judge is found while the world is loaded. If there is no judge, the start of the session
    // fails with the reason.
    let (ready, _) = tokio::join!(host.ready(), host.find_judge());
    ready?;
    let id = host.evaluate(job.request.clone(), job.drive.clone()).await?;
    loop {
        let ended = host.session_ended();
        tokio::select! {
            () = ended => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = stop.wait() => host.stop_session().await,
        }
        // The session is read before its output, so the output of an ended session is complete.
        let now = host.session();
        if let Some(session) = &now.session {
            view.update(session, host.output(view.next()));
        }
        if !now.active {
            let (row, events) = host.stored_session(&id)?.ok_or(EvaluationError::NoRecord { session: id })?;
            let run = host.stored_run(&row)?;
            let (simulator_failed, pace) = (host.simulator_failed(), host.pace_report());
            return Ok(EndedSession { row, events, run, simulator_failed, pace });
        }
    }
}
