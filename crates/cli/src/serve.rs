//! `chicane serve`: from the command line to a running simulator, and to its end.

use crate::cli::{Log, LogLevel, Serve};
use crate::log::LogLines;
use chicane_host::HostOptions;
use chicane_remote::Token;
use chicane_server::{Options, Server};
use chicane_store::Library;
use chicane_world::Profile;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tracing::level_filters::LevelFilter;

pub(crate) fn run(serve: &Serve) -> Result<(), String> {
    crate::memory::give_back();
    let log = start_log(serve);
    raise_descriptor_limit();
    let runtime = crate::worlds::runtime()?;
    let ended = runtime.block_on(until_told_to_stop(serve));
    // Whatever is still at work, such as a world being loaded, is not waited for.
    runtime.shutdown_background();
    log.finish();
    ended
}

async fn until_told_to_stop(serve: &Serve) -> Result<(), String> {
    let token = match serve.token()? {
        // Never open to other machines without one.
        None if !serve.listen.ip().is_loopback() => {
            return Err(format!(
                "{} can be reached from other machines, so a token is needed: add --token auto, or one of your own",
                serve.listen
            ));
        }
        token => token,
    };
    let (data_dir, workspace) = (data_dir(serve.data_dir.as_deref())?, workspace(&serve.workspace)?);
    if std::path::absolute(&data_dir).is_ok_and(|data_dir| workspace.starts_with(data_dir)) {
        return Err(format!(
            "--workspace {} lies in the data folder, which student programs must not see: choose another",
            workspace.display()
        ));
    }
    let ros = serve.ros()?;
    let (library, world) = match &serve.world {
        // A world to look at. Names are for the library, which knows those that were installed too.
        Some(path) if Path::new(path).exists() => {
            crate::which::find(path).map(|(library, name)| (library, Some(name)))?
        }
        name => (Library::built_in(), name.clone()),
    };
    let mut stop = StopSignal::new(serve.lifeline)?;
    let server = Server::start(Options {
        host: HostOptions {
            data_dir,
            world,
            profile: profile(&serve.robot)?,
            speed: serve.speed,
            workspace,
            library,
            judge: serve.judge()?,
        },
        listen: serve.listen,
        cdn: serve.cdn.clone(),
        cdn_token: cdn_token(serve.cdn_token.as_deref())?,
        require_verified: serve.require_verified,
        token: token.clone(),
        allow_hosts: serve.allow_host.clone(),
        ros: ros.clone(),
        ..Options::default()
    });
    let server = server.await.map_err(|e| e.to_string())?;
    tokio::select! {
        ready = server.host().ready() => ready.map_err(|e| e.to_string())?,
        () = stop.wait() => {
            server.stop().await;
            return Ok(());
        }
    }
    // Someone who does not listen any more is no reason to stop.
    let mut out = std::io::stdout();
    let _ = writeln!(out, "chicane is ready: {}", viewer(server.address(), token.as_ref()));
    if let Some(address) = from_elsewhere(server.address()).await {
        // The secret is said once.
        let _ = writeln!(out, "from other machines: {}, with the same token", viewer(address, None));
    }
    if let Some(ros) = &ros {
        tracing::info!("ROS 2: {ros}");
    }
    tokio::select! {
        () = find_judge(&server) => stop.wait().await,
        () = stop.wait() => {}
    }
    tracing::info!("stopping");
    server.stop().await;
    Ok(())
}

/// Says how judging scripts are run here, or why they can't be.
async fn find_judge(server: &Server) {
    match server.host().find_judge().await {
        Ok(how) => tracing::info!("the judge is ready: {how}"),
        Err(why) => tracing::warn!("there is no judge, so no evaluation can be started: {why}"),
    }
}

/// Address of the viewer, for the person who started the program.
fn viewer(address: SocketAddr, token: Option<&Token>) -> String {
    let address = chicane_server::reachable(address);
    let query = token.map(|t| format!("?token={}", t.secret())).unwrap_or_default();
    format!("http://{address}/sim{query}")
}

