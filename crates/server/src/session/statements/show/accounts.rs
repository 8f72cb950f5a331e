//! SHOW GRANTS, SHOW CREATE USER and SHOW PRIVILEGES.

use crate::accounts::privilege::ALL;
use crate::accounts::statements::{AccountContext, MissingAccounts, resolve};
use crate::accounts::{Account, Authority, PrivilegeSet, show};
use crate::session::protocol::Output;
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_syntax::{AccountName, Error, Result};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Returns SHOW GRANTS.
///
/// # Errors
/// 1141 for a missing account; 1044 for another account without SELECT on `mysql`; 1290 under `--skip-grant-tables`.
pub fn grants(named: Option<&AccountName>, authority: Authority<'_>) -> Result<Output> {
    let account = shown_account(named, authority)?;
    let mut output = Output::new();
    output.text(&format!("Grants for {}@{}", account.user, account.host), 1024);
    for line in show::grants(&account) {
        output.row(vec![Value::Text(line)]);
    }
    Ok(output)
}

/// Returns SHOW CREATE USER.
///
/// # Errors
/// 1133 for a missing account, otherwise the errors of [`grants`].
pub fn create_user(named: Option<&AccountName>, authority: Authority<'_>) -> Result<Output> {
    let account = shown_account(named, authority).map_err(|error| match error.code() {
        ER_NONEXISTING_GRANT => Error::new(ER_PASSWORD_NO_MATCH, &[]),
        _ => error,
    })?;
    let mut output = Output::new();
    output.text(
        &format!("CREATE USER for {}@{}", account.user, account.host),
        1024,
    );
    output.row(vec![Value::Text(show::create_user(&account))]);
    Ok(output)
}

/// Returns SHOW PRIVILEGES.
pub fn privileges() -> Output {
    let mut output = Output::new();
    output
        .text("Privilege", 25)
        .text("Context", 15)
        .text("Comment", 50);
    for (privilege, name) in ALL {
        let context = match PrivilegeSet::grantable_on_database().has(*privilege) {
            true => "Databases,Tables",
            false => "Server Admin",
        };
        output.row(vec![
            Value::Text((*name).into()),
            Value::Text(context.into()),
            Value::Text(String::new()),
        ]);
    }
    output
}

/// Returns the named account, or the session's own.
fn shown_account(named: Option<&AccountName>, authority: Authority<'_>) -> Result<Account> {
    authority.accounts().must_count()?;
    let current = authority.current_user();
    let accounts = authority.accounts().load();
    let (user, host) = match named {
        None => (current.0.to_owned(), current.1.to_owned()),
        Some(name) => resolve(
            name,
            AccountContext {
                accounts: &accounts,
                current,
                database: None,
                missing_accounts: MissingAccounts::Refused,
            },
        )?,
    };
    if (user.as_str(), host.as_str()) != current {
        authority.check(Privilege::Select, PrivilegeTarget::Database("mysql"))?;
    }
    accounts
        .get(&user, &host)
        .cloned()
        .ok_or_else(|| Error::new(ER_NONEXISTING_GRANT, &[&user, &host]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, told};
    use paceline_syntax::UserName;

    fn root() -> AccountName {
        AccountName {
            user: UserName::Name("root".into()),
            host: "localhost".into(),
        }
    }

    #[test]
    fn showing_ones_own_account_needs_no_privilege() {
        let holder = Holder::new(&[Privilege::Process], &[]);
        let output = grants(None, holder.authority()).unwrap();
        assert_eq!(output.columns()[0].name.to_string(), "Grants for u@%");
        assert_eq!(
            output.rows(),
            [[Value::Text("GRANT PROCESS ON *.* TO `u`@`%`".into())]]
        );
        assert_eq!(
            told(grants(Some(&root()), holder.authority()).map(|_| ())).0,
            1044
        );
    }

    #[test]
    fn another_account_needs_select_on_mysql() {
        let holder = Holder::new(&[], &[("mysql", &[Privilege::Select])]);
        assert!(grants(Some(&root()), holder.authority()).is_ok());
        let missing = AccountName {
            host: "%".into(),
            ..root()
        };
        assert_eq!(
            told(grants(Some(&missing), holder.authority()).map(|_| ())).0,
            1141
        );
        assert_eq!(
            told(create_user(Some(&missing), holder.authority()).map(|_| ())).0,
            1133
        );
    }
}
