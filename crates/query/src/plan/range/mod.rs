//! From conditions to ranges of an index.
//!
//! While planning, the conditions on a table become a [`RangeCondition`]: tests of single columns, joined by AND and
//! OR. When the statement runs, its values are known, and [`index_ranges`] computes the ranges of an index's keys that
//! contain all rows that may meet the conditions. The conditions are checked again on each row, so a range may be too
//! wide, but never too narrow.
//!
//! This uses encoded keys, for which every set of values is a list of half-open byte ranges:
//!
//! ```text
//!   a = 10            [k(10), end of k(10))             NULL is the lowest key of a nullable column, so
//!   a < 10            [first non-NULL, k(10))           "not NULL" is a range as well
//!   a IN (1, 5)       two of the first kind
//!   a = 10 AND b > 3  [k(10)·k(3) end, k(10) end)       points of the first columns are prefixes for the next one
//! ```

mod interval;
mod nearest;
mod ranges;

use paceline_types::DataType;

pub(crate) use nearest::{NearestValue, nearest_value, rule_for};
pub(crate) use ranges::{RangeContext, index_ranges};

use super::known_values::KnownValues;
use paceline_expression::{Class, CompareOp, Comparison, Escape, Expr, ExprKind, Truth};

/// Condition on a table's columns.
#[derive(Debug, Clone)]
pub enum RangeCondition {
    /// All of these.
    And(Vec<RangeCondition>),
    /// At least one of these.
    Or(Vec<RangeCondition>),
    /// A test of one column.
    Column {
        /// Offset of the column in the table.
        column: usize,
        /// The test.
        test: ColumnTest,
    },
}

/// Test of a column.
#[derive(Debug, Clone)]
pub enum ColumnTest {
    /// `column op value`.
    Compare {
        /// The operator.
        op: CompareOp,
        /// Rule of the comparison.
        by: Comparison,
        /// Value, which is constant during the execution.
        value: Expr,
    },
    /// `column IN (…)`.
    In(Vec<(Comparison, Expr)>),
    /// `column BETWEEN low AND high`.
    Between {
        /// Rule of the comparison.
        by: Comparison,
        /// Low and high.
        bounds: Box<[Expr; 2]>,
    },
    /// `column IS NULL`.
    Null,
    /// `column IS NOT NULL`.
    NotNull,
    /// `column LIKE pattern`.
    Like {
        /// The pattern.
        pattern: Expr,
        /// The escape character.
        escape: char,
    },
}

