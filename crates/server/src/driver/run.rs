//! The loop of the sim thread.

use super::Start;
use super::judging::{Entry, Judging};
use super::order::{Loaded, Order, Refused, Reply};
use super::pace::{Meter, Pacer};
use super::published::{Badge, ClockView, OverlayView, Published, Seen};
use super::running::Running;
use super::taps::Taps;
use crate::loudspeaker::Loudspeaker;
use crate::metrics::Metrics;
use chicane_sim::{Command, Event};
use chicane_wire::{Num, Transition};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Orders that are carried out before something is published.
const BATCH: usize = 256;
/// Ticks are done for this long before something is published.
const SLICE: Duration = Duration::from_millis(2);
/// A long step shows how it goes on this often.
const SHOW_STEP: Duration = Duration::from_millis(33);
/// A long step looks this often, in ticks, whether it is still wanted.
const LOOK_STEP: u64 = 32;

/// Sends a reply, once what it speaks of is published.
type SendReply = Box<dyn FnOnce(&Arc<Published>) + Send>;

/// What the sim thread owns.
pub(super) struct Driver {
    orders: Receiver<Order>,
    /// An order that was found while ticks were done.
    next: Option<Order>,
    view: watch::Sender<Arc<Published>>,
    stopping: Arc<AtomicBool>,
    metrics: Arc<Metrics>,
    loudspeaker: Loudspeaker,
    pub(super) taps: Taps,
    pub(super) running: Option<Running>,
    /// The evaluation that is under way.
    pub(super) judging: Option<Judging>,
    /// What everyone is to see of it, and what was last seen.
    to_show: Arc<Mutex<Badge>>,
    badge: Badge,
    pub(super) pacer: Pacer,
    pub(super) meter: Meter,
    pub(super) transition: Option<Transition>,
    installing: Option<Transition>,
    overlay: OverlayView,
    pub(super) brightness: f64,
    pub(super) assets_version: u64,
    /// How often the car was put elsewhere, or time began anew.
    pub(super) epoch: u64,
    serial: u64,
    changes: u64,
    lost: Option<Arc<str>>,
    replies: Vec<SendReply>,
    /// What happened to sounds since the last publication, and when.
    pub(super) heard: Vec<(f64, chicane_robot::audio::Event)>,
    /// Something happened that was not published yet.
    pub(super) unseen: bool,
    /// Time went on since the last publication.
    stale: bool,
    published: Instant,
}

impl Driver {
    pub(super) fn new(
        start: &Start,
        orders: Receiver<Order>,
        stopping: Arc<AtomicBool>,
        (metrics, loudspeaker, taps): (Arc<Metrics>, Loudspeaker, Taps),
    ) -> (Driver, watch::Receiver<Arc<Published>>) {
        let now = Instant::now();
        let (view, seen) = watch::channel(Arc::new(Published {
            serial: 0,
            changes: 0,
            running: None,
            transition: Some(start.transition.clone()),
            installing: None,
            clock: ClockView { paused: false, speed: start.speed, rtf: 0.0 },
            overlay: OverlayView::none(),
            brightness: start.brightness,
            assets_version: 0,
            epoch: 0,
            lost: None,
            badge: Badge::default(),
            state_json: OnceLock::new(),
        }));
        let driver = Driver {
            orders,
            next: None,
            view,
            stopping,
            metrics,
            loudspeaker,
            taps,
            running: None,
            judging: None,
            to_show: Arc::clone(&start.badge),
            badge: Badge::default(),
            pacer: Pacer::new(start.speed, now),
            meter: Meter::new(now),
            transition: Some(start.transition.clone()),
            installing: None,
            overlay: OverlayView::none(),
            brightness: start.brightness,
            assets_version: 0,
            epoch: 0,
            serial: 0,
            changes: 0,
            lost: None,
            replies: Vec::new(),
            heard: Vec::new(),
            unseen: false,
            stale: false,
            published: now,
        };
        (driver, seen)
    }

