//! One SELECT: binds its clauses in the order in which names become known, then orders its tables.

use std::collections::HashSet;
use std::sync::Arc;

use paceline_types::DataType;
use paceline_types::data_type::column_flags;
use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_MIX_OF_GROUP_FUNC_AND_FIELDS, ER_NO_TABLES_USED, ER_NON_UNIQ_ERROR,
    ER_WRONG_FIELD_WITH_GROUP, ER_WRONG_GROUP_FIELD, ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION,
};

use super::block::{Aliases, BindMode, Block, OuterScope, Output};
use super::bound_window::BoundWindow;
use super::buffered::Buffering;
use super::common_table::CommonTables;
use super::conditions::{SlotMap, split_and};
use super::from::{FromNode, describe_from};
use super::item_slots::StoredExprs;
use super::join_order::{Optimizer, estimated_groups, table_infos};
use super::position::column_at;
use super::same_expr::same_expr;
use super::table_ref::TableRef;
use super::text_dependence::UnsafeReason;
use super::trace::{Names, Physical, derived_lines, optimizer};
use super::tree::{
    AccessPath, Aggregation, GroupStrategy, Limit, LockPatience, LockStrength, PlanNotes, QueryBody,
    QueryPlan, ReadMode, SelectPlan, SortItem, SortKey, TableInstance, TableSource,
};
use super::{ColumnUsage, Planner, ResultColumn, TableUsage, index_order, unique_id};
use crate::error::{Error, Result};
use paceline_expression::session::SqlMode;
use paceline_expression::{Clause, Expr, ExprKind, ExprType};
use paceline_syntax::ast;

/// Clauses of the whole query that apply to a SELECT.
pub(crate) struct Surroundings<'a> {
    pub order_by: &'a [ast::OrderItem],
    pub limit: Option<&'a ast::Limit>,
    pub read: ReadMode,
}

