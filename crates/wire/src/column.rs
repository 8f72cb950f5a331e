//! Column definitions, which precede the rows of a result set.

use std::borrow::Cow;

use crate::bytes::{Cursor, put_lenenc_bytes};
use crate::capability::Capabilities;
use crate::error::WireResult;
use crate::framing::PacketWriter;

/// Type codes of the protocol.
pub mod field_type {
    /// DECIMAL.
    pub const NEWDECIMAL: u8 = 246;
    /// TINYINT.
    pub const TINY: u8 = 1;
    /// SMALLINT.
    pub const SHORT: u8 = 2;
    /// INT.
    pub const LONG: u8 = 3;
    /// FLOAT.
    pub const FLOAT: u8 = 4;
    /// DOUBLE.
    pub const DOUBLE: u8 = 5;
    /// NULL.
    pub const NULL: u8 = 6;
    /// TIMESTAMP.
    pub const TIMESTAMP: u8 = 7;
    /// BIGINT.
    pub const LONGLONG: u8 = 8;
    /// MEDIUMINT.
    pub const INT24: u8 = 9;
    /// DATE.
    pub const DATE: u8 = 10;
    /// TIME.
    pub const TIME: u8 = 11;
    /// DATETIME.
    pub const DATETIME: u8 = 12;
    /// YEAR.
    pub const YEAR: u8 = 13;
    /// DATE of old clients.
    pub const NEWDATE: u8 = 14;
    /// BIT.
    pub const BIT: u8 = 16;
    /// TIMESTAMP, only inside of the server.
    pub const TIMESTAMP2: u8 = 17;
    /// DATETIME, only inside of the server.
    pub const DATETIME2: u8 = 18;
    /// TIME, only inside of the server.
    pub const TIME2: u8 = 19;
    /// ENUM, only inside of the server; sent as STRING.
    pub const ENUM: u8 = 247;
    /// SET, only inside of the server; sent as STRING.
    pub const SET: u8 = 248;
    /// BLOB and TEXT of every size.
    pub const BLOB: u8 = 252;
    /// VARCHAR and VARBINARY.
    pub const VAR_STRING: u8 = 253;
    /// CHAR and BINARY.
    pub const STRING: u8 = 254;
}

/// Kind of a name in extended metadata: that of a type.
const TYPE_NAME: u8 = 0;
/// Kind of a name in extended metadata: that of a format.
const FORMAT_NAME: u8 = 1;

/// Longest name of a result's column in bytes: MariaDB cuts longer ones, which expressions without an alias have.
const NAME_BYTES_MAX: usize = 255;

/// A column of a result set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDefinition<'a> {
    /// Name of the database; empty for an expression.
    pub schema: &'a str,
    /// Alias of the table.
    pub table: &'a str,
    /// Original name of the table.
    pub original_table: &'a str,
    /// Alias of the column.
    pub name: &'a str,
    /// Original name of the column.
    pub original_name: &'a str,
    /// Id of the collation; 63 for values that are not text.
    pub collation: u16,
    /// Maximum length of a value in bytes, or the display width.
    pub length: u32,
    /// Type code, one of [`field_type`].
    pub field_type: u8,
    /// Flags for keys, NULL and the like (MariaDB's `include/mysql_com.h`), which this crate only passes on.
    pub flags: u16,
    /// Number of digits after the decimal point; 31 if it is not fixed, 39 for MariaDB's expressions.
    pub decimals: u8,
    /// MariaDB's format name (`json`); usually empty.
    pub format: &'a str,
    /// Name of a type that has no code of its own (`uuid`); usually empty.
    pub type_name: &'a str,
}

/// Returns the name up to [`NAME_BYTES_MAX`], in whole characters.
fn cut_name(name: &str) -> &str {
    if name.len() <= NAME_BYTES_MAX {
        return name;
    }
    let whole = (0..=NAME_BYTES_MAX).rev().find(|end| name.is_char_boundary(*end));
    &name[..whole.unwrap_or(0)]
}

impl ColumnDefinition<'_> {
    /// Appends the payload of the packet, with names in UTF-8.
    pub fn encode(&self, out: &mut Vec<u8>, capabilities: Capabilities) {
        self.encode_in(out, capabilities, &|name| Cow::Borrowed(name.as_bytes()));
    }

    /// Appends the payload of the packet, with the names as `encoded` makes them.
    pub fn encode_in(
        &self,
        out: &mut Vec<u8>,
        capabilities: Capabilities,
        encoded: &dyn Fn(&str) -> Cow<'_, [u8]>,
    ) {
        put_lenenc_bytes(out, b"def");
        for text in [
            self.schema,
            self.table,
            self.original_table,
            cut_name(self.name),
            self.original_name,
        ] {
            put_lenenc_bytes(out, &encoded(text));
        }
        if capabilities.has(Capabilities::MARIADB_EXTENDED_METADATA) {
            let mut extended = Vec::new();
            for (kind, name) in [(TYPE_NAME, self.type_name), (FORMAT_NAME, self.format)] {
                if !name.is_empty() {
                    extended.push(kind);
                    put_lenenc_bytes(&mut extended, name.as_bytes());
                }
            }
            put_lenenc_bytes(out, &extended);
        }
        out.push(0x0C);
        out.extend_from_slice(&self.collation.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.push(self.field_type);
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.push(self.decimals);
        out.extend_from_slice(&[0, 0]);
    }

    /// Writes the packet.
    pub fn write(&self, writer: &mut PacketWriter, capabilities: Capabilities) {
        self.encode(writer.begin(), capabilities);
        writer.end();
    }

    /// Writes the packet for `COM_FIELD_LIST`, which includes the default value of the column.
    pub fn write_with_default(
        &self,
        writer: &mut PacketWriter,
        capabilities: Capabilities,
        default: Option<&str>,
    ) {
        let out = writer.begin();
        self.encode(out, capabilities);
        match default {
            Some(default) => put_lenenc_bytes(out, default.as_bytes()),
            None => out.push(0xFB),
        }
        writer.end();
    }
}

