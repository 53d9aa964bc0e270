//! The channels that the server advertises: the robot's topics, and the state of the simulator.

use super::scene_schema;
use chicane_ros::definitions::full_text;
use chicane_ros::messages::TFMessage;
use chicane_ros::{Direction, RosType, Topic};
use serde_json::{Value, json};

/// Number of channel indices: one for each topic of the robot, and four for the simulator's own
/// channels. The indices of the topics that the robot subscribes to are not used.
pub(super) const COUNT: usize = Topic::ALL.len() + 4;

/// How many messages of a topic of the robot may wait for a client. The fastest topic, `/clock`,
/// publishes this many messages per simulated second.
const QUEUE: usize = 200;
/// How many images may wait for a client.
const IMAGE_QUEUE: usize = 2;

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    /// A topic that the robot publishes.
    Robot(Topic),
    /// The live state, as `GET /sim/api/state` returns it.
    State,
    /// The parts of the world that do not move.
    Scene,
    /// The car and all objects.
    Objects,
    /// The pose of the frame `odom` in the frame `world`. The positions of the odometry are given
    /// in the frame `odom`.
    Tf,
}

impl Channel {
    /// All channels.
    pub(super) fn all() -> impl Iterator<Item = Channel> {
        let topics = Topic::ALL.into_iter().filter(|topic| topic.direction() == Direction::Out);
        let own = [Channel::State, Channel::Scene, Channel::Objects, Channel::Tf];
        topics.map(Channel::Robot).chain(own)
    }

    /// Index of the channel, below [`COUNT`].
    pub(super) fn index(self) -> usize {
        match self {
            Channel::Robot(topic) => topic as usize,
            Channel::State => COUNT - 4,
            Channel::Scene => COUNT - 3,
            Channel::Objects => COUNT - 2,
            Channel::Tf => COUNT - 1,
        }
    }

    /// The id by which clients name the channel.
    pub(super) fn id(self) -> u32 {
        self.index() as u32 + 1
    }

    /// The channel with this id; `None` if no channel has this id.
    pub(super) fn by_id(id: u32) -> Option<Channel> {
        Channel::all().find(|channel| channel.id() == id)
    }

    /// Name of the topic.
    pub(super) fn name(self) -> &'static str {
        match self {
            Channel::Robot(topic) => topic.name(),
            Channel::State => "/sim/state",
            Channel::Scene => "/sim/scene",
            Channel::Objects => "/sim/objects",
            Channel::Tf => "/sim/tf",
        }
    }

    /// How many messages may wait for a client. Every message of the simulator's own channels
    /// replaces the one before it.
    pub(super) fn queue(self) -> usize {
        match self {
            Channel::Robot(Topic::ImageRaw | Topic::ImageCompressed) => IMAGE_QUEUE,
            Channel::Robot(_) => QUEUE,
            Channel::State | Channel::Scene | Channel::Objects | Channel::Tf => 1,
        }
    }

    /// The description of the channel for clients.
    fn advertisement(self) -> Value {
        let ros = |kind: &str| ("cdr", kind.to_owned(), "ros2msg", full_text(kind).unwrap_or_default());
        let scene =
            || ("json", scene_schema::NAME.to_owned(), "jsonschema", scene_schema::schema().to_string());
        let (encoding, kind, schema_encoding, schema) = match self {
            Channel::Robot(topic) => ros(topic.type_name()),
            Channel::Tf => ros(TFMessage::NAME),
            Channel::Scene | Channel::Objects => scene(),
            Channel::State => {
                ("json", "chicane.State".to_owned(), "jsonschema", chicane_wire::state_schema().to_string())
            }
        };
        json!({
            "id": self.id(),
            "topic": self.name(),
            "encoding": encoding,
            "schemaName": kind,
            "schema": schema,
            "schemaEncoding": schema_encoding,
        })
    }
}

/// The message that advertises all channels.
pub(super) fn advertise() -> Value {
    json!({"op": "advertise", "channels": Channel::all().map(Channel::advertisement).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_channel_has_its_own_id_and_a_schema() {
        let ids: BTreeSet<u32> = Channel::all().map(Channel::id).collect();
        assert_eq!(ids.len(), Channel::all().count());
        for channel in Channel::all() {
            assert!(channel.index() < COUNT);
            assert_eq!(Channel::by_id(channel.id()), Some(channel));
            let schema = channel.advertisement()["schema"].as_str().map(str::len);
            assert!(schema.is_some_and(|length| length > 10), "{}", channel.name());
        }
        assert_eq!(Channel::by_id(0), None);
        assert_eq!(Channel::by_id(Topic::CmdVel as u32 + 1), None, "the robot does not publish commands");
    }
}
