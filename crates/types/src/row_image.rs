//! Row images: rows in the form of the binlog's rows events, which the engine also stores.
//!
//! ```text
//!   NULL bitmap, (columns + 7) / 8 bytes │ packed columns that are not NULL, one after the other
//!   bit n set: column n is NULL          │
//!   unused bits of the last byte set     │
//! ```
//!
//! | type | packed |
//! |---|---|
//! | integers, FLOAT, DOUBLE | little-endian; YEAR in one byte from 1900, 0 for 0000 |
//! | DECIMAL | see [`crate::decimal`] |
//! | BIT(n) | big-endian in ⌈n/8⌉ bytes |
//! | CHAR, BINARY, UUID, INET6, INET4 | length, then the bytes without trailing spaces (not CHAR: zero bytes); the length takes two bytes if the column has more than 255 |
//! | VARCHAR, VARBINARY | length in one byte, or two if the column has more than 255, then the bytes |
//! | TEXT, BLOB, JSON | length in 1 to 4 bytes, then the bytes |
//! | ENUM, SET | the number in 1 or 2, or 1, 2, 3, 4 or 8 bytes, little-endian |
//! | DATE | 3 bytes little-endian: year ≪ 9 + month ≪ 5 + day |
//! | TIME, DATETIME, TIMESTAMP | 3, 5 or 4 bytes big-endian, then ⌈decimals/2⌉ bytes of fraction |
//!
//! The sources are MariaDB's manual page on rows events and what MariaDB 10.11 writes: `tests/vectors/row_images.txt`
//! has rows of every type.

use crate::collation::Charset;
use crate::data_type::{DataType, IntegerType, Sign};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::temporal::{Date, DateTime, Time, Timestamp};
use crate::value::{BitValue, EnumRef, SetRef, Value, ValueRef};
use std::borrow::Cow;
use std::sync::Arc;

/// Layout of a table's rows. Built once for a table definition, cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    types: Arc<[DataType]>,
    lengths: Arc<[PackedLength]>,
}

/// Length of a packed column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackedLength {
    /// A fixed number of bytes.
    Fixed(u8),
    /// Length field of this many bytes, little-endian, before the value.
    Prefixed(u8),
}

/// One encoded row.
#[derive(Clone, Copy, Debug)]
pub struct RowImage<'a> {
    layout: &'a RowLayout,
    bytes: &'a [u8],
}

/// Columns of a row, in order. Each is decoded on demand.
#[derive(Clone, Debug)]
pub struct Columns<'a> {
    image: RowImage<'a>,
    column: usize,
    at: usize,
}

/// Returns the number of bytes of an ENUM's number.
pub(crate) fn enum_bytes(labels: usize) -> usize {
    if labels < 256 { 1 } else { 2 }
}

/// Returns the number of bytes of a SET's bits.
pub(crate) fn set_bytes(labels: usize) -> usize {
    match labels.div_ceil(8) {
        0 => 1,
        bytes @ 1..=4 => bytes,
        _ => 8,
    }
}

/// Returns the number of bytes of a fraction with this number of digits.
pub(crate) const fn fraction_bytes(decimals: u8) -> usize {
    (decimals as usize).div_ceil(2)
}

/// Returns the size of the length field of a column with values of at most `max_bytes` bytes.
const fn length_bytes(max_bytes: u64) -> u8 {
    if max_bytes > 255 { 2 } else { 1 }
}

impl PackedLength {
    fn of(data_type: &DataType) -> PackedLength {
        use PackedLength::{Fixed, Prefixed};
        let in_bytes =
            |characters: u64| characters * u64::from(data_type.charset().max_bytes_per_character());
        match data_type {
            DataType::Integer(t) => Fixed(t.width.bytes() as u8),
            DataType::Decimal(t) => Fixed(Decimal::binary_length(t.precision, t.scale) as u8),
            DataType::Float(_) => Fixed(4),
            DataType::Double(_) => Fixed(8),
            DataType::Bit { length } => Fixed(length.div_ceil(8)),
            DataType::Char { length, .. } => Prefixed(length_bytes(in_bytes(u64::from(*length)))),
            DataType::VarChar { length, .. } => Prefixed(length_bytes(in_bytes(u64::from(*length)))),
            DataType::Binary { length } => Prefixed(length_bytes(u64::from(*length))),
            DataType::VarBinary { length } => Prefixed(length_bytes(u64::from(*length))),
            DataType::Text { size, .. } | DataType::Blob { size } => Prefixed(size.length_bytes() as u8),
            DataType::Json => Prefixed(4),
            DataType::Date => Fixed(3),
            DataType::Time { decimals } => Fixed(3 + fraction_bytes(*decimals) as u8),
            DataType::DateTime { decimals } => Fixed(5 + fraction_bytes(*decimals) as u8),
            DataType::Timestamp { decimals } => Fixed(4 + fraction_bytes(*decimals) as u8),
            DataType::Year => Fixed(1),
            DataType::Enum { labels, .. } => Fixed(enum_bytes(labels.len()) as u8),
            DataType::Set { labels, .. } => Fixed(set_bytes(labels.len()) as u8),
            DataType::FixedBinary(_) => Prefixed(1),
        }
    }

