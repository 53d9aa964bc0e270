//! The DDS participant of the robot, with a writer or a reader for every topic. It uses the library
//! `rustdds`, which implements the protocol RTPS in Rust. No other crate of this repository names
//! `rustdds`.
//!
//! Each outgoing topic has one writer for all subscribers. The writer encodes a message once. A
//! write never blocks. `rustdds` refuses a sample of a reliable writer while too many samples are
//! not acknowledged. If the refusals last only a short time, a subscriber is slow, and the refused
//! samples are dropped. A subscriber that never acknowledges would stop the topic for all others.
//! Therefore a writer that is refused for [`BLOCKED_WRITER_TIMEOUT`], or that is refused a latched
//! message, is replaced by a new writer. The other subscribers discover the new writer soon. The
//! number of unacknowledged samples is limited, because images are large.

use crate::commands::CommandStreams;
use crate::graph::{self, ParticipantEntitiesInfo};
use crate::returning::{Change, ParticipantId};
use crate::threads::ParticipantThreads;
use chicane_ros::messages::{Float64, Twist};
use chicane_ros::{Direction, Durability, Message, Outgoing, Topic};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use rustdds::dds::result::{CreateError, WriteError};
use rustdds::no_key::{DataReaderCdr, DataWriterCdr};
use rustdds::{
    DataWriterStatus, DomainParticipant, DomainParticipantBuilder, DomainParticipantStatusEvent, Duration,
    LostReason, Publisher, QosPolicies, QosPolicyBuilder, RTPSEntity, StatusEvented, Subscriber, Timestamp,
    TopicKind, policy,
};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

/// Maximum number of samples that a subscriber may leave unacknowledged: 20 s of the topic
/// `/clock`. A subscriber whose process died is removed earlier, when its lease expires.
const MAX_UNACKNOWLEDGED: i32 = 4096;
/// Maximum number of images that a subscriber may leave unacknowledged: 8 s at 15 images per
/// second.
const MAX_UNACKNOWLEDGED_IMAGES: i32 = 120;
/// Maximum number of changes of other participants that
/// [`BareParticipant::changes`] returns at a time.
const MAX_CHANGES: usize = 4096;
/// How long `rustdds` may refuse the samples of a writer before the writer is replaced.
const BLOCKED_WRITER_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(300);

/// A participant without topics.
pub(super) struct BareParticipant {
    participant: DomainParticipant,
    threads: ParticipantThreads,
}

/// A participant with the robot's writers and readers.
pub(super) struct RobotParticipant {
    bare: BareParticipant,
    publisher: Publisher,
    writers: BTreeMap<Topic, Mutex<TopicWriter>>,
    readers: Mutex<TopicReaders>,
    /// Writer of the message that assigns all writers and readers to the robot's node.
    node_info: DataWriterCdr<ParticipantEntitiesInfo>,
}

/// The readers of the command topics.
struct TopicReaders {
    ids: Vec<rustdds::GUID>,
    /// The messages that arrive, until [`RobotParticipant::take_streams`] takes them.
    streams: CommandStreams,
}

/// The writer of a topic.
struct TopicWriter {
    topic: rustdds::Topic,
    qos: QosPolicies,
    writer: DataWriterCdr<Message>,
    /// Number of matching subscribers at the last call of [`TopicWriter::count_subscribers`].
    subscribers: usize,
    /// The time since which `rustdds` has refused every sample; `None` if the last sample was
    /// accepted.
    blocked_since: Option<Instant>,
}

