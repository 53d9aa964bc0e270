//! Worlds that one simulator publishes and another simulator installs, runs and deletes.

use crate::support::{
    Api, MAX_STOP_TIME, Setup, Simulator, TempFolder, number, refusal, setup, setup_in, start, until,
};
use chicane_store::{Access, Cdn};
use chicane_testkit::cdn::{Reply, WebServer, file_response, packed, publish, publish_shipped};
use chicane_testkit::http::Client;
use chicane_wire::WorldId;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

fn cdn_of(simulator: &Simulator) -> std::path::PathBuf {
    simulator.folder().join("cdn")
}

/// Options of a simulator that installs worlds from the simulator `teacher`.
fn student_of(teacher: &Simulator) -> Setup {
    setup().cdn(format!("http://{}/cdn", teacher.address))
}

fn install(api: &mut Api, id: &WorldId) -> Value {
    api.post("/worlds/install", json!({"world_id": id.as_str()}))
}

fn change(folder: &Path, id: &WorldId, change: impl Fn(&mut chicane_store::Meta) + Send) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let cdn = Cdn::folder(folder).expect("a folder");
    runtime.block_on(cdn.change(id, change)).expect("changed");
}

#[test]
fn a_world_is_published_and_installed_by_another_simulator() {
    let teacher = start();
    let package = packed("technical", Access::Unlisted);
    publish(&package, &cdn_of(&teacher));
    let student = student_of(&teacher).start();
    let mut api = student.api();
    let installed = install(&mut api, &package.id);
    let name = format!("custom_{}", package.id);
    let expected = json!({"ok": true, "world": format!("{name}.world"), "name": "The technical",
        "rev": package.meta.rev.as_str(), "cached": false, "verified": true});
    assert_eq!(installed, expected);
    assert_eq!(api.get("/status")["current"], "oval", "an installation switched the world");

    let listed = api.get("/worlds");
    let last = listed["worlds"].as_array().and_then(|w| w.last()).expect("worlds").clone();
    let entry = json!({"name": name, "file": format!("{name}.world"), "display": "The technical",
        "world_id": package.id.as_str(), "size": last["size"], "official": false, "evaluation": true,
        "deletable": true, "verified": true});
    assert_eq!(last, entry);

    // The installed world has everything that the original has.
    let seen = |api: &mut Api| {
        let mut world = api.get("/world");
        for key in ["world", "display", "world_id", "rev"] {
            world.as_object_mut().expect("a world").remove(key);
        }
        let mut route = api.get("/route");
        route.as_object_mut().expect("a route").remove("world");
        let lights = api.get("/traffic_lights")["lights"].clone();
        (world, route, lights, api.get("/bounds"), api.get("/evaluation"))
    };
    api.post("/switch", json!({"world": "technical.world"}));
    let original = seen(&mut api);
    api.post("/switch", json!({"world_id": package.id.as_str()}));
    assert_eq!(seen(&mut api), original);
    let world = api.get("/world");
    assert_eq!((&world["world"], &world["world_id"]), (&json!(name), &json!(package.id.as_str())));
    let publication = api.get("/worldpub");
    assert_eq!(publication["rev"], package.meta.rev.as_str());
    assert_eq!(publication["cdn"], format!("http://{}/cdn", teacher.address));
    for path in ["waypoints.npy", "thumbnail.png"] {
        let answer = student.client().get(&format!("/sim/api/worlds/{name}/{path}"));
        assert_eq!(answer.status, 200, "{path}");
    }

    // After a restart the simulator loads this world from disk.
    let data = student.stop_and_keep();
    let student = setup_in(&data).start();
    assert_eq!(student.api().get("/status")["current"], name);
}

