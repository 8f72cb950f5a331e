//! One query block while it is bound: its tables, its slots, and the search for a column by name.

use paceline_types::error_code::{ER_BAD_FIELD_ERROR, ER_NON_UNIQ_ERROR};

use super::bound_window::Windows;
use super::common_table::CommonTables;
use super::conditions::{TableSet, table_set};
use super::item_slots::StoredItems;
use super::json_table_plan::JsonTablePlan;
use super::same_expr::same_expr;
use super::table_ref::TableRef;
use super::trace::{BlockTrace, Names};
use super::tree::{OuterReference, SortItem};
use super::{ColumnUsage, Planner, ResultColumn};
use crate::error::{Error, Result};
use paceline_catalog::same_name;
use paceline_expression::{Aggregate, Clause, Expr, ExprKind, ExprType};
use paceline_syntax::ROW_ID;
use paceline_syntax::ast::{self, ColumnName};

/// A column that an unqualified name may mean. USING and NATURAL JOIN hide one of two equal columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisibleColumn {
    pub table: usize,
    pub column: usize,
}

/// An item of the select list.
#[derive(Clone)]
pub(crate) struct Output {
    pub expr: Expr,
    pub result: ResultColumn,
    /// Whether the name is from AS or of a column. Only then other clauses can refer to it.
    pub named: bool,
}

/// Meaning of a name in a subquery.
pub(crate) struct OuterName {
    /// Expression over the outer row: a column, or what a select alias or a view's column stands for.
    pub expr: Expr,
    /// Whether the name is that of an item of the select list.
    pub is_item: bool,
}

/// Scope of an outer query.
pub(crate) trait OuterScope {
    /// Returns what a name in a subquery means; `None` for an unknown name. `is_in_aggregate`: whether the subquery
    /// names it within an aggregate.
    fn resolve_outer(&mut self, name: &ColumnName, is_in_aggregate: bool) -> Result<Option<OuterName>>;

    /// Takes an aggregate of a subquery whose arguments read only columns of this query, over whose groups it runs.
    /// The arguments are expressions of this query's rows. Returns the slot of the result, and its type; `None` if the
    /// clause around the subquery allows no aggregates.
    ///
    /// # Errors
    /// 1111 within another aggregate.
    fn take_aggregate(&mut self, aggregate: Aggregate) -> Result<Option<(usize, ExprType)>>;
}

/// A query block during binding.
pub(crate) struct Block<'p, 'o> {
    pub planner: &'p Planner<'p>,
    pub parent: Option<&'o mut dyn OuterScope>,
    pub common: CommonTables,
    pub tables: Vec<TableRef>,
    pub visible: Vec<VisibleColumn>,
    pub slot_count: usize,
    pub outer: Vec<OuterReference>,
    outer_types: Vec<ExprType>,
    pub aggregates: Vec<(Aggregate, usize)>,
    pub windows: Windows,
    /// Slots that are read after grouping.
    pub kept: Vec<usize>,
    /// Items of the select list that other clauses read from slots.
    pub stored: StoredItems,
    /// Slot of `ROWNUM()`.
    pub row_number: Option<usize>,
    /// While an ON or the document of a JSON_TABLE is bound: the tables that it may name.
    pub on_scope: Option<OnScope>,
    /// While a table of FROM is bound: the tables before it, as far as a JSON_TABLE needs them.
    pub preceding: OnScope,
    /// JSON_TABLEs of FROM whose documents are not bound yet.
    pub unbound_documents: Vec<UnboundDocument>,
    /// Expressions of GROUP BY, for HAVING.
    pub groups: Vec<Expr>,
    /// For `VALUES(c)`: first slot of the row to be inserted.
    pub values_base: Option<usize>,
    /// Table into which the statement inserts.
    pub inserted: usize,
    /// Whether the statement changes rows of the tables. Then a view with a query in its select list is merged too.
    pub changes_rows: bool,
    /// Whether columns that are read are not recorded for their privileges.
    pub omits_reads: bool,
    /// Owner of the names that are being bound; see [`TableRef::owner`].
    pub owner: usize,
    /// Name of the clause of the outputs in errors: SELECT or RETURNING.
    pub outputs_of: &'static str,
    /// Number of merged views.
    pub merged_views: usize,
    /// Conditions of the view that is being merged ([`super::table_ref::MergedView`]).
    pub view_conditions: Vec<Expr>,
    /// ORDER BY of a merged view, for a query that reads nothing else and has no order of its own.
    pub view_order: Vec<SortItem>,
    /// Changes made by the passes. It begins when the block is bound.
    pub trace: Option<BlockTrace<'p>>,
}

