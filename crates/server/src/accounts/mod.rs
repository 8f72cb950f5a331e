//! Accounts: users and hosts that may connect, and their privileges.
//!
//! ```text
//!   'user'@'host pattern' ─▶ Account { authentication, global privileges, privileges for databases }
//! ```
//!
//! [`Accounts`] is an immutable list behind one atomic pointer; a statement about accounts creates a new list. Each
//! account is a catalog record (JSON in the form of MariaDB's `mysql.global_priv`), committed and logged like a table's
//! definition. [`session_privileges`] describes when a session notices a change, and [`checks`] has the
//! rules: which privileges a statement needs.

pub mod authentication;
pub mod authority;
pub mod checks;
pub mod host;
pub mod initial;
pub mod password_errors;
pub mod privilege;
pub mod records;
pub mod require;
pub mod session_privileges;
pub mod show;
pub mod statements;

pub use authentication::Authentication;
pub use authority::Authority;
pub use host::ClientHost;
pub use initial::InitialAccounts;
pub use privilege::PrivilegeSet;
pub use require::Require;
pub use session_privileges::SessionPrivileges;

use arc_swap::ArcSwap;
use authentication::AuthenticationRecord;
use paceline_catalog::Catalog;
use paceline_expression::session::Privilege;
use paceline_types::error_code::ER_OPTION_PREVENTS_STATEMENT;
use paceline_wire::authentication::NativePassword;
use password_errors::PasswordErrors;
use require::RequireRecord;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The user name; empty matches any user.
    pub user: String,
    /// The host pattern in lower case.
    pub host: String,
    /// Authentication methods.
    pub authentication: Authentication,
    /// `REQUIRE`: required encryption of the connection.
    pub require: Require,
    /// Global privileges.
    pub global: PrivilegeSet,
    /// Privileges on databases: pattern and privileges, in the order of the grants.
    pub databases: Vec<(String, PrivilegeSet)>,
    /// `ACCOUNT LOCK`: the account cannot log in.
    pub locked: bool,
    /// `WITH MAX_USER_CONNECTIONS`; 0 means no limit.
    pub user_connections_max: u64,
}

/// An account in the form of its record.
#[derive(Debug, Serialize, Deserialize)]
struct AccountRecord {
    user: String,
    host: String,
    access: u64,
    #[serde(flatten)]
    authentication: AuthenticationRecord,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    account_locked: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    databases: Vec<(String, u64)>,
    #[serde(default)]
    max_user_connections: u64,
    #[serde(flatten)]
    require: RequireRecord,
}

impl Account {
    /// Creates an account without a password and without privileges.
    pub fn new(user: impl Into<String>, host: impl Into<String>) -> Account {
        Account {
            user: user.into(),
            host: host.into(),
            authentication: NativePassword::Empty.into(),
            require: Require::Nothing,
            global: PrivilegeSet::NONE,
            databases: vec![],
            locked: false,
            user_connections_max: 0,
        }
    }

    /// Returns the account of all clients under `--skip-grant-tables`: it has no name and all privileges.
    pub fn of_skipped() -> Account {
        Account {
            global: PrivilegeSet::everything(),
            ..Account::new("", "")
        }
    }

    /// Encodes the record.
    pub fn to_record(&self) -> Vec<u8> {
        serde_json::to_vec(&AccountRecord {
            user: self.user.clone(),
            host: self.host.clone(),
            access: self.global.0,
            authentication: self.authentication.to_record(),
            account_locked: self.locked,
            databases: self
                .databases
                .iter()
                .map(|(pattern, set)| (pattern.clone(), set.0))
                .collect(),
            max_user_connections: self.user_connections_max,
            require: self.require.to_record(),
        })
        .expect("an account is plain data")
    }

    /// Decodes a record.
    pub fn from_record(bytes: &[u8]) -> Option<Account> {
        let record: AccountRecord = serde_json::from_slice(bytes).ok()?;
        Some(Account {
            user: record.user,
            host: record.host,
            authentication: Authentication::from_record(&record.authentication)?,
            require: Require::from_record(record.require),
            global: PrivilegeSet(record.access),
            databases: record
                .databases
                .into_iter()
                .map(|(pattern, bits)| (pattern, PrivilegeSet(bits)))
                .collect(),
            locked: record.account_locked,
            user_connections_max: record.max_user_connections,
        })
    }

    /// Returns `'user'@'host'` in quotes, as errors and information_schema show it.
    pub fn quoted(&self) -> String {
        quoted(&self.user, &self.host)
    }

    /// Returns the account's privileges in a database: those of the most specific matching pattern, and the global
    /// ones.
    pub fn privileges_in(&self, database: &str) -> PrivilegeSet {
        self.privileges_where(|pattern| host::like_exactly(pattern, database))
    }

