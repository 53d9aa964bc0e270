//! Reads the stream of the simulation, which a [`Recorder`](crate::Recorder) wrote.

use crate::change::Change;

/// The bytes at this position are not an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the journal is damaged at byte {0} of its stream of commands")]
pub struct Damaged(pub usize);

/// An entry of the stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The entry took effect between this tick of the simulation and the next one.
    pub tick: u64,
    /// The change.
    pub change: Change,
}

/// The entries of a stream in order. A clone continues at the same position.
#[derive(Debug, Clone)]
pub struct Entries<B> {
    bytes: B,
    at: usize,
    tick: u64,
}

impl<B: AsRef<[u8]>> Entries<B> {
    /// The entries of these bytes.
    pub fn new(bytes: B) -> Entries<B> {
        Entries { bytes, at: 0, tick: 0 }
    }

    /// The next entry; `None` after the last one.
    pub fn read(&mut self) -> Result<Option<Entry>, Damaged> {
        let rest = self.bytes.as_ref().get(self.at..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let damaged = Damaged(self.at);
        let ((ticks, change), left) =
            postcard::take_from_bytes::<(u64, Change)>(rest).map_err(|_| damaged)?;
        self.at += rest.len() - left.len();
        self.tick = self.tick.checked_add(ticks).ok_or(damaged)?;
        Ok(Some(Entry { tick: self.tick, change }))
    }
}
