//! The ring of story lines, and the counter of ids.

use super::event_bytes;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lines that are kept.
const MAX_LINES: usize = 4096;
/// Bytes that are kept.
const MAX_BYTES: usize = 4 << 20;

/// Lines that every subscriber is to see, the newest of them.
#[derive(Debug, Default)]
pub(super) struct Story(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    /// The last id that was given out.
    last_id: u64,
    lines: VecDeque<(u64, Bytes)>,
    bytes: usize,
    /// Id of the newest line that is not kept any more.
    last_dropped: u64,
}

/// A subscriber is behind the window that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Behind;

impl Story {
    /// Adds a line and gives its id.
    pub(super) fn push(&self, name: &str, data: &str) -> u64 {
        let mut ring = self.ring();
        ring.last_id += 1;
        let id = ring.last_id;
        let line = event_bytes(id, name, data.as_bytes());
        ring.bytes += line.len();
        ring.lines.push_back((id, line));
        while ring.lines.len() > MAX_LINES || ring.bytes > MAX_BYTES {
            let Some((id, line)) = ring.lines.pop_front() else { break };
            ring.bytes -= line.len();
            ring.last_dropped = id;
        }
        id
    }

    /// An id for something that is not kept.
    pub(super) fn next_id(&self) -> u64 {
        let mut ring = self.ring();
        ring.last_id += 1;
        ring.last_id
    }

    /// The last id that was given out.
    pub(super) fn last_id(&self) -> u64 {
        self.ring().last_id
    }

    /// The lines after an id, at most `limit`, with their ids.
    pub(super) fn after(&self, id: u64, limit: usize) -> Result<Vec<(u64, Bytes)>, Behind> {
        let ring = self.ring();
        if id < ring.last_dropped {
            return Err(Behind);
        }
        let from = ring.lines.partition_point(|(i, _)| *i <= id);
        Ok(ring.lines.iter().skip(from).take(limit).cloned().collect())
    }

    /// Where to begin for one who has seen everything up to an id: there, or at the oldest line
    /// that is kept. An id that was never given out counts as everything seen.
    pub(super) fn resume(&self, id: u64) -> u64 {
        let ring = self.ring();
        if id > ring.last_id { ring.last_id } else { id.max(ring.last_dropped) }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // Nothing in here can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_in_order_and_the_oldest_go_first() {
        let story = Story::default();
        for i in 0..MAX_LINES as u64 + 10 {
            assert_eq!(story.push("run", &i.to_string()), i + 1);
        }
        assert_eq!(story.after(9, 1), Err(Behind));
        assert_eq!(story.resume(3), 10, "one who comes back late begins with what is kept");
        let lines = story.after(10, 2).expect("kept");
        assert_eq!(lines.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [11, 12]);
        assert_eq!(lines[0].1.as_ref(), b"id: 11\nevent: run\ndata: 10\n\n");
        assert_eq!(story.after(story.last_id(), 10), Ok(Vec::new()));
        assert_eq!(story.resume(u64::MAX), story.last_id());
    }

    #[test]
    fn bytes_are_bounded_too() {
        let story = Story::default();
        let long = "x".repeat(1 << 20);
        for _ in 0..10 {
            story.push("run", &long);
        }
        assert!(story.ring().bytes <= MAX_BYTES && story.ring().lines.len() == 3);
    }
}
