//! What an index can serve: the equalities on a table's columns, and what a way of reading the table would cost.
//!
//! Costs are in reads of one row through the primary key. They need to be right only in comparison with each other.

use std::sync::Arc;

use paceline_storage::Clustered;
use paceline_types::Value;
use sqlparser::ast;

use super::block::TableRef;
use super::conditions::{Condition, SlotMap, TableSet};
use super::range::{RangeCondition, Use, index_serves};
use super::statistics::{Statistics, TableStatistics};
use super::tree::{AccessPath, HashKey, LookupPart, TableSource};
use crate::catalog::{IndexDefinition, TableDefinition};
use crate::error::{Error, Result};
use crate::expr::{CompareOp, Comparison, Expr, ExprKind, Truth};
use crate::session::SessionContext;

/// A row of a scan in the order of its index.
pub(crate) const COST_SCANNED_ROW: f64 = 0.2;
/// A row found through a secondary index.
pub(crate) const COST_FETCHED_ROW: f64 = 1.1;
/// Beginning a scan or a lookup.
pub(crate) const COST_SEEK: f64 = 1.0;
/// Looking into a hash table.
const COST_PROBE: f64 = 0.1;

/// A table as the optimizer sees it.
pub(crate) struct TableInfo<'s> {
    pub base: usize,
    pub definition: Option<Arc<TableDefinition>>,
    pub statistics: TableStatistics,
    /// Indexes that hints and IGNORED leave.
    pub usable: Vec<usize>,
    /// FORCE INDEX: all rows only if no index serves.
    pub forced: bool,
    column_count: usize,
    session: &'s SessionContext,
}

/// A way to read a table and what it costs for each row before it.
#[derive(Debug)]
pub(crate) struct Choice {
    pub path: AccessPath,
    pub rows: f64,
    /// For each row before.
    pub cost: f64,
    /// Once.
    pub setup: f64,
    pub possible: Vec<usize>,
}

impl Choice {
    pub fn total(&self, prefix_rows: f64) -> f64 {
        self.setup + self.cost * prefix_rows.max(1.0)
    }
}

/// `column = value` that an index may serve.
struct Equality<'c> {
    column: usize,
    value: &'c Expr,
    null_safe: bool,
    by: &'c Comparison,
    tables: TableSet,
}

impl<'s> TableInfo<'s> {
    pub fn new(table: &TableRef, statistics: &Statistics, session: &'s SessionContext) -> Result<Self> {
        let definition = match &table.source {
            TableSource::Base(definition) => Some(definition.clone()),
            _ => None,
        };
        let (usable, forced) = match &definition {
            Some(definition) => usable_indexes(definition, &table.alias, &table.hints)?,
            None => (Vec::new(), false),
        };
        let known = match (&definition, &table.source) {
            (Some(definition), _) => statistics.table(definition),
            (None, TableSource::Derived(plan)) => {
                TableStatistics::guess(super::join_order::estimated_rows(plan))
            }
            _ => TableStatistics::guess(100.0),
        };
        Ok(TableInfo {
            base: table.base,
            definition,
            statistics: known,
            usable,
            forced,
            column_count: table.slots().len(),
            session,
        })
    }

    fn column_of(&self, expr: &Expr) -> Option<usize> {
        match expr.kind {
            ExprKind::Column(slot) if (self.base..self.base + self.column_count).contains(&slot) => {
                Some(slot - self.base)
            }
            _ => None,
        }
    }

