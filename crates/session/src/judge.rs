//! A judging script in its jail, as the supervisor speaks with it: one call at a time, nothing ever waited for
//! without a bound.
//!
//! What the script prints and what the harness says come on two descriptors. Whatever was printed before a
//! line of the harness was written is taken out before that line is handed over: so that prints belong to their call.

use crate::jail::{Jail, JailError, JudgePlan, Plan, Report, Spawn, Usage};
use crate::lines::Lines;
use crate::outcome::ScriptFault;
use crate::setting::Setting;
use chicane_wire::{JUDGE_VERSION, JudgeCall, JudgeReply, JudgeSaid, MAX_JUDGE_LINE, MAX_RECORD};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Memory of a script.
const MEMORY: u64 = 512 << 20;
/// Processes and threads of a script.
const PROCESSES: u64 = 64;
/// Bytes of files of a script.
const FILES: u64 = 256 << 20;
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

/// A script in its jail.
#[derive(Debug)]
pub struct Judge {
    jail: Jail,
    channel: OwnedFd,
    output: OwnedFd,
    heard: VecDeque<Heard>,
    unread: Vec<u8>,
    unsent: Vec<u8>,
    lines: Lines,
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
    pub fn start(setting: &Setting) -> Result<Judge, JailError> {
        let fail = |e: Errno| JailError(format!("no descriptors for the judge: {e}"));
        let flags = SocketFlags::CLOEXEC;
        let (channel, inside) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(fail)?;
        let (output, written) = pipe_with(PipeFlags::CLOEXEC).map_err(fail)?;
        rustix::io::ioctl_fionbio(&output, true).map_err(fail)?;
        let jail = Jail::start(Spawn {
            launcher: &setting.launcher,
            plan: Plan::Judge(JudgePlan {
                root: setting.root.clone(),
                harness: crate::HARNESS.to_owned(),
                file_bytes: FILES,
                processes: PROCESSES,
                internet: setting.network.is_some(),
                forbidden: setting.forbidden.clone(),
            }),
            stdout: written,
            stderr: inside,
            cgroups: &setting.cgroups,
            // Files of the script are memory too; what is its own is watched apart.
            memory: Some(MEMORY + FILES),
            // Outer and init are ours.
            processes: Some(PROCESSES + 2),
            network: setting.network.as_ref(),
        })?;
        let mut judge = Judge {
            jail,
            channel,
            output,
            heard: VecDeque::new(),
            unread: Vec::new(),
            unsent: Vec::new(),
            lines: Lines::default(),
            allowance: OUTPUT,
            call: None,
            looked: Instant::now(),
            exited: None,
            closed: None,
            full: false,
            over: false,
        };
        judge.greet()?;
        Ok(judge)
    }

    fn greet(&mut self) -> Result<(), JailError> {
        let deadline = Instant::now() + PATIENCE;
        let mut last = String::new();
        while Instant::now() < deadline {
            match self.hear() {
                Some(Heard::Said(JudgeSaid::Ready { version: JUDGE_VERSION })) => return Ok(()),
                Some(Heard::Line(line)) => last = line,
                Some(other) => {
                    return Err(JailError(format!("the harness did not come up: {other:?} {last}")));
                }
                None => self.wait(LOOK),
            }
        }
        Err(JailError(format!("the harness did not come up in time {last}")))
    }

    /// Looks whether a script can be a judge, without running it. `Ok(None)` if it can.
    pub fn check(&mut self, script: &str) -> Result<Option<String>, JailError> {
        self.call(&JudgeCall::Check { script });
        loop {
            match self.hear() {
                Some(Heard::Said(JudgeSaid::Checked { error })) => {
                    self.call = None;
                    return Ok(error);
                }
                Some(Heard::Line(_)) => {}
                Some(other) => return Err(JailError(format!("the script can't be checked: {other:?}"))),
                None => self.wait(LOOK),
            }
        }
    }

    /// Makes a call. Its answer comes among what is heard.
    pub fn call(&mut self, call: &JudgeCall<'_>) {
        self.call = Some(Started { at: Instant::now(), cpu_us: None });
        self.send(call);
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
        let mut all = vec![(self.output.as_fd(), PollFlags::IN)];
        // One that is closed would end every wait at once.
        if self.closed.is_none() {
            all.push((self.channel.as_fd(), channel));
        }
        all.extend(self.jail.control().map(|fd| (fd, PollFlags::IN)));
        all
    }

    /// Waits until something may have come.
    pub fn wait(&self, most: Duration) {
        wait_for(&self.descriptors(), most);
    }

    fn listen(&mut self) {
        self.push();
        let said = self.read_channel();
        let printed = self.read_output();
        let (reports, standing) = self.jail.reports();
        for report in reports {
            match report {
                Report::Exited(code) => self.exited = Some(code),
                Report::Full => self.full = true,
                _ => {}
            }
        }
        let mut fault = printed.err();
        match said {
            Ok((said, open)) => {
                self.heard.extend(said.into_iter().map(Heard::Said));
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

    /// Lines of the harness, and whether more can come.
    fn read_channel(&mut self) -> Result<(Vec<JudgeSaid>, bool), String> {
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
            let one: JudgeSaid = serde_json::from_slice(line).map_err(|e| format!("no message ({e})"))?;
            if let JudgeSaid::Record { value } = &one
                && (line.len() > MAX_RECORD + 64 || value.as_f64().is_some_and(|v| !v.is_finite()))
            {
                return Err("a record that is too long".to_owned());
            }
            said.push(one);
            start += end + 1;
        }
        self.unread.drain(..start);
        if self.unread.len() > MAX_JUDGE_LINE {
            return Err("a line that is too long".to_owned());
        }
        Ok((said, open))
    }

    /// Takes out what was printed.
    fn read_output(&mut self) -> Result<(), ScriptFault> {
        let mut piece = [0u8; 64 << 10];
        loop {
            match rustix::io::read(&self.output, &mut piece) {
                Ok(0) => return Ok(()),
                Ok(n) => {
                    let allowed = n.min(self.allowance.max(0.0) as usize);
                    self.allowance -= n as f64;
                    let lines = self.lines.feed(&piece[..allowed]);
                    self.heard.extend(lines.into_iter().map(|line| Heard::Line(line.text)));
                    if self.allowance < 0.0 {
                        return Err(ScriptFault::Output);
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return Ok(()),
            }
        }
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
            None => Some(ScriptFault::Channel("it was closed".to_owned())),
        }
    }

    /// A limit that was broken by now, whether or not the script noticed. With what the script said about it.
    pub fn limit_broken(&mut self, line: Option<String>) -> Option<ScriptFault> {
        let (usage, count) = self.jail.usage();
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
        let (usage, count) = self.jail.usage();
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
        self.jail.end();
        self.lines.finish().map(|line| line.text)
    }
}

/// Waits until one of the descriptors has something, or the time is over.
pub(crate) fn wait_for(all: &[(BorrowedFd<'_>, PollFlags)], most: Duration) {
    let mut fds: Vec<PollFd<'_>> = all.iter().map(|(fd, flags)| PollFd::new(fd, *flags)).collect();
    let time = Timespec { tv_sec: most.as_secs().cast_signed(), tv_nsec: most.subsec_nanos().into() };
    let _ = poll(&mut fds, Some(&time));
}
