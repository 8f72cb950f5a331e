//! Columns of the virtual tables of `mysql`. [`crate::mysql_tables`] has their rows.

use crate::information_schema::declared;
use paceline_expression::session::VirtualColumn;
use std::sync::OnceLock;

static DECLARATIONS: &str = include_str!("mysql_columns.txt");

/// Name of the database.
pub const DATABASE: &str = "mysql";

/// Returns the tables with their columns.
pub fn tables() -> &'static [(&'static str, Vec<VirtualColumn>)] {
    static TABLES: OnceLock<Vec<(&'static str, Vec<VirtualColumn>)>> = OnceLock::new();
    TABLES.get_or_init(|| declared(DECLARATIONS))
}

/// Returns the columns of a table, or `None` if it does not exist here.
pub fn columns(table: &str) -> Option<&'static [VirtualColumn]> {
    tables()
        .iter()
        .find(|(name, _)| *name == table)
        .map(|(_, columns)| columns.as_slice())
}
