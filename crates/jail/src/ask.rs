//! Runs a short command of another program, with a timeout and a limit on its output.

use crate::wake::wait_for;
use rustix::event::PollFlags;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Once this many bytes of an output stream are stored, further bytes are read and dropped, so that
/// a program that prints without end can't fill the memory.
const MAX_OUTPUT: usize = 1 << 20;

/// The result of a command that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOutput {
    /// Whether the exit code is 0.
    pub success: bool,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub error: String,
}

/// Why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no such program.
    #[error("there is no such program")]
    Missing,
    /// The program could not be started or waited for.
    #[error("{0}")]
    Process(#[source] std::io::Error),
    /// The program did not end in time.
    #[error("it did not answer within {} s", .0.as_secs())]
    Timeout(Duration),
}

/// Runs the program with these arguments and waits for its end. Kills the program if it still runs
/// after `timeout`.
pub fn ask<I: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = I>,
    timeout: Duration,
) -> Result<ClientOutput, ClientError> {
    let mut command = Command::new(program);
    // The program gets its own process group, so that Ctrl-C reaches only the simulator. Otherwise
    // Ctrl-C would also end the program of a container engine while that program removes the
    // simulator's containers.
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => ClientError::Missing,
        _ => ClientError::Process(e),
    })?;
    let deadline = Instant::now() + timeout;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let mut said = [Vec::new(), Vec::new()];
    while (out.is_some() || err.is_some()) && Instant::now() < deadline {
        let open = [out.as_ref().map(AsFd::as_fd), err.as_ref().map(AsFd::as_fd)];
        let all: Vec<_> = open.into_iter().flatten().map(|fd| (fd, PollFlags::IN)).collect();
        let ready = wait_for(&all, deadline.saturating_duration_since(Instant::now()));
        let mut ready = ready.into_iter();
        if out.is_some() && ready.next() == Some(true) && !read_some(out.as_ref(), &mut said[0]) {
            out = None;
        }
        if err.is_some() && ready.next() == Some(true) && !read_some(err.as_ref(), &mut said[1]) {
            err = None;
        }
    }
    loop {
        match child.try_wait().map_err(ClientError::Process)? {
            Some(status) => {
                let [output, error] = said.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                return Ok(ClientOutput { success: status.success(), output, error });
            }
            None if Instant::now() > deadline => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(ClientError::Timeout(timeout));
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Reads some of the available bytes. Returns false at the end of the stream or on an error.
fn read_some(from: Option<impl AsFd>, into: &mut Vec<u8>) -> bool {
    let mut piece = [0u8; 4096];
    match from.map(|fd| rustix::io::read(fd, &mut piece)) {
        Some(Ok(n)) if n > 0 => {
            if into.len() < MAX_OUTPUT {
                into.extend_from_slice(&piece[..n]);
            }
            true
        }
        Some(Err(rustix::io::Errno::INTR)) => true,
        _ => false,
    }
}

/// Returns the last non-blank line of a program's error output, without `Error: ` at the start of
/// the line. Returns the text `no output` if every line is blank.
pub fn last_line(text: &str) -> &str {
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output");
    line.trim().trim_start_matches("Error: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_timeout_and_missing_program() {
        let sh = Path::new("/bin/sh");
        let said =
            ask(sh, ["-c", "echo out; echo one >&2; echo Error: two >&2; exit 3"], Duration::from_secs(20));
        let said = said.expect("an answer");
        assert_eq!((said.success, said.output.as_str(), last_line(&said.error)), (false, "out\n", "two"));
        let flood = ask(sh, ["-c", "head -c 5000000 /dev/zero"], Duration::from_secs(20)).expect("an answer");
        assert!(flood.success && flood.output.len() < 2 << 20, "{}", flood.output.len());
        let late = ask(sh, ["-c", "exec sleep 1000"], Duration::from_millis(100)).expect_err("too late");
        assert!(late.to_string().contains("did not answer"), "{late:?}");
        let none = ask(Path::new("/no/such/engine"), ["x"], LONG).expect_err("no such program");
        assert!(matches!(none, ClientError::Missing), "{none:?}");
    }

    const LONG: Duration = Duration::from_secs(20);
}
