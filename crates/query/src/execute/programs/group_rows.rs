//! Rows of the group that an aggregate function runs for.
//!
//! ```text
//!   parameters = row 1 ─▶ … FETCH GROUP NEXT ROW (nothing) … FETCH GROUP NEXT ROW (row 2) … ─▶ after the last: NOT FOUND
//! ```
//! MariaDB runs the function row by row while the rows are read. Here they are collected, and the function runs when
//! the group is complete: so its statements can use the transaction, and groups can be interleaved.

use paceline_types::Value;

/// Rows of a group that are still to come.
pub(super) struct GroupRows {
    rows: std::vec::IntoIter<Vec<Value>>,
    /// Whether the function has executed FETCH GROUP NEXT ROW since it began.
    has_fetched: bool,
    /// Whether it has tried to read after the last row.
    is_over: bool,
}

/// Result of FETCH GROUP NEXT ROW.
pub(super) enum GroupFetch {
    /// The parameters have the row: the first FETCH.
    First,
    Row(Vec<Value>),
    /// No row is left: NOT FOUND.
    End,
    /// NOT FOUND was already raised: the function ends without a value.
    Over,
}

impl GroupRows {
    pub fn new(rows: Vec<Vec<Value>>) -> Self {
        GroupRows {
            rows: rows.into_iter(),
            has_fetched: false,
            is_over: false,
        }
    }

    /// Returns the arguments with which the function begins; `None` after the last row.
    pub fn begin(&mut self) -> Option<Vec<Value>> {
        self.has_fetched = false;
        self.rows.next()
    }

    pub fn fetch(&mut self) -> GroupFetch {
        if !std::mem::replace(&mut self.has_fetched, true) {
            return GroupFetch::First;
        }
        match self.rows.next() {
            Some(row) => GroupFetch::Row(row),
            None if std::mem::replace(&mut self.is_over, true) => GroupFetch::Over,
            None => GroupFetch::End,
        }
    }
}
