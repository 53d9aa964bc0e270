//! Student programs in a host box that attack the simulator, its files and other simulators. Most
//! tests start the simulator as the user of the tests, and if that user is root, also as an
//! ordinary user. The programs run as the user of the simulator, who can change all its files, so
//! only the box protects the files. The tests fail where the isolation is missing.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[allow(dead_code, reason = "another test uses the rest")]
#[path = "durable/program.rs"]
mod program;
#[path = "hostile_host_box/rig.rs"]
mod rig;

use chicane_store::Records;
use rig::{Rig, Simulator, User, assert_all_failed, output, until, users};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const TOKEN: &str = "hush-0123456789";

#[test]
fn a_program_reads_and_changes_the_folders_of_other_simulators() {
    for user in users() {
        let rig = Rig::new("others", user).with_second_mount("other", "second");
        // The first simulator is running, needs a token, and has a data folder with two paths. The
        // second simulator has ended. The third simulator has ended too, and used the default data
        // folder.
        let mut running = rig.serve("other/data", &format!("CHICANE_TOKEN={TOKEN}")).with_token(TOKEN);
        drop(rig.serve("earlier/data", ""));
        drop(rig.serve("home/.local/share/chicane", ""));
        let mut own = rig.serve("data/own", "");
        let base = rig.path("");
        let lines = own.attack(&format!(
            "base = {base:?}\n\
             import sqlite3\n\
             for folder in ['other/data', 'second/data', 'earlier/data', 'home/.local/share/chicane', 'data/own']:\n\
             \x20   for name in ['running.json', 'lock', 'chicane.db', 'chicane.db-wal']:\n\
             \x20       attempt(f'read {{folder}}/{{name}}', lambda: read(f'{{base}}{{folder}}/{{name}}'))\n\
             \x20   attempt(f'plant in {{folder}}', lambda: write(f'{{base}}{{folder}}/chicane.db'))\n\
             \x20   attempt(f'edit {{folder}}', lambda: sqlite3.connect(f'file:{{base}}{{folder}}/chicane.db?mode=rw', uri=True).execute('DELETE FROM session'))\n\
             \x20   attempt(f'list {{folder}}', lambda: os.listdir(f'{{base}}{{folder}}')[0])\n\
             registry = base + 'home/.local/state/chicane/folders'\n\
             attempt('list the registry', lambda: os.listdir(registry)[0])\n\
             attempt('write to the registry', lambda: write(registry + '/x'))\n\
             attempt('read the root of the judge', lambda: os.listdir(base + 'judge')[0])\n\
             attempt('copy through /proc', lambda: os.listdir(f'/proc/1/root{{base}}other/data')[0])\n",
            base = format!("{}/", base.display().to_string().trim_end_matches('/')),
        ));
        assert_eq!(assert_all_failed(user, &lines), 5 * 7 + 4, "{lines:#?}");
        running.assert_unaffected();
        own.assert_unaffected();
    }
}

#[test]
fn a_program_moves_the_data_folder_away_and_plants_a_database() {
    for user in users() {
        let rig = Rig::new("moved", user);
        let mut own = rig.serve("data/deep/own", "");
        let base = rig.path("").display().to_string();
        let lines = own.attack(&format!(
            "base = {base:?}.rstrip('/')\n\
             for folder in ['data/deep/own', 'data/deep', 'data', 'bin', 'home', 'home/.local', '']:\n\
             \x20   path = f'{{base}}/{{folder}}'.rstrip('/')\n\
             \x20   if folder == 'home' or os.path.isdir(path):\n\
             \x20       attempt(f'rename {{folder}}', lambda: os.rename(path, path + '-away'))\n\
             \x20       attempt(f'remove {{folder}}', lambda: os.rmdir(path))\n\
             os.mkdir(f'{{base}}/planted')\n\
             AT_FDCWD, EXCHANGE = -100, 2\n\
             attempt('exchange', lambda: call(libc.renameat2(AT_FDCWD, f'{{base}}/planted'.encode(), AT_FDCWD, f'{{base}}/data'.encode(), EXCHANGE)))\n",
        ));
        let tried = assert_all_failed(user, &lines);
        assert!(tried >= 11, "{lines:#?}");
        let busy = |name: &str| lines.contains(&format!("rename {name}: EBUSY"));
        assert!(["data/deep", "data", "bin", ""].into_iter().all(busy), "{lines:#?}");
        own.assert_unaffected();
    }
}