impl Planner<'_> {
    /// Returns the read mode of a query with this locking clause (FOR UPDATE or LOCK IN SHARE MODE).
    pub fn read_mode(&self, lock: Option<ast::RowLocking>) -> ReadMode {
        let Some(lock) = lock else {
            return self.reads.get();
        };
        let strength = match lock.strength {
            ast::LockStrength::Share => LockStrength::Shared,
            ast::LockStrength::Update => LockStrength::Exclusive,
        };
        let wait = match lock.wait {
            ast::LockWait::NoWait | ast::LockWait::Seconds(0) => LockPatience::NoWait,
            ast::LockWait::SkipLocked => {
                self.dependences.note_unsafe(UnsafeReason::SkipLocked);
                LockPatience::SkipLocked
            }
            ast::LockWait::Seconds(seconds) => LockPatience::Seconds(seconds),
            ast::LockWait::Default => LockPatience::Default,
        };
        ReadMode::Locking { strength, wait }
    }

    /// Plans one SELECT.
    pub fn plan_select(
        &self,
        select: &ast::Select,
        surroundings: &Surroundings<'_>,
        parent: Option<&mut dyn OuterScope>,
        common: CommonTables,
    ) -> Result<QueryPlan> {
        let number = self.next_select_number();
        let mut block = Block::new(self, parent).with_common(common);
        let lock = surroundings.read.is_locking();
        let usage = TableUsage {
            select: true,
            queried: true,
            lock,
            exclusive: matches!(
                surroundings.read,
                ReadMode::Locking {
                    strength: LockStrength::Exclusive,
                    ..
                }
            ),
            ..TableUsage::default()
        };
        let from = block.bind_from(&select.from, usage)?;
        block.common.check_from(&block.tables)?;
        block.windows.named = Some(select.windows.clone());
        let mut outputs = block.bind_outputs(&select.items)?;
        let (mut conditions, mut whole_condition) = (Vec::new(), None);
        if let Some(selection) = &select.condition {
            let bound = block.bind_condition(selection, BindMode::condition(Clause::Where))?;
            whole_condition = self.trace.is_on().then(|| bound.clone());
            split_and(bound, &mut conditions);
            block.add_exact_names(&mut conditions);
        }
        let mut groups = Vec::with_capacity(select.group_by.len());
        let mut grouped_items = Vec::with_capacity(select.group_by.len());
        for expr in &select.group_by {
            let (group, item) = block.bind_group(expr, &outputs)?;
            groups.push(group);
            grouped_items.push(item);
        }
        let explicit = !groups.is_empty();
        block.groups = groups.clone();
        block.stored.is_temporary =
            explicit || !block.aggregates.is_empty() || select.distinct || !surroundings.order_by.is_empty();
        let mut having = Vec::new();
        if let Some(condition) = &select.having {
            let mode = BindMode {
                clause: Clause::Having,
                clause_name: "HAVING",
                aggregates: true,
                windows: false,
                aliases: Aliases::Having(&outputs),
                grouped: true,
            };
            split_and(block.bind_condition(condition, mode)?, &mut having);
        }
        let mut order = block.bind_order_by(surroundings.order_by, &outputs)?;
        let windows = block.bind_windows(&outputs)?;
        let stored = block.store_items(&mut outputs);
        let limit = block.bind_limit(surroundings.limit)?;
        let grouped = explicit || !block.aggregates.is_empty();
        if self
            .session()
            .settings
            .sql_mode
            .contains(SqlMode::ONLY_FULL_GROUP_BY)
            && grouped
        {
            let exprs = outputs.iter().map(|output| &output.expr).chain(&having);
            let exprs = exprs.chain(stored.once.iter().map(|(expr, _)| expr));
            let keys = order.iter().filter_map(|item| match &item.key {
                SortKey::Expr(expr) => Some(expr),
                SortKey::Output(_) => None,
            });
            block.check_full_group_by(exprs.chain(keys), &groups, explicit)?;
        }
        // HAVING without groups is a condition on each row.
        let is_alone = matches!(select.from.as_slice(), [table] if table.joins.is_empty());
        if surroundings.order_by.is_empty() && is_alone && !grouped && !select.distinct && windows.is_empty()
        {
            order = std::mem::take(&mut block.view_order);
        }
        let result = BoundSelect {
            number,
            outputs,
            conditions,
            groups,
            explicit,
            stored,
            rollup: select.rollup.clone().map(|directions| Rollup {
                directions,
                items: grouped_items,
            }),
            having,
            windows,
            order,
            limit,
            straight: select.modifiers.straight_join,
            distinct: select.distinct,
            count_found_rows: select.modifiers.sql_calc_found_rows,
            read: surroundings.read,
        };
        block.begin_trace(number, from.as_ref(), whole_condition.as_slice());
        block.finish(from, result)
    }
}

/// Bound clauses of a SELECT.
pub(crate) struct BoundSelect {
    pub number: u32,
    pub outputs: Vec<Output>,
    pub conditions: Vec<Expr>,
    pub groups: Vec<Expr>,
    pub explicit: bool,
    pub stored: StoredExprs,
    pub rollup: Option<Rollup>,
    pub having: Vec<Expr>,
    pub windows: Vec<BoundWindow>,
    pub order: Vec<SortItem>,
    pub limit: Limit,
    pub straight: bool,
    pub distinct: bool,
    pub count_found_rows: bool,
    pub read: ReadMode,
}

/// WITH ROLLUP.
pub(crate) struct Rollup {
    /// Directions of the keys of GROUP BY.
    pub directions: Vec<ast::SortOrder>,
    /// For each key the item of the select list that it names.
    pub items: Vec<Option<usize>>,
}

impl Block<'_, '_> {
    fn bind_outputs(&mut self, items: &[ast::SelectItem]) -> Result<Vec<Output>> {
        let mut outputs = Vec::with_capacity(items.len());
        for item in items {
            match item {
                ast::SelectItem::Expr { expr, name } => {
                    let output = self.bind_output(expr, name, &outputs)?;
                    outputs.push(output);
                }
                ast::SelectItem::Wildcard => {
                    if self.tables.is_empty() {
                        return Err(Error::new(ER_NO_TABLES_USED, &[]));
                    }
                    self.expand_wildcard(None, &mut outputs)?;
                }
                ast::SelectItem::TableWildcard(table) => self.expand_wildcard(Some(table), &mut outputs)?,
            }
        }
        Ok(outputs)
    }

