//! How many rows come out of a table, and out of a join with it.
//!
//! Conditions on one table alone are tried on a [sample](super::statistics) of its rows; where they cannot be, their
//! form tells. An equality between tables lets one of so many rows pass as the richer side has different values.

use super::conditions::{Condition, SlotMap, TableSet};
use super::keys::{Choice, TableInfo};
use super::selectivity::selectivity;
use super::tree::AccessPath;
use paceline_expression::{CompareOp, Expr, ExprKind};

/// Fewer rows of a sample than this tell little of how many pass.
const PASSED_MIN: usize = 4;

impl TableInfo<'_> {
    /// About how many rows of this table pass the conditions on it alone.
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
            // Some can be tried and some cannot.
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

    /// About how many different values an expression over this table has.
    pub fn distinct_values(&self, expr: &Expr) -> f64 {
        let rows = self.statistics.rows.max(1.0);
        match (self.column_of(expr), &self.definition) {
            (Some(column), Some(definition)) => self.statistics.distinct(definition, column),
            // Derived tables are joined by what they are grouped by, as a rule.
            (Some(_), None) => rows,
            (None, _) => (rows / 3.0).max(1.0),
        }
    }

    /// About how many rows this table gives for each row before it, when it is read by a path and every condition is
    /// checked that can be.
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
            // What was kept passes already.
            AccessPath::Hash { .. } => (choice.rows, 1.0),
            // A path that serves all conditions knows better than a sample.
            _ if !self.has_rest(own, conditions, choice) => (choice.rows, 1.0),
            _ => (choice.rows.min(self.local_rows(own, conditions)), 1.0),
        };
        // Of the equalities of one column the strictest counts: the others follow from it.
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

    /// Whether a condition reads columns that a path uses up.
    fn reads_used(&self, condition: &Condition, choice: &Choice) -> bool {
        condition.expr.any(&mut |node| {
            self.column_of(node)
                .is_some_and(|column| choice.used.contains(&column))
        })
    }

    /// Whether there are conditions on this table alone that a path does not use up.
    fn has_rest(&self, own: TableSet, conditions: &[&Condition], choice: &Choice) -> bool {
        let mut own_conditions = conditions.iter().filter(|condition| condition.tables == own);
        own_conditions.any(|condition| !self.reads_used(condition, choice))
    }

    /// Which part of the rows that a lookup gives passes the conditions on this table alone that the lookup does not
    /// use up.
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
