//! Scans: which part of which index, in which direction, how many rows.

use paceline_storage::Direction;
use paceline_table_access::{IndexBounds, IntoValues, ReadMode};

/// A scan of a part of an index.
///
/// ```
/// # use paceline_embedded::Scan;
/// // The latest message of author 7: one step backwards in the index of authors and times.
/// let latest = Scan::index("by_author").prefix((7,)).backward().limit(1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Scan<'n> {
    index: Option<&'n str>,
    bounds: IndexBounds,
    is_backward: bool,
    limit: Option<u64>,
    mode: ReadMode,
}

impl<'n> Scan<'n> {
    /// Returns a scan of all rows in the order of their key.
    pub fn rows() -> Scan<'n> {
        Scan::default()
    }

    /// Returns a scan of an index.
    pub fn index(name: &'n str) -> Scan<'n> {
        Scan {
            index: Some(name),
            ..Scan::default()
        }
    }

    /// Only rows with these values of the index's first columns.
    #[must_use]
    pub fn prefix(mut self, values: impl IntoValues) -> Scan<'n> {
        self.bounds = self.bounds.prefix(values);
        self
    }

    /// Only rows that are at or after these values of the index's first columns.
    #[must_use]
    pub fn at_least(mut self, values: impl IntoValues) -> Scan<'n> {
        self.bounds = self.bounds.at_least(values);
        self
    }

    /// Only rows after all with these values.
    #[must_use]
    pub fn after(mut self, values: impl IntoValues) -> Scan<'n> {
        self.bounds = self.bounds.after(values);
        self
    }

    /// Only rows that are at or before these values.
    #[must_use]
    pub fn at_most(mut self, values: impl IntoValues) -> Scan<'n> {
        self.bounds = self.bounds.at_most(values);
        self
    }

    /// Only rows before all with these values.
    #[must_use]
    pub fn before(mut self, values: impl IntoValues) -> Scan<'n> {
        self.bounds = self.bounds.before(values);
        self
    }

    /// Descending order.
    #[must_use]
    pub fn backward(mut self) -> Scan<'n> {
        self.is_backward = true;
        self
    }

    /// At most this number of rows. With `SkipLocked` those that are passed over do not count.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Scan<'n> {
        self.limit = Some(rows);
        self
    }

    /// Locks each row, until the transaction ends, and reads its newest state.
    #[must_use]
    pub fn locking(mut self, mode: ReadMode) -> Scan<'n> {
        self.mode = mode;
        self
    }

    pub(crate) fn index_name(&self) -> Option<&'n str> {
        self.index
    }

    pub(crate) fn bounds(&self) -> &IndexBounds {
        &self.bounds
    }

    /// Returns the bounds for each of these values of the first columns.
    pub(crate) fn bounds_of_each<P: IntoValues>(
        &self,
        prefixes: impl IntoIterator<Item = P>,
    ) -> Vec<IndexBounds> {
        let prefixes = prefixes.into_iter();
        prefixes
            .map(|prefix| self.bounds.clone().prefix(prefix))
            .collect()
    }

    pub(crate) fn direction(&self) -> Direction {
        match self.is_backward {
            true => Direction::Backward,
            false => Direction::Forward,
        }
    }

    pub(crate) fn limit_rows(&self) -> u64 {
        self.limit.unwrap_or(u64::MAX)
    }

    pub(crate) fn mode(&self) -> ReadMode {
        self.mode
    }
}
