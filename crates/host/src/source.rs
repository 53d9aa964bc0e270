//! Who asks for a change.

/// The origin of an order to the sim thread. Rules for a judged run, and its record, depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A person at the web page.
    Viewer,
    /// A client of the HTTP API that is not the page.
    Api,
    /// The program that an evaluation started.
    Student,
    /// The judging script.
    Judge,
    /// A ROS 2 node or a rosbridge client.
    Ros,
    /// The simulator itself: a world that is loaded, a session that begins, a drive file.
    Program,
}
