//! The sockets through which a student's program reaches the simulator.

use std::net::TcpListener;

/// An open gate. Dropping it closes the sockets and ends their connections.
pub type OpenGate = Box<dyn Send>;

/// Serves the requests of a student's program. The web server implements this trait.
pub trait StudentGate: Send + Sync {
    /// Serves these sockets until the returned value is dropped. Every request that comes through
    /// them is the student's.
    fn open(&self, listeners: Vec<TcpListener>) -> OpenGate;
}
