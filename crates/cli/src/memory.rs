//! What the allocator keeps of memory that was given back to it.
//!
//! The C library keeps an arena for every few threads, and takes ever larger blocks from them once large ones were given
//! back. A world has tens of megabytes and is loaded on whichever thread is free, so each arena would come to hold the
//! leavings of a world or two: hundreds of megabytes after an hour of switching. So there are two arenas, and large
//! blocks go back to the system at once. Small ones leave holes between those that stay, more of them with every world and
//! session: whole pages of them are given back now and then, where memory has grown.

/// Has memory go back to the system. To be called before there are threads; elsewhere than with the GNU C library it
/// does nothing.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    gnu::give_back();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gnu {
    use std::time::Duration;

    /// Arenas that threads share. Few threads allocate at a time.
    const ARENAS: i32 = 2;
    /// Blocks from this size on are the system's own. Pictures of the camera are smaller: there are many a second.
    const LARGE: i32 = 1 << 20;
    /// From look to look.
    const LOOK: Duration = Duration::from_secs(10);
    /// Pages that there must be more than after the last time: 4 MiB.
    const GROWN: u64 = 1024;

    #[allow(unsafe_code)]
    pub(super) fn give_back() {
        // SAFETY: these calls set two numbers of the allocator and touch no memory of ours. A refusal changes nothing.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        }
        // Without it there is only more memory in use.
        let _ = std::thread::Builder::new().name("memory".to_owned()).spawn(look_after);
    }

    #[allow(unsafe_code)]
    fn look_after() {
        let mut least = u64::MAX - GROWN;
        loop {
            std::thread::sleep(LOOK);
            let Some(now) = own_pages() else { return };
            least = least.min(now);
            if now >= least + GROWN {
                // SAFETY: it gives pages back that hold nothing, under the locks of the allocator.
                unsafe { libc::malloc_trim(0) };
                least = own_pages().unwrap_or(now);
            }
        }
    }

    /// Pages that are in memory and not of a file.
    fn own_pages() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        let mut pages = text.split(' ').skip(1).map_while(|part| part.parse::<u64>().ok());
        Some(pages.next()?.saturating_sub(pages.next()?))
    }
}