    /// The equalities between a column of this table and something that the available tables give.
    fn equalities<'c>(
        &self,
        conditions: &'c [&Condition],
        available: TableSet,
        slots: &SlotMap,
    ) -> Vec<Equality<'c>> {
        let Some(definition) = &self.definition else {
            return Vec::new();
        };
        let mut found: Vec<Equality<'c>> = Vec::new();
        for condition in conditions {
            let ExprKind::Compare {
                op: op @ (CompareOp::Eq | CompareOp::NullSafeEq),
                by,
                operands,
            } = &condition.expr.kind
            else {
                continue;
            };
            let [left, right] = &**operands;
            for (subject, value) in [(left, right), (right, left)] {
                let Some(column) = self.column_of(subject) else {
                    continue;
                };
                let tables = slots.tables(value);
                if tables & !available != 0
                    || !index_serves(&definition.columns()[column].data_type, by, value, Use::Equality)
                    || !value.is_stable()
                {
                    continue;
                }
                found.push(Equality {
                    column,
                    value,
                    null_safe: *op == CompareOp::NullSafeEq,
                    by,
                    tables,
                });
            }
        }
        // Values that need no other table first: constants make better lookups.
        found.sort_by_key(|equality| equality.tables.count_ones());
        found
    }

    /// What the conditions say about this table's columns, given what is available.
    pub fn range_condition(
        &self,
        conditions: &[&Condition],
        available: TableSet,
        slots: &SlotMap,
    ) -> Option<RangeCondition> {
        let definition = self.definition.as_ref()?;
        let types: Vec<_> = definition
            .columns()
            .iter()
            .map(|column| column.data_type.clone())
            .collect();
        let constant = |expr: &Expr| slots.tables(expr) & !available == 0 && expr.is_stable();
        let mut parts: Vec<_> = conditions
            .iter()
            .filter_map(|condition| RangeCondition::of(&condition.expr, self.base, &types, &constant))
            .collect();
        match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(RangeCondition::And(parts)),
        }
    }

    /// Whether an index is the one that the rows live in.
    pub fn is_clustered(&self, index: usize) -> bool {
        self.definition
            .as_ref()
            .is_some_and(|definition| definition.schema().clustered() == Clustered::Key(index))
    }

    /// The cheapest way to read this table for the conditions that the available tables allow to use.
    pub fn best_access(
        &self,
        own: TableSet,
        conditions: &[&Condition],
        available: TableSet,
        slots: &SlotMap,
    ) -> Choice {
        let rows = self.statistics.rows.max(1.0);
        let Some(definition) = &self.definition else {
            return self.best_unindexed(own, conditions, available, slots, rows);
        };
        let equalities = self.equalities(conditions, available, slots);
        let mut possible = Vec::new();
        let mut best: Option<Choice> = None;
        let offer = |best: &mut Option<Choice>, choice: Choice| {
            if best.as_ref().is_none_or(|best| choice.cost < best.cost) {
                *best = Some(choice);
            }
        };
        for &index in &self.usable {
            let index_definition = &definition.indexes()[index];
            if let Some(choice) = self.lookup(index, index_definition, conditions, &equalities) {
                possible.push(index);
                offer(&mut best, choice);
            }
        }
        if best.as_ref().is_none_or(|best| best.rows > 1.0)
            && let Some(condition) = self.range_condition(conditions, available, slots)
        {
            for &index in &self.usable {
                let index_definition = &definition.indexes()[index];
                if !condition.restricts(index_definition.parts[0].column) {
                    continue;
                }
                if !possible.contains(&index) {
                    possible.push(index);
                }
                let range_rows = self
                    .statistics
                    .range_rows(definition, index, &condition, self.session)
                    .clamp(0.5, rows);
                let per_row = if self.is_clustered(index) {
                    COST_SCANNED_ROW
                } else {
                    COST_FETCHED_ROW
                };
                let choice = Choice {
                    path: AccessPath::Range {
                        index,
                        condition: condition.clone(),
                    },
                    rows: range_rows,
                    cost: COST_SEEK + range_rows * per_row,
                    setup: 0.0,
                    possible: Vec::new(),
                };
                offer(&mut best, choice);
            }
        }
        if best.as_ref().is_none_or(|best| best.rows > 1.0)
            && let Some(choice) = self.union(definition, conditions, available, slots, &mut possible)
        {
            offer(&mut best, choice);
        }
        possible.sort_unstable();
        let scan_cost = COST_SEEK + rows * COST_SCANNED_ROW;
        let mut choice = match best {
            // An index that serves is taken also where a scan of a small table would cost the same.
            Some(best) if self.forced || best.cost <= scan_cost * 1.2 + 2.0 => best,
            _ => self.best_unindexed(own, conditions, available, slots, rows),
        };
        choice.possible = possible;
        choice
    }

    /// Ranges of several indexes, where the parts of an OR restrict different columns.
    fn union(
        &self,
        definition: &TableDefinition,
        conditions: &[&Condition],
        available: TableSet,
        slots: &SlotMap,
        possible: &mut Vec<usize>,
    ) -> Option<Choice> {
        let types: Vec<_> = definition
            .columns()
            .iter()
            .map(|column| column.data_type.clone())
            .collect();
        let constant = |expr: &Expr| slots.tables(expr) & !available == 0 && expr.is_stable();
        let mut best: Option<Choice> = None;
        for condition in conditions {
            let ExprKind::Or(alternatives) = &condition.expr.kind else {
                continue;
            };
            let mut parts = Vec::with_capacity(alternatives.len());
            let (mut rows, mut cost) = (0.0, 0.0);
            for alternative in alternatives {
                let range = RangeCondition::of(alternative, self.base, &types, &constant);
                let cheapest = range.and_then(|range| {
                    let usable = self.usable.iter().copied();
                    usable
                        .filter(|&index| range.restricts(definition.indexes()[index].parts[0].column))
                        .map(|index| {
                            (
                                index,
                                self.statistics
                                    .range_rows(definition, index, &range, self.session),
                            )
                        })
                        .min_by(|left, right| left.1.total_cmp(&right.1))
                        .map(|(index, rows)| (index, rows, range))
                });
                let Some((index, found, range)) = cheapest else {
                    break;
                };
                let per_row = if self.is_clustered(index) {
                    COST_SCANNED_ROW
                } else {
                    COST_FETCHED_ROW
                };
                rows += found;
                cost += COST_SEEK + found * per_row;
                parts.push((index, range));
            }
            if parts.len() < alternatives.len() {
                continue;
            }
            for (index, _) in &parts {
                if !possible.contains(index) {
                    possible.push(*index);
                }
            }
            // One index would have been found by itself.
            let several = parts.iter().any(|(index, _)| *index != parts[0].0);
            if several && best.as_ref().is_none_or(|best| cost < best.cost) {
                let path = AccessPath::Union { parts };
                best = Some(Choice {
                    path,
                    rows,
                    cost,
                    setup: 0.0,
                    possible: Vec::new(),
                });
            }
        }
        best
    }

    /// All rows, or a hash table of them.
    fn best_unindexed(
        &self,
        own: TableSet,
        conditions: &[&Condition],
        available: TableSet,
        slots: &SlotMap,
        rows: f64,
    ) -> Choice {
        let all = Choice {
            path: AccessPath::All,
            rows,
            cost: COST_SEEK + rows * COST_SCANNED_ROW,
            setup: 0.0,
            possible: Vec::new(),
        };
        if available == 0 {
            return all;
        }
        let mut keys = Vec::new();
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
                // The hash table is made once a statement.
                if slots.reads_only(inner, own)
                    && outer_tables != 0
                    && outer_tables & !available == 0
                    && outer.is_stable()
                    && inner.is_stable()
                {
                    keys.push(HashKey {
                        inner: inner.clone(),
                        outer: outer.clone(),
                        by: by.clone(),
                    });
                    break;
                }
            }
        }
        if keys.is_empty() {
            return all;
        }
        let matching = (rows / 10.0f64.powi(keys.len() as i32)).max(1.0);
        Choice {
            path: AccessPath::Hash { keys },
            rows: matching,
            cost: COST_PROBE * (1.0 + matching),
            setup: COST_SEEK + rows * (COST_SCANNED_ROW + 0.1),
            possible: Vec::new(),
        }
    }

    fn lookup(
        &self,
        index: usize,
        definition: &IndexDefinition,
        conditions: &[&Condition],
        equalities: &[Equality<'_>],
    ) -> Option<Choice> {
        let table = self.definition.as_ref()?;
        let mut key = Vec::new();
        for part in &definition.parts {
            let equality = equalities.iter().find(|equality| equality.column == part.column);
            let lookup = match equality {
                Some(equality) => LookupPart {
                    value: equality.value.clone(),
                    null_safe: equality.null_safe,
                    by: equality.by.clone(),
                },
                None => match conditions
                    .iter()
                    .any(|condition| self.is_null_test(&condition.expr, part.column))
                {
                    true => LookupPart {
                        value: Expr::null(),
                        null_safe: true,
                        by: Comparison::Int,
                    },
                    false => break,
                },
            };
            key.push(lookup);
        }
        if key.is_empty() {
            return None;
        }
        let whole = key.len() == definition.parts.len()
            && definition.parts.iter().all(|part| part.prefix_length.is_none());
        let nulls = key
            .iter()
            .zip(&definition.parts)
            .any(|(part, definition)| part.null_safe && table.columns()[definition.column].nullable);
        let unique = whole && definition.kind.is_unique() && !nulls;
        let rows = if unique {
            1.0
        } else {
            self.statistics.rows_per_key(index, key.len())
        };
        let per_row = if self.is_clustered(index) {
            COST_SCANNED_ROW
        } else {
            COST_FETCHED_ROW
        };
        let cost = if unique && self.is_clustered(index) {
            1.0
        } else {
            COST_SEEK + rows * per_row
        };
        Some(Choice {
            path: AccessPath::Lookup { index, key, unique },
            rows,
            cost,
            setup: 0.0,
            possible: Vec::new(),
        })
    }

    fn is_null_test(&self, expr: &Expr, column: usize) -> bool {
        match &expr.kind {
            ExprKind::Is {
                test: Truth::Null,
                negated: false,
                operand,
            } => self.column_of(operand) == Some(column),
            _ => false,
        }
    }
}

