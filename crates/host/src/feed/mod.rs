//! The event stream: state for everyone, and the story.
//!
//! State is latest-wins: a frame is written once for all subscribers, and one who is slow gets the
//! newest when it is ready again. Story lines (`run`, `evaluation`) all count: they are kept in a
//! ring, and one who falls behind it is disconnected. Both take their ids from one counter, so that
//! `Last-Event-ID` says where to go on. Nobody waits for a subscriber.

mod frames;
mod story;
mod subscriber;

use crate::driver::Simulator;
use crate::metrics::Metrics;
use bytes::Bytes;
use std::sync::Arc;
use story::Story;
use tokio::sync::watch;

/// The newest of everything: what a subscriber wakes up for.
#[derive(Debug, Clone, Default)]
struct Head {
    frame: Option<Arc<StateFrame>>,
    /// Id of the newest story line.
    newest_line: u64,
    /// Counts heartbeats.
    heartbeats: u64,
    /// Nothing more will come.
    closed: bool,
}

/// A state frame, ready to be sent.
#[derive(Debug)]
struct StateFrame {
    id: u64,
    /// Counts frames: a gap is frames that a subscriber missed.
    number: u64,
    /// Which published value it shows.
    serial: u64,
    bytes: Bytes,
}

/// The event stream of a simulator.
#[derive(Clone)]
pub struct Feed {
    head: watch::Sender<Head>,
    story: Arc<Story>,
    simulator: Simulator,
    metrics: Arc<Metrics>,
}

impl Feed {
    /// Starts a feed; it makes frames until it is closed.
    pub fn start(simulator: Simulator, metrics: Arc<Metrics>) -> Feed {
        let (head, _) = watch::channel(Head::default());
        let feed = Feed { head, story: Arc::default(), simulator, metrics };
        tokio::spawn(frames::make_frames(feed.clone()));
        tokio::spawn(frames::send_heartbeats(feed.clone()));
        feed
    }

    /// Tells every subscriber a line of the story.
    pub fn send(&self, event: &chicane_wire::StoryEvent) {
        let Ok(data) = event.data() else { return };
        // Under the head's lock, so that heads show ids in order.
        self.head.send_modify(|head| head.newest_line = self.story.push(event.name(), &data));
    }

    /// Ends every stream.
    pub fn close(&self) {
        self.head.send_modify(|head| head.closed = true);
    }
}

/// One event as it is sent.
fn event_bytes(id: u64, name: &str, data: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(data.len() + name.len() + 48);
    bytes.extend_from_slice(format!("id: {id}\nevent: {name}\ndata: ").as_bytes());
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(b"\n\n");
    Bytes::from(bytes)
}
