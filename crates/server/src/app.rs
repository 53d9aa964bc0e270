//! Puts the parts together: data folder, sim thread, feed, routes, listener.

mod boot;
mod layers;
mod options;

pub use options::{Options, StartError};

use crate::access::{Access, Hosts, Token};
use crate::camera::Camera;
use crate::cdn::{CdnKeys, Installer, Source};
use crate::driver::{DriveAt, Simulator, Start};
use crate::evaluation::{self, Evaluations};
use crate::feed::Feed;
use crate::keeper::Keeper;
use crate::loader::Loader;
use crate::loudspeaker::Loudspeaker;
use crate::metrics::Metrics;
use crate::print::Prints;
use crate::ros::{Ros, bridge};
use crate::scene::CarFile;
use crate::websocket::MAX_SOCKETS;
use crate::{announce, listen, ros};
use boot::{bring_back_lost_worlds, bring_first_world, first_world};
use bytes::Bytes;
use chicane_store::Data;
use chicane_world::Profile;
use layers::with_layers;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// What handlers share.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

/// A world by name, and its revision if it was installed: it may come anew in another one.
type WorldRev = (String, Option<String>);

/// The parts of a simulator.
pub(crate) struct Parts {
    pub(crate) simulator: Simulator,
    pub(crate) loader: Loader,
    pub(crate) keeper: Keeper,
    pub(crate) feed: Feed,
    pub(crate) camera: Camera,
    pub(crate) loudspeaker: Loudspeaker,
    pub(crate) evaluations: Arc<Evaluations>,
    pub(crate) data: Arc<Data>,
    /// Folder whose files a student may name.
    pub(crate) workspace: PathBuf,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) profile: Arc<Profile>,
    /// Where worlds come from, for people.
    pub(crate) cdn: String,
    pub(crate) installer: Installer,
    /// Folder of what was published here.
    pub(crate) published: PathBuf,
    pub(crate) cdn_keys: CdnKeys,
    /// Worlds that are being, or were, looked into for the list.
    pub(crate) summarising: Mutex<BTreeSet<String>>,
    /// Waypoint files that were asked for, by world; one is made at a time.
    pub(crate) waypoints: tokio::sync::Mutex<BTreeMap<WorldRev, Option<Bytes>>>,
    /// The car for viewers.
    pub(crate) car: CarFile,
    /// Thumbnails that were asked for, by world and revision; one is made at a time.
    pub(crate) thumbnails: tokio::sync::Mutex<BTreeMap<WorldRev, Bytes>>,
    /// Prints that are being made.
    pub(crate) prints: Prints,
    /// Programs that speak rosbridge.
    pub(crate) bridge: Arc<bridge::Hub>,
    /// Places for open WebSockets.
    pub(crate) sockets: Arc<Semaphore>,
    pub(crate) started: Instant,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// A simulator that runs.
pub struct Server {
    address: SocketAddr,
    app: App,
    stop: watch::Sender<bool>,
    listening: tokio::task::JoinHandle<()>,
    thread: JoinHandle<()>,
    boot: watch::Receiver<Option<Result<(), String>>>,
    data: Arc<Data>,
    ros: Option<Ros>,
}