    /// Binds the items of RETURNING.
    pub fn bind_returning(&mut self, items: &[ast::SelectItem]) -> Result<Vec<Output>> {
        self.outputs_of = "RETURNING";
        self.bind_outputs(items)
    }

    fn expand_wildcard(
        &mut self,
        qualifier: Option<&ast::TableName>,
        outputs: &mut Vec<Output>,
    ) -> Result<()> {
        for column in self.wildcard(qualifier)? {
            self.note_column(column.table, column.column, ColumnUsage::ReadAll);
            let expr = self.kept_unnamed_column(column.table, column.column);
            let result = self.column_result(column.table, column.column);
            outputs.push(Output {
                expr,
                result,
                named: true,
            });
        }
        Ok(())
    }

    fn column_result(&self, table: usize, column: usize) -> ResultColumn {
        let reference = &self.tables[table];
        let mut result = reference.columns[column].result.clone();
        if reference.nullable {
            result.flags &= !column_flags::NOT_NULL;
        }
        result
    }

    /// Binds an item of the select list, after those before it.
    fn bind_output(&mut self, expr: &ast::Expr, name: &ast::ItemName, before: &[Output]) -> Result<Output> {
        let mode = BindMode {
            aliases: Aliases::OfSubqueries(before),
            windows: self.windows.named.is_some(),
            clause_name: self.outputs_of,
            ..BindMode::fields()
        };
        let bound = self.bind(expr, mode)?;
        // A column in parentheses keeps its name.
        let expr = match name {
            ast::ItemName::Column => expr.without_parentheses(),
            _ => expr,
        };
        let written = match expr {
            ast::Expr::Column(column) => Some(column),
            _ => None,
        };
        let named = !matches!(name, ast::ItemName::Text(_));
        let is_of_column = *name == ast::ItemName::Column;
        let name: Arc<str> = match (name.text(), written) {
            // Clients end a name at its first NUL.
            (Some(name), _) if name.contains('\0') => name.replace('\0', "\\x00").into(),
            (Some(name), _) => name.into(),
            (None, Some(column)) => column.name.as_str().into(),
            (None, None) => expr.to_string().into(),
        };
        let own = match bound.kind {
            _ if self.merged_views > 0
                && let Some(column) = written =>
            {
                let found = self.find_column(column, "SELECT")?;
                found.map(|found| (found.table, found.column))
            }
            ExprKind::Column(slot) => self
                .tables
                .iter()
                .position(|table| table.slots().contains(&slot))
                .map(|table| (table, slot - self.tables[table].base)),
            _ => None,
        };
        let result = match own {
            // A column of a merged view or derived table has its name there, whatever its spelling here.
            Some((table, column)) if is_of_column && self.tables[table].is_merged() => {
                self.column_result(table, column)
            }
            Some((table, column)) => ResultColumn {
                name,
                ..self.column_result(table, column)
            },
            None if matches!(bound.kind, ExprKind::Parameter(_)) && !bound.ty.is_parameter() => {
                ResultColumn::of_variable(name, &bound.ty)
            }
            None => ResultColumn {
                is_variable: matches!(bound.kind, ExprKind::UserVariable(_)),
                is_stored_as_text: !is_extreme_of_column(expr),
                ..ResultColumn::of_expression(name, &bound.ty)
            },
        };
        Ok(Output {
            expr: bound,
            result,
            named,
        })
    }

