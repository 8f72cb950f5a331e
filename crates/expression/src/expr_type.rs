//! The type of an expression: a column type with properties that only expressions have (nullability,
//! coercibility).

use paceline_types::data_type::{DecimalType, FieldType, FloatType, IntegerType, IntegerWidth, Sign};
use paceline_types::{BlobSize, Charset, Collation, DataType, FixedBinaryType, FixedPoint, Value};

/// Precedence of an expression's collation when texts are combined (MariaDB's `DERIVATION_*`, with the
/// numbers of `COERCIBILITY()`). The lowest number wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coercibility {
    /// An explicit `COLLATE`.
    Explicit = 0,
    /// A concatenation of texts whose collations do not mix.
    None = 1,
    /// A column.
    Implicit = 2,
    /// `USER()`, `@@version`.
    SystemConstant = 3,
    /// A literal, a parameter, a user variable.
    Coercible = 4,
    /// A number or a date.
    Numeric = 5,
    /// NULL.
    Ignorable = 6,
}

/// Characters that an expression's texts can contain (MariaDB's `MY_REPERTOIRE_*`). ASCII text can be
/// converted to any character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repertoire {
    /// ASCII characters only.
    Ascii,
    /// Any characters.
    Full,
}

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprType {
    /// Data type: kind of values, length, collation.
    pub data_type: DataType,
    /// Whether the value can be NULL.
    pub nullable: bool,
    /// Precedence of the collation.
    pub coercibility: Coercibility,
    /// Characters that the texts can contain.
    pub repertoire: Repertoire,
    /// Special property.
    pub note: TypeNote,
}

/// Special property of an expression's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TypeNote {
    /// None.
    #[default]
    Plain,
    /// The literal NULL.
    Null,
    /// A parameter whose value decides the type during execution.
    Parameter,
    /// A hexadecimal or bit literal: a number in numeric context, bytes elsewhere.
    HexLiteral,
    /// A text or bytes of a user variable: LONGTEXT, but functions of it are as long as MEDIUMTEXT.
    UserVariable,
    /// An integer literal without a sign: all of its characters are digits.
    Digits,
    /// JSON made by a function: it is embedded in other JSON without quotes.
    Json,
    /// The result of a comparison or of a logical operator.
    Boolean,
    /// Text of a date or time with this number of fractional digits.
    Fraction(u8),
}

/// Class of arithmetic or comparison that a type belongs to (MariaDB's `Item_result`, with separate temporal
/// types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// NULL: adopts the class of the other operand.
    Null,
    /// 64-bit integers, YEAR, BIT.
    Int,
    /// Exact decimals.
    Decimal,
    /// FLOAT and DOUBLE.
    Double,
    /// Text and bytes, ENUM and SET.
    String,
    /// DATE.
    Date,
    /// TIME.
    Time,
    /// DATETIME and TIMESTAMP.
    DateTime,
    /// UUID, INET6, INET4: compared with its own type and with strings.
    FixedBinary(FixedBinaryType),
}

impl Class {
    /// Returns whether the class is DATE, TIME or DATETIME.
    pub const fn is_temporal(self) -> bool {
        matches!(self, Class::Date | Class::Time | Class::DateTime)
    }
}

impl ExprType {
    /// Returns the type of a column or function result with this data type. The coercibility depends on the
    /// data type.
    pub fn new(data_type: DataType) -> Self {
        let coercibility = if Self::is_string_type(&data_type) {
            Coercibility::Coercible
        } else {
            Coercibility::Numeric
        };
        let repertoire = match Self::is_string_type(&data_type) && data_type.charset() != Charset::Ascii {
            true => Repertoire::Full,
            false => Repertoire::Ascii,
        };
        ExprType {
            data_type,
            nullable: false,
            coercibility,
            repertoire,
            note: TypeNote::Plain,
        }
    }

    /// Returns the type of a table's column.
    pub fn of_column(data_type: DataType, nullable: bool) -> Self {
        ExprType {
            coercibility: Coercibility::Implicit,
            nullable,
            ..Self::new(data_type)
        }
    }

