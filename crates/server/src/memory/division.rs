//! Division of the process's memory: how much each part may have.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Shortest time between two releases of free pages.
const RELEASE_INTERVAL: Duration = Duration::from_secs(1);

/// Sizes at one moment, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    /// Memory of the process that belongs to no file.
    pub process: u64,
    /// The block cache.
    pub cached: u64,
    /// Memtables.
    pub memtables: u64,
    /// Data of sessions.
    pub sessions: u64,
    /// MEMORY tables.
    pub memory_tables: u64,
    /// Temporary tables.
    pub temporary_tables: u64,
    /// Buffers of long packets.
    pub buffers: u64,
}

/// Limits of the parts, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// The block cache.
    pub cache: u64,
    /// Data of sessions.
    pub sessions: u64,
    /// MEMORY tables.
    pub memory_tables: u64,
    /// Temporary tables.
    pub temporary_tables: u64,
    /// Buffers of long packets.
    pub buffers: u64,
    /// Nothing may grow any more.
    pub is_full: bool,
}

/// Returns the memory that may be taken between two measurements.
fn reserve(limit: u64) -> u64 {
    (limit / 16).clamp(4 << 20, 256 << 20)
}

/// Divides the limit. `most` has the configured limits of the parts; `cache` is the present capacity of the block
/// cache.
fn divide(limit: u64, most: &Shares, memtables_most: u64, cache: u64, now: &Sizes) -> Shares {
    let promised =
        |capacity: u64| capacity.saturating_sub(now.cached) + memtables_most.saturating_sub(now.memtables);
    let taken = now.process.saturating_add(reserve(limit));
    let needed = taken.saturating_add(promised(cache));
    let kept_free = limit / 8;
    let cache = match limit.checked_sub(needed) {
        None => cache.saturating_sub(needed - limit).max(most.cache / 8),
        Some(room) => cache
            .saturating_add(room.saturating_sub(kept_free))
            .min(most.cache),
    };
    let room = limit.saturating_sub(taken.saturating_add(promised(cache)));
    Shares {
        cache,
        sessions: most.sessions.min(now.sessions + room),
        memory_tables: most.memory_tables.min(now.memory_tables + room / 2),
        temporary_tables: most.temporary_tables.min(now.temporary_tables + room / 2),
        buffers: now.buffers + room / 2,
        is_full: room == 0,
    }
}

/// The division in force.
#[derive(Debug, Default)]
pub struct MemoryDivision {
    state: Mutex<State>,
    is_full: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Capacity of the block cache; `None` before the first measurement.
    cache: Option<u64>,
    /// Time of the last release of free pages.
    released: Option<Instant>,
}

impl MemoryDivision {
    /// Returns whether the limit is reached and nothing could give way.
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Returns the capacity of the block cache in bytes, where `configured` is the largest.
    pub fn cache_capacity(&self, configured: u64) -> u64 {
        self.state.lock().cache.unwrap_or(configured)
    }

    /// Measures, divides the limit anew, and applies the shares: one division after the other. Near the limit free
    /// pages go back to the system first. `apply` also gets the capacity of the cache before, if there was one. Returns
    /// the memory of the process in bytes if it has just become full.
    pub fn divide(
        &self,
        limit: u64,
        most: &Shares,
        memtables_most: u64,
        mut measure: impl FnMut() -> Sizes,
        apply: impl FnOnce(&Shares, Option<u64>),
    ) -> Option<u64> {
        let mut state = self.state.lock();
        let mut sizes = measure();
        let is_near = sizes.process.saturating_add(2 * reserve(limit)) > limit;
        let may_release = |released: Instant| released.elapsed() >= RELEASE_INTERVAL;
        if is_near && state.released.is_none_or(may_release) {
            paceline_types::heap::release_free_pages();
            state.released = Some(Instant::now());
            sizes = measure();
        }
        let cache = state.cache.unwrap_or(most.cache);
        let shares = divide(limit, most, memtables_most, cache, &sizes);
        apply(&shares, state.cache.replace(shares.cache));
        let was_full = self.is_full.swap(shares.is_full, Ordering::Relaxed);
        (shares.is_full && !was_full).then_some(sizes.process)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const MOST: Shares = Shares {
        cache: 256 * MIB,
        sessions: 400 * MIB,
        memory_tables: 1024 * MIB,
        temporary_tables: 1024 * MIB,
        buffers: u64::MAX,
        is_full: false,
    };

    fn of(limit: u64, cache: u64, sizes: Sizes) -> Shares {
        divide(limit * MIB, &MOST, 48 * MIB, cache * MIB, &sizes)
    }

    #[test]
    fn parts_keep_their_limits_while_there_is_room() {
        let sizes = Sizes {
            process: 100 * MIB,
            cached: 56 * MIB,
            ..Sizes::default()
        };
        let shares = of(4096, 256, sizes);
        assert_eq!((shares.cache, shares.sessions), (256 * MIB, 400 * MIB));
        assert!(!shares.is_full);
        assert!(shares.buffers > 1024 * MIB);
    }

    #[test]
    fn sessions_have_what_is_neither_used_nor_promised() {
        // Of 640, 100 are used, 200 promised to the cache, 48 to memtables, and 40 are the reserve.
        let sizes = Sizes {
            process: 100 * MIB,
            cached: 56 * MIB,
            sessions: 10 * MIB,
            ..Sizes::default()
        };
        let shares = of(640, 256, sizes);
        assert_eq!(shares.cache, 256 * MIB);
        assert_eq!(shares.sessions, (10 + 640 - 100 - 200 - 48 - 40) * MIB);
        assert_eq!(shares.memory_tables, (640 - 100 - 200 - 48 - 40) / 2 * MIB);
    }

    #[test]
    fn the_cache_gives_way_and_comes_back() {
        let mut sizes = Sizes {
            process: 500 * MIB,
            cached: 56 * MIB,
            ..Sizes::default()
        };
        let shares = of(640, 256, sizes);
        // 500 used, 48 promised to memtables, 40 reserve: 52 are left of the cache's promise beyond what it has.
        assert_eq!(shares.cache, (56 + 52) * MIB);
        assert!(shares.is_full);
        sizes.process = 200 * MIB;
        let shares = of(640, 128, sizes);
        // An eighth stays free.
        assert_eq!(shares.cache, MOST.cache);
        assert!(!shares.is_full);
        assert_eq!(shares.sessions, (640 - 200 - 200 - 48 - 40) * MIB);
    }

    #[test]
    fn a_full_process_gives_room_to_nobody() {
        let sizes = Sizes {
            process: 900 * MIB,
            cached: 250 * MIB,
            sessions: 300 * MIB,
            ..Sizes::default()
        };
        let shares = of(640, 256, sizes);
        assert_eq!(shares.cache, MOST.cache / 8);
        assert_eq!(shares.sessions, 300 * MIB);
        assert_eq!(shares.buffers, 0);
        assert!(shares.is_full);
    }
}
