//! A judging script in its container, as the supervisor uses it. There is one call at a time, and
//! every wait has a timeout.
//!
//! The script's output and the messages of the harness come on two descriptors. A message is
//! returned after all output that was printed before it, so that each line of output belongs to the
//! right call. If that output is missing, the message waits for at most `OUTPUT_TIMEOUT`.

use crate::container::{Container, ContainerError, StartedContainer};
use crate::lines::LineSplitter;
use crate::marks::Marks;
use crate::outcome::{ChannelFault, ScriptFault};
use crate::setting::Setting;
use chicane_jail::isolation::Isolation;
use chicane_jail::judge_limits::{MEMORY, PROCESSES};
use chicane_jail::wake::wait_for;
use chicane_jail::{Report, Usage};
use chicane_wire::{
    JUDGE_VERSION, JudgeCall, JudgeReply, JudgeSaid, MAX_JUDGE_LINE, MAX_RECORD, MovedRows, Observation, Pose,
};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Maximum of the output allowance: the number of bytes that a script may print at once. Each
/// simulated second raises the allowance by this number, but not above the maximum.
const OUTPUT: f64 = 1048576.0;
/// Limit of processor time of one call.
const CALL_CPU: Duration = Duration::from_secs(2);
/// Limit of real time of one call.
const CALL_WALL: Duration = Duration::from_secs(15);
/// Interval between two checks of the limits.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// How long the script's process may run after its channel was closed. After that, the closed
/// channel is a fault.
const EXIT_GRACE: Duration = Duration::from_secs(5);
/// Maximum number of bytes that are read at once.
const PIECE: usize = 64 << 10;
/// How long the harness may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a message may wait for the output that was printed before it.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// An event of a judge.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeEvent {
    /// A message of the harness.
    Message(JudgeSaid),
    /// A line that the script printed.
    Line(String),
    /// The script failed or broke a rule. This is the last event.
    Fault(ScriptFault),
}

/// Why a judge could not be started, or could not check a script.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The container could not be started.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The container ended before the harness was ready. Holds the last printed line, or the fault.
    #[error("the judge's container did not start: {0}")]
    NotUp(String),
    /// The first message of the harness is not `Ready` with the version [`JUDGE_VERSION`].
    #[error("the harness did not start: its first message is {0:?}")]
    UnexpectedMessage(Box<JudgeSaid>),
    /// The harness was not ready in time.
    #[error("the judge's container did not start within {seconds} s {line}")]
    Timeout {
        /// The timeout in seconds.
        seconds: u64,
        /// The last line that was printed.
        line: String,
    },
    /// The script could not be checked.
    #[error("the script can't be checked: {0:?}")]
    NotChecked(Box<JudgeEvent>),
}

/// A judging script in its container.
#[derive(Debug)]
pub struct Judge {
    container: Container,
    channel: OwnedFd,
    /// The script's output. `None` after the end of the output.
    output: Option<OwnedFd>,
    /// Events that `next_event` has not returned yet.
    events: VecDeque<JudgeEvent>,
    /// Bytes of an incomplete message from the harness.
    unread: Vec<u8>,
    /// Bytes for the harness that the socket did not take yet.
    unsent: Vec<u8>,
    lines: LineSplitter,
    /// The marks in the output. `None` if output and messages come in order.
    marks: Option<Marks>,
    /// Messages that wait for the output that was printed before them.
    held_back: VecDeque<JudgeSaid>,
    /// When the first message in `held_back` began to wait; `None` while no message waits.
    held_back_since: Option<Instant>,
    /// Whether a wait for output has timed out. Later messages then do not wait.
    gave_up_order: bool,
    /// The poses of the objects in the last observation.
    seen: Vec<Pose>,
    /// Buffer for the rows of an observation. It is reused, so that an observation allocates no
    /// memory.
    rows: MovedRows,
    /// Buffer for reading. It is reused.
    piece: Vec<u8>,
    /// Bytes that the script may still print.
    allowance: f64,
    call: Option<PendingCall>,
    /// When the limits were last checked.
    checked_at: Instant,
    /// Exit code of the script's process.
    exited: Option<i32>,
    /// When the channel was closed.
    closed: Option<Instant>,
    /// Whether the script's file system is full, or was full.
    full: bool,
    ended: bool,
}

/// A call that was not answered yet.
#[derive(Debug, Clone, Copy)]
struct PendingCall {
    at: Instant,
    /// Processor time in microseconds at the first check of the limits during this call. `None`
    /// before that check.
    cpu_us: Option<u64>,
}

