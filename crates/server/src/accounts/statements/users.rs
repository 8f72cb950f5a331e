//! CREATE, ALTER, DROP and RENAME USER, SET PASSWORD.

use super::account_name::resolve;
use super::account_options::{authenticate, set_options};
use super::change::{AccountChange, refused};
use super::context::AccountContext;
use crate::accounts::{Account, escaped};
use paceline_syntax::{AccountName, AccountOptions, AccountSpec, PasswordSpec};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;

/// Executes CREATE USER.
pub(super) fn create(
    or_replace: bool,
    if_not_exists: bool,
    accounts: &[AccountSpec],
    options: &AccountOptions,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let AccountChange {
        accounts: mut next,
        mut notes,
        mut failure,
    } = AccountChange::none(context);
    let mut failed = vec![];
    for spec in accounts {
        let (user, host) = resolve(&spec.account, context)?;
        if next.get(&user, &host).is_some() && !or_replace {
            match if_not_exists {
                true => notes.push((
                    ER_USER_CREATE_EXISTS,
                    ER_USER_CREATE_EXISTS.message(&[&user, &host]),
                )),
                false => failed.push(escaped(&user, &host, context.sql_mode)),
            }
            continue;
        }
        let mut account = Account::new(user, host);
        account.password_age.renew(context.now_seconds);
        if let Err(error) = authenticate(&mut account, spec, context) {
            failure = Some(error);
            break;
        }
        set_options(&mut account, options)?;
        next = next.with(account);
    }
    failure = failure.or(refused("CREATE USER", &failed));
    Ok(AccountChange {
        accounts: next,
        notes,
        failure,
    })
}

/// Executes ALTER USER.
pub(super) fn alter(
    if_exists: bool,
    accounts: &[AccountSpec],
    options: &AccountOptions,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let AccountChange {
        accounts: mut next,
        mut notes,
        failure,
    } = AccountChange::none(context);
    let mut failed = vec![];
    for spec in accounts {
        let (user, host) = resolve(&spec.account, context)?;
        let Some(account) = next.get(&user, &host) else {
            match if_exists {
                true => notes.push((
                    ER_CANNOT_USER,
                    ER_CANNOT_USER.message(&[&"ALTER USER", &escaped(&user, &host, context.sql_mode)]),
                )),
                false => failed.push(escaped(&user, &host, context.sql_mode)),
            }
            continue;
        };
        let mut account = account.clone();
        if let Err(error) = authenticate(&mut account, spec, context) {
            match accounts.len() {
                1 => return Err(error),
                _ => failed.push(escaped(&user, &host, context.sql_mode)),
            }
            continue;
        }
        set_options(&mut account, options)?;
        next = next.with(account);
    }
    let failure = failure.or(refused("ALTER USER", &failed));
    Ok(AccountChange {
        accounts: next,
        notes,
        failure,
    })
}

/// Executes DROP USER.
pub(super) fn drop(
    if_exists: bool,
    accounts: &[AccountName],
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let AccountChange {
        accounts: mut next,
        mut notes,
        failure,
    } = AccountChange::none(context);
    let mut failed = vec![];
    for name in accounts {
        let (user, host) = resolve(name, context)?;
        if next.get(&user, &host).is_none_or(|account| account.is_role) {
            match if_exists {
                true => notes.push((ER_USER_DROP_EXISTS, ER_USER_DROP_EXISTS.message(&[&user, &host]))),
                false => failed.push(escaped(&user, &host, context.sql_mode)),
            }
            continue;
        }
        next = next.without(&user, &host);
    }
    // Keep the last accounts: without any, nobody could log in, and a catalog without accounts means the
    // initial ones.
    if !next.iter().any(|account| !account.is_role) {
        next = context.accounts.clone();
        failed = accounts
            .iter()
            .map(|name| resolve(name, context).map(|(user, host)| escaped(&user, &host, context.sql_mode)))
            .collect::<Result<_>>()?;
    }
    let failure = failure.or(refused("DROP USER", &failed));
    Ok(AccountChange {
        accounts: next,
        notes,
        failure,
    })
}

/// Executes RENAME USER.
pub(super) fn rename(
    pairs: &[(AccountName, AccountName)],
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let mut next = context.accounts.clone();
    let mut failed = vec![];
    for (from, to) in pairs {
        let (user, host) = resolve(from, context)?;
        let (new_user, new_host) = resolve(to, context)?;
        match next.get(&user, &host) {
            Some(account) if next.get(&new_user, &new_host).is_none() => {
                let account = Account {
                    user: new_user,
                    host: new_host,
                    ..account.clone()
                };
                next = next.without(&user, &host).with(account);
            }
            _ => failed.push(escaped(&user, &host, context.sql_mode)),
        }
    }
    let failure = refused("RENAME USER", &failed);
    Ok(AccountChange {
        failure,
        ..AccountChange::to(next)
    })
}

/// Executes SET PASSWORD.
pub(super) fn set_password(
    account: Option<&AccountName>,
    password: &PasswordSpec,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let next = context.accounts;
    let (user, host) = match account {
        Some(name) => resolve(name, context)?,
        None => (context.current.0.to_owned(), context.current.1.to_owned()),
    };
    let account = next
        .get(&user, &host)
        .ok_or_else(|| Error::new(ER_PASSWORD_NO_MATCH, &[]))?;
    let authentication = account.authentication.with_password(password)?;
    let mut account = Account {
        authentication,
        ..account.clone()
    };
    account.password_age.renew(context.now_seconds);
    Ok(AccountChange::to(next.with(account)))
}
