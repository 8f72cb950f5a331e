//! Statements that change an account into another state: for changes that were made to rows of the grant tables.
//!
//! Privileges on databases, tables and routines, proxies and roles are not compared: other tables have them.

use super::show::account_name;
use super::{Account, Authentication, PrivilegeSet};
use crate::sql_text::identifier;
use paceline_expression::session::Privilege;

/// Returns the statement that drops an account or role.
pub fn drop_statement(account: &Account) -> String {
    let kind = if account.is_role { "ROLE" } else { "USER" };
    format!("DROP {kind} {}", account_name(account))
}

/// Returns the statements that make an account or role of this record.
pub fn create_statements(account: &Account) -> Vec<String> {
    let name = account_name(account);
    let (kind, empty) = match account.is_role {
        true => ("ROLE", Account::role(&account.user)),
        false => ("USER", Account::new(&account.user, &account.host)),
    };
    let mut statements = vec![format!("CREATE {kind} {name}")];
    statements.extend(alter_statements(&empty, account));
    statements
}

/// Returns the statements that change an account's record into another of the same name.
pub fn alter_statements(before: &Account, after: &Account) -> Vec<String> {
    let mut statements = Vec::new();
    let name = account_name(after);
    let options = match after.is_role {
        true => String::new(),
        false => changed_options(before, after),
    };
    if !options.is_empty() {
        statements.push(format!("ALTER USER {name}{options}"));
    }
    statements.extend(grant_statements(before.global, after.global, "*.*", &name));
    if before.default_role != after.default_role {
        let role = match after.default_role.as_str() {
            "" => "NONE".to_owned(),
            role => identifier(role),
        };
        statements.push(format!("SET DEFAULT ROLE {role} FOR {name}"));
    }
    statements
}

/// Returns the REVOKE and the GRANT that change a set of privileges on an object into another one.
pub fn grant_statements(
    before: PrivilegeSet,
    after: PrivilegeSet,
    object: &str,
    account: &str,
) -> Vec<String> {
    let mut statements = Vec::new();
    let names = |set: PrivilegeSet| set.names().collect::<Vec<_>>().join(", ");
    let (revoked, granted) = (before.minus(after), after.minus(before));
    let mut listed = names(revoked);
    if revoked.has(Privilege::GrantOption) {
        listed.push_str(if listed.is_empty() {
            "GRANT OPTION"
        } else {
            ", GRANT OPTION"
        });
    }
    if !listed.is_empty() {
        statements.push(format!("REVOKE {listed} ON {object} FROM {account}"));
    }
    let option = match granted.has(Privilege::GrantOption) {
        true => " WITH GRANT OPTION",
        false => "",
    };
    let listed = names(granted);
    if !listed.is_empty() || !option.is_empty() {
        let listed = if listed.is_empty() { "USAGE" } else { &listed };
        statements.push(format!("GRANT {listed} ON {object} TO {account}{option}"));
    }
    statements
}

/// Returns the REVOKE and the GRANT that change a set of privileges on a column into another one.
pub fn column_statements(
    before: PrivilegeSet,
    after: PrivilegeSet,
    column: &str,
    table: &str,
    account: &str,
) -> Vec<String> {
    let column = identifier(column);
    let listed = |set: PrivilegeSet| {
        let names = set.names().map(|name| format!("{name} ({column})"));
        names.collect::<Vec<_>>().join(", ")
    };
    let (revoked, granted) = (listed(before.minus(after)), listed(after.minus(before)));
    let mut statements = Vec::new();
    if !revoked.is_empty() {
        statements.push(format!("REVOKE {revoked} ON {table} FROM {account}"));
    }
    if !granted.is_empty() {
        statements.push(format!("GRANT {granted} ON {table} TO {account}"));
    }
    statements
}

