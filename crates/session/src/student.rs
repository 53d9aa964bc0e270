//! The student's program in its jail: starts it, reads its output and exit code, ends it.

use crate::box_options::BoxOptions;
use crate::closed_box::{self, ClosedBoxError};
use crate::environment::host_environment;
use crate::lines::{LineRateLimit, LineSplitter, OutputLine};
use crate::setting::Setting;
use chicane_jail::network::Network;
use chicane_jail::workspace_copy::{MAX_ENTRIES, Workspace, WorkspaceError, WorkspaceLimits};
use chicane_jail::{
    BoxNetwork, Cgroups, Jail, JailError, JailPlan, JailSpec, LingeringProcesses, Report, StudentPlan,
    TimePlan,
};
use chicane_pace::PacedProgram;
use chicane_wire::{BoxKind, OutputStream, ProgramIdentity, StudentNetwork};
use rustix::event::PollFlags;
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::{BTreeMap, VecDeque};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

/// The jail's own processes, `outer` and `init`, which the control group counts too.
const JAIL_PROCESSES: u64 = 2;
/// Interval between two checks of the memory of a program in a closed box.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The identity of the files in a host box is computed only if they are within these limits,
/// because all of them are read at every start.
const HOST_LIMITS: WorkspaceLimits = WorkspaceLimits { bytes: 64 << 20, entries: 10_000 };
/// Exit code of the shell if a program is not found.
const NOT_FOUND: i32 = 127;
/// Limit of the lines per second of one stream.
const LINES: u32 = 200;
/// Maximum number of bytes that are read from one stream before the other stream is read.
const READ_LIMIT: usize = 1 << 20;

/// The port of HTTP addresses that contain no port number.
const WEB_PORT: u16 = 80;
/// The exit code that stands for a program which the simulator killed: the negated number of
/// `SIGKILL`.
const KILLED: i32 = -9;

/// The student's program and how to run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentProgram {
    /// The command line for `bash -c`.
    pub command: String,
    /// The workspace on the host: the working directory in a host box. A closed box gets a copy.
    pub workspace: PathBuf,
    /// Environment variables that tell the program how to reach the simulator. The box adds others.
    pub environment: BTreeMap<String, String>,
    /// Folders that are hidden from the program.
    pub hide: Vec<PathBuf>,
    /// How the program is isolated.
    pub options: BoxOptions,
    /// Port of the simulator's web server. In a box with its own network, the sockets that lead to
    /// the simulator listen on the same port and on port 80. `None` without a web server.
    pub port: Option<u16>,
    /// Seed of the random numbers that the program gets in virtual time. `None` in real time.
    pub virtual_time: Option<u64>,
}

impl StudentProgram {
    /// The folder of the library of virtual time, inside the box.
    fn time_folder(&self) -> PathBuf {
        match self.options.kind {
            BoxKind::Closed => PathBuf::from(chicane_jail::CLOSED_TIME_FOLDER),
            // The library is mounted over a hidden folder if there is one, because the program
            // can't see the files of this folder anyway.
            BoxKind::Host => {
                let hidden = self.hide.iter().find(|folder| folder.is_dir());
                hidden.cloned().unwrap_or_else(std::env::temp_dir)
            }
        }
    }
}

/// The plan of a host box on the host's network. For any other box, the caller adds the box's own
/// network, its file system, or both.
fn plan_of(program: &StudentProgram, environment: BTreeMap<String, String>) -> StudentPlan {
    StudentPlan {
        command: program.command.clone(),
        workspace: program.workspace.clone(),
        environment,
        hide: program.hide.clone(),
        processes: program.options.limits.processes,
        network: None,
        time: program.virtual_time.map(|seed| TimePlan { folder: program.time_folder(), seed }),
        closed: None,
    }
}

/// Adds the variables that depend on the pace. In virtual time, a fixed `PYTHONHASHSEED` makes
/// Python's hash values equal in every run.
pub(crate) fn add_time_variables(program: &StudentProgram, environment: &mut BTreeMap<String, String>) {
    let pace = if program.virtual_time.is_some() { "virtual" } else { "real" };
    environment.insert("CHICANE_PACE".to_owned(), pace.to_owned());
    if program.virtual_time.is_some() {
        environment.insert("PYTHONHASHSEED".to_owned(), "0".to_owned());
        if program.options.kind == BoxKind::Host {
            let library = program.time_folder().join(chicane_pace::LIBRARY_NAME);
            environment.insert("LD_PRELOAD".to_owned(), library.display().to_string());
        }
    }
}

