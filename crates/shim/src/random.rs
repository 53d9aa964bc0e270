//! Random numbers. They depend only on the seed of the session, the thread, and the number of
//! random bytes that the thread has received before.

use crate::raw::{self, EFAULT, EINTR, EIO, nr};
use crate::slot::{self, STEP, scramble};
use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

/// Writes random bytes. Returns false if this thread has no slot.
unsafe fn fill(buffer: *mut u8, length: usize) -> bool {
    let (Some(header), Some(slot)) = (slot::header(), slot::current()) else { return false };
    let key = scramble(header.seed.load(Relaxed).wrapping_add(STEP)) ^ slot.name.load(Relaxed);
    let first = slot.random.fetch_add(length as u64, Relaxed);
    for at in 0..length {
        let place = first.wrapping_add(at as u64);
        let word = scramble(key.wrapping_add(STEP.wrapping_mul(place / 8 + 1)));
        // SAFETY: the program passes a buffer of this length.
        unsafe { *buffer.add(at) = (word >> (place % 8 * 8)) as u8 };
    }
    true
}

/// Writes random bytes. They come from the kernel if this thread has no slot.
unsafe fn fill_always(buffer: *mut u8, length: usize) {
    // SAFETY: the program passes a buffer of this length.
    unsafe {
        if fill(buffer, length) {
            return;
        }
        let mut done = 0;
        while done < length {
            let rest = [buffer.add(done) as usize, length - done, 0, 0, 0, 0];
            match raw::call(nr::GETRANDOM, rest) {
                count if count > 0 => done += count as usize,
                error if error == -i64::from(EINTR) => {}
                _ => return,
            }
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getrandom(buffer: *mut u8, length: usize, flags: u32) -> isize {
    // Like the kernel, this function returns at most `i32::MAX` bytes.
    let length = length.min(i32::MAX as usize);
    if buffer.is_null() && length > 0 {
        return raw::fail(EFAULT) as isize;
    }
    // SAFETY: the program passes a buffer of this length.
    unsafe {
        if fill(buffer, length) {
            return length as isize;
        }
        raw::result(raw::call(nr::GETRANDOM, [buffer as usize, length, flags as usize, 0, 0, 0])) as isize
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buffer: *mut u8, length: usize) -> c_int {
    if length > 256 {
        return raw::fail(EIO);
    }
    // SAFETY: the program passes a buffer of this length.
    unsafe { fill_always(buffer, length) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn arc4random_buf(buffer: *mut u8, length: usize) {
    // SAFETY: the program passes a buffer of this length.
    unsafe { fill_always(buffer, length) };
}

#[unsafe(no_mangle)]
extern "C" fn arc4random() -> u32 {
    let mut bytes = [0; 4];
    // SAFETY: the buffer has this length.
    unsafe { fill_always(bytes.as_mut_ptr(), bytes.len()) };
    u32::from_ne_bytes(bytes)
}

#[unsafe(no_mangle)]
extern "C" fn arc4random_uniform(bound: u32) -> u32 {
    if bound < 2 {
        return 0;
    }
    // Values below `minimum` are discarded. Otherwise small results would be more likely than
    // others.
    let minimum = bound.wrapping_neg() % bound;
    loop {
        let value = arc4random();
        if value >= minimum {
            return value % bound;
        }
    }
}
