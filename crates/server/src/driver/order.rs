//! What can be put into the sim thread's inbox, and what comes back.

use super::judging::Entry;
use super::place::Place;
use super::published::Published;
use chicane_sim::{Applied, Command, Lamp, Refusal, Sim};
use chicane_wire::{Observation, Transition, TransitionKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::oneshot;

/// An answer, with what is published since: it holds what the order did.
pub(crate) type Answer<T> = Result<(T, Arc<Published>), Refused>;

/// Where an answer goes.
pub(crate) type Reply<T> = oneshot::Sender<Answer<T>>;

/// An order to the sim thread, carried out between two ticks.
pub(crate) enum Order {
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
    Begin { kind: TransitionKind, target: Arc<str>, of: Option<Arc<str>>, reply: Reply<()> },
    /// How far the loading is, 0 to 1.
    Progress(f64),
    /// What is being installed; nothing of the world is touched by that.
    Installing(Option<Transition>, Reply<()>),
    /// The world that was loaded takes the place of the old one.
    Swap { loaded: Box<Loaded>, reply: Reply<()> },
    /// Loading failed; the old world stays.
    Abort(Reply<()>),
    /// An evaluation begins: a new simulation, time standing still. Answered with what the script sees first.
    Judge { entry: Box<Entry>, reply: Reply<Option<Box<Observation>>> },
    /// Someone who waited is gone, or the evaluation wants something.
    Look,
    /// Ends the thread.
    Stop,
}

/// A world that is ready to run.
pub(crate) struct Loaded {
    pub(crate) sim: Sim,
    pub(crate) place: Arc<Place>,
    pub(crate) keep_lights: bool,
}

impl Loaded {
    /// Which of its lights start red.
    pub(crate) fn red_lights(&self) -> BTreeMap<String, bool> {
        let lights = self.sim.snapshot().lights;
        lights.iter().map(|(i, lamp)| (self.place.names[*i].to_string(), *lamp != Lamp::Green)).collect()
    }
}

/// What became of a speed that was to be held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Held {
    /// Within the limits of the car.
    pub(crate) value: f64,
    /// A newer command took its place before its time was over.
    pub(crate) superseded: bool,
}

/// Why an order was not carried out. Nothing was changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refused {
    /// There is no world, or one is being loaded.
    NotReady,
    /// A world is being loaded already.
    Switching,
    /// An evaluation is under way.
    Evaluating,
    /// Too many orders wait.
    Busy,
    /// The program ends.
    Stopping,
    /// The sim thread failed on the way.
    Failed,
    /// By the simulation.
    By(Refusal),
    /// By the robot.
    ByRobot(chicane_robot::Refusal),
}