#[test]
fn a_revision_is_downloaded_once() {
    let folder = TempFolder::new();
    let id = publish_shipped("oval", folder.path());
    let again = publish_shipped("oval", folder.path());
    assert_ne!(id, again, "two publications have the same id");
    let server = WebServer::of(folder.path());
    let simulator = setup().cdn(server.url()).start();
    let mut api = simulator.api();
    assert_eq!(install(&mut api, &id)["cached"], false);
    let fetched = server.asked().len();
    assert!(fetched > 5, "{fetched}");
    server.forget();
    let cached = install(&mut api, &id);
    assert_eq!((&cached["cached"], &cached["verified"]), (&json!(true), &json!(true)));
    let meta = format!("/worlds/{id}/meta.json");
    assert_eq!(server.asked().iter().map(|a| a.path.as_str()).collect::<Vec<_>>(), [meta.as_str()]);

    // After a rename on the CDN, the next installation stores the new name. The list of worlds
    // shows the new name too.
    change(folder.path(), &id, |meta| meta.name = "Renamed".to_owned());
    assert_eq!(install(&mut api, &id)["name"], "Renamed");
    let entry = |api: &mut Api| {
        let all = api.get("/worlds")["worlds"].as_array().expect("worlds").clone();
        all.into_iter().find(|w| w["world_id"] == id.as_str()).expect("listed")
    };
    assert_eq!(entry(&mut api)["display"], "Renamed");

    // If an installed file is damaged, the next installation downloads the whole world again.
    let inside = simulator.folder().join("worlds").join(id.as_str());
    let installed = std::fs::read_dir(&inside).expect("a folder").flatten().find(|e| e.path().is_dir());
    let route = installed.expect("files").path().join(format!("routes/custom_{id}.npy"));
    std::fs::write(&route, "damaged").expect("written");
    assert_eq!(install(&mut api, &id)["cached"], false);
    assert_eq!(install(&mut api, &id)["cached"], true);
    api.post("/switch", json!({"world_id": id.as_str()}));
    let folders = std::fs::read_dir(&inside).expect("a folder").flatten().filter(|e| e.path().is_dir());
    assert_eq!(folders.count(), 1, "the damaged folder is still there");
    assert!(std::fs::read_dir(simulator.folder().join("staging")).expect("a folder").next().is_none());
}

#[test]
fn a_simulator_can_install_from_its_own_cdn() {
    let simulator = start();
    let id = publish_shipped("field", &cdn_of(&simulator));
    let private = packed("field", Access::Private);
    publish(&private, &cdn_of(&simulator));
    let mut api = simulator.api();
    for id in [&id, &private.id] {
        assert_eq!(install(&mut api, id)["verified"], true);
    }
    let unknown = api.refused("/worlds/install", json!({"world_id": "f".repeat(32)}));
    assert_eq!(unknown, (404, "world not published".to_owned()));
    let not_installed = api.refused("/switch", json!({"world_id": "f".repeat(32)}));
    assert_eq!(not_installed, (404, "world not installed".to_owned()));
}

#[test]
fn a_world_without_a_manifest_is_installed_as_unverified() {
    let folder = TempFolder::new();
    // Older publishers write no manifest, and the name of their world file does not contain the id.
    let bundle = chicane_testkit::shipped_bundle("oval");
    let id = "0123456789abcdef0123456789abcdef";
    let root = folder.path().join("worlds").join(id);
    for (path, bytes) in &bundle.files {
        let file = root.join("older0001").join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(file, bytes).expect("written");
    }
    let files: Vec<&String> = bundle.files.keys().collect();
    std::fs::write(root.join("meta.json"), json!({"rev": "older0001", "files": files}).to_string())
        .expect("written");
    let server = WebServer::of(folder.path());
    let simulator = setup().cdn(server.url()).start();
    let mut api = simulator.api();
    let installed = api.post("/worlds/install", json!({"world_id": id}));
    assert_eq!((&installed["verified"], &installed["name"]), (&json!(false), &json!("World 01234567")));
    let listed = api.get("/worlds")["worlds"].as_array().and_then(|w| w.last()).expect("worlds").clone();
    assert_eq!((&listed["verified"], &listed["evaluation"]), (&json!(false), &json!(true)));
    api.post("/switch", json!({"world_id": id}));
    assert_eq!(api.get("/world")["world"], format!("custom_{id}"));
    assert_eq!(api.post("/worlds/install", json!({"world_id": id}))["cached"], true);

    let strict = setup().cdn(server.url()).require_verified().start();
    let (status, text) = strict.api().refused("/worlds/install", json!({"world_id": id}));
    assert!(status == 422 && text.contains("--require-verified"), "{status} {text}");
}

