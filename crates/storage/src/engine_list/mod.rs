//! The engines behind the trait: those that the process knows, and those of one open database.

mod registry;

use std::sync::Arc;

use paceline_types::Version;

pub use registry::{RegistrationError, engine_types, register_engine};

use crate::engine::{Engine, EngineChanges, garbage_per_apply};
use crate::key::EngineKind;
use crate::rowless_engine::RowlessEngine;
use crate::write_set::FrozenWriteSet;

/// Number of entries that are removed at a time in the background.
const GARBAGE_AT_ONCE: usize = 1024;

/// MEMORY, BLACKHOLE, and the added engines.
pub(crate) struct EngineList {
    /// MEMORY first; the added ones in the order of their numbers.
    engines: Vec<(EngineKind, Arc<dyn Engine>)>,
    /// For keys of a number without an engine. The catalog refuses tables of it.
    absent: Arc<dyn Engine>,
}

impl EngineList {
    /// Creates all engines, empty. From then on none can be registered.
    pub(crate) fn create() -> Arc<Self> {
        registry::close();
        let types = registry::engine_types();
        Arc::new(EngineList {
            engines: types
                .map(|(kind, engine_type)| (kind, engine_type.create()))
                .collect(),
            absent: Arc::new(RowlessEngine),
        })
    }

    /// Returns the engine of that kind.
    pub(crate) fn of(&self, kind: EngineKind) -> &Arc<dyn Engine> {
        debug_assert!(
            !matches!(kind, EngineKind::RocksDb | EngineKind::Temporary),
            "these have places of their own"
        );
        let found = self.engines.iter().find(|(known, _)| *known == kind);
        found.map_or(&self.absent, |(_, engine)| engine)
    }

    /// Gives each engine its changes. Returns the most that they can be: zero if there are none.
    pub(crate) fn apply(&self, set: &FrozenWriteSet) -> usize {
        if !EngineChanges::exist_in(set) {
            return 0;
        }
        for (kind, engine) in &self.engines {
            let changes = EngineChanges::new(set, *kind);
            if !changes.is_empty() {
                engine.apply(&changes);
            }
        }
        set.len() + set.deleted_ranges().len()
    }

    /// Keeps the garbage from growing, after a group with that number of changes.
    pub(crate) fn collect_after_apply(&self, changed: usize, oldest: Version) {
        for (_, engine) in &self.engines {
            engine.collect(oldest, garbage_per_apply(changed));
        }
    }

    /// Removes all garbage.
    pub(crate) fn collect_all(&self, oldest: Version) {
        for (_, engine) in &self.engines {
            while engine.collect(oldest, GARBAGE_AT_ONCE) {
                std::thread::yield_now();
            }
        }
    }

    /// Returns the memory in use by all of them, in bytes.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.engines.iter().map(|(_, engine)| engine.used_bytes()).sum()
    }
}