    /// Returns the start and length of the value of the column at `at`, without its length field. `None` beyond the
    /// end.
    #[inline]
    pub(crate) fn range(self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
        let (start, length) = match self {
            PackedLength::Fixed(length) => (at, usize::from(length)),
            PackedLength::Prefixed(1) => (at + 1, usize::from(*bytes.get(at)?)),
            PackedLength::Prefixed(count) => {
                let count = usize::from(count);
                (at + count, little_endian(bytes.get(at..at + count)?) as usize)
            }
        };
        let end = start.checked_add(length)?;
        (end <= bytes.len()).then_some((start, end))
    }
}

#[inline]
fn little_endian(bytes: &[u8]) -> u64 {
    match *bytes {
        // Sizes of most columns and lengths.
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}

#[inline]
fn big_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl RowLayout {
    /// Creates the layout of rows with these columns.
    pub fn new(types: impl Into<Arc<[DataType]>>) -> Self {
        let types = types.into();
        let lengths = types.iter().map(PackedLength::of).collect();
        RowLayout { types, lengths }
    }

    /// Returns the columns' types.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.types.len()
    }

    /// Returns the size of the NULL bitmap in bytes.
    pub(crate) fn bitmap_bytes(&self) -> usize {
        self.types.len().div_ceil(8)
    }

    /// Returns the length of a column.
    pub(crate) fn packed_length(&self, column: usize) -> PackedLength {
        self.lengths[column]
    }

    /// Appends the image of a row. The values must have their columns' types.
    ///
    /// # Errors
    /// `ColumnCount`; `WrongType` if a value needs `convert::assign` first.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) -> Result<()> {
        if values.len() != self.types.len() {
            return Err(Error::ColumnCount {
                columns: self.types.len(),
                given: values.len(),
            });
        }
        let bitmap = out.len();
        out.resize(bitmap + self.bitmap_bytes(), 0xff);
        for (column, value) in values.iter().enumerate() {
            if !value.is_null() {
                out[bitmap + column / 8] &= !(1 << (column % 8));
                self.pack(column, &value.as_ref(), out)?;
            }
        }
        Ok(())
    }

    /// Appends the image of a row that differs from another in some columns, given in ascending order. The other
    /// columns are copied without decoding.
    ///
    /// # Errors
    /// `WrongType`; `TruncatedImage` if the image is damaged; `ColumnCount` if a column does not exist or is out of
    /// order.
    pub fn encode_changed(
        &self,
        before: RowImage<'_>,
        changes: &[(usize, &Value)],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let bitmap = out.len();
        let bitmap_bytes = self.bitmap_bytes();
        out.extend_from_slice(
            before
                .bytes
                .get(..bitmap_bytes)
                .ok_or(Error::TruncatedImage { column: 0 })?,
        );
        let mut columns = before.columns();
        let mut copied = bitmap_bytes;
        for &(column, value) in changes {
            if column < columns.column || column >= self.types.len() {
                return Err(Error::ColumnCount {
                    columns: self.types.len(),
                    given: column,
                });
            }
            while columns.column < column {
                columns.skip_column()?;
            }
            out.extend_from_slice(&before.bytes[copied..columns.at]);
            columns.skip_column()?;
            copied = columns.at;
            let (byte, bit) = (bitmap + column / 8, 1 << (column % 8));
            if value.is_null() {
                out[byte] |= bit;
            } else {
                out[byte] &= !bit;
                self.pack(column, &value.as_ref(), out)?;
            }
        }
        out.extend_from_slice(&before.bytes[copied..]);
        Ok(())
    }

    /// Returns the image at the start of `bytes` and the bytes after it.
    ///
    /// # Errors
    /// `TruncatedImage` if the bytes end too early.
    pub fn split<'a>(&'a self, bytes: &'a [u8]) -> Result<(RowImage<'a>, &'a [u8])> {
        let image = self.image(bytes);
        let mut at = self.bitmap_bytes();
        if bytes.len() < at {
            return Err(Error::TruncatedImage { column: 0 });
        }
        for (column, length) in self.lengths.iter().enumerate() {
            if !image.is_null(column) {
                let range = length.range(bytes, at);
                (_, at) = range.ok_or(Error::TruncatedImage { column })?;
            }
        }
        let (image, rest) = bytes.split_at(at);
        Ok((self.image(image), rest))
    }

    /// Wraps the bytes of a whole image. They are only checked when columns are decoded.
    pub fn image<'a>(&'a self, bytes: &'a [u8]) -> RowImage<'a> {
        RowImage { layout: self, bytes }
    }

    /// Decodes all columns.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`
    pub fn decode(&self, bytes: &[u8]) -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(self.types.len());
        self.decode_into(bytes, &mut values)?;
        Ok(values)
    }

    /// Decodes all columns into `values`, which is cleared first.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`
    pub fn decode_into(&self, bytes: &[u8], values: &mut Vec<Value>) -> Result<()> {
        values.clear();
        values.reserve(self.types.len());
        for value in self.image(bytes).columns() {
            values.push(value?.into_owned());
        }
        Ok(())
    }

    /// Appends one packed value that is not NULL.
    pub(crate) fn pack(&self, column: usize, value: &ValueRef<'_>, out: &mut Vec<u8>) -> Result<()> {
        let data_type = &self.types[column];
        let wrong = || Error::WrongType {
            column,
            expected: data_type.name(),
            value: value.kind(),
        };
        let prefix = match self.lengths[column] {
            PackedLength::Prefixed(bytes) => usize::from(bytes),
            PackedLength::Fixed(_) => 0,
        };
        match (data_type, value) {
            (DataType::Integer(t), _) => {
                let raw = match (t.sign, value) {
                    (Sign::Signed, ValueRef::Int(v)) if within(*v, t.width.signed_range()) => *v as u64,
                    (Sign::Unsigned, ValueRef::UInt(v)) if *v <= t.width.unsigned_max() => *v,
                    (Sign::Signed, ValueRef::UInt(v)) if *v <= t.width.signed_range().1 as u64 => *v,
                    (Sign::Unsigned, ValueRef::Int(v)) if *v >= 0 && *v as u64 <= t.width.unsigned_max() => {
                        *v as u64
                    }
                    _ => return Err(wrong()),
                };
                out.extend_from_slice(&raw.to_le_bytes()[..t.width.bytes()]);
            }
            (DataType::Decimal(t), ValueRef::Decimal(v)) => v.append_binary(t.precision, t.scale, out),
            (DataType::Float(_), ValueRef::Float(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (DataType::Double(_), ValueRef::Double(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (DataType::Bit { length }, ValueRef::Bit(v)) => {
                out.extend_from_slice(&v.bits.to_be_bytes()[8 - usize::from(length.div_ceil(8))..]);
            }
            (DataType::Char { collation, .. }, ValueRef::Text(v)) => {
                pack_text(v.trim_end_matches(' '), collation.charset(), prefix, out).ok_or_else(wrong)?;
            }
            (DataType::VarChar { collation, .. } | DataType::Text { collation, .. }, ValueRef::Text(v)) => {
                pack_text(v, collation.charset(), prefix, out).ok_or_else(wrong)?;
            }
            (DataType::Json, ValueRef::Text(v)) => {
                pack_text(v, Charset::Utf8mb4, prefix, out).ok_or_else(wrong)?
            }
            (DataType::Binary { .. }, ValueRef::Bytes(v)) => {
                pack_bytes(without_trailing_zeros(v), prefix, out).ok_or_else(wrong)?;
            }
            (DataType::FixedBinary(t), ValueRef::FixedBinary(v)) if v.data_type() == *t => {
                pack_bytes(without_trailing_zeros(v.bytes()), prefix, out).ok_or_else(wrong)?;
            }
            (DataType::VarBinary { .. } | DataType::Blob { .. }, ValueRef::Bytes(v)) => {
                pack_bytes(v, prefix, out).ok_or_else(wrong)?;
            }
            (DataType::Date, ValueRef::Date(v)) => out.extend_from_slice(&pack_date(*v).to_le_bytes()[..3]),
            (DataType::Time { decimals }, ValueRef::Time(v)) => pack_time(*v, *decimals, out),
            (DataType::DateTime { decimals }, ValueRef::DateTime(v)) => pack_datetime(*v, *decimals, out),
            (DataType::Timestamp { decimals }, ValueRef::Timestamp(v)) => pack_timestamp(*v, *decimals, out),
            (DataType::Year, ValueRef::Year(v)) => out.push(pack_year(*v).ok_or_else(wrong)?),
            (DataType::Enum { labels, .. }, ValueRef::Enum(v)) => {
                out.extend_from_slice(&v.index.to_le_bytes()[..enum_bytes(labels.len())]);
            }
            (DataType::Set { labels, .. }, ValueRef::Set(v)) => {
                out.extend_from_slice(&v.bits.to_le_bytes()[..set_bytes(labels.len())]);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

fn without_trailing_zeros(bytes: &[u8]) -> &[u8] {
    let used = bytes
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(0, |last| last + 1);
    &bytes[..used]
}

fn within(number: i64, (low, high): (i64, i64)) -> bool {
    low <= number && number <= high
}

/// Appends a length and the bytes that `append` appends. Returns `None` if the length does not fit.
#[inline]
fn with_length(prefix: usize, out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) -> Option<()> {
    let at = out.len();
    out.resize(at + prefix, 0);
    append(out);
    let length = (out.len() - at - prefix) as u64;
    out[at..at + prefix].copy_from_slice(&length.to_le_bytes()[..prefix]);
    (length >> (8 * prefix) == 0).then_some(())
}

fn pack_text(text: &str, charset: Charset, prefix: usize, out: &mut Vec<u8>) -> Option<()> {
    with_length(prefix, out, |out| charset.encode(text, out))
}

fn pack_bytes(bytes: &[u8], prefix: usize, out: &mut Vec<u8>) -> Option<()> {
    with_length(prefix, out, |out| out.extend_from_slice(bytes))
}

/// Packs a date as year ≪ 9 + month ≪ 5 + day, which sorts by date.
pub(crate) fn pack_date(date: Date) -> u32 {
    u32::from(date.year) << 9 | u32::from(date.month) << 5 | u32::from(date.day)
}

/// Returns the year as one byte, or `None` if a YEAR column cannot hold it.
pub(crate) fn pack_year(year: u16) -> Option<u8> {
    match year {
        0 => Some(0),
        1901..=2155 => Some((year - 1900) as u8),
        _ => None,
    }
}

/// Returns the unit of a fraction of this many bytes, in microseconds.
const fn fraction_unit(bytes: usize) -> u32 {
    match bytes {
        0 => 1_000_000,
        1 => 10_000,
        2 => 100,
        _ => 1,
    }
}

/// Packs a fraction, cut to the column's decimals.
fn pack_fraction(micros: u32, decimals: u8) -> u32 {
    let unit = crate::temporal::micros_unit(decimals);
    micros / unit * unit / fraction_unit(fraction_bytes(decimals))
}

/// Appends a TIME: hours, minutes and seconds in 3 bytes, then the fraction. A negative time is the offset minus its
/// number. The bytes sort by time.
pub(crate) fn pack_time(time: Time, decimals: u8, out: &mut Vec<u8>) {
    let fraction = fraction_bytes(decimals);
    let whole = i64::from(time.hours()) << 12 | i64::from(time.minute()) << 6 | i64::from(time.second());
    let magnitude = whole << (8 * fraction) | i64::from(pack_fraction(time.microsecond(), decimals));
    let number = (0x80_0000 << (8 * fraction)) + if time.is_negative() { -magnitude } else { magnitude };
    out.extend_from_slice(&number.to_be_bytes()[8 - 3 - fraction..]);
}

fn unpack_time(bytes: &[u8], decimals: u8) -> Option<Time> {
    let fraction = fraction_bytes(decimals);
    let number = big_endian(bytes) as i64 - (0x80_0000 << (8 * fraction));
    let magnitude = number.unsigned_abs();
    let (whole, part) = (
        magnitude >> (8 * fraction),
        magnitude & ((1 << (8 * fraction)) - 1),
    );
    let (hours, minutes, seconds) = (whole >> 12, whole >> 6 & 0x3f, whole & 0x3f);
    let micros = part * u64::from(fraction_unit(fraction));
    let micros = i64::try_from((hours * 3600 + minutes * 60 + seconds) * 1_000_000 + micros).ok()?;
    (minutes < 60 && seconds < 60 && micros <= Time::MICROS_MAX)
        .then(|| Time::from_micros(if number < 0 { -micros } else { micros }, decimals))
}

/// Appends a DATETIME: 5 bytes with the first bit set, then the fraction. The bytes sort by time.
pub(crate) fn pack_datetime(value: DateTime, decimals: u8, out: &mut Vec<u8>) {
    let date = value.date;
    let days = (u64::from(date.year) * 13 + u64::from(date.month)) << 5 | u64::from(date.day);
    let time = u64::from(value.hour) << 12 | u64::from(value.minute) << 6 | u64::from(value.second);
    let number = 0x80_0000_0000 | days << 17 | time;
    out.extend_from_slice(&number.to_be_bytes()[3..]);
    let fraction = fraction_bytes(decimals);
    out.extend_from_slice(&pack_fraction(value.micros, decimals).to_be_bytes()[4 - fraction..]);
}

fn unpack_datetime(bytes: &[u8], decimals: u8) -> Option<DateTime> {
    let (whole, part) = bytes.split_at_checked(5)?;
    let number = big_endian(whole) & 0x7f_ffff_ffff;
    let (days, time) = (number >> 17, number & 0x1_ffff);
    let (months, day) = (days >> 5, days & 0x1f);
    let date = Date::new((months / 13) as u16, (months % 13) as u8, day as u8);
    let (hour, minute, second) = (time >> 12, time >> 6 & 0x3f, time & 0x3f);
    let micros = big_endian(part) as u32 * fraction_unit(part.len());
    (date.year <= 9999 && hour < 24 && minute < 60 && second < 60 && micros < 1_000_000)
        .then(|| DateTime::new(date, hour as u8, minute as u8, second as u8).with_micros(micros, decimals))
}

/// Appends a TIMESTAMP: 4 bytes of seconds, then the fraction. The bytes sort by time.
pub(crate) fn pack_timestamp(value: Timestamp, decimals: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.seconds.to_be_bytes());
    let fraction = fraction_bytes(decimals);
    out.extend_from_slice(&pack_fraction(value.micros, decimals).to_be_bytes()[4 - fraction..]);
}

/// Decodes the value of an integer column.
#[inline]
pub(crate) fn unpack_integer(t: IntegerType, bytes: &[u8]) -> ValueRef<'static> {
    let raw = little_endian(bytes);
    match t.sign {
        Sign::Unsigned => ValueRef::UInt(raw),
        Sign::Signed => {
            let unused = 64 - 8 * bytes.len() as u32;
            ValueRef::Int((raw << unused) as i64 >> unused)
        }
    }
}

/// Decodes the value of a column.
#[inline]
pub(crate) fn unpack<'a>(data_type: &'a DataType, bytes: &'a [u8]) -> Option<ValueRef<'a>> {
    Some(match data_type {
        DataType::Integer(t) => unpack_integer(*t, bytes),
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. } => ValueRef::Text(collation.charset().decode(bytes)),
        DataType::Json => ValueRef::Text(Charset::Utf8mb4.decode(bytes)),
        DataType::VarBinary { .. } | DataType::Blob { .. } => ValueRef::Bytes(Cow::Borrowed(bytes)),
        DataType::Binary { length } => {
            let length = usize::from(*length);
            ValueRef::Bytes(if bytes.len() >= length {
                Cow::Borrowed(bytes)
            } else {
                let mut padded = Vec::with_capacity(length);
                padded.extend_from_slice(bytes);
                padded.resize(length, 0);
                Cow::Owned(padded)
            })
        }
        DataType::Decimal(t) => ValueRef::Decimal(Decimal::from_binary(bytes, t.precision, t.scale)?),
        DataType::Float(_) => ValueRef::Float(f32::from_le_bytes(bytes.try_into().ok()?)),
        DataType::Double(_) => ValueRef::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
        DataType::Bit { length } => ValueRef::Bit(BitValue {
            bits: big_endian(bytes),
            length: *length,
        }),
        DataType::Date => {
            let raw = little_endian(bytes) as u32;
            ValueRef::Date(Date::new(
                (raw >> 9) as u16,
                (raw >> 5 & 0xf) as u8,
                (raw & 0x1f) as u8,
            ))
        }
        DataType::Time { decimals } => ValueRef::Time(unpack_time(bytes, *decimals)?),
        DataType::DateTime { decimals } => ValueRef::DateTime(unpack_datetime(bytes, *decimals)?),
        DataType::Timestamp { decimals } => {
            let (seconds, part) = bytes.split_at_checked(4)?;
            let micros = big_endian(part) as u32 * fraction_unit(part.len());
            let seconds = u32::from_be_bytes(seconds.try_into().ok()?);
            (micros < 1_000_000).then(|| ValueRef::Timestamp(Timestamp::new(seconds, micros, *decimals)))?
        }
        DataType::Year => ValueRef::Year(match bytes {
            [0] => 0,
            [year] => 1900 + u16::from(*year),
            _ => return None,
        }),
        // A replicated row may have members that this definition does not have. They read as no member, as in MariaDB.
        DataType::Enum { labels, .. } => ValueRef::Enum(EnumRef {
            index: little_endian(bytes) as u16,
            labels,
        }),
        DataType::Set { labels, .. } => ValueRef::Set(SetRef {
            bits: little_endian(bytes),
            labels,
        }),
        DataType::FixedBinary(t) => ValueRef::FixedBinary(t.padded(bytes).stored()),
    })
}

impl<'a> RowImage<'a> {
    /// Returns the bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the layout.
    pub fn layout(&self) -> &'a RowLayout {
        self.layout
    }

    /// Returns whether the column is NULL (true beyond the end of a damaged image).
    #[inline]
    pub fn is_null(&self, column: usize) -> bool {
        self.bytes
            .get(column / 8)
            .is_none_or(|byte| byte >> (column % 8) & 1 == 1)
    }

    /// Returns one column's value. This walks over the columns before it; [`RowImage::columns`] is faster for several
    /// columns.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`
    pub fn column(&self, column: usize) -> Result<ValueRef<'a>> {
        let mut columns = self.columns();
        while columns.column < column {
            columns.skip_column()?;
        }
        columns.next().unwrap_or(Err(Error::TruncatedImage { column }))
    }

    /// Returns all columns in order, decoded on demand. [`Columns::skip_column`] skips one without decoding it.
    pub fn columns(&self) -> Columns<'a> {
        Columns {
            image: *self,
            column: 0,
            at: self.layout.bitmap_bytes(),
        }
    }

    /// Decodes all values.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`
    pub fn to_values(&self) -> Result<Vec<Value>> {
        self.layout.decode(self.bytes)
    }
}

impl<'a> Columns<'a> {
    /// Returns the index of the next column.
    pub fn position(&self) -> usize {
        self.column
    }

    /// Returns the type of the next column, or `None` after the last.
    pub fn next_type(&self) -> Option<&'a DataType> {
        self.image.layout.types.get(self.column)
    }

    /// Returns the offset of the next column in the image, in bytes.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the bytes of the next column without its length field, and advances. `None` for NULL.
    #[inline]
    fn take(&mut self) -> Result<Option<&'a [u8]>> {
        let column = self.column;
        self.column += 1;
        if self.image.is_null(column) {
            return Ok(None);
        }
        let range = self.image.layout.lengths[column].range(self.image.bytes, self.at);
        let (start, end) = range.ok_or(Error::TruncatedImage { column })?;
        self.at = end;
        Ok(Some(&self.image.bytes[start..end]))
    }

    /// Returns the packed bytes of the next column without its length field, and advances. `None` for NULL. Comparing
    /// them shows whether a column changed.
    ///
    /// # Errors
    /// `TruncatedImage`; also after the last column.
    #[inline]
    pub fn next_packed(&mut self) -> Result<Option<&'a [u8]>> {
        if self.column >= self.image.layout.types.len() {
            return Err(Error::TruncatedImage { column: self.column });
        }
        self.take()
    }

    /// Copies the next column's value into `target` and reuses its memory if possible; scans call this for each row.
    /// After the last column the value is NULL.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`
    #[inline]
    pub fn next_into(&mut self, target: &mut Value) -> Result<()> {
        let column = self.column;
        let Some(data_type) = self.next_type() else {
            *target = Value::Null;
            return Ok(());
        };
        let Some(bytes) = self.take()? else {
            *target = Value::Null;
            return Ok(());
        };
        // Fast path for the most frequent types.
        match data_type {
            DataType::Integer(t) => unpack_integer(*t, bytes).store_in(target),
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. } => {
                ValueRef::Text(collation.charset().decode(bytes)).store_in(target);
            }
            _ => match unpack(data_type, bytes) {
                Some(value) => value.store_in(target),
                None => {
                    return Err(Error::InvalidImage {
                        column,
                        expected: data_type.name(),
                    });
                }
            },
        }
        Ok(())
    }

    /// Skips one column.
    ///
    /// # Errors
    /// `TruncatedImage`; also after the last column.
    #[inline]
    pub fn skip_column(&mut self) -> Result<()> {
        self.next_packed().map(|_| ())
    }

    /// Skips the columns before `column`.
    ///
    /// # Errors
    /// `TruncatedImage`; also if the column was already passed.
    pub fn skip_to(&mut self, column: usize) -> Result<()> {
        if column < self.column {
            return Err(Error::TruncatedImage { column });
        }
        while self.column < column {
            self.skip_column()?;
        }
        Ok(())
    }

    /// Skips the columns before `column` and returns its value.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`; also if the column was already passed or does not exist.
    pub fn seek(&mut self, column: usize) -> Result<ValueRef<'a>> {
        self.skip_to(column)?;
        self.next().unwrap_or(Err(Error::TruncatedImage { column }))
    }
}

