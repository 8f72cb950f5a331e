//! Columns of `CREATE TABLE … SELECT`, from a query's result.

use paceline_types::DataType;

use crate::{ColumnDefault, ColumnDefinition};

/// Properties of a query's result column that its table column inherits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedColumn {
    /// Name of the column.
    pub name: String,
    /// Type of the values.
    pub data_type: DataType,
    /// Whether the values can be NULL.
    pub nullable: bool,
    /// Default of the selected table column; [`ColumnDefault::None`] for an expression.
    pub default: ColumnDefault,
    /// `ON UPDATE CURRENT_TIMESTAMP(n)` of the selected table column: n.
    pub on_update: Option<u8>,
    /// Comment of the selected table column.
    pub comment: String,
}

impl SelectedColumn {
    /// Returns the definition of the new column.
    pub(super) fn definition(&self) -> ColumnDefinition {
        ColumnDefinition {
            name: self.name.clone(),
            // Columns with only empty strings become CHAR(0) and BINARY(0).
            data_type: match &self.data_type {
                DataType::VarBinary { length: 0 } => DataType::Binary { length: 0 },
                DataType::VarChar { length: 0, collation } => DataType::Char {
                    length: 0,
                    collation: *collation,
                },
                other => other.clone(),
            },
            nullable: self.nullable,
            default: match &self.default {
                ColumnDefault::None | ColumnDefault::Expression(_) if self.nullable => ColumnDefault::Null,
                // The default's expression may need columns that are not selected.
                ColumnDefault::Expression(_) => ColumnDefault::None,
                // For an expression that is never NULL this is its type's zero.
                other => other.clone(),
            },
            on_update: self.on_update,
            auto_increment: false,
            invisible: false,
            compressed: false,
            comment: self.comment.clone(),
            check: None,
            generated: None,
        }
    }
}
