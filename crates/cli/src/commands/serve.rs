//! `chicane serve`: runs a simulator with its web server until it is stopped.

use crate::args::{JudgeArgsError, LogFormat, LogLevel, ServeArgs};
use crate::data_dir::{self, DataDirError};
use crate::file_error::FileError;
use crate::log::LogLines;
use crate::memory;
use crate::robot::{self, RobotError};
use crate::rolling_backup::RollingBackup;
use crate::root_warning::root_warning;
use crate::runtime::{self, RuntimeError};
use crate::stop_signal::{SignalError, StopSignal};
use crate::tokens::{self, RoleToken, RoleTokens, TokenError};
use crate::version;
use crate::workspace::{self, WorkspaceError};
use crate::world_source::{self, WorldSourceError};
use chicane_dds::{BadDomain, RosOptions};
use chicane_host::{BootError, HostOptions, JudgeOptions, StartHostError};
use chicane_leaderboard::{LeaderboardOptions, StartLeaderboardError};
use chicane_server::{Options, Server, StartError};
use chicane_store::Library;
use chicane_wire::BoxKind;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tracing::level_filters::LevelFilter;

/// Why the simulator did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(
        "{listen} can be reached from other machines, so a token is needed: add --token auto, or one of your own"
    )]
    NeedsToken { listen: SocketAddr },
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(
        "--workspace {} is in the data folder, which student programs must not see. Choose another folder",
        workspace.display()
    )]
    WorkspaceInDataDir { workspace: PathBuf },
    /// `ROS_DOMAIN_ID` is invalid.
    #[error(transparent)]
    RosDomain(#[from] BadDomain),
    #[error(transparent)]
    World(#[from] WorldSourceError),
    #[error(transparent)]
    Robot(#[from] RobotError),
    #[error("--judge-script: {0}")]
    JudgeScript(#[source] FileError),
    #[error(transparent)]
    Judge(#[from] JudgeArgsError),
    #[error(transparent)]
    Signals(#[from] SignalError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("can't find the program chicane: {0}")]
    Program(std::io::Error),
    /// The folder of --backup can't be used.
    #[error("--backup: {0}")]
    Backup(#[source] FileError),
    /// The world could not be loaded, or the simulator was stopped while it loaded the world.
    #[error(transparent)]
    Boot(#[from] BootError),
}

impl ServeError {
    /// Whether the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            ServeError::World(error) => error.is_unknown(),
            ServeError::Robot(error) => matches!(error, RobotError::Unknown { .. }),
            ServeError::Token(TokenError::Invalid { .. })
            | ServeError::NeedsToken { .. }
            | ServeError::Workspace(_)
            | ServeError::WorkspaceInDataDir { .. }
            | ServeError::RosDomain(_)
            | ServeError::JudgeScript(_)
            | ServeError::Judge(_)
            | ServeError::Start(StartError::Host(StartHostError::NoSuchWorld { .. }))
            | ServeError::Start(StartError::Leaderboard(
                StartLeaderboardError::NoSuchWorld { .. }
                | StartLeaderboardError::NoEvaluation { .. }
                | StartLeaderboardError::TooManyWorlds { .. },
            )) => true,
            _ => false,
        }
    }
}

pub(crate) fn run(args: &ServeArgs) -> Result<(), ServeError> {
    memory::limit_retained();
    let log = start_log(args);
    raise_descriptor_limit();
    let runtime = runtime::start()?;
    let ended = runtime.block_on(serve(args));
    // This call ends the runtime without waiting for blocking tasks, such as the loading of a
    // world.
    runtime.shutdown_background();
    log.finish();
    ended
}

async fn serve(args: &ServeArgs) -> Result<(), ServeError> {
    let tokens = RoleTokens::parse(args)?;
    let options = options(args, &tokens)?;
    let backup = RollingBackup::of(&args.backup, &options.host.data_dir).map_err(ServeError::Backup)?;
    let ros = options.ros.clone();
    let recording = options.recording.clone();
    let exposed =
        recording.as_ref().filter(|recording| is_within(&recording.folder, &options.host.workspace));
    let exposed = exposed.map(|recording| recording.folder.display().to_string());
    let warning = root_warning(options.host.judge.student.kind);
    if options.token.is_some() {
        close_memory();
    }
    let mut stop = StopSignal::new(args.lifeline)?;
    let server = Server::start(options).await?;
    tokio::select! {
        ready = server.host().ready() => ready?,
        () = stop.wait() => {
            server.stop().await;
            return Ok(());
        }
    }
    print_addresses(&server, &tokens).await;
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
    if let Some(recording) = &recording {
        tracing::info!("recording to {}", recording.folder.display());
    }
    if let Some(folder) = exposed {
        tracing::warn!("{folder} is in the workspace, so student programs can read and change recordings");
    }
    if let Some(ros) = &ros {
        tracing::info!("ROS 2: {ros}");
    }
    let backups = backup.map(|backup| {
        let metrics = Arc::clone(&server.host().metrics);
        tokio::spawn(backup.run(move |time| metrics.note_backup(time)))
    });
    tokio::select! {
        () = find_judge(&server) => stop.wait().await,
        () = stop.wait() => {}
    }
    if let Some(backups) = backups {
        backups.abort();
    }
    tracing::info!("stopping");
    server.stop().await;
    Ok(())
}

/// Checks the command line and loads the files that it names.
fn options(args: &ServeArgs, tokens: &RoleTokens) -> Result<Options, ServeError> {
    // Other machines never get access without a token.
    if tokens.teacher.is_none() && !args.listen.ip().is_loopback() {
        return Err(ServeError::NeedsToken { listen: args.listen });
    }
    let data_dir = data_dir::resolve(args.data_dir.as_deref())?;
    let workspace = workspace::resolve(&args.workspace)?;
    if std::path::absolute(&data_dir).is_ok_and(|data_dir| workspace.starts_with(data_dir)) {
        return Err(ServeError::WorkspaceInDataDir { workspace });
    }
    let ros = ros_options(args)?;
    let (library, world) = match &args.world {
        Some(path) if Path::new(path).exists() => {
            let (library, name) = world_source::find_with(path, None, &args.resources.folders())?;
            (library, Some(name))
        }
        // Names are not checked here. The simulator looks up the name later, because it also knows
        // the installed worlds.
        name => (Library::built_in(), name.clone()),
    };
    let (library, leaderboard) = leaderboard_options(args, library)?;
    let token = |of: &Option<RoleToken>| of.as_ref().map(|one| one.token.clone());
    Ok(Options {
        host: HostOptions {
            data_dir,
            world,
            profile: robot::load(&args.robot)?,
            speed: args.speed,
            only_sessions: false,
            workspace,
            library,
            judge: judge_options(args)?,
            version: version::own(),
        },
        listen: args.listen,
        cdn: args.cdn.clone(),
        cdn_token: tokens::cdn_token(args.cdn_token.as_deref())?,
        require_verified: args.require_verified,
        token: token(&tokens.teacher),
        student_token: token(&tokens.student),
        spectator_token: token(&tokens.spectator),
        allow_hosts: args.allow_host.clone(),
        foxglove_origins: args.foxglove_origin.clone(),
        allowed_origins: args.allow_origin.clone(),
        ros,
        recording: args.record.options(),
        record_at_once: args.record.folder.is_some(),
        leaderboard,
        ..Options::default()
    })
}

/// Returns the options of the leaderboard, or `None` without `--leaderboard`. Also returns the
/// library, to which the function adds the worlds of the leaderboard that the command line names by
/// a path.
fn leaderboard_options(
    args: &ServeArgs,
    mut library: Library,
) -> Result<(Library, Option<LeaderboardOptions>), ServeError> {
    let given = &args.leaderboard;
    if !given.enabled {
        return Ok((library, None));
    }
    let mut worlds = Vec::new();
    for world in &given.worlds {
        // A name is not looked up here, because this library lacks the installed worlds. The
        // simulator looks it up later, as in `options`.
        if Path::new(world).exists() {
            let (found, name) = world_source::find_with(world, None, &args.resources.folders())?;
            library = library.with_world_of(&found, &name);
            worlds.push(name);
        } else {
            worlds.push(world.clone());
        }
    }
    let program = std::env::current_exe().map_err(ServeError::Program)?;
    let mut options = LeaderboardOptions::new(program);
    options.arguments = ["__judge-run", "--robot", &args.robot.robot].map(Into::into).to_vec();
    options.arguments.extend(args.judge.arguments().into_iter().map(Into::into));
    options.arguments.extend(args.student.limit_arguments());
    options.worlds = worlds;
    options.seed = given.seed;
    options.anonymous = given.anonymous;
    options.interval = Duration::from_secs(given.interval_s);
    Ok((library, Some(options)))
}

/// Whether a folder is the folder `outer` or inside of it.
fn is_within(folder: &Path, outer: &Path) -> bool {
    std::path::absolute(folder).is_ok_and(|folder| folder.starts_with(outer))
}

fn ros_options(args: &ServeArgs) -> Result<Option<RosOptions>, ServeError> {
    if !args.ros {
        return Ok(None);
    }
    let domain = match args.ros_domain {
        Some(domain) => domain,
        None => RosOptions::domain_from_environment(std::env::var("ROS_DOMAIN_ID").ok().as_deref())?,
    };
    Ok(Some(RosOptions { domain, network: args.ros_network.clone() }))
}

fn judge_options(args: &ServeArgs) -> Result<JudgeOptions, ServeError> {
    let read = |file: &PathBuf| {
        std::fs::read_to_string(file).map_err(|e| ServeError::JudgeScript(FileError::read(file)(e)))
    };
    Ok(JudgeOptions {
        one_session: false,
        launcher: args.judge.launcher(),
        folder: None,
        script: args.judge_script.as_ref().map(read).transpose()?,
        engine: args.judge.engine()?,
        isolation: args.judge_isolation.map(Into::into),
        student: args.student.options(default_box(args)),
        // The folder of the backups is hidden from student programs, because backups contain the
        // records and programs of all students.
        hidden: args.backup.backup.iter().filter_map(|folder| std::path::absolute(folder).ok()).collect(),
        pace: args.pace.into(),
    })
}

/// The box of student programs if the command line names none. If other machines can reach the
/// simulator, programs may come from other people, so they run in a closed box.
fn default_box(args: &ServeArgs) -> BoxKind {
    if args.listen.ip().is_loopback() { BoxKind::Host } else { BoxKind::Closed }
}

/// Finds out how judging scripts can run on this machine. Logs the result, or why scripts can't
/// run.
async fn find_judge(server: &Server) {
    match server.host().find_judge().await {
        Ok(how) => tracing::info!("the judge is ready: {how}"),
        Err(why) => tracing::warn!("there is no judge, so no evaluation can be started: {why}"),
    }
}

/// Prints the addresses of the viewer. A closed standard output does not stop the simulator. Each
/// token that the simulator made is printed once, because there is no other way to learn it.
async fn print_addresses(server: &Server, tokens: &RoleTokens) {
    let address = server.address();
    let mut lines = format!("chicane is ready: {}\n", viewer_url(address, tokens.teacher.as_ref()));
    for (who, token) in [("students", &tokens.student), ("spectators", &tokens.spectator)] {
        if token.is_some() {
            lines += &format!("for {who}: {}\n", viewer_url(address, token.as_ref()));
        }
    }
    if let Some(address) = outside_address(address).await {
        lines += &format!("from other machines: {}, with the same token\n", viewer_url(address, None));
    }
    // All lines are written with one call, so that a program that reads the output gets them
    // together.
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
}

fn viewer_url(address: SocketAddr, token: Option<&RoleToken>) -> String {
    let address = chicane_server::reachable(address);
    let query = token.map(|token| format!("?token={}", token.shown())).unwrap_or_default();
    format!("http://{address}/sim{query}")
}

/// The address that other machines can use if the server listens on all addresses. `None` if the
/// server listens on one address only, or if there is no network. The system chooses the address as
/// the source of a packet to another network, but no packet is sent.
async fn outside_address(address: SocketAddr) -> Option<SocketAddr> {
    if !address.ip().is_unspecified() {
        return None;
    }
    // These addresses are reserved for documentation. Packets to these addresses would leave this
    // machine, so the system chooses an address that other machines can reach.
    let (from, to) =
        if address.is_ipv4() { ("0.0.0.0:0", "192.0.2.1:9") } else { ("[::]:0", "[2001:db8::1]:9") };
    let socket = tokio::net::UdpSocket::bind(from).await.ok()?;
    socket.connect(to).await.ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then(|| SocketAddr::new(ip, address.port()))
}

fn start_log(args: &ServeArgs) -> LogLines {
    let lines = LogLines::start();
    let level = match args.log_level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let log =
        tracing_subscriber::fmt().with_writer(lines.clone()).log_internal_errors(false).with_max_level(level);
    match args.log {
        LogFormat::Text => log.with_ansi(false).with_target(false).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    lines
}

/// Prevents other programs of this user from reading the token in the memory, the environment or
/// the descriptors of this process.
fn close_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "other programs of this user can read the memory of the simulator");
        }
    }
}

/// Raises the limit of open files to its maximum. The usual limit of 1,024 is too low for thousands
/// of viewers, because each viewer needs a file descriptor.
fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        if limit.current < limit.maximum || limit.maximum.is_none() {
            limit.current = limit.maximum;
            if let Err(error) = setrlimit(Resource::Nofile, limit) {
                tracing::warn!(%error, "the limit of open files could not be raised");
            }
        }
    }
}
