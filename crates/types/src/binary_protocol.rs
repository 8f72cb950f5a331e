//! Values in the binary protocol of prepared statements: encoding of result rows, decoding of parameters.
//!
//! ```text
//!   result row:  00 │ NULL bitmap, first two bits unused │ values that are not NULL
//!   execute:     … │ NULL bitmap │ new-types flag, types │ values
//! ```
//!
//! Numbers are little-endian and as wide as their column type. A date or time is a length byte and its parts, without
//! the microseconds if they are zero, the time of day if it is zero, and everything if the value is zero. Everything
//! else is text, preceded by its length. See "Binary Protocol" in MariaDB's manual.

use crate::collation::Charset;
use crate::convert;
use crate::data_type::{FieldType, Sign};
use crate::error::{Error, Result};
use crate::packed::Reader;
use crate::temporal::{Date, DateTime, Time, TimeZone};
use crate::text::{append_length_and_bytes, append_protocol_value};
use crate::value::{Value, ValueRef};

/// Appends one result row: header byte, NULL bitmap, and the values, each in the form of its column's type.
pub fn append_row<'a>(
    values: impl IntoIterator<Item = ValueRef<'a>>,
    types: &[FieldType],
    time_zone: &TimeZone,
    out: &mut Vec<u8>,
) {
    let bitmap = begin_row(types.len(), out);
    for (column, (value, &field_type)) in values.into_iter().zip(types).enumerate() {
        append_row_value(&value, column, bitmap, field_type, time_zone, out);
    }
}

/// Begins a result row of `columns` columns. Returns the offset of its NULL bitmap, for [`append_row_value`].
pub fn begin_row(columns: usize, out: &mut Vec<u8>) -> usize {
    out.push(0);
    let bitmap = out.len();
    out.resize(bitmap + (columns + 2).div_ceil(8), 0);
    bitmap
}

/// Appends the next value of a row that [`begin_row`] began.
#[inline]
pub fn append_row_value(
    value: &ValueRef<'_>,
    column: usize,
    bitmap: usize,
    field_type: FieldType,
    time_zone: &TimeZone,
    out: &mut Vec<u8>,
) {
    if value.is_null() {
        out[bitmap + (column + 2) / 8] |= 1 << ((column + 2) % 8);
    } else {
        append_value(value, field_type, time_zone, out);
    }
}

/// Appends a value that is not NULL in the form of the column type. A value of another kind is converted.
pub fn append_value(value: &ValueRef<'_>, field_type: FieldType, time_zone: &TimeZone, out: &mut Vec<u8>) {
    let integer = || match value {
        ValueRef::Int(v) => *v,
        ValueRef::UInt(v) => *v as i64,
        ValueRef::Year(v) => i64::from(*v),
        _ => match convert::to_integer(&value.clone().into_owned(), time_zone) {
            Some((Value::Int(v), _)) => v,
            Some((Value::UInt(v), _)) => v as i64,
            _ => 0,
        },
    };
    let double = || match value {
        ValueRef::Double(v) => *v,
        ValueRef::Float(v) => f64::from(*v),
        _ => convert::to_double(&value.clone().into_owned(), time_zone).map_or(0.0, |(v, _)| v),
    };
    match field_type {
        FieldType::Tiny => out.extend_from_slice(&integer().to_le_bytes()[..1]),
        FieldType::Short | FieldType::Year => out.extend_from_slice(&integer().to_le_bytes()[..2]),
        FieldType::Long | FieldType::Int24 => out.extend_from_slice(&integer().to_le_bytes()[..4]),
        FieldType::LongLong => out.extend_from_slice(&integer().to_le_bytes()),
        FieldType::Float => out.extend_from_slice(&(double() as f32).to_le_bytes()),
        FieldType::Double => out.extend_from_slice(&double().to_le_bytes()),
        FieldType::Date | FieldType::NewDate | FieldType::DateTime | FieldType::Timestamp => {
            let datetime = match value {
                ValueRef::Date(v) => v.at_midnight(),
                ValueRef::DateTime(v) => *v,
                ValueRef::Timestamp(v) => v.to_datetime(time_zone),
                _ => return append_protocol_value(value, None, time_zone, out),
            };
            append_datetime(datetime, out);
        }
        FieldType::Time => match value {
            ValueRef::Time(v) => append_time(*v, out),
            _ => append_protocol_value(value, None, time_zone, out),
        },
        _ => append_protocol_value(value, None, time_zone, out),
    }
}