/// Where other machines find one that listens on all addresses, as far as that can be known: the address that
/// packets to elsewhere would come from. None is sent.
async fn from_elsewhere(address: SocketAddr) -> Option<SocketAddr> {
    if !address.ip().is_unspecified() {
        return None;
    }
    // Addresses of documentation, which lead out of this machine and to nobody.
    let out = if address.is_ipv4() { ("0.0.0.0:0", "192.0.2.1:9") } else { ("[::]:0", "[2001:db8::1]:9") };
    let socket = tokio::net::UdpSocket::bind(out.0).await.ok()?;
    socket.connect(out.1).await.ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then(|| SocketAddr::new(ip, address.port()))
}

fn start_log(serve: &Serve) -> LogLines {
    let lines = LogLines::start();
    let level = match serve.log_level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let log =
        tracing_subscriber::fmt().with_writer(lines.clone()).log_internal_errors(false).with_max_level(level);
    match serve.log {
        Log::Text => log.with_ansi(false).with_target(false).init(),
        Log::Json => log.json().flatten_event(true).init(),
    }
    lines
}

/// Thousands of viewers need thousands of descriptors; the system's first offer is often 1,024.
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

/// The token of a CDN, if one was given.
pub(crate) fn cdn_token(text: Option<&str>) -> Result<Option<Token>, String> {
    let token = text.filter(|text| !text.is_empty()).map(Token::parse).transpose();
    token.map_err(|e| format!("--cdn-token: {e}"))
}

fn profile(robot: &str) -> Result<Profile, String> {
    if robot == "gen1" {
        return Ok(Profile::gen1());
    }
    let bytes = std::fs::read(robot)
        .map_err(|e| format!("robot {robot} is neither gen1 nor a profile file that can be read: {e}"))?;
    Profile::from_json(robot, &bytes).map_err(|e| e.to_string())
}

/// The folder that student programs run in.
pub(crate) fn workspace(asked: &Path) -> Result<PathBuf, String> {
    let folder = std::path::absolute(asked).map_err(|e| e.to_string())?;
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(format!("--workspace {} is not a folder", asked.display()))
}

/// The folder that was asked for, else the platform's.
pub(crate) fn data_dir(asked: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(folder) = asked {
        return Ok(folder.to_owned());
    }
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = if cfg!(target_os = "windows") {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|b| b.join("chicane")).ok_or_else(|| "no folder for data is known: give --data-dir".to_owned())
}

/// Ctrl-C, a polite request of the system, or the end of the program that holds the lifeline.
struct StopSignal {
    lifeline: Option<tokio::sync::oneshot::Receiver<()>>,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignal {
    #[cfg(unix)]
    fn new(lifeline: bool) -> Result<StopSignal, String> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(|e| format!("can't listen for signals: {e}"));
        Ok(StopSignal {
            lifeline: lifeline.then(end_of_input),
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    #[cfg(unix)]
    async fn wait(&mut self) {
        tokio::select! {
            () = ended(&mut self.lifeline) => {}
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    fn new(lifeline: bool) -> Result<StopSignal, String> {
        Ok(StopSignal { lifeline: lifeline.then(end_of_input) })
    }

    #[cfg(not(unix))]
    async fn wait(&mut self) {
        tokio::select! {
            () = ended(&mut self.lifeline) => {}
            // Without a way to listen there is nothing to wait for.
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

/// Tells when standard input ends. What comes before that is thrown away.
fn end_of_input() -> tokio::sync::oneshot::Receiver<()> {
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = tell.send(());
    });
    told
}

/// Without a lifeline, never.
async fn ended(lifeline: &mut Option<tokio::sync::oneshot::Receiver<()>>) {
    match lifeline {
        Some(told) => {
            let _ = told.await;
            *lifeline = None;
        }
        None => std::future::pending().await,
    }
}
