//! Variables that each thread has its own copy of.
//!
//! In stable Rust, only the standard library has thread-local variables, so this module defines
//! them in assembly. The library is loaded together with the program. Therefore the variables have
//! a fixed offset from the thread pointer, and access to them calls no function that could allocate
//! memory.

use crate::layout::Slot;
use core::arch::{asm, global_asm};

global_asm!(
    ".pushsection .tbss, \"awT\", %nobits",
    ".balign 8",
    ".globl chicane_time_thread",
    ".hidden chicane_time_thread",
    ".type chicane_time_thread, %object",
    ".size chicane_time_thread, 16",
    "chicane_time_thread:",
    ".zero 16",
    ".popsection",
);

/// The address of the variables of this thread.
fn variables() -> *mut *const Slot {
    let address;
    // SAFETY: the code only computes an address.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!(
            "mov {address}, qword ptr fs:[0]",
            "add {address}, qword ptr [rip + chicane_time_thread@GOTTPOFF]",
            address = out(reg) address,
            options(pure, nomem, nostack),
        );
        #[cfg(target_arch = "aarch64")]
        asm!(
            "mrs {address}, tpidr_el0",
            "adrp {distance}, :gottprel:chicane_time_thread",
            "ldr {distance}, [{distance}, :gottprel_lo12:chicane_time_thread]",
            "add {address}, {address}, {distance}",
            address = out(reg) address,
            distance = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    address
}

/// A thread-local variable: its index among the variables of the thread. It is null in a new
/// thread.
pub(crate) struct Variable(usize);

/// The slot of this thread.
pub(crate) const CURRENT: Variable = Variable(0);
/// The slot of the process that this thread is about to create.
pub(crate) const FORKED: Variable = Variable(1);

impl Variable {
    pub(crate) fn get(&self) -> *const Slot {
        // SAFETY: no other thread uses this address, and a signal handler finds the old value or
        // the new one.
        unsafe { variables().add(self.0).read_volatile() }
    }

    pub(crate) fn set(&self, slot: *const Slot) {
        // SAFETY: no other thread uses this address, and a signal handler finds the old value or
        // the new one.
        unsafe { variables().add(self.0).write_volatile(slot) };
    }
}
