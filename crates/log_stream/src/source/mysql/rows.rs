//! Conversion of MySQL's rows to MariaDB's layout.
//!
//! Both servers have the same layout for most types. There are three differences: MySQL has a binary form of JSON,
//! which is a LONGTEXT in MariaDB; MySQL clears the unused bits of the NULL bitmap, MariaDB sets them (images are
//! compared and stored as bytes); and MySQL's VECTOR and GEOMETRY are BLOBs with their own type codes.
//!
//! An update can contain changes of JSON documents instead of whole documents: see [`partial`].

mod partial;

pub(super) use partial::PartialUpdate;

use super::super::error::{SourceError, corrupt};
use paceline_binlog::event::{
    EventType, RowsCompression, RowsEvent, RowsFlags, RowsKind, RowsVersion, TableId, TableMapEvent,
};
use paceline_json::binary::append_json_text;
use paceline_types::DataType;
use paceline_types::row_image::RowLayout;
use paceline_types::table_map_metadata::decode_columns;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// USE_SQL_FOREIGN_KEY_F of a rows event, since MySQL 9.6: actions of foreign keys are logged as rows. In MariaDB the
/// bit is another flag.
const USE_SQL_FOREIGN_KEY: u16 = 1 << 4;

/// Maximum number of cached tables: MySQL assigns a new id whenever it opens a table again.
const TABLES_MAX: usize = 4096;

/// Type codes that are BLOBs in MariaDB.
mod type_code {
    pub const VECTOR: u8 = 242;
    pub const JSON: u8 = 245;
    pub const BLOB: u8 = 252;
    pub const GEOMETRY: u8 = 255;
}

/// Translates rows. Remembers the columns of each table.
#[derive(Default)]
pub(super) struct RowTranslator {
    tables: HashMap<TableId, Arc<Table>>,
    /// Buffer for the resulting images.
    images: Vec<u8>,
    text: Vec<u8>,
}

struct Table {
    /// Database and name, for messages.
    name: String,
    types: Arc<[DataType]>,
    /// MariaDB's type codes, for the table map.
    codes: Vec<u8>,
    is_json: Vec<bool>,
}

/// The columns in an image, and which of them are JSON.
struct ImageColumns {
    /// Indexes of the columns in the table.
    numbers: Vec<usize>,
    layout: RowLayout,
    json: Vec<bool>,
}

/// Documents of an image: indexes of their columns in the table, and the ranges of their text.
type Documents = Vec<(usize, Range<usize>)>;

impl ImageColumns {
    fn new(table: &Table, present: &[u8]) -> Self {
        let is_held = |number: &usize| {
            present
                .get(number / 8)
                .is_some_and(|byte| byte >> (number % 8) & 1 == 1)
        };
        let numbers: Vec<usize> = (0..table.types.len()).filter(is_held).collect();
        let types: Vec<DataType> = numbers
            .iter()
            .map(|number| table.types[*number].clone())
            .collect();
        ImageColumns {
            layout: RowLayout::new(types),
            json: numbers.iter().map(|number| table.is_json[*number]).collect(),
            numbers,
        }
    }

    /// Returns whether MariaDB has the same layout for such images.
    fn is_same(&self) -> bool {
        self.json.len().is_multiple_of(8) && !self.json.contains(&true)
    }

    /// Removes an image from the front and appends it in MariaDB's layout.
    fn take<'r>(
        &self,
        rows: &'r [u8],
        text: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<&'r [u8], SourceError> {
        let read =
            |_: usize, document: &[u8], text: &mut Vec<u8>| append_json_text(document, text).map_err(corrupt);
        self.take_with(rows, read, text, out, None)
    }

    /// Like `take`; `read` appends the text of a document. Its argument is the column's index in the table.
    fn take_with<'r>(
        &self,
        rows: &'r [u8],
        read: impl Fn(usize, &[u8], &mut Vec<u8>) -> Result<(), SourceError>,
        text: &mut Vec<u8>,
        out: &mut Vec<u8>,
        mut documents: Option<&mut Documents>,
    ) -> Result<&'r [u8], SourceError> {
        let (image, _) = self.layout.split(rows).map_err(corrupt)?;
        let bytes = image.bytes();
        let (taken, rest) = rows.split_at(bytes.len());
        let columns = self.json.len();
        let bitmap = columns.div_ceil(8);
        let start = out.len();
        out.extend_from_slice(&taken[..bitmap]);
        if !columns.is_multiple_of(8) {
            out[start + bitmap - 1] |= 0xFF << (columns % 8);
        }
        if !self.json.contains(&true) {
            out.extend_from_slice(&taken[bitmap..]);
            return Ok(rest);
        }
        let mut values = image.columns();
        let mut copied = bitmap;
        for (number, is_json) in self.numbers.iter().zip(&self.json) {
            let document = values.next_packed().map_err(corrupt)?;
            let end = values.offset();
            match document {
                Some(document) if *is_json => {
                    text.clear();
                    read(*number, document, text)?;
                    let length = u32::try_from(text.len()).map_err(corrupt)?;
                    out.extend_from_slice(&length.to_le_bytes());
                    let start = out.len();
                    out.extend_from_slice(text);
                    if let Some(documents) = &mut documents {
                        documents.push((*number, start..out.len()));
                    }
                }
                _ => out.extend_from_slice(&taken[copied..end]),
            }
            copied = end;
        }
        Ok(rest)
    }
}

