//! Malicious judging scripts in a real judge: each session gets the right outcome, and no process
//! of a script survives. These tests are never skipped. They fail on a machine that cannot isolate
//! scripts.

use crate::support::judged::{
    judged, processes, run, script_log, unique_number, wait_for_end, wait_for_phase,
};
use crate::support::{setup, until};
use serde_json::{Value, json};
use std::time::Instant;

/// Longest time that a command of a client may take during a session, in seconds.
const MAX_WAIT_S: f64 = 2.0;

/// Runs a malicious script and returns the record of the session. The simulator must respond during
/// the session, and no process of the script may survive.
fn attack(name: &str, script: &str) -> Value {
    // A call of the script may take 2 s of processor time or 15 s of real time. Requests of clients
    // must not wait for the end of the call. A busy machine can delay a request as well, so one slow
    // session is no failure, but more than half of the sessions have to be fast.
    let (mut fast, mut slow) = (0, Vec::new());
    loop {
        let (record, longest) = attack_once(name, script);
        if longest < MAX_WAIT_S {
            fast += 1;
        } else {
            slow.push(longest);
        }
        if fast > slow.len() {
            return record;
        }
        assert!(
            slow.len() < 3,
            "{name}: commands took {slow:?} s in {} of {} sessions",
            slow.len(),
            fast + slow.len()
        );
    }
}

/// Like [`attack`], but runs one session only, and also returns how long the slowest command of a
/// client took, in seconds.
fn attack_once(name: &str, script: &str) -> (Value, f64) {
    let mark = unique_number();
    let script = script.replace("MARK", &mark);
    let simulator = judged(setup(), &script);
    let mut api = simulator.api();
    api.post("/evaluation/start", json!({"time_limit_s": 3600}));
    let mut slowest = 0.0f64;
    while api.get("/evaluation/session")["active"] == true {
        let asked = Instant::now();
        api.post("/overlay", json!({"text": "still here"}));
        slowest = slowest.max(asked.elapsed().as_secs_f64());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let left = processes(&mark);
    assert!(left.is_empty(), "{name}: processes are left: {left:?}");
    let record = api.get("/evaluation/record");
    assert_eq!(record["outcome"], "script_error", "{name}: {} {:?}", record["reason"], script_log(&record));
    // No session is active any more, so the next session could start.
    assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], false);
    (record, slowest)
}

fn reason(name: &str, script: &str, says: &str) {
    let record = attack(name, script);
    let reason = record["reason"].as_str().expect("a reason");
    assert!(reason.contains(says), "{name}: {reason} {:?}", script_log(&record));
}

#[test]
fn an_endless_loop_ends_after_two_seconds_of_processor_time() {
    reason("loop", "def evaluate(sim):\n    while True: pass\n", "2 s of CPU time");
    reason("loop at the top", "while True: pass\n", "2 s of CPU time");
}

#[test]
fn a_sleeping_script_ends_after_fifteen_seconds() {
    reason("sleep", "import time\ndef evaluate(sim):\n    time.sleep(1000)\n", "no answer within 15 s");
}

#[test]
fn a_fork_bomb_hits_the_process_limit() {
    let script = "\
import os, time
def evaluate(sim):
    while True:
        try:
            if os.fork() == 0:
                time.sleep(1000)
        except OSError:
            pass
";
    reason("fork bomb", script, "process limit");
    let script = "\
import threading, time
def evaluate(sim):
    for _ in range(1000):
        threading.Thread(target=time.sleep, args=(1000,)).start()
";
    reason("threads", script, "process limit");
}

#[test]
fn a_memory_bomb_hits_the_memory_limit() {
    reason(
        "memory",
        "def evaluate(sim):\n    x = []\n    while True: x.append(bytearray(8 << 20))\n",
        "memory limit",
    );
}

#[test]
fn a_full_disk_hits_the_file_limit() {
    let script = "\
def evaluate(sim):
    with open('/tmp/big', 'wb') as file:
        while True:
            file.write(bytes(1 << 20))
";
    reason("disk", script, "file limit");
    // This script ignores write errors.
    let script = "\
import os
def evaluate(sim):
    number = os.open('/tmp/big', os.O_CREAT | os.O_WRONLY)
    for k in range(400):
        try:
            os.pwrite(number, bytes(1 << 20), k << 20)
        except OSError:
            pass
";
    reason("quiet disk", script, "file limit");
}

