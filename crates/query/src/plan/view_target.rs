//! Tables that a statement changes through views.
//!
//! A view in the FROM of UPDATE or DELETE, and the target of INSERT and LOAD DATA, is merged as in a SELECT
//! ([`super::view`]). So a column of the view is an expression over slots, and one that can be assigned is just a slot:
//! it leads to the table that is changed.
//!
//! ```text
//!   CREATE VIEW v AS SELECT t.a, u.b + 1 AS c FROM t JOIN u ON … WHERE t.d > 5 WITH CHECK OPTION
//!   UPDATE v SET a = 1        a ─▶ slot of t.a ─▶ t is changed; after the change `… AND t.d > 5` must be true: 1369
//!   UPDATE v SET c = 1        c is no slot: 1348
//!   UPDATE v SET a = 1, …     columns of both t and u: 1393
//!   INSERT INTO v (a) …       the row of t is in slots 0..n, as in every INSERT; u has a row of defaults
//! ```
//! The CHECK OPTION of the view that the statement names decides: LOCAL checks this view's own conditions, CASCADED
//! also those of the views within it, whose own options do not matter. In MySQL they do.
//!
//! Each view needs the privilege of the statement for the account that uses it, and the table needs it for the definer
//! of the innermost view. A table that a subquery within the view reads is not changed through it.

use std::sync::Arc;

use paceline_types::error_code::*;

use super::block::{Block, VisibleColumn, find_assigned};
use super::change_plan::{InsertView, OtherTable, ViewCheckPlan};
use super::defaults::default_plans;
use super::from::{FromNode, Side};
use super::tree::TableSource;
use super::{ColumnUsage, Planner, TableUsage};
use crate::error::{Error, Result};
use paceline_catalog::ddl::{is_writable, reads_in_subquery};
use paceline_catalog::{IndexDefinition, TableDefinition, ViewCheck, ViewDefinition};
use paceline_expression::{Expr, ExprKind};
use paceline_syntax::ast;
use paceline_syntax::{ColumnName, TableName};

impl Block<'_, '_> {
    /// Binds the FROM of a statement that changes rows.
    pub(super) fn bind_changed_from(&mut self, from: &[ast::JoinedTables]) -> Result<Option<FromNode>> {
        self.changes_rows = true;
        self.bind_from(from, TableUsage::default())
    }

    /// Returns the table's column that a view's column shows; a table's own column is returned unchanged. `None` for an
    /// expression.
    pub(super) fn base_column(&self, found: VisibleColumn) -> Option<VisibleColumn> {
        let Some(merged) = &self.tables[found.table].merged else {
            return Some(found);
        };
        let mut expr = &merged.exprs[found.column];
        while let ExprKind::Collate(operand) = &expr.kind {
            expr = operand;
        }
        let ExprKind::Column(slot) = expr.kind else {
            return None;
        };
        let table = (self.tables.iter()).position(|table| table.slots().contains(&slot))?;
        let column = slot - self.tables[table].base;
        Some(VisibleColumn { table, column })
    }

    /// Returns the view that the statement names, of a table within a view.
    fn view_around(&self, table: usize) -> Option<usize> {
        self.views_around(table)
            .find(|&view| self.tables[view].owner == 0)
    }

    /// Returns the views that a table is in.
    fn views_around(&self, table: usize) -> impl Iterator<Item = usize> {
        (0..self.tables.len()).filter(move |&view| {
            let merged = self.tables[view].merged.as_ref();
            merged.is_some_and(|merged| merged.tables.contains(&table))
        })
    }

    /// Returns the tables of a merged view, including those of the views within it.
    fn tables_within(&self, view: usize) -> impl Iterator<Item = usize> {
        let merged = self.tables[view].merged.as_ref();
        let tables = merged.map_or(0..0, |merged| merged.tables.clone());
        tables.filter(|&table| self.tables[table].merged.is_none())
    }

