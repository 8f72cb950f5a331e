//! `gtid_ignore_duplicates`: a transaction that arrives through several connections is applied once.
//!
//! At any time a domain belongs to one connection: the one that last passed on a transaction of it. While transactions
//! of the domain from this connection are in progress, other connections wait with theirs, and then find that they are
//! already present. A connection that ends releases its domains, so that another one can deliver the unfinished
//! transactions; but only after its applier has finished everything it was given.

use paceline_binlog::GtidPosition;
use paceline_types::{DomainId, Gtid};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns whether an applier has finished everything that it was given.
pub(super) type IsSettled = Box<dyn Fn() -> bool + Send + Sync>;

struct Owner {
    connection: Arc<str>,
    /// Last transaction that it passed on.
    last: Gtid,
    /// Set when the connection has ended: only this applier's transactions can still follow.
    left: Option<Arc<IsSettled>>,
}

/// Owners of the domains. Shared by all connections.
#[derive(Default)]
pub(super) struct DomainOwners(Mutex<HashMap<DomainId, Owner>>);

/// Decision on a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claim {
    /// This connection may pass it on.
    Ours,
    /// It is already replicated.
    Duplicate,
    /// Transactions of the domain from another connection are in progress: try again when this one is replicated, or a
    /// little later.
    WaitFor(Gtid),
}

impl DomainOwners {
    /// Decides on a transaction that a connection has received. `replicated` is the published position.
    pub fn claim(&self, connection: &Arc<str>, gtid: Gtid, replicated: &GtidPosition) -> Claim {
        if replicated.reaches(gtid.domain_id, gtid.sequence) {
            return Claim::Duplicate;
        }
        let mut owners = self.0.lock();
        if let Some(owner) = owners.get(&gtid.domain_id)
            && owner.connection != *connection
            && !owner.left.as_ref().is_some_and(|is_settled| is_settled())
            && !replicated.reaches(gtid.domain_id, owner.last.sequence)
        {
            return Claim::WaitFor(owner.last);
        }
        let owner = Owner {
            connection: connection.clone(),
            last: gtid,
            left: None,
        };
        owners.insert(gtid.domain_id, owner);
        Claim::Ours
    }

    /// Releases the domains of a connection that ends. `is_settled` belongs to its applier.
    pub fn release(&self, connection: &Arc<str>, is_settled: IsSettled) {
        let mut owners = self.0.lock();
        match is_settled() {
            true => owners.retain(|_, owner| owner.connection != *connection),
            false => {
                let is_settled = Arc::new(is_settled);
                let own = owners
                    .values_mut()
                    .filter(|owner| owner.connection == *connection);
                own.for_each(|owner| owner.left = Some(is_settled.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_domain_has_one_owner_at_a_time() {
        let owners = DomainOwners::default();
        let (east, west): (Arc<str>, Arc<str>) = ("east".into(), "west".into());
        let gtid = |text: &str| -> Gtid { text.parse().unwrap() };
        let at = |text: &str| -> GtidPosition { text.parse().unwrap() };
        assert_eq!(owners.claim(&east, gtid("0-1-1"), &at("")), Claim::Ours);
        assert_eq!(owners.claim(&east, gtid("0-1-2"), &at("")), Claim::Ours);
        let wait = Claim::WaitFor(gtid("0-1-2"));
        assert_eq!(owners.claim(&west, gtid("0-1-1"), &at("")), wait);
        assert_eq!(owners.claim(&west, gtid("0-1-2"), &at("0-1-1")), wait);
        assert_eq!(owners.claim(&west, gtid("0-1-2"), &at("0-1-2")), Claim::Duplicate);
        assert_eq!(owners.claim(&west, gtid("0-1-3"), &at("0-1-2")), Claim::Ours);
        // Another domain may have another owner, and a released one is free.
        assert_eq!(owners.claim(&east, gtid("7-1-1"), &at("0-1-2")), Claim::Ours);
        owners.release(&west, Box::new(|| true));
        assert_eq!(owners.claim(&east, gtid("0-1-3"), &at("0-1-2")), Claim::Ours);
        // A domain with unfinished transactions is not given to another connection.
        let is_settled = Arc::new(AtomicBool::new(false));
        let told = is_settled.clone();
        owners.release(&east, Box::new(move || told.load(Ordering::Acquire)));
        let wait = Claim::WaitFor(gtid("0-1-3"));
        assert_eq!(owners.claim(&west, gtid("0-1-3"), &at("0-1-2")), wait);
        is_settled.store(true, Ordering::Release);
        assert_eq!(owners.claim(&west, gtid("0-1-3"), &at("0-1-2")), Claim::Ours);
    }
}
