//! Alarms in virtual time, and the timers that work only in real time.

use crate::clock;
use crate::layout::{NEVER, Slot, real};
use crate::raw::{self, EFAULT, EINVAL, ENOSYS, Timespec, Timeval, function, nr};
use crate::slot;
use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::Ordering::Relaxed;

const ITIMER_REAL: c_int = 0;

/// `struct itimerval`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Interval {
    interval: Timeval,
    value: Timeval,
}

/// The slot with the alarm of this process, and the own time of this thread in virtual nanoseconds.
/// `None` if there is no virtual time.
fn alarm_slot() -> Option<(&'static Slot, u64)> {
    let own = slot::current()?;
    Some((slot::of_process(own.pid.load(Relaxed)).unwrap_or(own), slot::base(own)))
}

fn to_timeval(nanoseconds: u64) -> Timeval {
    let time = clock::timespec(nanoseconds);
    Timeval { sec: time.sec, usec: time.nsec / 1000 }
}

/// The duration of a `timeval` in nanoseconds. `None` if the kernel's timers would refuse it. Unlike
/// `select`, they accept less than a million microseconds only.
fn duration(time: Timeval) -> Option<u64> {
    clock::duration(Timespec { sec: time.sec, nsec: time.usec.checked_mul(1000)? })
}

/// The alarm of a process, relative to `now`.
fn remaining(slot: &Slot, now: u64) -> Interval {
    let value = match slot.alarm.load(Relaxed) {
        NEVER => 0,
        // An alarm that is due but has not fired yet has at least a microsecond left, because zero
        // would mean that no alarm is set.
        at => at.saturating_sub(now).max(1000),
    };
    Interval { interval: to_timeval(slot.alarm_interval.load(Relaxed)), value: to_timeval(value) }
}

/// Sets the alarm of this process, and returns the old one. Both numbers are in nanoseconds; a
/// `value` of 0 removes the alarm. `None` if there is no virtual time.
fn set(value: u64, interval: u64) -> Option<Interval> {
    let (slot, now) = alarm_slot()?;
    let old = remaining(slot, now);
    slot.alarm_interval.store(interval, Relaxed);
    slot.alarm.store(if value == 0 { NEVER } else { slot::after(now, value) }, Relaxed);
    Some(old)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setitimer(which: c_int, new: *const Interval, old: *mut Interval) -> c_int {
    if which != ITIMER_REAL || slot::current().is_none() {
        // SAFETY: the kernel checks the addresses.
        return unsafe { raw::checked(nr::SETITIMER, [which as usize, new as usize, old as usize, 0, 0, 0]) };
    }
    // SAFETY: the program passes a valid address or null, which removes the alarm.
    let (value, interval) = match unsafe { new.as_ref() } {
        Some(new) => (duration(new.value), duration(new.interval)),
        None => (Some(0), Some(0)),
    };
    let (Some(value), Some(interval)) = (value, interval) else { return raw::fail(EINVAL) };
    if let Some(previous) = set(value, interval)
        && !old.is_null()
    {
        // SAFETY: the program passes a valid address or null.
        unsafe { *old = previous };
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getitimer(which: c_int, current: *mut Interval) -> c_int {
    match alarm_slot() {
        Some((slot, now)) if which == ITIMER_REAL => {
            if current.is_null() {
                return raw::fail(EFAULT);
            }
            // SAFETY: the program passes a valid address.
            unsafe { *current = remaining(slot, now) };
            0
        }
        // SAFETY: the kernel checks the address.
        _ => unsafe { raw::checked(nr::GETITIMER, [which as usize, current as usize, 0, 0, 0, 0]) },
    }
}

/// Sets the alarm in virtual time if there is virtual time, and in real time otherwise. Both
/// numbers are in nanoseconds. Returns the remaining time of the old alarm.
fn replace(value: u64, interval: u64) -> Timeval {
    if let Some(old) = set(value, interval) {
        return old.value;
    }
    let new = Interval { interval: to_timeval(interval), value: to_timeval(value) };
    let mut old = Interval { interval: to_timeval(0), value: to_timeval(0) };
    let (new, place) = (&raw const new as usize, &raw mut old as usize);
    // SAFETY: the addresses are valid.
    unsafe { raw::call(nr::SETITIMER, [ITIMER_REAL as usize, new, place, 0, 0, 0]) };
    old.value
}

#[unsafe(no_mangle)]
extern "C" fn alarm(seconds: c_uint) -> c_uint {
    let old = replace(u64::from(seconds) * 1_000_000_000, 0);
    // The result is rounded to seconds, but never to zero, because zero means that there was no
    // alarm.
    let is_more = old.usec >= 500_000 || (old.sec == 0 && old.usec > 0);
    (old.sec + i64::from(is_more)) as c_uint
}

#[unsafe(no_mangle)]
extern "C" fn ualarm(value: c_uint, interval: c_uint) -> c_uint {
    let old = replace(u64::from(value) * 1000, u64::from(interval) * 1000);
    (old.sec * 1_000_000 + old.usec) as c_uint
}

/// Whether a `struct itimerspec` sets a timer: its second half, the time of the first expiry, is
/// not zero.
unsafe fn sets_timer(new: *const [Timespec; 2]) -> bool {
    // SAFETY: the program passes a valid address or null.
    unsafe { new.as_ref() }.is_some_and(|[_, value]| value.sec != 0 || value.nsec != 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_settime(
    file: c_int,
    flags: c_int,
    new: *const [Timespec; 2],
    old: *mut [Timespec; 2],
) -> c_int {
    // SAFETY: the program passes valid addresses or null, and the kernel checks them.
    unsafe {
        if sets_timer(new) {
            slot::note_real(real::TIMERFD);
        }
        let arguments = [file as usize, flags as usize, new as usize, old as usize, 0, 0];
        raw::checked(nr::TIMERFD_SETTIME, arguments)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_settime(
    timer: *mut c_void,
    flags: c_int,
    new: *const [Timespec; 2],
    old: *mut [Timespec; 2],
) -> c_int {
    type Function =
        unsafe extern "C" fn(*mut c_void, c_int, *const [Timespec; 2], *mut [Timespec; 2]) -> c_int;
    let Some(next) = function!(raw::TIMER_SETTIME, Function) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes valid arguments.
    unsafe {
        if sets_timer(new) {
            slot::note_real(real::TIMER);
        }
        next(timer, flags, new, old)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setsockopt(
    socket: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: c_uint,
) -> c_int {
    const SOL_SOCKET: c_int = 1;
    // SO_RCVTIMEO and SO_SNDTIMEO, each in two variants: 20 and 21 are the old ones, 66 and 67
    // those for times after 2038 on 32-bit machines.
    let is_timeout = level == SOL_SOCKET && matches!(name, 20 | 21 | 66 | 67);
    if is_timeout && length as usize >= size_of::<Timeval>() && !value.is_null() {
        // SAFETY: the program passes a valid time.
        let Timeval { sec, usec } = unsafe { value.cast::<Timeval>().read_unaligned() };
        if sec != 0 || usec != 0 {
            slot::note_real(real::SOCKET_TIMEOUT);
        }
    }
    let arguments = [socket as usize, level as usize, name as usize, value as usize, length as usize, 0];
    // SAFETY: the kernel checks the address.
    unsafe { raw::checked(nr::SETSOCKOPT, arguments) }
}
