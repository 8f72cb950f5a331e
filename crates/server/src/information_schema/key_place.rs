//! Where the key of a lock is: its table, its index, and the values in it.
//!
//! The values are shown as literals, in the order of the index's columns. Those that a key does not determine, such as
//! texts of which several have one key, are shown as the digits of that key: they tell rows apart.

use crate::sql_text::identifier;
use paceline_catalog::{Catalog, TableDefinition};
use paceline_storage::IndexId;
use paceline_types::key_reader::{KeyReader, determines_value};
use paceline_types::{TimeZone, Value, text};

/// Maximum number of bytes of one value, and of a key that is no values, that are shown.
const SHOWN_BYTES_MAX: usize = 256;

/// Place of a key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct KeyPlace {
    /// The table: `` `test`.`t1` ``.
    pub(crate) table: String,
    /// Name of the index; `GEN_CLUST_INDEX` for rows without a key.
    pub(crate) index: String,
    /// Values of the key: `1, 'a', NULL`.
    pub(crate) values: String,
}

impl KeyPlace {
    /// Returns the place of a key, or `None` if its table is gone.
    pub(crate) fn of(catalog: &Catalog, key: &[u8]) -> Option<KeyPlace> {
        let id = IndexId::of_key(key)?.as_u32();
        let columns = &key[IndexId::LENGTH..];
        catalog.tables().find_map(|table| {
            let named = table.indexes().iter().find(|index| index.id == id);
            let (index, values) = match named {
                Some(index) => (index.name.clone(), values(table, id, columns)),
                None if table.description().hidden.contains(&id) => {
                    ("GEN_CLUST_INDEX".to_owned(), digits(columns))
                }
                None => return None,
            };
            Some(KeyPlace {
                table: format!("{}.{}", identifier(table.database()), identifier(table.name())),
                index,
                values,
            })
        })
    }
}

/// Returns the values of an index's key, without its number.
fn values(table: &TableDefinition, id: u32, key: &[u8]) -> String {
    let schema = table.schema();
    let Some(index) = schema.indexes().iter().find(|index| index.id.as_u32() == id) else {
        return digits(key);
    };
    let mut reader = KeyReader::new(key);
    let mut shown = Vec::with_capacity(index.parts.len());
    for part in &index.parts {
        let column = &schema.columns()[part.column];
        let before = reader.clone();
        // A hash, or the key of a range.
        if reader
            .skip(&column.data_type, column.nullability, part.prefix)
            .is_err()
        {
            shown.push(digits(before.rest()));
            break;
        }
        let of_part = &before.rest()[..before.rest().len() - reader.rest().len()];
        let mut value = Value::Null;
        let is_whole = part.prefix.is_none() && determines_value(&column.data_type);
        let is_read = is_whole
            && before
                .clone()
                .next_into(&column.data_type, column.nullability, &mut value)
                .is_ok();
        shown.push(match is_read {
            true => literal(&value),
            false => digits(of_part),
        });
    }
    shown.join(", ")
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bytes(bytes) => digits(bytes),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Year(_) => {
            text::to_string(&value.as_ref(), &TimeZone::UTC)
        }
        _ => crate::sql_text::text_literal(&text::to_string(&value.as_ref(), &TimeZone::UTC)),
    }
}

fn digits(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(SHOWN_BYTES_MAX)];
    let digits = shown.iter().map(|byte| format!("{byte:02X}"));
    let cut = if shown.len() < bytes.len() { "…" } else { "" };
    format!("0x{}{cut}", digits.collect::<String>())
}
