//! Sorted constants of an IN list.

use std::fmt;
use std::sync::OnceLock;

use paceline_types::Value;

/// Set of an IN list, built at the first use. A clone of the list builds its own.
#[derive(Default)]
pub struct InSet(pub(crate) OnceLock<Option<SortedConstants>>);

/// Constants in the order of their comparison.
pub(crate) struct SortedConstants {
    /// The values without NULL.
    pub values: Vec<Value>,
    pub has_null: bool,
}

impl Clone for InSet {
    fn clone(&self) -> Self {
        InSet::default()
    }
}

impl fmt::Debug for InSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InSet")
    }
}
