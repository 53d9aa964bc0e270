//! The subscriptions of a client, and the messages that wait to be sent to the client.
//!
//! Every subscription has a bounded queue. If the client is slow, the oldest messages are dropped,
//! and publishers never wait. Messages of all subscriptions are taken in the order of their
//! publication. Of the simulated time and of each parameter, only the newest value is sent.

use super::channels::Channel;
use super::parameters::ParameterSet;
use super::protocol::{self, Status};
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How many bytes may wait on a channel. A single larger message may wait too.
const MAX_BYTES: usize = 4 << 20;

/// A message on a channel, encoded once for all subscribers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EncodedMessage {
    /// Simulated time of the message, in nanoseconds.
    pub(super) time_ns: u64,
    pub(super) payload: Bytes,
}

/// The mailbox of one client.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    contents: Mutex<MailboxContents>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct MailboxContents {
    /// The subscriptions, by the id that the client chose. Each channel has at most one.
    subscriptions: BTreeMap<u32, Subscription>,
    /// Serial number of the last published message. This number orders the messages of all
    /// channels.
    serial: u64,
    /// The newest simulated time that was not sent yet, in nanoseconds.
    time_ns: Option<u64>,
    /// Parameters whose changes the client wants.
    watched: ParameterSet,
    /// Watched parameters that have changed since the last message about them.
    changed: ParameterSet,
}

#[derive(Debug)]
struct Subscription {
    channel: Channel,
    waiting: VecDeque<(u64, Arc<EncodedMessage>)>,
    /// Total length of the waiting messages, in bytes.
    bytes: usize,
    /// Whether the subscription still needs the latched message of its channel: the last message,
    /// which every new subscriber gets at once.
    needs_latched: bool,
}

/// Result of [`Mailbox::next`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextMessage {
    /// These parameters have changed.
    Parameters(ParameterSet),
    /// A binary message.
    Binary(Bytes),
}

impl Mailbox {
    /// Adds a subscription.
    pub(super) fn subscribe(&self, id: u32, channel: Channel) -> Result<(), Status> {
        let subscriptions = &mut self.lock().subscriptions;
        if subscriptions.contains_key(&id) {
            return Err(Status::error(format!("the subscription id {id} is in use: choose another id")));
        }
        // The check also limits the number of subscriptions to the number of channels.
        if subscriptions.values().any(|other| other.channel == channel) {
            let text = format!("there is a subscription to {} already", channel.name());
            return Err(Status::error(text));
        }
        let waiting = VecDeque::new();
        subscriptions.insert(id, Subscription { channel, waiting, bytes: 0, needs_latched: true });
        Ok(())
    }

    /// Removes a subscription. Returns its channel.
    pub(super) fn unsubscribe(&self, id: u32) -> Result<Channel, Status> {
        let removed = self.lock().subscriptions.remove(&id);
        removed
            .map(|subscription| subscription.channel)
            .ok_or_else(|| Status::warning(format!("there is no subscription with id {id}")))
    }

    /// The channels that the client subscribes to.
    pub(super) fn channels(&self) -> Vec<Channel> {
        self.lock().subscriptions.values().map(|subscription| subscription.channel).collect()
    }

    /// Adds a published message to the queue of its channel.
    pub(super) fn put(&self, channel: Channel, message: &Arc<EncodedMessage>) {
        let mut contents = self.lock();
        contents.serial += 1;
        let serial = contents.serial;
        let mut subscriptions = contents.subscriptions.values_mut();
        let Some(subscription) = subscriptions.find(|subscription| subscription.channel == channel) else {
            return;
        };
        subscription.enqueue(serial, message);
        drop(contents);
        self.changed.notify_one();
    }

