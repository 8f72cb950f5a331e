//! Output of `SHOW GRANTS` and `SHOW CREATE USER`.

use super::account::PUBLIC;
use super::privilege::ALL;
use super::{Account, PrivilegeSet, TableGrant};
use crate::sql_text::identifier;
use paceline_expression::session::Privilege;
use paceline_syntax::RoutineType;

/// Returns the lines of `SHOW GRANTS` for one account or role.
pub fn grants(account: &Account) -> Vec<String> {
    let to = account_name(account);
    let mut lines = vec![];
    for grant in &account.roles {
        let role = identifier(&grant.role);
        let option = if grant.admin { " WITH ADMIN OPTION" } else { "" };
        lines.push(format!("GRANT {role} TO {to}{option}"));
    }
    if !is_public(account) {
        lines.push(global_line(account, &to));
    }
    let with_option = |set: PrivilegeSet| match set.has(Privilege::GrantOption) {
        true => " WITH GRANT OPTION",
        false => "",
    };
    for (database, set) in &account.databases {
        let listed = set.listed(PrivilegeSet::all_of_database());
        let option = with_option(*set);
        lines.push(format!(
            "GRANT {listed} ON {}.* TO {to}{option}",
            identifier(database)
        ));
    }
    for grant in account.tables.iter().filter(|grant| !grant.is_empty()) {
        let (database, table) = (identifier(&grant.database), identifier(&grant.table));
        let option = with_option(grant.privileges);
        lines.push(format!(
            "GRANT {} ON {database}.{table} TO {to}{option}",
            listed_on_table(grant)
        ));
    }
    let named = account
        .routines
        .iter()
        .filter(|grant| !grant.privileges.is_empty());
    for kind in [RoutineType::Procedure, RoutineType::Function] {
        for grant in named.clone().filter(|grant| grant.kind == kind) {
            let listed = (grant.privileges).listed_in_full();
            let (database, routine) = (identifier(&grant.database), identifier(&grant.name));
            let option = with_option(grant.privileges);
            lines.push(format!(
                "GRANT {listed} ON {} {database}.{routine} TO {to}{option}",
                kind.name()
            ));
        }
    }
    // Those for any user come last.
    let (any, named): (Vec<_>, Vec<_>) = account.proxies.iter().partition(|grant| grant.user.is_empty());
    for grant in named.into_iter().chain(any) {
        let option = if grant.grant_option {
            " WITH GRANT OPTION"
        } else {
            ""
        };
        let (user, host) = (identifier(&grant.user), identifier(&grant.host));
        lines.push(format!("GRANT PROXY ON {user}@{host} TO {to}{option}"));
    }
    lines
}

/// Returns the line of an account's default role.
pub fn default_role(account: &Account) -> Option<String> {
    let role = (!account.default_role.is_empty()).then(|| identifier(&account.default_role))?;
    Some(format!("SET DEFAULT ROLE {role} FOR {}", account_name(account)))
}

fn global_line(account: &Account, to: &str) -> String {
    let mut line = format!(
        "GRANT {} ON *.* TO {to}",
        account.global.listed(PrivilegeSet::all_global())
    );
    if !account.is_role {
        line.push_str(&account.authentication.show());
        line.push_str(&account.require.show());
    }
    let option = account
        .global
        .has(Privilege::GrantOption)
        .then_some(" GRANT OPTION");
    let limits = shown_limits(account);
    if option.is_some() || !limits.is_empty() {
        line.push_str(" WITH");
        line.push_str(option.unwrap_or_default());
        line.push_str(&limits);
    }
    line
}