    pub(super) fn run(mut self) {
        while !self.stopping.load(Ordering::Relaxed) {
            match catch_unwind(AssertUnwindSafe(|| self.turn())) {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) => self.lose_world(),
            }
        }
    }

    /// Waits for orders or ticks, carries them out, publishes. False when nobody is left to ask.
    fn turn(&mut self) -> bool {
        let Ok(order) = self.wait() else { return false };
        if let Some(order) = order {
            self.take(order);
            for _ in 1..BATCH {
                let Ok(order) = self.orders.try_recv() else { break };
                self.take(order);
            }
        }
        self.serve_session();
        self.answer_holds();
        if self.overlay.ends.is_some_and(|ends| Instant::now() >= ends) {
            self.overlay = OverlayView { text: Arc::from(""), ends: None, ..self.overlay.clone() };
            self.change();
        }
        if self.unseen || (self.stale && self.published.elapsed() >= SLICE) {
            self.publish();
        }
        self.do_due_ticks();
        true
    }

    /// The next order, if one comes before there is something else to do.
    fn wait(&mut self) -> Result<Option<Order>, RecvTimeoutError> {
        if let Some(order) = self.next.take() {
            return Ok(Some(order));
        }
        let now = Instant::now();
        let held = self.is_held();
        let tick = self.running.as_ref().filter(|_| !held).and_then(|_| self.pacer.sleep(now));
        let overlay = self.overlay.ends.map(|ends| ends.saturating_duration_since(now));
        let late = self.stale.then_some(SLICE);
        let wait = [tick, overlay, self.next_paused_look(now), late].into_iter().flatten().min();
        match wait {
            None => self.orders.recv().map(Some).map_err(|_| RecvTimeoutError::Disconnected),
            Some(Duration::ZERO) => Ok(self.orders.try_recv().ok()),
            Some(wait) => match self.orders.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => Ok(None),
                other => other.map(Some),
            },
        }
    }

    /// Orders that were carried out are answered as of now, not as of what comes next.
    pub(super) fn answer_first(&mut self) {
        if !self.replies.is_empty() {
            self.publish();
        }
    }

    fn take(&mut self, order: Order) {
        if changes_what_others_are_told(&order) {
            self.answer_first();
        }
        match order {
            Order::Command(command, reply) => self.command(command, reply),
            Order::Robot { command, world, reply } => self.ask_robot(command, world, reply),
            Order::Hold { speed, ticks, reply } => self.hold(speed, ticks, reply),
            Order::Clock { paused, speed, reply } => {
                self.told("clock", serde_json::json!({"paused": paused, "speed": speed}));
                self.let_go(paused.is_some());
                self.set_clock(paused, speed);
                self.reply(reply, ());
            }
            Order::Step { ticks, speed, steering, reply } => self.step(ticks, [speed, steering], reply),
            Order::Overlay { text, ttl_s, size, reply } => {
                self.set_overlay(text, ttl_s, size);
                self.reply(reply, ());
            }
            Order::Brightness(value, reply) => {
                self.brightness = value;
                self.reply(reply, ());
            }
            Order::Begin { kind, target, of, reply } => {
                if self.is_taken() {
                    return refuse(reply, Refused::Evaluating);
                }
                let served = self.running.as_ref().map(|r| &r.place.name).or(self.lost.as_ref());
                if self.transition.is_some() || of.as_ref().is_some_and(|of| served != Some(of)) {
                    return refuse(reply, Refused::Switching);
                }
                self.transition = Some(Transition { kind, target, progress: Num(0.0) });
                self.reply(reply, ());
            }
            Order::Progress(part) => {
                if let Some(transition) = &mut self.transition {
                    transition.progress = Num(part);
                    self.change();
                }
            }
            Order::Installing(what, reply) => {
                self.installing = what;
                self.reply(reply, ());
            }
            Order::Swap { loaded, reply } => {
                self.swap(*loaded);
                self.reply(reply, ());
            }
            Order::Abort(reply) => {
                self.transition = None;
                self.reply(reply, ());
            }
            Order::Judge { entry, reply } => self.begin_session(*entry, reply),
            Order::Look => self.unseen |= self.shown_badge() != self.badge,
            Order::Stop => {}
        }
    }

    fn command(&mut self, command: Command, reply: Reply<chicane_sim::Applied>) {
        let Some(running) = self.running.as_mut().filter(|_| self.transition.is_none()) else {
            return refuse(reply, Refused::NotReady);
        };
        let is_reset = matches!(command, Command::Reset);
        let moves = moves_the_car(&command);
        let name = command_name(&command);
        match running.sim.apply(command) {
            Ok(applied) => {
                self.told(name, serde_json::Value::Null);
                if let Some(running) = self.running.as_mut().filter(|_| is_reset) {
                    running.stack.calm();
                    self.hear();
                    self.answer_holds();
                }
                if moves {
                    self.begin_epoch();
                }
                self.reply(reply, applied);
            }
            Err(refusal) => refuse(reply, Refused::By(refusal)),
        }
    }

    /// Whether a session has the world: from when it exists, though its simulation is not in place yet, to when
    /// nothing of it is left. A world that was lost is brought back all the same.
    fn is_taken(&self) -> bool {
        let exists = || self.to_show.lock().unwrap_or_else(PoisonError::into_inner).evaluation.active;
        self.judging.is_some() || (self.lost.is_none() && exists())
    }

    fn shown_badge(&self) -> Badge {
        self.to_show.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts the simulation of an evaluation in the place of the one that runs.
    fn begin_session(&mut self, entry: Entry, reply: Reply<Option<Box<chicane_wire::Observation>>>) {
        if self.transition.is_some() || self.running.is_none() {
            return refuse(reply, Refused::NotReady);
        }
        if self.judging.is_some() {
            return refuse(reply, Refused::Evaluating);
        }
        let (judging, loaded, at) = Judging::new(entry);
        self.swap(loaded);
        self.judging = Some(judging);
        if let (Some([x, y, yaw]), Some(running)) = (at, &mut self.running) {
            let (who, how) = (chicane_sim::Who::Vehicle, chicane_sim::How::AtOnce);
            let (x, y, yaw) = (Some(x), Some(y), Some(yaw));
            let _ = running.sim.apply(Command::Place { who, x, y, z: None, yaw, how });
            self.begin_epoch();
        }
        self.set_clock(Some(false), None);
        let seen = self.observation().map(Box::new);
        self.reply(reply, seen);
    }

    pub(super) fn set_overlay(&mut self, text: String, ttl_s: f64, size: f64) {
        let ends = (!text.is_empty()).then(|| Instant::now() + Duration::from_secs_f64(ttl_s));
        let seq = self.overlay.seq + 1;
        self.overlay = OverlayView { text: Arc::from(text), ttl_s, size, seq, ends };
    }

    pub(super) fn set_clock(&mut self, paused: Option<bool>, speed: Option<f64>) {
        let now = Instant::now();
        if paused.is_some_and(|p| p != self.pacer.paused()) {
            self.meter.restart(now);
        }
        self.pacer.set(paused, speed, now);
    }

    fn step(&mut self, ticks: u64, [speed, steering]: [Option<f64>; 2], reply: Reply<()>) {
        // A session that was let run may not know yet.
        self.serve_session();
        let early = self.judging.as_ref().is_some_and(Judging::is_new);
        if self.running.is_none() || self.transition.is_some() || early {
            return refuse(reply, Refused::NotReady);
        }
        if reply.is_closed() {
            // Its client is gone; nothing was begun.
            return;
        }
        self.told("step", serde_json::json!({"ticks": ticks, "speed": speed, "steering": steering}));
        if self.unseen {
            // Orders before this one are answered as of now, not as of its end.
            self.publish();
        }
        if !self.pacer.paused() {
            self.set_clock(Some(true), None);
            self.change();
        }
        let mut shown = Instant::now();
        for done in 0..ticks {
            // A session judges on the way. Whoever steps waits for that, and for nothing else.
            while self.is_held() && !self.wait_for_session(SHOW_STEP) {
                if reply.is_closed() || self.stopping.load(Ordering::Relaxed) {
                    return self.publish();
                }
                if shown.elapsed() >= SHOW_STEP {
                    self.publish();
                    shown = Instant::now();
                }
            }
            let Some(running) = &mut self.running else { return };
            // Asked for anew at every tick: it is held while stepping.
            if speed.is_some() || steering.is_some() {
                let _ = running.stack.apply(chicane_robot::Command::Drive { speed, steering });
            }
            self.tick();
            if done % LOOK_STEP == 0 {
                if reply.is_closed() || self.stopping.load(Ordering::Relaxed) {
                    break;
                }
                if shown.elapsed() >= SHOW_STEP {
                    self.publish();
                    shown = Instant::now();
                }
            }
        }
        self.answer(reply, ());
        // The next order may well be another step: what this one did is seen first.
        self.publish();
    }

    fn swap(&mut self, loaded: Loaded) {
        let Loaded { mut sim, place, keep_lights } = loaded;
        if let Some(old) = self.running.as_ref().filter(|_| keep_lights) {
            sim.keep_lights_of(&old.sim);
        }
        let now = Instant::now();
        if let Some(old) = &mut self.running {
            // No old command lives on, and whoever waits for one is told.
            old.stack.calm();
            self.hear();
            self.answer_holds();
        }
        self.running = Some(Running::new(sim, place, now));
        self.transition = None;
        self.lost = None;
        self.pacer.restart(now);
        self.meter.restart(now);
        self.assets_version += 1;
        self.epoch += 1;
        self.tap_tick();
    }

    fn do_due_ticks(&mut self) {
        if self.running.is_none() || self.is_held() {
            return;
        }
        let started = Instant::now();
        let due = self.pacer.due(started);
        let mut done = 0;
        while done < due {
            self.tick();
            done += 1;
            if started.elapsed() > SLICE || self.is_held() {
                break;
            }
            if let Ok(order) = self.orders.try_recv() {
                self.next = Some(order);
                break;
            }
        }
        if done > 0 {
            self.pacer.did(done);
            self.meter.did(done);
            // With a script that judges a thousand times a second, not everyone has to see each time.
            self.stale = true;
            if !self.is_held() || self.published.elapsed() >= SLICE {
                self.publish();
            }
        }
    }

    fn tick(&mut self) {
        // Nothing moves for a client that is gone.
        self.answer_holds();
        self.drive_by_tick();
        let Some(running) = &mut self.running else { return };
        let started = Instant::now();
        running.tick();
        self.metrics.tick_time.observe(started.elapsed());
        let (mut told, mut begun) = (false, false);
        for event in running.sim.events() {
            told = true;
            if let Event::Quarantined(who) = event {
                begun |= who.is_none();
                let who = who.map_or("the vehicle", |i| &running.place.names[i]);
                tracing::warn!(who, "a state that was not finite: put back to its start");
            }
        }
        if told {
            self.change();
        }
        self.epoch += u64::from(begun);
        self.tap_tick();
        self.hear();
        self.answer_holds();
        self.observe_if_due();
    }

    /// A simulation that panicked is given up; someone will load its world again.
    fn lose_world(&mut self) {
        if let Some(running) = self.running.take() {
            tracing::error!(world = &*running.place.name, "the simulation failed; its world is loaded again");
            self.lost = Some(running.place.name.clone());
            // Nothing of it plays on.
            self.heard.push((0.0, chicane_robot::audio::Event::StopAll));
        }
        if let Some(judging) = self.judging.take() {
            judging.lost();
        }
        // Their senders go with them, and whoever waits is told that it failed.
        self.replies.clear();
        self.change();
        self.publish();
    }

    pub(super) fn change(&mut self) {
        self.changes += 1;
        self.unseen = true;
    }

    /// Answers after a change.
    fn reply<T: Send + 'static>(&mut self, reply: Reply<T>, value: T) {
        self.change();
        self.answer(reply, value);
    }

    pub(super) fn answer<T: Send + 'static>(&mut self, reply: Reply<T>, value: T) {
        self.unseen = true;
        // One who does not wait any more misses nothing.
        self.replies.push(Box::new(move |published| {
            let _ = reply.send(Ok((value, Arc::clone(published))));
        }));
    }

    fn publish(&mut self) {
        let now = Instant::now();
        (self.published, self.stale) = (now, false);
        let badge = self.shown_badge();
        if badge != self.badge {
            self.badge = badge;
            self.changes += 1;
        }
        let paused = self.pacer.paused();
        let rtf = if paused || self.running.is_none() { 0.0 } else { self.meter.factor(now) };
        self.metrics.rtf.set(rtf);
        let seen = self.running.as_mut().map(|running| {
            let snapshot = running.sim.snapshot();
            if snapshot.contacts != running.contacts {
                running.contacts.clone_from(&snapshot.contacts);
                self.changes += 1;
            }
            running.robot.update(&running.stack);
            let (exposure, robot) = (Arc::clone(&running.exposure), running.robot.clone());
            Seen { place: Arc::clone(&running.place), snapshot, since: running.since, exposure, robot }
        });
        self.serial += 1;
        let published = Arc::new(Published {
            serial: self.serial,
            changes: self.changes,
            running: seen,
            transition: self.transition.clone(),
            installing: self.installing.clone(),
            clock: ClockView { paused, speed: self.pacer.speed(), rtf },
            overlay: self.overlay.clone(),
            brightness: self.brightness,
            assets_version: self.assets_version,
            epoch: self.epoch,
            lost: self.lost.clone(),
            badge: self.badge.clone(),
            state_json: OnceLock::new(),
        });
        self.view.send_replace(Arc::clone(&published));
        self.loudspeaker.tell(self.serial, self.heard.drain(..));
        self.unseen = false;
        for send in self.replies.drain(..) {
            send(&published);
        }
    }
}

/// Whether an answer that is not given yet would speak of what this order does, and not of what its own did: of another
/// pace or text, of lights that were reset, of another world.
fn changes_what_others_are_told(order: &Order) -> bool {
    match order {
        Order::Command(command, _) => matches!(command, Command::Reset),
        Order::Clock { .. } | Order::Overlay { .. } | Order::Swap { .. } | Order::Judge { .. } => true,
        _ => false,
    }
}

/// Refuses at once: nothing changed, so nothing has to be seen first.
pub(super) fn refuse<T>(reply: Reply<T>, why: Refused) {
    let _ = reply.send(Err(why));
}

/// Whether the car is somewhere else afterwards.
pub(super) fn moves_the_car(command: &Command) -> bool {
    matches!(command, Command::Reset | Command::Place { who: chicane_sim::Who::Vehicle, .. })
}

/// In the record of an evaluation.
fn command_name(command: &Command) -> &'static str {
    match command {
        Command::Place { who: chicane_sim::Who::Vehicle, .. } => "pose",
        Command::Place { .. } => "model",
        Command::SetLight { .. } => "light",
        Command::Reset => "reset",
    }
}
