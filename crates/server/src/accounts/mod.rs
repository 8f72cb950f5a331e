//! Accounts: who may connect, from where, and what they may do.
//!
//! ```text
//!   'user'@'host pattern' ─▶ Account { password, global privileges, privileges for databases }
//! ```
//!
//! [`Accounts`] is an immutable list behind one atomic pointer; a statement about accounts makes a new one. Each account is a record
//! of the catalog (JSON, the shape of MariaDB's `mysql.global_priv`), committed and logged like a table's definition. A session keeps the
//! privileges that it had when it logged in, refreshed when the list has changed since.

pub mod host;
pub mod privilege;
pub mod require;
pub mod show;
pub mod statements;

pub use host::ClientHost;
pub use privilege::PrivilegeSet;
pub use require::Require;

use arc_swap::ArcSwap;
use paceline_sql::session::Privilege;
use paceline_wire::authentication::NativePassword;
use require::RequireRecord;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The user; empty is anybody.
    pub user: String,
    /// The host pattern, in lower case.
    pub host: String,
    /// How it proves itself.
    pub password: NativePassword,
    /// `REQUIRE`: how its connection has to be encrypted.
    pub require: Require,
    /// What it may do everywhere.
    pub global: PrivilegeSet,
    /// What it may do in databases: pattern and privileges, in the order in which they were given.
    pub databases: Vec<(String, PrivilegeSet)>,
    /// `ACCOUNT LOCK`: it cannot log in.
    pub locked: bool,
    /// `WITH MAX_USER_CONNECTIONS`; 0 is no limit.
    pub user_connections_max: u64,
}

/// An account as its record holds it.
#[derive(Debug, Serialize, Deserialize)]
struct AccountRecord {
    user: String,
    host: String,
    access: u64,
    #[serde(default)]
    plugin: String,
    #[serde(default)]
    authentication_string: String,
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
    /// An account that may do nothing but log in without a password.
    pub fn new(user: impl Into<String>, host: impl Into<String>) -> Account {
        Account {
            user: user.into(),
            host: host.into(),
            password: NativePassword::Empty,
            require: Require::Nothing,
            global: PrivilegeSet::NONE,
            databases: vec![],
            locked: false,
            user_connections_max: 0,
        }
    }

    /// The record's bytes.
    pub fn to_record(&self) -> Vec<u8> {
        serde_json::to_vec(&AccountRecord {
            user: self.user.clone(),
            host: self.host.clone(),
            access: self.global.0,
            plugin: paceline_wire::authentication::NATIVE_PASSWORD.to_owned(),
            authentication_string: self.password.to_string(),
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

    /// Reads a record.
    pub fn from_record(bytes: &[u8]) -> Option<Account> {
        let record: AccountRecord = serde_json::from_slice(bytes).ok()?;
        Some(Account {
            user: record.user,
            host: record.host,
            password: NativePassword::parse(&record.authentication_string)?,
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

    /// `'user'@'host'` in quotes, as errors and information_schema show it.
    pub fn quoted(&self) -> String {
        quoted(&self.user, &self.host)
    }

    /// What the account may do in a database: the most specific pattern that matches counts, besides the global privileges.
    pub fn privileges_in(&self, database: &str) -> PrivilegeSet {
        self.privileges_where(|pattern| host::like_exactly(pattern, database))
    }

    /// What the account may do in every database that a pattern matches: of its own patterns, those count that match no fewer.
    pub fn privileges_in_all(&self, granted: &str) -> PrivilegeSet {
        self.privileges_where(|pattern| host::covers(pattern, granted))
    }

    fn privileges_where(&self, matches: impl Fn(&str) -> bool) -> PrivilegeSet {
        let matching = self.databases.iter().filter(|(pattern, _)| matches(pattern));
        let best = matching.min_by_key(|(pattern, _)| host::specificity(pattern));
        self.global
            .union(best.map_or(PrivilegeSet::NONE, |(_, set)| *set))
    }

    /// Whether it has a privilege for what is in a database. Everybody may read what the server tells of itself in `information_schema`; rows that one
    /// may not see are left out there.
    pub fn may(&self, privilege: Privilege, database: &str) -> bool {
        self.global.has(privilege)
            || self.privileges_in(database).has(privilege)
            || (privilege == Privilege::Select
                && database.eq_ignore_ascii_case(crate::information_schema::DATABASE))
    }

    /// True if it has any privilege in the database.
    pub fn can_see(&self, database: &str) -> bool {
        let here = self.privileges_in(database);
        !here
            .minus(PrivilegeSet::everything().minus(PrivilegeSet::grantable_on_database()))
            .is_empty()
            || self.global.has(Privilege::ShowDatabases)
    }
}

/// `'user'@'host'`.
pub fn quoted(user: &str, host: &str) -> String {
    format!("'{user}'@'{host}'")
}

/// All accounts, in the order in which a login tries them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    list: Vec<Account>,
}

impl Accounts {
    /// A list of these.
    pub fn new(mut list: Vec<Account>) -> Accounts {
        // The most specific host first; for one host a named user before anybody.
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

    /// Those of a new data directory: `root` without a password, from this machine only.
    pub fn initial() -> Accounts {
        Accounts::new(
            ["localhost", "127.0.0.1", "::1"]
                .map(|host| Account {
                    global: PrivilegeSet::everything(),
                    ..Account::new("root", host)
                })
                .into(),
        )
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.list.iter()
    }

    /// The account of exactly that name.
    pub fn get(&self, user: &str, host: &str) -> Option<&Account> {
        self.list
            .iter()
            .find(|account| account.user == user && account.host.eq_ignore_ascii_case(host))
    }

    /// The account that a client logs in to.
    pub fn matching(&self, user: &str, client: &ClientHost) -> Option<&Account> {
        self.list.iter().find(|account| {
            (account.user.is_empty() || account.user == user) && client.matches(&account.host)
        })
    }

    /// The list with an account added, or replaced.
    #[must_use]
    pub fn with(&self, account: Account) -> Accounts {
        let mut accounts = self.without(&account.user, &account.host);
        accounts.list.push(account);
        Accounts::new(accounts.list)
    }

    /// The list without an account.
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

/// The accounts of a running server: an atomic pointer, and a number that changes with it.
#[derive(Debug)]
pub struct SharedAccounts {
    now: ArcSwap<Accounts>,
    generation: AtomicU64,
}

impl SharedAccounts {
    /// Starts with these.
    pub fn new(accounts: Accounts) -> Self {
        SharedAccounts {
            now: ArcSwap::from_pointee(accounts),
            generation: AtomicU64::new(1),
        }
    }

    /// The accounts now.
    pub fn load(&self) -> Arc<Accounts> {
        self.now.load_full()
    }

    /// Changes with every [`store`](SharedAccounts::store): who remembers an account looks it up again.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Replaces the accounts.
    pub fn store(&self, accounts: Accounts) {
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
        account.password = NativePassword::of("sb");
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
        // MariaDB's well-known trap: the anonymous account of a more specific host comes first.
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
        // Databases whose names differ by case are different ones.
        assert!(!account.can_see("Shop_1") && account.privileges_in_all(r"Shop\_1").is_empty());
        // As a pattern `shop_1` matches more than the database of that name.
        assert!(account.privileges_in_all("shop_1").has(Privilege::Select));
        assert!(account.privileges_in_all(r"shop\_1").has(Privilege::Insert));
        assert!(account.privileges_in_all("sho%").is_empty());
    }
}
