//! `max_connect_errors`: hosts with consecutive failures before a login.
//!
//! As in MariaDB, connections count that end or send invalid data before the login, not wrong passwords (see
//! `max_password_errors`). A successful login resets the counter. The machine's own loopback address is not counted.

use crate::accounts::host::is_own_address;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of hosts. Beyond it the one with the fewest errors is removed.
const HOSTS_MAX: usize = 1024;

/// Number of errors of each host since its last login.
#[derive(Debug, Default)]
pub struct HostErrors {
    counts: Mutex<HashMap<IpAddr, u64>>,
    /// Number of entries in `counts`: nothing is locked while it is 0.
    hosts: AtomicUsize,
}

impl HostErrors {
    /// Counts a connection that ended before its login.
    pub fn add(&self, host: Option<IpAddr>) {
        let Some(host) = counted(host) else { return };
        let mut counts = self.counts.lock();
        if counts.len() >= HOSTS_MAX && !counts.contains_key(&host) {
            let fewest = counts.iter().min_by_key(|(_, errors)| **errors);
            if let Some(fewest) = fewest.map(|(host, _)| *host) {
                counts.remove(&fewest);
            }
        }
        *counts.entry(host).or_default() += 1;
        self.hosts.store(counts.len(), Ordering::Relaxed);
    }

    /// Returns whether a host has reached `max_connect_errors`.
    pub fn is_blocked(&self, host: Option<IpAddr>, errors_max: u64) -> bool {
        if self.hosts.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let errors = counted(host).and_then(|host| self.counts.lock().get(&host).copied());
        errors.is_some_and(|errors| errors >= errors_max)
    }

    /// Resets a host after a successful login.
    pub fn forgive(&self, host: Option<IpAddr>) {
        if self.hosts.load(Ordering::Relaxed) == 0 {
            return;
        }
        let Some(host) = counted(host) else { return };
        let mut counts = self.counts.lock();
        counts.remove(&host);
        self.hosts.store(counts.len(), Ordering::Relaxed);
    }

    /// Resets all hosts, for FLUSH HOSTS.
    pub fn forgive_all(&self) {
        let mut counts = self.counts.lock();
        counts.clear();
        self.hosts.store(0, Ordering::Relaxed);
    }
}

fn counted(host: Option<IpAddr>) -> Option<IpAddr> {
    host.filter(|host| !is_own_address(*host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn host(number: u32) -> Option<IpAddr> {
        Some(IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + number)))
    }

    #[test]
    fn a_host_is_blocked_until_it_is_reset() {
        let errors = HostErrors::default();
        for _ in 0..2 {
            errors.add(host(1));
        }
        assert!(errors.is_blocked(host(1), 2) && !errors.is_blocked(host(1), 3));
        assert!(!errors.is_blocked(host(2), 1));
        errors.forgive(host(1));
        assert!(!errors.is_blocked(host(1), 1));
        errors.add(host(1));
        errors.forgive_all();
        assert!(!errors.is_blocked(host(1), 1));
        for local in [None, Some(IpAddr::V4(Ipv4Addr::LOCALHOST))] {
            errors.add(local);
            assert!(!errors.is_blocked(local, 1));
        }
    }

    #[test]
    fn hosts_with_most_errors_are_kept() {
        let errors = HostErrors::default();
        errors.add(host(0));
        errors.add(host(0));
        for number in 1..=2 * HOSTS_MAX as u32 {
            errors.add(host(number));
        }
        assert_eq!(errors.counts.lock().len(), HOSTS_MAX);
        assert!(errors.is_blocked(host(0), 2));
    }
}
