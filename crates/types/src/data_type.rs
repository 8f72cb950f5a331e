//! Column types with all their attributes, and their names and numbers in the protocol and the binlog.

use crate::collation::{Charset, Collation};
use crate::fixed_binary::FixedBinaryType;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Type of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DataType {
    /// TINYINT, SMALLINT, MEDIUMINT, INT, BIGINT.
    Integer(IntegerType),
    /// DECIMAL(precision, scale).
    Decimal(DecimalType),
    /// FLOAT.
    Float(FloatType),
    /// DOUBLE.
    Double(FloatType),
    /// BIT(length).
    Bit {
        /// 1 to 64 bits.
        length: u8,
    },
    /// CHAR(length).
    Char {
        /// 0 to 255 characters.
        length: u16,
        /// Never `Collation::Binary`.
        collation: Collation,
    },
    /// VARCHAR(length).
    VarChar {
        /// Up to the number of characters that fit in 65,535 bytes.
        length: u32,
        /// Never `Collation::Binary`.
        collation: Collation,
    },
    /// BINARY(length).
    Binary {
        /// 0 to 255 bytes.
        length: u16,
    },
    /// VARBINARY(length).
    VarBinary {
        /// Up to 65,535 bytes.
        length: u32,
    },
    /// TINYTEXT, TEXT, MEDIUMTEXT, LONGTEXT.
    Text {
        /// Size of the length field.
        size: BlobSize,
        /// Never `Collation::Binary`.
        collation: Collation,
    },
    /// TINYBLOB, BLOB, MEDIUMBLOB, LONGBLOB.
    Blob {
        /// Size of the length field.
        size: BlobSize,
    },
    /// JSON: MariaDB's alias of LONGTEXT with `utf8mb4_bin` and a JSON_VALID check.
    Json,
    /// DATE.
    Date,
    /// TIME(decimals).
    Time {
        /// 0 to 6 digits of fraction.
        decimals: u8,
    },
    /// DATETIME(decimals).
    DateTime {
        /// 0 to 6 digits of fraction.
        decimals: u8,
    },
    /// TIMESTAMP(decimals).
    Timestamp {
        /// 0 to 6 digits of fraction.
        decimals: u8,
    },
    /// YEAR(4).
    Year,
    /// ENUM(labels).
    Enum {
        /// At most 65,535 labels.
        labels: Arc<Labels>,
        /// Comparison of labels with text.
        collation: Collation,
    },
    /// SET(labels).
    Set {
        /// At most 64 labels.
        labels: Arc<Labels>,
        /// Comparison of labels with text.
        collation: Collation,
    },
    /// UUID, INET6, INET4.
    FixedBinary(FixedBinaryType),
}

/// Whether a numeric column accepts negative numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
pub enum Sign {
    /// The default.
    #[default]
    Signed,
    /// `UNSIGNED`.
    Unsigned,
}

/// Attributes of an integer column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IntegerType {
    /// Size of a value.
    pub width: IntegerWidth,
    /// `UNSIGNED` or not.
    pub sign: Sign,
    /// `ZEROFILL`, which implies unsigned.
    pub zerofill: bool,
    /// The number in `INT(11)`. It only affects the display and ZEROFILL.
    pub display_width: u8,
}

/// Size of an integer column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IntegerWidth {
    /// TINYINT, 1 byte.
    Tiny,
    /// SMALLINT, 2 bytes.
    Small,
    /// MEDIUMINT, 3 bytes.
    Medium,
    /// INT, 4 bytes.
    Int,
    /// BIGINT, 8 bytes.
    Big,
}

/// Attributes of a DECIMAL column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DecimalType {
    /// All digits, 1 to 65.
    pub precision: u8,
    /// Digits after the point, 0 to 38, at most `precision`.
    pub scale: u8,
    /// `UNSIGNED` or not.
    pub sign: Sign,
    /// `ZEROFILL`, which implies unsigned.
    pub zerofill: bool,
}

/// Attributes of a FLOAT or DOUBLE column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
pub struct FloatType {
    /// `UNSIGNED` or not.
    pub sign: Sign,
    /// `ZEROFILL`, which implies unsigned.
    pub zerofill: bool,
    /// The numbers in `DOUBLE(precision, scale)`. Values are rounded to this scale.
    pub fixed: Option<FixedPoint>,
}

