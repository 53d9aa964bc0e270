//! The student's program in its jail: starts it, reads its output and exit code, ends it.

use crate::box_options::BoxOptions;
use crate::environment::host_environment;
use crate::jail::{BoxNetwork, Jail, JailError, JailPlan, JailSpec, LingeringProcesses, Report, StudentPlan};
use crate::lines::{LineRateLimit, LineSplitter, OutputLine};
use crate::network::Network;
use crate::setting::Setting;
use chicane_wire::{BoxKind, OutputStream, ProgramIdentity, StudentNetwork};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::{BTreeMap, VecDeque};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Once;
use std::time::Instant;

/// Limit of the lines per second of one stream.
const LINES: u32 = 200;
/// Bytes that are read from one stream before the other is read.
const READ_LIMIT: usize = 1 << 20;

/// The port of addresses without a port number.
const WEB_PORT: u16 = 80;
/// Exit code of a program that the simulator killed.
const KILLED: i32 = -9;

/// The student's program and how to run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentProgram {
    /// The command line for `bash -c`.
    pub command: String,
    /// The working directory.
    pub workspace: PathBuf,
    /// Environment variables in addition to those of the simulator.
    pub environment: BTreeMap<String, String>,
    /// Folders that are hidden from the program.
    pub hide: Vec<PathBuf>,
    /// How the program is isolated.
    pub options: BoxOptions,
    /// Port of the simulator's web server. In a box with its own network, the listeners of the
    /// session have the same port and port 80. `None` without a web server.
    pub port: Option<u16>,
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
    /// The program ended. Holds the exit code. Background processes of the program may run until
    /// the session ends.
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
    /// Sockets that listen inside the box. Empty after `take_listeners`.
    listeners: Vec<TcpListener>,
    identity: Option<ProgramIdentity>,
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
        let environment = host_environment(&program.options.environment, program.environment);
        let limits = program.options.limits;
        let (network, uplink) = network(setting, &program.options, program.port)?;
        let mut jail = Jail::start(JailSpec {
            launcher: &setting.launcher,
            plan: JailPlan::Student(StudentPlan {
                command: program.command,
                workspace: program.workspace,
                environment,
                hide: program.hide,
                processes: limits.processes,
                network,
            }),
            stdout: out_inside,
            stderr: err_inside,
            cgroups: &setting.cgroups,
            memory: Some(limits.memory),
            // The jail's own processes, `outer` and `init`, count too.
            processes: Some(limits.processes + 2),
            network: uplink,
        })?;
        let listeners = jail.take_sockets().into_iter().map(TcpListener::from).collect();
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
            identity: None,
        })
    }

    /// The sockets that listen inside the box. A connection to one of them is the program's. Empty
    /// if the program shares the host's network, and on the second call.
    pub(crate) fn take_listeners(&mut self) -> Vec<TcpListener> {
        std::mem::take(&mut self.listeners)
    }

    /// The files of the program as they were started. `None` if the workspace is too large to be
    /// read.
    pub(crate) fn identity(&self) -> Option<&ProgramIdentity> {
        self.identity.as_ref()
    }

    /// Whether the kernel ended a process of the program because its memory limit was reached.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        self.jail.usage().0.out_of_memory > 0
    }

    /// The next event, if there is one. Never blocks.
    pub(crate) fn next_event(&mut self) -> Option<StudentEvent> {
        if self.events.is_empty() && !self.ended {
            // The reports are read before the output. If they contain the exit, all earlier output
            // is in the pipes already, and it is returned before the exit.
            let (reports, open) = self.jail.reports();
            let now = Instant::now();
            for stream in &mut self.streams {
                stream.read(now, &mut self.events);
            }
            self.note_exit(&reports);
            if !open {
                let _ = self.end();
            }
        }
        self.events.pop_front()
    }

    fn note_exit(&mut self, reports: &[Report]) {
        let code = reports.iter().find_map(|report| match report {
            Report::Exited(code) => Some(*code),
            _ => None,
        });
        if let Some(code) = code.filter(|_| !self.exited) {
            self.exited = true;
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
    /// then returns the last output of the program. Returns the processes that the kernel could not
    /// end in time.
    pub(crate) fn end(&mut self) -> Option<LingeringProcesses> {
        if self.ended {
            return None;
        }
        self.ended = true;
        let reports = self.jail.reports().0;
        let lingering = self.jail.end();
        let now = Instant::now();
        for stream in &mut self.streams {
            stream.read(now, &mut self.events);
            stream.finish(&mut self.events);
        }
        self.note_exit(&reports);
        // If the exit was not reported, the program was killed here.
        self.note_exit(&[Report::Exited(KILLED)]);
        lingering
    }
}

impl Stream {
    fn read(&mut self, now: Instant, events: &mut VecDeque<StudentEvent>) {
        let Some(pipe) = &self.pipe else { return };
        let mut piece = [0u8; 64 << 10];
        let mut taken = 0;
        let mut lines = Vec::new();
        let mut ended = false;
        while taken < READ_LIMIT {
            match rustix::io::read(pipe, &mut piece) {
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

    fn finish(&mut self, events: &mut VecDeque<StudentEvent>) {
        if let Some(line) = self.lines.finish() {
            self.push(line, Instant::now(), events);
        }
        if let Some(dropped) = self.limit.take_rest() {
            events.push_back(more(self.name, dropped));
        }
        self.pipe = None;
    }
}

/// A line that stands for dropped lines.
fn more(stream: OutputStream, dropped: u64) -> StudentEvent {
    StudentEvent::Line { stream, text: format!("… {dropped} more lines"), cut: true }
}

/// The network of a box, and how it reaches the internet. A host box does without internet access
/// if the machine has none to give, because internet access is its default.
fn network<'a>(
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