/// Returns the privileges on a table and its columns: `SELECT, INSERT (`a`, `b`)`.
fn listed_on_table(grant: &TableGrant) -> String {
    let all = PrivilegeSet::grantable_on_table().without(Privilege::GrantOption);
    if grant.privileges.includes(all) {
        return "ALL PRIVILEGES".to_owned();
    }
    let on_columns = grant.on_any_column();
    let mut parts = vec![];
    for (privilege, name) in ALL.iter().filter(|(privilege, _)| all.has(*privilege)) {
        if grant.privileges.has(*privilege) {
            parts.push((*name).to_owned());
        }
        if on_columns.has(*privilege) {
            let with = grant.columns.iter().filter(|(_, set)| set.has(*privilege));
            let columns: Vec<String> = with.map(|(column, _)| identifier(column)).collect();
            parts.push(format!("{name} ({})", columns.join(", ")));
        }
    }
    match parts.is_empty() {
        true => "USAGE".to_owned(),
        false => parts.join(", "),
    }
}

fn is_public(account: &Account) -> bool {
    account.is_role && account.user == PUBLIC
}

/// Returns the lines of `SHOW CREATE USER`: a second one for the lifetime of a password that has expired.
pub fn create_user(account: &Account) -> Vec<String> {
    let mut line = format!(
        "CREATE USER {}{}{}",
        account_name(account),
        account.authentication.show(),
        account.require.show()
    );
    let limits = shown_limits(account);
    if !limits.is_empty() {
        line.push_str(" WITH");
        line.push_str(&limits);
    }
    if account.locked {
        line.push_str(" ACCOUNT LOCK");
    }
    let lifetime = account.password_age.shown_lifetime();
    if !account.password_age.is_marked() {
        line.push_str(lifetime.as_deref().unwrap_or_default());
        return vec![line];
    }
    line.push_str(" PASSWORD EXPIRE");
    let alter = lifetime.map(|lifetime| format!("ALTER USER {}{lifetime}", account_name(account)));
    std::iter::once(line).chain(alter).collect()
}

/// Returns the account's limits as options of WITH.
fn shown_limits(account: &Account) -> String {
    let mut shown = String::new();
    for (name, limit) in account.limits.named() {
        if limit > 0 {
            shown.push_str(&format!(" {name} {limit}"));
        }
    }
    if account.user_connections_max != 0 {
        shown.push_str(&format!(" MAX_USER_CONNECTIONS {}", account.user_connections_max));
    }
    if !account.statement_time.is_unlimited() {
        shown.push_str(&format!(
            " MAX_STATEMENT_TIME {:.6}",
            account.statement_time.seconds()
        ));
    }
    shown
}

/// Returns the name of an account or role in statements.
pub fn account_name(account: &Account) -> String {
    match account.is_role {
        true if is_public(account) => PUBLIC.to_owned(),
        true => identifier(&account.user),
        false => format!("{}@{}", identifier(&account.user), identifier(&account.host)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_wire::authentication::NativePassword;

    /// Output of MariaDB 10.11 for the same account.
    #[test]
    fn shown_as_in_mariadb() {
        let mut account = Account::new("u1", "%");
        account.authentication = NativePassword::of("x").into();
        account.global = PrivilegeSet::NONE
            .with(Privilege::Super)
            .with(Privilege::GrantOption);
        account.databases.push((
            "d1".into(),
            PrivilegeSet::NONE.with(Privilege::Insert).with(Privilege::Select),
        ));
        account
            .databases
            .push(("d2".into(), PrivilegeSet::all_of_database()));
        assert_eq!(
            grants(&account),
            [
                "GRANT SUPER ON *.* TO `u1`@`%` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227' WITH GRANT OPTION",
                "GRANT SELECT, INSERT ON `d1`.* TO `u1`@`%`",
                "GRANT ALL PRIVILEGES ON `d2`.* TO `u1`@`%`",
            ]
        );
        assert_eq!(
            create_user(&account),
            ["CREATE USER `u1`@`%` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'"]
        );
        assert_eq!(
            grants(&Account::new("u2", "%")),
            ["GRANT USAGE ON *.* TO `u2`@`%`"]
        );
    }
}
