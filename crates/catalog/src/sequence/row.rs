//! The row of a sequence.

use paceline_storage::TableSchema;
use paceline_syntax::definition::{SequenceBound, SequenceRestart, SequenceSpec};
use paceline_types::data_type::{IntegerType, IntegerWidth, Sign};
use paceline_types::error_code::ER_SEQUENCE_INVALID_TABLE_STRUCTURE;
use paceline_types::{DataType, Value};

use crate::definition::{ColumnDefault, ColumnDefinition, TableDescription};
use crate::error::{Error, Result};
use crate::same_name;

/// Number of columns.
const COLUMNS: usize = 8;
/// `CACHE` of a sequence that does not specify it.
const CACHE_DEFAULT: i64 = 1000;
/// Largest value of `auto_increment_increment`, by which a sequence with INCREMENT 0 may step.
const STEP_MAX: u64 = 65_535;

/// Columns with their comments: signed BIGINT unless `cache_size` or `cycle_option`.
const NAMES: [(&str, &str); COLUMNS] = [
    ("next_not_cached_value", ""),
    ("minimum_value", ""),
    ("maximum_value", ""),
    (
        "start_value",
        "start value when sequences is created or value if RESTART is used",
    ),
    ("increment", "increment value"),
    ("cache_size", ""),
    (
        "cycle_option",
        "0 if no cycles are allowed, 1 if the sequence should begin a new cycle when maximum_value is passed",
    ),
    ("cycle_count", "How many cycles have been done"),
];

/// Row of a sequence, in the order of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceRow {
    /// Exclusive bound of the values that are reserved, in the direction of the increment.
    pub reserved_until: i64,
    /// Lowest value.
    pub minimum: i64,
    /// Highest value.
    pub maximum: i64,
    /// Value of RESTART.
    pub start: i64,
    /// Distance of two values; 0 for `auto_increment_increment`.
    pub increment: i64,
    /// Number of values in a reservation; 0 counts as 1.
    pub cache: i64,
    /// Whether the values start again after the last one.
    pub cycle: bool,
    /// Number of cycles that are complete.
    pub round: i64,
}

impl SequenceRow {
    /// Returns the columns of a sequence.
    pub fn columns() -> Vec<ColumnDefinition> {
        let column = |(number, (name, comment)): (usize, &(&str, &str))| ColumnDefinition {
            name: (*name).to_owned(),
            data_type: column_type(number),
            nullable: false,
            default: ColumnDefault::None,
            on_update: None,
            auto_increment: false,
            invisible: false,
            compressed: false,
            comment: (*comment).to_owned(),
            check: None,
            generated: None,
        };
        NAMES.iter().enumerate().map(column).collect()
    }

    /// Checks that a table can be a sequence.
    ///
    /// # Errors
    /// 4086.
    pub fn check_structure(table: &TableDescription) -> Result<()> {
        let refused = |reason: &str| {
            Err(Error::new(
                ER_SEQUENCE_INVALID_TABLE_STRUCTURE,
                &[&table.database, &table.name, &reason],
            ))
        };
        if table.columns.len() != COLUMNS {
            return refused("Wrong number of columns");
        }
        if !table.indexes.is_empty() {
            return refused("Sequence tables cannot have any keys");
        }
        if !table.checks.is_empty() || !table.foreign_keys.is_empty() {
            return refused("Sequence tables cannot have any constraints");
        }
        for (number, column) in table.columns.iter().enumerate() {
            let is_same_type = match (&column.data_type, column_type(number)) {
                (DataType::Integer(has), DataType::Integer(wanted)) => {
                    (has.width, has.sign, has.zerofill) == (wanted.width, wanted.sign, false)
                }
                _ => false,
            };
            let fits = same_name(&column.name, NAMES[number].0)
                && is_same_type
                && !column.nullable
                && column.default == ColumnDefault::None
                && column.check.is_none()
                && column.generated.is_none()
                && !column.auto_increment
                && !column.invisible;
            if !fits {
                return refused(&column.name);
            }
        }
        Ok(())
    }

    /// Returns the first row of a sequence; `None` if its values contradict each other.
    pub fn created(spec: &SequenceSpec) -> Option<Self> {
        let increment = spec.increment.unwrap_or(1);
        let (minimum, maximum) = bounds(increment, spec);
        let start = spec
            .start
            .unwrap_or(if increment < 0 { maximum } else { minimum });
        let row = SequenceRow {
            reserved_until: start,
            minimum,
            maximum,
            start,
            increment,
            cache: spec.cache.unwrap_or(CACHE_DEFAULT),
            cycle: spec.cycle.unwrap_or(false),
            round: 0,
        };
        row.is_valid().then_some(row)
    }

    /// Returns the row after ALTER SEQUENCE; `None` if its values contradict each other.
    pub fn altered(&self, spec: &SequenceSpec) -> Option<Self> {
        let increment = spec.increment.unwrap_or(self.increment);
        let (minimum, maximum) = bounds(increment, spec);
        let start = spec.start.unwrap_or(self.start);
        let row = SequenceRow {
            reserved_until: match spec.restart {
                None => self.reserved_until,
                Some(SequenceRestart::Start) => start,
                Some(SequenceRestart::With(value)) => value,
            },
            minimum: spec.minimum.map_or(self.minimum, |_| minimum),
            maximum: spec.maximum.map_or(self.maximum, |_| maximum),
            start,
            increment,
            cache: spec.cache.unwrap_or(self.cache),
            cycle: spec.cycle.unwrap_or(self.cycle),
            // As in MariaDB: the statement begins a new count.
            round: 0,
        };
        row.is_valid().then_some(row)
    }