impl Judge {
    /// Starts a container and waits until the harness is ready.
    pub fn start(setting: &Setting) -> Result<Judge, JudgeError> {
        let StartedContainer { container, channel, output, first } = Container::start(setting)?;
        let marks = container.mark().map(Marks::new);
        let mut judge = Judge {
            container,
            channel,
            output: Some(output),
            events: VecDeque::new(),
            unread: Vec::new(),
            unsent: first,
            lines: LineSplitter::default(),
            marks,
            held_back: VecDeque::new(),
            held_back_since: None,
            gave_up_order: false,
            seen: Vec::new(),
            rows: MovedRows::default(),
            piece: vec![0; PIECE],
            allowance: OUTPUT,
            call: None,
            checked_at: Instant::now(),
            exited: None,
            closed: None,
            full: false,
            ended: false,
        };
        judge.wait_until_ready()?;
        judge.container.set_up()?;
        Ok(judge)
    }

    /// Whether a session can use this judge: the judge still runs and has its network, no call is
    /// pending, and the script has sent and printed nothing.
    pub(crate) fn is_unused(&mut self) -> bool {
        self.next_event().is_none()
            && self.call.is_none()
            && self.closed.is_none()
            && self.exited.is_none()
            && self.container.has_network()
    }

    /// How the limits of an engine's container are enforced. `None` for a jail: see
    /// `Setting::jail_isolation`.
    pub(crate) fn isolation(&self) -> Option<Isolation> {
        self.container.isolation()
    }

    fn wait_until_ready(&mut self) -> Result<(), JudgeError> {
        let deadline = Instant::now() + START_TIMEOUT;
        let mut last = String::new();
        while Instant::now() < deadline {
            match self.next_event() {
                Some(JudgeEvent::Message(JudgeSaid::Ready { version: JUDGE_VERSION })) => return Ok(()),
                Some(JudgeEvent::Line(line)) => last = line,
                Some(JudgeEvent::Fault(fault)) => {
                    let why = if last.is_empty() { fault.to_string() } else { last };
                    return Err(JudgeError::NotUp(why));
                }
                Some(JudgeEvent::Message(other)) => {
                    return Err(JudgeError::UnexpectedMessage(Box::new(other)));
                }
                None => self.wait(CHECK_INTERVAL),
            }
        }
        Err(JudgeError::Timeout { seconds: START_TIMEOUT.as_secs(), line: last })
    }

    /// Checks whether a judging script is valid, without running it. Returns the error in the
    /// script, or `None` if the script is valid.
    pub fn check(&mut self, script: &str) -> Result<Option<String>, JudgeError> {
        self.call(&JudgeCall::Check { script });
        loop {
            match self.next_event() {
                Some(JudgeEvent::Message(JudgeSaid::Checked { error })) => {
                    self.call = None;
                    return Ok(error);
                }
                Some(JudgeEvent::Line(_)) => {}
                Some(other) => return Err(JudgeError::NotChecked(Box::new(other))),
                None => self.wait(CHECK_INTERVAL),
            }
        }
    }

    /// Sends a call. Its answer will be an event.
    pub fn call(&mut self, call: &JudgeCall<'_>) {
        self.begin_call();
        self.send(call);
    }

    fn begin_call(&mut self) {
        self.call = Some(PendingCall { at: Instant::now(), cpu_us: None });
        // A message that came before the call can't be the answer to the call. A fault of the
        // script replaces all such messages.
        let is_message = |event: &JudgeEvent| matches!(event, JudgeEvent::Message(_));
        if self.events.iter().any(is_message) {
            self.events.retain(|event| !is_message(event));
            let fault = ScriptFault::Channel(ChannelFault::UnexpectedAnswer);
            self.events.push_back(JudgeEvent::Fault(fault));
        }
    }

