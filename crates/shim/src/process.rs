//! Functions that start another program, and functions that check whether a child has ended.

use crate::layout::kind;
use crate::raw::{self, ENOSYS, function};
use crate::slot;
use core::ffi::{c_char, c_int, c_void};

const WNOHANG: c_int = 1;

type Arguments = *const *const c_char;

/// A process that was created by `vfork` shares the memory of its parent, which is suspended until
/// the process calls exec. The slot for the new program is taken here, while the parent is
/// suspended. If the slot were taken later, the order of slots would depend on how fast the
/// parent's other children run.
fn before_exec() {
    if let Some(slot) = slot::current() {
        slot::take_for_vforked(slot);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execve(path: *const c_char, arguments: Arguments, environment: Arguments) -> c_int {
    type Function = unsafe extern "C" fn(*const c_char, Arguments, Arguments) -> c_int;
    before_exec();
    let Some(next) = function!(raw::EXECVE, Function) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes valid arguments.
    unsafe { next(path, arguments, environment) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execv(path: *const c_char, arguments: Arguments) -> c_int {
    type Function = unsafe extern "C" fn(*const c_char, Arguments) -> c_int;
    before_exec();
    let Some(next) = function!(raw::EXECV, Function) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes valid arguments.
    unsafe { next(path, arguments) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvp(file: *const c_char, arguments: Arguments) -> c_int {
    type Function = unsafe extern "C" fn(*const c_char, Arguments) -> c_int;
    before_exec();
    let Some(next) = function!(raw::EXECVP, Function) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes valid arguments.
    unsafe { next(file, arguments) }
}

/// Calls `look`, a function that waits for the end of a child. With the option `WNOHANG`, `look`
/// does not wait and only checks whether a child has ended.
///
/// A program often reads a child's output until the child closes it, and then checks whether the
/// child has ended. A child usually ends soon after it has closed its output, but how soon depends
/// on the machine. With a single check, the result would therefore depend on the machine too. If
/// the first check finds no ended child, this function waits until every other thread of the
/// program waits, and then checks once more.
fn look_twice(options: c_int, look: impl Fn() -> c_int, is_none: impl Fn(c_int) -> bool) -> c_int {
    let found = look();
    if options & WNOHANG == 0 || !is_none(found) {
        return found;
    }
    let Some(slot) = slot::current() else { return found };
    let deadline = slot::spend(slot);
    slot::wait(slot, kind::SLEEP, deadline, 0, crate::sleep::block);
    look()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *mut c_int, c_int) -> c_int;
    let Some(next) = function!(raw::WAITPID, Function) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes a valid address or null.
    look_twice(options, || unsafe { next(child, status, options) }, |found| found == 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wait4(child: c_int, status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *mut c_int, c_int, *mut c_void) -> c_int;
    let Some(next) = function!(raw::WAIT4, Function) else { return raw::fail(ENOSYS) };
    // SAFETY: the program passes valid addresses or null.
    look_twice(options, || unsafe { next(child, status, options, usage) }, |found| found == 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wait3(status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int {
    // SAFETY: the program passes valid addresses or null.
    unsafe { wait4(-1, status, options, usage) }
}