    fn is_string_type(data_type: &DataType) -> bool {
        data_type.is_text()
            || data_type.is_binary_string()
            || matches!(data_type, DataType::Enum { .. } | DataType::Set { .. })
    }

    /// Returns the type of NULL.
    pub fn null() -> Self {
        ExprType {
            data_type: DataType::VarBinary { length: 0 },
            nullable: true,
            coercibility: Coercibility::Ignorable,
            repertoire: Repertoire::Ascii,
            note: TypeNote::Null,
        }
    }

    /// Returns the type of a `?` whose value is not known yet.
    pub fn parameter() -> Self {
        ExprType {
            data_type: DataType::VarBinary { length: 0 },
            nullable: true,
            coercibility: Coercibility::Coercible,
            repertoire: Repertoire::Full,
            note: TypeNote::Parameter,
        }
    }

    /// Returns the type of a parameter's value or of a literal. Text has the given collation.
    pub fn of_value(value: &Value, collation: Collation) -> Self {
        let width = |digits: usize| digits.min(20) as u8;
        match value {
            Value::Null => Self::null(),
            Value::Int(number) => Self::int(width(number.to_string().len())),
            Value::UInt(number) if i64::try_from(*number).is_ok() => {
                Self::int(width(number.to_string().len()))
            }
            Value::UInt(_) => Self::bigint_unsigned(20),
            Value::Float(_) => Self::new(DataType::Float(FloatType::default())),
            Value::Double(_) => Self::double(),
            Value::Decimal(number) => Self::decimal(u32::from(number.precision()), u32::from(number.scale())),
            Value::Text(text) => Self::literal_text(text, collation),
            Value::Bytes(bytes) => Self::bytes(bytes.len() as u64),
            Value::Date(_) => Self::date(),
            Value::Time(time) => Self::time(time.decimals()),
            Value::DateTime(datetime) => Self::datetime(datetime.decimals),
            Value::Timestamp(timestamp) => Self::datetime(timestamp.decimals),
            Value::Year(_) => Self::new(DataType::Year),
            Value::Bit(bits) => Self::new(DataType::Bit { length: bits.length }),
            Value::Enum(value) => Self::new(DataType::Enum {
                labels: value.labels.clone(),
                collation,
            }),
            Value::Set(value) => Self::new(DataType::Set {
                labels: value.labels.clone(),
                collation,
            }),
            Value::FixedBinary(value) => Self::new(DataType::FixedBinary(value.data_type())),
        }
    }

    /// Returns BIGINT with this display width.
    pub fn bigint(display_width: u8) -> Self {
        Self::new(DataType::Integer(IntegerType {
            display_width,
            ..IntegerType::new(IntegerWidth::Big, Sign::Signed)
        }))
    }

    /// Returns BIGINT UNSIGNED with this display width.
    pub fn bigint_unsigned(display_width: u8) -> Self {
        Self::new(DataType::Integer(IntegerType {
            display_width,
            ..IntegerType::new(IntegerWidth::Big, Sign::Unsigned)
        }))
    }

    /// Returns the type of an integer of up to `display_width` characters: INT if every such integer fits,
    /// else BIGINT.
    pub fn int(display_width: u8) -> Self {
        let width = if display_width < 10 {
            IntegerWidth::Int
        } else {
            IntegerWidth::Big
        };
        Self::new(DataType::Integer(IntegerType {
            display_width,
            ..IntegerType::new(width, Sign::Signed)
        }))
    }

    /// Returns the type of an unsigned integer of up to `display_width` characters: INT UNSIGNED for 10, else BIGINT
    /// UNSIGNED.
    pub fn int_unsigned(display_width: u8) -> Self {
        let width = if display_width <= 10 {
            IntegerWidth::Int
        } else {
            IntegerWidth::Big
        };
        Self::new(DataType::Integer(IntegerType {
            display_width,
            ..IntegerType::new(width, Sign::Unsigned)
        }))
    }

