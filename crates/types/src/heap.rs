//! The heap of the process, as its allocator counts it.
//!
//! The server is also a library in other programs, and the allocator is the program's choice. So nothing here brings an
//! allocator along: a program that has one which can be asked says so with [`observe`].

use std::sync::OnceLock;

/// Sizes of the heap, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeapUsage {
    /// Bytes that the program has allocated and not freed.
    pub allocated: u64,
    /// The pages that hold it, those of the allocator's own data, and free pages that the system has not taken back.
    pub resident: u64,
}

impl HeapUsage {
    /// Returns the heap's memory that holds nothing of the program: gaps, free pages, the allocator's own data.
    pub fn overhead(&self) -> u64 {
        self.resident.saturating_sub(self.allocated)
    }
}

/// An allocator that counts its memory.
pub trait ObservedHeap: Sync {
    /// Returns the allocator's name.
    fn name(&self) -> &'static str;

    /// Returns the sizes of the heap now.
    fn usage(&self) -> HeapUsage;

    /// Gives free pages back to the system at once.
    fn release_free_pages(&self);
}

static OBSERVED: OnceLock<&'static dyn ObservedHeap> = OnceLock::new();

/// Makes `heap` the one that [`usage`] and [`release_free_pages`] ask. The first call counts.
pub fn observe(heap: &'static dyn ObservedHeap) {
    let _ = OBSERVED.set(heap);
}

/// Returns the name of the program's allocator, as `version_malloc_library` shows it.
pub fn name() -> &'static str {
    OBSERVED.get().map_or("system", |heap| heap.name())
}

/// Returns the sizes of the heap now; `None` if the program's allocator is not observed. Not for frequent use: an
/// allocator adds up what each of its arenas counted.
pub fn usage() -> Option<HeapUsage> {
    OBSERVED.get().map(|heap| heap.usage())
}

/// Gives free pages back to the system at once, if the program's allocator is observed. Otherwise they stay until the
/// allocator decides so.
pub fn release_free_pages() {
    if let Some(heap) = OBSERVED.get() {
        heap.release_free_pages();
    }
}
