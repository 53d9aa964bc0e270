//! Everything that can change a running world, and every reason to refuse it.

use crate::lights::Lamp;
use chicane_world::Pose;

/// A change, applied between two ticks as a whole or not at all.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Puts or moves the vehicle or an object. Omitted fields keep their current value. It
    /// ends up upright; whatever moved it before ends.
    Place {
        /// Whom.
        who: Who,
        /// Metres.
        x: Option<f64>,
        /// Metres.
        y: Option<f64>,
        /// Metres; the vehicle stands on the ground whatever this says.
        z: Option<f64>,
        /// Radians.
        yaw: Option<f64>,
        /// At once or over time.
        how: How,
    },
    /// Asks a traffic light for red or green.
    SetLight {
        /// Name of the light.
        name: String,
        /// Red, else green.
        red: bool,
    },
    /// Everything movable back to its origin, lights green, vehicle to the spawn pose, all
    /// velocities zero, motions ended. Time goes on.
    Reset,
}

/// Whom a pose command is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// The car.
    Vehicle,
    /// The object of this name.
    Object(String),
}

/// How a pose is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    /// At once.
    AtOnce,
    /// Evenly over simulated seconds.
    Over {
        /// Seconds.
        duration_s: f64,
    },
    /// Along points on the ground, heading along the path unless `yaw` is given.
    Along {
        /// Points, metres.
        path: Vec<[f64; 2]>,
        /// m/s.
        speed: f64,
        /// Goes from the last point straight to the first, for ever.
        repeat: bool,
    },
}

/// What a command did.
#[derive(Debug, Clone, PartialEq)]
pub enum Applied {
    /// The pose now (at the start of a motion: the pose it starts from).
    Placed(Pose),
    /// What the light shows now.
    Light(Lamp),
    /// The objects that were reset, by index; the vehicle is always among them.
    Reset(Vec<usize>),
}

/// Why a command was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// No model of this name.
    #[error("no model named {name}")]
    NoSuchObject {
        /// As asked.
        name: String,
    },
    /// It exists but may not be moved.
    #[error("{name} cannot be moved: {why}")]
    NotMovable {
        /// As asked.
        name: String,
        /// What it is.
        why: NotMovableWhy,
    },
    /// No light of this name.
    #[error("no light named {name}")]
    NoSuchLight {
        /// As asked.
        name: String,
    },
    /// The light is in its yellow phase.
    #[error("light {name} is in its yellow phase")]
    YellowPhase {
        /// As asked.
        name: String,
    },
    /// A number that is not finite or out of range.
    #[error("{field} must be a number from {low} to {high}")]
    OutOfRange {
        /// Which number.
        field: &'static str,
        /// Least allowed.
        low: f64,
        /// Most allowed.
        high: f64,
    },
}

/// Why a thing can't be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMovableWhy {
    /// The track.
    Track,
    /// A wall.
    Wall,
    /// Scenery.
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

/// Farthest x and y of a pose command.
const XY_LIMIT: f64 = 100.0;
/// Most points of a path.
const PATH_LIMIT: usize = 10_000;

fn within(field: &'static str, value: f64, low: f64, high: f64) -> Result<(), Refusal> {
    if value >= low && value <= high { Ok(()) } else { Err(Refusal::OutOfRange { field, low, high }) }
}

impl Command {
    /// Checks every number, before anything is looked up.
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
