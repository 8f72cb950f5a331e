//! CREATE and DROP ROLE, GRANT and REVOKE of roles, SET DEFAULT ROLE.

use super::account_name::{check_user_length, named, resolve};
use super::account_options::authenticate;
use super::change::{AccountChange, refused};
use super::context::{AccountContext, MissingAccounts};
use super::grantee::grantee;
use crate::accounts::account::PUBLIC;
use crate::accounts::{Account, Accounts, RoleGrant, escaped};
use paceline_syntax::{AccountName, AccountSpec, RoleName, UserName};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;

/// Checks the name of a role. Returns it without blanks at its end.
///
/// # Errors
/// 1959 for an empty name, `NONE` and `PUBLIC`; 1470 for a name that is too long.
fn role_name(name: &str) -> Result<&str> {
    let name = name.trim_end_matches(' ');
    check_user_length(name)?;
    for reserved in ["NONE", PUBLIC] {
        if name.eq_ignore_ascii_case(reserved) {
            return Err(Error::new(ER_INVALID_ROLE, &[&reserved]));
        }
    }
    match name.is_empty() {
        true => Err(Error::new(ER_INVALID_ROLE, &[&name])),
        false => Ok(name),
    }
}

/// Returns the role that a statement names.
///
/// # Errors
/// 1959 if it does not exist; 1446 for CURRENT_ROLE without a role.
fn existing<'a>(role: &'a RoleName, context: AccountContext<'a>) -> Result<&'a Account> {
    let name = match (role, context.current_role) {
        (RoleName::Name(name), _) => role_name(name)?,
        (RoleName::Current, Some(current)) => current,
        (RoleName::Current, None) => return Err(Error::new(ER_MALFORMED_DEFINER, &[])),
    };
    let found = context.accounts.role(name);
    found.ok_or_else(|| Error::new(ER_INVALID_ROLE, &[&name]))
}

/// Executes CREATE ROLE.
pub(super) fn create(
    or_replace: bool,
    if_not_exists: bool,
    roles: &[String],
    admin: Option<&AccountName>,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let admin = match admin {
        None => (context.current.0.to_owned(), context.current.1.to_owned()),
        Some(name) => resolve(name, context)?,
    };
    let mut change = AccountChange::none(context);
    if !admin.0.is_empty() && change.accounts.get(&admin.0, &admin.1).is_none() {
        let message = ER_NO_SUCH_USER.message(&[&admin.0, &admin.1]);
        change.notes.push((ER_NO_SUCH_USER, message));
    }
    let mut failed = vec![];
    for name in roles {
        let name = role_name(name)?;
        if change.accounts.role(name).is_some() {
            if if_not_exists {
                let message = ER_ROLE_CREATE_EXISTS.message(&[&name]);
                change.notes.push((ER_ROLE_CREATE_EXISTS, message));
                continue;
            }
            if !or_replace {
                failed.push(escaped(name, "", context.sql_mode));
                continue;
            }
            change.accounts = without_role(&change.accounts, name);
        }
        change.accounts = change.accounts.with(Account::role(name));
        if let Some(account) = change.accounts.get(&admin.0, &admin.1) {
            let mut account = account.clone();
            account.roles.push(RoleGrant {
                role: name.to_owned(),
                admin: true,
            });
            change.accounts = change.accounts.with(account);
        }
    }
    change.failure = refused("CREATE ROLE", &failed);
    Ok(change)
}

/// Executes DROP ROLE.
pub(super) fn drop(if_exists: bool, roles: &[String], context: AccountContext<'_>) -> Result<AccountChange> {
    let mut change = AccountChange::none(context);
    let mut failed = vec![];
    for name in roles {
        if name.eq_ignore_ascii_case(PUBLIC) {
            failed.push(PUBLIC.to_owned());
            continue;
        }
        let name = role_name(name)?;
        match change.accounts.role(name) {
            Some(_) => change.accounts = without_role(&change.accounts, name),
            None if if_exists => {
                let message = ER_ROLE_DROP_EXISTS.message(&[&name]);
                change.notes.push((ER_ROLE_DROP_EXISTS, message));
            }
            None => failed.push(escaped(name, "", context.sql_mode)),
        }
    }
    change.failure = refused("DROP ROLE", &failed);
    Ok(change)
}

