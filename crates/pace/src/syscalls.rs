//! Recognizes system calls that wait with a timeout of the kernel, which is real time.

use libc::c_long;

/// The state of a thread, from `/proc/<pid>/task/<tid>/syscall`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// The thread runs, or is about to run.
    Running,
    /// The thread waits for an event, without a kernel timeout.
    Untimed,
    /// The thread waits in a system call that ends after some real time.
    Timed,
    /// The thread waits in `connect`. The thread will continue without an event, because the kernel
    /// completes the handshake by itself.
    Connecting,
}

/// Reads a line of the file `syscall`.
pub(crate) fn read(line: &[u8]) -> Blocked {
    let Ok(line) = std::str::from_utf8(line) else { return Blocked::Running };
    let mut words = line.split_ascii_whitespace();
    let Some(call) = words.next().and_then(|word| word.parse::<c_long>().ok()) else {
        return Blocked::Running;
    };
    if call < 0 {
        // The thread is blocked outside a system call. A thread without a stack has ended. Any
        // other thread waits until the kernel has loaded a page of the program, and then runs.
        let stack = words.next().unwrap_or("0x0");
        return if stack == "0x0" { Blocked::Untimed } else { Blocked::Running };
    }
    let mut arguments = [0u64; 6];
    for (argument, word) in arguments.iter_mut().zip(words) {
        *argument = u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0);
    }
    if call == libc::SYS_connect {
        return Blocked::Connecting;
    }
    if is_timed(call, arguments) { Blocked::Timed } else { Blocked::Untimed }
}

/// Whether a system call ends after some real time.
fn is_timed(call: c_long, arguments: [u64; 6]) -> bool {
    let [_, operation, a2, a3, a4, _] = arguments;
    // Whether an argument is a timeout in milliseconds. The kernel reads only its low 32 bits. A
    // negative value means no timeout.
    let milliseconds = |value: u64| (value as u32).cast_signed() >= 0;
    match call {
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => true,
        libc::SYS_ppoll | libc::SYS_rt_sigtimedwait => a2 != 0,
        libc::SYS_pselect6 => a4 != 0,
        libc::SYS_epoll_pwait => milliseconds(a3),
        libc::SYS_epoll_pwait2 | libc::SYS_semtimedop => a3 != 0,
        libc::SYS_recvmmsg | libc::SYS_io_getevents | libc::SYS_mq_timedreceive | libc::SYS_mq_timedsend => {
            a4 != 0
        }
        libc::SYS_futex => {
            // FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2
            matches!(operation & 0x7f, 0 | 6 | 9 | 11 | 13) && a3 != 0
        }
        libc::SYS_futex_waitv => a3 != 0,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => milliseconds(a2),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait => milliseconds(a3),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_select => a4 != 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_understood() {
        let read = |line: &str| read(line.as_bytes());
        assert_eq!(read("running\n"), Blocked::Running);
        assert_eq!(read(""), Blocked::Running);
        assert_eq!(read("-1 0x7ffe12340000 0x7f0012345678\n"), Blocked::Running);
        assert_eq!(read("-1 0x0 0x0\n"), Blocked::Untimed);
        let call = |number: c_long, arguments: &str| read(&format!("{number} {arguments} 0x7ffe 0x7f00\n"));
        assert_eq!(call(libc::SYS_clock_nanosleep, "0x1 0x1 0x7f 0x0 0x0 0x0"), Blocked::Timed);
        assert_eq!(call(libc::SYS_ppoll, "0x7f 0x1 0x0 0x0 0x8 0x0"), Blocked::Untimed);
        assert_eq!(call(libc::SYS_ppoll, "0x7f 0x1 0x7f 0x0 0x8 0x0"), Blocked::Timed);
        assert_eq!(call(libc::SYS_epoll_pwait, "0x3 0x7f 0x40 0xffffffff 0x0 0x8"), Blocked::Untimed);
        assert_eq!(call(libc::SYS_epoll_pwait, "0x3 0x7f 0x40 0x64 0x0 0x8"), Blocked::Timed);
        assert_eq!(call(libc::SYS_futex, "0x7f 0x189 0x0 0x7f 0x0 0xffffffff"), Blocked::Timed);
        assert_eq!(call(libc::SYS_futex, "0x7f 0x189 0x0 0x0 0x0 0xffffffff"), Blocked::Untimed);
        assert_eq!(call(libc::SYS_futex, "0x7f 0x81 0x1 0x1 0x0 0x0"), Blocked::Untimed);
        assert_eq!(call(libc::SYS_read, "0x0 0x7f 0x400 0x0 0x0 0x0"), Blocked::Untimed);
        assert_eq!(call(libc::SYS_connect, "0x3 0x7f 0x10 0x0 0x0 0x0"), Blocked::Connecting);
    }
}
