//! What a client has subscribed to, and what waits for it.
//!
//! Every subscription has a queue of its own with an end: what a slow reader does not take in time is lost,
//! oldest first, and nobody waits for it. What is taken comes in the order it was said.

use super::encode::{Frame, Name};
use super::words::{Id, Trouble, Wish};
use chicane_ros::Topic;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Subscriptions of a client, by their ids.
const MAX_IDS: usize = 256;
/// Messages that wait where no queue was asked for. About a second of the fastest topic.
const WAITING: usize = 200;
/// The same for pictures.
const PICTURES: usize = 2;
/// Bytes that may wait on a topic, but for a single message.
const MAX_BYTES: usize = 4 << 20;

/// One client's.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    inner: Mutex<Inner>,
    come: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    subscriptions: BTreeMap<Name, Subscription>,
    /// Counts what was put in.
    serial: u64,
}

#[derive(Debug, Default)]
struct Subscription {
    /// What each of them wants; several may share a topic.
    wishes: Vec<(Option<Id>, Wish)>,
    /// The least that is wanted.
    wish: Wish,
    waiting: VecDeque<(u64, Arc<Frame>)>,
    bytes: usize,
    /// Nothing is sent before.
    rest: Option<Instant>,
    /// Someone came who has not got yet what stays true.
    fresh: bool,
}

/// What there is for a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Text(Utf8Bytes),
    /// Nothing before this moment, or before something comes.
    Later(Option<Instant>),
}

impl Mailbox {
    /// Subscribes. Whether it is the first of its topic.
    pub(super) fn subscribe(&self, name: Name, id: Option<Id>, wish: Wish) -> Result<bool, Trouble> {
        let mut inner = self.lock();
        let ids: usize = inner.subscriptions.values().map(|s| s.wishes.len()).sum();
        let known = inner.subscriptions.get(&name);
        let again = known.is_some_and(|s| s.wishes.iter().any(|(other, _)| *other == id));
        if ids >= MAX_IDS && !again {
            let text = format!("a client may have up to {MAX_IDS} subscriptions: unsubscribe from some");
            return Err(Trouble::error(text));
        }
        let first = known.is_none();
        let subscription = inner.subscriptions.entry(name).or_default();
        subscription.wishes.retain(|(other, _)| *other != id);
        subscription.wishes.push((id, wish));
        subscription.agree();
        subscription.fresh = true;
        Ok(first)
    }

    /// Ends a subscription, or all of a topic if none is named. Whether that was the last of its topic.
    pub(super) fn unsubscribe(&self, name: Name, id: Option<&Id>) -> Result<bool, Trouble> {
        let mut inner = self.lock();
        let Some(subscription) = inner.subscriptions.get_mut(&name) else {
            return Err(Trouble::warning(format!("there was no subscription to {}", name.text())));
        };
        let before = subscription.wishes.len();
        subscription.wishes.retain(|(own, _)| id.is_some() && own.as_ref() != id);
        if subscription.wishes.len() == before {
            return Err(Trouble::warning(format!("there was no subscription of this id to {}", name.text())));
        }
        subscription.agree();
        let last = subscription.wishes.is_empty();
        if last {
            inner.subscriptions.remove(&name);
        }
        Ok(last)
    }

    /// The topics that something is subscribed to.
    pub(super) fn topics(&self) -> Vec<Topic> {
        self.lock().subscriptions.keys().map(|name| name.topic).collect()
    }

    /// Puts in what was said on a topic, for whoever of this client wants it.
    pub(super) fn put(&self, topic: Topic, frame: &Arc<Frame>, now: Instant) {
        let mut inner = self.lock();
        inner.serial += 1;
        let serial = inner.serial;
        let mut any = false;
        for slash in [true, false] {
            if let Some(subscription) = inner.subscriptions.get_mut(&Name { topic, slash }) {
                any |= subscription.put(serial, frame, now);
            }
        }
        drop(inner);
        if any {
            self.come.notify_one();
        }
    }

    /// Gives those who just came what stays true on their topics.
    pub(super) fn welcome(&self, mut kept: impl FnMut(Topic) -> Option<Arc<Frame>>) {
        let mut inner = self.lock();
        inner.serial += 1;
        let serial = inner.serial;
        let mut any = false;
        for (name, subscription) in inner.subscriptions.iter_mut().filter(|(_, s)| s.fresh) {
            subscription.fresh = false;
            if let Some(frame) = kept(name.topic) {
                subscription.keep(serial, &frame);
                any = true;
            }
        }
        drop(inner);
        if any {
            self.come.notify_one();
        }
    }

    /// The next message: of those whose time has come, the one that was said first.
    pub(super) fn next(&self, now: Instant) -> Next {
        let mut inner = self.lock();
        let mut later: Option<Instant> = None;
        let mut first: Option<(u64, Name)> = None;
        for (name, subscription) in &inner.subscriptions {
            let Some((serial, _)) = subscription.waiting.front() else { continue };
            match subscription.rest.filter(|rest| *rest > now) {
                Some(rest) => later = Some(later.map_or(rest, |other| other.min(rest))),
                None if first.is_none_or(|(other, _)| *serial < other) => first = Some((*serial, *name)),
                None => {}
            }
        }
        let taken = first.and_then(|(_, name)| Some((name, inner.subscriptions.get_mut(&name)?.take(now)?)));
        match taken {
            Some((name, frame)) => {
                drop(inner);
                Next::Text(frame.text(name.slash))
            }
            None => Next::Later(later),
        }
    }

    /// Waits until something was put in.
    pub(super) async fn come(&self) {
        self.come.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Serves the most eager of those who share the topic.
    fn agree(&mut self) {
        let least = self
            .wishes
            .iter()
            .map(|(_, wish)| *wish)
            .reduce(|a, b| Wish { throttle: a.throttle.min(b.throttle), queue: a.queue.min(b.queue) });
        self.wish = least.unwrap_or_default();
        if self.wish.throttle == Duration::ZERO {
            self.rest = None;
        }
    }

    /// Whether it is kept.
    fn put(&mut self, serial: u64, frame: &Arc<Frame>, now: Instant) -> bool {
        let Wish { throttle, queue } = self.wish;
        // Without a queue what comes too soon is not wanted at all.
        if throttle > Duration::ZERO && queue == 0 && self.rest.is_some_and(|rest| rest > now) {
            return false;
        }
        self.keep(serial, frame);
        true
    }

    fn keep(&mut self, serial: u64, frame: &Arc<Frame>) {
        let Wish { throttle, queue } = self.wish;
        let limit = match (queue, throttle) {
            (0, Duration::ZERO) if frame.is_picture() => PICTURES,
            (0, Duration::ZERO) => WAITING,
            (0, _) => 1,
            (queue, _) => queue,
        };
        self.waiting.push_back((serial, Arc::clone(frame)));
        self.bytes += frame.len();
        while self.waiting.len() > limit || (self.bytes > MAX_BYTES && self.waiting.len() > 1) {
            if let Some((_, lost)) = self.waiting.pop_front() {
                self.bytes -= lost.len();
            }
        }
    }

    fn take(&mut self, now: Instant) -> Option<Arc<Frame>> {
        let (_, frame) = self.waiting.pop_front()?;
        self.bytes -= frame.len();
        if self.wish.throttle > Duration::ZERO {
            self.rest = Some(now + self.wish.throttle);
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests;
