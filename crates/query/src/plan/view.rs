//! Views in FROM.
//!
//! A view that is one SELECT without grouping and the like is *merged*: its tables become tables of the block that
//! names it, its WHERE becomes a condition of their join, and its columns are expressions over their slots. So an index
//! of a base table can be used for a condition on the view. Any other view is a derived table, whose rows are computed
//! first.
//!
//! ```text
//!   SELECT v.x FROM u JOIN v ON …        tables   u   t   v          owner of names:  0 the query's own FROM (u, v)
//!   v: SELECT t.a + 1 AS x FROM t …               │   │   └ names only: x is t.a + 1  1 the FROM of v (t)
//!                                                 0   1   0
//! ```
//! Names within a view are resolved only in its own FROM, not outside of it. If an outer join may replace the view by
//! NULLs, the view is merged only if its columns are plain columns: an expression must be NULL in such a row, even if
//! it is not NULL for NULL arguments.
//!
//! A view's tables are used with the privileges of its definer, or of the current user ([`super::Access`]). An error
//! about a name within it becomes 1356 for the view that the statement names.

use std::sync::Arc;

use paceline_types::data_type::column_flags;
use paceline_types::error_code::*;

use super::block::{BindMode, Block};
use super::common_table::CommonTables;
use super::conditions::split_and;
use super::from::{BoundFrom, FromNode, Side};
use super::planner::{Merging, Planner};
use super::result_column::Through;
use super::table_ref::{MergedView, TableColumn, TableRef};
use super::tree::{SortItem, SortKey, TableSource};
use super::{Access, ColumnUsage, ResultColumn, TableUsage, TableUse};
use crate::error::{Error, Result};
use paceline_catalog::{ViewAlgorithm, ViewDefinition, ViewSecurity};
use paceline_expression::{Clause, Expr, ExprKind, is_native_function};
use paceline_syntax::ast;
use paceline_syntax::ast::visit::any_expr;
use paceline_syntax::{Aggregation, TableName};

/// Maximum depth of views of views.
const VIEWS_MAX: usize = 63;

impl Planner<'_> {
    /// Records that the statement cannot be planned with merged views. Returns the error.
    pub fn refuse_merging(&self) -> Error {
        self.merging.set(Merging::Refused);
        Error::unsupported("a reference to an expression of a view around a subquery")
    }

    /// Records the use of a view, and enters it. Returns the access outside of it, and its number among the used
    /// tables.
    fn enter_view(&self, view: &Arc<ViewDefinition>, usage: TableUsage) -> Result<(Access, usize)> {
        let mut views = self.views.borrow_mut();
        if views.iter().any(|known| Arc::ptr_eq(known, view)) {
            let top = &views[0];
            return Err(Error::new(ER_VIEW_RECURSIVE, &[&top.database, &top.name]));
        }
        if views.len() >= VIEWS_MAX {
            return Err(Error::new(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT, &[]));
        }
        let access = self.access.borrow().clone();
        let used = self.use_view(view, usage, &access);
        views.push(view.clone());
        let inner = Access {
            definer: match view.security {
                ViewSecurity::Definer => Some(Arc::new(view.definer.clone())),
                ViewSecurity::Invoker => access.definer.clone(),
            },
            through: Some(access.through.clone().unwrap_or_else(|| view.clone())),
        };
        Ok((self.access.replace(inner), used))
    }

    fn leave_view(&self, outer: Access) {
        self.views.borrow_mut().pop();
        self.access.replace(outer);
    }

    pub(super) fn use_view(&self, view: &Arc<ViewDefinition>, usage: TableUsage, access: &Access) -> usize {
        let mut tables = self.tables.borrow_mut();
        let found = tables.iter().position(|table| {
            table.view.as_ref().is_some_and(|known| Arc::ptr_eq(known, view)) && table.access.is_same(access)
        });
        match found {
            Some(number) => {
                tables[number].usage.add(usage);
                number
            }
            None => {
                tables.push(TableUse {
                    database: view.database.as_str().into(),
                    name: view.name.as_str().into(),
                    definition: None,
                    usage,
                    view: Some(view.clone()),
                    access: access.clone(),
                    aliases: Vec::new(),
                    columns: Vec::new(),
                });
                tables.len() - 1
            }
        }
    }
}

