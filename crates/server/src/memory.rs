//! What the allocator keeps of memory that was given back to it.
//!
//! The C library keeps an arena for every few threads, and takes ever larger blocks from them once large ones were given
//! back. A world has tens of megabytes and is loaded on whichever thread is free, so each arena would come to hold the
//! leavings of a world or two: hundreds of megabytes after an hour of switching. So there are two arenas, and large
//! blocks go back to the system at once.

/// Arenas that threads share. Few threads allocate at a time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: i32 = 2;
/// Blocks from this size on are the system's own. Pictures of the camera are smaller: there are many a second.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 1 << 20;

/// Has memory go back to the system. To be called before there are threads; elsewhere than with the GNU C library it
/// does nothing.
#[allow(unsafe_code)]
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: these calls set two numbers of the allocator and touch no memory of ours. A refusal changes nothing.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}
