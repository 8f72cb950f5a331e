//! `max_password_errors`: accounts with consecutive wrong passwords.

use super::{Account, Accounts};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of wrong passwords of each account since its last login. There are at most as many entries as accounts.
#[derive(Debug, Default)]
pub struct PasswordErrors {
    counts: Mutex<HashMap<(String, String), u64>>,
    accounts: AtomicUsize,
}

impl PasswordErrors {
    /// Counts a wrong password for an account.
    pub fn add(&self, account: &Account) {
        let mut counts = self.counts.lock();
        let errors = counts.entry(key(account)).or_default();
        *errors = errors.saturating_add(1);
        self.accounts.store(counts.len(), Ordering::Relaxed);
    }

    /// Returns whether an account has reached `max_password_errors`. Accounts that could raise the limit are never
    /// blocked.
    pub fn is_blocked(&self, account: &Account, errors_max: u64) -> bool {
        if self.accounts.load(Ordering::Relaxed) == 0 || account.ignores_limits_of_connections() {
            return false;
        }
        let errors = self.counts.lock().get(&key(account)).copied();
        errors.is_some_and(|errors| errors >= errors_max)
    }

    /// Resets an account after a correct password.
    pub fn forgive(&self, account: &Account) {
        if self.accounts.load(Ordering::Relaxed) > 0 {
            self.keep(|(user, host)| *user != account.user || *host != account.host);
        }
    }

    /// Resets all accounts, for FLUSH PRIVILEGES.
    pub fn forgive_all(&self) {
        self.keep(|_| false);
    }

    /// Resets the accounts that a statement has changed: ALTER USER is the way to unblock one.
    pub fn forgive_changed(&self, before: &Accounts, after: &Accounts) {
        if self.accounts.load(Ordering::Relaxed) > 0 {
            self.keep(|(user, host)| {
                let (was, is) = (before.get(user, host), after.get(user, host));
                is.is_some() && is == was
            });
        }
    }

    fn keep(&self, stays: impl Fn(&(String, String)) -> bool) {
        let mut counts = self.counts.lock();
        counts.retain(|key, _| stays(key));
        self.accounts.store(counts.len(), Ordering::Relaxed);
    }
}

fn key(account: &Account) -> (String, String) {
    (account.user.clone(), account.host.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::PrivilegeSet;
    use paceline_expression::session::Privilege;

    #[test]
    fn an_account_is_blocked_until_it_is_reset() {
        let errors = PasswordErrors::default();
        let account = Account::new("u", "%");
        let admin = Account {
            global: PrivilegeSet::NONE.with(Privilege::ConnectionAdmin),
            ..Account::new("a", "%")
        };
        for _ in 0..2 {
            errors.add(&account);
            errors.add(&admin);
        }
        assert!(errors.is_blocked(&account, 2) && !errors.is_blocked(&account, 3));
        assert!(!errors.is_blocked(&admin, 2));
        let before = Accounts::new(vec![account.clone(), admin.clone()]);
        errors.forgive_changed(&before, &before.with(Account::new("other", "%")));
        assert!(errors.is_blocked(&account, 2));
        let changed = Account {
            locked: true,
            ..account.clone()
        };
        errors.forgive_changed(&before, &before.with(changed));
        assert!(!errors.is_blocked(&account, 1));
        errors.add(&account);
        errors.forgive(&account);
        assert!(!errors.is_blocked(&account, 1));
        errors.add(&account);
        errors.forgive_all();
        assert!(!errors.is_blocked(&account, 1));
    }
}
