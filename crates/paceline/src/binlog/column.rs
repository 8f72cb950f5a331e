//! Columns of a table map, and their values in row images, decoded from the log alone.
//!
//! The output is that of `mariadb-binlog -v`. It knows a column's type code and metadata, but neither its sign nor its
//! character set.

use super::c_format::general;
use paceline_binlog::event::TableMapEvent;
use paceline_types::data_type::FieldType;
use paceline_types::table_map_metadata::{column_names, decode_columns};
use paceline_types::{DataType, Decimal};
use std::io::Write;
use std::sync::Arc;

/// A column as the log describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    code: FieldType,
    metadata: u16,
    nullable: bool,
}

/// The table for a table number in rows events.
#[derive(Clone, Debug)]
pub struct MappedTable {
    pub database: Vec<u8>,
    pub table: Vec<u8>,
    pub columns: Vec<Column>,
    /// Types of the columns as far as the table map contains them; `None` if one is unknown.
    pub types: Option<Arc<[DataType]>>,
    /// Names of the columns; empty if the table map does not contain them.
    pub names: Vec<String>,
}

/// Removes `count` bytes from the front of a slice and returns them; `None` if there are fewer.
pub fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

impl MappedTable {
    /// Reads a table map. Returns `None` if it has an unknown column type or too little metadata.
    pub fn of(map: &TableMapEvent<'_>) -> Option<Self> {
        let mut metadata = map.metadata;
        let columns = map
            .column_types
            .iter()
            .enumerate()
            .map(|(number, code)| {
                let nullable = map.nullable.get(number / 8)? >> (number % 8) & 1 == 1;
                Column::read(*code, &mut metadata, nullable)
            })
            .collect::<Option<Vec<_>>>()?;
        let types = decode_columns(map.column_types, map.metadata, map.optional_metadata);
        Some(MappedTable {
            database: map.database.to_vec(),
            table: map.table.to_vec(),
            columns,
            types: types.ok(),
            names: column_names(map.optional_metadata).unwrap_or_default(),
        })
    }
}

/// Removes a length-encoded number from the front of a slice.
pub fn packed(rest: &mut &[u8]) -> Option<usize> {
    let count = match take(rest, 1)?[0] {
        short @ 0..=250 => return Some(usize::from(short)),
        252 => 2,
        253 => 3,
        254 => 8,
        _ => return None,
    };
    usize::try_from(little_endian(take(rest, count)?)).ok()
}

/// Decodes a little-endian number of up to 8 bytes.
pub fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Extends the sign of a number of `bytes` bytes.
fn signed(raw: u64, bytes: usize) -> i64 {
    let unused = 64 - 8 * bytes as u32;
    (raw << unused) as i64 >> unused
}

fn fraction_bytes(decimals: u16) -> usize {
    usize::from(decimals).div_ceil(2)
}

impl Column {
    fn read(code: u8, metadata: &mut &[u8], nullable: bool) -> Option<Self> {
        use FieldType::*;
        let code = FieldType::from_code(code)?;
        let mut byte = || take(metadata, 1).map(|bytes| u16::from(bytes[0]));
        let (code, metadata) = match code {
            Float | Double | TinyBlob | Blob | MediumBlob | LongBlob | BlobCompressed | Geometry | Time2
            | DateTime2 | Timestamp2 => (code, byte()?),
            VarChar | VarString | VarCharCompressed | Bit => (code, byte()? | byte()? << 8),
            NewDecimal => (code, byte()? << 8 | byte()?),
            String | Enum | Set => {
                let both = byte()? << 8 | byte()?;
                match FieldType::from_code((both >> 8) as u8) {
                    Some(Enum) => (Enum, both),
                    Some(Set) => (Set, both),
                    _ => (String, both),
                }
            }
            _ => (code, 0),
        };
        Some(Column {
            code,
            metadata,
            nullable,
        })
    }

    /// Returns the maximum length in bytes of a CHAR or BINARY column. Bits 8 and 9 of the length are stored inverted
    /// in the byte of the type code.
    fn string_length(&self) -> u16 {
        self.metadata & 0xff | (!(self.metadata >> 8) & 0x30) << 4
    }

