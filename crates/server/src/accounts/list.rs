//! All accounts and roles.

use super::account::PUBLIC;
use super::{Account, ClientHost, host};
use std::sync::Arc;

/// All accounts, in the order in which a login tries them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    list: Vec<Account>,
}

impl Accounts {
    /// Creates a list of these accounts.
    pub fn new(mut list: Vec<Account>) -> Accounts {
        // The most specific host first; for the same host, named users before anonymous ones. As in MariaDB, localhost
        // comes before the addresses that are the same.
        list.sort_by(|a, b| {
            (host::specificity(&a.host), a.user.is_empty(), &b.host, &a.user).cmp(&(
                host::specificity(&b.host),
                b.user.is_empty(),
                &a.host,
                &b.user,
            ))
        });
        Accounts { list }
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
            !account.is_role
                && (account.user.is_empty() || account.user == user)
                && client.matches(&account.host)
        })
    }

    /// Returns the role of this name; also PUBLIC.
    pub fn role(&self, name: &str) -> Option<&Account> {
        self.get(name, "").filter(|account| account.is_role)
    }

    /// Returns the names of all roles that an account has, in the order of SHOW GRANTS: each role, followed by those
    /// granted to it. A role that was dropped is left out.
    pub fn roles_of<'a>(&'a self, account: &'a Account) -> Vec<&'a Account> {
        let mut found: Vec<&Account> = vec![];
        let mut open: Vec<&str> = account
            .roles
            .iter()
            .rev()
            .map(|grant| grant.role.as_str())
            .collect();
        while let Some(name) = open.pop() {
            if found.iter().any(|known| known.user == name) {
                continue;
            }
            if let Some(role) = self.role(name) {
                found.push(role);
                open.extend(role.roles.iter().rev().map(|grant| grant.role.as_str()));
            }
        }
        found
    }

    /// Returns a role with the privileges of all roles that it has.
    fn whole_role(&self, name: &str) -> Option<Arc<Account>> {
        let role = self.role(name)?;
        let mut whole = role.clone();
        for other in self.roles_of(role) {
            if other.user != role.user {
                whole.absorb(other);
            }
        }
        Some(Arc::new(whole))
    }

    /// Returns what an account inherits: the current role, and PUBLIC.
    pub fn inherited(&self, role: Option<&str>) -> Vec<Arc<Account>> {
        let names = role.into_iter().chain([PUBLIC]);
        names.filter_map(|name| self.whole_role(name)).collect()
    }

    /// Returns an account with all its privileges, for the definer of an object. It has no current role.
    pub fn definer(&self, user: &str, host: &str) -> Option<Account> {
        let account = self.get(user, host)?;
        Some(match account.is_role {
            true => (*self.whole_role(user)?).clone(),
            false => account.clone().with_inherited(self.inherited(None)),
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
