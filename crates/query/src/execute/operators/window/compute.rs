//! Computation of window functions over their partitions.

use std::ops::Range;

use paceline_types::error_code::{
    ER_ARGUMENT_NOT_CONSTANT, ER_ARGUMENT_OUT_OF_RANGE, ER_INVALID_NTILE_ARGUMENT,
};
use paceline_types::{DataType, Value};

use super::aggregate::over_frames;
use super::frame::{Frames, RangeKeys, peers_end};
use super::loadable;
use crate::error::{Error, Result};
use crate::execute::collections::temporary_key::append_ordered;
use crate::execute::context::Execution;
use crate::plan::tree::{PlannedWindow, WindowSort};
use paceline_expression::{
    AggregateFunction, Class, EvalContext, FrameBound, WindowFunction, text_of, to_decimal, to_double,
    to_i64, to_i128,
};

/// Values that a function reads from the rows.
pub(super) struct Input {
    /// Values of each argument.
    pub args: Vec<Vec<Value>>,
    keys: RangeKeys,
}

impl Input {
    pub fn new(function: &PlannedWindow) -> Self {
        Input {
            args: function.args.iter().map(|_| Vec::new()).collect(),
            keys: RangeKeys::default(),
        }
    }

    /// Evaluates the arguments for a row. Returns their memory in bytes.
    pub fn add(
        &mut self,
        exec: &mut Execution<'_, '_>,
        sort: &WindowSort,
        function: &PlannedWindow,
        row: &[Value],
    ) -> Result<usize> {
        let mut bytes = 0;
        let as_text = returns_value(&function.function);
        for (values, arg) in self.args.iter_mut().zip(&function.args) {
            let mut value = if calculates(&function.function) {
                exec.eval_unrounded(arg, row)?
            } else {
                exec.eval(arg, row)?
            };
            if as_text && matches!(arg.ty.data_type, DataType::Enum { .. } | DataType::Set { .. }) {
                value = match value {
                    Value::Null => Value::Null,
                    label => Value::Text(text_of(&label, &exec.context()).into_owned()),
                };
            }
            bytes += value.memory_bytes();
            values.push(value);
        }
        let bounds = [
            (&function.frame.start, &mut self.keys.start),
            (&function.frame.end, &mut self.keys.end),
        ];
        let mut by_value = false;
        for (bound, keys) in bounds {
            if let FrameBound::Value(expr) = bound {
                by_value = true;
                let ordered = &sort.keys[function.partition];
                let value = exec.eval(expr, row)?;
                let value = as_class(value, ordered.expr.ty.class(), &mut exec.context())?;
                let mut key = Vec::new();
                append_ordered(&value, &ordered.expr.ty, ordered.order, &mut key);
                bytes += key.len() + size_of::<Vec<u8>>();
                keys.push(key);
            }
        }
        if by_value {
            let ordered = &sort.keys[function.partition];
            let value = exec.eval(&ordered.expr, row)?;
            let mut key = Vec::new();
            append_ordered(&value, &ordered.expr.ty, ordered.order, &mut key);
            bytes += key.len() + size_of::<Vec<u8>>();
            self.keys.order.push(key);
        }
        Ok(bytes)
    }
}

/// Returns whether a function computes with all digits of its argument.
fn calculates(function: &WindowFunction) -> bool {
    matches!(function, WindowFunction::Aggregate(aggregate) if aggregate.function.calculates())
}

/// Returns whether a function returns one of its values. Then labels become texts.
fn returns_value(function: &WindowFunction) -> bool {
    match function {
        WindowFunction::Aggregate(aggregate) => {
            matches!(
                aggregate.function,
                AggregateFunction::Min | AggregateFunction::Max
            )
        }
        WindowFunction::Lag
        | WindowFunction::Lead
        | WindowFunction::FirstValue
        | WindowFunction::LastValue
        | WindowFunction::NthValue
        | WindowFunction::PercentileDisc => true,
        _ => false,
    }
}

/// Converts the bound of a frame for the comparison, as MariaDB does: to the class of the ORDER BY value.
fn as_class(value: Value, class: Class, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(match (class, value) {
        (_, Value::Null) => Value::Null,
        (Class::Int, value @ (Value::Decimal(_) | Value::Double(_) | Value::Float(_))) => {
            let number = to_i128(&value, context)?;
            i64::try_from(number).map_or(Value::UInt(number as u64), Value::Int)
        }
        (Class::Decimal, value @ (Value::Double(_) | Value::Float(_))) => {
            Value::Decimal(to_decimal(&value, context)?)
        }
        (_, value) => value,
    })
}

