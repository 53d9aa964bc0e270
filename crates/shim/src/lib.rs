//! A library that gives a student's program the clock of the simulation.
//!
//! The dynamic linker loads this library before all others. Therefore its functions replace the
//! functions of the C library that read a clock, wait for some time, or return random numbers. The
//! functions take the time from a file that the program shares with the simulator ([`layout`]).
//! When every thread of the program is blocked, the simulator advances this time and wakes the
//! thread with the earliest deadline.
//!
//! If the file is missing, all functions behave as in the C library.
//!
//! The functions run in programs of all kinds, in signal handlers and after `fork`. Therefore they
//! do not allocate memory, take locks or panic. The library does not use Rust's standard library,
//! because that would add its panic handling and another shared library to every program.

#![no_std]
// The functions have the signatures of the C library, and the memory is shared with another
// process. Both need unsafe code.
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

/// Ends the program. No function panics, but the compiler requires a panic handler. A test build
/// uses the panic handler of the standard library instead.
#[cfg_attr(not(test), panic_handler)]
#[cfg_attr(test, allow(dead_code))]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        // SAFETY: the call has no addresses.
        unsafe { raw::call(raw::nr::EXIT_GROUP, [101, 0, 0, 0, 0, 0]) };
    }
}

// A function of the core library that can panic refers to the symbol `rust_eh_personality`, which
// only the standard library defines. If the compiled code contains such a function, this library
// could not be loaded without the definition below. Nothing calls the symbol.
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
