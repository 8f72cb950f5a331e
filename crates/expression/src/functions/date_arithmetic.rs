//! Arithmetic with dates and times: DATE_ADD and DATE_SUB with their intervals, ADDTIME, SUBTIME, TIMEDIFF.

use paceline_types::convert::number_to_datetime;
use paceline_types::decimal::Rounding;
use paceline_types::error_code::{ER_DATA_OVERFLOW, ER_DATETIME_FUNCTION_OVERFLOW};
use paceline_types::temporal::{
    self, Interval, IntervalUnit, ParsedTemporal, add_interval, add_interval_to_time, date_from_day_number,
    day_number,
};
use paceline_types::{Collation, DataType, DateTime, Decimal, Time, TimeZone, Value, text};

use super::temporal_fraction::{
    ReadAs, argument_fraction, interval_decimals, shown_decimals, type_fraction, value_fraction,
};
use super::temporal_parts::unit_named;
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::eval::convert;
use crate::expr_type::{Class, ExprType, NOT_FIXED_DECIMALS, Repertoire, TypeNote};
use crate::functions::arguments::some;
use crate::tree::{Args, BindCall, BindFn, EvalFn, ExprKind, Function, pure, steady};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("date_add", (3, 3), bind_date_add, eval_date_add).without_own_text(),
    pure("date_sub", (3, 3), bind_date_add, eval_date_sub).without_own_text(),
    pure("addtime", (2, 2), bind_addtime, eval_addtime).without_own_text(),
    pure("subtime", (2, 2), bind_addtime, eval_subtime).without_own_text(),
    // Never folded: functions that need a whole date recognize this call (`wants_whole_date`).
    steady("timediff", (2, 2), bind_timediff, eval_timediff),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// Returns whether the unit does not affect the time of day.
fn is_date_unit(unit: IntervalUnit) -> bool {
    use IntervalUnit as U;
    matches!(
        unit,
        U::Year | U::Quarter | U::Month | U::Week | U::Day | U::YearMonth
    )
}

