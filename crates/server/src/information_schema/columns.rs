//! Columns of every table, from MariaDB's declarations in `columns.txt`:
//! `TABLE: NAME type[?][ = default]; NAME type[?]; …`, where `?` means nullable, and `bin` after a type of text that
//! it is compared by its bytes. A test compares them with MariaDB's. Those of `performance_schema` and `mysql` have the
//! same format.
//!
//! The functions that make rows know text, and numbers of double precision: [`typed`] makes a label of an ENUM of the
//! one, a FLOAT of the other.

use std::sync::{Arc, OnceLock};

use paceline_expression::ExprType;
use paceline_expression::session::VirtualColumn;
use paceline_types::data_type::{DecimalType, FloatType, IntegerType, IntegerWidth, Sign};
use paceline_types::data_type::{FixedPoint, Labels};
use paceline_types::value::EnumValue;
use paceline_types::{BlobSize, Collation, DataType, Value};

/// A virtual table: its name and its columns.
pub type VirtualTable = (&'static str, Vec<VirtualColumn>);

static DECLARATIONS: &str = include_str!("columns.txt");

/// Returns the names and columns of all tables, by name.
pub(super) fn tables() -> impl Iterator<Item = (&'static str, &'static [VirtualColumn])> {
    static TABLES: OnceLock<Vec<VirtualTable>> = OnceLock::new();
    TABLES
        .get_or_init(|| declared(DECLARATIONS))
        .iter()
        .map(|(name, columns)| (*name, columns.as_slice()))
}

/// Returns the names of all tables, by name.
pub(super) fn table_names() -> impl Iterator<Item = &'static str> {
    tables().map(|(name, _)| name)
}

/// Returns the columns of a table, or `None` if it does not exist. Names are compared without case.
pub fn columns(table: &str) -> Option<&'static [VirtualColumn]> {
    tables()
        .find(|(name, _)| name.eq_ignore_ascii_case(table))
        .map(|(_, columns)| columns)
}

/// Parses declarations in the format of `columns.txt`.
pub(crate) fn declared(declarations: &'static str) -> Vec<VirtualTable> {
    declarations.lines().map(table).collect()
}

fn table(line: &'static str) -> VirtualTable {
    let (name, columns) = line.split_once(": ").expect("columns.txt: TABLE: columns");
    (name, columns.split("; ").map(column).collect())
}

fn column(declaration: &'static str) -> VirtualColumn {
    let (name, data_type) = declaration.split_once(' ').expect("columns.txt: NAME type");
    let (data_type, default) = match data_type.split_once(" = ") {
        Some((data_type, default)) => (data_type, Some(default)),
        None => (data_type, None),
    };
    let (data_type, nullable) = match data_type.strip_suffix('?') {
        Some(data_type) => (data_type, true),
        None => (data_type, false),
    };
    VirtualColumn {
        name: name.to_owned(),
        ty: ExprType::of_column(parse(data_type), nullable),
        default,
    }
}

