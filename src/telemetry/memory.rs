//! Returns freed memory to the system.
//!
//! In:  how much the controller has done, while it is quiet.
//! Out: a trim after each burst.
//! Source: measured: after a burst of 70 MiB glibc keeps 78 MiB resident with nothing live, after a trim 0.5 MiB.
#![allow(unsafe_code)]

use std::time::Duration;

/// Keeps glibc from giving every thread an arena of its own; call before the first thread starts.
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt only sets a parameter of the allocator; it is called before any other thread exists.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        // Small thresholds keep big buffers in their own mappings, which go back to the system when freed.
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 * 1024);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 128 * 1024);
    }
}

/// Returns free memory to the system.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Trims once after each burst of work, and then not again until there was more.
///
/// `work` counts what was done so far while nothing is waiting, and is `None` while something is.
pub async fn trim_when_quiet(work: impl Fn() -> Option<u64>) {
    let mut trimmed_at = None;
    loop {
        tokio::time::sleep(Duration::from_secs(2)).await;
        let done = work();
        if done.is_some() && done != trimmed_at {
            trim();
            trimmed_at = done;
        }
    }
}
