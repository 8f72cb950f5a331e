//! A value that a transaction has read, from any of the layers.

use crate::overlay::PendingRow;
use paceline_storage::{Change, StoredValue, VERSION_LENGTH, value_version};
use paceline_types::Version;
use std::ops::Deref;

/// Value of a key, preceded by its version like a [`StoredValue`]; borrowed without a copy.
pub struct RowValue<'a>(Source<'a>);

enum Source<'a> {
    /// From an engine.
    Stored(StoredValue<'a>),
    /// From the transaction's own write set: the version is zero.
    Own(&'a [u8]),
    /// From the pending overlay.
    Pending(PendingRow),
}

impl<'a> RowValue<'a> {
    pub(super) fn stored(value: StoredValue<'a>) -> Self {
        RowValue(Source::Stored(value))
    }

    pub(super) fn own(value: &'a [u8]) -> Self {
        RowValue(Source::Own(value))
    }

    /// Returns `None` if the pending change is a deletion.
    pub(super) fn pending(row: PendingRow) -> Option<Self> {
        match row.change() {
            Change::Put(_) => Some(RowValue(Source::Pending(row))),
            Change::Delete => None,
        }
    }

    /// Returns the version of the transaction that wrote it, or the mark of a large one; [`Version::ZERO`] if
    /// the reading transaction wrote it.
    pub fn version(&self) -> Version {
        value_version(self).expect("every value begins with its version")
    }

    /// Returns the value without its version: the row image or, in an index that does not contain the rows, what
    /// leads to the row's key.
    pub fn payload(&self) -> &[u8] {
        &self[VERSION_LENGTH..]
    }
}

impl Deref for RowValue<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Source::Stored(value) => value,
            Source::Own(value) => value,
            Source::Pending(row) => match row.change() {
                Change::Put(value) => value,
                Change::Delete => unreachable!("checked when it was made"),
            },
        }
    }
}

impl std::fmt::Debug for RowValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowValue")
            .field("version", &self.version())
            .field("bytes", &self.payload().len())
            .finish()
    }
}
