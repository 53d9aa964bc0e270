//! One container of an engine: starts it, reads its usage, ends it.

use super::error::EngineError;
use super::program::{Engine, REQUEST_TIMEOUT, new_name};
use chicane_jail::ask::{ask, last_line};
use chicane_jail::isolation::Isolation;
use chicane_jail::judge_limits::{FILES, HARNESS, MEMORY};
use chicane_jail::process_tree::usage_below;
use chicane_jail::{Usage, WatchedGroup};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long the engine's program may run after its container has ended.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A running container. Dropping this value ends and removes the container.
#[derive(Debug)]
pub(crate) struct Contained {
    engine: Engine,
    name: String,
    /// The engine's program.
    client: Child,
    /// Process id and pidfd of the container's first process on this machine. `None` until the
    /// process was found.
    first: Option<(u32, OwnedFd)>,
    /// The control group of the first process. `None` if no group has the expected memory limit.
    group: Option<WatchedGroup>,
    ended: bool,
}

impl Contained {
    /// Starts a container. Returns it with the channel of the harness and the script's output.
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
        // The program gets its own process group, so that Ctrl-C reaches only the simulator.
        let client = command.process_group(0).spawn();
        let client = client.map_err(|source| EngineError::Start { engine: engine.kind.name(), source })?;
        let contained =
            Contained { engine: engine.clone(), name, client, first: None, group: None, ended: false };
        Ok((contained, channel, output))
    }

    /// The first bytes for the channel: the text of the harness. The Python program on the
    /// container's command line reads it.
    pub(crate) fn harness() -> Vec<u8> {
        [HARNESS.as_bytes(), b"\0"].concat()
    }

    /// The container's name. Every mark in the output contains this name (`marks.rs`).
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Finds the container's first process on this machine. The limits are then checked with the
    /// control group of this process. If that group does not limit the memory, the usage of the
    /// process and its descendants is measured instead.
    pub(crate) fn find_first_process(&mut self) -> Result<(), EngineError> {
        let engine = self.engine.kind.name();
        let said =
            ask(&self.engine.program, ["inspect", "--format", "{{.State.Pid}}", &self.name], REQUEST_TIMEOUT)
                .map_err(|source| EngineError::Client { engine, source })?;
        let pid = said.output.trim().parse::<u32>().ok().filter(|pid| *pid > 1);
        let pid =
            pid.ok_or_else(|| EngineError::NoPid { engine, line: last_line(&said.error).to_owned() })?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if !line.split(|byte| *byte == 0).any(|argument| argument == self.name.as_bytes()) {
            return Err(EngineError::OtherMachine(engine));
        }
        let handle = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let handle = handle.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        self.first = Some((pid, handle.ok_or(EngineError::Gone)?));
        self.group = WatchedGroup::of(pid).filter(|group| group.limits_memory(MEMORY + FILES));
        Ok(())
    }

    /// How the limits are enforced.
    pub(crate) fn isolation(&self) -> Isolation {
        self.group.as_ref().map_or(Isolation::Watchdog, WatchedGroup::isolation)
    }

    /// Whether the engine's program still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        !self.ended && matches!(self.client.try_wait(), Ok(None))
    }

    /// The usage of the processes inside, and the number of their threads. The number is `None` if
    /// a control group counts them.
    pub(crate) fn usage(&self) -> (Usage, Option<u64>) {
        if let Some(usage) = self.group.as_ref().and_then(WatchedGroup::usage) {
            return (usage, None);
        }
        let tree = self.first.as_ref().map(|(pid, _)| usage_below(*pid, MEMORY)).unwrap_or_default();
        let usage = Usage { memory: tree.memory, cpu_us: tree.cpu_us, ..Usage::default() };
        // The thread of process 1 is not counted, because process 1 does not belong to the script.
        (usage, Some(tree.processes.saturating_sub(1)))
    }

    /// Kills all processes inside, removes the container and waits until it is gone. May be called
    /// more than once.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        // A signal ends the container faster than the engine does, but the simulator may lack the
        // permission to send one. When the first process ends, the kernel ends all other processes
        // inside.
        if let Some((_, handle)) = self.first.take() {
            let _ = pidfd_send_signal(&handle, Signal::KILL);
        }
        self.engine.remove(&self.name);
        let deadline = Instant::now() + END_TIMEOUT;
        while matches!(self.client.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.client.kill();
                let _ = self.client.wait();
                // The engine's program may have started the container after the first removal.
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
