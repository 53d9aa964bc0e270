//! The sim thread's part of an evaluation: time stands still until it is to run, and at every observation until it is judged.
//!
//! What the session wants comes by a queue of its own and not through the inbox, so that a long step, which lets no
//! order in, can still be judged on its way and be stopped. Its actions are carried out here like anyone's commands, at
//! the tick of the observation that they answer.

use super::carry_out::moves_the_car;
use super::order::Loaded;
use super::run::Driver;
use crate::evaluation::observe;
use chicane_robot::audio::Event as SoundEvent;
use chicane_session::{Note, Notes, StopCause};
use chicane_sim::{Command, Refusal, TICK_S, TICKS_PER_SECOND};
use chicane_wire::{EvaluationKind, Observation};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

/// Ticks between two observations.
const EVERY: u64 = TICKS_PER_SECOND / 50;
/// Real time between two observations while the script holds the world.
const PAUSED: Duration = Duration::from_millis(50);

/// Bytes of sounds that are kept for a script that does not look.
const MAX_HEARD: usize = 64 << 20;

/// Drive commands by tick: from this tick of the session on, this speed and steering.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveAt {
    /// Ticks since the session began to run.
    pub tick: u64,
    /// m/s.
    pub speed: f64,
    /// rad, + is left.
    pub steering: f64,
}

/// What a session wants of the sim thread.
pub(crate) enum Wish {
    /// Time runs from here, to at most so many seconds.
    Run { limit_s: f64 },
    /// The observation was judged.
    Go,
    /// A command of the script.
    Apply(Command, SyncSender<Result<(), Refusal>>),
    /// A text of the script: text, seconds, size.
    Overlay(String, f64, f64),
    /// The script stops time, or lets it go on.
    Pause(bool),
    /// A brightness of the script, stored already.
    Brightness(f64),
    /// It is over; answered with the simulated time of the session.
    Halt(SyncSender<f64>),
}

/// What a session starts with.
pub(crate) struct Entry {
    pub(crate) loaded: Loaded,
    /// Where the car is put: x, y, yaw.
    pub(crate) at: Option<[f64; 3]>,
    pub(crate) notes: Notes<Note>,
    pub(crate) wishes: Receiver<Wish>,
    pub(crate) drive: Arc<[DriveAt]>,
}

/// A session, as the sim thread knows it.
pub(super) struct Judging {
    notes: Notes<Note>,
    wishes: Receiver<Wish>,
    drive: Arc<[DriveAt]>,
    next_drive: usize,
    clock: Option<Clock>,
    /// An observation was sent and not judged yet.
    waiting: bool,
    held_by_script: bool,
    shown_paused: Instant,
    /// What happened to sounds since the last observation, and how many bytes that is.
    heard: Vec<SoundEvent>,
    heard_bytes: usize,
    /// Sounds that play, as far as the script was told.
    sounding: BTreeSet<u64>,
}

/// Counts from the tick at which a session began to run.
#[derive(Debug, Clone, Copy)]
struct Clock {
    start: u64,
    next: u64,
    /// The first tick past the time limit.
    last: u64,
}

impl Judging {
    pub(super) fn new(entry: Entry) -> (Judging, Loaded, Option<[f64; 3]>) {
        let Entry { loaded, at, notes, wishes, drive } = entry;
        let judging = Judging {
            notes,
            wishes,
            drive,
            next_drive: 0,
            clock: None,
            waiting: false,
            held_by_script: false,
            shown_paused: Instant::now(),
            heard: Vec::new(),
            heard_bytes: 0,
            sounding: BTreeSet::new(),
        };
        (judging, loaded, at)
    }

    /// Whether time has to stand still.
    pub(super) fn stands(&self) -> bool {
        self.waiting || self.clock.is_none()
    }

    /// Whether it waits to begin.
    pub(super) fn is_new(&self) -> bool {
        self.clock.is_none()
    }