impl RobotParticipant {
    /// Creates the robot's topics on a participant.
    pub(super) fn with_topics(bare: BareParticipant) -> Result<RobotParticipant, CreateError> {
        let participant = &bare.participant;
        let default_qos = QosPolicyBuilder::new().build();
        let publisher = participant.create_publisher(&default_qos)?;
        let subscriber = participant.create_subscriber(&default_qos)?;
        let mut writers = BTreeMap::new();
        let mut readers = TopicReaders { ids: Vec::new(), streams: CommandStreams::default() };
        for topic in Topic::ALL {
            let qos = qos(topic);
            let dds_topic = participant.create_topic(
                format!("rt{}", topic.name()),
                dds_type(topic.type_name()),
                &qos,
                TopicKind::NoKey,
            )?;
            match topic.direction() {
                Direction::Out => {
                    let writer = publisher.create_datawriter_no_key_cdr(&dds_topic, Some(qos.clone()))?;
                    let writer =
                        TopicWriter { topic: dds_topic, qos, writer, subscribers: 0, blocked_since: None };
                    writers.insert(topic, Mutex::new(writer));
                }
                Direction::In => {
                    let (id, stream) = match topic {
                        Topic::CmdVel => create_reader::<Twist>(&subscriber, &dds_topic, qos)?,
                        _ => create_reader::<Float64>(&subscriber, &dds_topic, qos)?,
                    };
                    readers.ids.push(id);
                    readers.streams.add(topic, stream);
                }
            }
        }
        let (name, type_name) = (graph::TOPIC.to_owned(), graph::TYPE.to_owned());
        let topic = participant.create_topic(name, type_name, &graph::qos(), TopicKind::NoKey)?;
        let node_info = publisher.create_datawriter_no_key_cdr(&topic, Some(graph::qos()))?;
        let readers = Mutex::new(readers);
        let joined = RobotParticipant { bare, publisher, writers, readers, node_info };
        joined.publish_node_info();
        Ok(joined)
    }

    /// The streams of the commands that arrive. They can be taken only once.
    pub(super) fn take_streams(&self) -> CommandStreams {
        std::mem::take(&mut lock(&self.readers).streams)
    }

    /// The participant without the topics.
    pub(super) fn bare(&self) -> &BareParticipant {
        &self.bare
    }

    /// Whether each topic has at least as many subscribers as the same topic of `other`.
    pub(super) fn has_all_subscribers_of(&self, other: &RobotParticipant) -> bool {
        let count = |writer: &Mutex<TopicWriter>| lock(writer).count_subscribers();
        let has_all = |(topic, writer)| {
            self.writers.get(topic).is_some_and(|own: &Mutex<TopicWriter>| count(own) >= count(writer))
        };
        other.writers.iter().all(has_all)
    }

    /// Whether a topic of the robot has subscribers.
    pub(super) fn has_subscribers(&self, topic: Topic) -> bool {
        self.writers.get(&topic).is_some_and(|writer| lock(writer).count_subscribers() > 0)
    }

    /// Publishes a message. `at` is the time of the system clock at the tick of the message. This
    /// time becomes the source time of the DDS sample.
    pub(super) fn publish(&self, Outgoing { topic, message }: Outgoing, at: SystemTime) {
        let Some(writer) = self.writers.get(&topic) else { return };
        let mut held = lock(writer);
        match held.writer.write(message, timestamp(at)) {
            Err(WriteError::WouldBlock { data }) => {
                let since = *held.blocked_since.get_or_insert_with(Instant::now);
                let is_latched = topic.qos().durability == Durability::TransientLocal;
                drop(held);
                // The message is usually dropped, because a slow subscriber will acknowledge soon.
                // A latched message is kept for new subscribers and is not repeated, so it must not
                // be dropped.
                if is_latched || since.elapsed() >= BLOCKED_WRITER_TIMEOUT {
                    self.replace_writer(topic, writer, data, at);
                }
            }
            _ => held.blocked_since = None,
        }
    }

    /// Replaces a writer whose samples are refused. Publishes the refused message with the new
    /// writer.
    fn replace_writer(&self, topic: Topic, writer: &Mutex<TopicWriter>, message: Message, at: SystemTime) {
        let mut held = lock(writer);
        match self.publisher.create_datawriter_no_key_cdr(&held.topic, Some(held.qos.clone())) {
            Ok(new_writer) => {
                tracing::warn!(
                    topic = topic.name(),
                    "a ROS 2 subscriber does not acknowledge messages; the writer was replaced for the others"
                );
                (held.writer, held.subscribers, held.blocked_since) = (new_writer, 0, None);
                let _ = held.writer.write(message, timestamp(at));
                drop(held);
                self.publish_node_info();
            }
            Err(error) => tracing::warn!(
                topic = topic.name(),
                "a blocked writer could not be replaced, so the topic has no messages: {error}"
            ),
        }
    }

