//! The channels of a recording: their message definitions and their quality of service.

use chicane_ros::{Durability, Topic, definitions};
use std::collections::BTreeMap;

/// Topic of the simulator's state, as in `GET /sim/api/state`.
pub const STATE_TOPIC: &str = "/sim/state";

/// The description of a channel in the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChannelDescription {
    pub(crate) topic: &'static str,
    /// Name of the message type.
    pub(crate) schema: &'static str,
    /// Language of the message definition.
    pub(crate) schema_encoding: &'static str,
    /// The message definition.
    pub(crate) definition: String,
    pub(crate) message_encoding: &'static str,
    pub(crate) metadata: BTreeMap<String, String>,
}

/// The channel of a ROS 2 topic.
pub(crate) fn of_topic(topic: Topic) -> ChannelDescription {
    ChannelDescription {
        topic: topic.name(),
        schema: topic.type_name(),
        schema_encoding: "ros2msg",
        definition: definitions::full_text(topic.type_name()).unwrap_or_default(),
        message_encoding: "cdr",
        metadata: [("offered_qos_profiles".to_owned(), qos(topic))].into(),
    }
}

/// The channel of the simulator's state. Its messages are JSON and describe themselves, so the
/// schema has a name and no definition. No schema language is given either, because the reader
/// `rosbags` refuses a file with a language that ROS does not have.
pub(crate) fn of_state() -> ChannelDescription {
    ChannelDescription {
        topic: STATE_TOPIC,
        schema: "chicane/State",
        schema_encoding: "",
        definition: String::new(),
        message_encoding: "json",
        metadata: BTreeMap::new(),
    }
}

/// The quality of service of a topic, in the format of ROS 2 recorders. A player reads this text
/// and offers the same quality of service, so that late subscribers still get the static frames.
fn qos(topic: Topic) -> String {
    let qos = topic.qos();
    let durability = match qos.durability {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient_local",
    };
    // The largest duration that ROS 2 can express means that there is no deadline, lifespan or
    // lease.
    let forever = |name: &str| format!("  {name}:\n    sec: 9223372036\n    nsec: 854775807\n");
    format!(
        "- history: keep_last\n  depth: {}\n  reliability: reliable\n  durability: {durability}\n{}{}  \
         liveliness: automatic\n{}  avoid_ros_namespace_conventions: false\n",
        qos.depth,
        forever("deadline"),
        forever("lifespan"),
        forever("liveliness_lease_duration"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_ros::Direction;

    #[test]
    fn every_published_topic_has_a_definition() {
        for topic in Topic::ALL.into_iter().filter(|topic| topic.direction() == Direction::Out) {
            let channel = of_topic(topic);
            assert!(!channel.definition.is_empty(), "{}", channel.topic);
            assert!(channel.schema.contains("/msg/"), "{}", channel.schema);
        }
    }

    #[test]
    fn late_subscribers_of_a_player_get_the_static_frames() {
        assert!(
            qos(Topic::TfStatic)
                .contains("  depth: 1\n  reliability: reliable\n  durability: transient_local\n")
        );
        assert!(qos(Topic::Tf).contains("  depth: 100\n  reliability: reliable\n  durability: volatile\n"));
    }
}