/// Returns the options of ALTER USER that differ.
fn changed_options(before: &Account, after: &Account) -> String {
    let mut options = String::new();
    if before.authentication != after.authentication {
        options.push_str(&shown(&after.authentication));
    }
    if before.require != after.require {
        match after.require.show() {
            nothing if nothing.is_empty() => options.push_str(" REQUIRE NONE"),
            shown => options.push_str(&shown),
        }
    }
    let mut limits = String::new();
    for ((name, after), (_, before)) in after.limits.named().into_iter().zip(before.limits.named()) {
        if before != after {
            limits.push_str(&format!(" {name} {after}"));
        }
    }
    if before.user_connections_max != after.user_connections_max {
        limits.push_str(&format!(" MAX_USER_CONNECTIONS {}", after.user_connections_max));
    }
    if before.statement_time != after.statement_time {
        limits.push_str(&format!(
            " MAX_STATEMENT_TIME {:.6}",
            after.statement_time.seconds()
        ));
    }
    if !limits.is_empty() {
        options.push_str(" WITH");
        options.push_str(&limits);
    }
    match (before.locked, after.locked) {
        (false, true) => options.push_str(" ACCOUNT LOCK"),
        (true, false) => options.push_str(" ACCOUNT UNLOCK"),
        (true, true) | (false, false) => {}
    }
    let lifetime = after.password_age.shown_lifetime();
    if !before.password_age.is_marked() && after.password_age.is_marked() {
        options.push_str(" PASSWORD EXPIRE");
    } else if before.password_age.shown_lifetime() != lifetime {
        options.push_str(lifetime.as_deref().unwrap_or(" PASSWORD EXPIRE DEFAULT"));
    }
    options
}

/// Returns the IDENTIFIED of SHOW CREATE USER, also for an empty password.
fn shown(authentication: &Authentication) -> String {
    match authentication.show() {
        empty if empty.is_empty() => " IDENTIFIED BY PASSWORD ''".to_owned(),
        shown => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::{Require, ResourceLimits};
    use paceline_wire::authentication::NativePassword;

    #[test]
    fn statements_name_what_differs() {
        let before = Account::new("u", "%");
        assert!(alter_statements(&before, &before).is_empty());
        let mut after = before.clone();
        after.authentication = NativePassword::of("x").into();
        after.require = Require::Ssl;
        after.limits = ResourceLimits {
            queries: 5,
            ..ResourceLimits::default()
        };
        after.user_connections_max = 3;
        after.locked = true;
        after.global = PrivilegeSet::of(&[Privilege::Select, Privilege::GrantOption]);
        after.default_role = "r".into();
        assert_eq!(
            alter_statements(&before, &after),
            [
                "ALTER USER `u`@`%` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227' REQUIRE SSL \
                 WITH MAX_QUERIES_PER_HOUR 5 MAX_USER_CONNECTIONS 3 ACCOUNT LOCK",
                "GRANT SELECT ON *.* TO `u`@`%` WITH GRANT OPTION",
                "SET DEFAULT ROLE `r` FOR `u`@`%`",
            ]
        );
        assert_eq!(
            alter_statements(&after, &before),
            [
                "ALTER USER `u`@`%` IDENTIFIED BY PASSWORD '' REQUIRE NONE WITH MAX_QUERIES_PER_HOUR 0 \
                 MAX_USER_CONNECTIONS 0 ACCOUNT UNLOCK",
                "REVOKE SELECT, GRANT OPTION ON *.* FROM `u`@`%`",
                "SET DEFAULT ROLE NONE FOR `u`@`%`",
            ]
        );
        let mut role = Account::role("r");
        role.global = PrivilegeSet::of(&[Privilege::Process]);
        assert_eq!(
            create_statements(&role),
            ["CREATE ROLE `r`", "GRANT PROCESS ON *.* TO `r`"]
        );
        assert_eq!(drop_statement(&role), "DROP ROLE `r`");
        assert_eq!(drop_statement(&before), "DROP USER `u`@`%`");
    }
}
