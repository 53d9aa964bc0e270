//! Servers whose files are modified, invalid or malicious.

use super::*;

#[test]
fn a_file_with_one_changed_byte_is_refused() {
    let cdn = HostileCdn::new();
    for ending in [".world", ".npy", ".dae", ".py", "model.config", "manifest.json"] {
        let refused = cdn.refused(move |asked, reply| match reply {
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
fn a_file_with_a_forged_manifest_is_refused() {
    // A malicious mirror may change a file and all hashes. Then the manifest does not match the id
    // of the world.
    let cdn = HostileCdn::new();
    let path = cdn.file(".py");
    let script = b"def evaluate(sim):\n    return 100\n".to_vec();
    let mut files = cdn.manifest()["files"].as_array().expect("files").clone();
    for file in files.iter_mut().filter(|f| f["path"] == json!(path)) {
        file["size"] = json!(script.len());
        file["sha256"] = json!(chicane_store::Sum::of(&script).hex());
    }
    let mut manifest = cdn.manifest();
    manifest["files"] = json!(files);
    let manifest = manifest.to_string().into_bytes();
    let refused = cdn.refused(move |asked, reply| {
        if asked.path.ends_with("manifest.json") {
            Reply::File(manifest.clone())
        } else if asked.path.ends_with(".py") {
            Reply::File(script.clone())
        } else {
            reply
        }
    });
    assert_status(&refused, 422, "not the sum");
    // The server sends the files of another world under this id.
    let other = HostileCdn::new();
    let text = other.meta().to_string().replace(&other.id, &cdn.id);
    let mut files = other.manifest().to_string().replace(&other.id, &cdn.id);
    files = files.replace(&other.rev, &cdn.rev);
    let folder = Arc::clone(&other.folder);
    let (id, other_id, rev, other_rev) =
        (cdn.id.clone(), other.id.clone(), cdn.rev.clone(), other.rev.clone());
    let text = text.replace(&other.rev, &cdn.rev);
    let refused = cdn.refused(move |asked, _| {
        if asked.path.ends_with("meta.json") {
            return Reply::File(text.clone().into_bytes());
        }
        if asked.path.ends_with("manifest.json") {
            return Reply::File(files.clone().into_bytes());
        }
        let path = asked.path.replace(&id, &other_id).replace(&rev, &other_rev);
        file_response(folder.path(), &ReceivedRequest { path, ..asked.clone() })
    });
    assert_eq!(refused.0, 422, "{refused:?}");
}

#[test]
fn invalid_paths_are_refused() {
    let cdn = HostileCdn::new();
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
        let mut meta = cdn.meta();
        meta["files"].as_array_mut().expect("files").push(json!(bad));
        assert_status(&cdn.with_meta(&meta), 422, "path");
        let mut files = cdn.manifest()["files"].as_array().expect("files").clone();
        files.push(json!({"path": bad, "size": 1, "sha256": "0".repeat(64)}));
        assert_status(&cdn.with_files(&files), 422, "path");
    }
    for (a, b) in [("meshes/x/A.png", "meshes/x/a.png"), ("meshes/x", "meshes/x/y"), ("meshes/q", "meshes/q")]
    {
        let mut files = cdn.manifest()["files"].as_array().expect("files").clone();
        files.extend([a, b].map(|path| json!({"path": path, "size": 1, "sha256": "0".repeat(64)})));
        assert_status(&cdn.with_files(&files), 422, "path");
    }
    // `meta.json` lists a file that the manifest does not list.
    let mut meta = cdn.meta();
    meta["files"].as_array_mut().expect("files").push(json!("meshes/more.dae"));
    assert_status(&cdn.with_meta(&meta), 422, "different files");
}

#[cfg(unix)]
#[test]
fn links_in_the_staging_folder_are_not_followed() {
    // A CDN cannot create a symbolic link, but another user of this machine can. The simulator must
    // never write through a link.
    let cdn = HostileCdn::new();
    let (data, outside) = (Arc::new(TempFolder::new()), TempFolder::new());
    let staged = data.path().join("staging").join(&cdn.id);
    std::fs::create_dir_all(staged.join("files/routes")).expect("made");
    let target = outside.path().join("target");
    std::fs::write(&target, "mine").expect("written");
    std::os::unix::fs::symlink(&target, staged.join(format!("files/routes/custom_{}.npy", cdn.id)))
        .expect("a link");
    std::os::unix::fs::symlink(outside.path(), staged.join("files/meshes")).expect("a link");
    std::fs::write(staged.join("rev"), &cdn.rev).expect("written");
    let server = WebServer::of(cdn.folder.path());
    let simulator = crate::support::setup_in(&data).cdn(server.url()).start();
    let answer = simulator.api().try_post("/worlds/install", &json!({"world_id": cdn.id}).to_string());
    assert_eq!(std::fs::read_to_string(&target).expect("there"), "mine", "{}", answer.text());
    assert_eq!(std::fs::read_dir(outside.path()).expect("there").count(), 1, "{}", answer.text());
    let again = simulator.api().post("/worlds/install", json!({"world_id": cdn.id}));
    assert_eq!(again["verified"], true);
}

#[test]
fn files_that_are_not_a_valid_world_are_refused() {
    let cdn = HostileCdn::new();
    let replaced = |ending: &'static str, bytes: Vec<u8>| {
        cdn.without_manifest(move |asked, reply| match reply {
            Reply::File(_) if asked.path.ends_with(ending) => Reply::File(bytes.clone()),
            reply => reply,
        })
    };
    assert_status(&replaced(".world", b"<sdf version='1.7'><world".to_vec()), 422, "worlds/");
    assert_status(&replaced(".world", b"<!DOCTYPE x [<!ENTITY a 'b'>]><sdf/>".to_vec()), 422, "DOCTYPE");
    assert_status(&replaced(".npy", b"no table".to_vec()), 422, "routes/");
    let json = format!("custom_{}.json", cdn.id);
    let json: &'static str = Box::leak(json.into_boxed_str());
    assert_status(&replaced(json, b"{\"version\":".to_vec()), 422, "evaluations/");
    // This world has no track model.
    let id = cdn.id.clone();
    let bare = format!("<sdf version='1.7'><world name='custom_{id}'></world></sdf>");
    assert_status(&replaced(".world", bare.into_bytes()), 422, "track model");
    let mut meta = cdn.meta();
    meta["files"]
        .as_array_mut()
        .expect("files")
        .retain(|f| !f.as_str().is_some_and(|p| p.starts_with("models/")));
    let meta = meta.to_string().into_bytes();
    let refused = cdn.without_manifest(move |asked, reply| {
        if asked.path.ends_with("meta.json") { Reply::File(meta.clone()) } else { reply }
    });
    assert_status(&refused, 422, "track model");
    // This PNG is small, but would need gigabytes of memory when decoded.
    let mut bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bomb.extend([60_000u32.to_be_bytes(), 60_000u32.to_be_bytes()].concat());
    bomb.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    let mut meta = cdn.meta();
    meta["files"].as_array_mut().expect("files").push(json!("meshes/bomb.png"));
    let meta = meta.to_string().into_bytes();
    let refused = cdn.without_manifest(move |asked, reply| {
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
fn a_verified_world_is_not_replaced_by_an_unverified_one() {
    let cdn = HostileCdn::new();
    let folder = Arc::clone(&cdn.folder);
    let turned = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (own, mut meta) = (Arc::clone(&turned), cdn.meta());
    meta["rev"] = json!("evil0001");
    let rev = cdn.rev.clone();
    let server = WebServer::start(move |asked| {
        if !own.load(Relaxed) {
            return file_response(folder.path(), asked);
        }
        match asked.path.rsplit('/').next() {
            Some("meta.json") => Reply::File(meta.to_string().into_bytes()),
            Some("manifest.json") => Reply::Status(404),
            _ => file_response(
                folder.path(),
                &ReceivedRequest { path: asked.path.replace("evil0001", &rev), ..asked.clone() },
            ),
        }
    });
    let simulator = setup().cdn(server.url()).start();
    let mut api = simulator.api();
    let body = json!({"world_id": cdn.id});
    assert_eq!(api.post("/worlds/install", body.clone())["verified"], true);
    turned.store(true, Relaxed);
    assert_status(&api.refused("/worlds/install", body), 422, "no manifest.json");
    api.post("/switch", json!({"world_id": cdn.id}));
    assert_eq!(api.get("/worldpub")["rev"], cdn.rev);
}
