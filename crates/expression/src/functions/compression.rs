//! COMPRESS and its inverse: four bytes of length, then zlib's format.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use paceline_types::Value;
use paceline_types::error_code::{ER_TOO_BIG_FOR_UNCOMPRESS, ER_ZLIB_Z_BUF_ERROR, ER_ZLIB_Z_DATA_ERROR};

use super::arguments::some;
use super::string::within_packet;
use crate::context::EvalContext;
use crate::error::Result;
use crate::expr_type::ExprType;
use crate::tree::{Args, BindCall, Function, pure};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("compress", (1, 1), bind_compress, eval_compress),
    pure(
        "uncompress",
        (1, 1),
        |_| Ok(ExprType::bytes(u64::from(u32::MAX)).nullable()),
        eval_uncompress,
    ),
    pure(
        "uncompressed_length",
        (1, 1),
        |_| Ok(ExprType::int32(10).nullable()),
        eval_uncompressed_length,
    ),
];

/// Length in bytes of what stands before the compressed data: the length of the original, little-endian.
const HEADER_LENGTH: usize = 4;

/// Bits of the header that are the length; MariaDB ignores the others.
const LENGTH_MASK: u32 = 0x3FFF_FFFF;

fn bind_compress(call: &mut BindCall<'_>) -> Result<ExprType> {
    let bytes = call.args[0].ty.max_bytes();
    Ok(ExprType::bytes(bytes.saturating_mul(120) / 100 + 12).nullable())
}

fn eval_compress(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    if bytes.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let mut out = (bytes.len() as u32 & LENGTH_MASK).to_le_bytes().to_vec();
    let mut encoder = ZlibEncoder::new(&mut out, Compression::default());
    encoder
        .write_all(&bytes)
        .and_then(|()| encoder.try_finish())
        .expect("writing to a vector does not fail");
    drop(encoder);
    // A CHAR column would lose a blank at the end; what follows the data is ignored.
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    within_packet(Value::Bytes(out), args, context)
}

/// Returns the original length and the compressed data. If the value is too short, warns and returns `None`.
fn split<'b>(bytes: &'b [u8], context: &mut EvalContext<'_>) -> Result<Option<(usize, &'b [u8])>> {
    match bytes.split_first_chunk::<HEADER_LENGTH>() {
        Some((header, data)) if !data.is_empty() => {
            let length = u32::from_le_bytes(*header) & LENGTH_MASK;
            Ok(Some((length as usize, data)))
        }
        _ => {
            context.warn(ER_ZLIB_Z_DATA_ERROR, ER_ZLIB_Z_DATA_ERROR.message(&[]))?;
            Ok(None)
        }
    }
}

fn eval_uncompressed_length(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    if bytes.is_empty() {
        return Ok(Value::Int(0));
    }
    let (length, _) = some!(split(&bytes, context)?);
    Ok(Value::Int(length as i64))
}

fn eval_uncompress(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    if bytes.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let (length, data) = some!(split(&bytes, context)?);
    let length_max = context.session.settings.max_allowed_packet;
    if length > length_max {
        let message = ER_TOO_BIG_FOR_UNCOMPRESS.message(&[&length_max]);
        context.warn(ER_TOO_BIG_FOR_UNCOMPRESS, message)?;
        return Ok(Value::Null);
    }
    let mut out = Vec::with_capacity(length.min(data.len().saturating_mul(8)));
    // One byte more tells that the header lies.
    let read = ZlibDecoder::new(data)
        .take(length as u64 + 1)
        .read_to_end(&mut out);
    let problem = match read {
        Ok(_) if out.len() > length => ER_ZLIB_Z_BUF_ERROR,
        Ok(_) => return Ok(Value::Bytes(out)),
        Err(_) => ER_ZLIB_Z_DATA_ERROR,
    };
    context.warn(problem, problem.message(&[]))?;
    Ok(Value::Null)
}