impl RangeCondition {
    /// Returns what a condition requires of the columns of the table whose slots begin at `base`. `constant` returns
    /// whether an expression has a value before the table is read.
    pub(crate) fn of(
        expr: &Expr,
        base: usize,
        columns: &[DataType],
        constant: &dyn Fn(&Expr) -> bool,
    ) -> Option<RangeCondition> {
        let column_of = |expr: &Expr| match &expr.kind {
            ExprKind::Column(slot) if (base..base + columns.len()).contains(slot) => Some(slot - base),
            _ => None,
        };
        let of = |expr: &Expr| Self::of(expr, base, columns, constant);
        match &expr.kind {
            ExprKind::And(parts) => {
                let mut known: Vec<_> = parts.iter().filter_map(of).collect();
                match known.len() {
                    0 => None,
                    1 => known.pop(),
                    _ => Some(RangeCondition::And(known)),
                }
            }
            ExprKind::Or(parts) => {
                let known: Option<Vec<_>> = parts.iter().map(of).collect();
                Some(RangeCondition::Or(known?))
            }
            ExprKind::Compare { op, by, operands } => {
                let [left, right] = &**operands;
                if let (Comparison::Row(rules), ExprKind::Row(left), ExprKind::Row(right)) =
                    (by, &left.kind, &right.kind)
                {
                    if *op != CompareOp::Eq {
                        let test = |op, place: usize| {
                            let (left, right): (&Expr, &Expr) = (left.get(place)?, right.get(place)?);
                            let by = rules.get(place)?;
                            Self::of_comparison(op, by, left, right, &column_of, columns, constant)
                        };
                        return Self::of_row_order(*op, left.len(), &test);
                    }
                    let known: Vec<_> = left
                        .iter()
                        .zip(right)
                        .zip(rules)
                        .filter_map(|((left, right), by)| {
                            Self::of_comparison(*op, by, left, right, &column_of, columns, constant)
                        })
                        .collect();
                    return (!known.is_empty()).then_some(RangeCondition::And(known));
                }
                Self::of_comparison(*op, by, left, right, &column_of, columns, constant)
            }
            ExprKind::Between {
                by,
                negated: false,
                operands,
            } => {
                let [subject, low, high] = &**operands;
                let column = column_of(subject)?;
                let usable =
                    |value| constant(value) && is_index_usable(&columns[column], by, value, Use::Order);
                if usable(low) && usable(high) {
                    let bounds = Box::new([low.clone(), high.clone()]);
                    return Some(RangeCondition::Column {
                        column,
                        test: ColumnTest::Between {
                            by: by.clone(),
                            bounds,
                        },
                    });
                }
                None
            }
            ExprKind::InList {
                by,
                negated: false,
                needle,
                list,
                ..
            } => {
                if let ExprKind::Row(needles) = &needle.kind {
                    return Self::of_row_list(needles, by, list, &column_of, columns, constant);
                }
                let column = column_of(needle)?;
                let mut values = Vec::with_capacity(list.len());
                for (number, value) in list.iter().enumerate() {
                    let by = by.get(number).or(by.last())?;
                    if !constant(value) || !is_index_usable(&columns[column], by, value, Use::Equality) {
                        return None;
                    }
                    values.push((by.clone(), value.clone()));
                }
                Some(RangeCondition::Column {
                    column,
                    test: ColumnTest::In(values),
                })
            }
            ExprKind::Is {
                test: Truth::Null,
                negated,
                operand,
            } => {
                let column = column_of(operand)?;
                let test = if *negated {
                    ColumnTest::NotNull
                } else {
                    ColumnTest::Null
                };
                Some(RangeCondition::Column { column, test })
            }
            ExprKind::Like {
                negated: false,
                collation,
                escape: Escape::Character(escape),
                operands,
            } => {
                let column = column_of(&operands[0])?;
                let same = columns[column].is_text() && columns[column].collation() == *collation;
                let binary = columns[column].is_binary_string();
                if !(same || binary) || !constant(&operands[1]) {
                    return None;
                }
                let test = ColumnTest::Like {
                    pattern: operands[1].clone(),
                    escape: *escape,
                };
                Some(RangeCondition::Column { column, test })
            }
            _ => None,
        }
    }

    /// Converts `(a, b) < (1, 2)` to `a < 1 OR a = 1 AND b < 2`, as far as `test` returns tests of single columns.
    fn of_row_order(
        op: CompareOp,
        length: usize,
        test: &dyn Fn(CompareOp, usize) -> Option<RangeCondition>,
    ) -> Option<RangeCondition> {
        let strict = match op {
            CompareOp::Lt | CompareOp::Le => CompareOp::Lt,
            CompareOp::Gt | CompareOp::Ge => CompareOp::Gt,
            CompareOp::Eq | CompareOp::NullSafeEq | CompareOp::Ne => return None,
        };
        let mut alternatives = Vec::with_capacity(length);
        for place in 0..length {
            let mut known: Vec<_> = (0..place)
                .filter_map(|place| test(CompareOp::Eq, place))
                .collect();
            let last = if place + 1 == length { op } else { strict };
            known.extend(test(last, place));
            if known.is_empty() {
                return None;
            }
            alternatives.push(RangeCondition::And(known));
        }
        Some(RangeCondition::Or(alternatives))
    }

    #[allow(clippy::too_many_arguments)]
    fn of_comparison(
        op: CompareOp,
        by: &Comparison,
        left: &Expr,
        right: &Expr,
        column_of: &dyn Fn(&Expr) -> Option<usize>,
        columns: &[DataType],
        constant: &dyn Fn(&Expr) -> bool,
    ) -> Option<RangeCondition> {
        let (column, op, value) = match (column_of(left), column_of(right)) {
            (Some(column), _) if constant(right) => (column, op, right),
            (_, Some(column)) if constant(left) => (column, op.flipped(), left),
            _ => return None,
        };
        let purpose = match op {
            CompareOp::Eq | CompareOp::NullSafeEq => Use::Equality,
            _ => Use::Order,
        };
        if !is_index_usable(&columns[column], by, value, purpose) {
            return None;
        }
        let test = ColumnTest::Compare {
            op,
            by: by.clone(),
            value: value.clone(),
        };
        Some(RangeCondition::Column { column, test })
    }

