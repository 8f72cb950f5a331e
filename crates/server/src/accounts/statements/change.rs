//! Result of a statement about accounts.

use super::context::AccountContext;
use crate::accounts::Accounts;
use paceline_syntax::Error;
use paceline_types::error_code::{ER_CANNOT_USER, ErrorCode};

/// Result of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountChange {
    /// Accounts after the statement.
    pub accounts: Accounts,
    /// Notes for accounts that `IF EXISTS` or `IF NOT EXISTS` skipped.
    pub notes: Vec<(ErrorCode, String)>,
    /// Error of the statement, if some accounts were changed and others could not be.
    pub failure: Option<Error>,
}

impl AccountChange {
    /// Returns a change that leaves the accounts as they are.
    pub(super) fn none(context: AccountContext<'_>) -> Self {
        Self::to(context.accounts.clone())
    }

    /// Returns a change without notes and without a failure.
    pub(super) fn to(accounts: Accounts) -> Self {
        AccountChange {
            accounts,
            notes: vec![],
            failure: None,
        }
    }
}

/// Returns error 1396 for accounts that an operation could not change, or `None` if there are none.
pub(super) fn refused(operation: &str, failed: &[String]) -> Option<Error> {
    (!failed.is_empty()).then(|| Error::new(ER_CANNOT_USER, &[&operation, &failed.join(",")]))
}
