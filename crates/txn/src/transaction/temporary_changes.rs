//! Changes of a transaction to temporary tables.

use paceline_storage::{EngineKind, Mark, TemporaryIndex, TemporaryWrites};

/// Extent of what had been written to temporary tables at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemporaryMark(pub(super) Option<Mark>);

/// Changes of a transaction to temporary tables.
pub(crate) struct TemporaryChanges {
    pub(super) writes: TemporaryWrites,
    /// Indexes dropped since it began. Declared after the writes, which may contain keys of them.
    pub(super) dropped: Vec<TemporaryIndex>,
}

impl TemporaryChanges {
    /// Applies the changes, because the transaction is committed.
    pub(crate) fn apply(mut self) {
        for index in &self.dropped {
            self.writes.set_mut().delete_range(index.id().range());
        }
        self.writes.apply();
    }
}

pub(super) fn is_temporary(key: &[u8]) -> bool {
    EngineKind::of_key(key) == EngineKind::Temporary
}
