//! Executes commands from other ROS 2 programs, one at a time.
//!
//! At most one command waits for the sim thread. Commands that arrive meanwhile are taken together,
//! at most 257 at a time, and only the newest command of each topic is executed. Therefore a fast
//! sender can't fill the inbox of the sim thread.

use chicane_host::Source;
use chicane_host::driver::Simulator;
use chicane_ros::{Message, Topic};
use futures_util::stream::{BoxStream, SelectAll};
use futures_util::{FutureExt, StreamExt};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Shortest time between two log lines about failed commands.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum number of messages that a loop takes without waiting. Otherwise a fast sender could keep
/// the loop running without end.
const MAX_TAKEN: usize = 256;

/// The messages that arrive on the command topics.
#[derive(Default)]
pub(super) struct CommandStreams(SelectAll<BoxStream<'static, (Topic, Message)>>);

impl CommandStreams {
    /// Adds the stream of a topic's messages.
    pub(super) fn add(&mut self, topic: Topic, messages: BoxStream<'static, Message>) {
        self.0.push(messages.map(move |message| (topic, message)).boxed());
    }

    /// Drops the messages that have arrived, at most [`MAX_TAKEN`].
    pub(super) fn skip_waiting(&mut self) {
        for _ in 0..MAX_TAKEN {
            let Some(Some(_)) = self.0.next().now_or_never() else { return };
        }
    }
}

/// Executes the commands that arrive on the streams, until `stopped` is set. New streams from
/// `newest_streams` replace the earlier streams, because they belong to the participant that has
/// replaced the earlier participant.
pub(super) async fn execute_commands(
    mut newest_streams: mpsc::Receiver<CommandStreams>,
    simulator: Simulator,
    mut stopped: watch::Receiver<bool>,
) {
    let mut messages = CommandStreams::default().0;
    let mut warned: Option<Instant> = None;
    loop {
        let first = tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            Some(streams) = newest_streams.recv() => {
                messages = streams.0;
                continue;
            }
            Some(first) = messages.next() => first,
            else => return,
        };
        for (topic, message) in newest(first, &mut messages) {
            let done = match chicane_ros::command(topic, &message) {
                Ok(command) => {
                    let simulator = simulator.acting_at(Source::Ros, topic.name());
                    simulator.robot(command).await.map(drop).map_err(|why| why.to_string())
                }
                Err(why) => Err(why.to_string()),
            };
            if let Err(why) = done
                && warned.is_none_or(|at| at.elapsed() > WARNING_INTERVAL)
            {
                warned = Some(Instant::now());
                tracing::warn!(topic = topic.name(), "a command was refused: {why}");
            }
        }
    }
}

/// Takes the messages that have arrived after `first`, at most [`MAX_TAKEN`]. Returns the newest
/// message of each topic, including `first`, in order of arrival.
fn newest(
    first: (Topic, Message),
    messages: &mut (impl futures_util::Stream<Item = (Topic, Message)> + Unpin),
) -> Vec<(Topic, Message)> {
    let mut all = vec![first];
    for _ in 0..MAX_TAKEN {
        let Some(Some(next)) = messages.next().now_or_never() else { break };
        all.retain(|(topic, _)| *topic != next.0);
        all.push(next);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_ros::messages::Float64;
    use futures_util::stream;

    #[test]
    fn the_newest_message_of_each_topic_is_kept_in_order_of_arrival() {
        let number = |data: i32| Message::from(Float64 { data: f64::from(data) });
        let mut later =
            stream::iter((0..100).map(|i| (Topic::Speed, number(i))).chain([(Topic::Pan, number(7))]));
        let all = newest((Topic::Steering, number(-1)), &mut later);
        let want = [(Topic::Steering, number(-1)), (Topic::Speed, number(99)), (Topic::Pan, number(7))];
        assert_eq!(all, want);
    }
}
