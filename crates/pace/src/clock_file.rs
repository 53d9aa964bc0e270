//! The simulator's access to the file that it shares with the program.
//!
//! The program owns the file and can truncate it at any time. Access to a truncated part of a
//! memory mapping would kill the simulator with a signal. Therefore the simulator reads and writes
//! the file instead of mapping it.

use crate::layout::{self, Header, MAGIC, NEVER, SIZE, SLOTS, SLOTS_AT, Slot, kind};
use std::fs::File;
use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// The content of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotView {
    pub(crate) index: usize,
    /// Thread id in the program's namespace.
    pub(crate) tid: i32,
    /// A number that names the thread. It depends only on the order in which threads were created,
    /// so it is the same in every run.
    pub(crate) name: u64,
    /// When the thread wants to be woken, in virtual nanoseconds. `None` if it does not wait.
    pub(crate) deadline: Option<u64>,
    pub(crate) kind: WaitKind,
    /// When the process gets `SIGALRM`, and the interval of the alarm, both in virtual nanoseconds.
    /// `None` if no alarm is set. The interval is 0 if the alarm does not repeat.
    pub(crate) alarm: Option<(u64, u64)>,
}

/// How a thread waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WaitKind {
    /// A sleep.
    Sleep,
    /// `poll` and similar functions.
    Poll,
    /// A semaphore, a lock, a condition variable, the end of a thread, a signal, or a futex through
    /// `syscall`.
    Lock,
    /// The thread reads clocks in a loop.
    Busy,
}

/// Prepares an empty file for a new program. `seed` is the seed of the program's random numbers.
pub fn prepare(file: &File, seed: u64) -> io::Result<()> {
    file.set_len(SIZE as u64)?;
    file.write_all_at(&seed.to_ne_bytes(), offset_of!(Header, seed) as u64)?;
    file.write_all_at(&MAGIC.to_ne_bytes(), offset_of!(Header, magic) as u64)
}

/// The shared file.
pub(crate) struct ClockFile {
    file: File,
    bytes: Vec<u8>,
}

impl ClockFile {
    /// The file of a program, which [`prepare`] has prepared.
    pub(crate) fn new(file: OwnedFd) -> ClockFile {
        ClockFile { file: File::from(file), bytes: Vec::new() }
    }

    fn put(&self, at: usize, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, at as u64)
    }

    /// Sets the virtual time.
    pub(crate) fn set_now(&self, now: u64) {
        // Writing fails if the program has filled the file system that holds this file. The
        // program's clock then stands still.
        let _ = self.put(offset_of!(Header, now), &now.to_ne_bytes());
    }

    /// The bits of [`layout::real`] that the program has set. Each bit stands for a reason why the
    /// program needs real time. 0 if the file can't be read.
    pub(crate) fn real_bits(&self) -> u32 {
        let mut bits = [0; 4];
        let read = self.file.read_exact_at(&mut bits, offset_of!(Header, real) as u64);
        if read.is_ok() { u32::from_ne_bytes(bits) } else { 0 }
    }

    /// The slots in use.
    pub(crate) fn slots(&mut self) -> Vec<SlotView> {
        let mut used = [0; 4];
        let at = offset_of!(Header, used) as u64;
        let used = self.file.read_exact_at(&mut used, at).map_or(0, |()| u32::from_ne_bytes(used) as usize);
        self.bytes.resize(used.min(SLOTS) * size_of::<Slot>(), 0);
        if self.file.read_exact_at(&mut self.bytes, SLOTS_AT as u64).is_err() {
            return Vec::new();
        }
        let slots = self.bytes.chunks_exact(size_of::<Slot>()).enumerate();
        slots.filter_map(|(index, bytes)| view(index, bytes)).collect()
    }

    fn put_slot(&self, index: usize, at: usize, bytes: &[u8]) {
        let _ = self.put(SLOTS_AT + index * size_of::<Slot>() + at, bytes);
    }

    /// Marks in the slot of a thread that the thread's deadline has passed. The caller still has to
    /// wake the thread.
    pub(crate) fn fire(&self, index: usize) {
        self.put_slot(index, offset_of!(Slot, fired), &1u32.to_ne_bytes());
    }

    /// Sets the next time of an alarm, or removes the alarm.
    pub(crate) fn set_alarm(&self, index: usize, at: Option<u64>) {
        self.put_slot(index, offset_of!(Slot, alarm), &at.unwrap_or(NEVER).to_ne_bytes());
    }

    /// Frees the slot of a thread that has ended.
    pub(crate) fn free(&self, index: usize) {
        self.put_slot(index, offset_of!(Slot, deadline), &NEVER.to_ne_bytes());
        self.put_slot(index, offset_of!(Slot, alarm), &NEVER.to_ne_bytes());
        self.put_slot(index, offset_of!(Slot, tid), &0i32.to_ne_bytes());
    }
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

fn small(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn view(index: usize, bytes: &[u8]) -> Option<SlotView> {
    let tid = small(bytes, offset_of!(Slot, tid)).cast_signed();
    let some = |at| Some(number(bytes, at)).filter(|value| *value != NEVER);
    let kind = match small(bytes, offset_of!(Slot, kind)) {
        kind::POLL => WaitKind::Poll,
        kind::LOCK | kind::CONDITION => WaitKind::Lock,
        kind::BUSY => WaitKind::Busy,
        _ => WaitKind::Sleep,
    };
    (tid > 0).then(|| SlotView {
        index,
        tid,
        name: number(bytes, offset_of!(Slot, name)),
        deadline: some(offset_of!(Slot, deadline))
            .filter(|_| small(bytes, offset_of!(Slot, kind)) != layout::kind::NONE),
        kind,
        alarm: some(offset_of!(Slot, alarm)).map(|at| (at, number(bytes, offset_of!(Slot, alarm_interval)))),
    })
}