/// The indexes that a table's hints leave, and whether FORCE INDEX was among them.
fn usable_indexes(
    definition: &TableDefinition,
    alias: &str,
    hints: &[ast::TableIndexHints],
) -> Result<(Vec<usize>, bool)> {
    let mut usable: Vec<usize> = (0..definition.indexes().len())
        .filter(|&index| !definition.indexes()[index].ignored)
        .collect();
    let mut chosen: Option<Vec<usize>> = None;
    let mut forced = false;
    for hint in hints {
        let mut named = Vec::with_capacity(hint.index_names.len());
        for name in &hint.index_names {
            let index = definition
                .indexes()
                .iter()
                .position(|index| index.name.eq_ignore_ascii_case(&name.value));
            named.push(index.ok_or_else(|| {
                Error::new(
                    paceline_types::error_code::ER_KEY_DOES_NOT_EXISTS,
                    &[&name.value, &alias],
                )
            })?);
        }
        match hint.hint_type {
            ast::TableIndexHintType::Use => chosen.get_or_insert_default().extend(named),
            ast::TableIndexHintType::Force => {
                chosen.get_or_insert_default().extend(named);
                forced = true;
            }
            ast::TableIndexHintType::Ignore => usable.retain(|index| !named.contains(index)),
        }
    }
    if let Some(chosen) = chosen {
        usable.retain(|index| chosen.contains(index));
    }
    Ok((usable, forced))
}