#[test]
fn a_data_folder_that_was_replaced_from_outside_is_noticed_and_loses_no_record() {
    for user in users() {
        let rig = Rig::new("replaced", user);
        let mut own = rig.serve("data/own", "");
        let kept = own.run("echo kept");
        let (data, away) = (rig.path("data"), rig.path("away"));
        std::fs::rename(&data, &away).expect("renamed");
        std::fs::create_dir_all(data.join("own")).expect("a planted folder");
        std::fs::write(data.join("own/chicane.db"), "planted").expect("a planted database");
        rig.own_everything();
        let text = format!(
            "the data folder {} was replaced while the simulator was running; stop it and check the folder",
            data.join("own").display()
        );
        assert_eq!(own.start("echo no"), (500, json!({"error": text, "code": "not_stored"})));
        let health = own.get("/health");
        assert_eq!((&health["status"], &health["reason"]), (&json!("failing"), &json!(text)));
        // The simulator still stores settings in the original folder, which it has locked. It
        // writes nothing to the planted folder.
        assert_eq!(own.client.post("/sim/api/brightness", "{\"value\": 0.7}").status, 200);
        assert_eq!(std::fs::read(data.join("own/chicane.db")).expect("the planted file"), b"planted");
        assert_eq!(std::fs::read_dir(data.join("own")).expect("a folder").count(), 1, "files were planted");

        let records = Records::open(&away.join("own")).expect("the records");
        let row = records.session(kept["session"].as_str(), None).expect("read").expect("the record");
        assert_eq!(row.result.map(|r| r.outcome.name()), Some("finished"));
        std::fs::remove_dir_all(&data).expect("removed");
        std::fs::rename(&away, &data).expect("renamed back");
        own.assert_unaffected();
    }
}

#[test]
fn a_program_replaces_the_program_of_the_simulator() {
    for user in users() {
        let rig = Rig::new("binary", user);
        let mut own = rig.serve("data/own", "");
        let binary = rig.program().display().to_string();
        let lines = own.attack(&format!(
            "binary = {binary:?}\n\
             write('evil', b'#!/bin/sh\\ntouch /tmp/owned\\n')\n\
             attempt('overwrite', lambda: write(binary))\n\
             attempt('append', lambda: os.open(binary, os.O_WRONLY | os.O_APPEND))\n\
             attempt('truncate', lambda: os.truncate(binary, 0))\n\
             attempt('remove', lambda: os.unlink(binary))\n\
             attempt('rename', lambda: os.rename(binary, binary + '.old'))\n\
             attempt('replace', lambda: os.replace('evil', binary))\n\
             attempt('change the mode', lambda: os.chmod(binary, 0o777))\n\
             attempt('rename its folder', lambda: os.rename(os.path.dirname(binary), os.path.dirname(binary) + '2'))\n\
             attempt('write to process 1', lambda: os.open('/proc/1/exe', os.O_WRONLY))\n\
             attempt('link and write', lambda: (os.link(binary, 'link'), write('link')))\n",
        ));
        assert_eq!(assert_all_failed(user, &lines), 10, "{lines:#?}");

        // Even if someone replaces the program file from outside of the box, the simulator must not
        // start the new file.
        let mark = rig.path("owned");
        std::fs::remove_file(rig.program()).expect("removed");
        std::fs::write(rig.program(), format!("#!/bin/sh\ntouch {}\n", mark.display())).expect("replaced");
        std::fs::set_permissions(rig.program(), PermissionsExt::from_mode(0o755)).expect("executable");
        own.assert_unaffected();
        assert!(!mark.exists(), "{user:?}: the planted program was started");
    }
}

