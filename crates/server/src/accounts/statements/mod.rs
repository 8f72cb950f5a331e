//! CREATE USER, GRANT and related statements: computes the next list of accounts from a parsed statement.
//!
//! ```text
//!   apply ─▶ users     CREATE, ALTER, DROP and RENAME USER, SET PASSWORD
//!            roles     CREATE and DROP ROLE, GRANT and REVOKE of roles, SET DEFAULT ROLE
//!            grants    GRANT and REVOKE of privileges
//!            proxies   GRANT and REVOKE PROXY
//!               │
//!               ├─▶ context           accounts before the statement, and all else that its result depends on
//!               ├─▶ account_name      user and host of a name in the statement
//!               ├─▶ grantee           account of a GRANT, which may create it
//!               ├─▶ account_options   IDENTIFIED, REQUIRE, WITH, …
//!               └─▶ change            accounts after the statement, notes, error
//! ```
//!
//! CREATE, ALTER, DROP and RENAME USER, CREATE and DROP ROLE, and REVOKE ALL on several accounts, change as many
//! accounts as possible and fail for the rest. [`AccountChange::failure`] is logged with the changes, which makes
//! replicas do the same. GRANT and REVOKE change everything or nothing. MariaDB executes them in part but does not log
//! this, so its replicas miss the changes.
//!
//! All functions are pure. The caller checks the privileges and commits the result. The same code runs when a statement
//! is replayed from the log, so nothing may depend on anything but its arguments.

mod account_name;
mod account_options;
mod change;
mod context;
mod grantee;
mod grants;
mod proxies;
mod roles;
mod users;

pub use account_name::resolve;
pub use change::AccountChange;
pub use context::{AccountContext, MissingAccounts};
pub(in crate::accounts) use grants::Object;

use paceline_syntax::{AccountStatement, Result};

