//! The state that the sim thread owns, with one struct for each concern.

use super::clock::SimClock;
use super::inbox::Inbox;
use super::judging::JudgedSession;
use super::order::Reply;
use super::publication::Publication;
use super::published::{ClockView, OverlayView, Published, WorldView};
use super::refused::Refused;
use super::running::Running;
use super::taps::{STATE_RATE_HZ, TappedTick, Taps};
use crate::loudspeaker::Loudspeaker;
use crate::metrics::Metrics;
use crate::session_status::SessionStatus;
use chicane_ros::Sample;
use chicane_sim::{TICK_S, sample_at};
use chicane_wire::Transition;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::watch;

/// Real time after which the simulation of due ticks is interrupted for a publication. The ticks of
/// an `Order::Step` are interrupted less often: see `STEP_PUBLISH_INTERVAL`.
pub(super) const TIME_SLICE: Duration = Duration::from_millis(2);

/// The values that the sim thread starts with.
pub(crate) struct InitialState {
    /// Requested real-time factor; 0 is as fast as possible.
    pub(crate) speed: f64,
    /// Whether time is paused before and after a session, unless a client lets time continue.
    pub(crate) only_sessions: bool,
    /// Every channel of a shown pixel is multiplied by this factor.
    pub(crate) brightness: f64,
    /// The status of the evaluation. A thread that changes the status calls `Simulator::wake`
    /// afterwards.
    pub(crate) status: Arc<Mutex<SessionStatus>>,
    /// The transition to the first world, which is open from the start, so that a client cannot
    /// switch worlds before the first world is ready.
    pub(crate) transition: Transition,
}

/// The data of the sim thread.
pub(super) struct Driver {
    pub(super) inbox: Inbox,
    pub(super) out: Publication,
    pub(super) clock: SimClock,
    pub(super) display: Display,
    pub(super) worlds: Worlds,
    pub(super) session: SessionSlot,
    pub(super) taps: Taps,
    pub(super) metrics: Arc<Metrics>,
    /// Whether the thread has to end.
    pub(super) stopping: Arc<AtomicBool>,
}

/// The parts of the shown picture that do not belong to the world.
pub(super) struct Display {
    pub(super) overlay: OverlayView,
    /// Every channel of a pixel is multiplied by this factor.
    pub(super) brightness: f64,
    /// The brightness that was in force before the seed of the running world changed it. `None` if
    /// this seed did not change the brightness, or if a command has set the brightness since.
    replaced: Option<f64>,
}

impl Display {
    /// Sets the brightness.
    pub(super) fn set_brightness(&mut self, value: f64) {
        (self.brightness, self.replaced) = (value, None);
    }

    /// The brightness that worlds have unless their seed changes it.
    fn usual_brightness(&self) -> f64 {
        self.replaced.unwrap_or(self.brightness)
    }

    /// Uses the brightness that a new world starts with. `None` stands for the usual brightness.
    pub(super) fn enter_world(&mut self, brightness: Option<f64>) {
        let usual = self.usual_brightness();
        self.replaced = brightness.map(|_| usual);
        self.brightness = brightness.unwrap_or(usual);
    }
}

/// The running world, and worlds that are being loaded or installed.
pub(super) struct Worlds {
    pub(super) running: Option<Running>,
    /// The world that is being loaded; `None` if there is none.
    pub(super) transition: Option<Transition>,
    /// The world that is being installed; `None` if there is none.
    pub(super) installing: Option<Transition>,
    /// Name of the world whose simulation panicked; `None` again when the next world is loaded.
    pub(super) lost: Option<Arc<str>>,
    /// Number of simulations that became the running world so far: see `Published::assets_version`.
    pub(super) assets_version: u64,
    /// A counter that increases when the car is moved by other means than driving: see
    /// `Published::epoch`.
    pub(super) epoch: u64,
}

impl Worlds {
    /// The running world. Fails while another world is being loaded.
    pub(super) fn ready(&mut self) -> Result<&mut Running, Refused> {
        self.running.as_mut().filter(|_| self.transition.is_none()).ok_or(Refused::NotReady)
    }
}

/// The evaluation session, if there is one, and its status.
pub(super) struct SessionSlot {
    /// Whether time is paused after a session.
    pub(super) only_sessions: bool,
    pub(super) judging: Option<JudgedSession>,
    /// The status as the session's threads last set it.
    pub(super) to_show: Arc<Mutex<SessionStatus>>,
    /// The status as it was last published.
    pub(super) status: SessionStatus,
}

impl SessionSlot {
    /// A copy of the status as the session's threads last set it.
    pub(super) fn status_to_show(&self) -> SessionStatus {
        self.to_show.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether simulated time has to wait for the session.
    pub(super) fn is_held(&self) -> bool {
        self.judging.as_ref().is_some_and(JudgedSession::is_holding)
    }
}

impl Driver {
    pub(super) fn new(
        start: &InitialState,
        inbox: Inbox,
        stopping: Arc<AtomicBool>,
        (metrics, loudspeaker, taps, lost): (Arc<Metrics>, Loudspeaker, Taps, watch::Sender<bool>),
    ) -> (Driver, watch::Receiver<Arc<Published>>) {
        let now = Instant::now();
        let display = Display { overlay: OverlayView::none(), brightness: start.brightness, replaced: None };
        let worlds = Worlds {
            running: None,
            transition: Some(start.transition.clone()),
            installing: None,
            lost: None,
            assets_version: 0,
            epoch: 0,
        };
        let mut clock = SimClock::new(start.speed, now);
        clock.set(Some(start.only_sessions), None);
        let session = SessionSlot {
            only_sessions: start.only_sessions,
            judging: None,
            to_show: Arc::clone(&start.status),
            status: SessionStatus::default(),
        };
        let first = published(&display, &worlds, &session, ClockView::starting(start.speed), None);
        let (out, view) = Publication::new(first, loudspeaker, lost, now);
        let driver = Driver { inbox, out, clock, display, worlds, session, taps, metrics, stopping };
        (driver, view)
    }

