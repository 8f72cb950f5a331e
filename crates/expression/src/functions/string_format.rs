//! Special text forms of characters and numbers: ASCII, CHAR, BIN, OCT, CONV, FORMAT, WEIGHT_STRING.

use std::borrow::Cow;

use paceline_types::data_type::IntegerWidth;
use paceline_types::decimal::Rounding;
use paceline_types::{DataType, Locale, Value};

use super::numeric::round_double;
use super::temporal_format::locale_named;
use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert;
use crate::expr_type::{Class, ExprType};
use crate::functions::arguments::some;
use crate::tree::{Args, BindCall, Function, MANY, pure};

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "ascii",
        (1, 1),
        |call| Ok(call.with_nullability(ExprType::int(3))),
        |args, context| {
            let bytes = some!(args.bytes(0, context)?);
            Ok(Value::Int(bytes.first().map_or(0, |byte| i64::from(*byte))))
        },
    ),
    pure(
        "ord",
        (1, 1),
        |call| Ok(call.with_nullability(ExprType::int32(7))),
        eval_ord,
    ),
    pure(
        "char",
        (1, MANY),
        |call| Ok(ExprType::bytes(4 * call.args.len() as u64)),
        eval_char,
    ),
    pure(
        "chr",
        (1, 1),
        |call| {
            let ty = ExprType::text(4, call.session.settings.collation_database);
            Ok(call.with_nullability(ty))
        },
        |args, context| {
            let code = some!(args.wide_int(0, context)?) as u32;
            Ok(
                char::from_u32(code).map_or(Value::Text(String::new()), |character| {
                    Value::Text(character.to_string())
                }),
            )
        },
    ),
    pure(
        "bin",
        (1, 1),
        |call| Ok(call.connection_text(65).nullable()),
        |args, context| {
            let number = some!(number_for_base(args, 0, 10, context)?);
            Ok(Value::Text(in_base(number, 2)))
        },
    ),
    pure(
        "oct",
        (1, 1),
        |call| Ok(call.connection_text(65).nullable()),
        |args, context| {
            let number = some!(number_for_base(args, 0, 10, context)?);
            Ok(Value::Text(in_base(number, 8)))
        },
    ),
    pure(
        "conv",
        (3, 3),
        |call| Ok(call.connection_text(65).nullable()),
        eval_conv,
    ),
    pure("format", (2, 3), bind_format, eval_format),
];

/// Computes ORD: the bytes of the first character as a number.
fn eval_ord(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let value = args.value(0, context)?;
    let number = match &*value {
        Value::Null => return Ok(Value::Null),
        Value::Bytes(bytes) => bytes.first().map_or(0, |byte| i64::from(*byte)),
        Value::Bit(_) => convert::bytes_of(&value, context)
            .first()
            .map_or(0, |byte| i64::from(*byte)),
        other => {
            let text = convert::text_of(other, context);
            let first: String = text.chars().take(1).collect();
            let mut bytes = Vec::new();
            match args.ty_of(0).charset() {
                paceline_types::Charset::Binary => bytes.extend_from_slice(first.as_bytes()),
                charset => charset.encode(&first, &mut bytes),
            }
            bytes
                .iter()
                .fold(0, |number, byte| number << 8 | i64::from(*byte))
        }
    };
    Ok(Value::Int(number))
}

/// Computes CHAR(n, …): the bytes of each number without leading zeros. NULLs are ignored.
fn eval_char(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let mut out = Vec::new();
    for index in 0..args.len() {
        let Some(number) = args.int(index, context)? else {
            continue;
        };
        let bytes = (number as u32).to_be_bytes();
        let skip = bytes.iter().take(3).take_while(|byte| **byte == 0).count();
        out.extend_from_slice(&bytes[skip..]);
    }
    Ok(Value::Bytes(out))
}

/// Returns the number that CONV reads in a base, as 64 bits.
fn number_for_base(
    args: &Args<'_>,
    index: usize,
    base: u32,
    context: &mut EvalContext<'_>,
) -> Result<Option<u64>> {
    let value = args.value(index, context)?;
    Ok(match &*value {
        Value::Null => None,
        Value::Int(number) if base == 10 => Some(*number as u64),
        Value::UInt(number) if base == 10 => Some(*number),
        Value::Bit(bits) => Some(bits.bits),
        other => Some(convert::text_of(other, context))
            .filter(|text| !text.is_empty())
            .map(|text| parse_in_base(&text, base)),
    })
}

