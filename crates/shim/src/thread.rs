//! Functions that create threads and processes. The parent takes the slots of its children, because
//! it always creates them in the same order, but they do not always start in the same order.

use crate::layout::Slot;
use crate::lock::thread_result;
use crate::raw::{self, EAGAIN, ENOSYS, Next, function};
use crate::slot::{self, ARGUMENT, START};
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type CreateFn = unsafe extern "C" fn(*mut usize, *const c_void, Start, *mut c_void) -> c_int;

/// The first function of a new thread. Its argument is the slot of the thread.
///
/// The function uses the C calling convention without unwinding. Otherwise the compiler would add
/// code that stops an unwinding stack, and `pthread_exit` unwinds the stack.
unsafe extern "C" fn begin(slot: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` passes the address of a slot.
    let slot: &'static Slot = unsafe { &*slot.cast::<Slot>() };
    let start = slot.private[START].load(Relaxed) as usize;
    let argument = slot.private[ARGUMENT].load(Relaxed) as *mut c_void;
    slot::adopt(slot);
    // SAFETY: `pthread_create` has stored the function and the argument of the program.
    unsafe {
        match core::mem::transmute::<usize, Option<Start>>(start) {
            Some(start) => start(argument),
            None => core::ptr::null_mut(),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut usize,
    attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let Some(next) = function!(raw::PTHREAD_CREATE, CreateFn) else { return EAGAIN };
    let Some(slot) = slot::current().and_then(slot::take_child) else {
        // SAFETY: the program passes valid arguments.
        return unsafe { next(thread, attributes, start, argument) };
    };
    slot.private[START].store(start as usize as u64, Relaxed);
    slot.private[ARGUMENT].store(argument as u64, Relaxed);
    // SAFETY: the program passes valid arguments, and the slot stays mapped.
    let error = unsafe { next(thread, attributes, begin, core::ptr::from_ref(slot) as *mut c_void) };
    if error != 0 {
        slot::give_back(slot);
    }
    error
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_create(thread: *mut usize, start: Start, argument: *mut c_void) -> c_int {
    // SAFETY: the start routine returns an integer, of which `thrd_join` uses only the lower half.
    thread_result(unsafe { pthread_create(thread, core::ptr::null(), start, argument) })
}

/// Creates a process. `runs_handlers` says whether the C library calls [`slot::after_fork`] in the
/// new process.
fn create_process(next: &Next, runs_handlers: bool) -> c_int {
    let Some(create) = function!(next, unsafe extern "C" fn() -> c_int) else { return raw::fail(ENOSYS) };
    let child = slot::current().and_then(slot::take_child);
    slot::prepare_fork(child);
    // SAFETY: the function has no arguments.
    let process = unsafe { create() };
    if process == 0 {
        if !runs_handlers {
            slot::after_fork();
        }
        return 0;
    }
    slot::prepare_fork(None);
    if process < 0
        && let Some(child) = child
    {
        slot::give_back(child);
    }
    process
}

#[unsafe(no_mangle)]
extern "C" fn fork() -> c_int {
    create_process(&raw::FORK, true)
}

#[unsafe(no_mangle)]
extern "C" fn _Fork() -> c_int {
    create_process(&raw::PLAIN_FORK, false)
}

/// Asks the C library to call [`slot::after_fork`] in new processes.
pub(crate) fn install() {
    type Handler = Option<extern "C" fn()>;
    type RegisterFn = unsafe extern "C" fn(Handler, Handler, Handler, *mut c_void) -> c_int;
    if let Some(register) = function!(raw::REGISTER_ATFORK, RegisterFn) {
        // SAFETY: this library is never unloaded, so the handler stays valid.
        unsafe { register(None, None, Some(slot::after_fork), core::ptr::null_mut()) };
    }
}
