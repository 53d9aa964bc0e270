//! The sim thread. Only this thread owns the simulation.
//!
//! Orders arrive through a bounded inbox. Between two ticks, the sim thread takes the orders in the
//! order of arrival, and carries out or refuses each of them. A refusal is a [`Refused`] value. The
//! sim thread then publishes the result as one immutable value, which replaces the last published
//! value, and sends the replies only after that. A client that got a reply therefore sees the
//! effect of its order in every later read. Readers take the latest value and never wait for the
//! sim thread. Between orders the sim thread simulates the ticks that are due, and sleeps until the
//! next tick. The sim thread never blocks on a reader, because replies and published values go
//! through channels that never block the sender.
//!
//! [`Simulator`] is the handle of the thread. `state` holds the data of the thread, and `run` is
//! its loop.

mod carry_out;
mod clock;
mod commands;
mod entry;
mod inbox;
mod judging;
mod order;
mod pace;
mod publication;
mod published;
mod refused;
mod run;
mod run_ticks;
mod running;
mod session_requests;
mod sound_log;
mod state;
mod taps;
mod ticks;
mod virtual_time;

pub use crate::served_world::ServedWorld;
pub use entry::DriveAt;
pub(crate) use entry::{Loaded, SessionEntry, SessionRequest};
pub use order::{Answer, Held};
pub use published::{
    ClockView, Exposure, OverlayView, Published, ReplayedDisplay, RobotView, TopicSample, WorldView,
};
pub use refused::{Refused, refusal_text};
pub use run_ticks::{Due, RunTicks};
pub use running::Running;
pub use sound_log::SoundLog;
pub(crate) use state::InitialState;
pub use taps::{STATE_RATE_HZ, Tap, TappedTick};

use crate::loudspeaker::Loudspeaker;
use crate::metrics::Metrics;
use crate::source::{Origin, Source};
use chicane_pace::{Unfinished, Work};
use chicane_sim::{Applied, Command};
use chicane_wire::{OverlayRequest, StepRequest, Transition, TransitionKind};
use inbox::Inbox;
use order::{Envelope, Order, Reply};
use state::Driver;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use taps::Taps;
use tokio::sync::{oneshot, watch};

/// Capacity of the inbox, in orders. If the inbox is full, the sender's method either refuses the
/// order or waits until there is room.
const MAX_WAITING_ORDERS: usize = 1024;
/// Maximum sum of the ticks of all steps that wait or run. A step that would exceed this sum is
/// refused, because other orders wait until the steps have ended. A step is accepted in any case if
/// no other step waits or runs.
const MAX_QUEUED_TICKS: u64 = 200_000;
/// Longest wait of [`Simulator::wait_until_shown`].
const SHOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Handle of the sim thread. The handle sends orders with its origin, and reads published values.
#[derive(Clone)]
pub struct Simulator {
    origin: Origin,
    inbox: SyncSender<Envelope>,
    view: watch::Receiver<Arc<Published>>,
    lost: watch::Receiver<bool>,
    /// Whether the thread has to end.
    stopping: Arc<AtomicBool>,
    metrics: Arc<Metrics>,
    /// Sum of the ticks of all steps that wait or run.
    queued_ticks: Arc<AtomicU64>,
    /// This channel is closed when the thread ends.
    alive: watch::Receiver<()>,
    taps: Taps,
    /// Counts the server's unfinished work for a student's program, because virtual time waits
    /// until this work is done.
    work: Arc<Work>,
}

/// The ticks of one step. The ticks are counted in `Simulator::queued_ticks` until this value is
/// dropped.
struct QueuedTicks<'a>(&'a AtomicU64, u64);

impl<'a> QueuedTicks<'a> {
    /// Counts a step. Returns `None` if too many ticks wait already, because no other order is
    /// carried out during a step. A step is always accepted if no other step waits or runs.
    fn new(all: &'a AtomicU64, ticks: u64) -> Option<QueuedTicks<'a>> {
        let before = all.fetch_add(ticks, Ordering::Relaxed);
        let queued = QueuedTicks(all, ticks);
        (before == 0 || before + ticks <= MAX_QUEUED_TICKS).then_some(queued)
    }
}

impl Drop for QueuedTicks<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// Wakes the sim thread when this value is dropped. Otherwise the thread, which sleeps while time
/// is paused, would not notice that a client is gone.
struct WakeOnDrop<'a>(&'a Simulator);

