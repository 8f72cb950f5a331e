//! One query block while it is bound: its tables, its slots, and how a name finds its column.

use std::rc::Rc;
use std::sync::Arc;

use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_CANT_USE_OPTION_HERE, ER_INVALID_GROUP_FUNC_USE, ER_NO_DEFAULT_FOR_FIELD,
    ER_NON_UNIQ_ERROR, ER_PARSE_ERROR, ER_SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG,
    ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION,
};
use sqlparser::ast;

use super::tree::{OuterReference, QueryPlan, TableSource};
use super::window::Windows;
use super::{Planner, ResultColumn};
use crate::error::{Error, Result};
use crate::expr::{
    Aggregate, Clause, ColumnName, Correlation, Expr, ExprKind, ExprType, Scope, Subquery, WindowCall,
    WindowFunction, bind_condition, bind_expr,
};
use crate::session::SessionContext;

/// A table of FROM while its block is bound.
pub(crate) struct TableRef {
    pub alias: Arc<str>,
    pub database: Arc<str>,
    /// Its first slot.
    pub base: usize,
    pub columns: Vec<TableColumn>,
    pub source: TableSource,
    /// Whether a column was named, for each column.
    pub used: Vec<bool>,
    /// Whether an outer join may put NULLs in its place.
    pub nullable: bool,
    pub hints: Vec<ast::TableIndexHints>,
    /// Equal rows count once: a subquery of IN that was turned into a join.
    pub distinct: bool,
    /// Whose FROM names it: 0 is the block's own, the others are those of merged views ([`super::view`]).
    pub owner: usize,
    /// Of a merged view: what its columns are.
    pub merged: Option<Vec<Expr>>,
}

/// A column of a [`TableRef`].
pub(crate) struct TableColumn {
    pub result: ResultColumn,
    pub ty: ExprType,
    /// Not in `*`.
    pub invisible: bool,
}

impl TableColumn {
    pub fn name(&self) -> &str {
        &self.result.name
    }
}

impl TableRef {
    /// Its slots in the block's row.
    pub fn slots(&self) -> std::ops::Range<usize> {
        match self.merged {
            Some(_) => self.base..self.base,
            None => self.base..self.base + self.columns.len(),
        }
    }

    pub fn find(&self, column: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|candidate| same_name(candidate.name(), column))
    }
}

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

/// Which common table expressions a query sees, innermost first.
#[derive(Clone, Default)]
pub(crate) struct CommonTables(Option<Rc<CommonTable>>);

pub(crate) struct CommonTable {
    pub name: String,
    pub kind: CommonTableKind,
    pub columns: Vec<ResultColumn>,
    pub types: Vec<ExprType>,
    next: CommonTables,
}

#[derive(Clone)]
pub(crate) enum CommonTableKind {
    /// Its plan, shared by all references: it is materialised once.
    Planned(Arc<QueryPlan>),
    /// Inside its own definition.
    Recursive(u64),
}

impl CommonTables {
    pub fn with(
        &self,
        name: String,
        kind: CommonTableKind,
        columns: Vec<ResultColumn>,
        types: Vec<ExprType>,
    ) -> Self {
        CommonTables(Some(Rc::new(CommonTable {
            name,
            kind,
            columns,
            types,
            next: self.clone(),
        })))
    }

    pub fn find(&self, name: &str) -> Option<&CommonTable> {
        let mut current = self.0.as_deref();
        while let Some(table) = current {
            if table.name.eq_ignore_ascii_case(name) {
                return Some(table);
            }
            current = table.next.0.as_deref();
        }
        None
    }
}

