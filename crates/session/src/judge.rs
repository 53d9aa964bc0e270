//! A judging script in its container, as the supervisor speaks with it: one call at a time, nothing ever waited for
//! without a bound.
//!
//! What the script prints and what the harness says come on two descriptors. Whatever was printed before a
//! line of the harness was written is taken out before that line is handed over: so that prints belong to their call.

use crate::container::{Container, ContainerError, Started as Fresh};
use crate::jail::{Report, Usage};
use crate::lines::Lines;
use crate::marks::Marks;
use crate::outcome::{ChannelFault, ScriptFault};
use crate::setting::{Isolation, Setting};
use crate::wake::wait_for;
use chicane_wire::{
    JUDGE_VERSION, JudgeCall, JudgeReply, JudgeSaid, MAX_JUDGE_LINE, MAX_RECORD, Moved, Observation, Pose,
};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Memory of a script.
pub(crate) const MEMORY: u64 = 512 << 20;
/// Processes and threads of a script.
pub(crate) const PROCESSES: u64 = 64;
/// Bytes of files of a script.
pub(crate) const FILES: u64 = 256 << 20;
/// Bytes that a script may print at once, and then in each second.
const OUTPUT: f64 = 1048576.0;
/// Processor time of one call.
const CALL_CPU: Duration = Duration::from_secs(2);
/// Real time of one call.
const CALL_WALL: Duration = Duration::from_secs(15);
/// How often limits are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long a script may outlive its channel before that is called a fault.
const GRACE: Duration = Duration::from_millis(500);
/// How long the harness may take to say that it is up.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long an answer may be held back because the prints before it are not all here.
const STEP: Duration = Duration::from_secs(1);

/// What came from a judge.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// The harness said something.
    Said(JudgeSaid),
    /// The script printed a line.
    Line(String),
    /// It is over: the script did something wrong. Nothing comes after this.
    Fault(ScriptFault),
}

/// Why a judge could not be started, or could not check a script.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// There is no container.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The container ended before the harness was up. Holds the last line, or the fault.
    #[error("the judge's container did not come up: {0}")]
    NotUp(String),
    /// The first message of the harness is not the expected one.
    #[error("the harness did not come up: it said {0:?}")]
    UnexpectedMessage(Box<JudgeSaid>),
    /// The harness was not up in time.
    #[error("the judge's container did not come up in {seconds} s {line}")]
    Timeout {
        /// How long it was waited for.
        seconds: u64,
        /// The last line that was printed.
        line: String,
    },
    /// The script could not be checked.
    #[error("the script can't be checked: {0:?}")]
    NotChecked(Box<Heard>),
}

/// A script in its container.
#[derive(Debug)]
pub struct Judge {
    container: Container,
    channel: OwnedFd,
    /// Until nobody can print any more.
    output: Option<OwnedFd>,
    heard: VecDeque<Heard>,
    unread: Vec<u8>,
    unsent: Vec<u8>,
    lines: Lines,
    /// Where prints come by another way: what tells them apart, and what the harness said after prints that are not here yet.
    marks: Option<Marks>,
    early: VecDeque<JudgeSaid>,
    early_since: Option<Instant>,
    /// Prints were waited for in vain.
    out_of_step: bool,
    /// Where objects stood when the script last saw them.
    seen: Vec<Pose>,
    /// Bytes that it may still print.
    allowance: f64,
    call: Option<Started>,
    looked: Instant,
    exited: Option<i32>,
    /// Nothing more can come from the harness, since then.
    closed: Option<Instant>,
    full: bool,
    over: bool,
}

/// A call that was not answered yet.
#[derive(Debug, Clone, Copy)]
struct Started {
    at: Instant,
    /// Processor time that was used before; known when the call turns out to be a long one.
    cpu_us: Option<u64>,
}

impl Judge {
    /// Starts a container and waits until the harness is up.
    pub fn start(setting: &Setting) -> Result<Judge, JudgeError> {
        let Fresh { container, channel, output, first } = Container::start(setting)?;
        let marks = container.mark().map(Marks::new);
        let mut judge = Judge {
            container,
            channel,
            output: Some(output),
            heard: VecDeque::new(),
            unread: Vec::new(),
            unsent: first,
            lines: Lines::default(),
            marks,
            early: VecDeque::new(),
            early_since: None,
            out_of_step: false,
            seen: Vec::new(),
            allowance: OUTPUT,
            call: None,
            looked: Instant::now(),
            exited: None,
            closed: None,
            full: false,
            over: false,
        };
        judge.greet()?;
        judge.container.is_up()?;
        Ok(judge)
    }

    /// How limits are held, where that is known only now.
    pub(crate) fn isolation(&self) -> Option<Isolation> {
        self.container.isolation()
    }

