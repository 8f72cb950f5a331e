//! Hashes, checksums, encodings of bytes as text, and random values.

use md5::Md5;
use paceline_types::base64::{from_base64, to_base64};
use paceline_types::data_type::{DataType, IntegerType, IntegerWidth, Sign};
use paceline_types::error_code::{ER_BAD_BASE64_DATA, ER_WRONG_PARAMETERS_TO_NATIVE_FCT};
use paceline_types::{Charset, FixedBinary, FixedBinaryType, Value};
use rand::RngCore;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::string::within_packet;
use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert;
use crate::expr_type::{Class, Coercibility, ExprType, Repertoire};
use crate::functions::arguments::some;
use crate::functions::encryption::PASSWORD_AS_BEFORE;
use crate::tree::{Args, BindCall, Function, pure, volatile};

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "md5",
        (1, 1),
        |call| Ok(call.connection_text(32)),
        |args, context| {
            Ok(Value::Text(hex_lower(&Md5::digest(some!(
                args.bytes(0, context)?
            )))))
        },
    ),
    pure("sha", (1, 1), |call| Ok(call.connection_text(40)), eval_sha1),
    pure("sha1", (1, 1), |call| Ok(call.connection_text(40)), eval_sha1),
    pure("sha2", (2, 2), bind_sha2, eval_sha2),
    pure("crc32", (1, 2), bind_checksum, |args, context| {
        checksum(args, context, crc32_update)
    }),
    pure("crc32c", (1, 2), bind_checksum, |args, context| {
        checksum(args, context, crc32c_update)
    }),
    pure("password", (1, 1), bind_password, eval_password),
    pure(
        "to_base64",
        (1, 1),
        |call| {
            let characters = call.args[0].ty.max_bytes().div_ceil(3).saturating_mul(4);
            Ok(call.connection_text(characters.saturating_add(characters.saturating_sub(1) / 76)))
        },
        eval_to_base64,
    ),
    pure(
        "from_base64",
        (1, 1),
        |call| {
            let groups = call.args[0].ty.max_bytes().saturating_add(3) / 4;
            Ok(ExprType::bytes(groups.saturating_mul(3)).nullable())
        },
        eval_from_base64,
    ),
    pure("hex", (1, 1), bind_hex, eval_hex),
    pure(
        "unhex",
        (1, 1),
        |call| Ok(ExprType::bytes(call.args[0].ty.max_bytes().div_ceil(2)).nullable()),
        eval_unhex,
    ),
    volatile(
        "random_bytes",
        (1, 1),
        |call| {
            let length = call.constant_int(0).filter(|length| (0..=1024).contains(length));
            Ok(ExprType::bytes(length.unwrap_or(1024) as u64).nullable())
        },
        eval_random_bytes,
    )
    .depending_on_server(),
    volatile(
        "uuid",
        (0, 0),
        |call| {
            let ty = ExprType::new(DataType::FixedBinary(FixedBinaryType::Uuid));
            Ok(ty.with_nullable(call.session.settings.sql_mode.is_strict()))
        },
        |_, _| Ok(Value::FixedBinary(uuid())),
    )
    .depending_on_server()
    .without_own_text(),
    volatile(
        "sys_guid",
        (0, 0),
        |call| {
            // In strict mode MariaDB takes the results of text functions for nullable.
            let ty = ExprType::text(32, Charset::Latin1.default_collation());
            let ty = ty.with_nullable(call.session.settings.sql_mode.is_strict());
            Ok(ty
                .with_coercibility(Coercibility::Numeric)
                .with_repertoire(Repertoire::Ascii)
                .nullable())
        },
        |_, _| Ok(Value::Text(hex_lower(uuid().bytes()))),
    )
    .depending_on_server(),
    volatile(
        "uuid_short",
        (0, 0),
        |_| Ok(ExprType::bigint_unsigned(20)),
        |_, context| {
            use std::sync::atomic::{AtomicU64, Ordering};
            static COUNTER: AtomicU64 = AtomicU64::new(0);
            let started = (context.session.statement.start_micros / 1_000_000) as u64;
            let base = started << 24;
            let previous = COUNTER.fetch_max(base, Ordering::Relaxed);
            let _ = previous;
            Ok(Value::UInt(COUNTER.fetch_add(1, Ordering::Relaxed)))
        },
    )
    .depending_on_server(),
];