/// Why the student's program could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StudentError {
    /// The pipes of the program could not be created.
    #[error("the pipes of the student program can't be created: {0}")]
    Descriptors(#[source] Errno),
    /// The machine has no internet access for a box that needs it.
    #[error(
        "--student-network internet needs slirp4netns and /dev/net/tun: install slirp4netns, or run \
         chicane setup; in a container, add --device /dev/net/tun"
    )]
    NoInternet,
    /// The machine has no control groups, which enforce the limits of a closed box.
    #[error(
        "a closed box needs control groups: run chicane as root, give its systemd service \
         Delegate=yes, or start it with systemd-run --user --scope --property=Delegate=yes; \
         --box host needs none"
    )]
    NoControlGroups,
    /// The workspace could not be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The closed box could not be planned.
    #[error(transparent)]
    ClosedBox(#[from] ClosedBoxError),
    /// The jail of the program could not be started.
    #[error(transparent)]
    Jail(#[from] JailError),
}

/// An event of the student's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StudentEvent {
    /// A line of output.
    Line {
        /// The stream that the line was written to.
        stream: OutputStream,
        /// The text without the line end.
        text: String,
        /// Whether the line was truncated, or stands for dropped lines.
        cut: bool,
    },
    /// The program ended. Holds the exit code, or the negated signal number. Background processes
    /// of the program may run until the session ends.
    Exited(i32),
}

/// A running student's program.
#[derive(Debug)]
pub(crate) struct Student {
    jail: Jail,
    streams: [Stream; 2],
    /// Events that `next_event` has not returned yet.
    events: VecDeque<StudentEvent>,
    exited: bool,
    ended: bool,
    /// Sockets that listen inside the box. Empty after `take_listeners`, and after a `take_paced`
    /// that returned them.
    listeners: Vec<TcpListener>,
    /// Descriptors and ids for the time keeper. `None` in real time, and after `take_paced`.
    paced: Option<PacedProgram>,
    identity: Option<ProgramIdentity>,
    /// What to try if a program is not found.
    hints: Vec<String>,
    /// Limit of memory without files, in bytes. `None` in a host box.
    memory_limit: Option<u64>,
    /// When the memory was last checked.
    memory_checked_at: Instant,
    /// Whether the simulator ended the program because of its memory limit.
    out_of_memory: bool,
    /// The time at which lines of output count as received. `None` stands for the current real
    /// time.
    line_time: Option<Instant>,
}

/// What a jail needs to run a program.
struct Prepared {
    plan: StudentPlan,
    /// The workspace that is copied. `None` for a host box.
    workspace: Option<Workspace>,
    hints: Vec<String>,
}

impl Prepared {
    fn new(program: StudentProgram, network: Option<BoxNetwork>) -> Result<Prepared, StudentError> {
        let mut prepared = match program.options.kind {
            BoxKind::Closed => Prepared::closed(&program, network.as_ref())?,
            BoxKind::Host => {
                let environment = host_environment(&program.options.environment, program.environment.clone());
                let plan = plan_of(&program, environment);
                Prepared { plan, workspace: None, hints: Vec::new() }
            }
        };
        prepared.plan.network = network;
        add_time_variables(&program, &mut prepared.plan.environment);
        Ok(prepared)
    }

    fn closed(program: &StudentProgram, network: Option<&BoxNetwork>) -> Result<Prepared, StudentError> {
        let options = &program.options;
        let limits = WorkspaceLimits { bytes: options.limits.files, entries: MAX_ENTRIES };
        let workspace = Workspace::scan(&program.workspace, limits, &program.hide, &options.paths)?;
        let internet = network.is_some_and(|network| network.internet);
        let closed = closed_box::plan(program, &workspace, internet)?;
        let mut plan = plan_of(program, closed.environment);
        plan.closed = Some(closed.plan);
        Ok(Prepared { plan, workspace: Some(workspace), hints: closed.hints })
    }
}

/// One output stream of the program.
#[derive(Debug)]
struct Stream {
    name: OutputStream,
    pipe: Option<OwnedFd>,
    lines: LineSplitter,
    limit: LineRateLimit,
}