impl RowTranslator {
    /// Converts a table map to MariaDB's form. Replaces the previous table with the same id.
    pub(super) fn table_map<'e>(&'e mut self, body: &'e [u8]) -> Result<TableMapEvent<'e>, SourceError> {
        let map = TableMapEvent::decode(body).map_err(corrupt)?;
        let codes: Vec<u8> = map
            .column_types
            .iter()
            .map(|code| match *code {
                type_code::JSON | type_code::VECTOR | type_code::GEOMETRY => type_code::BLOB,
                code => code,
            })
            .collect();
        let types = decode_columns(&codes, map.metadata, &[]).map_err(corrupt)?;
        let is_json = map
            .column_types
            .iter()
            .map(|code| *code == type_code::JSON)
            .collect();
        if self.tables.len() >= TABLES_MAX {
            self.tables.clear();
        }
        let table = Arc::new(Table {
            name: format!(
                "{}.{}",
                String::from_utf8_lossy(map.database),
                String::from_utf8_lossy(map.table)
            ),
            types,
            codes,
            is_json,
        });
        self.tables.insert(map.table_id, table);
        Ok(TableMapEvent {
            column_types: &self.tables[&map.table_id].codes,
            // Character sets with MySQL's ids, and kinds of metadata that MariaDB does not have. They are not needed
            // here.
            optional_metadata: &[],
            ..map
        })
    }

    /// Converts a rows event to MariaDB's form. `None` if it needs no change.
    pub(super) fn rows<'e>(
        &'e mut self,
        event_type: EventType,
        body: &'e [u8],
    ) -> Result<Option<RowsEvent<'e>>, SourceError> {
        let event = RowsEvent::decode(event_type, body).map_err(corrupt)?;
        let Some(table) = self.table_of(&event)? else {
            return Ok(None);
        };
        let held = ImageColumns::new(&table, event.columns_present);
        let after = match event.kind {
            RowsKind::Update => Some(ImageColumns::new(&table, event.columns_present_after)),
            RowsKind::Write | RowsKind::Delete => None,
        };
        self.images.clear();
        let is_same = held.is_same() && after.as_ref().is_none_or(ImageColumns::is_same);
        if !is_same {
            let mut rest: &[u8] = &event.rows;
            while !rest.is_empty() {
                rest = held.take(rest, &mut self.text, &mut self.images)?;
                if let Some(after) = &after {
                    rest = after.take(rest, &mut self.text, &mut self.images)?;
                }
            }
        }
        Ok(Some(RowsEvent {
            version: RowsVersion::V1,
            compression: RowsCompression::Plain,
            flags: known_flags(event.flags),
            extra_data: &[],
            rows: match is_same {
                true => event.rows,
                false => Cow::Borrowed(&self.images),
            },
            ..event
        }))
    }

    /// Returns the table of an event, or `None` for the end mark of a statement, which has no rows.
    fn table_of(&self, event: &RowsEvent<'_>) -> Result<Option<Arc<Table>>, SourceError> {
        let Some(table) = self.tables.get(&event.table_id) else {
            if event.rows.is_empty() {
                return Ok(None);
            }
            return Err(corrupt(format_args!(
                "rows of table number {}, which no table map names",
                event.table_id.0
            )));
        };
        if event.columns != table.types.len() {
            return Err(corrupt("a rows event has not as many columns as its table map"));
        }
        Ok(Some(table.clone()))
    }
}

/// Returns the flags of an event that MariaDB has, too.
fn known_flags(flags: RowsFlags) -> RowsFlags {
    let known = RowsFlags::STATEMENT_END
        | RowsFlags::NO_FOREIGN_KEY_CHECKS
        | RowsFlags::RELAXED_UNIQUE_CHECKS
        | RowsFlags::COMPLETE_ROWS;
    match flags.0 & USE_SQL_FOREIGN_KEY {
        0 => RowsFlags(flags.0 & known),
        // The rows changed by foreign key actions have their own events.
        _ => RowsFlags(flags.0 & known | RowsFlags::NO_FOREIGN_KEY_CHECKS),
    }
}