    /// Returns the only table of a view; `None` for a join.
    fn only_table_within(&self, view: usize) -> Option<usize> {
        let mut tables = self.tables_within(view);
        tables.next().filter(|_| tables.next().is_none())
    }

    /// Returns whether statements of one table may write through a view.
    fn is_writable_view(&self, table: usize) -> bool {
        let reference = &self.tables[table];
        let catalog = self.planner.context.catalog;
        reference.merged.is_some() && (reference.view.as_ref()).is_some_and(|view| is_writable(view, catalog))
    }

    /// Returns the error for a table that the statement cannot change.
    fn refuse_target(&self, table: usize, error: Error) -> Error {
        let reference = &self.tables[table];
        let catalog = self.planner.context.catalog;
        match &reference.view {
            Some(view) if reference.merged.is_none() && is_writable(view, catalog) => {
                Error::unsupported("a change through a view that is not merged")
            }
            _ => error,
        }
    }

    fn not_updatable(&self, table: usize, operation: &str) -> Error {
        let alias = &self.tables[table].alias;
        self.refuse_target(table, Error::new(ER_NON_UPDATABLE_TABLE, &[alias, &operation]))
    }

    /// Checks the target of an UPDATE of one table, before its columns are known.
    ///
    /// # Errors
    /// 1288 for a view through which nothing can be written.
    pub(super) fn check_updated_view(&self) -> Result<()> {
        let mut named = (0..self.tables.len()).filter(|&table| self.tables[table].owner == 0);
        let (Some(table), None) = (named.next(), named.next()) else {
            return Ok(());
        };
        let is_join = self.tables_within(table).nth(1).is_some();
        match self.tables[table].view.is_none() || is_join || self.is_writable_view(table) {
            true => Ok(()),
            false => Err(self.not_updatable(table, "UPDATE")),
        }
    }

    /// Returns the table that an assignment in UPDATE changes, and its column.
    ///
    /// # Errors
    /// 1348 for an expression of a view, 1288 for a column of another kind of table.
    pub(super) fn updated_column(
        &self,
        found: VisibleColumn,
    ) -> Result<(VisibleColumn, Arc<TableDefinition>)> {
        let Some(base) = self.base_column(found) else {
            let name = self.tables[found.table].columns[found.column].name();
            return Err(Error::new(ER_NONUPDATEABLE_COLUMN, &[&name]));
        };
        let TableSource::Base(definition) = &self.tables[base.table].source else {
            return Err(self.not_updatable(found.table, "UPDATE"));
        };
        self.check_subqueries_within(base.table, definition, "UPDATE")?;
        Ok((base, definition.clone()))
    }

    /// Returns 1288 for a table that a subquery within its view reads.
    fn check_subqueries_within(
        &self,
        table: usize,
        definition: &TableDefinition,
        operation: &str,
    ) -> Result<()> {
        match self.view_around(table) {
            Some(view) if self.reads_within(view, definition) => Err(self.not_updatable(view, operation)),
            _ => Ok(()),
        }
    }

    fn reads_within(&self, view: usize, definition: &TableDefinition) -> bool {
        let table = (definition.database(), definition.name());
        let catalog = self.planner.context.catalog;
        (self.tables[view].view.as_ref()).is_some_and(|view| reads_in_subquery(view, catalog, table))
    }

    /// Returns 1393 if several tables of one view are changed.
    pub(super) fn check_single_tables(&self, changed: &[usize]) -> Result<()> {
        let is_changed = |table: &usize| changed.contains(table);
        let named = (0..self.tables.len()).filter(|&table| self.tables[table].owner == 0);
        for view in named {
            if let Some(definition) = &self.tables[view].view
                && self.tables_within(view).filter(is_changed).nth(1).is_some()
            {
                let names: [&dyn std::fmt::Display; 2] = [&definition.database, &definition.name];
                return Err(Error::new(ER_VIEW_MULTIUPDATE, &names));
            }
        }
        Ok(())
    }

