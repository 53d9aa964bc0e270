//! The loop of the sim thread: orders in, ticks between them, published values out.

use super::Start;
use super::judging::Judging;
use super::order::{Order, Refused, Reply};
use super::pace::{Meter, Pacer};
use super::published::{Badge, ClockView, OverlayView, Published, Seen};
use super::running::Running;
use super::taps::Taps;
use crate::loudspeaker::Loudspeaker;
use crate::metrics::Metrics;
use chicane_wire::Transition;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Orders that are carried out before something is published.
const BATCH: usize = 256;
/// Ticks are done for this long before something is published.
pub(super) const SLICE: Duration = Duration::from_millis(2);

/// Sends a reply, once what it speaks of is published.
type SendReply = Box<dyn FnOnce(&Arc<Published>) + Send>;

/// What the sim thread owns.
pub(super) struct Driver {
    pub(super) orders: Receiver<Order>,
    /// An order that was found while ticks were done.
    pub(super) next: Option<Order>,
    view: watch::Sender<Arc<Published>>,
    pub(super) stopping: Arc<AtomicBool>,
    pub(super) metrics: Arc<Metrics>,
    loudspeaker: Loudspeaker,
    pub(super) taps: Taps,
    pub(super) running: Option<Running>,
    /// The evaluation that is under way.
    pub(super) judging: Option<Judging>,
    /// What everyone is to see of it, and what was last seen.
    pub(super) to_show: Arc<Mutex<Badge>>,
    pub(super) badge: Badge,
    pub(super) pacer: Pacer,
    pub(super) meter: Meter,
    pub(super) transition: Option<Transition>,
    pub(super) installing: Option<Transition>,
    pub(super) overlay: OverlayView,
    pub(super) brightness: f64,
    pub(super) assets_version: u64,
    /// How often the car was put elsewhere, or time began anew.
    pub(super) epoch: u64,
    serial: u64,
    changes: u64,
    pub(super) lost: Option<Arc<str>>,
    replies: Vec<SendReply>,
    /// What happened to sounds since the last publication, and when.
    pub(super) heard: Vec<(f64, chicane_robot::audio::AudioEvent)>,
    /// Something happened that was not published yet.
    pub(super) unseen: bool,
    /// Time went on since the last publication.
    pub(super) stale: bool,
    pub(super) published: Instant,
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

    /// A simulation that panicked is given up; someone will load its world again.
    fn lose_world(&mut self) {
        if let Some(running) = self.running.take() {
            tracing::error!(world = &*running.place.name, "the simulation failed; its world is loaded again");
            self.lost = Some(running.place.name.clone());
            // Nothing of it plays on.
            self.heard.push((0.0, chicane_robot::audio::AudioEvent::StopAll));
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
    pub(super) fn reply<T: Send + 'static>(&mut self, reply: Reply<T>, value: T) {
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

    /// What everyone is to see of an evaluation.
    pub(super) fn shown_badge(&self) -> Badge {
        self.to_show.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn publish(&mut self) {
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

/// Refuses at once: nothing changed, so nothing has to be seen first.
pub(super) fn refuse<T>(reply: Reply<T>, why: Refused) {
    let _ = reply.send(Err(why));
}
