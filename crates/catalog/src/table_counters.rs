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
#[derive(Debug)]
pub(crate) struct TableCounters {
    /// Number of cells in a copy: one for each index, and one for the table without an index.
    places: usize,
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
    /// Creates the counters of a table. `places`: the number of its indexes, and one more.
    pub(crate) fn new(places: usize) -> Self {
        TableCounters {
            places,
            cells: OnceLock::new(),
        }
    }

    /// Returns the number of indexes and one more.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Returns this thread's counters of an index; `None` is the table without an index.
    #[inline]
    fn cell(&self, index: Option<usize>) -> &Cell {
        let cells = self.cells.get_or_init(|| self.make());
        let copy = COPY.with(|copy| *copy);
        let place = index.map_or(0, |index| index + 1);
        &cells[copy * self.places + place]
    }

    #[cold]
    fn make(&self) -> Box<[Cell]> {
        (0..copies() * self.places).map(|_| Cell::default()).collect()
    }

    #[inline]
    pub(crate) fn count_read(&self, index: Option<usize>, rows: u64, for_users: bool) {
        let cell = self.cell(index);
        cell.reads.fetch_add(rows, Relaxed);
        if for_users {
            self.count_users(index, |cell| &cell.user_reads, rows);
        }
    }

    /// Counts rows for the whole table, and for the index.
    #[cold]
    fn count_users(&self, index: Option<usize>, counter: fn(&Cell) -> &AtomicU64, rows: u64) {
        counter(self.cell(None)).fetch_add(rows, Relaxed);
        if index.is_some() {
            counter(self.cell(index)).fetch_add(rows, Relaxed);
        }
    }

    pub(crate) fn count_writes(&self, index: Option<usize>, written: RowCounts, for_users: bool) {
        let add = |counter: &AtomicU64, rows: u64| {
            if rows > 0 {
                counter.fetch_add(rows, Relaxed);
            }
        };
        // An inserted row was found by no index.
        add(&self.cell(None).inserts, written.inserts);
        let cell = self.cell(index);
        add(&cell.updates, written.updates);
        add(&cell.deletes, written.deletes);
        if for_users {
            self.count_users(None, |cell| &cell.user_changes, written.writes());
        }
    }

    fn sum<T: Default>(&self, index: Option<usize>, mut add: impl FnMut(&mut T, &Cell)) -> T {
        let mut sum = T::default();
        let place = index.map_or(0, |index| index + 1);
        let cells = self.cells.get().into_iter();
        for copy in cells.flat_map(|cells| cells.chunks(self.places)) {
            add(&mut sum, &copy[place]);
        }
        sum
    }

    pub(crate) fn of_index(&self, index: Option<usize>) -> RowCounts {
        self.sum(index, |sum: &mut RowCounts, cell| {
            sum.reads += cell.reads.load(Relaxed);
            sum.inserts += cell.inserts.load(Relaxed);
            sum.updates += cell.updates.load(Relaxed);
            sum.deletes += cell.deletes.load(Relaxed);
        })
    }

    pub(crate) fn of_users(&self, index: Option<usize>) -> UserRowCounts {
        self.sum(index, |sum: &mut UserRowCounts, cell| {
            sum.reads += cell.user_reads.load(Relaxed);
            sum.changes += cell.user_changes.load(Relaxed);
        })
    }

    /// Returns counters of a table with other indexes. `kept` has the earlier place of each place, if there was one.
    pub(crate) fn rearranged(&self, kept: &[Option<usize>]) -> TableCounters {
        let counters = TableCounters::new(kept.len());
        if !self.are_used() {
            return counters;
        }
        let cells = counters.make();
        // The first copy gets the sums.
        for (cell, known) in cells.iter().zip(kept) {
            let Some(known) = known else { continue };
            let index = known.checked_sub(1);
            let (counts, users) = (self.of_index(index), self.of_users(index));
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
    pub(crate) fn clear_users_of_table(&self) {
        self.clear_users(|place| place % self.places == 0);
    }

    /// Sets the statistics of users of the indexes to zero.
    pub(crate) fn clear_users_of_indexes(&self) {
        self.clear_users(|place| place % self.places != 0);
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
        let counters = TableCounters::new(3);
        let index = Some(1);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| counters.count_read(index, 10, true));
            }
        });
        let written = RowCounts {
            inserts: 1,
            updates: 2,
            ..RowCounts::default()
        };
        counters.count_writes(index, written, false);
        let expected = RowCounts {
            reads: 40,
            updates: 2,
            ..RowCounts::default()
        };
        assert_eq!(counters.of_index(index), expected);
        assert_eq!(counters.of_index(None).inserts, 1);
        let without_first = counters.rearranged(&[Some(0), Some(2)]);
        assert_eq!(without_first.of_index(Some(0)), expected);
        assert_eq!(without_first.of_users(None).reads, 40);
        counters.clear();
        assert_eq!(counters.of_index(index), RowCounts::default());
        assert_eq!(counters.of_users(index).reads, 40);
        counters.clear_users_of_indexes();
        assert_eq!(counters.of_users(index).reads, 0);
        assert_eq!(counters.of_users(None).reads, 40);
    }
}
