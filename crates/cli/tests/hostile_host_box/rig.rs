//! The folders and simulators of these tests. Each simulator runs as the user of the test or as an
//! ordinary user, from a copy of the program `chicane` that this user can replace. The student's
//! programs are Python programs that attack the simulator.

use crate::program::{Program, TempFolder};
use chicane_testkit::http::Client;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a session may take on a busy machine.
const SESSION_TIMEOUT: Duration = Duration::from_secs(120);
/// Size of a small disk, in bytes.
const DISK_SIZE: u32 = 8 << 20;
/// User id of the ordinary user ([`User::Ordinary`]).
const ORDINARY: u32 = 12_345;
/// A judging script that finishes when the student's program has ended.
const UNTIL_EXIT: &str = "\
def evaluate(sim):
    if sim.state.run.exit_code is not None:
        sim.record(sim.state.run.exit_code)
        sim.finish()
";
/// The beginning of every attack. `attempt` prints whether an attack succeeded.
const PRELUDE: &str = "\
import ctypes, errno, os, signal, socket, subprocess, sys, time
def attempt(name, attack):
    try:
        result = attack()
        print(f'{name}: DONE {result!r}'[:300], flush=True)
    except OSError as error:
        print(f'{name}: {errno.errorcode.get(error.errno, error.errno)}', flush=True)
    except Exception as error:
        print(f'{name}: {type(error).__name__}', flush=True)
def read(path):
    with open(path, 'rb') as file:
        return file.read(64)
def write(path, data=b'x'):
    with open(path, 'wb') as file:
        file.write(data)
libc = ctypes.CDLL(None, use_errno=True)
def call(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), 'call')
    return result
";

/// The user who runs the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// The user of the test.
    Own,
    /// An ordinary user. Only a test that runs as root can change to this user.
    Ordinary,
}

/// The users who can run a simulator on this machine: both if the tests run as root, otherwise
/// only the user of the tests.
pub(crate) fn users() -> Vec<User> {
    if rustix::process::geteuid().is_root() { vec![User::Own, User::Ordinary] } else { vec![User::Own] }
}

/// The folders of one user: program, home, workspace, data folders.
pub(crate) struct Rig {
    scratch: TempFolder,
    pub(crate) user: User,
    /// Arguments of every simulator.
    arguments: Vec<String>,
    /// Folder at which a small disk is mounted. Only the simulator sees the disk.
    disk: Option<&'static str>,
    /// Folder that student programs run in.
    workspace: &'static str,
    /// A folder, and a second folder at which it is mounted too.
    second_mount: Option<(&'static str, &'static str)>,
}

impl Rig {
    pub(crate) fn new(name: &str, user: User) -> Rig {
        let scratch = TempFolder::new(&format!("{name}-{user:?}"));
        let rig =
            Rig { scratch, user, arguments: Vec::new(), disk: None, workspace: "work", second_mount: None };
        for folder in ["bin", "home", "work", "judge", "data"] {
            std::fs::create_dir(rig.path(folder)).expect("a folder");
        }
        std::fs::copy(env!("CARGO_BIN_EXE_chicane"), rig.program()).expect("a copy of the program");
        std::fs::set_permissions(rig.program(), PermissionsExt::from_mode(0o755)).expect("executable");
        std::fs::write(rig.path("script.py"), UNTIL_EXIT).expect("a script");
        rig.own_everything();
        rig
    }

    /// Adds arguments to the command line of every simulator.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Rig {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// Mounts a small disk at a folder when a simulator starts.
    pub(crate) fn with_small_disk(mut self, folder: &'static str) -> Rig {
        self.disk = Some(folder);
        self
    }

    /// Mounts a folder a second time. Both folders are created.
    pub(crate) fn with_second_mount(mut self, folder: &'static str, at: &'static str) -> Rig {
        for name in [folder, at] {
            std::fs::create_dir(self.path(name)).expect("a folder");
        }
        self.own_everything();
        self.second_mount = Some((folder, at));
        self
    }

    /// Makes student programs run in another folder.
    pub(crate) fn with_workspace(mut self, folder: &'static str) -> Rig {
        self.workspace = folder;
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        Path::new(self.scratch.path()).join(name)
    }

    /// The program that the simulators of this rig run.
    pub(crate) fn program(&self) -> PathBuf {
        self.path("bin/chicane")
    }

    /// Makes the user the owner of all folders, so that only the box protects them.
    pub(crate) fn own_everything(&self) {
        if self.user == User::Ordinary {
            let owner = format!("{ORDINARY}:{ORDINARY}");
            let done = std::process::Command::new("chown").args(["-R", &owner, self.scratch.path()]).status();
            assert!(done.expect("chown").success());
        }
    }

