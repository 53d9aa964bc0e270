//! The memory that a student's program shares with the simulator: the virtual clock, and one slot
//! for each thread of the program.
//!
//! The simulator compiles this file too, so the program and the simulator use the same layout. The
//! program can write anything into this memory. Therefore the simulator never uses the content as
//! an address, and uses a number of slots only after limiting it to [`SLOTS`].

use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

/// The first bytes of the memory: "chicane" and the version of this layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"chicane\x01");
/// Number of slots. A thread without a slot waits in real time.
pub const SLOTS: usize = 4096;
/// The value of a deadline that is not set.
pub const NEVER: u64 = u64::MAX;
/// Nanoseconds that reading a clock adds to the thread's own time.
pub const READ_NS: u64 = 1_000;
/// One tick of the simulation in nanoseconds. A thread whose own time is at least this far ahead of
/// the virtual time waits.
pub const TICK_NS: u64 = 5_000_000;
/// `CLOCK_REALTIME` at the start of the session: 2026-01-01 00:00:00 UTC, in seconds. The start is
/// the same for every session, because programs also use this clock for seeds and names. With
/// another start, the same session could have another result.
pub const REALTIME_START_S: u64 = 1_767_225_600;
/// `CLOCK_MONOTONIC` at the start of the session, in seconds.
pub const MONOTONIC_START_S: u64 = 1_000;
/// The signal that ends a wait: a real-time signal that the C library does not use.
pub const WAKE_SIGNAL: i32 = 62;

/// What a thread waits in, as stored in [`Slot::kind`]. [`WAKE_SIGNAL`] ends every wait.
pub mod kind {
    /// The thread does not wait for a deadline.
    pub const NONE: u32 = 0;
    /// `nanosleep` and similar functions, and the pause before the second check of `waitpid` and
    /// `wait4`.
    pub const SLEEP: u32 = 1;
    /// `poll`, `select`, `epoll_wait`.
    pub const POLL: u32 = 2;
    /// A semaphore, a lock, the end of a thread, a signal, or a futex through `syscall`.
    pub const LOCK: u32 = 3;
    /// A condition variable.
    pub const CONDITION: u32 = 4;
    /// The thread has read clocks so often that its own time is a tick ahead of the virtual time.
    pub const BUSY: u32 = 5;
}

/// Reasons why a program needs real time, as bits of [`Header::real`]. Most are timers that work
/// only in real time.
pub mod real {
    /// `timerfd_settime`.
    pub const TIMERFD: u32 = 1;
    /// `timer_settime`.
    pub const TIMER: u32 = 2;
    /// `SO_RCVTIMEO` or `SO_SNDTIMEO`.
    pub const SOCKET_TIMEOUT: u32 = 4;
    /// There are more threads than slots.
    pub const SLOTS: u32 = 8;
}

/// The start of the memory. The slots follow at [`SLOTS_AT`].
#[repr(C)]
pub struct Header {
    /// [`MAGIC`], written by the simulator.
    pub magic: AtomicU64,
    /// Virtual time in nanoseconds since the start of the session, written by the simulator.
    pub now: AtomicU64,
    /// Seed of the program's random numbers, written by the simulator.
    pub seed: AtomicU64,
    /// Bits of [`real`], set by the program. They say why the program needs real time.
    pub real: AtomicU32,
    /// Slots from this index on were never used. The program increases the index.
    pub used: AtomicU32,
}

/// Offset of the first slot, in bytes.
pub const SLOTS_AT: usize = 4096;
/// Size of the memory in bytes.
pub const SIZE: usize = SLOTS_AT + SLOTS * core::mem::size_of::<Slot>();

/// One thread of the program.
#[repr(C, align(64))]
pub struct Slot {
    /// Thread id in the program's own namespace. 0 if the slot is free, -1 if it is taken but not
    /// yet assigned to a thread. The simulator frees the slots of threads that have ended.
    pub tid: AtomicI32,
    /// Process id in the program's own namespace.
    pub pid: AtomicI32,
    /// A name that depends only on the order in which the thread and its ancestors were created,
    /// and not on thread ids.
    pub name: AtomicU64,
    /// When the thread wants to be woken, in virtual nanoseconds, or [`NEVER`].
    pub deadline: AtomicU64,
    /// One of [`kind`].
    pub kind: AtomicU32,
    /// The simulator sets this to 1 before it wakes the thread.
    pub fired: AtomicU32,
    /// Number of threads and processes that this thread has created.
    pub children: AtomicU32,
    /// The thread's own time in virtual nanoseconds. A read of a clock first raises it to
    /// [`Header::now`] if it is behind, and then adds [`READ_NS`].
    pub local: AtomicU64,
    /// Number of times that the thread has read a clock.
    pub reads: AtomicU64,
    /// When the process gets `SIGALRM`, in virtual nanoseconds, or [`NEVER`].
    pub alarm: AtomicU64,
    /// The interval of the alarm in nanoseconds. 0 if it does not repeat.
    pub alarm_interval: AtomicU64,
    /// Number of random bytes that the thread has received.
    pub random: AtomicU64,
    /// Values that only the program uses: the start routine and argument of a new thread, the
    /// address of the timeout of a wait, and whether the thread has read a clock since the last call
    /// of `slot::base`.
    pub private: [AtomicU64; 4],
}