/// The numbers in `DOUBLE(precision, scale)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FixedPoint {
    /// All digits, at most 255.
    pub precision: u8,
    /// Digits after the point, at most 30.
    pub scale: u8,
}

/// Size of the length field of a BLOB or TEXT value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BlobSize {
    /// Up to 255 bytes.
    Tiny,
    /// Up to 65,535 bytes.
    Normal,
    /// Up to 16 MiB − 1.
    Medium,
    /// Up to 4 GiB − 1.
    Long,
}

/// Labels of an ENUM or SET type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
pub struct Labels(Vec<String>);

impl Labels {
    /// Creates labels, given in the order of the definition.
    pub fn new<T: Into<String>>(labels: impl IntoIterator<Item = T>) -> Self {
        Labels(labels.into_iter().map(Into::into).collect())
    }

    /// Returns the label with this number, counted from 1; `""` for 0 and for a number without a label.
    pub fn get(&self, index: u16) -> &str {
        match usize::from(index).checked_sub(1) {
            Some(at) => self.0.get(at).map_or("", String::as_str),
            None => "",
        }
    }

    /// Returns the number of labels.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the labels in the order of the definition.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the number, counted from 1, of the label that equals `text` in this collation. An exact match has
    /// precedence.
    pub fn find(&self, text: &str, collation: Collation) -> Option<u16> {
        let exact = self.0.iter().position(|label| label == text);
        let found = exact.or_else(|| self.0.iter().position(|label| collation.equals(label, text)))?;
        u16::try_from(found + 1).ok()
    }
}

impl IntegerWidth {
    /// Returns the size in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            IntegerWidth::Tiny => 1,
            IntegerWidth::Small => 2,
            IntegerWidth::Medium => 3,
            IntegerWidth::Int => 4,
            IntegerWidth::Big => 8,
        }
    }

    /// Returns the lowest and the highest signed value.
    pub const fn signed_range(self) -> (i64, i64) {
        let bits = 8 * self.bytes() as u32;
        (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))
    }

    /// Returns the highest unsigned value.
    pub const fn unsigned_max(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes() as u32)
    }

    /// Returns the display width that MariaDB uses if the definition has none: `int(11)`, `int(10) unsigned`.
    pub const fn default_display_width(self, sign: Sign) -> u8 {
        match (self, sign) {
            (IntegerWidth::Tiny, Sign::Signed) => 4,
            (IntegerWidth::Tiny, Sign::Unsigned) => 3,
            (IntegerWidth::Small, Sign::Signed) => 6,
            (IntegerWidth::Small, Sign::Unsigned) => 5,
            (IntegerWidth::Medium, Sign::Signed) => 9,
            (IntegerWidth::Medium, Sign::Unsigned) => 8,
            (IntegerWidth::Int, Sign::Signed) => 11,
            (IntegerWidth::Int, Sign::Unsigned) => 10,
            (IntegerWidth::Big, _) => 20,
        }
    }
}

impl BlobSize {
    /// Returns the size of the length field in bytes.
    pub const fn length_bytes(self) -> usize {
        match self {
            BlobSize::Tiny => 1,
            BlobSize::Normal => 2,
            BlobSize::Medium => 3,
            BlobSize::Long => 4,
        }
    }

    /// Returns the length of the longest value in bytes.
    pub const fn max_bytes(self) -> u64 {
        (1 << (8 * self.length_bytes() as u64)) - 1
    }

    /// Returns the smallest size for values of up to this length in bytes.
    pub fn fitting(bytes: u64) -> Self {
        let sizes = [BlobSize::Tiny, BlobSize::Normal, BlobSize::Medium];
        let smallest = sizes.into_iter().find(|size| bytes <= size.max_bytes());
        smallest.unwrap_or(BlobSize::Long)
    }
}

impl IntegerType {
    /// Creates an integer type with MariaDB's default display width.
    pub const fn new(width: IntegerWidth, sign: Sign) -> Self {
        IntegerType {
            width,
            sign,
            zerofill: false,
            display_width: width.default_display_width(sign),
        }
    }
}

