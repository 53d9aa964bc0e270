//! System calls that bypass the C library, and lookup of the functions of the C library that this
//! library calls.

use core::arch::asm;
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// `struct timespec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Timespec {
    pub(crate) sec: i64,
    pub(crate) nsec: i64,
}

/// `struct timeval`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Timeval {
    pub(crate) sec: i64,
    pub(crate) usec: i64,
}

pub(crate) const EINTR: c_int = 4;
pub(crate) const EIO: c_int = 5;
pub(crate) const EAGAIN: c_int = 11;
pub(crate) const ENOMEM: c_int = 12;
pub(crate) const EFAULT: c_int = 14;
pub(crate) const EINVAL: c_int = 22;
pub(crate) const ENOSYS: c_int = 38;
pub(crate) const ETIMEDOUT: c_int = 110;

/// The numbers of system calls.
#[cfg(target_arch = "x86_64")]
pub(crate) mod nr {
    pub(crate) const POLL: i64 = 7;
    pub(crate) const LSEEK: i64 = 8;
    pub(crate) const MMAP: i64 = 9;
    pub(crate) const CLOSE: i64 = 3;
    pub(crate) const RT_SIGPROCMASK: i64 = 14;
    pub(crate) const SELECT: i64 = 23;
    pub(crate) const NANOSLEEP: i64 = 35;
    pub(crate) const GETITIMER: i64 = 36;
    pub(crate) const SETITIMER: i64 = 38;
    pub(crate) const GETPID: i64 = 39;
    pub(crate) const SETSOCKOPT: i64 = 54;
    pub(crate) const GETTIMEOFDAY: i64 = 96;
    pub(crate) const TIMES: i64 = 100;
    pub(crate) const GETPPID: i64 = 110;
    pub(crate) const RT_SIGTIMEDWAIT: i64 = 128;
    pub(crate) const GETTID: i64 = 186;
    pub(crate) const TIME: i64 = 201;
    pub(crate) const FUTEX: i64 = 202;
    pub(crate) const CLOCK_GETTIME: i64 = 228;
    pub(crate) const CLOCK_NANOSLEEP: i64 = 230;
    pub(crate) const EPOLL_WAIT: i64 = 232;
    pub(crate) const OPENAT: i64 = 257;
    pub(crate) const PSELECT6: i64 = 270;
    pub(crate) const PPOLL: i64 = 271;
    pub(crate) const EPOLL_PWAIT: i64 = 281;
    pub(crate) const TIMERFD_SETTIME: i64 = 286;
    pub(crate) const EXIT_GROUP: i64 = 231;
    pub(crate) const GETRANDOM: i64 = 318;
    pub(crate) const EPOLL_PWAIT2: i64 = 441;
}

/// The numbers of system calls. A negative number stands for a call that this architecture does not
/// have.
#[cfg(target_arch = "aarch64")]
pub(crate) mod nr {
    pub(crate) const POLL: i64 = -1001;
    pub(crate) const SELECT: i64 = -1002;
    pub(crate) const TIME: i64 = -1003;
    pub(crate) const EPOLL_WAIT: i64 = -1004;
    pub(crate) const EPOLL_PWAIT: i64 = 22;
    pub(crate) const OPENAT: i64 = 56;
    pub(crate) const CLOSE: i64 = 57;
    pub(crate) const LSEEK: i64 = 62;
    pub(crate) const PSELECT6: i64 = 72;
    pub(crate) const PPOLL: i64 = 73;
    pub(crate) const TIMERFD_SETTIME: i64 = 86;
    pub(crate) const FUTEX: i64 = 98;
    pub(crate) const EXIT_GROUP: i64 = 94;
    pub(crate) const NANOSLEEP: i64 = 101;
    pub(crate) const GETITIMER: i64 = 102;
    pub(crate) const SETITIMER: i64 = 103;
    pub(crate) const CLOCK_GETTIME: i64 = 113;
    pub(crate) const CLOCK_NANOSLEEP: i64 = 115;
    pub(crate) const RT_SIGPROCMASK: i64 = 135;
    pub(crate) const RT_SIGTIMEDWAIT: i64 = 137;
    pub(crate) const TIMES: i64 = 153;
    pub(crate) const GETTIMEOFDAY: i64 = 169;
    pub(crate) const GETPID: i64 = 172;
    pub(crate) const GETPPID: i64 = 173;
    pub(crate) const GETTID: i64 = 178;
    pub(crate) const SETSOCKOPT: i64 = 208;
    pub(crate) const MMAP: i64 = 222;
    pub(crate) const GETRANDOM: i64 = 278;
    pub(crate) const EPOLL_PWAIT2: i64 = 441;
}

/// Makes a system call. The result is negative if the call fails; `errno` is not changed.
///
/// # Safety
/// The arguments have to be valid for the call.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn call(number: i64, arguments: [usize; 6]) -> i64 {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the kernel changes only the registers that are listed here.
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c,
            in("r10") d, in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// Makes a system call. The result is negative if the call fails; `errno` is not changed.
///
/// # Safety
/// The arguments have to be valid for the call.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn call(number: i64, arguments: [usize; 6]) -> i64 {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the kernel changes only the registers that are listed here.
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") a => result, in("x1") b, in("x2") c,
            in("x3") d, in("x4") e, in("x5") f, options(nostack));
    }
    result
}

