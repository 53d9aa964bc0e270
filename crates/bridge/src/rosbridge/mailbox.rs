//! The subscriptions of a client, and the messages that wait to be sent to the client.
//!
//! Every subscription has a bounded queue. If the client is slow, the oldest messages are dropped,
//! and publishers never wait. Messages of all subscriptions are taken in the order of their
//! publication.

use super::encode::{EncodedMessage, TopicName, length};
use super::protocol::{Delivery, MessageId, StatusMessage};
use crate::socket::SocketMessage;
use chicane_ros::Topic;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How many subscriptions a client may have. Several subscriptions to one topic have different ids.
const MAX_IDS: usize = 256;
/// How many messages may wait if the client sets neither a queue length nor a throttle time. The
/// fastest topic, `/clock`, publishes this many messages per simulated second.
const DEFAULT_QUEUE: usize = 200;
/// How many images may wait if the client sets neither a queue length nor a throttle time.
const DEFAULT_IMAGE_QUEUE: usize = 2;
/// How many bytes may wait on a topic. A single larger message may wait too.
const MAX_BYTES: usize = 4 << 20;

/// The mailbox of one client.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    contents: Mutex<MailboxContents>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct MailboxContents {
    subscriptions: BTreeMap<TopicName, Subscription>,
    /// Serial number of the last published message. This number orders the messages of all topics.
    serial: u64,
}

/// All subscriptions of a client to one topic name.
#[derive(Debug, Default)]
struct Subscription {
    /// The options of each subscription, by its id.
    requested: Vec<(Option<MessageId>, Delivery)>,
    /// The options in effect, see [`Subscription::combine_options`].
    delivery: Delivery,
    waiting: VecDeque<(u64, SocketMessage)>,
    /// Total length of the waiting messages, in bytes.
    bytes: usize,
    /// No message is sent before this time, because the client has set a shortest time between
    /// messages. `None` before the first message, and if the client has set no such time.
    throttled_until: Option<Instant>,
    /// Whether a new subscription still needs the latched message of its topic: the last message,
    /// which every new subscriber gets at once.
    needs_latched: bool,
}

/// Result of [`Mailbox::next`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextMessage {
    /// The next message.
    Ready(SocketMessage),
    /// No message can be sent now. If the options of the client delay a message, the value is the
    /// time when the message can be sent. `None` if no message waits.
    Wait(Option<Instant>),
}

impl Mailbox {
    /// Adds a subscription, or replaces the one with the same id. Returns true if it is the
    /// client's first subscription to this topic name.
    pub(super) fn subscribe(
        &self,
        name: TopicName,
        id: Option<MessageId>,
        delivery: Delivery,
    ) -> Result<bool, StatusMessage> {
        let mut contents = self.lock();
        let ids: usize = contents.subscriptions.values().map(|s| s.requested.len()).sum();
        let known = contents.subscriptions.get(&name);
        let is_update = known.is_some_and(|s| s.requested.iter().any(|(other, _)| *other == id));
        if ids >= MAX_IDS && !is_update {
            let text = format!("a client may have up to {MAX_IDS} subscriptions: unsubscribe from some");
            return Err(StatusMessage::error(text));
        }
        let is_first = known.is_none();
        let subscription = contents.subscriptions.entry(name).or_default();
        subscription.requested.retain(|(other, _)| *other != id);
        subscription.requested.push((id, delivery));
        subscription.combine_options();
        subscription.needs_latched = true;
        Ok(is_first)
    }

    /// Removes a subscription, or all subscriptions to the topic name if `id` is `None`. Returns
    /// true if the client has no subscription to this topic name left.
    pub(super) fn unsubscribe(&self, name: TopicName, id: Option<&MessageId>) -> Result<bool, StatusMessage> {
        let mut contents = self.lock();
        let Some(subscription) = contents.subscriptions.get_mut(&name) else {
            return Err(StatusMessage::warning(format!("there is no subscription to {}", name.text())));
        };
        let before = subscription.requested.len();
        subscription.requested.retain(|(own, _)| id.is_some() && own.as_ref() != id);
        if subscription.requested.len() == before {
            let text = format!("there is no subscription with this id to {}", name.text());
            return Err(StatusMessage::warning(text));
        }
        subscription.combine_options();
        let was_last = subscription.requested.is_empty();
        if was_last {
            contents.subscriptions.remove(&name);
        }
        Ok(was_last)
    }

    /// The topics that the client subscribes to. A topic appears twice if the client subscribes to
    /// its name both with and without the slash.
    pub(super) fn topics(&self) -> Vec<Topic> {
        self.lock().subscriptions.keys().map(|name| name.topic).collect()
    }

