//! The database `information_schema` itself: its names, and the privileges that reading it needs.

use paceline_expression::session::Privilege;

/// Name of the database.
pub const DATABASE: &str = "information_schema";

/// Value of the columns named `…_CATALOG`.
pub(super) const CATALOG: &str = "def";

/// Returns whether every account has a privilege in a database. Every account may read `information_schema`; rows that
/// it may not see are omitted there.
pub fn is_for_everybody(privilege: Privilege, database: &str) -> bool {
    privilege == Privilege::Select && database.eq_ignore_ascii_case(DATABASE)
}

/// Returns whether a table needs the PROCESS privilege.
pub fn needs_process(table: &str) -> bool {
    let prefix = table.get(.."INNODB_".len());
    let is_innodb = prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case("INNODB_"))
        && !table.eq_ignore_ascii_case("INNODB_FT_DEFAULT_STOPWORD");
    let others = ["METADATA_LOCK_INFO", "PACELINE_STATEMENTS"];
    is_innodb || others.iter().any(|other| other.eq_ignore_ascii_case(table))
}