impl Student {
    /// Starts the program in a jail.
    pub(crate) fn start(setting: &Setting, program: StudentProgram) -> Result<Student, StudentError> {
        let pipe = || {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(&read, true)?;
            Ok((read, write))
        };
        let fail = StudentError::Descriptors;
        let ((out, out_inside), (err, err_inside)) = (pipe().map_err(fail)?, pipe().map_err(fail)?);
        check(setting, &program.options)?;
        let (network, uplink) = network(setting, &program.options, program.port)?;
        let limits = program.options.limits;
        let has_virtual_time = program.virtual_time.is_some();
        let prepared = Prepared::new(program, network)?;
        let closed = prepared.plan.closed.is_some();
        // In a host box, the identity is computed before the program can change its files. In a
        // closed box, it is computed while the workspace is copied.
        let identity =
            (!closed).then(|| host_identity(&prepared.plan.workspace, &prepared.plan.hide)).flatten();
        let mut jail = Jail::start(JailSpec {
            launcher: &setting.launcher,
            processes: Some(prepared.plan.processes + JAIL_PROCESSES),
            plan: JailPlan::Student(Box::new(prepared.plan)),
            stdout: out_inside,
            stderr: err_inside,
            cgroups: &setting.cgroups,
            // In a closed box the limit includes the program's files, because they are in memory
            // too. `exceeds_memory` checks the memory without files.
            memory: Some(if closed { limits.memory.saturating_add(limits.files) } else { limits.memory }),
            copy: prepared.workspace.as_ref(),
            network: uplink,
        })?;
        let mut sockets = jail.take_sockets();
        let time =
            if has_virtual_time { sockets.split_off(sockets.len().saturating_sub(2)) } else { Vec::new() };
        // Without these descriptors, the program would wait for a time keeper that does not run.
        let paced = paced_program(&jail, time, [&out, &err]).map_err(fail)?;
        let listeners = sockets.into_iter().map(TcpListener::from).collect();
        let identity = jail.take_identity().or(identity);
        let stream = |name, pipe| Stream {
            name,
            pipe: Some(pipe),
            lines: LineSplitter::default(),
            limit: LineRateLimit::new(LINES),
        };
        let streams = [stream(OutputStream::Stdout, out), stream(OutputStream::Stderr, err)];
        Ok(Student {
            jail,
            streams,
            events: VecDeque::new(),
            exited: false,
            ended: false,
            listeners,
            paced,
            identity,
            hints: prepared.hints,
            memory_limit: closed.then_some(limits.memory),
            memory_checked_at: Instant::now(),
            out_of_memory: false,
            line_time: None,
        })
    }

    /// The sockets that listen inside the box. Every connection to one of them comes from the
    /// program. Empty if the program shares the host's network, or if the sockets were taken
    /// before.
    pub(crate) fn take_listeners(&mut self) -> Vec<TcpListener> {
        std::mem::take(&mut self.listeners)
    }

    /// Descriptors and ids for the time keeper, and the sockets that listen inside the box. `None`
    /// in real time, and on the second call.
    pub(crate) fn take_paced(&mut self) -> Option<PacedProgram> {
        let listeners = std::mem::take(&mut self.listeners);
        match self.paced.take() {
            Some(paced) => Some(PacedProgram { listeners, ..paced }),
            None => {
                self.listeners = listeners;
                None
            }
        }
    }

    /// The identity of the program's files at the start. `None` if the files of a host box are too
    /// many, too large or unreadable.
    pub(crate) fn identity(&self) -> Option<&ProgramIdentity> {
        self.identity.as_ref()
    }