    /// Returns the table whose rows are deleted, for a table that DELETE names. `of_one` is set for a statement of one
    /// table.
    ///
    /// # Errors
    /// 1288 for a table whose rows cannot be deleted, 1395 for a view that is a join.
    pub(super) fn deleted_table(
        &self,
        named: usize,
        syntax: DeleteSyntax,
    ) -> Result<(usize, Arc<TableDefinition>)> {
        let reference = &self.tables[named];
        if let Some(view) = &reference.view {
            let is_join = self.tables_within(named).nth(1).is_some();
            if syntax == DeleteSyntax::OneTable && !self.is_writable_view(named) {
                return Err(self.not_updatable(named, "DELETE"));
            }
            if is_join {
                return Err(Error::new(
                    ER_VIEW_DELETE_MERGE_VIEW,
                    &[&view.database, &view.name],
                ));
            }
            if !self.is_writable_view(named) {
                return Err(self.not_updatable(named, "DELETE"));
            }
        }
        let table = self.only_table_within(named).unwrap_or(named);
        let TableSource::Base(definition) = &self.tables[table].source else {
            return Err(self.not_updatable(named, "DELETE"));
        };
        self.check_subqueries_within(table, definition, "DELETE")?;
        Ok((table, definition.clone()))
    }

    /// Records that the statement changes a table, and the views through which it does.
    pub(super) fn note_write(&mut self, table: usize, usage: TableUsage) {
        let reference = &self.tables[table];
        if let TableSource::Base(definition) = &reference.source {
            let (database, name) = (definition.database(), definition.name());
            let access = &reference.access;
            let number = (self.planner).use_table_as(access, database, name, Some(definition), usage);
            self.tables[table].number = Some(number);
        }
        for view in self.views_around(table) {
            if let Some(definition) = &self.tables[view].view {
                self.planner
                    .use_view(definition, usage, &self.tables[view].access);
            }
        }
    }

    /// Records that the statement updates a column, perhaps one of a view.
    pub(super) fn note_updated(&self, found: VisibleColumn, base: VisibleColumn) {
        self.note_column(base.table, base.column, ColumnUsage::Update);
        if found != base {
            self.note_column(found.table, found.column, ColumnUsage::Update);
        }
    }

    /// Records the columns that an INSERT gives values: those of the table, and of the view that the statement names.
    /// As in MariaDB they need UPDATE as well, if the statement may update.
    pub(super) fn note_inserted(
        &self,
        target: usize,
        names: &[ColumnName],
        columns: &[usize],
        updates: bool,
    ) -> Result<()> {
        let usage = match names.is_empty() {
            true => ColumnUsage::InsertAll,
            false => ColumnUsage::Insert,
        };
        let mut found: Vec<VisibleColumn> = (columns.iter())
            .map(|&column| VisibleColumn {
                table: target,
                column,
            })
            .collect();
        if self.view_around(target).is_some() {
            match names.is_empty() {
                true => found.extend(&self.visible),
                false => {
                    for name in names {
                        found.push(find_assigned(self, name, "INSERT INTO")?);
                    }
                }
            }
        }
        for VisibleColumn { table, column } in found {
            self.note_column(table, column, usage);
            if updates {
                self.note_column(table, column, ColumnUsage::Update);
            }
        }
        Ok(())
    }

    /// Returns the check of the view through which a table is changed.
    pub(super) fn view_check(&self, table: usize) -> Option<ViewCheckPlan> {
        let named = self.view_around(table)?;
        let view = self.tables[named].view.clone()?;
        let conditions = |view: usize| {
            let merged = self.tables[view].merged.as_ref();
            merged.map_or(&[][..], |merged| &merged.conditions)
        };
        let within = self.tables[named].merged.as_ref()?.tables.clone();
        let conditions: Vec<Expr> = match view.check {
            ViewCheck::None => return None,
            ViewCheck::Local => conditions(named).to_vec(),
            ViewCheck::Cascaded => within.chain([named]).flat_map(conditions).cloned().collect(),
        };
        (!conditions.is_empty()).then_some(ViewCheckPlan { view, conditions })
    }

