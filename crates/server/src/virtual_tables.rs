//! Databases and tables that show the state of the server: their names and columns.

use crate::information_schema;
use crate::{mysql_columns, performance_schema};
use paceline_expression::session::VirtualColumn;

/// Databases that programs look for and that have no tables here. A user may create a database with one of these names.
pub const EMPTY_DATABASES: [&str; 1] = ["sys"];

/// Returns the name of a virtual database in its own spelling.
pub fn virtual_database(name: &str) -> Option<&'static str> {
    [information_schema::DATABASE, performance_schema::DATABASE]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the columns of a virtual table.
pub fn virtual_columns(database: &str, table: &str) -> Option<&'static [VirtualColumn]> {
    if database.eq_ignore_ascii_case(information_schema::DATABASE) {
        information_schema::columns(table)
    } else if database.eq_ignore_ascii_case(performance_schema::DATABASE) {
        performance_schema::columns(table)
    } else if database == mysql_columns::DATABASE {
        mysql_columns::columns(table)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_tables_have_their_own_spelling() {
        assert_eq!(virtual_database("Information_Schema"), Some("information_schema"));
        assert_eq!(virtual_database("mysql"), None);
        assert!(virtual_columns("INFORMATION_SCHEMA", "tables").is_some());
        assert!(virtual_columns("mysql", "user").is_some());
        assert!(virtual_columns("MYSQL", "user").is_none());
    }
}