/// Regression test: the free space was checked only every 20 ms. Between two checks, a script could
/// fill the file system, delete its files and finish.
#[test]
fn filling_the_file_system_and_deleting_the_files_was_finished() {
    let head = "\
import os, tempfile
def fill(number):
    piece = bytes(8 << 20)
    try:
        while os.write(number, piece) == len(piece):
            pass
        while os.write(number, b'x'):
            pass
    except OSError as error:
        assert error.errno == 28, error

def evaluate(sim):
    os.close(os.open('/tmp/here', os.O_CREAT))
";
    for (name, attack) in [
        (
            "delete",
            "n = os.open('/tmp/big', os.O_CREAT | os.O_WRONLY); fill(n); os.unlink('/tmp/big'); os.close(n)",
        ),
        ("truncate", "n = os.open('/tmp/big', os.O_CREAT | os.O_WRONLY); fill(n); os.ftruncate(n, 0)"),
        ("deleted before", "f = tempfile.TemporaryFile(buffering=0); fill(f.fileno()); f.close()"),
        (
            "instead of standard output",
            "n = os.open('/tmp/big', os.O_CREAT | os.O_WRONLY); os.dup2(n, 1); os.unlink('/tmp/big'); \
             fill(1); os.dup2(0, 1); os.close(n)",
        ),
        (
            "one write",
            "n = os.open('/tmp/big', os.O_CREAT | os.O_WRONLY)\n    \
             while os.write(n, bytes(1 << 20)) == 1 << 20: pass\n    os.unlink('/tmp/big'); os.close(n)",
        ),
        (
            "empty files",
            "names = []\n    \
             try:\n        \
                 while True: names.append(f'/tmp/{len(names)}'); open(names[-1], 'x').close()\n    \
             except OSError: pass\n    \
             for name in names[:-1]: os.unlink(name)",
        ),
        (
            "another process",
            "if (child := os.fork()) == 0:\n        \
                 n = os.open('/tmp/big', os.O_CREAT | os.O_WRONLY); fill(n); os.unlink('/tmp/big'); os._exit(0)\n    \
             os.waitpid(child, 0)",
        ),
    ] {
        reason(name, &format!("{head}    {attack}\n    sim.finish()\n"), "file limit of 256 MiB");
    }
    // A script may fill its file system almost completely, and may do so again after it has deleted
    // the files.
    let script = "\
import os
def evaluate(sim):
    for _ in range(3):
        with open('/tmp/big', 'wb') as file:
            for _ in range(240):
                file.write(bytes(1 << 20))
        os.unlink('/tmp/big')
    sim.finish()
";
    let record = run(&mut judged(setup(), script).api(), json!({}));
    assert_eq!(record["outcome"], "finished", "{} {:?}", record["reason"], script_log(&record));
}

#[test]
fn endless_output_hits_the_output_limit() {
    reason("print", "def evaluate(sim):\n    while True: print('x' * 1000)\n", "output limit");
    reason(
        "write",
        "import os\ndef evaluate(sim):\n    while True: os.write(2, bytes(65536))\n",
        "output limit",
    );
}

#[test]
fn a_script_that_kills_processes_ends_only_itself() {
    reason("kill", "import os\ndef evaluate(sim):\n    os.kill(os.getpid(), 9)\n", "signal 9");
    // Process 1 of the jail cannot be killed from inside. The process id -1 stands for all
    // processes except the sender and process 1. The jail has no such process, so the second `kill`
    // fails.
    let script = "\
import os
def evaluate(sim):
    os.kill(1, 9)
    try:
        os.kill(-1, 9)
    except ProcessLookupError:
        pass
    os.abort()
";
    reason("kill all", script, "signal 6");
}

#[test]
fn a_script_cannot_close_the_channel() {
    let script = "\
import os
def evaluate(sim):
    os.closerange(0, 100)
    for number in range(100):
        try:
            os.close(number)
        except OSError:
            pass
        try:
            os.dup2(0, number)
        except OSError:
            pass
    sim.record('still here')
    sim.finish()
";
    let simulator = judged(setup(), script);
    let record = run(&mut simulator.api(), json!({}));
    assert_eq!(
        (&record["outcome"], &record["record"]),
        (&json!("finished"), &json!("still here")),
        "{record}"
    );
}