    /// Returns 1393 for a value of ON DUPLICATE KEY UPDATE that reads another table of the view.
    pub(super) fn check_read_tables(&self, table: usize, value: &Expr) -> Result<()> {
        let Some(view) = self.view_around(table) else {
            return Ok(());
        };
        let mut others = self.tables_within(view).filter(|other| *other != table);
        let reads = |other: usize| {
            let slots = self.tables[other].slots();
            value.any(&mut |node| matches!(node.kind, ExprKind::Column(slot) if slots.contains(&slot)))
        };
        match others.any(reads) {
            true => Err(self.several_tables(view)),
            false => Ok(()),
        }
    }

    fn several_tables(&self, view: usize) -> Error {
        let reference = &self.tables[view];
        Error::new(ER_VIEW_MULTIUPDATE, &[&reference.database, &reference.alias])
    }

    /// Checks whether a view with a LIMIT in the statement identifies the rows of its table.
    ///
    /// # Errors
    /// 1288 if it does not and `updatable_views_with_limit` is off; otherwise a note.
    pub(super) fn check_view_key(&self, table: usize, operation: &str) -> Result<()> {
        let Some(view) = self.view_around(table) else {
            return Ok(());
        };
        let (Some(merged), TableSource::Base(definition)) =
            (&self.tables[view].merged, &self.tables[table].source)
        else {
            return Ok(());
        };
        let shown: Vec<usize> = (0..merged.exprs.len())
            .filter_map(|column| self.base_column(VisibleColumn { table: view, column }))
            .filter(|base| base.table == table)
            .map(|base| base.column)
            .collect();
        let columns = definition.columns();
        let is_key = |index: &IndexDefinition| {
            index.kind.is_unique()
                && (index.parts.iter())
                    .all(|part| !columns[part.column].nullable && shown.contains(&part.column))
        };
        if definition.indexes().iter().any(is_key) || (0..columns.len()).all(|column| shown.contains(&column))
        {
            return Ok(());
        }
        if !self.planner.session().settings.updatable_views_with_limit {
            let alias = &self.tables[view].alias;
            return Err(match operation {
                "INSERT" => Error::new(ER_NON_INSERTABLE_TABLE, &[alias, &operation]),
                _ => self.not_updatable(view, operation),
            });
        }
        let message = ER_WARN_VIEW_WITHOUT_KEY.message(&[]);
        self.planner.note(ER_WARN_VIEW_WITHOUT_KEY, message);
        Ok(())
    }
}

impl Block<'_, '_> {
    /// Returns the table or view that the statement names, for a table that may be one of a merged view.
    pub(super) fn named_table(&self, table: usize) -> usize {
        let is_outermost = |view: &usize| {
            let view = &self.tables[*view];
            let merged = view.merged.as_ref();
            view.owner == 0 && merged.is_some_and(|merged| merged.tables.contains(&table))
        };
        (0..self.tables.len()).find(is_outermost).unwrap_or(table)
    }
}

/// Syntax of a DELETE, which decides which of two errors is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeleteSyntax {
    /// `DELETE FROM t`.
    OneTable,
    /// `DELETE t FROM …`.
    SeveralTables,
}

/// Target of an INSERT or LOAD DATA.
pub(super) struct InsertTarget<'p> {
    /// Block with the names of the target. The row of the table is in slots `0..n`, the inserted one of ON DUPLICATE
    /// KEY UPDATE in `n..2n`.
    pub block: Block<'p, 'p>,
    /// Table in the block.
    pub table: usize,
    pub definition: Arc<TableDefinition>,
    /// Columns that get values, if they follow from the names of the statement.
    pub columns: Vec<usize>,
    pub view: Option<InsertView>,
}

/// Names of an INSERT that follow its target.
pub(super) struct InsertNames<'s> {
    /// Columns in parentheses.
    pub columns: &'s [ColumnName],
    /// Number of values of the first row, if it is known.
    pub values: Option<usize>,
}

