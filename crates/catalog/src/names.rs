//! Comparison of names, and the error of one that does not exist.

use paceline_types::error_code::{ER_NO_SUCH_TABLE, ER_UNKNOWN_TABLE};

use crate::error::Error;

/// Returns the error of a query of a table that does not exist: 1146, and 1109 in `information_schema`.
pub fn no_such_table(database: &str, name: &str) -> Error {
    match database.eq_ignore_ascii_case("information_schema") {
        true => Error::new(ER_UNKNOWN_TABLE, &[&name, &"information_schema"]),
        false => Error::new(ER_NO_SUCH_TABLE, &[&database, &name]),
    }
}

/// Returns whether two names of columns or indexes are the same.
pub fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!(a.is_ascii() && b.is_ascii()) && a.to_lowercase() == b.to_lowercase())
}