/// Appends a length byte and 0, 4, 7 or 11 bytes.
fn append_datetime(value: DateTime, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(0);
    if !value.is_zero() {
        out.extend_from_slice(&value.date.year.to_le_bytes());
        out.extend_from_slice(&[value.date.month, value.date.day]);
        if value.micros_of_day() != 0 {
            out.extend_from_slice(&[value.hour, value.minute, value.second]);
            if value.micros != 0 {
                out.extend_from_slice(&value.micros.to_le_bytes());
            }
        }
    }
    out[start] = (out.len() - start - 1) as u8;
}

/// Appends a length byte and 0, 8 or 12 bytes.
fn append_time(value: Time, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(0);
    if value.micros() != 0 {
        out.push(u8::from(value.is_negative()));
        out.extend_from_slice(&(value.hours() / 24).to_le_bytes());
        out.extend_from_slice(&[
            (value.hours() % 24) as u8,
            value.minute() as u8,
            value.second() as u8,
        ]);
        if value.microsecond() != 0 {
            out.extend_from_slice(&value.microsecond().to_le_bytes());
        }
    }
    out[start] = (out.len() - start - 1) as u8;
}

/// Type of a parameter in COM_STMT_EXECUTE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterType {
    /// Encoding of the value.
    pub field_type: FieldType,
    /// Whether an integer is unsigned (flag 0x8000 of the type).
    pub sign: Sign,
}

impl ParameterType {
    /// Decodes the two bytes of a COM_STMT_EXECUTE.
    ///
    /// # Errors
    /// `MalformedParameters` if the type is unknown.
    pub fn from_bytes(bytes: [u8; 2]) -> Result<Self> {
        let field_type = FieldType::from_code(bytes[0]).ok_or(Error::MalformedParameters)?;
        let sign = if bytes[1] & 0x80 != 0 {
            Sign::Unsigned
        } else {
            Sign::Signed
        };
        Ok(ParameterType { field_type, sign })
    }
}

/// Decodes the parameters of a COM_STMT_EXECUTE: the NULL bitmap and the values after it. `long_data[i]` is the data
/// that COM_STMT_SEND_LONG_DATA sent for parameter *i*. Strings are in the client's `charset`. A string that is valid
/// in it becomes `Value::Text`, unless the type is a BLOB; any other string becomes `Value::Bytes`.
///
/// # Errors
/// `MalformedParameters` if the bytes end early, a value is invalid for its type, or a type is unknown.
pub fn decode_parameters(
    types: &[ParameterType],
    null_bitmap: &[u8],
    values: &[u8],
    long_data: &[Option<Vec<u8>>],
    charset: Charset,
    invalid: &mut Vec<InvalidTemporal>,
) -> Result<Vec<Value>> {
    let mut reader = Reader::new(values, || Error::MalformedParameters);
    let mut out = Vec::with_capacity(types.len());
    for (n, parameter) in types.iter().enumerate() {
        if let Some(Some(data)) = long_data.get(n) {
            out.push(string_value(data, parameter.field_type, charset));
        } else if null_bitmap.get(n / 8).ok_or(Error::MalformedParameters)? >> (n % 8) & 1 == 1 {
            out.push(Value::Null);
        } else {
            out.push(reader.value(*parameter, charset, invalid)?);
        }
    }
    Ok(out)
}

fn string_value(bytes: &[u8], field_type: FieldType, charset: Charset) -> Value {
    use FieldType::{Blob, LongBlob, MediumBlob, TinyBlob};
    if matches!(field_type, TinyBlob | Blob | MediumBlob | LongBlob) {
        return Value::Bytes(bytes.to_vec());
    }
    if charset == Charset::Latin1 {
        return Value::Text(charset.decode(bytes).into_owned());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => Value::Bytes(bytes.to_vec()),
    }
}

/// A date or time of a parameter that does not exist, and that became zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidTemporal {
    /// `date`, `datetime` or `time`.
    pub kind: &'static str,
    /// The value as MariaDB's warning shows it.
    pub text: String,
}