impl DecimalType {
    /// Creates a signed DECIMAL(precision, scale).
    pub const fn new(precision: u8, scale: u8) -> Self {
        DecimalType {
            precision,
            scale,
            sign: Sign::Signed,
            zerofill: false,
        }
    }
}

/// Column type numbers of the client protocol and of the binlog's table maps (`enum_field_types`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // MariaDB's own names
pub enum FieldType {
    OldDecimal = 0,
    Tiny = 1,
    Short = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Null = 6,
    Timestamp = 7,
    LongLong = 8,
    Int24 = 9,
    Date = 10,
    Time = 11,
    DateTime = 12,
    Year = 13,
    NewDate = 14,
    VarChar = 15,
    Bit = 16,
    Timestamp2 = 17,
    DateTime2 = 18,
    Time2 = 19,
    BlobCompressed = 140,
    VarCharCompressed = 141,
    NewDecimal = 246,
    Enum = 247,
    Set = 248,
    TinyBlob = 249,
    MediumBlob = 250,
    LongBlob = 251,
    Blob = 252,
    VarString = 253,
    String = 254,
    Geometry = 255,
}

impl FieldType {
    /// Looks up a type by its number.
    pub fn from_code(code: u8) -> Option<FieldType> {
        use FieldType::*;
        Some(match code {
            0 => OldDecimal,
            1 => Tiny,
            2 => Short,
            3 => Long,
            4 => Float,
            5 => Double,
            6 => Null,
            7 => Timestamp,
            8 => LongLong,
            9 => Int24,
            10 => Date,
            11 => Time,
            12 => DateTime,
            13 => Year,
            14 => NewDate,
            15 => VarChar,
            16 => Bit,
            17 => Timestamp2,
            18 => DateTime2,
            19 => Time2,
            140 => BlobCompressed,
            141 => VarCharCompressed,
            246 => NewDecimal,
            247 => Enum,
            248 => Set,
            249 => TinyBlob,
            250 => MediumBlob,
            251 => LongBlob,
            252 => Blob,
            253 => VarString,
            254 => String,
            255 => Geometry,
            _ => return None,
        })
    }

    /// Returns the type's number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// Bits of a result column's flags in the client protocol.
pub mod column_flags {
    /// The column is NOT NULL.
    pub const NOT_NULL: u16 = 1;
    /// Part of the primary key.
    pub const PRIMARY_KEY: u16 = 2;
    /// Part of a unique key.
    pub const UNIQUE_KEY: u16 = 4;
    /// Part of a key that is not unique.
    pub const MULTIPLE_KEY: u16 = 8;
    /// BLOB or TEXT.
    pub const BLOB: u16 = 16;
    /// The number is unsigned.
    pub const UNSIGNED: u16 = 32;
    /// ZEROFILL.
    pub const ZEROFILL: u16 = 64;
    /// The collation is binary, or the type is temporal or numeric.
    pub const BINARY: u16 = 128;
    /// ENUM.
    pub const ENUM: u16 = 256;
    /// AUTO_INCREMENT.
    pub const AUTO_INCREMENT: u16 = 512;
    /// TIMESTAMP.
    pub const TIMESTAMP: u16 = 1024;
    /// SET.
    pub const SET: u16 = 2048;
    /// The column has no default value.
    pub const NO_DEFAULT_VALUE: u16 = 4096;
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub const ON_UPDATE_NOW: u16 = 8192;
    /// Part of any key.
    pub const PART_KEY: u16 = 16384;
    /// The type is numeric.
    pub const NUM: u16 = 32768;
}

impl DataType {
    /// Returns the collation of a text type, ENUM or SET; `Collation::Binary` for any other type.
    pub fn collation(&self) -> Collation {
        match self {
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. }
            | DataType::Enum { collation, .. }
            | DataType::Set { collation, .. } => *collation,
            DataType::Json => Collation::Utf8mb4Bin,
            _ => Collation::Binary,
        }
    }

