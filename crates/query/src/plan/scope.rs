//! Scope of a clause: the meaning of names in it.

use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_ILLEGAL_REFERENCE, ER_INVALID_GROUP_FUNC_USE, ER_NO_DEFAULT_FOR_FIELD,
    ER_NO_SUCH_TABLE, ER_NON_GROUPING_FIELD_USED, ER_NON_UNIQ_ERROR, ER_SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG,
    ER_UNKNOWN_SEQUENCES, ER_UNKNOWN_TABLE, ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION,
};
use paceline_types::{DataType, Date, DateTime, ErrorCode, Value};

use super::block::{Aliases, BindMode, Block, OuterName, OuterScope, Output, VisibleColumn};
use super::defaults::column_default;
use super::planner::Planner;
use super::same_expr::same_expr;
use super::statement_plan::TableUsage;
use super::tree::TableSource;
use crate::error::{Error, Result};
use paceline_catalog::RoutineDefinition;
use paceline_expression::session::{SessionContext, SqlMode};
use paceline_expression::{
    Aggregate, CastTarget, Clause, Coercibility, CompareOp, Dependence, Expr, ExprKind, ExprType, Scope,
    StoredCall, StoredFunction, Subquery, Truth, WindowCall, WindowFunction, bind_comparison, bind_condition,
    bind_expr,
};
use paceline_syntax::ast::{self, ColumnName, SequenceOperation};
use paceline_syntax::{Aggregation, RoutineType};
use std::collections::HashMap;
use std::sync::Arc;

impl Block<'_, '_> {
    /// Binds an expression with a single value.
    pub fn bind(&mut self, expr: &ast::Expr, mode: BindMode<'_>) -> Result<Expr> {
        bind_expr(expr, &mut BlockScope::new(self, mode))
    }

    /// Binds a condition.
    pub fn bind_condition(&mut self, expr: &ast::Expr, mode: BindMode<'_>) -> Result<Expr> {
        let mut bound = bind_condition(expr, &mut BlockScope::new(self, mode))?;
        self.match_zero_dates(&mut bound)?;
        Ok(bound)
    }

    /// Makes `d IS NULL` of a DATE or DATETIME that is NOT NULL also hold for `0000-00-00`, in conditions and their AND
    /// and OR (documented in MariaDB's manual for programs that use ODBC; `remove_eq_conds` in sql_select.cc).
    fn match_zero_dates(&mut self, condition: &mut Expr) -> Result<()> {
        match &mut condition.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                return parts.iter_mut().try_for_each(|part| self.match_zero_dates(part));
            }
            ExprKind::Is {
                test: Truth::Null,
                negated: false,
                ..
            } => {}
            _ => return Ok(()),
        }
        let ExprKind::Is { operand, .. } = &condition.kind else {
            return Ok(());
        };
        let ExprKind::Column(slot) = operand.kind else {
            return Ok(());
        };
        let Some(table) = self.tables.iter().find(|table| table.slots().contains(&slot)) else {
            return Ok(());
        };
        let ty = table.columns[slot - table.base].ty.clone();
        let zero = match &ty.data_type {
            DataType::Date => Value::Date(Date::ZERO),
            DataType::DateTime { .. } => Value::DateTime(DateTime::ZERO),
            _ => return Ok(()),
        };
        if ty.nullable {
            return Ok(());
        }
        let may_be_missing = table.nullable;
        let zero = Expr::literal(zero, ExprType::of_column(ty.data_type.clone(), false));
        let is_zero = self.bind_equality(Expr::column(slot, ty), zero)?;
        let kind = match may_be_missing {
            true => ExprKind::Or(vec![condition.clone(), is_zero]),
            false => is_zero.kind,
        };
        *condition = Expr {
            kind,
            ty: ExprType::boolean(),
        };
        Ok(())
    }

    /// Binds `left = right` of two columns, for USING.
    pub fn bind_equality(&mut self, left: Expr, right: Expr) -> Result<Expr> {
        let scope = BlockScope::new(self, BindMode::condition(Clause::On));
        bind_comparison(CompareOp::Eq, left, right, &scope)
    }
}

/// Part of a query that asks for the meaning of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameSource {
    /// The clause itself.
    ByClause,
    /// A subquery in it.
    BySubquery,
}

/// A block with the clause that is being bound.
struct BlockScope<'b, 'p, 'o, 'm> {
    block: &'b mut Block<'p, 'o>,
    mode: BindMode<'m>,
    /// Name of the clause in errors, in place of the mode's.
    renamed: Option<&'static str>,
    in_aggregate: u32,
    in_window: bool,
    /// Whether the aggregate that is being bound names an item of an outer select list.
    names_item: bool,
}

