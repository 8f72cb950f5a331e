//! Accounts of a running server.

use super::authentication::Method;
use super::password_errors::PasswordErrors;
use super::resource_limits::HourlyUses;
use super::{Accounts, InitialAccounts};
use arc_swap::ArcSwap;
use paceline_catalog::Catalog;
use paceline_types::error_code::ER_OPTION_PREVENTS_STATEMENT;
use paceline_wire::caching_sha2::CachedPassword;
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
            hourly_uses: HourlyUses::default(),
            cached_passwords: Mutex::default(),
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

    /// Returns the counters of accounts with limits.
    pub fn hourly_uses(&self) -> &HourlyUses {
        &self.hourly_uses
    }

    /// Returns what an earlier login has left of the password with this stored form.
    pub fn cached_password(&self, stored: &str) -> Option<CachedPassword> {
        self.cached_passwords.lock().get(stored).copied()
    }

    /// Keeps what a login has left of the password with this stored form, as long as an account has it.
    pub fn cache_password(&self, stored: &str, cached: CachedPassword) {
        self.cached_passwords.lock().insert(stored.to_owned(), cached);
    }

    /// Executes FLUSH PRIVILEGES: resets the counters of wrong passwords and the cache of passwords, and ends
    /// `--skip-grant-tables` for later logins.
    pub fn heed(&self) {
        self.password_errors.forgive_all();
        self.cached_passwords.lock().clear();
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
        let mut cached = self.cached_passwords.lock();
        if !cached.is_empty() {
            let methods = accounts
                .iter()
                .flat_map(|account| account.authentication.methods());
            let texts: HashSet<String> = methods.map(Method::text).collect();
            cached.retain(|stored, _| texts.contains(stored));
        }
        drop(cached);
        self.now.store(Arc::new(accounts));
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
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
        }
    }

    /// Replaces the list in tests.
    pub(crate) fn replace(&self, list: Vec<super::Account>) {
        self.now.store(Arc::new(Accounts::new(list)));
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}
