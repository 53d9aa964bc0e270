//! One subscriber of the event stream.

use super::story::Behind;
use super::{Feed, Head, StateFrame, event_bytes};
use crate::metrics::Metrics;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::sync::watch;

/// Maximum number of subscribers.
const MAX_SUBSCRIBERS: i64 = 10_000;
/// Maximum number of story lines that a subscriber copies from the ring buffer at once.
const LINES_PER_BATCH: usize = 64;

/// The maximum number of subscribers is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManySubscribers;

/// Counts an open stream in the metrics until this value is dropped.
struct OpenStream(Arc<Metrics>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.subscribers.fetch_sub(1, Relaxed);
    }
}

struct Subscriber {
    feed: Feed,
    head: watch::Receiver<Head>,
    /// Id of the last story line that was sent. Before the first line is sent, this is the id after
    /// which the stream begins.
    line: u64,
    /// Number of the last frame that was sent. Before the first frame is sent, this is the number
    /// of the newest frame at the start of the stream; `None` if there was no frame.
    frame: Option<u64>,
    /// Serial number of the published value in the first event. Frames of this value or of older
    /// values are skipped, because an older value would replace the client's newer state.
    first: u64,
    /// Number of the last heartbeat that was sent.
    heartbeats: u64,
    /// Events to send.
    ready: VecDeque<Bytes>,
    _open: OpenStream,
}

impl Feed {
    /// Opens a stream. The stream sends first the current state, then the story lines after
    /// `last_event_id`, then new events.
    pub fn subscribe(
        &self,
        last_event_id: Option<u64>,
    ) -> Result<impl Stream<Item = Result<Bytes, Infallible>> + Send + use<>, TooManySubscribers> {
        if self.metrics.subscribers.fetch_add(1, Relaxed) >= MAX_SUBSCRIBERS {
            self.metrics.subscribers.fetch_sub(1, Relaxed);
            return Err(TooManySubscribers);
        }
        let open = OpenStream(Arc::clone(&self.metrics));
        self.opened.notify_one();
        let mut head = self.head.subscribe();
        let (frame, heartbeats) = {
            let head = head.borrow_and_update();
            (head.frame.as_ref().map(|f| f.number), head.heartbeats)
        };
        let newest = self.story.last_id();
        let line = last_event_id.map_or(newest, |id| self.story.resume(id));
        // The first event has the id after which the stream begins. If the connection breaks before
        // the missed lines are sent, the client asks for those lines again.
        let now = self.simulator.now();
        let ready = VecDeque::from([event_bytes(line, "state", &now.state_json())]);
        let first = now.serial;
        // The missed lines are in the buffer already, so the subscriber must not wait for a change
        // of the head.
        head.mark_changed();
        let subscriber =
            Subscriber { feed: self.clone(), head, line, frame, first, heartbeats, ready, _open: open };
        Ok(unfold(subscriber, |mut subscriber| async move {
            let bytes = subscriber.next().await?;
            Some((Ok(bytes), subscriber))
        }))
    }
}

impl Subscriber {
    /// The next event of the stream; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            self.head.changed().await.ok()?;
            let head = self.head.borrow_and_update().clone();
            if head.closed || self.take(&head).is_err() {
                return None;
            }
        }
    }

    /// Queues the new events in the order of their ids.
    fn take(&mut self, head: &Head) -> Result<(), Behind> {
        let lines = match head.newest_line > self.line {
            true => self.feed.story.after(self.line, LINES_PER_BATCH)?,
            false => Vec::new(),
        };
        let more_lines = lines.len() == LINES_PER_BATCH;
        if more_lines {
            // The batch is full, so more lines may wait.
            self.head.mark_changed();
        }
        let is_new =
            |f: &&Arc<StateFrame>| f.serial > self.first && self.frame.is_none_or(|sent| f.number > sent);
        let mut frame = head.frame.as_ref().filter(is_new);
        // Lines that are newer than `head` are sent after the next change of the head.
        for (id, bytes) in lines.into_iter().take_while(|(id, _)| *id <= head.newest_line) {
            if let Some(frame) = frame.take_if(|f| f.id < id) {
                self.take_frame(frame);
            }
            self.line = id;
            self.ready.push_back(bytes);
        }
        // If more lines wait, some of them may have ids below the id of the frame, so the frame
        // waits too.
        if let Some(frame) = frame.filter(|_| !more_lines) {
            self.take_frame(frame);
        }
        if head.heartbeats > self.heartbeats {
            self.heartbeats = head.heartbeats;
            self.ready.push_back(Bytes::from_static(b": \n\n"));
        }
        Ok(())
    }

    fn take_frame(&mut self, frame: &StateFrame) {
        let missed = self.frame.map_or(0, |sent| frame.number - sent - 1);
        self.feed.metrics.dropped_frames.fetch_add(missed, Relaxed);
        self.frame = Some(frame.number);
        self.ready.push_back(frame.bytes.clone());
    }
}
