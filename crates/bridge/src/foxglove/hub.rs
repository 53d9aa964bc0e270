//! The clients of the protocol, and their subscriptions.
//!
//! A message is encoded only if its channel has subscribers, and only once for all of them. A
//! latched message is the exception: it is encoded for each new subscriber.

use super::channels::{COUNT, Channel};
use super::mailbox::{EncodedMessage, Mailbox};
use super::parameters::ParameterSet;
use super::protocol::Status;
use crate::pump::Subscribers;
use bytes::Bytes;
use chicane_host::driver::Published;
use chicane_ros::{Message, Outgoing, Topic, cdr};
use chicane_world::readings::TICKS_PER_SECOND;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// How many clients may be connected.
const MAX_CLIENTS: usize = 64;

/// All clients of the protocol.
#[derive(Debug)]
pub(crate) struct Hub {
    mailboxes: Mutex<Vec<Arc<Mailbox>>>,
    /// Number of subscribers of each channel, by the index of the channel.
    subscribers: [AtomicUsize; COUNT],
    /// Number of subscribers of all topics that the robot publishes.
    robot_subscribers: watch::Sender<usize>,
    /// Number of clients. Receivers are notified of every subscription to one of the simulator's
    /// own channels, even if the number stays the same.
    clients: watch::Sender<usize>,
    /// The view at the time when the first client joined. The task that publishes changes of
    /// parameters compares later views with this view. Otherwise changes before the start of the
    /// task would be missed.
    first_view: Mutex<Option<Arc<Published>>>,
    /// The tick of the last message on the topic `/clock`. A lower tick shows that time jumped
    /// back.
    last_tick: AtomicU64,
    /// The time when this hub was created, used as an id. A client that reconnects recognises by
    /// the id whether the simulator was restarted.
    pub(super) session: String,
}

impl Default for Hub {
    fn default() -> Hub {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Hub {
            mailboxes: Mutex::default(),
            subscribers: std::array::from_fn(|_| AtomicUsize::new(0)),
            robot_subscribers: watch::Sender::new(0),
            clients: watch::Sender::new(0),
            first_view: Mutex::default(),
            last_tick: AtomicU64::new(0),
            session: since_epoch.as_nanos().to_string(),
        }
    }
}

impl Hub {
    /// Adds a client. `now` is the current view. Returns an error text if there are too many
    /// clients.
    pub(super) fn join(self: &Arc<Hub>, now: Arc<Published>) -> Result<HubMember, String> {
        let mut mailboxes = self.lock();
        if mailboxes.len() >= MAX_CLIENTS {
            return Err(format!("up to {MAX_CLIENTS} clients may use /foxglove: close some and try again"));
        }
        if mailboxes.is_empty() {
            *self.first_view.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        }
        let mailbox = Arc::<Mailbox>::default();
        mailboxes.push(Arc::clone(&mailbox));
        drop(mailboxes);
        self.notify_view();
        Ok(HubMember { hub: Arc::clone(self), mailbox })
    }

