//! Key values in the text of error 1062.
//!
//! As in MariaDB (`key_unpack`, `err_conv` in `sql/`): in binary strings and BIT, bytes other than printable ASCII are
//! escaped; the padding of BINARY is omitted; of more than 64 bytes, the beginning and three dots are shown.

use paceline_types::{DataType, TimeZone, ValueRef, text};

use super::TableDescription;
use crate::IndexPart;

/// Maximum length of the shown text in bytes, including three dots.
const SHOWN_BYTES_MAX: usize = 64;

/// Returns the text of a row's entry in an index. `value` returns the row's columns by index.
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