    /// Adds the latched message of each channel to the queue of a new subscription to that channel.
    pub(super) fn put_latched(&self, mut latched: impl FnMut(Channel) -> Option<Arc<EncodedMessage>>) {
        let mut contents = self.lock();
        contents.serial += 1;
        let serial = contents.serial;
        for subscription in contents.subscriptions.values_mut().filter(|s| s.needs_latched) {
            subscription.needs_latched = false;
            if let Some(message) = latched(subscription.channel) {
                subscription.enqueue(serial, &message);
            }
        }
        drop(contents);
        self.changed.notify_one();
    }

    /// Marks all subscriptions as new, so that they get the latched messages again.
    pub(super) fn forget_latched(&self) {
        self.lock().subscriptions.values_mut().for_each(|subscription| subscription.needs_latched = true);
    }

    /// Sets the simulated time.
    pub(super) fn set_time(&self, time_ns: u64) {
        self.lock().time_ns = Some(time_ns);
        self.changed.notify_one();
    }

    /// Adds parameters whose changes the client wants, or removes them.
    pub(super) fn watch_parameters(&self, names: ParameterSet, watch: bool) {
        let contents = &mut *self.lock();
        contents.watched = if watch { contents.watched | names } else { contents.watched - names };
        contents.changed = contents.changed & contents.watched;
    }

    /// Notes that parameters have changed.
    pub(super) fn change_parameters(&self, names: ParameterSet) {
        let contents = &mut *self.lock();
        contents.changed = contents.changed | (names & contents.watched);
        self.changed.notify_one();
    }

