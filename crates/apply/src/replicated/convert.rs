//! Conversion of a primary's columns to ours, where they differ.
//!
//! Columns correspond by position, as in MariaDB 10.11: the primary's first is our first. Surplus columns of the
//! primary are skipped; surplus columns of ours get their defaults. Where types differ, `slave_type_conversions`
//! decides what is allowed (MariaDB's `Field::rpl_conv_type_from`):
//!
//! | conversion | allowed |
//! |---|---|
//! | to the same type | always |
//! | into a type that holds all values of the source type | `ALL_NON_LOSSY` |
//! | into a type that does not | `ALL_LOSSY` |
//! | between unrelated kinds of types | never: 1677 |
//!
//! A table map does not contain signs, character sets or labels. (`binlog_row_metadata` may add them, but MariaDB does
//! not look at them here.) They are taken from our columns.

use super::failure::Failure;
use super::legacy_columns::{LegacyFormat, StandIns};
use paceline_binlog::event::TableMapEvent;
use paceline_catalog::TableDefinition;
use paceline_types::convert::{self, ConvertContext};
use paceline_types::error_code::{ER_SLAVE_CONVERSION_FAILED, ER_SLAVE_CORRUPT_EVENT};
use paceline_types::table_map_metadata::decode_columns;
use paceline_types::temporal::DateModes;
use paceline_types::{DataType, DateTime, IntegerType, Sign, TimeZone, Value};
use std::cmp::Ordering;

/// Conversions that `slave_type_conversions` allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TypeConversions(pub u8);

impl TypeConversions {
    /// No conversion: types must be the same.
    pub const NONE: Self = Self(0);
    /// Conversions into types that do not hold all values.
    pub const ALL_LOSSY: Self = Self(1);
    /// Conversions into types that hold all values.
    pub const ALL_NON_LOSSY: Self = Self(2);

    /// Returns the union of both sets.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the set for the variable's value: one bit for each word, in the order of the constants.
    pub const fn from_bits(bits: u64) -> Self {
        Self((bits & 3) as u8)
    }

    fn allow(self, conversion: Conversion) -> bool {
        match conversion {
            Conversion::Same => true,
            Conversion::Wider => self.0 & Self::ALL_NON_LOSSY.0 != 0,
            Conversion::Narrower => self.0 & Self::ALL_LOSSY.0 != 0,
            Conversion::Impossible => false,
        }
    }
}

/// Kind of conversion from a primary's type to ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Conversion {
    Same,
    Wider,
    Narrower,
    Impossible,
}

impl From<Ordering> for Conversion {
    /// `order` compares the size of the primary's type with ours.
    fn from(order: Ordering) -> Self {
        match order {
            Ordering::Less => Conversion::Wider,
            Ordering::Equal => Conversion::Same,
            Ordering::Greater => Conversion::Narrower,
        }
    }
}

/// Treatment of one of the primary's columns.
#[derive(Debug)]
enum ColumnUse {
    /// Used, converted if necessary.
    Used,
    /// Skipped: our table has no such column.
    Skipped,
    /// Not convertible: an event that contains the column fails with 1677 and this message.
    Unconvertible(String),
}

/// The columns of a primary's table, where they differ from ours.
#[derive(Debug)]
pub(super) struct ColumnConversions {
    /// The primary's types, derived from the table map and our own types; stand-ins for types that we do not have.
    types: Vec<DataType>,
    columns: Vec<ColumnUse>,
    legacy: Vec<Option<LegacyFormat>>,
}