/// Parses the leading digits. Above 64 bits all bits are set.
fn parse_in_base(text: &str, base: u32) -> u64 {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut number = 0u64;
    for digit in digits.chars().map_while(|character| character.to_digit(base)) {
        match number
            .checked_mul(u64::from(base))
            .and_then(|number| number.checked_add(u64::from(digit)))
        {
            Some(next) => number = next,
            None => return u64::MAX,
        }
    }
    if negative { number.wrapping_neg() } else { number }
}

fn in_base(mut number: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(
            char::from_digit((number % base) as u32, base as u32)
                .unwrap_or('0')
                .to_ascii_uppercase(),
        );
        number /= base;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

fn eval_conv(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let from = some!(args.int(1, context)?);
    let to = some!(args.int(2, context)?);
    let valid = |base: i64| (2..=36).contains(&base.unsigned_abs());
    let value = args.value(0, context)?;
    if value.is_null() || !valid(from) || !valid(to) {
        return Ok(Value::Null);
    }
    let text = match &*value {
        Value::Bit(bits) => Cow::Owned(bits.bits.to_string()),
        _ => some!(args.text(0, context)?),
    };
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let number = parse_in_base(&text, (from.unsigned_abs() as u32).min(36));
    let base = to.unsigned_abs().min(36);
    if to < 0 && (number as i64) < 0 {
        return Ok(Value::Text(format!(
            "-{}",
            in_base((number as i64).unsigned_abs(), base)
        )));
    }
    Ok(Value::Text(in_base(number, base)))
}

fn bind_format(call: &mut BindCall<'_>) -> Result<ExprType> {
    let (digits, scale) = match &call.args[0].ty.data_type {
        DataType::Decimal(decimal) => (
            u64::from(decimal.precision - decimal.scale),
            u64::from(decimal.scale),
        ),
        DataType::Integer(integer) => match integer.width {
            IntegerWidth::Big => (20, 0),
            _ => (10, 0),
        },
        // The digits of the largest DOUBLE.
        _ => (310, 0),
    };
    let fraction = match call.constant_int(1) {
        Some(0) => 0,
        Some(decimals) => decimals.clamp(0, 38) as u64 + 1,
        None => 39,
    };
    let length = 1 + digits + digits / 3 + fraction.max(scale);
    Ok(call.connection_text(length).nullable())
}

/// Returns the digits of a double that has been rounded to so many decimals.
fn fixed_double(number: f64, decimals: usize) -> String {
    // A zero has no sign.
    let shortest = (number + 0.0).to_string();
    match shortest.split_once('.') {
        Some((_, fraction)) if fraction.len() > decimals => format!("{number:.decimals$}"),
        _ => shortest,
    }
}

fn eval_format(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let value = args.value(0, context)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let decimals = some!(args.int(1, context)?).clamp(0, 38) as usize;
    let text = match args.ty_of(0).class() {
        Class::Int | Class::Decimal => {
            let number = convert::to_decimal(&value, context)?.round(decimals as i32, Rounding::HalfUp);
            number.to_string()
        }
        _ => {
            let number = convert::to_double(&value, context)?;
            fixed_double(round_double(number, decimals as i32, Rounding::HalfUp), decimals)
        }
    };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.as_str()),
    };
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let locale = match args.len() {
        3 => locale_named(args, 2, context)?,
        _ => Locale::english(),
    };
    let mut out = String::from(sign);
    for (index, digit) in integer.chars().enumerate() {
        let behind = integer.len() - index;
        if index > 0 && behind >= 3 && (behind - 3) % locale.group_digits == 0 {
            out.push_str(locale.thousands_separator);
        }
        out.push(digit);
    }
    if decimals > 0 {
        out.push_str(locale.decimal_point);
        out.push_str(fraction);
        out.extend(std::iter::repeat_n('0', decimals.saturating_sub(fraction.len())));
    }
    Ok(Value::Text(out))
}