    /// Returns the account's privileges in all databases that a pattern matches. Only its own patterns that match at
    /// least these databases count.
    pub fn privileges_in_all(&self, granted: &str) -> PrivilegeSet {
        self.privileges_where(|pattern| host::covers(pattern, granted))
    }

    fn privileges_where(&self, matches: impl Fn(&str) -> bool) -> PrivilegeSet {
        let matching = self.databases.iter().filter(|(pattern, _)| matches(pattern));
        let best = matching.min_by_key(|(pattern, _)| host::specificity(pattern));
        self.global
            .union(best.map_or(PrivilegeSet::NONE, |(_, set)| *set))
    }

    /// Returns whether the account has a privilege on the contents of a database.
    pub fn may(&self, privilege: Privilege, database: &str) -> bool {
        self.privileges_in(database).has(privilege)
            || crate::information_schema::is_for_everybody(privilege, database)
    }

    /// Returns whether the account has any privilege in the database.
    pub fn can_see(&self, database: &str) -> bool {
        let here = self.privileges_in(database);
        !here
            .minus(PrivilegeSet::everything().minus(PrivilegeSet::grantable_on_database()))
            .is_empty()
            || self.global.has(Privilege::ShowDatabases)
    }
}

/// Formats `'user'@'host'`.
pub fn quoted(user: &str, host: &str) -> String {
    format!("'{user}'@'{host}'")
}

/// All accounts, in the order in which a login tries them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    list: Vec<Account>,
}

impl Accounts {
    /// Creates a list of these accounts.
    pub fn new(mut list: Vec<Account>) -> Accounts {
        // The most specific host first; for the same host, named users before anonymous ones.
        list.sort_by(|a, b| {
            (host::specificity(&a.host), a.user.is_empty(), &a.host, &a.user).cmp(&(
                host::specificity(&b.host),
                b.user.is_empty(),
                &b.host,
                &b.user,
            ))
        });
        Accounts { list }
    }

    /// Returns the accounts in the catalog. If it has none, returns the initial ones, which the first statement about
    /// accounts writes to the catalog.
    pub fn of_catalog(catalog: &Catalog, initial: &InitialAccounts) -> Accounts {
        let mut list = vec![];
        for (user, host, record) in catalog.accounts() {
            match Account::from_record(record) {
                Some(account) => list.push(account),
                None => {
                    tracing::error!(
                        "the record of account '{user}'@'{host}' cannot be read; it cannot log in"
                    )
                }
            }
        }
        match catalog.accounts().next() {
            None => initial.accounts(),
            Some(_) => Accounts::new(list),
        }
    }

    /// Returns all accounts.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.list.iter()
    }

    /// Returns the account with exactly this user and host.
    pub fn get(&self, user: &str, host: &str) -> Option<&Account> {
        self.list
            .iter()
            .find(|account| account.user == user && account.host.eq_ignore_ascii_case(host))
    }

    /// Returns the account for a client's login.
    pub fn matching(&self, user: &str, client: &ClientHost) -> Option<&Account> {
        self.list.iter().find(|account| {
            (account.user.is_empty() || account.user == user) && client.matches(&account.host)
        })
    }

    /// Returns the list with an account added or replaced.
    #[must_use]
    pub fn with(&self, account: Account) -> Accounts {
        let mut accounts = self.without(&account.user, &account.host);
        accounts.list.push(account);
        Accounts::new(accounts.list)
    }

    /// Returns the list without an account.
    #[must_use]
    pub fn without(&self, user: &str, host: &str) -> Accounts {
        let rest = self
            .list
            .iter()
            .filter(|account| account.user != user || !account.host.eq_ignore_ascii_case(host));
        Accounts {
            list: rest.cloned().collect(),
        }
    }
}

#[cfg(test)]
impl SharedAccounts {
    /// Creates a list for tests.
    pub(crate) fn of(list: Vec<Account>) -> SharedAccounts {
        SharedAccounts {
            now: ArcSwap::from_pointee(Accounts::new(list)),
            generation: AtomicU64::new(1),
            initial: InitialAccounts::WithoutPassword,
            skipped: AtomicBool::new(false),
            password_errors: PasswordErrors::default(),
        }
    }

    /// Replaces the list in tests.
    pub(crate) fn replace(&self, list: Vec<Account>) {
        self.now.store(Arc::new(Accounts::new(list)));
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}

/// Accounts of a running server: an atomic pointer, and a generation number that changes with it.
#[derive(Debug)]
pub struct SharedAccounts {
    now: ArcSwap<Accounts>,
    generation: AtomicU64,
    initial: InitialAccounts,
    /// `--skip-grant-tables`, until FLUSH PRIVILEGES.
    skipped: AtomicBool,
    password_errors: PasswordErrors,
}

impl SharedAccounts {
    /// Reads the accounts from the catalog.
    pub fn new(initial: InitialAccounts, catalog: &Catalog) -> Self {
        SharedAccounts {
            now: ArcSwap::from_pointee(Accounts::of_catalog(catalog, &initial)),
            generation: AtomicU64::new(1),
            initial,
            skipped: AtomicBool::new(false),
            password_errors: PasswordErrors::default(),
        }
    }

