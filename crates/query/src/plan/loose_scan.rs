//! Loose scans: reads of an index that skip entries, if a few entries of each group of equal keys are sufficient. This
//! is so for DISTINCT, and for MIN and MAX of each group.
//!
//! ```text
//!   KEY (a, b)     1·2  1·5  1·9  2·1  2·3  3·4  3·8  …
//!   DISTINCT a     ^              ^         ^             then to the first key after all keys that begin with a
//!   MIN(b)         ^              ^         ^
//!   MAX(b)                   ^         ^         ^
//! ```
//!
//! Each condition must hold for all entries of a group or for none: it reads only the shared columns. In small groups
//! the executor reads entry after entry ([`crate::execute`]), so a loose scan costs little where it saves nothing.

use paceline_storage::RowPlacement;
use paceline_types::key_reader::determines_value;

use super::keys::{COST_SCANNED_ROW, COST_SEEK, TableInfo};
use super::tree::{
    AccessPath, GroupEnds, GroupStrategy, JoinKind, JoinStep, LooseScan, ReadMode, SelectPlan, StepSource,
    TableAccess,
};
use paceline_catalog::TableDefinition;
use paceline_expression::{AggregateFunction, Comparison, Distinctness, Expr, ExprKind};

/// Entries that a plan needs of each group.
struct GroupNeed {
    /// Columns whose values define the groups.
    shared: Vec<usize>,
    /// Column of MIN and MAX.
    extreme: Option<usize>,
    ends: GroupEnds,
}

/// Cost of the seeks for one group.
const COST_GROUP: f64 = 2.0 * COST_SEEK;

/// Makes a plan of one table use a loose scan, if this is possible and cheaper.
pub(crate) fn skip_through_groups(select: &mut SelectPlan, infos: &[TableInfo<'_>]) {
    let [
        JoinStep {
            kind: JoinKind::Inner,
            source: StepSource::Table(access),
            on,
            filter,
            ..
        },
    ] = &select.steps[..]
    else {
        return;
    };
    let info = &infos[access.table];
    let Some(definition) = &info.definition else {
        return;
    };
    let padded = select.tables.iter().any(|table| !table.padding.is_empty());
    if select.read != ReadMode::Snapshot || select.keep_row_handles || !on.is_empty() || padded {
        return;
    }
    let Some(need) = need(select, info) else { return };
    let condition = info.condition_of_first(filter);
    let mut best: Option<(f64, AccessPath, LooseScan, f64)> = None;
    for &index in &info.usable {
        let Some(loose) = loose_scan(definition, index, &need) else {
            continue;
        };
        let shared = &key_columns(definition, index)[..loose.parts];
        if !filter
            .iter()
            .all(|condition| is_shared(condition, info, definition, shared))
        {
            continue;
        }
        let total = info.statistics.rows.max(1.0);
        let first = definition.indexes()[index].parts[0].column;
        let (path, rows) = match &condition {
            Some(condition) if condition.restricts(first) => {
                let rows = info.range_rows(index, condition).unwrap_or(total);
                let condition = condition.clone();
                (AccessPath::Range { index, condition }, rows.clamp(0.5, total))
            }
            _ => (AccessPath::Index { index }, total),
        };
        let declared = definition.indexes()[index].parts.len();
        let per_group = info.statistics.rows_per_key(index, loose.parts.min(declared));
        let groups = (rows / per_group).max(1.0);
        let cost = groups * COST_GROUP;
        if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
            best = Some((cost, path, loose, groups));
        }
    }
    let Some((cost, path, loose, groups)) = best else {
        return;
    };
    let now = COST_SEEK
        + access.rows
            * match access.path {
                AccessPath::All => COST_SCANNED_ROW,
                AccessPath::Index { index }
                | AccessPath::Lookup { index, .. }
                | AccessPath::Range { index, .. } => info.cost_of_row(index),
                AccessPath::Union { .. } | AccessPath::Hash { .. } => return,
            };
    // With a single group there is nothing to skip.
    if cost >= now {
        return;
    }
    if let [
        JoinStep {
            source: StepSource::Table(access),
            ..
        },
    ] = &mut select.steps[..]
    {
        *access = TableAccess {
            possible: std::mem::take(&mut access.possible),
            loose: Some(loose),
            ..TableAccess::new(access.table, path, groups)
        };
    }
}

