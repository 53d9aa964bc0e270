//! The student's program in its jail: what it says, and that it is gone.

use crate::jail::{Jail, JailError, Left, Plan, Report, Spawn, StudentPlan};
use crate::lines::{Line, Lines, Sieve};
use crate::setting::Setting;
use chicane_wire::OutputStream;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Instant;

/// Processes of a student's program: a training run with many workers fits.
const PROCESSES: u64 = 1024;
/// Lines a second of one stream.
const LINES: u32 = 200;
/// Bytes that are read at a time before others have their turn.
const GULP: usize = 1 << 20;

/// Exit code of one that was ended.
const KILLED: i32 = -9;

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentOrder {
    /// For `bash -c`.
    pub command: String,
    /// Folder that it runs in.
    pub workspace: PathBuf,
    /// Variables beside those of the simulator.
    pub environment: BTreeMap<String, String>,
    /// Folders that are not there for it.
    pub hide: Vec<PathBuf>,
}

/// Why the student's program could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StudentError {
    /// Its pipes could not be made.
    #[error("no descriptors for the student program: {0}")]
    Descriptors(#[source] Errno),
    /// Its jail could not be started.
    #[error(transparent)]
    Jail(#[from] JailError),
}

/// What came from a student's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StudentSaid {
    /// A line.
    Line {
        /// `stdout` or `stderr`.
        stream: OutputStream,
        /// Without its end.
        text: String,
        /// Something is missing.
        cut: bool,
    },
    /// It ended; what it started in the background may go on until the session ends.
    Exited(i32),
}

/// A student's program.
#[derive(Debug)]
pub(crate) struct Student {
    jail: Jail,
    streams: [Stream; 2],
    said: VecDeque<StudentSaid>,
    exited: bool,
    over: bool,
}

#[derive(Debug)]
struct Stream {
    name: OutputStream,
    pipe: Option<OwnedFd>,
    lines: Lines,
    sieve: Sieve,
}

impl Student {
    /// Starts it.
    pub(crate) fn start(setting: &Setting, order: StudentOrder) -> Result<Student, StudentError> {
        let pipe = || {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(&read, true)?;
            Ok((read, write))
        };
        let fail = StudentError::Descriptors;
        let ((out, out_inside), (err, err_inside)) = (pipe().map_err(fail)?, pipe().map_err(fail)?);
        let environment = environment(order.environment);
        let jail = Jail::start(Spawn {
            launcher: &setting.launcher,
            plan: Plan::Student(StudentPlan {
                command: order.command,
                workspace: order.workspace,
                environment,
                hide: order.hide,
                processes: PROCESSES,
            }),
            stdout: out_inside,
            stderr: err_inside,
            cgroups: &setting.cgroups,
            memory: None,
            processes: Some(PROCESSES),
            network: None,
        })?;
        let stream =
            |name, pipe| Stream { name, pipe: Some(pipe), lines: Lines::default(), sieve: Sieve::new(LINES) };
        let streams = [stream(OutputStream::Stdout, out), stream(OutputStream::Stderr, err)];
        Ok(Student { jail, streams, said: VecDeque::new(), exited: false, over: false })
    }

    /// The next thing that came. Never waits.
    pub(crate) fn hear(&mut self) -> Option<StudentSaid> {
        if self.said.is_empty() && !self.over {
            // In this order: what it wrote before it ended comes before its end.
            let (reports, standing) = self.jail.reports();
            let now = Instant::now();
            for stream in &mut self.streams {
                stream.read(now, &mut self.said);
            }
            self.note_exit(&reports);
            if !standing {
                let _ = self.end();
            }
        }
        self.said.pop_front()
    }

    fn note_exit(&mut self, reports: &[Report]) {
        let code = reports.iter().find_map(|report| match report {
            Report::Exited(code) => Some(*code),
            _ => None,
        });
        if let Some(code) = code.filter(|_| !self.exited) {
            self.exited = true;
            self.said.push_back(StudentSaid::Exited(code));
        }
    }

    pub(crate) fn descriptors(&self) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        if self.over {
            return Vec::new();
        }
        let pipes = self.streams.iter().filter_map(|stream| stream.pipe.as_ref());
        let pipes = pipes.map(|pipe| (pipe.as_fd(), PollFlags::IN));
        pipes.chain(self.jail.control().map(|fd| (fd, PollFlags::IN))).collect()
    }

    /// Ends it and everything that it started, and waits until all is gone. What it said last comes out of `hear`. Whoever could not be
    /// ended is given back.
    pub(crate) fn end(&mut self) -> Option<Left> {
        if self.over {
            return None;
        }
        self.over = true;
        let reports = self.jail.reports().0;
        let left = self.jail.end();
        let now = Instant::now();
        for stream in &mut self.streams {
            stream.read(now, &mut self.said);
            stream.finish(&mut self.said);
        }
        self.note_exit(&reports);
        // Its own end was not seen: it was ended here.
        self.note_exit(&[Report::Exited(KILLED)]);
        left
    }
}

impl Stream {
    fn read(&mut self, now: Instant, said: &mut VecDeque<StudentSaid>) {
        let Some(pipe) = &self.pipe else { return };
        let mut piece = [0u8; 64 << 10];
        let mut taken = 0;
        let mut lines = Vec::new();
        let mut ended = false;
        while taken < GULP {
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
            self.tell(line, now, said);
        }
        if let Some(dropped) = self.sieve.tell(now) {
            said.push_back(more(self.name, dropped));
        }
    }

    fn tell(&mut self, line: Line, now: Instant, said: &mut VecDeque<StudentSaid>) {
        let (dropped, passes) = self.sieve.pass(now);
        said.extend(dropped.map(|dropped| more(self.name, dropped)));
        if passes {
            said.push_back(StudentSaid::Line { stream: self.name, text: line.text, cut: line.cut });
        }
    }

    fn finish(&mut self, said: &mut VecDeque<StudentSaid>) {
        if let Some(line) = self.lines.finish() {
            self.tell(line, Instant::now(), said);
        }
        if let Some(dropped) = self.sieve.rest() {
            said.push_back(more(self.name, dropped));
        }
        self.pipe = None;
    }
}

/// Stands for lines that were too many.
fn more(stream: OutputStream, dropped: u64) -> StudentSaid {
    StudentSaid::Line { stream, text: format!("… {dropped} more lines"), cut: true }
}

/// The simulator's own variables without those that are about the simulator, and what the order adds.
fn environment(more: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let own = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let own = own.filter(|(name, _)| !name.starts_with("CHICANE_"));
    own.chain(more).collect()
}
