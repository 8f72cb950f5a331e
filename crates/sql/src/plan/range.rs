//! From conditions to ranges of an index.
//!
//! While planning, the conditions on a table become a [`RangeCondition`]: what they say about single columns, joined by AND and OR. When
//! the statement runs, its values are known and [`index_ranges`] computes the ranges of one index's keys that hold all rows that
//! the conditions may let pass. The conditions are checked again on each row, so a range may be too wide, never too narrow.
//!
//! All of it happens in the space of encoded keys, where every set of values is a list of half-open byte ranges:
//!
//! ```text
//!   a = 10            [k(10), end of k(10))             NULL is the lowest key of a nullable column, so
//!   a < 10            [first non-NULL, k(10))           "not NULL" is a range as well
//!   a IN (1, 5)       two of the first kind
//!   a = 10 AND b > 3  [k(10)·k(3) end, k(10) end)       points of the first columns are prefixes for the next one
//! ```

use std::cmp::Ordering;

use paceline_storage::{KeyRange, TableSchema, prefix_end};
use paceline_types::convert::assign;
use paceline_types::sort_key::{self, Nullability};
use paceline_types::{DataType, Value};

use crate::error::Result;
use crate::expr::{
    Class, CompareOp, Comparison, EvalContext, Expr, ExprKind, ExprType, Truth, compare_values,
    comparison_rule,
};

/// What is known of a table's columns.
#[derive(Debug, Clone)]
pub enum RangeCondition {
    /// All of these.
    And(Vec<RangeCondition>),
    /// At least one of these.
    Or(Vec<RangeCondition>),
    /// Something about one column.
    Column {
        /// Its offset in the table.
        column: usize,
        /// What.
        test: ColumnTest,
    },
}

/// What is known of a column.
#[derive(Debug, Clone)]
pub enum ColumnTest {
    /// `column op value`.
    Compare {
        /// The operator.
        op: CompareOp,
        /// By which rule.
        by: Comparison,
        /// The value: constant during the execution.
        value: Expr,
    },
    /// `column IN (…)`.
    In(Vec<(Comparison, Expr)>),
    /// `column BETWEEN low AND high`.
    Between {
        /// By which rule.
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
        escape: Option<char>,
    },
}

/// Products of points beyond this end the use of further columns of the index.
const PREFIXES_MAX: usize = 1_000;

impl RangeCondition {
    /// What a condition says about the columns of the table whose slots begin at `base`. `constant` tells which expressions have a value
    /// before the table is read.
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
                        return None;
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
                let usable = |value| constant(value) && index_serves(&columns[column], by, value, Use::Order);
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
            } => {
                if let ExprKind::Row(needles) = &needle.kind {
                    return Self::of_row_list(needles, by, list, &column_of, columns, constant);
                }
                let column = column_of(needle)?;
                let mut values = Vec::with_capacity(list.len());
                for (number, value) in list.iter().enumerate() {
                    let by = by.get(number).or(by.last())?;
                    if !constant(value) || !index_serves(&columns[column], by, value, Use::Equality) {
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
                escape,
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
        if !index_serves(&columns[column], by, value, purpose) {
            return None;
        }
        let test = ColumnTest::Compare {
            op,
            by: by.clone(),
            value: value.clone(),
        };
        Some(RangeCondition::Column { column, test })
    }

    /// `(a, b) IN ((1, 2), (3, 4))`.
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

    /// Whether all its values are known while planning.
    pub fn only_literals(&self) -> bool {
        match self {
            RangeCondition::And(parts) | RangeCondition::Or(parts) => parts.iter().all(Self::only_literals),
            RangeCondition::Column { test, .. } => match test {
                ColumnTest::Compare { value, .. } => value.as_literal().is_some(),
                ColumnTest::In(values) => values.iter().all(|(_, value)| value.as_literal().is_some()),
                ColumnTest::Between { bounds, .. } => bounds.iter().all(|bound| bound.as_literal().is_some()),
                ColumnTest::Like { pattern, .. } => pattern.as_literal().is_some(),
                ColumnTest::Null | ColumnTest::NotNull => true,
            },
        }
    }

    /// Whether it restricts that column.
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

/// What an index is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Finding equal values.
    Equality,
    /// Finding smaller or greater values.
    Order,
}

/// Whether an index on a column of this type finds what `column op value` means when both are compared by that rule.
pub fn index_serves(column: &DataType, by: &Comparison, value: &Expr, purpose: Use) -> bool {
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
        // A text of another row has to be read as a number first: only a constant's value can be.
        Comparison::Double => {
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
        // Only the value tells: it is asked when the statement runs.
        Comparison::Dynamic(_) => !matches!(column, DataType::Set { .. }),
        Comparison::Row(_) => false,
    }
}

/// A set of keys of one column: half-open byte ranges, ascending and apart.
type Intervals = Vec<Interval>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Interval {
    start: Vec<u8>,
    /// `None` is no end.
    end: Option<Vec<u8>>,
    /// Whether it is one value, `start` being its whole key.
    point: bool,
}

/// The column that intervals are made for.
#[derive(Clone, Copy)]
struct Part<'a> {
    data_type: &'a DataType,
    nullability: Nullability,
    prefix: Option<u32>,
}

