//! The message that tells other ROS 2 programs which node owns the writers and readers of a
//! participant. `ros2 node list` shows this node. The format follows the definition of
//! `rmw_dds_common` as of ROS 2 Iron.

use rustdds::{GUID, QosPolicies, QosPolicyBuilder, policy};
use serde::Serialize;

/// Name of the robot's node.
const NODE: &str = "chicane";
/// Topic of the message.
pub(super) const TOPIC: &str = "ros_discovery_info";
/// DDS type of the message.
pub(super) const TYPE: &str = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

/// The nodes of a participant.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ParticipantEntitiesInfo {
    gid: [u8; 16],
    node_entities_info_seq: Vec<NodeEntitiesInfo>,
}

#[derive(Debug, Clone, Serialize)]
struct NodeEntitiesInfo {
    node_namespace: &'static str,
    node_name: &'static str,
    reader_gid_seq: Vec<[u8; 16]>,
    writer_gid_seq: Vec<[u8; 16]>,
}

impl ParticipantEntitiesInfo {
    /// Information about a single node that owns all readers and writers.
    pub(super) fn new(participant: GUID, readers: &[GUID], writers: &[GUID]) -> ParticipantEntitiesInfo {
        let node = NodeEntitiesInfo {
            node_namespace: "/",
            node_name: NODE,
            reader_gid_seq: readers.iter().copied().map(gid).collect(),
            writer_gid_seq: writers.iter().copied().map(gid).collect(),
        };
        ParticipantEntitiesInfo { gid: gid(participant), node_entities_info_seq: vec![node] }
    }
}

fn gid(guid: GUID) -> [u8; 16] {
    guid.to_bytes()
}

/// The quality of service of this topic, as `rmw_dds_common` defines it.
pub(super) fn qos() -> QosPolicies {
    QosPolicyBuilder::new()
        .reliability(policy::Reliability::Reliable { max_blocking_time: rustdds::Duration::ZERO })
        .durability(policy::Durability::TransientLocal)
        .history(policy::History::KeepLast { depth: 1 })
        .build()
}