    /// Returns the character set of a text type, ENUM or SET; `Charset::Binary` for any other type.
    pub fn charset(&self) -> Charset {
        self.collation().charset()
    }

    /// Returns whether values are text (CHAR, VARCHAR, TEXT, JSON). ENUM and SET are not.
    pub fn is_text(&self) -> bool {
        matches!(
            self,
            DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. } | DataType::Json
        )
    }

    /// Returns whether values are binary strings (BINARY, VARBINARY, BLOB).
    pub fn is_binary_string(&self) -> bool {
        matches!(
            self,
            DataType::Binary { .. } | DataType::VarBinary { .. } | DataType::Blob { .. }
        )
    }

    /// Returns whether the type is numeric (including BIT and YEAR).
    pub fn is_numeric(&self) -> bool {
        matches!(
            self,
            DataType::Integer(_)
                | DataType::Decimal(_)
                | DataType::Float(_)
                | DataType::Double(_)
                | DataType::Bit { .. }
                | DataType::Year
        )
    }

    /// Returns whether the type is DATE, TIME, DATETIME or TIMESTAMP.
    pub fn is_temporal(&self) -> bool {
        matches!(
            self,
            DataType::Date | DataType::Time { .. } | DataType::DateTime { .. } | DataType::Timestamp { .. }
        )
    }

    /// Returns whether the type is `UNSIGNED`.
    pub fn is_unsigned(&self) -> bool {
        match self {
            DataType::Integer(t) => t.sign == Sign::Unsigned,
            DataType::Decimal(t) => t.sign == Sign::Unsigned,
            DataType::Float(t) | DataType::Double(t) => t.sign == Sign::Unsigned,
            DataType::Bit { .. } | DataType::Year => true,
            _ => false,
        }
    }

    /// Returns whether the type is `ZEROFILL`.
    pub fn is_zerofill(&self) -> bool {
        match self {
            DataType::Integer(t) => t.zerofill,
            DataType::Decimal(t) => t.zerofill,
            DataType::Float(t) | DataType::Double(t) => t.zerofill,
            DataType::Year => true,
            _ => false,
        }
    }

    /// Returns the length of the longest value in characters, for text and binary types.
    pub fn max_characters(&self) -> Option<u64> {
        Some(match self {
            DataType::Char { length, .. } | DataType::Binary { length } => u64::from(*length),
            DataType::VarChar { length, .. } | DataType::VarBinary { length } => u64::from(*length),
            DataType::Text { size, .. } | DataType::Blob { size } => size.max_bytes(),
            DataType::Json => BlobSize::Long.max_bytes(),
            _ => return None,
        })
    }

    /// Returns the type's keyword in upper case, as messages show it: `INT`, `VARCHAR`.
    pub fn name(&self) -> &'static str {
        match self {
            DataType::Integer(t) => match t.width {
                IntegerWidth::Tiny => "TINYINT",
                IntegerWidth::Small => "SMALLINT",
                IntegerWidth::Medium => "MEDIUMINT",
                IntegerWidth::Int => "INT",
                IntegerWidth::Big => "BIGINT",
            },
            DataType::Decimal(_) => "DECIMAL",
            DataType::Float(_) => "FLOAT",
            DataType::Double(_) => "DOUBLE",
            DataType::Bit { .. } => "BIT",
            DataType::Char { .. } => "CHAR",
            DataType::VarChar { .. } => "VARCHAR",
            DataType::Binary { .. } => "BINARY",
            DataType::VarBinary { .. } => "VARBINARY",
            DataType::Text { size, .. } => match size {
                BlobSize::Tiny => "TINYTEXT",
                BlobSize::Normal => "TEXT",
                BlobSize::Medium => "MEDIUMTEXT",
                BlobSize::Long => "LONGTEXT",
            },
            DataType::Blob { size } => match size {
                BlobSize::Tiny => "TINYBLOB",
                BlobSize::Normal => "BLOB",
                BlobSize::Medium => "MEDIUMBLOB",
                BlobSize::Long => "LONGBLOB",
            },
            DataType::Json => "LONGTEXT",
            DataType::Date => "DATE",
            DataType::Time { .. } => "TIME",
            DataType::DateTime { .. } => "DATETIME",
            DataType::Timestamp { .. } => "TIMESTAMP",
            DataType::Year => "YEAR",
            DataType::Enum { .. } => "ENUM",
            DataType::Set { .. } => "SET",
            DataType::FixedBinary(t) => t.keyword(),
        }
    }

    /// Returns the type number in a result set's column definition.
    pub fn field_type(&self) -> FieldType {
        match self {
            DataType::Integer(t) => match t.width {
                IntegerWidth::Tiny => FieldType::Tiny,
                IntegerWidth::Small => FieldType::Short,
                IntegerWidth::Medium => FieldType::Int24,
                IntegerWidth::Int => FieldType::Long,
                IntegerWidth::Big => FieldType::LongLong,
            },
            DataType::Decimal(_) => FieldType::NewDecimal,
            DataType::Float(_) => FieldType::Float,
            DataType::Double(_) => FieldType::Double,
            DataType::Bit { .. } => FieldType::Bit,
            DataType::Char { .. }
            | DataType::Binary { .. }
            | DataType::Enum { .. }
            | DataType::Set { .. }
            | DataType::FixedBinary(_) => FieldType::String,
            DataType::VarChar { .. } | DataType::VarBinary { .. } => FieldType::VarString,
            DataType::Text { .. } | DataType::Blob { .. } | DataType::Json => FieldType::Blob,
            DataType::Date => FieldType::Date,
            DataType::Time { .. } => FieldType::Time,
            DataType::DateTime { .. } => FieldType::DateTime,
            DataType::Timestamp { .. } => FieldType::Timestamp,
            DataType::Year => FieldType::Year,
        }
    }

    /// Returns the number of decimals in a result set's column definition: 31 if not fixed (FLOAT, DOUBLE).
    pub fn decimals(&self) -> u8 {
        match self {
            DataType::Decimal(t) => t.scale,
            DataType::Float(t) | DataType::Double(t) => t.fixed.map_or(31, |fixed| fixed.scale),
            DataType::Time { decimals }
            | DataType::DateTime { decimals }
            | DataType::Timestamp { decimals } => *decimals,
            _ => 0,
        }
    }

    /// Returns the display length in a result set's column definition, if a character of text is sent with at most
    /// `result_bytes_per_character` bytes (4 for a client that uses utf8mb4).
    pub fn display_length(&self, result_bytes_per_character: u32) -> u32 {
        let characters = |count: u64| {
            let count = count.saturating_mul(u64::from(result_bytes_per_character));
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let fraction = |decimals: u8| {
            if decimals > 0 { u32::from(decimals) + 1 } else { 0 }
        };
        match self {
            DataType::Integer(t) => u32::from(t.display_width),
            DataType::Decimal(t) => {
                u32::from(t.precision) + u32::from(t.scale > 0) + u32::from(t.sign == Sign::Signed)
            }
            DataType::Float(t) => t.fixed.map_or(12, |fixed| u32::from(fixed.precision)),
            DataType::Double(t) => t.fixed.map_or(22, |fixed| u32::from(fixed.precision)),
            DataType::Bit { length } => u32::from(*length),
            DataType::Char { length, .. } => characters(u64::from(*length)),
            DataType::VarChar { length, .. } => characters(u64::from(*length)),
            DataType::Binary { length } => u32::from(*length),
            DataType::VarBinary { length } => *length,
            DataType::Text { size, collation } => {
                characters(size.max_bytes() / u64::from(collation.charset().max_bytes_per_character()))
            }
            DataType::Blob { size } => u32::try_from(size.max_bytes()).unwrap_or(u32::MAX),
            DataType::Json => u32::MAX,
            DataType::Date => 10,
            DataType::Time { decimals } => 10 + fraction(*decimals),
            DataType::DateTime { decimals } | DataType::Timestamp { decimals } => 19 + fraction(*decimals),
            DataType::Year => 4,
            DataType::Enum { labels, .. } => characters(
                labels
                    .iter()
                    .map(|label| label.chars().count() as u64)
                    .max()
                    .unwrap_or(0),
            ),
            DataType::Set { labels, .. } => {
                let all: u64 = labels.iter().map(|label| label.chars().count() as u64).sum();
                characters(all + (labels.len() as u64).saturating_sub(1))
            }
            DataType::FixedBinary(t) => characters(t.characters_max() as u64),
        }
    }

    /// Returns the flags that follow from the type alone. The table adds those of keys and nullability.
    pub fn column_flags(&self) -> u16 {
        use column_flags::*;
        let mut flags = 0;
        if self.is_numeric() && !matches!(self, DataType::Bit { .. }) {
            flags |= NUM;
        }
        if self.is_unsigned() {
            flags |= UNSIGNED;
        }
        if self.is_zerofill() {
            flags |= ZEROFILL;
        }
        match self {
            DataType::Text { collation, .. } => flags |= BLOB | if collation.is_bin() { BINARY } else { 0 },
            DataType::Char { collation, .. } | DataType::VarChar { collation, .. } if collation.is_bin() => {
                flags |= BINARY
            }
            DataType::Json => flags |= BLOB | BINARY,
            DataType::Blob { .. } => flags |= BLOB | BINARY,
            DataType::Binary { .. } | DataType::VarBinary { .. } => flags |= BINARY,
            DataType::Enum { .. } => flags |= ENUM,
            DataType::Set { .. } => flags |= SET,
            DataType::Date | DataType::Time { .. } | DataType::DateTime { .. } => flags |= BINARY,
            DataType::Timestamp { .. } | DataType::FixedBinary(_) => flags |= BINARY | UNSIGNED,
            _ => {}
        }
        flags
    }
}