    /// Returns the type of a hexadecimal literal of this many bytes as a number: as many digits as the greatest number
    /// of these bytes has.
    pub(crate) fn hex_number(bytes: usize) -> Self {
        const DIGITS: [u8; 9] = [1, 3, 5, 8, 10, 13, 15, 17, 20];
        let display_width = DIGITS[bytes.min(8)];
        let width = match display_width < 10 {
            true => IntegerWidth::Int,
            false => IntegerWidth::Big,
        };
        Self::new(DataType::Integer(IntegerType {
            display_width,
            ..IntegerType::new(width, Sign::Unsigned)
        }))
    }

    /// Returns INT, whatever the display width.
    pub(crate) fn int32(display_width: u8) -> Self {
        Self::new(DataType::Integer(IntegerType {
            display_width,
            ..IntegerType::new(IntegerWidth::Int, Sign::Signed)
        }))
    }

    /// Returns the type of an integer literal of so many digits.
    pub(crate) fn integer_literal(digits: u8, sign: Sign) -> Self {
        let ty = match sign {
            Sign::Signed => Self::int(digits),
            Sign::Unsigned => Self::bigint_unsigned(digits),
        };
        ExprType {
            note: TypeNote::Digits,
            ..ty
        }
    }

    /// Returns the type of a comparison: INT(1).
    pub fn boolean() -> Self {
        ExprType {
            note: TypeNote::Boolean,
            ..Self::int(1)
        }
    }

    /// Returns DOUBLE without fixed decimals.
    pub fn double() -> Self {
        Self::new(DataType::Double(FloatType::default()))
    }

    /// Returns DOUBLE with this number of decimals, if they are fixed.
    pub fn double_with(decimals: u8) -> Self {
        if decimals > 30 {
            return Self::double();
        }
        Self::new(DataType::Double(FloatType {
            fixed: Some(FixedPoint {
                precision: 17 + decimals,
                scale: decimals,
            }),
            ..FloatType::default()
        }))
    }

    /// Returns DECIMAL(precision, scale), with both limited to what DECIMAL allows.
    pub fn decimal(precision: u32, scale: u32) -> Self {
        let scale = scale.min(38) as u8;
        let precision = precision.clamp(1, 65).max(u32::from(scale)) as u8;
        Self::new(DataType::Decimal(DecimalType::new(precision, scale)))
    }

    /// Returns the type of text of up to `characters` characters: VARCHAR, or the TEXT type that MariaDB
    /// chooses for longer results.
    pub fn text(characters: u64, collation: Collation) -> Self {
        if collation == Collation::Binary {
            return Self::bytes(characters);
        }
        let bytes = characters.saturating_mul(u64::from(collation.charset().max_bytes_per_character()));
        let data_type = match bytes {
            0..=65_535 => DataType::VarChar {
                length: characters as u32,
                collation,
            },
            65_536..=16_777_215 => DataType::Text {
                size: BlobSize::Medium,
                collation,
            },
            _ => DataType::Text {
                size: BlobSize::Long,
                collation,
            },
        };
        Self::new(data_type)
    }

    /// Returns the type of a string literal.
    pub fn literal_text(text: &str, collation: Collation) -> Self {
        let ty = Self::text(text.chars().count() as u64, collation);
        match text.is_ascii() && collation != Collation::Binary {
            true => ty.with_repertoire(Repertoire::Ascii),
            false => ty,
        }
    }

    /// Returns the TEXT or BLOB type that is large enough for this number of characters.
    pub fn long_text(characters: u64, collation: Collation) -> Self {
        let bytes = characters.saturating_mul(u64::from(collation.charset().max_bytes_per_character()));
        let size = BlobSize::fitting(bytes);
        Self::new(match collation {
            Collation::Binary => DataType::Blob { size },
            collation => DataType::Text { size, collation },
        })
    }

    /// Returns whether the value is JSON: a JSON column, or JSON made by a function.
    pub fn is_json(&self) -> bool {
        matches!(self.data_type, DataType::Json) || self.note == TypeNote::Json
    }

