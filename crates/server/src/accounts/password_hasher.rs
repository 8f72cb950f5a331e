//! Hashes of the passwords in an account's statement.
//!
//! They stand in place of the passwords in the text that is shown and logged. That text is made before privileges are
//! checked, and a hash for `caching_sha2_password` takes a millisecond. So only an account that may change others gets
//! as many as it wants; another one may change its own password only.

use super::Account;
use super::authentication::{NO_HASH, stored_hash};
use paceline_expression::session::Privilege;
use paceline_wire::caching_sha2::CACHING_SHA2_PASSWORD;
use std::cell::Cell;

/// Returns the function that hashes the passwords of an account's statement: method and password in, hash out.
pub fn hasher_for(account: &Account) -> impl Fn(&str, &str) -> String + use<> {
    // Those that check_account_statement lets change other accounts.
    let may_change_accounts = account.global.has(Privilege::CreateUser)
        || account.may(Privilege::Insert, "mysql")
        || account.may(Privilege::Update, "mysql");
    let slow_hashes = Cell::new(0);
    move |plugin, password| {
        if plugin.eq_ignore_ascii_case(CACHING_SHA2_PASSWORD) && !may_change_accounts {
            if slow_hashes.get() > 0 {
                return NO_HASH.to_owned();
            }
            slow_hashes.set(1);
        }
        stored_hash(plugin, password)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::PrivilegeSet;

    #[test]
    fn slow_hashes_of_an_account_that_may_change_only_itself() {
        let hashes = |account: &Account| {
            let hash = hasher_for(account);
            [CACHING_SHA2_PASSWORD, CACHING_SHA2_PASSWORD, ""].map(|plugin| hash(plugin, "secret") != NO_HASH)
        };
        let mut account = Account::new("u", "%");
        assert_eq!(hashes(&account), [true, false, true]);
        account.global = PrivilegeSet::NONE.with(Privilege::CreateUser);
        assert_eq!(hashes(&account), [true, true, true]);
    }
}
