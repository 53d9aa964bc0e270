//! CDNs that lie, stall, flood and lead astray: each is refused with the right status, nothing is left
//! outside the staging folder, and the running world notices nothing.

mod answers;
mod files;

use crate::support::{Api, Scratch, Simulator, number, setup};
use chicane_remote::cdn::CDN_TIMEOUT;
use chicane_store::Access;
use chicane_testkit::cdn::{Asked, Reply, WebServer, honest, packed, publish};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// How long a server may be silent that is slow on purpose.
const LITTLE_PATIENCE: Duration = Duration::from_secs(2);

/// A published world, and a server of it that is to misbehave.
struct Stage {
    folder: Arc<Scratch>,
    id: String,
    rev: String,
    paths: Vec<String>,
}

impl Stage {
    fn new() -> Stage {
        let folder = Arc::new(Scratch::new());
        let package = packed("oval", Access::Public);
        publish(&package, folder.path());
        Stage {
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

    /// The file whose path has this ending.
    fn file(&self, ending: &str) -> String {
        self.paths.iter().find(|p| p.ends_with(ending)).unwrap_or_else(|| panic!("no {ending}")).clone()
    }

    /// What is refused when the server answers like this.
    fn refused(&self, answer: impl Fn(&Asked, Reply) -> Reply + Send + Sync + 'static) -> (u16, String) {
        let folder = Arc::clone(&self.folder);
        let server = WebServer::start(move |asked| answer(asked, honest(folder.path(), asked)));
        refused_by(&server, &self.id, CDN_TIMEOUT)
    }

    /// The same of a simulator with little patience.
    fn refused_soon(&self, answer: impl Fn(&Asked, Reply) -> Reply + Send + Sync + 'static) -> (u16, String) {
        let folder = Arc::clone(&self.folder);
        let server = WebServer::start(move |asked| answer(asked, honest(folder.path(), asked)));
        refused_by(&server, &self.id, LITTLE_PATIENCE)
    }

    /// The same with another meta.json.
    fn with_meta(&self, meta: &Value) -> (u16, String) {
        let meta = meta.to_string().into_bytes();
        self.refused(
            move |asked, reply| {
                if asked.path.ends_with("/meta.json") { Reply::File(meta.clone()) } else { reply }
            },
        )
    }

    /// The same with another list of files, in both documents.
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

    /// The same for a world without a manifest.
    fn without_manifest(
        &self,
        answer: impl Fn(&Asked, Reply) -> Reply + Send + Sync + 'static,
    ) -> (u16, String) {
        self.refused(move |asked, reply| {
            if asked.path.ends_with("/manifest.json") { Reply::Status(404) } else { answer(asked, reply) }
        })
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// Has a simulator install from a server, which must be refused, and checks what holds for every refusal.
fn refused_by(server: &WebServer, id: &str, patience: Duration) -> (u16, String) {
    let simulator = setup().cdn(server.url()).patience(patience).start();
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

/// All paths of the data folder and of the folder above that are not staged, nor the database.
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
