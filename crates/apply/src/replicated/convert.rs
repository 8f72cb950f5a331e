//! A primary's columns that are not ours: what can be made of them.
//!
//! Columns go by their place, as MariaDB 10.11's do: the primary's first is our first. What the primary has more is passed over, what we have more
//! gets its default. Where types differ, `slave_type_conversions` says what is allowed (MariaDB's `Field::rpl_conv_type_from`):
//!
//! | conversion | allowed |
//! |---|---|
//! | to the same type | always |
//! | into a type that holds all values of the other | `ALL_NON_LOSSY` |
//! | into a type that does not | `ALL_LOSSY` |
//! | between kinds that have nothing in common | never: 1677 |
//!
//! A table map tells neither signs nor character sets nor labels (unless `binlog_row_metadata` says so, which MariaDB does not look at here): those
//! are taken to be ours.

use super::failure::Failure;
use super::older::{Older, StandIns};
use paceline_binlog::event::TableMapEvent;
use paceline_sql::catalog::TableDefinition;
use paceline_types::convert::{self, ConvertContext};
use paceline_types::error_code::{ER_SLAVE_CONVERSION_FAILED, ER_SLAVE_CORRUPT_EVENT};
use paceline_types::table_map_metadata::decode_columns;
use paceline_types::temporal::DateModes;
use paceline_types::{DataType, DateTime, IntegerType, Sign, TimeZone, Value};
use std::cmp::Ordering;

/// `slave_type_conversions`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TypeConversions(pub u8);

impl TypeConversions {
    /// None: types must be the same.
    pub const NONE: Self = Self(0);
    /// Into types that do not hold all values.
    pub const ALL_LOSSY: Self = Self(1);
    /// Into types that hold all values.
    pub const ALL_NON_LOSSY: Self = Self(2);

    /// Both sets together.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set that the variable's value is: a bit for each of its words, in their order here.
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

/// What it takes to get from a primary's type to ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Conversion {
    Same,
    Wider,
    Narrower,
    Impossible,
}

impl From<Ordering> for Conversion {
    /// Of the primary's size to ours.
    fn from(order: Ordering) -> Self {
        match order {
            Ordering::Less => Conversion::Wider,
            Ordering::Equal => Conversion::Same,
            Ordering::Greater => Conversion::Narrower,
        }
    }
}

/// What becomes of one of the primary's columns.
#[derive(Debug)]
enum Column {
    /// It is the same here, or becomes it.
    Taken,
    /// There is none here.
    Dropped,
    /// It cannot be had: 1677 when an event holds it.
    Refused(String),
}

/// The columns of a table that are not ours.
#[derive(Debug)]
pub(super) struct ForeignColumns {
    /// The primary's types, as far as the table map and our own types tell; stand-ins where we have no such type.
    types: Vec<DataType>,
    columns: Vec<Column>,
    older: Vec<Option<Older>>,
}

impl ForeignColumns {
    pub(super) fn new(
        map: &TableMapEvent<'_>,
        definition: &TableDefinition,
        allowed: TypeConversions,
    ) -> Result<Self, Failure> {
        let StandIns {
            codes,
            metadata,
            older,
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
                columns.push(Column::Dropped);
                continue;
            };
            let target = &column.data_type;
            let source = match older[number] {
                Some(older) => &mut older.data_type(stand_in),
                None => stand_in,
            };
            let conversion = conversion(source, target);
            columns.push(match allowed.allow(conversion) {
                true => Column::Taken,
                false => Column::Refused(ER_SLAVE_CONVERSION_FAILED.message(&[
                    &number,
                    &definition.database(),
                    &definition.name(),
                    &source_name(source, target),
                    &target_name(target),
                ])),
            });
            adapt(source, target);
        }
        Ok(ForeignColumns {
            types,
            columns,
            older,
        })
    }

    /// The value of a column, given what its type in [`ForeignColumns::types`] makes of it.
    ///
    /// # Errors
    /// 1610 for what no server writes.
    pub(super) fn read(&self, column: usize, value: Value) -> Result<Value, Failure> {
        match self.older.get(column) {
            Some(Some(older)) => older.read(value),
            _ => Ok(value),
        }
    }

    /// The primary's types.
    pub(super) fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Whether a column of the primary is one of ours.
    ///
    /// # Errors
    /// 1677 if it is not allowed to be.
    pub(super) fn is_taken(&self, column: usize) -> Result<bool, Failure> {
        match self.columns.get(column) {
            Some(Column::Taken) => Ok(true),
            Some(Column::Dropped) | None => Ok(false),
            Some(Column::Refused(message)) => Err(Failure::new(ER_SLAVE_CONVERSION_FAILED, message.as_str())),
        }
    }
}

/// Takes from our type what a table map does not tell of the primary's, without changing how long its values are.
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
        // Not filled up with zeros: it may be text.
        (DataType::Binary { length }, target) if !target.is_binary_string() => {
            *source = DataType::VarBinary {
                length: u32::from(*length),
            };
        }
        _ => {}
    }
}

/// The most bytes that a string takes.
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

/// Which of MariaDB's string types it is: what a table map can tell apart.
fn string_kind(data_type: &DataType) -> u8 {
    match data_type {
        DataType::Char { .. } | DataType::Binary { .. } => 0,
        DataType::VarChar { .. } | DataType::VarBinary { .. } => 1,
        DataType::Text { size, .. } | DataType::Blob { size } => 2 + size.length_bytes() as u8,
        _ => 6,
    }
}

fn conversion(source: &DataType, target: &DataType) -> Conversion {
    if let (Some(source_bytes), Some(target_bytes)) = (string_bytes(source), string_bytes(target)) {
        let order = source_bytes.cmp(&target_bytes);
        return match string_kind(source) == string_kind(target) {
            true => order.into(),
            // Another type of the same length is a conversion too.
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

/// Bytes of a SET's bits.
fn set_bytes(labels: usize) -> usize {
    match labels.div_ceil(8) {
        0 => 1,
        bytes @ 1..=4 => bytes,
        _ => 8,
    }
}

/// What a primary's value becomes in a column of ours.
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

/// A primary's type as MariaDB's messages show it.
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

/// Our type as MariaDB's messages show it.
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
    fn which_conversions_there_are() {
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
    fn the_variable_names_what_is_allowed() {
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
