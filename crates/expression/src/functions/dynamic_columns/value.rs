//! The values of dynamic columns as bytes.
//!
//! | type | bytes |
//! |---|---|
//! | 1 INT | as an unsigned number: 0, -1, 1, -2, … are 0, 1, 2, 3, … |
//! | 2 UNSIGNED INT | as few bytes as it needs; none for 0 |
//! | 3 DOUBLE | 8 |
//! | 4 CHAR | id of the collation, then the text |
//! | 5 DECIMAL | digits before and after the point, then packed; none for 0 |
//! | 6 DATETIME | as DATE and TIME |
//! | 7 DATE | 3 bytes: day in 5 bits, month in 4, year in 14 |
//! | 8 TIME | 6 bytes: microseconds in 20 bits, seconds in 6, minutes in 6, hours in 10, sign; with names 3 bytes without the microseconds if these are 0 |
//! | 9 | dynamic columns |
//!
//! The id and the numbers of digits have seven bits in each byte, the lowest first; the highest bit is set in all bytes
//! but the last.

use std::borrow::Cow;

use paceline_types::{Collation, Date, DateTime, Decimal, Time};

use super::format::{FormatError, KeyKind, StoredValue};

/// A value of a dynamic column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DynamicValue<'b> {
    Int(i64),
    UInt(u64),
    Double(f64),
    Text(Collation, Cow<'b, [u8]>),
    /// A number, and the digits before the point that it is stored with.
    Decimal(Decimal, u8),
    DateTime(DateTime),
    Date(Date),
    Time(Time),
    Columns(Cow<'b, [u8]>),
}

const INT: u8 = 1;
const UINT: u8 = 2;
const DOUBLE: u8 = 3;
const TEXT: u8 = 4;
const DECIMAL: u8 = 5;
const DATETIME: u8 = 6;
const DATE: u8 = 7;
const TIME: u8 = 8;
const COLUMNS: u8 = 9;

/// Returns whether a value of this type can be without bytes.
pub(super) fn can_be_empty(ty: u8) -> bool {
    matches!(ty, INT | UINT | DECIMAL)
}

impl<'b> DynamicValue<'b> {
    /// Returns the value as bytes.
    pub(super) fn stored(self, kind: KeyKind) -> StoredValue<'b> {
        let (ty, bytes) = match self {
            DynamicValue::Int(number) => (INT, minimal((number << 1 ^ number >> 63) as u64)),
            DynamicValue::UInt(number) => (UINT, minimal(number)),
            DynamicValue::Double(number) => (DOUBLE, number.to_le_bytes().to_vec()),
            DynamicValue::Text(collation, text) => {
                let mut bytes = Vec::with_capacity(2 + text.len());
                append_varying(collation.id(), &mut bytes);
                bytes.extend_from_slice(&text);
                (TEXT, bytes)
            }
            DynamicValue::Decimal(number, digits) => (DECIMAL, decimal(&number, digits)),
            DynamicValue::DateTime(datetime) => {
                let mut bytes = date(datetime.date);
                bytes.extend(time(datetime.time(), kind));
                (DATETIME, bytes)
            }
            DynamicValue::Date(day) => (DATE, date(day)),
            DynamicValue::Time(value) => (TIME, time(value, kind)),
            DynamicValue::Columns(bytes) => return StoredValue { ty: COLUMNS, bytes },
        };
        StoredValue {
            ty,
            bytes: Cow::Owned(bytes),
        }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`FormatError::Malformed`], [`FormatError::Charset`].
    pub(super) fn read(stored: StoredValue<'b>) -> Result<Self, FormatError> {
        let StoredValue { ty, bytes } = stored;
        let value = match ty {
            INT => {
                let number = read_minimal(&bytes)?;
                DynamicValue::Int((number >> 1) as i64 ^ -((number & 1) as i64))
            }
            UINT => DynamicValue::UInt(read_minimal(&bytes)?),
            DOUBLE => {
                let bytes = (*bytes).try_into().map_err(|_| FormatError::Malformed)?;
                DynamicValue::Double(f64::from_le_bytes(bytes))
            }
            TEXT => {
                let (id, length) = read_varying(&bytes).ok_or(FormatError::Malformed)?;
                let collation = u16::try_from(id).ok().and_then(Collation::from_id);
                let collation = collation.ok_or(FormatError::Charset)?;
                let text = match bytes {
                    Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[length..]),
                    Cow::Owned(bytes) => Cow::Owned(bytes[length..].to_vec()),
                };
                DynamicValue::Text(collation, text)
            }
            DECIMAL => {
                let number = read_decimal(&bytes).ok_or(FormatError::Malformed)?;
                DynamicValue::Decimal(number, number.integer_digits())
            }
            DATETIME => {
                let (day, time) = bytes.split_at_checked(3).ok_or(FormatError::Malformed)?;
                let (day, time) = (read_date(day), read_time(time));
                let (day, time) = day.zip(time).ok_or(FormatError::Malformed)?;
                DynamicValue::DateTime(DateTime {
                    date: day,
                    hour: u8::try_from(time.hours()).map_err(|_| FormatError::Malformed)?,
                    minute: time.minute() as u8,
                    second: time.second() as u8,
                    micros: time.microsecond(),
                    decimals: time.decimals(),
                })
            }
            DATE => DynamicValue::Date(read_date(&bytes).ok_or(FormatError::Malformed)?),
            TIME => DynamicValue::Time(read_time(&bytes).ok_or(FormatError::Malformed)?),
            COLUMNS => DynamicValue::Columns(bytes),
            _ => return Err(FormatError::Malformed),
        };
        Ok(value)
    }
}