/// Tables and columns that an ON or the document of a JSON_TABLE may name.
#[derive(Clone, Default)]
pub(crate) struct OnScope {
    pub tables: TableSet,
    pub visible: Vec<VisibleColumn>,
}

impl OnScope {
    /// Adds a range of tables, with their columns.
    pub fn add(&mut self, tables: std::ops::Range<usize>, visible: &[VisibleColumn]) {
        self.tables |= table_set(tables);
        self.visible.extend_from_slice(visible);
    }

    fn has(&self, table: usize) -> bool {
        self.tables & (1 << table) != 0
    }
}

/// A JSON_TABLE whose document is not bound yet.
pub(crate) struct UnboundDocument {
    /// Index of the table in the block.
    pub table: usize,
    /// Names that the document may use.
    pub scope: OnScope,
    pub document: ast::Expr,
    pub columns: JsonTablePlan,
}

/// Rules for binding the names of a clause.
#[derive(Clone, Copy)]
pub(crate) struct BindMode<'m> {
    pub clause: Clause,
    /// Name of the clause in error 1054, if [`Clause`] has none.
    pub clause_name: &'m str,
    pub aggregates: bool,
    pub windows: bool,
    pub aliases: Aliases<'m>,
    /// Whether the clause is evaluated on grouped rows.
    pub grouped: bool,
}

