//! The program as a child process.

use chicane_testkit::http::Client;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Timeout for the program to start or to fail.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A temporary folder for one test. The folder is removed on drop.
pub(crate) struct TempFolder(PathBuf);

impl TempFolder {
    pub(crate) fn new(name: &str) -> TempFolder {
        let path = std::env::temp_dir().join(format!("chicane-program-{name}-{}", std::process::id()));
        // A killed process with the same id may have left the folder behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        TempFolder(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn command(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chicane"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CHICANE_") {
            command.env_remove(name);
        }
    }
    command.envs(environment.iter().copied()).stdin(Stdio::null());
    command
}

/// Returns a command that runs `wrapper`. The command line of the program follows the arguments of
/// `wrapper`, so that `wrapper` can run the program.
pub(crate) fn under(wrapper: &[&str], arguments: &[&str]) -> Command {
    let plain = command(arguments, &[]);
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(plain.get_program()).args(plain.get_args());
    command.current_dir(plain.get_current_dir().expect("a folder")).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CHICANE_") {
            command.env_remove(name);
        }
    }
    command
}

/// A running `chicane serve`. It is killed on drop.
pub(crate) struct Program {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The line that the program printed when it was ready.
    pub(crate) ready_line: String,
}

impl Program {
    /// Runs `chicane serve` on a free port of loopback.
    pub(crate) fn serve(arguments: &[&str]) -> Program {
        Program::start(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat(), &[])
    }

    /// Runs `chicane serve` with its log in a pipe that the test does not read.
    pub(crate) fn serve_with_unread_log(arguments: &[&str]) -> Program {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        Program::run(command(&arguments, &[]), &arguments, true)
    }

    /// Runs the program and waits until it is ready.
    pub(crate) fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Program {
        Program::run(command(arguments, environment), arguments, false)
    }

    /// Runs `chicane serve` through the command `wrapper`, such as `unshare`. The command line of
    /// `chicane serve` is added at the end of the arguments of `wrapper`.
    pub(crate) fn serve_under(wrapper: &[&str], arguments: &[&str]) -> Program {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        Program::run(under(wrapper, &arguments), &arguments, false)
    }

    /// Runs `chicane serve --lifeline`. The lifeline is the standard input of the program, and the
    /// test holds its other end.
    pub(crate) fn serve_with_lifeline(arguments: &[&str]) -> Program {
        let arguments = [&["serve", "--lifeline", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut command = command(&arguments, &[]);
        command.stdin(Stdio::piped());
        Program::run(command, &arguments, false)
    }

    /// Closes the lifeline.
    pub(crate) fn close_lifeline(&mut self) {
        drop(self.child.stdin.take().expect("a lifeline"));
    }

    fn run(mut command: Command, arguments: &[&str], log_unread: bool) -> Program {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let log = (!log_unread).then(|| first_of(child.stderr.take().expect("its log")));
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let (send, line) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = output.read_line(&mut line);
            let _ = send.send(line);
            // The rest of the output is read, because a full pipe would block the program.
            let _ = output.read_to_end(&mut Vec::new());
        });
        let first_line = line.recv_timeout(START_TIMEOUT).unwrap_or_default().trim_end().to_owned();
        let address = first_line
            .strip_prefix("chicane is ready: http://")
            .and_then(|rest| rest.split_once("/sim"))
            .and_then(|(address, _)| address.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            let log = log.and_then(|log| log.recv_timeout(START_TIMEOUT).ok()).unwrap_or_default();
            panic!("{arguments:?} printed {first_line:?}\n{log}");
        };
        Program { child, address, ready_line: first_line }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the program with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.id().to_string()]).status().expect("kill");
        assert!(status.success());
    }

    /// Waits for the exit code. Returns `None` if the program does not end in time, or if a signal
    /// has ended it.
    pub(crate) fn wait(&mut self, within: Duration) -> Option<i32> {
        wait(&mut self.child, within)
    }
}

/// Reads a log in a thread. The channel receives the first 16 KiB, or the whole log if it is
/// shorter. The rest is read and dropped.
fn first_of(mut log: impl Read + Send + 'static) -> Receiver<String> {
    const LIMIT: u64 = 16 << 10;
    let (send, first) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = log.by_ref().take(LIMIT).read_to_end(&mut bytes);
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
        let _ = std::io::copy(&mut log, &mut std::io::sink());
    });
    first
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait(child: &mut Child, within: Duration) -> Option<i32> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        if Instant::now() > deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs the program and returns its standard error. The program must fail.
pub(crate) fn stderr_of_failure(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = command(arguments, environment);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let code = wait(&mut child, START_TIMEOUT);
    let _ = child.kill();
    let output = child.wait_with_output().expect("its output");
    assert!(code.is_some_and(|c| c != 0), "{arguments:?} ended with {code:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}

/// Runs the program and returns its standard output. The program must succeed.
pub(crate) fn stdout_of(arguments: &[&str]) -> String {
    let output = command(arguments, &[]).output().expect("started");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
