//! What a client asks the robot for: one after the other, while the client goes on listening.
//!
//! The sim thread may be in the middle of a long step. Commands wait for it here, the last few of each topic,
//! and not in its inbox.

use super::words::{Id, Trouble};
use chicane_host::driver::{Refused, Simulator};
use chicane_robot::Command;
use chicane_ros::Topic;
use std::collections::VecDeque;
use std::pin::Pin;

/// What was asked for last of all is still done after the client has gone, unless it takes longer than this.
pub(super) const AFTERWARDS: std::time::Duration = std::time::Duration::from_secs(2);

/// Commands of a client.
pub(super) struct Commands {
    simulator: Simulator,
    waiting: VecDeque<(Topic, Command, Option<Id>)>,
    under_way: Option<UnderWay>,
}

struct UnderWay {
    id: Option<Id>,
    topic: Topic,
    done: Pin<Box<dyn Future<Output = Result<(), Refused>> + Send>>,
}

impl Commands {
    pub(super) fn new(simulator: Simulator) -> Commands {
        Commands { simulator, waiting: VecDeque::new(), under_way: None }
    }

    /// Adds a command. Of each topic so many may wait as its history is deep; older ones are passed over.
    pub(super) fn add(&mut self, topic: Topic, command: Command, id: Option<Id>) {
        let same = |(other, ..): &(Topic, Command, Option<Id>)| *other == topic;
        if self.waiting.iter().filter(|one| same(one)).count() >= topic.qos().depth
            && let Some(oldest) = self.waiting.iter().position(same)
        {
            self.waiting.remove(oldest);
        }
        self.waiting.push_back((topic, command, id));
    }

    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_none()
    }

    /// Carries out the next one; waits for ever if there is none. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<(), (Option<Id>, Trouble)> {
        if self.under_way.is_none() {
            let Some((topic, command, id)) = self.waiting.pop_front() else {
                return std::future::pending().await;
            };
            let simulator = self.simulator.clone();
            let done = Box::pin(async move { simulator.robot(command).await.map(drop) });
            self.under_way = Some(UnderWay { id, topic, done });
        }
        let Some(under_way) = &mut self.under_way else { return Ok(()) };
        let done = under_way.done.as_mut().await;
        let (id, topic) = (under_way.id.take(), under_way.topic);
        self.under_way = None;
        done.map_err(|refused| (id, Trouble::error(format!("{} was not followed: {refused}", topic.name()))))
    }
}
