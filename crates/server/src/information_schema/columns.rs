//! Columns of every table, from MariaDB's declarations in `columns.txt`:
//! `TABLE: NAME type[?]; NAME type[?]; …`, where `?` means nullable, and `bin` after a type of text that it is compared
//! by its bytes.

use std::sync::OnceLock;

use paceline_expression::ExprType;
use paceline_expression::session::VirtualColumn;
use paceline_types::data_type::{DecimalType, FloatType, IntegerType, IntegerWidth, Sign};
use paceline_types::{BlobSize, Collation, DataType};

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

/// Returns the names of all tables in upper case, by name.
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

fn column(declaration: &str) -> VirtualColumn {
    let (name, data_type) = declaration.split_once(' ').expect("columns.txt: NAME type");
    let (data_type, nullable) = match data_type.strip_suffix('?') {
        Some(data_type) => (data_type, true),
        None => (data_type, false),
    };
    VirtualColumn {
        name: name.to_owned(),
        ty: ExprType::of_column(parse(data_type), nullable),
    }
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
        "int" => integer(IntegerWidth::Int, next()),
        "bigint" => integer(IntegerWidth::Big, next()),
        "double" => DataType::Double(FloatType {
            sign: Sign::Signed,
            zerofill: false,
            fixed: None,
        }),
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
}