impl<'b, 'p, 'o, 'm> BlockScope<'b, 'p, 'o, 'm> {
    fn new(block: &'b mut Block<'p, 'o>, mode: BindMode<'m>) -> Self {
        BlockScope {
            block,
            mode,
            renamed: None,
            in_aggregate: 0,
            in_window: false,
            names_item: false,
        }
    }
}

impl<'m> BlockScope<'_, '_, '_, 'm> {
    /// Returns the clause's name in errors 1052, 1054 and 1109.
    fn clause_name(&self) -> &'m str {
        self.renamed.unwrap_or(self.mode.clause_name)
    }

    fn unknown(&self, name: &ColumnName) -> Error {
        // If there is no table, MariaDB's error names the table.
        if let Some(table) = &name.table
            && self.block.tables.is_empty()
            && self.block.parent.is_none()
            && !matches!(self.mode.clause_name, "HAVING" | "VALUES")
        {
            let table = match &name.database {
                Some(database) => format!("{database}.{table}"),
                None => table.clone(),
            };
            return Error::new(ER_UNKNOWN_TABLE, &[&table, &self.clause_name()]);
        }
        Error::new(ER_BAD_FIELD_ERROR, &[name, &self.clause_name()])
    }

    fn own_column(&mut self, found: VisibleColumn) -> Expr {
        if self.mode.grouped && self.in_aggregate == 0 {
            self.block.kept_column(found.table, found.column)
        } else {
            self.block.column(found.table, found.column)
        }
    }

    /// Returns the column of GROUP BY that has the name of an item of the select list and is another one. In HAVING it
    /// comes first.
    fn group_named_like(&self, output: &Output, name: &ColumnName) -> Result<Option<VisibleColumn>> {
        if name.table.is_some() || self.block.groups.is_empty() {
            return Ok(None);
        }
        let Ok(Some(found)) = self.block.find_column(name, self.clause_name()) else {
            return Ok(None);
        };
        let reference = &self.block.tables[found.table];
        let slot = match &reference.merged {
            None => ExprKind::Column(reference.base + found.column),
            Some(merged) => merged.exprs[found.column].kind.clone(),
        };
        let is_it = |expr: &Expr| match (&expr.kind, &slot) {
            (ExprKind::Column(one), ExprKind::Column(other)) => one == other,
            _ => false,
        };
        let is_group = self.block.groups.iter().any(is_it) && !is_it(&output.expr);
        Ok(is_group.then_some(found))
    }

    /// Returns whether the SQL mode requires that what is not aggregated is grouped.
    fn groups_fully(&self) -> bool {
        let mode = self.block.planner.session().settings.sql_mode;
        mode.contains(SqlMode::ONLY_FULL_GROUP_BY)
    }

    /// Returns the expression by which this clause reads an item of the select list.
    fn item(&mut self, outputs: &[Output], output: &Output, asked: NameSource) -> Expr {
        let place = outputs.iter().position(|other| std::ptr::eq(other, output));
        let place = place.expect("it is one of them");
        match asked {
            NameSource::BySubquery => self.block.item_of_subquery(self.mode.clause, outputs, place),
            _ => self.block.item(self.mode.clause, outputs, place),
        }
    }

    /// Returns what a name means; `None` if it is unknown.
    fn resolve(&mut self, name: &ColumnName, asked: NameSource) -> Result<Option<Expr>> {
        if let Aliases::Having(outputs) = self.mode.aliases
            && self.in_aggregate == 0
        {
            if let Some(output) = self.block.find_output(outputs, name, self.clause_name())? {
                if let Some(column) = self.group_named_like(output, name)? {
                    let message = ER_NON_UNIQ_ERROR.message(&[name, &self.clause_name()]);
                    self.block.planner.warn(ER_NON_UNIQ_ERROR, message);
                    return Ok(Some(self.own_column(column)));
                }
                if self.block.reads_window(&output.expr) {
                    return Err(Error::new(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]));
                }
                let is_column = matches!(output.expr.kind, ExprKind::Column(_))
                    && output.result.org_name.eq_ignore_ascii_case(&name.name);
                if is_column && self.block.groups.is_empty() && self.groups_fully() {
                    return Err(Error::new(
                        ER_NON_GROUPING_FIELD_USED,
                        &[&name.name, &self.clause_name()],
                    ));
                }
                return Ok(Some(self.item(outputs, output, asked)));
            }
            if let Some(found) = self.block.find_column(name, self.clause_name())? {
                let column = self.block.column(found.table, found.column);
                let grouped = self.block.groups.iter().any(|group| same_expr(group, &column))
                    || outputs.iter().any(|output| same_expr(&output.expr, &column));
                if grouped {
                    return Ok(Some(self.own_column(found)));
                }
            }
        } else if let Some(found) = self.block.find_column(name, self.clause_name())? {
            return Ok(Some(self.own_column(found)));
        }
        if let Aliases::Fallback(outputs) = self.mode.aliases
            && self.in_aggregate == 0
            && let Some(output) = self.block.find_output(outputs, name, "ORDER BY")?
        {
            return Ok(Some(self.item(outputs, output, asked)));
        }
        if let Aliases::OfSubqueries(outputs) = self.mode.aliases
            && asked == NameSource::BySubquery
            && let Some(output) = self.block.find_output(outputs, name, "ORDER BY")?
        {
            let is_aggregate = |node: &Expr| match node.kind {
                ExprKind::Column(slot) => self.block.aggregates.iter().any(|(_, result)| *result == slot),
                _ => false,
            };
            if output.expr.any(&mut { is_aggregate }) {
                let reason = "reference to group function";
                return Err(Error::new(ER_ILLEGAL_REFERENCE, &[&name.name, &reason]));
            }
            let expr = self.item(outputs, output, asked);
            self.names_item = true;
            return Ok(Some(expr));
        }
        // Names within a view are resolved only within it.
        if self.block.owner == 0
            && let Some(parent) = self.block.parent.as_deref_mut()
            && let Some(outer) = parent.resolve_outer(name, self.in_aggregate > 0)?
        {
            self.names_item |= outer.is_item;
            return Ok(Some(self.block.outer_expr(outer.expr)));
        }
        Ok(None)
    }
}