    /// Returns whether the type is TEXT or BLOB of any size.
    pub(crate) fn is_long_text(&self) -> bool {
        matches!(
            self.data_type,
            DataType::Text { .. } | DataType::Blob { .. } | DataType::Json
        )
    }

    /// Returns the type of a binary string of up to `length` bytes.
    pub fn bytes(length: u64) -> Self {
        Self::new(match length {
            0..=65_535 => DataType::VarBinary {
                length: length as u32,
            },
            65_536..=16_777_215 => DataType::Blob {
                size: BlobSize::Medium,
            },
            _ => DataType::Blob { size: BlobSize::Long },
        })
    }

    /// Returns DATE.
    pub fn date() -> Self {
        Self::new(DataType::Date)
    }

    /// Returns TIME(decimals).
    pub fn time(decimals: u8) -> Self {
        Self::new(DataType::Time {
            decimals: decimals.min(6),
        })
    }

    /// Returns DATETIME(decimals).
    pub fn datetime(decimals: u8) -> Self {
        Self::new(DataType::DateTime {
            decimals: decimals.min(6),
        })
    }

    /// Returns the type, nullable.
    #[must_use]
    pub fn nullable(self) -> Self {
        ExprType {
            nullable: true,
            ..self
        }
    }

    /// Returns the type with this nullability.
    #[must_use]
    pub fn with_nullable(self, nullable: bool) -> Self {
        ExprType { nullable, ..self }
    }

    /// Returns the type with this coercibility.
    #[must_use]
    pub(crate) fn with_coercibility(self, coercibility: Coercibility) -> Self {
        ExprType { coercibility, ..self }
    }

    /// Returns the type with this repertoire.
    #[must_use]
    pub(crate) fn with_repertoire(self, repertoire: Repertoire) -> Self {
        ExprType { repertoire, ..self }
    }

    /// Returns whether this is the type of the literal NULL.
    pub fn is_null(&self) -> bool {
        self.note == TypeNote::Null
    }

    /// Returns whether this is the type of a parameter without a value.
    pub fn is_parameter(&self) -> bool {
        self.note == TypeNote::Parameter
    }

    /// Returns the class of arithmetic or comparison.
    pub fn class(&self) -> Class {
        if self.note == TypeNote::Null {
            return Class::Null;
        }
        match &self.data_type {
            DataType::Integer(_) | DataType::Bit { .. } | DataType::Year => Class::Int,
            DataType::Decimal(_) => Class::Decimal,
            DataType::Float(_) | DataType::Double(_) => Class::Double,
            DataType::Date => Class::Date,
            DataType::Time { .. } => Class::Time,
            DataType::DateTime { .. } | DataType::Timestamp { .. } => Class::DateTime,
            DataType::FixedBinary(t) => Class::FixedBinary(*t),
            _ => Class::String,
        }
    }

    /// Returns whether numbers of this type are unsigned, as those of TIMESTAMP columns are.
    pub fn is_unsigned(&self) -> bool {
        let is_timestamp = matches!(self.data_type, DataType::Timestamp { .. }) && self.is_column();
        is_timestamp || self.data_type.is_unsigned()
    }

    /// Returns the number of digits after the point; 31 or more means that it is not fixed, as for DOUBLE.
    pub fn decimals(&self) -> u8 {
        match self.class() {
            Class::Null => 0,
            Class::String => NOT_FIXED_DECIMALS,
            _ => match self.data_type.decimals() {
                31 => NOT_FIXED_DECIMALS,
                decimals => decimals,
            },
        }
    }

    /// Returns the number of digits before the point in a DECIMAL that can hold the value
    /// (`decimal_int_part`).
    pub fn integer_digits(&self) -> u32 {
        match &self.data_type {
            DataType::Decimal(decimal) => u32::from(decimal.precision - decimal.scale),
            DataType::Integer(integer) => {
                let has_sign = !matches!(self.note, TypeNote::Digits | TypeNote::Boolean);
                let sign = u32::from(integer.sign == Sign::Signed && has_sign);
                self.display_width().saturating_sub(sign).max(1)
            }
            DataType::Year => 4,
            DataType::Bit { length } => u32::from(*length),
            DataType::Date => 8,
            DataType::Time { .. } => 7,
            DataType::DateTime { .. } | DataType::Timestamp { .. } => 14,
            DataType::Enum { .. } | DataType::Set { .. } => self.max_characters().clamp(1, 20) as u32,
            _ => 65 - 38,
        }
    }

