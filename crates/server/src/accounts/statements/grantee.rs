//! Account that GRANT gives something to.

use super::context::{AccountContext, MissingAccounts};
use crate::accounts::account::PUBLIC;
use crate::accounts::{Account, Accounts};
use paceline_syntax::AccountSpec;
use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_PASSWORD_NO_MATCH;

/// Returns an account that is granted something. A missing one is created if it has a password, or if the context
/// allows it. PUBLIC exists always.
pub(super) fn grantee(
    next: &Accounts,
    spec: &AccountSpec,
    (user, host): (&str, &str),
    context: AccountContext<'_>,
) -> Result<Account> {
    match next.get(user, host) {
        Some(account) => Ok(account.clone()),
        None if user == PUBLIC && host.is_empty() => Ok(Account::role(PUBLIC)),
        None if spec.authentication.is_some() || context.missing_accounts == MissingAccounts::Made => {
            let mut account = Account::new(user, host);
            account.password_age.renew(context.now_seconds);
            Ok(account)
        }
        None => Err(Error::new(ER_PASSWORD_NO_MATCH, &[])),
    }
}
