//! Commands in: the newest of each topic, one at a time.
//!
//! However fast someone talks, one command waits for the sim thread at a time, and what came meanwhile
//! on the same topic is passed over but for the last: the inbox stays free for others.

use chicane_host::driver::Simulator;
use chicane_ros::{Message, Topic};
use futures_util::stream::{BoxStream, select_all};
use futures_util::{FutureExt, StreamExt};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Complaints are written down this often.
const COMPLAIN: Duration = Duration::from_secs(10);

/// Has the robot do what is asked for, until the end.
pub(super) async fn obey(
    heard: Vec<(Topic, BoxStream<'static, Message>)>,
    simulator: Simulator,
    mut stopped: watch::Receiver<bool>,
) {
    let mut heard = select_all(heard.into_iter().map(|(topic, messages)| messages.map(move |m| (topic, m))));
    let mut complained: Option<Instant> = None;
    loop {
        let first = tokio::select! {
            next = heard.next() => next,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        let Some(first) = first else { return };
        for (topic, message) in newest(first, &mut heard) {
            let done = match chicane_ros::command(topic, &message) {
                Ok(command) => simulator.robot(command).await.map(drop).map_err(|why| format!("{why:?}")),
                Err(why) => Err(why.to_string()),
            };
            if let Err(why) = done
                && complained.is_none_or(|then| then.elapsed() > COMPLAIN)
            {
                complained = Some(Instant::now());
                tracing::warn!(topic = topic.name(), "a command was not carried out: {why}");
            }
        }
    }
}

/// What is there already, in order, the last of each topic.
fn newest(
    first: (Topic, Message),
    heard: &mut (impl futures_util::Stream<Item = (Topic, Message)> + Unpin),
) -> Vec<(Topic, Message)> {
    /// More is left for the next time.
    const AT_ONCE: usize = 256;
    let mut all = vec![first];
    for _ in 0..AT_ONCE {
        let Some(Some(next)) = heard.next().now_or_never() else { break };
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
    fn the_last_of_each_topic_counts_in_the_order_of_arrival() {
        let number = |data: i32| Message::from(Float64 { data: f64::from(data) });
        let mut later =
            stream::iter((0..100).map(|i| (Topic::Speed, number(i))).chain([(Topic::Pan, number(7))]));
        let all = newest((Topic::Steering, number(-1)), &mut later);
        let wanted = [(Topic::Steering, number(-1)), (Topic::Speed, number(99)), (Topic::Pan, number(7))];
        assert_eq!(all, wanted);
    }
}