impl ColumnConversions {
    pub(super) fn new(
        map: &TableMapEvent<'_>,
        definition: &TableDefinition,
        allowed: TypeConversions,
    ) -> Result<Self, Failure> {
        let StandIns {
            codes,
            metadata,
            legacy,
        } = StandIns::of(map, definition);
        let decoded = decode_columns(&codes, &metadata, &[]).map_err(|error| {
            Failure::new(
                ER_SLAVE_CORRUPT_EVENT,
                format!(
                    "In RBR mode, Slave received an unknown column type for table {}.{}: {error}",
                    definition.database(),
                    definition.name()
                ),
            )
        })?;
        let mut types = decoded.to_vec();
        let mut columns = Vec::with_capacity(types.len());
        for (number, stand_in) in types.iter_mut().enumerate() {
            let Some(column) = definition.columns().get(number) else {
                columns.push(ColumnUse::Skipped);
                continue;
            };
            let target = &column.data_type;
            let source = match legacy[number] {
                Some(legacy) => &mut legacy.data_type(stand_in),
                None => stand_in,
            };
            let conversion = conversion(source, target);
            columns.push(match allowed.allow(conversion) {
                true => ColumnUse::Used,
                false => ColumnUse::Unconvertible(ER_SLAVE_CONVERSION_FAILED.message(&[
                    &number,
                    &definition.database(),
                    &definition.name(),
                    &source_name(source, target),
                    &target_name(target),
                ])),
            });
            adapt(source, target);
        }
        Ok(ColumnConversions {
            types,
            columns,
            legacy,
        })
    }

    /// Returns the value of a column. `value` is the result of decoding with the column's type in
    /// [`ColumnConversions::types`].
    ///
    /// # Errors
    /// 1610 for bytes that no server writes.
    pub(super) fn read(&self, column: usize, value: Value) -> Result<Value, Failure> {
        match self.legacy.get(column) {
            Some(Some(legacy)) => legacy.read(value),
            _ => Ok(value),
        }
    }

    /// Returns the primary's types.
    pub(super) fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Returns whether a column of the primary exists in our table.
    ///
    /// # Errors
    /// 1677 if the conversion is not allowed.
    pub(super) fn is_used(&self, column: usize) -> Result<bool, Failure> {
        match self.columns.get(column) {
            Some(ColumnUse::Used) => Ok(true),
            Some(ColumnUse::Skipped) | None => Ok(false),
            Some(ColumnUse::Unconvertible(message)) => {
                Err(Failure::new(ER_SLAVE_CONVERSION_FAILED, message.as_str()))
            }
        }
    }
}

/// Completes a primary's type with properties of our type that a table map does not contain. Does not change the length
/// of its values.
fn adapt(source: &mut DataType, target: &DataType) {
    match (&mut *source, target) {
        (DataType::Integer(source), DataType::Integer(target)) => {
            *source = IntegerType::new(source.width, target.sign);
        }
        (DataType::Enum { labels, .. }, DataType::Enum { labels: ours, .. })
        | (DataType::Set { labels, .. }, DataType::Set { labels: ours, .. })
            if labels.len() > 255 || ours.len() <= labels.len() =>
        {
            *labels = ours.clone();
        }
        // As BINARY of as many bytes.
        (DataType::Binary { length }, DataType::FixedBinary(t)) if usize::from(*length) == t.bytes() => {
            *source = target.clone();
        }
        // Not padded with zeros: the bytes may be text.
        (DataType::Binary { length }, target) if !target.is_binary_string() => {
            *source = DataType::VarBinary {
                length: u32::from(*length),
            };
        }
        _ => {}
    }
}

/// Returns the maximum length of a string type in bytes; `None` for other types.
fn string_bytes(data_type: &DataType) -> Option<u64> {
    Some(match data_type {
        DataType::Char { .. } | DataType::VarChar { .. } => {
            data_type.max_characters()? * u64::from(data_type.charset().max_bytes_per_character())
        }
        DataType::Binary { length } => u64::from(*length),
        DataType::VarBinary { length } => u64::from(*length),
        DataType::Text { size, .. } | DataType::Blob { size } => (1u64 << (8 * size.length_bytes())) - 1,
        DataType::Json => u64::from(u32::MAX),
        _ => return None,
    })
}

