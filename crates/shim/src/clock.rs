//! Functions that read clocks.

use crate::layout::{MONOTONIC_START_S, REALTIME_START_S};
use crate::raw::{self, Timespec, Timeval, nr};
use crate::slot;
use core::ffi::{c_int, c_long, c_void};
use core::sync::atomic::Ordering::Relaxed;

const SECOND: u64 = 1_000_000_000;
/// An absolute time of at least this many seconds belongs to the real-time clock, because the
/// monotonic clock of a session never gets this far.
const REALTIME_FROM_S: i64 = 1_000_000_000;

/// Adds the cost of reading a clock to this thread's own time, and returns that time in virtual
/// nanoseconds. `None` if the thread has no virtual time.
pub(crate) fn now() -> Option<u64> {
    let slot = slot::current()?;
    let now = slot::spend(slot);
    slot.reads.fetch_add(1, Relaxed);
    slot.private[slot::READ].store(1, Relaxed);
    Some(now)
}

/// Converts a relative timeout to nanoseconds. `None` if the timeout is not valid.
pub(crate) fn duration(time: Timespec) -> Option<u64> {
    let is_valid = time.sec >= 0 && (0..SECOND as i64).contains(&time.nsec);
    is_valid.then(|| (time.sec as u64).saturating_mul(SECOND).saturating_add(time.nsec as u64))
}

/// Converts an absolute time to virtual nanoseconds. `None` if the time is not valid, and 0 if it
/// is before the start of the session. The value decides whether the time is of the real-time clock
/// or of the monotonic clock, because a condition variable stores its clock where this library
/// can't read it.
pub(crate) fn absolute(time: Timespec) -> Option<u64> {
    let start = if time.sec >= REALTIME_FROM_S { REALTIME_START_S } else { MONOTONIC_START_S };
    let sec = time.sec.saturating_sub(start as i64);
    if sec < 0 {
        return duration(Timespec { sec: 0, nsec: time.nsec }).map(|_| 0);
    }
    duration(Timespec { sec, nsec: time.nsec }).map(|at| slot::after(0, at))
}

/// Nanoseconds as a `timespec`.
pub(crate) fn timespec(nanoseconds: u64) -> Timespec {
    Timespec { sec: (nanoseconds / SECOND) as i64, nsec: (nanoseconds % SECOND) as i64 }
}

/// What a clock shows at a virtual time. `None` if the clock is unknown.
fn shown(clock: c_int, now: u64) -> Option<Timespec> {
    let start = match clock {
        // CLOCK_REALTIME, _COARSE, _ALARM, CLOCK_TAI
        0 | 5 | 8 | 11 => REALTIME_START_S,
        // CLOCK_MONOTONIC, _RAW, _COARSE, CLOCK_BOOTTIME, _ALARM
        1 | 4 | 6 | 7 | 9 => MONOTONIC_START_S,
        // CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, and the CPU-time clocks of other
        // processes
        2 | 3 | ..0 => 0,
        _ => return None,
    };
    let time = timespec(now);
    Some(Timespec { sec: time.sec + start as i64, nsec: time.nsec })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int {
    if !time.is_null()
        && shown(clock, 0).is_some()
        && let Some(now) = now()
        && let Some(value) = shown(clock, now)
    {
        // SAFETY: the program passes a valid address, as to the C library.
        unsafe { *time = value };
        return 0;
    }
    // SAFETY: the kernel checks the address.
    unsafe { raw::checked(nr::CLOCK_GETTIME, [clock as usize, time as usize, 0, 0, 0, 0]) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn gettimeofday(time: *mut Timeval, zone: *mut c_void) -> c_int {
    let Some(now) = now() else {
        // SAFETY: the kernel checks the addresses.
        return unsafe { raw::checked(nr::GETTIMEOFDAY, [time as usize, zone as usize, 0, 0, 0, 0]) };
    };
    if let Some(Timespec { sec, nsec }) = shown(0, now) {
        // SAFETY: the program passes valid addresses or null. A time zone consists of two integers.
        unsafe {
            if !time.is_null() {
                *time = Timeval { sec, usec: nsec / 1000 };
            }
            if !zone.is_null() {
                *zone.cast::<[c_int; 2]>() = [0; 2];
            }
        }
    }
    0
}

/// `CLOCK_REALTIME`, in virtual time if this thread has it.
fn realtime() -> Timespec {
    let mut time = Timespec { sec: 0, nsec: 0 };
    // SAFETY: the address is valid.
    unsafe { clock_gettime(0, &raw mut time) };
    time
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn time(seconds: *mut i64) -> i64 {
    let now = realtime().sec;
    if !seconds.is_null() {
        // SAFETY: the program passes a valid address or null.
        unsafe { *seconds = now };
    }
    now
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timespec_get(time: *mut Timespec, base: c_int) -> c_int {
    const TIME_UTC: c_int = 1;
    if base != TIME_UTC {
        return 0;
    }
    // SAFETY: the program passes a valid address.
    unsafe { *time = realtime() };
    base
}

#[unsafe(no_mangle)]
extern "C" fn clock() -> c_long {
    const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;
    let mut time = Timespec { sec: 0, nsec: 0 };
    // SAFETY: the address is valid.
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.sec.wrapping_mul(1_000_000).wrapping_add(time.nsec / 1000)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn times(buffer: *mut [c_long; 4]) -> c_long {
    let Some(now) = now() else {
        // SAFETY: the kernel checks the address.
        return raw::result(unsafe { raw::call(nr::TIMES, [buffer as usize, 0, 0, 0, 0, 0]) });
    };
    // A clock tick of this function is 10 ms.
    let ticks = (now / 10_000_000) as c_long;
    if !buffer.is_null() {
        // SAFETY: the program passes a valid address or null.
        unsafe { *buffer = [ticks, 0, 0, 0] };
    }
    ticks + MONOTONIC_START_S as c_long * 100
}
