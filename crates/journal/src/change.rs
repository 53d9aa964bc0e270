//! The changes that the first stream of a journal records, and who sent them.

use crate::robot_order::RobotOrder;
use serde::{Deserialize, Serialize};

/// Who sent a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SenderKind {
    /// A person at the web page.
    Viewer,
    /// A client of the HTTP API that is not the page.
    Api,
    /// The judged program.
    Student,
    /// The judging script.
    Judge,
    /// A ROS 2 node, a rosbridge client, or a Foxglove client that sends a command to the robot.
    Ros,
    /// The simulator itself, for example when a session places the car.
    Program,
}

/// The sender of a command, and the path or topic that the sender used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// The sender.
    pub kind: SenderKind,
    /// Path of the request or of the WebSocket, or name of the ROS topic. Empty for the judged
    /// program, the judging script and the simulator.
    pub path: String,
}

impl From<SenderKind> for Sender {
    fn from(kind: SenderKind) -> Sender {
        Sender { kind, path: String::new() }
    }
}

/// A change of the simulation, or a fact about its state. The order of the variants is part of the
/// format: new variants are added at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Change {
    /// A command to the world. A refused command of the judging script is written too, because the
    /// script sees the refusal. Refused commands of other senders are left out.
    World {
        /// The sender.
        sender: Sender,
        /// The command.
        command: chicane_sim::Command,
    },
    /// A command to the robot.
    Robot {
        /// The sender.
        sender: Sender,
        /// The command.
        order: RobotOrder,
    },
    /// The content of a sound file. Later commands refer to it by its number. The first file has
    /// the number 0.
    File(Vec<u8>),
    /// The brightness was set.
    Brightness {
        /// The sender.
        sender: Sender,
        /// Every channel of a shown pixel is multiplied by this factor.
        value: f64,
    },
    /// A text was shown; an empty text removes the shown text.
    Overlay {
        /// The sender.
        sender: Sender,
        /// The text.
        text: String,
        /// Real seconds for which the text is shown.
        ttl_s: f64,
        /// The font size is multiplied by this factor.
        size: f64,
    },
    /// Time was paused or continued, or its speed was changed. `None` keeps a setting.
    Clock {
        /// The sender.
        sender: Sender,
        /// Whether time is paused.
        paused: Option<bool>,
        /// Real-time factor; 0 is as fast as possible.
        speed: Option<f64>,
    },
    /// The simulated time of the run started.
    Started,
    /// The judge got an observation of the tick of this entry.
    Observed {
        /// Whether time was paused.
        paused: bool,
        /// Real-time factor that the script gets: measured, or 1 in virtual time.
        rtf: f64,
    },
    /// The run reached its time limit.
    LimitPassed,
    /// Hashes of all parts of the state, in the order of [`crate::part_names`].
    State(Vec<u64>),
    /// A command was counted as interference, because its sender is neither the judged program nor
    /// the judging script nor the simulator.
    Interfered {
        /// The sender.
        sender: Sender,
        /// Parameters of the command, JSON.
        values: String,
    },
    /// The session stopped the car. This is the last entry.
    Halted,
}
