//! Publishes values, and then sends the replies that describe them.

use super::order::Reply;
use super::published::Published;
use crate::loudspeaker::Loudspeaker;
use chicane_robot::audio::AudioEvent as SoundEvent;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// A function that sends a reply. It is called after the state that the reply describes is
/// published.
type SendReply = Box<dyn FnOnce(&Arc<Published>) + Send>;

/// The sim thread's output: published values, then replies and sound events.
pub(super) struct Publication {
    view: watch::Sender<Arc<Published>>,
    /// Whether the simulation of the world panicked: see `Simulator::watch_lost`.
    lost: watch::Sender<bool>,
    loudspeaker: Loudspeaker,
    /// Number of publications so far.
    serial: u64,
    /// Number of changes so far: see `Published::changes`.
    changes: u64,
    /// Replies that wait for the next publication.
    replies: Vec<SendReply>,
    /// Sound events since the last publication, each with its simulated time in seconds.
    pub(super) sounds: Vec<(f64, SoundEvent)>,
    /// Whether a change or a reply is not published yet.
    unseen: bool,
    /// Whether simulated time advanced since the last publication.
    stale: bool,
    published_at: Instant,
}

impl Publication {
    pub(super) fn new(
        first: Published,
        loudspeaker: Loudspeaker,
        lost: watch::Sender<bool>,
        now: Instant,
    ) -> (Publication, watch::Receiver<Arc<Published>>) {
        let (view, receiver) = watch::channel(Arc::new(first));
        let out = Publication {
            view,
            lost,
            loudspeaker,
            serial: 0,
            changes: 0,
            replies: Vec::new(),
            sounds: Vec::new(),
            unseen: false,
            stale: false,
            published_at: now,
        };
        (out, receiver)
    }

    /// Counts a change: see `Published::changes`.
    pub(super) fn change(&mut self) {
        self.changes += 1;
        self.unseen = true;
    }

    /// Requests a publication without counting a change.
    pub(super) fn mark_unseen(&mut self) {
        self.unseen = true;
    }

    /// Marks the published value as stale, because simulated time advanced.
    pub(super) fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Whether a change or a reply is not published yet.
    pub(super) fn is_unseen(&self) -> bool {
        self.unseen
    }

    /// Whether simulated time advanced since the last publication.
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Real time since the last publication.
    pub(super) fn age(&self) -> Duration {
        self.published_at.elapsed()
    }

    /// Whether replies wait for the next publication.
    pub(super) fn has_pending_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Sends a reply with the next publication.
    pub(super) fn answer<T: Send + 'static>(&mut self, reply: Reply<T>, value: T) {
        self.unseen = true;
        self.replies.push(Box::new(move |published| {
            // The send fails if the client is gone.
            let _ = reply.send(Ok((value, Arc::clone(published))));
        }));
    }

    /// Drops the pending replies. Their receivers see a closed channel.
    pub(super) fn drop_replies(&mut self) {
        self.replies.clear();
    }

    /// Replaces the published value, then sends sound events and replies.
    pub(super) fn publish(&mut self, state: Published, now: Instant) {
        self.serial += 1;
        let published = Arc::new(Published { serial: self.serial, changes: self.changes, ..state });
        self.view.send_replace(Arc::clone(&published));
        let lost = published.lost.is_some();
        self.lost.send_if_modified(|before| std::mem::replace(before, lost) != lost);
        self.loudspeaker.publish(self.serial, self.sounds.drain(..));
        (self.unseen, self.stale, self.published_at) = (false, false, now);
        for send in self.replies.drain(..) {
            send(&published);
        }
    }
}
