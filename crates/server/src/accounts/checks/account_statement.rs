//! Privileges for CREATE USER, GRANT, SET PASSWORD and related statements.

use crate::accounts::statements::{AccountContext, MissingAccounts, resolve};
use crate::accounts::{Authority, PrivilegeSet};
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_syntax::{AccountOptions, AccountStatement, PrivilegeLevel};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;

/// Checks whether the account may execute a statement about accounts.
///
/// # Errors
/// 1227, 1044 or 1045.
pub fn check_account_statement(authority: Authority<'_>, statement: &AccountStatement) -> Result<()> {
    match statement {
        AccountStatement::SetPassword { account: None, .. } => Ok(()),
        AccountStatement::SetPassword {
            account: Some(name), ..
        } => {
            let current = authority.current_user();
            let accounts = authority.accounts().load();
            let (user, host) = resolve(
                name,
                AccountContext {
                    accounts: &accounts,
                    current,
                    database: None,
                    missing_accounts: MissingAccounts::Refused,
                },
            )?;
            match (user.as_str(), host.as_str()) == current {
                true => Ok(()),
                false => authority.check(Privilege::Update, PrivilegeTarget::Database("mysql")),
            }
        }
        AccountStatement::Grant { level, .. } | AccountStatement::Revoke { level, .. } => {
            check_grant(authority, level, statement)
        }
        _ => authority.require_any(&[Privilege::CreateUser]),
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
    let AccountStatement::Grant {
        accounts, options, ..
    } = statement
    else {
        return Ok(());
    };
    let own = authority.account();
    let may = |privilege| own.global.has(Privilege::CreateUser) || own.may(privilege, "mysql");
    for spec in accounts {
        let (user, host) = resolve(&spec.account, context)?;
        let is_new = context.accounts.get(&user, &host).is_none();
        let is_own = user == context.current.0 && host.eq_ignore_ascii_case(context.current.1);
        let has_password = spec.authentication.is_some();
        if is_new && has_password && !may(Privilege::Insert) {
            return Err(Error::new(ER_CANT_CREATE_USER_WITH_GRANT, &[]));
        }
        let alters = *options != AccountOptions::default() || (has_password && !is_own);
        if !is_new && alters && !may(Privilege::Update) {
            let target = PrivilegeTarget::Database("mysql");
            return authority.check(Privilege::Update, target);
        }
    }
    Ok(())
}

/// Checks that the account has the privileges that it grants, and GRANT OPTION.
fn check_grant(authority: Authority<'_>, level: &PrivilegeLevel, statement: &AccountStatement) -> Result<()> {
    let account = authority.account();
    let (held, database) = match level {
        PrivilegeLevel::Global => (account.global, None),
        PrivilegeLevel::Database(name) => {
            let database = name
                .clone()
                .or_else(|| authority.database().map(str::to_owned))
                .unwrap_or_default();
            (account.privileges_in_all(&database), Some(database))
        }
        PrivilegeLevel::Table(_) | PrivilegeLevel::Routine(_) => return Ok(()),
    };
    let (AccountStatement::Grant { privileges, .. } | AccountStatement::Revoke { privileges, .. }) =
        statement
    else {
        return Ok(());
    };
    let all = match database {
        None => PrivilegeSet::all_global(),
        Some(_) => PrivilegeSet::all_of_database(),
    };
    let mut wanted = PrivilegeSet::NONE.with(Privilege::GrantOption);
    for spec in privileges {
        wanted = match spec.privilege.as_str() {
            "ALL" | "ALL PRIVILEGES" => wanted.union(all),
            name => PrivilegeSet::named(name).map_or(wanted, |privilege| wanted.with(privilege)),
        };
    }
    if held.includes(wanted) {
        return Ok(());
    }
    let (user, host) = authority.current_user();
    Err(match database {
        Some(database) => Error::new(ER_DBACCESS_DENIED_ERROR, &[&user, &host, &database]),
        None => Error::new(ER_ACCESS_DENIED_ERROR, &[&user, &host, &"YES"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, told};
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
        told(check_account_statement(holder.authority(), &parsed(text))).0
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
            database: Some("d"),
            missing_accounts: MissingAccounts::Made,
        };
        let check = |text: &str| told(check_grant_options(authority, &parsed(text), context)).0;
        assert_eq!(check("GRANT SELECT ON d.* TO new IDENTIFIED BY 'x'"), 1410);
        assert_eq!(
            check("GRANT SELECT ON d.* TO root@localhost IDENTIFIED BY 'x'"),
            1044
        );
        assert_eq!(check("GRANT SELECT ON d.* TO root@localhost REQUIRE SSL"), 1044);
        assert_eq!(check("GRANT SELECT ON d.* TO root@localhost"), 0);
        assert_eq!(check("GRANT SELECT ON d.* TO u@'%' IDENTIFIED BY 'x'"), 0);
    }
}