/// Returns the error for the user of a view for an error within it.
fn view_error(error: Error, view: &ViewDefinition) -> Error {
    const ABOUT_NAMES: &[paceline_types::error_code::ErrorCode] = &[
        ER_NO_SUCH_TABLE,
        ER_BAD_FIELD_ERROR,
        ER_BAD_DB_ERROR,
        ER_SP_DOES_NOT_EXIST,
        ER_VIEW_INVALID,
    ];
    match ABOUT_NAMES.contains(&error.code()) {
        true => Error::new(ER_VIEW_INVALID, &[&view.database, &view.name]),
        false => error,
    }
}

impl Block<'_, '_> {
    /// Returns the view with this name, if there is one.
    pub fn named_view(&self, name: &TableName) -> Result<Option<Arc<ViewDefinition>>> {
        if name.database.is_none() && self.common.find(&name.name).is_some() {
            return Ok(None);
        }
        let database = self.planner.database_or_current(name.database.as_deref())?;
        Ok(self.planner.context.catalog.view(database, &name.name).cloned())
    }

    /// Adds a view.
    pub fn bind_view(
        &mut self,
        view: &Arc<ViewDefinition>,
        alias: &str,
        usage: TableUsage,
        side: Side,
    ) -> Result<BoundFrom> {
        let planner = self.planner;
        let (outer, number) = planner.enter_view(view, usage)?;
        planner.name_used(number, alias);
        let bound = self.bind_within(view, alias, usage, side, &outer);
        planner.leave_view(outer.clone());
        let bound = bound.map_err(|error| view_error(error, view))?;
        let reference = &mut self.tables[bound.tables.end - 1];
        reference.view = Some(view.clone());
        reference.access = outer;
        reference.number = Some(number);
        Ok(bound)
    }

    fn bind_within(
        &mut self,
        view: &Arc<ViewDefinition>,
        alias: &str,
        usage: TableUsage,
        side: Side,
        named: &Access,
    ) -> Result<BoundFrom> {
        let has_right_items = |view: &ViewDefinition| match self.changes_rows {
            true => view.is_mergeable_for_changes(),
            false => view.is_mergeable(),
        };
        if let ast::QueryBody::Select(select) = &view.parsed().body
            && has_right_items(view)
            && view.algorithm != ViewAlgorithm::TempTable
            && self.planner.merging.get() == Merging::Possible
            && (side == Side::Whole || select.items.iter().all(is_column))
            && !self.has_stored_aggregate(select)
        {
            return self.merge_view(view, select, alias, usage, side);
        }
        // Its rows are read, even if the statement changes other tables.
        let usage = TableUsage {
            select: true,
            ..usage
        };
        self.planner.use_view(view, usage, named);
        let plan = Arc::new(
            self.planner
                .plan_subquery(view.parsed(), None, CommonTables::default())?,
        );
        let table = self.add_derived(
            alias,
            TableSource::Derived(plan.clone()),
            &plan.columns,
            &plan.types,
            &view.columns,
        )?;
        self.tables[table].database = view.database.as_str().into();
        Ok(self.bound_table(table))
    }

    /// Returns whether the select list calls stored aggregate functions, which the view's text does not show.
    fn has_stored_aggregate(&self, select: &ast::Select) -> bool {
        let mut exprs = select.items.iter().filter_map(ast::SelectItem::expr);
        let is_aggregate = |part: &ast::Expr| match part {
            ast::Expr::Call(call) if !is_native_function(call) => {
                let routine = self.planner.stored_function(call);
                routine.is_some_and(|routine| routine.aggregation == Aggregation::Group)
            }
            _ => false,
        };
        exprs.any(|expr| any_expr(expr, &mut |part| is_aggregate(part)))
    }

