//! Servers that answer too little, too much, too slowly, or lead elsewhere.

use super::*;

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
        let silent = stage.refused_soon(
            move |asked, reply| if asked.path.ends_with(ending) { Reply::Silence } else { reply },
        );
        assert_status(&silent, 502, "no answer came");
        // A byte now and then is no answer either.
        let dripping = stage.refused_soon(move |asked, reply| {
            if asked.path.ends_with(ending) { Reply::Drip(Duration::from_millis(20)) } else { reply }
        });
        assert_status(&dripping, 502, "too slowly");
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