// Without the standard library, the C library is not linked automatically.
#[link(name = "c")]
unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// Sets `errno` and returns -1.
pub(crate) fn fail(error: c_int) -> c_int {
    // SAFETY: the C library returns the address of this thread's variable.
    unsafe { *__errno_location() = error };
    -1
}

/// Converts the result of a system call to the result of a C function: sets `errno` and returns -1
/// on failure.
pub(crate) fn result(value: i64) -> c_long {
    if (-4095..0).contains(&value) { c_long::from(fail(-value as c_int)) } else { value }
}

/// Makes a system call. If the call fails, sets `errno` and returns -1.
///
/// # Safety
/// The arguments have to be valid for the call.
pub(crate) unsafe fn checked(number: i64, arguments: [usize; 6]) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    result(unsafe { call(number, arguments) }) as c_int
}

/// An id from the kernel: `GETPID`, `GETPPID` or `GETTID`.
pub(crate) fn id(number: i64) -> i32 {
    // SAFETY: these calls have no arguments.
    unsafe { call(number, [0; 6]) as i32 }
}

/// A function of the C library that this library calls. Most of these functions have the same name
/// as a function of this library, which the program calls instead.
pub(crate) struct Next {
    name: &'static CStr,
    at: AtomicUsize,
}

impl Next {
    const fn new(name: &'static CStr) -> Next {
        Next { name, at: AtomicUsize::new(0) }
    }

    /// The address of the function, or 0 if the C library does not have it.
    pub(crate) fn address(&self) -> usize {
        match self.at.load(Relaxed) {
            0 => self.find(),
            address => address,
        }
    }

    #[cold]
    fn find(&self) -> usize {
        // RTLD_NEXT
        let next = usize::MAX as *mut c_void;
        // SAFETY: both strings end with a zero byte.
        let address = unsafe {
            // For condition variables, the C library has functions for an obsolete layout too, and
            // the lookup without a version finds those first in some releases of the C library.
            // Therefore this code asks for the version of the current layout.
            let versioned = dlvsym(next, self.name.as_ptr(), c"GLIBC_2.3.2".as_ptr());
            if versioned.is_null() { dlsym(next, self.name.as_ptr()) } else { versioned }
        };
        self.at.store(address as usize, Relaxed);
        address as usize
    }
}

macro_rules! next {
    ($($constant:ident = $name:literal),* $(,)?) => {
        $(pub(crate) static $constant: Next = Next::new($name);)*

        /// Finds all functions. A later lookup could happen in a signal handler, where the dynamic
        /// linker must not be called.
        pub(crate) fn find_all() {
            $($constant.address();)*
        }
    };
}

next! {
    FORK = c"fork",
    EXECVE = c"execve",
    EXECV = c"execv",
    EXECVP = c"execvp",
    WAITPID = c"waitpid",
    WAIT4 = c"wait4",
    PLAIN_FORK = c"_Fork",
    PTHREAD_CREATE = c"pthread_create",
    REGISTER_ATFORK = c"__register_atfork",
    SETCANCELTYPE = c"pthread_setcanceltype",
    SIGACTION = c"sigaction",
    SIGNAL = c"signal",
    TIMER_SETTIME = c"timer_settime",
    SEM_WAIT = c"sem_wait",
    SEM_TIMEDWAIT = c"sem_timedwait",
    SEM_CLOCKWAIT = c"sem_clockwait",
    COND_TIMEDWAIT = c"pthread_cond_timedwait",
    COND_CLOCKWAIT = c"pthread_cond_clockwait",
    MUTEX_TIMEDLOCK = c"pthread_mutex_timedlock",
    MUTEX_CLOCKLOCK = c"pthread_mutex_clocklock",
    RWLOCK_TIMEDRDLOCK = c"pthread_rwlock_timedrdlock",
    RWLOCK_TIMEDWRLOCK = c"pthread_rwlock_timedwrlock",
    RWLOCK_CLOCKRDLOCK = c"pthread_rwlock_clockrdlock",
    RWLOCK_CLOCKWRLOCK = c"pthread_rwlock_clockwrlock",
    TIMEDJOIN = c"pthread_timedjoin_np",
    CLOCKJOIN = c"pthread_clockjoin_np",
}

/// Casts the address of a [`Next`] to a function. The result is `None` if the function is missing.
macro_rules! function {
    ($next:expr, $type:ty) => {
        // SAFETY: the type is that of the function in the C library, and `None` is represented by
        // 0.
        unsafe { core::mem::transmute::<usize, Option<$type>>($next.address()) }
    };
}
pub(crate) use function;

/// Makes a call that can wait. Another thread can cancel this thread during the call, as in the
/// waiting functions of the C library.
pub(crate) fn cancellable<T>(call: impl FnOnce() -> T) -> T {
    const PTHREAD_CANCEL_ASYNCHRONOUS: c_int = 1;
    let Some(set_type) = function!(SETCANCELTYPE, unsafe extern "C" fn(c_int, *mut c_int) -> c_int) else {
        return call();
    };
    let mut before = 0;
    // SAFETY: the address is valid. The call that can be cancelled only waits.
    unsafe { set_type(PTHREAD_CANCEL_ASYNCHRONOUS, &raw mut before) };
    let result = call();
    // SAFETY: the address is valid.
    unsafe { set_type(before, &raw mut before) };
    result
}
