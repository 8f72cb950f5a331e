//! Subqueries inside expressions: scalar, EXISTS, IN, ANY and ALL, over the rows that a
//! [`super::NestedRunner`] returns.
//!
//! Rows are kept in the [`super::EvalState`] for later rows of the outer query ([`super::subquery_results`]).
//! `IN` looks its left side up in a hash table of them if the comparison rules allow one.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::ControlFlow;

use paceline_types::error_code::ER_SUBQUERY_NO_1_ROW;
use paceline_types::{Charset, Value};

use super::own_rule;
use crate::context::{EvalContext, EvalMode};
use crate::error::Result;
use crate::errors;
use crate::eval::convert::bytes_of_type;
use crate::eval::convert::hex_number;
use crate::eval::{compare_row_values, compare_values, convert, row_values};
use crate::expr_type::{ExprType, TypeNote};
use crate::session::MemoryCharge;
use crate::subquery::{CachedRows, Correlation, ROW_BYTES, Subquery};
use crate::tree::{CompareOp, Comparison, Expr, Frame, Quantifier};

/// Memory of a row's key in a hash table, besides the key, in bytes.
const KEY_BYTES: usize = 48;

/// Returns the value of `(SELECT …)`: NULL without rows.
pub(crate) fn scalar(subquery: &Subquery, frame: &Frame<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(row(subquery, frame, context)?
        .into_iter()
        .next()
        .unwrap_or_default())
}

/// Returns the row of `(SELECT …)`: all NULL without rows; 1242 with more than one.
pub(crate) fn row(
    subquery: &Subquery,
    frame: &Frame<'_>,
    context: &mut EvalContext<'_>,
) -> Result<Vec<Value>> {
    if let Some(cached) = look_up(subquery, frame, context) {
        return Ok(cached.rows.first().cloned().unwrap_or_else(|| nulls(subquery)));
    }
    let mut found: Option<Vec<Value>> = None;
    let mut has_more = false;
    context.run_subquery(subquery, frame.row, &mut |row| {
        if found.is_some() {
            has_more = true;
            return Ok(ControlFlow::Break(()));
        }
        found = Some(row.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    if has_more {
        let error = errors::error(ER_SUBQUERY_NO_1_ROW, &[]);
        if context.mode != EvalMode::Ignore {
            return Err(error);
        }
        // With IGNORE the result is NULL.
        context.session.diagnostics.warn(error.code(), error.message());
        found = None;
    }
    keep(subquery, frame, CachedRows::of_row(found.clone()), context);
    Ok(found.unwrap_or_else(|| nulls(subquery)))
}

fn nulls(subquery: &Subquery) -> Vec<Value> {
    vec![Value::Null; subquery.columns.len()]
}

/// Returns whether there is a row.
pub(crate) fn exists(subquery: &Subquery, frame: &Frame<'_>, context: &mut EvalContext<'_>) -> Result<bool> {
    if let Some(cached) = look_up(subquery, frame, context) {
        return Ok(!cached.rows.is_empty());
    }
    let mut found = false;
    context.run_subquery(subquery, frame.row, &mut |_| {
        found = true;
        Ok(ControlFlow::Break(()))
    })?;
    keep(subquery, frame, CachedRows::of_row(found.then(Vec::new)), context);
    Ok(found)
}

fn look_up<'c>(
    subquery: &Subquery,
    frame: &Frame<'_>,
    context: &'c mut EvalContext<'_>,
) -> Option<&'c mut CachedRows> {
    let counts = &mut context.session.counts;
    context.state.subqueries.look_up(subquery, frame.row, counts)
}

fn keep(subquery: &Subquery, frame: &Frame<'_>, rows: CachedRows, context: &mut EvalContext<'_>) {
    let session = &mut *context.session;
    context.state.subqueries.keep(subquery, frame.row, rows, session);
}

/// Evaluates `left op ANY|ALL (SELECT …)`.
pub(crate) fn quantified<'a>(
    op: CompareOp,
    by: &[Comparison],
    quantifier: Quantifier,
    left: &'a Expr,
    subquery: &Subquery,
    frame: &Frame<'a>,
    context: &mut EvalContext<'_>,
) -> Result<Option<bool>> {
    let left = row_values(left, frame, context)?;
    // The rows are taken out of the state during the search, because the search needs the state too.
    if let Some(cached) = look_up(subquery, frame, context) {
        let rows = std::mem::take(cached);
        let (result, rows) = search(op, by, quantifier, &left, rows, context);
        if let Some(cached) = context.state.subqueries.get_mut(subquery, frame.row) {
            *cached = rows;
        }
        return result;
    }
    let rows = gather(subquery, (op, quantifier), by, frame, context)?;
    let (result, rows) = search(op, by, quantifier, &left, rows, context);
    keep(subquery, frame, rows, context);
    result
}