impl OuterScope for BlockScope<'_, '_, '_, '_> {
    fn resolve_outer(&mut self, name: &ColumnName, is_in_aggregate: bool) -> Result<Option<OuterName>> {
        let named_item = std::mem::take(&mut self.names_item);
        let mut resolved = self.resolve(name, NameSource::BySubquery)?;
        // HAVING may aggregate any column.
        if resolved.is_none()
            && is_in_aggregate
            && let Some(found) = self.block.find_column(name, self.clause_name())?
        {
            resolved = Some(self.own_column(found));
        }
        let is_item = std::mem::replace(&mut self.names_item, named_item);
        match resolved {
            Some(expr) if expr.is_stable() && !expr.has_subquery() => Ok(Some(OuterName { expr, is_item })),
            Some(_) if self.block.merged_views > 0 => Err(self.block.planner.refuse_merging()),
            Some(_) => Err(Error::unsupported(
                "a reference to an expression of the query around a subquery",
            )),
            None => Ok(None),
        }
    }

    fn take_aggregate(&mut self, aggregate: Aggregate) -> Result<Option<(usize, ExprType)>> {
        Ok(self.place_aggregate(aggregate)?.map(|column| match column.kind {
            ExprKind::Column(slot) => (slot, column.ty),
            _ => unreachable!("the result of an aggregate is in a slot"),
        }))
    }
}

impl BlockScope<'_, '_, '_, '_> {
    /// Gives an aggregate to the query whose columns its arguments read: as in standard SQL, to the innermost one of
    /// them, if the clause around the subquery allows aggregates. Otherwise, and without columns, it belongs to this
    /// query. Returns the column of the result; `None` if the clause of this query allows no aggregates either.
    fn place_aggregate(&mut self, aggregate: Aggregate) -> Result<Option<Expr>> {
        if self.in_aggregate > 0 {
            return Err(Error::new(ER_INVALID_GROUP_FUNC_USE, &[]));
        }
        let (mut own, mut outer, mut has_subquery) = (false, false, false);
        for part in (aggregate.args.iter()).chain(aggregate.order_by.iter().map(|(key, _)| key)) {
            part.visit(&mut |node| {
                has_subquery |= node.subquery().is_some();
                if let ExprKind::Column(slot) = node.kind {
                    let is_outer = self.block.slot_of_outer(slot).is_some();
                    own |= !is_outer;
                    outer |= is_outer;
                }
            });
        }
        // As in MariaDB, one over an item of an outer select list belongs to the subquery.
        if outer && !own && !self.names_item {
            if has_subquery {
                return Err(Error::unsupported("an aggregate of a query around a subquery"));
            }
            let mut moved = aggregate.clone();
            for part in (moved.args.iter_mut()).chain(moved.order_by.iter_mut().map(|(key, _)| key)) {
                part.map_columns(&mut |slot| self.block.slot_of_outer(slot).expect("all are outer slots"));
            }
            let parent = self.block.parent.as_deref_mut();
            let taken = parent.expect("outer slots have a query").take_aggregate(moved)?;
            if let Some((from, ty)) = taken {
                let slot = self.block.outer_slot(from, &ty);
                return Ok(Some(Expr::column(slot, ty)));
            }
        }
        if !self.mode.aggregates {
            return Ok(None);
        }
        let slot = self.block.allocate(1);
        let ty = aggregate.ty.clone();
        self.block.aggregates.push((aggregate, slot));
        Ok(Some(Expr::column(slot, ty)))
    }
}

