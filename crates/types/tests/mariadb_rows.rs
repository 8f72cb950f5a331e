//! Row images and table maps, compared with those that MariaDB 10.11 wrote (tests/vectors/row_images.txt).

mod column_types;

use column_types::data_type;
use paceline_types::row_image::RowLayout;
use paceline_types::table_map_metadata::{self, MappedColumn, RowMetadata};
use paceline_types::{BlobSize, Collation, DataType, FloatType, IntegerType, TimeZone, text};

#[derive(Default)]
struct Table {
    name: String,
    columns: Vec<(String, DataType)>,
    types: Vec<u8>,
    metadata: Vec<u8>,
    nullable: Vec<u8>,
    minimal: Vec<u8>,
    full: Vec<u8>,
    rows: Vec<Vec<u8>>,
    values: Vec<Vec<Option<Vec<u8>>>>,
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn tables() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for line in include_str!("vectors/row_images.txt").lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word.is_empty() || word == "#" {
            continue;
        }
        if word == "table" {
            tables.push(Table {
                name: rest.to_owned(),
                ..Table::default()
            });
            continue;
        }
        let table = tables.last_mut().unwrap();
        match word {
            "column" => {
                let (name, rest) = rest.split_once(' ').unwrap();
                let collation = rest
                    .rsplit_once(' ')
                    .and_then(|(_, name)| Collation::from_name(name));
                let column_type = if collation.is_some() {
                    rest.rsplit_once(' ').unwrap().0
                } else {
                    rest
                };
                table
                    .columns
                    .push((name.to_owned(), data_type(column_type, collation)));
            }
            "types" => table.types = hex(rest),
            "metadata" => table.metadata = hex(rest),
            "nullable" => table.nullable = hex(rest),
            "minimal" => table.minimal = hex(rest),
            "full" => table.full = hex(rest),
            "rows" => table.rows.push(hex(rest)),
            "values" => {
                let value = |text: &str| (text != "NULL").then(|| hex(text));
                table.values.push(rest.split(' ').map(value).collect());
            }
            other => panic!("{other}"),
        }
    }
    assert!(tables.len() > 10);
    tables
}

#[test]
fn rows_decode_to_what_mariadb_prints_and_encode_to_what_it_wrote() {
    for table in tables() {
        let layout = RowLayout::new(table.columns.iter().map(|(_, t)| t.clone()).collect::<Vec<_>>());
        let mut values = table.values.iter();
        for mut rest in table.rows.iter().map(|rows| &rows[..]) {
            while !rest.is_empty() {
                let (image, after) = layout.split(rest).unwrap();
                rest = after;
                let expected = values.next().unwrap();
                let row = image.to_values().unwrap();
                for (column, value) in row.iter().enumerate() {
                    let (name, data_type) = &table.columns[column];
                    let mut text = Vec::new();
                    text::append_column_value(&value.as_ref(), data_type, &TimeZone::UTC, &mut text);
                    let got = (!value.is_null()).then_some(text);
                    assert_eq!(got, expected[column], "{}.{name} = {value:?}", table.name);
                    assert_eq!(image.column(column).unwrap().into_owned(), *value);
                }
                let mut encoded = Vec::new();
                layout.encode(&row, &mut encoded).unwrap();
                assert_eq!(encoded, image.bytes(), "{}", table.name);
            }
        }
        assert!(values.next().is_none(), "{}", table.name);
    }
}

#[test]
fn encode_changed_equals_encoding_the_whole_row() {
    for table in tables() {
        let layout = RowLayout::new(table.columns.iter().map(|(_, t)| t.clone()).collect::<Vec<_>>());
        let mut images = Vec::new();
        for mut rest in table.rows.iter().map(|rows| &rows[..]) {
            while !rest.is_empty() {
                let (image, after) = layout.split(rest).unwrap();
                images.push(image);
                rest = after;
            }
        }
        for before in &images {
            for after in &images {
                let (old, new) = (before.to_values().unwrap(), after.to_values().unwrap());
                for step in 1..4 {
                    let changed: Vec<_> = (0..old.len()).step_by(step).collect();
                    let mut row = old.clone();
                    changed
                        .iter()
                        .for_each(|&column| row[column] = new[column].clone());
                    let changes: Vec<_> = changed.iter().map(|&column| (column, &new[column])).collect();
                    let (mut whole, mut patched) = (Vec::new(), Vec::new());
                    layout.encode(&row, &mut whole).unwrap();
                    layout.encode_changed(*before, &changes, &mut patched).unwrap();
                    assert_eq!(whole, patched, "{}", table.name);
                }
            }
        }
    }
}

