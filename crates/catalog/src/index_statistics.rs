//! How selective an index is, for those that look rows up and know no planner.

use std::sync::Arc;

use crate::TableDefinition;

/// Estimates of how many rows share a key. The planner's statistics implement it.
pub trait IndexStatistics: Send + Sync {
    /// Returns about how many rows share the values of all columns of an index.
    fn rows_per_key(&self, definition: &Arc<TableDefinition>, index: usize) -> f64;
}
