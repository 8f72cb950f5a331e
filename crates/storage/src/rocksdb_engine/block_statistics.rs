//! Counters of the blocks of table files that readers look up.
//!
//! RocksDB counts them for each thread anyway. A thread passes on what it has counted with every sixteenth of its
//! reads; the rest of a thread that reads no more is missing. Flushes and compactions do not count.
//!
//! Rejected: RocksDB's statistics, which add to counters of the processor at a dozen places of each read, for figures
//! most of which nobody sees.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::perf::{PerfContext, PerfMetric};

/// Reads of a thread between two moments at which it passes on what it has counted.
const READS_BETWEEN: u32 = 16;

thread_local! {
    static COUNTED: RefCell<ThreadCounts> = RefCell::new(ThreadCounts {
        context: PerfContext::default(),
        passed_on: BlockStatistics::default(),
        reads: 0,
    });
}

/// Blocks of table files that readers have looked up since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockStatistics {
    /// Those that were in the cache.
    pub cache_hits: u64,
    /// Those that had to be read from a file.
    pub cache_misses: u64,
    /// Bytes that were read from files for them.
    pub read_bytes: u64,
}

/// Counts of one thread.
struct ThreadCounts {
    context: PerfContext,
    passed_on: BlockStatistics,
    reads: u32,
}

impl ThreadCounts {
    /// Returns what has been counted since the last call.
    fn take(&mut self) -> BlockStatistics {
        let now = BlockStatistics {
            cache_hits: self.context.metric(PerfMetric::BlockCacheHitCount),
            cache_misses: self.context.metric(PerfMetric::BlockReadCount),
            read_bytes: self.context.metric(PerfMetric::BlockReadByte),
        };
        let before = std::mem::replace(&mut self.passed_on, now);
        BlockStatistics {
            cache_hits: now.cache_hits.saturating_sub(before.cache_hits),
            cache_misses: now.cache_misses.saturating_sub(before.cache_misses),
            read_bytes: now.read_bytes.saturating_sub(before.read_bytes),
        }
    }
}

/// The counters of a database.
#[derive(Default)]
pub(super) struct BlockCounters {
    cache_hits: AtomicU64,
    cache_misses: AtomicU64,
    read_bytes: AtomicU64,
}

impl BlockCounters {
    /// A read of this thread has ended.
    pub(super) fn note_read(&self) {
        // A thread that ends adds nothing any more.
        let _ = COUNTED.try_with(|counted| {
            let mut counted = counted.borrow_mut();
            counted.reads += 1;
            if counted.reads == READS_BETWEEN {
                counted.reads = 0;
                self.add(counted.take());
            }
        });
    }

    fn add(&self, counted: BlockStatistics) {
        self.cache_hits.fetch_add(counted.cache_hits, Ordering::Relaxed);
        self.cache_misses
            .fetch_add(counted.cache_misses, Ordering::Relaxed);
        self.read_bytes.fetch_add(counted.read_bytes, Ordering::Relaxed);
    }

    pub(super) fn statistics(&self) -> BlockStatistics {
        BlockStatistics {
            cache_hits: self.cache_hits.load(Ordering::Relaxed),
            cache_misses: self.cache_misses.load(Ordering::Relaxed),
            read_bytes: self.read_bytes.load(Ordering::Relaxed),
        }
    }
}