/// What computing ranges needs besides the condition.
pub(crate) struct RangeContext<'r, 'c> {
    /// Evaluates values, and compares them.
    pub eval: &'r mut EvalContext<'c>,
    /// The row that values are evaluated on.
    pub row: &'r [Value],
    /// While planning: other values than literals are not known yet.
    pub literals_only: bool,
}

impl RangeContext<'_, '_> {
    fn value(&mut self, expr: &Expr) -> Result<Option<Value>> {
        match expr.as_literal() {
            Some(value) => Ok(Some(value.clone())),
            None if self.literals_only => Ok(None),
            None => expr.eval(self.row, self.eval).map(Some),
        }
    }
}

/// A value as a key of a column.
enum Bound {
    /// NULL.
    Null,
    /// Not known yet, or not comparable through the index: any row may do.
    Unknown,
    /// The nearest value that the column can hold, and how it compares with the value itself.
    Near(Value, Ordering),
}

/// The ranges of an index's keys that hold every row for which the condition may be true, ascending and apart.
///
/// # Errors
/// What evaluating the values meets.
pub(crate) fn index_ranges(
    schema: &TableSchema,
    index: usize,
    condition: &RangeCondition,
    context: &mut RangeContext<'_, '_>,
) -> Result<Vec<KeyRange>> {
    let mut ranges = Vec::new();
    collect_ranges(schema, index, condition, context, &mut ranges)?;
    ranges.retain(|range: &KeyRange| !range.is_empty());
    ranges.sort_by(|left, right| left.start.cmp(&right.start));
    let mut merged: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end >= range.start => {
                if range.end > last.end {
                    last.end = range.end;
                }
            }
            _ => merged.push(range),
        }
    }
    Ok(merged)
}

fn collect_ranges(
    schema: &TableSchema,
    index: usize,
    condition: &RangeCondition,
    context: &mut RangeContext<'_, '_>,
    ranges: &mut Vec<KeyRange>,
) -> Result<()> {
    if let RangeCondition::Or(parts) = condition {
        for part in parts {
            collect_ranges(schema, index, part, context, ranges)?;
        }
        return Ok(());
    }
    let definition = &schema.indexes()[index];
    let all = definition.id.range();
    let mut prefixes = vec![definition.id.to_be_bytes().to_vec()];
    for part in &definition.parts {
        let column = &schema.columns()[part.column];
        let target = Part {
            data_type: &column.data_type,
            nullability: column.nullability,
            prefix: part.prefix,
        };
        let Some(intervals) = column_intervals(condition, part.column, target, context)? else {
            break;
        };
        let points = intervals.iter().all(|interval| interval.point);
        if points && (prefixes.len() == 1 || prefixes.len() * intervals.len() <= PREFIXES_MAX) {
            let mut longer = Vec::with_capacity(prefixes.len() * intervals.len());
            for prefix in &prefixes {
                longer.extend(
                    intervals
                        .iter()
                        .map(|interval| [&prefix[..], &interval.start].concat()),
                );
            }
            prefixes = longer;
            continue;
        }
        for prefix in &prefixes {
            for interval in &intervals {
                let start = [&prefix[..], &interval.start].concat();
                let end = match &interval.end {
                    Some(end) => [&prefix[..], end].concat(),
                    None if prefix.len() == definition.id.to_be_bytes().len() => all.end.clone(),
                    None => prefix_end(prefix),
                };
                ranges.push(KeyRange { start, end });
            }
        }
        return Ok(());
    }
    ranges.extend(prefixes.iter().map(|prefix| KeyRange::prefix(prefix)));
    Ok(())
}

