//! Table_map: assigns an id to a table and its column types, which the following rows events use.
//!
//! ```text
//! table id (6) | flags (2)
//! | database: length (1), name, NUL | table: length (1), name, NUL
//! | number of columns (packed) | type codes (1 each) | metadata: length (packed), bytes
//! | nullable columns (bitmap) | optional metadata
//! ```
//! This is MariaDB's `Table_map_log_event`. `paceline_types::table_map_metadata` decodes the metadata.

use super::EventType;
use super::body::EventBody;
use crate::codec::{Cursor, PutExt};
use crate::error::Result;

/// Maximum number of columns of a table in MariaDB.
pub const COLUMNS_MAX: usize = 4096;

/// Id that a table map assigns to a table; 48 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TableId(pub u64);

impl TableId {
    /// Id that MariaDB writes in a rows event that only marks the end of a statement.
    pub const DUMMY: Self = Self(0x00FF_FFFF);
    /// The highest id.
    pub const MAX: Self = Self((1 << 48) - 1);
}

/// A table and its column types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableMapEvent<'a> {
    /// Id that rows events use.
    pub table_id: TableId,
    /// MariaDB's TM_* flags; TM_BIT_LEN_EXACT_F (1) is always set by MariaDB.
    pub flags: u16,
    /// The database's name.
    pub database: &'a [u8],
    /// The table's name.
    pub table: &'a [u8],
    /// Type code of each column (MYSQL_TYPE_…).
    pub column_types: &'a [u8],
    /// Metadata of the types; its length depends on each type.
    pub metadata: &'a [u8],
    /// Columns that may be NULL, one bit each, least significant bit first.
    pub nullable: &'a [u8],
    /// The undecoded metadata that `binlog_row_metadata` adds.
    pub optional_metadata: &'a [u8],
}

impl<'a> TableMapEvent<'a> {
    /// TM_BIT_LEN_EXACT_F: the lengths of columns are exact to the bit. Always set by MariaDB.
    pub const FLAG_BIT_LENGTH_EXACT: u16 = 1;
    /// TM_BIT_HAS_TRIGGERS_F: the table has triggers, which have run for the rows.
    pub const FLAG_HAS_TRIGGERS: u16 = 1 << 14;

    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Table_map", body);
        let table_id = TableId(cursor.u48()?);
        let flags = cursor.u16()?;
        let database = cursor.short_bytes_with_nul()?;
        let table = cursor.short_bytes_with_nul()?;
        let columns = column_count(&mut cursor)?;
        let column_types = cursor.bytes(columns)?;
        let metadata_length = cursor.packed()?;
        let metadata = cursor.bytes(usize::try_from(metadata_length).unwrap_or(usize::MAX))?;
        let nullable = cursor.bytes(columns.div_ceil(8))?;
        let optional_metadata = cursor.rest();
        Ok(Self {
            table_id,
            flags,
            database,
            table,
            column_types,
            metadata,
            nullable,
            optional_metadata,
        })
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.column_types.len()
    }
}

/// Decodes a number of columns and checks it against the limit.
pub(super) fn column_count(cursor: &mut Cursor<'_>) -> Result<usize> {
    match usize::try_from(cursor.packed()?) {
        Ok(columns) if columns <= COLUMNS_MAX => Ok(columns),
        _ => Err(cursor.malformed("it has too many columns")),
    }
}

impl EventBody for TableMapEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::TABLE_MAP
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u48(self.table_id.0);
        out.put_u16(self.flags);
        for name in [self.database, self.table] {
            out.put_short_bytes(name);
            out.put_u8(0);
        }
        out.put_packed(self.column_types.len() as u64);
        out.extend_from_slice(self.column_types);
        out.put_packed(self.metadata.len() as u64);
        out.extend_from_slice(self.metadata);
        out.extend_from_slice(self.nullable);
        out.extend_from_slice(self.optional_metadata);
    }
}
