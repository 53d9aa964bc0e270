//! The clients of the bridge, and their subscriptions.
//!
//! A message is encoded only if its topic has subscribers, and only once for all subscribers that
//! want the same form. A latched message is the exception: it is encoded for each new subscriber.
//! While there are no subscribers, the pump reads no ticks.

use super::encode::{EncodedMessage, TopicName};
use super::mailbox::Mailbox;
use super::protocol::{Delivery, MessageId, StatusMessage};
use crate::pump::Subscribers;
use chicane_ros::{Direction, Message, Outgoing, Topic};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::time::Instant;

/// All clients of the bridge.
#[derive(Debug)]
pub(crate) struct Hub {
    mailboxes: Mutex<Vec<Arc<Mailbox>>>,
    /// Number of subscribers of each topic. A client that subscribes to the name both with and
    /// without the slash counts twice.
    subscribers: [AtomicUsize; Topic::ALL.len()],
    /// Number of subscribers of all topics that the robot publishes. Receivers are notified of
    /// every subscription, even if the number stays the same.
    robot_subscribers: watch::Sender<usize>,
}

impl Default for Hub {
    fn default() -> Hub {
        Hub {
            mailboxes: Mutex::default(),
            subscribers: std::array::from_fn(|_| AtomicUsize::new(0)),
            robot_subscribers: watch::Sender::new(0),
        }
    }
}

impl Hub {
    /// Adds a client.
    pub(super) fn join(self: &Arc<Hub>) -> HubMember {
        let mailbox = Arc::<Mailbox>::default();
        self.lock().push(Arc::clone(&mailbox));
        HubMember { hub: Arc::clone(self), mailbox }
    }

    /// Publishes a message to all subscribers of its topic.
    pub(super) fn publish(&self, topic: Topic, message: &Message, tick: u64) {
        if !self.has_subscribers(topic) {
            return;
        }
        let message = EncodedMessage::new(topic, message, tick);
        let now = Instant::now();
        for mailbox in self.lock().iter() {
            mailbox.put(topic, &message, now);
        }
    }

    fn count(&self, topic: Topic, more: bool) {
        let count = &self.subscribers[topic as usize];
        if more {
            count.fetch_add(1, Relaxed)
        } else {
            count.fetch_sub(1, Relaxed)
        };
        self.notify();
    }

    fn notify(&self) {
        let robot_topics = Topic::ALL.into_iter().filter(|topic| topic.direction() == Direction::Out);
        // `send_modify` holds a lock while it computes the sum. Therefore the last of several
        // concurrent calls stores the final sum.
        self.robot_subscribers.send_modify(|sum| {
            *sum = robot_topics.map(|topic| self.subscribers[topic as usize].load(Relaxed)).sum();
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Mailbox>>> {
        self.mailboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscribers for Hub {
    fn robot_subscribers(&self) -> watch::Receiver<usize> {
        self.robot_subscribers.subscribe()
    }

    fn has_subscribers(&self, topic: Topic) -> bool {
        self.subscribers[topic as usize].load(Relaxed) > 0
    }

    fn publish(&self, out: &Outgoing, tick: u64) {
        Hub::publish(self, out.topic, &out.message, tick);
    }

    fn send_latched(&self, mut latched: impl FnMut(Topic) -> Option<Message>, tick: u64) {
        for mailbox in self.lock().iter() {
            mailbox.put_latched(|topic, put| {
                if let Some(message) = latched(topic) {
                    put(&EncodedMessage::new(topic, &message, tick));
                }
            });
        }
    }
}

/// The membership of a client. When the membership is dropped, all subscriptions of the client end.
#[derive(Debug)]
pub(super) struct HubMember {
    hub: Arc<Hub>,
    pub(super) mailbox: Arc<Mailbox>,
}

impl HubMember {
    pub(super) fn subscribe(
        &self,
        name: TopicName,
        id: Option<MessageId>,
        delivery: Delivery,
    ) -> Result<(), StatusMessage> {
        if self.mailbox.subscribe(name, id, delivery)? {
            self.hub.count(name.topic, true);
        } else {
            self.hub.notify();
        }
        Ok(())
    }

    pub(super) fn unsubscribe(&self, name: TopicName, id: Option<&MessageId>) -> Result<(), StatusMessage> {
        if self.mailbox.unsubscribe(name, id)? {
            self.hub.count(name.topic, false);
        }
        Ok(())
    }
}

impl Drop for HubMember {
    fn drop(&mut self) {
        self.hub.lock().retain(|other| !Arc::ptr_eq(other, &self.mailbox));
        for topic in self.mailbox.topics() {
            self.hub.count(topic, false);
        }
    }
}
