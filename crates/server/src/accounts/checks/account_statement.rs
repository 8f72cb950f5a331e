//! Privileges for CREATE USER, GRANT, SET PASSWORD and related statements.

use crate::accounts::account::PUBLIC;
use crate::accounts::host::like;
use crate::accounts::statements::{AccountContext, Object, resolve};
use crate::accounts::{Account, Authority, PrivilegeSet, ProxyGrant};
use crate::sql_text::identifier;
use paceline_catalog::Catalog;
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_syntax::{AccountName, AccountOptions, AccountStatement, PrivilegeLevel, RoleName};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;
use std::net::IpAddr;

/// Checks whether the account may execute a statement about accounts.
///
/// # Errors
/// 1227, 1044, 1045, 1142, 1370, 1698 or 1959.
pub fn check_account_statement(authority: Authority<'_>, statement: &AccountStatement) -> Result<()> {
    match statement {
        AccountStatement::SetPassword { account: None, .. } => Ok(()),
        AccountStatement::SetPassword {
            account: Some(name), ..
        } => {
            let current = authority.current_user();
            let accounts = authority.accounts().load();
            let (user, host) = resolve(name, authority.names(&accounts, &Catalog::default()))?;
            match (user.as_str(), host.as_str()) == current {
                true => Ok(()),
                false => authority.check(Privilege::Update, PrivilegeTarget::Database("mysql")),
            }
        }
        AccountStatement::GrantRole { role, .. } | AccountStatement::RevokeRole { role, .. } => {
            check_admin(authority, role)
        }
        AccountStatement::SetDefaultRole { role, account } => {
            check_default_role(authority, role.as_ref(), account.as_ref())
        }
        AccountStatement::Grant { level, .. } | AccountStatement::Revoke { level, .. } => {
            check_grant(authority, level, statement)
        }
        AccountStatement::GrantProxy { proxied, .. } | AccountStatement::RevokeProxy { proxied, .. } => {
            check_proxy(authority, proxied)
        }
        _ => authority.require_any(&[Privilege::CreateUser]),
    }
}

/// Checks that the account may let others stand for an account: it is its own, or one for which it has PROXY WITH GRANT
/// OPTION. An account with all global privileges may do it too, because a new `root` has no such grant here.
fn check_proxy(authority: Authority<'_>, proxied: &AccountName) -> Result<()> {
    let accounts = authority.accounts().load();
    let (user, host) = resolve(proxied, authority.names(&accounts, &Catalog::default()))?;
    let account = authority.account();
    let covers = |grant: &ProxyGrant| {
        grant.grant_option && (grant.user.is_empty() || grant.user == user) && like(&grant.host, &host)
    };
    let may = (user.as_str(), host.as_str()) == authority.current_user()
        || account.global.includes(PrivilegeSet::everything())
        || account.proxies.iter().any(covers);
    match may {
        true => Ok(()),
        false => {
            let (user, _) = authority.current_user();
            Err(Error::new(
                ER_ACCESS_DENIED_NO_PASSWORD_ERROR,
                &[&user, &authority.client_host()],
            ))
        }
    }
}

/// Checks a GRANT that sets more than privileges, because that is a CREATE USER or ALTER USER in disguise. GRANT OPTION
/// is sufficient for the account's own password.
///
/// # Errors
/// 1410 or 1044.
pub fn check_grant_options(
    authority: Authority<'_>,
    statement: &AccountStatement,
    context: AccountContext<'_>,
) -> Result<()> {
    let no_options = AccountOptions::default();
    let (accounts, options) = match statement {
        AccountStatement::Grant {
            accounts, options, ..
        } => (accounts, options),
        AccountStatement::GrantRole { accounts, .. } | AccountStatement::GrantProxy { accounts, .. } => {
            (accounts, &no_options)
        }
        _ => return Ok(()),
    };
    let own = authority.account();
    let may_create = own.global.has(Privilege::CreateUser) || own.may(Privilege::Insert, "mysql");
    for spec in accounts {
        let (user, host) = resolve(&spec.account, context)?;
        let is_new = context.accounts.get(&user, &host).is_none();
        let is_own = user == context.current.0 && host.eq_ignore_ascii_case(context.current.1);
        let has_password = spec.authentication.is_some();
        if is_new && has_password && !may_create {
            return Err(Error::new(ER_CANT_CREATE_USER_WITH_GRANT, &[]));
        }
        let alters = *options != AccountOptions::default() || (has_password && !is_own);
        if !is_new && alters {
            authority.check(Privilege::Update, PrivilegeTarget::Database("mysql"))?;
        }
    }
    Ok(())
}

