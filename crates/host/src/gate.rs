//! The sockets through which a student's program reaches the simulator.

use chicane_pace::Serve;
use std::net::TcpListener;
use std::sync::Arc;

/// An open gate. Dropping the gate closes the sockets and ends their connections.
pub type OpenGate = Box<dyn Send>;

/// Serves the requests of a student's program. The web server implements this trait.
pub trait StudentGate: Send + Sync {
    /// Serves these sockets until the returned value is dropped. Every request through these
    /// sockets counts as a request of the student's program.
    fn open(&self, listeners: Vec<TcpListener>) -> OpenGate;
    /// The service for a program's connections in virtual time; `None` if the server has stopped.
    fn paced(&self) -> Option<Arc<dyn Serve>>;
}
