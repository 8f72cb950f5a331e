//! How a result set describes its columns: the contents of a column definition packet.

use std::sync::Arc;

use paceline_types::data_type::FieldType;
use paceline_types::{BlobSize, Collation, DataType};

use crate::expr::{ExprType, NOT_FIXED_DECIMALS};

/// A column of a result.
#[derive(Debug, Clone)]
pub struct ResultColumn {
    /// The database; empty for what comes from no table.
    pub database: Arc<str>,
    /// The table's alias.
    pub table: Arc<str>,
    /// The table's own name.
    pub org_table: Arc<str>,
    /// The column's alias.
    pub name: Arc<str>,
    /// The column's own name.
    pub org_name: Arc<str>,
    /// The type by which its values are to be encoded.
    pub data_type: DataType,
    /// The type number.
    pub field_type: FieldType,
    /// The collation; `Binary` (63) for numbers and dates.
    pub collation: Collation,
    /// MariaDB's column flags: NOT NULL 1, primary key 2, unique 4, multiple 8, blob 16, unsigned 32, zerofill 64, binary 128, enum 256, auto
    /// increment 512, timestamp 1024, set 2048, no default 4096, on update now 8192, part of a key 16384, number 32768.
    pub flags: u16,
    /// Digits after the point; 31 or 39 where not fixed, 0 for integers.
    pub decimals: u8,
}

/// MariaDB's column flags.
#[allow(dead_code, missing_docs)] // MariaDB's own names, and all of them
pub mod flags {
    pub const NOT_NULL: u16 = 1;
    pub const PRIMARY_KEY: u16 = 2;
    pub const UNIQUE_KEY: u16 = 4;
    pub const MULTIPLE_KEY: u16 = 8;
    pub const BLOB: u16 = 16;
    pub const UNSIGNED: u16 = 32;
    pub const ZEROFILL: u16 = 64;
    pub const BINARY: u16 = 128;
    pub const ENUM: u16 = 256;
    pub const AUTO_INCREMENT: u16 = 512;
    pub const TIMESTAMP: u16 = 1024;
    pub const SET: u16 = 2048;
    pub const NO_DEFAULT_VALUE: u16 = 4096;
    pub const ON_UPDATE_NOW: u16 = 8192;
    pub const PART_KEY: u16 = 16384;
    pub const NUM: u16 = 32768;
}

impl ResultColumn {
    /// A column that an expression gives.
    pub fn of_expression(name: impl Into<Arc<str>>, ty: &ExprType) -> Self {
        let empty: Arc<str> = Arc::from("");
        let mut flags = ty.data_type.column_flags() & !flags::NUM;
        if !ty.data_type.is_text() {
            flags |= flags::BINARY;
        }
        if !ty.nullable {
            flags |= flags::NOT_NULL;
        }
        let field_type = ty.field_type();
        let collation = ty.data_type.collation();
        ResultColumn {
            database: empty.clone(),
            table: empty.clone(),
            org_table: empty.clone(),
            name: name.into(),
            org_name: empty,
            field_type,
            collation,
            flags,
            decimals: match ty.decimals() {
                NOT_FIXED_DECIMALS if ty.is_null() => 0,
                NOT_FIXED_DECIMALS if matches!(ty.data_type, DataType::Float(_) | DataType::Double(_)) => 31,
                decimals => decimals,
            },
            data_type: ty.data_type.clone(),
        }
    }

    /// The longest value in bytes, when text is sent with at most so many bytes a character.
    pub fn length(&self, bytes_per_character: u32) -> u32 {
        if self.field_type == FieldType::Null {
            0
        } else {
            match &self.data_type {
                // Of TEXT the protocol takes the bytes for characters.
                DataType::Text { size, .. } => saturated(size.max_bytes(), bytes_per_character),
                DataType::Json => saturated(BlobSize::Long.max_bytes(), bytes_per_character),
                other => other.display_length(bytes_per_character),
            }
        }
    }

    /// Whether it is never NULL.
    pub fn is_not_null(&self) -> bool {
        self.flags & flags::NOT_NULL != 0
    }
}

fn saturated(characters: u64, bytes_per_character: u32) -> u32 {
    u32::try_from(characters * u64::from(bytes_per_character)).unwrap_or(u32::MAX)
}

/// The flags that MariaDB gives a table's column.
pub(crate) fn flags_of_column(definition: &crate::catalog::TableDefinition, number: usize) -> u16 {
    use crate::catalog::{ColumnDefault, IndexKind};
    let column = &definition.columns()[number];
    let mut result = column.data_type.column_flags() & !flags::NUM;
    if !column.nullable {
        result |= flags::NOT_NULL;
        if column.default == ColumnDefault::None && !column.auto_increment {
            result |= flags::NO_DEFAULT_VALUE;
        }
    }
    if column.auto_increment {
        result |= flags::AUTO_INCREMENT;
    }
    if column.on_update.is_some() {
        result |= flags::ON_UPDATE_NOW;
    }
    for index in definition.indexes() {
        let Some(place) = index.parts.iter().position(|part| part.column == number) else {
            continue;
        };
        result |= flags::PART_KEY;
        match index.kind {
            IndexKind::Primary => result |= flags::PRIMARY_KEY,
            IndexKind::Unique if place == 0 && index.parts.len() == 1 => result |= flags::UNIQUE_KEY,
            _ if place == 0 => result |= flags::MULTIPLE_KEY,
            _ => {}
        }
    }
    result
}