/// Returns the bytes of a number without zero bytes at the end.
fn minimal(number: u64) -> Vec<u8> {
    let length = 8 - number.leading_zeros() as usize / 8;
    number.to_le_bytes()[..length].to_vec()
}

fn read_minimal(bytes: &[u8]) -> Result<u64, FormatError> {
    let mut number = [0; 8];
    let target = number.get_mut(..bytes.len()).ok_or(FormatError::Malformed)?;
    target.copy_from_slice(bytes);
    Ok(u64::from_le_bytes(number))
}

/// Appends a number in bytes of seven bits.
fn append_varying(number: u16, out: &mut Vec<u8>) {
    let mut rest = number;
    while rest > 0x7F {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Reads a number of up to four bytes of seven bits, and returns how many these are.
fn read_varying(bytes: &[u8]) -> Option<(u32, usize)> {
    let length = bytes.iter().take(4).position(|byte| byte & 0x80 == 0)? + 1;
    let digits = bytes[..length].iter().rev();
    let number = digits.fold(0, |number, byte| number << 7 | u32::from(byte & 0x7F));
    Some((number, length))
}

fn decimal(number: &Decimal, integer_digits: u8) -> Vec<u8> {
    if number.is_zero() {
        return Vec::new();
    }
    let scale = number.scale();
    let mut bytes = Vec::new();
    append_varying(u16::from(integer_digits), &mut bytes);
    append_varying(u16::from(scale), &mut bytes);
    number.append_binary(integer_digits + scale, scale, &mut bytes);
    bytes
}

fn read_decimal(bytes: &[u8]) -> Option<Decimal> {
    if bytes.is_empty() {
        return Some(Decimal::ZERO);
    }
    let (integer_digits, length) = read_varying(bytes)?;
    let bytes = &bytes[length..];
    let (scale, length) = read_varying(bytes)?;
    let precision = u8::try_from(integer_digits.checked_add(scale)?).ok()?;
    if precision == 0 {
        return None;
    }
    Decimal::from_binary(&bytes[length..], precision, u8::try_from(scale).ok()?)
}

fn date(day: Date) -> Vec<u8> {
    let bits = u32::from(day.day) | u32::from(day.month) << 5 | u32::from(day.year) << 9;
    bits.to_le_bytes()[..3].to_vec()
}

fn read_date(bytes: &[u8]) -> Option<Date> {
    let [a, b, c] = *bytes else {
        return None;
    };
    let bits = u32::from_le_bytes([a, b, c, 0]);
    let day = Date {
        year: (bits >> 9) as u16,
        month: (bits >> 5 & 15) as u8,
        day: (bits & 31) as u8,
    };
    (day.year <= 9999 && day.month <= 12).then_some(day)
}

fn time(value: Time, kind: KeyKind) -> Vec<u8> {
    let sign = u64::from(value.is_negative());
    let seconds = u64::from(value.second()) | u64::from(value.minute()) << 6;
    if kind == KeyKind::Names && value.microsecond() == 0 {
        let bits = seconds | u64::from(value.hours()) << 12 | sign << 23;
        return bits.to_le_bytes()[..3].to_vec();
    }
    let bits = u64::from(value.microsecond()) | seconds << 20 | u64::from(value.hours()) << 32 | sign << 42;
    bits.to_le_bytes()[..6].to_vec()
}

fn read_time(bytes: &[u8]) -> Option<Time> {
    let mut word = [0; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    let (micros, rest, is_negative) = match bytes.len() {
        6 => (bits & 0xF_FFFF, bits >> 20 & 0x3F_FFFF, bits >> 42 & 1 == 1),
        3 => (0, bits & 0x3F_FFFF, bits >> 23 & 1 == 1),
        _ => return None,
    };
    let (second, minute, hours) = (rest & 63, rest >> 6 & 63, rest >> 12);
    if micros > 999_999 || second > 59 || minute > 59 || hours > Time::HOURS_MAX {
        return None;
    }
    let whole = (((hours * 60 + minute) * 60 + second) * 1_000_000 + micros) as i64;
    // All digits of a fraction are shown.
    let decimals = if micros == 0 { 0 } else { 6 };
    Some(Time::from_micros(
        if is_negative { -whole } else { whole },
        decimals,
    ))
}
