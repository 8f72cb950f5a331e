//! Conversion of JSON documents from MySQL's binary form, which its row images contain, to the text that MySQL prints.
//!
//! ```text
//!   document  type (1) | value
//!   object    count | size | keys: offset, length (2) each | values: type (1), offset or the value itself each | keys | values
//!   array     count | size | values: type (1), offset or the value itself each | values
//! ```
//! Counts, sizes and offsets have two bytes in small objects and arrays, four in large ones. Offsets are relative to
//! the first byte after the type. Literals and numbers that fit are stored in the entry itself. The source is MySQL's
//! `json_binary.h`. Keys are in MySQL's order, by length and then by bytes, and are printed in this order.
//!
//! ```
//! use paceline_json::binary::append_json_text;
//! let mut text = Vec::new();
//! append_json_text(b"\x02\x02\x00\x0a\x00\x05\x01\x00\x04\x00\x00", &mut text)?;
//! assert_eq!(text, b"[1, null]");
//! # Ok::<(), paceline_json::Error>(())
//! ```

use crate::error::{Error, Result};
use crate::escape::append_mysql_string;
use paceline_types::Decimal;
use paceline_types::base64::append_base64;
use paceline_types::float_text::append_double;
use paceline_types::temporal::append_padded;
use paceline_types::text::{append_signed, append_unsigned};

/// Maximum depth of a document in MySQL: its `JSON_DOCUMENT_MAX_DEPTH`.
const DEPTH_MAX: usize = 100;

/// Types of values.
mod kind {
    pub const SMALL_OBJECT: u8 = 0;
    pub const LARGE_OBJECT: u8 = 1;
    pub const SMALL_ARRAY: u8 = 2;
    pub const LARGE_ARRAY: u8 = 3;
    pub const LITERAL: u8 = 4;
    pub const INT16: u8 = 5;
    pub const UINT16: u8 = 6;
    pub const INT32: u8 = 7;
    pub const UINT32: u8 = 8;
    pub const INT64: u8 = 9;
    pub const UINT64: u8 = 10;
    pub const DOUBLE: u8 = 11;
    pub const STRING: u8 = 12;
    pub const OPAQUE: u8 = 15;
}

/// Column types of opaque values that have a text form of their own.
mod column {
    pub const TIMESTAMP: u8 = 7;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const DECIMAL: u8 = 246;
}

/// Appends the text of a document. An empty document is `null`: MySQL stores it if there was no document to store.
///
/// # Errors
/// `MalformedJson` if the bytes are not a document.
pub fn append_json_text(document: &[u8], out: &mut Vec<u8>) -> Result<()> {
    match document.split_first() {
        None => {
            out.extend_from_slice(b"null");
            Ok(())
        }
        Some((&kind, value)) => {
            let mut left = UnreadBytes(document.len());
            append_value(kind, value, 1, &mut left, out)
        }
    }
}

/// Number of the document's bytes that have not been read as a value. Values do not overlap in documents written by
/// MySQL. Offsets of a damaged document can point to the same bytes repeatedly; a few levels of that would produce an
/// unlimited amount of text.
struct UnreadBytes(usize);

impl UnreadBytes {
    fn take(&mut self, bytes: usize) -> Result<()> {
        self.0 = self.0.checked_sub(bytes).ok_or(Error::MalformedDocument)?;
        Ok(())
    }

    fn counted<'a>(&mut self, value: &'a [u8]) -> Result<&'a [u8]> {
        let bytes = counted(value)?;
        self.take(bytes.len())?;
        Ok(bytes)
    }
}

/// Width of counts, sizes and offsets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Small,
    Large,
}

impl Format {
    fn bytes(self) -> usize {
        match self {
            Format::Small => 2,
            Format::Large => 4,
        }
    }

    /// Returns whether a value of this type is stored in its entry.
    fn inlines(self, kind: u8) -> bool {
        match kind {
            kind::LITERAL | kind::INT16 | kind::UINT16 => true,
            kind::INT32 | kind::UINT32 => self == Format::Large,
            _ => false,
        }
    }
}

/// Returns `count` bytes at an offset.
fn bytes_at(bytes: &[u8], at: usize, count: usize) -> Result<&[u8]> {
    at.checked_add(count)
        .and_then(|end| bytes.get(at..end))
        .ok_or(Error::MalformedDocument)
}

