//! Virtual time: simulated time stands still while any thread of a student's program can run.
//!
//! A library that is loaded into the program ([`LIBRARY`]) provides the virtual clock. It replaces
//! the waits of the C library that have a timeout by waits that the awaited event or the simulator
//! ends. When all threads of the program are blocked, the [`TimeKeeper`] picks the earliest event,
//! for example the deadline of a thread, or the arrival of bytes of an answer. It lets the
//! simulation advance to that moment, carries out the event, and waits until all threads are
//! blocked again. Because only one event happens at a time, the order of events does not depend on
//! the speed or the load of the machine.

// Virtual time is implemented with real threads, files and sockets.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod clock_file;
mod report;
mod stream;
mod syscalls;
mod threads;
mod time_keeper;
mod traffic;
mod web;
mod work;

#[allow(dead_code, unreachable_pub)] // The library shares this file, and uses the rest.
#[path = "../../shim/src/layout.rs"]
mod layout;

use std::fmt::Display;
use traffic::Traffic;

pub use clock_file::prepare;
pub use report::{PaceReport, SentBytes, WaitSum};
pub use stream::VirtualStream;
pub use time_keeper::{Over, PacedProgram, PacedWorld, TimeKeeper, TimeKeeperHandle};
pub use web::{Serve, Task};
pub use work::{Unfinished, Work};

/// The library that the program loads.
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libchicane_time.so"));
/// File name of the library.
pub const LIBRARY_NAME: &str = "libchicane_time.so";
/// Name of the shared file, which has to be in the folder of the library.
pub const CLOCK_NAME: &str = "clock";
/// Size of the shared file in bytes.
pub const CLOCK_BYTES: u64 = layout::SIZE as u64;

/// Why this machine can't provide virtual time. `None` if it can.
pub fn problem() -> Option<String> {
    let missing =
        |what: &str, error: &dyn Display| format!("this machine has no virtual time: {what}: {error}");
    let files = ["syscall", "schedstat", "children"].into_iter().find_map(|name| {
        let path = format!("/proc/thread-self/{name}");
        std::fs::read(&path).err().map(|error| missing(&path, &error))
    });
    let counters = || Traffic::of_this_network().and_then(|mut traffic| traffic.in_flight()).err();
    files.or_else(|| counters().map(|error| missing("sock_diag", &error)))
}
