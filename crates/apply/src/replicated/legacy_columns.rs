//! A primary's columns in formats that our tables never use. They are read, and their values converted to today's
//! types.
//!
//! | code | MariaDB column | encoding |
//! |---|---|---|
//! | 7 TIMESTAMP | created with `mysql56_temporal_format=OFF` | 4 bytes little-endian; with decimals: 4 bytes big-endian and 1 to 3 of fraction |
//! | 11 TIME | the same | 3 bytes little-endian, the number HHMMSS; with decimals: 4 to 6 bytes big-endian, counted from the smallest TIME |
//! | 12 DATETIME | the same | 8 bytes little-endian, the number YYYYMMDDHHMMSS; with decimals: 6 to 8 bytes big-endian, mixed radix |
//! | 140, 141 | BLOB or VARCHAR `COMPRESSED` | as BLOB or VARCHAR: a byte for the method, then the value, or its length big-endian and a zlib stream |
//!
//! A table map does not contain the decimals of the old temporal types. MariaDB uses those of its own column; so does
//! this code.
//!
//! To decode a row, a *stand-in* replaces the column's type: a type of today whose values take the same number of
//! bytes. Sources: MariaDB's `sql/field.cc` (`Field_timestamp0`, `Field_time_hires` and similar) and
//! `sql/field_comp.cc`.

use super::failure::Failure;
use flate2::{Decompress, FlushDecompress, Status};
use paceline_binlog::event::TableMapEvent;
use paceline_catalog::TableDefinition;
use paceline_types::data_type::FieldType;
use paceline_types::error_code::ER_SLAVE_CORRUPT_EVENT;
use paceline_types::{DataType, Date, DateTime, Time, Timestamp, Value};

/// One second more than the largest TIME. Old TIME values with decimals are counted from the negative of this.
const TIME_ZERO_POINT_SECONDS: i64 = 838 * 3600 + 59 * 60 + 59 + 1;

/// Encoded bytes of a TIME and a DATETIME, by number of decimals (`Type_handler_time::hires_bytes` and similar).
const TIME_BYTES: [u8; 7] = [3, 4, 4, 5, 5, 5, 6];
const DATETIME_BYTES: [u8; 7] = [8, 6, 6, 7, 7, 7, 8];

/// Compression methods: the high nibble of a compressed value's first byte.
const METHOD_STORED: u8 = 0;
const METHOD_ZLIB: u8 = 8;
/// Flag in the first byte: the stream has no zlib header.
const RAW_STREAM: u8 = 8;

/// A column format that our tables never use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LegacyFormat {
    Timestamp { decimals: u8 },
    Time { decimals: u8 },
    DateTime { decimals: u8 },
    Compressed,
}

/// A table map's columns with stand-ins for old formats.
pub(super) struct StandIns {
    /// Type codes, and metadata below, without any old format.
    pub codes: Vec<u8>,
    pub metadata: Vec<u8>,
    /// The old format of each column that has one.
    pub legacy: Vec<Option<LegacyFormat>>,
}

impl StandIns {
    /// Replaces old formats in a table map. `definition` is our table for it.
    pub(super) fn of(map: &TableMapEvent<'_>, definition: &TableDefinition) -> StandIns {
        let mut stand_ins = StandIns {
            codes: Vec::with_capacity(map.columns()),
            metadata: Vec::with_capacity(map.metadata.len()),
            legacy: Vec::with_capacity(map.columns()),
        };
        let mut metadata = map.metadata;
        for (number, code) in map.column_types.iter().enumerate() {
            let here = definition.columns().get(number).map(|column| &column.data_type);
            let length = metadata_bytes(*code).min(metadata.len());
            let (own, rest) = metadata.split_at(length);
            metadata = rest;
            match LegacyFormat::of(*code, here) {
                None => stand_ins.put(*code, own, None),
                Some(legacy) => {
                    let (code, bytes) = legacy.stand_in(*code);
                    match bytes {
                        Some(bytes) => stand_ins.put(code, &[0, bytes], Some(legacy)),
                        None => stand_ins.put(code, own, Some(legacy)),
                    }
                }
            }
        }
        stand_ins
    }

    fn put(&mut self, code: u8, metadata: &[u8], legacy: Option<LegacyFormat>) {
        self.codes.push(code);
        self.metadata.extend_from_slice(metadata);
        self.legacy.push(legacy);
    }
}

/// Returns the number of metadata bytes of a column type.
fn metadata_bytes(code: u8) -> usize {
    use FieldType::*;
    match FieldType::from_code(code) {
        Some(Float | Double | Blob | Geometry | Timestamp2 | DateTime2 | Time2 | BlobCompressed) => 1,
        Some(NewDecimal | Bit | VarChar | VarString | String | Enum | Set | VarCharCompressed) => 2,
        _ => 0,
    }
}