/// Returns a value whose parts are in range, or the zero.
fn checked_datetime(read: DateTime, kind: &'static str, invalid: &mut Vec<InvalidTemporal>) -> DateTime {
    let Date { year, month, day } = read.date;
    let in_range = year <= 9999 && month <= 12 && day <= 31;
    let time_in_range = read.hour < 24 && read.minute < 60 && read.second < 60 && read.micros < 1_000_000;
    if in_range && time_in_range {
        return read;
    }
    let part = |number: u8| shown(u32::from(number), 2);
    let mut text = format!("{}-{}-{}", shown(u32::from(year), 4), part(month), part(day));
    if kind == "datetime" {
        let time = [read.hour, read.minute, read.second].map(part).join(":");
        text = format!("{text} {time}{}", shown_fraction(read.micros));
    }
    invalid.push(InvalidTemporal { kind, text });
    DateTime::ZERO
}

/// Returns a number with a fixed count of digits. Like MariaDB's `fmt_number`, it writes pairs of digits, and `XX` for
/// a pair that is none.
fn shown(number: u32, digits: usize) -> String {
    let below = 10u32.pow(digits as u32 - 2);
    let rest = match digits {
        2 => String::new(),
        _ => format!("{:0width$}", number % below, width = digits - 2),
    };
    match number / below {
        pair @ 0..=99 => format!("{pair:02}{rest}"),
        _ => format!("XX{rest}"),
    }
}

fn shown_fraction(micros: u32) -> String {
    match micros {
        0 => String::new(),
        micros => format!(".{}", shown(micros, 6)),
    }
}

impl Reader<'_> {
    fn value(
        &mut self,
        parameter: ParameterType,
        charset: Charset,
        invalid: &mut Vec<InvalidTemporal>,
    ) -> Result<Value> {
        use FieldType::*;
        let integer = |signed: i64, unsigned: u64| match parameter.sign {
            Sign::Signed => Value::Int(signed),
            Sign::Unsigned => Value::UInt(unsigned),
        };
        Ok(match parameter.field_type {
            Null => Value::Null,
            Tiny => {
                let raw: [u8; 1] = self.array()?;
                integer(i64::from(raw[0] as i8), u64::from(raw[0]))
            }
            Short | Year => {
                let raw = self.array()?;
                integer(
                    i64::from(i16::from_le_bytes(raw)),
                    u64::from(u16::from_le_bytes(raw)),
                )
            }
            Long | Int24 => {
                let raw = self.array()?;
                integer(
                    i64::from(i32::from_le_bytes(raw)),
                    u64::from(u32::from_le_bytes(raw)),
                )
            }
            LongLong => {
                let raw = self.array()?;
                integer(i64::from_le_bytes(raw), u64::from_le_bytes(raw))
            }
            Float => Value::Float(f32::from_le_bytes(self.array()?)),
            Double => Value::Double(f64::from_le_bytes(self.array()?)),
            Date | NewDate => {
                let read = self.date()?;
                Value::Date(checked_datetime(read, "date", invalid).date)
            }
            DateTime | Timestamp | DateTime2 | Timestamp2 => {
                let read = self.datetime()?;
                Value::DateTime(checked_datetime(read, "datetime", invalid))
            }
            Time | Time2 => Value::Time(self.time(invalid)?),
            OldDecimal | NewDecimal => {
                let length = self.length()?;
                let text = std::str::from_utf8(self.take(length)?).map_err(|_| Error::MalformedParameters)?;
                match crate::Decimal::parse_prefix(text) {
                    Some(read) => Value::Decimal(read.value),
                    None => Value::Text(text.to_owned()),
                }
            }
            Geometry | BlobCompressed | VarCharCompressed => return Err(Error::MalformedParameters),
            string => {
                let length = self.length()?;
                string_value(self.take(length)?, string, charset)
            }
        })
    }

    fn date(&mut self) -> Result<DateTime> {
        Ok(DateTime {
            date: self.datetime()?.date,
            ..DateTime::ZERO
        })
    }

    fn datetime(&mut self) -> Result<DateTime> {
        let length = self.byte()?;
        if !matches!(length, 0 | 4 | 7 | 11) {
            return Err(Error::MalformedParameters);
        }
        let mut out = DateTime::ZERO;
        if length >= 4 {
            out.date.year = u16::from_le_bytes(self.array()?);
            [out.date.month, out.date.day] = self.array()?;
        }
        if length >= 7 {
            [out.hour, out.minute, out.second] = self.array()?;
        }
        if length >= 11 {
            out.micros = u32::from_le_bytes(self.array()?);
            out.decimals = 6;
        }
        Ok(out)
    }

    fn time(&mut self, invalid: &mut Vec<InvalidTemporal>) -> Result<Time> {
        let length = self.byte()?;
        if !matches!(length, 0 | 8 | 12) {
            return Err(Error::MalformedParameters);
        }
        if length == 0 {
            return Ok(Time::ZERO);
        }
        let negative = self.byte()? != 0;
        let days = u32::from_le_bytes(self.array()?);
        let [hours, minutes, seconds] = self.array()?;
        let (fraction, decimals) = if length == 12 {
            (u32::from_le_bytes(self.array()?), 6)
        } else {
            (0, 0)
        };
        let hours = i64::from(days) * 24 + i64::from(hours);
        // The client sends up to 2³² days. Like MariaDB, limit them before anything is converted to microseconds.
        let (hours, minutes, seconds) = match hours {
            839.. => (838, 59, 59),
            _ => (hours, minutes, seconds),
        };
        if minutes > 59 || seconds > 59 || fraction > 999_999 {
            let sign = if negative { "-" } else { "" };
            let text = format!(
                "{sign}{:02}:{}:{}{}",
                hours,
                shown(u32::from(minutes), 2),
                shown(u32::from(seconds), 2),
                shown_fraction(fraction)
            );
            invalid.push(InvalidTemporal { kind: "time", text });
            return Ok(Time::ZERO);
        }
        let micros =
            ((hours * 60 + i64::from(minutes)) * 60 + i64::from(seconds)) * 1_000_000 + i64::from(fraction);
        Ok(Time::from_micros(
            if negative { -micros } else { micros },
            decimals,
        ))
    }
}