/// Returns the entries that a plan needs, if some entries of each group are sufficient.
fn need(select: &SelectPlan, info: &TableInfo<'_>) -> Option<GroupNeed> {
    if select.windows.is_some() || !select.once.is_empty() {
        return None;
    }
    let mut shared = Vec::new();
    let Some(aggregation) = &select.aggregation else {
        if !select.distinct {
            return None;
        }
        for expr in &select.projection {
            add_columns(expr, info, &mut shared)?;
        }
        return (!shared.is_empty()).then_some(GroupNeed {
            shared,
            extreme: None,
            ends: GroupEnds::One,
        });
    };
    if aggregation.rollup.is_some()
        || !aggregation.per_row.is_empty()
        || matches!(aggregation.strategy, GroupStrategy::IndexEnds(_))
    {
        return None;
    }
    for group in &aggregation.groups {
        // The groups must have the order of the columns.
        match info.column_of(group) {
            Some(column) => shared.push(column),
            None => return None,
        }
    }
    let (mut least, mut greatest, mut extreme) = (false, false, None);
    for (aggregate, _) in &aggregation.aggregates {
        match (aggregate.function, &aggregate.args[..]) {
            (AggregateFunction::Min | AggregateFunction::Max, [argument]) if aggregation.explicit => {
                let column = info.column_of(argument)?;
                if extreme.is_some_and(|known| known != column) {
                    return None;
                }
                extreme = Some(column);
                match aggregate.function {
                    AggregateFunction::Min => least = true,
                    _ => greatest = true,
                }
            }
            // Each value counts once.
            (AggregateFunction::Count | AggregateFunction::Sum | AggregateFunction::Avg, arguments)
                if aggregate.distinct == Distinctness::Distinct && !aggregation.explicit =>
            {
                for argument in arguments {
                    add_columns(argument, info, &mut shared)?;
                }
            }
            _ => return None,
        }
    }
    if shared.is_empty() || aggregation.kept.iter().any(|slot| is_other(*slot, info, &shared)) {
        return None;
    }
    let ends = match (least, greatest) {
        (false, false) => GroupEnds::One,
        (true, false) => GroupEnds::Least,
        (false, true) => GroupEnds::Greatest,
        (true, true) => GroupEnds::Both,
    };
    Some(GroupNeed {
        shared,
        extreme,
        ends,
    })
}

/// Returns whether a slot is a column of the table other than these.
fn is_other(slot: usize, info: &TableInfo<'_>, shared: &[usize]) -> bool {
    let column = slot.wrapping_sub(info.base);
    let columns = info
        .definition
        .as_ref()
        .map_or(0, |definition| definition.columns().len());
    column < columns && !shared.contains(&column)
}

/// Adds the columns that an expression reads. Returns `None` if its values may differ for equal keys.
fn add_columns(expr: &Expr, info: &TableInfo<'_>, columns: &mut Vec<usize>) -> Option<()> {
    if let Some(column) = info.column_of(expr) {
        columns.push(column);
        return Some(());
    }
    let definition = info.definition.as_ref()?;
    let mut determined = expr.is_stable();
    expr.visit(&mut |node| match &node.kind {
        ExprKind::ScalarSubquery(_) | ExprKind::Exists { .. } | ExprKind::Quantified { .. } => {
            determined = false
        }
        _ => {
            if let Some(column) = info.column_of(node) {
                determined &= determines_value(&definition.columns()[column].data_type);
                columns.push(column);
            }
        }
    });
    determined.then_some(())
}