    /// Adds a published message to the client's queues for the topic of the message.
    pub(super) fn put(&self, topic: Topic, message: &EncodedMessage<'_>, now: Instant) {
        let mut contents = self.lock();
        contents.serial += 1;
        let serial = contents.serial;
        let mut is_changed = false;
        for has_slash in [true, false] {
            if let Some(subscription) = contents.subscriptions.get_mut(&TopicName { topic, has_slash }) {
                is_changed |= subscription.put(serial, message, has_slash, now);
            }
        }
        drop(contents);
        if is_changed {
            self.changed.notify_one();
        }
    }

    /// Adds the latched message of each topic to the queues of new subscriptions to that topic.
    /// `latched` calls its second argument with the message, if the topic has one.
    pub(super) fn put_latched(&self, mut latched: impl FnMut(Topic, &mut dyn FnMut(&EncodedMessage<'_>))) {
        let mut contents = self.lock();
        contents.serial += 1;
        let serial = contents.serial;
        let mut is_changed = false;
        for (name, subscription) in contents.subscriptions.iter_mut().filter(|(_, s)| s.needs_latched) {
            subscription.needs_latched = false;
            latched(name.topic, &mut |message| {
                subscription.enqueue(serial, message, name.has_slash);
                is_changed = true;
            });
        }
        drop(contents);
        if is_changed {
            self.changed.notify_one();
        }
    }

    /// Takes the oldest message of all queues that are not throttled.
    pub(super) fn next(&self, now: Instant) -> NextMessage {
        let mut contents = self.lock();
        let mut due: Option<Instant> = None;
        let mut first: Option<(u64, TopicName)> = None;
        for (name, subscription) in &contents.subscriptions {
            let Some((serial, _)) = subscription.waiting.front() else { continue };
            match subscription.throttled_until.filter(|until| *until > now) {
                Some(until) => due = Some(due.map_or(until, |other| other.min(until))),
                None if first.is_none_or(|(other, _)| *serial < other) => first = Some((*serial, *name)),
                None => {}
            }
        }
        let taken = first.and_then(|(_, name)| contents.subscriptions.get_mut(&name)?.take(now));
        match taken {
            Some(message) => NextMessage::Ready(message),
            None => NextMessage::Wait(due),
        }
    }

    /// Waits until a message is added.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, MailboxContents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Combines the options of all subscriptions to the topic. As in the original rosbridge, the
    /// shortest throttle time, the smallest queue length (0 selects the default), and the last form
    /// in the order of [`Compression`](super::protocol::Compression) take effect.
    fn combine_options(&mut self) {
        let requested = self.requested.iter().map(|(_, delivery)| *delivery);
        let combined = requested.reduce(|a, b| Delivery {
            throttle: a.throttle.min(b.throttle),
            queue: a.queue.min(b.queue),
            compression: a.compression.max(b.compression),
        });
        self.delivery = combined.unwrap_or_default();
        if self.delivery.throttle == Duration::ZERO {
            self.throttled_until = None;
        }
    }

    /// Adds a message. Returns false if the message was dropped.
    fn put(&mut self, serial: u64, message: &EncodedMessage<'_>, has_slash: bool, now: Instant) -> bool {
        let Delivery { throttle, queue, .. } = self.delivery;
        // If the client sets a throttle time but no queue length, a message before the end of that
        // time is dropped.
        let is_throttled = self.throttled_until.is_some_and(|until| until > now);
        if throttle > Duration::ZERO && queue == 0 && is_throttled {
            return false;
        }
        self.enqueue(serial, message, has_slash);
        true
    }

    fn enqueue(&mut self, serial: u64, message: &EncodedMessage<'_>, has_slash: bool) {
        // The subscription needs no latched message any more, because a published message is at
        // least as new as the latched one.
        self.needs_latched = false;
        let Delivery { throttle, queue, compression } = self.delivery;
        let limit = match (queue, throttle) {
            (0, Duration::ZERO) if message.is_image() => DEFAULT_IMAGE_QUEUE,
            (0, Duration::ZERO) => DEFAULT_QUEUE,
            (0, _) => 1,
            (queue, _) => queue,
        };
        let form = message.form(compression, has_slash);
        self.bytes += length(&form);
        self.waiting.push_back((serial, form));
        while self.waiting.len() > limit || (self.bytes > MAX_BYTES && self.waiting.len() > 1) {
            if let Some((_, dropped)) = self.waiting.pop_front() {
                self.bytes -= length(&dropped);
            }
        }
    }

    fn take(&mut self, now: Instant) -> Option<SocketMessage> {
        let (_, message) = self.waiting.pop_front()?;
        self.bytes -= length(&message);
        if self.delivery.throttle > Duration::ZERO {
            self.throttled_until = Some(now + self.delivery.throttle);
        }
        Some(message)
    }
}

#[cfg(test)]
mod tests;