impl Server {
    /// Starts a simulator. It answers at once; its world comes a moment later.
    pub async fn start(mut options: Options) -> Result<Server, StartError> {
        if !options.listen.ip().is_loopback() && options.token.is_none() {
            return Err(StartError::NeedsToken(options.listen));
        }
        let data = Arc::new(Data::open(&options.data_dir)?);
        let settings = data.settings();
        options.library = options.library.with_installed(data.dir());
        evaluation::records::close_unfinished(&data)?;
        let (name, chosen) = first_world(&options, settings.last_world()?)?;
        let red = settings.lights(&name)?;
        let brightness = settings.brightness()?.unwrap_or(1.0);
        let listener = listen::bind(options.listen)
            .map_err(|reason| StartError::Listen { address: options.listen, reason })?;
        let address =
            listener.local_addr().map_err(|reason| StartError::Listen { address: options.listen, reason })?;

        // First, while nothing else opens sockets.
        let graph = match options.ros.take() {
            Some(options) => Some(ros::join(options).await.map_err(StartError::Ros)?),
            None => None,
        };
        let metrics = Arc::new(Metrics::default());
        let target = Arc::from(format!("{name}.world"));
        let transition = chicane_wire::Transition {
            kind: chicane_wire::TransitionKind::Boot,
            target,
            progress: chicane_wire::Num(0.0),
        };
        let loudspeaker = Loudspeaker::new();
        let badge = Arc::default();
        let start = Start { speed: options.speed, brightness, badge: Arc::clone(&badge), transition };
        let (simulator, thread) = Simulator::start(&start, Arc::clone(&metrics), loudspeaker.clone())
            .map_err(StartError::Thread)?;
        let profile = Arc::new(options.profile);
        let keeper = Keeper::new(Arc::clone(&data));
        let library = Arc::new(options.library);
        let loader = Loader {
            simulator: simulator.clone(),
            library: Arc::clone(&library),
            keeper: keeper.clone(),
            choosing: Arc::default(),
            profile: Arc::clone(&profile),
        };
        let feed = Feed::start(simulator.clone(), Arc::clone(&metrics));
        let (stop, stopped) = watch::channel(false);
        let published = data.dir().join("cdn");
        let secret = options.cdn_token.as_ref().map(|t| t.secret().to_owned());
        let (source, cdn, cdn_token) = match options.cdn {
            Some(url) => {
                let source = Source::web(&url, secret, options.cdn_patience).map_err(StartError::Cdn)?;
                (source, url, None)
            }
            // Its own needs no way round by the network.
            None => {
                let url = format!("http://{}/cdn", reachable(address));
                (Source::Folder(published.clone()), url, options.cdn_token)
            }
        };
        let report = crate::installing::show(simulator.clone());
        let installer = Installer::new(library, source, options.require_verified, report, stopped.clone());
        let cdn_keys = CdnKeys { cdn: cdn_token.clone(), own: options.token.clone() };
        let evaluations = Arc::new(Evaluations::new(evaluation::Parts {
            simulator: simulator.clone(),
            choosing: Arc::clone(&loader.choosing),
            keeper: keeper.clone(),
            feed: feed.clone(),
            data: Arc::clone(&data),
            profile: Arc::clone(&profile),
            badge,
            workspace: options.workspace.clone(),
            environment: environment(address, options.token.as_ref()),
            options: options.judge,
            loopback_only: options.listen.ip().is_loopback(),
        }));
        let app = App(Arc::new(Parts {
            simulator,
            loader,
            keeper,
            feed,
            evaluations,
            data: Arc::clone(&data),
            camera: Camera::new(Arc::clone(&profile)),
            loudspeaker,
            workspace: options.workspace,
            metrics,
            profile,
            cdn,
            installer,
            published,
            cdn_keys,
            summarising: Mutex::default(),
            waypoints: tokio::sync::Mutex::default(),
            car: CarFile::default(),
            thumbnails: tokio::sync::Mutex::default(),
            prints: Prints::default(),
            bridge: Arc::default(),
            sockets: Arc::new(Semaphore::new(MAX_SOCKETS)),
            started: Instant::now(),
        }));

        let allowed = options.allow_hosts.iter().map(|h| h.to_ascii_lowercase()).collect();
        let hosts = Hosts { allowed, network: !options.listen.ip().is_loopback() };
        announce::write(data.dir(), reachable(address), options.token.as_ref());
        let router = with_layers(app.clone(), Access { hosts, token: options.token, cdn_token });
        let listening = tokio::spawn(listen::serve(listener, router, Arc::clone(&app.metrics), stopped));
        let ros = graph.map(|graph| graph.start(&app.simulator, &app.camera, &app.profile));
        let ros = ros.transpose().map_err(StartError::Thread)?;
        let (booted, boot) = watch::channel(None);
        tokio::spawn(bring_first_world(app.clone(), name, red, chosen, booted));
        tokio::spawn(bring_back_lost_worlds(app.clone()));
        tokio::spawn(bridge::pump(app.clone()));
        Ok(Server { address, app, stop, listening, thread, boot, data, ros })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the first world is ready, or says why it will not be.
    pub async fn ready(&self) -> Result<(), String> {
        let mut boot = self.boot.clone();
        let outcome = match boot.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        outcome.unwrap_or_else(|| Err("the simulator was stopped".to_owned()))
    }

    /// Tells every subscriber of the event stream a line of the story.
    pub fn tell(&self, event: &chicane_wire::StoryEvent) {
        self.app.feed.tell(event);
    }

    /// Finds out how judging scripts can be run here, by trying: one line about it, or why not.
    pub async fn find_judge(&self) -> Result<String, String> {
        let finder = Arc::clone(self.app.evaluations.finder());
        let found = tokio::task::spawn_blocking(move || finder.setting()).await;
        let setting = found.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        let (setting, isolation) = setting;
        Ok(setting.describe(isolation))
    }

    /// Starts an evaluation, with drive commands by tick if there are any. Its id.
    pub async fn evaluate(
        &self,
        request: chicane_wire::StartRequest,
        drive: Vec<DriveAt>,
    ) -> Result<String, String> {
        let started = self.app.evaluations.start(request, drive.into()).await;
        started.map(|session| session.id).map_err(|e| e.text.into_owned())
    }

    /// The session as everyone sees it.
    pub fn session(&self) -> chicane_wire::CurrentSession {
        self.app.evaluations.current().answer()
    }

    /// Waits until the session that is under way, if one is, is over.
    pub async fn session_ended(&self) {
        self.app.evaluations.ended().await;
    }

    /// Ends the session, if there is one.
    pub async fn stop_session(&self) {
        self.app.evaluations.stop(chicane_session::StopCause::Asked).await;
    }

    /// Lines of a script's log that were kept, from this one on.
    pub fn log(&self, session: &str, from: usize) -> Result<Vec<String>, String> {
        evaluation::records::log(&self.data, session, from).map_err(|e| e.to_string())
    }

    /// The record of a session.
    pub fn record(&self, session: &str) -> Result<Option<chicane_wire::Record>, String> {
        evaluation::records::record(&self.data, Some(session)).map_err(|e| e.to_string())
    }

    /// Ends it: every stream, every step, every connection, within a second. The data folder is
    /// free afterwards.
    pub async fn stop(self) {
        // First, while there is a world that it can be halted in.
        self.app.evaluations.shut_down().await;
        self.app.simulator.stop();
        self.app.feed.close();
        self.stop.send_replace(true);
        let _ = self.listening.await;
        announce::remove(self.data.dir());
        if let Some(ros) = self.ros {
            ros.stop().await;
        }
        let thread = tokio::task::spawn_blocking(move || self.thread.join());
        let _ = tokio::time::timeout(Duration::from_millis(300), thread).await;
        drop(self.app);
        let last_words = async {
            while Arc::strong_count(&self.data) > 1 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_millis(300), last_words).await;
    }
}

/// What a student's program finds in its environment.
fn environment(address: SocketAddr, token: Option<&Token>) -> BTreeMap<String, String> {
    let address = ("CHICANE_URL".to_owned(), format!("http://{}", reachable(address)));
    let token = token.map(|token| ("CHICANE_TOKEN".to_owned(), token.secret().to_owned()));
    [Some(address), token].into_iter().flatten().collect()
}

/// An address that a program on this machine can ask.
pub fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
