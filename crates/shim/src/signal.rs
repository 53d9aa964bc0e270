//! The signal that ends waits, and the signal masks that must not block it.

use crate::clock;
use crate::layout::{WAKE_SIGNAL, kind};
use crate::raw::{self, EAGAIN, EINTR, EINVAL, ENOSYS, Timespec, function, nr};
use crate::slot;
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire};

/// The bit of the wake signal in a set of signals.
const WAKE_BIT: u64 = 1 << (WAKE_SIGNAL - 1);
/// The two signals that the C library uses internally. They must never be blocked.
const LIBRARY_BITS: u64 = 3 << 31;

/// A copy of a set of signals, without the wake signal.
pub(crate) struct Mask(Option<u64>);

impl Mask {
    /// Copies a set of the program. Null stays null.
    pub(crate) fn copy(set: *const u64) -> Mask {
        // SAFETY: the program passes the address of a set or null.
        Mask(unsafe { set.as_ref() }.map(|set| set & !WAKE_BIT))
    }

    /// The address of the copy, or 0.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ref().map_or(0, |set| ptr::from_ref(set) as usize)
    }
}

/// `struct sigaction` of the C library.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

type SigactionFn = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;
type SignalFn = unsafe extern "C" fn(c_int, usize) -> usize;

/// Handles the wake signal. Most system calls return when a handler has run. The waiting functions
/// of the C library continue instead, and read their timeout again. Therefore the handler moves
/// this timeout into the past.
extern "C" fn handle_wake(_signal: c_int) {
    let Some(slot) = slot::current() else { return };
    if slot.fired.load(Acquire) == 0 {
        return;
    }
    let timeout = slot.private[slot::TIMEOUT].swap(0, AcqRel) as *mut Timespec;
    if !timeout.is_null() {
        // SAFETY: the wait that has stored the address has not returned, because it clears the
        // address before it returns. The kernel reads the timeout only in later calls.
        unsafe { ptr::write_volatile(timeout, Timespec { sec: 0, nsec: 0 }) };
    }
}

/// Installs the handler, and unblocks the wake signal.
pub(crate) fn install() {
    const SA_ONSTACK: c_int = 0x0800_0000;
    const SIG_UNBLOCK: usize = 1;
    let action = Action {
        handler: handle_wake as extern "C" fn(c_int) as usize,
        mask: [0; 16],
        flags: SA_ONSTACK,
        restorer: 0,
    };
    if let Some(next) = function!(raw::SIGACTION, SigactionFn) {
        // SAFETY: the action is valid, and the handler can run at any time.
        unsafe { next(WAKE_SIGNAL, &raw const action, ptr::null_mut()) };
    }
    let set = WAKE_BIT;
    // SAFETY: the address is valid.
    unsafe { raw::call(nr::RT_SIGPROCMASK, [SIG_UNBLOCK, &raw const set as usize, 0, 8, 0, 0]) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(signal: c_int, action: *const Action, old: *mut Action) -> c_int {
    let Some(next) = function!(raw::SIGACTION, SigactionFn) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes valid addresses or null.
    unsafe {
        let Some(action) = action.as_ref() else { return next(signal, action, old) };
        if slot::header().is_none() {
            return next(signal, action, old);
        }
        if signal == WAKE_SIGNAL {
            return raw::fail(EINVAL);
        }
        let mut copy = *action;
        copy.mask[0] &= !WAKE_BIT;
        next(signal, &raw const copy, old)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    // The result of `raw::fail` is -1, which is also `SIG_ERR`.
    if signal == WAKE_SIGNAL && slot::header().is_some() {
        return raw::fail(EINVAL) as usize;
    }
    match function!(raw::SIGNAL, SignalFn) {
        // SAFETY: the program passes a valid handler.
        Some(next) => unsafe { next(signal, handler) },
        None => raw::fail(ENOSYS) as usize,
    }
}

/// Changes the mask of this thread. Returns a negative error number if it fails.
unsafe fn change_mask(how: c_int, set: *const u64, old: *mut u64) -> i64 {
    let removed = if slot::header().is_some() { LIBRARY_BITS | WAKE_BIT } else { LIBRARY_BITS };
    // SAFETY: the program passes valid addresses or null.
    unsafe {
        let copy = set.as_ref().map(|set| set & !removed);
        let copy = copy.as_ref().map_or(ptr::null(), ptr::from_ref);
        raw::call(nr::RT_SIGPROCMASK, [how as usize, copy as usize, old as usize, 8, 0, 0])
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigprocmask(how: c_int, set: *const u64, old: *mut u64) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    raw::result(unsafe { change_mask(how, set, old) }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const u64, old: *mut u64) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    -unsafe { change_mask(how, set, old) } as c_int
}

/// Waits for one of the signals in `set`. Returns the number of the signal that arrived, or a
/// negative error number.
unsafe fn wait_for_signal(set: *const u64, info: *mut c_void, time: *const Timespec) -> i64 {
    let mask = Mask::copy(set);
    let call = |time: *const Timespec| {
        // SAFETY: the kernel checks the addresses of the program.
        unsafe {
            raw::cancellable(|| {
                raw::call(nr::RT_SIGTIMEDWAIT, [mask.address(), info as usize, time as usize, 8, 0, 0])
            })
        }
    };
    // SAFETY: the program passes a valid address or null.
    let (Some(limit), Some(slot)) = (unsafe { time.as_ref() }, slot::current()) else {
        return call(time);
    };
    let Some(duration) = clock::duration(*limit) else { return -i64::from(EINVAL) };
    let deadline = slot::after(slot::base(slot), duration);
    if duration == 0 {
        slot::spend(slot);
        return call(time);
    }
    match slot::wait(slot, kind::LOCK, deadline, 0, || call(ptr::null())) {
        (result, true) if result == -i64::from(EINTR) => -i64::from(EAGAIN),
        (result, _) => result,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigtimedwait(set: *const u64, info: *mut c_void, time: *const Timespec) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    let result = unsafe { wait_for_signal(set, info, time) };
    if result > 0 && !info.is_null() {
        const SI_TKILL: c_int = -6;
        // SAFETY: the kernel has written the structure. As in the C library, a signal of `raise`
        // has to look like a signal of `kill`. Therefore the third number of the structure, the
        // code of the signal, is changed from `SI_TKILL` to `SI_USER`.
        unsafe {
            let code = info.cast::<c_int>().add(2);
            if *code == SI_TKILL {
                *code = 0;
            }
        }
    }
    raw::result(result) as c_int
}
