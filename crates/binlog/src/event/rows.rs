//! Rows events: the rows of one table that a statement inserted, updated or deleted.
//!
//! ```text
//! table id (6) | flags (2) | extra data: length (2, counting itself), bytes    (version 2 only)
//! | number of columns (packed) | columns present (bitmap) | columns present after (bitmap; updates only)
//! | rows: one image each; two (before, after) for an update
//! ```
//! This is MariaDB's `Rows_log_event`. MariaDB writes version 1, MySQL version 2. The compressed types contain the
//! rows in the form of [`super::compression`]. `paceline_types::row_image` decodes the images.

use super::EventType;
use super::body::EventBody;
use super::compression::decompress;
use super::table_map::{TableId, column_count};
use crate::codec::{Cursor, PutExt};
use crate::error::{Error, Result};
use std::borrow::Cow;

/// Kind of a row change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowsKind {
    /// Insert: one image per row.
    Write,
    /// Update: a before and an after image per row.
    Update,
    /// Delete: one image per row.
    Delete,
}

/// Layout of a rows event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowsVersion {
    /// MariaDB's layout.
    V1,
    /// MySQL's layout, with extra data.
    V2,
}

/// Whether an event contains the rows in compressed form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowsCompression {
    /// Uncompressed.
    Plain,
    /// Compressed (`log_bin_compress`).
    Compressed,
}

/// The flags of a rows event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RowsFlags(pub u16);

impl RowsFlags {
    /// STMT_END_F: the last event of its statement.
    pub const STATEMENT_END: u16 = 1;
    /// NO_FOREIGN_KEY_CHECKS_F.
    pub const NO_FOREIGN_KEY_CHECKS: u16 = 2;
    /// RELAXED_UNIQUE_CHECKS_F.
    pub const RELAXED_UNIQUE_CHECKS: u16 = 4;
    /// COMPLETE_ROWS_F: the images contain all columns.
    pub const COMPLETE_ROWS: u16 = 8;
    /// NO_CHECK_CONSTRAINT_CHECKS_F.
    pub const NO_CHECK_CONSTRAINT_CHECKS: u16 = 1 << 7;

    /// Returns whether the event is the last one of its statement.
    pub fn ends_statement(self) -> bool {
        self.0 & Self::STATEMENT_END != 0
    }
}

/// Changed rows of one table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowsEvent<'a> {
    /// Kind of the change.
    pub kind: RowsKind,
    /// Layout of the event.
    pub version: RowsVersion,
    /// Whether the rows are compressed when encoded.
    pub compression: RowsCompression,
    /// Id that a preceding table map assigned to the table.
    pub table_id: TableId,
    /// Flags of the event.
    pub flags: RowsFlags,
    /// Extra data of version 2, without its length.
    pub extra_data: &'a [u8],
    /// Number of the table's columns.
    pub columns: usize,
    /// Columns that the (before) images contain, one bit each.
    pub columns_present: &'a [u8],
    /// Columns that the after images of an update contain; empty otherwise.
    pub columns_present_after: &'a [u8],
    /// The images, one after another. Never compressed.
    pub rows: Cow<'a, [u8]>,
}

