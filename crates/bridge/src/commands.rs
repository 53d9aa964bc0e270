//! Executes the commands that a client sends to the robot, one after the other. Meanwhile the
//! client continues to receive messages.
//!
//! A command may wait for the sim thread, for example while that thread executes a step of many
//! ticks. Meanwhile the next commands are queued here and not in the inbox of the sim thread. The
//! queue keeps only the newest few commands of each topic.

use chicane_host::driver::{Refused, Simulator};
use chicane_robot::Command;
use chicane_ros::Topic;
use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

/// Longest time to execute the remaining commands of a client that has disconnected.
const REMAINING_COMMANDS_TIMEOUT: Duration = Duration::from_secs(2);

/// The commands of a client. `Id` identifies the client's message, so that an error response can
/// name this message.
pub(crate) struct Commands<Id> {
    simulator: Simulator,
    waiting: VecDeque<(Topic, Command, Id)>,
    running: Option<RunningCommand<Id>>,
}

/// A command that had no effect.
pub(crate) struct RefusedCommand<Id> {
    /// Identifies the message of the command.
    pub(crate) id: Id,
    /// Why the command was refused, in one line.
    pub(crate) text: String,
}

struct RunningCommand<Id> {
    id: Id,
    topic: Topic,
    done: Pin<Box<dyn Future<Output = Result<(), Refused>> + Send>>,
}

impl<Id: Clone> Commands<Id> {
    pub(crate) fn new(simulator: Simulator) -> Commands<Id> {
        Commands { simulator, waiting: VecDeque::new(), running: None }
    }

    /// Adds a command. The queue depth in the ROS 2 settings of a topic limits how many commands of
    /// that topic may wait. At the limit, the oldest waiting command of the topic is dropped.
    pub(crate) fn add(&mut self, topic: Topic, command: Command, id: Id) {
        let same = |(other, ..): &(Topic, Command, Id)| *other == topic;
        if self.waiting.iter().filter(|one| same(one)).count() >= topic.qos().depth
            && let Some(oldest) = self.waiting.iter().position(same)
        {
            self.waiting.remove(oldest);
        }
        self.waiting.push_back((topic, command, id));
    }

    /// Executes the remaining commands of a client that has disconnected, at most for
    /// [`REMAINING_COMMANDS_TIMEOUT`].
    pub(crate) async fn finish(mut self) {
        let remaining = async {
            while !(self.waiting.is_empty() && self.running.is_none()) {
                let _ = self.run_next().await;
            }
        };
        let _ = tokio::time::timeout(REMAINING_COMMANDS_TIMEOUT, remaining).await;
    }

    /// Executes the next command. Waits forever if there is no command. If this future is dropped,
    /// no command is lost.
    pub(crate) async fn run_next(&mut self) -> Result<(), RefusedCommand<Id>> {
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
        let (id, topic) = (running.id.clone(), running.topic);
        self.running = None;
        done.map_err(|why| RefusedCommand { id, text: format!("{} was refused: {why}", topic.name()) })
    }
}
