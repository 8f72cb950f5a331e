//! A value read from an engine.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use paceline_types::Version;
use rocksdb::DBPinnableSlice;

use crate::key::VERSION_LENGTH;

/// Value as an engine holds it, preceded by its version, without a copy.
pub struct StoredValue<'a>(Holder<'a>);

enum Holder<'a> {
    Pinned(DBPinnableSlice<'a>),
    Shared(Arc<[u8]>),
}

impl<'a> StoredValue<'a> {
    pub(crate) fn pinned(value: DBPinnableSlice<'a>) -> Self {
        StoredValue(Holder::Pinned(value))
    }

    pub(crate) fn shared(value: Arc<[u8]>) -> Self {
        StoredValue(Holder::Shared(value))
    }

    /// Returns the version of the transaction that wrote it, or the [mark](crate::VersionMark) of a large one.
    ///
    /// # Panics
    /// If the value is shorter than a version. No engine writes such a value.
    pub fn version(&self) -> Version {
        crate::key::value_version(self).expect("every stored value begins with its version")
    }

    /// Returns the value without its version: the row image or, in an index that does not contain the rows,
    /// what leads to the row's key.
    pub fn payload(&self) -> &[u8] {
        &self[VERSION_LENGTH..]
    }
}

impl Deref for StoredValue<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Holder::Pinned(value) => value,
            Holder::Shared(value) => value,
        }
    }
}

impl fmt::Debug for StoredValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredValue")
            .field("version", &self.version())
            .field("bytes", &self.payload().len())
            .finish()
    }
}
