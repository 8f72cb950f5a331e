//! Access paths of one table: the conditions that an index can serve, and the cost of each path.
//!
//! The unit of cost is the read of one row by the primary key. Only the ratio of costs matters.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use paceline_storage::RowPlacement;

use super::conditions::{Condition, SlotMap, TableSet};
use super::json_table_plan::JsonTablePlan;
use super::known_values::KnownValues;
use super::range::{RangeCondition, Use, is_index_usable};
use super::statistics::{SampleResult, Statistics, TableStatistics};
use super::table_ref::TableRef;
use super::tree::{AccessPath, LookupPart, TableSource};
use crate::error::{Error, Result};
use paceline_catalog::{IndexDefinition, TableDefinition};
use paceline_expression::{CompareOp, Comparison, Expr, ExprKind, Truth};
use paceline_syntax::ast;

/// Cost of a row in a scan in the order of its index. Its processor time is an eleventh of that of a fetched row: 0.2
/// to 0.4 µs and 4 µs, for 600,000 rows of TPC-H's `lineitem` and the 91,000 rows in a range of a secondary index.
pub(crate) const COST_SCANNED_ROW: f64 = 0.1;
/// Cost of a row that is found through a secondary index.
pub(crate) const COST_FETCHED_ROW: f64 = 1.1;
/// Cost of the start of a scan or a lookup.
pub(crate) const COST_SEEK: f64 = 1.0;
/// Rows that a JSON_TABLE is expected to have: MariaDB's number.
const JSON_ROWS: f64 = 40.0;

/// A table as the optimizer sees it.
pub(crate) struct TableInfo<'s> {
    pub base: usize,
    pub definition: Option<Arc<TableDefinition>>,
    /// The JSON_TABLE, if the table is one.
    pub json: Option<Arc<JsonTablePlan>>,
    pub statistics: TableStatistics,
    /// Indexes that hints and IGNORED allow.
    pub usable: Vec<usize>,
    /// FORCE INDEX: the table is scanned only if no index can be used.
    pub forced: bool,
    /// Usable indexes whose entries contain all columns that the query reads.
    pub covering: Vec<usize>,
    column_count: usize,
    known: KnownValues<'s>,
    /// Number of rows that pass the conditions on this table alone, after its first use.
    pub local_rows: Cell<Option<f64>>,
    /// Paths that [`Self::best_access`] has compared, for the optimizer trace; `None` if it is off.
    pub considered: RefCell<Option<Vec<ConsideredPath>>>,
}

/// An access path that was compared with others.
#[derive(Debug, Clone)]
pub(crate) struct ConsideredPath {
    pub path: AccessPath,
    pub rows: f64,
    pub cost: f64,
}

/// An access path of a table with its costs.
#[derive(Debug)]
pub(crate) struct Choice {
    pub path: AccessPath,
    pub rows: f64,
    /// Cost for each row of the tables before it.
    pub cost: f64,
    /// Cost per execution.
    pub setup: f64,
    pub possible: Vec<usize>,
    /// Columns whose conditions the path guarantees for all its rows.
    pub used: Vec<usize>,
}

impl Choice {
    pub fn total(&self, prefix_rows: f64) -> f64 {
        self.setup + self.cost * prefix_rows.max(1.0)
    }

    /// Returns whether it is a lookup of a key that several rows may have, by values that need no other table.
    fn looks_for_several_rows(&self, slots: &SlotMap) -> bool {
        match &self.path {
            AccessPath::Lookup {
                key, unique: false, ..
            } => key.iter().all(|part| slots.tables(&part.value) == 0),
            _ => false,
        }
    }
}

/// `column = value` for which an index may be used.
struct Equality<'c> {
    column: usize,
    value: &'c Expr,
    null_safe: bool,
    by: &'c Comparison,
    tables: TableSet,
}

impl<'s> TableInfo<'s> {
    pub fn new(table: &TableRef, statistics: &Statistics, known: KnownValues<'s>) -> Result<Self> {
        let definition = match &table.source {
            TableSource::Base(definition) => Some(definition.clone()),
            _ => None,
        };
        let (usable, forced) = match &definition {
            Some(definition) => usable_indexes(definition, &table.alias, &table.hints)?,
            None => (Vec::new(), false),
        };
        let statistics = match (&definition, &table.source) {
            (Some(definition), _) => statistics.table(definition),
            (None, TableSource::Derived(plan)) => {
                TableStatistics::guess(super::selectivity::estimated_rows(plan))
            }
            (None, TableSource::Series(series)) => TableStatistics::guess(series.count() as f64),
            (None, TableSource::Json(_)) => TableStatistics::guess(JSON_ROWS),
            _ => TableStatistics::guess(100.0),
        };
        let used: Vec<usize> = (0..table.used.len())
            .filter(|&column| table.used[column])
            .collect();
        let covers = |index: &usize| {
            let schema = definition.as_ref().map(|definition| definition.schema());
            schema.is_some_and(|schema| schema.entry_reader(*index, &used).is_some())
        };
        let covering = usable.iter().copied().filter(covers).collect();
        let json = match &table.source {
            TableSource::Json(json) => Some(json.clone()),
            _ => None,
        };
        Ok(TableInfo {
            base: table.base,
            json,
            definition,
            statistics,
            usable,
            forced,
            covering,
            column_count: table.slots().len(),
            known,
            local_rows: Cell::new(None),
            considered: RefCell::new(None),
        })
    }

