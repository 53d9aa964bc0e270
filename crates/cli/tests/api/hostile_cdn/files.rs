//! Servers whose files are not what they should be.

use super::*;

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