/// Returns a number for the MariaDB string type, as far as a table map distinguishes them.
fn string_kind(data_type: &DataType) -> u8 {
    match data_type {
        DataType::Char { .. } | DataType::Binary { .. } => 0,
        DataType::VarChar { .. } | DataType::VarBinary { .. } => 1,
        DataType::Text { size, .. } | DataType::Blob { size } => 2 + size.length_bytes() as u8,
        _ => 6,
    }
}

fn conversion(source: &DataType, target: &DataType) -> Conversion {
    if let DataType::FixedBinary(t) = target {
        return match source {
            DataType::Binary { length } if usize::from(*length) == t.bytes() => Conversion::Same,
            _ => Conversion::Impossible,
        };
    }
    if let (Some(source_bytes), Some(target_bytes)) = (string_bytes(source), string_bytes(target)) {
        let order = source_bytes.cmp(&target_bytes);
        return match string_kind(source) == string_kind(target) {
            true => order.into(),
            // Between different string types of the same length, a conversion is needed too.
            false if order == Ordering::Equal => Conversion::Wider,
            false => order.into(),
        };
    }
    match (source, target) {
        (DataType::Integer(source), DataType::Integer(target)) => {
            source.width.bytes().cmp(&target.width.bytes()).into()
        }
        (DataType::Decimal(source), DataType::Decimal(target)) => (source.precision, source.scale)
            .cmp(&(target.precision, target.scale))
            .into(),
        (DataType::Float(_) | DataType::Double(_), DataType::Decimal(_))
        | (DataType::Decimal(_), DataType::Float(_) | DataType::Double(_))
        | (DataType::Double(_), DataType::Float(_)) => Conversion::Narrower,
        (DataType::Float(_), DataType::Double(_)) => Conversion::Wider,
        (DataType::Float(_), DataType::Float(_))
        | (DataType::Double(_), DataType::Double(_))
        | (DataType::Year, DataType::Year)
        | (DataType::Date, DataType::Date) => Conversion::Same,
        (DataType::Bit { length: source }, DataType::Bit { length: target }) => source.cmp(target).into(),
        (DataType::Enum { labels: source, .. }, DataType::Enum { labels: target, .. }) => {
            (source.len() > 255).cmp(&(target.len() > 255)).into()
        }
        (DataType::Set { labels: source, .. }, DataType::Set { labels: target, .. }) => {
            source.len().div_ceil(8).cmp(&set_bytes(target.len())).into()
        }
        (DataType::Time { decimals: source }, DataType::Time { decimals: target })
        | (DataType::DateTime { decimals: source }, DataType::DateTime { decimals: target })
        | (DataType::Timestamp { decimals: source }, DataType::Timestamp { decimals: target }) => {
            source.cmp(target).into()
        }
        (DataType::DateTime { .. }, DataType::Date) => Conversion::Narrower,
        (DataType::Date, DataType::DateTime { .. }) => Conversion::Wider,
        _ => Conversion::Impossible,
    }
}

/// Returns the number of bytes of a SET value.
fn set_bytes(labels: usize) -> usize {
    match labels.div_ceil(8) {
        0 => 1,
        bytes @ 1..=4 => bytes,
        _ => 8,
    }
}

/// Converts a primary's value for a column of ours.
pub(super) fn convert(value: Value, target: &DataType) -> Value {
    let value = match value {
        Value::Bytes(bytes) if target.is_text() || matches!(target, DataType::Json) => {
            Value::Text(target.charset().decode(&bytes).into_owned())
        }
        value => value,
    };
    let context = ConvertContext {
        date_modes: DateModes::default(),
        time_zone: &TimeZone::UTC,
        now: DateTime::default(),
    };
    convert::assign(value, target, &context).value
}