/// Returns the columns by which an index's entries are ordered, up to the first prefix of a column.
fn key_columns(definition: &TableDefinition, index: usize) -> Vec<usize> {
    let indexes = definition.indexes();
    let row_key = match definition.schema().clustered() {
        RowPlacement::Key(clustered) if clustered != index && !indexes[index].kind.is_unique() => {
            &indexes[clustered].parts[..]
        }
        _ => &[],
    };
    let parts = indexes[index].parts.iter().chain(row_key);
    parts
        .take_while(|part| part.prefix_length.is_none())
        .map(|part| part.column)
        .collect()
}

/// Returns the loose scan of an index; `None` if it is impossible.
fn loose_scan(definition: &TableDefinition, index: usize, need: &GroupNeed) -> Option<LooseScan> {
    let columns = key_columns(definition, index);
    let parts = columns
        .iter()
        .position(|column| !need.shared.contains(column))
        .unwrap_or(columns.len());
    if !need.shared.iter().all(|column| columns[..parts].contains(column)) {
        return None;
    }
    if let Some(extreme) = need.extreme {
        // Equal texts need not be identical.
        if columns.get(parts) != Some(&extreme) || !determines_value(&definition.columns()[extreme].data_type)
        {
            return None;
        }
    }
    Some(LooseScan {
        parts,
        ends: need.ends,
    })
}

/// Returns whether a condition holds for all entries with the same values of these columns or for none.
fn is_shared(condition: &Expr, info: &TableInfo<'_>, definition: &TableDefinition, shared: &[usize]) -> bool {
    let column = |expr: &Expr| info.column_of(expr).filter(|column| shared.contains(column));
    let data_type = |column: usize| &definition.columns()[column].data_type;
    let same = |column: usize, by: &Comparison| match by {
        Comparison::Text(collation) => {
            data_type(column).is_text() && data_type(column).collation() == *collation
        }
        _ => false,
    };
    let constant = |expr: &Expr| expr.is_stable() && !expr.any(&mut |node| info.column_of(node).is_some());
    match &condition.kind {
        ExprKind::And(parts) | ExprKind::Or(parts) => {
            parts.iter().all(|part| is_shared(part, info, definition, shared))
        }
        ExprKind::Compare { by, operands, .. } => {
            let [left, right] = &**operands;
            if [(left, right), (right, left)]
                .into_iter()
                .any(|(subject, value)| {
                    column(subject).is_some_and(|column| same(column, by)) && constant(value)
                })
            {
                return true;
            }
            is_determined(condition, info, definition, shared)
        }
        ExprKind::Between { by, operands, .. } => {
            let [subject, low, high] = &**operands;
            (column(subject).is_some_and(|column| same(column, by)) && constant(low) && constant(high))
                || is_determined(condition, info, definition, shared)
        }
        ExprKind::InList { by, needle, list, .. } => {
            (column(needle).is_some_and(|column| by.iter().all(|by| same(column, by)))
                && list.iter().all(constant))
                || is_determined(condition, info, definition, shared)
        }
        ExprKind::Is { operand, .. } if column(operand).is_some() => match &condition.kind {
            ExprKind::Is {
                test: paceline_expression::Truth::Null,
                ..
            } => true,
            _ => is_determined(condition, info, definition, shared),
        },
        _ => is_determined(condition, info, definition, shared),
    }
}

/// Returns whether a condition reads only shared columns whose values follow from their keys.
fn is_determined(
    condition: &Expr,
    info: &TableInfo<'_>,
    definition: &TableDefinition,
    shared: &[usize],
) -> bool {
    let mut determined = condition.is_stable();
    condition.visit(&mut |node| match &node.kind {
        ExprKind::ScalarSubquery(_) | ExprKind::Exists { .. } | ExprKind::Quantified { .. } => {
            determined = false
        }
        _ => {
            if let Some(column) = info.column_of(node) {
                determined &=
                    shared.contains(&column) && determines_value(&definition.columns()[column].data_type);
            }
        }
    });
    determined
}