#[test]
fn a_program_reads_secrets_from_the_environment() {
    for user in users() {
        let rig = Rig::new("secrets", user).with(&["--student-env", "COURSE_KEY"]);
        let environment = format!(
            "CHICANE_TOKEN={TOKEN} GITHUB_TOKEN=hush AWS_PROFILE=hush DB_PASSWORD=hush api_key=hush MY_SECRET=hush \
             GOOGLE_APPLICATION_CREDENTIALS=hush PLAIN=shown COURSE_KEY=shown"
        );
        let mut own = rig.serve("data/own", &environment).with_token(TOKEN);
        let lines = own.attack(
            "secrets = [name for name, value in os.environ.items() if 'hush' in value and name != 'CHICANE_TOKEN']\n\
             print('secrets', secrets)\n\
             print('plain', os.environ.get('PLAIN'), os.environ.get('COURSE_KEY'), 'CHICANE_SESSION' in os.environ)\n\
             for pid in os.listdir('/proc'):\n\
             \x20   if pid.isdigit() and int(pid) != os.getpid():\n\
             \x20       try:\n\
             \x20           if b'GITHUB_TOKEN' in open(f'/proc/{pid}/environ', 'rb').read():\n\
             \x20               print('found in process', pid)\n\
             \x20       except OSError:\n\
             \x20           pass\n",
        );
        assert_eq!(lines, ["secrets []", "plain shown shown True"], "{user:?}");
    }
}

#[test]
fn a_program_attacks_the_processes_of_the_simulator() {
    for user in users() {
        let rig = Rig::new("processes", user);
        let mut own = rig.serve("data/own", &format!("CHICANE_TOKEN={TOKEN}")).with_token(TOKEN);
        let pid = own.program.id();
        let lines = own.attack(&format!(
            "pid = {pid}\n\
             attempt('signal', lambda: os.kill(pid, 0))\n\
             attempt('pidfd', lambda: os.pidfd_open(pid))\n\
             for name in ['mem', 'environ', 'maps', 'cmdline']:\n\
             \x20   attempt(f'read {{name}}', lambda: read(f'/proc/{{pid}}/{{name}}'))\n\
             \x20   attempt(f'read {{name}} of process 1', lambda: read(f'/proc/1/{{name}}') if name != 'cmdline' else os.readlink('/proc/1/exe'))\n\
             attempt('descriptors', lambda: os.listdir(f'/proc/{{pid}}/fd'))\n\
             attempt('descriptors of process 1', lambda: os.open('/proc/1/fd/0', os.O_RDWR))\n\
             PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206\n\
             attempt('trace', lambda: call(libc.ptrace(PTRACE_SEIZE, pid, 0, 0)))\n\
             attempt('trace process 1', lambda: call(libc.ptrace(PTRACE_ATTACH, 1, 0, 0)))\n\
             attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))\n",
        ));
        assert_eq!(assert_all_failed(user, &lines), 15, "{lines:#?}");
        own.assert_unaffected();
        // Many signals to process 1 and to all processes must not affect the simulator.
        let storm = "python3 -c 'import os, signal\nfor s in (15, 1, 2, 9, 19, 18) * 50:\n    os.kill(1, s)' ; \
                     sleep 1000 & kill -9 1; kill -STOP 1; kill -9 -1; echo survived";
        let record = own.run(storm);
        assert!(output(&record).contains(&"survived".to_owned()), "{record}");
        own.assert_unaffected();
        // Daemons end with the session.
        let mark = format!("7{pid:07}");
        let daemons = format!(
            "for i in 1 2 3; do (setsid nohup bash -c \"trap '' TERM HUP; sleep {mark}; sleep {mark}\" >/dev/null 2>&1 &); done"
        );
        own.run(&daemons);
        assert_eq!(processes_with(&mark), 0, "{user:?}: daemons are left");
        own.assert_unaffected();
    }
}