fn keyword_of<'b>(call: &'b BindCall<'_>, index: usize) -> &'b str {
    match call.args[index].as_literal() {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

fn bind_date_add(call: &mut BindCall<'_>) -> Result<ExprType> {
    let word = keyword_of(call, 2);
    let unit = unit_named(word).ok_or_else(|| errors::syntax_near(word))?;
    let interval_decimals = interval_decimals(unit, &call.args[1].ty);
    let date = &call.args[0].ty;
    let decimals = interval_decimals.max(date.decimals().min(6));
    let ty = match date.class() {
        _ if date.is_parameter() => ExprType::text(26, call.connection()),
        Class::DateTime => ExprType::datetime(decimals),
        Class::Date if is_date_unit(unit) => ExprType::date(),
        Class::Date => ExprType::datetime(interval_decimals),
        Class::Time if !is_calendar_unit(unit) => ExprType::time(decimals),
        Class::Time => ExprType::datetime(decimals),
        _ => ExprType::new(DataType::Char {
            length: if interval_decimals > 0 { 26 } else { 19 },
            collation: call.connection(),
        })
        .with_repertoire(Repertoire::Ascii),
    };
    if ty.class() == Class::String && !date.is_parameter() {
        let digits = interval_decimals.max(value_fraction(&call.args[0]));
        call.function = function_of_text(call.function.name);
        return Ok(ExprType {
            note: TypeNote::Fraction(digits),
            ..ty.nullable()
        });
    }
    if ty.class() == Class::String {
        call.function = function_of_text(call.function.name);
    }
    Ok(ty.nullable())
}

/// Returns whether a unit is one of the calendar, which cannot be added to a time of day.
fn is_calendar_unit(unit: IntervalUnit) -> bool {
    use IntervalUnit as U;
    matches!(unit, U::Year | U::Quarter | U::Month | U::Week | U::YearMonth)
}

/// Interval of arguments 1 and 2.
enum Amount {
    Null,
    Interval(Interval),
    /// Larger than any date allows.
    TooMuch,
}

fn interval(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Amount> {
    use IntervalUnit as U;
    let unit = unit_named(args.keyword(2)).ok_or_else(|| errors::syntax_near(args.keyword(2)))?;
    let value = args.value(1, context)?;
    if value.is_null() {
        return Ok(Amount::Null);
    }
    let interval = match unit {
        U::Second if matches!(&*value, Value::Int(_)) => {
            Interval::from_number(convert::to_i64(&value, context)?, unit)
        }
        U::Second => {
            let number = convert::to_decimal(&value, context)?;
            let whole = number.round(0, Rounding::Truncate);
            let fraction = number.round(6, Rounding::Truncate).sub(&whole)?;
            let micros = fraction.mul(&Decimal::from(1_000_000i64))?.to_i64()?;
            let Ok(seconds) = whole.to_i64() else {
                return Ok(Amount::TooMuch);
            };
            Interval {
                months: 0,
                micros: i128::from(seconds) * 1_000_000 + i128::from(micros),
            }
        }
        U::Quarter | U::Week | U::Day | U::Hour | U::Minute => match whole_amount(&value, context)? {
            Some(number) => Interval::from_number(number, unit),
            None => return Ok(Amount::TooMuch),
        },
        // For these units MariaDB interprets the bits of numbers beyond BIGINT.
        U::Year | U::Month | U::Microsecond => {
            let number = match whole_amount(&value, context)? {
                Some(number) => number,
                None => convert::to_i64(&value, context)?,
            };
            Interval::from_number(number, unit)
        }
        _ => {
            let text = convert::text_of(&value, context);
            if has_long_number(&text) {
                return Ok(Amount::Null);
            }
            Interval::parse(&text, unit)
        }
    };
    Ok(Amount::Interval(interval))
}

/// Returns whether a number in the text of a compound interval has more digits than MariaDB reads.
fn has_long_number(text: &str) -> bool {
    const DIGITS_MAX: usize = 19;
    let numbers = text.split(|character: char| !character.is_ascii_digit());
    { numbers }.any(|number| number.len() > DIGITS_MAX)
}

/// Returns a number of days or other units; `None` for an unsigned number beyond BIGINT.
fn whole_amount(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<i64>> {
    Ok(match value {
        Value::UInt(number) => i64::try_from(*number).ok(),
        Value::Decimal(number) => {
            let whole = number.round(0, Rounding::HalfUp);
            Some(match whole.to_i64() {
                Ok(number) => number,
                Err(_) => {
                    let message = ER_DATA_OVERFLOW.message(&[number, &"INT"]);
                    context.warn(ER_DATA_OVERFLOW, message)?;
                    if number.is_negative() { i64::MIN } else { i64::MAX }
                }
            })
        }
        Value::Double(number) => Some(number.round_ties_even() as i64),
        other => Some(convert::to_i64(other, context)?),
    })
}

/// Creates the entry of a function that returns text if its argument is text. Where a number or date is expected, the
/// value that the text represents is used.
const fn of_text(
    name: &'static str,
    arguments: (usize, usize),
    bind: BindFn,
    eval: EvalFn,
    as_temporal: &'static Function,
) -> Function {
    Function {
        as_temporal: Some(as_temporal),
        ..pure(name, arguments, bind, eval)
    }
}

static DATE_ADD_VALUE: Function = pure("date_add", (3, 3), bind_date_add, |args, context| {
    date_add_value(args, context, Direction::Forward)
});
static DATE_SUB_VALUE: Function = pure("date_sub", (3, 3), bind_date_add, |args, context| {
    date_add_value(args, context, Direction::Backward)
});
static ADDTIME_VALUE: Function = pure("addtime", (2, 2), bind_addtime, |args, context| {
    addtime_value(args, context, Direction::Forward)
});
static SUBTIME_VALUE: Function = pure("subtime", (2, 2), bind_addtime, |args, context| {
    addtime_value(args, context, Direction::Backward)
});

static DATE_ADD_OF_TEXT: Function =
    of_text("date_add", (3, 3), bind_date_add, eval_date_add, &DATE_ADD_VALUE);
static DATE_SUB_OF_TEXT: Function =
    of_text("date_sub", (3, 3), bind_date_add, eval_date_sub, &DATE_SUB_VALUE);
static ADDTIME_OF_TEXT: Function = of_text("addtime", (2, 2), bind_addtime, eval_addtime, &ADDTIME_VALUE);
static SUBTIME_OF_TEXT: Function = of_text("subtime", (2, 2), bind_addtime, eval_subtime, &SUBTIME_VALUE);

/// Returns the function for a text result.
fn function_of_text(name: &str) -> &'static Function {
    match name {
        "date_add" => &DATE_ADD_OF_TEXT,
        "date_sub" => &DATE_SUB_OF_TEXT,
        "addtime" => &ADDTIME_OF_TEXT,
        _ => &SUBTIME_OF_TEXT,
    }
}

fn eval_date_add(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    as_shown(args, date_add_value(args, context, Direction::Forward)?)
}

fn eval_date_sub(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    as_shown(args, date_add_value(args, context, Direction::Backward)?)
}

fn eval_addtime(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    as_shown(args, addtime_value(args, context, Direction::Forward)?)
}

fn eval_subtime(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    as_shown(args, addtime_value(args, context, Direction::Backward)?)
}

/// Converts a temporal value to text, if the call returns text.
fn as_shown(args: &Args<'_>, value: Value) -> Result<Value> {
    Ok(match value {
        Value::Null => value,
        value if args.ty.class() == Class::String => {
            Value::Text(text::to_string(&value.as_ref(), &TimeZone::UTC))
        }
        value => value,
    })
}

/// Returns the sum as a date or time, whatever the call returns.
fn date_add_value(args: &Args<'_>, context: &mut EvalContext<'_>, direction: Direction) -> Result<Value> {
    let date = args.value(0, context)?;
    let unit = unit_named(args.keyword(2)).unwrap_or(IntervalUnit::Day);
    let is_time =
        matches!(args.ty_of(0).data_type, DataType::Time { .. }) || matches!(&*date, Value::Time(_));
    if is_time && is_calendar_unit(unit) {
        // MariaDB checks this first, even if the time is NULL.
        return overflow("time", context);
    }
    if date.is_null() {
        return Ok(Value::Null);
    }
    let decimals = args.ty.decimals().min(6);
    if let (Value::Time(time), DataType::Time { .. } | DataType::Char { .. }) = (&*date, &args.ty.data_type) {
        let interval = match directed(interval(args, context)?, direction) {
            Amount::Interval(interval) => interval,
            Amount::Null => return Ok(Value::Null),
            Amount::TooMuch if args.ty.class() == Class::Time => return overflow("time", context),
            Amount::TooMuch => return overflow("datetime", context),
        };
        let decimals = match args.ty.class() {
            Class::Time => decimals,
            _ => interval_decimals(unit, args.ty_of(1)).max(value_fraction(&args.call.args[0])),
        };
        return match add_interval_to_time(*time, interval) {
            Some(time) => Ok(Value::Time(Time::from_micros(time.micros(), decimals))),
            None => overflow("time", context),
        };
    }
    let (has_time, written_decimals) = match &*date {
        Value::Text(_) | Value::Bytes(_) => {
            let text = convert::text_of(&date, context);
            let modes = context.session.settings.date_modes();
            let parsed = temporal::parse_datetime(&text, modes);
            // The value of a column is unknown when the call is bound, so all digits are shown.
            let decimals = match args.call.args[0].is_constant_during_execution() {
                true => parsed.as_ref().map_or(0, |parsed| parsed.value.decimals),
                false => value_fraction(&args.call.args[0]),
            };
            (parsed.is_some_and(|parsed| parsed.has_time), decimals)
        }
        Value::Date(_) => (false, value_fraction(&args.call.args[0])),
        // A number of at most eight digits is a day.
        Value::Int(number) => (*number > 99_991_231, 0),
        Value::UInt(number) => (*number > 99_991_231, 0),
        Value::Double(number) => (*number > 99_991_231.0, value_fraction(&args.call.args[0])),
        Value::Float(number) => (
            f64::from(*number) > 99_991_231.0,
            value_fraction(&args.call.args[0]),
        ),
        Value::Decimal(number) => (
            *number > Decimal::from(99_991_231i64),
            value_fraction(&args.call.args[0]),
        ),
        _ => (true, value_fraction(&args.call.args[0])),
    };
    let operand = &args.call.args[0];
    let converted = context.convert_operand(operand, |context| convert::to_datetime(&date, context))?;
    let Some(datetime) = converted else {
        return Ok(Value::Null);
    };
    if datetime.date.month == 0 || datetime.date.day == 0 {
        context.convert_operand(operand, |context| context.warn_incorrect("datetime", &date))?;
        return Ok(Value::Null);
    }
    // As in MariaDB, evaluate this after the date: an invalid date causes its warning whatever the interval
    // is.
    let interval = match directed(interval(args, context)?, direction) {
        Amount::Interval(interval) => interval,
        Amount::Null => return Ok(Value::Null),
        Amount::TooMuch => return overflow("datetime", context),
    };
    let Some(result) = add_interval(datetime, interval) else {
        return overflow("datetime", context);
    };
    Ok(match &args.ty.data_type {
        DataType::Date => Value::Date(result.date),
        DataType::DateTime { .. } => Value::DateTime(DateTime { decimals, ..result }),
        DataType::Time { .. } => Value::Time(result.time()),
        _ => {
            if is_date_unit(unit) && !has_time {
                Value::Date(result.date)
            } else {
                let brought = match &*args.value(1, context)? {
                    amount if unit == IntervalUnit::Second && args.ty_of(1).is_parameter() => {
                        ExprType::of_value(amount, Collation::Utf8mb4GeneralCi)
                            .decimals()
                            .min(6)
                    }
                    _ => interval_decimals(unit, args.ty_of(1)),
                };
                let decimals = brought.max(written_decimals);
                Value::DateTime(DateTime { decimals, ..result })
            }
        }
    })
}

fn directed(amount: Amount, direction: Direction) -> Amount {
    match amount {
        Amount::Interval(interval) if direction == Direction::Backward => {
            Amount::Interval(interval.negated())
        }
        amount => amount,
    }
}

/// Returns NULL with warning 1441.
fn overflow(kind: &str, context: &mut EvalContext<'_>) -> Result<Value> {
    let message = ER_DATETIME_FUNCTION_OVERFLOW.message(&[&kind]);
    context.warn(ER_DATETIME_FUNCTION_OVERFLOW, message)?;
    Ok(Value::Null)
}

/// Converts a value to a time or, if it contains a date, to a datetime.
fn time_or_datetime(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<TimeOrDateTime>> {
    let value = &*convert::bits_as_text(value, context);
    Ok(match value {
        Value::Null => None,
        Value::Time(time) => Some(TimeOrDateTime::Time(*time)),
        Value::Date(date) => Some(TimeOrDateTime::Date(date.at_midnight())),
        Value::DateTime(_) | Value::Timestamp(_) => {
            convert::to_datetime(value, context)?.map(TimeOrDateTime::DateTime)
        }
        Value::Year(0) => Some(TimeOrDateTime::Time(Time::ZERO)),
        Value::Year(_) => convert::to_datetime(value, context)?.map(TimeOrDateTime::Date),
        Value::Text(_) | Value::Bytes(_) => {
            let text = convert::text_of(value, context);
            match temporal::parse_time(&text) {
                Some(ParsedTemporal::Time(parsed)) => {
                    if parsed.truncated || parsed.clipped {
                        context.warn_truncated("time", value)?;
                    } else if parsed.fraction_cut {
                        context.note_truncated("time", value);
                    }
                    Some(TimeOrDateTime::Time(parsed.value))
                }
                Some(ParsedTemporal::DateTime(parsed)) => {
                    if parsed.fraction_cut && !parsed.truncated {
                        context.note_truncated("datetime", value);
                    }
                    Some(TimeOrDateTime::DateTime(parsed.value))
                }
                None => {
                    context.warn_incorrect("time", value)?;
                    None
                }
            }
        }
        _ => match number_to_datetime(value, &context.lax_convert_context()) {
            Some(datetime) if convert::to_i128(value, context)? <= 99_991_231 => {
                Some(TimeOrDateTime::Date(datetime))
            }
            Some(datetime) => Some(TimeOrDateTime::DateTime(datetime)),
            None => convert::to_time(value, context)?.map(TimeOrDateTime::Time),
        },
    })
}

/// Converts a value to an interval of days to seconds, in microseconds. Returns `None`, with a warning, if it is not
/// one.
pub(super) fn day_second(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<i64>> {
    const KIND: &str = "INTERVAL DAY TO SECOND";
    let read = match value {
        Value::Null => return Ok(None),
        Value::Time(time) => return Ok(Some(time.micros())),
        Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_) => None,
        _ => temporal::parse_day_second(&convert::text_of(value, context)),
    };
    let Some(read) = read else {
        context.warn_incorrect(KIND, value)?;
        return Ok(None);
    };
    if read.truncated {
        context.warn_truncated(KIND, value)?;
    } else if read.fraction_cut {
        context.note_truncated(KIND, value);
    }
    Ok(Some(read.value))
}

enum TimeOrDateTime {
    Time(Time),
    /// A date, at midnight.
    Date(DateTime),
    DateTime(DateTime),
}

/// Returns the microseconds since year 0.
pub(super) fn absolute_micros(datetime: DateTime) -> i64 {
    i64::from(day_number(datetime.date)) * 86_400_000_000 + datetime.micros_of_day()
}

/// Returns the datetime of a sum. `None` outside the years 1 to 9999: the result is NULL without a warning.
pub(super) fn from_absolute_micros(micros: i64, decimals: u8) -> Option<DateTime> {
    let day = u32::try_from(micros.div_euclid(86_400_000_000)).ok()?;
    if !(366..=temporal::DAY_NUMBER_MAX).contains(&day) {
        return None;
    }
    Some(DateTime::from_date_and_micros(
        date_from_day_number(day),
        micros.rem_euclid(86_400_000_000),
        decimals,
    ))
}

/// Returns the number of fraction digits that the second argument of ADDTIME can add: six for a text that is
/// not constant.
fn added_fraction(call: &BindCall<'_>) -> u8 {
    match (&call.args[1].kind, call.args[1].ty.class()) {
        (ExprKind::Literal(Value::Text(text)), _) if temporal::parse_day_second(text).is_none() => 6,
        (ExprKind::Literal(_) | ExprKind::UserVariable(_), _) => argument_fraction(call, 1, ReadAs::Time),
        // ENUM and SET too.
        (_, Class::String) => 6,
        _ => argument_fraction(call, 1, ReadAs::Time),
    }
}

fn bind_addtime(call: &mut BindCall<'_>) -> Result<ExprType> {
    let decimals = argument_fraction(call, 0, ReadAs::DateTime).max(added_fraction(call));
    let ty = match call.args[0].ty.class() {
        Class::DateTime | Class::Date => ExprType::datetime(decimals),
        Class::Time => ExprType::time(decimals),
        _ => ExprType::new(DataType::Char {
            length: 26,
            collation: call.connection(),
        })
        .with_repertoire(Repertoire::Ascii),
    };
    if ty.class() == Class::String {
        call.function = function_of_text(call.function.name);
        if let digits @ 0..NOT_FIXED_DECIMALS = shown_decimals(&call.args[0]) {
            return Ok(ExprType {
                note: TypeNote::Fraction(digits.max(added_fraction(call)).min(6)),
                ..ty.nullable()
            });
        }
    }
    Ok(ty.nullable())
}

/// Returns the sum as a time or datetime, whatever the call returns.
fn addtime_value(args: &Args<'_>, context: &mut EvalContext<'_>, direction: Direction) -> Result<Value> {
    let left = args.value(0, context)?;
    let operand = &args.call.args[0];
    let Some(left) = context.convert_operand(operand, |context| time_or_datetime(&left, context))? else {
        return Ok(Value::Null);
    };
    let right = args.value(1, context)?;
    let added_decimals = match (&*right, args.call.args[1].is_constant_during_execution()) {
        (Value::Text(text), true) => text
            .rsplit_once('.')
            .map_or(0, |(_, digits)| digits.len().min(6) as u8),
        (Value::Text(_), false) => 6,
        _ => type_fraction(args.ty_of(1)),
    };
    let right = some!(day_second(&right, context)?);
    let delta = if direction == Direction::Forward {
        right
    } else {
        -right
    };
    let as_text = args.ty.class() == Class::String;
    // A number, and a text whose type has a fraction of known length, has the fraction of its type. Any other
    // text has a fraction only if its value has one.
    let of_number = match shown_decimals(&args.call.args[0]) {
        NOT_FIXED_DECIMALS => None,
        decimals => Some(decimals.max(added_decimals).min(6)),
    };
    let decimals = |micros: i64| match (as_text, of_number) {
        (true, Some(decimals)) => decimals,
        (true, None) if micros % 1_000_000 == 0 => 0,
        (true, None) => 6,
        (false, _) => args.ty.decimals().min(6),
    };
    Ok(match left {
        TimeOrDateTime::Date(datetime) | TimeOrDateTime::DateTime(datetime) => {
            let micros = absolute_micros(datetime) + delta;
            from_absolute_micros(micros, decimals(micros)).map_or(Value::Null, Value::DateTime)
        }
        TimeOrDateTime::Time(time) => {
            let micros = time.micros() + delta;
            let mut clipped = Time::from_micros(micros, 6).micros();
            if clipped != micros {
                let digits = match as_text {
                    true => of_number.unwrap_or(6),
                    false => args.ty.decimals().min(6),
                };
                clipped = Time::from_micros(clipped, 6).truncated(digits).micros();
                context.warn_truncated("time", &Value::Text(clipped_text(micros)))?;
            }
            Value::Time(Time::from_micros(clipped, decimals(clipped)))
        }
    })
}

/// Returns the text of a time beyond the range of TIME, for the warning.
fn clipped_text(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let total = micros.unsigned_abs() / 1_000_000;
    let fraction = micros.unsigned_abs() % 1_000_000;
    let base = format!(
        "{sign}{:02}:{:02}:{:02}",
        total / 3600,
        total / 60 % 60,
        total % 60
    );
    if fraction == 0 {
        base
    } else {
        format!("{base}.{fraction:06}")
    }
}

fn bind_timediff(call: &mut BindCall<'_>) -> Result<ExprType> {
    let decimals = argument_fraction(call, 0, ReadAs::Time).max(argument_fraction(call, 1, ReadAs::Time));
    Ok(ExprType::time(decimals).nullable())
}

fn eval_timediff(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let left = args.value(0, context)?;
    let [operand, other] = &args.call.args[..] else {
        unreachable!("the binder checks the number of arguments")
    };
    let left = context.convert_operand(operand, |context| time_or_datetime(&left, context))?;
    let left = Some(some!(left));
    let right = args.value(1, context)?;
    let right = context.convert_operand(other, |context| time_or_datetime(&right, context))?;
    let micros = match (left, right) {
        (Some(TimeOrDateTime::Time(left)), Some(TimeOrDateTime::Time(right))) => {
            left.micros() - right.micros()
        }
        (Some(TimeOrDateTime::DateTime(left)), Some(TimeOrDateTime::DateTime(right)))
        | (Some(TimeOrDateTime::Date(left)), Some(TimeOrDateTime::Date(right))) => {
            absolute_micros(left) - absolute_micros(right)
        }
        _ => return Ok(Value::Null),
    };
    let decimals = args.ty.decimals().min(6);
    let result = Time::from_micros(micros, decimals);
    if result.micros() != micros {
        context.warn_truncated("time", &Value::Text(clipped_text(micros)))?;
    }
    Ok(Value::Time(result.truncated(decimals)))
}
