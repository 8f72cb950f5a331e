//! Parsing of column types in MariaDB's notation.

use paceline_types::{
    BlobSize, Collation, DataType, DecimalType, FixedPoint, FloatType, IntegerType, IntegerWidth, Labels,
    Sign,
};
use std::sync::Arc;

/// Parses a `column_type` of information_schema.
pub fn data_type(text: &str, collation: Option<Collation>) -> DataType {
    let (name, rest) = text.split_at(text.find(['(', ' ']).unwrap_or(text.len()));
    let (arguments, attributes) = match rest.strip_prefix('(') {
        Some(rest) => rest.rsplit_once(')').unwrap(),
        None => ("", rest),
    };
    let numbers: Vec<u32> = arguments
        .split(',')
        .filter_map(|number| number.parse().ok())
        .collect();
    let first = numbers.first().copied().unwrap_or(0);
    let sign = if attributes.contains("unsigned") {
        Sign::Unsigned
    } else {
        Sign::Signed
    };
    let zerofill = attributes.contains("zerofill");
    let integer = |width| {
        DataType::Integer(IntegerType {
            width,
            sign,
            zerofill,
            display_width: first as u8,
        })
    };
    let fixed = numbers.get(1).map(|&scale| FixedPoint {
        precision: first as u8,
        scale: scale as u8,
    });
    let labels = || {
        Arc::new(Labels::new(
            arguments.split(',').map(|label| label.trim_matches('\'')),
        ))
    };
    let text = |size| DataType::Text {
        size,
        collation: collation.unwrap(),
    };
    match name {
        "tinyint" => integer(IntegerWidth::Tiny),
        "smallint" => integer(IntegerWidth::Small),
        "mediumint" => integer(IntegerWidth::Medium),
        "int" => integer(IntegerWidth::Int),
        "bigint" => integer(IntegerWidth::Big),
        "decimal" => DataType::Decimal(DecimalType {
            sign,
            zerofill,
            ..DecimalType::new(first as u8, numbers[1] as u8)
        }),
        "float" => DataType::Float(FloatType {
            sign,
            zerofill,
            fixed,
        }),
        "double" => DataType::Double(FloatType {
            sign,
            zerofill,
            fixed,
        }),
        "bit" => DataType::Bit { length: first as u8 },
        "char" => DataType::Char {
            length: first as u16,
            collation: collation.unwrap(),
        },
        "varchar" => DataType::VarChar {
            length: first,
            collation: collation.unwrap(),
        },
        "binary" => DataType::Binary { length: first as u16 },
        "varbinary" => DataType::VarBinary { length: first },
        "tinytext" => text(BlobSize::Tiny),
        "text" => text(BlobSize::Normal),
        "mediumtext" => text(BlobSize::Medium),
        "longtext" => text(BlobSize::Long),
        "tinyblob" => DataType::Blob { size: BlobSize::Tiny },
        "blob" => DataType::Blob {
            size: BlobSize::Normal,
        },
        "mediumblob" => DataType::Blob {
            size: BlobSize::Medium,
        },
        "longblob" => DataType::Blob { size: BlobSize::Long },
        "json" => DataType::Json,
        "date" => DataType::Date,
        "time" => DataType::Time {
            decimals: first as u8,
        },
        "datetime" => DataType::DateTime {
            decimals: first as u8,
        },
        "timestamp" => DataType::Timestamp {
            decimals: first as u8,
        },
        "year" => DataType::Year,
        "enum" => DataType::Enum {
            labels: labels(),
            collation: collation.unwrap(),
        },
        "set" => DataType::Set {
            labels: labels(),
            collation: collation.unwrap(),
        },
        other => panic!("{other}"),
    }
}
