//! The commands that change a running simulation, and the reasons to refuse a command.

use crate::lights::Lamp;
use chicane_world::Pose;
use serde::{Deserialize, Serialize};

/// A change of the simulation. [`Sim::apply`](crate::Sim::apply) applies the command between two
/// ticks, completely or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Places or moves the vehicle or an object. Fields that are `None` keep their current value.
    /// The final pose is upright. An earlier motion of the vehicle or object ends.
    Place {
        /// The vehicle or object to place.
        who: Who,
        /// Position along x in metres.
        x: Option<f64>,
        /// Position along y in metres.
        y: Option<f64>,
        /// Height in metres. The vehicle always stands on the ground, so its height is ignored.
        z: Option<f64>,
        /// Heading in radians.
        yaw: Option<f64>,
        /// How the pose is reached: immediately, or over time.
        how: How,
    },
    /// Switches a traffic light to red or green.
    SetLight {
        /// Name of the light.
        name: String,
        /// True for red, false for green.
        red: bool,
    },
    /// Resets every movable object to its initial pose, the lights to green and the vehicle to the
    /// spawn pose. All velocities are zero and all motions end. The tick count continues.
    Reset,
}

/// The target of a pose command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Who {
    /// The car.
    Vehicle,
    /// The object of this name.
    Object(String),
}

/// The way in which a pose is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum How {
    /// The pose is reached immediately.
    AtOnce,
    /// The body moves to the pose at constant speed within a duration of simulated time.
    Over {
        /// Simulated seconds.
        duration_s: f64,
    },
    /// The body is placed at the given `x`, `y`, `z` and `yaw` immediately. Then it moves to the
    /// first point of a path and along the path, without a change of its height. The heading
    /// follows the path unless `yaw` is given.
    Along {
        /// The points of the path: x and y in metres.
        path: Vec<[f64; 2]>,
        /// Speed along the path, m/s.
        speed: f64,
        /// Whether the motion starts again at the first point after the last point, without end.
        repeat: bool,
    },
}

/// The result of an applied command.
#[derive(Debug, Clone, PartialEq)]
pub enum Applied {
    /// The new pose. For a motion, this is the pose at its start.
    Placed(Pose),
    /// The new state of the light.
    Light(Lamp),
    /// Indices of the objects that were reset. The vehicle is always reset too.
    Reset(Vec<usize>),
}

/// The reason why a command was refused. A refused command changes nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The world has no model of this name.
    #[error("no model named {name}")]
    NoSuchObject {
        /// The name in the command.
        name: String,
    },
    /// The model exists, but cannot be moved.
    #[error("{name} cannot be moved: {why}")]
    NotMovable {
        /// The name in the command.
        name: String,
        /// The reason.
        why: NotMovableWhy,
    },
    /// The world has no light of this name.
    #[error("no light named {name}")]
    NoSuchLight {
        /// The name in the command.
        name: String,
    },
    /// The light is in its yellow phase.
    #[error("light {name} is in its yellow phase")]
    YellowPhase {
        /// The name in the command.
        name: String,
    },
    /// A number is not finite or out of range.
    #[error("{field} must be a number from {low} to {high}")]
    OutOfRange {
        /// Name of the number.
        field: &'static str,
        /// Lowest allowed value.
        low: f64,
        /// Highest allowed value.
        high: f64,
    },
}

/// The reason why a model cannot be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMovableWhy {
    /// The model is the track.
    Track,
    /// The model is a wall.
    Wall,
    /// The model is scenery.
    Scenery,
}

impl std::fmt::Display for NotMovableWhy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NotMovableWhy::Track => "it is the track",
            NotMovableWhy::Wall => "it is a wall",
            NotMovableWhy::Scenery => "it is scenery",
        })
    }
}

/// Largest absolute value of x and y in a pose command, m.
const XY_LIMIT: f64 = 100.0;
/// Maximum number of points in a path.
const PATH_LIMIT: usize = 10_000;

fn within(field: &'static str, value: f64, low: f64, high: f64) -> Result<(), Refusal> {
    if value >= low && value <= high { Ok(()) } else { Err(Refusal::OutOfRange { field, low, high }) }
}

impl Command {
    /// Checks the range of every number. [`Sim::apply`](crate::Sim::apply) checks the names.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let Command::Place { x, y, z, yaw, how, .. } = self else {
            return Ok(());
        };
        x.map_or(Ok(()), |v| within("x", v, -XY_LIMIT, XY_LIMIT))?;
        y.map_or(Ok(()), |v| within("y", v, -XY_LIMIT, XY_LIMIT))?;
        z.map_or(Ok(()), |v| within("z", v, -10.0, 100.0))?;
        yaw.map_or(Ok(()), |v| within("yaw", v, -1e6, 1e6))?;
        match how {
            How::AtOnce => Ok(()),
            How::Over { duration_s } => within("duration", *duration_s, 0.0, 3600.0),
            How::Along { path, speed, .. } => {
                within("points of path", path.len() as f64, 1.0, PATH_LIMIT as f64)?;
                for [x, y] in path {
                    within("path", *x, -XY_LIMIT, XY_LIMIT)?;
                    within("path", *y, -XY_LIMIT, XY_LIMIT)?;
                }
                within("speed", *speed, 0.001, 10.0)
            }
        }
    }
}
