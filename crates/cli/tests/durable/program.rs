//! The program as a child process.

use chicane_testkit::http::Client;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

/// A folder for one test, gone afterwards.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("chicane-program-{name}-{}", std::process::id()));
        // A process of the same number may have been killed before it could clear up.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        Scratch(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for Scratch {
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

/// The program under another one.
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

/// A program that serves; killed at the end of the test if it still runs.
pub(crate) struct Program {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The line that it printed when it was ready.
    pub(crate) said: String,
}

impl Program {
    /// `chicane serve` on a free port of loopback.
    pub(crate) fn serve(arguments: &[&str]) -> Program {
        Program::start(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat(), &[])
    }

    /// The same, with a log that goes into a pipe which nobody reads.
    pub(crate) fn serve_with_deaf_log(arguments: &[&str]) -> Program {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        Program::run(command(&arguments, &[]), &arguments, true)
    }

    /// Starts it and waits until it is ready.
    pub(crate) fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Program {
        Program::run(command(arguments, environment), arguments, false)
    }

    /// The same under another program, which is given this one's path and arguments as its last.
    pub(crate) fn serve_under(wrapper: &[&str], arguments: &[&str]) -> Program {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        Program::run(under(wrapper, &arguments), &arguments, false)
    }

    /// `chicane serve --lifeline`, whose lifeline is ours.
    pub(crate) fn serve_on_lifeline(arguments: &[&str]) -> Program {
        let arguments = [&["serve", "--lifeline", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut command = command(&arguments, &[]);
        command.stdin(Stdio::piped());
        Program::run(command, &arguments, false)
    }

    /// Lets go of its lifeline.
    pub(crate) fn let_go(&mut self) {
        drop(self.child.stdin.take().expect("a lifeline"));
    }

    fn run(mut command: Command, arguments: &[&str], deaf: bool) -> Program {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let log = (!deaf).then(|| first_of(child.stderr.take().expect("its log")));
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let (send, line) = channel();
        std::thread::spawn(move || {
            let mut said = String::new();
            let _ = output.read_line(&mut said);
            let _ = send.send(said);
            // Read on, so that it never waits for us.
            let _ = output.read_to_end(&mut Vec::new());
        });
        let said = line.recv_timeout(PATIENCE).unwrap_or_default().trim_end().to_owned();
        let address = said
            .strip_prefix("chicane is ready: http://")
            .and_then(|rest| rest.split_once("/sim"))
            .and_then(|(address, _)| address.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            let log = log.and_then(|log| log.recv_timeout(PATIENCE).ok()).unwrap_or_default();
            panic!("{arguments:?} said {said:?}\n{log}");
        };
        Program { child, address, said }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.id().to_string()]).status().expect("kill");
        assert!(status.success());
    }

    /// Its exit code, when it ends within the time.
    pub(crate) fn wait(&mut self, within: Duration) -> Option<i32> {
        wait(&mut self.child, within)
    }
}

/// The beginning of a log, once there is enough of it or its end has come. The rest is read and dropped.
fn first_of(mut log: impl Read + Send + 'static) -> Receiver<String> {
    const ENOUGH: u64 = 16 << 10;
    let (send, first) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = log.by_ref().take(ENOUGH).read_to_end(&mut bytes);
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

/// What it says when it refuses to start.
pub(crate) fn fails(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = command(arguments, environment);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let code = wait(&mut child, PATIENCE);
    let _ = child.kill();
    let output = child.wait_with_output().expect("its output");
    assert!(code.is_some_and(|c| c != 0), "{arguments:?} ended with {code:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}

/// What it prints.
pub(crate) fn text(arguments: &[&str]) -> String {
    let output = command(arguments, &[]).output().expect("it starts");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
