//! Sums over the executions of statements: of a digest, or of a kind of statements in a session.

use paceline_expression::session::StatementCounts;

/// End of a statement.
#[derive(Debug, Clone, Copy)]
pub struct EndedStatement<'a> {
    /// Duration in nanoseconds.
    pub nanos: u64,
    /// Whether it failed.
    pub has_failed: bool,
    /// Number of warnings.
    pub warnings: u16,
    /// Number of changed rows.
    pub rows_affected: u64,
    /// Number of rows sent.
    pub rows_sent: u64,
    /// Number of rows fetched from tables.
    pub rows_examined: u64,
    /// Its other work.
    pub counts: &'a StatementCounts,
    /// Its start in microseconds since 1970.
    pub start_micros: i64,
}

/// Sums of the other work of executions.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)] // As in StatementCounts.
pub struct StatementWork {
    pub created_tmp_disk_tables: u64,
    pub created_tmp_tables: u64,
    pub select_full_join: u64,
    pub select_full_range_join: u64,
    pub select_range: u64,
    pub select_scan: u64,
    pub sort_merge_passes: u64,
    pub sort_range: u64,
    pub sort_rows: u64,
    pub sort_scan: u64,
    pub no_index_used: u64,
}

impl StatementWork {
    /// Adds the work of an execution.
    pub fn add(&mut self, counts: &StatementCounts) {
        self.created_tmp_disk_tables += counts.created_tmp_disk_tables;
        self.created_tmp_tables += counts.created_tmp_tables;
        self.select_full_join += counts.select_full_join;
        self.select_full_range_join += counts.select_full_range_join;
        self.select_range += counts.select_range;
        self.select_scan += counts.select_scan;
        self.sort_merge_passes += counts.sort_merge_passes;
        self.sort_range += counts.sort_range;
        self.sort_rows += counts.sort_rows;
        self.sort_scan += counts.sort_scan;
        self.no_index_used += counts.no_index_used.min(1);
    }

    fn merge(&mut self, other: &StatementWork) {
        self.created_tmp_disk_tables += other.created_tmp_disk_tables;
        self.created_tmp_tables += other.created_tmp_tables;
        self.select_full_join += other.select_full_join;
        self.select_full_range_join += other.select_full_range_join;
        self.select_range += other.select_range;
        self.select_scan += other.select_scan;
        self.sort_merge_passes += other.sort_merge_passes;
        self.sort_range += other.sort_range;
        self.sort_rows += other.sort_rows;
        self.sort_scan += other.sort_scan;
        self.no_index_used += other.no_index_used;
    }
}

/// Sums over executions.
#[derive(Debug, Clone)]
pub struct StatementSums {
    /// Number of executions.
    pub count: u64,
    /// Sum of the durations in nanoseconds.
    pub nanos: u64,
    /// Shortest duration in nanoseconds; `u64::MAX` without executions.
    pub nanos_min: u64,
    /// Longest duration in nanoseconds.
    pub nanos_max: u64,
    /// Number of failed executions.
    pub errors: u64,
    /// Sum of the warnings.
    pub warnings: u64,
    /// Sum of the changed rows.
    pub rows_affected: u64,
    /// Sum of the rows sent.
    pub rows_sent: u64,
    /// Sum of the rows fetched from tables.
    pub rows_examined: u64,
    /// Sums of the other work.
    pub work: StatementWork,
}

impl Default for StatementSums {
    fn default() -> Self {
        StatementSums {
            count: 0,
            nanos: 0,
            nanos_min: u64::MAX,
            nanos_max: 0,
            errors: 0,
            warnings: 0,
            rows_affected: 0,
            rows_sent: 0,
            rows_examined: 0,
            work: StatementWork::default(),
        }
    }
}

impl StatementSums {
    /// Adds an execution.
    #[inline]
    pub fn add(&mut self, ended: &EndedStatement<'_>) {
        self.count += 1;
        self.nanos = self.nanos.saturating_add(ended.nanos);
        self.nanos_min = self.nanos_min.min(ended.nanos);
        self.nanos_max = self.nanos_max.max(ended.nanos);
        self.errors += u64::from(ended.has_failed);
        self.warnings += u64::from(ended.warnings);
        self.rows_affected += ended.rows_affected;
        self.rows_sent += ended.rows_sent;
        self.rows_examined += ended.rows_examined;
        self.work.add(ended.counts);
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &StatementSums) {
        self.count += other.count;
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.nanos_min = self.nanos_min.min(other.nanos_min);
        self.nanos_max = self.nanos_max.max(other.nanos_max);
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.rows_affected += other.rows_affected;
        self.rows_sent += other.rows_sent;
        self.rows_examined += other.rows_examined;
        self.work.merge(&other.work);
    }
}
