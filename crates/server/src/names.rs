//! Names of databases and tables in statements.

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
}