    /// Returns the number of bytes of a value's length prefix; `None` for types without one.
    fn prefix(&self) -> Option<usize> {
        use FieldType::*;
        match self.code {
            VarChar | VarString | VarCharCompressed => Some(1 + usize::from(self.metadata > 255)),
            String => Some(1 + usize::from(self.string_length() > 255)),
            TinyBlob | Blob | MediumBlob | LongBlob | BlobCompressed | Geometry => {
                Some(usize::from(self.metadata.min(4)))
            }
            _ => None,
        }
    }

    /// Removes a value from the front of a row image and returns it without its length prefix. The value must not be
    /// NULL. Returns `None` if the image is too short.
    pub fn take_value<'a>(&self, rest: &mut &'a [u8]) -> Option<&'a [u8]> {
        use FieldType::*;
        if let Some(prefix) = self.prefix() {
            let length = usize::try_from(little_endian(take(rest, prefix)?)).ok()?;
            return take(rest, length);
        }
        let length = match self.code {
            Tiny | Year => 1,
            Short => 2,
            Int24 | Date | NewDate | Time => 3,
            Long | Float | Timestamp => 4,
            LongLong | Double | DateTime => 8,
            Timestamp2 => 4 + fraction_bytes(self.metadata),
            DateTime2 => 5 + fraction_bytes(self.metadata),
            Time2 => 3 + fraction_bytes(self.metadata),
            NewDecimal => Decimal::binary_length((self.metadata >> 8) as u8, self.metadata as u8),
            Bit => self.bits().div_ceil(8),
            Enum | Set => usize::from(self.metadata & 0xff),
            _ => return None,
        };
        take(rest, length)
    }

    fn bits(&self) -> usize {
        usize::from(self.metadata >> 8) * 8 + usize::from(self.metadata & 0xff)
    }

    /// Appends a value as text.
    pub fn append_value(&self, bytes: &[u8], out: &mut Vec<u8>) {
        use FieldType::*;
        let raw = || little_endian(bytes);
        // Writing to memory does not fail.
        let _ = match self.code {
            Tiny | Short | Int24 | Long | LongLong => {
                let number = signed(raw(), bytes.len());
                if number < 0 {
                    write!(out, "{number} ({})", raw())
                } else {
                    write!(out, "{number}")
                }
            }
            NewDecimal => {
                let decimal = Decimal::from_binary(bytes, (self.metadata >> 8) as u8, self.metadata as u8);
                if let Some(decimal) = decimal {
                    decimal.append_text(out);
                }
                Ok(())
            }
            Float => {
                let number = f32::from_bits(raw() as u32);
                write!(out, "{:<20}", general(f64::from(number), 6))
            }
            Double => write!(out, "{}", general(f64::from_bits(raw()), 20)),
            Bit => {
                append_bits(bytes, self.bits(), out);
                Ok(())
            }
            Set => {
                append_bits(bytes, bytes.len() * 8, out);
                Ok(())
            }
            Enum => write!(out, "{}", raw()),
            Year => write!(out, "{:04}", raw() + 1900),
            Date | NewDate => {
                let raw = raw();
                write!(out, "'{:04}:{:02}:{:02}'", raw >> 9, raw >> 5 & 15, raw & 31)
            }
            Time => {
                let number = signed(raw(), bytes.len());
                let (sign, size) = (if number < 0 { "-" } else { "" }, number.abs());
                write!(
                    out,
                    "'{sign}{:02}:{:02}:{:02}'",
                    size / 10_000,
                    size / 100 % 100,
                    size % 100
                )
            }
            DateTime => {
                let (day, time) = (raw() / 1_000_000, raw() % 1_000_000);
                let (year, month, day) = (day / 10_000, day / 100 % 100, day % 100);
                let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
                write!(
                    out,
                    "'{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}'"
                )
            }
            Timestamp => write!(out, "{}", raw() as i32),
            Timestamp2 => {
                let (seconds, part) = bytes.split_at(4);
                let _ = write!(out, "{}", big_endian(seconds));
                self.append_fraction(big_endian(part) * fraction_unit(part.len()), out);
                Ok(())
            }
            DateTime2 => {
                let (whole, part) = bytes.split_at(5);
                let number = big_endian(whole) & 0x7f_ffff_ffff;
                let (days, time) = (number >> 17, number & 0x1_ffff);
                let (year, month, day) = ((days >> 5) / 13, (days >> 5) % 13, days & 31);
                let (hour, minute, second) = (time >> 12, time >> 6 & 63, time & 63);
                let _ = write!(
                    out,
                    "'{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
                );
                self.append_fraction(big_endian(part) * fraction_unit(part.len()), out);
                write!(out, "'")
            }
            Time2 => {
                let fraction = bytes.len() - 3;
                let number = big_endian(bytes) as i64 - (0x80_0000 << (8 * fraction));
                let size = number.unsigned_abs();
                let (whole, part) = (size >> (8 * fraction), size & ((1 << (8 * fraction)) - 1));
                let sign = if number < 0 { "-" } else { "" };
                let (hour, minute, second) = (whole >> 12, whole >> 6 & 63, whole & 63);
                let _ = write!(out, "'{sign}{hour:02}:{minute:02}:{second:02}");
                self.append_fraction(part * fraction_unit(fraction), out);
                write!(out, "'")
            }
            _ => {
                append_quoted(bytes, out);
                Ok(())
            }
        };
    }

    fn append_fraction(&self, micros: u64, out: &mut Vec<u8>) {
        let decimals = usize::from(self.metadata.min(6));
        if decimals > 0 {
            let digits = format!("{micros:06}");
            out.push(b'.');
            out.extend_from_slice(&digits.as_bytes()[..decimals]);
        }
    }

    /// Appends the column's description for `-vv`.
    pub fn append_description(&self, is_null: bool, out: &mut Vec<u8>) {
        let _ = write!(
            out,
            " /* {} meta={} nullable={} is_null={} */",
            self.type_text(),
            self.metadata,
            u8::from(self.nullable),
            u8::from(is_null)
        );
    }

    fn type_text(&self) -> std::string::String {
        use FieldType::*;
        let metadata = self.metadata;
        let compressed = match self.code {
            BlobCompressed | VarCharCompressed => " COMPRESSED",
            _ => "",
        };
        match self.code {
            Tiny => "TINYINT".into(),
            Short => "SHORTINT".into(),
            Int24 => "MEDIUMINT".into(),
            Long => "INT".into(),
            LongLong => "LONGINT".into(),
            NewDecimal => format!("DECIMAL({},{})", metadata >> 8, metadata & 0xff),
            Float => "FLOAT".into(),
            Double => "DOUBLE".into(),
            Bit => format!("BIT({})", self.bits()),
            Timestamp => "TIMESTAMP".into(),
            Timestamp2 => format!("TIMESTAMP({metadata})"),
            DateTime => "DATETIME".into(),
            DateTime2 => format!("DATETIME({metadata})"),
            Time => "TIME".into(),
            Time2 => format!("TIME({metadata})"),
            Date | NewDate => "DATE".into(),
            Year => "YEAR".into(),
            Enum => format!(
                "ENUM({} byte{})",
                metadata & 0xff,
                if metadata & 0xff == 1 { "" } else { "s" }
            ),
            Set => format!("SET({} bytes)", metadata & 0xff),
            TinyBlob | Blob | MediumBlob | LongBlob | BlobCompressed => {
                let size = ["TINY", "", "MEDIUM", "LONG"][usize::from(metadata.clamp(1, 4)) - 1];
                format!("{size}BLOB/{size}TEXT{compressed}")
            }
            VarChar | VarString | VarCharCompressed => format!("VARSTRING({metadata}){compressed}"),
            String => format!("STRING({})", self.string_length()),
            Geometry => "GEOMETRY".into(),
            OldDecimal | Null => "?".into(),
        }
    }
}

/// Returns the microseconds per unit of a fraction that has this many bytes.
fn fraction_unit(bytes: usize) -> u64 {
    [1_000_000, 10_000, 100, 1][bytes.min(3)]
}

/// Appends a bit string. Its first bits may be unused.
fn append_bits(bytes: &[u8], bits: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"b'");
    for at in (bytes.len() * 8).saturating_sub(bits)..bytes.len() * 8 {
        out.push(b'0' + (bytes[at / 8] >> (7 - at % 8) & 1));
    }
    out.push(b'\'');
}

/// Appends a string as `mariadb-binlog -v` prints it: control characters as `\x0a`, nothing else escaped.
fn append_quoted(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    for byte in bytes {
        if *byte > 0x1f {
            out.push(*byte);
        } else {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push(b'\'');
}
