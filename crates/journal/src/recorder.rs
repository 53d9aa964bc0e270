//! Writes the stream of the simulation.

use crate::change::Change;
use crate::robot_order::RobotOrder;
use chicane_robot::Command as RobotCommand;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// Maximum size of both streams of a journal together, bytes. A run with larger streams has no
/// journal.
pub const MAX_BYTES: usize = 64 << 20;

/// A buffer between a recorder and the thread that stores its bytes.
#[derive(Debug, Default)]
pub struct Sink {
    state: Mutex<SinkState>,
}

#[derive(Debug, Default)]
struct SinkState {
    /// Whole entries that were not taken yet.
    waiting: Vec<u8>,
    /// Size of both streams so far, in bytes.
    total: usize,
    /// Whether the size limit was exceeded.
    is_full: bool,
}

impl Sink {
    fn lock(&self) -> MutexGuard<'_, SinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the bytes that were written since the last call. They end with a whole entry.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().waiting)
    }

    /// Counts bytes of the stream of the session. Returns false if the size limit is exceeded.
    pub fn count(&self, bytes: usize) -> bool {
        let mut state = self.lock();
        state.total = state.total.saturating_add(bytes);
        state.is_full |= state.total > MAX_BYTES;
        !state.is_full
    }

    /// Whether the size limit was exceeded.
    pub fn is_full(&self) -> bool {
        self.lock().is_full
    }
}

/// A sound file and its number.
type NumberedFile = (Arc<[u8]>, u32);

/// Writes the stream of the simulation. Used only by the thread that applies commands.
#[derive(Debug)]
pub struct Recorder {
    sink: Arc<Sink>,
    /// The tick of the last entry.
    tick: u64,
    /// The sound files so far, by their hash.
    files: BTreeMap<u64, Vec<NumberedFile>>,
    file_count: u32,
    /// Buffer for encoding an entry. It is kept to reuse its memory.
    scratch: Vec<u8>,
}

impl Recorder {
    /// A recorder of a new run.
    pub fn new(sink: Arc<Sink>) -> Recorder {
        Recorder { sink, tick: 0, files: BTreeMap::new(), file_count: 0, scratch: Vec::new() }
    }

    /// Writes an entry. `tick` is the tick of the simulation, which never decreases.
    pub fn put(&mut self, tick: u64, change: &Change) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let ticks = tick.saturating_sub(self.tick);
        // Postcard fails only for a sequence of unknown length. A change contains no such sequence.
        let Ok(scratch) = postcard::to_extend(&(ticks, change), scratch) else { return };
        let mut sink = self.sink.lock();
        sink.total = sink.total.saturating_add(scratch.len());
        sink.is_full |= sink.total > MAX_BYTES;
        if sink.is_full {
            sink.waiting = Vec::new();
        } else {
            sink.waiting.extend_from_slice(&scratch);
            self.tick = tick;
        }
        drop(sink);
        self.scratch = scratch;
    }

    /// Converts a command to the form of a journal. If the journal does not have the command's
    /// sound file yet, the file is written first.
    pub fn order(&mut self, tick: u64, command: &RobotCommand) -> RobotOrder {
        let mut new_file = None;
        let (files, count) = (&mut self.files, &mut self.file_count);
        let order = RobotOrder::of(command, |file| {
            let same = files.entry(xxh3_64(file)).or_default();
            if let Some((_, number)) = same.iter().find(|(known, _)| known == file) {
                return *number;
            }
            let number = *count;
            same.push((Arc::clone(file), number));
            *count += 1;
            new_file = Some(Arc::clone(file));
            number
        });
        if let Some(file) = new_file {
            self.put(tick, &Change::File(file.to_vec()));
        }
        order
    }
}
