//! The simulator's part of a jail: starts the jail, reads its reports and usage, and ends it.

use super::cgroup::Cgroups;
use super::gate;
use super::group::{Group, Usage};
use super::plan::{self, ControlError, HostMessage, JailPlan, Report, SUBCOMMAND};
use crate::judge_limits::MEMORY;
use crate::launcher::Launcher;
use crate::network::{Network, NetworkError, Uplink};
use crate::process_tree::usage_below;
use crate::wake::wait_for;
use crate::workspace_copy::{Workspace, WorkspaceError};
use chicane_wire::ProgramIdentity;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a jail may take to start. The kernel reads the programs of the jail from disk, which is
/// slow while other programs write to the disk.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// How long the kernel may take to end all processes inside.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The judge's user and group id on the host (`nobody`), if the simulator runs as root.
const NOBODY: u32 = 65_534;
/// User and group ids on the host for closed boxes, if the simulator runs as root. `student_id`
/// uses the first of them that exists in the simulator's user namespace. The id 1,987,650,020 is in
/// a range that no distribution, service manager or container engine assigns, so no other program
/// has it. The id 65,533 is for containers that have only the ids 0 to 65,535.
const STUDENT_IDS: [u32; 2] = [1_987_650_020, 65_533];

/// The parameters of a new jail.
#[derive(Debug)]
pub struct JailSpec<'a> {
    /// The program `chicane`.
    pub launcher: &'a Launcher,
    /// What runs inside.
    pub plan: JailPlan,
    /// Descriptor 1 of the program inside. For a judge, descriptors 1 and 2 of the script.
    pub stdout: OwnedFd,
    /// Descriptor 2 of a student's program. For a judge, the channel of the harness.
    pub stderr: OwnedFd,
    /// Where control groups can be created.
    pub cgroups: &'a Cgroups,
    /// Limit of memory in bytes, including files in memory. `None` if the control group sets no
    /// limit.
    pub memory: Option<u64>,
    /// Limit of the number of processes. `None` if the control group sets no limit.
    pub processes: Option<u64>,
    /// The workspace that is copied into a closed box.
    pub copy: Option<&'a Workspace>,
    /// How the internet is reached, if the program has internet access.
    pub network: Option<&'a Network>,
}

