//! A simulator with a container engine, for one test.

use crate::program::{TempFolder, command};
use chicane_testkit::http::Client;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Timeout of [`until`].
const POLL_TIMEOUT: Duration = Duration::from_secs(90);

/// Files of one test.
pub(crate) struct TestFolder {
    pub(crate) scratch: TempFolder,
    pub(crate) folder: PathBuf,
}

impl TestFolder {
    pub(crate) fn new(name: &str) -> TestFolder {
        let scratch = TempFolder::new(&format!("engine-{name}"));
        let folder = Path::new(scratch.path()).to_owned();
        TestFolder { scratch, folder }
    }

    /// Runs a simulator with this judging script and these options.
    pub(crate) fn serve(
        &self,
        script: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> ServedSimulator {
        let (data, file, log) =
            (self.folder.join("data"), self.folder.join("script.py"), self.folder.join("log"));
        std::fs::write(&file, script).expect("written");
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let (data, file) = (text(&data), text(&file));
        let mut words = vec!["serve", "--data-dir", &data, "--judge-script", &file];
        words.extend(arguments);
        if !arguments.contains(&"--listen") {
            words.extend(["--listen", "127.0.0.1:0"]);
        }
        let mut command = command(&words, environment);
        let lines = std::fs::File::create(&log).expect("a file");
        let mut child = command.stdout(Stdio::piped()).stderr(lines).spawn().expect("started");
        let mut first_line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut first_line).expect("a line");
        let address = first_line
            .strip_prefix("chicane is ready: http://")
            .and_then(|rest| rest.split_once("/sim"))
            .and_then(|(address, _)| address.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            panic!("{first_line:?} {}", std::fs::read_to_string(&log).unwrap_or_default());
        };
        let served = ServedSimulator { child, address, log };
        // Wait until the judge is ready or has failed, because sessions cannot start earlier.
        served.about_judge();
        served
    }
}

/// A running simulator. It is stopped on drop.
pub(crate) struct ServedSimulator {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    log: PathBuf,
}

impl ServedSimulator {
    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// The line of the log that reports the state of the judge.
    pub(crate) fn about_judge(&self) -> String {
        until("a line about the judge", || {
            let log = std::fs::read_to_string(&self.log).expect("a log");
            log.lines()
                .find(|l| l.contains("the judge is ready") || l.contains("there is no judge"))
                .map(str::to_owned)
        })
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.client().get(&format!("/sim/api{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_slice(&answer.body).expect("JSON")
    }

    /// Requests the start of a session, and returns status and body of the response.
    pub(crate) fn start(&self, body: Value) -> (u16, Value) {
        let answer = self.client().post("/sim/api/evaluation/start", &body.to_string());
        (answer.status, serde_json::from_slice(&answer.body).expect("JSON"))
    }

    /// Runs a session to its end and returns its record.
    pub(crate) fn run(&self, body: Value) -> Value {
        let (status, started) = self.start(body);
        assert_eq!(status, 200, "{started}");
        until("the session ends", || (self.get("/evaluation/session")["active"] == false).then_some(()));
        self.get("/evaluation/record")
    }

    /// Stops the session.
    pub(crate) fn stop(&self) {
        let answer = self.client().post("/sim/api/evaluation/stop", "");
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }
}

impl Drop for ServedSimulator {
    fn drop(&mut self) {
        // SIGTERM comes first, so that the simulator can remove its containers.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let pid = self.child.id().to_string();
        let _ = std::process::Command::new("kill").args(["-TERM", &pid]).status();
        let deadline = Instant::now() + Duration::from_secs(20);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Polls until the closure returns a value, and panics after a timeout.
pub(crate) fn until<T>(what: &str, mut asked: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + POLL_TIMEOUT;
    loop {
        if let Some(found) = asked() {
            return found;
        }
        assert!(Instant::now() < deadline, "timeout after {POLL_TIMEOUT:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Lines that the judging script printed, taken from a record.
pub(crate) fn script_log(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("a list of events").iter();
    events.filter_map(|e| (e["kind"] == "log").then(|| e["line"].as_str().map(str::to_owned))?).collect()
}

/// Command lines of all processes that contain `word`.
pub(crate) fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(word)).collect()
}

/// Runs a session that must end with a script error whose reason contains `says`.
pub(crate) fn fault(served: &ServedSimulator, says: &str) {
    let record = served.run(json!({"time_limit_s": 3600}));
    let reason = record["reason"].as_str().unwrap_or_default();
    assert_eq!(record["outcome"], "script_error", "{says}: {reason} {:?}", script_log(&record));
    assert!(reason.contains(says), "{says}: {reason} {:?}", script_log(&record));
}
