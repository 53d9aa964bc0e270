//! The event stream: state frames and story lines.
//!
//! A state frame is written once for all subscribers. A slow subscriber skips frames and gets the
//! newest frame. Story lines (`run`, `evaluation`) may not be skipped. They are kept in a ring
//! buffer, and a subscriber that falls behind the buffer is disconnected. Frames and lines take
//! their ids from one counter, so a client that reconnects resumes after its `Last-Event-ID`.
//! Senders never wait for a subscriber.

mod frames;
mod story;
mod subscriber;

use crate::driver::Simulator;
use crate::metrics::Metrics;
use bytes::Bytes;
use std::sync::Arc;
use story::Story;
use tokio::sync::{Notify, watch};

/// The newest frame, story line and heartbeat. A change of this value wakes the subscribers.
#[derive(Debug, Clone, Default)]
struct Head {
    /// The newest frame; `None` until the first frame is made.
    frame: Option<Arc<StateFrame>>,
    /// Id of the newest story line.
    newest_line: u64,
    /// Number of heartbeats so far.
    heartbeats: u64,
    /// Whether the feed is closed. Subscribers then end their streams.
    closed: bool,
}

/// A state frame as it is sent.
#[derive(Debug)]
struct StateFrame {
    /// Event id.
    id: u64,
    /// Number of the frame. A gap between the numbers of two sent frames shows how many frames were
    /// missed.
    number: u64,
    /// Serial number of the published value that the frame shows.
    serial: u64,
    bytes: Bytes,
}

/// The event stream of a simulator. Clones share one stream.
#[derive(Clone)]
pub struct Feed {
    head: watch::Sender<Head>,
    story: Arc<Story>,
    simulator: Simulator,
    metrics: Arc<Metrics>,
    /// Notified when a stream is opened.
    opened: Arc<Notify>,
}

impl Feed {
    /// Starts a feed with two tasks. The task that sends heartbeats ends when the feed is closed.
    /// The task that makes frames ends when the sim thread has ended.
    pub(crate) fn start(simulator: Simulator, metrics: Arc<Metrics>) -> Feed {
        let (head, _) = watch::channel(Head::default());
        let feed = Feed { head, story: Arc::default(), simulator, metrics, opened: Arc::default() };
        tokio::spawn(frames::make_frames(feed.clone()));
        tokio::spawn(frames::send_heartbeats(feed.clone()));
        feed
    }

    /// Sends a story line to every subscriber.
    pub fn send(&self, event: &chicane_wire::StoryEvent) {
        let Ok(data) = event.data() else { return };
        // The id is taken under the lock of the head, so that the ids in the head only increase.
        self.head.send_modify(|head| head.newest_line = self.story.push(event.name(), &data));
    }

    /// Ends the stream of every subscriber.
    pub(crate) fn close(&self) {
        self.head.send_modify(|head| head.closed = true);
    }
}

/// An event in the format of server-sent events.
fn event_bytes(id: u64, name: &str, data: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(data.len() + name.len() + 48);
    bytes.extend_from_slice(format!("id: {id}\nevent: {name}\ndata: ").as_bytes());
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(b"\n\n");
    Bytes::from(bytes)
}
