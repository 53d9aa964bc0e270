//! `chicane replay`: shows a recorded run in the viewer, or writes it to files of other formats.

use crate::args::ReplayArgs;
use crate::file_error::FileError;
use crate::film::{self, FilmError};
use crate::mcap::{self, McapError};
use crate::run_file;
use crate::runtime::{self, RuntimeError};
use crate::stop_signal::{SignalError, StopSignal};
use crate::temp_folder::TempFolder;
use crate::version;
use crate::workspace::{self, WorkspaceError};
use chicane_host::loader::LoadFailure;
use chicane_host::{BootError, HostOptions, JudgeOptions};
use chicane_replay::{Difference, RecordedRun, RunError, Tracks, import};
use chicane_server::{Options, Server, StartError};
use chicane_session::jail::program_files::{FileKind, ProgramFile};
use chicane_store::{Library, OpenError, Records};
use chicane_wire::Role;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a run was not shown or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayCommandError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {source}", file.display())]
    Run { file: PathBuf, source: RunError },
    #[error("this version simulates the run in another way: {0}")]
    Differs(#[from] Difference),
    #[error(transparent)]
    Film(#[from] FilmError),
    #[error(transparent)]
    Mcap(#[from] McapError),
    #[error("{} has no program: `records export --program` and `evaluate --save-program` add it", .0.display())]
    NoProgram(PathBuf),
    #[error("can't write to standard output: {0}")]
    Print(std::io::Error),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Signals(#[from] SignalError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error("the world of the run can't be loaded: {0}")]
    Load(#[from] LoadFailure),
}

impl ReplayCommandError {
    /// Whether the command line names a file that can't be used.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            ReplayCommandError::File(FileError::Read { .. })
                | ReplayCommandError::Run { .. }
                | ReplayCommandError::Film(FilmError::Kind { .. })
                | ReplayCommandError::NoProgram(_)
        )
    }
}

/// Writes the requested files. If no file is requested, shows the run in the viewer until this
/// process is stopped.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), ReplayCommandError> {
    let bytes = run_file::read(&args.file)?;
    let failed = |source| ReplayCommandError::Run { file: args.file.clone(), source };
    let outputs = [&args.tracks, &args.video, &args.mcap, &args.program];
    if outputs.into_iter().all(Option::is_none) {
        return show(args, &bytes);
    }
    let run = RecordedRun::read(&bytes).map_err(failed)?;
    if let Some(output) = &args.tracks {
        write(output, &Tracks::of(&run)?.bytes)?;
    }
    if let Some(output) = &args.video {
        film::write(&run, output)?;
    }
    if let Some(output) = &args.mcap {
        mcap::write(&run, output)?;
    }
    if let Some(folder) = &args.program {
        write_program(&run, &args.file, folder)?;
    }
    Ok(())
}

/// Writes the bytes to a file, or to standard output if `output` is `-`.
fn write(output: &Path, bytes: &[u8]) -> Result<(), ReplayCommandError> {
    if output.as_os_str() == "-" {
        let mut out = std::io::stdout().lock();
        return out.write_all(bytes).and_then(|()| out.flush()).map_err(ReplayCommandError::Print);
    }
    Ok(run_file::write(output, bytes)?)
}

/// Writes the student's program to a folder that must not exist yet.
fn write_program(run: &RecordedRun, file: &Path, folder: &Path) -> Result<(), ReplayCommandError> {
    if run.program.is_empty() {
        return Err(ReplayCommandError::NoProgram(file.to_owned()));
    }
    std::fs::create_dir(folder).map_err(FileError::write(folder))?;
    // Links come last, so that no file is written through a link.
    let is_link = |file: &&ProgramFile| file.kind == FileKind::Link;
    let files = run.program.iter().filter(|file| !is_link(file));
    for file in files.chain(run.program.iter().filter(is_link)) {
        let to = folder.join(&file.path);
        write_program_file(file, &to).map_err(FileError::write(&to))?;
    }
    Ok(())
}

fn write_program_file(file: &ProgramFile, to: &Path) -> std::io::Result<()> {
    if let Some(above) = to.parent() {
        std::fs::create_dir_all(above)?;
    }
    let mode = match file.kind {
        FileKind::Plain => 0o644,
        FileKind::Executable => 0o755,
        FileKind::Link => return symlink(OsStr::from_bytes(&file.content), to),
    };
    let mut out = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    out.write_all(&file.content)
}

fn show(args: &ReplayArgs, bytes: &[u8]) -> Result<(), ReplayCommandError> {
    let folder = TempFolder::new()?;
    let failed = |source| ReplayCommandError::Run { file: args.file.clone(), source };
    let run = import(bytes, &Records::open_shared(folder.path())?, Role::Teacher).map_err(failed)?;
    let world = run.journal.head.world.clone();
    let options = Options {
        host: HostOptions {
            data_dir: folder.path().to_owned(),
            library: Library::built_in().with_bundle(world.clone(), Arc::clone(&run.bundle) as _),
            world: Some(world),
            profile: (*run.profile).clone(),
            speed: 1.0,
            only_sessions: true,
            workspace: workspace::resolve(Path::new("."))?,
            judge: JudgeOptions::default(),
            version: version::own(),
        },
        listen: args.listen,
        ..Options::default()
    };
    let session = run.session().to_owned();
    let runtime = runtime::start()?;
    let ended = runtime.block_on(serve(options, &session, &run));
    runtime.shutdown_background();
    ended
}

async fn serve(options: Options, session: &str, run: &RecordedRun) -> Result<(), ReplayCommandError> {
    let mut stop = StopSignal::new(false)?;
    let server = Server::start(options).await?;
    server.host().ready().await?;
    // The viewer shows the objects of the running world, so this world must have the seed of the
    // run.
    if let (Some(_), Some(evaluation)) = (run.served.variation(), &run.served.world.evaluation) {
        let vary = evaluation.vary.clone();
        server.host().loader.respawn_varied(run.journal.head.seed, vary).await?;
    }
    let address = chicane_server::reachable(server.address());
    let mut out = std::io::stdout();
    // A closed standard output does not stop the viewer.
    let _ = writeln!(out, "the run is ready: http://{address}/sim?replay={session}");
    stop.wait().await;
    server.stop().await;
    Ok(())
}