    /// Whether the thread has to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Publishes the present state, then sends the replies that wait for it.
    pub(super) fn publish(&mut self) {
        let now = Instant::now();
        let status = self.session.status_to_show();
        if status != self.session.status {
            self.session.status = status;
            self.out.change();
        }
        let clock = self.clock_view(now);
        let seen = self.worlds.running.as_mut().map(|running| {
            let seen = running.view();
            if running.contacts_changed(&seen.snapshot) {
                self.out.change();
            }
            seen
        });
        self.out.publish(published(&self.display, &self.worlds, &self.session, clock, seen), now);
    }

    /// The clock as it is published.
    fn clock_view(&mut self, now: Instant) -> ClockView {
        let has_world = self.worlds.running.is_some();
        let rtf = if has_world { self.clock.factor(now) } else { 0.0 };
        self.metrics.rtf.set(rtf);
        let is_virtual = self.is_virtual();
        let rtf = if is_virtual { 1.0 } else { rtf };
        ClockView { paused: self.clock.paused(), speed: self.clock.speed(), rtf, is_virtual }
    }

    /// Publishes if replies are pending, so that these replies describe the state before the next
    /// change.
    pub(super) fn publish_pending_replies(&mut self) {
        if self.out.has_pending_replies() {
            self.publish();
        }
    }

    /// Counts a change, and sends the reply with the next publication.
    pub(super) fn reply<T: Send + 'static>(&mut self, reply: Reply<T>, value: T) {
        self.out.change();
        self.out.answer(reply, value);
    }

    /// Starts a new epoch, because a command placed the car. Poses that clients remember from an
    /// earlier epoch are stale.
    pub(super) fn begin_epoch(&mut self) {
        self.worlds.epoch += 1;
        let state = self.state_for_taps();
        if let Some(running) = &self.worlds.running {
            let (tick, epoch) = (running.sim.tick(), self.worlds.epoch);
            self.taps.put(|| TappedTick {
                at: SystemTime::now(),
                sample: Sample::epoch_only(tick, epoch),
                frame: None,
                state,
            });
        }
    }

    /// The present state for the taps; `None` if no tap takes states.
    fn state_for_taps(&mut self) -> Option<Arc<Published>> {
        if !self.taps.want_states() {
            return None;
        }
        let clock = self.clock_view(Instant::now());
        let seen = self.worlds.running.as_mut().map(Running::view);
        Some(Arc::new(published(&self.display, &self.worlds, &self.session, clock, seen)))
    }

    /// Puts the robot's topics of this tick into the taps.
    pub(super) fn tap_tick(&mut self) {
        let Some(tick) = self.worlds.running.as_ref().map(|running| running.sim.tick()) else { return };
        let state = sample_at(tick, STATE_RATE_HZ).and_then(|_| self.state_for_taps());
        let Some(running) = &self.worlds.running else { return };
        self.taps.put(|| {
            let sample = Sample::at(tick, self.worlds.epoch, running.stack.topics(), running.sim.profile());
            let frame = sample.frame.then(|| (Arc::clone(&running.exposure), self.display.brightness));
            TappedTick { at: SystemTime::now(), sample, frame, state }
        });
    }

    /// Collects the sound events of the robot, for the session and for the next publication.
    pub(super) fn take_sounds(&mut self) {
        let Some(running) = &mut self.worlds.running else { return };
        let time_s = running.sim.tick() as f64 * TICK_S;
        let events = running.stack.take_audio_events();
        if let Some(judging) = self.session.judging.as_mut().filter(|_| !events.is_empty()) {
            judging.keep_sounds(&events);
        }
        self.out.sounds.extend(events.into_iter().map(|event| (time_s, event)));
    }

    /// Replies to clients whose timed speed command has ended. Ends the commands whose client is
    /// gone.
    pub(super) fn answer_holds(&mut self) {
        let Some(running) = self.worlds.running.as_mut() else { return };
        for (held, reply) in running.ended_holds() {
            match reply {
                Some(reply) => self.out.answer(reply, held),
                None => self.out.mark_unseen(),
            }
        }
    }
}

/// The state as a value to publish.
fn published(
    display: &Display,
    worlds: &Worlds,
    session: &SessionSlot,
    clock: ClockView,
    running: Option<WorldView>,
) -> Published {
    Published {
        // `Publication::publish` sets `serial` and `changes`.
        serial: 0,
        changes: 0,
        running,
        transition: worlds.transition.clone(),
        installing: worlds.installing.clone(),
        clock,
        overlay: display.overlay.clone(),
        brightness: display.brightness,
        usual_brightness: display.usual_brightness(),
        assets_version: worlds.assets_version,
        epoch: worlds.epoch,
        lost: worlds.lost.clone(),
        status: session.status.clone(),
        state_json: OnceLock::new(),
    }
}

/// Sends a refusal at once. A refusal needs no publication, because the order changed nothing.
pub(super) fn refuse<T>(reply: Reply<T>, why: Refused) {
    let _ = reply.send(Err(why));
}