impl Drop for WakeOnDrop<'_> {
    fn drop(&mut self) {
        self.0.wake();
    }
}

impl Simulator {
    /// Starts the thread, without a world.
    pub(crate) fn start(
        start: &InitialState,
        metrics: Arc<Metrics>,
        loudspeaker: Loudspeaker,
    ) -> std::io::Result<(Simulator, JoinHandle<()>)> {
        let (inbox, orders) = sync_channel(MAX_WAITING_ORDERS);
        let stopping = Arc::new(AtomicBool::new(false));
        let taps = Taps::default();
        let (lost_sender, lost) = watch::channel(false);
        let parts = (Arc::clone(&metrics), loudspeaker, taps.clone(), lost_sender);
        let (driver, view) = Driver::new(start, Inbox::new(orders), Arc::clone(&stopping), parts);
        let (alive_sender, alive) = watch::channel(());
        let thread = std::thread::Builder::new().name("sim".to_owned()).spawn(move || {
            driver.run();
            drop(alive_sender);
        })?;
        let (queued_ticks, work) = Default::default();
        let origin = Origin::from(Source::Program);
        let simulator =
            Simulator { origin, inbox, view, lost, stopping, metrics, queued_ticks, alive, taps, work };
        Ok((simulator, thread))
    }

    /// A handle whose orders have the sender `source`.
    pub fn acting_as(&self, source: Source) -> Simulator {
        Simulator { origin: Origin::from(source), ..self.clone() }
    }

    /// A handle whose orders have the sender `source`. `path` is the path or the ROS topic that the
    /// sender uses.
    pub fn acting_at(&self, source: Source, path: &str) -> Simulator {
        Simulator { origin: Origin { source, path: Arc::from(path) }, ..self.clone() }
    }

    /// The counter of the server's unfinished work for a student's program.
    pub fn work(&self) -> &Arc<Work> {
        &self.work
    }

    /// Counts an order as unfinished work if the student's program sends the order, because virtual
    /// time has to wait for the reply to this order.
    fn count_job(&self) -> Option<Unfinished> {
        (self.origin.source == Source::Student).then(|| self.work.job())
    }

    /// Counts that a request waits for simulated time, if the student's program sent the request.
    /// Virtual time does not wait for such a request, because its reply needs later ticks.
    fn count_wait(&self) -> Option<Unfinished> {
        (self.origin.source == Source::Student).then(|| self.work.wait())
    }

    /// In virtual time: lets the sim thread simulate up to this tick, counted from the start of the
    /// run. The receiver gets a message when that tick is simulated and no observation up to it is
    /// still being judged. The receiver is disconnected if the session is over. Blocks while the
    /// inbox is full. `None` if the simulator has ended, or if `stop` is set while the inbox is
    /// full.
    pub(crate) fn start_advance(&self, tick: u64, stop: &AtomicBool) -> Option<Receiver<()>> {
        let (reply, done) = sync_channel(1);
        self.send_patiently(Order::Advance { tick, reply }, stop).then_some(done)
    }

    /// In virtual time: lets time run without further grants of the time keeper. Blocks while the
    /// inbox is full.
    pub(crate) fn release_time(&self, stop: &AtomicBool) {
        self.send_patiently(Order::ReleaseTime, stop);
    }

