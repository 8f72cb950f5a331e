//! BLACKHOLE, and the engine of everything that stores no rows.

use std::sync::Arc;

use paceline_types::Version;

use crate::engine::{Engine, EngineChanges, EngineCursor, EngineType, Retention};
use crate::key::{Direction, KeyRange};

/// BLACKHOLE: rows are logged, for replicas, and that is all.
pub(crate) struct BlackholeType;

impl EngineType for BlackholeType {
    fn name(&self) -> &str {
        "BLACKHOLE"
    }

    /// MariaDB's words.
    fn comment(&self) -> &str {
        "/dev/null storage engine (anything you write to it disappears)"
    }

    fn retention(&self) -> Retention {
        Retention::Nothing
    }

    fn create(&self) -> Arc<dyn Engine> {
        Arc::new(RowlessEngine)
    }
}

/// Engine without a row.
pub(crate) struct RowlessEngine;

impl Engine for RowlessEngine {
    /// A write set has no entries of such tables; their deletion as a range finds nothing.
    fn apply(&self, changes: &EngineChanges<'_>) {
        debug_assert!(changes.entries().next().is_none(), "such rows are not stored");
    }

    fn get(&self, _: &[u8], _: Version) -> Option<Arc<[u8]>> {
        None
    }

    fn scan(self: Arc<Self>, _: KeyRange, _: Direction, _: Version) -> Box<dyn EngineCursor> {
        Box::new(EmptyCursor)
    }

    fn used_bytes(&self) -> u64 {
        0
    }

    fn collect(&self, _: Version, _: usize) -> bool {
        false
    }
}

struct EmptyCursor;

impl EngineCursor for EmptyCursor {
    fn advance(&mut self) -> bool {
        false
    }

    fn entry(&self) -> Option<(&[u8], &[u8])> {
        None
    }

    fn seek(&mut self, _: &[u8]) {}
}
