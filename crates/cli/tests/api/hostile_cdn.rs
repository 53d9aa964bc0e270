//! CDNs that send false data, stall, send too much or redirect to another host. Each installation
//! from such a CDN is refused with the right status, leaves no files outside the staging folder,
//! and does not affect the running world.

mod answers;
mod files;

use crate::support::{Api, Simulator, TempFolder, number, setup};
use chicane_remote::cdn::CDN_TIMEOUT;
use chicane_store::Access;
use chicane_testkit::cdn::{ReceivedRequest, Reply, WebServer, file_response, packed, publish};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// CDN timeout for tests in which the server stalls.
const SHORT_CDN_TIMEOUT: Duration = Duration::from_secs(2);

/// A published world. Its files are served by a CDN that misbehaves.
struct HostileCdn {
    folder: Arc<TempFolder>,
    id: String,
    rev: String,
    paths: Vec<String>,
}

impl HostileCdn {
    fn new() -> HostileCdn {
        let folder = Arc::new(TempFolder::new());
        let package = packed("oval", Access::Public);
        publish(&package, folder.path());
        HostileCdn {
            id: package.id.to_string(),
            rev: package.meta.rev.as_str().to_owned(),
            paths: package.files.iter().map(|(path, _)| path.to_string()).collect(),
            folder,
        }
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("worlds").join(&self.id)
    }

    fn meta(&self) -> Value {
        read(&self.root().join("meta.json"))
    }

    fn manifest(&self) -> Value {
        read(&self.root().join(&self.rev).join("manifest.json"))
    }

    /// The path of the first file whose path ends with `ending`.
    fn file(&self, ending: &str) -> String {
        self.paths.iter().find(|p| p.ends_with(ending)).unwrap_or_else(|| panic!("no {ending}")).clone()
    }

    /// Tries to install the world from a CDN whose replies `answer` changes. Returns the status and
    /// text of the refusal.
    fn refused(
        &self,
        answer: impl Fn(&ReceivedRequest, Reply) -> Reply + Send + Sync + 'static,
    ) -> (u16, String) {
        let folder = Arc::clone(&self.folder);
        let server = WebServer::start(move |asked| answer(asked, file_response(folder.path(), asked)));
        refused_by(&server, &self.id, CDN_TIMEOUT)
    }

    /// Same as [`HostileCdn::refused`], with a short CDN timeout.
    fn refused_soon(
        &self,
        answer: impl Fn(&ReceivedRequest, Reply) -> Reply + Send + Sync + 'static,
    ) -> (u16, String) {
        let folder = Arc::clone(&self.folder);
        let server = WebServer::start(move |asked| answer(asked, file_response(folder.path(), asked)));
        refused_by(&server, &self.id, SHORT_CDN_TIMEOUT)
    }

    /// Tries to install the world from a CDN that sends another `meta.json`. Returns the status and
    /// text of the refusal.
    fn with_meta(&self, meta: &Value) -> (u16, String) {
        let meta = meta.to_string().into_bytes();
        self.refused(
            move |asked, reply| {
                if asked.path.ends_with("/meta.json") { Reply::File(meta.clone()) } else { reply }
            },
        )
    }

    /// Tries to install the world from a CDN that sends another list of files in `meta.json` and
    /// `manifest.json`. Returns the status and text of the refusal.
    fn with_files(&self, files: &[Value]) -> (u16, String) {
        let (mut meta, mut manifest) = (self.meta(), self.manifest());
        meta["files"] = files.iter().map(|f| f["path"].clone()).collect();
        manifest["files"] = json!(files);
        let (meta, manifest) = (meta.to_string().into_bytes(), manifest.to_string().into_bytes());
        self.refused(move |asked, reply| match asked.path.rsplit('/').next() {
            Some("meta.json") => Reply::File(meta.clone()),
            Some("manifest.json") => Reply::File(manifest.clone()),
            _ => reply,
        })
    }

    /// Tries to install the world from a CDN that has no `manifest.json` and whose other replies
    /// `answer` changes. Returns the status and text of the refusal.
    fn without_manifest(
        &self,
        answer: impl Fn(&ReceivedRequest, Reply) -> Reply + Send + Sync + 'static,
    ) -> (u16, String) {
        self.refused(move |asked, reply| {
            if asked.path.ends_with("/manifest.json") { Reply::Status(404) } else { answer(asked, reply) }
        })
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// Requests an installation that must be refused. Checks the properties that all refusals have in
/// common. Returns the status and text of the refusal.
fn refused_by(server: &WebServer, id: &str, patience: Duration) -> (u16, String) {
    let simulator = setup().cdn(server.url()).cdn_timeout(patience).start();
    let mut api = simulator.api();
    let (before, files) = (api.time(), outside_staging(&simulator));
    let refused = api.refused("/worlds/install", json!({"world_id": id}));
    assert_eq!(outside_staging(&simulator), files, "{refused:?}");
    assert_untouched(&mut api, before);
    assert!(!refused.1.contains('\n') && refused.1.len() < 400, "{refused:?}");
    refused
}

fn assert_untouched(api: &mut Api, before: f64) {
    let status = api.get("/status");
    assert_eq!((&status["current"], &status["running"]), (&json!("oval"), &json!(true)));
    assert!(number(&api.get("/clock")["sim_time"]) >= before);
    let worlds = api.get("/worlds");
    let installed = worlds["worlds"].as_array().expect("worlds").iter().filter(|w| w["deletable"] == true);
    assert_eq!(installed.count(), 0);
}

/// All paths in the data folder, except staged files, the database, and an empty folder `worlds`.
fn outside_staging(simulator: &Simulator) -> BTreeSet<String> {
    fn walk(folder: &Path, all: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if name.starts_with("chicane.db")
                || name == "staging"
                || name == "worlds" && path.read_dir().is_ok_and(|mut d| d.next().is_none())
            {
                continue;
            }
            all.insert(path.display().to_string());
            if path.is_dir() {
                walk(&path, all);
            }
        }
    }
    let mut all = BTreeSet::new();
    walk(simulator.folder(), &mut all);
    all
}

#[track_caller]
fn assert_status(refused: &(u16, String), status: u16, word: &str) {
    assert!(refused.0 == status && refused.1.contains(word), "{refused:?}, not {status} with {word:?}");
}