/// Whether column definitions are sent to a client that may have cached them
/// ([`MARIADB_CACHE_METADATA`](Capabilities::MARIADB_CACHE_METADATA)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    /// The definitions follow.
    Follows,
    /// The definitions are those that were sent when the statement was prepared.
    Unchanged,
}

/// Writes the first packet of a result set: the number of columns.
pub fn write_column_count(
    writer: &mut PacketWriter,
    count: usize,
    metadata: Metadata,
    capabilities: Capabilities,
) {
    let out = writer.begin();
    crate::bytes::put_lenenc_int(out, count as u64);
    if capabilities.has(Capabilities::MARIADB_CACHE_METADATA) {
        out.push(u8::from(metadata == Metadata::Follows));
    }
    writer.end();
}

/// A column definition that a client has received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedColumn {
    /// Name of the database.
    pub schema: String,
    /// Alias of the table.
    pub table: String,
    /// Original name of the table.
    pub original_table: String,
    /// Alias of the column.
    pub name: String,
    /// Original name of the column.
    pub original_name: String,
    /// Id of the collation.
    pub collation: u16,
    /// Maximum length of a value, or the display width.
    pub length: u32,
    /// Type code, one of [`field_type`].
    pub field_type: u8,
    /// Flags as in [`ColumnDefinition`].
    pub flags: u16,
    /// Number of digits after the decimal point.
    pub decimals: u8,
}

impl ReceivedColumn {
    /// Decodes the packet.
    pub fn decode(payload: &[u8], capabilities: Capabilities) -> WireResult<ReceivedColumn> {
        let mut cursor = Cursor::new(payload, "column definition");
        let mut text = || cursor.lenenc_text();
        let _catalog = text()?;
        let (schema, table, original_table, name, original_name) =
            (text()?, text()?, text()?, text()?, text()?);
        if capabilities.has(Capabilities::MARIADB_EXTENDED_METADATA) {
            cursor.lenenc_bytes()?;
        }
        cursor.lenenc_int()?;
        Ok(ReceivedColumn {
            schema,
            table,
            original_table,
            name,
            original_name,
            collation: cursor.u16()?,
            length: cursor.u32()?,
            field_type: cursor.u8()?,
            flags: cursor.u16()?,
            decimals: cursor.u8()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mysql_common::io::ParseBuf;
    use mysql_common::packets::Column;
    use mysql_common::proto::MyDeserialize;

    #[test]
    fn definitions_are_understood_by_another_implementation() {
        let column = ColumnDefinition {
            schema: "d",
            table: "alias",
            original_table: "t",
            name: "x",
            original_name: "c",
            collation: 45,
            length: 480,
            field_type: field_type::STRING,
            flags: 1,
            decimals: 0,
            format: "json",
            type_name: "",
        };
        let mut out = vec![];
        column.encode(&mut out, Capabilities::CLIENT);
        let theirs = Column::deserialize((), &mut ParseBuf(&out)).unwrap();
        assert_eq!(theirs.name_str(), "x");
        assert_eq!(theirs.org_table_str(), "t");
        assert_eq!(theirs.character_set(), 45);
        assert_eq!(theirs.column_length(), 480);
        for capabilities in [
            Capabilities::CLIENT,
            Capabilities::CLIENT | Capabilities::MARIADB_EXTENDED_METADATA,
        ] {
            let mut out = vec![];
            column.encode(&mut out, capabilities);
            let ours = ReceivedColumn::decode(&out, capabilities).unwrap();
            assert_eq!((ours.name.as_str(), ours.flags, ours.collation), ("x", 1, 45));
        }
    }

    #[test]
    fn names_of_types_are_extended_metadata() {
        let column = ColumnDefinition {
            schema: "",
            table: "",
            original_table: "",
            name: "",
            original_name: "",
            collation: 45,
            length: 156,
            field_type: field_type::STRING,
            flags: 0,
            decimals: 0,
            format: "",
            type_name: "inet6",
        };
        let mut out = Vec::new();
        column.encode(&mut out, Capabilities::MARIADB_EXTENDED_METADATA);
        // As MariaDB 10.11 sends it: length, 0 for a type name, its length, the name.
        assert_eq!(&out[9..17], b"\x07\0\x05inet6");
    }
}
