//! What scans pay for old versions that lie in memtables, and when a flush is worth its price.
//!
//! A memtable keeps every version of a row until it is flushed. A scan over rows that are changed again and again steps over all of
//! them: a hundred versions of each row make it several times as slow. A flush leaves the versions that somebody can still see, which
//! is one, mostly. It is begun when what the scans have paid since the last one has come to what a flush costs: so together they cost at most
//! twice what the better of both would have (the rent-or-buy rule).
//!
//! RocksDB counts, for each thread, how often an iterator moved in a memtable. What it moved more often than the cursor asked for was spent on old
//! versions, or on entries of other memtables, which are few.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::perf::{PerfContext, PerfMetric};

/// A seek in a memtable, in steps: behind eight versions of a row RocksDB seeks the next row instead of going on.
const SEEK_STEPS: u64 = 16;
/// So many bytes of a memtable cost a flush one step (about 0.1 µs): writing them out, and their share of the compactions that follow.
const BYTES_PER_STEP: u64 = 50;
/// … and each flush for itself: a file more to look into.
const FLUSH_STEPS: u64 = 300_000;

thread_local! {
    static MOVES: RefCell<Moves> = RefCell::new(Moves { context: PerfContext::default(), seen: 0 });
}

/// How often this thread's iterators have moved in memtables.
struct Moves {
    context: PerfContext,
    seen: u64,
}

impl Moves {
    /// What has come since the last call, in steps.
    fn take(&mut self) -> u64 {
        let metric = |metric| self.context.metric(metric);
        let now =
            metric(PerfMetric::NextOnMemtableCount) + SEEK_STEPS * metric(PerfMetric::SeekOnMemtableCount);
        now.saturating_sub(std::mem::replace(&mut self.seen, now))
    }
}

/// What a cursor asked for, to be compared with what it cost.
#[derive(Default)]
pub(super) struct Asked {
    steps: u64,
}

impl Asked {
    pub(super) fn step(&mut self) {
        self.steps += 1;
    }

    pub(super) fn seek(&mut self) {
        self.steps += 2 * SEEK_STEPS; // there may be a second memtable
    }
}

/// What scans have spent on old versions since the last flush was begun.
#[derive(Default)]
pub(super) struct ScanCost {
    steps: AtomicU64,
}

impl ScanCost {
    /// A cursor has come to its end, on any thread.
    pub(super) fn add(&self, asked: &Asked) {
        // A thread that ends has nothing to add any more.
        let _ = MOVES.try_with(|moves| {
            let wasted = moves.borrow_mut().take().saturating_sub(asked.steps);
            if wasted > 0 {
                self.steps.fetch_add(wasted, Ordering::Relaxed);
            }
        });
    }

    /// Whether a flush of so many bytes is worth its price.
    pub(super) fn pays_for(&self, memtable_bytes: usize) -> bool {
        let price = FLUSH_STEPS + memtable_bytes as u64 / BYTES_PER_STEP;
        self.steps.load(Ordering::Relaxed) >= price
    }

    pub(super) fn flush_begun(&self) {
        self.steps.store(0, Ordering::Relaxed);
    }
}
