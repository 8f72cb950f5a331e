//! Join buffers: a table is read once and its rows are kept, as a hash table for joins by equality, else as a list.
//!
//! The rows that pass the conditions on the table alone are read by the best path for these conditions. They are stored
//! in a hash table by the values of the equalities with the tables before, or in a list without an equality. So an
//! inner table costs one read, and a probe for each row before it, instead of a read for each row.

use super::conditions::{Condition, SlotMap, TableSet, for_each_slot};
use super::keys::{COST_SCANNED_ROW, COST_SEEK, Choice, ConsideredPath, TableInfo, can_hash};
use super::range::RangeCondition;
use super::tree::{AccessPath, HashKey, JoinKind, JoinStep, StepSource, TableAccess};
use paceline_expression::{CompareOp, Expr, ExprKind};

/// Cost of a probe of a hash table.
const COST_PROBE: f64 = 0.1;
/// Cost of a row that a probe returns.
const COST_KEPT_ROW: f64 = 0.04;
/// Cost of adding a row.
const COST_KEEPING_ROW: f64 = 0.15;
/// Maximum number of rows of a table that is kept although an index can be used.
const KEPT_ROWS_MAX: f64 = 2_000_000.0;

/// Conditions for keeping rows instead of reading them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffering {
    /// Rows are kept if it is cheaper.
    Free,
    /// Rows are kept if no index can be used: a LIMIT may need few rows, and then the table need not be read as a
    /// whole.
    WithoutIndex,
    /// All rows are kept in a hash table, if no index can be used: rows are locked when they match.
    Locking,
}

/// Access paths of a table after others.
#[derive(Debug)]
pub(crate) struct Candidates {
    pub direct: Choice,
    pub kept: Option<Choice>,
    /// All that were compared, for the optimizer trace; empty if it is off.
    pub considered: Vec<ConsideredPath>,
}

impl Candidates {
    /// Returns the cheaper one for this number of rows before the table.
    pub fn best(&self, prefix_rows: f64) -> &Choice {
        match &self.kept {
            Some(kept) if kept.total(prefix_rows) < self.direct.total(prefix_rows) => kept,
            _ => &self.direct,
        }
    }
}

impl TableInfo<'_> {
    /// Returns the access paths of this table for the conditions that need only available tables.
    pub fn candidates(
        &self,
        number: usize,
        conditions: &[&Condition],
        available: TableSet,
        slots: &SlotMap,
        buffering: Buffering,
    ) -> Candidates {
        let direct = self.best_access(conditions, available, slots);
        let mut considered = self.take_considered();
        let by_index = !matches!(direct.path, AccessPath::All);
        // A document that reads other tables has other rows for each of theirs.
        let is_fixed = self.json.as_ref().is_none_or(|json| json.is_fixed());
        let is_buffer_possible =
            available != 0 && is_fixed && !(by_index && (self.forced || buffering != Buffering::Free));
        let kept =
            is_buffer_possible.then(|| self.kept(number, conditions, available, slots, buffering, &direct));
        let kept = kept.flatten();
        if self.considered.borrow().is_some() {
            // The paths to fill the buffer are not alternatives to it.
            self.take_considered();
            considered.extend(kept.iter().map(|kept| ConsideredPath {
                path: kept.path.clone(),
                rows: kept.rows,
                cost: kept.total(1.0),
            }));
        }
        Candidates {
            kept,
            direct,
            considered,
        }
    }

    fn kept(
        &self,
        number: usize,
        conditions: &[&Condition],
        available: TableSet,
        slots: &SlotMap,
        buffering: Buffering,
        direct: &Choice,
    ) -> Option<Choice> {
        let own = 1 << number;
        let keys = hash_keys(conditions, own, available, slots);
        if keys.is_empty() && buffering == Buffering::Locking {
            return None;
        }
        let all = Choice::all(self.statistics.rows.max(1.0));
        let (source, filter) = match buffering {
            Buffering::Locking => (all, Vec::new()),
            Buffering::Free | Buffering::WithoutIndex => {
                let best = self.best_access(conditions, 0, slots);
                let source = if is_fixed_path(&best.path) { best } else { all };
                let own_conditions = conditions
                    .iter()
                    .filter(|condition| is_fixed(condition, own, slots));
                let filter = own_conditions.map(|condition| condition.expr.clone()).collect();
                (source, filter)
            }
        };
        let local = self.local_rows(own, conditions).min(source.rows).max(0.5);
        if !matches!(direct.path, AccessPath::All) && local > KEPT_ROWS_MAX {
            return None;
        }
        let different: f64 = keys
            .iter()
            .map(|key| self.distinct_values(&key.inner).min(local.max(1.0)))
            .product();
        let matching = (local / different.max(1.0)).max(0.01);
        let setup = COST_SEEK + source.cost + local * COST_KEEPING_ROW;
        let used = keys.iter().filter_map(|key| self.column_of(&key.inner)).collect();
        let access = TableAccess {
            possible: source.possible,
            ..TableAccess::new(number, source.path, source.rows)
        };
        let source = JoinStep::new(JoinKind::Inner, StepSource::Table(access), Vec::new(), filter);
        Some(Choice {
            path: AccessPath::Hash {
                keys,
                source: Box::new(source),
            },
            rows: matching,
            cost: COST_PROBE + matching * COST_KEPT_ROW,
            setup,
            possible: direct.possible.clone(),
            used,
        })
    }
}

