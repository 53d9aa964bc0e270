//! Tests with full disks, file size limits and read-only folders: each failed write leads to a
//! clear error, and no data is lost.

use crate::program::{Program, TempFolder, under};
use crate::{get, output_of, publish, walk};
use chicane_testkit::cdn::{WebServer, publish_shipped};
use chicane_testkit::http::Client;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

fn install(client: &mut Client, id: &str) -> (u16, String) {
    let answer = client.post("/sim/api/worlds/install", &json!({"world_id": id}).to_string());
    (answer.status, answer.text())
}

/// Returns the first of these wrapper commands that can run a program in its own mount namespace,
/// or `None` if none of them can. `unshare -m` needs root. `unshare -r -m` needs user namespaces
/// instead, which the tests may expect because the jail needs them as well.
fn mount_wrapper(wrappers: &[&'static [&'static str]]) -> Option<&'static [&'static str]> {
    let works = |wrapper: &[&str]| {
        let mount = ["mount", "-t", "tmpfs", "none", "/mnt"];
        let tried = Command::new(wrapper[0]).args(&wrapper[1..]).args(mount).output();
        tried.is_ok_and(|output| output.status.success())
    };
    wrappers.iter().find(|wrapper| works(wrapper)).copied()
}

const AS_ROOT: &[&str] = &["unshare", "-m"];
const IN_NAMESPACE: &[&str] = &["unshare", "-r", "-m"];

/// Checks that the simulator is unaffected: its world is running and no incomplete world is
/// installed.
fn assert_unaffected(client: &mut Client) {
    assert_eq!(get(client, "/status")["current"], "oval");
    let listed = get(client, "/worlds");
    assert!(listed["worlds"].as_array().expect("worlds").iter().all(|w| w["deletable"] == false), "{listed}");
}

#[test]
fn an_installation_over_the_file_size_limit_is_refused() {
    // A file size limit makes writes fail as on a full disk. The limit is 256 KiB, because `ulimit`
    // counts blocks of 512 bytes. The database stays below the limit, and the world has a larger
    // file.
    let (host, data) = (TempFolder::new("limit-host"), TempFolder::new("limit"));
    let id = publish_shipped("town", Path::new(host.path()));
    let server = WebServer::of(Path::new(host.path()));
    let script = "trap '' XFSZ; ulimit -f 512; exec \"$@\"";
    let limited = ["sh", "-c", script, "sh"];
    let arguments = ["--data-dir", data.path(), "--cdn", &server.url()];
    let program = Program::serve_under(&limited, &arguments);
    let mut client = program.client();
    let (status, text) = install(&mut client, id.as_str());
    assert!(status == 500 && text.contains("the world can't be stored: File too large"), "{status} {text}");
    assert_unaffected(&mut client);
    assert!(walk(&Path::new(data.path()).join("staging")).is_empty(), "staged files are left");
    drop(program);
    let program = Program::serve(&arguments);
    assert_eq!(install(&mut program.client(), id.as_str()).0, 200);

    // A publication over the file size limit is refused too, and publishes nothing.
    let built = TempFolder::new("limit-built");
    let world = format!("{}/world", built.path());
    output_of(&["build", "worlds/town.json", "-o", &world]);
    let output = under(&limited, &["publish", &world, "--data-dir", data.path()]).output().expect("started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && output.stdout.is_empty() && text.contains("File too large"),
        "{text}"
    );
    assert_eq!(output_of(&["worlds", "--data-dir", data.path(), "list", "--published"]), "");
    publish("worlds/town.json", data.path());
}

#[test]
fn an_installation_on_a_full_disk_is_refused() {
    // The data folder is a small file system that only the simulator sees. The test fails on
    // machines that cannot mount the file system, because a skipped test would check nothing.
    let wrapper = mount_wrapper(&[IN_NAMESPACE, AS_ROOT]);
    let wrapper =
        wrapper.expect("no disk can be mounted: users must be allowed namespaces (`unshare -r -m true`)");
    let (host, data) = (TempFolder::new("full-host"), TempFolder::new("full"));
    let id = publish_shipped("oval", Path::new(host.path()));
    let needed: u64 =
        walk(Path::new(host.path())).iter().map(|p| std::fs::metadata(p).map_or(0, |m| m.len())).sum();
    let server = WebServer::of(Path::new(host.path()));
    let script = format!("mount -t tmpfs -o size=16m none {} && exec \"$@\"", data.path());
    let mounted = [wrapper, &["sh", "-c", &script, "sh"]].concat();
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
        assert_unaffected(&mut client);
        // Without the filler the disk has room again, and settings can be stored.
        std::fs::remove_file(&filler).expect("removed");
        assert_eq!(client.post("/sim/api/brightness", "{\"value\": 0.7}").status, 200);
        assert!(walk(&seen.join("staging")).is_empty());
    }
    assert_eq!(install(&mut client, id.as_str()).0, 200);
    assert_eq!(get(&mut client, "/brightness")["value"], 0.7);
    // Deleting a world needs no disk space.
    fill(&filler, 0);
    let deleted = client.delete(&format!("/sim/api/worlds/custom_{id}"));
    assert_eq!(deleted.status, 200, "{}", deleted.text());
}

/// Fills the disk with the file `filler`, except for `left` bytes.
fn fill(filler: &Path, left: u64) {
    use std::io::Write;
    let mut file = std::fs::File::create(filler).expect("a file");
    let block = vec![1; 4096];
    let mut written: u64 = 0;
    while file.write_all(&block).is_ok() {
        written += 4096;
    }
    // The last write may have been partial, so the file may be longer than `written`.
    let end = file.metadata().map_or(written, |m| m.len());
    file.set_len(end.saturating_sub(left)).expect("shrunk");
}

#[test]
fn an_installation_into_a_read_only_folder_is_refused() {
    let (host, data) = (TempFolder::new("closed-host"), TempFolder::new("closed"));
    let id = publish_shipped("field", Path::new(host.path()));
    let server = WebServer::of(Path::new(host.path()));
    let arguments = ["--data-dir", data.path(), "--cdn", &server.url()];
    for folder in ["staging", "worlds"] {
        let closed = Path::new(data.path()).join(folder);
        let program = if let Some(wrapper) = mount_wrapper(&[AS_ROOT]) {
            std::fs::create_dir_all(&closed).expect("made");
            let place = closed.display();
            let script =
                format!("mount --bind {place} {place} && mount -o remount,ro,bind {place} && exec \"$@\"");
            Program::serve_under(&[wrapper, &["sh", "-c", &script, "sh"]].concat(), &arguments)
        } else {
            // The folder cannot be mounted read-only, so a regular file takes its place. Not even
            // root can create files below a regular file.
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
        assert_unaffected(&mut client);
        drop(program);
        let _ = std::fs::remove_file(&closed);
    }
    let program = Program::serve(&arguments);
    assert_eq!(install(&mut program.client(), id.as_str()).0, 200);
    // A publication fails if its target is a regular file, is below a regular file, or cannot be
    // created.
    let file = format!("{}/file", host.path());
    std::fs::write(&file, "").expect("written");
    for to in [file.clone(), format!("{file}/cdn"), "/proc/nothing".to_owned()] {
        let refused = crate::program::stderr_of_failure(&["publish", "worlds/field.json", "--to", &to], &[]);
        let last = refused.lines().last().unwrap_or_default();
        assert!(last.starts_with("chicane: can't write ") && last.contains(&to), "{refused}");
    }
}