    fn greet(&mut self) -> Result<(), JudgeError> {
        let deadline = Instant::now() + PATIENCE;
        let mut last = String::new();
        while Instant::now() < deadline {
            match self.hear() {
                Some(Heard::Said(JudgeSaid::Ready { version: JUDGE_VERSION })) => return Ok(()),
                Some(Heard::Line(line)) => last = line,
                Some(Heard::Fault(fault)) => {
                    let why = if last.is_empty() { fault.to_string() } else { last };
                    return Err(JudgeError::NotUp(why));
                }
                Some(Heard::Said(other)) => {
                    return Err(JudgeError::UnexpectedMessage(Box::new(other)));
                }
                None => self.wait(LOOK),
            }
        }
        Err(JudgeError::Timeout { seconds: PATIENCE.as_secs(), line: last })
    }

    /// Looks whether a script can be a judge, without running it. `Ok(None)` if it can.
    pub fn check(&mut self, script: &str) -> Result<Option<String>, JudgeError> {
        self.call(&JudgeCall::Check { script });
        loop {
            match self.hear() {
                Some(Heard::Said(JudgeSaid::Checked { error })) => {
                    self.call = None;
                    return Ok(error);
                }
                Some(Heard::Line(_)) => {}
                Some(other) => return Err(JudgeError::NotChecked(Box::new(other))),
                None => self.wait(LOOK),
            }
        }
    }

    /// Makes a call. Its answer comes among what is heard.
    pub fn call(&mut self, call: &JudgeCall<'_>) {
        self.call = Some(Started { at: Instant::now(), cpu_us: None });
        self.send(call);
    }

    /// Has `initialize` or, if it is not the first time, `evaluate` called. Objects that stand where they stood are not told again.
    pub fn show(&mut self, first: bool, state: &Observation) {
        let seen = &self.seen;
        let objects = state.objects.0.iter().enumerate();
        let moved = objects.filter(|(i, (_, pose))| seen.get(*i) != Some(pose));
        let moved = Moved(moved.map(|(_, (name, pose))| (&**name, pose)).collect());
        if first {
            self.call(&JudgeCall::Initialize { state, moved });
        } else {
            self.call(&JudgeCall::Evaluate { state, moved });
        }
        self.seen.clear();
        self.seen.extend(state.objects.0.iter().map(|(_, pose)| *pose));
    }

    /// Answers an action.
    pub fn reply(&mut self, reply: &JudgeReply) {
        self.send(reply);
    }

    fn send(&mut self, value: &impl serde::Serialize) {
        if serde_json::to_writer(&mut self.unsent, value).is_ok() {
            self.unsent.push(b'\n');
        }
        self.push();
    }

    /// Hands over as much as the other side takes.
    fn push(&mut self) {
        while !self.unsent.is_empty() {
            match send(&self.channel, &self.unsent, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(n) => drop(self.unsent.drain(..n)),
                Err(Errno::INTR) => {}
                // Later; or never, which is noticed when reading.
                Err(_) => return,
            }
        }
    }

    /// Lets it print more: so many simulated seconds went by.
    pub fn refill(&mut self, seconds: f64) {
        self.allowance = (self.allowance + seconds * OUTPUT).min(OUTPUT);
    }

    /// The next thing that came, if any did. Never waits.
    pub fn hear(&mut self) -> Option<Heard> {
        if self.heard.is_empty() && !self.over {
            self.listen();
        }
        let heard = self.heard.pop_front();
        match &heard {
            Some(Heard::Said(JudgeSaid::Answer { .. } | JudgeSaid::Raised { .. })) => self.call = None,
            Some(Heard::Fault(_)) => self.over = true,
            _ => {}
        }
        heard
    }

