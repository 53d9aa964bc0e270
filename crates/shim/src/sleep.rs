//! Functions that sleep.

use crate::clock;
use crate::layout::{Slot, kind};
use crate::raw::{self, EFAULT, EINTR, EINVAL, Timespec, Timeval, nr};
use crate::slot;
use core::ffi::{c_int, c_uint};

const CLOCK_REALTIME: c_int = 0;
const TIMER_ABSTIME: c_int = 1;

/// Blocks until a signal arrives. The call is a `ppoll` without files and not a futex call: a
/// handler with `SA_RESTART` must interrupt a sleep, but would not interrupt a futex call.
pub(crate) fn block() -> i64 {
    // SAFETY: the call has no addresses.
    unsafe { raw::call(nr::PPOLL, [0, 0, 0, 0, 8, 0]) }
}

/// Sleeps until a deadline. If a signal interrupts the sleep, returns the remaining nanoseconds.
/// Otherwise returns `None`.
fn sleep_until(slot: &Slot, deadline: u64) -> Option<u64> {
    if deadline <= slot::base(slot) {
        slot::spend(slot);
        return None;
    }
    loop {
        match slot::wait(slot, kind::SLEEP, deadline, 0, || raw::cancellable(block)) {
            (_, true) => return None,
            (result, false) if result == -i64::from(EINTR) => {
                // The remaining time must be positive. With zero, a program that sleeps again for
                // the remaining time would think that it is done.
                return Some(deadline.saturating_sub(slot::base(slot)).max(1));
            }
            _ => {}
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: *const Timespec,
    rest: *mut Timespec,
) -> c_int {
    let Some(slot) = slot::current() else {
        let arguments = [clock as usize, flags as usize, time as usize, rest as usize, 0, 0];
        // SAFETY: the kernel checks the addresses.
        let result = raw::cancellable(|| unsafe { raw::call(nr::CLOCK_NANOSLEEP, arguments) });
        return -result as c_int;
    };
    // SAFETY: the program passes a valid address or null.
    let Some(time) = (unsafe { time.as_ref() }) else { return EFAULT };
    let is_absolute = flags & TIMER_ABSTIME != 0;
    let deadline = if is_absolute {
        clock::absolute(*time)
    } else {
        clock::duration(*time).map(|duration| slot::after(slot::base(slot), duration))
    };
    let Some(deadline) = deadline else { return EINVAL };
    let Some(remaining) = sleep_until(slot, deadline) else { return 0 };
    if !is_absolute && !rest.is_null() {
        // SAFETY: the program passes a valid address or null.
        unsafe { *rest = clock::timespec(remaining) };
    }
    EINTR
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nanosleep(time: *const Timespec, rest: *mut Timespec) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    match unsafe { clock_nanosleep(CLOCK_REALTIME, 0, time, rest) } {
        0 => 0,
        error => raw::fail(error),
    }
}

#[unsafe(no_mangle)]
extern "C" fn usleep(microseconds: c_uint) -> c_int {
    let time = clock::timespec(u64::from(microseconds) * 1000);
    // SAFETY: the address is valid.
    unsafe { nanosleep(&raw const time, core::ptr::null_mut()) }
}

#[unsafe(no_mangle)]
extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let time = Timespec { sec: i64::from(seconds), nsec: 0 };
    let mut rest = Timespec { sec: 0, nsec: 0 };
    // SAFETY: the addresses are valid.
    match unsafe { clock_nanosleep(CLOCK_REALTIME, 0, &raw const time, &raw mut rest) } {
        EINTR => (rest.sec + i64::from(rest.nsec > 0)) as c_uint,
        _ => 0,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_sleep(time: *const Timespec, rest: *mut Timespec) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    match unsafe { clock_nanosleep(CLOCK_REALTIME, 0, time, rest) } {
        0 => 0,
        EINTR => -1,
        _ => -2,
    }
}

/// Converts a `timeval` to a `timespec`. Microseconds beyond a second are carried over, as the
/// kernel does for `select`.
pub(crate) fn from_timeval(time: Timeval) -> Timespec {
    let carried = time.usec.div_euclid(1_000_000);
    Timespec { sec: time.sec.saturating_add(carried), nsec: time.usec.rem_euclid(1_000_000) * 1000 }
}