    /// Starts a simulator with a data folder of this rig. If the test runs as root, mounts the
    /// judge's Python at a path that every user can reach.
    pub(crate) fn serve(&self, data: &str, environment: &str) -> Simulator {
        let judge = chicane_session::root::folder().expect("the judge's folder");
        let become_user = match self.user {
            User::Own => String::new(),
            User::Ordinary => {
                format!("setpriv --reuid {ORDINARY} --regid {ORDINARY} --clear-groups --inh-caps=-all")
            }
        };
        let (base, judge) = (self.scratch.path(), judge.display());
        let is_root = rustix::process::geteuid().is_root();
        let mut mounts = String::new();
        if is_root {
            mounts +=
                &format!("mount --bind {judge} {base}/judge && export CHICANE_JUDGE_ROOT={base}/judge && ");
        }
        if let Some(folder) = self.disk {
            mounts += &format!("mount -t tmpfs -o size={DISK_SIZE},mode=777 none {base}/{folder} && ");
        }
        if let Some((folder, at)) = self.second_mount {
            mounts += &format!("mount --bind {base}/{folder} {base}/{at} && ");
        }
        let script = format!(
            "{mounts} shift && exec env -u XDG_STATE_HOME -u XDG_DATA_HOME HOME={base}/home {environment} \
             {become_user} {} \"$@\"",
            self.program().display()
        );
        let wrapper: &[&str] = match (is_root, mounts.is_empty()) {
            (true, _) => &["unshare", "-m", "sh"],
            (false, false) => &["unshare", "-r", "-m", "sh"],
            (false, true) => &["sh"],
        };
        let wrapper = [wrapper, &["-c", &script, "sh"]].concat();
        let (data, work, script) = (self.path(data), self.path(self.workspace), self.path("script.py"));
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let mut arguments = vec!["--data-dir".to_owned(), text(&data), "--workspace".to_owned(), text(&work)];
        arguments.extend(["--judge-script".to_owned(), text(&script)]);
        arguments.extend(["--box", "host", "--student-network", "host"].map(str::to_owned));
        arguments.extend(self.arguments.iter().cloned());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let program = Program::serve_under(&wrapper, &arguments);
        Simulator { client: program.client(), program, work }
    }
}

/// A running simulator of a rig.
pub(crate) struct Simulator {
    pub(crate) program: Program,
    pub(crate) client: Client,
    work: PathBuf,
}

impl Simulator {
    /// Adds the token to every request.
    pub(crate) fn with_token(mut self, token: &str) -> Simulator {
        self.client = self.program.client().with_header("authorization", format!("Bearer {token}"));
        self
    }

    pub(crate) fn get(&mut self, path: &str) -> Value {
        let answer = self.client.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_slice(&answer.body).expect("JSON")
    }

    /// Starts a session. Returns status and body of the answer.
    pub(crate) fn start(&mut self, command: &str) -> (u16, Value) {
        let body = json!({"command": command, "time_limit_s": 100}).to_string();
        let answer = self.client.post("/sim/api/evaluation/start", &body);
        (answer.status, serde_json::from_slice(&answer.body).expect("JSON"))
    }

    /// Waits for the end of the session and returns its record.
    pub(crate) fn record(&mut self) -> Value {
        until("the end of the session", || {
            (self.get("/sim/api/evaluation/session")["active"] == false).then_some(())
        });
        self.get("/sim/api/evaluation/record")
    }

    /// Runs a command as a student's program and returns the record.
    pub(crate) fn run(&mut self, command: &str) -> Value {
        let (status, body) = self.start(command);
        assert_eq!(status, 200, "{body}");
        let record = self.record();
        assert_eq!(record["outcome"], "finished", "{record}");
        record
    }

    /// Runs a Python program as a student's program and returns the lines that it printed.
    pub(crate) fn attack(&mut self, program: &str) -> Vec<String> {
        std::fs::write(self.work.join("attack.py"), format!("{PRELUDE}{program}")).expect("written");
        let record = self.run("python3 attack.py; echo ended");
        let lines = output(&record);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("ended"),
            "the attack did not run to its end: {record}"
        );
        lines[..lines.len() - 1].to_vec()
    }

    /// Checks that the simulator is unaffected: the next program runs.
    pub(crate) fn assert_unaffected(&mut self) {
        assert_eq!(output(&self.run("echo next")), ["next"]);
        assert_eq!(self.get("/health")["status"], "ok");
    }
}

/// The lines that the student's program printed.
pub(crate) fn output(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("events");
    let lines = events.iter().filter(|e| e["kind"] == "run" && e["phase"] == "log");
    lines.map(|e| e["line"].as_str().expect("a line").to_owned()).collect()
}

/// Fails if an attack succeeded. Returns the number of attacks that were tried.
pub(crate) fn assert_all_failed(user: User, lines: &[String]) -> usize {
    let succeeded: Vec<&String> = lines.iter().filter(|line| line.contains(": DONE")).collect();
    assert!(succeeded.is_empty(), "{user:?}: {succeeded:#?} of {lines:#?}");
    assert!(lines.iter().all(|line| line.contains(": ")), "{user:?}: {lines:#?}");
    lines.len()
}

/// Polls until there is a value. Panics if there is none in time.
pub(crate) fn until<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + SESSION_TIMEOUT;
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < deadline, "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
