//! Moves time for a program: waits until all its threads are blocked, picks the earliest event, and
//! carries it out.

use crate::clock_file::{ClockFile, SlotView, WaitKind};
use crate::layout::{TICK_NS, WAKE_SIGNAL, real};
use crate::report::{MAX_SENT, PaceReport};
use crate::threads::{BlockedThread, Look, Threads};
use crate::traffic::{InFlight, Traffic};
use crate::web::{Serve, Unsettled, Web};
use crate::work::Work;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum number of ticks by which the simulation is advanced at once. While an answer of the
/// server can become ready at any tick, the simulation is advanced by one tick only.
const IDLE_TICKS: u64 = 20;
/// Number of looks at the start of a wait that have no pause between them.
const EAGER_LOOKS: u32 = 3;
/// Pauses between later looks. The first pause is short, because most programs are blocked again
/// after a few hundred microseconds. After [`PATIENT_LOOKS`] looks the second pause is used, so
/// that the looks need little processor time.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(500)];
const PATIENT_LOOKS: u32 = 2_000;
/// A pipe with at least this many bytes counts as full. A pipe has 16 pages of 4 KiB. A text that
/// does not fit into the rest of a page begins a new page, so every page may be only a little more
/// than half full.
const FULL_PIPE: u64 = 32 << 10;
/// If one thread uses this much processor time while another thread waits for a lock with a timeout
/// of a few milliseconds, the time keeper ends the wait. Virtual time stands still while a thread
/// runs, so the timeout would never expire. Python's threads use such waits to hand over the
/// interpreter lock.
const STALL: Duration = Duration::from_secs(2);
/// Number of looks between two checks for a stall.
const STALL_LOOKS: u32 = 512;
/// After a stall, the time keeper ends the waits for locks whose deadline is at most this much
/// virtual time away.
const STALLED_WAIT_NS: u64 = 2 * TICK_NS;

/// The session is over, or the time keeper has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Over;

/// The simulation and the session, as far as the time keeper uses them.
pub trait PacedWorld: Send {
    /// Starts to simulate up to this tick, counted from the start of the run.
    fn start_advance(&mut self, tick: u64) -> Result<(), Over>;
    /// Waits until the tick of the last `start_advance` is simulated and the judge has seen it.
    fn finish_advance(&mut self) -> Result<(), Over>;
    /// Waits until the session has read everything that the program wrote. If the program has
    /// `exited`, also waits until the session has read its exit status.
    fn drain(&mut self, exited: bool) -> Result<(), Over>;
    /// Lets time run without the program, because all processes of the program have ended or the
    /// time keeper has failed.
    fn release(&mut self);
}

/// The file descriptors and ids with which the time keeper observes a program.
#[derive(Debug)]
pub struct PacedProgram {
    /// Listening sockets in the program's network. They accept the program's connections to the
    /// simulator.
    pub listeners: Vec<TcpListener>,
    /// The shared file.
    pub clock: OwnedFd,
    /// A socket of the protocol `NETLINK_SOCK_DIAG` in the program's network.
    pub diagnosis: OwnedFd,
    /// Process id, on the host, of the parent of all processes of the program.
    pub root: u32,
    /// Process id of the program in its own namespace.
    pub main: i32,
    /// The pipes of the program's output. The time keeper only checks how full they are.
    pub output: Vec<OwnedFd>,
}

/// Stops the time keeper when it is dropped.
#[derive(Debug)]
pub struct TimeKeeperHandle {
    stop: Arc<AtomicBool>,
    report: Arc<Mutex<PaceReport>>,
    thread: Option<JoinHandle<Vec<OwnedFd>>>,
}

impl TimeKeeperHandle {
    /// Stops the time keeper. Returns its report, and the sockets of the program. The caller must
    /// keep the sockets open until the program has ended. Otherwise the program would report a lost
    /// connection.
    pub fn stop(mut self) -> (PaceReport, Vec<OwnedFd>) {
        let sockets = self.end();
        (self.report.lock().unwrap_or_else(PoisonError::into_inner).clone(), sockets)
    }