/// Number of processes of this machine that have a word in their command line.
fn processes_with(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

#[test]
fn a_program_changes_mounts_groups_and_kernel_settings() {
    for user in users() {
        let rig = Rig::new("kernel", user);
        let mut own = rig.serve("data/own", "");
        let data = rig.path("data/own").display().to_string();
        let lines = own.attack(&format!(
            "data = {data:?}\n\
             def shell(command):\n\
             \x20   done = subprocess.run(command, shell=True, capture_output=True, text=True)\n\
             \x20   if done.returncode != 0 or not done.stdout:\n\
             \x20       raise OSError(errno.EPERM, 'refused')\n\
             \x20   return done.stdout\n\
             attempt('unmount', lambda: call(libc.umount2(data.encode(), 2)))\n\
             attempt('mount', lambda: call(libc.mount(b'none', b'/mnt', b'tmpfs', 0, None)))\n\
             attempt('bind the root', lambda: shell(f'unshare -Urm sh -c \"mount --bind / /mnt && ls /mnt{{data}}/\"'))\n\
             attempt('unmount in a namespace', lambda: shell(f'unshare -Urm sh -c \"umount {{data}} && ls {{data}}\"'))\n\
             attempt('unmount lazily in a namespace', lambda: shell(f'unshare -Urm sh -c \"umount -l {{data}} && ls {{data}}\"'))\n\
             attempt('move in a namespace', lambda: shell(f'unshare -Urm sh -c \"mount --move {{data}} /mnt && ls {{data}}\"'))\n\
             attempt('enter process 1', lambda: call(libc.setns(os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)))\n\
             attempt('list groups', lambda: os.listdir('/sys/fs/cgroup')[0])\n\
             attempt('write to groups', lambda: os.mkdir('/sys/fs/cgroup/x'))\n\
             attempt('kernel settings', lambda: write('/proc/sys/kernel/core_pattern', b'|/tmp/x'))\n\
             attempt('terminals', lambda: [name for name in os.listdir('/dev/pts') if name.isdigit()][0])\n\
             attempt('controlling terminal', lambda: os.open('/dev/tty', os.O_RDWR))\n\
             def setuid():\n\
             \x20   status = open('/proc/self/status').read()\n\
             \x20   if 'NoNewPrivs:\\t1' in status:\n\
             \x20       raise OSError(errno.EPERM, 'refused')\n\
             attempt('setuid programs', setuid)\n\
             attempt('new capabilities', lambda: shell('grep \"CapEff:.*00000000002\" /proc/self/status'))\n",
        ));
        assert_eq!(assert_all_failed(user, &lines), 14, "{lines:#?}");
        own.assert_unaffected();
    }
}

#[test]
fn a_program_floods_output_and_writes_many_files() {
    for user in users() {
        let rig = Rig::new("flood", user);
        let mut own = rig.serve("data/own", "");
        let record = own.run(
            "timeout 3 yes | head -c 50000000; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last",
        );
        let lines = output(&record);
        let bytes: usize = lines.iter().map(String::len).sum();
        assert!(lines.len() < 20_000 && bytes < 16 << 20, "{user:?}: {} lines, {bytes} bytes", lines.len());
        // Files in /tmp are still allowed.
        let lines = own.attack(
            "import tempfile\n\
             with tempfile.TemporaryDirectory() as folder:\n\
             \x20   for i in range(10_000):\n\
             \x20       write(f'{folder}/{i}')\n\
             \x20   print(len(os.listdir(folder)))\n",
        );
        assert_eq!(lines, ["10000"], "{user:?}");
        own.assert_unaffected();
    }
}

#[test]
fn a_program_uses_more_memory_than_it_may() {
    // The test needs root: on a machine with control groups of version 1 only, an ordinary user
    // can't create a group.
    let Some(user) = users().into_iter().find(|_| rustix::process::geteuid().is_root()) else { return };
    let rig = Rig::new("memory", user).with(&["--student-memory", "100"]);
    let mut own = rig.serve("data/own", "");
    let record =
        own.run("python3 -c 'x = bytearray(60 << 20); print(len(x))'; python3 -c 'x = bytearray(1 << 30)'");
    assert_eq!(output(&record).first().map(String::as_str), Some("62914560"), "{record}");
    assert_eq!(record["run"]["oom"], true, "{record}");
    own.assert_unaffected();
}

#[test]
fn a_workspace_in_the_folder_of_another_simulator_is_refused() {
    let rig = Rig::new("inside", User::Own);
    drop(rig.serve("work/data", ""));
    std::fs::create_dir(rig.path("work/data/project")).expect("a folder");
    let rig = rig.with_workspace("work/data/project");
    let mut own = rig.serve("data/own", "");
    let (status, body) = own.start("echo no");
    assert_eq!(status, 200, "{body}");
    let record = own.record();
    let reason = record["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("choose another --workspace"), "{record}");
}

#[test]
fn a_simulator_of_root_with_host_boxes_does_not_warn() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let log = |kind: &str| {
        let scratch = program::TempFolder::new(&format!("warning-{kind}"));
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", scratch.path(), "--box", kind];
        let mut command = program::command(&arguments, &[]);
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("started");
        let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().expect("its log")));
        // The log reports the judge after the warning. So the test reads the log up to that line.
        let log: Vec<String> =
            lines.map_while(Result::ok).take_while(|line| !line.contains("judge")).collect();
        let _ = child.kill();
        let _ = child.wait();
        log.into_iter().filter(|line| line.contains("as root")).collect::<Vec<_>>()
    };
    let warned = log("host");
    assert!(warned.len() == 1 && warned[0].contains("--box closed"), "{warned:?}");
    assert_eq!(log("closed"), [""; 0]);
}

