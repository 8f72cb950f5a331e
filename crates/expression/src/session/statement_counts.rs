//! Work of a statement, counted while it runs.
//!
//! Everything that counts work (`Handler_…`, `Select_…`, `Sort_…`, the digests, the slow query log, the statistics of
//! users) reads this one structure. The executor adds to plain integers of its own session; the session adds them to
//! its counters once, when the statement ends. No row costs more than an addition, and nothing is shared.
//!
//! MariaDB counts calls of its storage engines, and this server has none. What is counted is the call that MariaDB
//! would have made for the same read:
//!
//! | read | counted as |
//! |---|---|
//! | all rows of a table | `Handler_read_rnd_next` for each row and for the end |
//! | all entries of an index | `Handler_read_first` (`last`), then `Handler_read_next` (`prev`) for each further row and for the end |
//! | a range, a prefix of an index | `Handler_read_key`, then `next` (`prev`) in the same way |
//! | a unique key | `Handler_read_key` |
//! | rows of a temporary result (a derived table, groups, UNION) | `Handler_tmp_write` for each, then `Handler_read_rnd_next` |
//!
//! Rejected: counting in the shared counters at once. A scan would load and store them for each row, and a statement's
//! own share would need a copy of all at its beginning.

/// Work of a statement and of those within it. The names are those of MariaDB's status variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct StatementCounts {
    pub created_tmp_disk_tables: u64,
    pub created_tmp_files: u64,
    pub created_tmp_tables: u64,
    pub delete_scan: u64,
    pub executed_triggers: u64,
    pub handler_commit: u64,
    pub handler_delete: u64,
    pub handler_read_first: u64,
    pub handler_read_key: u64,
    pub handler_read_last: u64,
    pub handler_read_next: u64,
    pub handler_read_prev: u64,
    pub handler_read_rnd: u64,
    pub handler_read_rnd_next: u64,
    pub handler_rollback: u64,
    pub handler_savepoint: u64,
    pub handler_savepoint_rollback: u64,
    pub handler_tmp_update: u64,
    pub handler_tmp_write: u64,
    pub handler_update: u64,
    pub handler_write: u64,
    /// Statements that read a table without an index; not a status variable.
    pub no_index_used: u64,
    pub rows_read: u64,
    pub rows_tmp_read: u64,
    pub select_full_join: u64,
    pub select_full_range_join: u64,
    pub select_range: u64,
    pub select_scan: u64,
    pub sort_merge_passes: u64,
    pub sort_priority_queue_sorts: u64,
    pub sort_range: u64,
    pub sort_rows: u64,
    pub sort_scan: u64,
    pub subquery_cache_hit: u64,
    pub subquery_cache_miss: u64,
    pub update_scan: u64,
}

/// Start of a read of stored rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStart {
    /// The table's own order.
    Table,
    /// The first or last entry of an index.
    End,
    /// A key of an index.
    Key,
}

impl StatementCounts {
    /// Counts a read of `rows` stored rows. `backward` is its direction; `ended` is false if it was broken off.
    #[inline]
    pub fn count_read(&mut self, start: ReadStart, backward: bool, rows: u64, ended: bool) {
        self.rows_read += rows;
        // The row after the last one is asked for as well.
        let asked = rows + u64::from(ended);
        match (start, backward) {
            (ReadStart::Table, _) => {
                self.handler_read_rnd_next += asked;
                return;
            }
            (ReadStart::Key, _) => self.handler_read_key += 1,
            (ReadStart::End, false) => self.handler_read_first += 1,
            (ReadStart::End, true) => self.handler_read_last += 1,
        }
        // If the first one finds nothing, there is no second.
        let further = if rows == 0 { 0 } else { asked - 1 };
        match backward {
            false => self.handler_read_next += further,
            true => self.handler_read_prev += further,
        }
    }

    /// Counts the rows of a temporary result that were written and are about to be read.
    #[inline]
    pub fn count_temporary(&mut self, written: u64) {
        self.created_tmp_tables += 1;
        self.handler_tmp_write += written;
    }

    /// Counts a read of all rows of a temporary result.
    #[inline]
    pub fn count_temporary_read(&mut self, rows: u64, ended: bool) {
        self.handler_read_rnd_next += rows + u64::from(ended);
        self.rows_tmp_read += rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_count_as_the_calls_of_mariadb() {
        let counted = |start, backward, rows, ended| {
            let mut counts = StatementCounts::default();
            counts.count_read(start, backward, rows, ended);
            counts
        };
        let of_table = counted(ReadStart::Table, false, 100, true);
        assert_eq!((of_table.handler_read_rnd_next, of_table.rows_read), (101, 100));
        let empty = counted(ReadStart::Key, false, 0, true);
        assert_eq!((empty.handler_read_key, empty.handler_read_next), (1, 0));
        let prefix = counted(ReadStart::Key, false, 10, true);
        assert_eq!((prefix.handler_read_key, prefix.handler_read_next), (1, 10));
        let limited = counted(ReadStart::End, true, 5, false);
        assert_eq!((limited.handler_read_last, limited.handler_read_prev), (1, 4));
    }
}