/// What a query around a block offers it.
pub(crate) trait OuterScope {
    /// The slot of that column in the row around, if there is one.
    fn resolve_outer(&mut self, name: &ColumnName<'_>) -> Result<Option<(usize, ExprType)>>;
}

/// A query block while it is bound.
pub(crate) struct Block<'p, 'o> {
    pub planner: &'p Planner<'p>,
    parent: Option<&'o mut dyn OuterScope>,
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
    /// For `DEFAULT`: the column that is being assigned, and its defaults.
    pub assigned: Option<(usize, usize)>,
    /// Whose names are being bound: see [`TableRef::owner`].
    pub owner: usize,
    /// How many views were merged.
    pub merged_views: usize,
    /// The ORDER BY of a merged view: of a query that reads nothing else, and has no order of its own.
    pub view_order: Vec<super::tree::SortItem>,
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
            assigned: None,
            owner: 0,
            merged_views: 0,
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

    /// Binds an expression that gives one value.
    pub fn bind(&mut self, expr: &ast::Expr, mode: BindMode<'_>) -> Result<Expr> {
        bind_expr(
            expr,
            &mut BlockScope {
                block: self,
                mode,
                in_aggregate: 0,
                in_window: false,
            },
        )
    }

    /// Binds a condition.
    pub fn bind_condition(&mut self, expr: &ast::Expr, mode: BindMode<'_>) -> Result<Expr> {
        bind_condition(
            expr,
            &mut BlockScope {
                block: self,
                mode,
                in_aggregate: 0,
                in_window: false,
            },
        )
    }