    /// Calls `initialize` for the first observation, else `evaluate`. Sends the poses of only those
    /// objects that moved since the last observation, or all poses if their number has changed.
    pub fn observe(&mut self, first: bool, state: &Observation) {
        let objects = &state.objects.0;
        let mut names = None;
        if self.seen.len() != objects.len() {
            self.seen.clear();
            names = Some(objects.iter().map(|(name, _)| &**name).collect());
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        for (position, (_, pose)) in (0u32..).zip(objects) {
            match self.seen.get_mut(position as usize) {
                Some(seen) if seen == pose => continue,
                Some(seen) => *seen = *pose,
                None => self.seen.push(*pose),
            }
            rows.push(position, pose);
        }
        let moved = rows.count;
        self.begin_call();
        if first {
            self.queue(&JudgeCall::Initialize { state, names, moved });
        } else {
            self.queue(&JudgeCall::Evaluate { state, names, moved });
        }
        self.unsent.extend_from_slice(&rows.bytes);
        self.rows = rows;
        self.flush();
    }

    /// Sends the result of an action to the script.
    pub fn reply(&mut self, reply: &JudgeReply) {
        self.send(reply);
    }

    fn send(&mut self, value: &impl serde::Serialize) {
        self.queue(value);
        self.flush();
    }

    fn queue(&mut self, value: &impl serde::Serialize) {
        if serde_json::to_writer(&mut self.unsent, value).is_ok() {
            self.unsent.push(b'\n');
        }
    }

    /// Sends as many bytes as the socket takes.
    fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match send(&self.channel, &self.unsent, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(n) => drop(self.unsent.drain(..n)),
                Err(Errno::INTR) => {}
                // The rest is sent later. If the harness has closed the channel, the next read
                // detects this.
                Err(_) => return,
            }
        }
    }

    /// Raises the output allowance for this many simulated seconds.
    pub fn refill(&mut self, seconds: f64) {
        self.allowance = (self.allowance + seconds * OUTPUT).min(OUTPUT);
    }

    /// The next event, if there is one. Never blocks.
    pub fn next_event(&mut self) -> Option<JudgeEvent> {
        if self.events.is_empty() && !self.ended {
            self.read_all();
        }
        let event = self.events.pop_front();
        match &event {
            Some(JudgeEvent::Message(JudgeSaid::Answer { .. } | JudgeSaid::Raised { .. })) => {
                self.call = None
            }
            Some(JudgeEvent::Fault(_)) => self.ended = true,
            _ => {}
        }
        event
    }

    /// The descriptors to poll.
    pub(crate) fn descriptors(&self) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        if self.ended {
            return Vec::new();
        }
        let channel = if self.unsent.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        let mut all = Vec::with_capacity(3);
        all.extend(self.output.as_ref().map(|output| (output.as_fd(), PollFlags::IN)));
        // A closed channel is left out, because it would make `poll` return at once.
        if self.closed.is_none() {
            all.push((self.channel.as_fd(), channel));
        }
        all.extend(self.container.control().map(|fd| (fd, PollFlags::IN)));
        all
    }

    /// Waits until there may be an event, or the timeout passes.
    pub fn wait(&self, timeout: Duration) {
        let _ = wait_for(&self.descriptors(), timeout);
    }

    /// Reads messages, output and reports, and checks the limits.
    fn read_all(&mut self) {
        self.flush();
        let messages = self.read_channel();
        let printed = self.read_output();
        let (reports, running) = self.container.reports();
        for report in reports {
            match report {
                Report::Exited(code) => self.exited = Some(code),
                Report::Full => self.full = true,
                Report::FilesPolled(why) => tracing::warn!(
                    why,
                    "a full file system of a judging script is noticed late: another program already \
                     watches the system calls of this simulator"
                ),
                _ => {}
            }
        }
        if let Some(code) = self.marks.as_mut().and_then(|marks| marks.exited.take()) {
            self.exited = Some(code);
        }
        let mut fault = printed.err();
        match messages {
            Ok((messages, open)) => {
                self.held_back.extend(messages);
                self.release_messages();
                if !open {
                    self.closed.get_or_insert_with(Instant::now);
                }
                if !open || !running || self.exited.is_some() {
                    fault = fault.or_else(|| self.gone(running));
                }
            }
            Err(what) => fault = fault.or(Some(ScriptFault::Channel(what))),
        }
        // A full file system is a fault at once, so that the outcome does not depend on the moment
        // of the next check.
        if fault.is_none() && (self.full || self.checked_at.elapsed() >= CHECK_INTERVAL) {
            fault = self.check_limits();
        }
        if let Some(fault) = fault {
            self.events.extend(self.lines.finish().map(|line| JudgeEvent::Line(line.text)));
            self.events.push_back(JudgeEvent::Fault(fault));
        }
    }

    /// Moves a message to the events when the output that was printed before it has arrived. If
    /// that output does not arrive in time, for instance because the script closed its output, this
    /// message and all later messages are moved without waiting.
    fn release_messages(&mut self) {
        while let Some(said) = self.held_back.pop_front() {
            if let (JudgeSaid::Printed { mark }, Some(marks)) = (&said, &self.marks)
                && marks.printed < *mark
                && !self.gave_up_order
            {
                if self.held_back_since.get_or_insert_with(Instant::now).elapsed() < OUTPUT_TIMEOUT {
                    self.held_back.push_front(said);
                    return;
                }
                self.gave_up_order = true;
            }
            self.held_back_since = None;
            if !matches!(said, JudgeSaid::Printed { .. }) {
                self.events.push_back(JudgeEvent::Message(said));
            }
        }
    }

    /// The new messages of the harness, and whether the channel is still open.
    fn read_channel(&mut self) -> Result<(Vec<JudgeSaid>, bool), ChannelFault> {
        let mut open = true;
        loop {
            match recv(&self.channel, &mut self.piece[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    open = false;
                    break;
                }
                Ok((n, _)) => self.unread.extend_from_slice(&self.piece[..n.min(PIECE)]),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    open = false;
                    break;
                }
            }
            if self.unread.len() > MAX_JUDGE_LINE {
                break;
            }
        }
        let mut messages = Vec::new();
        let mut start = 0;
        while let Some(end) = self.unread[start..].iter().position(|b| *b == b'\n') {
            let line = &self.unread[start..start + end];
            let message: JudgeSaid =
                serde_json::from_slice(line).map_err(|e| ChannelFault::NotAMessage(e.to_string()))?;
            if let JudgeSaid::Record { value } = &message
                && (line.len() > MAX_RECORD + 64 || value.as_f64().is_some_and(|v| !v.is_finite()))
            {
                return Err(ChannelFault::RecordTooLong);
            }
            messages.push(message);
            start += end + 1;
        }
        self.unread.drain(..start);
        if self.unread.len() > MAX_JUDGE_LINE {
            return Err(ChannelFault::LineTooLong);
        }
        Ok((messages, open))
    }

    /// Reads the script's output.
    fn read_output(&mut self) -> Result<(), ScriptFault> {
        while let Some(output) = &self.output {
            match rustix::io::read(output, &mut self.piece[..]) {
                // Every writer has closed the pipe.
                Ok(0) => self.output = None,
                Ok(n) => {
                    let plain = match &mut self.marks {
                        Some(marks) => &marks.feed(&self.piece[..n])[..],
                        None => &self.piece[..n],
                    };
                    let allowed = plain.len().min(self.allowance.max(0.0) as usize);
                    self.allowance -= plain.len() as f64;
                    let lines = self.lines.feed(&plain[..allowed]);
                    self.events.extend(lines.into_iter().map(|line| JudgeEvent::Line(line.text)));
                    if self.allowance < 0.0 {
                        return Err(ScriptFault::Output);
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Why the script's process is gone. `None` while the reason is not certain yet.
    fn gone(&mut self, running: bool) -> Option<ScriptFault> {
        if let Some(fault) = self.exceeded_limit(None) {
            return Some(fault);
        }
        match self.exited {
            Some(code) => Some(ScriptFault::Ended(code)),
            // The process may run for a moment after its channel closed. The exit of the process
            // will be reported soon.
            None if running && self.closed.is_some_and(|since| since.elapsed() < EXIT_GRACE) => None,
            None => Some(ScriptFault::Channel(ChannelFault::Closed)),
        }
    }

    /// The limit that the script has exceeded, if any. `line` is the last line of the script's
    /// traceback, if the script raised an exception.
    pub fn exceeded_limit(&mut self, line: Option<String>) -> Option<ScriptFault> {
        let (usage, count) = self.container.usage();
        self.exceeded(&usage, count, line)
    }

    fn exceeded(&self, usage: &Usage, count: Option<u64>, line: Option<String>) -> Option<ScriptFault> {
        if self.full {
            Some(ScriptFault::Files(line))
        } else if usage.out_of_memory > 0 || usage.memory > MEMORY {
            Some(ScriptFault::Memory(line))
        } else if usage.refused_processes > 0 || count.is_some_and(|n| n > PROCESSES) {
            Some(ScriptFault::Processes(line))
        } else {
            None
        }
    }

    /// The limit that the script has exceeded, including the time limits of a call; `None` if there
    /// is none.
    fn check_limits(&mut self) -> Option<ScriptFault> {
        let (usage, count) = self.container.usage();
        self.checked_at = Instant::now();
        if let Some(fault) = self.exceeded(&usage, count, None) {
            return Some(fault);
        }
        let call = self.call.as_mut()?;
        // The measurement starts at the first check during a call, so that short calls need no
        // measurement. A call may therefore exceed the limit by one check interval.
        let before = *call.cpu_us.get_or_insert(usage.cpu_us);
        if usage.cpu_us.saturating_sub(before) > CALL_CPU.as_micros() as u64 {
            return Some(ScriptFault::CpuTime);
        }
        (call.at.elapsed() > CALL_WALL).then_some(ScriptFault::WallTime)
    }

    /// Kills all processes of the container and waits until they are gone. Returns the last printed
    /// line if it has no line end.
    pub fn end(&mut self) -> Option<String> {
        self.ended = true;
        self.container.end();
        self.lines.finish().map(|line| line.text)
    }
}