    /// Takes the view at the time when the first client joined. `None` if it was already taken.
    pub(super) fn take_first_view(&self) -> Option<Arc<Published>> {
        self.first_view.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// A receiver for the number of clients. It is also notified of each subscription to one of the
    /// simulator's own channels, even if the number stays the same.
    pub(super) fn clients(&self) -> watch::Receiver<usize> {
        self.clients.subscribe()
    }

    /// Whether a channel has subscribers.
    pub(super) fn is_subscribed(&self, channel: Channel) -> bool {
        self.subscribers[channel.index()].load(Relaxed) > 0
    }

    /// Sends a message to all subscribers of its channel. `payload` is called only if there are
    /// subscribers.
    pub(super) fn send(&self, channel: Channel, tick: u64, payload: impl FnOnce() -> Bytes) {
        if !self.is_subscribed(channel) {
            return;
        }
        let message = Arc::new(EncodedMessage { time_ns: time_ns(tick), payload: payload() });
        for mailbox in self.lock().iter() {
            mailbox.put(channel, &message);
        }
    }

    /// Sends the simulated time to all clients.
    pub(super) fn send_time(&self, tick: u64) {
        self.lock().iter().for_each(|mailbox| mailbox.set_time(time_ns(tick)));
    }

    /// Tells all clients which parameters have changed.
    pub(super) fn change_parameters(&self, names: ParameterSet) {
        self.lock().iter().for_each(|mailbox| mailbox.change_parameters(names));
    }

    fn count(&self, channel: Channel, more: bool) {
        let count = &self.subscribers[channel.index()];
        if more {
            count.fetch_add(1, Relaxed)
        } else {
            count.fetch_sub(1, Relaxed)
        };
        match channel {
            Channel::Robot(_) => self.notify_pump(),
            Channel::State | Channel::Scene | Channel::Objects | Channel::Tf => self.notify_view(),
        }
    }

    fn notify_pump(&self) {
        let topics = Channel::all().filter(|channel| matches!(channel, Channel::Robot(_)));
        // `send_modify` holds a lock while it computes the sum. Therefore the last of several
        // concurrent calls stores the final sum.
        self.robot_subscribers.send_modify(|sum| {
            *sum = topics.map(|channel| self.subscribers[channel.index()].load(Relaxed)).sum();
        });
    }

    fn notify_view(&self) {
        self.clients.send_modify(|clients| *clients = self.lock().len());
    }

    /// Sends the latched messages again after time jumped back, because viewers then discard all
    /// messages that they have received.
    fn restart(&self) {
        self.lock().iter().for_each(|mailbox| mailbox.forget_latched());
        self.notify_pump();
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
        self.is_subscribed(Channel::Robot(topic))
    }

    fn publish(&self, out: &Outgoing, tick: u64) {
        // Only the ticks of `/clock` show whether time jumped back. The tick of an image can be
        // lower without a jump, because images are published later than the other messages of
        // their tick.
        if out.topic == Topic::Clock && self.last_tick.swap(tick, Relaxed) > tick {
            self.restart();
        }
        self.send(Channel::Robot(out.topic), tick, || cdr::encode(&out.message).into());
    }

    fn send_latched(&self, mut latched: impl FnMut(Topic) -> Option<Message>, tick: u64) {
        let mut encode = |channel| match channel {
            Channel::Robot(topic) => latched(topic).map(|message| {
                let payload = cdr::encode(&message).into();
                Arc::new(EncodedMessage { time_ns: time_ns(tick), payload })
            }),
            _ => None,
        };
        self.lock().iter().for_each(|mailbox| mailbox.put_latched(&mut encode));
    }
}

/// Simulated time of a tick, in nanoseconds.
fn time_ns(tick: u64) -> u64 {
    tick.saturating_mul(1_000_000_000 / TICKS_PER_SECOND)
}

/// The membership of a client. When the membership is dropped, all subscriptions of the client end.
#[derive(Debug)]
pub(super) struct HubMember {
    hub: Arc<Hub>,
    pub(super) mailbox: Arc<Mailbox>,
}

impl HubMember {
    pub(super) fn subscribe(&self, id: u32, channel: Channel) -> Result<(), Status> {
        self.mailbox.subscribe(id, channel)?;
        self.hub.count(channel, true);
        Ok(())
    }

    pub(super) fn unsubscribe(&self, id: u32) -> Result<(), Status> {
        let channel = self.mailbox.unsubscribe(id)?;
        self.hub.count(channel, false);
        Ok(())
    }
}

impl Drop for HubMember {
    fn drop(&mut self) {
        self.hub.lock().retain(|other| !Arc::ptr_eq(other, &self.mailbox));
        for channel in self.mailbox.channels() {
            self.hub.count(channel, false);
        }
        self.hub.notify_view();
    }
}
