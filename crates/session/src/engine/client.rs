//! The engine's own program, asked something small: never for longer than it may take, never for more than is looked at.

use crate::wake::wait_for;
use rustix::event::PollFlags;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes of an answer; what comes past that is thrown away.
const MOST: usize = 1 << 20;

/// What it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) success: bool,
    pub(super) output: String,
    pub(super) error: String,
}

/// Why the engine's program did not answer.
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

/// Asks.
pub(super) fn ask<I: AsRef<OsStr>>(
    program: &Path,
    words: impl IntoIterator<Item = I>,
    patience: Duration,
) -> Result<Answer, ClientError> {
    let mut command = Command::new(program);
    // Apart from the terminal's own group: Ctrl-C is for the simulator, which then ends things in their order.
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => ClientError::Missing,
        _ => ClientError::Process(e),
    })?;
    let deadline = Instant::now() + patience;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let mut said = [Vec::new(), Vec::new()];
    while (out.is_some() || err.is_some()) && Instant::now() < deadline {
        let open = [out.as_ref().map(AsFd::as_fd), err.as_ref().map(AsFd::as_fd)];
        let all: Vec<_> = open.into_iter().flatten().map(|fd| (fd, PollFlags::IN)).collect();
        let ready = wait_for(&all, deadline.saturating_duration_since(Instant::now()));
        let mut ready = ready.into_iter();
        if out.is_some() && ready.next() == Some(true) && !take(out.as_ref(), &mut said[0]) {
            out = None;
        }
        if err.is_some() && ready.next() == Some(true) && !take(err.as_ref(), &mut said[1]) {
            err = None;
        }
    }
    loop {
        match child.try_wait().map_err(ClientError::Process)? {
            Some(status) => {
                let [output, error] = said.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                return Ok(Answer { success: status.success(), output, error });
            }
            None if Instant::now() > deadline => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(ClientError::Timeout(patience));
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Takes what there is; false at the end.
fn take(from: Option<impl AsFd>, into: &mut Vec<u8>) -> bool {
    let mut piece = [0u8; 4096];
    match from.map(|fd| rustix::io::read(fd, &mut piece)) {
        Some(Ok(n)) if n > 0 => {
            if into.len() < MOST {
                into.extend_from_slice(&piece[..n]);
            }
            true
        }
        Some(Err(rustix::io::Errno::INTR)) => true,
        _ => false,
    }
}

/// The last line of what an engine said.
pub(super) fn last_words(text: &str) -> &str {
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    line.trim().trim_start_matches("Error: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_silence() {
        let sh = Path::new("/bin/sh");
        let said =
            ask(sh, ["-c", "echo out; echo one >&2; echo Error: two >&2; exit 3"], Duration::from_secs(20));
        let said = said.expect("an answer");
        assert_eq!((said.success, said.output.as_str(), last_words(&said.error)), (false, "out\n", "two"));
        let flood = ask(sh, ["-c", "head -c 5000000 /dev/zero"], Duration::from_secs(20)).expect("an answer");
        assert!(flood.success && flood.output.len() < 2 << 20, "{}", flood.output.len());
        let late = ask(sh, ["-c", "exec sleep 1000"], Duration::from_millis(100)).expect_err("too late");
        assert!(late.to_string().contains("did not answer"), "{late:?}");
        let none = ask(Path::new("/no/such/engine"), ["x"], PATIENT).expect_err("nobody");
        assert!(matches!(none, ClientError::Missing), "{none:?}");
    }

    const PATIENT: Duration = Duration::from_secs(20);
}
