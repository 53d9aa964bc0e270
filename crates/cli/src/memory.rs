//! Limits how much freed memory the allocator keeps.
//!
//! The C library allocates memory from several pools ("arenas"). A few threads share each arena. By
//! default, the C library maps a large block separately. After such a block was freed, the C
//! library takes further blocks of that size from the arenas. A world needs tens of megabytes, and
//! any free thread may load a world. Without a limit, each arena would keep the memory of one or
//! two worlds. After an hour of switching between worlds, all arenas together would keep hundreds
//! of megabytes. Therefore this module limits the program to two arenas, and large blocks are
//! returned to the system when they are freed. The small blocks of each world and session also
//! fragment the arenas. Therefore a thread returns free pages to the system when the program's
//! memory has grown.

/// Limits the freed memory that the allocator keeps. The caller must call this function before
/// other threads are started. The function does nothing if the C library is not the GNU C library.
pub(crate) fn limit_retained() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    gnu::limit_retained();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gnu {
    use std::time::Duration;

    /// Number of arenas. Two are enough, because few threads allocate at the same time.
    const ARENAS: i32 = 2;
    /// Blocks of at least this size, in bytes, are mapped separately and unmapped when they are
    /// freed. The limit is above the size of a camera image of `gen1` (480 × 360 pixels), because
    /// mapping many images per second would be slow.
    const MAPPED_BYTES: i32 = 1 << 20;
    /// Time between two measurements of the program's memory.
    const INTERVAL: Duration = Duration::from_secs(10);
    /// Growth of the program's memory after which free pages are returned, in pages. With pages of
    /// 4 KiB, this is 4 MiB.
    const GROWTH_PAGES: u64 = 1024;

    #[allow(unsafe_code)]
    pub(super) fn limit_retained() {
        // SAFETY: these calls set two parameters of the allocator and access no memory of the
        // program. If the allocator refuses them, nothing changes.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
        }
        // If this thread can't be started, the program only uses more memory. Therefore the error
        // is ignored.
        let _ = std::thread::Builder::new().name("memory".to_owned()).spawn(trim_on_growth);
    }

    #[allow(unsafe_code)]
    fn trim_on_growth() {
        let mut least = u64::MAX - GROWTH_PAGES;
        loop {
            std::thread::sleep(INTERVAL);
            let Some(now) = anonymous_pages() else { return };
            least = least.min(now);
            if now >= least + GROWTH_PAGES {
                // SAFETY: `malloc_trim` takes the allocator's locks and only returns free pages to
                // the system.
                unsafe { libc::malloc_trim(0) };
                least = anonymous_pages().unwrap_or(now);
            }
        }
    }

    /// Number of resident pages that do not belong to a file. `None` if the kernel does not tell
    /// the number.
    fn anonymous_pages() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        let mut pages = text.split(' ').skip(1).map_while(|part| part.parse::<u64>().ok());
        Some(pages.next()?.saturating_sub(pages.next()?))
    }
}
