//! Names of databases and tables in statements.

use crate::information_schema;
use crate::mysql_tables;
use paceline_expression::session::VirtualColumn;
use paceline_syntax::{Error, Result, TableName};
use paceline_types::error_code::ER_NO_DB_ERROR;

/// Returns a table's database and name, with the current database if none is named.
///
/// # Errors
/// 1046 if neither exists.
pub fn qualified(table: &TableName, database: Option<&str>) -> Result<(String, String)> {
    match table.database.as_deref().or(database) {
        Some(database) => Ok((database.to_owned(), table.name.clone())),
        None => Err(Error::new(ER_NO_DB_ERROR, &[])),
    }
}

/// Databases that programs look for and that have no tables here: MariaDB's views of its own state. A user may create a
/// database with one of these names.
pub const EMPTY_DATABASES: [&str; 2] = ["performance_schema", "sys"];

/// Returns the name of a virtual database in its own spelling.
pub fn virtual_database(name: &str) -> Option<&'static str> {
    [information_schema::DATABASE, "performance_schema"]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the columns of a virtual table.
pub fn virtual_columns(database: &str, table: &str) -> Option<&'static [VirtualColumn]> {
    if database.eq_ignore_ascii_case(information_schema::DATABASE) {
        information_schema::columns(table)
    } else if database == mysql_tables::DATABASE {
        mysql_tables::columns(table)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_completed_with_the_current_database() {
        let own = TableName::qualified("d", "t");
        let bare = TableName {
            database: None,
            ..own.clone()
        };
        let names = |database: &str| Some((database.to_owned(), "t".to_owned()));
        assert_eq!(qualified(&own, Some("e")).ok(), names("d"));
        assert_eq!(qualified(&bare, Some("e")).ok(), names("e"));
        assert_eq!(qualified(&bare, None).unwrap_err().code(), ER_NO_DB_ERROR);
    }

    #[test]
    fn virtual_tables_have_their_own_spelling() {
        assert_eq!(virtual_database("Information_Schema"), Some("information_schema"));
        assert_eq!(virtual_database("mysql"), None);
        assert!(virtual_columns("INFORMATION_SCHEMA", "tables").is_some());
        assert!(virtual_columns("mysql", "user").is_some());
        assert!(virtual_columns("MYSQL", "user").is_none());
    }
}