    /// `left = right` of two columns, for USING.
    pub fn bind_equality(&mut self, left: Expr, right: Expr) -> Result<Expr> {
        let scope = BlockScope {
            block: self,
            mode: BindMode::condition(Clause::On),
            in_aggregate: 0,
            in_window: false,
        };
        crate::expr::bind_comparison(crate::expr::CompareOp::Eq, left, right, &scope)
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
    pub fn find_column(&self, name: &ColumnName<'_>, clause: &str) -> Result<Option<VisibleColumn>> {
        let ambiguous = || Error::new(ER_NON_UNIQ_ERROR, &[name, &clause]);
        let (range, visible) = match &self.on_scope {
            Some(scope) => (scope.tables.clone(), &scope.visible),
            None => (0..self.tables.len(), &self.visible),
        };
        let mut found = None;
        match name.table {
            Some(table) => {
                for index in range {
                    let reference = &self.tables[index];
                    if *reference.alias != *table
                        || reference.owner != self.owner
                        || name
                            .database
                            .is_some_and(|database| *reference.database != *database)
                    {
                        continue;
                    }
                    if let Some(column) = reference.find(name.column) {
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
                        name.column,
                    ) {
                        if found.is_some() {
                            return Err(ambiguous());
                        }
                        found = Some(*candidate);
                    }
                }
            }
        }
        Ok(found)
    }

    /// The slot for a column of a query around, which `from` names in the row around.
    fn outer_slot(&mut self, from: usize, ty: &ExprType) -> usize {
        if let Some(known) = self.outer.iter().find(|reference| reference.from == from) {
            return known.to;
        }
        let to = self.allocate(1);
        self.outer.push(OuterReference { from, to });
        self.outer_types.push(ty.clone());
        to
    }

    fn is_outer_slot(&self, slot: usize) -> bool {
        self.outer.iter().any(|reference| reference.to == slot)
    }

    /// A select alias of that name.
    fn find_output<'x>(&self, outputs: &'x [Output], name: &ColumnName<'_>) -> Result<Option<&'x Output>> {
        let mut found: Option<&Output> = None;
        for output in outputs {
            let matches = match name.table {
                None => output.named && same_name(&output.result.name, name.column),
                Some(table) => {
                    matches!(output.expr.kind, ExprKind::Column(_))
                        && *output.result.table == *table
                        && same_name(&output.result.org_name, name.column)
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
    pub fn find_alias(&self, outputs: &[Output], name: &str) -> Result<Option<usize>> {
        let name = ColumnName {
            database: None,
            table: None,
            column: name,
        };
        let found = self.find_output(outputs, &name)?;
        Ok(found.and_then(|found| outputs.iter().position(|output| std::ptr::eq(output, found))))
    }
}

/// Whether two names of columns are the same.
pub(crate) fn same_name(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
        || (!(left.is_ascii() && right.is_ascii()) && left.to_lowercase() == right.to_lowercase())
}

/// Whether two expressions are the same, node by node. Subqueries are never the same as others.
pub(crate) fn same_expr(left: &Expr, right: &Expr) -> bool {
    match (&left.kind, &right.kind) {
        (ExprKind::Column(left), ExprKind::Column(right)) => left == right,
        // The debug form shows every field that decides what an expression gives.
        _ => {
            std::mem::discriminant(&left.kind) == std::mem::discriminant(&right.kind)
                && format!("{left:?}") == format!("{right:?}")
        }
    }
}

/// A block together with the clause that is being bound.
struct BlockScope<'b, 'p, 'o, 'm> {
    block: &'b mut Block<'p, 'o>,
    mode: BindMode<'m>,
    in_aggregate: u32,
    in_window: bool,
}

impl BlockScope<'_, '_, '_, '_> {
    fn unknown(&self, name: &ColumnName<'_>) -> Error {
        Error::new(ER_BAD_FIELD_ERROR, &[name, &self.mode.clause_name])
    }

    fn own_column(&mut self, found: VisibleColumn) -> Expr {
        if self.mode.grouped && self.in_aggregate == 0 {
            self.block.kept_column(found.table, found.column)
        } else {
            self.block.column(found.table, found.column)
        }
    }

    fn resolve(&mut self, name: &ColumnName<'_>) -> Result<Option<Expr>> {
        if let Aliases::Having(outputs) = self.mode.aliases
            && self.in_aggregate == 0
        {
            if let Some(output) = self.block.find_output(outputs, name)? {
                if self.block.reads_window(&output.expr) {
                    return Err(Error::new(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]));
                }
                return Ok(Some(output.expr.clone()));
            }
            if let Some(found) = self.block.find_column(name, self.mode.clause_name)? {
                let column = self.block.column(found.table, found.column);
                let grouped = self.block.groups.iter().any(|group| same_expr(group, &column))
                    || outputs.iter().any(|output| same_expr(&output.expr, &column));
                if grouped {
                    return Ok(Some(self.own_column(found)));
                }
            }
        } else if let Some(found) = self.block.find_column(name, self.mode.clause_name)? {
            return Ok(Some(self.own_column(found)));
        }
        if let Aliases::Fallback(outputs) = self.mode.aliases
            && self.in_aggregate == 0
            && let Some(output) = self.block.find_output(outputs, name)?
        {
            return Ok(Some(output.expr.clone()));
        }
        // What a view reads is in the view.
        if self.block.owner == 0
            && let Some(parent) = self.block.parent.as_deref_mut()
            && let Some((from, ty)) = parent.resolve_outer(name)?
        {
            let slot = self.block.outer_slot(from, &ty);
            return Ok(Some(Expr::column(slot, ty)));
        }
        Ok(None)
    }
}

impl OuterScope for BlockScope<'_, '_, '_, '_> {
    fn resolve_outer(&mut self, name: &ColumnName<'_>) -> Result<Option<(usize, ExprType)>> {
        match self.resolve(name)? {
            Some(Expr {
                kind: ExprKind::Column(slot),
                ty,
            }) => Ok(Some((slot, ty))),
            Some(_) if self.block.merged_views > 0 => Err(self.block.planner.refuse_merging()),
            Some(_) => Err(Error::unsupported(
                "a reference to an expression of the query around a subquery",
            )),
            None => Ok(None),
        }
    }
}

impl Scope for BlockScope<'_, '_, '_, '_> {
    fn session(&self) -> &SessionContext {
        self.block.planner.session()
    }

    fn clause(&self) -> Clause {
        self.mode.clause
    }

    fn resolve_column(&mut self, name: &ColumnName<'_>) -> Result<Expr> {
        match self.resolve(name)? {
            Some(expr) => Ok(expr),
            None => Err(self.unknown(name)),
        }
    }

    fn bind_subquery(&mut self, query: &ast::Query) -> Result<Subquery> {
        let planner = self.block.planner;
        let common = self.block.common.clone();
        let plan = planner.plan_subquery(query, Some(self), common)?;
        let correlation = if plan.correlated {
            Correlation::Correlated
        } else {
            Correlation::Uncorrelated
        };
        let types = plan.types.clone();
        Ok(Subquery::new(Arc::new(plan), types, correlation))
    }

    fn bind_parameter(&mut self, index: usize) -> Result<ExprType> {
        Ok(self.block.planner.parameter(index))
    }

    fn enter_aggregate(&mut self) -> Result<()> {
        if !self.mode.aggregates || self.in_aggregate > 0 {
            return Err(Error::new(ER_INVALID_GROUP_FUNC_USE, &[]));
        }
        self.in_aggregate += 1;
        Ok(())
    }

    fn exit_aggregate(&mut self, aggregate: Aggregate) -> Result<Expr> {
        self.in_aggregate -= 1;
        let (mut own, mut outer) = (false, false);
        for arg in &aggregate.args {
            arg.visit(&mut |node| {
                if let ExprKind::Column(slot) = node.kind {
                    let is_outer = self.block.is_outer_slot(slot);
                    own |= !is_outer;
                    outer |= is_outer;
                }
            });
        }
        if outer && !own {
            return Err(Error::unsupported("an aggregate of a query around a subquery"));
        }
        let slot = self.block.allocate(1);
        let ty = aggregate.ty.clone();
        self.block.aggregates.push((aggregate, slot));
        Ok(Expr::column(slot, ty))
    }

    fn enter_window(&mut self, function: Option<&WindowFunction>, over: &ast::WindowType) -> Result<()> {
        if !self.mode.windows {
            return Err(Error::new(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]));
        }
        if self.in_window || self.in_aggregate > 0 {
            return Err(Error::new(ER_SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG, &[]));
        }
        self.block.check_over(function, over)?;
        self.in_window = true;
        Ok(())
    }

    fn exit_window(&mut self, window: WindowCall) -> Result<Expr> {
        self.in_window = false;
        Ok(self.block.add_window(window))
    }

    fn resolve_values(&mut self, name: &ColumnName<'_>) -> Result<Expr> {
        let Some(found) = self.block.find_column(name, self.mode.clause_name)? else {
            return Err(self.unknown(name));
        };
        let ty = self.block.tables[found.table].columns[found.column]
            .ty
            .clone()
            .nullable();
        match self.block.values_base {
            Some(base) if found.table == 0 => Ok(Expr::column(base + found.column, ty)),
            _ => Ok(Expr::null()),
        }
    }

    fn resolve_default(&mut self, name: Option<&ColumnName<'_>>) -> Result<Expr> {
        let (table, column) = match name {
            Some(name) => match self.block.find_column(name, self.mode.clause_name)? {
                Some(found) => (found.table, found.column),
                None => return Err(self.unknown(name)),
            },
            None => match self.block.assigned {
                Some(assigned) => assigned,
                None => return Err(Error::new(ER_CANT_USE_OPTION_HERE, &[&"DEFAULT"])),
            },
        };
        let reference = &self.block.tables[table];
        let TableSource::Base(definition) = &reference.source else {
            return Err(Error::with_message(
                ER_PARSE_ERROR,
                "DEFAULT of a column without a table",
            ));
        };
        match super::dml::column_default(self.block.planner, definition, column)? {
            Some(expr) => Ok(expr),
            None => Err(Error::new(
                ER_NO_DEFAULT_FOR_FIELD,
                &[&reference.columns[column].name()],
            )),
        }
    }
}