    /// Converts `(a, b) IN ((1, 2), (3, 4))`.
    fn of_row_list(
        needles: &[Expr],
        by: &[Comparison],
        list: &[Expr],
        column_of: &dyn Fn(&Expr) -> Option<usize>,
        columns: &[DataType],
        constant: &dyn Fn(&Expr) -> bool,
    ) -> Option<RangeCondition> {
        let mut rows = Vec::with_capacity(list.len());
        for (number, row) in list.iter().enumerate() {
            let (ExprKind::Row(values), Some(Comparison::Row(rules))) =
                (&row.kind, by.get(number).or(by.last()))
            else {
                return None;
            };
            let known: Vec<_> = needles
                .iter()
                .zip(values)
                .zip(rules)
                .filter_map(|((needle, value), by)| {
                    Self::of_comparison(CompareOp::Eq, by, needle, value, column_of, columns, constant)
                })
                .collect();
            if known.is_empty() {
                return None;
            }
            rows.push(RangeCondition::And(known));
        }
        Some(RangeCondition::Or(rows))
    }

    /// Returns whether all its values are known. Records that the plan depends on those that are not literals.
    pub fn is_known(&self, known: KnownValues<'_>) -> bool {
        let mut all = true;
        self.for_each_value(&mut |value| all &= known.rest_on(value));
        all
    }

    /// Calls `visit` for each value that a column is tested against.
    pub fn for_each_value<'c>(&'c self, visit: &mut dyn FnMut(&'c Expr)) {
        match self {
            RangeCondition::And(parts) | RangeCondition::Or(parts) => {
                parts.iter().for_each(|part| part.for_each_value(visit));
            }
            RangeCondition::Column { test, .. } => match test {
                ColumnTest::Compare { value, .. } => visit(value),
                ColumnTest::In(values) => values.iter().for_each(|(_, value)| visit(value)),
                ColumnTest::Between { bounds, .. } => bounds.iter().for_each(visit),
                ColumnTest::Like { pattern, .. } => visit(pattern),
                ColumnTest::Null | ColumnTest::NotNull => {}
            },
        }
    }

    /// Returns whether it restricts a column.
    pub fn restricts(&self, column: usize) -> bool {
        match self {
            RangeCondition::And(parts) => parts.iter().any(|part| part.restricts(column)),
            RangeCondition::Or(parts) => parts.iter().all(|part| part.restricts(column)),
            RangeCondition::Column {
                column: restricted, ..
            } => *restricted == column,
        }
    }
}

/// Purpose of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Search for equal values.
    Equality,
    /// Search for smaller or greater values.
    Order,
}

/// Returns whether an index on a column of this type can be used for `column op value`, if both are compared by this
/// rule.
pub fn is_index_usable(column: &DataType, by: &Comparison, value: &Expr, purpose: Use) -> bool {
    let number = matches!(
        column,
        DataType::Integer(_)
            | DataType::Decimal(_)
            | DataType::Float(_)
            | DataType::Double(_)
            | DataType::Year
    );
    match by {
        Comparison::Int => matches!(
            column,
            DataType::Integer(_) | DataType::Year | DataType::Bit { .. }
        ),
        Comparison::Decimal => number && !matches!(column, DataType::Float(_) | DataType::Double(_)),
        // A text must be converted to a number first, which is possible only for a constant.
        Comparison::Double | Comparison::FixedDouble(_) => {
            number
                && (value.ty.class() != Class::String
                    || value.ty.is_parameter()
                    || value.is_constant_during_execution())
        }
        Comparison::Text(collation) => match column {
            DataType::Enum { .. } => purpose == Use::Equality,
            DataType::Set { .. } => false,
            column => column.is_text() && column.collation() == *collation,
        },
        Comparison::Bytes => column.is_binary_string(),
        Comparison::DateTime => {
            matches!(
                column,
                DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. }
            )
        }
        Comparison::Time => matches!(column, DataType::Time { .. }),
        Comparison::FixedBinary(_) => matches!(column, DataType::FixedBinary(_)),
        // It depends on the value, and is decided when the statement runs.
        Comparison::Dynamic { .. } => !matches!(column, DataType::Set { .. }),
        Comparison::Row(_) => false,
    }
}