    /// Ignores accounts, for `--skip-grant-tables`: any client may log in and do everything.
    pub fn skip(&self) {
        self.skipped.store(true, Ordering::Release);
    }

    /// Returns the counters of wrong passwords.
    pub fn password_errors(&self) -> &PasswordErrors {
        &self.password_errors
    }

    /// Executes FLUSH PRIVILEGES: resets the counters of wrong passwords, and ends `--skip-grant-tables` for later
    /// logins.
    pub fn heed(&self) {
        self.password_errors.forgive_all();
        self.skipped.store(false, Ordering::Release);
    }

    /// Returns whether accounts are ignored.
    pub fn are_skipped(&self) -> bool {
        self.skipped.load(Ordering::Acquire)
    }

    /// Fails while accounts are ignored. Called by statements about accounts.
    ///
    /// # Errors
    /// 1290 under `--skip-grant-tables`.
    pub fn must_count(&self) -> paceline_syntax::Result<()> {
        match self.are_skipped() {
            true => Err(paceline_syntax::Error::new(
                ER_OPTION_PREVENTS_STATEMENT,
                &[&"--skip-grant-tables"],
            )),
            false => Ok(()),
        }
    }

    /// Returns the accounts of a catalog that contains none.
    pub fn initial(&self) -> &InitialAccounts {
        &self.initial
    }

    /// Returns the current accounts.
    pub fn load(&self) -> Arc<Accounts> {
        self.now.load_full()
    }

    /// Returns a number that changes with every [`reload`](SharedAccounts::reload). A session that caches an account
    /// looks it up again when the number has changed.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Reads the accounts from the catalog again.
    pub fn reload(&self, catalog: &Catalog) {
        let accounts = Accounts::of_catalog(catalog, &self.initial);
        self.password_errors.forgive_changed(&self.load(), &accounts);
        self.now.store(Arc::new(accounts));
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        let mut account = Account::new("sb", "%");
        account.authentication = NativePassword::of("sb").into();
        account.global = PrivilegeSet::NONE.with(Privilege::Process);
        account
            .databases
            .push(("sb%".into(), PrivilegeSet::all_of_database()));
        account.locked = true;
        account.require = Require::Certificate {
            issuer: "/CN=ca".into(),
            subject: "/CN=sb".into(),
            cipher: String::new(),
        };
        assert_eq!(Account::from_record(&account.to_record()), Some(account));
        assert_eq!(Account::from_record(b"{}"), None);
    }

    #[test]
    fn logins_find_the_most_specific_account() {
        let accounts = Accounts::new(vec![
            Account::new("", "localhost"),
            Account::new("sb", "%"),
            Account::new("sb", "192.168.%"),
            Account::new("root", "localhost"),
        ]);
        let at = |user: &str, address: &str| {
            let account = accounts.matching(user, &ClientHost::of(address.parse().unwrap()))?;
            Some(account.quoted())
        };
        assert_eq!(at("sb", "192.168.0.1").unwrap(), "'sb'@'192.168.%'");
        assert_eq!(at("sb", "10.0.0.1").unwrap(), "'sb'@'%'");
        // A well-known trap of MariaDB: the anonymous account of a more specific host has precedence.
        assert_eq!(at("sb", "127.0.0.1").unwrap(), "''@'localhost'");
        assert_eq!(at("root", "10.0.0.1"), None);
    }

    #[test]
    fn privileges_for_databases() {
        let mut account = Account::new("u", "%");
        account
            .databases
            .push(("shop%".into(), PrivilegeSet::NONE.with(Privilege::Select)));
        account
            .databases
            .push((r"shop\_1".into(), PrivilegeSet::NONE.with(Privilege::Insert)));
        assert!(account.privileges_in("shop_2").has(Privilege::Select));
        assert!(
            !account.privileges_in("shop_1").has(Privilege::Select)
                && account.privileges_in("shop_1").has(Privilege::Insert)
        );
        assert!(account.can_see("shop_1") && !account.can_see("mysql"));
        // Database names are case-sensitive.
        assert!(!account.can_see("Shop_1") && account.privileges_in_all(r"Shop\_1").is_empty());
        // As a pattern `shop_1` matches more than the database with this name.
        assert!(account.privileges_in_all("shop_1").has(Privilege::Select));
        assert!(account.privileges_in_all(r"shop\_1").has(Privilege::Insert));
        assert!(account.privileges_in_all("sho%").is_empty());
    }
}
