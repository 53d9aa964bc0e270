//! CDNs that lie, stall, flood and lead astray: each is refused with the right status, nothing is left
//! outside the staging folder, and the running world notices nothing.

use crate::support::{Api, Scratch, Simulator, number, setup};
use chicane_server::CDN_PATIENCE;
use chicane_store::Access;
use chicane_testkit::cdn::{Asked, Reply, WebServer, honest, packed, publish};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How long a server may be silent that is slow on purpose.
const LITTLE_PATIENCE: Duration = Duration::from_secs(1);

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
        refused_by(&server, &self.id, CDN_PATIENCE)
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

#[test]
fn one_byte_that_is_changed() {
    let stage = Stage::new();
    for ending in [".world", ".npy", ".dae", ".py", "model.config", "manifest.json"] {
        let refused = stage.refused(move |asked, reply| match reply {
            Reply::File(mut bytes) if asked.path.ends_with(ending) => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                Reply::File(bytes)
            }
            reply => reply,
        });
        assert_eq!(refused.0, 422, "{ending}: {refused:?}");
    }
}

#[test]
fn a_manifest_that_was_made_to_fit() {
    // A mirror that changes a file and every sum of it still does not have the id.
    let stage = Stage::new();
    let path = stage.file(".py");
    let script = b"def evaluate(sim):\n    return 100\n".to_vec();
    let mut files = stage.manifest()["files"].as_array().expect("files").clone();
    for file in files.iter_mut().filter(|f| f["path"] == json!(path)) {
        file["size"] = json!(script.len());
        file["sha256"] = json!(chicane_store::Sum::of(&script).hex());
    }
    let mut manifest = stage.manifest();
    manifest["files"] = json!(files);
    let manifest = manifest.to_string().into_bytes();
    let refused = stage.refused(move |asked, reply| {
        if asked.path.ends_with("manifest.json") {
            Reply::File(manifest.clone())
        } else if asked.path.ends_with(".py") {
            Reply::File(script.clone())
        } else {
            reply
        }
    });
    assert_status(&refused, 422, "not the sum");
    // A world under the id of another.
    let other = Stage::new();
    let text = other.meta().to_string().replace(&other.id, &stage.id);
    let mut files = other.manifest().to_string().replace(&other.id, &stage.id);
    files = files.replace(&other.rev, &stage.rev);
    let folder = Arc::clone(&other.folder);
    let (id, other_id, rev, other_rev) =
        (stage.id.clone(), other.id.clone(), stage.rev.clone(), other.rev.clone());
    let text = text.replace(&other.rev, &stage.rev);
    let refused = stage.refused(move |asked, _| {
        if asked.path.ends_with("meta.json") {
            return Reply::File(text.clone().into_bytes());
        }
        if asked.path.ends_with("manifest.json") {
            return Reply::File(files.clone().into_bytes());
        }
        let path = asked.path.replace(&id, &other_id).replace(&rev, &other_rev);
        honest(folder.path(), &Asked { path, ..asked.clone() })
    });
    assert_eq!(refused.0, 422, "{refused:?}");
}