/// Returns a primary's type as MariaDB's messages show it.
fn source_name(source: &DataType, target: &DataType) -> String {
    let is_binary = target.is_binary_string();
    match source {
        DataType::Char { .. } | DataType::Binary { .. } => {
            let bytes = string_bytes(source).unwrap_or(0);
            match is_binary {
                true => format!("binary({bytes})"),
                false => format!("char({bytes} octets)"),
            }
        }
        DataType::VarChar { .. } | DataType::VarBinary { .. } => {
            let bytes = string_bytes(source).unwrap_or(0);
            match is_binary {
                true => format!("varbinary({bytes})"),
                false => format!("varchar({bytes} octets)"),
            }
        }
        DataType::Decimal(decimal) => format!("decimal({},{})", decimal.precision, decimal.scale),
        DataType::Bit { length } => format!("bit({length})"),
        other => other.name().to_ascii_lowercase(),
    }
}

/// Returns our type as MariaDB's messages show it.
fn target_name(target: &DataType) -> String {
    match target {
        DataType::Char { collation, .. } => format!(
            "char({} octets) character set {}",
            string_bytes(target).unwrap_or(0),
            collation.charset().name()
        ),
        DataType::VarChar { collation, .. } => format!(
            "varchar({} octets) character set {}",
            string_bytes(target).unwrap_or(0),
            collation.charset().name()
        ),
        DataType::Integer(integer) => {
            let sign = match integer.sign {
                Sign::Unsigned => " unsigned",
                Sign::Signed => "",
            };
            format!(
                "{}({}){sign}",
                target.name().to_ascii_lowercase(),
                integer.display_width
            )
        }
        DataType::Decimal(decimal) => format!("decimal({},{})", decimal.precision, decimal.scale),
        DataType::Binary { length } => format!("binary({length})"),
        DataType::VarBinary { length } => format!("varbinary({length})"),
        DataType::Bit { length } => format!("bit({length})"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::{DecimalType, IntegerWidth};

    fn integer(width: IntegerWidth) -> DataType {
        DataType::Integer(IntegerType::new(width, Sign::Signed))
    }

    #[test]
    fn conversions_are_the_same_wider_narrower_or_impossible() {
        let binary = |length| DataType::VarBinary { length };
        let cases = [
            (
                integer(IntegerWidth::Int),
                integer(IntegerWidth::Big),
                Conversion::Wider,
            ),
            (
                integer(IntegerWidth::Big),
                integer(IntegerWidth::Tiny),
                Conversion::Narrower,
            ),
            (
                integer(IntegerWidth::Int),
                integer(IntegerWidth::Int),
                Conversion::Same,
            ),
            (integer(IntegerWidth::Int), binary(10), Conversion::Impossible),
            (binary(10), binary(20), Conversion::Wider),
            (binary(20), DataType::Binary { length: 20 }, Conversion::Wider),
            (binary(20), DataType::Binary { length: 10 }, Conversion::Narrower),
            (
                DataType::Decimal(DecimalType::new(10, 2)),
                DataType::Decimal(DecimalType::new(10, 4)),
                Conversion::Wider,
            ),
            (
                DataType::DateTime { decimals: 0 },
                DataType::Date,
                Conversion::Narrower,
            ),
            (
                DataType::Time { decimals: 3 },
                DataType::Time { decimals: 0 },
                Conversion::Narrower,
            ),
            (DataType::Year, integer(IntegerWidth::Int), Conversion::Impossible),
        ];
        for (source, target, expected) in cases {
            assert_eq!(conversion(&source, &target), expected, "{source:?} to {target:?}");
        }
    }

    #[test]
    fn the_bits_of_the_variable_allow_conversions() {
        let both = TypeConversions::ALL_LOSSY.with(TypeConversions::ALL_NON_LOSSY);
        let sets = [
            TypeConversions::NONE,
            TypeConversions::ALL_LOSSY,
            TypeConversions::ALL_NON_LOSSY,
            both,
        ];
        for (bits, set) in (0..).zip(sets) {
            assert_eq!(TypeConversions::from_bits(bits), set);
        }
        assert!(!TypeConversions::ALL_LOSSY.allow(Conversion::Wider));
        assert!(TypeConversions::NONE.allow(Conversion::Same));
        assert!(!TypeConversions(3).allow(Conversion::Impossible));
    }
}
