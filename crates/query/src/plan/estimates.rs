//! Estimated number of rows of a table, and of a join with it.
//!
//! Conditions on one table are tried on a [sample](super::statistics) of its rows. If that is impossible, the estimate
//! follows from their form. Of an equality between tables one row in n passes, where n is the larger number of
//! different values of the two sides.

use super::conditions::{Condition, SlotMap, TableSet};
use super::keys::{Choice, TableInfo};
use super::selectivity::selectivity;
use super::tree::AccessPath;
use paceline_expression::{CompareOp, Expr, ExprKind};

/// Minimum number of passing rows for which the sample's share is a good estimate.
const PASSED_MIN: usize = 4;

impl TableInfo<'_> {
    /// Returns the estimated number of rows that pass the conditions on this table alone.
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
            // Some conditions can be tried and others cannot.
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

    /// Returns the estimated number of different values of an expression over this table.
    pub fn distinct_values(&self, expr: &Expr) -> f64 {
        let rows = self.statistics.rows.max(1.0);
        match (self.column_of(expr), &self.definition) {
            (Some(column), Some(definition)) => self.statistics.distinct(definition, column),
            // Derived tables are usually joined by the columns that they are grouped by.
            (Some(_), None) => rows,
            (None, _) => (rows / 3.0).max(1.0),
        }
    }

    /// Returns the estimated number of rows of this table for each row before it, for an access path and with all
    /// conditions that can be checked.
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
            // The estimate of a path that serves all conditions is better than that of a sample.
            _ if !self.has_rest(own, conditions, choice) => (choice.rows, 1.0),
            _ => (choice.rows.min(self.local_rows(own, conditions)), 1.0),
        };
        // Of the equalities of one column only the strictest counts: the others follow from it.
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

    /// Returns whether a condition reads columns whose conditions a path guarantees.
    fn reads_used(&self, condition: &Condition, choice: &Choice) -> bool {
        condition.expr.any(&mut |node| {
            self.column_of(node)
                .is_some_and(|column| choice.used.contains(&column))
        })
    }

    /// Returns whether there are conditions on this table alone that a path does not guarantee.
    fn has_rest(&self, own: TableSet, conditions: &[&Condition], choice: &Choice) -> bool {
        let mut own_conditions = conditions.iter().filter(|condition| condition.tables == own);
        own_conditions.any(|condition| !self.reads_used(condition, choice))
    }

    /// Returns the share of a lookup's rows that pass the conditions on this table alone that the lookup does not
    /// guarantee.
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