/// Gives the values of rows the types of their columns.
pub(crate) fn typed(rows: &mut [Vec<Value>], columns: &[VirtualColumn]) {
    for (place, column) in columns.iter().enumerate() {
        match &column.ty.data_type {
            DataType::Enum { labels, .. } => {
                for value in rows.iter_mut().filter_map(|row| row.get_mut(place)) {
                    if let Value::Text(text) = value {
                        let index = (1..=labels.len() as u16).find(|index| labels.get(*index) == text);
                        debug_assert!(index.is_some(), "{} is no label of {}", text, column.name);
                        *value = Value::Enum(EnumValue {
                            index: index.unwrap_or(0),
                            labels: labels.clone(),
                        });
                    }
                }
            }
            DataType::Float(_) => {
                for value in rows.iter_mut().filter_map(|row| row.get_mut(place)) {
                    if let Value::Double(number) = value {
                        *value = Value::Float(*number as f32);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the labels of an ENUM: texts in quotes, without quotes in them.
fn labels(arguments: &str) -> Labels {
    let quoted = arguments.split('\'').skip(1).step_by(2);
    Labels::new(quoted)
}

fn parse(text: &str) -> DataType {
    let (text, is_binary) = match text.strip_suffix(" bin") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (text, sign) = match text.strip_suffix(" unsigned") {
        Some(text) => (text, Sign::Unsigned),
        None => (text, Sign::Signed),
    };
    let (name, arguments) = text
        .split_once('(')
        .map_or((text, ""), |(name, rest)| (name, rest.trim_end_matches(')')));
    if name == "enum" {
        return DataType::Enum {
            labels: Arc::new(labels(arguments)),
            collation: Collation::Utf8mb3GeneralCi,
        };
    }
    let mut numbers = arguments
        .split(',')
        .filter_map(|number| number.parse::<u32>().ok());
    let mut next = || numbers.next().unwrap_or(0);
    let integer = |width, display_width: u32| {
        DataType::Integer(IntegerType {
            display_width: display_width as u8,
            ..IntegerType::new(width, sign)
        })
    };
    // MariaDB's collation of these columns; programs combine it explicitly: TABLE_SCHEMA COLLATE utf8_bin. Results are
    // sent in the session's character set.
    let collation = match is_binary {
        true => Collation::Utf8mb3Bin,
        false => Collation::Utf8mb3GeneralCi,
    };
    let float = |fixed| FloatType {
        sign,
        zerofill: false,
        fixed,
    };
    match name {
        "char" => DataType::Char {
            length: next() as _,
            collation,
        },
        "varchar" => DataType::VarChar {
            length: next() as _,
            collation,
        },
        "longtext" => DataType::Text {
            size: BlobSize::Long,
            collation,
        },
        "mediumtext" => DataType::Text {
            size: BlobSize::Medium,
            collation,
        },
        "text" => DataType::Text {
            size: BlobSize::Normal,
            collation,
        },
        "longblob" => DataType::Blob { size: BlobSize::Long },
        "blob" => DataType::Blob {
            size: BlobSize::Normal,
        },
        "tinyint" => integer(IntegerWidth::Tiny, next()),
        "smallint" => integer(IntegerWidth::Small, next()),
        "int" => integer(IntegerWidth::Int, next()),
        "bigint" => integer(IntegerWidth::Big, next()),
        "float" => DataType::Float(float(None)),
        "double" if arguments.is_empty() => DataType::Double(float(None)),
        "double" => DataType::Double(float(Some(FixedPoint {
            precision: next() as u8,
            scale: next() as u8,
        }))),
        "time" => DataType::Time {
            decimals: next() as _,
        },
        "timestamp" => DataType::Timestamp {
            decimals: next() as u8,
        },
        "datetime" => DataType::DateTime {
            decimals: next() as u8,
        },
        "decimal" => DataType::Decimal(DecimalType::new(next() as u8, next() as u8)),
        other => unreachable!("columns.txt: type {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_is_read() {
        assert!(tables().count() > 30);
        let tables = columns("tables").expect("it is there");
        assert_eq!(tables[0].name, "TABLE_CATALOG");
        assert_eq!(tables.len(), 23);
        assert!(tables[4].ty.nullable);
        assert_eq!(tables[1].ty.collation(), Collation::Utf8mb3GeneralCi);
        assert!(columns("nowhere").is_none());
    }

    #[test]
    fn texts_become_labels() {
        let columns = [column("MODE enum('S','S,GAP','X')?"), column("RATE float")];
        let mut rows = vec![
            vec![Value::Text("S,GAP".into()), Value::Double(0.5)],
            vec![Value::Null, Value::Null],
        ];
        typed(&mut rows, &columns);
        assert!(matches!(&rows[0][0], Value::Enum(value) if value.index == 2 && value.label() == "S,GAP"));
        assert!(matches!(rows[0][1], Value::Float(rate) if rate == 0.5));
        assert!(rows[1].iter().all(Value::is_null));
    }

    #[test]
    fn defaults_are_part_of_declarations() {
        let tables = declared("a: X int\nb: X char(2) bin = '%'; Y timestamp? = current_timestamp()");
        let [x, y] = &tables[1].1[..] else {
            panic!("two columns")
        };
        assert_eq!(tables[0].1[0].default, None);
        assert_eq!((x.default, y.default), (Some("'%'"), Some("current_timestamp()")));
        assert!(y.ty.nullable);
    }
}