    /// Returns the number of characters of a number or date. The width that a column is declared with does not limit
    /// its values.
    pub(crate) fn display_width(&self) -> u32 {
        match &self.data_type {
            DataType::Integer(integer) => {
                let declared = u32::from(integer.display_width);
                let is_unsigned = integer.sign == Sign::Unsigned;
                let values = match integer.width {
                    IntegerWidth::Tiny => 4 - u32::from(is_unsigned),
                    IntegerWidth::Small => 6 - u32::from(is_unsigned),
                    IntegerWidth::Medium => 9 - u32::from(is_unsigned),
                    IntegerWidth::Int => 11 - u32::from(is_unsigned),
                    IntegerWidth::Big => 20,
                };
                if self.is_column() {
                    declared.max(values)
                } else {
                    declared
                }
            }
            other => other.display_length(1),
        }
    }

    /// Returns the maximum length as text, in characters.
    pub fn max_characters(&self) -> u64 {
        let is_variable = matches!(self.note, TypeNote::UserVariable | TypeNote::Parameter);
        match &self.data_type {
            DataType::Text {
                size: BlobSize::Long, ..
            }
            | DataType::Blob { size: BlobSize::Long }
                if is_variable =>
            {
                BlobSize::Medium.max_bytes() / u64::from(self.charset().max_bytes_per_character())
            }
            // The result of a function on a short column can have as many characters as the column has bytes.
            // Longer text types keep their size.
            DataType::Text {
                size: size @ (BlobSize::Tiny | BlobSize::Normal),
                ..
            } => size.max_bytes(),
            DataType::Text { size, collation } => {
                size.max_bytes() / u64::from(collation.charset().max_bytes_per_character())
            }
            other => match other.max_characters() {
                Some(length) => length,
                None => u64::from(other.display_length(1)),
            },
        }
    }

    /// Returns the maximum length in bytes of the value's character set.
    pub fn max_bytes(&self) -> u64 {
        self.max_characters()
            .saturating_mul(u64::from(self.charset().max_bytes_per_character()))
    }

    /// Returns the collation of the value as text: its own, or the connection's for numbers and dates.
    pub fn collation(&self) -> Collation {
        self.data_type.collation()
    }

    /// Returns the collation as COLLATION() shows it. That of UUID, INET6 and INET4, whose texts are ASCII, is
    /// MariaDB's collation of numbers.
    pub(crate) fn shown_collation(&self) -> Collation {
        match self.data_type {
            DataType::FixedBinary(_) => Charset::Latin1.default_collation(),
            _ => self.collation(),
        }
    }

    /// Returns the character set of [`ExprType::collation`].
    pub fn charset(&self) -> Charset {
        self.data_type.charset()
    }

    /// Returns whether this is the type of a table's column, rather than of a computed value.
    pub fn is_column(&self) -> bool {
        self.coercibility == Coercibility::Implicit
    }

    /// Returns whether this is the type of a BIT column. The text of a BIT column is its bytes; that of a
    /// computed BIT is its digits.
    pub(crate) fn is_bit_column(&self) -> bool {
        matches!(self.data_type, DataType::Bit { .. }) && self.is_column()
    }