/// About which part of the rows a condition lets pass, when no index tells.
pub(crate) fn selectivity(expr: &Expr) -> f64 {
    match &expr.kind {
        ExprKind::Compare {
            op: CompareOp::Eq | CompareOp::NullSafeEq,
            ..
        } => 0.1,
        ExprKind::Compare {
            op: CompareOp::Ne, ..
        } => 0.9,
        ExprKind::Compare { .. } | ExprKind::Between { .. } => 0.33,
        ExprKind::InList {
            list, negated: false, ..
        } => (list.len() as f64 * 0.1).min(0.5),
        ExprKind::Is {
            test: Truth::Null,
            negated: false,
            ..
        } => 0.1,
        ExprKind::Like { .. } => 0.3,
        ExprKind::And(parts) => parts.iter().map(selectivity).product(),
        ExprKind::Or(parts) => parts.iter().map(selectivity).sum::<f64>().min(1.0),
        ExprKind::Literal(Value::Int(0) | Value::Null) => 0.0,
        ExprKind::Exists { .. } | ExprKind::Quantified { .. } => 0.5,
        _ => 1.0,
    }
}

/// Whether a hash table can be used for a comparison: equal values must have equal keys without knowing both types.
fn can_hash(by: &Comparison, left: &crate::expr::ExprType, right: &crate::expr::ExprType) -> bool {
    use crate::expr::Class;
    match by {
        Comparison::Int | Comparison::Decimal | Comparison::Double | Comparison::Bytes => true,
        Comparison::Text(_) => left.class() == Class::String && right.class() == Class::String,
        // DATE and DATETIME have one kind of key; an instant depends on the time zone.
        Comparison::DateTime => [left, right].iter().all(|ty| {
            matches!(
                ty.data_type,
                paceline_types::DataType::Date | paceline_types::DataType::DateTime { .. }
            )
        }),
        Comparison::Time => left.class() == Class::Time && right.class() == Class::Time,
        Comparison::Dynamic(_) | Comparison::Row(_) => false,
    }
}