/// Appends a parameter's value as a client sends it in COM_STMT_EXECUTE; the inverse of [`decode_parameters`].
pub fn append_parameter(value: &ValueRef<'_>, time_zone: &TimeZone, out: &mut Vec<u8>) -> ParameterType {
    let (field_type, sign) = match value {
        ValueRef::Null => (FieldType::Null, Sign::Signed),
        ValueRef::Int(_) => (FieldType::LongLong, Sign::Signed),
        ValueRef::UInt(_) => (FieldType::LongLong, Sign::Unsigned),
        ValueRef::Float(_) => (FieldType::Float, Sign::Signed),
        ValueRef::Double(_) => (FieldType::Double, Sign::Signed),
        ValueRef::Decimal(_) => (FieldType::NewDecimal, Sign::Signed),
        ValueRef::Date(_) => (FieldType::Date, Sign::Signed),
        ValueRef::DateTime(_) | ValueRef::Timestamp(_) => (FieldType::DateTime, Sign::Signed),
        ValueRef::Time(_) => (FieldType::Time, Sign::Signed),
        ValueRef::Year(_) => (FieldType::Year, Sign::Unsigned),
        ValueRef::Bytes(v) => {
            append_length_and_bytes(v, out);
            return ParameterType {
                field_type: FieldType::Blob,
                sign: Sign::Signed,
            };
        }
        _ => (FieldType::VarString, Sign::Signed),
    };
    if !value.is_null() {
        append_value(value, field_type, time_zone, out);
    }
    ParameterType { field_type, sign }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::Int),
            any::<u64>().prop_map(Value::UInt),
            (-1e30f64..1e30).prop_map(Value::Double),
            (-1e30f32..1e30).prop_map(Value::Float),
            "\\PC{0,300}".prop_map(Value::Text),
            prop::collection::vec(any::<u8>(), 0..300).prop_map(Value::Bytes),
            (-Time::MICROS_MAX..Time::MICROS_MAX)
                .prop_map(|micros| Value::Time(Time::from_micros(micros, 6))),
            (0u16..10_000, 0u8..13, 0u8..32).prop_map(|(y, m, d)| Value::Date(Date::new(y, m, d))),
            (0u16..10_000, 0u8..13, 0i64..86_400_000_000).prop_map(|(y, m, micros)| Value::DateTime(
                DateTime::from_date_and_micros(Date::new(y, m, 7), micros, 6)
            )),
            any::<i64>().prop_map(|v| Value::Decimal(crate::Decimal::from_scaled(i128::from(v), 5))),
        ]
    }

    proptest! {
        #[test]
        fn parameters_round_trip(values in prop::collection::vec(values(), 0..12)) {
            let (mut bytes, mut types, mut nulls) = (Vec::new(), Vec::new(), vec![0; 2]);
            for (n, value) in values.iter().enumerate() {
                if value.is_null() {
                    nulls[n / 8] |= 1 << (n % 8);
                }
                types.push(append_parameter(&value.as_ref(), &TimeZone::UTC, &mut bytes));
            }
            prop_assert_eq!(decode_parameters(&types, &nulls, &bytes, &[], Charset::Utf8mb4, &mut Vec::new()).unwrap(), values);
            // No prefix of the bytes causes a panic.
            for end in 0..bytes.len() {
                let _ = decode_parameters(&types, &nulls, &bytes[..end], &[], Charset::Utf8mb4, &mut Vec::new());
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(types in prop::collection::vec(any::<[u8; 2]>(), 0..6), bytes: Vec<u8>) {
            let types: Vec<_> = types.into_iter().filter_map(|t| ParameterType::from_bytes(t).ok()).collect();
            let _ = decode_parameters(&types, &[0], &bytes, &[], Charset::Utf8mb4, &mut Vec::new());
        }
    }

    #[test]
    fn times_are_limited_to_the_range_of_time() {
        let read = |days: u32, hours: u8, negative: bool, micros: Option<u32>| {
            let mut bytes = vec![if micros.is_some() { 12 } else { 8 }, u8::from(negative)];
            bytes.extend_from_slice(&days.to_le_bytes());
            bytes.extend_from_slice(&[hours, 1, 2]);
            if let Some(micros) = micros {
                bytes.extend_from_slice(&micros.to_le_bytes());
            }
            let types = [ParameterType {
                field_type: FieldType::Time,
                sign: Sign::Signed,
            }];
            let values =
                decode_parameters(&types, &[0], &bytes, &[], Charset::Utf8mb4, &mut Vec::new()).unwrap();
            let [Value::Time(time)] = values[..] else {
                panic!("{values:?}")
            };
            time.to_string()
        };
        assert_eq!(read(34, 22, false, None), "838:01:02");
        assert_eq!(read(34, 23, false, None), "838:59:59");
        assert_eq!(read(u32::MAX, 255, false, None), "838:59:59");
        assert_eq!(read(u32::MAX, 255, true, Some(5)), "-838:59:59.000005");
        // More than a second of microseconds is no time.
        assert_eq!(read(u32::MAX, 255, false, Some(u32::MAX)), "00:00:00");
    }

    #[test]
    fn strings_are_decoded_from_the_clients_character_set() {
        let of = |field_type| ParameterType {
            field_type,
            sign: Sign::Signed,
        };
        let types = [
            of(FieldType::VarString),
            of(FieldType::Blob),
            of(FieldType::String),
        ];
        let bytes = [2, 0xc3, 0xa9, 2, 0xc3, 0xa9];
        let long_data = [None, None, Some(vec![0xe9])];
        let read =
            |charset| decode_parameters(&types, &[0], &bytes, &long_data, charset, &mut Vec::new()).unwrap();
        let blob = Value::Bytes(vec![0xc3, 0xa9]);
        assert_eq!(
            read(Charset::Latin1),
            [Value::from("Ã©"), blob.clone(), Value::from("é")]
        );
        assert_eq!(
            read(Charset::Utf8mb4),
            [Value::from("é"), blob, Value::Bytes(vec![0xe9])]
        );
    }

    #[test]
    fn rows_as_mariadb_sends_them() {
        let mut out = Vec::new();
        let values = [
            Value::Int(1),
            Value::Null,
            Value::from("ab"),
            Value::Date(Date::new(2024, 1, 31)),
        ];
        let types = [
            FieldType::Long,
            FieldType::Tiny,
            FieldType::VarString,
            FieldType::Date,
        ];
        append_row(values.iter().map(Value::as_ref), &types, &TimeZone::UTC, &mut out);
        assert_eq!(out, [0, 0b1000, 1, 0, 0, 0, 2, b'a', b'b', 4, 0xe8, 7, 1, 31]);
    }

    #[test]
    fn long_data_replaces_the_parameter() {
        let types = [ParameterType {
            field_type: FieldType::Blob,
            sign: Sign::Signed,
        }];
        let read = decode_parameters(
            &types,
            &[0],
            &[],
            &[Some(b"long".to_vec())],
            Charset::Utf8mb4,
            &mut Vec::new(),
        )
        .unwrap();
        assert_eq!(read, [Value::Bytes(b"long".to_vec())]);
    }
}
