//! Counters of the rows that statements read and change in a table, by the index that they used.
//!
//! They stand beside the table, so that counting needs no search: a statement adds once what it has read, not once for
//! each row. Several copies, one for some of the threads, keep the threads from writing to the same cache line. A
//! reader adds up the copies.
//!
//! ```text
//!   copy 0   no index │ index 0 │ index 1 │ …      one cache line each: reads, inserts, updates, deletes, …
//!   copy 1   no index │ index 0 │ index 1 │ …
//! ```
//!
//! The copies are made when the table is first used: 64 bytes for each index and one more, in each copy. After an ALTER
//! TABLE the table and the indexes that are left keep their counts; those of statements that still run with the earlier
//! definition are lost.
//!
//! The same counters are kept twice: for performance_schema always, and for the statistics of users
//! (`userstat`) only while these are on. Each kind is emptied by itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Maximum number of copies.
const COPIES_MAX: usize = 8;

/// Counters of one index in one copy. Its size is that of a cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell {
    reads: AtomicU64,
    inserts: AtomicU64,
    updates: AtomicU64,
    deletes: AtomicU64,
    /// Rows read while `userstat` was on.
    user_reads: AtomicU64,
    /// Rows changed while `userstat` was on.
    user_changes: AtomicU64,
}

/// Rows of a table that statements have read and changed through one index, or without one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows read.
    pub reads: u64,
    /// Rows inserted.
    pub inserts: u64,
    /// Rows updated.
    pub updates: u64,
    /// Rows deleted.
    pub deletes: u64,
}

impl RowCounts {
    /// Returns the number of writes.
    pub fn writes(&self) -> u64 {
        self.inserts + self.updates + self.deletes
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &RowCounts) {
        self.reads += other.reads;
        self.inserts += other.inserts;
        self.updates += other.updates;
        self.deletes += other.deletes;
    }
}

/// Rows that statements have read and changed while `userstat` was on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UserRowCounts {
    /// Rows read.
    pub reads: u64,
    /// Rows changed.
    pub changes: u64,
}

/// Counters of a table.
#[derive(Debug, Default)]
pub(crate) struct TableCounters {
    /// The copies one after the other.
    cells: OnceLock<Box<[Cell]>>,
}

thread_local! {
    /// The copy that this thread writes.
    static COPY: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Relaxed) % copies()
    };
}

fn copies() -> usize {
    static COPIES: OnceLock<usize> = OnceLock::new();
    *COPIES.get_or_init(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        processors.min(COPIES_MAX)
    })
}

impl TableCounters {
    /// Returns this thread's counters of an index. `places` is the number of indexes and one more; `None` is the table
    /// without an index.
    #[inline]
    fn cell(&self, places: usize, index: Option<usize>) -> &Cell {
        let cells = self.cells.get_or_init(|| self.make(places));
        let copy = COPY.with(|copy| *copy);
        let place = index.map_or(0, |index| index + 1);
        &cells[copy * places + place]
    }

    #[cold]
    fn make(&self, places: usize) -> Box<[Cell]> {
        (0..copies() * places).map(|_| Cell::default()).collect()
    }

    #[inline]
    pub(crate) fn count_read(&self, places: usize, index: Option<usize>, rows: u64, for_users: bool) {
        let cell = self.cell(places, index);
        cell.reads.fetch_add(rows, Relaxed);
        if for_users {
            self.count_users(places, index, |cell| &cell.user_reads, rows);
        }
    }

    /// Counts rows for the whole table, and for the index.
    #[cold]
    fn count_users(&self, places: usize, index: Option<usize>, counter: fn(&Cell) -> &AtomicU64, rows: u64) {
        counter(self.cell(places, None)).fetch_add(rows, Relaxed);
        if index.is_some() {
            counter(self.cell(places, index)).fetch_add(rows, Relaxed);
        }
    }

    pub(crate) fn count_writes(
        &self,
        places: usize,
        index: Option<usize>,
        written: RowCounts,
        for_users: bool,
    ) {
        let add = |counter: &AtomicU64, rows: u64| {
            if rows > 0 {
                counter.fetch_add(rows, Relaxed);
            }
        };
        // An inserted row was found by no index.
        add(&self.cell(places, None).inserts, written.inserts);
        let cell = self.cell(places, index);
        add(&cell.updates, written.updates);
        add(&cell.deletes, written.deletes);
        if for_users {
            self.count_users(places, None, |cell| &cell.user_changes, written.writes());
        }
    }

