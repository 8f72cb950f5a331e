//! Accumulators of aggregate functions.
//!
//! ```text
//!   Aggregate (in the plan, shared)  ──accumulator()──▶  Accumulator (one for each group)
//!        args, distinct, order by                          add(row) … add(row), finish() → Value
//! ```

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use crate::eval::own_rule;
use crate::tree::{Aggregate, AggregateFunction, Distinctness, Expr};
use paceline_types::decimal::Rounding;
use paceline_types::error_code::ER_CUT_VALUE_GROUP_CONCAT;
use paceline_types::{Collation, DataType, Decimal, Value};

use super::context::{EvalContext, EvalMode};
use super::errors;
use super::eval::{compare_values, convert};
use super::expr_type::{Class, ExprType};
use super::functions::json_quote;
use super::tree::Comparison;
use crate::error::Result;
use crate::eval::convert::bytes_of_type;
use crate::loadable::GroupCall;
use crate::session::Diagnostics;
use crate::tree::window::SortOrder;

impl Aggregate {
    /// Creates an accumulator for one group.
    pub fn accumulator(&self) -> Accumulator {
        use AggregateFunction as A;
        let exact = self.ty.class() == Class::Decimal;
        let state = match self.function {
            A::CountRows | A::Count => State::Count(0),
            A::Sum | A::Avg if exact => State::Decimal {
                sum: Decimal::ZERO,
                small: 0,
                count: 0,
            },
            A::Sum | A::Avg => State::Double { sum: 0.0, count: 0 },
            A::Min | A::Max => State::Extreme(None),
            A::BitAnd => State::Bits(u64::MAX),
            A::BitOr | A::BitXor => State::Bits(0),
            A::StddevPop | A::StddevSamp | A::VarPop | A::VarSamp => State::Variance {
                count: 0,
                mean: 0.0,
                squares: 0.0,
            },
            A::GroupConcat | A::JsonArrayAgg | A::JsonObjectAgg => State::Texts(Texts::default()),
            A::Stored => State::Rows(Vec::new()),
            A::Loadable => State::Loadable(GroupCall::new()),
        };
        let seen = (self.distinct == Distinctness::Distinct).then(HashSet::new);
        Accumulator { state, seen }
    }
}

/// Memory that a key in a set takes besides its bytes.
const SEEN_BYTES: usize = 48;

/// Keys of values that COUNT(DISTINCT …) counts.
#[derive(Debug)]
pub struct CountedKeys(pub HashSet<Vec<u8>>);

impl CountedKeys {
    /// Returns the memory that the keys take, as reported by [`Accumulator::add`].
    pub fn memory_bytes(&self) -> usize {
        self.0.iter().map(|key| key.len() + SEEN_BYTES).sum()
    }
}

/// One element of GROUP_CONCAT with its sort keys: text, or the bytes of a binary string.
type Part = (Vec<u8>, Vec<Value>);

/// Elements of GROUP_CONCAT, JSON_ARRAYAGG and JSON_OBJECTAGG.
#[derive(Debug, Default)]
struct Texts {
    parts: Vec<Part>,
    /// Total length with separators, in bytes.
    length: usize,
}

impl Texts {
    /// Adds an element. Returns the memory that it takes, in bytes.
    fn push(&mut self, aggregate: &Aggregate, text: Vec<u8>, keys: Vec<Value>, length_max: usize) -> usize {
        // Elements after the maximum length cannot change the result.
        let is_full = aggregate.function == AggregateFunction::GroupConcat
            && aggregate.order_by.is_empty()
            && aggregate.distinct == Distinctness::All
            && aggregate.limit.is_none()
            && self.length > length_max;
        if is_full {
            return 0;
        }
        self.length += text.len() + aggregate.separator.len();
        let bytes = size_of::<Part>() + text.len() + keys.iter().map(Value::memory_bytes).sum::<usize>();
        self.parts.push((text, keys));
        bytes
    }
}

/// State of one aggregate for one group.
#[derive(Debug)]
pub struct Accumulator {
    state: State,
    /// Keys of the values added so far, for DISTINCT.
    seen: Option<HashSet<Vec<u8>>>,
}

#[derive(Debug)]
enum State {
    Count(i64),
    /// Integers are summed separately as long as they fit.
    Decimal {
        sum: Decimal,
        small: i128,
        count: u64,
    },
    Double {
        sum: f64,
        count: u64,
    },
    Extreme(Option<Value>),
    Bits(u64),
    /// Welford's algorithm, as MariaDB uses it.
    Variance {
        count: u64,
        mean: f64,
        squares: f64,
    },
    /// GROUP_CONCAT, JSON_ARRAYAGG, JSON_OBJECTAGG.
    Texts(Texts),
    /// Arguments of a stored function, which runs when the group is complete.
    Rows(Vec<Vec<Value>>),
    /// A loadable function.
    Loadable(GroupCall),
}

