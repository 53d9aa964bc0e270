//! The orders to the sim thread, and the replies of the sim thread.

use super::entry::{Loaded, SessionEntry};
use super::published::Published;
use super::refused::Refused;
use crate::source::Origin;
use chicane_sim::{Applied, Command};
use chicane_wire::{Observation, Transition, TransitionKind};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use tokio::sync::oneshot;

/// An order with its origin.
pub(super) struct Envelope {
    /// The origin of the order.
    pub(super) origin: Origin,
    /// The order.
    pub(super) order: Order,
}

/// The result of an order, with a published value that includes the effect of the order.
pub type Answer<T> = Result<(T, Arc<Published>), Refused>;

/// The channel for the result of an order.
pub(super) type Reply<T> = oneshot::Sender<Answer<T>>;

/// An order to the sim thread. The sim thread carries it out between two ticks.
pub(super) enum Order {
    /// Applies a command to the world.
    Command(Command, Reply<Applied>),
    /// Sends a command to the robot. If `world` is given, it must be the number of the running
    /// world (`Published::assets_version`).
    Robot { command: chicane_robot::Command, world: Option<u64>, reply: Reply<chicane_robot::Done> },
    /// Drives at a speed in m/s for a number of ticks. The reply is sent after the last of these
    /// ticks, or earlier if a newer command, a reset or another world ends this command.
    Hold { speed: f64, ticks: u64, reply: Reply<Held> },
    /// Pauses or continues time, or changes its speed. `None` keeps a setting.
    Clock { paused: Option<bool>, speed: Option<f64>, reply: Reply<()> },
    /// Pauses time and simulates a number of ticks. In virtual time, time is not paused, and the
    /// step waits until the time keeper has granted these ticks. If `speed` or `steering` is given,
    /// it is the drive command during the step.
    Step { ticks: u64, speed: Option<f64>, steering: Option<f64>, reply: Reply<()> },
    /// Shows a text for `ttl_s` real seconds. An empty text removes the shown text.
    Overlay { text: String, ttl_s: f64, size: f64, reply: Reply<()> },
    /// Changes the brightness. Every channel of a shown pixel is multiplied by this factor.
    Brightness(f64, Reply<()>),
    /// Registers that a world is being loaded. The order is refused while another world is being
    /// loaded, and while a session owns the world. For a respawn, `required_world` is the name of
    /// the world that is loaded again, and the order is refused if another world runs by now.
    BeginTransition {
        kind: TransitionKind,
        target: Arc<str>,
        required_world: Option<Arc<str>>,
        reply: Reply<()>,
    },
    /// Shows the progress of loading, 0 to 1.
    Progress(f64),
    /// Shows that a world is being installed; `None` means that the installation has ended. The
    /// running world continues.
    Installing(Option<Transition>, Reply<()>),
    /// Replaces the running world with a loaded world.
    Swap { loaded: Box<Loaded>, reply: Reply<()> },
    /// Ends a transition whose world could not be loaded. The old world continues.
    AbortTransition(Reply<()>),
    /// Begins an evaluation with a new simulation. Simulated time does not advance until the
    /// session starts its run. The reply is the first observation.
    Judge { entry: Box<SessionEntry>, reply: Reply<Option<Box<Observation>>> },
    /// In virtual time: simulates up to this tick, counted from the start of the run. The reply is
    /// sent when that tick is simulated and no observation up to it is still being judged.
    Advance { tick: u64, reply: SyncSender<()> },
    /// In virtual time: lets time run without further grants of the time keeper, because no process
    /// of the program is left or the time keeper has failed.
    ReleaseTime,
    /// Wakes the thread: a client is gone, or the session sent a request or changed its status.
    Wake,
    /// Ends the thread.
    Stop,
}

/// The result of [`Simulator::hold`](super::Simulator::hold).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// The speed, clamped to the limits of the car, m/s.
    pub value: f64,
    /// Whether a newer command replaced the timed command before its end.
    pub superseded: bool,
}