/// What a condition says about one column; `None` for nothing.
fn column_intervals(
    condition: &RangeCondition,
    column: usize,
    part: Part<'_>,
    context: &mut RangeContext<'_, '_>,
) -> Result<Option<Intervals>> {
    match condition {
        RangeCondition::And(parts) => {
            let mut result: Option<Intervals> = None;
            for condition in parts {
                if let Some(intervals) = column_intervals(condition, column, part, context)? {
                    result = Some(match result {
                        Some(known) => intersect(&known, &intervals),
                        None => intervals,
                    });
                }
            }
            Ok(result)
        }
        RangeCondition::Or(parts) => {
            let mut result = Vec::new();
            for condition in parts {
                match column_intervals(condition, column, part, context)? {
                    Some(intervals) => result.extend(intervals),
                    None => return Ok(None),
                }
            }
            Ok(Some(unite(result)))
        }
        RangeCondition::Column { column: tested, test } if *tested == column => {
            test_intervals(test, part, context)
        }
        RangeCondition::Column { .. } => Ok(None),
    }
}

fn test_intervals(
    test: &ColumnTest,
    part: Part<'_>,
    context: &mut RangeContext<'_, '_>,
) -> Result<Option<Intervals>> {
    match test {
        ColumnTest::Null => Ok(Some(part.null().into_iter().collect())),
        ColumnTest::NotNull => Ok(Some(vec![part.not_null()])),
        ColumnTest::Compare { op, by, value } => {
            let bound = part.bound(by, value, context)?;
            part.compare(*op, bound)
        }
        ColumnTest::Between { by, bounds } => {
            let low = part.bound(by, &bounds[0], context)?;
            let high = part.bound(by, &bounds[1], context)?;
            let low = part.compare(CompareOp::Ge, low)?;
            let high = part.compare(CompareOp::Le, high)?;
            Ok(match (low, high) {
                (Some(low), Some(high)) => Some(intersect(&low, &high)),
                (known, None) | (None, known) => known,
            })
        }
        ColumnTest::In(values) => {
            let mut result = Vec::with_capacity(values.len());
            for (by, value) in values {
                let bound = part.bound(by, value, context)?;
                match part.compare(CompareOp::Eq, bound)? {
                    Some(intervals) => result.extend(intervals),
                    None => return Ok(None),
                }
            }
            Ok(Some(unite(result)))
        }
        ColumnTest::Like { pattern, escape } => {
            let Some(pattern) = context.value(pattern)? else {
                return Ok(None);
            };
            part.like(&pattern, *escape)
        }
    }
}