    /// Returns whether the values fit together.
    pub fn is_valid(&self) -> bool {
        let step = match self.increment {
            0 => STEP_MAX,
            increment => increment.unsigned_abs(),
        };
        let cache_max = (i64::MAX as u64).saturating_sub(step) / step;
        self.maximum >= self.start
            && self.maximum > self.minimum
            && self.start >= self.minimum
            && self.maximum != i64::MAX
            && self.minimum != i64::MIN
            && u64::try_from(self.cache).is_ok_and(|cache| cache < cache_max)
            && match self.increment < 0 {
                true => self.reserved_until <= self.maximum,
                false => self.reserved_until >= self.minimum,
            }
    }

    /// Returns whether another row has the same options: it differs at most in what was given out.
    pub fn has_options_of(&self, other: &SequenceRow) -> bool {
        let options = |row: &SequenceRow| SequenceRow {
            reserved_until: 0,
            round: 0,
            ..*row
        };
        options(self) == options(other)
    }

    /// Returns the row of a table's values.
    ///
    /// # Errors
    /// If these are not the values of a sequence.
    pub fn of_values(values: &[Value]) -> Result<Self> {
        let number = |column: usize| match values.get(column) {
            Some(Value::Int(value)) => Some(*value),
            // As MariaDB, which reads all columns as signed numbers.
            Some(Value::UInt(value)) => Some(*value as i64),
            _ => None,
        };
        let number = |column: usize| {
            number(column).ok_or_else(|| {
                Error::with_message(
                    paceline_types::error_code::ER_NOT_FORM_FILE,
                    "Incorrect information in the row of a sequence".to_owned(),
                )
            })
        };
        Ok(SequenceRow {
            reserved_until: number(0)?,
            minimum: number(1)?,
            maximum: number(2)?,
            start: number(3)?,
            increment: number(4)?,
            cache: number(5)?,
            cycle: number(6)? != 0,
            round: number(7)?,
        })
    }

    /// Returns the row of an image.
    ///
    /// # Errors
    /// If it is not an image of a sequence.
    pub fn of_image(schema: &TableSchema, image: &[u8]) -> Result<Self> {
        Self::of_values(&schema.decode_row(image)?)
    }

    /// Returns the row's values.
    pub fn values(&self) -> [Value; COLUMNS] {
        [
            Value::Int(self.reserved_until),
            Value::Int(self.minimum),
            Value::Int(self.maximum),
            Value::Int(self.start),
            Value::Int(self.increment),
            Value::UInt(self.cache as u64),
            Value::UInt(u64::from(self.cycle)),
            Value::Int(self.round),
        ]
    }

    /// Returns the row's image.
    ///
    /// # Errors
    /// If the table is not a sequence.
    pub fn image(&self, schema: &TableSchema) -> Result<Vec<u8>> {
        let mut image = Vec::with_capacity(64);
        schema.encode_row(&self.values(), &mut image)?;
        Ok(image)
    }
}

/// Returns the written or default MINVALUE and MAXVALUE.
fn bounds(increment: i64, spec: &SequenceSpec) -> (i64, i64) {
    let minimum = match spec.minimum {
        Some(SequenceBound::Value(value)) => value,
        _ if increment < 0 => i64::MIN + 1,
        _ => 1,
    };
    let maximum = match spec.maximum {
        Some(SequenceBound::Value(value)) => value,
        _ if increment < 0 => -1,
        _ => i64::MAX - 1,
    };
    (minimum, maximum)
}

fn column_type(column: usize) -> DataType {
    let (width, sign, display_width) = match column {
        5 => (IntegerWidth::Big, Sign::Unsigned, 21),
        6 => (IntegerWidth::Tiny, Sign::Unsigned, 1),
        _ => (IntegerWidth::Big, Sign::Signed, 21),
    };
    DataType::Integer(IntegerType {
        display_width,
        ..IntegerType::new(width, sign)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_follow_the_direction() {
        let row = SequenceRow::created(&SequenceSpec::default()).unwrap();
        assert_eq!(
            (row.reserved_until, row.minimum, row.maximum),
            (1, 1, i64::MAX - 1)
        );
        assert_eq!((row.increment, row.cache, row.cycle), (1, 1000, false));
        let falling = SequenceSpec {
            increment: Some(-1),
            ..SequenceSpec::default()
        };
        let row = SequenceRow::created(&falling).unwrap();
        assert_eq!((row.start, row.minimum, row.maximum), (-1, i64::MIN + 1, -1));
    }

    #[test]
    fn contradictions_are_refused() {
        let refused = |spec: SequenceSpec| assert_eq!(SequenceRow::created(&spec), None, "{spec:?}");
        let value = |value| Some(SequenceBound::Value(value));
        let plain = SequenceSpec::default();
        refused(SequenceSpec {
            start: Some(10),
            maximum: value(9),
            ..plain
        });
        refused(SequenceSpec {
            start: Some(9),
            minimum: value(10),
            ..plain
        });
        refused(SequenceSpec {
            maximum: value(i64::MAX),
            ..plain
        });
        refused(SequenceSpec {
            cache: Some(-1),
            ..plain
        });
        refused(SequenceSpec {
            increment: Some(123_456_789_012_345_678),
            ..plain
        });
        let row = SequenceRow::created(&plain).unwrap();
        assert_eq!(
            row.altered(&SequenceSpec {
                minimum: value(100),
                ..plain
            }),
            None
        );
        let restarted = SequenceSpec {
            minimum: value(100),
            start: Some(100),
            restart: Some(SequenceRestart::Start),
            ..plain
        };
        assert_eq!(row.altered(&restarted).unwrap().reserved_until, 100);
    }
}
