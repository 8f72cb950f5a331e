//! Privileges for CHECK, ANALYZE, OPTIMIZE and REPAIR TABLE.

use crate::accounts::{Authority, PrivilegeSet};
use crate::information_schema::is_for_everybody;
use paceline_expression::session::Privilege;
use paceline_syntax::{Result, TableMaintenance};

/// Checks whether the account may maintain a table.
///
/// # Errors
/// 1142.
pub fn check_maintenance(
    authority: Authority<'_>,
    operation: TableMaintenance,
    database: &str,
    table: &str,
) -> Result<()> {
    if operation != TableMaintenance::Check {
        return authority.check_any_column(&[Privilege::Select, Privilege::Insert], database, table);
    }
    // As in MariaDB, any privilege on the table or a column is sufficient for CHECK.
    let granted = authority.account().on_table(database, table);
    let held = authority
        .privileges_in(database)
        .union(granted.whole)
        .union(granted.any_column)
        .intersection(PrivilegeSet::grantable_on_table());
    match held.is_empty() && !is_for_everybody(Privilege::Select, database) {
        true => Err(authority.denied_to("CHECK TABLE", database, table)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, outcome_of};

    #[test]
    fn only_check_is_possible_without_insert() {
        let holder = Holder::new(&[], &[("d", &[Privilege::Select])]);
        let check = |operation| outcome_of(check_maintenance(holder.authority(), operation, "d", "t"));
        assert_eq!(check(TableMaintenance::Check).0, 0);
        for operation in [
            TableMaintenance::Analyze,
            TableMaintenance::Optimize,
            TableMaintenance::Repair,
        ] {
            let (number, message) = check(operation);
            assert_eq!(number, 1142);
            assert!(message.starts_with("INSERT command denied"), "{message}");
        }
    }
}