    /// Whether the program used more memory than its limit. The kernel or the simulator then ended
    /// the program or one of its processes.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        self.out_of_memory || self.jail.usage().0.out_of_memory > 0
    }

    /// The next event, if there is one. Never blocks.
    pub(crate) fn next_event(&mut self) -> Option<StudentEvent> {
        if self.events.is_empty() && !self.ended {
            // The reports are read before the output. If they contain the exit, all earlier output
            // is in the pipes already, and it is returned before the exit.
            let (reports, open) = self.jail.reports();
            let now = self.line_time.unwrap_or_else(Instant::now);
            for stream in &mut self.streams {
                stream.read(now, &mut self.events);
            }
            self.note_exit(&reports);
            if !open || self.exceeds_memory() {
                let _ = self.end();
            }
        }
        self.events.pop_front()
    }

    /// Reads what the program has written so far, and nothing that it writes meanwhile.
    /// `take_event` then returns the events.
    pub(crate) fn read_written(&mut self) {
        if self.ended {
            return;
        }
        let (reports, open) = self.jail.reports();
        let now = self.line_time.unwrap_or_else(Instant::now);
        for stream in &mut self.streams {
            let written = stream.pipe.as_ref().and_then(|pipe| rustix::io::ioctl_fionread(pipe).ok());
            // Once the jail has ended, no process writes any more, so the pipe is read to its end.
            let limit = if open { written.unwrap_or(0) as usize } else { READ_LIMIT };
            stream.read_limited(limit, now, &mut self.events);
        }
        if reports.iter().any(|report| matches!(report, Report::Exited(_))) {
            for stream in &mut self.streams {
                stream.end_line(now, &mut self.events);
            }
        }
        self.note_exit(&reports);
        // Once the exit is reported, the end of the jail is ignored, because the moment of this end
        // depends on the machine.
        if !open && !self.exited {
            let _ = self.end();
        }
    }

    /// The next event that was read already; `None` if there is none. Reads nothing.
    pub(crate) fn take_event(&mut self) -> Option<StudentEvent> {
        self.events.pop_front()
    }

    /// Sets the time at which lines of output arrive. In virtual time, the limit of lines per
    /// second counts virtual seconds.
    pub(crate) fn set_line_time(&mut self, now: Instant) {
        self.line_time = Some(now);
    }

    /// Ends the program if it uses more memory than it may.
    pub(crate) fn check_memory(&mut self) {
        if !self.ended && self.exceeds_memory() {
            let _ = self.end();
        }
    }

    /// Whether the program uses more memory than it may. The kernel limits the sum of memory and
    /// files, so the memory alone is checked here. False in a host box, and if the last check was
    /// less than `CHECK_INTERVAL` ago.
    fn exceeds_memory(&mut self) -> bool {
        let Some(limit) = self.memory_limit else { return false };
        let now = Instant::now();
        if now.duration_since(self.memory_checked_at) < CHECK_INTERVAL {
            return false;
        }
        self.memory_checked_at = now;
        self.out_of_memory |= self.jail.usage().0.memory > limit;
        self.out_of_memory
    }

    fn note_exit(&mut self, reports: &[Report]) {
        let code = reports.iter().find_map(|report| match report {
            Report::Exited(code) => Some(*code),
            _ => None,
        });
        if let Some(code) = code.filter(|_| !self.exited) {
            self.exited = true;
            if code == NOT_FOUND {
                let line = |text| StudentEvent::Line { stream: OutputStream::Stderr, text, cut: false };
                self.events.extend(self.hints.drain(..).map(line));
            }
            self.events.push_back(StudentEvent::Exited(code));
        }
    }

    /// The descriptors to poll.
    pub(crate) fn descriptors(&self) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        if self.ended {
            return Vec::new();
        }
        let pipes = self.streams.iter().filter_map(|stream| stream.pipe.as_ref());
        let pipes = pipes.map(|pipe| (pipe.as_fd(), PollFlags::IN));
        pipes.chain(self.jail.control().map(|fd| (fd, PollFlags::IN))).collect()
    }

    /// Kills the program and all processes it started, and waits until they are gone. `next_event`
    /// returns the last output of the program afterwards. Returns the processes that the kernel
    /// could not end in time.
    pub(crate) fn end(&mut self) -> Option<LingeringProcesses> {
        if self.ended {
            return None;
        }
        self.ended = true;
        let reports = self.jail.reports().0;
        let lingering = self.jail.end();
        let now = self.line_time.unwrap_or_else(Instant::now);
        for stream in &mut self.streams {
            stream.read(now, &mut self.events);
        }
        self.note_exit_after_output(&reports);
        lingering
    }

    /// Kills the program and returns the same as `end`, but ignores everything that happened after
    /// the last call of `read_written`. In virtual time the program may have run on since that
    /// call, for a time that depends on the machine.
    pub(crate) fn end_as_read(&mut self) -> Option<LingeringProcesses> {
        if self.ended {
            return None;
        }
        self.ended = true;
        let lingering = self.jail.end();
        self.note_exit_after_output(&[]);
        lingering
    }

    /// Adds the unfinished line of each stream, and then the exit, unless the exit was added
    /// before.
    fn note_exit_after_output(&mut self, reports: &[Report]) {
        let now = self.line_time.unwrap_or_else(Instant::now);
        for stream in &mut self.streams {
            stream.end_line(now, &mut self.events);
            stream.pipe = None;
        }
        self.note_exit(reports);
        // If the exit was not reported, the program was killed.
        self.note_exit(&[Report::Exited(KILLED)]);
    }
}

