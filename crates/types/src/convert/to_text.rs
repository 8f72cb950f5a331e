//! Assignment to text, binary strings, ENUM and SET.

use super::assignment::{ConvertContext, ConvertedValue, Problem, escaped, text_of};
use super::number;
use crate::TimeZone;
use crate::collation::{Charset, Collation, first_characters};
use crate::data_type::{BlobSize, DataType, Labels};
use crate::error_code::{ER_DATA_TOO_LONG, WARN_DATA_TRUNCATED};
use crate::float_text;
use crate::value::{EnumValue, SetValue, Value};
use std::sync::Arc;

#[cold]
fn too_long() -> Problem {
    Problem::new(ER_DATA_TOO_LONG, WARN_DATA_TRUNCATED)
}

pub(super) fn text(value: Value, target: &DataType, context: &ConvertContext<'_>) -> ConvertedValue {
    let charset = target.charset();
    let mut problem = None;
    let value = match value {
        // A TEXT gets its bytes, other columns its digits.
        Value::Bit(v) if matches!(target, DataType::Text { .. }) => {
            Value::Bytes(v.to_be_bytes()[8 - v.byte_length()..].to_vec())
        }
        value => value,
    };
    let mut text = match value {
        Value::Text(text) => text,
        // Bytes are assumed to be in the column's character set.
        Value::Bytes(bytes) => match charset {
            Charset::Latin1 => charset.decode(&bytes).into_owned(),
            Charset::Ascii => bytes
                .iter()
                .map(|&byte| if byte.is_ascii() { char::from(byte) } else { '?' })
                .collect(),
            _ => match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => {
                    let bytes = error.as_bytes();
                    problem = Some(incorrect_string(&bytes[error.utf8_error().valid_up_to()..]));
                    replaced(bytes)
                }
            },
        },
        Value::Bit(v) => v.bits.to_string(),
        // As a number; only a TEXT gets what the column shows.
        Value::Year(year) if !matches!(target, DataType::Text { .. }) => year.to_string(),
        value => fitting_double(&value, target).unwrap_or_else(|| text_of(&value.as_ref(), context)),
    };
    if !charset.can_encode(&text) {
        let bad = text
            .char_indices()
            .find(|(_, c)| !charset.has(*c))
            .map_or(0, |(at, _)| at);
        problem = Some(incorrect_string(&text.as_bytes()[bad..]));
        text = text
            .chars()
            .map(|c| if charset.has(c) { c } else { '?' })
            .collect();
    }
    if let Some(kept) = fitting_length(&text, target, charset) {
        let only_spaces = text[kept..].bytes().all(|byte| byte == b' ');
        text.truncate(kept);
        // CHAR never stores trailing spaces, so nothing is lost.
        let said = match (only_spaces, target) {
            (true, DataType::Char { .. }) => None,
            (true, _) => Some(Problem::note()),
            (false, _) => Some(too_long()),
        };
        problem = problem.or(said);
    }
    if matches!(target, DataType::Char { .. }) {
        text.truncate(text.trim_end_matches(' ').len());
    }
    ConvertedValue {
        value: Value::Text(text),
        problem,
    }
}

/// Returns the number of the text's bytes that fit into the column, or `None` if all do.
fn fitting_length(text: &str, target: &DataType, charset: Charset) -> Option<usize> {
    match target {
        DataType::Char { length, .. } => cut_at(text, u32::from(*length)),
        DataType::VarChar { length, .. } => cut_at(text, *length),
        DataType::Text { size, .. } => {
            let most = usize::try_from(size.max_bytes()).unwrap_or(usize::MAX);
            if text.len() <= most || charset.encoded_length(text) <= most {
                return None;
            }
            let mut used = 0;
            let mut buffer = [0; 4];
            let end = text.char_indices().find(|(_, c)| {
                used += charset.encoded_length(c.encode_utf8(&mut buffer));
                used > most
            });
            end.map(|(at, _)| at)
        }
        _ => (text.len() as u64 > BlobSize::Long.max_bytes()).then_some(0),
    }
}

/// Returns a double's text with as many digits as fit into the column.
fn fitting_double(value: &Value, target: &DataType) -> Option<String> {
    let number = match value {
        Value::Double(number) => *number,
        // A TEXT or BLOB gets what the column shows.
        Value::Float(number) if !matches!(target, DataType::Text { .. } | DataType::Blob { .. }) => {
            f64::from(*number)
        }
        _ => return None,
    };
    let width = usize::try_from(target.max_characters()?).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    float_text::append_double_within(number, width, &mut out)
        .then(|| String::from_utf8_lossy(&out).into_owned())
}

fn cut_at(text: &str, characters: u32) -> Option<usize> {
    let kept = first_characters(text, Some(characters)).len();
    (kept < text.len()).then_some(kept)
}

/// Returns error 1366 with the invalid bytes, of which it shows at most six.
#[cold]
fn incorrect_string(bad: &[u8]) -> Problem {
    let mut problem = Problem::incorrect("string", &Value::Null);
    let shown = &bad[..bad.len().min(6)];
    let more = if bad.len() > 6 { "..." } else { "" };
    problem.incorrect = Some(("string", format!("{}{more}", escaped(shown))));
    problem
}

/// Replaces each byte that begins no character by `?`.
fn replaced(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    out
}

