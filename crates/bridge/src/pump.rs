//! Publishes the messages of every tick to the clients of a protocol.
//!
//! While there are subscribers, the pump reads a tap of the sim thread. The tap receives every
//! tick. The pump creates the messages of each tick with the crate `ros`. The hub of the protocol
//! encodes each subscribed message once, and puts it into the mailboxes of all subscribers. A
//! client reads its mailbox at its own speed. The mailbox is bounded: if the client is slow, the
//! oldest messages are dropped. Another task draws the images, so that other messages do not wait
//! for the images. That task draws only the newest frame.

use chicane_host::Host;
use chicane_host::camera::Camera;
use chicane_host::driver::{Exposure, Published};
use chicane_host::image_topics::{FrameToPublish, publish_frame};
use chicane_ros::messages::{Clock, Time};
use chicane_ros::{Message, Outgoing, Publisher, Sample, Topic};
use chicane_world::Profile;
use std::sync::Arc;
use tokio::sync::watch;

/// The subscribers of a protocol.
pub(crate) trait Subscribers: Send + Sync + 'static {
    /// The number of subscribers of the topics that the robot publishes. Receivers are notified of
    /// every subscription, even if the number stays the same.
    fn robot_subscribers(&self) -> watch::Receiver<usize>;

    /// Whether a topic has subscribers.
    fn has_subscribers(&self, topic: Topic) -> bool;

    /// Publishes a message of this tick to all subscribers of its topic.
    fn publish(&self, out: &Outgoing, tick: u64);

    /// Sends the latched message of each topic to new subscribers. This is the last message of the
    /// topic, which every new subscriber gets at once. `latched` returns it, or `None` if the topic
    /// has no latched message. `tick` is the current tick.
    fn send_latched(&self, latched: impl FnMut(Topic) -> Option<Message>, tick: u64);
}

/// A frame that is not drawn yet: exposure, tick and brightness. `None` before the first frame.
type PendingFrame = Option<(Arc<Exposure>, u64, f64)>;

/// Publishes messages while there are subscribers, until the simulator stops.
pub(crate) async fn pump<H: Subscribers>(host: &Host, hub: &Arc<H>) {
    let mut subscribers = hub.robot_subscribers();
    loop {
        tokio::select! {
            () = host.simulator.ended() => return,
            found = subscribers.wait_for(|count| *count > 0) => if found.is_err() { return },
        }
        let (frames, newest) = watch::channel(None);
        let drawing = tokio::spawn(draw(Arc::clone(hub), host.camera.clone(), newest));
        tokio::select! {
            () = host.simulator.ended() => {}
            () = publish_ticks(host, hub, &frames) => {}
        }
        drawing.abort();
    }
}

/// Publishes the messages of every tick, until there are no subscribers.
async fn publish_ticks<H: Subscribers>(host: &Host, hub: &Arc<H>, frames: &watch::Sender<PendingFrame>) {
    let mut subscribers = hub.robot_subscribers();
    // The tap is opened before the state is read. Otherwise a tick between these two steps would be
    // missed.
    let tap = host.simulator.tap();
    let mut publisher = TickPublisher::new(&host.profile, &host.simulator.now());
    let mut is_changed = true;
    while !is_changed || *subscribers.borrow_and_update() > 0 {
        if is_changed {
            hub.send_latched(|topic| publisher.latched(topic), publisher.last.1);
        }
        is_changed = false;
        tokio::select! {
            changed = subscribers.changed() => match changed {
                Ok(()) => is_changed = true,
                Err(_) => return,
            },
            moments = tap.take() => for moment in moments {
                for out in publisher.messages(&moment.sample) {
                    hub.publish(&out, moment.sample.tick);
                }
                if let Some((exposure, brightness)) = &moment.frame {
                    frames.send_replace(Some((Arc::clone(exposure), moment.sample.tick, *brightness)));
                }
            },
        }
    }
}

/// Creates the messages of ticks. A tick that is not newer than the last one is skipped. A tick is
/// newer if its epoch is higher, or if its epoch is the same and its number is higher.
struct TickPublisher {
    publisher: Publisher,
    /// Epoch and tick of the last messages. Before the first messages, epoch and tick of the view
    /// from which the publisher was created.
    last: (u64, u64),
    /// Whether a world is loaded, so that `last` is valid.
    has_world: bool,
}

impl TickPublisher {
    fn new(profile: &Arc<Profile>, now: &Published) -> TickPublisher {
        let tick = now.running.as_ref().map(|seen| seen.snapshot.tick);
        let last = (now.epoch, tick.unwrap_or(0));
        let mut publisher = Publisher::new(Arc::clone(profile));
        // The returned messages are not sent. The call only sets the messages that new subscribers
        // get at once (latched messages).
        publisher.messages(&Sample::epoch_only(last.1, last.0));
        TickPublisher { publisher, last, has_world: tick.is_some() }
    }

    fn messages(&mut self, sample: &Sample) -> Vec<Outgoing> {
        let at = (sample.epoch, sample.tick);
        if self.has_world && at <= self.last {
            return Vec::new();
        }
        (self.last, self.has_world) = (at, true);
        self.publisher.messages(sample)
    }

    /// The latched message of a topic. A new subscriber gets this message immediately. `None` if
    /// the topic has no latched message.
    fn latched(&self, topic: Topic) -> Option<Message> {
        match topic {
            Topic::Clock => self.has_world.then(|| Clock { clock: Time::of_tick(self.last.1) }.into()),
            _ => self.publisher.latched().into_iter().find(|out| out.topic == topic).map(|out| out.message),
        }
    }
}

/// Draws each new frame, for the image topics that have subscribers. Frames that are replaced
/// before they are drawn are skipped.
async fn draw<H: Subscribers>(hub: Arc<H>, camera: Camera, mut newest: watch::Receiver<PendingFrame>) {
    while newest.changed().await.is_ok() {
        let Some((exposure, tick, brightness)) = newest.borrow_and_update().clone() else { continue };
        let publish = |out: Outgoing| hub.publish(&out, tick);
        let frame = FrameToPublish { exposure: &exposure, tick, brightness };
        publish_frame(&camera, frame, |topic| hub.has_subscribers(topic), publish).await;
    }
}
