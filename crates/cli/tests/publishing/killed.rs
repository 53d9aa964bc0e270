//! Tests that kill an installation or a publication with SIGKILL, a hundred times each. After a
//! kill, either the state before the change or the complete new world exists, never a mix.

use crate::moto::Moto;
use crate::program::{Program, TempFolder, command};
use crate::{get, output_of, proxy, walk};
use chicane_store::{Access, Cdn, Manifest, Meta, Sum};
use chicane_testkit::Random;
use chicane_testkit::cdn::{Reply, WebServer, file_response, packed, publish as publish_package};
use chicane_testkit::http::{Client, RESPONSE_TIMEOUT};
use chicane_wire::WorldId;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Waits for a random time of at most `within`.
fn wait_randomly(random: &mut Random, within: Duration) {
    let until = Instant::now() + Duration::from_micros(random.below(within.as_micros().max(1) as u64));
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// Number of kills while a simulator replaces an installed world (`REPLACED`), and while it
/// installs a new world (`FRESH`).
const REPLACED: u64 = 60;
const FRESH: u64 = 40;

fn install(client: &mut Client, id: &str) -> Value {
    let answer = client.post("/sim/api/worlds/install", &json!({"world_id": id}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).expect("JSON")
}

/// Starts an installation and kills the simulator after a random time of at most `usual`.
fn kill_in_the_middle(program: &mut Program, id: &str, random: &mut Random, usual: Duration) {
    let mut client = program.client();
    let body = json!({"world_id": id}).to_string();
    client.send("POST", "/sim/api/worlds/install", &[], body.as_bytes());
    wait_randomly(random, usual);
    program.kill();
}

/// Returns the revision of an installed world, or `None` if the world is not installed. An
/// installed world must be complete.
fn installed(client: &mut Client, id: &str) -> Option<String> {
    let listed = get(client, "/worlds");
    let entry = listed["worlds"].as_array()?.iter().find(|w| w["world_id"] == json!(id)).cloned()?;
    assert_eq!(entry["evaluation"], true, "{entry}");
    let answer = client.post("/sim/api/switch", &json!({"world_id": id}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    Some(get(client, "/worldpub")["rev"].as_str().expect("a rev").to_owned())
}

/// The test waits for a random time before each kill. The upper limit of this time is multiplied by
/// `LONGER` if the kill came before the change, and by `SHORTER` if the kill came after the change.
/// So both cases happen on fast and on slow machines.
const LONGER: f64 = 1.2;
const SHORTER: f64 = 0.85;

#[test]
fn a_killed_replacement_leaves_the_old_or_the_new_world() {
    // The CDN has two revisions of one world id. Only older publishers produce such worlds.
    let (host, data) = (TempFolder::new("kill-host"), TempFolder::new("kill-replace"));
    let id = "0123456789abcdef0123456789abcdef";
    let worlds = ["oval", "field"];
    let revs = ["oval00000", "field0000"];
    for (world, rev) in worlds.iter().zip(revs) {
        for (path, bytes) in &chicane_testkit::shipped_bundle(world).files {
            let file = Path::new(host.path()).join(format!("worlds/{id}/{rev}/{path}"));
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, bytes).expect("written");
        }
    }
    let now = Arc::new(AtomicUsize::new(0));
    let (which, root) = (Arc::clone(&now), host.path().to_owned());
    let server = WebServer::start(move |asked| {
        if !asked.path.ends_with("meta.json") {
            return file_response(Path::new(&root), asked);
        }
        let k = which.load(Relaxed);
        let files = chicane_testkit::shipped_bundle(worlds[k]).files;
        let meta = json!({"rev": revs[k], "name": worlds[k], "files": files.keys().collect::<Vec<_>>()});
        Reply::File(meta.to_string().into_bytes())
    });
    let start = || Program::serve(&["--data-dir", data.path(), "--cdn", &server.url(), "--world", "oval"]);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let bounds = |client: &mut Client| get(client, "/bounds").to_string();
    let mut program = start();
    let began = Instant::now();
    install(&mut program.client(), id);
    let mut usual = began.elapsed().mul_f64(1.3);
    let mut expected = Vec::new();
    for (k, rev) in revs.iter().enumerate() {
        now.store(k, Relaxed);
        install(&mut program.client(), id);
        assert_eq!(installed(&mut program.client(), id).as_deref(), Some(*rev));
        expected.push(bounds(&mut program.client()));
    }
    assert_ne!(expected[0], expected[1]);
    let mut changed = 0;
    for round in 0..REPLACED {
        let before = installed(&mut program.client(), id).expect("there");
        let old = revs.iter().position(|r| *r == before).expect("one of the two");
        now.store(1 - old, Relaxed);
        kill_in_the_middle(&mut program, id, &mut random, usual);
        program = start();
        let mut client = program.client();
        let rev = installed(&mut client, id).unwrap_or_else(|| panic!("round {round}: the world is gone"));
        let k = revs.iter().position(|r| *r == rev).expect("one of the two");
        assert_eq!(bounds(&mut client), expected[k], "round {round}: the files are a mix");
        let record = Path::new(data.path()).join(format!("worlds/{id}"));
        let inside: Vec<_> =
            std::fs::read_dir(&record).expect("a folder").flatten().map(|e| e.file_name()).collect();
        assert_eq!(inside.len(), 2, "round {round}: the record and one world: {inside:?}");
        changed += u64::from(k != old);
        usual = usual.mul_f64(if k == old { LONGER } else { SHORTER });
    }
    // Some kills must have come before the change, and some after it. Otherwise the test has
    // checked only one of the two cases.
    assert!((1..REPLACED).contains(&changed), "{changed} of {REPLACED}");
    install(&mut program.client(), id);
}

#[test]
fn a_killed_installation_leaves_no_world_or_a_complete_one() {
    let (host, data) = (TempFolder::new("kill-fresh-host"), TempFolder::new("kill-fresh"));
    let package = packed("oval", Access::Public);
    publish_package(&package, Path::new(host.path()));
    let id = package.id.as_str();
    let server = WebServer::of(Path::new(host.path()));
    let start = || Program::serve(&["--data-dir", data.path(), "--cdn", &server.url(), "--world", "oval"]);
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut program = start();
    let began = Instant::now();
    install(&mut program.client(), id);
    let mut usual = began.elapsed().mul_f64(1.3);
    let mut there = 0;
    for _ in 0..FRESH {
        let mut client = program.client();
        let _ = client.post("/sim/api/switch", "{\"world\": \"oval.world\"}");
        let gone = client.delete(&format!("/sim/api/worlds/custom_{id}"));
        assert!(matches!(gone.status, 200 | 404), "{}", gone.text());
        if random.below(2) == 0 {
            // In about half of the rounds, the installation starts without staged files. In the
            // other rounds, the installation reuses the staged files of the last round.
            let _ = std::fs::remove_dir_all(Path::new(data.path()).join("staging"));
        }
        kill_in_the_middle(&mut program, id, &mut random, usual);
        program = start();
        let rev = installed(&mut program.client(), id);
        assert!(rev.as_deref().is_none_or(|rev| rev == package.meta.rev.as_str()), "{rev:?}");
        there += u64::from(rev.is_some());
        usual = usual.mul_f64(if rev.is_none() { LONGER } else { SHORTER });
    }
    assert!((1..FRESH).contains(&there), "{there} of {FRESH}");
    assert_eq!(install(&mut program.client(), id)["verified"], true);
    assert!(installed(&mut program.client(), id).is_some());
    program.kill();
    drop(program);
    // The next start of the simulator removes the staged files.
    drop(start());
    assert!(walk(&Path::new(data.path()).join("staging")).is_empty());
}

#[test]
fn a_killed_publication_leaves_no_world_or_a_complete_one() {
    const KILLS: u64 = 100;
    let (built, data) = (TempFolder::new("kill-built"), TempFolder::new("kill-publish"));
    let world = format!("{}/world", built.path());
    output_of(&["build", "worlds/oval.json", "-o", &world]);
    let cdn_folder = Path::new(data.path()).join("cdn");
    let arguments = ["publish", &world, "--data-dir", data.path()];
    let began = Instant::now();
    let mut acknowledged = vec![output_of(&arguments)];
    let mut usual = began.elapsed().mul_f64(1.1);
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for _ in 0..KILLS {
        let mut child = command(&arguments, &[]);
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
        wait_randomly(&mut random, usual);
        let before = acknowledged.len();
        child.kill().expect("killed");
        let output = child.wait_with_output().expect("ended");
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if id.len() == 32 {
            acknowledged.push(id);
        }
        for id in check_published(&cdn_folder) {
            // The kill may come after the world is published and before its id is printed.
            if !acknowledged.contains(&id) {
                acknowledged.push(id);
            }
        }
        usual = usual.mul_f64(if acknowledged.len() == before { LONGER } else { SHORTER });
    }
    let published = check_published(&cdn_folder);
    for id in &acknowledged {
        assert!(published.contains(id), "{id} is gone");
    }
    assert!((2..KILLS as usize).contains(&acknowledged.len()), "{} of {KILLS}", acknowledged.len());
    // The next publication succeeds and removes the files that the killed publications left.
    acknowledged.push(output_of(&arguments));
    let folders = std::fs::read_dir(cdn_folder.join("worlds")).expect("a folder").count();
    assert_eq!(folders, acknowledged.len());
    let installed = output_of(&["worlds", "--data-dir", data.path(), "install", &acknowledged[0]]);
    assert_eq!(installed, format!("custom_{}.world", acknowledged[0]));
}

/// Publishes to a bucket through a proxy. The proxy forwards `before` requests and kills the
/// publisher at the next request. If `lands` is true, that request still reaches the bucket.
fn publish_and_kill(moto: &Moto, arguments: &[&str], before: usize, lands: bool) {
    let publisher = Arc::new(Mutex::new((before, None::<Child>)));
    let (end, ended) = channel();
    let state = Arc::clone(&publisher);
    let proxy = proxy::open_proxy(moto.address, move |asked| {
        let mut state = state.lock().expect("the lock");
        if state.0 > 0 {
            state.0 -= 1;
            return asked.forward();
        }
        // After the kill, `state` holds no child process any more. So later requests of the
        // publisher are dropped.
        let mut child = state.1.take()?;
        child.kill().and_then(|()| child.wait()).expect("killed");
        end.send(lands.then(|| asked.forward())).ok()?;
        None
    });
    let mut command = moto.command(arguments, &[("AWS_ENDPOINT", &proxy)]);
    let mut state = publisher.lock().expect("the lock");
    state.1 = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started"));
    drop(state);
    let answer = ended.recv_timeout(RESPONSE_TIMEOUT).expect("a kill");
    assert!(answer.is_none_or(|answer| answer.is_some()), "the server does not respond");
}

#[test]
fn a_killed_publication_to_a_bucket_leaves_only_complete_worlds() {
    let (moto, built) = (Moto::start(), TempFolder::new("kill-bucket"));
    let world = format!("{}/world", built.path());
    output_of(&["build", "worlds/oval.json", "-o", &world]);
    let arguments = ["publish", &world, "--to", "s3://worlds"];
    let first = moto.output_of(&arguments);
    // The publisher sends one request per file, and `meta.json` comes last. The loop kills a
    // publisher at each of these requests.
    let requests = moto.keys().len();
    for before in 0..requests {
        for lands in [false, true] {
            let keys = moto.keys().len();
            publish_and_kill(&moto, &arguments, before, lands);
            assert_eq!(moto.keys().len() - keys, before + usize::from(lands), "{before} {lands}");
        }
    }
    let last = moto.output_of(&arguments);
    // Three worlds are visible, and all are complete: the first world, the last world, and the
    // world whose publisher was killed when `meta.json` had reached the bucket.
    let published: Vec<String> = moto.worlds().iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(published.len(), 3);
    assert!(published.contains(&first) && published.contains(&last), "{published:?}");
    let listed = moto.output_of(&["worlds", "list", "--to", "s3://worlds"]);
    let ids = listed.split_whitespace().filter(|word| WorldId::parse(word).is_some());
    assert!(ids.count() == 3 && published.iter().all(|id| listed.contains(id)), "{listed}");
    let data = TempFolder::new("kill-bucket-data");
    let installed = output_of(&["worlds", "--data-dir", data.path(), "install", &last, "--cdn", &moto.url()]);
    assert_eq!(installed, format!("custom_{last}.world"));
}

/// Returns the ids of all published worlds. Each file of these worlds must have the right hash.
fn check_published(folder: &Path) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let Some(cdn) = Cdn::reading(folder) else { return Vec::new() };
    let worlds: Vec<(WorldId, Meta)> = runtime.block_on(cdn.worlds()).expect("listed");
    for (id, meta) in &worlds {
        let root = folder.join("worlds").join(id.as_str()).join(meta.rev.as_str());
        let manifest = std::fs::read(root.join("manifest.json")).expect("a manifest");
        let manifest = Manifest::read(id, &meta.rev, &manifest).expect("a manifest");
        assert_eq!(manifest.files.len(), meta.files.len());
        for file in &manifest.files {
            let bytes = std::fs::read(root.join(file.path.as_str())).expect("a file");
            assert_eq!(Sum::of(&bytes), file.sum, "{}", file.path);
        }
    }
    worlds.into_iter().map(|(id, _)| id.to_string()).collect()
}