#[test]
fn table_maps_equal_those_of_mariadb() {
    for table in tables() {
        let columns: Vec<_> = (table.columns.iter().enumerate())
            .map(|(n, (name, data_type))| MappedColumn {
                name,
                data_type,
                nullable: table.nullable[n / 8] >> (n % 8) & 1 == 1,
            })
            .collect();
        let primary_key: &[(usize, u32)] = match table.name.as_str() {
            "pk1" => &[(0, 0)],
            "pk2" => &[(3, 0), (0, 0)],
            "pk3" => &[(1, 3), (0, 0), (2, 7)],
            "pk4" => &[(1, 0)],
            _ => &[],
        };
        for (metadata, optional) in [
            (RowMetadata::NoLog, &[][..]),
            (RowMetadata::Minimal, &table.minimal),
            (RowMetadata::Full, &table.full),
        ] {
            let mut out = Vec::new();
            table_map_metadata::append_columns(&columns, primary_key, metadata, &mut out);
            let mut expected = vec![columns.len() as u8];
            expected.extend_from_slice(&table.types);
            expected.push(table.metadata.len() as u8);
            expected.extend_from_slice(&table.metadata);
            expected.extend_from_slice(&table.nullable);
            expected.extend_from_slice(optional);
            assert_eq!(out, expected, "{} {metadata:?}", table.name);
        }
    }
}

#[test]
fn table_maps_determine_the_column_types() {
    for table in tables() {
        let types = table_map_metadata::decode_columns(&table.types, &table.metadata, &table.full).unwrap();
        for ((name, expected), got) in table.columns.iter().zip(types.iter()) {
            let plain = match expected {
                // A table map does not contain display widths, fixed decimals, and JSON.
                DataType::Integer(t) => DataType::Integer(IntegerType::new(t.width, t.sign)),
                DataType::Float(t) => DataType::Float(FloatType { fixed: None, ..*t }),
                DataType::Double(t) => DataType::Double(FloatType { fixed: None, ..*t }),
                DataType::Json => DataType::Text {
                    size: BlobSize::Long,
                    collation: Collation::Utf8mb4Bin,
                },
                DataType::Text { size, collation } => DataType::Text {
                    size: *size,
                    collation: *collation,
                },
                other => other.clone(),
            };
            assert_eq!(*got, plain, "{}.{name}", table.name);
        }
        // The types from the shortest map are sufficient for splitting rows.
        let bare = table_map_metadata::decode_columns(&table.types, &table.metadata, &[]).unwrap();
        let layout = RowLayout::new(bare);
        for mut rest in table.rows.iter().map(|rows| &rows[..]) {
            while !rest.is_empty() {
                let (image, after) = layout.split(rest).unwrap();
                image.to_values().unwrap();
                rest = after;
            }
        }
        for end in 0..table.full.len() {
            let _ = table_map_metadata::decode_columns(&table.types, &table.metadata, &table.full[..end]);
        }
    }
}

#[test]
fn damaged_rows_never_panic() {
    for table in tables() {
        let layout = RowLayout::new(table.columns.iter().map(|(_, t)| t.clone()).collect::<Vec<_>>());
        for rows in &table.rows {
            for end in 0..rows.len().min(300) {
                let _ = layout.decode(&rows[..end]);
                let mut damaged = rows.clone();
                for flip in [0xff, 0x80, 0x01] {
                    damaged[end] ^= flip;
                    let _ = layout.decode(&damaged);
                    let _ = layout.split(&damaged);
                }
            }
        }
    }
}
