//! Values that are moved into the sim thread: a loaded world, and the start of a session.

use super::refused::Refused;
use crate::served_world::ServedWorld;
use chicane_journal::Recorder;
use chicane_session::{Note, Notes};
use chicane_sim::{Command, Lamp, Sim};
use chicane_wire::SentCommands;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex};

/// A world that is ready to run.
pub(crate) struct Loaded {
    /// The simulation at tick 0.
    pub(crate) sim: Sim,
    /// The world as clients see it.
    pub(crate) served: Arc<ServedWorld>,
    /// Whether the new world takes over the lights of the running world.
    pub(crate) keep_lights: bool,
}

impl Loaded {
    /// The lights at the start by name. `true` means that the light is not green.
    pub(crate) fn red_lights(&self) -> BTreeMap<String, bool> {
        let lights = self.sim.snapshot().lights;
        lights.iter().map(|(i, lamp)| (self.served.names[*i].to_string(), *lamp != Lamp::Green)).collect()
    }
}

/// A drive command of a recorded drive. The sim thread sends the commands of a recorded drive to
/// the robot, so that a judging script can be tried without a student's program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveAt {
    /// Ticks since the session began to run.
    pub tick: u64,
    /// Speed, m/s.
    pub speed: f64,
    /// Steering angle, rad; positive is left.
    pub steering: f64,
}

/// A request of a session to the sim thread.
pub(crate) enum SessionRequest {
    /// Start simulated time.
    Run {
        /// Simulated seconds after which the run times out.
        limit_s: f64,
    },
    /// Continue simulated time, because the observation was judged.
    Resume,
    /// Apply a command of the judging script.
    Apply(Command, SyncSender<Result<(), Refused>>),
    /// Show a text for the judging script.
    Overlay {
        /// The text; an empty text removes the shown text.
        text: String,
        /// Real seconds for which the text is shown.
        ttl_s: f64,
        /// The font size is multiplied by this factor.
        size: f64,
    },
    /// Pause or continue time for the judging script.
    Pause(bool),
    /// Let time run again at the speed that was set before the session, because the student's
    /// program has exited.
    TakeClock,
    /// Apply a brightness that the keeper has already stored. Every channel of a pixel is
    /// multiplied by this factor.
    Brightness(f64, SyncSender<()>),
    /// End the session. The reply is the simulated time of the session in seconds.
    Halt(SyncSender<f64>),
}

/// The values that the sim thread needs to start a session.
pub(crate) struct SessionEntry {
    /// The new simulation.
    pub(crate) loaded: Loaded,
    /// Start pose of the car: x, y in metres and yaw in radians; `None` for the spawn pose.
    pub(crate) at: Option<[f64; 3]>,
    /// Channel to the session.
    pub(crate) notes: Notes<Note>,
    /// Channel from the session.
    pub(crate) requests: Receiver<SessionRequest>,
    /// Recorded drive, sorted by tick; may be empty.
    pub(crate) drive: Arc<[DriveAt]>,
    /// Whether the simulator can tell the requests of the student's program from requests of
    /// others.
    pub(crate) recognizes_student: bool,
    /// Whether the session runs in virtual time.
    pub(crate) is_virtual: bool,
    /// Counts the interference: commands during the run whose sender is neither the student's
    /// program, nor the judging script, nor the simulator.
    pub(crate) interference: Arc<Mutex<SentCommands>>,
    /// Writes the journal of the run.
    pub(crate) journal: Recorder,
}
