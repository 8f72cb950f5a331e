//! `gtid_ignore_duplicates`: a transaction that arrives over several connections is taken once.
//!
//! At any moment a domain belongs to one connection: the one that handed on a transaction of it last. While that one has transactions of the
//! domain under way, another connection waits with what it has of it, and then finds that it is there already. A connection that
//! ends gives its domains back, so that what it has not brought to an end is taken from another; but not before its applier is through with
//! what it was given.

use paceline_binlog::GtidPosition;
use paceline_types::{DomainId, Gtid};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Whether an applier is through with everything that it was given.
pub(super) type IsSettled = Box<dyn Fn() -> bool + Send + Sync>;

struct Owner {
    connection: Arc<str>,
    /// The last transaction that it handed on.
    last: Gtid,
    /// The connection has ended, and brings nothing more than this applier has.
    left: Option<Arc<IsSettled>>,
}

/// Who brings which domain. Shared by all connections.
#[derive(Default)]
pub(super) struct DomainOwners(Mutex<HashMap<DomainId, Owner>>);

/// What becomes of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claim {
    /// It is this connection's to hand on.
    Ours,
    /// It is replicated already.
    Duplicate,
    /// Another connection has transactions of the domain under way: ask again when this one is replicated, or a little later.
    WaitFor(Gtid),
}

impl DomainOwners {
    /// A connection has received a transaction. `replicated` is what is published by now.
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

    /// A connection ends; `is_settled` tells of its applier.
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
    fn a_domain_is_brought_by_one_at_a_time() {
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
        // Another domain is another's, and what is given back is free.
        assert_eq!(owners.claim(&east, gtid("7-1-1"), &at("0-1-2")), Claim::Ours);
        owners.release(&west, Box::new(|| true));
        assert_eq!(owners.claim(&east, gtid("0-1-3"), &at("0-1-2")), Claim::Ours);
        // What its applier still has is not given to another.
        let is_settled = Arc::new(AtomicBool::new(false));
        let told = is_settled.clone();
        owners.release(&east, Box::new(move || told.load(Ordering::Acquire)));
        let wait = Claim::WaitFor(gtid("0-1-3"));
        assert_eq!(owners.claim(&west, gtid("0-1-3"), &at("0-1-2")), wait);
        is_settled.store(true, Ordering::Release);
        assert_eq!(owners.claim(&west, gtid("0-1-3"), &at("0-1-2")), Claim::Ours);
    }
}
