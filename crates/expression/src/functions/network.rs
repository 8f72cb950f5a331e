//! Internet addresses.

use std::net::Ipv4Addr;

use paceline_types::FixedBinaryType::{Inet4, Inet6};
use paceline_types::{FixedBinary, Value};

use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert::to_fixed_binary;
use crate::expr_type::ExprType;
use crate::functions::arguments::some;
use crate::tree::{Args, Function, pure};

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "inet_aton",
        (1, 1),
        |_| Ok(ExprType::bigint_unsigned(21).nullable()),
        eval_aton,
    ),
    pure(
        "inet_ntoa",
        (1, 1),
        |call| Ok(call.connection_text(3 * 8 + 7).nullable()),
        eval_ntoa,
    ),
    pure(
        "inet6_aton",
        (1, 1),
        |_| Ok(ExprType::bytes(16).nullable()),
        eval_aton6,
    ),
    pure(
        "inet6_ntoa",
        (1, 1),
        |call| Ok(call.connection_text(39).nullable()),
        eval_ntoa6,
    ),
    pure(
        "is_ipv4",
        (1, 1),
        |_| Ok(ExprType::boolean()),
        |args, context| {
            let text = args.text(0, context)?;
            Ok(Value::Int(i64::from(
                text.is_some_and(|text| Inet4.parse(&text).is_some()),
            )))
        },
    ),
    pure(
        "is_ipv6",
        (1, 1),
        |_| Ok(ExprType::boolean()),
        |args, context| {
            let text = args.text(0, context)?;
            Ok(Value::Int(i64::from(
                text.is_some_and(|text| Inet6.parse(&text).is_some()),
            )))
        },
    ),
    pure(
        "is_ipv4_compat",
        (1, 1),
        |_| Ok(ExprType::boolean()),
        |args, context| {
            let compatible = inet6(args, context)?.is_some_and(|address| {
                let bytes = address.bytes();
                bytes[..12] == [0; 12] && bytes[12..] != [0, 0, 0, 0] && bytes[12..] != [0, 0, 0, 1]
            });
            Ok(Value::Int(i64::from(compatible)))
        },
    ),
    pure(
        "is_ipv4_mapped",
        (1, 1),
        |_| Ok(ExprType::boolean()),
        |args, context| {
            let mapped = inet6(args, context)?.is_some_and(|address| {
                let bytes = address.bytes();
                bytes[..10] == [0; 10] && bytes[10..12] == [255, 255]
            });
            Ok(Value::Int(i64::from(mapped)))
        },
    ),
];

/// Returns the argument as an IPv6 address; `None`, perhaps with warning 1292, if it is none.
fn inet6(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Option<FixedBinary>> {
    let value = args.value(0, context)?;
    to_fixed_binary(&value, Inet6, context)
}

/// Computes INET_ATON. It accepts short forms: `127.1` is 127.0.0.1.
fn eval_aton(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    let mut number = 0u64;
    let parts: Vec<&str> = text.split('.').collect();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    for part in &parts {
        if part.is_empty() || part.len() > 3 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Value::Null);
        }
        match part.parse::<u64>() {
            Ok(byte @ 0..=255) => number = number << 8 | byte,
            _ => return Ok(Value::Null),
        }
    }
    // Missing parts are before the last one.
    if (2..4).contains(&parts.len()) {
        let missing = 4 - parts.len();
        number = (number >> 8) << (8 * (missing + 1)) | (number & 255);
    }
    Ok(Value::UInt(number))
}

fn eval_ntoa(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let number = some!(args.wide_int(0, context)?);
    Ok(match u32::try_from(number) {
        Ok(number) => Value::Text(Ipv4Addr::from(number).to_string()),
        Err(_) => Value::Null,
    })
}

fn eval_aton6(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    let address = Inet4.parse(&text).or_else(|| Inet6.parse(&text));
    Ok(address.map_or(Value::Null, |address| Value::Bytes(address.bytes().to_vec())))
}

fn eval_ntoa6(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    let address = Inet4.from_bytes(&bytes).or_else(|| Inet6.from_bytes(&bytes));
    Ok(address.map_or(Value::Null, |address| Value::Text(address.to_string())))
}
