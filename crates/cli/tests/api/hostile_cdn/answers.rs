//! Servers whose responses are too short, endless, too slow, or redirects.

use super::*;

#[test]
fn truncated_responses_and_error_statuses_are_refused() {
    let cdn = HostileCdn::new();
    for ending in ["meta.json", "manifest.json", ".world"] {
        let refused = cdn.refused(move |asked, reply| match reply {
            Reply::File(bytes) if asked.path.ends_with(ending) => {
                Reply::Short(bytes[..bytes.len() / 2].to_vec(), bytes.len())
            }
            reply => reply,
        });
        assert_status(&refused, 502, "closed before the end of a file");
    }
    // The length of the response matches its `Content-Length`, but the manifest states a larger
    // size.
    let refused = cdn.refused(|asked, reply| match reply {
        Reply::File(bytes) if asked.path.ends_with(".world") => {
            Reply::File(bytes[..bytes.len() - 1].to_vec())
        }
        reply => reply,
    });
    assert_status(&refused, 422, "smaller than its manifest says");
    let refused = cdn.refused(|_, _| Reply::Raw(b"this is not HTTP\r\n\r\n".to_vec()));
    assert_status(&refused, 502, "the CDN failed");
    let refused = cdn.refused(|_, _| Reply::Raw(Vec::new()));
    assert_status(&refused, 502, "the CDN failed");
    for status in [500, 503, 418, 204] {
        let refused = cdn.refused(move |_, _| Reply::Status(status));
        assert_status(&refused, 502, &status.to_string());
    }
    let gone =
        cdn.refused(|asked, reply| if asked.path.ends_with(".dae") { Reply::Status(404) } else { reply });
    assert_status(&gone, 502, "does not have");
    for status in [404, 410, 401, 403] {
        let refused = cdn.refused(move |_, _| Reply::Status(status));
        assert_eq!(refused, (404, "world not published".to_owned()));
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = closed.local_addr().expect("an address");
    drop(closed);
    let simulator = setup().cdn(format!("http://{address}")).start();
    let refused = simulator.api().refused("/worlds/install", json!({"world_id": cdn.id}));
    assert_status(&refused, 502, "can't be reached");
}

#[test]
fn endless_responses_are_refused() {
    let cdn = HostileCdn::new();
    let meta =
        cdn.refused(|asked, reply| if asked.path.ends_with("meta.json") { Reply::Endless } else { reply });
    assert_status(&meta, 413, "meta.json is larger than 1 MiB");
    let manifest = cdn
        .refused(|asked, reply| if asked.path.ends_with("manifest.json") { Reply::Endless } else { reply });
    assert_status(&manifest, 413, "manifest.json is larger than 2 MiB");
    let file = cdn.refused(|asked, reply| if asked.path.ends_with(".dae") { Reply::Endless } else { reply });
    assert_status(&file, 422, "larger than its manifest says");
    let unsaid = cdn
        .without_manifest(|asked, reply| if asked.path.ends_with(".dae") { Reply::Endless } else { reply });
    assert_status(&unsaid, 413, "larger than 64 MiB");
}

#[test]
fn slow_responses_are_refused() {
    let cdn = HostileCdn::new();
    for ending in ["meta.json", "manifest.json", ".npy"] {
        let silent = cdn.refused_soon(
            move |asked, reply| if asked.path.ends_with(ending) { Reply::Silence } else { reply },
        );
        assert_status(&silent, 502, "no response within");
        // A response that arrives byte by byte is refused too, although the server is never silent
        // for long.
        let dripping = cdn.refused_soon(move |asked, reply| {
            if asked.path.ends_with(ending) { Reply::Drip(Duration::from_millis(20)) } else { reply }
        });
        assert_status(&dripping, 502, "too slowly");
    }
}

#[test]
fn redirects_to_other_hosts_and_loops_are_refused() {
    let cdn = HostileCdn::new();
    let elsewhere = WebServer::of(cdn.folder.path());
    let to = elsewhere.url();
    let refused = cdn.refused(move |asked, _| Reply::Redirect(format!("{to}{}", asked.path)));
    assert_status(&refused, 502, "another host");
    assert!(elsewhere.asked().is_empty());
    for place in
        ["file:///etc/passwd", "http://me@127.0.0.1/", "//localhost/x", "http://169.254.169.254/latest"]
    {
        let refused = cdn.refused(move |_, _| Reply::Redirect(place.to_owned()));
        assert_status(&refused, 502, "redirect");
    }
    let endless = cdn.refused(|asked, _| Reply::Redirect(asked.path.clone()));
    assert_status(&endless, 502, "more than 5 times");
    // A redirect to the same host is followed.
    let folder = Arc::clone(&cdn.folder);
    let server = WebServer::start(move |asked| match asked.path.strip_prefix("/moved") {
        Some(path) => {
            file_response(folder.path(), &ReceivedRequest { path: path.to_owned(), ..asked.clone() })
        }
        None => Reply::Redirect(format!("/moved{}", asked.path)),
    });
    let simulator = setup().cdn(server.url()).start();
    assert_eq!(simulator.api().post("/worlds/install", json!({"world_id": cdn.id}))["verified"], true);
}

#[test]
fn worlds_over_the_limits_are_refused() {
    let cdn = HostileCdn::new();
    let mut meta = cdn.meta();
    // With a million files, `meta.json` exceeds its size limit. With 30,000 files, `meta.json` is
    // small enough, but lists too many files.
    meta["files"] = (0..1_000_000).map(|i| json!(format!("meshes/{i}"))).collect();
    assert_status(&cdn.with_meta(&meta), 413, "");
    meta["files"] = (0..30_000).map(|i| json!(format!("meshes/{i}"))).collect();
    assert_status(&cdn.with_meta(&meta), 413, "2000");
    let one = |path: &str, size: u64| json!({"path": path, "size": size, "sha256": "0".repeat(64)});
    let files = |more: Vec<Value>| {
        let mut files = cdn.manifest()["files"].as_array().expect("files").clone();
        files.extend(more);
        files
    };
    // These meshes are too large: a single mesh, the sum of five meshes, and a mesh whose size only
    // the response states.
    assert_status(&cdn.with_files(&files(vec![one("meshes/big.dae", 300_000_000)])), 413, "64 MiB");
    assert_status(&cdn.with_files(&files(vec![one("meshes/big.dae", u64::MAX)])), 413, "64 MiB");
    let five = (0..5).map(|i| one(&format!("meshes/{i}.dae"), 60 << 20)).collect();
    assert_status(&cdn.with_files(&files(five)), 413, "256 MiB");
    let refused_size = cdn.without_manifest(|asked, reply| match reply {
        Reply::File(_) if asked.path.ends_with(".dae") => {
            Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 300000000\r\n\r\n".to_vec())
        }
        reply => reply,
    });
    assert!(matches!(refused_size.0, 413 | 502), "{refused_size:?}");
    // The lists in this `meta.json` are nested too deeply.
    let deep = [b"{\"rev\":\"abcd1234\",\"files\":".to_vec(), vec![b'['; 200_000]].concat();
    let refused = cdn.refused(move |_, _| Reply::File(deep.clone()));
    assert_status(&refused, 422, "meta.json is not JSON");
}

#[test]
fn an_invalid_or_changing_meta_json_is_refused() {
    let cdn = HostileCdn::new();
    let (count, rev, base) = (AtomicUsize::new(0), cdn.rev.clone(), cdn.meta());
    // Every request for `meta.json` returns another revision, and none of the revisions exists. The
    // simulator must not mix files of two revisions.
    let refused = cdn.refused(move |asked, reply| {
        if !asked.path.ends_with("meta.json") {
            return reply;
        }
        let mut meta = base.clone();
        meta["rev"] = json!(format!("{}{}", &rev[..8], count.fetch_add(1, Relaxed)));
        Reply::File(meta.to_string().into_bytes())
    });
    assert_status(&refused, 502, "does not have");
    let mut meta = cdn.meta();
    meta["world_id"] = json!("f".repeat(32));
    assert_status(&cdn.with_meta(&meta), 422, "another world");
    for rev in ["../x/abcd", "ABCDEFGH", "short", "x".repeat(25).as_str(), "abcd\nefgh"] {
        meta = cdn.meta();
        meta["rev"] = json!(rev);
        assert_status(&cdn.with_meta(&meta), 422, "rev");
    }
}
