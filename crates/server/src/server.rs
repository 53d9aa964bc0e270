//! Starts and stops a simulator with its web server.

use crate::access::{Access, HostRules};
use crate::api::ProjectScenes;
use crate::layers::with_layers;
use crate::listen;
use crate::metrics::HttpMetrics;
use crate::options::{Options, StartError};
use crate::print_queue::PrintQueue;
use crate::state::{App, AppState, CdnTokens, MAX_SOCKETS};
use crate::student::Gate;
use chicane_dds::{RosNode, join_graph};
use chicane_host::gate::StudentGate;
use chicane_host::scene::CarFile;
use chicane_host::{Host, Prepared, StudentAccess};
use chicane_leaderboard::Leaderboard;
use chicane_recording::{Recorder, RecordingOptions, StartRecordingError};
use chicane_remote::cdn::{CdnSource, Installer};
use chicane_remote::{RunningSimulator, Tokens, WrongTokens};
use chicane_replay::Replays;
use chicane_studio::Studio;
use chicane_wire::{RecordingRequest, Role};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// Longest time that a stop waits for the close frames of WebSockets.
const SOCKETS_TIMEOUT: Duration = Duration::from_secs(1);

/// A running simulator with its web server.
pub struct Server {
    address: SocketAddr,
    app: App,
    gate: Arc<Gate>,
    stop: watch::Sender<bool>,
    listening: tokio::task::JoinHandle<()>,
    ros: Option<RosNode>,
}

