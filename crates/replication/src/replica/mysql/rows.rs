//! Rows of MySQL in MariaDB's layout.
//!
//! Both servers lay most types out alike. Three things differ: MySQL has a binary form of JSON, where MariaDB's JSON is a LONGTEXT; it clears the
//! bits of the NULL bitmap that belong to no column, which MariaDB sets (an image is compared and stored as bytes); and its VECTOR and GEOMETRY are
//! BLOBs with a number of their own.
//!
//! An update may hold changes of JSON documents instead of them: see [`partial`].

mod partial;

pub(super) use partial::PartialUpdate;

use super::super::error::{SourceError, corrupt};
use paceline_binlog::event::{
    EventType, RowsCompression, RowsEvent, RowsFlags, RowsKind, RowsVersion, TableId, TableMapEvent,
};
use paceline_types::DataType;
use paceline_types::json_binary::append_json_text;
use paceline_types::row_image::RowLayout;
use paceline_types::table_map_metadata::decode_columns;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// USE_SQL_FOREIGN_KEY_F of a rows event, from MySQL 9.6 on: actions of foreign keys are logged as rows. In a MariaDB's event it would be another flag.
const USE_SQL_FOREIGN_KEY: u16 = 1 << 4;

/// The most tables that are remembered: MySQL gives a table a new number whenever it opens it anew.
const TABLES_MAX: usize = 4096;

/// Types that are a BLOB's to MariaDB.
mod type_code {
    pub const VECTOR: u8 = 242;
    pub const JSON: u8 = 245;
    pub const BLOB: u8 = 252;
    pub const GEOMETRY: u8 = 255;
}

/// Translates rows and keeps in mind which table has which columns.
#[derive(Default)]
pub(super) struct RowTranslator {
    tables: HashMap<TableId, Arc<Table>>,
    /// The images that are being made.
    images: Vec<u8>,
    text: Vec<u8>,
}

struct Table {
    /// Database and name, as messages show them.
    name: String,
    types: Arc<[DataType]>,
    /// MariaDB's numbers of the types, which a table map is made of.
    codes: Vec<u8>,
    is_json: Vec<bool>,
}

/// The columns that images hold, and which of them are JSON.
struct Held {
    /// Their numbers in the table.
    numbers: Vec<usize>,
    layout: RowLayout,
    json: Vec<bool>,
}

/// What has been made of an image: the columns, from 0, whose documents are in it, and where their text is.
type Documents = Vec<(usize, Range<usize>)>;

impl Held {
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
        Held {
            layout: RowLayout::new(types),
            json: numbers.iter().map(|number| table.is_json[*number]).collect(),
            numbers,
        }
    }

    /// Whether MariaDB lays such images out in the same way.
    fn is_same(&self) -> bool {
        self.json.len().is_multiple_of(8) && !self.json.contains(&true)
    }

    /// Takes an image off the front and appends it in MariaDB's layout.
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

    /// The same with documents that `read` appends to a text. It is given the column's number in the table.
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
    /// A table map as MariaDB would have written it. Forgets what the number meant before.
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
            // Character sets by MySQL's numbers, and kinds of metadata that MariaDB does not have: nobody needs them here.
            optional_metadata: &[],
            ..map
        })
    }

    /// A rows event as MariaDB would have written it. `None`: as this one.
    pub(super) fn rows<'e>(
        &'e mut self,
        event_type: EventType,
        body: &'e [u8],
    ) -> Result<Option<RowsEvent<'e>>, SourceError> {
        let event = RowsEvent::decode(event_type, body).map_err(corrupt)?;
        let Some(table) = self.table_of(&event)? else {
            return Ok(None);
        };
        let held = Held::new(&table, event.columns_present);
        let after = match event.kind {
            RowsKind::Update => Some(Held::new(&table, event.columns_present_after)),
            RowsKind::Write | RowsKind::Delete => None,
        };
        self.images.clear();
        let is_same = held.is_same() && after.as_ref().is_none_or(Held::is_same);
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

    /// The table of an event; `None` for the mark of a statement's end, which has rows of no table.
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

/// The flags of an event, as far as MariaDB has them.
fn known_flags(flags: RowsFlags) -> RowsFlags {
    let known = RowsFlags::STATEMENT_END
        | RowsFlags::NO_FOREIGN_KEY_CHECKS
        | RowsFlags::RELAXED_UNIQUE_CHECKS
        | RowsFlags::COMPLETE_ROWS;
    match flags.0 & USE_SQL_FOREIGN_KEY {
        0 => RowsFlags(flags.0 & known),
        // The rows that actions have changed have events of their own.
        _ => RowsFlags(flags.0 & known | RowsFlags::NO_FOREIGN_KEY_CHECKS),
    }
}
