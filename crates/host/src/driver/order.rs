//! The orders that the sim thread takes, and its answers.

use super::entry::{Loaded, SessionEntry};
use super::published::Published;
use super::refused::Refused;
use crate::source::Source;
use chicane_sim::{Applied, Command};
use chicane_wire::{Observation, Transition, TransitionKind};
use std::sync::Arc;
use tokio::sync::oneshot;

/// An order with its origin.
pub struct Envelope {
    /// Who asks.
    pub source: Source,
    /// What is asked for.
    pub order: Order,
}

/// An answer, with what is published since: it holds what the order did.
pub type Answer<T> = Result<(T, Arc<Published>), Refused>;

/// Where an answer goes.
pub type Reply<T> = oneshot::Sender<Answer<T>>;

/// An order to the sim thread, carried out between two ticks.
pub enum Order {
    /// Changes the world.
    Command(Command, Reply<Applied>),
    /// Asks the robot for something. With the number of a world (`Published::assets_version`): only if none was loaded since.
    Robot { command: chicane_robot::Command, world: Option<u64>, reply: Reply<chicane_robot::Done> },
    /// Has the robot drive for so many ticks; answered when that is over.
    Hold { speed: f64, ticks: u64, reply: Reply<Held> },
    /// Stops, starts or paces time.
    Clock { paused: Option<bool>, speed: Option<f64>, reply: Reply<()> },
    /// Pauses and goes on by so many ticks.
    Step { ticks: u64, speed: Option<f64>, steering: Option<f64>, reply: Reply<()> },
    /// Shows a text, or takes it away.
    Overlay { text: String, ttl_s: f64, size: f64, reply: Reply<()> },
    /// Changes the brightness.
    Brightness(f64, Reply<()>),
    /// A world is about to be loaded; refused while another is.
    BeginTransition { kind: TransitionKind, target: Arc<str>, of: Option<Arc<str>>, reply: Reply<()> },
    /// How far the loading is, 0 to 1.
    Progress(f64),
    /// What is being installed; nothing of the world is touched by that.
    Installing(Option<Transition>, Reply<()>),
    /// The world that was loaded takes the place of the old one.
    Swap { loaded: Box<Loaded>, reply: Reply<()> },
    /// Loading failed; the old world stays.
    AbortTransition(Reply<()>),
    /// An evaluation begins: a new simulation, time standing still. Answered with what the script sees first.
    Judge { entry: Box<SessionEntry>, reply: Reply<Option<Box<Observation>>> },
    /// Someone who waited is gone, or the evaluation wants something.
    Wake,
    /// Ends the thread.
    Stop,
}

/// What became of a speed that was to be held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// Within the limits of the car.
    pub value: f64,
    /// A newer command took its place before its time was over.
    pub superseded: bool,
}