/// Runs the subquery and returns its rows.
fn gather(
    subquery: &Subquery,
    (op, quantifier): (CompareOp, Quantifier),
    by: &[Comparison],
    frame: &Frame<'_>,
    context: &mut EvalContext<'_>,
) -> Result<CachedRows> {
    let mut rows = Vec::new();
    let mut memory = MemoryCharge::new(&context.session.memory);
    context.run_subquery(subquery, frame.row, &mut |row| {
        memory.grow(row.iter().map(Value::memory_bytes).sum::<usize>() + ROW_BYTES)?;
        rows.push(row.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    for row in &mut rows {
        for ((by, column), value) in by.iter().zip(&subquery.columns).zip(row) {
            adapt(by, column, value, context);
            // The lowest or highest of ENUM or SET values is determined by their texts.
            if !matches!(op, CompareOp::Eq | CompareOp::Ne) && matches!(value, Value::Enum(_) | Value::Set(_))
            {
                *value = convert::as_computed(Cow::Borrowed(value)).into_owned();
            }
        }
    }
    if subquery.correlation == Correlation::Uncorrelated
        && let Some(wanted) = extreme(op, quantifier)
    {
        rows = keep_extreme(rows, subquery, wanted, context)?;
    }
    let any_null = rows.iter().any(|row| row.iter().any(Value::is_null));
    Ok(CachedRows {
        rows,
        keys: None,
        any_null,
        memory: Some(memory),
    })
}

/// Returns which value decides: `> ANY` means `>` the smallest one.
fn extreme(op: CompareOp, quantifier: Quantifier) -> Option<Ordering> {
    let of_any = match op {
        CompareOp::Gt | CompareOp::Ge => Ordering::Less,
        CompareOp::Lt | CompareOp::Le => Ordering::Greater,
        _ => return None,
    };
    Some(match quantifier {
        Quantifier::Any => of_any,
        Quantifier::All => of_any.reverse(),
    })
}

/// Keeps the row with the smallest or largest value, by the order of MIN and MAX whatever the comparison is,
/// and one row with NULL.
fn keep_extreme(
    rows: Vec<Vec<Value>>,
    subquery: &Subquery,
    wanted: Ordering,
    context: &mut EvalContext<'_>,
) -> Result<Vec<Vec<Value>>> {
    let (Some(ty), true) = (subquery.columns.first(), subquery.columns.len() == 1) else {
        return Ok(rows);
    };
    let mut null = None;
    let mut best: Option<Vec<Value>> = None;
    for row in rows {
        if row[0].is_null() {
            null = Some(row);
            continue;
        }
        let is_better = match &best {
            None => true,
            Some(best) => compare_values(&own_rule(ty, &row[0]), &row[0], &best[0], context)? == Some(wanted),
        };
        if is_better {
            best = Some(row);
        }
    }
    Ok(best.into_iter().chain(null).collect())
}

/// Converts a column's value to the type that the comparison needs, as the binder does for other operands.
fn adapt(by: &Comparison, column: &ExprType, value: &mut Value, context: &EvalContext<'_>) {
    match (by, &*value) {
        (Comparison::Int | Comparison::Decimal | Comparison::Double, Value::Bytes(bytes))
            if column.note == TypeNote::HexLiteral =>
        {
            *value = hex_number(bytes);
        }
        (Comparison::Bytes, Value::Text(_) | Value::Enum(_) | Value::Set(_))
            if column.charset() == Charset::Latin1 =>
        {
            *value = Value::Bytes(bytes_of_type(value, column, context));
        }
        (Comparison::Text(collation), Value::Bytes(bytes)) if collation.charset() == Charset::Latin1 => {
            *value = Value::Text(Charset::Latin1.decode(bytes).into_owned());
        }
        _ => {}
    }
}

fn search(
    op: CompareOp,
    by: &[Comparison],
    quantifier: Quantifier,
    left: &[Value],
    mut rows: CachedRows,
    context: &mut EvalContext<'_>,
) -> (Result<Option<bool>>, CachedRows) {
    const KEYS_WORTH_IT: usize = 8;
    let by_key = matches!(
        (op, quantifier),
        (CompareOp::Eq, Quantifier::Any) | (CompareOp::Ne, Quantifier::All)
    );
    if by_key && rows.rows.len() >= KEYS_WORTH_IT && !left.iter().any(Value::is_null) {
        if rows.keys.is_none() && by.iter().all(has_key) {
            let keys = rows.rows.iter().filter(|row| !row.iter().any(Value::is_null));
            match keys.map(|row| key(by, row, context)).collect() {
                Ok(keys) => rows.keys = Some(keys),
                Err(error) => return (Err(error), rows),
            }
            if let (Some(keys), Some(memory)) = (&rows.keys, &mut rows.memory) {
                let bytes = keys.iter().map(|key: &Vec<u8>| key.len() + KEY_BYTES).sum();
                if let Err(error) = memory.grow(bytes) {
                    return (Err(error), rows);
                }
            }
        }
        // A row with a NULL beside unequal values is not a match, so several columns with NULLs need the full
        // comparison.
        let keys_decide = !rows.any_null || by.len() == 1;
        if let Some(keys) = rows.keys.as_ref().filter(|_| keys_decide) {
            let found = match key(by, left, context) {
                Ok(key) => keys.contains(&key),
                Err(error) => return (Err(error), rows),
            };
            let result = match (found, rows.any_null) {
                (true, _) => Some(true),
                (false, true) => None,
                (false, false) => Some(false),
            };
            let negated = quantifier == Quantifier::All;
            return (Ok(result.map(|found| found != negated)), rows);
        }
    }
    let mut unknown = false;
    let decisive = quantifier == Quantifier::Any;
    for row in &rows.rows {
        match compare_row_values(op, by, left, row, context) {
            Err(error) => return (Err(error), rows),
            Ok(Some(holds)) if holds == decisive => return (Ok(Some(decisive)), rows),
            Ok(None) => unknown = true,
            Ok(Some(_)) => {}
        }
    }
    (Ok(if unknown { None } else { Some(!decisive) }), rows)
}

/// Returns whether values that are equal by the rule can be represented by equal bytes.
fn has_key(by: &Comparison) -> bool {
    matches!(by, Comparison::Int | Comparison::Text(_) | Comparison::Bytes)
}

fn key(by: &[Comparison], row: &[Value], context: &mut EvalContext<'_>) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(16 * by.len());
    for (by, value) in by.iter().zip(row) {
        match by {
            Comparison::Text(collation) => {
                let text = convert::text_of(value, context);
                collation.append_sort_key(&text, None, &mut out);
            }
            Comparison::Bytes => {
                let bytes = convert::bytes_of(value, context);
                out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                out.extend_from_slice(&bytes);
            }
            _ => out.extend_from_slice(&convert::to_i128(value, context)?.to_le_bytes()),
        }
    }
    Ok(out)
}