/// Applies a statement.
///
/// # Errors
/// If nothing was changed: 1396 for existing or missing accounts, 1133, 1141, 1147, 1403 for missing accounts and
/// grants, 1144 and 1221 for privileges that cannot be granted on an object, 1146 and 1054 for missing tables and
/// columns, 1959, 1961, 1962 for roles, 1524, 1372.
pub fn apply(statement: &AccountStatement, context: AccountContext<'_>) -> Result<AccountChange> {
    let change = match statement {
        AccountStatement::Create {
            or_replace,
            if_not_exists,
            accounts,
            options,
        } => users::create(*or_replace, *if_not_exists, accounts, options, context),
        AccountStatement::Alter {
            if_exists,
            accounts,
            options,
        } => users::alter(*if_exists, accounts, options, context),
        AccountStatement::Drop { if_exists, accounts } => users::drop(*if_exists, accounts, context),
        AccountStatement::Rename(pairs) => users::rename(pairs, context),
        AccountStatement::SetPassword { account, password } => {
            users::set_password(account.as_ref(), password, context)
        }
        AccountStatement::Grant {
            privileges,
            level,
            accounts,
            options,
            grant_option,
        } => {
            let granted = grants::Granted::of(privileges, level, *grant_option, context)?;
            grants::grant(&granted, accounts, options, context)
        }
        AccountStatement::Revoke {
            privileges,
            level,
            accounts,
        } => {
            let revoked = grants::Granted::of(privileges, level, false, context)?;
            grants::revoke(&revoked, accounts, context)
        }
        AccountStatement::GrantProxy {
            proxied,
            accounts,
            grant_option,
        } => proxies::grant(proxied, accounts, *grant_option, context),
        AccountStatement::RevokeProxy { proxied, accounts } => proxies::revoke(proxied, accounts, context),
        AccountStatement::RevokeAll(accounts) => grants::revoke_all(accounts, context),
        AccountStatement::CreateRoles {
            or_replace,
            if_not_exists,
            roles,
            admin,
        } => roles::create(*or_replace, *if_not_exists, roles, admin.as_ref(), context),
        AccountStatement::DropRoles { if_exists, roles } => roles::drop(*if_exists, roles, context),
        AccountStatement::GrantRole {
            role,
            accounts,
            admin_option,
        } => roles::grant(role, accounts, *admin_option, context),
        AccountStatement::RevokeRole {
            role,
            accounts,
            only_admin_option,
        } => roles::revoke(role, accounts, *only_admin_option, context),
        AccountStatement::SetDefaultRole { role, account } => {
            roles::set_default(role.as_ref(), account.as_ref(), context)
        }
    }?;
    match change.failure {
        // If nothing changed, nothing is logged. MariaDB nevertheless logs REVOKE ALL.
        Some(error)
            if change.accounts == *context.accounts
                && !matches!(statement, AccountStatement::RevokeAll(_)) =>
        {
            Err(error)
        }
        _ => Ok(change),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::{Accounts, InitialAccounts};
    use paceline_catalog::Catalog;
    use paceline_expression::session::{Privilege, Services};
    use paceline_syntax::{
        AccountName, AccountOptions, AccountSpec, PasswordSpec, PrivilegeLevel, PrivilegeSpec, UserName,
    };
    use paceline_wire::authentication::NativePassword;

    fn initial() -> Accounts {
        InitialAccounts::WithoutPassword.accounts()
    }

    fn name(user: &str) -> AccountName {
        AccountName {
            user: UserName::Name(user.into()),
            host: "%".into(),
        }
    }

    fn spec(user: &str, password: Option<&str>) -> AccountSpec {
        let authentication =
            password.map(|text| paceline_syntax::Authentication::Password(PasswordSpec::Plain(text.into())));
        AccountSpec {
            account: name(user),
            authentication,
        }
    }

    fn run(accounts: &Accounts, statement: AccountStatement) -> Result<AccountChange> {
        apply(
            &statement,
            AccountContext {
                accounts,
                current: ("root", "localhost"),
                database: Some("shop"),
                current_role: None,
                catalog: &Catalog::default(),
                virtual_tables: &*Services::default().virtual_tables,
                missing_accounts: MissingAccounts::Refused,
                sql_mode: Default::default(),
                now_seconds: 1_000,
            },
        )
    }

    fn grant(user: &str, privilege: &str, level: PrivilegeLevel) -> AccountStatement {
        AccountStatement::Grant {
            privileges: vec![PrivilegeSpec {
                privilege: privilege.into(),
                columns: vec![],
            }],
            level,
            accounts: vec![spec(user, None)],
            options: AccountOptions::default(),
            grant_option: false,
        }
    }

    fn create(user: &str, if_not_exists: bool) -> AccountStatement {
        AccountStatement::Create {
            or_replace: false,
            if_not_exists,
            accounts: vec![spec(user, Some("pw"))],
            options: AccountOptions::default(),
        }
    }

    #[test]
    fn accounts_are_created_renamed_and_dropped() {
        let accounts = run(&initial(), create("sb", false)).unwrap().accounts;
        assert_eq!(
            accounts.get("sb", "%").unwrap().authentication,
            NativePassword::of("pw").into()
        );
        let error = run(&accounts, create("sb", false)).unwrap_err();
        assert_eq!(
            (error.code().number(), error.message()),
            (1396, "Operation CREATE USER failed for 'sb'@'%'")
        );
        assert_eq!(
            run(&accounts, create("sb", true)).unwrap().notes[0].1,
            "Can't create user 'sb'@'%'; it already exists"
        );
        let accounts = run(
            &accounts,
            AccountStatement::Rename(vec![(name("sb"), name("other"))]),
        )
        .unwrap()
        .accounts;
        assert!(accounts.get("sb", "%").is_none());
        let drop = AccountStatement::Drop {
            if_exists: false,
            accounts: vec![name("other")],
        };
        let accounts = run(&accounts, drop.clone()).unwrap().accounts;
        assert_eq!(accounts, initial());
        assert_eq!(run(&accounts, drop).unwrap_err().code().number(), 1396);
    }

    #[test]
    fn grants_accumulate_and_are_revoked() {
        let accounts = run(&initial(), create("sb", false)).unwrap().accounts;
        let accounts = run(&accounts, grant("sb", "SELECT", PrivilegeLevel::Database(None)))
            .unwrap()
            .accounts;
        let accounts = run(
            &accounts,
            grant("sb", "INSERT", PrivilegeLevel::Database(Some("shop".into()))),
        )
        .unwrap()
        .accounts;
        let accounts = run(&accounts, grant("sb", "PROCESS", PrivilegeLevel::Global))
            .unwrap()
            .accounts;
        let account = accounts.get("sb", "%").unwrap();
        assert!(
            account.privileges_in("shop").has(Privilege::Insert) && account.global.has(Privilege::Process)
        );
        let revoke = AccountStatement::Revoke {
            privileges: vec![PrivilegeSpec {
                privilege: "ALL PRIVILEGES".into(),
                columns: vec![],
            }],
            level: PrivilegeLevel::Database(Some("shop".into())),
            accounts: vec![name("sb")],
        };
        let accounts = run(&accounts, revoke.clone()).unwrap().accounts;
        assert!(accounts.get("sb", "%").unwrap().databases.is_empty());
        assert_eq!(run(&accounts, revoke).unwrap_err().code().number(), 1141);
    }

    #[test]
    fn statements_do_as_much_as_possible() {
        let before = run(&InitialAccounts::WithoutPassword.accounts(), create("sb", false))
            .unwrap()
            .accounts;
        let done = |statement| {
            let applied = run(&before, statement).unwrap();
            let failure = applied.failure.unwrap();
            let users: Vec<String> = applied
                .accounts
                .iter()
                .map(|account| account.user.clone())
                .collect();
            (
                failure.code().number(),
                failure.message().to_owned(),
                users.join(" "),
            )
        };
        let drop = AccountStatement::Drop {
            if_exists: false,
            accounts: vec![name("no"), name("sb"), name("none")],
        };
        let (code, message, users) = done(drop);
        assert_eq!(
            (code, message.as_str(), users.contains("sb")),
            (1396, "Operation DROP USER failed for 'no'@'%','none'@'%'", false)
        );
        let create = AccountStatement::Create {
            or_replace: false,
            if_not_exists: false,
            accounts: vec![spec("new", None), spec("sb", None)],
            options: AccountOptions::default(),
        };
        let (code, _, users) = done(create);
        assert!(code == 1396 && users.contains("new"), "{users}");
        let AccountStatement::Grant {
            privileges,
            level,
            options,
            ..
        } = grant("sb", "SELECT", PrivilegeLevel::Global)
        else {
            unreachable!("that is what it makes")
        };
        let several = AccountStatement::Grant {
            privileges,
            level,
            accounts: vec![spec("sb", None), spec("no", None)],
            options,
            grant_option: false,
        };
        assert_eq!(run(&before, several).unwrap_err().code().number(), 1133);
    }

    #[test]
    fn privileges_that_cannot_be_granted() {
        let accounts = initial();
        let refused = |statement| run(&accounts, statement).unwrap_err().code().number();
        assert_eq!(refused(grant("nobody", "SELECT", PrivilegeLevel::Global)), 1133);
        assert_eq!(
            refused(grant("root", "SUPER", PrivilegeLevel::Database(None))),
            1221
        );
        let table = PrivilegeLevel::Table(paceline_syntax::TableName::new("t"));
        assert_eq!(refused(grant("root", "SELECT", table.clone())), 1146);
        assert_eq!(refused(grant("root", "SUPER", table)), 1144);
    }
}