/// Why a jail could not be started.
#[derive(Debug, thiserror::Error)]
pub enum JailError {
    /// The control socket could not be created.
    #[error("the control socket can't be created: {0}")]
    Socket(#[source] Errno),
    /// The control group could not be created.
    #[error("a control group can't be created: {0}")]
    Group(#[source] io::Error),
    /// The limits of the control group could not be set.
    #[error("the limits of a control group can't be set: {0}")]
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
    /// The workspace could not be copied into the box.
    #[error(transparent)]
    Workspace(WorkspaceError),
    /// The network could not be set up.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// `outer` or `init` failed. Holds the text of the `PartError`.
    #[error("{0}")]
    Part(String),
    /// A part of the jail sent a report that was not expected at this point.
    #[error("unexpected report of the jail: {0:?}")]
    OutOfTurn(Report),
    /// The jail ended before it was up, or did not start in time.
    #[error("the jail did not start")]
    NotUp,
    /// The jail was ended already.
    #[error("the jail is gone")]
    Gone,
}

/// A running jail. Dropping it ends all processes inside.
#[derive(Debug)]
pub struct Jail {
    outer: Child,
    /// The pidfd of init. `None` until init was started, and after the jail was ended.
    init: Option<OwnedFd>,
    /// Process id of init on the host. 0 until init was started.
    init_id: u32,
    /// Process id of the program in the jail's own namespace. 0 until the program was started.
    program_id: i32,
    /// The control socket. `None` after the jail was ended.
    control: Option<OwnedFd>,
    /// Bytes of an incomplete report.
    unread: Vec<u8>,
    /// Reports that were read but not returned yet.
    queued: VecDeque<Report>,
    group: Arc<Group>,
    network: Option<Uplink>,
    /// Sockets of the box that lead to the simulator. In virtual time, the two descriptors of
    /// virtual time follow (see `virtual_time::set_up`).
    sockets: Vec<OwnedFd>,
    /// The identity of the workspace that was copied into the box. `None` if no workspace was
    /// copied, or after `take_identity`.
    identity: Option<ProgramIdentity>,
}

impl Jail {
    /// Starts a jail and waits until its program runs.
    pub fn start(spec: JailSpec<'_>) -> Result<Jail, JailError> {
        let purpose = match spec.plan {
            JailPlan::Judge(_) => "judge",
            JailPlan::Student(_) => "student",
        };
        let (control, inside) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(JailError::Socket)?;
        let group = spec.cgroups.group(purpose).map_err(JailError::Group)?;
        group.limit(spec.memory, spec.processes).map_err(JailError::Limit)?;
        let mut command = spec.launcher.command();
        command.args([SUBCOMMAND, "outer"]).stdin(inside).stdout(spec.stdout).stderr(spec.stderr);
        if spec.plan.inside_id().is_some() {
            command.env_clear();
        }
        let outer = command
            .spawn()
            .map_err(|source| JailError::Launcher { path: spec.launcher.path().to_owned(), source })?;
        drop(command);
        let mut jail = Jail::of(outer, control, group);
        jail.bring_up(&spec.plan, spec.network, spec.copy)?;
        Ok(jail)
    }

    /// A jail in which no process is known yet.
    fn of(outer: Child, control: OwnedFd, group: Group) -> Jail {
        Jail {
            outer,
            init: None,
            init_id: 0,
            program_id: 0,
            control: Some(control),
            unread: Vec::new(),
            queued: VecDeque::new(),
            group: Arc::new(group),
            network: None,
            sockets: Vec::new(),
            identity: None,
        }
    }

    fn bring_up(
        &mut self,
        plan: &JailPlan,
        network: Option<&Network>,
        copy: Option<&Workspace>,
    ) -> Result<(), JailError> {
        let deadline = Instant::now() + START_TIMEOUT;
        let pid = self.outer.id();
        // The kernel takes several milliseconds to move a process into a group, so another thread
        // moves outer into the group while outer starts. Outer starts no process before it gets
        // `Go`, so all later processes of the jail begin in the group.
        let group = Arc::clone(&self.group);
        let joining = std::thread::spawn(move || group.add(pid));
        self.send(plan)?;
        self.expect(deadline, |report| (*report == Report::Unshared).then_some(()))?;
        map_users(pid, plan)?;
        if let Some(network) = network {
            self.network = Some(network.connect(pid)?);
        }
        let joined = joining.join().unwrap_or_else(|_| Err(io::Error::other("its thread panicked")));
        joined.map_err(JailError::Join)?;
        self.send(&HostMessage::Go)?;
        if let Some(workspace) = copy {
            self.copy_in(workspace, deadline)?;
        }
        let init = self.expect(deadline, |report| match report {
            Report::Init(pid) => Pid::from_raw(*pid),
            _ => None,
        })?;
        // The process id is valid as long as outer has not reaped init. If outer has reaped init,
        // the jail is over anyway.
        self.init = pidfd_open(init, PidfdFlags::empty()).ok();
        self.init_id = init.as_raw_nonzero().get().cast_unsigned();
        if let JailPlan::Student(student) = plan {
            // A student's program may use the network at once, so the network has to be ready.
            self.wait_for_network()?;
            self.send(plan)?;
            if student.network.is_some() {
                let sent = self.expect(deadline, |report| match report {
                    Report::Listening(sent) => Some(*sent),
                    _ => None,
                })?;
                // The kernel drops descriptors that exceed this process's limit.
                if self.sockets.len() != sent {
                    return Err(JailError::Socket(Errno::MFILE));
                }
            }
        } else {
            self.send(plan)?;
        }
        self.program_id = self.expect(deadline, |report| match report {
            Report::Started(pid) => Some(*pid),
            _ => None,
        })?;
        // The network was started in parallel. No script runs before the network is ready, because
        // the harness still waits for its first call.
        self.wait_for_network()
    }

    /// Copies a workspace into the box.
    fn copy_in(&mut self, workspace: &Workspace, deadline: Instant) -> Result<(), JailError> {
        let control = self.control().ok_or(JailError::Gone)?;
        let left = deadline.saturating_duration_since(Instant::now());
        rustix::net::sockopt::set_socket_timeout(control, rustix::net::sockopt::Timeout::Send, Some(left))
            .map_err(JailError::Socket)?;
        match workspace.read(Some(control)) {
            Ok(identity) => self.identity = Some(identity),
            // The box closed the socket, or read nothing until the deadline. If the box has sent a
            // report, the report contains the reason and becomes the error.
            Err(why @ WorkspaceError::Send(_)) => {
                return Err(match self.expect(deadline, |_| None::<()>) {
                    Ok(()) | Err(JailError::NotUp) => JailError::Workspace(why),
                    Err(reported) => reported,
                });
            }
            Err(why) => return Err(JailError::Workspace(why)),
        }
        Ok(())
    }

    /// Takes the identity of the workspace that was copied into the box. `None` if no workspace was
    /// copied, and on the second call.
    pub fn take_identity(&mut self) -> Option<ProgramIdentity> {
        self.identity.take()
    }

    /// Two process ids: that of init on the host, and that of the program inside the jail. Init is
    /// the ancestor of all processes of the program.
    pub fn ids(&self) -> (u32, i32) {
        (self.init_id, self.program_id)
    }

    /// Waits until the network is ready, unless that was done before.
    fn wait_for_network(&mut self) -> Result<(), JailError> {
        Ok(self.network.as_mut().map_or(Ok(()), Uplink::wait)?)
    }

    /// The listening sockets inside the box, whose connections lead to the simulator. In virtual time,
    /// two descriptors follow: a socket that reports the bytes in flight in the box's network, and the
    /// file that the program shares with the simulator. Empty on the second call.
    pub fn take_sockets(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.sockets)
    }

    fn send(&self, value: &impl serde::Serialize) -> Result<(), JailError> {
        Ok(plan::send_to_jail(self.control.as_ref().ok_or(JailError::Gone)?, value)?)
    }

    /// Waits for the next report. Fails if that is not the wanted report.
    fn expect<T>(
        &mut self,
        deadline: Instant,
        wanted: impl Fn(&Report) -> Option<T>,
    ) -> Result<T, JailError> {
        loop {
            let (reports, open) = self.reports();
            self.queued.extend(reports);
            // Later reports stay queued, for instance the exit of a short program.
            if let Some(report) = self.queued.pop_front() {
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

    /// The descriptor to poll for reports. `None` after the jail was ended.
    pub fn control(&self) -> Option<BorrowedFd<'_>> {
        self.control.as_ref().map(AsFd::as_fd)
    }

    /// The reports since the last call, and whether the control socket is still open.
    pub fn reports(&mut self) -> (Vec<Report>, bool) {
        let mut reports: Vec<Report> = self.queued.drain(..).collect();
        let Some(control) = &self.control else { return (reports, false) };
        let mut open = true;
        let mut piece = [0u8; 4096];
        loop {
            match gate::receive(control, &mut piece, &mut self.sockets) {
                Ok(0) => {
                    open = false;
                    break;
                }
                Ok(n) => self.unread.extend_from_slice(&piece[..n.min(piece.len())]),
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

    /// Whether slirp4netns still runs. True if the jail has no network.
    pub fn has_network(&mut self) -> bool {
        self.network.as_mut().is_none_or(Uplink::is_running)
    }

    /// The usage of the processes inside, and the number of their threads. The number is `None` with a
    /// control group, because the kernel then enforces the limit of processes and threads.
    pub fn usage(&self) -> (Usage, Option<u64>) {
        match self.group.usage() {
            Some(usage) => (usage, None),
            None => {
                let tree = usage_below(self.outer.id(), MEMORY);
                let usage = Usage { memory: tree.memory, cpu_us: tree.cpu_us, ..Usage::default() };
                // Outer and init do not count as processes of the program.
                (usage, Some(tree.processes.saturating_sub(2)))
            }
        }
    }

    /// Kills all processes inside and waits until they are gone. May be called more than once.
    /// Returns the processes that the kernel could not end in time, for instance one that waits for
    /// a dead disk. `None` if all processes are gone.
    pub fn end(&mut self) -> Option<LingeringProcesses> {
        if let Some(init) = &self.init {
            let _ = pidfd_send_signal(init, Signal::KILL);
        } else {
            // The jail is not up yet. If outer has started init, init ends when the control socket
            // closes.
            let _ = self.outer.kill();
        }
        self.control = None;
        let deadline = Instant::now() + END_TIMEOUT;
        let mut lingering = None;
        if let Some(init) = self.init.take() {
            wait_readable(init.as_fd(), END_TIMEOUT);
            lingering = Some(LingeringProcesses(init)).filter(LingeringProcesses::are_alive);
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
        while !self.group.is_empty() && !self.group.kill() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.network = None;
        lingering
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        self.end();
    }
}

/// Processes of a jail that were killed and are not gone yet. This value holds the pidfd of init,
/// because init is the last process of a jail to end.
#[derive(Debug)]
pub struct LingeringProcesses(OwnedFd);

impl LingeringProcesses {
    /// Whether any of the processes is still there.
    pub fn are_alive(&self) -> bool {
        !wait_readable(self.0.as_fd(), Duration::ZERO)
    }
}

/// Waits until a descriptor is readable or the timeout passes. True if it is readable.
fn wait_readable(fd: BorrowedFd<'_>, timeout: Duration) -> bool {
    wait_for(&[(fd, PollFlags::IN)], timeout) == [true]
}

/// Writes the user and group maps of a jail.
fn map_users(pid: u32, plan: &JailPlan) -> Result<(), JailError> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let write = |file: &'static str, text: &str| {
        std::fs::write(format!("/proc/{pid}/{file}"), text).map_err(|source| JailError::Map { file, source })
    };
    if uid == 0 {
        for file in ["uid_map", "gid_map"] {
            let map = match (plan, plan.inside_id()) {
                (JailPlan::Judge(_), Some(inside)) => format!("{inside} {NOBODY} 1\n"),
                (_, Some(inside)) => format!("{inside} {} 1\n", student_id(file)),
                (_, None) => identity(file),
            };
            write(file, &map)?;
        }
        return Ok(());
    }
    write("setgroups", "deny")?;
    let inside = |own: u32| plan.inside_id().unwrap_or(own);
    write("uid_map", &format!("{} {uid} 1\n", inside(uid)))?;
    write("gid_map", &format!("{} {gid} 1\n", inside(gid)))
}

/// The user or group id of closed boxes outside of their own user namespaces: the first of
/// `STUDENT_IDS` that exists in the simulator's user namespace. If none exists there, returns the
/// first id, and the kernel then refuses the map.
fn student_id(file: &str) -> u32 {
    let own = std::fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
    let has = |id: u32| {
        own.lines().any(|line| {
            let mut numbers = line.split_whitespace().filter_map(|number| number.parse::<u64>().ok());
            let (inside, count) = (numbers.next(), numbers.nth(1));
            inside.zip(count).is_some_and(|(from, count)| (from..from + count).contains(&u64::from(id)))
        })
    };
    STUDENT_IDS.into_iter().find(|id| has(*id)).unwrap_or(STUDENT_IDS[0])
}

/// The text of a uid or gid map in which every user or group of the simulator's namespace keeps its
/// id.
fn identity(file: &str) -> String {
    let own = std::fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
    let line = |line: &str| {
        let mut numbers = line.split_whitespace();
        let (inside, count) = (numbers.next()?, numbers.nth(1)?);
        Some(format!("{inside} {inside} {count}\n"))
    };
    own.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace_copy::WorkspaceLimits;
    use rustix::net::{Shutdown, shutdown};
    use std::process::Command;

    /// A jail in which nothing runs, and the other end of its control socket.
    fn empty_jail() -> (Jail, OwnedFd) {
        let (control, inside) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("a pair");
        let outer = Command::new("true").spawn().expect("started");
        let group = Cgroups::None.group("student").expect("no group");
        (Jail::of(outer, control, group), inside)
    }

    /// Regression test: a copy that failed was reported as a jail that did not start.
    #[test]
    fn the_reason_of_a_failed_copy_was_lost() {
        let folder = std::env::temp_dir().join(format!("chicane-failed-copy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let limits = WorkspaceLimits { bytes: 1 << 20, entries: 10 };
        let workspace = Workspace::scan(&folder, limits, &[], &[]).expect("scanned");
        std::fs::remove_dir(&folder).expect("removed");
        for (report, expected) in [
            (None, "the workspace can't be copied into the box"),
            (Some(Report::Failed("the box is full".to_owned())), "the box is full"),
        ] {
            let (mut jail, inside) = empty_jail();
            if let Some(report) = report {
                plan::send_report(&inside, &report).expect("sent");
            }
            // Closing `inside` would not be enough, because the process of `outer` may hold a copy
            // of it until its `execve`.
            shutdown(&inside, Shutdown::Both).expect("shut down");
            let deadline = Instant::now() + Duration::from_secs(10);
            let error = jail.copy_in(&workspace, deadline).expect_err("there is no box").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
