//! The sim thread, which alone owns the simulation.
//!
//! Theory of operation. Orders arrive through a bounded inbox and are carried out between two ticks,
//! in the order of arrival. The result is published as one immutable value that replaces the last
//! one. Replies are sent only after that, so a client that got an answer sees its effect in every
//! later read. Readers take the latest value and never wait for the thread. Between orders the
//! thread simulates the ticks that are due, and sleeps until the next one. It never blocks on a
//! reader: replies and published values are left in channels.
//!
//! [`Simulator`] is the handle of the thread. `state` holds what the thread owns, `run` its loop.

mod carry_out;
mod clock;
mod commands;
pub mod entry;
mod inbox;
mod judging;
pub mod order;
mod pace;
mod publication;
pub mod published;
pub mod refused;
mod run;
mod running;
pub mod served_world;
mod session_requests;
mod state;
pub mod taps;
mod ticks;

pub use entry::{DriveAt, Loaded, SessionEntry, SessionRequest};
pub use order::{Answer, Held};
pub use published::{Exposure, Published, RobotView};
pub use refused::{Refused, refusal_text};
pub use served_world::ServedWorld;
pub use state::InitialState;
pub use taps::{Tap, TappedTick};

use crate::loudspeaker::Loudspeaker;
use crate::metrics::Metrics;
use crate::source::Source;
use chicane_sim::{Applied, Command};
use chicane_wire::{OverlayRequest, StepRequest, Transition, TransitionKind};
use inbox::Inbox;
use order::{Envelope, Order, Reply};
use state::Driver;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use taps::Taps;
use tokio::sync::{oneshot, watch};

/// Orders that may wait; more are refused.
const MAX_WAITING_ORDERS: usize = 1024;
/// Ticks of steps that may wait; more are refused.
const MAX_QUEUED_TICKS: u64 = 200_000;
/// What is to be shown is waited for no longer than this.
const SHOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Handle of the sim thread: orders in, published values out. Orders carry the handle's [`Source`].
#[derive(Clone)]
pub struct Simulator {
    source: Source,
    inbox: SyncSender<Envelope>,
    view: watch::Receiver<Arc<Published>>,
    stopping: Arc<AtomicBool>,
    metrics: Arc<Metrics>,
    queued_ticks: Arc<AtomicU64>,
    /// Closed when the thread ends.
    alive: watch::Receiver<()>,
    taps: Taps,
}

/// Ticks of steps that wait or are under way; released when the step is over.
struct QueuedTicks<'a>(&'a AtomicU64, u64);

impl<'a> QueuedTicks<'a> {
    /// `None` if too many are waiting already: others want to be heard too.
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

/// Wakes the thread at its end, also while time stands still.
struct WakeOnDrop<'a>(&'a Simulator);

impl Drop for WakeOnDrop<'_> {
    fn drop(&mut self) {
        self.0.wake();
    }
}

impl Simulator {
    /// Starts the thread, without a world.
    pub fn start(
        start: &InitialState,
        metrics: Arc<Metrics>,
        loudspeaker: Loudspeaker,
    ) -> std::io::Result<(Simulator, JoinHandle<()>)> {
        let (inbox, orders) = sync_channel(MAX_WAITING_ORDERS);
        let stopping = Arc::new(AtomicBool::new(false));
        let taps = Taps::default();
        let parts = (Arc::clone(&metrics), loudspeaker, taps.clone());
        let (driver, view) = Driver::new(start, Inbox::new(orders), Arc::clone(&stopping), parts);
        let (living, alive) = watch::channel(());
        let thread = std::thread::Builder::new().name("sim".to_owned()).spawn(move || {
            driver.run();
            drop(living);
        })?;
        let queued_ticks = Arc::default();
        let source = Source::Program;
        Ok((Simulator { source, inbox, view, stopping, metrics, queued_ticks, alive, taps }, thread))
    }

    /// The same handle, with orders of another origin.
    pub fn acting_as(&self, source: Source) -> Simulator {
        Simulator { source, ..self.clone() }
    }

    fn try_send(&self, order: Order) -> Result<(), TrySendError<Envelope>> {
        self.inbox.try_send(Envelope { source: self.source, order })
    }

    /// What there is to see now.
    pub fn now(&self) -> Arc<Published> {
        Arc::clone(&self.view.borrow())
    }

    /// For those who wait for changes.
    pub fn watch(&self) -> watch::Receiver<Arc<Published>> {
        self.view.clone()
    }

    /// For those who want every tick.
    pub fn tap(&self) -> Tap {
        self.taps.open()
    }

    /// Whether the end is near.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Waits for the end of the thread, and with it of the program.
    pub async fn ended(&self) {
        let mut alive = self.alive.clone();
        while alive.changed().await.is_ok() {}
    }

    /// Changes the world.
    pub async fn command(&self, command: Command) -> Answer<Applied> {
        self.ask(|reply| Order::Command(command, reply)).await
    }

    /// Asks the robot for something.
    pub async fn robot(&self, command: chicane_robot::Command) -> Answer<chicane_robot::Done> {
        self.ask(|reply| Order::Robot { command, world: None, reply }).await
    }

    /// Asks the robot for something, unless a world was loaded since the one of this number
    /// (`Published::assets_version`). Waits for room in the inbox.
    pub async fn robot_of_world(
        &self,
        command: chicane_robot::Command,
        world: u64,
    ) -> Answer<chicane_robot::Done> {
        self.send_when_free(|reply| Order::Robot { command, world: Some(world), reply }).await
    }