    /// Takes the next message: changed parameters, then the time, then the oldest message of all
    /// queues. `None` if nothing waits.
    pub(super) fn next(&self) -> Option<NextMessage> {
        let mut contents = self.lock();
        let changed = std::mem::take(&mut contents.changed);
        if !changed.is_empty() {
            return Some(NextMessage::Parameters(changed));
        }
        if let Some(time_ns) = contents.time_ns.take() {
            return Some(NextMessage::Binary(protocol::time(time_ns)));
        }
        let fronts = contents.subscriptions.iter().filter_map(|(id, s)| Some((s.waiting.front()?.0, *id)));
        let (_, id) = fronts.min()?;
        let message = contents.subscriptions.get_mut(&id)?.take()?;
        drop(contents);
        Some(NextMessage::Binary(protocol::message_data(id, message.time_ns, &message.payload)))
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
    fn enqueue(&mut self, serial: u64, message: &Arc<EncodedMessage>) {
        // The subscription needs no latched message any more, because a published message is at
        // least as new as the latched one.
        self.needs_latched = false;
        self.waiting.push_back((serial, Arc::clone(message)));
        self.bytes += message.payload.len();
        let limit = self.channel.queue();
        while self.waiting.len() > limit || (self.bytes > MAX_BYTES && self.waiting.len() > 1) {
            self.take();
        }
    }

    fn take(&mut self) -> Option<Arc<EncodedMessage>> {
        let (_, message) = self.waiting.pop_front()?;
        self.bytes -= message.payload.len();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foxglove::parameters::Parameter;
    use chicane_ros::Topic;

    const IMU: Channel = Channel::Robot(Topic::Imu);

    fn message(time_ns: u64, length: usize) -> Arc<EncodedMessage> {
        Arc::new(EncodedMessage { time_ns, payload: vec![7; length].into() })
    }

    /// Takes all waiting messages. Returns their subscription ids and times.
    fn taken(mailbox: &Mailbox) -> Vec<(u32, u64)> {
        let mut all = Vec::new();
        while let Some(next) = mailbox.next() {
            let NextMessage::Binary(frame) = next else { panic!("{next:?}") };
            let number = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().expect("four bytes"));
            all.push((number(1), u64::from(number(5))));
        }
        all
    }

    #[test]
    fn a_channel_has_one_subscription() {
        let mailbox = Mailbox::default();
        assert_eq!(mailbox.subscribe(1, IMU), Ok(()));
        assert!(mailbox.subscribe(1, Channel::State).is_err_and(|s| s.text.contains("in use")));
        assert!(mailbox.subscribe(2, IMU).is_err_and(|s| s.text.contains("/imu already")));
        assert_eq!(mailbox.unsubscribe(1), Ok(IMU));
        assert!(mailbox.unsubscribe(1).is_err());
        mailbox.put(IMU, &message(1, 1));
        assert_eq!(mailbox.next(), None);
    }

    #[test]
    fn messages_of_all_channels_are_in_order() {
        let mailbox = Mailbox::default();
        for (id, channel) in [(9, IMU), (3, Channel::State)] {
            mailbox.subscribe(id, channel).expect("subscribed");
        }
        mailbox.put(IMU, &message(1, 1));
        mailbox.put(Channel::State, &message(2, 1));
        mailbox.put(IMU, &message(3, 1));
        assert_eq!(taken(&mailbox), [(9, 1), (3, 2), (9, 3)]);
    }

    #[test]
    fn old_messages_are_dropped() {
        let mailbox = Mailbox::default();
        for (id, channel) in [(0, IMU), (1, Channel::State), (2, Channel::Robot(Topic::ImageRaw))] {
            mailbox.subscribe(id, channel).expect("subscribed");
            (0..1000).for_each(|n| mailbox.put(channel, &message(n, 1)));
        }
        let all = taken(&mailbox);
        let count = |id: u32| all.iter().filter(|(own, _)| *own == id).count();
        assert_eq!([count(0), count(1), count(2)], [200, 1, 2]);
        assert!(all.contains(&(0, 999)) && all.contains(&(1, 999)) && all.contains(&(2, 999)));
        // Large messages are dropped sooner, because the bytes of a queue are limited too. A single
        // message may exceed this limit.
        (0..10).for_each(|n| mailbox.put(IMU, &message(n, MAX_BYTES / 4)));
        assert_eq!(taken(&mailbox), [(0, 6), (0, 7), (0, 8), (0, 9)]);
        (0..2).for_each(|n| mailbox.put(IMU, &message(n, MAX_BYTES + 1)));
        assert_eq!(taken(&mailbox), [(0, 1)]);
    }

    #[test]
    fn only_the_newest_time_and_watched_parameters_wait() {
        let mailbox = Mailbox::default();
        mailbox.set_time(1);
        mailbox.set_time(2);
        assert_eq!(mailbox.next(), Some(NextMessage::Binary(protocol::time(2))));
        assert_eq!(mailbox.next(), None);
        let speed = ParameterSet::of(Parameter::Speed);
        let all = speed | ParameterSet::of(Parameter::Paused);
        mailbox.change_parameters(all);
        assert_eq!(mailbox.next(), None, "nothing is watched");
        mailbox.watch_parameters(speed, true);
        mailbox.change_parameters(all);
        mailbox.change_parameters(all);
        assert_eq!(mailbox.next(), Some(NextMessage::Parameters(speed)));
        mailbox.change_parameters(all);
        mailbox.watch_parameters(all, false);
        assert_eq!(mailbox.next(), None);
    }

    #[test]
    fn a_new_subscriber_got_a_message_twice() {
        let mailbox = Mailbox::default();
        mailbox.subscribe(4, IMU).expect("subscribed");
        mailbox.put(IMU, &message(5, 1));
        mailbox.put_latched(|_| Some(message(5, 1)));
        assert_eq!(taken(&mailbox), [(4, 5)]);
    }

    #[test]
    fn a_latched_message_is_sent_once() {
        let mailbox = Mailbox::default();
        mailbox.subscribe(4, IMU).expect("subscribed");
        let latched = |_| Some(message(5, 1));
        mailbox.put_latched(latched);
        mailbox.put_latched(latched);
        assert_eq!(taken(&mailbox), [(4, 5)]);
        mailbox.forget_latched();
        mailbox.put_latched(latched);
        assert_eq!(taken(&mailbox), [(4, 5)]);
    }
}