impl Accumulator {
    /// Adds a row of the group. Returns the approximate growth of the memory in use, in bytes: 0 for
    /// functions whose state does not grow with the group.
    ///
    /// # Errors
    /// Errors of the arguments' evaluation; 1690.
    pub fn add(
        &mut self,
        aggregate: &Aggregate,
        row: &[Value],
        context: &mut EvalContext<'_>,
    ) -> Result<usize> {
        if let State::Count(count) = &mut self.state
            && aggregate.function == AggregateFunction::CountRows
        {
            *count += 1;
            return Ok(0);
        }
        if let State::Loadable(call) = &mut self.state {
            let mut arguments = Vec::with_capacity(aggregate.args.len());
            for arg in &aggregate.args {
                arguments.push(arg.eval(row, context)?);
            }
            return call.add(aggregate, arguments, context);
        }
        if let State::Rows(rows) = &mut self.state {
            let mut arguments = Vec::with_capacity(aggregate.args.len());
            for arg in &aggregate.args {
                arguments.push(arg.eval(row, context)?);
            }
            let bytes = arguments.iter().map(Value::memory_bytes).sum::<usize>();
            rows.push(arguments);
            return Ok(size_of::<Vec<Value>>() + bytes);
        }
        if let [arg] = &aggregate.args[..] {
            let value = if aggregate.function.calculates() && self.seen.is_none() {
                arg.eval_unrounded(row, context)?
            } else {
                arg.eval_ref(row, context)?
            };
            if value.is_null() && aggregate.function != AggregateFunction::JsonArrayAgg {
                return Ok(0);
            }
            let mut grown = 0;
            if let Some(seen) = &mut self.seen {
                let key = distinct_key(&value, &arg.ty, context);
                grown = key.len() + SEEN_BYTES;
                if !seen.insert(key) {
                    return Ok(0);
                }
            }
            if self.seen.is_some() && aggregate.function.calculates() && arg.ty.class() == Class::String {
                return Ok(grown + self.add_silently(aggregate, &value, row, context)?);
            }
            return Ok(grown + self.add_value(aggregate, &value, row, context)?);
        }
        let mut values = Vec::with_capacity(aggregate.args.len());
        for arg in &aggregate.args {
            values.push(arg.eval(row, context)?);
        }
        let is_json = aggregate.function == AggregateFunction::JsonObjectAgg;
        if values.iter().any(Value::is_null) && (!is_json || values[0].is_null()) {
            return Ok(0);
        }
        let mut grown = 0;
        if let Some(seen) = &mut self.seen {
            let mut key = Vec::new();
            for (value, arg) in values.iter().zip(&aggregate.args) {
                key.extend(distinct_key(value, &arg.ty, context));
            }
            grown = key.len() + SEEN_BYTES;
            if !seen.insert(key) {
                return Ok(0);
            }
        }
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Texts(texts) => {
                let mut text = Vec::new();
                if is_json {
                    let key = convert::text_of(&values[0], context);
                    let mut member = json_quote(&key);
                    member.push(':');
                    super::functions::append_json_value(
                        &values[1],
                        &aggregate.args[1].ty,
                        context,
                        &mut member,
                    );
                    text = member.into_bytes();
                } else {
                    for (value, arg) in values.iter().zip(&aggregate.args) {
                        text.extend(concatenated(aggregate, value, &arg.ty, context));
                    }
                }
                let keys = sort_keys(aggregate, &values, row, context)?;
                grown += texts.push(
                    aggregate,
                    text,
                    keys,
                    context.session.settings.group_concat_max_len,
                );
            }
            _ => unreachable!("the binder allows several arguments only where they are handled here"),
        }
        Ok(grown)
    }

    /// Adds a text as a number without warnings: MariaDB stores the distinct numbers in a temporary table first, which
    /// reports nothing.
    fn add_silently(
        &mut self,
        aggregate: &Aggregate,
        value: &Value,
        row: &[Value],
        context: &mut EvalContext<'_>,
    ) -> Result<usize> {
        let nested = Diagnostics::of_nested(&context.session.diagnostics);
        let said = std::mem::replace(&mut context.session.diagnostics, nested);
        let mode = std::mem::replace(&mut context.mode, EvalMode::Query);
        let added = self.add_value(aggregate, value, row, context);
        context.mode = mode;
        context.session.diagnostics = said;
        added
    }

    /// Like [`Accumulator::add`], with the value of the only argument. Not for DISTINCT, nor for functions
    /// that keep texts.
    ///
    /// # Errors
    /// Errors of the conversion; 1690.
    pub fn add_argument(
        &mut self,
        aggregate: &Aggregate,
        value: &Value,
        context: &mut EvalContext<'_>,
    ) -> Result<()> {
        if !value.is_null() {
            self.add_value(aggregate, value, &[], context)?;
        }
        Ok(())
    }

    /// Takes the keys that COUNT(DISTINCT …) has collected. From then on the caller counts them. `None` for
    /// other aggregates.
    pub fn take_counted_keys(&mut self) -> Option<CountedKeys> {
        match (&self.state, &mut self.seen) {
            (State::Count(_), Some(seen)) => Some(CountedKeys(std::mem::take(seen))),
            _ => None,
        }
    }

    fn add_value(
        &mut self,
        aggregate: &Aggregate,
        value: &Value,
        row: &[Value],
        context: &mut EvalContext<'_>,
    ) -> Result<usize> {
        match &mut self.state {
            State::Rows(_) | State::Loadable(_) => {
                unreachable!("a stored function has its arguments added as a row")
            }
            State::Count(count) => *count += 1,
            State::Decimal { sum, small, count } => {
                *count += 1;
                match value {
                    Value::Int(number) => *small += i128::from(*number),
                    Value::UInt(number) => *small += i128::from(*number),
                    other => {
                        let number = convert::to_decimal(other, context)?;
                        *sum = sum
                            .add(&number)
                            .map_err(|_| errors::out_of_range("DECIMAL", "sum"))?;
                    }
                }
            }
            State::Double { sum, count } => {
                *count += 1;
                *sum += convert::to_double(value, context)?;
            }
            State::Extreme(best) => {
                let wanted = if aggregate.function == AggregateFunction::Min {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
                let better = match best {
                    None => true,
                    Some(best) => {
                        compare_values(&own_rule(&aggregate.args[0].ty, value), value, best, context)?
                            == Some(wanted)
                    }
                };
                if better {
                    *best = Some(value.clone());
                }
            }
            State::Bits(bits) => {
                let value = convert::to_bits(value, context)?;
                match aggregate.function {
                    AggregateFunction::BitAnd => *bits &= value,
                    AggregateFunction::BitOr => *bits |= value,
                    _ => *bits ^= value,
                }
            }
            State::Variance { count, mean, squares } => {
                let number = convert::to_double(value, context)?;
                *count += 1;
                if *count == 1 {
                    *mean = number;
                } else {
                    let before = *mean;
                    *mean = before + (number - before) / *count as f64;
                    *squares += (number - before) * (number - *mean);
                }
            }
            State::Texts(texts) => {
                let text = concatenated(aggregate, value, &aggregate.args[0].ty, context);
                let keys = sort_keys(aggregate, std::slice::from_ref(value), row, context)?;
                let length_max = context.session.settings.group_concat_max_len;
                return Ok(texts.push(aggregate, text, keys, length_max));
            }
        }
        Ok(0)
    }

    /// Returns the result. Without rows it is NULL, 0 for COUNT, and the neutral value for bit functions.
    ///
    /// # Errors
    /// 1690.
    pub fn finish(&mut self, aggregate: &Aggregate, context: &mut EvalContext<'_>) -> Result<Value> {
        use AggregateFunction as A;
        Ok(match &mut self.state {
            State::Count(count) => Value::Int(*count),
            State::Decimal { sum, small, count } => exact_result(aggregate, sum, *small, *count, context)?,
            State::Double { sum, count } => double_result(aggregate, *sum, *count)?,
            State::Extreme(best) => match best.take().unwrap_or_default() {
                label @ (Value::Enum(_) | Value::Set(_)) => {
                    convert::as_computed(Cow::Owned(label)).into_owned()
                }
                value => value,
            },
            State::Bits(bits) => Value::UInt(*bits),
            State::Variance { count, squares, .. } => {
                let sample = matches!(aggregate.function, A::StddevSamp | A::VarSamp);
                let fewest = if sample { 2 } else { 1 };
                if *count < fewest {
                    return Ok(Value::Null);
                }
                let divisor = if sample { *count - 1 } else { *count };
                let variance = *squares / divisor as f64;
                match aggregate.function {
                    A::StddevPop | A::StddevSamp => Value::Double(variance.sqrt()),
                    _ => Value::Double(variance),
                }
            }
            State::Texts(texts) if texts.parts.is_empty() => Value::Null,
            State::Loadable(call) => call.finish(aggregate, context)?,
            State::Rows(rows) if rows.is_empty() => Value::Null,
            State::Rows(rows) => {
                let rows = std::mem::take(rows);
                match (&aggregate.stored, &mut context.runner) {
                    (Some(call), Some(runner)) => runner.call_group(call, rows, context.session)?,
                    _ => return Err(errors::not_supported("stored aggregate functions here")),
                }
            }
            State::Texts(texts) => {
                let mut texts = std::mem::take(&mut texts.parts);
                sort_parts(aggregate, &mut texts, context)?;
                match aggregate.function {
                    A::JsonArrayAgg => json_text(b"[", &texts, b",", b"]"),
                    A::JsonObjectAgg => json_text(b"{", &texts, b", ", b"}"),
                    _ => group_concat(aggregate, &texts, context)?,
                }
            }
        })
    }
}

