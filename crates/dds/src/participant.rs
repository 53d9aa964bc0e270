//! The middleware: RTPS from pure Rust, by the crate `rustdds`, and nothing of it outside.
//!
//! A topic is a writer that serves everyone: a message is encoded once. Writing never blocks. The crate
//! holds back a reliable writer when too many of its samples were not acknowledged. For a moment that is
//! well: samples are left out for readers that can't keep up. But one reader that never acknowledges
//! would silence the topic for all others; then the writer is put aside and a new one takes its place, which the
//! others find within a moment. Until then what it keeps for the silent one is
//! bounded by samples, or a picture would be much.

use crate::graph::{self, ParticipantEntitiesInfo};
use crate::network;
use crate::options::RosOptions;
use chicane_ros::messages::{Float64, Twist};
use chicane_ros::{Direction, Durability, Message, Outgoing, Topic};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use rustdds::dds::result::{CreateError, WriteError};
use rustdds::no_key::{DataReaderCdr, DataWriterCdr};
use rustdds::{
    DataWriterStatus, DomainParticipant, DomainParticipantBuilder, Duration, Publisher, QosPolicies,
    QosPolicyBuilder, RTPSEntity, StatusEvented, Subscriber, Timestamp, TopicKind, policy,
};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

/// Samples that a silent reader may have not acknowledged: twenty seconds of the clock. One that died
/// is taken for dead before.
const UNACKNOWLEDGED: i32 = 4096;
/// The same of pictures: eight seconds.
const UNACKNOWLEDGED_PICTURES: i32 = 120;
/// A writer that is held back for longer is put aside.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(300);

/// A participant with the robot's writers and readers.
pub(super) struct Dds {
    participant: DomainParticipant,
    publisher: Publisher,
    speakers: BTreeMap<Topic, Mutex<Speaker>>,
    heard: Mutex<Heard>,
    /// Tells which node everything belongs to.
    graph: DataWriterCdr<ParticipantEntitiesInfo>,
}

/// The readers until someone wants what they hear, and their ids.
struct Heard {
    ids: Vec<rustdds::GUID>,
    streams: BTreeMap<Topic, BoxStream<'static, Message>>,
}

/// One who speaks on a topic.
struct Speaker {
    topic: rustdds::Topic,
    qos: QosPolicies,
    writer: DataWriterCdr<Message>,
    /// Readers that match.
    readers: usize,
    /// Since when it is held back.
    blocked: Option<Instant>,
}

impl Dds {
    /// Takes a place in a graph. Opens sockets and starts threads.
    pub(super) fn join(options: &RosOptions) -> Result<Dds, String> {
        let networks = network::addresses(options.network.as_deref())?;
        let before = network::sockets();
        let participant = DomainParticipantBuilder::new(options.domain)
            .with_only_networks(networks)
            .build()
            .map_err(|e| format!("can't join ROS 2 domain {}: {e}", options.domain))?;
        if options.network.is_none() {
            network::keep_here(&before);
        }
        Dds::with(participant).map_err(|e| format!("can't speak on ROS 2 domain {}: {e}", options.domain))
    }

    fn with(participant: DomainParticipant) -> Result<Dds, CreateError> {
        let any = QosPolicyBuilder::new().build();
        let (publisher, subscriber) =
            (participant.create_publisher(&any)?, participant.create_subscriber(&any)?);
        let mut speakers = BTreeMap::new();
        let mut heard = Heard { ids: Vec::new(), streams: BTreeMap::new() };
        for topic in Topic::ALL {
            let qos = qos(topic);
            let named = participant.create_topic(
                format!("rt{}", topic.name()),
                dds_type(topic.type_name()),
                &qos,
                TopicKind::NoKey,
            )?;
            match topic.direction() {
                Direction::Out => {
                    let writer = publisher.create_datawriter_no_key_cdr(&named, Some(qos.clone()))?;
                    let speaker = Speaker { topic: named, qos, writer, readers: 0, blocked: None };
                    speakers.insert(topic, Mutex::new(speaker));
                }
                Direction::In => {
                    let (id, stream) = match topic {
                        Topic::CmdVel => listen::<Twist>(&subscriber, &named, qos)?,
                        _ => listen::<Float64>(&subscriber, &named, qos)?,
                    };
                    heard.ids.push(id);
                    heard.streams.insert(topic, stream);
                }
            }
        }
        let (name, kind) = (graph::TOPIC.to_owned(), graph::TYPE.to_owned());
        let topic = participant.create_topic(name, kind, &graph::qos(), TopicKind::NoKey)?;
        let graph = publisher.create_datawriter_no_key_cdr(&topic, Some(graph::qos()))?;
        let dds = Dds { participant, publisher, speakers, heard: Mutex::new(heard), graph };
        dds.show();
        Ok(dds)
    }

