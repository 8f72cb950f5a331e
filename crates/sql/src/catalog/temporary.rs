//! Temporary tables: a session's own, over the catalog that all share.
//!
//! ```text
//!   Catalog (shared, in the log) ──┐
//!   TemporaryCatalog ──────────────┴─ over() ─▶ Catalog that the session plans with: a temporary table hides one of its name
//!        ▲
//!        └── TemporaryPlan of a definition statement: changes, and the indexes that it has made
//! ```
//!
//! * They are in no record and in no log: what defines them is applied to the session at once, is not undone by a rollback, and goes with the session.
//! * A plan made with one is current as long as the session has that very definition ([`crate::plan::Plan::is_current`]): a statement that was
//!   prepared before such a table came or went is planned anew.
//! * Their rows live in a [`TemporarySpace`], under indexes whose numbers are given back when the table goes.

use std::collections::HashMap;
use std::sync::Arc;

use paceline_storage::{IndexId, TemporaryIndex, TemporarySpace};
use parking_lot::Mutex;

use super::definition::TableDescription;
use super::record::CatalogChange;
use super::snapshot::Catalog;
use super::temporary_catalog::{FILLED_DATABASE, TemporaryCatalog};
use crate::error::Result;

/// What a definition statement does to a session's temporary tables.
#[derive(Debug, Default)]
pub struct TemporaryPlan {
    /// Changes of tables.
    pub changes: Vec<CatalogChange>,
    /// The indexes that it has made.
    pub indexes: Vec<TemporaryIndex>,
    /// Indexes whose keys all go; those that no table has any more go themselves.
    pub emptied: Vec<IndexId>,
}

impl TemporaryPlan {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// What it takes to undo definitions.
#[derive(Debug)]
struct DefinitionUndo {
    /// What there was.
    catalog: Arc<TemporaryCatalog>,
    /// The indexes of what was dropped since, with their rows.
    dropped: Vec<TemporaryIndex>,
}

/// A session's temporary tables. Dropping them deletes their rows.
#[derive(Debug)]
pub struct TemporaryTables {
    space: Arc<TemporarySpace>,
    catalog: Arc<TemporaryCatalog>,
    indexes: HashMap<IndexId, TemporaryIndex>,
    /// If the definitions since some moment may be undone.
    undo: Option<Box<DefinitionUndo>>,
    /// The shared catalog that was asked for last, and what it is with these tables over it.
    over: Mutex<Option<(Arc<Catalog>, Arc<Catalog>)>>,
}

impl TemporaryTables {
    /// None yet.
    pub fn new(space: Arc<TemporarySpace>) -> Self {
        TemporaryTables {
            space,
            catalog: Arc::default(),
            indexes: HashMap::new(),
            undo: None,
            over: Mutex::default(),
        }
    }

    /// Where their rows are.
    pub fn space(&self) -> &Arc<TemporarySpace> {
        &self.space
    }

    /// What there is.
    pub fn catalog(&self) -> &Arc<TemporaryCatalog> {
        &self.catalog
    }

    /// A catalog with these tables over it.
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

    /// Does what was planned over `catalog`. What is returned are the indexes of dropped tables: their numbers are free when it is dropped, which must
    /// not be before a transaction ends that may have written to them.
    ///
    /// # Errors
    /// If a table's description contradicts itself, which a planned one never does.
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

    /// From now on definitions can be undone, if it is not so already: what is dropped keeps its rows until then. Not the emptying of a table (TRUNCATE).
    pub fn begin_undoable(&mut self) {
        let catalog = &self.catalog;
        self.undo.get_or_insert_with(|| {
            Box::new(DefinitionUndo {
                catalog: catalog.clone(),
                dropped: Vec::new(),
            })
        });
    }

    /// What was defined since [`begin_undoable`](Self::begin_undoable) stays. The transaction that it was in has ended.
    pub fn keep_definitions(&mut self) {
        self.undo = None;
    }

    /// There are the tables again that there were. Their rows are not touched: the transaction that has changed them is rolled back.
    pub fn undo_definitions(&mut self) {
        let Some(undo) = self.undo.take() else { return };
        self.catalog = undo.catalog;
        let dropped = undo.dropped.into_iter().map(|index| (index.id(), index));
        self.indexes.extend(dropped);
        *self.over.get_mut() = None;
        // What was made since goes with its rows.
        self.take_unused();
    }

    /// Whether nothing is lost with it: there are no tables, and none would come back.
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

    /// Puts a new table where nothing but the statement that fills it finds it.
    pub fn begin_fill(&mut self, database: &str, name: &str) {
        self.move_table((database, name), (FILLED_DATABASE, name));
    }

    /// The table is filled: it gets its name.
    pub fn end_fill(&mut self, database: &str, name: &str) {
        self.move_table((FILLED_DATABASE, name), (database, name));
    }

    /// Drops a table that could not be filled. As [`apply`](Self::apply) for what is returned.
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

/// The numbers that a table has taken.
fn numbers(table: &TableDescription) -> impl Iterator<Item = u32> + use<'_> {
    let indexes = table.indexes.iter().map(|index| index.id);
    [table.id].into_iter().chain(table.hidden).chain(indexes)
}
