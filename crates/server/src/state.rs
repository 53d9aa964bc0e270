//! The state that handlers share.

use crate::access::is_carried;
use crate::bridge::hub::Hub;
use crate::metrics::HttpMetrics;
use crate::print::Prints;
use axum::http::HeaderMap;
use bytes::Bytes;
use chicane_host::Host;
use chicane_host::scene::CarFile;
use chicane_remote::Token;
use chicane_remote::cdn::Installer;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::Semaphore;

/// WebSockets that may be open at a time.
pub(crate) const MAX_SOCKETS: usize = 256;

/// The state that handlers share.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

/// The name of a world and, if it was installed, its revision. Another revision of the same world
/// can be installed later.
type WorldRev = (String, Option<String>);

/// The parts of a web server. Handlers reach the simulator's parts through it.
pub(crate) struct Parts {
    pub(crate) host: Arc<Host>,
    pub(crate) http_metrics: Arc<HttpMetrics>,
    /// Address of the CDN, for people.
    pub(crate) cdn: String,
    pub(crate) installer: Installer,
    /// Folder of the worlds that were published here.
    pub(crate) published: PathBuf,
    pub(crate) cdn_keys: CdnKeys,
    /// Worlds whose summary is being made, or was made, for the list.
    pub(crate) summarising: Mutex<BTreeSet<String>>,
    /// Waypoint files made so far. The lock is held while one is made.
    pub(crate) waypoints: tokio::sync::Mutex<BTreeMap<WorldRev, Option<Bytes>>>,
    /// The car as glTF, for viewers.
    pub(crate) car: CarFile,
    /// Thumbnails made so far. The lock is held while one is made.
    pub(crate) thumbnails: tokio::sync::Mutex<BTreeMap<WorldRev, Bytes>>,
    /// Prints that are being made.
    pub(crate) prints: Prints,
    /// Clients of the rosbridge endpoint.
    pub(crate) bridge: Arc<Hub>,
    /// One permit for each WebSocket that may be opened.
    pub(crate) sockets: Arc<Semaphore>,
    pub(crate) started: Instant,
}

/// The tokens that open private published worlds.
#[derive(Debug, Clone)]
pub(crate) struct CdnKeys {
    /// The token of the CDN.
    pub(crate) cdn: Option<Token>,
    /// The token of the simulator.
    pub(crate) own: Option<Token>,
}

impl CdnKeys {
    /// Whether a request carries one of the tokens.
    pub(crate) fn fit(&self, headers: &HeaderMap, port: u16) -> bool {
        [&self.cdn, &self.own].into_iter().flatten().any(|token| is_carried(token, headers, port))
    }
}

impl App {
    pub(crate) fn new(parts: Parts) -> App {
        App(Arc::new(parts))
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Deref for Parts {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}
