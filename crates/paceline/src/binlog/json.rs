//! `--json`: prints a line for each changed row.
//!
//! ```text
//! {"gtid":"0-1-5","time":"2026-11-22 01:04:55","database":"d","table":"t","kind":"update","before":{"id":1},"after":{"id":2}}
//! ```
//! Columns have their names if the table map contains them (`binlog_row_metadata=FULL`), otherwise `@1`, `@2`, ….
//! Without that metadata, signs, character sets and labels are unknown too: numbers are signed, text is interpreted as
//! UTF-8, labels are numbers. Values that only text represents exactly (DECIMAL, times) are text. Times are in UTC.
//! Bytes that are not valid text are shown as `{"hex":"00ff"}`.

use super::column::MappedTable;
use super::rows_text::is_present;
use super::source::LoggedEvent;
use paceline_binlog::event::{Event, RowsEvent, RowsKind, TableId};
use paceline_types::row_image::RowLayout;
use paceline_types::{DataType, Gtid, TimeZone, ValueRef, text};
use std::collections::HashMap;
use std::io::Write;

/// Converts events to lines.
#[derive(Debug)]
pub struct RowLines {
    database: Option<Vec<u8>>,
    table: Option<Vec<u8>>,
    gtid: Option<Gtid>,
    tables: HashMap<TableId, MappedTable>,
}

impl RowLines {
    /// Selects all tables, or only those in a database or with a name.
    pub fn new(database: Option<&str>, table: Option<&str>) -> Self {
        RowLines {
            database: database.map(|name| name.as_bytes().to_vec()),
            table: table.map(|name| name.as_bytes().to_vec()),
            gtid: None,
            tables: HashMap::new(),
        }
    }

    fn wants(&self, table: &MappedTable) -> bool {
        self.database.as_ref().is_none_or(|name| *name == table.database)
            && self.table.as_ref().is_none_or(|name| *name == table.table)
    }

    /// Appends the lines of an event. The error describes what is wrong with the event.
    pub fn append(&mut self, event: &LoggedEvent<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        match event.decode_rows().map_err(|error| error.to_string())? {
            Event::Gtid(gtid) => self.gtid = Some(gtid.gtid),
            Event::TableMap(map) => {
                let table = MappedTable::of(&map).ok_or("table map with unknown column types")?;
                self.tables.insert(map.table_id, table);
            }
            Event::Rows(rows) => {
                if let Some(table) = self.tables.get(&rows.table_id).filter(|table| self.wants(table)) {
                    append_rows(self.gtid, table, event.header().timestamp, &rows, out)?;
                }
                if rows.flags.ends_statement() {
                    self.tables.clear();
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn append_rows(
    gtid: Option<Gtid>,
    table: &MappedTable,
    timestamp: u32,
    event: &RowsEvent<'_>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let types = table.types.as_ref().ok_or("unknown column type")?;
    let before = Image::new(types, event.columns_present);
    let after = Image::new(types, event.columns_present_after);
    let kind = match event.kind {
        RowsKind::Write => "insert",
        RowsKind::Update => "update",
        RowsKind::Delete => "delete",
    };
    let time = text::to_string(
        &ValueRef::DateTime(TimeZone::UTC.to_local(i64::from(timestamp))),
        &TimeZone::UTC,
    );
    let mut start = b"{\"gtid\":".to_vec();
    match gtid {
        Some(gtid) => append_string(&gtid.to_string(), &mut start),
        None => start.extend_from_slice(b"null"),
    }
    for (name, value) in [
        ("time", time.as_str()),
        ("database", &String::from_utf8_lossy(&table.database)),
        ("table", &String::from_utf8_lossy(&table.table)),
        ("kind", kind),
    ] {
        let _ = write!(start, ",\"{name}\":");
        append_string(value, &mut start);
    }
    let mut rows = &event.rows[..];
    while !rows.is_empty() {
        let left = rows.len();
        out.extend_from_slice(&start);
        out.extend_from_slice(b",\"before\":");
        if event.kind == RowsKind::Write {
            out.extend_from_slice(b"null");
        } else {
            before.append(table, &mut rows, out)?;
        }
        out.extend_from_slice(b",\"after\":");
        match event.kind {
            RowsKind::Write => before.append(table, &mut rows, out)?,
            RowsKind::Update => after.append(table, &mut rows, out)?,
            RowsKind::Delete => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b"}\n");
        if rows.len() == left {
            return Err("rows without columns".into());
        }
    }
    Ok(())
}

/// The columns that an event's images contain.
struct Image {
    numbers: Vec<usize>,
    layout: RowLayout,
}

impl Image {
    fn new(types: &[DataType], present: &[u8]) -> Self {
        let numbers: Vec<_> = (0..types.len())
            .filter(|number| is_present(present, *number))
            .collect();
        let shown: Vec<_> = numbers.iter().map(|number| types[*number].clone()).collect();
        Image {
            numbers,
            layout: RowLayout::new(shown),
        }
    }

    fn append<'a>(
        &'a self,
        table: &MappedTable,
        rows: &mut &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let (image, rest) = self.layout.split(rows).map_err(|error| error.to_string())?;
        *rows = rest;
        out.push(b'{');
        for (place, (number, value)) in self.numbers.iter().zip(image.columns()).enumerate() {
            if place > 0 {
                out.push(b',');
            }
            match table.names.get(*number) {
                Some(name) => append_string(name, out),
                None => append_string(&format!("@{}", number + 1), out),
            }
            out.push(b':');
            append_value(&value.map_err(|error| error.to_string())?, out);
        }
        out.push(b'}');
        Ok(())
    }
}

fn append_value(value: &ValueRef<'_>, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = match value {
        ValueRef::Null => write!(out, "null"),
        ValueRef::Int(number) => write!(out, "{number}"),
        ValueRef::UInt(number) => write!(out, "{number}"),
        ValueRef::Year(year) => write!(out, "{year}"),
        ValueRef::Bit(bits) => write!(out, "{}", bits.bits),
        ValueRef::Float(_) | ValueRef::Double(_) => {
            text::append_value(value, &TimeZone::UTC, out);
            Ok(())
        }
        ValueRef::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => {
                append_string(text, out);
                Ok(())
            }
            Err(_) => {
                let _ = write!(out, "{{\"hex\":\"");
                for byte in bytes.iter() {
                    let _ = write!(out, "{byte:02x}");
                }
                write!(out, "\"}}")
            }
        },
        _ => {
            append_string(&text::to_string(value, &TimeZone::UTC), out);
            Ok(())
        }
    };
}

fn append_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
            '\n' => out.extend_from_slice(b"\\n"),
            '\u{0}'..='\u{1f}' | '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        let mut out = Vec::new();
        append_string("a\"\\\n\u{1}é", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\"a\\\"\\\\\\n\\u0001é\"");
    }

    #[test]
    fn bytes_that_are_no_text_are_hexadecimal() {
        let mut out = Vec::new();
        append_value(&ValueRef::Bytes(vec![0, 255].into()), &mut out);
        assert_eq!(out, b"{\"hex\":\"00ff\"}");
    }
}
