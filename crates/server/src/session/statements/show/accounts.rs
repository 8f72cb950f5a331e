//! SHOW GRANTS, SHOW CREATE USER and SHOW PRIVILEGES.

use crate::accounts::account::PUBLIC;
use crate::accounts::privilege::ALL;
use crate::accounts::statements::resolve;
use crate::accounts::{Account, Authority, PrivilegeSet, RoleGrant, show};
use crate::session::protocol::Output;
use paceline_catalog::Catalog;
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_syntax::{AccountName, Error, Result, UserName};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Returns SHOW GRANTS. For a role it includes the roles that it has; for the session's account, the current role and
/// PUBLIC.
///
/// # Errors
/// 1141 for a missing account; 1044 for another account without SELECT on `mysql`; 1290 under `--skip-grant-tables`.
pub fn grants(named: Option<&AccountName>, authority: Authority<'_>) -> Result<Output> {
    let account = shown_account(named, authority)?;
    let accounts = authority.accounts().load();
    let current = authority.current_user();
    let is_own = !account.is_role && (account.user.as_str(), account.host.as_str()) == current;
    let mut lines = show::grants(&account);
    let mut add_roles_of = |role: &Account| {
        for other in accounts.roles_of(role) {
            lines.extend(show::grants(other));
        }
    };
    if account.is_role {
        add_roles_of(&account);
    } else if is_own {
        // What the session inherits, as if the account had these roles.
        let inherited = authority.current_role().into_iter().chain([PUBLIC]);
        let roles = inherited.map(|role| RoleGrant {
            role: role.to_owned(),
            admin: false,
        });
        add_roles_of(&Account {
            roles: roles.collect(),
            ..Account::new("", "")
        });
    }
    lines.extend(show::default_role(&account));
    let mut output = Output::new();
    output.text(&format!("Grants for {}", account.shown()), 1024);
    for line in lines {
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
    if account.is_role {
        return Err(Error::new(ER_PASSWORD_NO_MATCH, &[]));
    }
    let mut output = Output::new();
    output.text(
        &format!("CREATE USER for {}@{}", account.user, account.host),
        1024,
    );
    for line in show::create_user(&account) {
        output.row(vec![Value::Text(line)]);
    }
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

/// Returns the named account or role, or the session's own account.
fn shown_account(named: Option<&AccountName>, authority: Authority<'_>) -> Result<Account> {
    authority.accounts().must_count()?;
    let current = authority.current_user();
    let accounts = authority.accounts().load();
    let nothing = |user: &str, host: &str| Error::new(ER_NONEXISTING_GRANT, &[&user, &host]);
    let (user, host) = match named {
        None => (current.0.to_owned(), current.1.to_owned()),
        Some(name) if name.user == UserName::CurrentRole && authority.current_role().is_none() => {
            return Err(nothing(current.0, current.1));
        }
        Some(name) => resolve(name, authority.names(&accounts, &Catalog::default()))?,
    };
    let is_public = host.is_empty() && user == PUBLIC;
    let is_own_role = host.is_empty() && authority.current_role() == Some(user.as_str());
    if (user.as_str(), host.as_str()) != current && !is_own_role && !is_public {
        authority.check(Privilege::Select, PrivilegeTarget::Database("mysql"))?;
    }
    match accounts.get(&user, &host) {
        Some(account) => Ok(account.clone()),
        None if is_public => Ok(Account::role(PUBLIC)),
        None => Err(nothing(&user, &host)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, outcome_of};
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
            outcome_of(grants(Some(&root()), holder.authority()).map(|_| ())).0,
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
            outcome_of(grants(Some(&missing), holder.authority()).map(|_| ())).0,
            1141
        );
        assert_eq!(
            outcome_of(create_user(Some(&missing), holder.authority()).map(|_| ())).0,
            1133
        );
    }
}