    fn sum<T: Default>(&self, places: usize, index: Option<usize>, mut add: impl FnMut(&mut T, &Cell)) -> T {
        let mut sum = T::default();
        let place = index.map_or(0, |index| index + 1);
        for copy in self
            .cells
            .get()
            .into_iter()
            .flat_map(|cells| cells.chunks(places))
        {
            add(&mut sum, &copy[place]);
        }
        sum
    }

    pub(crate) fn of_index(&self, places: usize, index: Option<usize>) -> RowCounts {
        self.sum(places, index, |sum: &mut RowCounts, cell| {
            sum.reads += cell.reads.load(Relaxed);
            sum.inserts += cell.inserts.load(Relaxed);
            sum.updates += cell.updates.load(Relaxed);
            sum.deletes += cell.deletes.load(Relaxed);
        })
    }

    pub(crate) fn of_users(&self, places: usize, index: Option<usize>) -> UserRowCounts {
        self.sum(places, index, |sum: &mut UserRowCounts, cell| {
            sum.reads += cell.user_reads.load(Relaxed);
            sum.changes += cell.user_changes.load(Relaxed);
        })
    }

    /// Returns counters of a table with other indexes. `kept` has the earlier place of each place, if there was one.
    pub(crate) fn rearranged(&self, places: usize, kept: &[Option<usize>]) -> TableCounters {
        let counters = TableCounters::default();
        if !self.are_used() {
            return counters;
        }
        let cells = counters.make(kept.len());
        // The first copy gets the sums.
        for (cell, known) in cells.iter().zip(kept) {
            let Some(known) = known else { continue };
            let index = known.checked_sub(1);
            let (counts, users) = (self.of_index(places, index), self.of_users(places, index));
            cell.reads.store(counts.reads, Relaxed);
            cell.inserts.store(counts.inserts, Relaxed);
            cell.updates.store(counts.updates, Relaxed);
            cell.deletes.store(counts.deletes, Relaxed);
            cell.user_reads.store(users.reads, Relaxed);
            cell.user_changes.store(users.changes, Relaxed);
        }
        let _ = counters.cells.set(cells);
        counters
    }

    /// Returns whether anything was counted since they were made.
    pub(crate) fn are_used(&self) -> bool {
        self.cells.get().is_some()
    }

    /// Sets the counters of performance_schema to zero.
    pub(crate) fn clear(&self) {
        for cell in self.cells.get().into_iter().flatten() {
            for counter in [&cell.reads, &cell.inserts, &cell.updates, &cell.deletes] {
                counter.store(0, Relaxed);
            }
        }
    }

    /// Sets the statistics of users of the table to zero.
    pub(crate) fn clear_users_of_table(&self, places: usize) {
        self.clear_users(|place| place % places == 0);
    }

    /// Sets the statistics of users of the indexes to zero.
    pub(crate) fn clear_users_of_indexes(&self, places: usize) {
        self.clear_users(|place| place % places != 0);
    }

    fn clear_users(&self, wanted: impl Fn(usize) -> bool) {
        let cells = self.cells.get().into_iter().flatten().enumerate();
        for (_, cell) in cells.filter(|(place, _)| wanted(*place)) {
            cell.user_reads.store(0, Relaxed);
            cell.user_changes.store(0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_add_up_and_each_kind_is_emptied_by_itself() {
        let counters = TableCounters::default();
        let (places, index) = (3, Some(1));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| counters.count_read(places, index, 10, true));
            }
        });
        let written = RowCounts {
            inserts: 1,
            updates: 2,
            ..RowCounts::default()
        };
        counters.count_writes(places, index, written, false);
        let expected = RowCounts {
            reads: 40,
            updates: 2,
            ..RowCounts::default()
        };
        assert_eq!(counters.of_index(places, index), expected);
        assert_eq!(counters.of_index(places, None).inserts, 1);
        let without_first = counters.rearranged(places, &[Some(0), Some(2)]);
        assert_eq!(without_first.of_index(2, Some(0)), expected);
        assert_eq!(without_first.of_users(2, None).reads, 40);
        counters.clear();
        assert_eq!(counters.of_index(places, index), RowCounts::default());
        assert_eq!(counters.of_users(places, index).reads, 40);
        counters.clear_users_of_indexes(places);
        assert_eq!(counters.of_users(places, index).reads, 0);
        assert_eq!(counters.of_users(places, None).reads, 40);
    }
}
