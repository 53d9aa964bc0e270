//! Disks that are full, files that may not grow, folders that can't be written: a clear error, and nothing
//! is lost.

use crate::program::{Program, Scratch, under};
use crate::{get, publish, said, walk};
use chicane_testkit::cdn::{WebServer, publish_shipped};
use chicane_testkit::http::Client;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

fn install(client: &mut Client, id: &str) -> (u16, String) {
    let answer = client.post("/sim/api/worlds/install", &json!({"world_id": id}).to_string());
    (answer.status, answer.text())
}

/// What a program is started under that may mount things for itself alone: as root, or as root of a user namespace
/// of its own, which the judge's jail needs too.
fn mounting(ways: &[&'static [&'static str]]) -> Option<&'static [&'static str]> {
    let works = |way: &[&str]| {
        let mount = ["mount", "-t", "tmpfs", "none", "/mnt"];
        let tried = Command::new(way[0]).args(&way[1..]).args(mount).output();
        tried.is_ok_and(|output| output.status.success())
    };
    ways.iter().find(|way| works(way)).copied()
}

const AS_ROOT: &[&str] = &["unshare", "-m"];
const IN_NAMESPACE: &[&str] = &["unshare", "-r", "-m"];

/// A simulator goes on as before: its world runs, its settings are kept, nothing half is installed.
fn assert_well(client: &mut Client) {
    assert_eq!(get(client, "/status")["current"], "oval");
    let listed = get(client, "/worlds");
    assert!(listed["worlds"].as_array().expect("worlds").iter().all(|w| w["deletable"] == false), "{listed}");
}

#[test]
fn files_that_may_not_grow() {
    // Another way for a disk to be full: no file gets larger than this.
    let (host, data) = (Scratch::new("limit-host"), Scratch::new("limit"));
    let id = publish_shipped("oval", Path::new(host.path()));
    let server = WebServer::of(Path::new(host.path()));
    let script = "trap '' XFSZ; ulimit -f 128; exec \"$@\"";
    let limited = ["sh", "-c", script, "sh"];
    let arguments = ["--data-dir", data.path(), "--cdn", &server.url()];
    let program = Program::serve_under(&limited, &arguments);
    let mut client = program.client();
    let (status, text) = install(&mut client, id.as_str());
    assert!(status == 500 && text.contains("the world can't be stored: File too large"), "{status} {text}");
    assert_well(&mut client);
    assert!(walk(&Path::new(data.path()).join("staging")).is_empty(), "what can't be finished is given back");
    drop(program);
    let program = Program::serve(&arguments);
    assert_eq!(install(&mut program.client(), id.as_str()).0, 200);

    // A publication too.
    let built = Scratch::new("limit-built");
    let world = format!("{}/world", built.path());
    said(&["build", "worlds/oval.json", "-o", &world]);
    let output =
        under(&limited, &["publish", &world, "--data-dir", data.path()]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && output.stdout.is_empty() && text.contains("File too large"),
        "{text}"
    );
    assert_eq!(said(&["worlds", "--data-dir", data.path(), "list", "--published"]), "");
    publish("worlds/oval.json", data.path());
}

