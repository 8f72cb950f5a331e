//! SortedConstants constants of a long IN list, for a binary search instead of comparisons with each.
//!
//! The order is that of the comparison itself, and only constants of its own kind are included: the search has the same
//! result as separate comparisons.

use std::cmp::Ordering;

use paceline_types::Value;

use super::compare::compare_values;
use crate::context::EvalContext;
use crate::error::Result;
use crate::tree::{Comparison, Expr, InSet, SortedConstants};

/// Minimum length of a list for which a set is built.
const ITEMS_MIN: usize = 4;

impl InSet {
    /// Returns whether a value that is not NULL is in the list. `None`: separate comparisons are necessary;
    /// `Some(None)` is UNKNOWN.
    pub(crate) fn find(
        &self,
        by: &[Comparison],
        needle: &Value,
        list: &[Expr],
        context: &mut EvalContext<'_>,
    ) -> Result<Option<Option<bool>>> {
        if list.len() < ITEMS_MIN {
            return Ok(None);
        }
        let Some(rule) = by.first() else { return Ok(None) };
        let sorted = self.0.get_or_init(|| SortedConstants::new(by, list, context));
        let Some(sorted) = sorted.as_ref().filter(|_| is_of(rule, needle)) else {
            return Ok(None);
        };
        let (mut low, mut high) = (0, sorted.values.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match compare_values(rule, needle, &sorted.values[middle], context)? {
                Some(Ordering::Equal) => return Ok(Some(Some(true))),
                Some(Ordering::Less) => high = middle,
                Some(Ordering::Greater) => low = middle + 1,
                None => return Ok(None),
            }
        }
        Ok(Some(if sorted.has_null { None } else { Some(false) }))
    }
}

impl SortedConstants {
    fn new(by: &[Comparison], list: &[Expr], context: &mut EvalContext<'_>) -> Option<Self> {
        let rule = by.first()?;
        if by.len() != list.len() || by.iter().any(|other| other != rule) {
            return None;
        }
        let mut values = Vec::with_capacity(list.len());
        let mut has_null = false;
        for item in list {
            let value = item.as_literal()?;
            if value.is_null() {
                has_null = true;
            } else if is_of(rule, value) {
                values.push(value.clone());
            } else {
                return None;
            }
        }
        let mut comparable = true;
        values.sort_by(|left, right| match compare_values(rule, left, right, context) {
            Ok(Some(ordering)) => ordering,
            _ => {
                comparable = false;
                Ordering::Equal
            }
        });
        comparable.then_some(SortedConstants { values, has_null })
    }
}

/// Returns whether the rule compares values of this kind without conversion, in one order.
fn is_of(rule: &Comparison, value: &Value) -> bool {
    match rule {
        Comparison::Int => matches!(value, Value::Int(_) | Value::UInt(_)),
        Comparison::Decimal => matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)),
        Comparison::Double => match value {
            Value::Double(number) => !number.is_nan(),
            Value::Float(number) => !number.is_nan(),
            value => matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)),
        },
        Comparison::Text(_) => matches!(value, Value::Text(_)),
        Comparison::Bytes => matches!(value, Value::Bytes(_)),
        Comparison::DateTime => matches!(value, Value::Date(_) | Value::DateTime(_)),
        Comparison::Time => matches!(value, Value::Time(_)),
        Comparison::FixedBinary(_) => matches!(value, Value::FixedBinary(_)),
        // Approximate equality has no order.
        Comparison::FixedDouble(_) | Comparison::Dynamic { .. } | Comparison::Row(_) => false,
    }
}
