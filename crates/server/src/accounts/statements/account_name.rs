//! Names of accounts and roles in a statement.

use super::context::AccountContext;
use crate::accounts::account::PUBLIC;
use crate::accounts::quoted;
use paceline_syntax::{AccountName, UserName};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::{ER_MALFORMED_DEFINER, ER_WRONG_STRING_LENGTH};

/// Maximum length of a user name, in characters.
const USER_LENGTH_MAX: usize = 80;
/// Maximum length of a host name, in characters.
const HOST_LENGTH_MAX: usize = 60;

/// Returns user and host of an account in a statement. A role has no host.
///
/// # Errors
/// 1470 for names that are too long; 1446 for CURRENT_ROLE without a role.
pub fn resolve(name: &AccountName, context: AccountContext<'_>) -> Result<(String, String)> {
    match &name.user {
        UserName::Name(user) => {
            check_user_length(user)?;
            check_length(&name.host, "host name", HOST_LENGTH_MAX)?;
            Ok((user.clone(), name.host.to_ascii_lowercase()))
        }
        UserName::Unqualified(user) => {
            check_user_length(user)?;
            match context.accounts.role(user) {
                Some(_) => Ok((user.clone(), String::new())),
                None => Ok((user.clone(), name.host.to_ascii_lowercase())),
            }
        }
        UserName::Current => Ok((context.current.0.to_owned(), context.current.1.to_owned())),
        UserName::CurrentRole => match context.current_role {
            Some(role) => Ok((role.to_owned(), String::new())),
            None => Err(Error::new(ER_MALFORMED_DEFINER, &[])),
        },
        UserName::Public => Ok((PUBLIC.to_owned(), String::new())),
    }
}

/// Checks the length of a user's or a role's name.
///
/// # Errors
/// 1470 for a name that is too long.
pub(super) fn check_user_length(name: &str) -> Result<()> {
    check_length(name, "user name", USER_LENGTH_MAX)
}

fn check_length(text: &str, what: &str, longest: usize) -> Result<()> {
    match text.chars().count() > longest {
        true => Err(Error::new(ER_WRONG_STRING_LENGTH, &[&text, &what, &longest])),
        false => Ok(()),
    }
}

/// Returns how an error about roles names an account: `'user'@'host'`, or `'role'`.
pub(super) fn named(user: &str, host: &str) -> String {
    match host.is_empty() {
        true => format!("'{user}'"),
        false => quoted(user, host),
    }
}
