//! The ring buffer of story lines, and the counter of event ids.

use super::event_bytes;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of lines in the ring buffer.
const MAX_LINES: usize = 4096;
/// Maximum size of all lines in the ring buffer, bytes.
const MAX_BYTES: usize = 4 << 20;

/// The newest story lines. Every subscriber receives all of them.
#[derive(Debug, Default)]
pub(super) struct Story(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    /// The id of the newest event.
    last_id: u64,
    /// Lines with their ids, the oldest first.
    lines: VecDeque<(u64, Bytes)>,
    /// Size of all lines, bytes.
    bytes: usize,
    /// Id of the newest line that was dropped from the buffer.
    last_dropped: u64,
}

/// A subscriber missed lines that are no longer in the ring buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Behind;

impl Story {
    /// Adds a line and returns its id.
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

    /// Returns a new id for an event that is not stored, such as a state frame.
    pub(super) fn next_id(&self) -> u64 {
        let mut ring = self.ring();
        ring.last_id += 1;
        ring.last_id
    }

    /// The id of the newest event.
    pub(super) fn last_id(&self) -> u64 {
        self.ring().last_id
    }

    /// Returns at most `limit` lines after this id, each with its own id.
    pub(super) fn after(&self, id: u64, limit: usize) -> Result<Vec<(u64, Bytes)>, Behind> {
        let ring = self.ring();
        if id < ring.last_dropped {
            return Err(Behind);
        }
        let from = ring.lines.partition_point(|(i, _)| *i <= id);
        Ok(ring.lines.iter().skip(from).take(limit).cloned().collect())
    }

    /// Returns the id after which a client resumes if it received all events up to `id`. A client
    /// that is behind the buffer resumes with the oldest line of the buffer. An id above the newest
    /// id comes from an earlier run of the program, so the client resumes after the newest event.
    pub(super) fn resume(&self, id: u64) -> u64 {
        let ring = self.ring();
        if id > ring.last_id { ring.last_id } else { id.max(ring.last_dropped) }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // A lock that a panic has poisoned can still be used, because no code under this lock
        // panics between two changes that belong together.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_in_order_and_the_oldest_are_dropped_first() {
        let story = Story::default();
        for i in 0..MAX_LINES as u64 + 10 {
            assert_eq!(story.push("run", &i.to_string()), i + 1);
        }
        assert_eq!(story.after(9, 1), Err(Behind));
        assert_eq!(story.resume(3), 10, "a client that is behind resumes with the oldest line");
        let lines = story.after(10, 2).expect("kept");
        assert_eq!(lines.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [11, 12]);
        assert_eq!(lines[0].1.as_ref(), b"id: 11\nevent: run\ndata: 10\n\n");
        assert_eq!(story.after(story.last_id(), 10), Ok(Vec::new()));
        assert_eq!(story.resume(u64::MAX), story.last_id());
    }

    #[test]
    fn the_size_in_bytes_is_bounded() {
        let story = Story::default();
        let long = "x".repeat(1 << 20);
        for _ in 0..10 {
            story.push("run", &long);
        }
        assert!(story.ring().bytes <= MAX_BYTES && story.ring().lines.len() == 3);
    }
}