    fn merge_view(
        &mut self,
        view: &Arc<ViewDefinition>,
        select: &ast::Select,
        alias: &str,
        usage: TableUsage,
        side: Side,
    ) -> Result<BoundFrom> {
        let first = self.tables.len();
        self.merged_views += 1;
        let outer_owner = std::mem::replace(&mut self.owner, self.merged_views);
        let outer_common = std::mem::take(&mut self.common);
        let outer_scope = self.on_scope.take();
        let outer_preceding = std::mem::take(&mut self.preceding);
        let outer_documents = std::mem::take(&mut self.unbound_documents);
        let outer_visible = std::mem::take(&mut self.visible);
        let outer_windows = self.windows.named.take();
        let outer_conditions = std::mem::take(&mut self.view_conditions);
        let merged = self.bind_merged(select, &view.parsed().order_by, usage, side);
        self.owner = outer_owner;
        self.common = outer_common;
        self.on_scope = outer_scope;
        self.preceding = outer_preceding;
        self.unbound_documents = outer_documents;
        self.visible = outer_visible;
        self.windows.named = outer_windows;
        let conditions = std::mem::replace(&mut self.view_conditions, outer_conditions);
        let (node, exprs) = merged?;
        let merged = MergedView {
            exprs,
            tables: first..self.tables.len(),
            conditions,
        };
        let table = self.add_merged(view, alias, merged)?;
        Ok(BoundFrom {
            node,
            tables: first..table + 1,
            ..self.bound_table(table)
        })
    }