/// Descriptors and ids for the time keeper. `time` holds the two descriptors of virtual time, or
/// nothing in real time; the result is then `None`.
fn paced_program(
    jail: &Jail,
    time: Vec<OwnedFd>,
    output: [&OwnedFd; 2],
) -> Result<Option<PacedProgram>, Errno> {
    let Ok([diagnosis, clock]) = <[OwnedFd; 2]>::try_from(time) else { return Ok(None) };
    let (root, main) = jail.ids();
    let output = output.iter().map(|pipe| fcntl_dupfd_cloexec(pipe, 0)).collect::<Result<_, _>>()?;
    Ok(Some(PacedProgram { listeners: Vec::new(), clock, diagnosis, root, main, output }))
}

impl Stream {
    fn read(&mut self, now: Instant, events: &mut VecDeque<StudentEvent>) {
        self.read_limited(READ_LIMIT, now, events);
    }

    /// Reads at most `limit` bytes.
    fn read_limited(&mut self, limit: usize, now: Instant, events: &mut VecDeque<StudentEvent>) {
        let Some(pipe) = &self.pipe else { return };
        let mut piece = [0u8; 64 << 10];
        let mut taken = 0;
        let mut lines = Vec::new();
        let mut ended = false;
        while taken < limit {
            let room = piece.len().min(limit - taken);
            match rustix::io::read(pipe, &mut piece[..room]) {
                Ok(0) => {
                    ended = true;
                    break;
                }
                Ok(n) => {
                    taken += n;
                    lines.extend(self.lines.feed(&piece[..n]));
                }
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        if ended {
            self.pipe = None;
        }
        for line in lines {
            self.push(line, now, events);
        }
        if let Some(dropped) = self.limit.take_dropped(now) {
            events.push_back(more(self.name, dropped));
        }
    }

    fn push(&mut self, line: OutputLine, now: Instant, events: &mut VecDeque<StudentEvent>) {
        let (dropped, passes) = self.limit.pass(now);
        events.extend(dropped.map(|dropped| more(self.name, dropped)));
        if passes {
            events.push_back(StudentEvent::Line { stream: self.name, text: line.text, cut: line.cut });
        }
    }

    /// Adds an unfinished line, and the number of dropped lines.
    fn end_line(&mut self, now: Instant, events: &mut VecDeque<StudentEvent>) {
        if let Some(line) = self.lines.finish() {
            self.push(line, now, events);
        }
        if let Some(dropped) = self.limit.take_rest() {
            events.push_back(more(self.name, dropped));
        }
    }
}

/// A line that stands for dropped lines.
fn more(stream: OutputStream, dropped: u64) -> StudentEvent {
    StudentEvent::Line { stream, text: format!("… {dropped} more lines"), cut: true }
}

/// Fails if this machine can't run programs in a box with these options.
pub(crate) fn check(setting: &Setting, options: &BoxOptions) -> Result<(), StudentError> {
    if options.kind == BoxKind::Closed && setting.cgroups == Cgroups::None {
        return Err(StudentError::NoControlGroups);
    }
    network(setting, options, None).map(drop)
}

/// The identity of the files that a host box runs. `None` if the files are too many, too large or
/// unreadable.
fn host_identity(workspace: &Path, hidden: &[PathBuf]) -> Option<ProgramIdentity> {
    Workspace::scan(workspace, HOST_LIMITS, hidden, &[]).and_then(|workspace| workspace.read(None)).ok()
}

/// The network of a box, and how it reaches the internet. The first value is `None` if the box
/// shares the host's network, and the second one is `None` without internet access. If the machine
/// can't provide internet access, a closed box fails. A host box starts without it, because
/// internet access is the default of a host box and may not have been asked for.
pub(crate) fn network<'a>(
    setting: &'a Setting,
    options: &BoxOptions,
    port: Option<u16>,
) -> Result<(Option<BoxNetwork>, Option<&'a Network>), StudentError> {
    static MISSING: Once = Once::new();
    let uplink = match (options.network, options.kind, &setting.network) {
        (StudentNetwork::Host, ..) => return Ok((None, None)),
        (StudentNetwork::None, ..) => None,
        (StudentNetwork::Internet, _, Some(network)) => Some(network),
        (StudentNetwork::Internet, BoxKind::Closed, None) => return Err(StudentError::NoInternet),
        (StudentNetwork::Internet, BoxKind::Host, None) => {
            MISSING.call_once(|| {
                tracing::warn!(
                    "student programs have no internet access (slirp4netns or /dev/net/tun is missing)"
                );
            });
            None
        }
    };
    let mut ports: Vec<u16> = port.into_iter().collect();
    ports.extend(port.filter(|port| *port != WEB_PORT).map(|_| WEB_PORT));
    let internet = uplink.is_some();
    Ok((Some(BoxNetwork { ports, internet, forbidden: setting.forbidden.clone() }), uplink))
}