    /// Keeps what happened to sounds for the next observation. Samples that nobody looks at for long are dropped.
    pub(super) fn hear(&mut self, events: &[SoundEvent]) {
        for event in events {
            match event {
                SoundEvent::Play { playing, file } => {
                    self.sounding.insert(playing.id);
                    self.heard_bytes += file.as_ref().map_or(0, |file| file.len());
                }
                SoundEvent::Pcm { data, .. } => {
                    self.heard_bytes += data.len();
                    if self.heard_bytes > MAX_HEARD {
                        continue;
                    }
                }
                SoundEvent::Stop { id } | SoundEvent::Ended { id } => drop(self.sounding.remove(id)),
                // A script knows sounds one by one.
                SoundEvent::StopAll => {
                    let all = std::mem::take(&mut self.sounding);
                    self.heard.extend(all.into_iter().map(|id| SoundEvent::Stop { id }));
                    continue;
                }
                SoundEvent::Volume { .. } => {}
            }
            self.heard.push(event.clone());
        }
    }

    fn time_s(&self, tick: u64) -> f64 {
        self.clock.map_or(0.0, |clock| (tick - clock.start) as f64 * TICK_S)
    }

    pub(super) fn lost(&self) {
        self.notes.send(Note::Stop(StopCause::WorldLost));
    }
}

impl Driver {
    /// Tells the session that somebody did something beside it.
    pub(super) fn told(&self, command: &'static str, detail: serde_json::Value) {
        if let Some(judging) = &self.judging {
            judging.notes.send(Note::Event(EvaluationKind::Command { command, detail }));
        }
    }

    /// Somebody else sets the clock: the script holds the world no more.
    pub(super) fn let_go(&mut self, set: bool) {
        if let Some(judging) = self.judging.as_mut().filter(|_| set) {
            judging.held_by_script = false;
        }
    }

    /// How long until the script wants to see a world that it holds.
    pub(super) fn next_paused_look(&self, now: Instant) -> Option<Duration> {
        let judging = self.judging.as_ref()?;
        let holds = judging.held_by_script && self.pacer.paused() && !judging.stands();
        holds.then(|| (judging.shown_paused + PAUSED).saturating_duration_since(now))
    }

    /// Whether time has to stand still for a session.
    pub(super) fn is_held(&self) -> bool {
        self.judging.as_ref().is_some_and(Judging::stands)
    }

    /// Applies the drive commands that are due by tick.
    pub(super) fn drive_by_tick(&mut self) {
        let (Some(judging), Some(running)) = (&mut self.judging, &mut self.running) else { return };
        let Some(clock) = judging.clock.filter(|_| !judging.drive.is_empty()) else { return };
        let tick = running.sim.tick() - clock.start;
        while judging.drive.get(judging.next_drive + 1).is_some_and(|next| next.tick <= tick) {
            judging.next_drive += 1;
        }
        if let Some(at) = judging.drive.get(judging.next_drive).filter(|at| at.tick <= tick) {
            let command =
                chicane_robot::Command::Drive { speed: Some(at.speed), steering: Some(at.steering) };
            let _ = running.stack.apply(command);
        }
    }

    /// Shows the world to the script, if it is time to.
    pub(super) fn observe_if_due(&mut self) {
        let (Some(judging), Some(running)) = (&mut self.judging, &self.running) else { return };
        let Some(clock) = &mut judging.clock else { return };
        let tick = running.sim.tick();
        if tick >= clock.last {
            judging.waiting = true;
            judging.notes.send(Note::LimitPassed { time_s: (tick - clock.start) as f64 * TICK_S });
        } else if tick >= clock.next {
            clock.next = tick + EVERY;
            self.observe();
        }
    }

    fn observe(&mut self) {
        let observation = self.observation();
        if let (Some(judging), Some(observation)) = (&mut self.judging, observation) {
            judging.waiting = true;
            judging.notes.send(Note::Observed(Box::new(observation)));
        }
    }