/// Checks that the account has the privileges that it grants, and GRANT OPTION.
fn check_grant(authority: Authority<'_>, level: &PrivilegeLevel, statement: &AccountStatement) -> Result<()> {
    let account = authority.account();
    let object = Object::of(level, authority.database())?;
    let held = match &object {
        Object::Global => account.global,
        Object::Database(database) => account.privileges_in_all(database),
        Object::Table { database, table } => {
            let on_table = account.on_table(database, table);
            let here = authority.privileges_in(database);
            here.union(on_table.whole).union(on_table.any_column)
        }
        Object::Routine { database, kind, name } => authority
            .privileges_in(database)
            .union(account.on_routine(database, *kind, name)),
    };
    let (AccountStatement::Grant { privileges, .. } | AccountStatement::Revoke { privileges, .. }) =
        statement
    else {
        return Ok(());
    };
    let mut wanted = PrivilegeSet::NONE.with(Privilege::GrantOption);
    for spec in privileges {
        wanted = match spec.privilege.as_str() {
            "ALL" | "ALL PRIVILEGES" => wanted.union(object.all()),
            name => PrivilegeSet::named(name).map_or(wanted, |privilege| wanted.with(privilege)),
        };
    }
    if held.includes(wanted) {
        return Ok(());
    }
    let (user, host) = authority.current_user();
    Err(match &object {
        Object::Database(database) => Error::new(ER_DBACCESS_DENIED_ERROR, &[&user, &host, database]),
        Object::Global => Error::new(ER_ACCESS_DENIED_ERROR, &[&user, &host, &"YES"]),
        Object::Table { database, table } => authority.denied(wanted.minus(held), database, table),
        Object::Routine { database, name, .. } => {
            let missing = wanted.minus(held);
            let first = [
                Privilege::Execute,
                Privilege::AlterRoutine,
                Privilege::GrantOption,
            ];
            let first = first.into_iter().find(|privilege| missing.has(*privilege));
            let command = PrivilegeSet::command(first.unwrap_or(Privilege::GrantOption)).to_lowercase();
            let routine = format!("{database}.{name}");
            Error::new(ER_PROCACCESS_DENIED_ERROR, &[&command, &user, &host, &routine])
        }
    })
}

/// Checks that the account may grant and revoke a role: it has it, or a role that has it, WITH ADMIN OPTION. SUPER is
/// not sufficient.
fn check_admin(authority: Authority<'_>, role: &RoleName) -> Result<()> {
    let accounts = authority.accounts().load();
    let name = match role {
        RoleName::Name(name) => name.trim_end_matches(' '),
        RoleName::Current => authority.current_role().unwrap_or_default(),
    };
    // The statement itself reports an invalid role.
    if accounts.role(name).is_none() {
        return Ok(());
    }
    let (user, host) = authority.current_user();
    if is_of_server(authority) {
        return Ok(());
    }
    let administers = |account: &Account| {
        account
            .roles
            .iter()
            .any(|grant| grant.admin && grant.role == name)
    };
    let may = accounts
        .get(user, host)
        .is_some_and(|own| administers(own) || accounts.roles_of(own).into_iter().any(administers));
    match may {
        true => Ok(()),
        false => Err(Error::new(ER_ACCESS_DENIED_NO_PASSWORD_ERROR, &[&user, &host])),
    }
}

/// Returns whether the server itself executes the statement, as a replica does: the account has no host then.
fn is_of_server(authority: Authority<'_>) -> bool {
    authority.account().host.is_empty()
}

/// Checks SET DEFAULT ROLE: another account's needs UPDATE on `mysql`, and the account must have the role.
fn check_default_role(
    authority: Authority<'_>,
    role: Option<&RoleName>,
    account: Option<&AccountName>,
) -> Result<()> {
    if is_of_server(authority) {
        return Ok(());
    }
    let accounts = authority.accounts().load();
    let current = authority.current_user();
    let (user, host) = match account {
        None => (current.0.to_owned(), current.1.to_owned()),
        Some(name) => resolve(name, authority.names(&accounts, &Catalog::default()))?,
    };
    if (user.as_str(), host.as_str()) != current {
        authority.check(Privilege::Update, PrivilegeTarget::Database("mysql"))?;
    }
    match role {
        None => Ok(()),
        Some(RoleName::Name(name)) => check_member(authority, name, (&user, &host)),
        Some(RoleName::Current) => {
            let current = authority.current_role().unwrap_or("NONE");
            check_member(authority, current, (&user, &host))
        }
    }
}

