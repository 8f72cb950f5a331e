//! Privileges of a session, and when a change of its account takes effect. As in MariaDB:
//!
//! | privileges | are as of |
//! |---|---|
//! | global | the login; those of the current role, SET ROLE |
//! | on the current database | the last USE |
//! | on any other database, on tables, columns and routines | now; none if the account was dropped |
//!
//! A statement that has just worked therefore works again, and USE of a database checks the privileges again. To revoke
//! something immediately, end the sessions (KILL USER).

use super::{Account, PrivilegeSet, SharedAccounts};
use arc_swap::{ArcSwap, ArcSwapOption};
use paceline_expression::session::Privilege;
use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_SPECIFIC_ACCESS_DENIED_ERROR;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Privileges of one session.
#[derive(Debug)]
pub struct SessionPrivileges {
    /// The account as of the login, with what it inherits, except for the current privileges on objects.
    account: ArcSwap<Account>,
    /// Global privileges of the account alone, as of the login.
    own_global: AtomicU64,
    /// Name of the current role.
    role: ArcSwapOption<String>,
    /// Generation of the list of accounts from which they were taken.
    generation: AtomicU64,
    /// Privileges as of the last USE.
    current: ArcSwapOption<CurrentDatabase>,
    /// Privileges of the callers of stored programs that run with those of their definers, outermost first.
    callers: Mutex<Vec<CallerPrivileges>>,
}

/// Privileges of the caller of a stored program.
#[derive(Debug)]
struct CallerPrivileges {
    account: Arc<Account>,
    own_global: u64,
    role: Option<Arc<String>>,
    generation: u64,
    current: Option<Arc<CurrentDatabase>>,
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
            own_global: AtomicU64::new(0),
            role: ArcSwapOption::empty(),
            generation: AtomicU64::new(0),
            current: ArcSwapOption::empty(),
            callers: Mutex::default(),
        }
    }
}

impl SessionPrivileges {
    /// Sets the account that the session has logged in to.
    pub fn log_in(&self, account: Account, accounts: &SharedAccounts) {
        self.generation.store(accounts.generation(), Ordering::Relaxed);
        self.own_global.store(account.global.0, Ordering::Relaxed);
        self.role.store(None);
        let inherited = accounts.load().inherited(None);
        self.account.store(Arc::new(account.with_inherited(inherited)));
        self.current.store(None);
    }

    /// Returns to an account that the session had before, with the privileges that it has now: they may have been
    /// revoked meanwhile.
    pub fn log_in_again(&self, account: Account, accounts: &SharedAccounts) {
        self.log_in(account, accounts);
        let outdated = accounts.generation().wrapping_sub(1);
        self.generation.store(outdated, Ordering::Relaxed);
    }

    /// Sets the current role, whose privileges the session has from now on.
    pub fn set_role(&self, role: Option<&str>, database: Option<&str>, accounts: &SharedAccounts) {
        let had = self.account(accounts);
        self.role.store(role.map(|role| Arc::new(role.to_owned())));
        let account = Account {
            global: PrivilegeSet(self.own_global.load(Ordering::Relaxed)),
            ..(*had).clone()
        };
        let inherited = accounts.load().inherited(role);
        self.account.store(Arc::new(account.with_inherited(inherited)));
        match database {
            Some(database) => self.enter(database, accounts),
            None => self.current.store(None),
        }
    }

    /// Replaces the privileges by those of an account, until [`Self::end_definer`].
    pub fn begin_definer(&self, definer: Account, accounts: &SharedAccounts) {
        let generation = self.generation.swap(accounts.generation(), Ordering::Relaxed);
        self.callers.lock().push(CallerPrivileges {
            own_global: self.own_global.swap(definer.global.0, Ordering::Relaxed),
            account: self.account.swap(Arc::new(definer)),
            role: self.role.swap(None),
            generation,
            current: self.current.swap(None),
        });
    }

    /// Restores the privileges before the last [`Self::begin_definer`].
    pub fn end_definer(&self) {
        if let Some(caller) = self.callers.lock().pop() {
            self.account.store(caller.account);
            self.own_global.store(caller.own_global, Ordering::Relaxed);
            self.role.store(caller.role);
            self.generation.store(caller.generation, Ordering::Relaxed);
            self.current.store(caller.current);
        }
    }

    /// Returns the account, with the global privileges as of the login and the current ones on databases.
    pub fn account(&self, accounts: &SharedAccounts) -> Arc<Account> {
        let generation = accounts.generation();
        let had = self.account.load_full();
        if self.generation.load(Ordering::Relaxed) == generation {
            return had;
        }
        let list = accounts.load();
        let now = list.get(&had.user, &had.host).cloned();
        let now = now.unwrap_or_else(|| Account::new(had.user.as_str(), had.host.as_str()));
        let role = self.role.load_full();
        let account = Arc::new(Account {
            databases: now.databases,
            tables: now.tables,
            routines: now.routines,
            roles: now.roles,
            inherited: list.inherited(role.as_ref().map(|role| role.as_str())),
            ..(*had).clone()
        });
        self.account.store(account.clone());
        self.generation.store(generation, Ordering::Relaxed);
        account
    }

    /// Checks that the account has at least one of these global privileges.
    ///
    /// # Errors
    /// 1227 if the account has none of them.
    pub fn require_any(&self, privileges: &[Privilege], accounts: &SharedAccounts) -> Result<()> {
        let account = self.account(accounts);
        if privileges.iter().any(|privilege| account.global.has(*privilege)) {
            return Ok(());
        }
        let names: Vec<&str> = privileges
            .iter()
            .map(|privilege| PrivilegeSet::name(*privilege))
            .collect();
        Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&names.join(", ")]))
    }

    /// Stores the privileges in a database, for USE.
    pub fn enter(&self, database: &str, accounts: &SharedAccounts) {
        self.current.store(Some(Arc::new(CurrentDatabase {
            name: database.to_owned(),
            privileges: self.account(accounts).privileges_in(database),
        })));
    }

    /// Returns the session's privileges in a database. `current` is the session's current database, which a running
    /// prepared statement may change.
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

    #[test]
    fn a_session_that_returns_to_its_account_has_what_was_not_revoked_meanwhile() {
        let select = PrivilegeSet::NONE.with(Privilege::Select);
        let mut account = Account::new("u", "%");
        account.databases = vec![("a".into(), select)];
        let accounts = SharedAccounts::of(vec![account.clone()]);
        let session = SessionPrivileges::default();
        session.log_in(account, &accounts);
        let before = Account::clone(&session.account(&accounts));
        accounts.replace(vec![Account::new("u", "%")]);
        session.log_in_again(before, &accounts);
        assert!(session.within("a", None, &accounts).is_empty());
    }

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
        let may = |database: &str| {
            !session
                .within(database, Some("a"), &accounts)
                .minus(global)
                .is_empty()
        };
        assert!(may("a") && may("b") && !may("c"));
        accounts.replace(vec![]);
        // The account was dropped: the privileges from USE last until the next USE, the global ones until the session
        // ends.
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