/// Returns SUM or AVG of exact numbers, whose integers were summed separately.
pub(super) fn exact_result(
    aggregate: &Aggregate,
    sum: &Decimal,
    small: i128,
    count: u64,
    context: &EvalContext<'_>,
) -> Result<Value> {
    if count == 0 {
        return Ok(Value::Null);
    }
    let total = sum
        .add(&wide_decimal(small))
        .map_err(|_| errors::out_of_range("DECIMAL", "sum"))?;
    let scale = i32::from(aggregate.ty.decimals());
    if aggregate.function != AggregateFunction::Avg {
        return Ok(Value::Decimal(total.round(scale, Rounding::HalfUp)));
    }
    let increment = context.session.settings.div_precision_increment;
    let quotient = total
        .div(&Decimal::from(count), increment)?
        .unwrap_or(Decimal::ZERO);
    Ok(Value::Decimal(quotient.round(scale, Rounding::HalfUp)))
}

/// Returns SUM or AVG of doubles.
pub(super) fn double_result(aggregate: &Aggregate, sum: f64, count: u64) -> Result<Value> {
    if count == 0 {
        return Ok(Value::Null);
    }
    let result = if aggregate.function == AggregateFunction::Avg {
        sum / count as f64
    } else {
        sum
    };
    if !result.is_finite() {
        return Err(errors::out_of_range("DOUBLE", "sum"));
    }
    Ok(Value::Double(result))
}