#[test]
fn private_worlds_require_the_token_which_is_sent_to_the_cdn_only() {
    let teacher = setup().cdn_token("classroom-7b").start();
    let [public, unlisted, private] = [Access::Public, Access::Unlisted, Access::Private].map(|access| {
        let package = packed("field", access);
        publish(&package, &cdn_of(&teacher));
        package
    });
    let mut client = teacher.client();
    let meta = |id: &WorldId| format!("/cdn/worlds/{id}/meta.json");
    assert_eq!(client.get(&meta(&public.id)).status, 200);
    assert_eq!(client.get(&meta(&unlisted.id)).status, 200);
    assert_eq!(refusal(&client.get(&meta(&private.id))).0, 404);
    let rev = private.meta.rev.as_str();
    assert_eq!(client.get(&format!("/cdn/worlds/{}/{rev}/manifest.json", private.id)).status, 404);
    let mut with_token = Client::new(teacher.address).with_header("authorization", "Bearer classroom-7b");
    assert_eq!(with_token.get(&meta(&private.id)).status, 200);
    let ids = |client: &mut Client| {
        let listed: Value = serde_json::from_slice(&client.get("/cdn/worlds").body).expect("JSON");
        let all = listed["worlds"].as_array().expect("a list").clone();
        all.iter().map(|w| w["world_id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut client), [public.id.as_str()]);
    assert_eq!(ids(&mut with_token).len(), 3);

    let stranger = student_of(&teacher).start();
    let body = json!({"world_id": private.id.as_str()});
    assert_eq!(
        stranger.api().refused("/worlds/install", body.clone()),
        (404, "world not published".to_owned())
    );
    let student = student_of(&teacher).cdn_token("classroom-7b").start();
    assert_eq!(student.api().post("/worlds/install", body)["verified"], true);
    // After the world is made public, no token is needed.
    change(&cdn_of(&teacher), &private.id, |meta| meta.access = Access::Public);
    assert_eq!(install(&mut stranger.api(), &private.id)["cached"], false);

    // The student's own CDN does not accept the teacher's token.
    publish(&private, &cdn_of(&student));
    change(&cdn_of(&student), &private.id, |meta| meta.access = Access::Private);
    let mut other = Client::new(student.address).with_header("authorization", "Bearer classroom-7b");
    assert_eq!(other.get(&meta(&private.id)).status, 404);

    let caught = WebServer::start(|_| Reply::Status(404));
    let to = caught.url();
    let lure = WebServer::start(move |_| Reply::Redirect(format!("{to}/x")));
    let lured = setup().cdn(lure.url()).cdn_token("classroom-7b").start();
    let (status, text) = lured.api().refused("/worlds/install", json!({"world_id": "a".repeat(32)}));
    assert!(status == 502 && text.contains("another host"), "{status} {text}");
    assert_eq!(lure.asked()[0].token.as_deref(), Some("classroom-7b"));
    assert!(caught.asked().is_empty(), "the redirect was followed");
}

#[test]
fn a_cdn_token_gives_access_to_the_cdn_only() {
    let teacher = setup().token("teachers-own-token").cdn_token("classroom-7b").start();
    let id = publish_shipped("field", &cdn_of(&teacher));
    let meta = format!("/cdn/worlds/{id}/meta.json");
    let mut nobody = teacher.client();
    assert_eq!(nobody.get(&meta).status, 401);
    let mut pupil = Client::new(teacher.address).with_header("authorization", "Bearer classroom-7b");
    assert_eq!(pupil.get(&meta).status, 200);
    for path in ["/sim/api/status", "/sim", "/metrics", "/camera", "/cdn"] {
        assert_eq!(pupil.get(path).status, 401, "{path}");
    }
    assert_eq!(pupil.post("/sim/api/reset", "").status, 401);
    let student = student_of(&teacher).cdn_token("classroom-7b").start();
    assert_eq!(install(&mut student.api(), &id)["verified"], true);
}

#[test]
fn the_cdn_supports_caching_ranges_and_head() {
    let simulator = start();
    let package = packed("oval", Access::Public);
    publish(&package, &cdn_of(&simulator));
    let mut client = simulator.client();
    let rev = package.meta.rev.as_str();
    let base = format!("/cdn/worlds/{}", package.id);
    let (path, bytes) = package.files.iter().find(|(p, _)| p.as_str().ends_with(".npy")).expect("a route");
    let path = format!("{base}/{rev}/{path}");
    let whole = client.get(&path);
    assert_eq!((whole.status, &whole.body), (200, bytes));
    assert_eq!(whole.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    let tag = whole.header("etag").expect("a tag").to_owned();

    let mut ask = |headers: &[(&str, &str)]| client.request("GET", &path, headers, b"");
    let same = ask(&[("if-none-match", &tag)]);
    assert_eq!((same.status, same.body.len()), (304, 0));
    assert_eq!(ask(&[("if-none-match", "\"other\"")]).status, 200);
    let part = ask(&[("range", "bytes=10-19")]);
    assert_eq!((part.status, &part.body[..]), (206, &bytes[10..20]));
    let range = format!("bytes 10-19/{}", bytes.len());
    assert_eq!(part.header("content-range"), Some(range.as_str()));
    assert_eq!(ask(&[("range", "bytes=-5")]).body, bytes[bytes.len() - 5..]);
    assert_eq!(ask(&[("range", "bytes=5-"), ("if-range", &tag)]).status, 206);
    assert_eq!(ask(&[("range", "bytes=5-"), ("if-range", "\"other\"")]).status, 200);
    assert_eq!(ask(&[("range", "bytes=99999999-")]).status, 416);
    assert_eq!(ask(&[("range", "bytes=0-1,4-5")]).status, 200);
    let head = client.request("HEAD", &path, &[], b"");
    assert_eq!((head.status, head.header("content-length")), (200, Some(bytes.len().to_string().as_str())));
    let meta = client.get(&format!("{base}/meta.json"));
    assert_eq!(meta.header("cache-control"), Some("public, max-age=5"));
    assert_eq!(client.post(&format!("{base}/meta.json"), "{}").status, 405);
    for nothing in [
        format!("{base}/{rev}/worlds/other.world"),
        format!("{base}/other123/manifest.json"),
        format!("{base}/"),
        "/cdn/lock".to_owned(),
        "/cdn/worlds/../../running.json".to_owned(),
        "/cdn/chicane.db".to_owned(),
    ] {
        let answer = client.get(&nothing);
        assert!(matches!(refusal(&answer).0, 400 | 404), "{nothing}: {}", answer.status);
    }
    // A symbolic link is never served.
    #[cfg(unix)]
    {
        let file = cdn_of(&simulator).join("worlds").join(package.id.as_str()).join(rev);
        let file = file.join(format!("routes/custom_{}.npy", package.id));
        std::fs::remove_file(&file).expect("removed");
        std::os::unix::fs::symlink("/etc/passwd", &file).expect("a link");
        assert_eq!(client.get(&path).status, 404);
    }
}

#[test]
fn only_installed_worlds_that_are_not_current_can_be_deleted() {
    let simulator = start();
    let id = publish_shipped("field", &cdn_of(&simulator));
    let mut api = simulator.api();
    let name = format!("custom_{id}");
    let path = format!("/sim/api/worlds/{name}");
    assert_eq!(refusal(&simulator.client().delete(&path)).0, 404);
    install(&mut api, &id);
    api.post("/switch", json!({"world_id": id.as_str()}));
    assert_eq!(refusal(&simulator.client().delete(&path)).0, 409);
    api.post("/switch", json!({"world": "oval.world"}));
    let deleted = simulator.client().delete(&path);
    let body: Value = serde_json::from_slice(&deleted.body).expect("JSON");
    assert_eq!((deleted.status, body), (200, json!({"ok": true, "deleted": name})));
    assert_eq!(refusal(&simulator.client().delete(&path)).0, 404);
    assert_eq!(api.refused("/switch", json!({"world_id": id.as_str()})).0, 404);
    assert_eq!(api.get_refused(&format!("/worlds/{name}/waypoints.npy")).0, 404);
    let left = || std::fs::read_dir(simulator.folder().join("worlds")).expect("a folder").count();
    until("the files are removed", || (left() == 0).then_some(()));
    assert_eq!(install(&mut api, &id)["cached"], false);
    // If the last world is missing at the next start, the default world is loaded.
    api.post("/switch", json!({"world_id": id.as_str()}));
    let data = simulator.stop_and_keep();
    std::fs::remove_dir_all(data.path().join("worlds")).expect("removed");
    assert_eq!(setup_in(&data).start().api().get("/status")["current"], "oval");
}

#[test]
fn progress_is_shown_while_the_current_world_keeps_running() {
    let folder = TempFolder::new();
    let id = publish_shipped("oval", folder.path());
    let gate = Arc::new(std::sync::Mutex::new(()));
    let (closed, own) = (gate.lock().expect("a gate"), Arc::clone(&gate));
    let root = folder.path().to_owned();
    let server = WebServer::start(move |asked| {
        if asked.path.ends_with(".dae") {
            drop(own.lock());
        }
        file_response(&root, asked)
    });
    let simulator = setup().cdn(server.url()).start();
    let mut waiting = simulator.client();
    let body = json!({"world_id": id.as_str()}).to_string();
    waiting.send("POST", "/sim/api/worlds/install", &[], body.as_bytes());
    let mut api = simulator.api();
    let shown = until("an installation is shown", || {
        let transition = api.get("/state")["transition"].clone();
        (transition["kind"] == "install" && number(&transition["progress"]) > 0.0).then_some(transition)
    });
    assert_eq!(shown["target"], format!("custom_{id}.world"));
    assert!(number(&shown["progress"]) < 0.95, "{shown}");
    let state = api.get("/state");
    assert_eq!((&state["switching"], &state["current"]), (&json!(false), &json!("oval")));
    // The current world accepts commands, and a switch to another world succeeds.
    api.post("/pose", json!({"x": 4.0, "y": 1.0}));
    api.post("/switch", json!({"world": "field.world"}));
    drop(closed);
    assert_eq!(waiting.answer().status, 200);
    until("the transition ends", || api.get("/state")["transition"].is_null().then_some(()));
}

#[test]
fn a_silent_cdn_does_not_delay_the_stop_of_the_simulator() {
    let server = WebServer::start(|_| Reply::Silence);
    // The CDN timeout is longer than `MAX_STOP_TIME`, so that a stop that waits for the CDN fails
    // the test.
    let simulator = setup().cdn(server.url()).cdn_timeout(6 * MAX_STOP_TIME).start();
    let mut waiting = simulator.client();
    let body = json!({"world_id": "a".repeat(32)}).to_string();
    waiting.send("POST", "/sim/api/worlds/install", &[], body.as_bytes());
    until("the CDN receives the request", || (!server.asked().is_empty()).then_some(()));
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
}

#[test]
fn files_downloaded_before_a_failure_are_not_downloaded_again() {
    let folder = TempFolder::new();
    let id = publish_shipped("oval", folder.path());
    let data = Arc::new(TempFolder::new());
    let staged = data.path().join(format!("staging/{id}/files"));
    let route = staged.join(format!("routes/custom_{id}.npy"));
    let failing = Arc::new(AtomicBool::new(true));
    let (root, own, there) = (folder.path().to_owned(), Arc::clone(&failing), route.clone());
    let server = WebServer::start(move |asked| match file_response(&root, asked) {
        Reply::File(bytes) if asked.path.ends_with("model.sdf") && own.load(Relaxed) => {
            // The server truncates this reply, but only after another file has been downloaded.
            let length = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
            until("the route is downloaded", || (length(&there) > 10_000).then_some(()));
            let half = bytes.len() / 2;
            Reply::Short(bytes[..half].to_vec(), bytes.len())
        }
        reply => reply,
    });
    let simulator = setup_in(&data).cdn(server.url()).start();
    let (status, text) = simulator.api().refused("/worlds/install", json!({"world_id": id.as_str()}));
    assert_eq!(
        (status, text.as_str()),
        (502, "the CDN failed: the connection was closed before the end of a file")
    );
    // The downloaded files survive a restart.
    drop(simulator);
    assert!(route.exists());
    failing.store(false, Relaxed);
    server.forget();
    let simulator = setup_in(&data).cdn(server.url()).start();
    assert_eq!(install(&mut simulator.api(), &id)["cached"], false);
    let asked = server.asked();
    assert!(asked.iter().all(|a| !a.path.ends_with(".npy")), "{asked:?}");
    let resumed = asked.iter().find(|a| a.path.ends_with("model.sdf")).expect("a request");
    assert!(
        resumed.from.is_some_and(|from| from > 0),
        "the download does not continue at its end: {resumed:?}"
    );
}

#[test]
fn staged_files_with_wrong_content_are_downloaded_again() {
    let folder = TempFolder::new();
    let package = packed("oval", Access::Public);
    publish(&package, folder.path());
    let data = Arc::new(TempFolder::new());
    let staged = data.path().join(format!("staging/{}", package.id));
    for (path, bytes) in &package.files {
        let file = staged.join("files").join(path.as_str());
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        // Each staged file has wrong content and half of the right size. Next to each staged file
        // is a file that does not belong to the world.
        std::fs::write(&file, vec![b'x'; bytes.len() / 2]).expect("written");
        std::fs::write(file.with_extension("stranger"), "x").expect("written");
    }
    std::fs::write(staged.join("rev"), package.meta.rev.as_str()).expect("written");
    let server = WebServer::of(folder.path());
    let simulator = setup_in(&data).cdn(server.url()).start();
    assert_eq!(install(&mut simulator.api(), &package.id)["verified"], true);
    assert_eq!(install(&mut simulator.api(), &package.id)["cached"], true);
    let installed = walk(&data.path().join("worlds"));
    assert!(installed.iter().all(|p| !p.ends_with("stranger")), "{installed:?}");
}

/// Paths of all files below a folder.
fn walk(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.flat_map(|e| match e.path() {
        path if path.is_dir() => walk(&path),
        path => vec![path.display().to_string()],
    });
    below.collect()
}