impl LegacyFormat {
    /// Returns the old format of a type code; `None` if it is not old. `here` is the type of our column.
    fn of(code: u8, here: Option<&DataType>) -> Option<LegacyFormat> {
        let decimals = |here: Option<&DataType>| match here {
            Some(
                DataType::Timestamp { decimals }
                | DataType::Time { decimals }
                | DataType::DateTime { decimals },
            ) => *decimals,
            _ => 0,
        };
        Some(match FieldType::from_code(code)? {
            FieldType::Timestamp => LegacyFormat::Timestamp {
                decimals: decimals(here),
            },
            FieldType::Time => LegacyFormat::Time {
                decimals: decimals(here),
            },
            FieldType::DateTime => LegacyFormat::DateTime {
                decimals: decimals(here),
            },
            FieldType::BlobCompressed | FieldType::VarCharCompressed => LegacyFormat::Compressed,
            _ => return None,
        })
    }

    /// Returns the type code of the stand-in, and its length in bytes if it is a BIT.
    fn stand_in(self, code: u8) -> (u8, Option<u8>) {
        let (whole, bytes) = match self {
            LegacyFormat::Timestamp { decimals } => (FieldType::Long, 4 + decimals.div_ceil(2)),
            LegacyFormat::Time { decimals } => (FieldType::Int24, TIME_BYTES[usize::from(decimals.min(6))]),
            LegacyFormat::DateTime { decimals } => {
                (FieldType::LongLong, DATETIME_BYTES[usize::from(decimals.min(6))])
            }
            LegacyFormat::Compressed if code == FieldType::BlobCompressed.code() => {
                return (FieldType::Blob.code(), None);
            }
            LegacyFormat::Compressed => return (FieldType::VarChar.code(), None),
        };
        match self.decimals() {
            0 => (whole.code(), None),
            _ => (FieldType::Bit.code(), Some(bytes)),
        }
    }

    fn decimals(self) -> u8 {
        match self {
            LegacyFormat::Timestamp { decimals }
            | LegacyFormat::Time { decimals }
            | LegacyFormat::DateTime { decimals } => decimals,
            LegacyFormat::Compressed => 0,
        }
    }

    /// Returns the corresponding type of today. `slave_type_conversions` is applied to it.
    pub(super) fn data_type(self, stand_in: &DataType) -> DataType {
        match self {
            LegacyFormat::Timestamp { decimals } => DataType::Timestamp { decimals },
            LegacyFormat::Time { decimals } => DataType::Time { decimals },
            LegacyFormat::DateTime { decimals } => DataType::DateTime { decimals },
            LegacyFormat::Compressed => match stand_in {
                // One byte is the method.
                DataType::VarBinary { length } => DataType::VarBinary {
                    length: length.saturating_sub(1),
                },
                other => other.clone(),
            },
        }
    }

    /// Converts a value decoded with the stand-in's type.
    ///
    /// # Errors
    /// 1610 for values that MariaDB never writes.
    pub(super) fn read(self, stand_in: Value) -> Result<Value, Failure> {
        let number = match stand_in {
            Value::Null => return Ok(Value::Null),
            Value::Bytes(bytes) => return decompressed(&bytes).map(Value::Bytes),
            Value::Int(number) => number,
            Value::UInt(number) => number as i64,
            Value::Bit(bit) => bit.bits as i64,
            _ => return Err(damaged(format_args!("a value of another type than its column"))),
        };
        let decimals = self.decimals();
        // Microseconds per unit of the last digit.
        let unit = 10_i64.pow(6 - u32::from(decimals));
        Ok(match self {
            LegacyFormat::Timestamp { decimals: 0 } => Value::Timestamp(Timestamp::new(number as u32, 0, 0)),
            LegacyFormat::Timestamp { .. } => {
                let fraction_bits = 8 * u32::from(decimals.div_ceil(2));
                let fraction = number & ((1 << fraction_bits) - 1);
                let micros = u32::try_from(fraction * unit).unwrap_or(u32::MAX);
                if micros > 999_999 {
                    return Err(damaged(format_args!("a fraction of {micros} µs")));
                }
                Value::Timestamp(Timestamp::new((number >> fraction_bits) as u32, micros, decimals))
            }
            LegacyFormat::Time { decimals: 0 } => {
                let digits = number.abs();
                let seconds = digits / 10_000 * 3600 + digits / 100 % 100 * 60 + digits % 100;
                Value::Time(Time::from_micros(number.signum() * seconds * 1_000_000, 0))
            }
            LegacyFormat::Time { .. } => {
                let zero_point = TIME_ZERO_POINT_SECONDS * 10_i64.pow(u32::from(decimals));
                Value::Time(Time::from_micros(
                    (number - zero_point).saturating_mul(unit),
                    decimals,
                ))
            }
            LegacyFormat::DateTime { decimals: 0 } => {
                let (date, time) = (number / 1_000_000, number % 1_000_000);
                let date = date_of(date / 10_000, date / 100 % 100, date % 100)?;
                let seconds = time / 10_000 * 3600 + time / 100 % 100 * 60 + time % 100;
                Value::DateTime(DateTime::from_date_and_micros(date, seconds * 1_000_000, 0))
            }
            LegacyFormat::DateTime { .. } => {
                let micros = number.saturating_mul(unit);
                let (days, of_day) = (micros / 86_400_000_000, micros % 86_400_000_000);
                let date = date_of(days / 32 / 13, days / 32 % 13, days % 32)?;
                Value::DateTime(DateTime::from_date_and_micros(date, of_day, decimals))
            }
            LegacyFormat::Compressed => return Err(damaged(format_args!("the number {number}"))),
        })
    }
}