/// Computes a function for all rows. `shared` contains the number of leading keys that each row shares with the
/// previous one.
pub(super) fn compute(
    exec: &mut Execution<'_, '_>,
    function: &PlannedWindow,
    input: &Input,
    shared: &[usize],
) -> Result<Vec<Value>> {
    let mut results = Vec::with_capacity(shared.len());
    let mut start = 0;
    while start < shared.len() {
        let end = peers_end(shared, function.partition, start, shared.len());
        let part = Part {
            function,
            input,
            shared,
            rows: start..end,
        };
        part.compute(exec, &mut results)?;
        debug_assert_eq!(results.len(), end);
        start = end;
    }
    Ok(results)
}

/// Rounds a double to `scale` decimals, as a column of a table does.
pub(super) fn rounded(value: &Value, scale: u8) -> Value {
    let Value::Double(number) = value else {
        return value.clone();
    };
    let scale = 10f64.powi(i32::from(scale));
    let whole = number.floor();
    Value::Double(whole + ((number - whole) * scale).round_ties_even() / scale)
}

/// One partition of a function.
struct Part<'a> {
    function: &'a PlannedWindow,
    input: &'a Input,
    shared: &'a [usize],
    rows: Range<usize>,
}

impl Part<'_> {
    fn compute(&self, exec: &mut Execution<'_, '_>, results: &mut Vec<Value>) -> Result<()> {
        match &self.function.function {
            WindowFunction::RowNumber => {
                results.extend((1..=self.rows.len()).map(integer));
                Ok(())
            }
            WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::PercentRank
            | WindowFunction::CumeDist => {
                self.ranks(results);
                Ok(())
            }
            WindowFunction::Ntile => self.tiles(exec, results),
            WindowFunction::Lag => self.neighbours(exec, -1, results),
            WindowFunction::Lead => self.neighbours(exec, 1, results),
            WindowFunction::FirstValue | WindowFunction::LastValue | WindowFunction::NthValue => {
                self.places(exec, results)
            }
            WindowFunction::PercentileCont | WindowFunction::PercentileDisc => self.percentile(exec, results),
            WindowFunction::Aggregate(aggregate) if aggregate.function == AggregateFunction::Loadable => {
                let (args, rows) = (&self.input.args, self.rows.clone());
                loadable::over_frames(exec, aggregate, args, self.frames(), rows, results)
            }
            WindowFunction::Aggregate(aggregate) => {
                let values = self.input.args.first().map(|values| &values[..]);
                over_frames(exec, aggregate, values, self.frames(), self.rows.clone(), results)
            }
        }
    }

    fn frames(&self) -> Frames<'_> {
        Frames::new(
            &self.function.frame,
            &self.input.keys,
            self.shared,
            self.function.peers,
            self.rows.clone(),
        )
    }

    fn ranks(&self, results: &mut Vec<Value>) {
        let all = self.rows.len();
        let (mut first, mut dense) = (self.rows.start, 0);
        while first < self.rows.end {
            let end = peers_end(self.shared, self.function.peers, first, self.rows.end);
            dense += 1;
            let before = first - self.rows.start;
            let value = match &self.function.function {
                WindowFunction::Rank => integer(before + 1),
                WindowFunction::DenseRank => integer(dense),
                WindowFunction::CumeDist => Value::Double((end - self.rows.start) as f64 / all as f64),
                _ if all > 1 => Value::Double(before as f64 / (all - 1) as f64),
                _ => Value::Double(0.0),
            };
            results.extend(std::iter::repeat_n(value, end - first));
            first = end;
        }
    }

    /// Computes NTILE. The number of tiles must be the same for all rows of a partition.
    fn tiles(&self, exec: &mut Execution<'_, '_>, results: &mut Vec<Value>) -> Result<()> {
        let mut known = None;
        for row in self.rows.clone() {
            let tiles = to_i64(&self.input.args[0][row], &mut exec.context())?;
            if tiles <= 0 || *known.get_or_insert(tiles) != tiles {
                return Err(Error::new(ER_INVALID_NTILE_ARGUMENT, &[]));
            }
            let tiles = usize::try_from(tiles).unwrap_or(usize::MAX);
            // The first tiles have one more row.
            let (size, more) = (self.rows.len() / tiles, self.rows.len() % tiles);
            let before = row - self.rows.start;
            results.push(integer(if before < more * (size + 1) {
                before / (size + 1) + 1
            } else {
                (before - more) / size + 1
            }));
        }
        Ok(())
    }

    /// Computes LAG and LEAD: the value at a distance in one direction. A distance of NULL is 0.
    fn neighbours(
        &self,
        exec: &mut Execution<'_, '_>,
        direction: i128,
        results: &mut Vec<Value>,
    ) -> Result<()> {
        let [values, distances] = &self.input.args[..] else {
            unreachable!("the binder gives a distance")
        };
        for row in self.rows.clone() {
            let distance = i128::from(to_i64(&distances[row], &mut exec.context())?);
            let place = usize::try_from(row as i128 + direction * distance).ok();
            let place = place.filter(|place| self.rows.contains(place));
            results.push(place.map_or(Value::Null, |place| values[place].clone()));
        }
        Ok(())
    }

    /// Computes FIRST_VALUE, LAST_VALUE and NTH_VALUE.
    fn places(&self, exec: &mut Execution<'_, '_>, results: &mut Vec<Value>) -> Result<()> {
        let mut frames = self.frames();
        for row in self.rows.clone() {
            exec.tick()?;
            let frame = frames.of(row);
            let place = match &self.function.function {
                WindowFunction::FirstValue => Some(frame.start),
                WindowFunction::LastValue => frame.end.checked_sub(1),
                _ => {
                    let place = &self.input.args[1][row];
                    // In MariaDB the position minus one is NULL for NULL, which is 0 as a number.
                    let ahead = match place {
                        Value::Null => 0,
                        place => i128::from(to_i64(place, &mut exec.context())?) - 1,
                    };
                    usize::try_from(frame.start as i128 + ahead).ok()
                }
            };
            let place = place.filter(|place| frame.contains(place));
            results.push(place.map_or(Value::Null, |place| self.input.args[0][place].clone()));
        }
        Ok(())
    }

    /// Computes PERCENTILE_CONT and PERCENTILE_DISC over the rows with a value. They are in order.
    fn percentile(&self, exec: &mut Execution<'_, '_>, results: &mut Vec<Value>) -> Result<()> {
        let [fractions, values] = &self.input.args[..] else {
            unreachable!("the binder gives what is ordered by")
        };
        let name = self.function.function.name();
        let mut fraction: Option<f64> = None;
        for value in fractions[self.rows.clone()]
            .iter()
            .filter(|value| !value.is_null())
        {
            exec.tick()?;
            let number = to_double(value, &mut exec.context())?;
            if !(0.0..=1.0).contains(fraction.get_or_insert(number)) {
                return Err(Error::new(ER_ARGUMENT_OUT_OF_RANGE, &[&name]));
            }
            if fraction != Some(number) {
                return Err(Error::new(ER_ARGUMENT_NOT_CONSTANT, &[&name]));
            }
        }
        let known: Vec<usize> = self.rows.clone().filter(|row| !values[*row].is_null()).collect();
        let result = match fraction {
            Some(fraction) if !known.is_empty() => {
                if matches!(self.function.function, WindowFunction::PercentileCont) {
                    interpolated(fraction, values, &known, &mut exec.context())?
                } else {
                    let share = |place: usize| (place + 1) as f64 / known.len() as f64;
                    let place = (0..known.len()).find(|place| share(*place) >= fraction);
                    values[known[place.unwrap_or(known.len() - 1)]].clone()
                }
            }
            _ => Value::Null,
        };
        for row in self.rows.clone() {
            results.push(if fractions[row].is_null() {
                Value::Null
            } else {
                result.clone()
            });
        }
        Ok(())
    }
}

/// Returns the value at a fraction of the way from the first to the last, interpolated between two rows.
fn interpolated(
    fraction: f64,
    values: &[Value],
    known: &[usize],
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    let place = fraction * (known.len() - 1) as f64;
    let below = to_double(&values[known[place.floor() as usize]], context)?;
    if place.floor() == place.ceil() {
        return Ok(Value::Double(below));
    }
    let above = to_double(&values[known[place.ceil() as usize]], context)?;
    Ok(Value::Double(
        (place - place.floor()) * above + (place.ceil() - place) * below,
    ))
}

pub(super) fn integer(number: usize) -> Value {
    Value::Int(number as i64)
}
