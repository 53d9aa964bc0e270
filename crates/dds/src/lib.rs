//! The robot's topics on a ROS 2 graph.
//!
//! One thread reads a tap of the sim thread, creates the messages of each tick with
//! `chicane_ros::Publisher`, and passes them to the DDS participant. The participant encodes each
//! message once for all subscribers. The sim thread never waits for this thread. A task draws
//! images while a ROS 2 program subscribes to them. Another task executes incoming commands, one at
//! a time. A third task replaces the participant when it has ended, or when a lost program returns.
//! The participant has its own threads.
//!
//! | Module | Content |
//! |---|---|
//! | `options` | domain and network interface |
//! | `connection` | the robot's participant, and its replacement |
//! | `returning` | decides when the participant is replaced |
//! | `threads` | notices that a participant no longer works |
//! | `participant` | DDS writers and readers of the topics |
//! | `graph` | the message that tells ROS 2 programs the name of the node |
//! | `network` | the addresses and sockets that DDS may use |
//! | `commands` | messages from other programs, as commands to the robot |
//! | `images` | camera frames |
//!
//! The content of the messages is defined in `chicane_ros`. Programs without ROS use the rosbridge
//! endpoint of the web server. That endpoint does not depend on this crate.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod commands;
mod connection;
mod graph;
mod images;
mod network;
mod options;
mod participant;
mod returning;
mod threads;

pub use options::{BadDomain, RosOptions};

use chicane_host::camera::Camera;
use chicane_host::driver::{Simulator, Tap};
use chicane_ros::Publisher;
use chicane_world::Profile;
use connection::Connection;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How long [`RosNode::stop`] waits until the participant has announced its end to other
/// participants.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(500);

/// Why the robot can't join a ROS 2 graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// No network interface has this name or address, or the interface has no IPv4 address.
    #[error(
        "--ros-network {interface} is not a network interface with an IPv4 address; choose one of: {known}"
    )]
    UnknownNetwork {
        /// The requested name or address.
        interface: String,
        /// Name and first IPv4 address of each interface of this machine that has an IPv4 address.
        known: String,
    },
    /// The DDS participant could not be created.
    #[error("can't join ROS 2 domain {domain}: {reason}")]
    Participant {
        /// Number of the domain.
        domain: u16,
        /// Error message of the DDS library.
        reason: String,
    },
    /// The topics could not be created.
    #[error("can't create the topics on ROS 2 domain {domain}: {reason}")]
    Topics {
        /// Number of the domain.
        domain: u16,
        /// Error message of the DDS library.
        reason: String,
    },
    /// A thread that opens, prepares or closes a participant panicked. The text describes the
    /// panic.
    #[error("can't join the ROS 2 graph: {0}")]
    Panicked(String),
}

/// A participant that has joined a graph and has not published a message of the robot yet.
pub struct JoinedGraph(Connection);

/// The robot as a node of a ROS 2 graph. The node publishes and receives messages.
pub struct RosNode {
    thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

/// Joins a graph. Opens sockets and starts the threads of the DDS library.
pub async fn join_graph(options: RosOptions) -> Result<JoinedGraph, JoinError> {
    let joined = tokio::task::spawn_blocking(move || Connection::join(options)).await;
    joined.map_err(|e| JoinError::Panicked(e.to_string()))?.map(JoinedGraph)
}

impl JoinedGraph {
    /// Starts to publish messages and to execute commands.
    pub fn start(
        self,
        simulator: &Simulator,
        camera: &Camera,
        profile: &Arc<Profile>,
    ) -> std::io::Result<RosNode> {
        let connection = Arc::new(self.0);
        let (stop, stopped) = watch::channel(false);
        let (newest_streams, streams) = mpsc::channel(1);
        let _ = newest_streams.try_send(connection.take_streams());
        tokio::spawn(commands::execute_commands(streams, simulator.clone(), stopped.clone()));
        tokio::spawn(connection::find_lost_programs(
            Arc::clone(&connection),
            newest_streams,
            stopped.clone(),
        ));
        tokio::spawn(images::draw(Arc::clone(&connection), camera.clone(), simulator.tap(), stopped.clone()));
        let (tap, publisher) = (simulator.tap(), Publisher::new(Arc::clone(profile)));
        let runtime = tokio::runtime::Handle::current();
        let thread = std::thread::Builder::new().name("ros".to_owned()).spawn(move || {
            runtime.block_on(publish_ticks(&connection, &tap, publisher, stopped));
            // The participant announces its end to other participants. `leave` blocks, so it is
            // called on this thread and not in a task of the runtime.
            connection.leave();
        })?;
        Ok(RosNode { thread, stop })
    }
}

impl RosNode {
    /// Leaves the graph. Waits at most 0.5 s until the participant has announced its end.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let thread = tokio::task::spawn_blocking(move || self.thread.join());
        let _ = tokio::time::timeout(LEAVE_TIMEOUT, thread).await;
    }
}

/// Publishes the messages of the ticks that the tap delivers, until `stopped` is set.
async fn publish_ticks(
    connection: &Connection,
    tap: &Tap,
    mut publisher: Publisher,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let moments = tokio::select! {
            moments = tap.take() => moments,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        for moment in moments {
            for out in publisher.messages(&moment.sample) {
                connection.publish(out, moment.at);
            }
        }
    }
}
