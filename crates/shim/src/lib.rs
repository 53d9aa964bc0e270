//! A library that gives a student's program the clock of the simulation.
//!
//! The dynamic linker loads it before all other libraries, so its functions hide those of the C
//! library that read a clock, wait for some time, or return random numbers. The time that they use
//! is in a file that the program shares with the simulator ([`layout`]). The simulator advances the
//! time when every thread of the program is blocked, and then wakes the thread whose deadline is
//! first.
//!
//! If the file is missing, all functions do what those of the C library do.
//!
//! The functions run in programs of all kinds, in signal handlers and after `fork`. Therefore they
//! do not allocate memory, take locks or panic. The library does without the standard library,
//! because otherwise every program would load that one's code for panics and another shared library
//! for it.

#![no_std]
// The functions have the types of the C library, and the memory is shared with another process.
// Neither is possible in safe Rust.
#![allow(unsafe_code)]

mod clock;
mod direct;
pub mod layout;
mod lock;
mod poll;
mod process;
mod random;
mod raw;
mod signal;
mod sleep;
mod slot;
mod thread;
mod timer;
mod tls;

/// Prepares a program before its `main`.
extern "C" fn construct() {
    raw::find_all();
    if slot::header().is_some() {
        signal::install();
        thread::install();
        slot::current();
    }
}

/// Ends the program. No function panics, but the compiler demands this one. A test has that of the
/// standard library.
#[cfg_attr(not(test), panic_handler)]
#[cfg_attr(test, allow(dead_code))]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        // SAFETY: the call has no addresses.
        unsafe { raw::call(raw::nr::EXIT_GROUP, [101, 0, 0, 0, 0, 0]) };
    }
}

// The core library refers to this function of the standard library if the compiler keeps one of its
// panics. Nothing calls the function, but the library could not be loaded without it.
core::arch::global_asm!(
    ".pushsection .text.rust_eh_personality, \"ax\", %progbits",
    ".weak rust_eh_personality",
    ".hidden rust_eh_personality",
    ".type rust_eh_personality, %function",
    "rust_eh_personality:",
    ".long 0",
    ".popsection",
);

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = construct;
