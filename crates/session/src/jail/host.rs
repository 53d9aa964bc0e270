//! A jail as the simulator sees it: started, asked, ended.

use super::cgroup::Cgroups;
use super::group::{Group, Usage};
use super::plan::{self, ControlError, Hello, Plan, Report};
use crate::census;
use crate::network::{Network, NetworkError, Uplink};
use crate::wake::wait_for;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long a jail may take to come up.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the kernel may take to end everything inside.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// The user that a judge is outside, where the simulator may choose: nobody.
const NOBODY: u32 = 65_534;

/// How a jail is started.
#[derive(Debug)]
pub(crate) struct Spawn<'a> {
    /// The program `chicane`.
    pub launcher: &'a Path,
    /// What it is for.
    pub plan: Plan,
    /// Descriptor 1 inside.
    pub stdout: OwnedFd,
    /// Descriptor 2 inside; a judge's channel.
    pub stderr: OwnedFd,
    /// Where groups can be made.
    pub cgroups: &'a Cgroups,
    /// Most bytes of memory, files in memory included.
    pub memory: Option<u64>,
    /// Most processes.
    pub processes: Option<u64>,
    /// Network of a judge.
    pub network: Option<&'a Network>,
}

/// Why there is no jail.
#[derive(Debug, thiserror::Error)]
pub enum JailError {
    /// The control socket could not be made.
    #[error("no socket could be made: {0}")]
    Socket(#[source] Errno),
    /// The control group could not be made.
    #[error("no control group could be made: {0}")]
    Group(#[source] io::Error),
    /// The limits of the control group could not be set.
    #[error("a control group can't be limited: {0}")]
    Limit(#[source] io::Error),
    /// The first process could not be put into the control group.
    #[error("a process can't be put into its control group: {0}")]
    Join(#[source] io::Error),
    /// The program `chicane` could not be started.
    #[error("{} can't be started: {source}", .path.display())]
    Launcher {
        /// The program.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The control socket failed.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A user or group map could not be written.
    #[error("the users inside can't be mapped ({file}: {source})")]
    Map {
        /// The file below `/proc/<pid>`.
        file: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The judge's network could not be made.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A part of the jail failed. Holds the text of its `PartError`.
    #[error("{0}")]
    Part(String),
    /// A part of the jail sent a report that was not expected then.
    #[error("the jail said {0:?} out of turn")]
    OutOfTurn(Report),
    /// The jail ended or did not come up in time.
    #[error("the jail did not come up")]
    NotUp,
    /// The jail was ended already.
    #[error("the jail is gone")]
    Gone,
}

/// Processes in namespaces of their own. Everything inside ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Jail {
    outer: Child,
    init: Option<OwnedFd>,
    control: Option<OwnedFd>,
    unread: Vec<u8>,
    /// Reports that came with others.
    more: VecDeque<Report>,
    group: Group,
    network: Option<Uplink>,
}

impl Jail {
    /// Starts a jail and waits until its program runs.
    pub(crate) fn start(spawn: Spawn<'_>) -> Result<Jail, JailError> {
        let what = match spawn.plan {
            Plan::Judge(_) => "judge",
            Plan::Student(_) => "student",
        };
        let (control, inside) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(JailError::Socket)?;
        let group = spawn.cgroups.group(what).map_err(JailError::Group)?;
        group.limit(spawn.memory, spawn.processes).map_err(JailError::Limit)?;
        let mut command = Command::new(spawn.launcher);
        command.args([super::WORD, "outer"]).stdin(inside).stdout(spawn.stdout).stderr(spawn.stderr);
        if let Plan::Judge(_) = spawn.plan {
            command.env_clear();
        }
        let outer = command
            .spawn()
            .map_err(|source| JailError::Launcher { path: spawn.launcher.to_owned(), source })?;
        drop(command);
        let mut jail = Jail {
            outer,
            init: None,
            control: Some(control),
            unread: Vec::new(),
            more: VecDeque::new(),
            group,
            network: None,
        };
        jail.bring_up(&spawn.plan, spawn.network)?;
        Ok(jail)
    }

    fn bring_up(&mut self, plan: &Plan, network: Option<&Network>) -> Result<(), JailError> {
        let deadline = Instant::now() + PATIENCE;
        let pid = self.outer.id();
        self.group.add(pid).map_err(JailError::Join)?;
        self.say(plan)?;
        self.expect(deadline, |report| (*report == Report::Unshared).then_some(()))?;
        map_users(pid, matches!(plan, Plan::Judge(_)))?;
        if let Some(network) = network {
            self.network = Some(network.connect(pid)?);
        }
        self.say(&Hello::Go)?;
        let init = self.expect(deadline, |report| match report {
            Report::Init(pid) => Pid::from_raw(*pid),
            _ => None,
        })?;
        // Outer has not reaped it yet, so the number is still its own; if it has, the jail is over anyway.
        self.init = pidfd_open(init, PidfdFlags::empty()).ok();
        self.say(plan)?;
        self.expect(deadline, |report| matches!(report, Report::Started(_)).then_some(()))?;
        // It came up meanwhile, or nearly: whatever is inside runs nothing of anyone's yet.
        Ok(self.network.as_mut().map_or(Ok(()), Uplink::wait)?)
    }

    fn say(&self, value: &impl serde::Serialize) -> Result<(), JailError> {
        Ok(plan::tell(self.control.as_ref().ok_or(JailError::Gone)?, value)?)
    }

    /// Waits for a certain report.
    fn expect<T>(
        &mut self,
        deadline: Instant,
        wanted: impl Fn(&Report) -> Option<T>,
    ) -> Result<T, JailError> {
        loop {
            let (reports, open) = self.reports();
            self.more.extend(reports);
            // Whatever comes after it is for later: a short program may have ended already.
            if let Some(report) = self.more.pop_front() {
                return match (wanted(&report), report) {
                    (Some(value), _) => Ok(value),
                    (None, Report::Failed(why)) => Err(JailError::Part(why)),
                    (None, other) => Err(JailError::OutOfTurn(other)),
                };
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if !open || left.is_zero() {
                return Err(JailError::NotUp);
            }
            wait_readable(self.control().ok_or(JailError::Gone)?, left);
        }
    }

    /// For those who wait for reports.
    pub(crate) fn control(&self) -> Option<BorrowedFd<'_>> {
        self.control.as_ref().map(AsFd::as_fd)
    }

    /// What the jail said since, and whether it still stands.
    pub(crate) fn reports(&mut self) -> (Vec<Report>, bool) {
        let mut reports: Vec<Report> = self.more.drain(..).collect();
        let Some(control) = &self.control else { return (reports, false) };
        let mut open = true;
        let mut piece = [0u8; 4096];
        loop {
            match recv(control, &mut piece, RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    open = false;
                    break;
                }
                Ok((n, _)) => self.unread.extend_from_slice(&piece[..n.min(piece.len())]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    open = false;
                    break;
                }
            }
            if self.unread.len() > 1 << 20 {
                open = false;
                break;
            }
        }
        while let Some(end) = self.unread.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(report) => reports.push(report),
                Err(_) => reports.push(Report::Failed("unreadable report of the jail".to_owned())),
            }
        }
        (reports, open)
    }

    /// What is used inside, and how many processes there are where no group counts.
    pub(crate) fn usage(&self) -> (Usage, Option<u64>) {
        match self.group.usage() {
            Some(usage) => (usage, None),
            None => {
                let census = census::below(self.outer.id());
                let usage = Usage { memory: census.memory, cpu_us: census.cpu_us, ..Usage::default() };
                // Outer and init are ours.
                (usage, Some(census.processes.saturating_sub(2)))
            }
        }
    }

    /// Ends everything inside and waits until it is gone. May be called again. Whoever the kernel could not end in time, such as
    /// one that waits for a disk that does not answer, is given back.
    pub(crate) fn end(&mut self) -> Option<Left> {
        if let Some(init) = &self.init {
            let _ = pidfd_send_signal(init, Signal::KILL);
        } else {
            // Not up yet: outer has started nobody, or one who ends with the control socket.
            let _ = self.outer.kill();
        }
        self.control = None;
        let deadline = Instant::now() + LAST_WAIT;
        let mut left = None;
        if let Some(init) = self.init.take() {
            wait_readable(init.as_fd(), LAST_WAIT);
            left = Some(Left(init)).filter(Left::is_there);
        }
        loop {
            match self.outer.try_wait() {
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_micros(200)),
                Ok(None) => {
                    let _ = self.outer.kill();
                    let _ = self.outer.wait();
                    break;
                }
                _ => break,
            }
        }
        while !self.group.is_none() && !self.group.kill() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.network = None;
        left
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        self.end();
    }
}

/// Processes that were ended and are not gone yet. The first process of a jail goes last, so it stands for all.
#[derive(Debug)]
pub struct Left(OwnedFd);

impl Left {
    /// Whether somebody still is there.
    pub fn is_there(&self) -> bool {
        !wait_readable(self.0.as_fd(), Duration::ZERO)
    }
}

/// Waits until there is something to read, but not for ever. Whether there is.
fn wait_readable(fd: BorrowedFd<'_>, most: Duration) -> bool {
    wait_for(&[(fd, PollFlags::IN)], most) == [true]
}

/// Says which users there are inside.
fn map_users(pid: u32, judge: bool) -> Result<(), JailError> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let write = |file: &'static str, text: &str| {
        std::fs::write(format!("/proc/{pid}/{file}"), text).map_err(|source| JailError::Map { file, source })
    };
    if uid == 0 {
        for file in ["uid_map", "gid_map"] {
            let map = if judge { format!("0 {NOBODY} 1\n") } else { identity(file) };
            write(file, &map)?;
        }
        return Ok(());
    }
    write("setgroups", "deny")?;
    let inside = |own: u32| if judge { 0 } else { own };
    write("uid_map", &format!("{} {uid} 1\n", inside(uid)))?;
    write("gid_map", &format!("{} {gid} 1\n", inside(gid)))
}

/// Everyone as they are here.
fn identity(file: &str) -> String {
    let own = std::fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
    let line = |line: &str| {
        let mut numbers = line.split_whitespace();
        let (inside, count) = (numbers.next()?, numbers.nth(1)?);
        Some(format!("{inside} {inside} {count}\n"))
    };
    own.lines().filter_map(line).collect()
}
