//! The origin of an order.

use chicane_journal::{Sender, SenderKind};
use chicane_wire::CommandSource;
use std::sync::Arc;

/// The sender of an order to the sim thread. The rules of a judged run depend on the sender. The
/// record of the run lists the commands to world, clock and display that did not come from the
/// judging script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A page in a browser, such as the viewer.
    Viewer,
    /// A client of the HTTP API that is not a browser.
    Api,
    /// The program that an evaluation started.
    Student,
    /// The judging script.
    Judge,
    /// A ROS 2 node, a client of rosbridge, or a client of Foxglove that commands the robot.
    Ros,
    /// The simulator itself, for example when a session places the car.
    Program,
}

impl Source {
    /// The sender as a record names it; `None` for the simulator itself.
    pub(crate) fn on_record(self) -> Option<CommandSource> {
        match self {
            Source::Viewer => Some(CommandSource::Viewer),
            Source::Api => Some(CommandSource::Api),
            Source::Student => Some(CommandSource::Student),
            Source::Judge => Some(CommandSource::Judge),
            Source::Ros => Some(CommandSource::Ros),
            Source::Program => None,
        }
    }
}

/// The origin of an order: its sender, and the path or topic that the sender used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The sender.
    pub(crate) source: Source,
    /// Path of the request, or name of the ROS topic. Empty if the order has neither.
    pub(crate) path: Arc<str>,
}

impl Origin {
    /// The origin as a journal holds it.
    pub(crate) fn sender(&self) -> Sender {
        let kind = match self.source {
            Source::Viewer => SenderKind::Viewer,
            Source::Api => SenderKind::Api,
            Source::Student => SenderKind::Student,
            Source::Judge => SenderKind::Judge,
            Source::Ros => SenderKind::Ros,
            Source::Program => SenderKind::Program,
        };
        // The paths of the student's program are left out to save space, because most commands come
        // from the program.
        let path = if kind == SenderKind::Student { String::new() } else { self.path.to_string() };
        Sender { kind, path }
    }
}

impl From<Source> for Origin {
    fn from(source: Source) -> Origin {
        Origin { source, path: Arc::from("") }
    }
}
