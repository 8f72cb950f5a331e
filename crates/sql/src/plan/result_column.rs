//! How a result set describes its columns: the contents of a column definition packet.

use std::sync::Arc;

use paceline_types::data_type::{FieldType, column_flags};
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
    /// Bits of [`column_flags`].
    pub flags: u16,
    /// Digits after the point; 31 or 39 where not fixed, 0 for integers.
    pub decimals: u8,
}

impl ResultColumn {
    /// A column that an expression gives.
    pub fn of_expression(name: impl Into<Arc<str>>, ty: &ExprType) -> Self {
        let empty: Arc<str> = Arc::from("");
        let mut flags = ty.data_type.column_flags() & !column_flags::NUM;
        if !ty.data_type.is_text() {
            flags |= column_flags::BINARY;
        }
        if !ty.nullable {
            flags |= column_flags::NOT_NULL;
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
        self.flags & column_flags::NOT_NULL != 0
    }
}

fn saturated(characters: u64, bytes_per_character: u32) -> u32 {
    u32::try_from(characters * u64::from(bytes_per_character)).unwrap_or(u32::MAX)
}

/// The flags that MariaDB gives a table's column.
pub(crate) fn flags_of_column(definition: &crate::catalog::TableDefinition, number: usize) -> u16 {
    use crate::catalog::{ColumnDefault, IndexKind};
    let column = &definition.columns()[number];
    let mut result = column.data_type.column_flags() & !column_flags::NUM;
    if !column.nullable {
        result |= column_flags::NOT_NULL;
        if column.default == ColumnDefault::None && !column.auto_increment {
            result |= column_flags::NO_DEFAULT_VALUE;
        }
    }
    if column.auto_increment {
        result |= column_flags::AUTO_INCREMENT;
    }
    if column.on_update.is_some() {
        result |= column_flags::ON_UPDATE_NOW;
    }
    for index in definition.indexes() {
        let Some(place) = index.parts.iter().position(|part| part.column == number) else {
            continue;
        };
        result |= column_flags::PART_KEY;
        match index.kind {
            IndexKind::Primary => result |= column_flags::PRIMARY_KEY,
            IndexKind::Unique if place == 0 && index.parts.len() == 1 => result |= column_flags::UNIQUE_KEY,
            _ if place == 0 => result |= column_flags::MULTIPLE_KEY,
            _ => {}
        }
    }
    result
}
