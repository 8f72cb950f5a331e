//! `CREATE TABLE … SELECT`: columns from a query's result.

use paceline_types::DataType;

use crate::{ColumnDefault, ColumnDefinition};

/// A result column of the query, as far as it makes a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The default of the table's column that it shows; [`ColumnDefault::None`] for an expression.
    pub default: ColumnDefault,
    /// Its `ON UPDATE CURRENT_TIMESTAMP(n)`: its n.
    pub on_update: Option<u8>,
    /// That column's comment.
    pub comment: String,
}

impl SelectedColumn {
    /// The column that it makes.
    pub(super) fn definition(&self) -> ColumnDefinition {
        ColumnDefinition {
            name: self.name.clone(),
            // Nothing but empty strings are made as CHAR(0) and BINARY(0).
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
                // What it is made of need not have been selected.
                ColumnDefault::Expression(_) => ColumnDefault::None,
                // An expression that is never NULL has its type's zero for a default.
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
