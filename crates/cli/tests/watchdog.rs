//! The limits of judging scripts on a machine without control groups (`--judge-isolation
//! watchdog`), as the user of the tests and as an ordinary user. These tests are never skipped.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[path = "durable/program.rs"]
#[allow(dead_code, unreachable_pub)]
mod program;

use program::{Program, TempFolder};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Id of an ordinary user. No user of the machine needs to have this id.
const USER: u32 = 12_345;
/// How long a session of these tests may take.
const SESSION_TIMEOUT: Duration = Duration::from_secs(120);

/// A folder with a copy of the judge's root that every user can read.
fn shared_root(scratch: &TempFolder) -> PathBuf {
    let copy = Path::new(scratch.path()).join("judge");
    let own = chicane_session::root::folder().expect("a folder");
    // Hard links are faster than copies, but need the same file system.
    let linked = Command::new("cp").arg("-al").arg(&own).arg(&copy).output().expect("cp");
    if !linked.status.success() {
        let copied = Command::new("cp").arg("-a").arg(&own).arg(&copy).status().expect("cp");
        assert!(copied.success());
    }
    copy
}

/// Runs a session with this script and returns its record. `ordinary` runs the simulator as another
/// user, which needs root.
fn judge(name: &str, script: &str, ordinary: bool) -> Value {
    let scratch = TempFolder::new(name);
    let folder = Path::new(scratch.path());
    let (data, file) = (folder.join("data"), folder.join("script.py"));
    std::fs::create_dir(&data).expect("a folder");
    std::fs::write(&file, script).expect("written");
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).expect("a mode");
    let root = if ordinary {
        chown(&data, Some(USER), Some(USER)).expect("the owner");
        shared_root(&scratch)
    } else {
        chicane_session::root::folder().expect("a folder")
    };
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (data, file) = (text(&data), text(&file));
    let arguments = ["--data-dir", &data, "--judge-script", &file, "--judge-isolation", "watchdog"];
    let (id, root) = (USER.to_string(), format!("CHICANE_JUDGE_ROOT={}", text(&root)));
    let user = ["setpriv", "--reuid", &id, "--regid", &id, "--clear-groups", "env", &root];
    let program = Program::serve_under(if ordinary { &user } else { &user[6..] }, &arguments);
    let mut client = program.client();
    let mut ask = |path: &str| -> Value {
        serde_json::from_slice(&client.get(&format!("/sim/api/evaluation/{path}")).body).expect("JSON")
    };
    let answer = program.client().post("/sim/api/evaluation/start", &json!({}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let deadline = Instant::now() + SESSION_TIMEOUT;
    while ask("session")["active"] == true {
        assert!(Instant::now() < deadline, "the session does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    ask("record")
}

/// Runs a script with a simulator of the user of the tests. If that is root, also runs the script
/// with a simulator of an ordinary user.
fn as_each_user(name: &str, script: &str, check: impl Fn(&Value)) {
    check(&judge(name, script, false));
    if rustix::process::geteuid().is_root() {
        check(&judge(&format!("{name}-user"), script, true));
    }
}

fn log(record: &Value) -> Vec<&str> {
    let events = record["events"].as_array().expect("a list of events").iter();
    events.filter(|e| e["kind"] == "log").filter_map(|e| e["line"].as_str()).collect()
}

/// Regression test: without control groups, the simulator limited only the sum of the memory of all
/// processes. Therefore a script could hold 3 GB in memory that belongs to no process.
#[test]
fn a_script_held_3_gb_of_memory_that_no_process_owns() {
    let script = "\
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.shmat.restype = ctypes.c_void_p
SIZE = 1 << 30

def in_memfd():
    number = os.memfd_create('x')
    for k in range(SIZE >> 20):
        os.pwrite(number, bytes(1 << 20), k << 20)
    return number

def in_segment():
    number = libc.shmget(0, ctypes.c_size_t(SIZE), 0o1600)
    if number < 0:
        raise OSError(ctypes.get_errno(), 'shmget')
    ctypes.memset(libc.shmat(number, None, 0), 1, SIZE)
    libc.shmdt(None)

def in_shared_map():
    room = mmap.mmap(-1, SIZE)
    room.write(bytes(SIZE))
    room.madvise(mmap.MADV_DONTNEED)
    return room

def in_device():
    with open('/dev/zero', 'r+b') as file:
        room = mmap.mmap(file.fileno(), SIZE)
    room.write(bytes(SIZE))
    room.madvise(mmap.MADV_DONTNEED)
    return room

def in_queues():
    for _ in range(30000):
        queue = libc.msgget(0, 0o1600)
        if queue < 0:
            raise OSError(ctypes.get_errno(), 'msgget')
        libc.msgsnd(queue, ctypes.create_string_buffer(b'\\1' + bytes(8199)), 8192, 0o4000)

def in_semaphores():
    for _ in range(1000):
        if libc.semget(0, 32000, 0o1600) < 0:
            raise OSError(ctypes.get_errno(), 'semget')

def evaluate(sim):
    sim.held = []
    for way in (in_memfd, in_segment, in_shared_map, in_device, in_queues, in_semaphores):
        try:
            sim.held.append(way())
        except OSError as error:
            print(way.__name__, 'refused', error.errno)
        else:
            print(way.__name__, 'WORKED')
    sim.finish()
";
    as_each_user("unowned", script, |record| {
        let lines = log(record);
        assert_eq!(record["outcome"], "finished", "{} {lines:?}", record["reason"]);
        assert_eq!(lines.iter().filter(|line| line.contains("refused")).count(), 6, "{lines:?}");
    });
}

#[test]
fn the_memory_of_processes_is_limited() {
    let one = "def evaluate(sim):\n    x = []\n    while True: x.append(bytearray(8 << 20))\n";
    let many = "\
import os, time
def evaluate(sim):
    for _ in range(20):
        if os.fork() == 0:
            x = bytearray(os.urandom(1 << 20)) * 60
            time.sleep(1000)
    time.sleep(1000)
";
    for (name, script) in [("one", one), ("many", many)] {
        as_each_user(name, script, |record| {
            let reason = record["reason"].as_str().unwrap_or_default();
            assert!(reason.contains("memory limit of 512 MiB"), "{name}: {record}");
        });
    }
}

#[test]
fn a_full_file_system_is_noticed() {
    let script = "\
import os
def evaluate(sim):
    number = os.open('/dev/shm/big', os.O_CREAT | os.O_WRONLY)
    try:
        while True:
            os.write(number, bytes(8 << 20))
    except OSError:
        os.unlink('/dev/shm/big')
        os.close(number)
    sim.finish()
";
    as_each_user("full", script, |record| {
        let reason = record["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("file limit of 256 MiB"), "{record}");
    });
}

/// Many processes with little memory of their own are within the limit, because memory that they
/// share counts only once.
#[test]
fn multiprocessing_works() {
    let script = "\
import multiprocessing, os, time
from multiprocessing import shared_memory

def double(numbers, lock, k):
    with lock:
        numbers[k] *= 2
    time.sleep(0.5)

def evaluate(sim):
    ballast = os.urandom(24 << 20)
    fork = multiprocessing.get_context('fork')
    numbers, lock = fork.Array('d', range(40)), fork.Lock()
    workers = [fork.Process(target=double, args=(numbers, lock, k)) for k in range(40)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    block = shared_memory.SharedMemory(create=True, size=1 << 20, track=False)
    block.buf[:5] = b'hello'
    again = shared_memory.SharedMemory(block.name, track=False)
    assert bytes(again.buf[:5]) == b'hello'
    again.close(); block.close(); block.unlink()
    left, right = fork.Pipe()
    left.send({'a': 1})
    assert right.recv() == {'a': 1}
    assert [worker.exitcode for worker in workers] == [0] * 40
    sim.record(sum(numbers))
    sim.finish()
";
    as_each_user("pool", script, |record| {
        assert_eq!(record["outcome"], "finished", "{} {:?}", record["reason"], log(record));
        assert_eq!(record["record"], 1560.0);
    });
}