impl Planner<'_> {
    /// Returns the target of an INSERT.
    ///
    /// # Errors
    /// 1046, 1146, 1036 for a table that cannot be changed; 1471, 1393, 1394 for views, and for their columns.
    pub(super) fn insert_target<'p>(
        &'p self,
        name: &TableName,
        names: &InsertNames<'_>,
    ) -> Result<InsertTarget<'p>> {
        match Block::new(self, None).named_view(name)? {
            Some(view) => self.insert_target_of_view(&view, name, names),
            None => self.table_target(name),
        }
    }

    /// Returns the target of LOAD DATA.
    ///
    /// # Errors
    /// 1046, 1146, 1036 for a table that cannot be changed; 1221 for a view of several tables, 1288 for one through
    /// which nothing can be written.
    pub(super) fn load_target(&self, name: &TableName) -> Result<InsertTarget<'_>> {
        let Some(view) = Block::new(self, None).named_view(name)? else {
            return self.table_target(name);
        };
        let mut block = self.bind_target_view(&view, name, 0)?;
        let named = block.tables.len() - 1;
        if block.tables_within(named).nth(1).is_some() {
            return Err(Error::new(ER_WRONG_USAGE, &[&"Multi-table VIEW", &"LOAD"]));
        }
        let table = block
            .only_table_within(named)
            .filter(|_| block.is_writable_view(named));
        let Some((table, TableSource::Base(definition))) =
            table.map(|table| (table, block.tables[table].source.clone()))
        else {
            return Err(block.not_updatable(named, "LOAD"));
        };
        block.check_subqueries_within(table, &definition, "LOAD")?;
        block.values_base = Some(block.allocate(definition.columns().len()));
        block.inserted = table;
        let view = block.insert_view(named, table, &definition, Vec::new());
        Ok(InsertTarget {
            block,
            table,
            definition,
            columns: Vec::new(),
            view,
        })
    }

    fn table_target(&self, name: &TableName) -> Result<InsertTarget<'_>> {
        let mut block = Block::new(self, None);
        let definition = self.find_table(name.database.as_deref(), &name.name)?;
        block.add_base(definition.name(), &definition, &[])?;
        block.visible = block.bound_table(0).visible;
        block.values_base = Some(block.allocate(definition.columns().len()));
        Ok(InsertTarget {
            block,
            table: 0,
            definition,
            columns: Vec::new(),
            view: None,
        })
    }

    fn insert_target_of_view<'p>(
        &'p self,
        view: &Arc<ViewDefinition>,
        name: &TableName,
        names: &InsertNames<'_>,
    ) -> Result<InsertTarget<'p>> {
        let mut block = self.bind_target_view(view, name, 0)?;
        let named = block.tables.len() - 1;
        let refused = |block: &Block<'_, '_>| {
            let error = Error::new(ER_NON_INSERTABLE_TABLE, &[&name.name, &"INSERT"]);
            block.refuse_target(named, error)
        };
        if !block.is_writable_view(named) {
            return Err(refused(&block));
        }
        let only = block.only_table_within(named);
        let found: Vec<VisibleColumn> = match (names.columns, only) {
            ([], None) => {
                let names: [&dyn std::fmt::Display; 2] = [&view.database, &view.name];
                return Err(Error::new(ER_VIEW_NO_INSERT_FIELD_LIST, &names));
            }
            ([], Some(_)) => block.visible.clone(),
            (columns, _) => {
                let find = |column| find_assigned(&block, column, "INSERT INTO");
                columns.iter().map(find).collect::<Result<_>>()?
            }
        };
        let bases: Vec<Option<VisibleColumn>> =
            found.iter().map(|column| block.base_column(*column)).collect();
        if names.columns.is_empty() && bases.contains(&None) {
            return Err(refused(&block));
        }
        if names.values.is_some_and(|values| values != found.len()) {
            return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&1]));
        }
        let mut tables: Vec<usize> = bases.iter().flatten().map(|base| base.table).collect();
        tables.sort_unstable();
        tables.dedup();
        block.check_single_tables(&tables)?;
        let columns: Option<Vec<usize>> = bases.iter().map(|base| base.map(|base| base.column)).collect();
        let (Some(columns), Some(&table)) = (columns, tables.first()) else {
            return Err(refused(&block));
        };
        let is_twice = |place: usize| columns[..place].contains(&columns[place]);
        let TableSource::Base(definition) = block.tables[table].source.clone() else {
            return Err(refused(&block));
        };
        if (0..columns.len()).any(is_twice) || block.reads_within(named, &definition) {
            return Err(refused(&block));
        }
        let width = definition.columns().len();
        let mut others = Vec::new();
        match only {
            Some(_) => block.values_base = Some(block.allocate(width)),
            // The row of the target must be in the first slots.
            None => {
                block = self.bind_target_view(view, name, 2 * width)?;
                block.move_table(table)?;
                block.values_base = Some(width);
                others = self.other_tables(&block, table)?;
            }
        }
        block.inserted = table;
        let view = block.insert_view(named, table, &definition, others);
        Ok(InsertTarget {
            block,
            table,
            definition,
            columns,
            view,
        })
    }

    /// Returns a block whose FROM is a view, with `reserved` slots before those of its tables.
    fn bind_target_view<'p>(
        &'p self,
        view: &Arc<ViewDefinition>,
        name: &TableName,
        reserved: usize,
    ) -> Result<Block<'p, 'p>> {
        let mut block = Block::new(self, None);
        block.changes_rows = true;
        block.allocate(reserved);
        let bound = block.bind_view(view, &name.name, TableUsage::default(), Side::Whole)?;
        block.visible = bound.visible;
        Ok(block)
    }

    /// Returns the tables of a view besides the changed one.
    fn other_tables(&self, block: &Block<'_, '_>, changed: usize) -> Result<Vec<OtherTable>> {
        let mut others = Vec::new();
        for (number, table) in block.tables.iter().enumerate() {
            if let TableSource::Base(definition) = &table.source
                && number != changed
            {
                others.push(OtherTable {
                    first_slot: table.base,
                    definition: definition.clone(),
                    defaults: default_plans(self, definition, |_| true)?,
                });
            }
        }
        Ok(others)
    }
}