/// Converts a text from a character set other than Unicode before an assignment. For a binary column, the result is the
/// text's bytes in that character set.
pub fn in_charset(value: Value, charset: Charset, target: &DataType) -> Value {
    if charset != Charset::Latin1 || !(target.is_binary_string() || matches!(target, DataType::Bit { .. })) {
        return value;
    }
    let text = match value {
        Value::Text(text) => text,
        Value::Enum(_) | Value::Set(_) => crate::text::to_string(&value.as_ref(), &TimeZone::UTC),
        other => return other,
    };
    let mut bytes = Vec::with_capacity(text.len());
    charset.encode(&text, &mut bytes);
    Value::Bytes(bytes)
}

pub(super) fn bytes(value: Value, target: &DataType, context: &ConvertContext<'_>) -> ConvertedValue {
    let mut bytes = match value {
        Value::Bytes(bytes) => bytes,
        Value::Text(text) => text.into_bytes(),
        Value::Bit(v) if matches!(target, DataType::Blob { .. }) => {
            v.to_be_bytes()[8 - v.byte_length()..].to_vec()
        }
        Value::Bit(v) => v.bits.to_string().into_bytes(),
        Value::Year(year) if !matches!(target, DataType::Blob { .. }) => year.to_string().into_bytes(),
        value => fitting_double(&value, target)
            .unwrap_or_else(|| text_of(&value.as_ref(), context))
            .into_bytes(),
    };
    let most = usize::try_from(target.max_characters().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let mut problem = None;
    if bytes.len() > most {
        bytes.truncate(most);
        problem = Some(too_long());
    }
    if matches!(target, DataType::Binary { .. }) {
        bytes.resize(most, 0);
    }
    ConvertedValue {
        value: Value::Bytes(bytes),
        problem,
    }
}

/// Value for an ENUM or SET column: a text, or a number that stands for labels.
enum Label {
    Text(String),
    Number(i64),
}

fn label(value: Value, context: &ConvertContext<'_>) -> Label {
    match value {
        Value::Text(text) => Label::Text(text),
        Value::Bytes(bytes) => Label::Text(replaced(&bytes)),
        Value::Int(v) => Label::Number(v),
        Value::UInt(v) => Label::Number(v as i64),
        // The fraction is cut, not rounded. A number that does not fit has no label's bit.
        Value::Double(v) => Label::Number(cut(v)),
        Value::Float(v) => Label::Number(cut(f64::from(v))),
        Value::Decimal(v) => Label::Number(cut(v.to_f64())),
        Value::Year(v) => Label::Number(i64::from(v)),
        Value::Bit(v) => Label::Number(v.bits as i64),
        value => Label::Text(text_of(&value.as_ref(), context)),
    }
}

/// Returns the integer part, or `i64::MIN` if it does not fit.
fn cut(number: f64) -> i64 {
    if (i64::MIN as f64..i64::MAX as f64).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

pub(super) fn enumeration(
    value: Value,
    labels: &Arc<Labels>,
    collation: Collation,
    context: &ConvertContext<'_>,
) -> ConvertedValue {
    let in_range = |number: i64| {
        u16::try_from(number)
            .ok()
            .filter(|&n| n > 0 && usize::from(n) <= labels.len())
    };
    let index = match label(value, context) {
        Label::Number(number) => in_range(number),
        Label::Text(text) => {
            let trimmed = text.trim_end_matches(' ');
            // A text that is not a label may be the number of a label.
            labels.find(trimmed, collation).or_else(|| {
                in_range(
                    trimmed
                        .trim_start_matches(|c: char| c.is_ascii_whitespace())
                        .parse()
                        .ok()?,
                )
            })
        }
    };
    match index {
        Some(index) => ConvertedValue::fine(Value::Enum(EnumValue {
            index,
            labels: labels.clone(),
        })),
        None => ConvertedValue::with(
            Value::Enum(EnumValue {
                index: 0,
                labels: labels.clone(),
            }),
            Problem::truncated(),
        ),
    }
}

pub(super) fn set(
    value: Value,
    labels: &Arc<Labels>,
    collation: Collation,
    context: &ConvertContext<'_>,
) -> ConvertedValue {
    let all = if labels.len() >= 64 {
        u64::MAX
    } else {
        (1 << labels.len()) - 1
    };
    let stored = |bits| {
        Value::Set(SetValue {
            bits,
            labels: labels.clone(),
        })
    };
    let from_number = |number: u64| {
        let kept = number & all;
        if kept == number {
            ConvertedValue::fine(stored(kept))
        } else {
            ConvertedValue::with(stored(kept), Problem::truncated())
        }
    };
    let text = match label(value, context) {
        Label::Number(number) => return from_number(number as u64),
        Label::Text(text) => text,
    };
    if text.is_empty() {
        return ConvertedValue::fine(stored(0));
    }
    let mut bits = 0u64;
    let mut unknown = false;
    for part in text.split(',') {
        match labels.find(part.trim_end_matches(' '), collation) {
            Some(index) => bits |= 1 << (index - 1),
            None => unknown = true,
        }
    }
    if !unknown {
        return ConvertedValue::fine(stored(bits));
    }
    // A text without labels may be the number of their bits.
    let digits = text.trim_start_matches(' ');
    let digits = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    if bits == 0
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && let (number, number::Completeness::Whole) = number::text_to_integer(&text)
    {
        return match number {
            Value::Int(number) => from_number(number as u64),
            Value::UInt(number) => from_number(number),
            _ => ConvertedValue::with(stored(0), Problem::truncated()),
        };
    }
    ConvertedValue::with(stored(bits), Problem::truncated())
}
