//! Tests with podman itself, on machines where podman can start a container. The image is made from
//! the root file system of the judge, so no registry is needed.

use crate::served::{ServedSimulator, TestFolder, fault, processes, script_log, until};
use serde_json::json;
use std::process::{Command, Stdio};

const IMAGE: &str = "localhost/chicane-judge-test";

/// Whether podman can start a container on this machine. If not, the reason is printed.
fn podman_is_available() -> bool {
    let podman = |words: &[&str]| {
        let done = Command::new("podman").args(words).stdin(Stdio::null()).output();
        match done {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(e) => Err(e.to_string()),
        }
    };
    let ready = podman(&["version"])
        .and_then(|()| podman(&["image", "exists", IMAGE]).or_else(|_| import()))
        .and_then(|()| {
            podman(&[
                "run",
                "--rm",
                "--network=none",
                "--ulimit=nofile=256:256",
                "--ulimit=nproc=1024:1024",
                IMAGE,
                "true",
            ])
        });
    if let Err(why) = &ready {
        eprintln!("podman is not available: {why}");
    }
    ready.is_ok()
}

/// Imports the root file system of the judge as an image.
fn import() -> Result<(), String> {
    let root = chicane_session::root::folder().map_err(|e| e.to_string())?.join("root");
    let mut tar = Command::new("tar")
        .arg("-C")
        .arg(root)
        .args(["-c", "."])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let from = tar.stdout.take().ok_or("no output")?;
    let done = Command::new("podman")
        .args(["import", "-", IMAGE])
        .stdin(from)
        .output()
        .map_err(|e| e.to_string())?;
    let _ = tar.wait();
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}

fn serve(files: &TestFolder, script: &str) -> ServedSimulator {
    files.serve(script, &["--judge", "podman", "--judge-image", IMAGE], &[])
}

/// Names of the containers of a simulator.
fn containers(served: &ServedSimulator) -> Vec<String> {
    let words = ["ps", "-a", "--filter", "label=chicane.judge=1", "--format", "{{.Names}}"];
    let listed = Command::new("podman").args(words).output().expect("podman");
    let own = format!("chicane-judge-{}-", served.child.id());
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    text.lines().filter(|name| name.starts_with(&own)).map(str::to_owned).collect()
}

#[test]
fn a_session_finishes_and_its_script_is_isolated() {
    if !podman_is_available() {
        return;
    }
    let files = TestFolder::new("podman-finished");
    let script = "\
import os, socket, sys
def connect(host):
    try:
        socket.create_connection((host, int(os.environ.get('PORT', '8000'))), timeout=2).close()
        return 'WORKED'
    except OSError as error:
        return 'refused'

def initialize(sim):
    sim.set_brightness(0.5)
    print(sys.version_info[:2], os.getuid(), os.getpid() > 1)
    print('{\"type\":\"answer\",\"finish\":true}')
    for folder in ('/', '/usr', '/etc'):
        try:
            open(folder + '/x', 'w')
            print('WROTE', folder)
        except OSError:
            pass
    open('/tmp/mine', 'w').write('mine')
    print('host', *(connect(host) for host in ('127.0.0.1', '10.0.2.2', 'localhost')))

def evaluate(sim):
    sim.record(sim.state.time)
    if sim.state.time >= 0.5:
        sim.teleport(1, 1, 0)
        sim.finish()
";
    let served = serve(&files, script);
    // The script tries to connect to the simulator, so the script needs the port of the simulator.
    // The first start chooses a free port. Then the simulator is restarted on this port, with a
    // script that contains the port.
    let port = served.address.port();
    drop(served);
    let script = script.replace("'8000'", &format!("'{port}'"));
    let address = format!("127.0.0.1:{port}");
    let arguments = ["--judge", "podman", "--judge-image", IMAGE, "--listen", &address];
    let served = files.serve(&script, &arguments, &[]);
    let line = served.about_judge();
    assert!(line.contains("podman with image"), "{line}");
    let record = served.run(json!({"command": "echo hello"}));
    assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &json!(0.5)), "{record}");
    let lines = script_log(&record);
    assert_eq!(lines[0], "(3, 14) 65534 True", "{lines:?}");
    assert_eq!(lines[1], "{\"type\":\"answer\",\"finish\":true}");
    assert_eq!(lines[2], "host refused refused refused", "{lines:?}");
    assert!(containers(&served).is_empty(), "{:?}", containers(&served));
}

#[test]
fn scripts_over_a_limit_are_ended() {
    if !podman_is_available() {
        return;
    }
    let files = TestFolder::new("podman-limits");
    let served = serve(&files, "def evaluate(sim):\n    while True: pass\n");
    let kernel = served.about_judge().contains("limits by the kernel");
    fault(&served, "no answer within");
    assert!(containers(&served).is_empty());
    drop(served);
    for (script, says) in [
        ("def evaluate(sim):\n    x = []\n    while True: x.append(bytearray(8 << 20))\n", "memory limit"),
        (
            "import os, time\ndef evaluate(sim):\n    while True:\n        try:\n            if os.fork() == 0: time.sleep(1000)\n        \
             except OSError: pass\n",
            "process limit",
        ),
        (
            "def evaluate(sim):\n    with open('/tmp/big', 'wb') as file:\n        while True: file.write(bytes(1 << 20))\n",
            "file limit",
        ),
        ("def evaluate(sim):\n    while True: print('x' * 1000)\n", "output limit"),
        ("import os\ndef evaluate(sim):\n    os.kill(os.getpid(), 9)\n", "signal 9"),
    ] {
        if says == "process limit" && !kernel {
            continue;
        }
        let served = serve(&files, script);
        fault(&served, says);
        assert!(containers(&served).is_empty(), "{says}");
    }
}

#[test]
fn no_process_and_no_container_survives_a_stop_or_a_kill() {
    if !podman_is_available() {
        return;
    }
    let files = TestFolder::new("podman-gone");
    let mark = format!("97{:06}", std::process::id());
    let script = format!(
        "import subprocess, time\ndef initialize(sim):\n    \
         subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\ndef evaluate(sim):\n    \
         print('here')\n    if sim.state.time > 0.5: time.sleep(1000)\n"
    );
    let mut served = serve(&files, &script);
    let hangs = |served: &ServedSimulator| {
        until("a call that hangs", || {
            (served.get("/evaluation/session")["session"]["elapsed_s"].as_f64() > Some(0.5)).then_some(())
        });
        assert_eq!(processes(&mark).len(), 1);
    };
    assert_eq!(served.start(json!({})).0, 200);
    hangs(&served);
    served.stop();
    assert!(
        processes(&mark).is_empty() && containers(&served).is_empty(),
        "processes or containers are left"
    );

    let (_, started) = served.start(json!({}));
    let id = started["session"]["id"].as_str().expect("an id").to_owned();
    hangs(&served);
    served.kill();
    until("all processes end", || processes(&mark).is_empty().then_some(()));
    until("the container is removed", || containers(&served).is_empty().then_some(()));
    drop(served);
    let again = serve(&files, &script);
    let record = again.get(&format!("/evaluation/record?session={id}"));
    assert_eq!(
        (&record["outcome"], &record["reason"]),
        (&json!("stopped"), &json!("simulator restarted")),
        "{record}"
    );
}