fn wide_decimal(number: i128) -> Decimal {
    match i64::try_from(number) {
        Ok(number) => Decimal::from(number),
        Err(_) => number.to_string().parse().unwrap_or(Decimal::ZERO),
    }
}

/// Returns bytes that are equal for values that DISTINCT treats as equal.
pub(crate) fn distinct_key(value: &Value, ty: &ExprType, context: &EvalContext<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(16);
    match value {
        Value::Null => key.push(0),
        Value::Text(_) | Value::Enum(_) | Value::Set(_) => {
            key.push(1);
            let collation = match ty.collation() {
                Collation::Binary => Collation::Utf8mb4Bin,
                collation => collation,
            };
            collation.append_sort_key(&convert::text_of(value, context), None, &mut key);
        }
        Value::Bytes(bytes) => {
            key.push(2);
            key.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            key.extend_from_slice(bytes);
        }
        Value::Bit(bits) => {
            key.push(4);
            key.extend_from_slice(&bits.bits.to_le_bytes());
        }
        other => {
            key.push(3);
            let text = match other {
                // 1.0 and 1.00 are equal; so are 0 and -0.
                Value::Decimal(number) => {
                    let text = number.to_string();
                    let text = if text.contains('.') {
                        text.trim_end_matches('0').trim_end_matches('.').to_owned()
                    } else {
                        text
                    };
                    if text == "-0" { "0".to_owned() } else { text }
                }
                Value::Double(number) if *number == 0.0 => "0".to_owned(),
                _ => convert::text_of(other, context).into_owned(),
            };
            key.extend_from_slice(text.as_bytes());
            key.push(0xff);
        }
    }
    key
}

/// Returns whether elements are sorted by the arguments: as in MariaDB, DISTINCT sorts them if ORDER BY does not.
fn sorts_by_arguments(aggregate: &Aggregate) -> bool {
    aggregate.distinct == Distinctness::Distinct && aggregate.order_by.is_empty()
}

/// Returns the sort keys of an element. `values` are those of the arguments.
fn sort_keys(
    aggregate: &Aggregate,
    values: &[Value],
    row: &[Value],
    context: &mut EvalContext<'_>,
) -> Result<Vec<Value>> {
    if sorts_by_arguments(aggregate) {
        return Ok(values.to_vec());
    }
    aggregate
        .order_by
        .iter()
        .map(|(expr, _)| expr.eval(row, context))
        .collect()
}