    /// What is said on topics, from now on. Each can be had once.
    pub(super) fn hear(&self, topics: &[Topic]) -> Vec<(Topic, BoxStream<'static, Message>)> {
        let mut heard = lock(&self.heard);
        topics.iter().filter_map(|topic| Some((*topic, heard.streams.remove(topic)?))).collect()
    }

    /// Whether anyone listens.
    pub(super) fn is_heard(&self, topic: Topic) -> bool {
        self.speakers.get(&topic).is_some_and(|speaker| lock(speaker).count_readers() > 0)
    }

    /// Says something that happened then to all who listen.
    pub(super) fn say(&self, Outgoing { topic, message }: Outgoing, at: SystemTime) {
        let Some(speaker) = self.speakers.get(&topic) else { return };
        let mut held = lock(speaker);
        match held.writer.write(message, timestamp(at)) {
            Err(WriteError::WouldBlock { data }) => {
                let since = *held.blocked.get_or_insert_with(Instant::now);
                let kept = topic.qos().durability == Durability::TransientLocal;
                drop(held);
                // Readers that are only slow acknowledge soon, and have lost what came meanwhile.
                if kept || since.elapsed() >= PATIENCE {
                    self.replace(topic, speaker, data, at);
                }
            }
            _ => held.blocked = None,
        }
    }

    /// Puts a writer aside that someone holds back, and says with a new one what it could not.
    fn replace(&self, topic: Topic, speaker: &Mutex<Speaker>, message: Message, at: SystemTime) {
        let mut held = lock(speaker);
        match self.publisher.create_datawriter_no_key_cdr(&held.topic, Some(held.qos.clone())) {
            Ok(writer) => {
                tracing::warn!(topic = topic.name(), "a ROS 2 reader is silent; the others go on without it");
                (held.writer, held.readers, held.blocked) = (writer, 0, None);
                let _ = held.writer.write(message, timestamp(at));
                drop(held);
                self.show();
            }
            Err(error) => tracing::warn!(topic = topic.name(), "nothing is said any more: {error}"),
        }
    }

    /// Tells which node everything belongs to.
    fn show(&self) {
        let writers: Vec<_> = self.speakers.values().map(|speaker| lock(speaker).writer.guid()).collect();
        let info = ParticipantEntitiesInfo::new(self.participant.guid(), &lock(&self.heard).ids, &writers);
        let _ = self.graph.write(info, None);
    }
}

impl Speaker {
    fn count_readers(&mut self) -> usize {
        while let Some(status) = self.writer.try_recv_status() {
            if let DataWriterStatus::PublicationMatched { current, .. } = status {
                self.readers = usize::try_from(current.count()).unwrap_or(0);
            }
        }
        self.readers
    }
}

fn listen<M: DeserializeOwned + Into<Message> + Send + 'static>(
    subscriber: &Subscriber,
    topic: &rustdds::Topic,
    qos: QosPolicies,
) -> Result<(rustdds::GUID, BoxStream<'static, Message>), CreateError> {
    let reader: DataReaderCdr<M> = subscriber.create_datareader_no_key_cdr(topic, Some(qos))?;
    let id = reader.guid();
    // What can't be read is no command.
    let messages = reader.async_bare_sample_stream().filter_map(async |read| read.ok().map(M::into));
    Ok((id, messages.boxed()))
}

/// Seconds since 1970 with 32 binary places.
fn timestamp(at: SystemTime) -> Option<Timestamp> {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let fraction = (u64::from(since.subsec_nanos()) << 32) / 1_000_000_000;
    Some(Timestamp::from_ticks((since.as_secs() << 32) | fraction))
}

/// `package/msg/Type` as DDS has it.
fn dds_type(name: &str) -> String {
    let (package, kind) = name.rsplit_once('/').unwrap_or(("", name));
    format!("{}::dds_::{kind}_", package.replace('/', "::"))
}

fn qos(topic: Topic) -> QosPolicies {
    let qos = topic.qos();
    let samples = match topic {
        Topic::ImageRaw | Topic::ImageCompressed => UNACKNOWLEDGED_PICTURES,
        _ => UNACKNOWLEDGED,
    };
    QosPolicyBuilder::new()
        // No time: whoever writes never waits.
        .reliability(policy::Reliability::Reliable { max_blocking_time: Duration::ZERO })
        .durability(match qos.durability {
            Durability::Volatile => policy::Durability::Volatile,
            Durability::TransientLocal => policy::Durability::TransientLocal,
        })
        .history(policy::History::KeepLast { depth: i32::try_from(qos.depth).unwrap_or(i32::MAX) })
        .resource_limits(policy::ResourceLimits {
            max_samples: samples,
            max_instances: 1,
            max_samples_per_instance: samples,
        })
        .build()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_names_of_dds() {
        assert_eq!(dds_type("sensor_msgs/msg/Image"), "sensor_msgs::msg::dds_::Image_");
        assert_eq!(dds_type(Topic::Clock.type_name()), "rosgraph_msgs::msg::dds_::Clock_");
    }
}