    /// Sends an order, and waits while the inbox is full. Returns false if the simulator has ended,
    /// or if `stop` is set while the inbox is full.
    fn send_patiently(&self, mut order: Order, stop: &AtomicBool) -> bool {
        loop {
            match self.inbox.try_send(self.envelope(order)) {
                Ok(()) => return true,
                Err(TrySendError::Full(_)) if stop.load(Ordering::SeqCst) => return false,
                Err(TrySendError::Full(back)) => order = back.order,
                Err(TrySendError::Disconnected(_)) => return false,
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The sender of this handle's orders.
    pub fn source(&self) -> Source {
        self.origin.source
    }

    /// An order with the origin of this handle.
    fn envelope(&self, order: Order) -> Envelope {
        Envelope { origin: self.origin.clone(), order }
    }

    /// The latest published value.
    pub fn now(&self) -> Arc<Published> {
        Arc::clone(&self.view.borrow())
    }

    /// A receiver that waits for published values.
    pub fn watch(&self) -> watch::Receiver<Arc<Published>> {
        self.view.clone()
    }

    /// A receiver whose value is `true` while the simulation of the last world has panicked and no
    /// other world has replaced it. The receiver is woken only when this value changes.
    pub(crate) fn watch_lost(&self) -> watch::Receiver<bool> {
        self.lost.clone()
    }

    /// Opens a tap. A tap receives every tick.
    pub fn tap(&self) -> Tap {
        self.taps.open(false)
    }

    /// Opens a tap whose ticks include the state of the simulator, [`STATE_RATE_HZ`] times per
    /// simulated second.
    pub fn tap_with_states(&self) -> Tap {
        self.taps.open(true)
    }

    /// Whether the thread is about to end.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Waits until the thread has ended. The thread ends after [`Simulator::stop`].
    pub async fn ended(&self) {
        let mut alive = self.alive.clone();
        while alive.changed().await.is_ok() {}
    }

    /// Applies a command to the world.
    pub async fn command(&self, command: Command) -> Answer<Applied> {
        self.ask(|reply| Order::Command(command, reply)).await
    }

    /// Sends a command to the robot.
    pub async fn robot(&self, command: chicane_robot::Command) -> Answer<chicane_robot::Done> {
        self.ask(|reply| Order::Robot { command, world: None, reply }).await
    }

    /// Sends a command to the robot. The command is refused unless the running world has the number
    /// `world` ([`Published::assets_version`]). Waits while the inbox is full.
    pub async fn robot_of_world(
        &self,
        command: chicane_robot::Command,
        world: u64,
    ) -> Answer<chicane_robot::Done> {
        self.send_when_free(|reply| Order::Robot { command, world: Some(world), reply }).await
    }

    /// Sends a command to the robot. Returns the result and the number of the world in which the
    /// robot got the command ([`Published::assets_version`]). Waits while the inbox is full.
    pub async fn robot_with_world(
        &self,
        command: chicane_robot::Command,
    ) -> Result<(chicane_robot::Done, u64), Refused> {
        loop {
            let world = self.now().assets_version;
            match self.robot_of_world(command.clone(), world).await {
                Ok((done, _)) => return Ok((done, world)),
                // Another world was loaded after the number was read, so the command is sent to the
                // robot of that world.
                Err(Refused::NotReady) if self.now().assets_version != world => {}
                Err(refused) => return Err(refused),
            }
        }
    }

    /// Drives at a speed in m/s for a number of ticks. If the returned future is dropped earlier,
    /// the command ends, and the car stops unless a newer command is in force.
    pub async fn hold(&self, speed: f64, ticks: u64) -> Answer<Held> {
        // `_wake` is dropped after the receiver of the reply. The woken thread therefore finds the
        // reply closed and ends the command.
        let _wake = WakeOnDrop(self);
        let _waits = self.count_wait();
        self.ask_uncounted(|reply| Order::Hold { speed, ticks, reply }).await
    }

    /// Pauses or continues time, or changes its speed. `None` keeps a setting. `speed` is the
    /// real-time factor; 0 is as fast as possible.
    pub async fn clock(&self, paused: Option<bool>, speed: Option<f64>) -> Answer<()> {
        self.ask(|reply| Order::Clock { paused, speed, reply }).await
    }

    /// Pauses time and simulates a number of ticks. In virtual time, time is not paused, and the
    /// step waits until the time keeper has granted these ticks. The step ends early when the
    /// returned future is dropped.
    pub async fn step(&self, request: &StepRequest) -> Answer<()> {
        let &StepRequest { ticks, speed, steering, .. } = request;
        let _queued = QueuedTicks::new(&self.queued_ticks, ticks).ok_or(Refused::Busy)?;
        let _waits = self.count_wait();
        self.ask_uncounted(|reply| Order::Step { ticks, speed, steering, reply }).await
    }

    /// Shows a text, or removes it if the text is empty.
    pub async fn overlay(&self, request: OverlayRequest) -> Answer<()> {
        let OverlayRequest { text, ttl, size } = request;
        self.ask(|reply| Order::Overlay { text, ttl_s: ttl, size, reply }).await
    }

    /// Applies a command to the world. Waits while the inbox is full.
    pub(crate) async fn command_when_free(&self, command: Command) -> Answer<Applied> {
        self.send_when_free(|reply| Order::Command(command, reply)).await
    }

    /// Changes the brightness. Every channel of a shown pixel is multiplied by this factor. Waits
    /// while the inbox is full.
    pub(crate) async fn brightness(&self, value: f64) -> Answer<()> {
        self.send_when_free(|reply| Order::Brightness(value, reply)).await
    }

    /// Registers that a world is being loaded. `target` is the file name of the world. For a
    /// respawn, `required_world` is the name of the world that is loaded again. If another world
    /// runs by now, the transition is refused.
    pub(crate) async fn begin_transition(
        &self,
        kind: TransitionKind,
        target: Arc<str>,
        required_world: Option<Arc<str>>,
    ) -> Answer<()> {
        self.ask(|reply| Order::BeginTransition { kind, target, required_world, reply }).await
    }

    /// Shows the progress of loading, 0 to 1. If the inbox is full, the value is dropped, because a
    /// later value replaces it anyway.
    pub(crate) fn report_progress(&self, fraction: f64) {
        let _ = self.inbox.try_send(self.envelope(Order::Progress(fraction)));
    }

    /// Shows that a world is being installed; `None` means that the installation has ended. Waits
    /// while the inbox is full.
    pub async fn show_installation(&self, installing: Option<Transition>) -> Answer<()> {
        self.send_when_free(|reply| Order::Installing(installing, reply)).await
    }

    /// Replaces the running world with a loaded world, and ends the transition.
    pub(crate) async fn swap(&self, loaded: Loaded) -> Answer<()> {
        self.send_when_free(|reply| Order::Swap { loaded: Box::new(loaded), reply }).await
    }

    /// Ends a transition whose world could not be loaded.
    pub(crate) async fn abort_transition(&self) -> Answer<()> {
        self.send_when_free(Order::AbortTransition).await
    }

    /// Begins an evaluation. Simulated time does not advance until the session starts its run. The
    /// reply is the first observation.
    pub(crate) async fn judge(&self, entry: SessionEntry) -> Answer<Option<Box<chicane_wire::Observation>>> {
        self.send_when_free(|reply| Order::Judge { entry: Box::new(entry), reply }).await
    }

    /// Wakes the thread after the session sent a request or changed its status, or after a client
    /// is gone.
    pub(crate) fn wake(&self) {
        // If the inbox is full, the thread is awake already.
        let _ = self.inbox.try_send(self.envelope(Order::Wake));
    }

    /// Waits until the published state agrees with `active` on whether this session is active.
    /// `active` is called for every published value, because the session may end during the wait.
    /// The wait has a timeout, because the sim thread publishes late during a long step.
    pub(crate) async fn wait_until_shown(&self, session: &str, active: impl Fn() -> bool) {
        let mut view = self.watch();
        let seen = view.wait_for(|now| {
            let shown = &now.status.evaluation;
            (shown.active && shown.session.as_deref() == Some(session)) == active()
        });
        let _ = tokio::time::timeout(SHOWN_TIMEOUT, seen).await;
    }

    /// Ends the thread, even during a long step.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        // The order only wakes the thread. If the inbox is full, the thread is awake and reads the
        // flag.
        let _ = self.inbox.try_send(self.envelope(Order::Stop));
    }

    /// Why the thread dropped an order without a reply.
    fn lost(&self) -> Refused {
        if self.is_stopping() { Refused::Stopping } else { Refused::Failed }
    }

    /// Sends an order and waits for its reply. If the inbox is full, the result is
    /// [`Refused::Busy`].
    async fn ask<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> Answer<T> {
        let _job = self.count_job();
        self.ask_uncounted(order).await
    }

    /// Like `ask`, but does not count the order as unfinished work. This method is for orders whose
    /// reply waits for simulated time.
    async fn ask_uncounted<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> Answer<T> {
        let sent_at = Instant::now();
        let (reply, answer) = oneshot::channel();
        self.inbox.try_send(self.envelope(order(reply))).map_err(|e| match e {
            TrySendError::Full(_) => Refused::Busy,
            TrySendError::Disconnected(_) => self.lost(),
        })?;
        let answer = answer.await.unwrap_or_else(|_| Err(self.lost()));
        self.metrics.command_latency.observe(sent_at.elapsed());
        answer
    }

    /// Sends an order and waits for its reply. Waits while the inbox is full.
    async fn send_when_free<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> Answer<T> {
        let _job = self.count_job();
        let (reply, answer) = oneshot::channel();
        let mut order = order(reply);
        loop {
            match self.inbox.try_send(self.envelope(order)) {
                Ok(()) => return answer.await.unwrap_or_else(|_| Err(self.lost())),
                Err(TrySendError::Full(back)) => order = back.order,
                Err(TrySendError::Disconnected(_)) => return Err(self.lost()),
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}