fn hex_lower(bytes: &[u8]) -> String {
    hex(bytes, b"0123456789abcdef")
}

fn hex_upper(bytes: &[u8]) -> String {
    hex(bytes, b"0123456789ABCDEF")
}

fn hex(bytes: &[u8], digits: &[u8; 16]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        out.push(char::from(digits[usize::from(byte >> 4)]));
        out.push(char::from(digits[usize::from(byte & 15)]));
    }
    out
}

fn eval_sha1(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(Value::Text(hex_lower(&Sha1::digest(some!(
        args.bytes(0, context)?
    )))))
}

/// Returns a type with the length of the digest, or of the longest digest if the length is unknown.
fn bind_sha2(call: &mut BindCall<'_>) -> Result<ExprType> {
    let characters = match call.args[1].as_literal() {
        Some(Value::Int(224)) => 56,
        Some(Value::Int(0 | 256)) => 64,
        Some(Value::Int(384)) => 96,
        _ => 128,
    };
    Ok(call.connection_text(characters).nullable())
}

fn eval_sha2(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    // As in MariaDB, NULL means the default length.
    Ok(match args.int(1, context)?.unwrap_or(0) {
        0 | 256 => Value::Text(hex_lower(&Sha256::digest(bytes))),
        224 => Value::Text(hex_lower(&Sha224::digest(bytes))),
        384 => Value::Text(hex_lower(&Sha384::digest(bytes))),
        512 => Value::Text(hex_lower(&Sha512::digest(bytes))),
        _ => {
            let message = ER_WRONG_PARAMETERS_TO_NATIVE_FCT.message(&[&args.name()]);
            context.warn(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, message)?;
            Value::Null
        }
    })
}

/// `old_passwords` decides when the statement is prepared.
fn bind_password(call: &mut BindCall<'_>) -> Result<ExprType> {
    if call.session.settings.old_passwords {
        call.function = &PASSWORD_AS_BEFORE;
        return Ok(call.connection_text(16).nullable());
    }
    Ok(call.connection_text(41))
}

fn eval_password(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let Some(bytes) = args.bytes(0, context)? else {
        return Ok(Value::Text(String::new()));
    };
    if bytes.is_empty() {
        return Ok(Value::Text(String::new()));
    }
    Ok(Value::Text(format!(
        "*{}",
        hex_upper(&Sha1::digest(Sha1::digest(bytes)))
    )))
}

fn bind_checksum(call: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(call.with_nullability(unsigned_int(10)))
}

/// Returns the type INT UNSIGNED.
fn unsigned_int(display_width: u8) -> ExprType {
    ExprType::new(DataType::Integer(IntegerType {
        display_width,
        ..IntegerType::new(IntegerWidth::Int, Sign::Unsigned)
    }))
}

/// Computes CRC32(text) or CRC32(crc, text).
fn checksum(args: &Args<'_>, context: &mut EvalContext<'_>, update: fn(u32, &[u8]) -> u32) -> Result<Value> {
    let (start, bytes) = if args.len() > 1 {
        let start = some!(args.wide_int(0, context)?) as u32;
        (start, some!(args.bytes(1, context)?))
    } else {
        (0, some!(args.bytes(0, context)?))
    };
    Ok(Value::UInt(u64::from(update(start, &bytes))))
}

fn crc32_update(crc: u32, bytes: &[u8]) -> u32 {
    reflected_crc(crc, bytes, 0xEDB8_8320)
}

fn crc32c_update(crc: u32, bytes: &[u8]) -> u32 {
    reflected_crc(crc, bytes, 0x82F6_3B78)
}

