//! Finds our table for a table map, and compares its columns with ours.

use super::convert::ColumnConversions;
use super::failure::Failure;
use super::{ExecMode, FiredTriggers, RowOptions};
use paceline_binlog::LoggedTable;
use paceline_binlog::event::TableMapEvent;
use paceline_catalog::foreign_key::{Changes, ForeignKeys};
use paceline_catalog::{Catalog, IndexKind, TableDefinition};
use paceline_storage::{RowPlacement, TableSchema};
use paceline_types::table_map_metadata::{RowMetadata, are_mapped_as};
use std::borrow::Cow;
use std::sync::Arc;

/// Result of the `replicate_*` filters for a primary's table.
pub enum TableTarget<'a> {
    /// Its rows are applied to this table of ours.
    Table {
        /// Database of our table.
        database: Cow<'a, str>,
        /// Name of our table.
        table: Cow<'a, str>,
    },
    /// Its rows are skipped.
    Ignored,
}

/// Decides which tables a connection replicates, and under which names.
pub trait TableFilter: Send + Sync {
    /// Returns the target of a primary's table.
    fn target<'a>(&self, database: &'a str, table: &'a str) -> TableTarget<'a>;
}

/// The filter that replicates all tables under their own names.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFilter;

impl TableFilter for NoFilter {
    fn target<'a>(&self, database: &'a str, table: &'a str) -> TableTarget<'a> {
        TableTarget::Table {
            database: database.into(),
            table: table.into(),
        }
    }
}

/// A table of ours to which a primary's row events apply.
pub struct MappedTable {
    definition: Arc<TableDefinition>,
    /// Unique indexes other than the one that rows are stored in.
    other_unique: Vec<usize>,
    /// `None` if the primary's images are laid out as ours.
    conversions: Option<ColumnConversions>,
    /// Foreign keys whose actions a change of its rows may require; `None` without any.
    foreign_keys: Option<Arc<ForeignKeys>>,
    metadata: RowMetadata,
    exec_mode: ExecMode,
    fires_triggers: bool,
}

impl MappedTable {
    /// Compares a table map with our definition of the table. A column that cannot be converted is reported only when
    /// an event contains it.
    ///
    /// # Errors
    /// 1610 for unknown column types.
    pub fn new(
        map: &TableMapEvent<'_>,
        definition: Arc<TableDefinition>,
        options: &RowOptions,
    ) -> Result<Self, Failure> {
        let conversions = match is_ours(map, &definition) {
            true => None,
            false => Some(ColumnConversions::new(map, &definition, options.conversions)?),
        };
        let clustered = match definition.schema().clustered() {
            RowPlacement::Key(number) => number,
            RowPlacement::RowId(_) | RowPlacement::Single(_) => usize::MAX,
        };
        let other_unique = (0..definition.indexes().len())
            .filter(|index| *index != clustered && definition.indexes()[*index].kind != IndexKind::Plain)
            .collect();
        Ok(MappedTable {
            fires_triggers: fires_triggers(map, &definition, options),
            definition,
            other_unique,
            conversions,
            foreign_keys: None,
            metadata: options.row_metadata,
            exec_mode: options.exec_mode,
        })
    }

    /// Adds the foreign keys whose actions a change of its rows may require. `catalog` must be the one that contains
    /// the definition.
    #[must_use]
    pub fn with_foreign_keys(self, catalog: &Catalog) -> Self {
        let changes = Changes {
            delete: true,
            update: true,
        };
        let keys = ForeignKeys::new(catalog, &[(self.definition.clone(), changes)]);
        MappedTable {
            foreign_keys: keys.filter(|keys| keys.may_act()),
            ..self
        }
    }

    /// Returns the foreign keys whose actions a change of its rows may require. Their tables must be locked like this
    /// table.
    pub fn foreign_keys(&self) -> Option<&Arc<ForeignKeys>> {
        self.foreign_keys.as_ref()
    }

    /// Returns whether the foreign keys are still current. The caller must hold the locks of their tables.
    pub fn has_current_keys(&self, catalog: &Catalog) -> bool {
        match &self.foreign_keys {
            Some(keys) => keys.is_current(catalog),
            None => catalog
                .referring_keys(self.definition.database(), self.definition.name())
                .iter()
                .all(|(_, key)| !key.on_delete.is_action() && !key.on_update.is_action()),
        }
    }

    /// Returns whether changes of its rows fire its triggers. A session has to make such changes.
    pub fn fires_triggers(&self) -> bool {
        self.fires_triggers
    }

    pub(super) fn metadata(&self) -> RowMetadata {
        self.metadata
    }

    /// Returns our table.
    pub fn definition(&self) -> &Arc<TableDefinition> {
        &self.definition
    }

    pub(super) fn schema(&self) -> &TableSchema {
        self.definition.schema()
    }

    pub(super) fn logged(&self) -> &LoggedTable {
        self.definition.logged(self.metadata)
    }

    pub(super) fn other_unique(&self) -> &[usize] {
        &self.other_unique
    }

    pub(super) fn conversions(&self) -> Option<&ColumnConversions> {
        self.conversions.as_ref()
    }

    pub(super) fn exec_mode(&self) -> ExecMode {
        self.exec_mode
    }

    /// Returns whether rows may be missing for a reason other than divergence: a restart empties MEMORY tables.
    pub(super) fn may_miss_rows(&self) -> bool {
        self.schema().clustered_id().engine().is_emptied_by_restart()
    }
}

/// Returns whether rows with this table map fire the triggers of our table.
fn fires_triggers(map: &TableMapEvent<'_>, definition: &TableDefinition, options: &RowOptions) -> bool {
    let has_run_there = map.flags & TableMapEvent::FLAG_HAS_TRIGGERS != 0;
    let is_wanted = match options.fired_triggers {
        FiredTriggers::None => false,
        FiredTriggers::Absent => !has_run_there,
        FiredTriggers::All => true,
    };
    is_wanted && !definition.triggers().all().is_empty()
}

/// Returns whether the columns have the same number, types and metadata on both sides. Then an image has the same
/// meaning on both.
fn is_ours(map: &TableMapEvent<'_>, definition: &TableDefinition) -> bool {
    let types = definition.columns().iter().map(|column| &column.data_type);
    are_mapped_as(types, map.column_types, map.metadata)
}
