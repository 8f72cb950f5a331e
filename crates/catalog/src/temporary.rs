//! Temporary tables of a session, layered over the shared catalog.
//!
//! ```text
//!   Catalog (shared, in the log) ──┐
//!   TemporaryCatalog ──────────────┴─ over() ─▶ Catalog for the session's plans: a temporary table hides another of its name
//!        ▲
//!        └── TemporaryPlan of a DDL statement: changes, and the indexes that it has created
//! ```
//!
//! * They have no records and are not logged: their DDL takes effect in the session immediately, is not undone by a
//!   rollback, and they are dropped at the end of the session.
//! * A plan with a temporary table is current while the session has exactly this definition
//!   ([`paceline_query::plan::Plan::is_current`]): a prepared statement is planned again when such a table is created
//!   or dropped.
//! * Their rows are in a [`TemporarySpace`], under index numbers that are released when the table is dropped.

use std::collections::HashMap;
use std::sync::Arc;

use paceline_storage::{IndexId, TemporaryIndex, TemporarySpace};
use parking_lot::Mutex;

use super::definition::TableDescription;
use super::record::CatalogChange;
use super::snapshot::Catalog;
use super::temporary_catalog::{FILLED_DATABASE, TemporaryCatalog};
use crate::error::Result;

/// Effect of a DDL statement on a session's temporary tables.
#[derive(Debug, Default)]
pub struct TemporaryPlan {
    /// Changes of table definitions.
    pub changes: Vec<CatalogChange>,
    /// Indexes created by the statement.
    pub indexes: Vec<TemporaryIndex>,
    /// Indexes whose entries are all deleted. Those that no table uses any more are dropped.
    pub emptied: Vec<IndexId>,
}

impl TemporaryPlan {
    /// Returns whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Data for undoing definitions.
#[derive(Debug)]
struct DefinitionUndo {
    /// Definitions before.
    catalog: Arc<TemporaryCatalog>,
    /// Indexes dropped since, with their rows.
    dropped: Vec<TemporaryIndex>,
}

/// Temporary tables of a session. Dropping this deletes their rows.
#[derive(Debug)]
pub struct TemporaryTables {
    space: Arc<TemporarySpace>,
    catalog: Arc<TemporaryCatalog>,
    indexes: HashMap<IndexId, TemporaryIndex>,
    /// Set while definitions can be undone.
    undo: Option<Box<DefinitionUndo>>,
    /// The last shared catalog, and the combination of it with these tables.
    over: Mutex<Option<(Arc<Catalog>, Arc<Catalog>)>>,
}

impl TemporaryTables {
    /// Creates an empty set.
    pub fn new(space: Arc<TemporarySpace>) -> Self {
        TemporaryTables {
            space,
            catalog: Arc::default(),
            indexes: HashMap::new(),
            undo: None,
            over: Mutex::default(),
        }
    }

    /// Returns the storage of their rows.
    pub fn space(&self) -> &Arc<TemporarySpace> {
        &self.space
    }

    /// Returns their definitions.
    pub fn catalog(&self) -> &Arc<TemporaryCatalog> {
        &self.catalog
    }

    /// Returns a catalog with these tables over it.
    #[inline]
    pub fn over(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        if self.catalog.is_empty() {
            return catalog;
        }
        let mut over = self.over.lock();
        if let Some((below, whole)) = &*over
            && Arc::ptr_eq(below, &catalog)
        {
            return whole.clone();
        }
        let whole = Arc::new(catalog.with_temporary(self.catalog.clone()));
        *over = Some((catalog, whole.clone()));
        whole
    }

    /// Applies a plan made for `catalog`. Returns the indexes of dropped tables. Dropping these releases their numbers,
    /// which must not happen before the end of a transaction that may have written to them.
    ///
    /// # Errors
    /// If a table's description is inconsistent, which is impossible for a planned one.
    pub fn apply(&mut self, plan: TemporaryPlan, catalog: Arc<Catalog>) -> Result<Vec<TemporaryIndex>> {
        let changed = self
            .over(catalog)
            .changed(&plan.changes, paceline_types::Version::ZERO)?;
        self.catalog = changed.temporary().clone();
        self.indexes
            .extend(plan.indexes.into_iter().map(|index| (index.id(), index)));
        *self.over.get_mut() = None;
        let dropped = self.take_unused();
        for id in plan.emptied {
            if let Some(index) = self.indexes.get(&id) {
                index.clear();
            }
        }
        Ok(dropped)
    }

    /// Makes further definitions undoable, if they are not already: dropped tables keep their rows until then. TRUNCATE
    /// cannot be undone.
    pub fn begin_undoable(&mut self) {
        let catalog = &self.catalog;
        self.undo.get_or_insert_with(|| {
            Box::new(DefinitionUndo {
                catalog: catalog.clone(),
                dropped: Vec::new(),
            })
        });
    }

    /// Keeps the definitions since [`begin_undoable`](Self::begin_undoable). Their transaction has ended.
    pub fn keep_definitions(&mut self) {
        self.undo = None;
    }

    /// Restores the previous definitions. Their rows are not touched: the transaction that changed them is rolled back.
    pub fn undo_definitions(&mut self) {
        let Some(undo) = self.undo.take() else { return };
        self.catalog = undo.catalog;
        let dropped = undo.dropped.into_iter().map(|index| (index.id(), index));
        self.indexes.extend(dropped);
        *self.over.get_mut() = None;
        // Tables created since are dropped with their rows.
        self.take_unused();
    }

    /// Returns whether it can be discarded: there are no tables, and undoing would restore none.
    pub fn is_nothing(&self) -> bool {
        let comes_back = self.undo.as_ref().is_some_and(|undo| !undo.catalog.is_empty());
        self.catalog.is_empty() && !comes_back
    }

    fn take_unused(&mut self) -> Vec<TemporaryIndex> {
        let used: std::collections::HashSet<u32> =
            self.catalog.tables().flat_map(|table| numbers(table)).collect();
        let unused = self
            .indexes
            .extract_if(|id, _| !used.contains(&id.as_u32()))
            .map(|(_, index)| index);
        match &mut self.undo {
            Some(undo) => {
                undo.dropped.extend(unused);
                Vec::new()
            }
            None => unused.collect(),
        }
    }

    /// Hides a new table from all but the statement that fills it.
    pub fn begin_fill(&mut self, database: &str, name: &str) {
        self.move_table((database, name), (FILLED_DATABASE, name));
    }

    /// Gives a filled table its name.
    pub fn end_fill(&mut self, database: &str, name: &str) {
        self.move_table((FILLED_DATABASE, name), (database, name));
    }

    /// Drops a table that could not be filled. Returns its indexes as [`apply`](Self::apply) does.
    pub fn abandon_fill(&mut self, name: &str) -> Vec<TemporaryIndex> {
        Arc::make_mut(&mut self.catalog).remove(FILLED_DATABASE, name);
        *self.over.get_mut() = None;
        self.take_unused()
    }

    fn move_table(&mut self, from: (&str, &str), to: (&str, &str)) {
        let catalog = Arc::make_mut(&mut self.catalog);
        if let Some(table) = catalog.remove(from.0, from.1) {
            catalog.put(to.0, to.1, table);
        }
        *self.over.get_mut() = None;
    }
}

/// Returns the index numbers that a table uses.
fn numbers(table: &TableDescription) -> impl Iterator<Item = u32> + use<'_> {
    let indexes = table.indexes.iter().map(|index| index.id);
    [table.id].into_iter().chain(table.hidden).chain(indexes)
}
