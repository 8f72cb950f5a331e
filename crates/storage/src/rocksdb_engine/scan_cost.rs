//! Cost of old versions in memtables to scans, and the point at which a flush is worth its price.
//!
//! A memtable keeps every version of a row until it is flushed. A scan over rows that are changed repeatedly
//! steps over all of them: a hundred versions of each row make it several times slower. A flush leaves only the
//! versions that a reader can still see, usually one. It is begun when the scans since the last one have wasted
//! as much as a flush costs: together they then cost at most twice as much as the better of the two would have
//! (the rent-or-buy rule).
//!
//! RocksDB counts per thread how often an iterator moved in a memtable. Moves in excess of those that the
//! cursor requested were spent on old versions, or on entries of other memtables, which are few.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::perf::{PerfContext, PerfMetric};

/// Cost of a seek in a memtable, in steps: after eight versions of a row RocksDB seeks the next row instead of
/// stepping on.
const SEEK_STEPS: u64 = 16;
/// Bytes of a memtable whose flush costs one step (about 0.1 µs): writing them, and their share of the
/// compactions that follow.
const BYTES_PER_STEP: u64 = 50;
/// Fixed cost of a flush, in steps: one more file to search.
const FLUSH_STEPS: u64 = 300_000;

thread_local! {
    static MOVES: RefCell<Moves> = RefCell::new(Moves { context: PerfContext::default(), seen: 0 });
}

/// Number of moves of this thread's iterators in memtables.
struct Moves {
    context: PerfContext,
    seen: u64,
}

impl Moves {
    /// Returns the cost of the moves since the last call, in steps.
    fn take(&mut self) -> u64 {
        let metric = |metric| self.context.metric(metric);
        let now =
            metric(PerfMetric::NextOnMemtableCount) + SEEK_STEPS * metric(PerfMetric::SeekOnMemtableCount);
        now.saturating_sub(std::mem::replace(&mut self.seen, now))
    }
}

/// Cost of what a cursor requested, to be compared with its actual cost.
#[derive(Default)]
pub(super) struct RequestedSteps {
    steps: u64,
}

impl RequestedSteps {
    pub(super) fn step(&mut self) {
        self.steps += 1;
    }

    pub(super) fn seek(&mut self) {
        self.steps += 2 * SEEK_STEPS; // there may be a second memtable
    }
}

/// Steps that scans have spent on old versions since the last flush was begun.
#[derive(Default)]
pub(super) struct ScanCost {
    steps: AtomicU64,
}

impl ScanCost {
    /// Adds the waste of a cursor that has ended, on any thread.
    pub(super) fn add(&self, requested: &RequestedSteps) {
        // A thread that ends adds nothing any more.
        let _ = MOVES.try_with(|moves| {
            let wasted = moves.borrow_mut().take().saturating_sub(requested.steps);
            if wasted > 0 {
                self.steps.fetch_add(wasted, Ordering::Relaxed);
            }
        });
    }

    /// Returns whether a flush of `memtable_bytes` is worth its price.
    pub(super) fn pays_for(&self, memtable_bytes: usize) -> bool {
        let price = FLUSH_STEPS + memtable_bytes as u64 / BYTES_PER_STEP;
        self.steps.load(Ordering::Relaxed) >= price
    }

    pub(super) fn flush_begun(&self) {
        self.steps.store(0, Ordering::Relaxed);
    }
}