    /// Adds the tables of a view with its conditions, and the expressions of its columns.
    fn bind_merged(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderItem],
        usage: TableUsage,
        side: Side,
    ) -> Result<(FromNode, Vec<Expr>)> {
        let mut parts = self.bind_items(&select.from, usage, side)?;
        let mut exprs = Vec::with_capacity(select.items.len());
        for item in &select.items {
            let expr = item.expr().expect("a view's wildcards are expanded");
            exprs.push(self.bind_unused(expr)?);
        }
        self.take_view_order(order_by, &exprs)?;
        let mut on = Vec::new();
        if let Some(selection) = &select.condition {
            split_and(
                self.bind_condition(selection, BindMode::condition(Clause::Where))?,
                &mut on,
            );
        }
        self.note_view_conditions(&on);
        let node = match (parts.len(), on.is_empty()) {
            (1, true) => parts.remove(0),
            _ => FromNode::Inner {
                parts,
                on,
                straight: false,
            },
        };
        Ok((node, exprs))
    }

    /// Records conditions of inner joins and of WHERE within a view, for its CHECK OPTION.
    pub(super) fn note_view_conditions(&mut self, conditions: &[Expr]) {
        if self.owner != 0 {
            self.view_conditions.extend_from_slice(conditions);
        }
    }

    /// Keeps the ORDER BY of a view, for a query without its own.
    fn take_view_order(&mut self, items: &[ast::OrderItem], exprs: &[Expr]) -> Result<()> {
        let mut order = Vec::with_capacity(items.len());
        for item in items {
            let place = super::position::position(&item.expr);
            let output = place.and_then(|place| exprs.get(usize::try_from(place).ok()?.checked_sub(1)?));
            let key = match output {
                Some(expr) => self.used_merged(expr.clone()),
                None => self.bind(&item.expr, BindMode::named("ORDER BY"))?,
            };
            order.push(SortItem {
                key: SortKey::Expr(key),
                descending: item.order == ast::SortOrder::Descending,
            });
        }
        if self.view_order.is_empty() {
            self.view_order = order;
        }
        Ok(())
    }

    /// Binds an expression without marking its columns as used: its own use is not known yet.
    fn bind_unused(&mut self, expr: &ast::Expr) -> Result<Expr> {
        let used: Vec<Vec<bool>> = self.tables.iter().map(|table| table.used.clone()).collect();
        // As in MariaDB, a SELECT needs the privileges on all columns of a view, a change only those on the named ones.
        let outer = std::mem::replace(&mut self.omits_reads, self.changes_rows);
        let bound = self.bind(expr, BindMode::condition(Clause::FieldList));
        self.omits_reads = outer;
        let bound = bound?;
        for (table, used) in self.tables.iter_mut().zip(used) {
            table.used = used;
        }
        Ok(bound)
    }

    /// Returns an expression of a merged view, and marks its columns as used.
    pub fn used_merged(&mut self, mut expr: Expr) -> Expr {
        expr.visit(&mut |node| {
            if let ExprKind::Column(slot) = node.kind {
                self.read_slot(slot);
            }
            if let Some(subquery) = node.subquery() {
                for slot in &subquery.outer_slots {
                    self.read_slot(*slot);
                }
            }
        });
        // It may be on the inner side of an outer join by now.
        if let ExprKind::Column(slot) = expr.kind
            && let Some(table) = self.table_of(slot)
            && table.nullable
        {
            expr.ty = expr.ty.nullable();
        }
        expr
    }

    fn table_of(&self, slot: usize) -> Option<&TableRef> {
        self.tables.iter().find(|table| table.slots().contains(&slot))
    }

    fn read_slot(&mut self, slot: usize) {
        let table = self.tables.iter_mut().find(|table| table.slots().contains(&slot));
        if let Some(table) = table {
            let column = slot - table.base;
            table.used[column] = true;
            if let Some(number) = table.number
                && !self.omits_reads
            {
                self.planner.use_column(number, column, ColumnUsage::Read);
            }
        }
    }

    /// Adds the names of a merged view.
    fn add_merged(&mut self, view: &ViewDefinition, alias: &str, merged: MergedView) -> Result<usize> {
        let database: Arc<str> = view.database.as_str().into();
        let is_taken = self
            .tables
            .iter()
            .any(|table| *table.alias == *alias && table.database == database && table.owner == self.owner);
        if is_taken {
            return Err(Error::new(ER_NONUNIQ_TABLE, &[&alias]));
        }
        if self.tables.len() >= super::table_ref::TABLES_MAX {
            return Err(Error::new(ER_TOO_MANY_TABLES, &[&super::table_ref::TABLES_MAX]));
        }
        let alias: Arc<str> = alias.into();
        let mut columns = Vec::with_capacity(merged.exprs.len());
        for (name, expr) in view.columns.iter().zip(&merged.exprs) {
            let own = match expr.kind {
                ExprKind::Column(slot) => self.table_of(slot).map(|table| {
                    let mut result = table.columns[slot - table.base].result.clone();
                    if table.nullable {
                        result.flags &= !column_flags::NOT_NULL;
                    }
                    result
                }),
                _ => None,
            };
            let mut result = own.unwrap_or_else(|| ResultColumn::of_expression(name.as_str(), &expr.ty));
            result.name = name.as_str().into();
            result.table = alias.clone();
            result.org_table = view.name.as_str().into();
            result.seen_through(Through::Merged);
            result.database = database.clone();
            columns.push(TableColumn {
                result,
                ty: expr.ty.clone(),
                invisible: false,
            });
        }
        self.tables.push(TableRef {
            alias,
            database,
            base: self.slot_count,
            used: vec![false; columns.len()],
            columns,
            source: TableSource::MergedView,
            nullable: false,
            hints: Vec::new(),
            distinct: false,
            owner: self.owner,
            access: Access::default(),
            view: None,
            merged: Some(merged),
            number: None,
        });
        Ok(self.tables.len() - 1)
    }
}

fn is_column(item: &ast::SelectItem) -> bool {
    matches!(item.expr(), Some(ast::Expr::Column(column)) if column.table.is_some())
}
