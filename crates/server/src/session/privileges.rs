//! What a session may do, and when a change of its account reaches it. As in MariaDB:
//!
//! | privileges | are those |
//! |---|---|
//! | global | of the login |
//! | on the current database | of the last USE |
//! | on any other database | of now; none once the account is gone |
//!
//! So a statement that worked a moment ago works again, and asking for a database again asks again whether one may. To take something away at once,
//! end the sessions (KILL USER).

use crate::accounts::{Account, PrivilegeSet, SharedAccounts};
use arc_swap::{ArcSwap, ArcSwapOption};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one session may do.
#[derive(Debug)]
pub struct SessionPrivileges {
    /// The account as it was at the login, but with what it may do in databases now.
    account: ArcSwap<Account>,
    /// The generation of the list of accounts that this was taken from.
    generation: AtomicU64,
    /// What USE found.
    current: ArcSwapOption<CurrentDatabase>,
}

#[derive(Debug)]
struct CurrentDatabase {
    name: String,
    privileges: PrivilegeSet,
}

impl Default for SessionPrivileges {
    fn default() -> Self {
        SessionPrivileges {
            account: ArcSwap::from_pointee(Account::new("", "")),
            generation: AtomicU64::new(0),
            current: ArcSwapOption::empty(),
        }
    }
}

impl SessionPrivileges {
    /// The session logged in to this account.
    pub fn log_in(&self, account: Account, accounts: &SharedAccounts) {
        self.generation.store(accounts.generation(), Ordering::Relaxed);
        self.account.store(Arc::new(account));
        self.current.store(None);
    }

    /// The account, with the global privileges of the login and those on databases of now.
    pub fn account(&self, accounts: &SharedAccounts) -> Arc<Account> {
        let generation = accounts.generation();
        let had = self.account.load_full();
        if self.generation.load(Ordering::Relaxed) == generation {
            return had;
        }
        let now = accounts.load();
        let databases = now.get(&had.user, &had.host);
        let account = Arc::new(Account {
            databases: databases.map_or(vec![], |account| account.databases.clone()),
            ..(*had).clone()
        });
        self.account.store(account.clone());
        self.generation.store(generation, Ordering::Relaxed);
        account
    }

    /// USE: remembers what the account may do there.
    pub fn enter(&self, database: &str, accounts: &SharedAccounts) {
        self.current.store(Some(Arc::new(CurrentDatabase {
            name: database.to_owned(),
            privileges: self.account(accounts).privileges_in(database),
        })));
    }

    /// What the session may do in a database. `current` is the session's, which a prepared statement changes while it runs.
    pub fn within(&self, database: &str, current: Option<&str>, accounts: &SharedAccounts) -> PrivilegeSet {
        if current == Some(database)
            && let Some(entered) = &*self.current.load()
            && entered.name == database
        {
            return entered.privileges;
        }
        self.account(accounts).privileges_in(database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_sql::session::Privilege;

    #[test]
    fn a_change_reaches_a_session_as_in_mariadb() {
        let select = PrivilegeSet::NONE.with(Privilege::Select);
        let mut account = Account::new("u", "%");
        account.global = PrivilegeSet::NONE.with(Privilege::Process);
        account.databases = vec![("a".into(), select), ("b".into(), select)];
        let accounts = SharedAccounts::of(vec![account.clone()]);
        let session = SessionPrivileges::default();
        session.log_in(account.clone(), &accounts);
        session.enter("a", &accounts);
        let global = account.global;
        let may = |database| {
            !session
                .within(database, Some("a"), &accounts)
                .minus(global)
                .is_empty()
        };
        assert!(may("a") && may("b") && !may("c"));
        accounts.replace(vec![]);
        // The account is gone: what USE found stays until the next, and so do global privileges until the end.
        assert!(may("a") && !may("b"));
        assert!(session.account(&accounts).global.has(Privilege::Process));
        session.enter("a", &accounts);
        assert!(!may("a"));
        account.databases = vec![("b".into(), select)];
        account.global = PrivilegeSet::everything();
        accounts.replace(vec![account.clone()]);
        assert!(!session.account(&accounts).global.has(Privilege::Super));
        assert!(may("b") && !may("a"));
    }
}
