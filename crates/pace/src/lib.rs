//! Virtual time: simulated time stands still while any thread of a student's program can run.
//!
//! A library that is loaded into the program ([`LIBRARY`]) gives it the virtual clock, and turns
//! every wait with a timeout into a wait without one. When all threads of the program are blocked,
//! the [`TimeKeeper`] picks the single earliest event: a deadline of a thread, or bytes of an
//! answer. It lets the simulation advance to that moment, carries the event out, and waits until
//! all threads are blocked again. Since one event happens at a time, the order of events depends on
//! neither the speed nor the load of the machine.

// Virtual time is made of real threads, files and sockets.
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

/// Why this machine has no virtual time. `None` if it has.
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