    /// Publishes that all writers and readers belong to the robot's node.
    fn publish_node_info(&self) {
        let writers: Vec<_> = self.writers.values().map(|writer| lock(writer).writer.guid()).collect();
        let info =
            ParticipantEntitiesInfo::new(self.bare.participant.guid(), &lock(&self.readers).ids, &writers);
        let _ = self.node_info.write(info, None);
    }
}

impl BareParticipant {
    /// Opens a participant. Opens sockets and starts threads.
    pub(super) fn open(domain: u16, networks: Vec<IpAddr>) -> Result<BareParticipant, CreateError> {
        let before = ParticipantThreads::existing();
        let participant = DomainParticipantBuilder::new(domain).with_only_networks(networks).build()?;
        Ok(BareParticipant { participant, threads: ParticipantThreads::opened_since(&before) })
    }

    /// The id of the participant.
    pub(super) fn id(&self) -> ParticipantId {
        id_of(self.participant.guid().prefix)
    }

    /// The changes of other participants in the domain since the last call, at most
    /// [`MAX_CHANGES`]. If this participant has ended, every call also reports its end.
    pub(super) fn changes(&self) -> Vec<Change> {
        let listener = self.participant.status_listener();
        let mut changes = Vec::new();
        while changes.len() < MAX_CHANGES
            && let Some(event) = listener.try_recv_status()
        {
            changes.extend(match event {
                DomainParticipantStatusEvent::ParticipantDiscovered { dpd } => {
                    Some(Change::Found(id_of(dpd.guid.prefix)))
                }
                DomainParticipantStatusEvent::ParticipantLost { id, reason } => Some(match reason {
                    LostReason::Disposed => Change::Left(id_of(id)),
                    LostReason::Timeout { .. } => Change::Expired(id_of(id)),
                }),
                _ => None,
            });
        }
        changes.extend(self.threads.has_ended().then_some(Change::Ended));
        changes
    }
}

fn id_of(prefix: impl AsRef<[u8]>) -> ParticipantId {
    let mut id = ParticipantId::default();
    id.copy_from_slice(prefix.as_ref());
    id
}

impl TopicWriter {
    fn count_subscribers(&mut self) -> usize {
        while let Some(status) = self.writer.try_recv_status() {
            if let DataWriterStatus::PublicationMatched { current, .. } = status {
                self.subscribers = usize::try_from(current.count()).unwrap_or(0);
            }
        }
        self.subscribers
    }
}

fn create_reader<M: DeserializeOwned + Into<Message> + Send + 'static>(
    subscriber: &Subscriber,
    topic: &rustdds::Topic,
    qos: QosPolicies,
) -> Result<(rustdds::GUID, BoxStream<'static, Message>), CreateError> {
    let reader: DataReaderCdr<M> = subscriber.create_datareader_no_key_cdr(topic, Some(qos))?;
    let id = reader.guid();
    // Messages that can't be decoded are dropped.
    let messages = reader.async_bare_sample_stream().filter_map(async |read| read.ok().map(M::into));
    Ok((id, messages.boxed()))
}

/// Converts a time to seconds since 1970, as a fixed-point number with 32 fractional bits. Returns
/// `None` for a time before 1970.
fn timestamp(at: SystemTime) -> Option<Timestamp> {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let fraction = (u64::from(since.subsec_nanos()) << 32) / 1_000_000_000;
    Some(Timestamp::from_ticks((since.as_secs() << 32) | fraction))
}

/// The DDS name of a ROS type `package/msg/Type`.
fn dds_type(name: &str) -> String {
    let (package, type_name) = name.rsplit_once('/').unwrap_or(("", name));
    format!("{}::dds_::{type_name}_", package.replace('/', "::"))
}

fn qos(topic: Topic) -> QosPolicies {
    let qos = topic.qos();
    let samples = match topic {
        Topic::ImageRaw | Topic::ImageCompressed => MAX_UNACKNOWLEDGED_IMAGES,
        _ => MAX_UNACKNOWLEDGED,
    };
    QosPolicyBuilder::new()
        // The maximum blocking time is zero, so that a writer refuses a sample instead of blocking.
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
    fn ros_types_are_converted_to_dds_names() {
        assert_eq!(dds_type("sensor_msgs/msg/Image"), "sensor_msgs::msg::dds_::Image_");
        assert_eq!(dds_type(Topic::Clock.type_name()), "rosgraph_msgs::msg::dds_::Clock_");
    }
}
