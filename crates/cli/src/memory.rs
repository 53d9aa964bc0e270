//! Limits the freed memory that the allocator retains.
//!
//! The C library has one arena for every few threads. Once a large block was freed, the library
//! also takes large blocks from the arenas instead of mapping them. A world has tens of megabytes
//! and is loaded on any free thread. Without a limit, each arena would retain the memory of one or
//! two worlds: hundreds of megabytes after an hour of switching between worlds. Therefore this
//! module limits the program to two arenas, and large blocks are returned to the system when they
//! are freed. Small blocks fragment the arenas with every world and session. Therefore a thread
//! returns whole free pages to the system when the used memory has grown.

/// Limits the retained memory. Call it before other threads are started. It does nothing with a C
/// library other than the GNU one.
pub(crate) fn limit_retained() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    gnu::limit_retained();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gnu {
    use std::time::Duration;

    /// Number of arenas. Two are enough, because few threads allocate at the same time.
    const ARENAS: i32 = 2;
    /// Blocks of at least this size, in bytes, are mapped one by one and unmapped when freed. The
    /// limit is above the size of camera images, because mapping many of them per second is slow.
    const MAPPED_BYTES: i32 = 1 << 20;
    /// Time between two measurements.
    const INTERVAL: Duration = Duration::from_secs(10);
    /// Growth, in pages, after which free pages are returned: 4 MiB.
    const GROWTH_PAGES: u64 = 1024;

    #[allow(unsafe_code)]
    pub(super) fn limit_retained() {
        // SAFETY: these calls set two parameters of the allocator and access no memory of the
        // program. If the allocator refuses them, nothing changes.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
        }
        // A failure to start this thread is ignored, because the program then only uses more
        // memory.
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
                // SAFETY: `malloc_trim` returns free pages to the system and takes the allocator's
                // locks.
                unsafe { libc::malloc_trim(0) };
                least = anonymous_pages().unwrap_or(now);
            }
        }
    }

    /// Number of resident pages that do not belong to a file.
    fn anonymous_pages() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        let mut pages = text.split(' ').skip(1).map_while(|part| part.parse::<u64>().ok());
        Some(pages.next()?.saturating_sub(pages.next()?))
    }
}
