//! System calls that programs make with the function `syscall`.

use crate::clock;
use crate::layout::kind;
use crate::raw::{self, EINTR, EINVAL, ETIMEDOUT, Timespec, nr};
use crate::{poll, random, sleep, slot};
use core::ffi::{c_int, c_long};

/// Mask for the operation of a futex call. The other bits are flags.
const OPERATION: usize = 0x7f;
const FUTEX_WAIT: usize = 0;
const FUTEX_WAIT_BITSET: usize = 9;

/// A futex call. Returns a negative error number if it fails.
unsafe fn futex(arguments: [usize; 6]) -> i64 {
    let [word, operation, value, time, other, bits] = arguments;
    let call = |time: *const Timespec| {
        // SAFETY: the kernel checks the addresses.
        unsafe { raw::call(nr::FUTEX, [word, operation, value, time as usize, other, bits]) }
    };
    let time = time as *const Timespec;
    let is_absolute = match operation & OPERATION {
        FUTEX_WAIT => false,
        FUTEX_WAIT_BITSET => true,
        _ => return call(time),
    };
    // SAFETY: the program passes a valid address or null.
    let (Some(limit), Some(slot)) = (unsafe { time.as_ref() }, slot::current()) else {
        return call(time);
    };
    let base = slot::base(slot);
    let deadline = if is_absolute {
        clock::absolute(*limit)
    } else {
        clock::duration(*limit).map(|duration| slot::after(base, duration))
    };
    let Some(deadline) = deadline else { return -i64::from(EINVAL) };
    if deadline <= base {
        slot::spend(slot);
        // A timeout of zero has already passed, whether it is relative or absolute.
        let past = Timespec { sec: 0, nsec: 0 };
        return call(&raw const past);
    }
    match slot::wait(slot, kind::LOCK, deadline, 0, || call(core::ptr::null())) {
        (result, true) if result == -i64::from(EINTR) => -i64::from(ETIMEDOUT),
        (result, _) => result,
    }
}

/// The signal mask of `pselect6`. The last argument of that call points to a pair: the address of
/// the mask and its size.
unsafe fn pair(last: usize) -> *const u64 {
    // SAFETY: the program passes the address of the pair or null.
    unsafe { (last as *const *const u64).as_ref() }.map_or(core::ptr::null(), |set| *set)
}

/// The C function `syscall` is variadic. A function with seven integer arguments finds them in the
/// same places: in registers, and on x86-64 the seventh on the stack. Arguments that the program
/// has not passed have arbitrary values, which the system call ignores.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // SAFETY: the program passes valid arguments. Each function gets only arguments that the system
    // call of this number has.
    c_long::from(unsafe {
        match number {
            nr::FUTEX => return raw::result(futex([a, b, c, d, e, f])),
            nr::GETRANDOM => return random::getrandom(a as *mut u8, b, c as u32) as c_long,
            nr::TIME => return clock::time(a as *mut i64),
            nr::CLOCK_GETTIME => clock::clock_gettime(a as c_int, b as *mut _),
            nr::GETTIMEOFDAY => clock::gettimeofday(a as *mut _, b as *mut _),
            nr::NANOSLEEP => sleep::nanosleep(a as *const _, b as *mut _),
            nr::CLOCK_NANOSLEEP => {
                match sleep::clock_nanosleep(a as c_int, b as c_int, c as *const _, d as *mut _) {
                    0 => 0,
                    error => raw::fail(error),
                }
            }
            nr::POLL => poll::poll(a as *mut _, b, c as c_int),
            nr::PPOLL => poll::ppoll(a as *mut _, b, c as *const _, d as *const _),
            nr::SELECT => poll::select(a as c_int, b as *mut _, c as *mut _, d as *mut _, e as *mut _),
            nr::PSELECT6 => {
                poll::pselect(a as c_int, b as *mut _, c as *mut _, d as *mut _, e as *const _, pair(f))
            }
            nr::EPOLL_WAIT => poll::epoll_wait(a as c_int, b as *mut _, c as c_int, d as c_int),
            nr::EPOLL_PWAIT => {
                poll::epoll_pwait(a as c_int, b as *mut _, c as c_int, d as c_int, e as *const _)
            }
            _ => return raw::result(raw::call(number, [a, b, c, d, e, f])),
        }
    })
}