#[test]
fn answers_that_are_short_or_broken() {
    let stage = Stage::new();
    for ending in ["meta.json", "manifest.json", ".world"] {
        let refused = stage.refused(move |asked, reply| match reply {
            Reply::File(bytes) if asked.path.ends_with(ending) => {
                Reply::Short(bytes[..bytes.len() / 2].to_vec(), bytes.len())
            }
            reply => reply,
        });
        assert_status(&refused, 502, "broke off");
    }
    // All of it, by its own account, and less than was promised.
    let refused = stage.refused(|asked, reply| match reply {
        Reply::File(bytes) if asked.path.ends_with(".world") => {
            Reply::File(bytes[..bytes.len() - 1].to_vec())
        }
        reply => reply,
    });
    assert_status(&refused, 422, "smaller than its manifest says");
    let refused = stage.refused(|_, _| Reply::Raw(b"this is not HTTP\r\n\r\n".to_vec()));
    assert_status(&refused, 502, "the CDN failed");
    let refused = stage.refused(|_, _| Reply::Raw(Vec::new()));
    assert_status(&refused, 502, "the CDN failed");
    for status in [500, 503, 418, 204] {
        let refused = stage.refused(move |_, _| Reply::Status(status));
        assert_status(&refused, 502, &status.to_string());
    }
    let gone =
        stage.refused(|asked, reply| if asked.path.ends_with(".dae") { Reply::Status(404) } else { reply });
    assert_status(&gone, 502, "does not have");
    for status in [404, 410, 401, 403] {
        let refused = stage.refused(move |_, _| Reply::Status(status));
        assert_eq!(refused, (404, "world not published".to_owned()));
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = closed.local_addr().expect("an address");
    drop(closed);
    let simulator = setup().cdn(format!("http://{address}")).start();
    let refused = simulator.api().refused("/worlds/install", json!({"world_id": stage.id}));
    assert_status(&refused, 502, "can't be reached");
}

#[test]
fn answers_without_end() {
    let stage = Stage::new();
    let meta =
        stage.refused(|asked, reply| if asked.path.ends_with("meta.json") { Reply::Endless } else { reply });
    assert_status(&meta, 413, "meta.json is larger than 1 MiB");
    let manifest = stage
        .refused(|asked, reply| if asked.path.ends_with("manifest.json") { Reply::Endless } else { reply });
    assert_status(&manifest, 413, "manifest.json is larger than 2 MiB");
    let file =
        stage.refused(|asked, reply| if asked.path.ends_with(".dae") { Reply::Endless } else { reply });
    assert_status(&file, 422, "larger than its manifest says");
    let unsaid = stage
        .without_manifest(|asked, reply| if asked.path.ends_with(".dae") { Reply::Endless } else { reply });
    assert_status(&unsaid, 413, "larger than 64 MiB");
}

#[test]
fn answers_that_take_their_time() {
    let stage = Stage::new();
    for ending in ["meta.json", "manifest.json", ".npy"] {
        let started = Instant::now();
        let silent = stage.refused_soon(
            move |asked, reply| if asked.path.ends_with(ending) { Reply::Silence } else { reply },
        );
        assert_status(&silent, 502, "no answer came");
        // A byte now and then is no answer either.
        let dripping = stage.refused_soon(move |asked, reply| {
            if asked.path.ends_with(ending) { Reply::Drip(Duration::from_millis(20)) } else { reply }
        });
        assert_status(&dripping, 502, "too slowly");
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }
}

#[test]
fn redirects() {
    let stage = Stage::new();
    let elsewhere = WebServer::of(stage.folder.path());
    let to = elsewhere.url();
    let refused = stage.refused(move |asked, _| Reply::Redirect(format!("{to}{}", asked.path)));
    assert_status(&refused, 502, "another host");
    assert!(elsewhere.asked().is_empty());
    for place in
        ["file:///etc/passwd", "http://me@127.0.0.1/", "//localhost/x", "http://169.254.169.254/latest"]
    {
        let refused = stage.refused(move |_, _| Reply::Redirect(place.to_owned()));
        assert_status(&refused, 502, "leads");
    }
    let round = stage.refused(|asked, _| Reply::Redirect(asked.path.clone()));
    assert_status(&round, 502, "more than 5 times");
    // On its own host a CDN may move things.
    let folder = Arc::clone(&stage.folder);
    let server = WebServer::start(move |asked| match asked.path.strip_prefix("/moved") {
        Some(path) => honest(folder.path(), &Asked { path: path.to_owned(), ..asked.clone() }),
        None => Reply::Redirect(format!("/moved{}", asked.path)),
    });
    let simulator = setup().cdn(server.url()).start();
    assert_eq!(simulator.api().post("/worlds/install", json!({"world_id": stage.id}))["verified"], true);
}

#[test]
fn paths_that_lead_astray() {
    let stage = Stage::new();
    let long = format!("meshes/{}", "a".repeat(1000));
    for bad in [
        "../../../../etc/cron.d/x",
        "worlds/../../x",
        "/etc/passwd",
        "C:\\windows\\x",
        "worlds\\x.world",
        "meshes/a/./b",
        "meshes//b",
        "meshes/.ssh/x",
        "meshes/a\u{0}b",
        "meshes/a b",
        "meshes/ä.png",
        "other/x",
        "meta.json",
        "meshes/",
        "",
        &long,
    ] {
        let mut meta = stage.meta();
        meta["files"].as_array_mut().expect("files").push(json!(bad));
        assert_status(&stage.with_meta(&meta), 422, "path");
        let mut files = stage.manifest()["files"].as_array().expect("files").clone();
        files.push(json!({"path": bad, "size": 1, "sha256": "0".repeat(64)}));
        assert_status(&stage.with_files(&files), 422, "path");
    }
    for (a, b) in [("meshes/x/A.png", "meshes/x/a.png"), ("meshes/x", "meshes/x/y"), ("meshes/q", "meshes/q")]
    {
        let mut files = stage.manifest()["files"].as_array().expect("files").clone();
        files.extend([a, b].map(|path| json!({"path": path, "size": 1, "sha256": "0".repeat(64)})));
        assert_status(&stage.with_files(&files), 422, "path");
    }
    // One list says more than the other.
    let mut meta = stage.meta();
    meta["files"].as_array_mut().expect("files").push(json!("meshes/more.dae"));
    assert_status(&stage.with_meta(&meta), 422, "different files");
}

#[cfg(unix)]
#[test]
fn links_in_the_staging_folder_are_not_followed() {
    // Somebody else on this machine can't be kept from it; the CDN can't make one, and we never write through one.
    let stage = Stage::new();
    let (data, outside) = (Arc::new(Scratch::new()), Scratch::new());
    let staged = data.path().join("staging").join(&stage.id);
    std::fs::create_dir_all(staged.join("files/routes")).expect("made");
    let target = outside.path().join("target");
    std::fs::write(&target, "mine").expect("written");
    std::os::unix::fs::symlink(&target, staged.join(format!("files/routes/custom_{}.npy", stage.id)))
        .expect("a link");
    std::os::unix::fs::symlink(outside.path(), staged.join("files/meshes")).expect("a link");
    std::fs::write(staged.join("rev"), &stage.rev).expect("written");
    let server = WebServer::of(stage.folder.path());
    let simulator = crate::support::setup_in(&data).cdn(server.url()).start();
    let answer = simulator.api().try_post("/worlds/install", &json!({"world_id": stage.id}).to_string());
    assert_eq!(std::fs::read_to_string(&target).expect("there"), "mine", "{}", answer.text());
    assert_eq!(std::fs::read_dir(outside.path()).expect("there").count(), 1, "{}", answer.text());
    let again = simulator.api().post("/worlds/install", json!({"world_id": stage.id}));
    assert_eq!(again["verified"], true);
}

#[test]
fn too_much_of_everything() {
    let stage = Stage::new();
    let mut meta = stage.meta();
    // A million files; and as many as fit into the document.
    meta["files"] = (0..1_000_000).map(|i| json!(format!("meshes/{i}"))).collect();
    assert_status(&stage.with_meta(&meta), 413, "");
    meta["files"] = (0..30_000).map(|i| json!(format!("meshes/{i}"))).collect();
    assert_status(&stage.with_meta(&meta), 413, "2000");
    let one = |path: &str, size: u64| json!({"path": path, "size": size, "sha256": "0".repeat(64)});
    let files = |more: Vec<Value>| {
        let mut files = stage.manifest()["files"].as_array().expect("files").clone();
        files.extend(more);
        files
    };
    // A mesh of 300 MB, said and unsaid.
    assert_status(&stage.with_files(&files(vec![one("meshes/big.dae", 300_000_000)])), 413, "64 MiB");
    assert_status(&stage.with_files(&files(vec![one("meshes/big.dae", u64::MAX)])), 413, "64 MiB");
    let five = (0..5).map(|i| one(&format!("meshes/{i}.dae"), 60 << 20)).collect();
    assert_status(&stage.with_files(&files(five)), 413, "256 MiB");
    let said = stage.without_manifest(|asked, reply| match reply {
        Reply::File(_) if asked.path.ends_with(".dae") => {
            Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 300000000\r\n\r\n".to_vec())
        }
        reply => reply,
    });
    assert!(matches!(said.0, 413 | 502), "{said:?}");
    // Nesting without end in a document.
    let deep = [b"{\"rev\":\"abcd1234\",\"files\":".to_vec(), vec![b'['; 200_000]].concat();
    let refused = stage.refused(move |_, _| Reply::File(deep.clone()));
    assert_status(&refused, 422, "meta.json is not JSON");
}

#[test]
fn files_that_are_no_world() {
    let stage = Stage::new();
    let replaced = |ending: &'static str, bytes: Vec<u8>| {
        stage.without_manifest(move |asked, reply| match reply {
            Reply::File(_) if asked.path.ends_with(ending) => Reply::File(bytes.clone()),
            reply => reply,
        })
    };
    assert_status(&replaced(".world", b"<sdf version='1.7'><world".to_vec()), 422, "worlds/");
    assert_status(&replaced(".world", b"<!DOCTYPE x [<!ENTITY a 'b'>]><sdf/>".to_vec()), 422, "DOCTYPE");
    assert_status(&replaced(".npy", b"no table".to_vec()), 422, "routes/");
    let json = format!("custom_{}.json", stage.id);
    let json: &'static str = Box::leak(json.into_boxed_str());
    assert_status(&replaced(json, b"{\"version\":".to_vec()), 422, "evaluations/");
    // A world without its track.
    let id = stage.id.clone();
    let bare = format!("<sdf version='1.7'><world name='custom_{id}'></world></sdf>");
    assert_status(&replaced(".world", bare.into_bytes()), 422, "track model");
    let mut meta = stage.meta();
    meta["files"]
        .as_array_mut()
        .expect("files")
        .retain(|f| !f.as_str().is_some_and(|p| p.starts_with("models/")));
    let meta = meta.to_string().into_bytes();
    let refused = stage.without_manifest(move |asked, reply| {
        if asked.path.ends_with("meta.json") { Reply::File(meta.clone()) } else { reply }
    });
    assert_status(&refused, 422, "track model");
    // A picture that would be of gigabytes when it is decoded.
    let mut bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bomb.extend([60_000u32.to_be_bytes(), 60_000u32.to_be_bytes()].concat());
    bomb.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    let mut meta = stage.meta();
    meta["files"].as_array_mut().expect("files").push(json!("meshes/bomb.png"));
    let meta = meta.to_string().into_bytes();
    let refused = stage.without_manifest(move |asked, reply| {
        if asked.path.ends_with("meta.json") {
            Reply::File(meta.clone())
        } else if asked.path.ends_with("bomb.png") {
            Reply::File(bomb.clone())
        } else {
            reply
        }
    });
    assert_status(&refused, 422, "too large");
}

