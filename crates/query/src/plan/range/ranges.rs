//! Ranges of an index for known values of a condition.

use std::cmp::Ordering;

use paceline_storage::{IndexKind, KeyRange, RowPlacement, TableSchema, prefix_end};
use paceline_types::sort_key::{self, Nullability};
use paceline_types::{DataType, Value};

use super::interval::{Interval, Intervals, intersect, unite};
use super::nearest::{Bound, nearest};
use super::{ColumnTest, RangeCondition};
use crate::error::Result;
use crate::plan::known_values::KnownValues;
use paceline_expression::{CompareOp, Comparison, EvalContext, Expr};

/// Maximum number of combinations of points. Beyond it, further columns of the index are not used.
const PREFIXES_MAX: usize = 1_000;

/// Column for which intervals are computed.
#[derive(Clone, Copy)]
struct Part<'a> {
    data_type: &'a DataType,
    nullability: Nullability,
    prefix: Option<u32>,
}

/// Context for computing ranges.
pub(crate) struct RangeContext<'r, 'c> {
    /// Context for evaluating and comparing values.
    pub eval: &'r mut EvalContext<'c>,
    /// Row on which values are evaluated.
    pub row: &'r [Value],
    /// Known values while planning; `None` during an execution, when all are known.
    pub known: Option<KnownValues<'r>>,
}

impl RangeContext<'_, '_> {
    fn value(&mut self, expr: &Expr) -> Result<Option<Value>> {
        match expr.as_literal() {
            Some(value) => Ok(Some(value.clone())),
            None if self.known.is_some_and(|known| !known.is_known(expr)) => Ok(None),
            None => expr
                .eval_unrounded(self.row, self.eval)
                .map(|value| Some(value.into_owned())),
        }
    }
}

/// Returns ascending, disjoint ranges of an index's keys that contain every row for which the condition may be true.
///
/// # Errors
/// Errors of evaluating the values.
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
    // The key of an entry in an index that is not unique ends with the key of its row.
    let row_key = match (schema.clustered(), definition.kind) {
        (RowPlacement::Key(clustered), IndexKind::Secondary) => &schema.indexes()[clustered].parts[..],
        _ => &[],
    };
    let mut prefixes = vec![definition.id.to_be_bytes().to_vec()];
    for part in definition.parts.iter().chain(row_key) {
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

/// Returns the keys of one column that a condition allows; `None` if it does not restrict the column.
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
        // The key of a prefix represents all longer values, so it cannot be excluded.
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
                // The nearest value belongs to the range if it is less than the bound, or equal and the bound is
                // inclusive.
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

    /// Returns the keys of values that begin with the text before the pattern's first wildcard.
    fn like(self, pattern: &Value, escape: char) -> Result<Option<Intervals>> {
        let text = match pattern {
            Value::Null => return Ok(Some(Vec::new())),
            Value::Text(text) => text.as_str(),
            _ => return Ok(Some(vec![self.not_null()])),
        };
        let mut literal = String::new();
        let mut chars = text.chars();
        while let Some(character) = chars.next() {
            if character == escape {
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