    /// Returns the type's name in errors 4078 and 4079.
    pub fn type_name(&self) -> &'static str {
        match (&self.data_type, self.note) {
            (_, TypeNote::Null) => "null",
            (_, TypeNote::HexLiteral) => "hex_hybrid",
            (_, TypeNote::Boolean) => "boolean",
            (DataType::Integer(integer), _) => match (integer.width, integer.sign) {
                (IntegerWidth::Tiny, Sign::Signed) => "tinyint",
                (IntegerWidth::Tiny, Sign::Unsigned) => "tinyint unsigned",
                (IntegerWidth::Small, Sign::Signed) => "smallint",
                (IntegerWidth::Small, Sign::Unsigned) => "smallint unsigned",
                (IntegerWidth::Medium, Sign::Signed) => "mediumint",
                (IntegerWidth::Medium, Sign::Unsigned) => "mediumint unsigned",
                (IntegerWidth::Int, Sign::Signed) => "int",
                (IntegerWidth::Int, Sign::Unsigned) => "int unsigned",
                (IntegerWidth::Big, Sign::Signed) => "bigint",
                (IntegerWidth::Big, Sign::Unsigned) => "bigint unsigned",
            },
            (DataType::Decimal(_), _) => "decimal",
            (DataType::Float(_), _) => "float",
            (DataType::Double(_), _) => "double",
            (DataType::Bit { .. }, _) => "bit",
            (DataType::Year, _) => "year",
            (DataType::Date, _) => "date",
            (DataType::Time { .. }, _) => "time",
            (DataType::DateTime { .. }, _) => "datetime",
            (DataType::Timestamp { .. }, _) => "timestamp",
            (DataType::Enum { .. }, _) => "enum",
            (DataType::Set { .. }, _) => "set",
            (DataType::FixedBinary(t), _) => t.name(),
            (DataType::Char { .. }, _) => "char",
            (DataType::Binary { .. }, _) => "binary",
            (DataType::VarBinary { .. }, _) => "varbinary",
            (DataType::Text { size, .. } | DataType::Blob { size }, _) => match size {
                BlobSize::Tiny => "tinyblob",
                BlobSize::Normal => "blob",
                BlobSize::Medium => "mediumblob",
                BlobSize::Long => "longblob",
            },
            (DataType::Json, _) => "json",
            (DataType::VarChar { .. }, _) => "varchar",
        }
    }

    /// Returns the type number in a result set's column definition.
    pub fn field_type(&self) -> FieldType {
        if self.is_null() {
            FieldType::Null
        } else {
            self.data_type.field_type()
        }
    }

    /// Returns the flags in a result set's column definition, except those of keys and defaults, which the
    /// table adds.
    pub fn column_flags(&self) -> u16 {
        use paceline_types::data_type::column_flags::{BINARY, NOT_NULL, NUM, UNSIGNED};
        let mut flags = self.data_type.column_flags() & !NUM;
        if !self.nullable {
            flags |= NOT_NULL;
        }
        if self.note == TypeNote::HexLiteral {
            flags |= UNSIGNED;
        }
        match self.data_type {
            _ if self.is_column() => {}
            DataType::FixedBinary(_) => flags &= !BINARY,
            _ if self.data_type.is_text() => {}
            _ => flags |= BINARY,
        }
        flags
    }

    /// Returns the decimals in a result set's column definition: 31 for FLOAT and DOUBLE without fixed
    /// decimals, 39 for computed text, 0 for text columns.
    pub fn wire_decimals(&self) -> u8 {
        match self.class() {
            Class::Null => 0,
            Class::String if self.is_column() => 0,
            Class::String => NOT_FIXED_DECIMALS,
            Class::Double if self.data_type.decimals() == 31 => 31,
            _ => self.data_type.decimals(),
        }
    }

    /// Returns the collation in a result set's column definition if text is sent in `results`: `binary` for
    /// everything that is not text, except UUID, INET6 and INET4.
    pub fn wire_collation(&self, results: Collation) -> Collation {
        match self.collation() {
            _ if matches!(self.data_type, DataType::FixedBinary(_)) => results,
            Collation::Binary => Collation::Binary,
            _ => results,
        }
    }

    /// Returns the length in a result set's column definition if text is sent with up to
    /// `bytes_per_character` bytes per character.
    pub fn display_length(&self, bytes_per_character: u32) -> u32 {
        if self.is_null() {
            0
        } else {
            self.data_type.display_length(bytes_per_character)
        }
    }
}

/// MariaDB's `NOT_FIXED_DEC`.
pub const NOT_FIXED_DECIMALS: u8 = 39;
