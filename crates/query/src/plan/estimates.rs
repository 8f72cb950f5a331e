//! Estimates of the number of rows that a table, and a join with it, returns.
//!
//! Conditions on one table alone are tried on a [sample](super::statistics) of its rows, or estimated by their form if
//! they cannot be tried. An equality between tables lets one of n rows pass, where n is the larger number of distinct
//! values of both sides.

use super::conditions::{Condition, SlotMap, TableSet};
use super::keys::{Choice, TableInfo};
use super::selectivity::selectivity;
use super::tree::AccessPath;
use paceline_expression::{CompareOp, Expr, ExprKind};

/// Minimum number of sample rows that must pass for the sample to be a good estimate.
const PASSED_MIN: usize = 4;

impl TableInfo<'_> {
    /// Returns the approximate number of rows that pass the conditions on this table alone.
    pub fn local_rows(&self, own: TableSet, conditions: &[&Condition]) -> f64 {
        if let Some(known) = self.local_rows.get() {
            return known;
        }
        let estimate = self.estimate_local_rows(own, conditions);
        self.local_rows.set(Some(estimate));
        estimate
    }

    fn estimate_local_rows(&self, own: TableSet, conditions: &[&Condition]) -> f64 {
        let rows = self.statistics.rows.max(1.0);
        let local: Vec<&Expr> = conditions
            .iter()
            .filter(|condition| condition.tables == own && condition.stable)
            .map(|condition| &condition.expr)
            .collect();
        if local.is_empty() {
            return rows;
        }
        let guess = || {
            local
                .iter()
                .map(|condition| selectivity(condition))
                .product::<f64>()
        };
        let Some(definition) = &self.definition else {
            return rows * guess();
        };
        let tried = self.try_conditions(definition, &local);
        let fraction = match tried {
            Some(tried) if tried.passed >= PASSED_MIN || tried.tried as f64 >= rows => tried.fraction,
            Some(tried) => {
                let most = (PASSED_MIN as f64 / tried.tried as f64).min(1.0);
                guess().min(most).max(tried.fraction * 0.5)
            }
            // The sample may work for some of the conditions and not for others.
            None => local
                .iter()
                .map(|condition| match self.try_conditions(definition, &[condition]) {
                    Some(tried) if tried.passed >= PASSED_MIN => tried.fraction,
                    _ => selectivity(condition),
                })
                .product(),
        };
        (rows * fraction).max(0.01)
    }

    /// Returns the approximate number of distinct values of an expression over this table.
    pub fn distinct_values(&self, expr: &Expr) -> f64 {
        let rows = self.statistics.rows.max(1.0);
        match (self.column_of(expr), &self.definition) {
            (Some(column), Some(definition)) => self.statistics.distinct(definition, column),
            // Derived tables are usually joined by the columns by which they are grouped.
            (Some(_), None) => rows,
            (None, _) => (rows / 3.0).max(1.0),
        }
    }

    /// Returns the approximate number of rows that this table returns for each earlier row, if it is read by this path
    /// and every possible condition is checked.
    pub fn matches(
        &self,
        number: usize,
        conditions: &[&Condition],
        available: TableSet,
        choice: &Choice,
        optimizer: (&[TableInfo<'_>], &SlotMap),
    ) -> f64 {
        let own: TableSet = 1 << number;
        let (tables, slots) = optimizer;
        let is_used = |expr: &Expr| {
            self.column_of(expr)
                .is_some_and(|column| choice.used.contains(&column))
        };
        let (read, mut joined) = match &choice.path {
            AccessPath::Lookup { key, .. } if key.iter().any(|part| slots.tables(&part.value) != 0) => {
                (choice.rows, self.rest_of_local(own, conditions, choice))
            }
            // Kept rows have passed already.
            AccessPath::Hash { .. } => (choice.rows, 1.0),
            // A path that serves all conditions is more accurate than a sample.
            _ if !self.has_rest(own, conditions, choice) => (choice.rows, 1.0),
            _ => (choice.rows.min(self.local_rows(own, conditions)), 1.0),
        };
        // Only the strictest equality of each column counts, because the others follow from it.
        let mut columns: Vec<(usize, f64)> = Vec::new();
        for condition in conditions {
            if condition.tables == own || condition.tables & !(available | own) != 0 {
                continue;
            }
            let ExprKind::Compare {
                op: CompareOp::Eq,
                operands,
                ..
            } = &condition.expr.kind
            else {
                if !matches!(choice.path, AccessPath::Range { .. } | AccessPath::Union { .. }) {
                    joined *= selectivity(&condition.expr);
                }
                continue;
            };
            let [left, right] = &**operands;
            let (inner, outer) = match slots.reads_only(left, own) {
                true => (left, right),
                false => (right, left),
            };
            if is_used(inner) {
                continue;
            }
            let other = slots.tables(outer);
            let others = match other.count_ones() {
                1 => tables[other.trailing_zeros() as usize].distinct_values(outer),
                _ => 1.0,
            };
            let part = 1.0 / self.distinct_values(inner).max(others).max(1.0);
            match self.column_of(inner) {
                None => joined *= part,
                Some(column) => match columns.iter_mut().find(|(known, _)| *known == column) {
                    Some((_, known)) => *known = known.min(part),
                    None => columns.push((column, part)),
                },
            }
        }
        joined *= columns.iter().map(|(_, part)| part).product::<f64>();
        (read * joined).max(1e-6)
    }

    /// Returns whether a condition reads columns whose conditions a path uses up.
    fn reads_used(&self, condition: &Condition, choice: &Choice) -> bool {
        condition.expr.any(&mut |node| {
            self.column_of(node)
                .is_some_and(|column| choice.used.contains(&column))
        })
    }

    /// Returns whether there are conditions on this table alone that a path does not use up.
    fn has_rest(&self, own: TableSet, conditions: &[&Condition], choice: &Choice) -> bool {
        let mut own_conditions = conditions.iter().filter(|condition| condition.tables == own);
        own_conditions.any(|condition| !self.reads_used(condition, choice))
    }

    /// Returns the fraction of the rows found by a lookup that passes the remaining conditions on this table alone.
    fn rest_of_local(&self, own: TableSet, conditions: &[&Condition], choice: &Choice) -> f64 {
        let own_conditions = conditions
            .iter()
            .copied()
            .filter(|condition| condition.tables == own);
        let (used, rest): (Vec<&Condition>, Vec<&Condition>) =
            own_conditions.partition(|condition| self.reads_used(condition, choice));
        match (used.is_empty(), rest.is_empty()) {
            (_, true) => 1.0,
            (true, false) => self.local_rows(own, conditions) / self.statistics.rows.max(1.0),
            (false, false) => rest
                .iter()
                .map(|condition| selectivity(&condition.expr))
                .product(),
        }
    }
}
