//! The reasons why the sim thread refuses an order.

use chicane_sim::{NotMovableWhy, Refusal};
use std::borrow::Cow;
use std::fmt;

/// Why an order was refused. A refused order changes nothing, unless the simulation panicked during
/// the order or the simulator stopped during a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Refused {
    /// There is no world, or a world is being loaded.
    NotReady,
    /// A world is being loaded already, or the world of a respawn no longer runs.
    Switching,
    /// An evaluation is active.
    Evaluating,
    /// The inbox is full, or the steps that wait or run have too many ticks.
    Busy,
    /// The simulator is stopping.
    Stopping,
    /// The simulation panicked during the order, or the sim thread has ended.
    Failed,
    /// The simulation refused the command.
    BySimulation(Refusal),
    /// The robot refused the command.
    ByRobot(chicane_robot::Refusal),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NotReady => f.write_str("world not ready"),
            Refused::Switching => f.write_str("world switch in progress"),
            Refused::Evaluating => f.write_str("evaluation in progress"),
            Refused::Busy => f.write_str("too many commands are waiting; try again"),
            Refused::Stopping => f.write_str("the simulator is stopping"),
            Refused::Failed => {
                f.write_str("the simulation failed on this command; its world is loaded again")
            }
            Refused::BySimulation(refusal) => f.write_str(&refusal_text(refusal)),
            Refused::ByRobot(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

/// The text of a refusal, for clients and judging scripts.
pub fn refusal_text(refusal: &Refusal) -> Cow<'static, str> {
    Cow::Borrowed(match refusal {
        Refusal::NoSuchObject { .. } => "model not found in world",
        Refusal::NotMovable { why: NotMovableWhy::Track, .. } => "racetrack cannot be moved",
        Refusal::NotMovable { why: NotMovableWhy::Wall, .. } => "wall cannot be moved",
        Refusal::NotMovable { why: NotMovableWhy::Scenery, .. } => "scenery cannot be moved",
        Refusal::NoSuchLight { .. } => "light not found",
        Refusal::YellowPhase { .. } => "yellow transition in progress",
        out_of_range @ Refusal::OutOfRange { .. } => return Cow::Owned(out_of_range.to_string()),
    })
}