impl<'a> Iterator for Columns<'a> {
    type Item = Result<ValueRef<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let column = self.column;
        let data_type = self.image.layout.types.get(column)?;
        Some(match self.take() {
            Ok(None) => Ok(ValueRef::Null),
            Ok(Some(bytes)) => unpack(data_type, bytes).ok_or(Error::InvalidImage {
                column,
                expected: data_type.name(),
            }),
            Err(error) => Err(error),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.image.layout.types.len() - self.column.min(self.image.layout.types.len());
        (left, Some(left))
    }
}

impl ExactSizeIterator for Columns<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any_value::{data_types, values};
    use proptest::prelude::*;

    /// Returns a strategy for types and rows of their values with some NULLs.
    fn rows() -> impl Strategy<Value = (Vec<DataType>, Vec<Value>)> {
        prop::collection::vec(data_types(), 1..20).prop_flat_map(|types| {
            let row: Vec<_> = types
                .iter()
                .map(|data_type| prop_oneof![1 => Just(Value::Null).boxed(), 4 => values(data_type)])
                .collect();
            (Just(types), row)
        })
    }

    proptest! {
        #[test]
        fn rows_round_trip((types, row) in rows(), tail: [u8; 2]) {
            let layout = RowLayout::new(types);
            let mut bytes = Vec::new();
            layout.encode(&row, &mut bytes).unwrap();
            prop_assert_eq!(&layout.decode(&bytes).unwrap(), &row);
            let length = bytes.len();
            bytes.extend_from_slice(&tail);
            let (image, rest) = layout.split(&bytes).unwrap();
            prop_assert_eq!((image.bytes().len(), rest), (length, &tail[..]));
            for (column, value) in row.iter().enumerate() {
                prop_assert_eq!(image.is_null(column), value.is_null());
                prop_assert_eq!(&image.column(column).unwrap().into_owned(), value);
            }
            let mut columns = image.columns();
            for column in (0..row.len()).step_by(3) {
                prop_assert_eq!(&columns.seek(column).unwrap().into_owned(), &row[column]);
            }
            // In the second round, into the values of the previous one.
            let mut stored = vec![Value::Null; row.len() + 1];
            for _ in 0..2 {
                let mut columns = image.columns();
                for target in &mut stored {
                    columns.next_into(target).unwrap();
                }
                prop_assert_eq!(&stored[..row.len()], &row[..]);
                prop_assert_eq!(&stored[row.len()], &Value::Null);
                stored.rotate_left(1);
            }
            // Every prefix is rejected.
            for end in 0..length {
                prop_assert!(layout.split(&bytes[..end]).is_err());
            }
        }
    }

    #[test]
    fn refuses_values_of_another_type() {
        let layout = RowLayout::new(vec![DataType::Date]);
        let mut out = Vec::new();
        assert!(matches!(
            layout.encode(&[Value::Int(1)], &mut out),
            Err(Error::WrongType { column: 0, .. })
        ));
        assert!(matches!(
            layout.encode(&[], &mut out),
            Err(Error::ColumnCount { columns: 1, given: 0 })
        ));
    }
}
