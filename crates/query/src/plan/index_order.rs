//! Rows in the order of an index: ORDER BY and GROUP BY without sorting, MIN and MAX by their first row.

use super::early_conditions::check_early;
use super::keys::{COST_FETCHED_ROW, COST_SCANNED_ROW, TableInfo};
use super::needless_distinct::drop_needless_distinct;
use super::range::{NearestValue, RangeCondition, nearest_value, rule_for};
use super::selectivity::selectivity;
use super::trace::{BlockTrace, Physical};
use super::tree::{
    AccessPath, Aggregation, AssumedEquality, GroupStrategy, JoinKind, JoinStep, Otherwise, ScanDirection,
    SelectPlan, SortItem, SortKey, StepSource, TableAccess,
};
use super::{covering, loose_scan};
use paceline_expression::{
    AggregateFunction, Class, CompareOp, Comparison, EvalContext, Expr, ExprKind, ExprType, Truth,
};
use paceline_storage::RowPlacement;
use paceline_syntax::ast::Ties;
use paceline_types::{DataType, IntegerWidth, Value};

/// Makes a plan use the order of an index if that saves work.
pub(crate) fn use_index_order(
    select: &mut SelectPlan,
    infos: &[TableInfo<'_>],
    rows: f64,
    trace: &BlockTrace<'_>,
) {
    count_by_smallest_index(select, infos);
    trace.pass("rows counted by an index", |names| Physical(select).lines(names));
    use_order(select, infos, rows, trace);
    covering::read_keys_alone(select, infos);
    trace.pass("covering index", |names| Physical(select).lines(names));
    check_early(select);
    trace.pass("early conditions", |names| Physical(select).lines(names));
    if let Some(otherwise) = &mut select.otherwise {
        covering::read_keys_alone(&mut otherwise.select, infos);
        check_early(&mut otherwise.select);
    }
}

fn use_order(select: &mut SelectPlan, infos: &[TableInfo<'_>], rows: f64, trace: &BlockTrace<'_>) {
    // WITH TIES compares the sort keys of rows, so they must be computed.
    let needs_keys = select.limit.ties == Ties::Kept && !select.order.is_empty();
    // ROWNUM() counts the rows as they are read without an order.
    if needs_keys
        || select.row_number.is_some()
        || (select.order.is_empty() && select.aggregation.is_none() && !select.distinct)
    {
        return mark_notes(select);
    }
    let assumed = assumed_values(select, infos);
    let plain = (!assumed.is_empty()).then(|| Box::new(select.clone()));
    rely_on_order(select, infos, rows, trace);
    if let Some(plain) = plain.filter(|plain| relies_more(select, plain)) {
        select.otherwise = Some(Otherwise {
            assumed,
            select: plain,
        });
    }
}

/// Returns whether a plan relies on an order of an index that the other plan does not use.
fn relies_more(select: &SelectPlan, plain: &SelectPlan) -> bool {
    let strategy = |select: &SelectPlan| {
        let aggregation = select.aggregation.as_ref();
        aggregation.map(|aggregation| std::mem::discriminant(&aggregation.strategy))
    };
    select.order.len() != plain.order.len() || strategy(select) != strategy(plain)
}

/// Returns the equalities of the first table's columns whose comparison depends on the values.
fn assumed_values(select: &SelectPlan, infos: &[TableInfo<'_>]) -> Vec<AssumedEquality> {
    let Some((step, access)) = select.steps.first().zip(first_access(select)) else {
        return Vec::new();
    };
    let info = &infos[access.table];
    let Some(definition) = &info.definition else {
        return Vec::new();
    };
    let columns = definition.columns();
    let own = |expr: &Expr| match expr.kind {
        ExprKind::Column(slot) => columns.get(slot.wrapping_sub(info.base)),
        _ => None,
    };
    let mut assumed = Vec::new();
    for condition in &step.filter {
        let ExprKind::Compare {
            op: CompareOp::Eq | CompareOp::NullSafeEq,
            by,
            operands,
        } = &condition.kind
        else {
            continue;
        };
        let [left, right] = &**operands;
        for (column, value) in [(left, right), (right, left)] {
            let is_open = match by {
                Comparison::Dynamic { .. } => true,
                // The text is not a date.
                Comparison::DateTime | Comparison::Time => value.ty.class() == Class::String,
                _ => false,
            };
            if let Some(column) = own(column)
                && is_open
                && is_fixed(value, &|node| own(node).is_some())
            {
                assumed.push(AssumedEquality {
                    data_type: column.data_type.clone(),
                    value: value.clone(),
                    by: by.clone(),
                });
            }
        }
    }
    assumed
}

impl AssumedEquality {
    /// Returns whether the matching rows have a single value in the column, and an index finds them.
    pub(crate) fn holds(&self, value: Value, context: &mut EvalContext<'_>) -> bool {
        let rule = rule_for(&self.data_type, &self.by, &value);
        value.is_null()
            || rule.is_some_and(|rule| equals_are_same(&self.data_type, &rule))
                && !matches!(
                    nearest_value(&self.data_type, &self.by, value, context),
                    NearestValue::Unknown
                )
    }
}

impl AssumedEquality {
    /// Returns whether an index finds exactly the matching rows: the value is compared as the index's keys are.
    pub(crate) fn is_looked_for(&self, value: Value, context: &mut EvalContext<'_>) -> bool {
        if self.data_type.is_text() {
            let is_text = matches!(value, Value::Text(_) | Value::Null);
            return is_text
                && match rule_for(&self.data_type, &self.by, &value) {
                    Some(Comparison::Text(collation)) => collation == self.data_type.collation(),
                    // NULL equals nothing.
                    _ => value.is_null(),
                };
        }
        !matches!(
            nearest_value(&self.data_type, &self.by, value, context),
            NearestValue::Unknown
        )
    }
}

fn rely_on_order(select: &mut SelectPlan, infos: &[TableInfo<'_>], rows: f64, trace: &BlockTrace<'_>) {
    let is_served = min_max_by_index(select, infos);
    trace.pass("MIN and MAX by an index", |names| Physical(select).lines(names));
    if is_served {
        return;
    }
    drop_needless_distinct(select, infos);
    trace.pass("needless DISTINCT", |names| Physical(select).lines(names));
    loose_scan::skip_through_groups(select, infos);
    trace.pass("loose scan", |names| Physical(select).lines(names));
    let group_served = group_in_order(select, infos);
    trace.pass("groups in index order", |names| Physical(select).lines(names));
    let Some(aggregation) = &select.aggregation else {
        order_in_order(select, infos, rows);
        trace.pass("rows in index order", |names| Physical(select).lines(names));
        mark_notes(select);
        return;
    };
    if select.windows.is_some() {
        mark_notes(select);
        return;
    }
    // Groups are returned sorted by their keys, so an ORDER BY these keys needs no sort.
    let keys: Vec<&Expr> = aggregation.groups.iter().collect();
    let ascending_groups = select.order.len() <= keys.len()
        && select.order.iter().zip(&keys).all(|(item, group)| {
            !item.descending && super::same_expr::same_expr(sort_expr(select, item), group)
        });
    if (ascending_groups && aggregation.rollup.is_none()) || !aggregation.explicit {
        let _ = group_served;
        select.order.clear();
    }
    trace.pass("sorted groups", |names| Physical(select).lines(names));
    mark_notes(select);
}

fn mark_notes(select: &mut SelectPlan) {
    let hashed = select
        .aggregation
        .as_ref()
        .is_some_and(|aggregation| matches!(aggregation.strategy, GroupStrategy::Hash));
    select.notes.temporary |=
        hashed || select.windows.is_some() || (select.distinct && !select.steps.is_empty());
    select.notes.filesort |= !select.order.is_empty() || hashed;
}

/// Returns the expression of a sort item.
fn sort_expr<'s>(select: &'s SelectPlan, item: &'s SortItem) -> &'s Expr {
    match &item.key {
        SortKey::Output(output) => &select.projection[*output],
        SortKey::Expr(expr) => expr,
    }
}

/// Returns the first table, if it is read by an index or as a whole.
fn first_access(select: &SelectPlan) -> Option<&TableAccess> {
    match select.steps.first() {
        Some(JoinStep {
            kind: JoinKind::Inner,
            source: StepSource::Table(access),
            ..
        }) => Some(access),
        _ => None,
    }
}

fn first_access_mut(select: &mut SelectPlan) -> Option<&mut TableAccess> {
    match select.steps.first_mut() {
        Some(JoinStep {
            kind: JoinKind::Inner,
            source: StepSource::Table(access),
            ..
        }) => Some(access),
        _ => None,
    }
}

/// Returns whether a path finds at most one row.
fn is_unique(path: &AccessPath) -> bool {
    matches!(path, AccessPath::Lookup { unique: true, .. })
}

/// Returns whether a value in a condition of the first step is the same for all of its rows. Columns there are the
/// table's own, or of the queries around this one, which do not change while it is executed.
fn is_fixed(value: &Expr, is_own: &dyn Fn(&Expr) -> bool) -> bool {
    value.is_constant_during_execution()
        || (value.is_stable() && !value.has_subquery() && !value.any(&mut |node| is_own(node)))
}

/// Returns the columns of the first table that have the same value in all rows that pass its step.
fn constant_columns(select: &SelectPlan, info: &TableInfo<'_>) -> Vec<usize> {
    let mut constant = Vec::new();
    let columns = info
        .definition
        .as_ref()
        .map_or(0, |definition| definition.columns().len());
    if first_access(select).is_some_and(|access| is_unique(&access.path)) {
        return (0..columns).collect();
    }
    let own = |expr: &Expr| match expr.kind {
        ExprKind::Column(slot) if (info.base..info.base + columns).contains(&slot) => Some(slot - info.base),
        _ => None,
    };
    let Some(step) = select.steps.first() else {
        return constant;
    };
    let has_one_value = |column: usize, by: &Comparison| {
        let definition = info.definition.as_ref();
        definition.is_some_and(|definition| equals_are_same(&definition.columns()[column].data_type, by))
    };
    for condition in step.filter.iter().chain(&step.on) {
        match &condition.kind {
            ExprKind::Compare {
                op: CompareOp::Eq | CompareOp::NullSafeEq,
                by,
                operands,
            } => {
                for (column, value) in [(&operands[0], &operands[1]), (&operands[1], &operands[0])] {
                    if let Some(column) = own(column)
                        && is_fixed(value, &|node| own(node).is_some())
                        && has_one_value(column, by)
                    {
                        constant.push(column);
                    }
                }
            }
            ExprKind::Is {
                test: Truth::Null,
                negated: false,
                operand,
            } => constant.extend(own(operand)),
            _ => {}
        }
    }
    constant
}

/// Returns whether all values of a column that equal one value by this rule equal each other by the column's own rule.
/// Counterexample: `'1'` and `'01'` both equal 1.
fn equals_are_same(data_type: &DataType, by: &Comparison) -> bool {
    match by {
        Comparison::Text(collation) => match data_type {
            DataType::Enum { .. } | DataType::Set { .. } => data_type.collation() == *collation,
            _ if data_type.is_text() => data_type.collation() == *collation,
            _ => !data_type.is_binary_string(),
        },
        Comparison::Double | Comparison::FixedDouble(_) => match data_type {
            DataType::Integer(integer) => integer.width != IntegerWidth::Big,
            DataType::Float(_) | DataType::Double(_) => true,
            _ => false,
        },
        Comparison::Int | Comparison::Decimal => !data_type.is_text() && !data_type.is_binary_string(),
        Comparison::Bytes => true,
        Comparison::DateTime => matches!(
            data_type,
            DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. }
        ),
        Comparison::Time => matches!(data_type, DataType::Time { .. }),
        Comparison::FixedBinary(_) => matches!(data_type, DataType::FixedBinary(_)),
        // Assumed: it depends on the values.
        Comparison::Dynamic { .. } => true,
        Comparison::Row(_) => false,
    }
}

/// Returns the columns by which a path's rows are ordered.
fn path_columns(info: &TableInfo<'_>, path: &AccessPath) -> Option<Vec<usize>> {
    let definition = info.definition.as_ref()?;
    let clustered = match definition.schema().clustered() {
        RowPlacement::Key(index) => Some(index),
        RowPlacement::RowId(_) | RowPlacement::Single(_) => None,
    };
    let index = match path {
        AccessPath::All => clustered?,
        AccessPath::Index { index } | AccessPath::Lookup { index, .. } | AccessPath::Range { index, .. } => {
            *index
        }
        AccessPath::Hash { .. } | AccessPath::Union { .. } => return None,
    };
    let mut columns = Vec::new();
    for part in &definition.indexes()[index].parts {
        if part.prefix_length.is_some() {
            return Some(columns);
        }
        columns.push(part.column);
    }
    if let Some(clustered) = clustered
        && clustered != index
    {
        columns.extend(
            definition.indexes()[clustered]
                .parts
                .iter()
                .map(|part| part.column),
        );
    }
    Some(columns)
}

/// Returns the direction in which `path` reads rows in this order; `None` if it does not.
fn reading_direction(
    info: &TableInfo<'_>,
    path: &AccessPath,
    constant: &[usize],
    keys: &[(&Expr, bool)],
) -> Option<ScanDirection> {
    let definition = info.definition.as_ref()?;
    let columns = path_columns(info, path)?;
    let mut columns = columns.into_iter().filter(|column| !constant.contains(column));
    let mut direction = None;
    for (expr, descending) in keys {
        let ExprKind::Column(slot) = expr.kind else {
            return None;
        };
        let column = slot
            .checked_sub(info.base)
            .filter(|column| *column < definition.columns().len())?;
        if constant.contains(&column) {
            continue;
        }
        if columns.next() != Some(column) {
            return None;
        }
        let wanted = if *descending {
            ScanDirection::Backward
        } else {
            ScanDirection::Forward
        };
        if *direction.get_or_insert(wanted) != wanted {
            return None;
        }
    }
    Some(direction.unwrap_or(ScanDirection::Forward))
}

/// Like [`reading_direction`], for the path of the first table. A block of one row is in any order.
fn first_reading_direction(
    select: &SelectPlan,
    info: &TableInfo<'_>,
    access: &TableAccess,
    constant: &[usize],
    keys: &[(&Expr, bool)],
) -> Option<ScanDirection> {
    match select.steps.len() {
        1 if is_unique(&access.path) => Some(ScanDirection::Forward),
        _ => reading_direction(info, &access.path, constant, keys),
    }
}

fn order_in_order(select: &mut SelectPlan, infos: &[TableInfo<'_>], rows: f64) {
    // Window functions sort the rows.
    if select.order.is_empty() || select.distinct || select.windows.is_some() {
        return;
    }
    let Some(access) = first_access(select) else {
        return;
    };
    let info = &infos[access.table];
    let constant = constant_columns(select, info);
    let keys: Vec<(&Expr, bool)> = select
        .order
        .iter()
        .map(|item| (sort_expr(select, item), item.descending))
        .collect();
    if let Some(direction) = first_reading_direction(select, info, access, &constant, &keys) {
        let wanted = limit_rows(select);
        let narrower = wanted.and_then(|_| narrower_range(info, access, &select.steps[0].filter));
        select.order.clear();
        if let Some(access) = first_access_mut(select) {
            access.direction = direction;
            if let Some(path) = narrower {
                access.path = path;
            }
            name_order(info, access);
            if let (AccessPath::Index { .. }, Some(wanted)) = (&access.path, wanted) {
                access.rows = access.rows.min(wanted);
            }
        }
        return;
    }
    // Another index may begin with the same columns, and continue with those of the order.
    if let Some((index, direction)) = same_lookup(info, &access.path, &constant, &keys) {
        select.order.clear();
        if let Some(TableAccess {
            path: AccessPath::Lookup { index: chosen, .. },
            direction: way,
            ..
        }) = first_access_mut(select)
        {
            *chosen = index;
            *way = direction;
        }
        return;
    }
    // Another index may have the order. This is useful if LIMIT stops early.
    if !matches!(
        access.path,
        AccessPath::All | AccessPath::Range { .. } | AccessPath::Lookup { .. }
    ) {
        return;
    }
    let total = info.statistics.rows.max(1.0);
    let passing = select.steps[0]
        .filter
        .iter()
        .map(selectivity)
        .product::<f64>()
        .max(0.0001);
    let wanted = limit_rows(select).unwrap_or(f64::INFINITY);
    let sort_cost = rows.max(1.0) * 0.05 * rows.max(2.0).log2();
    let now = access.rows
        * COST_FETCHED_ROW.min(if matches!(access.path, AccessPath::All) {
            COST_SCANNED_ROW
        } else {
            COST_FETCHED_ROW
        })
        + sort_cost;
    let condition = info.condition_of_first(&select.steps[0].filter);
    let mut best: Option<(f64, AccessPath, f64, ScanDirection)> = None;
    for &index in &info.usable {
        let Some(direction) = reading_direction(info, &AccessPath::Index { index }, &constant, &keys) else {
            continue;
        };
        let (path, rows) = bounded(info, index, condition.as_ref());
        // The share of the rows within the bounds that pass. Rows outside do not pass.
        let passing = (passing * total / rows.max(1.0)).min(1.0);
        let read = (wanted / passing).min(rows);
        let cost = read * info.cost_of_row(index) + 1.0;
        if cost < now && best.as_ref().is_none_or(|(known, ..)| cost < *known) {
            best = Some((cost, path, read, direction));
        }
    }
    if let Some((_, path, read, direction)) = best {
        select.order.clear();
        if let Some(access) = first_access_mut(select) {
            access.path = path;
            access.direction = direction;
            access.rows = read;
        }
    }
}

/// Returns a range that begins at the first needed row, instead of a lookup, if conditions restrict the index's columns
/// after those of the lookup.
fn narrower_range(info: &TableInfo<'_>, access: &TableAccess, filter: &[Expr]) -> Option<AccessPath> {
    let AccessPath::Lookup {
        index,
        key,
        unique: false,
    } = &access.path
    else {
        return None;
    };
    let next = info.definition.as_ref()?.indexes()[*index].parts.get(key.len())?;
    let condition = info.condition_of_first(filter)?;
    condition.restricts(next.column).then_some(AccessPath::Range {
        index: *index,
        condition,
    })
}

/// Returns the path that reads an index as a whole or in the ranges of a condition, and its estimated number of rows.
fn bounded(info: &TableInfo<'_>, index: usize, condition: Option<&RangeCondition>) -> (AccessPath, f64) {
    let total = info.statistics.rows.max(1.0);
    let first = info
        .definition
        .as_ref()
        .map(|definition| definition.indexes()[index].parts[0].column);
    if let (Some(condition), Some(first)) = (condition, first)
        && condition.restricts(first)
        && let Some(rows) = info.range_rows(index, condition)
    {
        let condition = condition.clone();
        return (AccessPath::Range { index, condition }, rows.clamp(0.5, total));
    }
    (AccessPath::Index { index }, total)
}

/// Returns an index that can be used for a lookup as well as the chosen one, and that has this order.
fn same_lookup(
    info: &TableInfo<'_>,
    path: &AccessPath,
    constant: &[usize],
    keys: &[(&Expr, bool)],
) -> Option<(usize, ScanDirection)> {
    let AccessPath::Lookup {
        index,
        key,
        unique: false,
    } = path
    else {
        return None;
    };
    let definition = info.definition.as_ref()?;
    let chosen = &definition.indexes()[*index].parts[..key.len()];
    info.usable.iter().find_map(|&other| {
        let parts = definition.indexes()[other].parts.get(..key.len())?;
        if other == *index || parts != chosen || parts.iter().any(|part| part.prefix_length.is_some()) {
            return None;
        }
        let path = AccessPath::Lookup {
            index: other,
            key: key.clone(),
            unique: false,
        };
        reading_direction(info, &path, constant, keys).map(|direction| (other, direction))
    })
}

/// Converts a scan of all rows whose order matters to one of the clustered index.
fn name_order(info: &TableInfo<'_>, access: &mut TableAccess) {
    if let (AccessPath::All, Some(definition)) = (&access.path, &info.definition)
        && let RowPlacement::Key(index) = definition.schema().clustered()
    {
        access.path = AccessPath::Index { index };
    }
}

fn limit_rows(select: &SelectPlan) -> Option<f64> {
    let number = |expr: &Expr| match expr.as_literal() {
        Some(Value::Int(number)) => *number as f64,
        Some(Value::UInt(number)) => *number as f64,
        // A parameter: probably the size of a page.
        _ => 100.0,
    };
    let count = select.limit.count.as_ref().map(number)?;
    Some(count + select.limit.offset.as_ref().map_or(0.0, number))
}

/// Uses the order of a path for groups: groups whose rows are read one after the other need no hash table.
fn group_in_order(select: &mut SelectPlan, infos: &[TableInfo<'_>]) -> bool {
    let Some(aggregation) = &select.aggregation else {
        return false;
    };
    if !aggregation.explicit || !matches!(aggregation.strategy, GroupStrategy::Hash) {
        return false;
    }
    let Some(access) = first_access(select) else {
        return false;
    };
    let info = &infos[access.table];
    let constant = constant_columns(select, info);
    let keys: Vec<(&Expr, bool)> = aggregation.groups.iter().map(|group| (group, false)).collect();
    let served = first_reading_direction(select, info, access, &constant, &keys);
    let (path, direction) = match (served, &access.path) {
        (Some(direction), _) => (None, direction),
        // The entries of a covering index are ordered, and cost no more than the rows.
        (None, AccessPath::All) if aggregation.rollup.is_none() => {
            let found = info.covering.iter().find_map(|&index| {
                let path = AccessPath::Index { index };
                reading_direction(info, &path, &constant, &keys).map(|direction| (path, direction))
            });
            let Some((path, direction)) = found else {
                return false;
            };
            (Some(path), direction)
        }
        (None, _) => return false,
    };
    if let Some(access) = first_access_mut(select) {
        access.direction = direction;
        match path {
            Some(path) => access.path = path,
            None => name_order(info, access),
        }
    }
    if let Some(aggregation) = &mut select.aggregation {
        aggregation.strategy = GroupStrategy::Ordered;
    }
    true
}

/// Makes COUNT(*) of all rows read the index with the shortest entries.
fn count_by_smallest_index(select: &mut SelectPlan, infos: &[TableInfo<'_>]) {
    let [step] = &select.steps[..] else { return };
    let Some(access) = first_access(select) else {
        return;
    };
    let table = access.table;
    if !matches!(access.path, AccessPath::All)
        || !step.filter.is_empty()
        || !select.tables[table].used.is_empty()
    {
        return;
    }
    if select.read != super::tree::ReadMode::Snapshot || select.keep_row_handles {
        return;
    }
    let info = &infos[table];
    let Some(definition) = &info.definition else {
        return;
    };
    let smallest = info
        .usable
        .iter()
        .copied()
        .filter(|&index| !info.is_clustered(index))
        .min_by_key(|&index| {
            let parts = &definition.indexes()[index].parts;
            parts
                .iter()
                .map(|part| u64::from(definition.columns()[part.column].data_type.display_length(1)))
                .sum::<u64>()
        });
    if let Some(access) = first_access_mut(select) {
        access.key_only = true;
        if let Some(index) = smallest {
            access.path = AccessPath::Index { index };
        }
    }
}

/// Makes MIN and MAX of columns of one table read one row each: the first row of an index.
fn min_max_by_index(select: &mut SelectPlan, infos: &[TableInfo<'_>]) -> bool {
    let Some(aggregation) = &select.aggregation else {
        return false;
    };
    // Values of the outer query are in the row already.
    let is_outer = |slot: &usize| select.outer.iter().any(|reference| reference.to == *slot);
    if aggregation.explicit
        || aggregation.aggregates.is_empty()
        || select.steps.len() != 1
        || aggregation.kept.iter().any(|slot| !is_outer(slot))
    {
        return false;
    }
    if select.read.is_locking() {
        return false;
    }
    let Some(access) = first_access(select) else {
        return false;
    };
    if matches!(access.path, AccessPath::Hash { .. }) || is_unique(&access.path) {
        return false;
    }
    let info = &infos[access.table];
    if info.definition.is_none() {
        return false;
    }
    let constant = constant_columns(select, info);
    let selective = matches!(access.path, AccessPath::Range { .. } | AccessPath::Lookup { .. });
    let mut ends = Vec::with_capacity(aggregation.aggregates.len());
    for (aggregate, _) in &aggregation.aggregates {
        let descending = match aggregate.function {
            AggregateFunction::Min => false,
            AggregateFunction::Max => true,
            _ => return false,
        };
        let [argument] = &aggregate.args[..] else {
            return false;
        };
        if !matches!(argument.kind, ExprKind::Column(_)) {
            return false;
        }
        let keys = [(argument, descending)];
        let served = reading_direction(info, &access.path, &constant, &keys);
        let (path, direction) = match served {
            Some(direction) => (access.path.clone(), direction),
            // Without a selective path, read the index until a row passes.
            None if !selective && select.steps[0].filter.is_empty() => {
                let found = info.usable.iter().find_map(|&index| {
                    let path = AccessPath::Index { index };
                    reading_direction(info, &path, &constant, &keys).map(|direction| (path, direction))
                });
                match found {
                    Some((AccessPath::Index { index }, direction)) if info.is_clustered(index) => {
                        (AccessPath::All, direction)
                    }
                    Some(found) => found,
                    None => return false,
                }
            }
            None => return false,
        };
        let mut filter = select.steps[0].filter.clone();
        if argument.ty.nullable {
            filter.push(Expr {
                kind: ExprKind::Is {
                    test: Truth::Null,
                    negated: true,
                    operand: Box::new(argument.clone()),
                },
                ty: ExprType::boolean(),
            });
        }
        let access = TableAccess {
            direction,
            possible: access.possible.clone(),
            ..TableAccess::new(access.table, path, 1.0)
        };
        let source = StepSource::Table(access);
        ends.push(vec![JoinStep::new(JoinKind::Inner, source, Vec::new(), filter)]);
    }
    let Some(Aggregation { strategy, .. }) = &mut select.aggregation else {
        return false;
    };
    *strategy = GroupStrategy::IndexEnds(ends);
    select.order.clear();
    true
}
