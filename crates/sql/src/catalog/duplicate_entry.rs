//! The values of a key as error 1062 shows them.
//!
//! As in MariaDB (`key_unpack`, `err_conv` in `sql/`): bytes that are no printable ASCII are escaped in binary strings and BIT, the zeros that pad
//! BINARY are left out, and of more than 64 bytes the beginning is shown, with three dots.

use paceline_types::{DataType, TimeZone, ValueRef, text};

use super::TableDescription;
use crate::catalog::IndexPart;

/// What is shown of an entry, in bytes, three dots included.
const SHOWN_BYTES_MAX: usize = 64;

/// The text of the entry that a row has in an index. `value` gives the row's columns by number.
pub fn duplicate_entry<'v>(
    table: &TableDescription,
    index: usize,
    time_zone: &TimeZone,
    mut value: impl FnMut(usize) -> ValueRef<'v>,
) -> String {
    let mut entry = String::new();
    for (number, part) in table.indexes[index].parts.iter().enumerate() {
        if number > 0 {
            entry.push('-');
        }
        let data_type = &table.columns[part.column].data_type;
        append_value(&value(part.column), part, data_type, time_zone, &mut entry);
    }
    shortened(entry)
}

fn append_value(
    value: &ValueRef<'_>,
    part: &IndexPart,
    data_type: &DataType,
    time_zone: &TimeZone,
    entry: &mut String,
) {
    if matches!(value, ValueRef::Null) {
        entry.push_str("NULL");
        return;
    }
    let mut bytes = Vec::new();
    text::append_column_value(value, data_type, time_zone, &mut bytes);
    let prefix = part.prefix_length.map_or(usize::MAX, |length| length as usize);
    match data_type {
        DataType::Binary { .. } => {
            let end = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
            append_escaped(&bytes[..end.min(bytes.len()).min(prefix)], entry);
        }
        DataType::VarBinary { .. } | DataType::Blob { .. } | DataType::Bit { .. } => {
            append_escaped(&bytes[..bytes.len().min(prefix)], entry);
        }
        _ => entry.extend(String::from_utf8_lossy(&bytes).chars().take(prefix)),
    }
}

fn append_escaped(bytes: &[u8], entry: &mut String) {
    use std::fmt::Write;
    for byte in bytes {
        match byte {
            b' '..=b'~' => entry.push(char::from(*byte)),
            other => {
                let _ = write!(entry, "\\x{other:02X}");
            }
        }
    }
}

fn shortened(mut entry: String) -> String {
    if entry.len() > SHOWN_BYTES_MAX {
        let end = (0..=SHOWN_BYTES_MAX - 3)
            .rev()
            .find(|end| entry.is_char_boundary(*end))
            .unwrap_or(0);
        entry.truncate(end);
        entry.push_str("...");
    }
    entry
}