    /// How things stand, for a script.
    pub(super) fn observation(&mut self) -> Option<Observation> {
        let now = Instant::now();
        let paused = self.pacer.paused();
        let rtf = if paused { 0.0 } else { self.meter.factor(now) };
        let brightness = self.brightness;
        let (judging, running) = (self.judging.as_mut()?, self.running.as_ref()?);
        let time_s = judging.time_s(running.sim.tick());
        let heard = std::mem::take(&mut judging.heard);
        judging.heard_bytes = 0;
        let snapshot = running.sim.snapshot();
        let playing = running.stack.playing();
        let clock = observe::Clock { time_s, paused, rtf, brightness };
        Some(observe::observation(&running.place, &snapshot, clock, &playing, &heard))
    }

    /// Carries out what the session wants.
    pub(super) fn serve_session(&mut self) {
        while let Some(wish) = self.judging.as_ref().and_then(|judging| judging.wishes.try_recv().ok()) {
            self.fulfil(wish);
        }
        if self.next_paused_look(Instant::now()).is_some_and(|left| left.is_zero()) {
            if let Some(judging) = &mut self.judging {
                judging.shown_paused = Instant::now();
            }
            self.observe();
        }
    }

    /// Waits a moment for the session, in the middle of a step. Whether time may go on.
    pub(super) fn wait_for_session(&mut self, most: Duration) -> bool {
        let Some(judging) = &self.judging else { return true };
        match judging.wishes.recv_timeout(most) {
            Ok(wish) => self.fulfil(wish),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => self.judging = None,
        }
        !self.is_held()
    }

    fn fulfil(&mut self, wish: Wish) {
        match wish {
            Wish::Run { limit_s } => self.begin_running(limit_s),
            Wish::Go => {
                if let Some(judging) = &mut self.judging {
                    judging.waiting = false;
                }
            }
            Wish::Apply(command, reply) => {
                self.answer_first();
                let Some(running) = &mut self.running else { return };
                let moves = moves_the_car(&command);
                let done = running.sim.apply(command).map(drop);
                if done.is_ok() {
                    if moves {
                        self.begin_epoch();
                    }
                    self.change();
                }
                // Whoever does not wait any more misses nothing.
                let _ = reply.try_send(done);
            }
            Wish::Overlay(text, ttl_s, size) => {
                self.answer_first();
                self.set_overlay(text, ttl_s, size);
                self.change();
            }
            Wish::Pause(paused) => {
                self.answer_first();
                self.set_clock(Some(paused), None);
                if let Some(judging) = &mut self.judging {
                    judging.held_by_script = paused;
                    judging.shown_paused = Instant::now();
                }
                self.change();
            }
            Wish::Brightness(value) => {
                self.brightness = value;
                self.change();
            }
            Wish::Halt(reply) => {
                let _ = reply.try_send(self.halt_session());
            }
        }
    }

    fn begin_running(&mut self, limit_s: f64) {
        let (Some(judging), Some(running)) = (&mut self.judging, &self.running) else { return };
        let start = running.sim.tick();
        // Half a tick, because a limit such as 0.3 is no sum of ticks in binary.
        let last = start + (limit_s * TICKS_PER_SECOND as f64 + 0.5) as u64 + 1;
        judging.clock = Some(Clock { start, next: start, last });
        self.pacer.restart(Instant::now());
        self.observe_if_due();
    }

    /// Ends the session here: the car stops, and time is nobody's but the clock's again.
    fn halt_session(&mut self) -> f64 {
        let Some(judging) = self.judging.take() else { return 0.0 };
        let Some(running) = &mut self.running else { return 0.0 };
        let time_s = judging.time_s(running.sim.tick());
        let _ = running.stack.apply(chicane_robot::Command::Speed(0.0));
        self.answer_holds();
        if judging.held_by_script {
            self.set_clock(Some(false), None);
        }
        self.pacer.restart(Instant::now());
        self.change();
        time_s
    }
}
