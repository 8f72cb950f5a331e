//! Rows of COLUMNS.

use paceline_catalog::ddl::ShownType;
use paceline_types::DataType;

use super::database::{CATALOG, DATABASE};
use crate::cells::{Row, number, number_or_null, text, text_or_null, yes_no};

/// Length, precision, scale and fraction digits of a column, as far as they apply to its type.
#[derive(Default)]
pub(super) struct Measures {
    pub characters: Option<u64>,
    pub bytes: Option<u64>,
    pub precision: Option<u64>,
    pub scale: Option<u64>,
    pub fraction: Option<u64>,
}

impl Measures {
    pub fn of(data_type: &DataType) -> Self {
        let mut measures = Measures::default();
        let characters = |length: u64| {
            (
                Some(length),
                Some(length * u64::from(data_type.charset().max_bytes_per_character())),
            )
        };
        match data_type {
            DataType::Integer(integer) => {
                let digits = match (integer.width.bytes(), data_type.is_unsigned()) {
                    (1, _) => 3,
                    (2, _) => 5,
                    (3, false) => 7,
                    (3, true) => 8,
                    (4, _) => 10,
                    (_, true) => 20,
                    (_, false) => 19,
                };
                (measures.precision, measures.scale) = (Some(digits), Some(0));
            }
            DataType::Decimal(decimal) => {
                (measures.precision, measures.scale) =
                    (Some(decimal.precision.into()), Some(decimal.scale.into()));
            }
            DataType::Float(float) | DataType::Double(float) => match float.fixed {
                Some(fixed) => {
                    (measures.precision, measures.scale) =
                        (Some(fixed.precision.into()), Some(fixed.scale.into()))
                }
                None => {
                    measures.precision = Some(if matches!(data_type, DataType::Float(_)) {
                        12
                    } else {
                        22
                    })
                }
            },
            DataType::Bit { length } => measures.precision = Some(u64::from(*length)),
            DataType::Time { decimals }
            | DataType::DateTime { decimals }
            | DataType::Timestamp { decimals } => {
                measures.fraction = Some(u64::from(*decimals));
            }
            DataType::Date | DataType::Year | DataType::FixedBinary(_) => {}
            DataType::Text { size, .. } => {
                (measures.characters, measures.bytes) = (Some(size.max_bytes()), Some(size.max_bytes()))
            }
            DataType::Blob { size } => {
                (measures.characters, measures.bytes) = (Some(size.max_bytes()), Some(size.max_bytes()))
            }
            DataType::Json => {
                (measures.characters, measures.bytes) = (Some(u64::from(u32::MAX)), Some(u64::from(u32::MAX)))
            }
            DataType::Enum { labels, .. } => {
                let longest = labels
                    .iter()
                    .map(|label| label.chars().count())
                    .max()
                    .unwrap_or(0);
                (measures.characters, measures.bytes) = characters(longest as u64);
            }
            DataType::Set { labels, .. } => {
                let all: usize = labels.iter().map(|label| label.chars().count() + 1).sum();
                (measures.characters, measures.bytes) = characters(all.saturating_sub(1) as u64);
            }
            other => (measures.characters, measures.bytes) = characters(other.max_characters().unwrap_or(0)),
        }
        measures
    }
}

/// Returns the type's name without attributes, for COLUMNS.DATA_TYPE.
pub(super) fn bare_name(data_type: &DataType) -> String {
    let whole = data_type.to_string();
    whole.split(['(', ' ']).next().unwrap_or_default().to_owned()
}

/// A column of a table or view, for its row in COLUMNS.
pub(super) struct ShownColumn<'a> {
    pub database: &'a str,
    pub table: &'a str,
    pub name: &'a str,
    /// Index of the column, from 0.
    pub offset: usize,
    pub data_type: &'a DataType,
    /// `COMPRESSED`.
    pub compressed: bool,
    pub nullable: bool,
    pub default: Option<String>,
    pub key: &'static str,
    pub extra: String,
    /// Privileges of the session on the column.
    pub privileges: &'a str,
    pub comment: &'a str,
    /// Expression of a generated column.
    pub generated: Option<&'a str>,
}

impl ShownColumn<'_> {
    pub fn row(self) -> Row {
        let data_type = self.data_type;
        let mut measures = Measures::of(data_type);
        if self.database == DATABASE && matches!(data_type, DataType::Double(_)) {
            // MariaDB declares them with this length.
            measures.precision = Some(21);
        }
        let shown = ShownType {
            data_type,
            compressed: self.compressed,
        };
        let has_text =
            data_type.is_text() || matches!(data_type, DataType::Enum { .. } | DataType::Set { .. });
        vec![
            text(CATALOG),
            text(self.database),
            text(self.table),
            text(self.name),
            number(self.offset as u64 + 1),
            text_or_null(self.default),
            yes_no(self.nullable),
            text(bare_name(data_type)),
            number_or_null(measures.characters),
            number_or_null(measures.bytes),
            number_or_null(measures.precision),
            number_or_null(measures.scale),
            number_or_null(measures.fraction),
            text_or_null(has_text.then(|| data_type.charset().name())),
            text_or_null(has_text.then(|| data_type.collation().name())),
            text(shown.to_string()),
            text(self.key),
            text(self.extra),
            text(self.privileges),
            text(self.comment),
            text(if self.generated.is_some() {
                "ALWAYS"
            } else {
                "NEVER"
            }),
            text_or_null(self.generated),
        ]
    }
}