    /// Asks the robot of the world that is there for something; with the number of that world.
    pub async fn robot_with_world(
        &self,
        command: chicane_robot::Command,
    ) -> Result<(chicane_robot::Done, u64), Refused> {
        loop {
            let world = self.now().assets_version;
            match self.robot_of_world(command.clone(), world).await {
                Ok((done, _)) => return Ok((done, world)),
                // Another world came in between; what is asked for is for that one.
                Err(Refused::NotReady) if self.now().assets_version != world => {}
                Err(refused) => return Err(refused),
            }
        }
    }

    /// Has the robot drive for so many ticks. The car stops when the returned future is dropped.
    pub async fn hold(&self, speed: f64, ticks: u64) -> Answer<Held> {
        // Dropped after the reply: whoever is woken finds that nobody waits.
        let _wake = WakeOnDrop(self);
        self.ask(|reply| Order::Hold { speed, ticks, reply }).await
    }

    /// Stops, starts or paces time.
    pub async fn clock(&self, paused: Option<bool>, speed: Option<f64>) -> Answer<()> {
        self.ask(|reply| Order::Clock { paused, speed, reply }).await
    }

    /// Steps; ends early when the returned future is dropped.
    pub async fn step(&self, request: &StepRequest) -> Answer<()> {
        let &StepRequest { ticks, speed, steering, .. } = request;
        let _queued = QueuedTicks::new(&self.queued_ticks, ticks).ok_or(Refused::Busy)?;
        self.ask(|reply| Order::Step { ticks, speed, steering, reply }).await
    }

    pub async fn overlay(&self, request: OverlayRequest) -> Answer<()> {
        let OverlayRequest { text, ttl, size } = request;
        self.ask(|reply| Order::Overlay { text, ttl_s: ttl, size, reply }).await
    }

    /// Changes the world, waiting for room in the inbox.
    pub async fn command_when_free(&self, command: Command) -> Answer<Applied> {
        self.send_when_free(|reply| Order::Command(command, reply)).await
    }

    pub async fn brightness(&self, value: f64) -> Answer<()> {
        self.send_when_free(|reply| Order::Brightness(value, reply)).await
    }

    pub async fn begin_transition(
        &self,
        kind: TransitionKind,
        target: Arc<str>,
        of: Option<Arc<str>>,
    ) -> Answer<()> {
        self.ask(|reply| Order::BeginTransition { kind, target, of, reply }).await
    }

    /// Says how far the loading is. One that is lost does no harm.
    pub fn report_progress(&self, part: f64) {
        let _ = self.try_send(Order::Progress(part));
    }

    /// Shows what is being installed.
    pub async fn show_installation(&self, what: Option<Transition>) -> Answer<()> {
        self.send_when_free(|reply| Order::Installing(what, reply)).await
    }

    pub async fn swap(&self, loaded: Loaded) -> Answer<()> {
        self.send_when_free(|reply| Order::Swap { loaded: Box::new(loaded), reply }).await
    }

    pub async fn abort_transition(&self) -> Answer<()> {
        self.send_when_free(Order::AbortTransition).await
    }

    /// Begins an evaluation. Time stands still until the session wants it to run.
    pub async fn judge(&self, entry: SessionEntry) -> Answer<Option<Box<chicane_wire::Observation>>> {
        self.send_when_free(|reply| Order::Judge { entry: Box::new(entry), reply }).await
    }

    /// Has the thread look at what the session wants.
    pub fn wake(&self) {
        // A full inbox keeps it awake as well.
        let _ = self.try_send(Order::Wake);
    }

    /// Waits until everyone sees that a session is under way, or is not, as `active` says; it is asked anew each time
    /// that something is published. Not for ever: a thread that is busy shows it as soon as it can.
    pub async fn wait_until_shown(&self, session: &str, active: impl Fn() -> bool) {
        let mut view = self.watch();
        let seen = view.wait_for(|now| {
            let shown = &now.status.evaluation;
            (shown.active && shown.session.as_deref() == Some(session)) == active()
        });
        let _ = tokio::time::timeout(SHOWN_TIMEOUT, seen).await;
    }

    /// Ends the thread, also in the middle of a long step.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        // A full inbox is no matter: the flag is looked at after every turn.
        let _ = self.try_send(Order::Stop);
    }

    /// Why an order was never answered.
    fn lost(&self) -> Refused {
        if self.is_stopping() { Refused::Stopping } else { Refused::Failed }
    }

    async fn ask<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> Answer<T> {
        let asked = Instant::now();
        let (reply, answer) = oneshot::channel();
        self.try_send(order(reply)).map_err(|e| match e {
            TrySendError::Full(_) => Refused::Busy,
            TrySendError::Disconnected(_) => Refused::Failed,
        })?;
        let answer = answer.await.unwrap_or_else(|_| Err(self.lost()));
        self.metrics.command_latency.observe(asked.elapsed());
        answer
    }

    /// Sends an order that must not be refused as busy: waits while the inbox is full.
    async fn send_when_free<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> Answer<T> {
        let (reply, answer) = oneshot::channel();
        let mut order = order(reply);
        loop {
            match self.try_send(order) {
                Ok(()) => return answer.await.unwrap_or_else(|_| Err(self.lost())),
                Err(TrySendError::Full(back)) => order = back.order,
                Err(TrySendError::Disconnected(_)) => return Err(Refused::Failed),
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}