    /// Binds a key of GROUP BY. Returns also the item of the select list that it names, by its place or its name.
    fn bind_group(&mut self, expr: &ast::Expr, outputs: &[Output]) -> Result<(Expr, Option<usize>)> {
        let place = self.planner.position(expr);
        let bound = match place {
            Some(place) => match column_at(place).and_then(|place| outputs.get(place)) {
                Some(output) => output.expr.clone(),
                None => return Err(Error::new(ER_BAD_FIELD_ERROR, &[&place, &"GROUP BY"])),
            },
            None => match self.selected_column(expr, outputs)? {
                Some(selected) => selected,
                None => self.bind(expr, BindMode::condition(Clause::GroupBy).with_aliases(outputs))?,
            },
        };
        if self.reads_window(&bound) {
            return Err(Error::new(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]));
        }
        let aggregate_slots: HashSet<usize> = self.aggregates.iter().map(|(_, slot)| *slot).collect();
        if bound
            .any(&mut |node| matches!(node.kind, ExprKind::Column(slot) if aggregate_slots.contains(&slot)))
        {
            let selected = place.and_then(column_at);
            return Err(match selected.and_then(|place| outputs.get(place)) {
                Some(output) => Error::new(ER_WRONG_GROUP_FIELD, &[&output.result.name]),
                None => Error::new(ER_WRONG_GROUP_FIELD, &[expr]),
            });
        }
        let item = match (place, expr) {
            (Some(place), _) => column_at(place),
            (None, ast::Expr::Column(name)) => self.find_alias(outputs, name)?,
            _ => None,
        };
        // A column of a table hides an item of its name.
        Ok(
            match item.filter(|item| same_expr(&outputs[*item].expr, &bound)) {
                Some(item) => (self.item(Clause::GroupBy, outputs, item), Some(item)),
                None => (bound, None),
            },
        )
    }

    /// Returns the select item that an unqualified name of GROUP BY means, if several tables have a column of that
    /// name. If a table's column hides an item, this is warning 1052.
    fn selected_column(&self, expr: &ast::Expr, outputs: &[Output]) -> Result<Option<Expr>> {
        let ast::Expr::Column(name) = expr else {
            return Ok(None);
        };
        if name.table.is_some() {
            return Ok(None);
        }
        let Some(output) = self.find_output(outputs, name, "GROUP BY")? else {
            return Ok(None);
        };
        match self.find_column(name, "GROUP BY") {
            Err(error) if error.code() == ER_NON_UNIQ_ERROR => Ok(Some(output.expr.clone())),
            Ok(Some(found)) => {
                let table = &self.tables[found.table];
                let is_same = match (&output.expr.kind, &table.merged) {
                    (ExprKind::Column(slot), None) => *slot == table.base + found.column,
                    (_, Some(merged)) => same_expr(&merged.exprs[found.column], &output.expr),
                    _ => false,
                };
                if !is_same {
                    let message = ER_NON_UNIQ_ERROR.message(&[name, &"GROUP BY"]);
                    self.planner.warn(ER_NON_UNIQ_ERROR, message);
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Binds the keys of ORDER BY, without constants.
    pub fn bind_order_by(&mut self, exprs: &[ast::OrderItem], outputs: &[Output]) -> Result<Vec<SortItem>> {
        let mut items = Vec::with_capacity(exprs.len());
        for item in exprs {
            let descending = item.order == ast::SortOrder::Descending;
            let alias = match item.bare_column() {
                Some(column) => self.find_alias(outputs, column)?,
                None => None,
            };
            let key = match (self.planner.position(&item.expr), alias) {
                (Some(place), _) => match column_at(place) {
                    Some(place) if place < outputs.len() => SortKey::Output(place),
                    _ => return Err(Error::new(ER_BAD_FIELD_ERROR, &[&place, &"ORDER BY"])),
                },
                (None, Some(output)) => SortKey::Output(output),
                (None, None) => {
                    let mode = BindMode {
                        clause: Clause::OrderBy,
                        clause_name: "ORDER BY",
                        aggregates: !outputs.is_empty(),
                        windows: self.windows.named.is_some(),
                        aliases: Aliases::Fallback(outputs),
                        grouped: true,
                    };
                    let bound = self.bind(&item.expr, mode)?;
                    match outputs
                        .iter()
                        .position(|output| super::same_expr::same_expr(&output.expr, &bound))
                    {
                        Some(output) => SortKey::Output(output),
                        None => SortKey::Expr(bound),
                    }
                }
            };
            let constant = match &key {
                SortKey::Expr(expr) => expr.as_literal().is_some(),
                SortKey::Output(output) => outputs[*output].expr.as_literal().is_some(),
            };
            if let SortKey::Output(output) = key {
                self.item(Clause::OrderBy, outputs, output);
            }
            if !constant {
                items.push(SortItem { key, descending });
            }
        }
        Ok(items)
    }

    /// Binds LIMIT.
    pub fn bind_limit(&mut self, limit: Option<&ast::Limit>) -> Result<Limit> {
        let mut bind = |expr: Option<&ast::Expr>| {
            expr.map(|expr| self.bind(expr, BindMode::named("LIMIT")))
                .transpose()
        };
        let bound = Limit {
            count: bind(limit.and_then(|limit| limit.count.as_ref()))?,
            offset: bind(limit.and_then(|limit| limit.offset.as_ref()))?,
            ties: limit.map_or(ast::Ties::Cut, |limit| limit.ties),
        };
        self.planner.dependences.note_limit(bound.count.as_ref());
        Ok(bound)
    }

    /// Makes the expressions that are evaluated after grouping read the group keys from separate slots, which WITH
    /// ROLLUP can set to NULL.
    fn replace_groups(
        &mut self,
        groups: &[Expr],
        items: &[Option<usize>],
        (projection, once): (&mut [Expr], &mut [(Expr, usize)]),
        having: &mut [Expr],
        windows: &mut [BoundWindow],
        order: &mut [SortItem],
    ) -> Vec<usize> {
        let slots: Vec<usize> = groups.iter().map(|_| self.allocate(1)).collect();
        // An expression with several keys is NULL as soon as one of them is.
        let replace = |expr: &mut Expr| {
            let found = groups
                .iter()
                .rposition(|group| super::same_expr::same_expr(group, expr));
            if let Some(number) = found {
                *expr = Expr::column(slots[number], expr.ty.clone().nullable());
            }
        };
        let mut replace_in = |expr: &mut Expr| {
            replace(expr);
            expr.visit_mut(&mut |node| replace(node));
        };
        for (place, expr) in projection.iter_mut().enumerate() {
            match items.iter().rposition(|item| *item == Some(place)) {
                Some(number) => *expr = Expr::column(slots[number], expr.ty.clone().nullable()),
                None => replace_in(expr),
            }
        }
        once.iter_mut().for_each(|(expr, _)| replace_in(expr));
        having.iter_mut().for_each(&mut replace_in);
        windows
            .iter_mut()
            .flat_map(BoundWindow::exprs_mut)
            .for_each(&mut replace_in);
        for item in order {
            if let SortKey::Expr(expr) = &mut item.key {
                replace_in(expr);
            }
        }
        slots
    }

    /// Checks ONLY_FULL_GROUP_BY.
    fn check_full_group_by<'e>(
        &self,
        exprs: impl Iterator<Item = &'e Expr>,
        groups: &[Expr],
        explicit: bool,
    ) -> Result<()> {
        for expr in exprs {
            self.check_grouped(expr, groups, explicit)?;
        }
        Ok(())
    }

    fn check_grouped(&self, expr: &Expr, groups: &[Expr], explicit: bool) -> Result<()> {
        if groups
            .iter()
            .any(|group| super::same_expr::same_expr(group, expr))
        {
            return Ok(());
        }
        if let ExprKind::Column(slot) = expr.kind {
            let table = self.tables.iter().find(|table| table.slots().contains(&slot));
            let Some(table) = table else { return Ok(()) };
            if !explicit {
                return Err(Error::new(ER_MIX_OF_GROUP_FUNC_AND_FIELDS, &[]));
            }
            let column = table.columns[slot - table.base].name();
            let name = match &*table.database {
                "" => format!("{}.{column}", table.alias),
                database => format!("{database}.{}.{column}", table.alias),
            };
            return Err(Error::new(ER_WRONG_FIELD_WITH_GROUP, &[&name]));
        }
        let mut result = Ok(());
        expr.for_each_child(&mut |child| {
            if result.is_ok() {
                result = self.check_grouped(child, groups, explicit);
            }
        });
        result
    }

    /// Begins the trace of the passes over a bound block.
    fn begin_trace(&mut self, number: u32, from: Option<&FromNode>, conditions: &[Expr]) {
        let trace = self.planner.trace.block(number, || self.names());
        trace.pass("binding", |names| {
            let mut parts = Vec::new();
            conditions.iter().for_each(|condition| match &condition.kind {
                ExprKind::And(conjuncts) => parts.extend(conjuncts.iter().cloned()),
                _ => parts.push(condition.clone()),
            });
            self.describe(from, &parts, names)
        });
        self.trace = Some(trace);
    }

    fn describe(&self, from: Option<&FromNode>, conditions: &[Expr], names: &Names) -> Vec<String> {
        let mut lines = describe_from(from, conditions.iter(), names);
        lines.extend(derived_lines(
            self.tables.iter().map(|table| (&*table.alias, &table.source)),
        ));
        lines
    }

    /// Orders the tables and builds the plan.
    pub fn finish(mut self, from: Option<FromNode>, bound: BoundSelect) -> Result<QueryPlan> {
        let mut from = from;
        let mut conditions = bound.conditions;
        if self.trace.is_none() {
            self.begin_trace(bound.number, from.as_ref(), &conditions);
        }
        let trace = self.trace.take().unwrap_or_default();
        trace.pass("conditions taken apart", |names| {
            self.describe(from.as_ref(), &conditions, names)
        });
        if !bound.read.is_locking() {
            super::semi_join::convert(&mut self, &mut from, &mut conditions)?;
        }
        trace.rename(|| self.names());
        trace.pass("semi-join", |names| {
            self.describe(from.as_ref(), &conditions, names)
        });
        self.tables.iter_mut().for_each(super::unread_columns::leave_out);
        trace.pass("unread columns", |names| {
            self.describe(from.as_ref(), &conditions, names)
        });
        let mut infos = table_infos(&self)?;
        if bound.read != ReadMode::Snapshot {
            // Rows are locked, so they must be read.
            infos.iter_mut().for_each(|info| info.covering.clear());
        }
        let slots = SlotMap::new(
            self.slot_count,
            self.tables.iter().map(super::table_ref::TableRef::slots),
        );
        let is_grouped = bound.explicit || !self.aggregates.is_empty();
        let buffering = match bound.read {
            ReadMode::Locking { .. } | ReadMode::Source(_) => Buffering::Locking,
            ReadMode::Snapshot if bound.limit.count.is_some() && !is_grouped => Buffering::WithoutIndex,
            ReadMode::Snapshot => Buffering::Free,
        };
        let tables = instances(&self, &infos);
        let optimizer = Optimizer::new(&infos, &slots, buffering);
        let joined = optimizer.join(from, conditions, bound.straight, (&trace, &tables));
        let mut projection: Vec<Expr> = bound.outputs.iter().map(|output| output.expr.clone()).collect();
        let (mut having, mut windows, mut order) = (bound.having, bound.windows, bound.order);
        let StoredExprs { per_row, mut once } = bound.stored;
        let mut group_slots = Vec::new();
        if let Some(rollup) = &bound.rollup {
            if !order.is_empty() {
                return Err(Error::new(
                    paceline_types::error_code::ER_WRONG_USAGE,
                    &[&"CUBE/ROLLUP", &"ORDER BY"],
                ));
            }
            group_slots = self.replace_groups(
                &bound.groups,
                &rollup.items,
                (&mut projection, &mut once),
                &mut having,
                &mut windows,
                &mut order,
            );
        }
        // In the rows of WITH ROLLUP the keys are NULL.
        let reads_key = |expr: &Expr| {
            expr.any(&mut |node| matches!(&node.kind, ExprKind::Column(slot) if group_slots.contains(slot)))
        };
        let with_keys: Vec<bool> = projection.iter().map(reads_key).collect();
        let grouped = bound.explicit || !self.aggregates.is_empty();
        let mut kept = std::mem::take(&mut self.kept);
        kept.extend(self.outer.iter().map(|reference| reference.to));
        kept.sort_unstable();
        kept.dedup();
        let row_estimate = match (bound.explicit, grouped) {
            (true, _) => estimated_groups(&bound.groups, &infos, &slots, joined.rows),
            (false, true) => 1.0,
            (false, false) => joined.rows,
        };
        let aggregation = grouped.then(|| Aggregation {
            strategy: if bound.explicit {
                GroupStrategy::Hash
            } else {
                GroupStrategy::Single
            },
            groups: bound.groups,
            explicit: bound.explicit,
            aggregates: std::mem::take(&mut self.aggregates),
            kept,
            per_row,
            rollup: bound.rollup.map(|rollup| rollup.directions),
            group_slots,
        });
        let mut columns: Vec<ResultColumn> =
            bound.outputs.iter().map(|output| output.result.clone()).collect();
        let mut types: Vec<ExprType> = projection.iter().map(|expr| expr.ty.clone()).collect();
        for (ty, reads_key) in types.iter_mut().zip(with_keys) {
            ty.nullable |= reads_key;
        }
        if !windows.is_empty() {
            super::window::forget_keys(&mut columns, &mut types);
        }
        let correlated = self.correlated();
        let windows = self.plan_windows(windows, &mut projection, &order);
        if windows.is_some() {
            self.planner.count_window_block();
        }
        let mut select = SelectPlan {
            number: bound.number,
            slot_count: self.slot_count,
            outer: std::mem::take(&mut self.outer),
            row_number: self.row_number,
            tables,
            steps: joined.steps,
            constant_conditions: joined.constant,
            impossible: joined.impossible.then_some("Impossible WHERE"),
            aggregation,
            once,
            having,
            windows,
            projection,
            unrounded: false,
            distinct: bound.distinct,
            order,
            limit: bound.limit,
            count_found_rows: bound.count_found_rows,
            read: bound.read,
            keep_row_handles: false,
            notes: PlanNotes::default(),
            otherwise: None,
            row_estimate,
        };
        trace.form("join order and buffers", |names| Physical(&select).lines(names));
        trace.step("best_join_order", |_| optimizer::join_order(&select));
        trace.step("attaching_conditions_to_tables", |names| {
            optimizer::attached_conditions(&select, names)
        });
        index_order::use_index_order(&mut select, &infos, joined.rows, &trace);
        let mut joined_rows = 1.0_f64;
        for step in &select.steps {
            step.source.for_each_access(&mut |access| {
                self.planner.expect_rows(access.rows);
                let rows = match &access.path {
                    // max_join_size does not limit what SHOW reads.
                    _ if matches!(select.tables[access.table].source, TableSource::Virtual { .. }) => 1.0,
                    AccessPath::Hash { keys, .. } if keys.is_empty() => {
                        select.tables[access.table].row_estimate
                    }
                    _ => access.rows,
                };
                joined_rows *= rows.max(1.0);
                self.planner.expect_joined_rows(joined_rows);
            });
        }
        Ok(QueryPlan {
            id: unique_id(),
            body: QueryBody::Select(Box::new(select)),
            columns,
            types,
            correlated,
        })
    }
}

/// Returns the block's tables as the executor needs them.
pub(crate) fn instances(block: &Block<'_, '_>, infos: &[super::keys::TableInfo<'_>]) -> Vec<TableInstance> {
    block
        .tables
        .iter()
        .zip(infos)
        .map(|(table, info)| TableInstance {
            alias: table.alias.clone(),
            database: table.database.clone(),
            slots: table.slots(),
            source: table.source.clone(),
            used: table
                .used
                .iter()
                .enumerate()
                .filter(|(_, used)| **used)
                .map(|(column, _)| column)
                .collect(),
            padding: padding(block, table),
            row_estimate: info.statistics.rows,
            distinct: table.distinct,
        })
        .collect()
}

/// Returns the CHAR columns that are read with trailing blanks, and their lengths.
fn padding(block: &Block<'_, '_>, table: &TableRef) -> Vec<(usize, usize)> {
    let mode = block.planner.session().settings.sql_mode;
    if !mode.contains(SqlMode::PAD_CHAR_TO_FULL_LENGTH) || !matches!(table.source, TableSource::Base(_)) {
        return Vec::new();
    }
    let used = table.columns.iter().zip(&table.used).enumerate();
    used.filter(|(_, (_, used))| **used)
        .filter_map(|(number, (column, _))| match column.ty.data_type {
            DataType::Char { length, .. } => Some((number, usize::from(length))),
            _ => None,
        })
        .collect()
}

/// Returns whether an expression is MIN or MAX of a column.
fn is_extreme_of_column(expr: &ast::Expr) -> bool {
    let ast::Expr::Call(call) = expr else {
        return false;
    };
    (call.is_named("MIN") || call.is_named("MAX"))
        && matches!(call.arguments.exprs(), [argument] if matches!(argument.without_parentheses(), ast::Expr::Column(_)))
}
