//! Functions that wait for other threads: semaphores, condition variables, locks and joins.
//!
//! The functions of the C library do the actual waiting, with a timeout in the far future. When the
//! virtual deadline has passed, the signal handler moves this timeout into the past. The function
//! of the C library then continues its wait, sees the passed timeout, and returns. A wait for a
//! semaphore does not continue, but returns at once. No other thread is disturbed.

use crate::clock;
use crate::layout::kind;
use crate::raw::{self, ENOSYS, ETIMEDOUT, Timespec, function};
use crate::slot;
use core::ffi::{c_int, c_void};

/// A time that the kernel's clock never reaches: the year 2242.
const FAR_FUTURE: Timespec = Timespec { sec: 1 << 33, nsec: 0 };

/// Calls `call` with a timeout that replaces the absolute virtual time `time`. Returns the result,
/// and whether the deadline passed while the call waited.
unsafe fn until(
    time: *const Timespec,
    kind: u32,
    call: impl FnOnce(*const Timespec) -> c_int,
) -> (c_int, bool) {
    // SAFETY: the program passes a valid address or null.
    let deadline = unsafe { time.as_ref() }.and_then(|time| clock::absolute(*time));
    let (Some(deadline), Some(slot)) = (deadline, slot::current()) else { return (call(time), false) };
    if deadline <= slot::base(slot) {
        slot::spend(slot);
        let past = Timespec { sec: 0, nsec: 0 };
        return (call(&raw const past), false);
    }
    let mut timeout = FAR_FUTURE;
    let timeout = &raw mut timeout;
    slot::wait(slot, kind, deadline, timeout as u64, || call(timeout))
}

/// Defines functions whose last argument is an absolute time and whose result is an error number.
macro_rules! timed {
    ($($name:ident($($argument:ident: $type:ty),*) = $next:ident, $kind:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type,)* time: *const Timespec) -> c_int {
            type Function = unsafe extern "C" fn($($type,)* *const Timespec) -> c_int;
            let Some(next) = function!(raw::$next, Function) else { return ENOSYS };
            // SAFETY: the program passes valid arguments.
            unsafe { until(time, kind::$kind, |time| next($($argument,)* time)).0 }
        }
    )*};
}

timed! {
    pthread_cond_timedwait(variable: *mut c_void, mutex: *mut c_void) = COND_TIMEDWAIT, CONDITION;
    pthread_cond_clockwait(variable: *mut c_void, mutex: *mut c_void, clock: c_int) = COND_CLOCKWAIT, CONDITION;
    pthread_mutex_timedlock(mutex: *mut c_void) = MUTEX_TIMEDLOCK, LOCK;
    pthread_mutex_clocklock(mutex: *mut c_void, clock: c_int) = MUTEX_CLOCKLOCK, LOCK;
    pthread_rwlock_timedrdlock(lock: *mut c_void) = RWLOCK_TIMEDRDLOCK, LOCK;
    pthread_rwlock_timedwrlock(lock: *mut c_void) = RWLOCK_TIMEDWRLOCK, LOCK;
    pthread_rwlock_clockrdlock(lock: *mut c_void, clock: c_int) = RWLOCK_CLOCKRDLOCK, LOCK;
    pthread_rwlock_clockwrlock(lock: *mut c_void, clock: c_int) = RWLOCK_CLOCKWRLOCK, LOCK;
    pthread_timedjoin_np(thread: usize, result: *mut *mut c_void) = TIMEDJOIN, LOCK;
    pthread_clockjoin_np(thread: usize, result: *mut *mut c_void, clock: c_int) = CLOCKJOIN, LOCK;
}

/// The result of a wait for a semaphore. Every signal interrupts such a wait with `EINTR`. If it
/// was the wake signal, the deadline has passed, so the result is `ETIMEDOUT` instead.
fn semaphore_result((result, fired): (c_int, bool)) -> c_int {
    if result != 0 && fired { raw::fail(ETIMEDOUT) } else { result }
}

/// If a lock is not free, Python reads a clock and then calls this function to wait without a
/// timeout. Whether the lock is free depends on how fast other threads are. [`slot::base`] subtracts
/// the virtual time that the read has cost. Otherwise the thread's own time would depend on the
/// other threads too.
#[unsafe(no_mangle)]
unsafe extern "C" fn sem_wait(semaphore: *mut c_void) -> c_int {
    type Function = unsafe extern "C" fn(*mut c_void) -> c_int;
    let Some(next) = function!(raw::SEM_WAIT, Function) else { return raw::fail(ENOSYS) };
    if let Some(slot) = slot::current() {
        slot::base(slot);
    }
    // SAFETY: the program passes a valid semaphore.
    unsafe { next(semaphore) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_timedwait(semaphore: *mut c_void, time: *const Timespec) -> c_int {
    type Function = unsafe extern "C" fn(*mut c_void, *const Timespec) -> c_int;
    let Some(next) = function!(raw::SEM_TIMEDWAIT, Function) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes valid arguments.
    semaphore_result(unsafe { until(time, kind::LOCK, |time| next(semaphore, time)) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_clockwait(semaphore: *mut c_void, clock: c_int, time: *const Timespec) -> c_int {
    type Function = unsafe extern "C" fn(*mut c_void, c_int, *const Timespec) -> c_int;
    let Some(next) = function!(raw::SEM_CLOCKWAIT, Function) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes valid arguments.
    semaphore_result(unsafe { until(time, kind::LOCK, |time| next(semaphore, clock, time)) })
}

/// Converts an error number to a result of a function of `threads.h`.
pub(crate) fn thread_result(error: c_int) -> c_int {
    match error {
        0 => 0,
        raw::ENOMEM => 3,
        ETIMEDOUT => 4,
        _ => 2,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_timedwait(
    variable: *mut c_void,
    mutex: *mut c_void,
    time: *const Timespec,
) -> c_int {
    // SAFETY: the types of `threads.h` are those of `pthread.h` under another name.
    thread_result(unsafe { pthread_cond_timedwait(variable, mutex, time) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_timedlock(mutex: *mut c_void, time: *const Timespec) -> c_int {
    // SAFETY: the types of `threads.h` are those of `pthread.h` under another name.
    thread_result(unsafe { pthread_mutex_timedlock(mutex, time) })
}