fn number_at(bytes: &[u8], at: usize, count: usize) -> Result<u64> {
    let bytes = bytes_at(bytes, at, count)?;
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn append_value(
    kind: u8,
    value: &[u8],
    depth: usize,
    left: &mut UnreadBytes,
    out: &mut Vec<u8>,
) -> Result<()> {
    // The byte of the type.
    left.take(1)?;
    match kind {
        kind::SMALL_OBJECT => append_object(value, Format::Small, depth, left, out)?,
        kind::LARGE_OBJECT => append_object(value, Format::Large, depth, left, out)?,
        kind::SMALL_ARRAY => append_array(value, Format::Small, depth, left, out)?,
        kind::LARGE_ARRAY => append_array(value, Format::Large, depth, left, out)?,
        kind::LITERAL => out.extend_from_slice(match value.first() {
            Some(0) => b"null",
            Some(1) => b"true",
            Some(2) => b"false",
            _ => return Err(Error::MalformedDocument),
        }),
        kind::INT16 => append_signed(i64::from(number_at(value, 0, 2)? as u16 as i16), out),
        kind::INT32 => append_signed(i64::from(number_at(value, 0, 4)? as u32 as i32), out),
        kind::INT64 => append_signed(number_at(value, 0, 8)? as i64, out),
        kind::UINT16 => append_unsigned(number_at(value, 0, 2)?, out),
        kind::UINT32 => append_unsigned(number_at(value, 0, 4)?, out),
        kind::UINT64 => append_unsigned(number_at(value, 0, 8)?, out),
        kind::DOUBLE => append_number(f64::from_bits(number_at(value, 0, 8)?), out),
        kind::STRING => append_mysql_string(left.counted(value)?, out)?,
        kind::OPAQUE => {
            let (&column, value) = value.split_first().ok_or(Error::MalformedDocument)?;
            append_opaque(column, left.counted(value)?, out)?;
        }
        _ => return Err(Error::MalformedDocument),
    }
    Ok(())
}

/// Returns the number of elements of an object or array, and its bytes, which end where its size says.
fn open(value: &[u8], format: Format, depth: usize) -> Result<(usize, &[u8])> {
    let width = format.bytes();
    let count = number_at(value, 0, width)? as usize;
    let size = number_at(value, width, width)? as usize;
    if depth > DEPTH_MAX {
        return Err(Error::MalformedDocument);
    }
    Ok((count, bytes_at(value, 0, size)?))
}

fn append_object(
    value: &[u8],
    format: Format,
    depth: usize,
    left: &mut UnreadBytes,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (count, body) = open(value, format, depth)?;
    let width = format.bytes();
    let keys = 2 * width;
    let values = count
        .checked_mul(width + 2)
        .and_then(|length| length.checked_add(keys))
        .ok_or(Error::MalformedDocument)?;
    out.push(b'{');
    for member in 0..count {
        if member > 0 {
            out.extend_from_slice(b", ");
        }
        let entry = keys + member * (width + 2);
        let offset = number_at(body, entry, width)? as usize;
        let length = number_at(body, entry + width, 2)? as usize;
        left.take(length)?;
        append_mysql_string(bytes_at(body, offset, length)?, out)?;
        out.extend_from_slice(b": ");
        append_entry(body, values + member * (width + 1), format, depth, left, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn append_array(
    value: &[u8],
    format: Format,
    depth: usize,
    left: &mut UnreadBytes,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (count, body) = open(value, format, depth)?;
    let width = format.bytes();
    out.push(b'[');
    for element in 0..count {
        if element > 0 {
            out.extend_from_slice(b", ");
        }
        append_entry(body, 2 * width + element * (width + 1), format, depth, left, out)?;
    }
    out.push(b']');
    Ok(())
}

/// Appends the value that an entry contains or points to.
fn append_entry(
    body: &[u8],
    at: usize,
    format: Format,
    depth: usize,
    left: &mut UnreadBytes,
    out: &mut Vec<u8>,
) -> Result<()> {
    let kind = number_at(body, at, 1)? as u8;
    let held = bytes_at(body, at + 1, format.bytes())?;
    if format.inlines(kind) {
        return append_value(kind, held, depth + 1, left, out);
    }
    let offset = number_at(held, 0, held.len())? as usize;
    let value = body.get(offset..).ok_or(Error::MalformedDocument)?;
    append_value(kind, value, depth + 1, left, out)
}

/// Returns the bytes after their length. The length has seven bits in each byte, the lowest first.
fn counted(value: &[u8]) -> Result<&[u8]> {
    let mut length = 0usize;
    for (at, byte) in value.iter().take(5).enumerate() {
        length |= usize::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return bytes_at(value, at + 1, length);
        }
    }
    Err(Error::MalformedDocument)
}

/// Appends a DOUBLE. It is always recognizable as one: `1.0`, not `1`.
fn append_number(number: f64, out: &mut Vec<u8>) {
    if number == 0.0 && number.is_sign_negative() {
        out.push(b'-');
    }
    let start = out.len();
    append_double(number, out);
    if !out[start..].iter().any(|byte| matches!(byte, b'.' | b'e')) {
        out.extend_from_slice(b".0");
    }
}

fn append_opaque(column: u8, value: &[u8], out: &mut Vec<u8>) -> Result<()> {
    match column {
        column::DECIMAL => {
            let [precision, scale, packed @ ..] = value else {
                return Err(Error::MalformedDocument);
            };
            Decimal::from_binary(packed, *precision, *scale)
                .ok_or(Error::MalformedDocument)?
                .append_text(out);
        }
        column::DATE | column::DATETIME | column::TIMESTAMP | column::TIME => {
            let packed = number_at(value, 0, 8)? as i64;
            out.push(b'"');
            match column {
                column::TIME => append_time(packed, out),
                column::DATE => append_date(packed, out),
                _ => {
                    append_date(packed, out);
                    out.push(b' ');
                    append_time_of_day(packed, 0x1F, out);
                }
            }
            out.push(b'"');
        }
        _ => {
            out.extend_from_slice(b"\"base64:type");
            append_unsigned(u64::from(column), out);
            out.push(b':');
            append_base64(value, out);
            out.push(b'"');
        }
    }
    Ok(())
}

/// Appends the date of a packed temporal value. MySQL's packed form has 24 bits of microseconds, 17 bits of the time of
/// day, then the day, and 13 months in a year.
fn append_date(packed: i64, out: &mut Vec<u8>) {
    let days = packed.unsigned_abs() >> 41;
    let (day, months) = (days & 31, days >> 5);
    append_padded((months / 13) as u32, 4, out);
    out.push(b'-');
    append_padded((months % 13) as u32, 2, out);
    out.push(b'-');
    append_padded(day as u32, 2, out);
}

fn append_time(packed: i64, out: &mut Vec<u8>) {
    if packed < 0 {
        out.push(b'-');
    }
    append_time_of_day(packed, 0x3FF, out);
}

/// Appends the time of day. `hours` is the mask of the hours: a TIME has up to 838, and those of a DATETIME end where
/// the day begins.
fn append_time_of_day(packed: i64, hours: u64, out: &mut Vec<u8>) {
    let packed = packed.unsigned_abs();
    let seconds = packed >> 24;
    append_padded((seconds >> 12 & hours) as u32, 2, out);
    out.push(b':');
    append_padded((seconds >> 6 & 63) as u32, 2, out);
    out.push(b':');
    append_padded((seconds & 63) as u32, 2, out);
    out.push(b'.');
    append_padded((packed & 0xFF_FFFF) as u32, 6, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTORS: &str = include_str!("../tests/vectors/mysql_json.txt");

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
        hex.as_bytes()
            .chunks(2)
            .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
            .collect()
    }

    fn text(document: &[u8]) -> Result<String> {
        let mut out = Vec::new();
        append_json_text(document, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn strings_that_are_not_utf8_are_refused() {
        let mut out = Vec::new();
        assert_eq!(
            append_json_text(&[12, 1, 0xFF], &mut out),
            Err(Error::MalformedDocument)
        );
        // Keys are checked too: {"\xFF": null}.
        let document = [0, 1, 0, 12, 0, 11, 0, 1, 0, 4, 0, 0, 0xFF];
        assert_eq!(
            append_json_text(&document, &mut out),
            Err(Error::MalformedDocument)
        );
    }

    #[test]
    fn documents_read_as_mysql_prints_them() {
        let mut documents = 0;
        for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
            let (hex, printed) = line.split_once('\t').unwrap();
            assert_eq!(text(&bytes(hex)).unwrap(), printed);
            documents += 1;
        }
        assert_eq!(documents, 10);
        assert_eq!(text(b"").unwrap(), "null");
    }

    #[test]
    fn large_objects_and_arrays() {
        // {"k": [1, -2, "x"]}, with offsets of four bytes.
        let array = b"\x03\0\0\0\x19\0\0\0\x08\x01\0\0\0\x07\xfe\xff\xff\xff\x0c\x17\0\0\0\x01x";
        let mut object = b"\x01\0\0\0\x2d\0\0\0\x13\0\0\0\x01\0\x03\x14\0\0\0k".to_vec();
        object.extend_from_slice(array);
        let mut document = vec![kind::LARGE_OBJECT];
        document.extend_from_slice(&object);
        assert_eq!(text(&document).unwrap(), r#"{"k": [1, -2, "x"]}"#);
    }

    #[test]
    fn damaged_documents_are_errors_and_reading_ends() {
        for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
            let document = bytes(line.split_once('\t').unwrap().0);
            for length in 1..document.len() {
                let _ = text(&document[..length]);
            }
            for at in (0..document.len()).take(200) {
                let mut damaged = document.clone();
                damaged[at] ^= 0xFF;
                let mut out = Vec::new();
                let _ = append_json_text(&damaged, &mut out);
            }
        }
        // An array that contains itself.
        assert!(text(b"\x02\x01\x00\x07\x00\x02\x00\x00").is_err());
        // An array that contains itself twice.
        assert!(text(b"\x02\x02\x00\x0a\x00\x02\x00\x00\x02\x00\x00").is_err());
        // Nested arrays, each of which refers twice to the next one: not deeper than allowed, but 2^40 values.
        let mut document = vec![kind::SMALL_ARRAY];
        for depth in 0..40u8 {
            let is_last = depth == 39;
            let size = 10 * (40 - u16::from(depth));
            document.extend_from_slice(&[2, 0]);
            document.extend_from_slice(&size.to_le_bytes());
            for _ in 0..2 {
                document.push(if is_last { kind::LITERAL } else { kind::SMALL_ARRAY });
                document.extend_from_slice(if is_last { &[1, 0] } else { &[10, 0] });
            }
        }
        assert!(text(&document).is_err());
        assert!(text(b"\x0e").is_err());
        assert!(text(b"\x04\x03").is_err());
    }
}