    /// Descriptors to wait for.
    pub(crate) fn descriptors(&self) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        if self.over {
            return Vec::new();
        }
        let channel = if self.unsent.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        let mut all = Vec::with_capacity(3);
        all.extend(self.output.as_ref().map(|output| (output.as_fd(), PollFlags::IN)));
        // One that is closed would end every wait at once.
        if self.closed.is_none() {
            all.push((self.channel.as_fd(), channel));
        }
        all.extend(self.container.control().map(|fd| (fd, PollFlags::IN)));
        all
    }

    /// Waits until something may have come.
    pub fn wait(&self, most: Duration) {
        let _ = wait_for(&self.descriptors(), most);
    }

    fn listen(&mut self) {
        self.push();
        let said = self.read_channel();
        let printed = self.read_output();
        let (reports, standing) = self.container.reports();
        for report in reports {
            match report {
                Report::Exited(code) => self.exited = Some(code),
                Report::Full => self.full = true,
                _ => {}
            }
        }
        if let Some(code) = self.marks.as_mut().and_then(|marks| marks.exited.take()) {
            self.exited = Some(code);
        }
        let mut fault = printed.err();
        match said {
            Ok((said, open)) => {
                self.early.extend(said);
                self.hand_over();
                if !open {
                    self.closed.get_or_insert_with(Instant::now);
                }
                if !open || !standing || self.exited.is_some() {
                    fault = fault.or_else(|| self.gone(standing));
                }
            }
            Err(what) => fault = fault.or(Some(ScriptFault::Channel(what))),
        }
        if fault.is_none() && self.looked.elapsed() >= LOOK {
            fault = self.look();
        }
        if let Some(fault) = fault {
            self.heard.extend(self.lines.finish().map(|line| Heard::Line(line.text)));
            self.heard.push_back(Heard::Fault(fault));
        }
    }

    /// Hands over what the harness said, as far as the prints before it are here. Prints that do not come, because the script
    /// closed or turned away the place they go to, are waited for once.
    fn hand_over(&mut self) {
        while let Some(said) = self.early.pop_front() {
            if let (JudgeSaid::Printed { mark }, Some(marks)) = (&said, &self.marks)
                && marks.printed < *mark
                && !self.out_of_step
            {
                if self.early_since.get_or_insert_with(Instant::now).elapsed() < STEP {
                    self.early.push_front(said);
                    return;
                }
                self.out_of_step = true;
            }
            self.early_since = None;
            if !matches!(said, JudgeSaid::Printed { .. }) {
                self.heard.push_back(Heard::Said(said));
            }
        }
    }

    /// Lines of the harness, and whether more can come.
    fn read_channel(&mut self) -> Result<(Vec<JudgeSaid>, bool), ChannelFault> {
        let mut open = true;
        let mut piece = [0u8; 16 << 10];
        loop {
            match recv(&self.channel, &mut piece, RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    open = false;
                    break;
                }
                Ok((n, _)) => self.unread.extend_from_slice(&piece[..n.min(piece.len())]),
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
        let mut said = Vec::new();
        let mut start = 0;
        while let Some(end) = self.unread[start..].iter().position(|b| *b == b'\n') {
            let line = &self.unread[start..start + end];
            let one: JudgeSaid =
                serde_json::from_slice(line).map_err(|e| ChannelFault::NotAMessage(e.to_string()))?;
            if let JudgeSaid::Record { value } = &one
                && (line.len() > MAX_RECORD + 64 || value.as_f64().is_some_and(|v| !v.is_finite()))
            {
                return Err(ChannelFault::RecordTooLong);
            }
            said.push(one);
            start += end + 1;
        }
        self.unread.drain(..start);
        if self.unread.len() > MAX_JUDGE_LINE {
            return Err(ChannelFault::LineTooLong);
        }
        Ok((said, open))
    }

    /// Takes out what was printed.
    fn read_output(&mut self) -> Result<(), ScriptFault> {
        let mut piece = [0u8; 64 << 10];
        while let Some(output) = &self.output {
            match rustix::io::read(output, &mut piece) {
                // Nobody is left who could print: to wait for it would be to wait for nothing.
                Ok(0) => self.output = None,
                Ok(n) => {
                    let plain = match &mut self.marks {
                        Some(marks) => &marks.feed(&piece[..n])[..],
                        None => &piece[..n],
                    };
                    let allowed = plain.len().min(self.allowance.max(0.0) as usize);
                    self.allowance -= plain.len() as f64;
                    let lines = self.lines.feed(&plain[..allowed]);
                    self.heard.extend(lines.into_iter().map(|line| Heard::Line(line.text)));
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

    /// Why the script's process is gone. `None` while that is not certain yet.
    fn gone(&mut self, standing: bool) -> Option<ScriptFault> {
        if let Some(fault) = self.limit_broken(None) {
            return Some(fault);
        }
        match self.exited {
            Some(code) => Some(ScriptFault::Ended(code)),
            // Its processes may outlive its channel for a moment; the jail tells when it is over.
            None if standing && self.closed.is_some_and(|since| since.elapsed() < GRACE) => None,
            None => Some(ScriptFault::Channel(ChannelFault::Closed)),
        }
    }

    /// A limit that was broken by now, whether or not the script noticed. With what the script said about it.
    pub fn limit_broken(&mut self, line: Option<String>) -> Option<ScriptFault> {
        let (usage, count) = self.container.usage();
        self.broken(&usage, count, line)
    }

    fn broken(&self, usage: &Usage, count: Option<u64>, line: Option<String>) -> Option<ScriptFault> {
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

    /// Looks at every limit that the kernel does not end a script for.
    fn look(&mut self) -> Option<ScriptFault> {
        let (usage, count) = self.container.usage();
        self.looked = Instant::now();
        if let Some(fault) = self.broken(&usage, count, None) {
            return Some(fault);
        }
        let call = self.call.as_mut()?;
        // At most one look late: short calls, which are nearly all, are not measured at all.
        let before = *call.cpu_us.get_or_insert(usage.cpu_us);
        if usage.cpu_us.saturating_sub(before) > CALL_CPU.as_micros() as u64 {
            return Some(ScriptFault::CpuTime);
        }
        (call.at.elapsed() > CALL_WALL).then_some(ScriptFault::WallTime)
    }

    /// Ends the container and everything in it, and waits until it is gone.
    pub fn end(&mut self) -> Option<String> {
        self.over = true;
        self.container.end();
        self.lines.finish().map(|line| line.text)
    }
}
