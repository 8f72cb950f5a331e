//! A line of EXPLAIN or ANALYZE.

use super::measurements::{AccessMeasure, QueryMeasure};

/// A line with MariaDB's columns.
#[derive(Default)]
pub(super) struct Line {
    pub(super) id: Option<u32>,
    pub(super) select_type: &'static str,
    pub(super) table: Option<String>,
    pub(super) access: Option<&'static str>,
    pub(super) possible_keys: Option<String>,
    pub(super) key: Option<String>,
    pub(super) key_len: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) rows: Option<u64>,
    pub(super) extra: String,
    /// Measurements of the line's table; `None` if it was not read.
    pub(super) measure: Option<LineMeasure>,
    /// Measurements of the line's block; `None` if it was not executed.
    pub(super) block: Option<QueryMeasure>,
}

/// Measurements of a line's table.
#[derive(Clone, Copy)]
pub(super) struct LineMeasure {
    pub(super) access: AccessMeasure,
}

impl LineMeasure {
    /// Creates the measurements of reading a query's result.
    pub(super) fn of_result(result: QueryMeasure) -> Self {
        LineMeasure {
            access: AccessMeasure::of_result(result),
        }
    }

    /// Returns the average number of rows of one read.
    pub(super) fn rows(self) -> f64 {
        self.access.rows as f64 / self.access.loops.max(1) as f64
    }

    /// Returns the percentage of the rows that met the conditions.
    pub(super) fn filtered(self) -> f64 {
        match self.access.rows {
            0 => 100.0,
            rows => self.access.rows_passed as f64 * 100.0 / rows as f64,
        }
    }
}
