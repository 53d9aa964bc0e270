//! Killed without a word, at a hundred random moments: the old world or the new one, never a mix.

use crate::moto::Moto;
use crate::program::{Program, Scratch, command};
use crate::{get, said, walk, way};
use chicane_store::{Access, Cdn, Manifest, Meta, Sum};
use chicane_testkit::Random;
use chicane_testkit::cdn::{Reply, WebServer, honest, packed, publish as publish_package};
use chicane_testkit::http::{Client, PATIENCE};
use chicane_wire::WorldId;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Waits for a random moment within a time.
fn moment(random: &mut Random, within: Duration) {
    let until = Instant::now() + Duration::from_micros(random.below(within.as_micros().max(1) as u64));
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// How often a simulator is killed while it replaces a world, and while it installs one.
const REPLACED: u64 = 60;
const FRESH: u64 = 40;

fn install(client: &mut Client, id: &str) -> Value {
    let answer = client.post("/sim/api/worlds/install", &json!({"world_id": id}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).expect("JSON")
}

/// Begins an installation, and kills the simulator in the middle of it.
fn kill_in_the_middle(program: &mut Program, id: &str, random: &mut Random, usual: Duration) {
    let mut client = program.client();
    let body = json!({"world_id": id}).to_string();
    client.send("POST", "/sim/api/worlds/install", &[], body.as_bytes());
    moment(random, usual);
    program.kill();
}

/// The revision that is installed under an id, if any; it must be a whole world.
fn installed(client: &mut Client, id: &str) -> Option<String> {
    let listed = get(client, "/worlds");
    let entry = listed["worlds"].as_array()?.iter().find(|w| w["world_id"] == json!(id)).cloned()?;
    assert_eq!(entry["evaluation"], true, "{entry}");
    let answer = client.post("/sim/api/switch", &json!({"world_id": id}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    Some(get(client, "/worldpub")["rev"].as_str().expect("a rev").to_owned())
}

/// The moments move with what came of the last one, so that they fall on both sides of the change however
/// fast the machine is at the time.
const LONGER: f64 = 1.2;
const SHORTER: f64 = 0.85;

#[test]
fn an_installation_that_replaces_a_world() {
    // Two revisions of one id, as older publishers have them.
    let (host, data) = (Scratch::new("kill-host"), Scratch::new("kill-replace"));
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
            return honest(Path::new(&root), asked);
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
        let rev = installed(&mut client, id).unwrap_or_else(|| panic!("round {round}: it is gone"));
        let k = revs.iter().position(|r| *r == rev).expect("one of the two");
        assert_eq!(bounds(&mut client), expected[k], "round {round}: a mix");
        let record = Path::new(data.path()).join(format!("worlds/{id}"));
        let inside: Vec<_> =
            std::fs::read_dir(&record).expect("a folder").flatten().map(|e| e.file_name()).collect();
        assert_eq!(inside.len(), 2, "round {round}: the record and one world: {inside:?}");
        changed += u64::from(k != old);
        usual = usual.mul_f64(if k == old { LONGER } else { SHORTER });
    }
    // The moments fell on both sides of the change.
    assert!((1..REPLACED).contains(&changed), "{changed} of {REPLACED}");
    install(&mut program.client(), id);
}

#[test]
fn an_installation_of_a_new_world() {
    let (host, data) = (Scratch::new("kill-fresh-host"), Scratch::new("kill-fresh"));
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
            // And with what is left over of the last time.
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
    // Nothing piles up.
    drop(start());
    assert!(walk(&Path::new(data.path()).join("staging")).is_empty());
}

#[test]
fn a_publication() {
    const KILLS: u64 = 100;
    let (built, data) = (Scratch::new("kill-built"), Scratch::new("kill-publish"));
    let world = format!("{}/world", built.path());
    said(&["build", "worlds/oval.json", "-o", &world]);
    let cdn_folder = Path::new(data.path()).join("cdn");
    let arguments = ["publish", &world, "--data-dir", data.path()];
    let began = Instant::now();
    let mut acknowledged = vec![said(&arguments)];
    let mut usual = began.elapsed().mul_f64(1.1);
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for _ in 0..KILLS {
        let mut child = command(&arguments, &[]);
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        moment(&mut random, usual);
        let before = acknowledged.len();
        child.kill().expect("killed");
        let output = child.wait_with_output().expect("ended");
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if id.len() == 32 {
            acknowledged.push(id);
        }
        for id in check_published(&cdn_folder) {
            // Published before its id could be printed.
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
    // The next one succeeds, and clears away what the others left.
    acknowledged.push(said(&arguments));
    let folders = std::fs::read_dir(cdn_folder.join("worlds")).expect("a folder").count();
    assert_eq!(folders, acknowledged.len());
    let installed = said(&["worlds", "--data-dir", data.path(), "install", &acknowledged[0]]);
    assert_eq!(installed, format!("custom_{}.world", acknowledged[0]));
}

/// Publishes to a bucket, is killed when a request comes after so many others, and that one is let through or not.
fn publish_and_die(moto: &Moto, arguments: &[&str], before: usize, lands: bool) {
    let victim = Arc::new(Mutex::new((before, None::<Child>)));
    let (end, ended) = channel();
    let fate = Arc::clone(&victim);
    let way = way::open(moto.address, move |asked| {
        let mut fate = fate.lock().expect("a fate");
        if fate.0 > 0 {
            fate.0 -= 1;
            return asked.through();
        }
        // Nobody is left for what came at the same time.
        let mut child = fate.1.take()?;
        child.kill().and_then(|()| child.wait()).expect("killed");
        end.send(lands.then(|| asked.through())).ok()?;
        None
    });
    let mut command = moto.command(arguments, &[("AWS_ENDPOINT", &way)]);
    let mut fate = victim.lock().expect("a fate");
    fate.1 = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"));
    drop(fate);
    let answer = ended.recv_timeout(PATIENCE).expect("it was killed");
    assert!(answer.is_none_or(|answer| answer.is_some()), "the server is there");
}

#[test]
fn a_publication_to_a_bucket() {
    let (moto, built) = (Moto::start(), Scratch::new("kill-bucket"));
    let world = format!("{}/world", built.path());
    said(&["build", "worlds/oval.json", "-o", &world]);
    let arguments = ["publish", &world, "--to", "s3://worlds"];
    let first = moto.said(&arguments);
    // Each file is one request, the description is the last of them, and each is a moment to die at.
    let requests = moto.keys().len();
    for before in 0..requests {
        for lands in [false, true] {
            let keys = moto.keys().len();
            publish_and_die(&moto, &arguments, before, lands);
            assert_eq!(moto.keys().len() - keys, before + usize::from(lands), "{before} {lands}");
        }
    }
    let last = moto.said(&arguments);
    // What can be seen is whole: the first, the last, and the one whose description was written.
    let published: Vec<String> = moto.worlds().iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(published.len(), 3);
    assert!(published.contains(&first) && published.contains(&last), "{published:?}");
    let listed = moto.said(&["worlds", "list", "--to", "s3://worlds"]);
    let ids = listed.split_whitespace().filter(|word| WorldId::parse(word).is_some());
    assert!(ids.count() == 3 && published.iter().all(|id| listed.contains(id)), "{listed}");
    let data = Scratch::new("kill-bucket-data");
    let installed = said(&["worlds", "--data-dir", data.path(), "install", &last, "--cdn", &moto.url()]);
    assert_eq!(installed, format!("custom_{last}.world"));
}

/// The ids of what is published; each must be whole, to the last byte.
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