impl Block<'_, '_> {
    fn insert_view(
        &self,
        named: usize,
        table: usize,
        definition: &TableDefinition,
        others: Vec<OtherTable>,
    ) -> Option<InsertView> {
        let counter = definition.auto_increment_column();
        let is_counter = |column: &VisibleColumn| {
            let base = self.base_column(*column);
            base.is_some_and(|base| base.table == table && Some(base.column) == counter)
        };
        Some(InsertView {
            view: self.tables[named].view.clone()?,
            check: self.view_check(table),
            shows_counter: self.visible.iter().any(is_counter),
            others,
        })
    }

    /// Moves the columns of a table to the first slots, which are reserved.
    fn move_table(&mut self, table: usize) -> Result<()> {
        let from = self.tables[table].slots();
        let mut map = |slot: usize| match from.contains(&slot) {
            true => slot - from.start,
            false => slot,
        };
        for merged in self.tables.iter_mut().filter_map(|table| table.merged.as_mut()) {
            for expr in merged.exprs.iter_mut().chain(&mut merged.conditions) {
                let reads = |expr: &Expr| {
                    expr.subquery()
                        .is_some_and(|subquery| !subquery.outer_slots.is_empty())
                };
                if expr.any(&mut |node| reads(node)) {
                    return Err(Error::unsupported(
                        "INSERT into a join view with a subquery that reads its tables",
                    ));
                }
                expr.map_columns(&mut map);
            }
        }
        self.tables[table].base = 0;
        Ok(())
    }
}
