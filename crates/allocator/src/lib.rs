//! The process's allocator, jemalloc ([reasons](../../../docs/decisions/0019-the-allocator.md)), and what it says of
//! itself.
//!
//! RocksDB and other C libraries allocate here too, because jemalloc takes the place of `malloc` in the whole process.

#![warn(missing_docs)]

use paceline_types::heap::{HeapUsage, ObservedHeap};
use std::ffi::{CStr, c_void};
use std::ptr;
use tikv_jemalloc_sys::mallctl;

/// The allocator, for `#[global_allocator]`.
pub use tikv_jemallocator::Jemalloc as Allocator;

/// jemalloc as the heap that the server observes: [`paceline_types::heap::observe`].
#[derive(Debug, Clone, Copy, Default)]
pub struct JemallocHeap;

impl ObservedHeap for JemallocHeap {
    fn name(&self) -> &'static str {
        "jemalloc"
    }

    fn usage(&self) -> HeapUsage {
        usage()
    }

    fn release_free_pages(&self) {
        release_free_pages();
    }
}

/// Returns the sizes of the heap now; zeros if another allocator was put in the place of jemalloc.
///
/// Not for frequent use: it adds up what each arena counted.
///
/// ```
/// let page = std::hint::black_box(vec![1_u8; 1 << 20]);
/// let usage = paceline_allocator::usage();
/// assert!(usage.allocated > page.len() as u64);
/// assert!(usage.resident >= usage.allocated);
/// ```
pub fn usage() -> HeapUsage {
    advance_epoch();
    HeapUsage {
        allocated: read_size(c"stats.allocated"),
        resident: read_size(c"stats.resident"),
    }
}

/// Gives free pages back to the system at once. Otherwise they stay for some seconds, in case they are needed again.
pub fn release_free_pages() {
    // All arenas: `MALLCTL_ARENAS_ALL`.
    let name = c"arena.4096.purge";
    // SAFETY: the name is a terminated string, and this command neither reads nor writes a value: jemalloc accepts null
    // pointers and a length of zero for both.
    unsafe {
        mallctl(
            name.as_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            0,
        );
    }
}

/// Makes jemalloc add up its statistics, which it shows as of the last time.
fn advance_epoch() {
    let mut epoch = 1_u64;
    let new = ptr::from_mut(&mut epoch).cast::<c_void>();
    // SAFETY: the name is a terminated string. "epoch" takes a u64, to which `new` points with its size.
    unsafe {
        mallctl(
            c"epoch".as_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            new,
            size_of::<u64>(),
        );
    }
}

/// Reads a statistic of type `size_t`; 0 if it does not exist.
fn read_size(name: &CStr) -> u64 {
    let mut value = 0_usize;
    let mut length = size_of::<usize>();
    // SAFETY: the name is a terminated string. jemalloc writes at most `length` bytes to `value`; both live until it
    // returns. Nothing is written to the statistic.
    unsafe {
        mallctl(
            name.as_ptr(),
            ptr::from_mut(&mut value).cast::<c_void>(),
            &mut length,
            ptr::null_mut(),
            0,
        );
    }
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_pages_are_given_back() {
        // An allocation that nobody looks at is optimised away.
        let pages = std::hint::black_box(vec![1_u8; 64 << 20]);
        let full = usage();
        assert!(full.resident > 64 << 20);
        drop(pages);
        release_free_pages();
        let after = usage();
        assert!(after.allocated + (60 << 20) < full.allocated);
        assert!(after.resident + (60 << 20) < full.resident);
        assert!(after.overhead() < 32 << 20);
    }
}