    fn end(&mut self) -> Vec<OwnedFd> {
        self.stop.store(true, SeqCst);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for TimeKeeperHandle {
    fn drop(&mut self) {
        self.end();
    }
}

/// The next thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The wait of a thread ends. If several end at the same time, the name of the thread decides
    /// the order.
    Wake { name: u64, slot: usize, kind: WaitKind, pid: i32, tid: i32, deadline: u64 },
    /// A process gets `SIGALRM`.
    Alarm { name: u64, slot: usize, pid: i32, next: Option<u64> },
    /// Bytes of an answer, or the end of the server's side, are delivered on the connection with
    /// this number.
    Bytes { connection: u64 },
    /// The session reads a full pipe.
    Output,
}

/// A time in virtual nanoseconds, and the event that happens then. `None` if only time passes.
type Moment = (u64, Option<Event>);

/// Moves time for a program.
pub struct TimeKeeper {
    world: Box<dyn PacedWorld>,
    web: Web,
    threads: Threads,
    traffic: Traffic,
    clock: ClockFile,
    output: Vec<OwnedFd>,
    main: i32,
    /// Whether the session has been told that the program has exited.
    exited: bool,
    /// Virtual time in nanoseconds.
    now: u64,
    /// Simulated ticks.
    tick: u64,
    /// Slot and deadline of the last wait that the time keeper ended. If the slot still has this
    /// deadline at the next look, its thread did not react to the wake signal.
    fired: Option<(usize, u64)>,
    /// Waits whose thread did not react to the wake signal, by slot; the value is the deadline.
    ignored: BTreeMap<usize, u64>,
    /// When the session reads a full pipe, in virtual nanoseconds. `None` while no pipe is full.
    output_due: Option<u64>,
    /// Whether the program has used real time, for example because a thread waits in real time.
    /// From then on, threads can wake without an event.
    is_real: bool,
    stop: Arc<AtomicBool>,
    work: Arc<Work>,
    /// Number of requests before this program was started.
    earlier_requests: u64,
    report: Arc<Mutex<PaceReport>>,
}

impl TimeKeeper {
    /// Starts the thread that moves time for a program. `world` gets the flag that is set when the
    /// time keeper has to stop.
    pub fn start(
        program: PacedProgram,
        serve: Arc<dyn Serve>,
        work: Arc<Work>,
        world: impl FnOnce(Arc<AtomicBool>) -> Box<dyn PacedWorld>,
    ) -> io::Result<TimeKeeperHandle> {
        let stop = Arc::<AtomicBool>::default();
        let report = Arc::<Mutex<PaceReport>>::default();
        let mut keeper = TimeKeeper {
            world: world(Arc::clone(&stop)),
            web: Web::new(program.listeners, serve, Arc::clone(&work), Arc::clone(&stop))?,
            threads: Threads::new(program.root)?,
            traffic: Traffic::new(program.diagnosis),
            clock: ClockFile::new(program.clock),
            output: program.output,
            main: program.main,
            exited: false,
            now: 0,
            tick: 0,
            fired: None,
            ignored: BTreeMap::new(),
            output_due: None,
            is_real: false,
            stop: Arc::clone(&stop),
            earlier_requests: work.total(),
            work,
            report: Arc::clone(&report),
        };
        let thread = std::thread::Builder::new().name("pace".to_owned()).spawn(move || {
            // Without this call, the kernel makes every short pause up to 50 µs longer.
            set_timer_slack(1_000);
            keeper.run();
            keeper.web.into_sockets()
        })?;
        Ok(TimeKeeperHandle { stop, report, thread: Some(thread) })
    }

