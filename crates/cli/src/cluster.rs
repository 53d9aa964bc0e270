//! Runs the units of a plan on a Ray cluster, with the Python package.

use serde::Deserialize;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Environment variable with the path of a Python interpreter that has the package `chicane`. The
/// command `chicane` of the Python wheel sets this variable.
const PYTHON: &str = "CHICANE_PYTHON";
/// Longest line of the package's standard output, in bytes. A longer line is read in pieces. The
/// pieces are not valid events, so they are skipped.
const MAX_LINE: u64 = 1 << 20;
/// Largest number of bytes that are kept of the package's standard error. The last bytes are kept,
/// because they give the reason of a failure.
const MAX_ERRORS: usize = 64 << 10;
/// How long to wait for an event before the stop flag is checked.
const POLL: Duration = Duration::from_millis(50);

/// Why the units were not run on a cluster.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    #[error("--ray needs Python, and {python} can't be started: {source}")]
    NoPython { python: String, source: std::io::Error },
    #[error("--ray needs the Python package, which {0} does not have: {0} -m pip install 'chicane[ray]'")]
    NoPackage(String),
    #[error("{0}")]
    Failed(String),
}

/// What happened to a unit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum ClusterEvent {
    /// The unit has a result.
    Done {
        /// Hash of the unit.
        unit: String,
    },
    /// The unit has no result after all attempts.
    Failed {
        /// Hash of the unit.
        unit: String,
        /// The reason.
        why: String,
    },
}

/// Runs the units of the plan in `folder` that have no result yet. `address` is the address of the
/// Ray cluster, and `limit` is the longest real time of a unit. Returns early if `stop` becomes
/// true.
pub(crate) fn run(
    folder: &Path,
    address: &str,
    limit: Duration,
    stop: &AtomicBool,
    mut on_event: impl FnMut(ClusterEvent),
) -> Result<(), ClusterError> {
    let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".to_owned());
    let mut child = start(&python, folder, address, limit)?;
    let (lines, errors) = (child.0.stdout.take(), child.0.stderr.take());
    let (send, events) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut lines = BufReader::new(lines?);
        let mut line = Vec::new();
        while Read::by_ref(&mut lines).take(MAX_LINE).read_until(b'\n', &mut line).ok()? > 0 {
            let event = serde_json::from_slice::<ClusterEvent>(&line);
            line.clear();
            // Ray prints messages too. A line that is not an event is such a message, and is
            // skipped.
            let Ok(event) = event else { continue };
            send.send(event).ok()?;
        }
        Some(())
    });
    let errors = std::thread::spawn(move || errors.map(tail).unwrap_or_default());
    loop {
        match events.recv_timeout(POLL) {
            Ok(event) => on_event(event),
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let _ = reader.join();
    let status = child.0.wait().map_err(|error| ClusterError::Failed(error.to_string()))?;
    let errors = errors.join().unwrap_or_default();
    if status.success() { Ok(()) } else { Err(failure(&python, &errors, &status.to_string())) }
}

/// The process of the Python package. The process is killed on drop, and Ray then cancels the tasks
/// that the process has started.
struct Package(Child);

impl Drop for Package {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(python: &str, folder: &Path, address: &str, limit: Duration) -> Result<Package, ClusterError> {
    let mut command = Command::new(python);
    command.args(["-m", "chicane.cluster"]).arg(folder).args(["--address", address]);
    command.arg("--limit-s").arg(limit.as_secs().to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |source| ClusterError::NoPython { python: python.to_owned(), source };
    command.spawn().map(Package).map_err(failed)
}

/// Reads a process's standard error completely, and returns the last `MAX_ERRORS` bytes.
fn tail(mut errors: impl Read) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = errors.read(&mut piece) {
        kept.extend_from_slice(&piece[..count]);
        let surplus = kept.len().saturating_sub(MAX_ERRORS);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Returns why the package's process failed. `errors` is the standard error of the process, and
/// `status` is its exit status.
fn failure(python: &str, errors: &str, status: &str) -> ClusterError {
    let last = errors.lines().rev().map(str::trim).find(|line| !line.is_empty());
    match last {
        Some(line) if line.contains("No module named") && line.contains("chicane") => {
            ClusterError::NoPackage(python.to_owned())
        }
        Some(line) => ClusterError::Failed(line.trim_start_matches("chicane: ").to_owned()),
        None => ClusterError::Failed(format!("the Python package ended with {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_package_is_named_with_its_remedy() {
        let shown =
            failure("python3", "/usr/bin/python3: No module named chicane.cluster\n", "1").to_string();
        assert!(shown.ends_with("python3 -m pip install 'chicane[ray]'"), "{shown}");
        let shown = failure("python3", "x\nchicane: there is no Ray cluster at 'auto'\n\n", "1").to_string();
        assert_eq!(shown, "there is no Ray cluster at 'auto'");
    }

    #[test]
    fn the_end_of_long_errors_is_kept() {
        let text = "x".repeat(MAX_ERRORS) + "the end";
        let kept = tail(text.as_bytes());
        assert!(kept.len() == MAX_ERRORS && kept.ends_with("the end"));
    }
}
