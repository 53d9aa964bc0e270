//! Who listens to what, and the way to them all.
//!
//! Something is written only if someone subscribes to it, and then once. While nobody subscribes to anything
//! there is nothing to do, and nothing is gathered either.

use super::encode::{Frame, Name};
use super::mailbox::Mailbox;
use super::words::{Id, Trouble, Wish};
use chicane_ros::{Direction, Message, Topic};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// Everyone who is connected.
#[derive(Debug)]
pub(crate) struct Hub {
    mailboxes: Mutex<Vec<Arc<Mailbox>>>,
    /// Clients of each topic.
    listeners: [AtomicUsize; Topic::ALL.len()],
    /// Changes with each subscription and its end: how many listen to the robot.
    changed: watch::Sender<usize>,
}

impl Default for Hub {
    fn default() -> Hub {
        Hub {
            mailboxes: Mutex::default(),
            listeners: std::array::from_fn(|_| AtomicUsize::new(0)),
            changed: watch::Sender::new(0),
        }
    }
}

impl Hub {
    /// Another client.
    pub(super) fn join(self: &Arc<Hub>) -> Member {
        let mailbox = Arc::<Mailbox>::default();
        self.lock().push(Arc::clone(&mailbox));
        Member { hub: Arc::clone(self), mailbox }
    }

    /// Whether anyone listens to a topic.
    pub(super) fn is_heard(&self, topic: Topic) -> bool {
        self.listeners[topic as usize].load(Relaxed) > 0
    }

    /// How many listen to what the robot says; changes with each who comes or goes.
    pub(super) fn listening(&self) -> watch::Receiver<usize> {
        self.changed.subscribe()
    }

    /// Says something to all who listen, if anyone does.
    pub(super) fn say(&self, topic: Topic, message: &Message) {
        if self.is_heard(topic) {
            self.hand_out(topic, &Arc::new(Frame::new(topic, message)));
        }
    }

    fn hand_out(&self, topic: Topic, frame: &Arc<Frame>) {
        let now = Instant::now();
        for mailbox in self.lock().iter() {
            mailbox.put(topic, frame, now);
        }
    }

    /// Gives those who just came what stays true.
    pub(super) fn welcome(&self, mut kept: impl FnMut(Topic) -> Option<Message>) {
        // Written once, and only if someone is there for it.
        let mut written: Vec<(Topic, Option<Arc<Frame>>)> = Vec::new();
        for mailbox in self.lock().iter() {
            mailbox.welcome(|topic| match written.iter().find(|(known, _)| *known == topic) {
                Some((_, frame)) => frame.clone(),
                None => {
                    let frame = kept(topic).map(|message| Arc::new(Frame::new(topic, &message)));
                    written.push((topic, frame.clone()));
                    frame
                }
            });
        }
    }

    fn count(&self, topic: Topic, more: bool) {
        let count = &self.listeners[topic as usize];
        if more {
            count.fetch_add(1, Relaxed)
        } else {
            count.fetch_sub(1, Relaxed)
        };
        self.tell();
    }

    fn tell(&self) {
        let robots = Topic::ALL.into_iter().filter(|topic| topic.direction() == Direction::Out);
        // Counted by one at a time: whoever is last has seen what all others did.
        self.changed.send_modify(|all| {
            *all = robots.map(|topic| self.listeners[topic as usize].load(Relaxed)).sum();
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Mailbox>>> {
        self.mailboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client's place; given up when it is dropped.
#[derive(Debug)]
pub(super) struct Member {
    hub: Arc<Hub>,
    pub(super) mailbox: Arc<Mailbox>,
}

impl Member {
    pub(super) fn subscribe(&self, name: Name, id: Option<Id>, wish: Wish) -> Result<(), Trouble> {
        if self.mailbox.subscribe(name, id, wish)? {
            self.hub.count(name.topic, true);
        } else {
            self.hub.tell();
        }
        Ok(())
    }

    pub(super) fn unsubscribe(&self, name: Name, id: Option<&Id>) -> Result<(), Trouble> {
        if self.mailbox.unsubscribe(name, id)? {
            self.hub.count(name.topic, false);
        }
        Ok(())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.hub.lock().retain(|other| !Arc::ptr_eq(other, &self.mailbox));
        for topic in self.mailbox.topics() {
            self.hub.count(topic, false);
        }
    }
}
