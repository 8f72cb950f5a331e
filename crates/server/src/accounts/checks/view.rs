//! Privileges for CREATE VIEW.

use super::plan::check_usage;
use crate::accounts::{Authority, PrivilegeSet};
use crate::information_schema::is_for_everybody;
use paceline_expression::session::Privilege;
use paceline_query::plan::{Plan, TableUse, Through};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::{ER_COLUMNACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR};

/// Checks whether the account may name this user as a view's definer. Naming another user needs a privilege.
///
/// # Errors
/// 1227.
pub fn check_view_definer(authority: Authority<'_>, user: &str, host: &str) -> Result<()> {
    let (current_user, current_host) = authority.current_user();
    let is_own = user == current_user && host.eq_ignore_ascii_case(current_host);
    let is_own_role = host.is_empty() && authority.current_role() == Some(user);
    match is_own || is_own_role {
        true => Ok(()),
        false => authority.require_any(&[Privilege::Super, Privilege::SetUser]),
    }
}

/// Checks whether the account may create a view of a query: it must be allowed to execute the query, except that
/// PROCESS is needed only by readers of the view.
///
/// # Errors
/// 1142, and the errors of [`check_usage`].
pub fn check_view_query(authority: Authority<'_>, plan: &Plan) -> Result<()> {
    let named = plan
        .tables()
        .iter()
        .filter(|table| table.access.through.is_none());
    let is_free =
        |table: &TableUse| table.is_temporary() || is_for_everybody(Privilege::Select, &table.database);
    for table in named.filter(|table| !is_free(table)) {
        let may_select = authority.check_any_column(&[Privilege::Select], &table.database, &table.name);
        if may_select.is_err() {
            let (user, host) = authority.current_user();
            return Err(Error::new(
                ER_TABLEACCESS_DENIED_ERROR,
                &[&"ANY", &user, &host, &table.database, &table.name],
            ));
        }
    }
    check_usage(authority, plan).map_err(|error| {
        // MariaDB checks the view's own columns before it checks the query: any privilege is sufficient for them.
        let is_own_column = plan.columns().iter().any(|column| {
            column.origin.as_ref().is_some_and(|origin| {
                let denied = PrivilegeSet::of(&[Privilege::Select]);
                origin.through == Through::Nothing
                    && authority
                        .column_denied(denied, &origin.column, &origin.table)
                        .message()
                        == error.message()
            })
        });
        match is_own_column {
            true => {
                let message = error.message().replacen("SELECT", "ANY", 1);
                Error::with_message(ER_COLUMNACCESS_DENIED_ERROR, message)
            }
            false => error,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, outcome_of};

    #[test]
    fn another_definer_needs_a_privilege() {
        let plain = Holder::new(&[], &[]);
        assert_eq!(outcome_of(check_view_definer(plain.authority(), "u", "%")).0, 0);
        assert_eq!(
            outcome_of(check_view_definer(plain.authority(), "root", "localhost")).0,
            1227
        );
        let setter = Holder::new(&[Privilege::SetUser], &[]);
        assert_eq!(
            outcome_of(check_view_definer(setter.authority(), "root", "localhost")).0,
            0
        );
    }
}