impl Part<'_> {
    fn null(self) -> Option<Interval> {
        (self.nullability == Nullability::Nullable).then(|| Interval {
            start: vec![0],
            end: Some(vec![1]),
            point: true,
        })
    }

    fn not_null(self) -> Interval {
        let start = if self.nullability == Nullability::Nullable {
            vec![1]
        } else {
            Vec::new()
        };
        Interval {
            start,
            end: None,
            point: false,
        }
    }

    fn bound(self, by: &Comparison, value: &Expr, context: &mut RangeContext<'_, '_>) -> Result<Bound> {
        let Some(value) = context.value(value)? else {
            return Ok(Bound::Unknown);
        };
        Ok(nearest(self.data_type, by, value, context.eval))
    }

    fn key(self, value: &Value) -> Result<Vec<u8>> {
        let mut key = Vec::with_capacity(16);
        sort_key::append(
            &value.as_ref(),
            self.data_type,
            self.nullability,
            self.prefix,
            &mut key,
        )?;
        Ok(key)
    }

    fn compare(self, op: CompareOp, bound: Bound) -> Result<Option<Intervals>> {
        let (value, near) = match bound {
            Bound::Unknown => return Ok(None),
            Bound::Null if op == CompareOp::NullSafeEq => return Ok(Some(self.null().into_iter().collect())),
            Bound::Null => return Ok(Some(Vec::new())),
            Bound::Near(value, near) => (value, near),
        };
        let key = self.key(&value)?;
        let after = || sort_key::after_prefix(&key);
        let first = self.not_null().start;
        // A key of a prefix stands for all longer values: nothing can be left out at it.
        let whole = self.prefix.is_none();
        let interval = match op {
            CompareOp::Eq | CompareOp::NullSafeEq => {
                if near != Ordering::Equal {
                    return Ok(Some(Vec::new()));
                }
                let end = after();
                Interval {
                    start: key,
                    end,
                    point: true,
                }
            }
            CompareOp::Ne => {
                if near != Ordering::Equal || !whole {
                    return Ok(Some(vec![self.not_null()]));
                }
                let mut intervals = vec![Interval {
                    start: first,
                    end: Some(key.clone()),
                    point: false,
                }];
                if let Some(after) = after() {
                    intervals.push(Interval {
                        start: after,
                        end: None,
                        point: false,
                    });
                }
                return Ok(Some(intervals));
            }
            CompareOp::Lt | CompareOp::Le => {
                // The near value itself belongs to it when it is smaller than the bound, or equal to it and equality counts.
                let included =
                    near == Ordering::Less || (near == Ordering::Equal && op == CompareOp::Le) || !whole;
                let end = if included { after() } else { Some(key) };
                Interval {
                    start: first,
                    end,
                    point: false,
                }
            }
            CompareOp::Gt | CompareOp::Ge => {
                let included =
                    near == Ordering::Greater || (near == Ordering::Equal && op == CompareOp::Ge) || !whole;
                let start = if included { Some(key) } else { after() };
                match start {
                    Some(start) => Interval {
                        start,
                        end: None,
                        point: false,
                    },
                    None => return Ok(Some(Vec::new())),
                }
            }
        };
        Ok(Some(vec![interval]))
    }

    /// The values that begin with what stands before the pattern's first wildcard.
    fn like(self, pattern: &Value, escape: Option<char>) -> Result<Option<Intervals>> {
        let text = match pattern {
            Value::Null => return Ok(Some(Vec::new())),
            Value::Text(text) => text.as_str(),
            _ => return Ok(Some(vec![self.not_null()])),
        };
        let mut literal = String::new();
        let mut chars = text.chars();
        while let Some(character) = chars.next() {
            if Some(character) == escape {
                match chars.next() {
                    Some(escaped) => literal.push(escaped),
                    None => break,
                }
            } else if character == '%' || character == '_' {
                break;
            } else {
                literal.push(character);
            }
        }
        if literal.is_empty() || !self.data_type.is_text() {
            return Ok(Some(vec![self.not_null()]));
        }
        let mut start = Vec::new();
        sort_key::append_beginning(
            &literal,
            self.data_type,
            self.nullability,
            self.prefix,
            &mut start,
        );
        let end = sort_key::after_prefix(&start);
        Ok(Some(vec![Interval {
            start,
            end,
            point: false,
        }]))
    }
}

/// The value nearest to `value` that a column can hold, and how it compares with it.
pub(crate) fn nearest_value(
    data_type: &DataType,
    by: &Comparison,
    value: Value,
    context: &mut EvalContext<'_>,
) -> NearestValue {
    match nearest(data_type, by, value, context) {
        Bound::Null => NearestValue::Null,
        Bound::Unknown => NearestValue::Unknown,
        Bound::Near(value, Ordering::Equal) => NearestValue::Exact(value),
        Bound::Near(..) => NearestValue::None,
    }
}

/// What a lookup of a value in an index looks for.
pub(crate) enum NearestValue {
    /// NULL.
    Null,
    /// The index does not tell: look at all rows.
    Unknown,
    /// The column cannot hold the value: no row has it.
    None,
    /// This value.
    Exact(Value),
}