#[test]
fn a_disk_that_is_full_at_any_moment() {
    // A small one, which only the simulator sees. Where none can be made nothing is shown, and that is a failure.
    let way = mounting(&[IN_NAMESPACE, AS_ROOT]);
    let way = way.expect("no disk can be mounted: users must be allowed namespaces (`unshare -r -m true`)");
    let (host, data) = (Scratch::new("full-host"), Scratch::new("full"));
    let id = publish_shipped("oval", Path::new(host.path()));
    let needed: u64 =
        walk(Path::new(host.path())).iter().map(|p| std::fs::metadata(p).map_or(0, |m| m.len())).sum();
    let server = WebServer::of(Path::new(host.path()));
    let script = format!("mount -t tmpfs -o size=16m none {} && exec \"$@\"", data.path());
    let mounted = [way, &["sh", "-c", &script, "sh"]].concat();
    let program = Program::serve_under(&mounted, &["--data-dir", data.path(), "--cdn", &server.url()]);
    let mut client = program.client();
    let seen = PathBuf::from(format!("/proc/{}/root{}", program.id(), data.path()));
    let filler = seen.join("filler");
    for left in [0, 4 << 10, 16 << 10, 40 << 10, 80 << 10, needed / 2, needed * 3 / 4] {
        fill(&filler, left);
        let (status, text) = install(&mut client, id.as_str());
        assert!(
            status == 500 && text.contains("No space left on device"),
            "{left} bytes left: {status} {text}"
        );
        assert_well(&mut client);
        // What needs the disk says so, and changes nothing.
        std::fs::remove_file(&filler).expect("removed");
        assert_eq!(client.post("/sim/api/brightness", "{\"value\": 0.7}").status, 200);
        assert!(walk(&seen.join("staging")).is_empty());
    }
    assert_eq!(install(&mut client, id.as_str()).0, 200);
    assert_eq!(get(&mut client, "/brightness")["value"], 0.7);
    // Deleting needs no room.
    fill(&filler, 0);
    let deleted = client.delete(&format!("/sim/api/worlds/custom_{id}"));
    assert_eq!(deleted.status, 200, "{}", deleted.text());
}

/// Fills the disk of a file, but for so many bytes.
fn fill(filler: &Path, left: u64) {
    use std::io::Write;
    let mut file = std::fs::File::create(filler).expect("a file");
    let block = vec![1; 4096];
    let mut written: u64 = 0;
    while file.write_all(&block).is_ok() {
        written += 4096;
    }
    // What came of the last write counts too.
    let end = file.metadata().map_or(written, |m| m.len());
    file.set_len(end.saturating_sub(left)).expect("shrunk");
}

#[test]
fn folders_that_can_not_be_written() {
    let (host, data) = (Scratch::new("closed-host"), Scratch::new("closed"));
    let id = publish_shipped("field", Path::new(host.path()));
    let server = WebServer::of(Path::new(host.path()));
    let arguments = ["--data-dir", data.path(), "--cdn", &server.url()];
    for folder in ["staging", "worlds"] {
        let closed = Path::new(data.path()).join(folder);
        let program = if let Some(way) = mounting(&[AS_ROOT]) {
            std::fs::create_dir_all(&closed).expect("made");
            let place = closed.display();
            let script =
                format!("mount --bind {place} {place} && mount -o remount,ro,bind {place} && exec \"$@\"");
            Program::serve_under(&[way, &["sh", "-c", &script, "sh"]].concat(), &arguments)
        } else {
            // Root may write everywhere; but not below a file.
            std::fs::write(&closed, "").expect("written");
            Program::serve(&arguments)
        };
        let mut client = program.client();
        let (status, text) = install(&mut client, id.as_str());
        let clear =
            ["Read-only file system", "Not a directory", "File exists"].iter().any(|w| text.contains(w));
        assert!(
            status == 500 && clear && text.contains("the world can't be stored"),
            "{folder}: {status} {text}"
        );
        assert_well(&mut client);
        drop(program);
        let _ = std::fs::remove_file(&closed);
    }
    let program = Program::serve(&arguments);
    assert_eq!(install(&mut program.client(), id.as_str()).0, 200);
    // Publishing into what is no folder, and below a file.
    let file = format!("{}/file", host.path());
    std::fs::write(&file, "").expect("written");
    for to in [file.clone(), format!("{file}/cdn"), "/proc/nothing".to_owned()] {
        let refused = crate::program::fails(&["publish", "worlds/field.json", "--to", &to], &[]);
        let last = refused.lines().last().unwrap_or_default();
        assert!(last.starts_with("chicane: can't write ") && last.contains(&to), "{refused}");
    }
}
