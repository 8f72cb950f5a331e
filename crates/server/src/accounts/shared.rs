//! Accounts of a running server.

use super::authentication::Method;
use super::password_errors::PasswordErrors;
use super::records::recorded_accounts;
use super::resource_limits::HourlyUses;
use super::{Account, Accounts, ClientHost, InitialAccounts};
use arc_swap::{ArcSwap, ArcSwapOption};
use paceline_catalog::Catalog;
use paceline_types::error_code::ER_OPTION_PREVENTS_STATEMENT;
use paceline_wire::caching_sha2::{CachedPassword, CachingSha2Password};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Accounts of a running server: an atomic pointer, and a generation number that changes with it.
#[derive(Debug)]
pub struct SharedAccounts {
    now: ArcSwap<Accounts>,
    generation: AtomicU64,
    initial: InitialAccounts,
    /// `--skip-grant-tables`, until FLUSH PRIVILEGES.
    skipped: AtomicBool,
    password_errors: PasswordErrors,
    hourly_uses: HourlyUses,
    /// Digests that earlier logins by `caching_sha2_password` have left, by the stored form of the password.
    cached_passwords: Mutex<HashMap<String, CachedPassword>>,
    /// Accounts before rows of the grant tables were changed, until FLUSH PRIVILEGES.
    unflushed: ArcSwapOption<Accounts>,
}

impl SharedAccounts {
    /// Reads the accounts from the catalog.
    pub fn new(initial: InitialAccounts, catalog: &Catalog) -> Self {
        SharedAccounts {
            now: ArcSwap::from_pointee(recorded_accounts(catalog, &initial)),
            generation: AtomicU64::new(1),
            initial,
            skipped: AtomicBool::new(false),
            password_errors: PasswordErrors::default(),
            hourly_uses: HourlyUses::default(),
            cached_passwords: Mutex::default(),
            unflushed: ArcSwapOption::empty(),
        }
    }

    /// Returns the account for a client's login, with the password that counts: for an account whose row was changed,
    /// until FLUSH PRIVILEGES that before the change.
    pub fn for_login(&self, user: &str, client: &ClientHost) -> Option<Account> {
        let mut account = self.load().matching(user, client).cloned()?;
        if let Some(earlier) = &*self.unflushed.load()
            && let Some(earlier) = earlier.get(&account.user, &account.host)
        {
            account.authentication = earlier.authentication.clone();
        }
        Some(account)
    }

    /// Returns the accounts whose passwords count.
    pub fn with_counting_passwords(&self) -> Arc<Accounts> {
        self.unflushed.load_full().unwrap_or_else(|| self.load())
    }

    /// Lets the passwords of these accounts count until FLUSH PRIVILEGES or the next statement about accounts.
    pub fn keep_passwords(&self, accounts: Arc<Accounts>) {
        self.unflushed.store(Some(accounts));
    }

    /// Lets the present passwords count.
    pub fn use_present_passwords(&self) {
        self.unflushed.store(None);
    }

    /// Ignores accounts, for `--skip-grant-tables`: any client may log in and do everything.
    pub fn skip(&self) {
        self.skipped.store(true, Ordering::Release);
    }

    /// Returns the counters of wrong passwords.
    pub fn password_errors(&self) -> &PasswordErrors {
        &self.password_errors
    }

    /// Returns the counters of accounts with limits.
    pub fn hourly_uses(&self) -> &HourlyUses {
        &self.hourly_uses
    }

    /// Returns the digest that an earlier login has left of the password with this stored form.
    pub fn cached_password(&self, stored: &str) -> Option<CachedPassword> {
        self.cached_passwords.lock().get(stored).copied()
    }

    /// Stores the digest of the password with this stored form, for as long as an account has the password.
    pub fn cache_password(&self, stored: &str, cached: CachedPassword) {
        let mut known = self.cached_passwords.lock();
        // `reload` replaces the accounts before it looks for forms that no account has.
        let accounts = self.load();
        if stored_forms(&accounts).any(|form| form == stored) {
            known.insert(stored.to_owned(), cached);
        }
    }

    /// Executes FLUSH PRIVILEGES: resets the counters of wrong passwords and the cache of passwords, lets the present
    /// passwords count, and ends `--skip-grant-tables` for later logins.
    pub fn heed(&self) {
        self.password_errors.forgive_all();
        self.cached_passwords.lock().clear();
        self.use_present_passwords();
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
        let accounts = Arc::new(recorded_accounts(catalog, &self.initial));
        self.password_errors.forgive_changed(&self.load(), &accounts);
        self.now.store(accounts.clone());
        self.generation.fetch_add(1, Ordering::AcqRel);
        let stored: HashSet<&str> = stored_forms(&accounts).collect();
        self.cached_passwords
            .lock()
            .retain(|form, _| stored.contains(form.as_str()));
    }
}

/// Returns the stored forms of passwords for `caching_sha2_password`.
fn stored_forms(accounts: &Accounts) -> impl Iterator<Item = &str> {
    let methods = accounts
        .iter()
        .flat_map(|account| account.authentication.methods());
    methods.filter_map(|method| match method {
        Method::CachingSha2(password) => password.as_ref().map(CachingSha2Password::text),
        _ => None,
    })
}

#[cfg(test)]
impl SharedAccounts {
    /// Creates a list for tests.
    pub(crate) fn of(list: Vec<super::Account>) -> SharedAccounts {
        SharedAccounts {
            now: ArcSwap::from_pointee(Accounts::new(list)),
            generation: AtomicU64::new(1),
            initial: InitialAccounts::WithoutPassword,
            skipped: AtomicBool::new(false),
            password_errors: PasswordErrors::default(),
            hourly_uses: HourlyUses::default(),
            cached_passwords: Mutex::default(),
            unflushed: ArcSwapOption::empty(),
        }
    }

    /// Replaces the list in tests.
    pub(crate) fn replace(&self, list: Vec<super::Account>) {
        self.now.store(Arc::new(Accounts::new(list)));
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::Account;
    use crate::accounts::authentication::Authentication;

    #[test]
    fn only_passwords_of_accounts_are_cached() {
        let stored = CachingSha2Password::of(b"secret").unwrap();
        let account = Account {
            authentication: Authentication::from(Method::CachingSha2(Some(stored.clone()))),
            ..Account::new("a", "%")
        };
        let shared = SharedAccounts::of(vec![account]);
        shared.cache_password(stored.text(), CachedPassword::of(b"secret"));
        assert!(shared.cached_password(stored.text()).is_some());
        shared.reload(&Catalog::default());
        assert!(shared.cached_password(stored.text()).is_none());
        shared.cache_password(stored.text(), CachedPassword::of(b"secret"));
        assert!(shared.cached_password(stored.text()).is_none());
    }
}