#[test]
fn forged_protocol_lines_in_the_output_are_only_printed() {
    let script = "\
import sys
def evaluate(sim):
    print('{\"type\":\"record\",\"value\":1}')
    print('{\"type\":\"answer\",\"finish\":true}', file=sys.stderr)
    if sim.state.time > 0.1:
        sim.record('mine')
        sim.finish()
";
    let simulator = judged(setup(), script);
    let record = run(&mut simulator.api(), json!({}));
    assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &json!("mine")));
    assert!(script_log(&record)[0].contains("\"record\""));
}

#[test]
fn an_invalid_line_on_the_channel_ends_the_session() {
    // A script runs in the process of the harness, so the script can write to the channel between
    // harness and simulator. An invalid line must end the session.
    for (name, line) in [
        ("nonsense", "nonsense"),
        ("an array", "[]"),
        ("two replies", r#"{"type":"answer","finish":false}\n{"type":"answer","finish":false}"#),
        ("deep", "DEEP"),
        ("long", "LONG"),
        ("out of turn", r#"{"type":"ready","version":1}"#),
    ] {
        let script = format!(
            "import os, time\ndef evaluate(sim):\n    line = b'{line}'\n    \
             line = b'[' * 5000 if line == b'DEEP' else b'x' * 3000000 if line == b'LONG' else line\n    \
             sim._channel.number and os.write(sim._channel.number, line + b'\\n')\n    time.sleep(1000)\n"
        );
        let record = attack(name, &script.replace("\\\\n", "\\n"));
        let reason = record["reason"].as_str().expect("a reason");
        assert!(reason.contains("channel"), "{name}: {reason}");
    }
}

#[test]
fn background_processes_end_with_the_session() {
    let script = "\
import os, subprocess
def initialize(sim):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv('/usr/bin/sleep', ['sleep', 'MARK'])
        os._exit(0)
    subprocess.Popen(['/usr/bin/sleep', 'MARK'], start_new_session=True)

def evaluate(sim):
    pass
";
    let mark = unique_number();
    let simulator = judged(setup(), &script.replace("MARK", &mark));
    let mut api = simulator.api();
    api.post("/evaluation/start", json!({}));
    wait_for_phase(&mut api, "running");
    until("the background processes", || (processes(&mark).len() >= 2).then_some(()));
    api.post("/evaluation/stop", json!({}));
    assert_eq!(processes(&mark), [""; 0], "processes are left after the response");
}

#[test]
fn a_script_cannot_access_the_host() {
    let simulator = setup().start();
    let port = simulator.address.port();
    let script = format!(
        "\
import ctypes, os, socket
def tries(name, do):
    try:
        print(name, 'WORKED', do())
    except (OSError, RuntimeError, AttributeError) as error:
        print(name, 'refused', type(error).__name__)

def connect(address):
    with socket.create_connection(address, timeout=2) as line:
        return line.getpeername()

def evaluate(sim):
    libc = ctypes.CDLL(None, use_errno=True)
    def call(name, *arguments):
        if getattr(libc, name)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), name)
        return name
    for host in ('127.0.0.1', 'localhost', '10.0.2.2', '192.168.0.1', '172.16.0.1', '169.254.169.254', {own}):
        tries('connect ' + host, lambda host=host: connect((host, {port})))
    tries('proc', lambda: os.stat('/proc/1'))
    tries('sys', lambda: os.stat('/sys/kernel'))
    tries('root', lambda: os.stat('/root/.cache'))
    print('empty', os.listdir('/proc') + os.listdir('/sys') + os.listdir('/home'))
    tries('shadow', lambda: open('/etc/shadow').read())
    tries('disk', lambda: os.listdir('/dev/disk'))
    tries('mknod', lambda: os.mknod('/tmp/sda', 0o60600, os.makedev(8, 0)))
    tries('ptrace', lambda: call('ptrace', 16, 1, 0, 0))
    tries('unshare', lambda: os.unshare(os.CLONE_NEWUSER))
    tries('mount', lambda: call('mount', b'x', b'/tmp', b'tmpfs', 0, None))
    tries('chroot', lambda: os.chroot('/tmp'))
    tries('setuid', lambda: os.setuid(12345))
    tries('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))
    tries('packet', lambda: socket.socket(17, socket.SOCK_RAW))
    tries('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
    tries('reboot', lambda: call('reboot', 0))
    tries('bpf', lambda: call('syscall', 321, 0, 0, 0))
    tries('io_uring', lambda: call('syscall', 425, 1, 0))
    tries('keyctl', lambda: call('syscall', 250, 0, 0))
    os.symlink('/etc/passwd', '/tmp/link')
    print('passwd', open('/tmp/link').read().count(':x:'))
    print('pid', os.getpid(), 'files', sorted(os.listdir('/')))
    sim.finish()
",
        own = own_addresses()
    );
    drop(simulator);
    let again = judged(setup().listen(&format!("127.0.0.1:{port}")), &script);
    let record = run(&mut again.api(), json!({}));
    assert_eq!(record["outcome"], "finished", "{} {:?}", record["reason"], script_log(&record));
    let lines = script_log(&record);
    let worked: Vec<&String> = lines.iter().filter(|line| line.contains("WORKED")).collect();
    assert!(worked.is_empty(), "{worked:?}");
    assert!(lines.iter().filter(|line| line.contains("refused")).count() >= 24, "{lines:?}");
    assert!(lines.contains(&"empty []".to_owned()), "{lines:?}");
    assert!(lines.contains(&"passwd 2".to_owned()), "the script read the host's passwd: {lines:?}");
}

/// Regression test: the simulator fetches no sounds from addresses that are not public. The list of
/// networks that are closed to the judge was shorter than the list of these addresses.
#[test]
fn a_script_could_connect_to_networks_that_are_not_public() {
    let last = |(network, prefix): &(std::net::IpAddr, u8)| match network {
        std::net::IpAddr::V4(a) => {
            format!("'{}'", std::net::Ipv4Addr::from(a.to_bits() | u32::MAX >> prefix))
        }
        std::net::IpAddr::V6(a) => {
            format!("'{}'", std::net::Ipv6Addr::from(a.to_bits() | u128::MAX >> prefix))
        }
    };
    let closed = chicane_session::closed_networks();
    let all: Vec<String> =
        closed.iter().map(|(first, _)| format!("'{first}'")).chain(closed.iter().map(last)).collect();
    let script = format!(
        "\
import errno, socket
# The kernel itself refuses these, or connects them to this namespace: the network itself, loopback,
# link-local without an interface, multicast.
OTHER = {{
    '0.0.0.0': ['ECONNREFUSED'], '::': ['ECONNREFUSED'], '127.': ['ECONNREFUSED', 'ENETUNREACH'],
    'fe80:': ['EINVAL'], 'ff': ['ENETUNREACH'],
}}
def evaluate(sim):
    for host in ({all}):
        family = socket.AF_INET6 if ':' in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as line:
            line.settimeout(2)
            try:
                line.connect((host, 80))
                print(host, 'WORKED')
            except OSError as error:
                name = errno.errorcode.get(error.errno, type(error).__name__)
                refused = name == 'EACCES' or any(
                    host.startswith(start) and name in names for start, names in OTHER.items()
                )
                print(host, name, '' if refused else 'NOT REFUSED')
    sim.finish()
",
        all = all.join(", ")
    );
    let record = run(&mut judged(setup(), &script).api(), json!({}));
    assert_eq!(record["outcome"], "finished", "{} {:?}", record["reason"], script_log(&record));
    let lines = script_log(&record);
    assert_eq!(lines.len(), all.len(), "{lines:?}");
    let open: Vec<&String> = lines.iter().filter(|l| l.contains("WORKED") || l.contains("NOT")).collect();
    assert!(open.is_empty(), "{open:?}");
}

/// Addresses of this machine as Python string literals.
fn own_addresses() -> String {
    let all = chicane_session::own_addresses();
    all.iter().map(|(address, _)| format!("'{address}'")).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_script_that_hangs_can_be_stopped_at_any_point() {
    for (name, script) in [
        ("at the top", "import time\ntime.sleep(1000)\n"),
        ("initialize", "import time\ndef initialize(sim):\n    time.sleep(1000)\ndef evaluate(sim): pass\n"),
        ("evaluate", "import time\ndef evaluate(sim):\n    time.sleep(1000)\n"),
    ] {
        let simulator = judged(setup(), script);
        let mut api = simulator.api();
        api.post("/evaluation/start", json!({"command": "sleep 1000"}));
        if name == "evaluate" {
            wait_for_phase(&mut api, "running");
        }
        let asked = Instant::now();
        assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true, "{name}");
        assert!(asked.elapsed().as_secs_f64() < 10.0, "{name}");
        assert_eq!(wait_for_end(&mut api)["outcome"], "stopped", "{name}");
    }
}