impl Choice {
    /// Returns the scan of all rows.
    pub fn all(rows: f64) -> Self {
        Choice {
            path: AccessPath::All,
            rows,
            cost: COST_SEEK + rows * COST_SCANNED_ROW,
            setup: 0.0,
            possible: Vec::new(),
            used: Vec::new(),
        }
    }
}

/// Returns the equalities between an expression over the table and one over the tables before, one for each expression.
fn hash_keys(conditions: &[&Condition], own: TableSet, available: TableSet, slots: &SlotMap) -> Vec<HashKey> {
    let mut keys: Vec<HashKey> = Vec::new();
    for condition in conditions {
        let ExprKind::Compare {
            op: CompareOp::Eq,
            by,
            operands,
        } = &condition.expr.kind
        else {
            continue;
        };
        let [left, right] = &**operands;
        if !can_hash(by, &left.ty, &right.ty) {
            continue;
        }
        for (inner, outer) in [(left, right), (right, left)] {
            let outer_tables = slots.tables(outer);
            // The hash table is filled once per statement.
            if slots.reads_only(inner, own)
                && outer_tables != 0
                && outer_tables & !available == 0
                && outer.is_stable()
                && inner.is_stable()
            {
                if !keys
                    .iter()
                    .any(|key| super::same_expr::same_expr(&key.inner, inner))
                {
                    keys.push(HashKey {
                        inner: inner.clone(),
                        outer: outer.clone(),
                        by: by.clone(),
                    });
                }
                break;
            }
        }
    }
    keys
}

/// Returns whether a condition reads only this table and has the same result throughout the statement. Then it is
/// checked only when the rows are kept.
pub(super) fn is_fixed(condition: &Condition, own: TableSet, slots: &SlotMap) -> bool {
    condition.stable && slots.reads_only(&condition.expr, own) && !reads_variable(&condition.expr)
}

/// Returns whether a path has the same rows throughout the statement.
fn is_fixed_path(path: &AccessPath) -> bool {
    let is_fixed = |expr: &Expr| {
        let mut reads_row = false;
        for_each_slot(expr, &mut |_| reads_row = true);
        !reads_row && expr.is_stable() && !reads_variable(expr)
    };
    let all_fixed = |condition: &RangeCondition| {
        let mut all = true;
        condition.for_each_value(&mut |value| all = all && is_fixed(value));
        all
    };
    match path {
        AccessPath::All | AccessPath::Index { .. } => true,
        AccessPath::Lookup { key, .. } => key.iter().all(|part| is_fixed(&part.value)),
        AccessPath::Range { condition, .. } => all_fixed(condition),
        AccessPath::Union { parts } => parts.iter().all(|(_, condition)| all_fixed(condition)),
        AccessPath::Hash { .. } => false,
    }
}

/// Returns whether an expression reads a variable, which may be assigned while the statement runs.
fn reads_variable(expr: &Expr) -> bool {
    expr.any(&mut |node| matches!(node.kind, ExprKind::UserVariable(_)))
}
