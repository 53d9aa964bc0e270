//! The commands of a client to the robot. They are executed one after the other, while the client
//! continues to receive messages.
//!
//! A command may wait for the sim thread during a long step. Waiting commands are queued here and
//! not in the inbox of the sim thread. The queue keeps only the newest few commands of each topic.

use super::protocol::{MessageId, StatusMessage};
use chicane_host::driver::{Refused, Simulator};
use chicane_robot::Command;
use chicane_ros::Topic;
use std::collections::VecDeque;
use std::pin::Pin;

/// Longest time to execute the remaining commands of a client that has disconnected.
pub(super) const REMAINING_COMMANDS_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

/// The commands of a client.
pub(super) struct Commands {
    simulator: Simulator,
    waiting: VecDeque<(Topic, Command, Option<MessageId>)>,
    running: Option<RunningCommand>,
}

struct RunningCommand {
    id: Option<MessageId>,
    topic: Topic,
    done: Pin<Box<dyn Future<Output = Result<(), Refused>> + Send>>,
}

impl Commands {
    pub(super) fn new(simulator: Simulator) -> Commands {
        Commands { simulator, waiting: VecDeque::new(), running: None }
    }

    /// Adds a command. The queue depth in the ROS 2 settings of a topic limits how many commands of
    /// that topic may wait. At the limit, the oldest command is dropped.
    pub(super) fn add(&mut self, topic: Topic, command: Command, id: Option<MessageId>) {
        let same = |(other, ..): &(Topic, Command, Option<MessageId>)| *other == topic;
        if self.waiting.iter().filter(|one| same(one)).count() >= topic.qos().depth
            && let Some(oldest) = self.waiting.iter().position(same)
        {
            self.waiting.remove(oldest);
        }
        self.waiting.push_back((topic, command, id));
    }

    /// Whether all commands were executed.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_none()
    }

    /// Executes the next command. Waits forever if there is no command. If this future is dropped,
    /// no command is lost.
    pub(super) async fn run_next(&mut self) -> Result<(), (Option<MessageId>, StatusMessage)> {
        if self.running.is_none() {
            let Some((topic, command, id)) = self.waiting.pop_front() else {
                return std::future::pending().await;
            };
            let simulator = self.simulator.clone();
            let done = Box::pin(async move { simulator.robot(command).await.map(drop) });
            self.running = Some(RunningCommand { id, topic, done });
        }
        let Some(running) = &mut self.running else { return Ok(()) };
        let done = running.done.as_mut().await;
        let (id, topic) = (running.id.take(), running.topic);
        self.running = None;
        let refused = |why| StatusMessage::error(format!("{} was refused: {why}", topic.name()));
        done.map_err(|why| (id, refused(why)))
    }
}