fn nearest(data_type: &DataType, by: &Comparison, value: Value, context: &mut EvalContext<'_>) -> Bound {
    if value.is_null() {
        return Bound::Null;
    }
    // The everyday cases need no conversion.
    match (by, &value, data_type) {
        (Comparison::Int | Comparison::Dynamic(_), Value::Int(number), DataType::Integer(integer)) => {
            use paceline_types::Sign;
            let fits = match integer.sign {
                Sign::Signed => {
                    let (low, high) = integer.width.signed_range();
                    (low..=high).contains(number)
                }
                Sign::Unsigned => false,
            };
            if fits {
                return Bound::Near(value, Ordering::Equal);
            }
        }
        (Comparison::Text(_), Value::Text(_), column) if column.is_text() => {
            return Bound::Near(value, Ordering::Equal);
        }
        (Comparison::Bytes, Value::Bytes(_), DataType::VarBinary { .. } | DataType::Blob { .. }) => {
            return Bound::Near(value, Ordering::Equal);
        }
        // Text against a number that is compared as text: the index is in another order.
        (Comparison::Text(_), value, _)
            if !matches!(value, Value::Text(_) | Value::Enum(_) | Value::Set(_)) =>
        {
            return Bound::Unknown;
        }
        _ => {}
    }
    let decided;
    let by = match by {
        Comparison::Dynamic(connection) => {
            let column = ExprType::of_column(data_type.clone(), true);
            let ty = ExprType::of_value(&value, *connection);
            match comparison_rule(&column, &ty, *connection) {
                Ok(rule) if index_serves(data_type, &rule, &Expr::literal(value.clone(), ty), Use::Order) => {
                    decided = rule
                }
                _ => return Bound::Unknown,
            }
            &decided
        }
        by => by,
    };
    let value = match (by, value) {
        (Comparison::Text(_), Value::Text(text)) if data_type.is_text() => {
            return Bound::Near(Value::Text(text), Ordering::Equal);
        }
        (Comparison::Double, Value::Text(text)) => {
            Value::Double(paceline_types::convert::text_to_double(&text).0)
        }
        (Comparison::Decimal, Value::Text(text)) => {
            Value::Decimal(paceline_types::convert::text_to_decimal(&text).0)
        }
        (Comparison::Int, Value::Text(text)) => paceline_types::convert::text_to_integer(&text).0,
        (_, value) => value,
    };
    let near = assign(value.clone(), data_type, &context.convert_context()).value;
    if near.is_null() {
        return Bound::Unknown;
    }
    match compare_values(by, &near, &value, context) {
        Ok(Some(ordering)) => Bound::Near(near, ordering),
        _ => Bound::Unknown,
    }
}

fn earlier_end<'a>(left: &'a Option<Vec<u8>>, right: &'a Option<Vec<u8>>) -> &'a Option<Vec<u8>> {
    match (left, right) {
        (Some(a), Some(b)) => {
            if a <= b {
                left
            } else {
                right
            }
        }
        (Some(_), None) => left,
        _ => right,
    }
}

fn intersect(left: &[Interval], right: &[Interval]) -> Intervals {
    let mut result = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        let (a, b) = (&left[i], &right[j]);
        let start = (&a.start).max(&b.start);
        let end = earlier_end(&a.end, &b.end);
        if end.as_ref().is_none_or(|end| start < end) {
            let point = (a.point && a.start == *start) || (b.point && b.start == *start);
            result.push(Interval {
                start: start.clone(),
                end: end.clone(),
                point,
            });
        }
        if std::ptr::eq(end, &a.end) { i += 1 } else { j += 1 }
    }
    result
}

fn unite(mut intervals: Intervals) -> Intervals {
    intervals.sort_by(|a, b| a.start.cmp(&b.start));
    let mut result: Intervals = Vec::with_capacity(intervals.len());
    for interval in intervals {
        match result.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| *end > interval.start) => {
                if last.point && interval.point && last.start == interval.start {
                    continue;
                }
                last.point = false;
                if earlier_end(&last.end, &interval.end) == &last.end {
                    last.end = interval.end;
                }
            }
            _ => result.push(interval),
        }
    }
    result
}