    /// Moves time until the program or the session is over.
    fn run(&mut self) {
        // A panic must not leave a session behind whose time never advances.
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            // The session handles this call only after it has started the run. Therefore even the
            // first request of the program finds a running session.
            let mut done = self.world.drain(false);
            while done.is_ok() {
                done = self.step();
            }
        }))
        .is_err();
        if panicked {
            tracing::error!("virtual time failed; the session continues without it");
            self.note_real("virtual time failed");
            self.world.release();
        }
    }

    fn note(&self, change: impl FnOnce(&mut PaceReport)) {
        change(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Notes why time depends on the wall clock. Only the first reason is kept.
    fn note_real(&self, reason: &str) {
        self.note(|report| {
            report.real.get_or_insert_with(|| reason.to_owned());
        });
    }

    /// Waits until the program is quiet, and carries out one event.
    fn step(&mut self) -> Result<(), Over> {
        let started = Instant::now();
        self.wait_until_quiet()?;
        self.note(|report| report.program += started.elapsed());
        // The check must not come after the session has read the output. On a busy machine, a short
        // wait, or even the program, would be over by then.
        self.is_real |= self.notice_real_time();
        self.wait_for_simulation()?;
        if self.is_real && self.threads.look() != Look::Same {
            return Ok(());
        }
        let written = self.output.iter().filter_map(|pipe| rustix::io::ioctl_fionread(pipe).ok());
        let written = written.max().unwrap_or(0);
        let is_full = written >= FULL_PIPE && !self.threads.is_empty();
        if written > 0 && !is_full {
            return self.world.drain(false);
        }
        if !self.exited && !self.threads.has_process(self.main) {
            self.exited = true;
            return self.world.drain(true);
        }
        if self.threads.is_empty() {
            self.world.release();
            return Err(Over);
        }
        let collected = self.timed_server(|web, now| web.collect(now))?;
        if collected {
            return Ok(());
        }
        if is_full {
            // The session reads a full pipe only one tick later. Otherwise no time would pass for a
            // program that never stops writing.
            self.output_due.get_or_insert(self.now + TICK_NS);
        }
        let (next, is_real) = self.choose();
        self.is_real |= is_real;
        if is_real {
            return self.follow_the_wall_clock(next);
        }
        self.reach(next.unwrap_or((self.now + IDLE_TICKS * TICK_NS, None)))
    }

    /// Waits until the simulation has reached the current moment. Everything that depends on the
    /// state of the world must come after this call.
    fn wait_for_simulation(&mut self) -> Result<(), Over> {
        let started = Instant::now();
        let done = self.world.finish_advance();
        self.note(|report| report.simulation += started.elapsed());
        done
    }

    /// Waits until the simulation has reached the current moment. Then runs the server and measures
    /// the time that the server takes.
    fn timed_server<T>(&mut self, run: impl FnOnce(&mut Web, u64) -> Result<T, Unsettled>) -> Result<T, Over>
    where
        T: Default,
    {
        self.wait_for_simulation()?;
        let started = Instant::now();
        let done = run(&mut self.web, self.now);
        let requests = self.work.total() - self.earlier_requests;
        let sent = self.web.take_sent();
        self.note(|report| {
            let room = MAX_SENT.saturating_sub(report.sent.len());
            report.sent.extend(sent.into_iter().take(room));
            report.server += started.elapsed();
            report.requests = requests;
        });
        match done {
            Ok(done) => Ok(done),
            Err(Unsettled::Stopped) => Err(Over),
            Err(Unsettled::TooSlow) => {
                self.note_real("the simulator did not answer a request in time");
                Ok(T::default())
            }
        }
    }

    /// Waits until every thread is blocked and no bytes are on their way to a thread.
    fn wait_until_quiet(&mut self) -> Result<(), Over> {
        let mut stall = StallWatch::default();
        let mut looks = 0u32;
        loop {
            if self.stop.load(SeqCst) {
                return Err(Over);
            }
            self.threads.look();
            if !self.threads.is_running() {
                let flight = self.in_flight();
                if !flight.any && self.threads.look() == Look::Same {
                    return Ok(());
                }
                self.web.acknowledge(&flight.wait_for_ack);
            }
            looks = looks.saturating_add(1);
            if looks.is_multiple_of(STALL_LOOKS) && stall.is_stalled(self.threads.running()) {
                self.end_stalled_waits();
            }
            match looks {
                0..EAGER_LOOKS => std::thread::yield_now(),
                EAGER_LOOKS..PATIENT_LOOKS => std::thread::sleep(PAUSES[0]),
                _ => std::thread::sleep(PAUSES[1]),
            }
        }
    }

    /// The bytes in flight between two sockets of the program's network.
    fn in_flight(&mut self) -> InFlight {
        self.traffic.in_flight().unwrap_or_else(|error| {
            self.note_real(&format!(
                "the kernel can't report the bytes in flight on the program's connections: {error}"
            ));
            InFlight::default()
        })
    }

    /// Ends short waits for locks while another thread computes. A Python thread that computes
    /// releases the interpreter lock only after another thread's wait for it has timed out, and
    /// that timeout is a few milliseconds.
    fn end_stalled_waits(&mut self) {
        let threads: BTreeMap<i32, BlockedThread> =
            self.threads.blocked().map(|thread| (thread.inner_tid, thread)).collect();
        for slot in self.clock.slots() {
            let short = slot.deadline.is_some_and(|deadline| deadline <= self.now + STALLED_WAIT_NS);
            if let Some(thread) = threads.get(&slot.tid).filter(|_| short && slot.kind == WaitKind::Lock) {
                self.note_real("a thread of the program waits for another one in a loop");
                self.clock.fire(slot.index);
                signal_thread(thread.pid, thread.tid, WAKE_SIGNAL);
            }
        }
    }

    /// Whether the program uses real time now. Notes why.
    fn notice_real_time(&mut self) -> bool {
        let waits = self.waits_in_real_time();
        if waits {
            self.note_real(
                "a thread of the program waits in real time (static binary or direct system call)",
            );
        }
        let real_bits = self.clock.real_bits();
        for (bit, name) in [
            (real::TIMERFD, "timerfd_settime"),
            (real::TIMER, "timer_settime"),
            (real::SOCKET_TIMEOUT, "SO_RCVTIMEO or SO_SNDTIMEO"),
            (real::SLOTS, "more than 4,096 threads"),
        ] {
            if real_bits & bit != 0 {
                self.note_real(&format!("the program uses {name}, which works in real time only"));
            }
        }
        waits || real_bits != 0
    }

    /// Whether a thread waits in a system call that ends after some time, without a slot of the
    /// shared file.
    fn waits_in_real_time(&mut self) -> bool {
        let mut timed = self.threads.blocked().filter(|thread| thread.timed).peekable();
        if timed.peek().is_none() {
            return false;
        }
        let slots = self.clock.slots();
        let waits: Vec<i32> =
            slots.iter().filter(|slot| slot.deadline.is_some()).map(|slot| slot.tid).collect();
        timed.any(|thread| !waits.contains(&thread.inner_tid))
    }

    /// The earliest event with its time, and whether the program uses real time now.
    fn choose(&mut self) -> (Option<Moment>, bool) {
        let threads: BTreeMap<i32, BlockedThread> =
            self.threads.blocked().map(|thread| (thread.inner_tid, thread)).collect();
        let slots = self.clock.slots();
        let mut events: Vec<(u64, Event)> = Vec::new();
        for slot in &slots {
            match threads.get(&slot.tid) {
                Some(thread) => self.add_events(slot, thread, &mut events),
                None => self.clock.free(slot.index),
            }
        }
        if let Some((due, connection)) = self.web.next_due() {
            events.push((due.max(self.now), Event::Bytes { connection }));
        }
        events.extend(self.output_due.map(|due| (due.max(self.now), Event::Output)));
        let is_real = self.notice_real_time();
        (events.into_iter().min().map(|(due, event)| (due, Some(event))), is_real)
    }

    fn add_events(&mut self, slot: &SlotView, thread: &BlockedThread, events: &mut Vec<(u64, Event)>) {
        let SlotView { index, name, kind, .. } = *slot;
        if let Some((at, interval)) = slot.alarm {
            let due = at.max(self.now);
            let next = next_alarm(due, interval);
            events.push((due, Event::Alarm { name, slot: index, pid: thread.pid, next }));
        }
        let Some(deadline) = slot.deadline else { return };
        if self.fired == Some((index, deadline)) {
            self.note_real("a thread of the program does not react to the end of its wait");
            self.ignored.insert(index, deadline);
            self.fired = None;
        }
        if self.ignored.get(&index) != Some(&deadline) {
            let wake = Event::Wake { name, slot: index, kind, pid: thread.pid, tid: thread.tid, deadline };
            events.push((deadline.max(self.now), wake));
        }
    }

    /// Advances the simulation to a moment, and carries out its event. If the server has bytes for
    /// the program before that moment, the event is not carried out.
    fn reach(&mut self, (due, event): Moment) -> Result<(), Over> {
        let before = self.now;
        let reached = self.move_to(due)?;
        match event.filter(|_| reached) {
            Some(event) => self.carry_out(event, self.now - before),
            None => Ok(()),
        }
    }

    /// Advances the simulation to a moment. Returns false if the server has bytes for the program
    /// before that moment. When this function returns, the last ticks may not be simulated yet.
    /// Therefore the program and the simulation can run at the same time on two processors. The
    /// result is the same, because the program learns about the world only from the server, and
    /// `timed_server` waits for the simulation.
    fn move_to(&mut self, target: u64) -> Result<bool, Over> {
        let target_tick = target / TICK_NS;
        while self.tick < target_tick {
            let needs_ticks = self.web.needs_ticks();
            let ticks = if needs_ticks { 1 } else { (target_tick - self.tick).min(IDLE_TICKS) };
            self.wait_for_simulation()?;
            self.world.start_advance(self.tick + ticks)?;
            self.tick += ticks;
            self.now = self.now.max(self.tick * TICK_NS);
            self.note(|report| report.advances += 1);
            if needs_ticks {
                self.timed_server(|web, now| web.settle(now))?;
                if self.now < target && self.web.next_due().is_some_and(|(due, _)| due <= self.now) {
                    return Ok(false);
                }
            }
        }
        self.now = self.now.max(target);
        Ok(true)
    }

    /// Carries out an event. `passed` is the virtual time by which the simulation was advanced to
    /// reach the event.
    fn carry_out(&mut self, event: Event, passed: u64) -> Result<(), Over> {
        self.clock.set_now(self.now);
        match event {
            Event::Wake { slot, kind, pid, tid, deadline, .. } => {
                self.fired = Some((slot, deadline));
                self.clock.fire(slot);
                signal_thread(pid, tid, WAKE_SIGNAL);
                self.note(|report| match kind {
                    WaitKind::Sleep => report.sleeps.add(passed),
                    WaitKind::Poll => report.polls.add(passed),
                    WaitKind::Lock => report.locks.add(passed),
                    WaitKind::Busy => report.busy.add(passed),
                });
            }
            Event::Alarm { slot, pid, next, .. } => {
                self.clock.set_alarm(slot, next);
                // The signal is sent to the process, so any thread that does not block it may get
                // it. Sending fails if the process has ended.
                let process = Pid::from_raw(pid);
                let _ = process.map(|process| kill_process(process, Signal::ALARM));
            }
            Event::Bytes { connection } => {
                self.note(|report| report.answers.add(passed));
                if self.web.deliver(connection) {
                    self.timed_server(|web, now| web.settle(now))?;
                }
            }
            Event::Output => {
                self.output_due = None;
                self.wait_for_simulation()?;
                return self.world.drain(false);
            }
        }
        Ok(())
    }

    /// Advances by at most one tick, at the speed of the wall clock, because the program uses real
    /// time.
    fn follow_the_wall_clock(&mut self, next: Option<Moment>) -> Result<(), Over> {
        let next_tick = (self.tick + 1) * TICK_NS;
        let next = next.filter(|(due, _)| *due <= next_tick).unwrap_or((next_tick, None));
        if next.0 >= next_tick {
            std::thread::sleep(Duration::from_nanos(TICK_NS));
        }
        self.reach(next)?;
        self.clock.set_now(self.now);
        Ok(())
    }
}

/// When an alarm that is due at `due` is due again. `None` if it does not repeat.
fn next_alarm(due: u64, interval: u64) -> Option<u64> {
    (interval > 0).then(|| due.saturating_add(interval))
}

/// Notices a thread that computes for a long time.
#[derive(Default)]
struct StallWatch {
    /// The thread that runs, and its processor time in nanoseconds when it was first seen.
    since: Option<(i32, u64)>,
}

impl StallWatch {
    /// Whether the running thread has used [`STALL`] of processor time since it was first seen, or
    /// since the last stall.
    fn is_stalled(&mut self, running: Option<(i32, u64)>) -> bool {
        let same = self.since.zip(running).is_some_and(|(since, running)| since.0 == running.0);
        let since = if same { self.since } else { running };
        let used = |of: Option<(i32, u64)>| of.map_or(0, |(_, used)| used);
        let is_stalled = used(running) > used(since) + STALL.as_nanos() as u64;
        self.since = if is_stalled { running } else { since };
        is_stalled
    }
}

/// Sends a signal to a thread. Both ids are ids on the host.
#[allow(unsafe_code)] // No crate in use wraps this call.
fn signal_thread(pid: i32, tid: i32, signal: i32) {
    // SAFETY: the call takes three numbers. If the thread has ended, the call fails.
    unsafe { libc::syscall(libc::SYS_tgkill, pid, tid, signal) };
}

/// Sets how many nanoseconds the kernel may delay the end of this thread's pauses.
#[allow(unsafe_code)] // No crate in use wraps this call.
fn set_timer_slack(nanoseconds: libc::c_ulong) {
    // SAFETY: the call takes two numbers, and changes this thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanoseconds) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::NEVER;

    #[test]
    fn an_alarm_with_a_huge_interval_ended_virtual_time() {
        assert_eq!(next_alarm(7, 0), None);
        assert_eq!(next_alarm(7, 3), Some(10));
        assert_eq!(next_alarm(7, u64::MAX), Some(NEVER));
        assert_eq!(next_alarm(NEVER - 1, 2), Some(NEVER));
    }
}