    pub fn column_of(&self, expr: &Expr) -> Option<usize> {
        match expr.kind {
            ExprKind::Column(slot) if (self.base..self.base + self.column_count).contains(&slot) => {
                Some(slot - self.base)
            }
            _ => None,
        }
    }

    /// Tries conditions on this table on a sample of its rows.
    pub fn try_conditions(&self, definition: &TableDefinition, conditions: &[&Expr]) -> Option<SampleResult> {
        self.statistics
            .try_conditions(definition, self.base, conditions, self.known)
    }

    /// Returns the equalities between a column of this table and a value that needs only available tables.
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
                    || !is_index_usable(&definition.columns()[column].data_type, by, value, Use::Equality)
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
        // Values that need no other table come first: constants make better lookups.
        found.sort_by_key(|equality| equality.tables.count_ones());
        found
    }

    /// Returns what the conditions require of this table's columns, as far as it needs only available tables.
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

    /// Returns whether an index is the clustered one.
    pub fn is_clustered(&self, index: usize) -> bool {
        self.definition
            .as_ref()
            .is_some_and(|definition| definition.schema().clustered() == RowPlacement::Key(index))
    }

    /// Returns the cost of reading a row by an index, which may have to be fetched from the clustered index.
    pub fn cost_of_row(&self, index: usize) -> f64 {
        match self.is_clustered(index) || self.covering.contains(&index) {
            true => COST_SCANNED_ROW,
            false => COST_FETCHED_ROW,
        }
    }

    /// Returns the estimated number of rows in the ranges of a condition on an index.
    pub fn range_rows(&self, index: usize, condition: &RangeCondition) -> Option<f64> {
        let definition = self.definition.as_ref()?;
        Some(
            self.statistics
                .range_rows(definition, index, condition, self.known),
        )
    }

    /// Returns what the conditions of a step require of the table, if no other table is read before it.
    pub fn condition_of_first(&self, conditions: &[Expr]) -> Option<RangeCondition> {
        let definition = self.definition.as_ref()?;
        let types: Vec<_> = definition
            .columns()
            .iter()
            .map(|column| column.data_type.clone())
            .collect();
        let constant =
            |expr: &Expr| expr.is_stable() && !expr.any(&mut |node| self.column_of(node).is_some());
        let mut parts: Vec<_> = conditions
            .iter()
            .filter_map(|condition| RangeCondition::of(condition, self.base, &types, &constant))
            .collect();
        match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(RangeCondition::And(parts)),
        }
    }

    /// Returns the cheapest access path for the conditions that need only available tables.
    pub fn best_access(&self, conditions: &[&Condition], available: TableSet, slots: &SlotMap) -> Choice {
        let rows = self.statistics.rows.max(1.0);
        let Some(definition) = &self.definition else {
            return Choice::all(rows);
        };
        let equalities = self.equalities(conditions, available, slots);
        let mut possible = Vec::new();
        let mut best: Option<Choice> = None;
        let offer = |best: &mut Option<Choice>, choice: Choice| {
            self.consider(&choice);
            if best.as_ref().is_none_or(|best| choice.cost < best.cost) {
                *best = Some(choice);
            }
        };
        // Lookups of constants, by index. The index tells how many rows they find, as for a range.
        let mut of_constants: Vec<(usize, Choice)> = Vec::new();
        for &index in &self.usable {
            let index_definition = &definition.indexes()[index];
            if let Some(choice) = self.lookup(index, index_definition, conditions, &equalities) {
                possible.push(index);
                match choice.looks_for_several_rows(slots) {
                    true => of_constants.push((index, choice)),
                    false => offer(&mut best, choice),
                }
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
                    .range_rows(definition, index, &condition, self.known)
                    .clamp(0.5, rows);
                let cost = COST_SEEK + range_rows * self.cost_of_row(index);
                let lookup = of_constants.iter().position(|(of_index, _)| *of_index == index);
                // A lookup of these columns equals the range, unless the conditions restrict the next column too.
                let lookup = lookup
                    .map(|number| of_constants.swap_remove(number).1)
                    .filter(|lookup| {
                        let next = index_definition.parts.get(lookup.used.len());
                        next.is_none_or(|part| !condition.restricts(part.column))
                    });
                let choice = match lookup {
                    Some(lookup) => Choice {
                        rows: range_rows,
                        cost,
                        ..lookup
                    },
                    None => Choice {
                        path: AccessPath::Range {
                            index,
                            condition: condition.clone(),
                        },
                        rows: range_rows,
                        cost,
                        setup: 0.0,
                        possible: Vec::new(),
                        used: vec![index_definition.parts[0].column],
                    },
                };
                offer(&mut best, choice);
            }
        }
        for (_, choice) in of_constants {
            offer(&mut best, choice);
        }
        if best.as_ref().is_none_or(|best| best.rows > 1.0)
            && let Some(choice) = self.union(definition, conditions, available, slots, &mut possible)
        {
            offer(&mut best, choice);
        }
        possible.sort_unstable();
        let scan_cost = COST_SEEK + rows * COST_SCANNED_ROW;
        let mut choice = match best {
            // A usable index is preferred to a scan of a small table at the same cost.
            Some(best) if self.forced || best.cost <= scan_cost * 1.2 + 2.0 => best,
            _ => Choice::all(rows),
        };
        self.consider(&Choice::all(rows));
        choice.possible = possible;
        choice
    }

    /// Notes a path for the optimizer trace.
    fn consider(&self, choice: &Choice) {
        if let Some(considered) = &mut *self.considered.borrow_mut() {
            considered.push(ConsideredPath {
                path: choice.path.clone(),
                rows: choice.rows,
                cost: choice.total(1.0),
            });
        }
    }

    /// Takes the paths that were noted.
    pub fn take_considered(&self) -> Vec<ConsideredPath> {
        let mut considered = self.considered.borrow_mut();
        considered.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns ranges of several indexes, if the parts of an OR restrict different columns.
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
                                self.statistics.range_rows(definition, index, &range, self.known),
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
            // A single index was found before.
            let several = parts.iter().any(|(index, _)| *index != parts[0].0);
            if several && best.as_ref().is_none_or(|best| cost < best.cost) {
                let path = AccessPath::Union { parts };
                best = Some(Choice {
                    path,
                    rows,
                    cost,
                    setup: 0.0,
                    possible: Vec::new(),
                    used: Vec::new(),
                });
            }
        }
        best
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
        let per_row = self.cost_of_row(index);
        let cost = if unique && self.is_clustered(index) {
            1.0
        } else {
            COST_SEEK + rows * per_row
        };
        let used = definition.parts[..key.len()].iter().map(|part| part.column);
        Some(Choice {
            used: used.collect(),
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

/// Returns the indexes that a table's hints allow, and whether there is a FORCE INDEX.
fn usable_indexes(
    definition: &TableDefinition,
    alias: &str,
    hints: &[ast::IndexHint],
) -> Result<(Vec<usize>, bool)> {
    let mut usable: Vec<usize> = (0..definition.indexes().len())
        .filter(|&index| !definition.indexes()[index].ignored && !definition.indexes()[index].hashed)
        .collect();
    let mut chosen: Option<Vec<usize>> = None;
    let mut forced = false;
    for hint in hints {
        let mut named = Vec::with_capacity(hint.indexes.len());
        for name in &hint.indexes {
            let index = definition
                .indexes()
                .iter()
                .position(|index| index.name.eq_ignore_ascii_case(name));
            named.push(index.ok_or_else(|| {
                Error::new(
                    paceline_types::error_code::ER_KEY_DOES_NOT_EXISTS,
                    &[name, &alias],
                )
            })?);
        }
        match hint.kind {
            ast::HintKind::Use => chosen.get_or_insert_default().extend(named),
            ast::HintKind::Force => {
                chosen.get_or_insert_default().extend(named);
                forced = true;
            }
            ast::HintKind::Ignore => usable.retain(|index| !named.contains(index)),
        }
    }
    if let Some(chosen) = chosen {
        usable.retain(|index| chosen.contains(index));
    }
    Ok((usable, forced))
}

/// Returns whether a hash table can be used for a comparison: equal values must have equal keys without knowledge of
/// the other side's type.
pub(super) fn can_hash(
    by: &Comparison,
    left: &paceline_expression::ExprType,
    right: &paceline_expression::ExprType,
) -> bool {
    use paceline_expression::Class;
    match by {
        Comparison::Int | Comparison::Decimal | Comparison::Double | Comparison::Bytes => true,
        Comparison::Text(_) => left.class() == Class::String && right.class() == Class::String,
        // DATE and DATETIME have the same kind of key. A TIMESTAMP depends on the time zone.
        Comparison::DateTime => [left, right].iter().all(|ty| {
            matches!(
                ty.data_type,
                paceline_types::DataType::Date | paceline_types::DataType::DateTime { .. }
            )
        }),
        Comparison::Time => left.class() == Class::Time && right.class() == Class::Time,
        Comparison::FixedBinary(_) => true,
        Comparison::FixedDouble(_) | Comparison::Dynamic { .. } | Comparison::Row(_) => false,
    }
}