/// Writes a label as a string literal.
fn quoted(f: &mut fmt::Formatter<'_>, label: &str) -> fmt::Result {
    write!(f, "'{}'", label.replace('\'', "''"))
}

/// Writes the type as in `SHOW CREATE TABLE` and `information_schema.columns.column_type`, without character set and
/// collation.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = |f: &mut fmt::Formatter<'_>, decimals: u8| {
            if decimals > 0 {
                write!(f, "({decimals})")
            } else {
                Ok(())
            }
        };
        match self {
            DataType::Integer(t) => write!(f, "{}({})", self.name().to_ascii_lowercase(), t.display_width)?,
            DataType::Decimal(t) => write!(f, "decimal({},{})", t.precision, t.scale)?,
            DataType::Float(t) | DataType::Double(t) => {
                f.write_str(if matches!(self, DataType::Float(_)) {
                    "float"
                } else {
                    "double"
                })?;
                if let Some(fixed) = t.fixed {
                    write!(f, "({},{})", fixed.precision, fixed.scale)?;
                }
            }
            DataType::Bit { length } => write!(f, "bit({length})")?,
            DataType::Char { length, .. } => write!(f, "char({length})")?,
            DataType::VarChar { length, .. } => write!(f, "varchar({length})")?,
            DataType::Binary { length } => write!(f, "binary({length})")?,
            DataType::VarBinary { length } => write!(f, "varbinary({length})")?,
            DataType::Time { decimals } => {
                f.write_str("time")?;
                fraction(f, *decimals)?;
            }
            DataType::DateTime { decimals } => {
                f.write_str("datetime")?;
                fraction(f, *decimals)?;
            }
            DataType::Timestamp { decimals } => {
                f.write_str("timestamp")?;
                fraction(f, *decimals)?;
            }
            DataType::Year => return f.write_str("year(4)"),
            DataType::Enum { labels, .. } | DataType::Set { labels, .. } => {
                f.write_str(if matches!(self, DataType::Enum { .. }) {
                    "enum("
                } else {
                    "set("
                })?;
                for (n, label) in labels.iter().enumerate() {
                    if n > 0 {
                        f.write_str(",")?;
                    }
                    quoted(f, label)?;
                }
                f.write_str(")")?;
            }
            _ => f.write_str(&self.name().to_ascii_lowercase())?,
        }
        match self {
            DataType::Bit { .. } => {}
            _ if self.is_unsigned() => f.write_str(" unsigned")?,
            _ => {}
        }
        if self.is_zerofill() {
            f.write_str(" zerofill")?;
        }
        Ok(())
    }
}
