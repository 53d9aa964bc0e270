//! The origin of an order.

/// The origin of an order to the sim thread. The rules of a judged run depend on the origin. The
/// record of the run contains the commands that did not come from the judging script.
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
    /// The simulator itself, for example when a session places the car.
    Program,
}