impl<'a> Planner<'a> {
    /// Returns the stored function that a call means; `None` if it means none. In a view its name is that of a function
    /// in the view's database.
    pub(super) fn stored_function(&self, call: &ast::FunctionCall) -> Option<&'a Arc<RoutineDefinition>> {
        let views = self.views.borrow();
        let current = match views.last() {
            Some(view) => Some(view.description().database.as_str()),
            None => self.session().database.as_deref(),
        };
        let database = call.database.as_deref().or(current)?;
        (self.context.catalog).routine(RoutineType::Function, database, &call.name)
    }
}

impl Scope for BlockScope<'_, '_, '_, '_> {
    fn session(&self) -> &SessionContext {
        self.block.planner.session()
    }

    fn clause(&self) -> Clause {
        self.mode.clause
    }

    fn note(&mut self, code: ErrorCode, message: String) {
        self.block.planner.note(code, message);
    }

    fn rename_clause(&mut self, name: Option<&'static str>) -> Option<&'static str> {
        std::mem::replace(&mut self.renamed, name)
    }

    fn resolve_column(&mut self, name: &ColumnName) -> Result<Expr> {
        match self.resolve(name, NameSource::ByClause)? {
            Some(expr) => Ok(expr),
            None => Err(self.unknown(name)),
        }
    }

    fn resolve_sequence(&mut self, value: &ast::SequenceValue) -> Result<(String, String)> {
        let planner = self.block.planner;
        let name = &value.sequence;
        let database = planner.database_or_current(name.database.as_deref())?;
        let is_read = value.operation == SequenceOperation::Last;
        let definition = match planner.context.catalog.sequence(database, &name.name) {
            // In a stored default the name is that of a table which the statement opens.
            Err(error) if error.code() == ER_NO_SUCH_TABLE && self.mode.clause_name != "DEFAULT" => {
                return Err(Error::new(ER_UNKNOWN_SEQUENCES, &[&name.name]));
            }
            found => found?,
        };
        let usage = TableUsage {
            select: is_read,
            queried: is_read,
            sequence: !is_read,
            ..TableUsage::default()
        };
        planner.use_table(database, &name.name, Some(definition), usage);
        Ok((database.to_owned(), name.name.clone()))
    }

    fn bind_subquery(&mut self, query: &ast::Query) -> Result<Subquery> {
        let planner = self.block.planner;
        let common = self.block.common.clone();
        let plan = planner.plan_subquery(query, Some(self), common)?;
        self.block.common.check_subquery(&plan)?;
        let correlation = planner.variables.correlation(&plan);
        let types = plan.types.clone();
        let outer_slots = plan.outer_slots();
        Ok(Subquery {
            id: planner.add_subquery(plan),
            columns: types,
            correlation,
            outer_slots,
        })
    }

    fn find_stored_function(&mut self, call: &ast::FunctionCall) -> Result<Option<StoredFunction>> {
        let planner = self.block.planner;
        let Some(routine) = planner.stored_function(call) else {
            return Ok(None);
        };
        let compiled = routine.compiled()?;
        routine.check_arguments(&compiled, call.arguments.exprs().len())?;
        let data_type = compiled.returns.clone();
        let data_type = data_type.ok_or_else(|| Error::unsupported("this function"))?;
        let function = planner.add_function(routine.clone());
        let text = call.to_string();
        Ok(Some(StoredFunction {
            call: StoredCall { function, text },
            ty: ExprType {
                nullable: true,
                coercibility: Coercibility::Coercible,
                ..ExprType::new(data_type)
            },
            is_aggregate: routine.aggregation == Aggregation::Group,
        }))
    }

    fn depend_on(&mut self, dependence: Dependence<'_>) {
        self.block.planner.dependences.depend_on(dependence);
    }

    fn assign_variable(&mut self, name: &str) {
        self.block.planner.variables.assign(name);
    }

    fn bind_parameter(&mut self, index: usize) -> Result<ExprType> {
        Ok(self.block.planner.parameter(index))
    }

    fn enter_aggregate(&mut self) -> Result<()> {
        // In a subquery the aggregate may belong to a query around it.
        let is_refused = !self.mode.aggregates && self.block.parent.is_none();
        if is_refused || self.in_aggregate > 0 {
            return Err(Error::new(ER_INVALID_GROUP_FUNC_USE, &[]));
        }
        self.in_aggregate += 1;
        self.names_item = false;
        Ok(())
    }

    fn exit_aggregate(&mut self, aggregate: Aggregate) -> Result<Expr> {
        self.in_aggregate -= 1;
        let placed = self.place_aggregate(aggregate)?;
        placed.ok_or_else(|| Error::new(ER_INVALID_GROUP_FUNC_USE, &[]))
    }

    fn enter_window(&mut self, function: Option<&WindowFunction>, over: &ast::Over) -> Result<()> {
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

    fn resolve_values(&mut self, name: &ColumnName) -> Result<Expr> {
        let Some(found) = self.block.find_column(name, self.clause_name())? else {
            return Err(self.unknown(name));
        };
        let Some(base) = self.block.values_base else {
            return Ok(Expr::null());
        };
        let Some(VisibleColumn { table, column }) = self.block.base_column(found) else {
            let clause = "VALUES() function";
            return Err(Error::new(ER_BAD_FIELD_ERROR, &[&"", &clause]));
        };
        let ty = self.block.tables[table].columns[column].ty.clone().nullable();
        match table == self.block.inserted {
            true => Ok(Expr::column(base + column, ty)),
            false => Ok(Expr::null()),
        }
    }

    fn resolve_row_number(&mut self) -> Result<Expr> {
        let slot = self.block.row_number_slot();
        Ok(Expr::column(slot, ExprType::bigint_unsigned(21)))
    }

    fn resolve_default(&mut self, name: &ColumnName) -> Result<Expr> {
        let without = |name: &str| Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&name]);
        let Some(found) = self.block.find_column(name, self.clause_name())? else {
            if let Aliases::Having(outputs) = self.mode.aliases
                && (self.block.find_output(outputs, name, self.clause_name())?).is_some()
            {
                return Err(without(&name.name));
            }
            return Err(self.unknown(name));
        };
        let VisibleColumn { table, column } = self.block.base_column(found).unwrap_or(found);
        let reference = &self.block.tables[table];
        let column_name = reference.columns[column].name().to_owned();
        let (definition, number, is_read_here) = match &reference.source {
            TableSource::Base(definition) => (definition.clone(), column, true),
            // A derived table shows the default of its stored column.
            _ => {
                let origin = reference.columns[column].result.origin.clone();
                let origin = origin.ok_or_else(|| without(&column_name))?;
                let stored = (self.block.planner).find_table(Some(&origin.database), &origin.table)?;
                let number = stored.column(&origin.column);
                (
                    stored.clone(),
                    number.ok_or_else(|| without(&column_name))?,
                    false,
                )
            }
        };
        let default = column_default(self.block.planner, &definition, number)?;
        let mut expr = default.ok_or_else(|| without(&column_name))?;
        // The default may read other columns of its row.
        let mut slots = HashMap::new();
        expr.visit(&mut |node| {
            if let ExprKind::Column(slot) = node.kind {
                slots.insert(slot, slot);
            }
        });
        if !slots.is_empty() && !is_read_here {
            return Err(Error::unsupported(
                "DEFAULT of a derived table's column that reads other columns",
            ));
        }
        for (read, slot) in &mut slots {
            let column = match self.mode.grouped && self.in_aggregate == 0 {
                true => self.block.kept_unnamed_column(table, *read),
                false => self.block.unnamed_column(table, *read),
            };
            if let ExprKind::Column(found) = column.kind {
                *slot = found;
            }
        }
        expr.map_columns(&mut |slot| slots.get(&slot).copied().unwrap_or(slot));
        Ok(as_stored_time(expr, &definition.columns()[number].data_type))
    }
}

/// Gives the default of a time the digits of its column.
fn as_stored_time(expr: Expr, data_type: &DataType) -> Expr {
    let target = match data_type {
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
            CastTarget::DateTime { decimals: *decimals }
        }
        DataType::Time { decimals } => CastTarget::Time { decimals: *decimals },
        _ => return expr,
    };
    if expr.as_literal().is_some() || expr.ty.decimals() == data_type.decimals() {
        return expr;
    }
    let ty = ExprType::of_column(data_type.clone(), expr.ty.nullable);
    Expr {
        kind: ExprKind::Cast {
            target,
            operand: Box::new(expr),
        },
        ty,
    }
}