/// Checks that an account has a role directly, or PUBLIC has it, for SET ROLE and SET DEFAULT ROLE.
///
/// # Errors
/// 1959. Only accounts that may read `mysql`, or have the role through another one, learn that it exists.
pub fn check_member(authority: Authority<'_>, role: &str, account: (&str, &str)) -> Result<()> {
    let accounts = authority.accounts().load();
    let role = role.trim_end_matches(' ');
    // As in MariaDB, a client whose address has no name is shown with its account's host.
    let has_name = authority.client_host().parse::<IpAddr>().is_err();
    let shown_host = match account == authority.current_user() && has_name {
        true => authority.client_host(),
        false => account.1,
    };
    let has = |account: Option<&Account>| {
        account.is_some_and(|account| account.roles.iter().any(|grant| grant.role == role))
    };
    if accounts.role(role).is_none() || role == PUBLIC {
        return Err(Error::new(ER_INVALID_ROLE, &[&role]));
    }
    if has(accounts.get(account.0, account.1)) || has(accounts.role(PUBLIC)) {
        return Ok(());
    }
    let is_known = accounts
        .get(account.0, account.1)
        .is_some_and(|account| accounts.roles_of(account).iter().any(|known| known.user == role));
    match is_known || authority.privileges_in("mysql").has(Privilege::Select) {
        true => Err(Error::with_message(
            ER_INVALID_ROLE,
            format!(
                "User {}@{} has not been granted role {}",
                identifier(account.0),
                identifier(shown_host),
                identifier(role)
            ),
        )),
        false => Err(Error::new(ER_INVALID_ROLE, &[&role])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, outcome_of};
    use crate::accounts::statements::MissingAccounts;
    use paceline_syntax::{ParseOptions, SetItem, Statement, parse_first};

    fn parsed(text: &str) -> AccountStatement {
        let options = ParseOptions::default();
        match parse_first(text.as_bytes(), &options).unwrap().statement {
            Statement::Account(statement) => statement,
            Statement::Set(items) => match items.into_iter().next() {
                Some(SetItem::Password { account, password }) => {
                    AccountStatement::SetPassword { account, password }
                }
                _ => panic!("not about accounts: {text}"),
            },
            _ => panic!("not about accounts: {text}"),
        }
    }

    fn check(holder: &Holder, text: &str) -> u16 {
        outcome_of(check_account_statement(holder.authority(), &parsed(text))).0
    }

    #[test]
    fn accounts_are_changed_with_create_user() {
        let nobody = Holder::new(&[], &[]);
        let admin = Holder::new(&[Privilege::CreateUser], &[]);
        for text in [
            "CREATE USER a",
            "ALTER USER a IDENTIFIED BY 'x'",
            "DROP USER a",
            "RENAME USER a TO b",
        ] {
            assert_eq!((check(&nobody, text), check(&admin, text)), (1227, 0), "{text}");
        }
    }

    #[test]
    fn changing_ones_own_password_needs_no_privilege() {
        let nobody = Holder::new(&[], &[]);
        assert_eq!(check(&nobody, "SET PASSWORD = PASSWORD('x')"), 0);
        assert_eq!(check(&nobody, "SET PASSWORD FOR u@'%' = PASSWORD('x')"), 0);
        assert_eq!(
            check(&nobody, "SET PASSWORD FOR root@localhost = PASSWORD('x')"),
            1044
        );
    }

    #[test]
    fn only_held_privileges_are_granted() {
        let holder = Holder::new(&[], &[("d", &[Privilege::Select, Privilege::GrantOption])]);
        assert_eq!(check(&holder, "GRANT SELECT ON d.* TO a"), 0);
        assert_eq!(check(&holder, "REVOKE SELECT ON d.* FROM a"), 0);
        assert_eq!(check(&holder, "GRANT INSERT ON d.* TO a"), 1044);
        assert_eq!(check(&holder, "GRANT ALL ON d.* TO a"), 1044);
        assert_eq!(check(&holder, "GRANT SELECT ON *.* TO a"), 1045);
        let without_option = Holder::new(&[], &[("d", &[Privilege::Select])]);
        assert_eq!(check(&without_option, "GRANT SELECT ON d.* TO a"), 1044);
    }

    #[test]
    fn a_grant_does_not_create_or_alter_accounts_in_disguise() {
        let holder = Holder::new(&[], &[("d", &[Privilege::Select, Privilege::GrantOption])]);
        let authority = holder.authority();
        let accounts = holder.accounts.load();
        let context = AccountContext {
            accounts: &accounts,
            current: ("u", "%"),
            current_role: None,
            catalog: &Catalog::default(),
            virtual_tables: &*holder.session.services.virtual_tables,
            database: Some("d"),
            missing_accounts: MissingAccounts::Made,
            sql_mode: Default::default(),
            now_seconds: 1_000,
        };
        let check = |text: &str| outcome_of(check_grant_options(authority, &parsed(text), context)).0;
        assert_eq!(check("GRANT SELECT ON d.* TO new IDENTIFIED BY 'x'"), 1410);
        assert_eq!(
            check("GRANT SELECT ON d.* TO root@localhost IDENTIFIED BY 'x'"),
            1044
        );
        assert_eq!(check("GRANT SELECT ON d.* TO root@localhost REQUIRE SSL"), 1044);
        assert_eq!(check("GRANT r TO root@localhost IDENTIFIED BY 'x'"), 1044);
        assert_eq!(check("GRANT SELECT ON d.* TO root@localhost"), 0);
        assert_eq!(check("GRANT SELECT ON d.* TO u@'%' IDENTIFIED BY 'x'"), 0);
    }
}