/// Returns the text of a value within the result.
fn concatenated(aggregate: &Aggregate, value: &Value, ty: &ExprType, context: &EvalContext<'_>) -> Vec<u8> {
    if aggregate.function == AggregateFunction::JsonArrayAgg {
        let mut text = String::new();
        super::functions::append_json_value(value, ty, context, &mut text);
        return text.into_bytes();
    }
    // As in MariaDB, a BIT is text of its bytes only if nothing is sorted: MariaDB's temporary table stores
    // it as a number.
    if let Value::Bit(bits) = value
        && (aggregate.distinct == Distinctness::Distinct || !aggregate.order_by.is_empty())
    {
        return bits.bits.to_string().into_bytes();
    }
    match aggregate.ty.collation() {
        Collation::Binary => bytes_of_type(value, ty, context),
        _ => convert::typed_text(value, ty, context).into_bytes(),
    }
}

/// Sorts elements by ORDER BY. ENUM and SET values sort by their numbers.
fn sort_parts(aggregate: &Aggregate, texts: &mut [Part], context: &mut EvalContext<'_>) -> Result<()> {
    let mut failed = None;
    let order_by: Vec<(&Expr, SortOrder)> = match sorts_by_arguments(aggregate) {
        true => { aggregate.args.iter() }
            .map(|arg| (arg, SortOrder::Ascending))
            .collect(),
        false => { aggregate.order_by.iter() }
            .map(|(expr, order)| (expr, *order))
            .collect(),
    };
    texts.sort_by(|(_, left), (_, right)| {
        for ((expr, order), (left, right)) in order_by.iter().zip(left.iter().zip(right)) {
            let ordering = match (left.is_null(), right.is_null()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => {
                    let rule = match expr.ty.data_type {
                        DataType::Enum { .. } | DataType::Set { .. } => Comparison::Int,
                        _ => own_rule(&expr.ty, left),
                    };
                    match compare_values(&rule, left, right, context) {
                        Ok(ordering) => ordering.unwrap_or(Ordering::Equal),
                        Err(error) => {
                            failed = Some(error);
                            Ordering::Equal
                        }
                    }
                }
            };
            if ordering != Ordering::Equal {
                return match order {
                    SortOrder::Descending => ordering.reverse(),
                    SortOrder::Ascending => ordering,
                };
            }
        }
        Ordering::Equal
    });
    failed.map_or(Ok(()), Err)
}

fn json_text(open: &[u8], parts: &[Part], separator: &[u8], close: &[u8]) -> Value {
    let mut out = open.to_vec();
    for (number, (text, _)) in parts.iter().enumerate() {
        if number > 0 {
            out.extend_from_slice(separator);
        }
        out.extend_from_slice(text);
    }
    out.extend_from_slice(close);
    Value::Text(String::from_utf8(out).expect("texts"))
}

fn group_concat(aggregate: &Aggregate, texts: &[Part], context: &mut EvalContext<'_>) -> Result<Value> {
    let binary = aggregate.ty.collation() == Collation::Binary;
    let limit = context.session.settings.group_concat_max_len;
    let (offset, count) = aggregate.limit.unwrap_or((0, u64::MAX));
    let mut out = Vec::new();
    let rows_before = (context.state.concatenated.get(&aggregate.address()))
        .copied()
        .unwrap_or(0);
    let mut rows = rows_before;
    let chosen = texts.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX));
    for (number, (text, _)) in chosen
        .take(usize::try_from(count).unwrap_or(usize::MAX))
        .enumerate()
    {
        if number > 0 {
            out.extend_from_slice(aggregate.separator.as_bytes());
        }
        out.extend_from_slice(text);
        rows += 1;
        if out.len() > limit {
            let mut end = limit;
            let continues = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
            while !binary && continues(out[end]) {
                end -= 1;
            }
            out.truncate(end);
            // As in MariaDB, rows are numbered across groups.
            let message = ER_CUT_VALUE_GROUP_CONCAT.message(&[&rows, &"GROUP_CONCAT("]);
            context.warn(ER_CUT_VALUE_GROUP_CONCAT, message)?;
            break;
        }
    }
    context.state.concatenated.insert(aggregate.address(), rows);
    Ok(if binary {
        Value::Bytes(out)
    } else {
        Value::Text(String::from_utf8(out).expect("texts, cut between characters"))
    })
}
