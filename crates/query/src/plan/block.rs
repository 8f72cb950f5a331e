//! One query block while it is bound: its tables, its slots, and how a name finds its column.

use paceline_types::error_code::ER_NON_UNIQ_ERROR;

use super::bound_window::Windows;
use super::common_table::CommonTables;
use super::same_expr::same_expr;
use super::table_ref::TableRef;
use super::tree::{OuterReference, SortItem};
use super::{Planner, ResultColumn};
use crate::error::{Error, Result};
use paceline_catalog::same_name;
use paceline_expression::{Aggregate, Clause, Expr, ExprKind, ExprType};
use paceline_syntax::ROW_ID;
use paceline_syntax::ast::ColumnName;

/// A column that a bare name may mean: USING and NATURAL JOIN leave out one of two equal ones.
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
    /// Whether the name was given by AS or is a column's: only then do other clauses find it.
    pub named: bool,
}

/// What a query around a block offers it.
pub(crate) trait OuterScope {
    /// The slot of that column in the row around, if there is one.
    fn resolve_outer(&mut self, name: &ColumnName) -> Result<Option<(usize, ExprType)>>;
}

/// A query block while it is bound.
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
    /// Slots read after grouping.
    pub kept: Vec<usize>,
    /// While an ON is bound: only these may be named.
    pub on_scope: Option<OnScope>,
    /// GROUP BY's expressions, for HAVING.
    pub groups: Vec<Expr>,
    /// For `VALUES(c)`: the first slot of the row that was to be inserted.
    pub values_base: Option<usize>,
    /// Whose names are being bound: see [`TableRef::owner`].
    pub owner: usize,
    /// What errors call the clause of its outputs: SELECT or RETURNING.
    pub outputs_of: &'static str,
    /// How many views were merged.
    pub merged_views: usize,
    /// The ORDER BY of a merged view: of a query that reads nothing else, and has no order of its own.
    pub view_order: Vec<SortItem>,
}

/// What an ON may name.
pub(crate) struct OnScope {
    pub tables: std::ops::Range<usize>,
    pub visible: Vec<VisibleColumn>,
}

/// How a clause binds names.
#[derive(Clone, Copy)]
pub(crate) struct BindMode<'m> {
    pub clause: Clause,
    /// What error 1054 calls the clause, where [`Clause`] has no word for it.
    pub clause_name: &'m str,
    pub aggregates: bool,
    pub windows: bool,
    pub aliases: Aliases<'m>,
    /// Whether the rows are grouped ones when this is evaluated.
    pub grouped: bool,
}

/// Whether names may mean select aliases.
#[derive(Clone, Copy)]
pub(crate) enum Aliases<'m> {
    No,
    /// Columns first.
    Fallback(&'m [Output]),
    /// HAVING: the select list, then GROUP BY; columns only inside aggregates.
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

    /// Values without rows that aggregates could gather: DO, VALUES.
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
            on_scope: None,
            groups: Vec::new(),
            values_base: None,
            owner: 0,
            merged_views: 0,
            outputs_of: "SELECT",
            view_order: Vec::new(),
        }
    }

    pub fn with_common(mut self, common: CommonTables) -> Self {
        self.common = common;
        self
    }

    /// Whether the block reads rows of a query around it.
    pub fn correlated(&self) -> bool {
        !self.outer.is_empty()
    }

    /// Gives out slots.
    pub fn allocate(&mut self, count: usize) -> usize {
        let base = self.slot_count;
        self.slot_count += count;
        base
    }

    /// A column as an expression; it is read from now on.
    pub fn column(&mut self, table: usize, column: usize) -> Expr {
        if let Some(merged) = &self.tables[table].merged {
            let expr = merged[column].clone();
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

    /// As [`Block::column`], and also read after grouping.
    pub fn kept_column(&mut self, table: usize, column: usize) -> Expr {
        let expr = self.column(table, column);
        expr.visit(&mut |node| {
            if let ExprKind::Column(slot) = node.kind {
                self.keep(slot);
            }
        });
        expr
    }

    fn keep(&mut self, slot: usize) {
        if !self.kept.contains(&slot) {
            self.kept.push(slot);
        }
    }

    /// Finds a column of this block's tables.
    pub fn find_column(&self, name: &ColumnName, clause: &str) -> Result<Option<VisibleColumn>> {
        let ambiguous = || Error::new(ER_NON_UNIQ_ERROR, &[name, &clause]);
        let (range, visible) = match &self.on_scope {
            Some(scope) => (scope.tables.clone(), &scope.visible),
            None => (0..self.tables.len(), &self.visible),
        };
        let mut found = None;
        match &name.table {
            Some(table) => {
                for index in range {
                    let reference = &self.tables[index];
                    if *reference.alias != *table
                        || reference.owner != self.owner
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

    /// The column that `_rowid` means: the only one of a table's primary key, or of the unique index that stands in for
    /// it, if it is an integer.
    fn find_row_id(&self, name: &ColumnName, clause: &str) -> Result<Option<VisibleColumn>> {
        let range = match &self.on_scope {
            Some(scope) => scope.tables.clone(),
            None => 0..self.tables.len(),
        };
        let mut found = None;
        for table in range {
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

    /// The slot for a column of a query around, which `from` names in the row around.
    pub fn outer_slot(&mut self, from: usize, ty: &ExprType) -> usize {
        if let Some(known) = self.outer.iter().find(|reference| reference.from == from) {
            return known.to;
        }
        let to = self.allocate(1);
        self.outer.push(OuterReference { from, to });
        self.outer_types.push(ty.clone());
        to
    }

    pub fn is_outer_slot(&self, slot: usize) -> bool {
        self.outer.iter().any(|reference| reference.to == slot)
    }

    /// A select alias of that name.
    pub fn find_output<'x>(&self, outputs: &'x [Output], name: &ColumnName) -> Result<Option<&'x Output>> {
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
                    return Err(Error::new(ER_NON_UNIQ_ERROR, &[name, &"ORDER BY"]));
                }
                found = Some(output);
            }
        }
        Ok(found)
    }

    /// A select alias for a bare name of ORDER BY or GROUP BY.
    pub fn find_alias(&self, outputs: &[Output], name: &ColumnName) -> Result<Option<usize>> {
        let found = self.find_output(outputs, name)?;
        Ok(found.and_then(|found| outputs.iter().position(|output| std::ptr::eq(output, found))))
    }
}