fn date_of(year: i64, month: i64, day: i64) -> Result<Date, Failure> {
    match (year, month, day) {
        (0..=9999, 0..=12, 0..=31) => Ok(Date::new(year as u16, month as u8, day as u8)),
        _ => Err(damaged(format_args!("the date {year}-{month}-{day}"))),
    }
}

/// Returns a compressed value decompressed.
fn decompressed(packed: &[u8]) -> Result<Vec<u8>, Failure> {
    let Some((&head, rest)) = packed.split_first() else {
        return Ok(vec![]);
    };
    match head >> 4 {
        METHOD_STORED => Ok(rest.to_vec()),
        METHOD_ZLIB => {
            let Some((length, stream)) = rest.split_at_checked(usize::from(head & 7)) else {
                return Err(damaged(format_args!("a compressed value without its length")));
            };
            let length = length.iter().fold(0_usize, |length, byte| {
                length.saturating_mul(256) + usize::from(*byte)
            });
            // zlib compresses by at most a factor of about a thousand.
            if length > stream.len().saturating_mul(1032).saturating_add(64) {
                return Err(damaged(format_args!("a compressed value of {length} bytes")));
            }
            let mut out = Vec::with_capacity(length);
            let mut inflate = Decompress::new(head & RAW_STREAM == 0);
            let status = inflate.decompress_vec(stream, &mut out, FlushDecompress::Finish);
            match status {
                Ok(Status::StreamEnd) if out.len() == length => Ok(out),
                _ => Err(damaged(format_args!("a compressed value that does not unpack"))),
            }
        }
        method => Err(damaged(format_args!("a value compressed by method {method}"))),
    }
}

fn damaged(what: std::fmt::Arguments<'_>) -> Failure {
    Failure::new(
        ER_SLAVE_CORRUPT_EVENT,
        format!("{}: a row has {what}", ER_SLAVE_CORRUPT_EVENT.message(&[])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::{DeflateEncoder, ZlibEncoder};
    use paceline_types::TimeZone;
    use paceline_types::text::append_value;
    use std::io::Write;

    #[test]
    fn compressed_values_are_decompressed_and_damaged_ones_refused() {
        let text = b"one two one two one two one two".repeat(20);
        let mut zlib = ZlibEncoder::new(vec![0x82, 0x02, 0x6c], flate2::Compression::default());
        zlib.write_all(&text).unwrap();
        let mut raw = DeflateEncoder::new(vec![0x8a, 0x02, 0x6c], flate2::Compression::default());
        raw.write_all(&text).unwrap();
        for packed in [zlib.finish().unwrap(), raw.finish().unwrap()] {
            assert_eq!(decompressed(&packed).unwrap(), text);
            for length in 1..packed.len() {
                assert!(decompressed(&packed[..length]).is_err());
            }
            let mut longer = packed.clone();
            longer[2] += 1;
            assert!(decompressed(&longer).is_err());
        }
        assert_eq!(decompressed(b"\0abc").unwrap(), b"abc");
        assert_eq!(decompressed(b"").unwrap(), b"");
        assert!(decompressed(b"\x90abc").is_err());
        assert!(decompressed(b"\x84\xff\xff\xff\xffabc").is_err());
    }

    #[test]
    fn values_of_old_temporal_formats_are_read() {
        let read = |legacy: LegacyFormat, number: i64| legacy.read(Value::Int(number)).unwrap();
        let shown = |value: Value| {
            let mut out = vec![];
            append_value(&value.as_ref(), &TimeZone::UTC, &mut out);
            String::from_utf8(out).unwrap()
        };
        let whole = LegacyFormat::Time { decimals: 0 };
        assert_eq!(shown(read(whole, -8_385_959)), "-838:59:59");
        assert_eq!(shown(read(whole, 10_203)), "01:02:03");
        let exact = LegacyFormat::Time { decimals: 3 };
        assert_eq!(shown(read(exact, 3_020_400_000)), "00:00:00.000");
        assert_eq!(shown(read(exact, 3_020_400_000 - 1)), "-00:00:00.001");
        let whole = LegacyFormat::DateTime { decimals: 0 };
        assert_eq!(shown(read(whole, 20_240_229_235_959)), "2024-02-29 23:59:59");
        assert_eq!(shown(read(whole, 0)), "0000-00-00 00:00:00");
        assert!(whole.read(Value::Int(20_241_329_000_000)).is_err());
        // 2024-02-29 23:59:59.9
        let tenths = (((2024 * 13 + 2) * 32 + 29) * 86_400 + 86_399) * 10 + 9;
        assert_eq!(
            shown(read(LegacyFormat::DateTime { decimals: 1 }, tenths)),
            "2024-02-29 23:59:59.9"
        );
        assert!(
            LegacyFormat::Timestamp { decimals: 2 }
                .read(Value::Int(100))
                .is_err()
        );
    }
}
