//! One container of an engine: started, looked at, ended.

use super::client::{ask, last_words};
use super::error::EngineError;
use super::{Engine, PATIENCE, new_name};
use crate::census;
use crate::jail::{Usage, Watched};
use crate::judge::{FILES, MEMORY};
use crate::setting::Isolation;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long the engine's program may outlive its container.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// A container. Gone when dropped.
#[derive(Debug)]
pub(crate) struct Contained {
    engine: Engine,
    name: String,
    client: Child,
    /// Its first process on this machine: the number, a handle, and its control group.
    first: Option<(u32, OwnedFd)>,
    group: Option<Watched>,
    over: bool,
}

impl Contained {
    /// Has the engine start a container. Its channel, and what the script prints.
    pub(crate) fn start(engine: &Engine) -> Result<(Contained, OwnedFd, OwnedFd), EngineError> {
        let name = new_name();
        let fail = EngineError::Descriptors;
        let flags = SocketFlags::CLOEXEC;
        let (channel, inside) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(fail)?;
        let (output, written) = pipe_with(PipeFlags::CLOEXEC).map_err(fail)?;
        rustix::io::ioctl_fionbio(&output, true).map_err(fail)?;
        let mut command = Command::new(&engine.program);
        command.args(engine.arguments(&name));
        let second = rustix::io::fcntl_dupfd_cloexec(&inside, 3).map_err(fail)?;
        command.stdin(second).stdout(inside).stderr(written);
        // Ctrl-C at the terminal is for the simulator.
        let client = command.process_group(0).spawn();
        let client = client.map_err(|source| EngineError::Start { engine: engine.kind.name(), source })?;
        let contained =
            Contained { engine: engine.clone(), name, client, first: None, group: None, over: false };
        Ok((contained, channel, output))
    }

    /// Bytes that have to come first over the channel: the harness, for the few lines that are the program's argument.
    pub(crate) fn harness() -> Vec<u8> {
        [crate::HARNESS.as_bytes(), b"\0"].concat()
    }

    /// What lines about the output begin with.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Finds the container's first process, now that it runs: who is not here can't be held to its limits.
    pub(crate) fn look_for(&mut self) -> Result<(), EngineError> {
        let engine = self.engine.kind.name();
        let said = ask(&self.engine.program, ["inspect", "--format", "{{.State.Pid}}", &self.name], PATIENCE)
            .map_err(|source| EngineError::Client { engine, source })?;
        let pid = said.output.trim().parse::<u32>().ok().filter(|pid| *pid > 1);
        let pid =
            pid.ok_or_else(|| EngineError::NoPid { engine, line: last_words(&said.error).to_owned() })?;
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if !words.split(|byte| *byte == 0).any(|word| word == self.name.as_bytes()) {
            return Err(EngineError::OtherMachine(engine));
        }
        let handle = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let handle = handle.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        self.first = Some((pid, handle.ok_or(EngineError::Gone)?));
        self.group = Watched::of(pid).filter(|group| group.limits_memory(MEMORY + FILES));
        Ok(())
    }

    /// How limits are held.
    pub(crate) fn isolation(&self) -> Isolation {
        self.group.as_ref().map_or(Isolation::Watchdog, Watched::isolation)
    }

    /// Whether the engine's program still runs.
    pub(crate) fn stands(&mut self) -> bool {
        !self.over && matches!(self.client.try_wait(), Ok(None))
    }

    /// What is used inside, and how many processes there are where no group counts.
    pub(crate) fn usage(&self) -> (Usage, Option<u64>) {
        if let Some(usage) = self.group.as_ref().and_then(Watched::usage) {
            return (usage, None);
        }
        let census = self.first.as_ref().map(|(pid, _)| census::below(*pid)).unwrap_or_default();
        let usage = Usage { memory: census.memory, cpu_us: census.cpu_us, ..Usage::default() };
        // Process 1 is ours.
        (usage, Some(census.processes.saturating_sub(1)))
    }

    /// Ends everything inside, takes the container away and waits until it is gone. May be called again.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        // At once where that is allowed: everything inside goes with its first process.
        if let Some((_, handle)) = self.first.take() {
            let _ = pidfd_send_signal(&handle, Signal::KILL);
        }
        self.engine.remove(&self.name);
        let deadline = Instant::now() + LAST_WAIT;
        while matches!(self.client.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.client.kill();
                let _ = self.client.wait();
                // It may have been about to start one.
                self.engine.remove(&self.name);
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        self.end();
    }
}