impl Server {
    /// Starts a simulator. The server accepts requests at once, while the first world is loaded in
    /// the background.
    pub async fn start(mut options: Options) -> Result<Server, StartError> {
        if !options.listen.ip().is_loopback() && options.token.is_none() {
            return Err(StartError::NeedsToken(options.listen));
        }
        let tokens =
            Tokens::new(options.token.take(), options.student_token.take(), options.spectator_token.take())?;
        // The address of the CDN is checked before the simulator starts. Otherwise a malformed
        // address would leave a running simulator behind.
        let web_cdn = web_cdn(&options)?;
        let record_at_once = options.record_at_once;
        let data_dir = &options.host.data_dir;
        let recording = options.recording.take();
        let recording = recording.unwrap_or_else(|| RecordingOptions::new(data_dir.join("recordings")));
        if record_at_once {
            recording.prepare().map_err(StartRecordingError::Folder)?;
        }
        let prepared = Prepared::new(std::mem::take(&mut options.host))?;
        let first_world = prepared.first_world().to_owned();
        let (listener, address) = bind(options.listen).await?;
        // The ROS 2 graph is joined before the simulator starts. The DDS participant takes the
        // first free ports of its domain, and a socket that the simulator opens could otherwise
        // occupy one of these ports.
        let graph = match options.ros.take() {
            Some(options) => Some(join_graph(options).await?),
            None => None,
        };
        let http_metrics = Arc::new(HttpMetrics::default());
        let gate = Arc::new(Gate::new(Arc::clone(&http_metrics)));
        let host = prepared.start(StudentAccess {
            environment: environment(address, tokens.as_ref()),
            loopback_only: options.listen.ip().is_loopback(),
            port: Some(address.port()),
            gate: Some(Arc::clone(&gate) as Arc<dyn StudentGate>),
        })?;
        let (stop, stopped) = watch::channel(false);
        let own_token = tokens.as_ref().and_then(|all| all.of(Role::Teacher));
        RunningSimulator::write(host.data.folder(), reachable(address), own_token, options.cdn.as_deref());
        let recorder = Recorder::new(&host, recording);
        let leaderboard = start_leaderboard(&mut options, &host, &first_world).await?;
        let (app, access) = assemble(
            options,
            tokens,
            web_cdn,
            (Arc::clone(&host), http_metrics, recorder, leaderboard),
            address,
            &stopped,
        );
        if record_at_once {
            app.recorder.start_with_first_tick(RecordingRequest::default()).await?;
        }
        gate.set_app(Some(app.clone()));
        let metrics = Arc::clone(&app.http_metrics);
        let router = with_layers(app.clone(), access);
        let listening = tokio::spawn(listen::serve(listener, router, metrics, stopped));
        let ros = graph.map(|graph| graph.start(&host.simulator, &host.camera, &host.profile));
        let ros = ros.transpose().map_err(StartError::Thread)?;
        tokio::spawn(app.bridge.clone().pump());
        Ok(Server { address, app, gate, stop, listening, ros })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The simulator behind the web server.
    pub fn host(&self) -> &Host {
        &self.app.host
    }

    /// Ends every stream, step and connection, and unlocks the data folder. Every wait for a client
    /// has a time limit. The last attempt to write a record that is not on disk has no time limit.
    pub async fn stop(self) {
        let host = Arc::clone(&self.app.host);
        self.app.studio.watchers().close();
        host.stop().await;
        if let Some(leaderboard) = self.app.leaderboard.clone() {
            let _ = tokio::task::spawn_blocking(move || leaderboard.stop()).await;
        }
        self.app.recorder.stop().await;
        self.stop.send_replace(true);
        let _ = self.listening.await;
        // Each WebSocket holds a permit until it has sent its close frame.
        let closed = self.app.sockets.acquire_many(MAX_SOCKETS as u32);
        let _ = tokio::time::timeout(SOCKETS_TIMEOUT, closed).await;
        RunningSimulator::remove(host.data.folder());
        if let Some(ros) = self.ros {
            ros.stop().await;
        }
        self.gate.set_app(None);
        drop(self.app);
        host.finish().await;
    }
}

async fn bind(listen: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |reason| StartError::Listen { address: listen, reason };
    let listener = listen::bind(listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// The CDN that the options name, and its address. `None` if the options name no CDN.
fn web_cdn(options: &Options) -> Result<Option<(CdnSource, String)>, StartError> {
    let Some(url) = &options.cdn else { return Ok(None) };
    let secret = options.cdn_token.as_ref().map(|t| t.secret().to_owned());
    Ok(Some((CdnSource::web(url, secret, options.cdn_timeout)?, url.clone())))
}

/// The parts of the state that are started before the web server.
type HostParts = (Arc<Host>, Arc<HttpMetrics>, Recorder, Option<Arc<Leaderboard>>);

/// Starts the leaderboard, if the options have one. If the leaderboard returns an error, the
/// simulator is stopped.
async fn start_leaderboard(
    options: &mut Options,
    host: &Arc<Host>,
    first_world: &str,
) -> Result<Option<Arc<Leaderboard>>, StartError> {
    let Some(leaderboard) = options.leaderboard.take() else { return Ok(None) };
    let (data, library) = (Arc::clone(&host.data), Arc::clone(&host.loader.library));
    let first_world = first_world.to_owned();
    let start = move || Leaderboard::start(leaderboard, data, &library, &first_world);
    let started = tokio::task::spawn_blocking(start).await;
    match started {
        Ok(Ok(leaderboard)) => Ok(Some(Arc::new(leaderboard))),
        Ok(Err(error)) => {
            host.stop().await;
            RunningSimulator::remove(host.data.folder());
            Err(error.into())
        }
        Err(panic) => Err(StartError::Thread(std::io::Error::other(panic))),
    }
}

/// Creates the state of the handlers and the access rules.
fn assemble(
    options: Options,
    tokens: Option<Tokens>,
    web_cdn: Option<(CdnSource, String)>,
    (host, http_metrics, recorder, leaderboard): HostParts,
    address: SocketAddr,
    stopped: &watch::Receiver<bool>,
) -> (App, Access) {
    let published = host.data.folder().join("cdn");
    let is_own_cdn = web_cdn.is_none();
    let (source, cdn, cdn_token) = match web_cdn {
        Some((source, url)) => (source, url, None),
        // The simulator reads its own CDN directly from the folder of published worlds, without
        // HTTP.
        None => {
            let url = format!("http://{}/cdn", reachable(address));
            (CdnSource::Folder(published.clone()), url, options.cdn_token)
        }
    };
    let report = crate::install_progress::show(host.simulator.clone());
    let library = Arc::clone(&host.loader.library);
    let installer = Installer::new(library, source, options.require_verified, report, stopped.clone());
    let allowed = options.allow_hosts.iter().map(|h| h.to_ascii_lowercase()).collect();
    let hosts = HostRules { allowed, network: !options.listen.ip().is_loopback() };
    let replays = Replays::new(Arc::clone(&host.evaluations));
    let studio = Arc::new(Studio::new(Arc::clone(&host.data)));
    let app = App::new(AppState {
        host,
        http_metrics,
        cdn,
        installer,
        recorder,
        replays,
        leaderboard,
        studio,
        project_scenes: ProjectScenes::default(),
        published,
        is_own_cdn,
        cdn_tokens: CdnTokens {
            cdn: cdn_token.clone(),
            own: tokens.as_ref().and_then(|all| all.of(Role::Teacher)).cloned(),
        },
        summarising: Arc::default(),
        waypoints: tokio::sync::Mutex::default(),
        car: CarFile::default(),
        thumbnails: tokio::sync::Mutex::default(),
        print_queue: PrintQueue::default(),
        rejudging: Arc::new(Semaphore::new(1)),
        sockets: Arc::new(Semaphore::new(MAX_SOCKETS)),
        started: Instant::now(),
        serves_own_user: options.listen.ip().is_loopback() && tokens.is_none(),
    });
    let (foxglove_origins, allowed_origins) = (options.foxglove_origins, options.allowed_origins);
    (
        app,
        Access {
            hosts,
            foxglove_origins,
            allowed_origins,
            tokens,
            cdn_token,
            wrong_tokens: WrongTokens::default(),
        },
    )
}

/// The environment variables that tell a student's program the address and the token of the server.
/// The program gets the students' token if there is one, otherwise the teacher's token.
fn environment(address: SocketAddr, tokens: Option<&Tokens>) -> BTreeMap<String, String> {
    let address = ("CHICANE_URL".to_owned(), format!("http://{}", reachable(address)));
    let token = tokens.and_then(|all| all.of(Role::Student).or(all.of(Role::Teacher)));
    let token = token.map(|token| ("CHICANE_TOKEN".to_owned(), token.secret().to_owned()));
    [Some(address), token].into_iter().flatten().collect()
}

/// The address at which a program on this machine reaches a server that listens on `address`.
pub fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