#[test]
fn a_description_that_changes_all_the_time() {
    let stage = Stage::new();
    let (count, rev, base) = (AtomicUsize::new(0), stage.rev.clone(), stage.meta());
    // Every time another revision that is not there: nothing is mixed from two.
    let refused = stage.refused(move |asked, reply| {
        if !asked.path.ends_with("meta.json") {
            return reply;
        }
        let mut meta = base.clone();
        meta["rev"] = json!(format!("{}{}", &rev[..8], count.fetch_add(1, Relaxed)));
        Reply::File(meta.to_string().into_bytes())
    });
    assert_status(&refused, 502, "does not have");
    let mut meta = stage.meta();
    meta["world_id"] = json!("f".repeat(32));
    assert_status(&stage.with_meta(&meta), 422, "another world");
    for rev in ["../x/abcd", "ABCDEFGH", "short", "x".repeat(25).as_str(), "abcd\nefgh"] {
        meta = stage.meta();
        meta["rev"] = json!(rev);
        assert_status(&stage.with_meta(&meta), 422, "rev");
    }
}

#[test]
fn a_proven_world_is_not_replaced_by_one_that_is_not() {
    let stage = Stage::new();
    let folder = Arc::clone(&stage.folder);
    let turned = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (own, mut meta) = (Arc::clone(&turned), stage.meta());
    meta["rev"] = json!("evil0001");
    let rev = stage.rev.clone();
    let server = WebServer::start(move |asked| {
        if !own.load(Relaxed) {
            return honest(folder.path(), asked);
        }
        match asked.path.rsplit('/').next() {
            Some("meta.json") => Reply::File(meta.to_string().into_bytes()),
            Some("manifest.json") => Reply::Status(404),
            _ => {
                honest(folder.path(), &Asked { path: asked.path.replace("evil0001", &rev), ..asked.clone() })
            }
        }
    });
    let simulator = setup().cdn(server.url()).start();
    let mut api = simulator.api();
    let body = json!({"world_id": stage.id});
    assert_eq!(api.post("/worlds/install", body.clone())["verified"], true);
    turned.store(true, Relaxed);
    assert_status(&api.refused("/worlds/install", body), 422, "no manifest.json");
    api.post("/switch", json!({"world_id": stage.id}));
    assert_eq!(api.get("/worldpub")["rev"], stage.rev);
}