/// Whether names may refer to select aliases.
#[derive(Clone, Copy)]
pub(crate) enum Aliases<'m> {
    No,
    /// A name refers to a select alias if there is no such column.
    Fallback(&'m [Output]),
    /// The select list itself: a name in a subquery may refer to an item before it, if there is no such column.
    OfSubqueries(&'m [Output]),
    /// HAVING: the select list, then GROUP BY; columns only inside of aggregates.
    Having(&'m [Output]),
}

impl<'m> BindMode<'m> {
    pub fn fields() -> Self {
        BindMode {
            clause: Clause::FieldList,
            clause_name: "SELECT",
            aggregates: true,
            windows: false,
            aliases: Aliases::No,
            grouped: true,
        }
    }

    /// Returns the mode for values without rows to aggregate: DO, VALUES.
    pub fn values() -> Self {
        BindMode {
            aggregates: false,
            ..BindMode::fields()
        }
    }

    pub fn condition(clause: Clause) -> Self {
        BindMode {
            clause,
            clause_name: clause.as_str(),
            aggregates: false,
            windows: false,
            aliases: Aliases::No,
            grouped: false,
        }
    }

    pub fn named(clause_name: &'m str) -> Self {
        BindMode {
            clause: Clause::Other,
            clause_name,
            aggregates: false,
            windows: false,
            aliases: Aliases::No,
            grouped: false,
        }
    }

    pub fn with_aliases(self, outputs: &'m [Output]) -> Self {
        BindMode {
            aliases: Aliases::Fallback(outputs),
            ..self
        }
    }
}

impl<'p, 'o> Block<'p, 'o> {
    pub fn new(planner: &'p Planner<'p>, parent: Option<&'o mut dyn OuterScope>) -> Self {
        Block {
            planner,
            parent,
            common: CommonTables::default(),
            tables: Vec::new(),
            visible: Vec::new(),
            slot_count: 0,
            outer: Vec::new(),
            outer_types: Vec::new(),
            aggregates: Vec::new(),
            windows: Windows::default(),
            kept: Vec::new(),
            stored: StoredItems::default(),
            row_number: None,
            on_scope: None,
            preceding: OnScope::default(),
            unbound_documents: Vec::new(),
            groups: Vec::new(),
            values_base: None,
            inserted: 0,
            changes_rows: false,
            omits_reads: false,
            owner: 0,
            merged_views: 0,
            view_conditions: Vec::new(),
            outputs_of: "SELECT",
            view_order: Vec::new(),
            trace: None,
        }
    }

    pub fn with_common(mut self, common: CommonTables) -> Self {
        self.common = common;
        self
    }

    /// Returns whether the block reads rows of an outer query.
    pub fn correlated(&self) -> bool {
        !self.outer.is_empty()
    }

    /// Returns the names of the tables and slots, for the trace.
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        for table in &self.tables {
            names.add_table(&table.alias);
            if table.merged.is_none() {
                for (number, column) in table.columns.iter().enumerate() {
                    names.set(table.base + number, format!("{}.{}", table.alias, column.name()));
                }
            }
        }
        for (aggregate, slot) in &self.aggregates {
            let args: Vec<String> = aggregate.args.iter().map(|arg| names.text(arg)).collect();
            let function = format!("{:?}", aggregate.function).to_lowercase();
            names.set(*slot, format!("{function}({})", args.join(", ")));
        }
        for (number, reference) in self.outer.iter().enumerate() {
            names.set(reference.to, format!("outer.{}", number + 1));
        }
        names
    }

    /// Allocates slots. Returns the first one.
    pub fn allocate(&mut self, count: usize) -> usize {
        let base = self.slot_count;
        self.slot_count += count;
        base
    }

    /// Records that the statement names a column, for its privilege.
    pub fn note_column(&self, table: usize, column: usize, usage: ColumnUsage) {
        let is_omitted = self.omits_reads && usage == ColumnUsage::Read;
        if let Some(number) = self.tables[table].number
            && !is_omitted
        {
            self.planner.use_column(number, column, usage);
        }
    }

    /// Returns a column that the statement names as an expression, and marks it as used.
    pub fn column(&mut self, table: usize, column: usize) -> Expr {
        self.note_column(table, column, ColumnUsage::Read);
        self.unnamed_column(table, column)
    }

    /// Like [`Block::column`], for a column that the statement does not name, or whose name is recorded already.
    pub fn unnamed_column(&mut self, table: usize, column: usize) -> Expr {
        if let Some(merged) = &self.tables[table].merged {
            let expr = merged.exprs[column].clone();
            self.tables[table].used[column] = true;
            return self.used_merged(expr);
        }
        let reference = &mut self.tables[table];
        reference.used[column] = true;
        let mut ty = reference.columns[column].ty.clone();
        if reference.nullable {
            ty = ty.nullable();
        }
        Expr::column(reference.base + column, ty)
    }

    /// Like [`Block::column`], for a column that is also read after grouping.
    pub fn kept_column(&mut self, table: usize, column: usize) -> Expr {
        self.note_column(table, column, ColumnUsage::Read);
        self.kept_unnamed_column(table, column)
    }

    /// Like [`Block::unnamed_column`], for a column that is also read after grouping.
    pub fn kept_unnamed_column(&mut self, table: usize, column: usize) -> Expr {
        let expr = self.unnamed_column(table, column);
        expr.visit(&mut |node| {
            if let ExprKind::Column(slot) = node.kind {
                self.keep(slot);
            }
        });
        expr
    }

    /// Returns the slot of `ROWNUM()`, and marks it as read after grouping.
    pub fn row_number_slot(&mut self) -> usize {
        let slot = match self.row_number {
            Some(slot) => slot,
            None => self.allocate(1),
        };
        self.row_number = Some(slot);
        self.keep(slot);
        slot
    }

    fn keep(&mut self, slot: usize) {
        if !self.kept.contains(&slot) {
            self.kept.push(slot);
        }
    }

    /// Finds a column of this block's tables.
    pub fn find_column(&self, name: &ColumnName, clause: &str) -> Result<Option<VisibleColumn>> {
        let ambiguous = || Error::new(ER_NON_UNIQ_ERROR, &[name, &clause]);
        let scope = self.on_scope.as_ref();
        let visible = scope.map_or(&self.visible, |scope| &scope.visible);
        let mut found = None;
        match &name.table {
            Some(table) => {
                for index in 0..self.tables.len() {
                    let reference = &self.tables[index];
                    if *reference.alias != *table
                        || reference.owner != self.owner
                        || scope.is_some_and(|scope| !scope.has(index))
                        || name
                            .database
                            .as_deref()
                            .is_some_and(|database| *reference.database != *database)
                    {
                        continue;
                    }
                    if let Some(column) = reference.find(&name.name) {
                        if found.is_some() {
                            return Err(ambiguous());
                        }
                        found = Some(VisibleColumn { table: index, column });
                    }
                }
            }
            None => {
                for candidate in visible {
                    if same_name(
                        self.tables[candidate.table].columns[candidate.column].name(),
                        &name.name,
                    ) {
                        if found.is_some() {
                            return Err(ambiguous());
                        }
                        found = Some(*candidate);
                    }
                }
            }
        }
        match found {
            None if name.name.eq_ignore_ascii_case(ROW_ID) => self.find_row_id(name, clause),
            found => Ok(found),
        }
    }

    /// Finds the column that `_rowid` means ([`TableRef::row_id`]).
    fn find_row_id(&self, name: &ColumnName, clause: &str) -> Result<Option<VisibleColumn>> {
        let scope = self.on_scope.as_ref();
        let mut found = None;
        for table in (0..self.tables.len()).filter(|table| scope.is_none_or(|scope| scope.has(*table))) {
            let reference = &self.tables[table];
            let is_named = name
                .table
                .as_deref()
                .is_none_or(|table| *reference.alias == *table)
                && name
                    .database
                    .as_deref()
                    .is_none_or(|database| *reference.database == *database);
            if !is_named || reference.owner != self.owner {
                continue;
            }
            if let Some(column) = reference.row_id() {
                if found.is_some() {
                    return Err(Error::new(ER_NON_UNIQ_ERROR, &[name, &clause]));
                }
                found = Some(VisibleColumn { table, column });
            }
        }
        Ok(found)
    }

    /// Returns the slot for a column of the outer query, which is in slot `from` of the outer row.
    pub fn outer_slot(&mut self, from: usize, ty: &ExprType) -> usize {
        if let Some(known) = self.outer.iter().find(|reference| reference.from == from) {
            return known.to;
        }
        let to = self.allocate(1);
        self.outer.push(OuterReference { from, to });
        self.outer_types.push(ty.clone());
        to
    }

    /// Returns an expression over the outer row as one over this block's row.
    pub fn outer_expr(&mut self, mut expr: Expr) -> Expr {
        expr.visit_mut(&mut |node| {
            if let ExprKind::Column(slot) = &mut node.kind {
                *slot = self.outer_slot(*slot, &node.ty);
            }
        });
        expr
    }

    /// Returns the slot in the outer row that is copied to a slot.
    pub fn slot_of_outer(&self, slot: usize) -> Option<usize> {
        let reference = self.outer.iter().find(|reference| reference.to == slot)?;
        Some(reference.from)
    }

    /// Finds a select alias.
    pub fn find_output<'x>(
        &self,
        outputs: &'x [Output],
        name: &ColumnName,
        clause: &str,
    ) -> Result<Option<&'x Output>> {
        let mut found: Option<&Output> = None;
        for output in outputs {
            let matches = match &name.table {
                None => output.named && same_name(&output.result.name, &name.name),
                Some(table) => {
                    matches!(output.expr.kind, ExprKind::Column(_))
                        && *output.result.table == *table
                        && same_name(&output.result.org_name, &name.name)
                }
            };
            if matches {
                if let Some(first) = found
                    && !same_expr(&first.expr, &output.expr)
                {
                    return Err(Error::new(ER_NON_UNIQ_ERROR, &[name, &clause]));
                }
                found = Some(output);
            }
        }
        Ok(found)
    }

    /// Finds the select alias for an unqualified name of ORDER BY or GROUP BY.
    pub fn find_alias(&self, outputs: &[Output], name: &ColumnName) -> Result<Option<usize>> {
        let found = self.find_output(outputs, name, "ORDER BY")?;
        Ok(found.and_then(|found| outputs.iter().position(|output| std::ptr::eq(output, found))))
    }
}

/// Returns the column that a statement assigns.
///
/// # Errors
/// 1054 if there is none of this name.
pub(super) fn find_assigned(block: &Block<'_, '_>, name: &ColumnName, clause: &str) -> Result<VisibleColumn> {
    match block.find_column(name, clause)? {
        Some(found) => Ok(found),
        None => Err(Error::new(ER_BAD_FIELD_ERROR, &[name, &clause])),
    }
}
