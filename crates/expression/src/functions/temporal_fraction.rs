//! Number of fraction digits in dates and times: of arguments, of values, of texts.

use paceline_types::error_code::ER_TOO_BIG_PRECISION;
use paceline_types::temporal::{self, IntervalUnit, ParsedTemporal};
use paceline_types::{DataType, Value};

use super::temporal_parts::unit_named;
use crate::error::Result;
use crate::errors;
use crate::expr_type::{Class, ExprType, NOT_FIXED_DECIMALS, TypeNote};
use crate::tree::{BindCall, Expr, ExprKind};

/// Returns the constant number of fraction digits in an argument.
pub(super) fn fraction(call: &BindCall<'_>, index: usize) -> Result<u8> {
    if call.args.len() <= index {
        return Ok(0);
    }
    match call.constant_int(index) {
        Some(digits @ 0..=6) => Ok(digits as u8),
        _ => {
            let name = if matches!(call.name, "now" | "localtime" | "localtimestamp") {
                "current_timestamp"
            } else {
                call.name
            };
            Err(errors::error(ER_TOO_BIG_PRECISION, &[&name, &6]))
        }
    }
}

/// Kind of value that an argument is read as. It determines how many fraction digits it may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadAs {
    DateTime,
    Time,
    Number,
}

/// Returns the number of fraction digits of an argument's values by its type: a text may have six. A constant text (a
/// literal, a user variable) that is read as a date or time has the digits that it shows.
pub(super) fn argument_fraction(call: &BindCall<'_>, index: usize, read_as: ReadAs) -> u8 {
    let argument = &call.args[index];
    let text = match &argument.kind {
        ExprKind::Literal(Value::Text(text)) => Some(text),
        ExprKind::UserVariable(name) => match call.session.user_variables.get(name) {
            Some(variable) => match &variable.value {
                Value::Text(text) => Some(text),
                _ => None,
            },
            None => None,
        },
        _ => None,
    };
    match (text, read_as) {
        (None, _) => value_fraction(argument),
        (Some(text), _) => text_fraction(text, read_as, call.session.settings.date_modes()),
    }
}

/// Returns the number of fraction digits of a value: for the sum of a text and an interval, the digits that these have.
pub(super) fn value_fraction(expr: &Expr) -> u8 {
    if let ExprKind::Literal(Value::Text(text)) = &expr.kind {
        return text_fraction(text, ReadAs::DateTime, temporal::DateModes::default());
    }
    if let TypeNote::Fraction(digits) = expr.ty.note {
        return digits;
    }
    match &expr.kind {
        ExprKind::Literal(Value::DateTime(datetime)) => datetime.decimals,
        ExprKind::Literal(Value::Time(time)) => time.decimals(),
        ExprKind::Literal(Value::Date(_)) => 0,
        ExprKind::Call(call) if matches!(call.function.name, "date_add" | "date_sub") => {
            let unit = match call.args[2].as_literal() {
                Some(Value::Text(word)) => unit_named(word),
                _ => None,
            };
            let brought = unit.map_or(0, |unit| interval_decimals(unit, &call.args[1].ty));
            brought.max(value_fraction(&call.args[0]))
        }
        // Nothing is known about a text that is not constant.
        ExprKind::Call(call)
            if matches!(call.function.name, "addtime" | "subtime") && expr.ty.class() == Class::String =>
        {
            let added = match &call.args[1].kind {
                ExprKind::Literal(Value::Text(text)) => {
                    text_fraction(text, ReadAs::Time, temporal::DateModes::default())
                }
                _ => type_fraction(&call.args[1].ty),
            };
            added.max(type_fraction(&call.args[0].ty))
        }
        _ => shown_decimals(expr).min(6),
    }
}

/// Returns the number of decimals that MariaDB reports for an expression. For text it is not fixed, except
/// for the result of some functions.
pub(super) fn shown_decimals(expr: &Expr) -> u8 {
    if expr.ty.class() != Class::String {
        return expr.ty.decimals();
    }
    match expr.ty.note {
        TypeNote::Fraction(digits) => return digits,
        TypeNote::HexLiteral => return 0,
        _ => {}
    }
    if let ExprKind::Literal(Value::Bytes(_)) = expr.kind {
        return 0;
    }
    match (&expr.kind, &expr.ty.data_type) {
        (_, DataType::Enum { .. } | DataType::Set { .. }) => 0,
        (ExprKind::Cast { .. }, _) => 0,
        (ExprKind::Call(call), _) => match call.function.name {
            "hex" | "unhex" | "date_format" | "time_format" | "dayname" | "monthname" => 0,
            "elt" => call.args[1..].iter().map(shown_decimals).max().unwrap_or(0),
            _ => NOT_FIXED_DECIMALS,
        },
        _ => NOT_FIXED_DECIMALS,
    }
}

/// Returns the number of fraction digits of a type's values: ENUM and SET have none.
pub(super) fn type_fraction(ty: &ExprType) -> u8 {
    match ty.data_type {
        DataType::Enum { .. } | DataType::Set { .. } => 0,
        _ => ty.decimals().min(6),
    }
}

/// Returns the number of fraction digits of a text.
pub(super) fn text_fraction(text: &str, read_as: ReadAs, modes: temporal::DateModes) -> u8 {
    let decimals = match read_as {
        ReadAs::DateTime => temporal::parse_datetime(text, modes).map(|parsed| parsed.value.decimals),
        ReadAs::Time => temporal::parse_time_under(text, modes).map(|parsed| match parsed {
            ParsedTemporal::Time(parsed) => parsed.value.decimals(),
            ParsedTemporal::DateTime(parsed) => parsed.value.decimals,
        }),
        ReadAs::Number => None,
    };
    decimals.unwrap_or(6)
}

/// Returns the number of fraction digits of an interval.
pub(super) fn interval_decimals(unit: IntervalUnit, amount: &ExprType) -> u8 {
    use IntervalUnit as U;
    match unit {
        U::Microsecond
        | U::DayMicrosecond
        | U::HourMicrosecond
        | U::MinuteMicrosecond
        | U::SecondMicrosecond => 6,
        U::Second => type_fraction(amount),
        _ => 0,
    }
}