impl<'a> RowsEvent<'a> {
    /// Decodes the body of any rows event. An event of type [`EventType::MYSQL_PARTIAL_UPDATE_ROWS`] looks like an
    /// update, except for what precedes the after images: see [`crate::mysql::PartialUpdateRowsEvent`].
    ///
    /// # Errors
    /// [`Error::Malformed`], also for a compressed event that claims to be longer than any event may be.
    pub fn decode(event_type: EventType, body: &'a [u8]) -> Result<Self> {
        let (kind, version, compression) = layout(event_type).ok_or(Error::Malformed {
            event: "rows",
            problem: "it is not a rows event",
        })?;
        let mut cursor = Cursor::new(event_type.name(), body);
        let table_id = TableId(cursor.u48()?);
        let flags = RowsFlags(cursor.u16()?);
        let extra_data = match version {
            RowsVersion::V1 => &[][..],
            RowsVersion::V2 => {
                let length = usize::from(cursor.u16()?);
                let length = length
                    .checked_sub(2)
                    .ok_or_else(|| cursor.malformed("its extra data is too short"))?;
                cursor.bytes(length)?
            }
        };
        let columns = column_count(&mut cursor)?;
        let columns_present = cursor.bytes(columns.div_ceil(8))?;
        let columns_present_after = match kind {
            RowsKind::Update => cursor.bytes(columns.div_ceil(8))?,
            RowsKind::Write | RowsKind::Delete => &[],
        };
        let rows = match compression {
            RowsCompression::Plain => Cow::Borrowed(cursor.rest()),
            // The dummy event at the end of a statement has no rows, and then no compressed part either.
            RowsCompression::Compressed if cursor.is_empty() => Cow::Borrowed(&[][..]),
            RowsCompression::Compressed => Cow::Owned(decompress(event_type.name(), cursor.rest())?),
        };
        Ok(Self {
            kind,
            version,
            compression,
            table_id,
            flags,
            extra_data,
            columns,
            columns_present,
            columns_present_after,
            rows,
        })
    }
}

/// Returns the kind, version and compression of a type of rows event.
fn layout(event_type: EventType) -> Option<(RowsKind, RowsVersion, RowsCompression)> {
    use RowsCompression::{Compressed, Plain};
    use RowsKind::{Delete, Update, Write};
    use RowsVersion::{V1, V2};
    Some(match event_type {
        EventType::WRITE_ROWS_V1 => (Write, V1, Plain),
        EventType::UPDATE_ROWS_V1 => (Update, V1, Plain),
        EventType::DELETE_ROWS_V1 => (Delete, V1, Plain),
        EventType::WRITE_ROWS => (Write, V2, Plain),
        EventType::UPDATE_ROWS => (Update, V2, Plain),
        EventType::DELETE_ROWS => (Delete, V2, Plain),
        EventType::MYSQL_PARTIAL_UPDATE_ROWS => (Update, V2, Plain),
        EventType::WRITE_ROWS_COMPRESSED_V1 => (Write, V1, Compressed),
        EventType::UPDATE_ROWS_COMPRESSED_V1 => (Update, V1, Compressed),
        EventType::DELETE_ROWS_COMPRESSED_V1 => (Delete, V1, Compressed),
        EventType::WRITE_ROWS_COMPRESSED => (Write, V2, Compressed),
        EventType::UPDATE_ROWS_COMPRESSED => (Update, V2, Compressed),
        EventType::DELETE_ROWS_COMPRESSED => (Delete, V2, Compressed),
        _ => return None,
    })
}

impl EventBody for RowsEvent<'_> {
    fn event_type(&self) -> EventType {
        let first = match (self.version, self.compression) {
            (RowsVersion::V1, RowsCompression::Plain) => EventType::WRITE_ROWS_V1,
            (RowsVersion::V2, RowsCompression::Plain) => EventType::WRITE_ROWS,
            (RowsVersion::V1, RowsCompression::Compressed) => EventType::WRITE_ROWS_COMPRESSED_V1,
            (RowsVersion::V2, RowsCompression::Compressed) => EventType::WRITE_ROWS_COMPRESSED,
        };
        EventType(
            first.0
                + match self.kind {
                    RowsKind::Write => 0,
                    RowsKind::Update => 1,
                    RowsKind::Delete => 2,
                },
        )
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u48(self.table_id.0);
        out.put_u16(self.flags.0);
        if self.version == RowsVersion::V2 {
            out.put_u16(self.extra_data.len() as u16 + 2);
            out.extend_from_slice(self.extra_data);
        }
        out.put_packed(self.columns as u64);
        out.extend_from_slice(self.columns_present);
        out.extend_from_slice(self.columns_present_after);
        match self.compression {
            RowsCompression::Plain => out.extend_from_slice(&self.rows),
            RowsCompression::Compressed if self.rows.is_empty() => {}
            RowsCompression::Compressed => super::compression::compress(out, &self.rows),
        }
    }
}
