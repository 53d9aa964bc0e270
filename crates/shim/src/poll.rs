//! Functions that wait for files: `poll`, `select` and `epoll_wait`.

use crate::clock;
use crate::layout::{Slot, kind};
use crate::raw::{self, EINTR, EINVAL, Timespec, Timeval, nr};
use crate::signal;
use crate::sleep::from_timeval;
use crate::slot;
use core::ffi::{c_int, c_long, c_void};
use core::ptr;

/// `struct pollfd`.
#[repr(C)]
pub(crate) struct PollFile {
    file: c_int,
    events: i16,
    revents: i16,
}

/// How a call handles its timeout.
enum Timeout {
    /// There is no virtual time, or the timeout is infinite: the program's timeout is passed on.
    Given,
    /// The call must not wait.
    Now,
    /// The call waits without a timeout, and the simulator ends the wait at the deadline.
    Virtual(&'static Slot, u64),
}

/// Decides how to handle a timeout. `None` means an infinite timeout.
fn timeout(duration: Option<u64>) -> Timeout {
    let Some(duration) = duration else { return Timeout::Given };
    let Some(slot) = slot::current() else { return Timeout::Given };
    let base = slot::base(slot);
    if duration == 0 {
        slot::spend(slot);
        return Timeout::Now;
    }
    Timeout::Virtual(slot, slot::after(base, duration))
}

/// Milliseconds as nanoseconds. `None` if the timeout is infinite.
fn milliseconds(timeout: c_int) -> Option<u64> {
    u64::try_from(timeout).ok().map(|timeout| timeout * 1_000_000)
}

/// Waits in `call`, at most until the deadline. Returns 0 if the deadline passed first.
fn wait(slot: &Slot, deadline: u64, call: impl FnOnce() -> i64) -> i64 {
    match slot::wait(slot, kind::POLL, deadline, 0, call) {
        (result, true) if result == -i64::from(EINTR) => 0,
        (result, _) => result,
    }
}

/// Converts the result of a system call to the result of the C function.
fn finish(result: i64) -> c_int {
    raw::result(result) as c_int
}

unsafe fn poll_files(files: *mut PollFile, count: usize, duration: Option<u64>, mask: *const u64) -> c_int {
    let mask = signal::Mask::copy(mask);
    let call = |time: *mut Timespec| {
        // SAFETY: the kernel checks the addresses of the program.
        unsafe {
            raw::cancellable(|| {
                raw::call(nr::PPOLL, [files as usize, count, time as usize, mask.address(), 8, 0])
            })
        }
    };
    let mut now = Timespec { sec: 0, nsec: 0 };
    finish(match timeout(duration) {
        Timeout::Given => {
            // The call gets a copy of the timeout, because the kernel writes the remaining time
            // into it.
            let mut time = duration.map(clock::timespec);
            call(time.as_mut().map_or(ptr::null_mut(), ptr::from_mut))
        }
        Timeout::Now => call(&raw mut now),
        Timeout::Virtual(slot, deadline) => {
            let result = wait(slot, deadline, || call(ptr::null_mut()));
            if result == 0 && !files.is_null() {
                for at in 0..count {
                    // SAFETY: the kernel has accepted the array.
                    unsafe { (*files.add(at)).revents = 0 };
                }
            }
            result
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn poll(files: *mut PollFile, count: usize, timeout: c_int) -> c_int {
    // SAFETY: the program passes a valid array.
    unsafe { poll_files(files, count, milliseconds(timeout), ptr::null()) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ppoll(
    files: *mut PollFile,
    count: usize,
    timeout: *const Timespec,
    mask: *const u64,
) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    let duration = match unsafe { timeout.as_ref() }.map(|time| clock::duration(*time)) {
        Some(None) => return raw::fail(EINVAL),
        duration => duration.flatten(),
    };
    // SAFETY: the program passes valid addresses or null.
    unsafe { poll_files(files, count, duration, mask) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __poll_chk(files: *mut PollFile, count: usize, timeout: c_int, _size: usize) -> c_int {
    // SAFETY: the program passes a valid array.
    unsafe { poll(files, count, timeout) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __ppoll_chk(
    files: *mut PollFile,
    count: usize,
    timeout: *const Timespec,
    mask: *const u64,
    _size: usize,
) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    unsafe { ppoll(files, count, timeout, mask) }
}

/// Waits in `pselect6`. Returns the result and the remaining time in nanoseconds.
unsafe fn select_files(
    count: c_int,
    sets: [*mut u64; 3],
    duration: Option<u64>,
    mask: *const u64,
) -> (c_int, u64) {
    let mask = signal::Mask::copy(mask);
    let mask = [mask.address(), 8];
    let [read, write, except] = sets.map(|set| set as usize);
    let call = |time: *mut Timespec| {
        let last = mask.as_ptr() as usize;
        // SAFETY: the kernel checks the addresses of the program.
        unsafe {
            raw::cancellable(|| {
                raw::call(nr::PSELECT6, [count as usize, read, write, except, time as usize, last])
            })
        }
    };
    let mut now = Timespec { sec: 0, nsec: 0 };
    match timeout(duration) {
        Timeout::Given => {
            // The kernel writes the remaining time into `time`.
            let mut time = duration.map(clock::timespec);
            let result = call(time.as_mut().map_or(ptr::null_mut(), ptr::from_mut));
            (finish(result), time.and_then(clock::duration).unwrap_or(0))
        }
        Timeout::Now => (finish(call(&raw mut now)), 0),
        Timeout::Virtual(slot, deadline) => {
            let result = wait(slot, deadline, || call(ptr::null_mut()));
            if result == 0 {
                for set in sets.into_iter().filter(|set| !set.is_null()) {
                    let words = (count.max(0) as usize).div_ceil(64);
                    // SAFETY: the kernel has accepted the set, which consists of words.
                    unsafe { ptr::write_bytes(set, 0, words) };
                }
            }
            let remaining = if result == 0 { 0 } else { deadline.saturating_sub(slot::base(slot)) };
            (finish(result), remaining)
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn select(
    count: c_int,
    read: *mut u64,
    write: *mut u64,
    except: *mut u64,
    timeout: *mut Timeval,
) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    let time = unsafe { timeout.as_ref() };
    let duration = match time.map(|time| clock::duration(from_timeval(*time))) {
        Some(None) => return raw::fail(EINVAL),
        duration => duration.flatten(),
    };
    // SAFETY: the program passes valid addresses or null.
    let (result, remaining) = unsafe { select_files(count, [read, write, except], duration, ptr::null()) };
    if !timeout.is_null() {
        let time = clock::timespec(remaining);
        // SAFETY: the program passes a valid address or null.
        unsafe { *timeout = Timeval { sec: time.sec, usec: time.nsec / 1000 } };
    }
    result
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut u64,
    write: *mut u64,
    except: *mut u64,
    timeout: *const Timespec,
    mask: *const u64,
) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    let duration = match unsafe { timeout.as_ref() }.map(|time| clock::duration(*time)) {
        Some(None) => return raw::fail(EINVAL),
        duration => duration.flatten(),
    };
    // SAFETY: the program passes valid addresses or null.
    unsafe { select_files(count, [read, write, except], duration, mask) }.0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_pwait(
    queue: c_int,
    events: *mut c_void,
    count: c_int,
    milliseconds_left: c_int,
    mask: *const u64,
) -> c_int {
    let mask = signal::Mask::copy(mask);
    let call = |timeout: c_long| {
        let arguments =
            [queue as usize, events as usize, count as usize, timeout as usize, mask.address(), 8];
        // SAFETY: the kernel checks the addresses of the program.
        unsafe { raw::cancellable(|| raw::call(nr::EPOLL_PWAIT, arguments)) }
    };
    finish(match timeout(milliseconds(milliseconds_left)) {
        Timeout::Given => call(c_long::from(milliseconds_left)),
        Timeout::Now => call(0),
        Timeout::Virtual(slot, deadline) => wait(slot, deadline, || call(-1)),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_wait(
    queue: c_int,
    events: *mut c_void,
    count: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: the program passes a valid array.
    unsafe { epoll_pwait(queue, events, count, timeout, ptr::null()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait2(
    queue: c_int,
    events: *mut c_void,
    count: c_int,
    time: *const Timespec,
    mask: *const u64,
) -> c_int {
    // SAFETY: the program passes a valid address or null.
    let duration = match unsafe { time.as_ref() }.map(|time| clock::duration(*time)) {
        Some(None) => return raw::fail(EINVAL),
        duration => duration.flatten(),
    };
    let mask = signal::Mask::copy(mask);
    let call = |number: i64, timeout: usize| {
        let arguments = [queue as usize, events as usize, count as usize, timeout, mask.address(), 8];
        // SAFETY: the kernel checks the addresses of the program.
        unsafe { raw::cancellable(|| raw::call(number, arguments)) }
    };
    finish(match timeout(duration) {
        Timeout::Given => call(nr::EPOLL_PWAIT2, time as usize),
        Timeout::Now => call(nr::EPOLL_PWAIT, 0),
        Timeout::Virtual(slot, deadline) => wait(slot, deadline, || call(nr::EPOLL_PWAIT, usize::MAX)),
    })
}