fn reflected_crc(crc: u32, bytes: &[u8], polynomial: u32) -> u32 {
    let mut crc = !crc;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ polynomial
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

/// Encodes as Base64 in lines of 76 characters.
fn eval_to_base64(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    within_packet(Value::Text(to_base64(&bytes)), args, context)
}

fn eval_from_base64(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.bytes(0, context)?);
    match from_base64(&text) {
        Ok(bytes) => Ok(Value::Bytes(bytes)),
        Err(position) => bad_base64(position, context),
    }
}

/// Returns NULL with warning 1958.
fn bad_base64(position: usize, context: &mut EvalContext<'_>) -> Result<Value> {
    context.warn(ER_BAD_BASE64_DATA, ER_BAD_BASE64_DATA.message(&[&position]))?;
    Ok(Value::Null)
}

fn bind_hex(call: &mut BindCall<'_>) -> Result<ExprType> {
    let argument = &call.args[0].ty;
    let length = match argument.class() {
        Class::Int | Class::Decimal | Class::Double => 16,
        _ => argument.max_bytes().saturating_mul(2),
    };
    Ok(call.ascii_text(length))
}

/// Computes HEX: the digits of a number, or the bytes of a text.
fn eval_hex(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let value = args.value(0, context)?;
    Ok(match &*value {
        Value::Null => Value::Null,
        Value::Int(_) | Value::UInt(_) | Value::Year(_) | Value::Bit(_) => {
            Value::Text(format!("{:X}", convert::to_i128(&value, context)? as u64))
        }
        // As in MariaDB, a decimal is treated as a double.
        Value::Double(_) | Value::Float(_) | Value::Decimal(_) => {
            let number = convert::to_double(&value, context)?;
            let number = if number <= i64::MIN as f64 || number >= u64::MAX as f64 {
                u64::MAX
            } else {
                number.round() as i128 as u64
            };
            Value::Text(format!("{number:X}"))
        }
        Value::FixedBinary(value) => Value::Text(hex_upper(value.bytes())),
        _ => {
            let digits = Value::Text(hex_upper(&some!(args.bytes(0, context)?)));
            within_packet(digits, args, context)?
        }
    })
}

fn eval_unhex(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    let padded = if text.len() % 2 == 1 {
        format!("0{text}")
    } else {
        text.into_owned()
    };
    let mut out = Vec::with_capacity(padded.len() / 2);
    for pair in padded.as_bytes().chunks(2) {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        match (digit(pair[0]), digit(pair[1])) {
            (Some(high), Some(low)) => out.push((high << 4 | low) as u8),
            _ => return Ok(Value::Null),
        }
    }
    Ok(Value::Bytes(out))
}

fn eval_random_bytes(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let count = some!(args.int(0, context)?);
    if !(0..=1024).contains(&count) {
        return Ok(Value::Null);
    }
    let mut bytes = vec![0; count as usize];
    rand::rng().fill_bytes(&mut bytes);
    Ok(Value::Bytes(bytes))
}

/// Returns a version 1 UUID: a time that is unique in this process, and a random node.
fn uuid() -> FixedBinary {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static NODE: OnceLock<u64> = OnceLock::new();
    static LAST: AtomicU64 = AtomicU64::new(0);
    // The multicast bit marks a node that is not a hardware address.
    let node = *NODE.get_or_init(|| rand::rng().next_u64() | 0x0100_0000_0000) & 0xFFFF_FFFF_FFFF;
    let ticks = (crate::session::now_micros() as u64)
        .wrapping_mul(10)
        .wrapping_add(0x01B2_1DD2_1381_4000);
    let previous = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
        Some(ticks.max(last + 1))
    });
    let ticks = ticks.max(previous.unwrap_or(0) + 1);
    let sequence = 0x8000 | (node & 0x3FFF);
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(ticks as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((ticks >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&(0x1000 | (ticks >> 48) as u16 & 0xFFF).to_be_bytes());
    bytes[8..10].copy_from_slice(&(sequence as u16).to_be_bytes());
    bytes[10..].copy_from_slice(&node.to_be_bytes()[2..]);
    FixedBinaryType::Uuid
        .from_bytes(&bytes)
        .expect("a UUID has 16 bytes")
}
