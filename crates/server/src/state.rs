//! The state that all handlers share.

use crate::access::has_token;
use crate::api::ProjectScenes;
use crate::metrics::HttpMetrics;
use crate::print_queue::PrintQueue;
use axum::http::HeaderMap;
use bytes::Bytes;
use chicane_bridge::Bridge;
use chicane_host::Host;
use chicane_host::scene::CarFile;
use chicane_leaderboard::Leaderboard;
use chicane_recording::Recorder;
use chicane_remote::Token;
use chicane_remote::cdn::Installer;
use chicane_replay::Replays;
use chicane_studio::Studio;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::Semaphore;

/// Largest number of open WebSockets.
pub(crate) const MAX_SOCKETS: usize = 256;

/// A reference to the shared state. Clones refer to the same state.
#[derive(Clone)]
pub(crate) struct App {
    state: Arc<AppState>,
    /// Clients of `/rosbridge` and `/foxglove`.
    pub(crate) bridge: Bridge,
}

/// A cache key: the name of a world and its revision, which is `None` for a world without
/// revisions. The key has the revision, because another revision can later be installed, or built
/// from a project.
type WorldRev = (String, Option<String>);

/// The state of the web server. It dereferences to [`Host`], the running simulator.
pub(crate) struct AppState {
    pub(crate) host: Arc<Host>,
    pub(crate) http_metrics: Arc<HttpMetrics>,
    /// URL of the CDN that `GET /worldpub` returns.
    pub(crate) cdn: String,
    pub(crate) installer: Installer,
    pub(crate) recorder: Recorder,
    /// Finished runs that viewers replay.
    pub(crate) replays: Replays,
    /// The leaderboard; `None` if the server was started without one.
    pub(crate) leaderboard: Option<Arc<Leaderboard>>,
    /// The world builder.
    pub(crate) studio: Arc<Studio>,
    /// The scenes of projects, for viewers.
    pub(crate) project_scenes: ProjectScenes,
    /// Folder of the worlds that are published at `/cdn`.
    pub(crate) published: PathBuf,
    /// Whether worlds are installed from `/cdn`, and not from another CDN.
    pub(crate) is_own_cdn: bool,
    pub(crate) cdn_tokens: CdnTokens,
    /// Names of the worlds whose summaries are being made for `GET /worlds`, so that no summary is
    /// made twice at the same time.
    pub(crate) summarising: Arc<Mutex<BTreeSet<String>>>,
    /// Cache of waypoint files. The value is `None` for a world without a route. The lock is held
    /// while a file is made.
    pub(crate) waypoints: tokio::sync::Mutex<BTreeMap<WorldRev, Option<Bytes>>>,
    /// The glTF file of the car.
    pub(crate) car: CarFile,
    /// Cache of thumbnails (PNG). The lock is held while a thumbnail is made.
    pub(crate) thumbnails: tokio::sync::Mutex<BTreeMap<WorldRev, Bytes>>,
    pub(crate) print_queue: PrintQueue,
    /// Holds one permit, so that only one recorded run at a time is judged by the rules of a
    /// project.
    pub(crate) rejudging: Arc<Semaphore>,
    /// One permit for each WebSocket that may still be opened.
    pub(crate) sockets: Arc<Semaphore>,
    /// Start of the server.
    pub(crate) started: Instant,
    /// Whether the server accepts connections from this machine only, and needs no token. In that
    /// case, its clients count as programs of the user who runs the server.
    pub(crate) serves_own_user: bool,
}

/// The tokens that give access to private published worlds.
#[derive(Debug, Clone)]
pub(crate) struct CdnTokens {
    /// The token of the CDN at `/cdn`. `None`: the CDN has no token of its own.
    pub(crate) cdn: Option<Token>,
    /// The teacher's token. `None`: the simulator has no token.
    pub(crate) own: Option<Token>,
}

impl CdnTokens {
    /// Whether a request carries one of the tokens.
    pub(crate) fn admit(&self, headers: &HeaderMap, port: u16) -> bool {
        [&self.cdn, &self.own].into_iter().flatten().any(|token| has_token(token, headers, port))
    }
}

impl App {
    pub(crate) fn new(state: AppState) -> App {
        let bridge = Bridge::new(Arc::clone(&state.host));
        App { state: Arc::new(state), bridge }
    }

    /// The same state, with a separate set of clients of `/rosbridge` and `/foxglove`.
    pub(crate) fn with_own_bridge(&self) -> App {
        App { state: Arc::clone(&self.state), bridge: self.bridge.with_own_clients() }
    }
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.state
    }
}

impl Deref for AppState {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}