#[test]
fn a_full_disk_leaves_the_record_without_an_outcome() {
    for user in users() {
        let rig = Rig::new("full", user).with_small_disk("data");
        let (data, work) = (rig.path("data"), rig.path("work"));
        let mut own = rig.serve("data/own", "");
        let mut idle = rig.serve("data/idle", "");
        // Each simulator has a disk of its own, which other processes reach only through /proc.
        let disk = |simulator: &Simulator| {
            std::path::PathBuf::from(format!("/proc/{}/root{}", simulator.program.id(), data.display()))
        };
        let seen = disk(&own);
        let (status, body) = own.start("until [ -e go ]; do sleep 0.05; done; echo done");
        assert_eq!(status, 200, "{body}");
        until("the program", || (own.get("/sim/api/state")["run"]["running"] == true).then_some(()));
        let filler = seen.join("filler");
        fill(&filler);
        let health = own.get("/health");
        assert_eq!(health["status"], "failing", "{health}");
        // The reason above may be the full disk, or a record that the session has failed to write.
        // The idle simulator has no session, so its reason must be the full disk.
        fill(&disk(&idle).join("filler"));
        let health = idle.get("/health");
        let is_full = health["reason"].as_str().is_some_and(|why| why.contains("is full: "));
        assert!(health["status"] == "failing" && is_full, "before a write failed: {health}");
        drop(idle);
        std::fs::write(work.join("go"), "").expect("written");
        let record = own.record();
        let outcome = record["outcome"].clone();
        assert!(outcome.is_string(), "{user:?}: {record}");
        assert_eq!(
            record["events"].as_array().and_then(|e| e.last()).map(|e| e["kind"].clone()),
            Some(json!("end"))
        );
        let health = own.get("/health");
        assert_eq!(health["status"], "failing", "{health}");
        let id = record["session"].as_str().expect("an id").to_owned();
        let expected = format!("the record of session {id} can't be written: ");
        assert!(health["reason"].as_str().is_some_and(|why| why.starts_with(&expected)), "{health}");
        let (status, body) = own.start("echo no");
        assert!(status == 500 && body["error"].as_str().is_some_and(|e| e.starts_with(&expected)), "{body}");
        let listed = own.get("/sim/api/evaluation/records");
        assert_eq!(listed["records"][0]["outcome"], outcome, "{listed}");

        std::fs::remove_file(&filler).expect("removed");
        until("the written record", || (own.get("/health")["status"] == "ok").then_some(()));
        // SQLite does not open a path that leads through /proc, so the test opens a copy of the
        // database.
        for file in ["chicane.db", "chicane.db-wal"] {
            std::fs::copy(seen.join("own").join(file), rig.path("home").join(file)).expect("a copy");
        }
        let stored = Records::open(&rig.path("home")).expect("the records");
        let row = stored.session(Some(&id), None).expect("read").expect("the record");
        assert_eq!(row.result.map(|r| json!(r.outcome.name())), Some(outcome));
        assert_eq!(own.get(&format!("/sim/api/evaluation/record?session={id}")), record);
        own.assert_unaffected();
    }
}

/// Fills a disk by writing to this file.
fn fill(file: &std::path::Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(file).expect("a file");
    for size in [65_536, 4096, 512, 1] {
        while file.write_all(&vec![1; size]).is_ok() {}
    }
}