/// Returns the accounts without a role, which nobody has any more.
fn without_role(accounts: &Accounts, name: &str) -> Accounts {
    let mut next = accounts.without(name, "");
    let holders: Vec<Account> = (next.iter())
        .filter(|account| account.roles.iter().any(|grant| grant.role == name))
        .cloned()
        .collect();
    for mut holder in holders {
        holder.roles.retain(|grant| grant.role != name);
        next = next.with(holder);
    }
    next
}

/// Executes GRANT of a role.
pub(super) fn grant(
    role: &RoleName,
    accounts: &[AccountSpec],
    admin_option: bool,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let role = existing(role, context)?;
    let mut next = context.accounts.clone();
    for spec in accounts {
        let (user, host) = resolve(&spec.account, context)?;
        let missing_accounts = match spec.authentication.is_some() {
            true => MissingAccounts::Made,
            false => context.missing_accounts,
        };
        let context = AccountContext {
            missing_accounts,
            ..context
        };
        let mut account = grantee(&next, spec, (&user, &host), context)?;
        if account.is_role && would_be_circle(&next, role, &account) {
            return Err(Error::new(
                ER_CANNOT_GRANT_ROLE,
                &[&role.user, &named(&user, &host)],
            ));
        }
        if !account.is_role {
            authenticate(&mut account, spec, context)?;
        }
        match account.roles.iter_mut().find(|grant| grant.role == role.user) {
            Some(grant) => grant.admin |= admin_option,
            None => account.roles.push(RoleGrant {
                role: role.user.clone(),
                admin: admin_option,
            }),
        }
        next = next.with(account);
    }
    Ok(AccountChange::to(next))
}

/// Returns whether a role would have itself if it were granted to another role.
fn would_be_circle(accounts: &Accounts, role: &Account, to: &Account) -> bool {
    role.user == to.user || accounts.roles_of(role).iter().any(|known| known.user == to.user)
}

/// Executes REVOKE of a role.
pub(super) fn revoke(
    role: &RoleName,
    accounts: &[AccountName],
    only_admin_option: bool,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let role = existing(role, context)?;
    let mut next = context.accounts.clone();
    for name in accounts {
        let (user, host) = resolve(name, context)?;
        let cannot = || Error::new(ER_CANNOT_REVOKE_ROLE, &[&role.user, &named(&user, &host)]);
        let mut account = next.get(&user, &host).ok_or_else(cannot)?.clone();
        let found = account.roles.iter().position(|grant| grant.role == role.user);
        let place = found.ok_or_else(cannot)?;
        match only_admin_option {
            true => account.roles[place].admin = false,
            false => {
                account.roles.remove(place);
            }
        }
        next = next.with(account);
    }
    Ok(AccountChange::to(next))
}

/// Executes SET DEFAULT ROLE. The caller has checked that the account may have the role.
pub(super) fn set_default(
    role: Option<&RoleName>,
    account: Option<&AccountName>,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let role = role.map(|role| existing(role, context)).transpose()?;
    let current = AccountName {
        user: UserName::Current,
        host: String::new(),
    };
    let (user, host) = resolve(account.unwrap_or(&current), context)?;
    let found = context.accounts.get(&user, &host);
    let mut account = match found {
        Some(account) => account.clone(),
        None => return Err(Error::new(ER_PASSWORD_NO_MATCH, &[])),
    };
    account.default_role = role.map_or(String::new(), |role| role.user.clone());
    Ok(AccountChange::to(context.accounts.with(account)))
}
