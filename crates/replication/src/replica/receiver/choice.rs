//! Which transactions are handed on, as far as their GTIDs, their number in the skip counter and other connections decide.

use super::End;
use crate::replica::apply::Applier;
use crate::replica::assemble::AssembledGroup;
use crate::replica::definition::{Definition, UseGtid};
use crate::replica::duplicates::Claim;
use crate::replica::options::{MarkedForSkip, ReplicaOptions};
use crate::replica::received::SourcePosition;
use crate::replica::shared::ConnectionShared;
use paceline_binlog::EventGroup;
use paceline_binlog::event::EventFlags;
use paceline_txn::TransactionManager;
use paceline_types::Gtid;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// How often a connection that waits for another one's transactions looks whether that one is still there.
const OTHER_CONNECTION_LOOK: Duration = Duration::from_millis(50);

/// What decides, beside the transaction itself.
pub(super) struct Choice<'a> {
    pub(super) definition: &'a Definition,
    pub(super) options: &'a ReplicaOptions,
    pub(super) transactions: &'a TransactionManager,
}

impl Choice<'_> {
    /// Whether a transaction is for us, as far as its GTID tells.
    pub(super) fn wants(&self, received: &AssembledGroup) -> bool {
        let gtid = received.group.gtid();
        if !self.definition.wants(gtid.domain_id.0, gtid.server_id.0) {
            return false;
        }
        if gtid.server_id == self.options.server_id && self.has_come_back(received) {
            return false;
        }
        let is_marked = || {
            let first = received.group.events().next();
            first.is_some_and(|event| event.header().flags.contains(EventFlags::SKIP_REPLICATION))
        };
        self.options.marked_for_skip == MarkedForSkip::Replicate || !is_marked()
    }

    /// Whether a transaction of this server's is one that it has: its own, around a ring. It may lack one by now that others got: it was set up anew, or has
    /// given back the end of its log, in which domains lie in another order than its replicas had come to. By GTIDs that shows; by place nothing tells it from
    /// the others, and none is taken (nor does MariaDB).
    fn has_come_back(&self, received: &AssembledGroup) -> bool {
        let tells = self.definition.use_gtid != UseGtid::No && received.mysql_gtid.is_none();
        !self.options.replicate_same_server_id
            && (!tells || self.transactions.has_logged(received.group.gtid()))
    }
}

/// `sql_slave_skip_counter`: whether a transaction is passed over because events were still to be. Its own are counted off.
pub(super) fn skips(events_left: &AtomicU64, group: &EventGroup) -> bool {
    let left = events_left.load(Ordering::Acquire);
    if left > 0 {
        let events = group.event_count() as u64;
        events_left.store(left.saturating_sub(events), Ordering::Release);
        tracing::info!(
            "transaction {} is passed over: sql_slave_skip_counter",
            group.gtid()
        );
    }
    left > 0
}

/// `gtid_ignore_duplicates`: whether the transaction is ours to hand on. Waits while another connection brings its domain, and while the applier lives.
pub(super) async fn claim(
    shared: &ConnectionShared,
    appliers: &mut watch::Receiver<Option<Arc<Applier>>>,
    gtid: Gtid,
) -> Result<bool, End> {
    let transactions = shared.environment.transactions();
    loop {
        let replicated = transactions.replicated_position();
        let other = match shared.owners.claim(&shared.name, gtid, &replicated) {
            Claim::Ours => return Ok(true),
            Claim::Duplicate => return Ok(false),
            Claim::WaitFor(other) => other,
        };
        tokio::select! {
            () = transactions.replicated_up_to([other].into_iter().collect()) => {}
            _ = appliers.changed() => return Err(End::ApplierGone),
            () = tokio::time::sleep(OTHER_CONNECTION_LOOK) => {}
        }
    }
}

/// Whether a place is at or behind another one: file names of one server grow with their numbers.
pub(super) fn is_at_or_behind(place: &SourcePosition, until: &SourcePosition) -> bool {
    let number = |file: &str| {
        file.rsplit_once('.')
            .and_then(|(_, number)| number.parse::<u64>().ok())
            .unwrap_or(0)
    };
    (number(&place.file), place.offset) >= (number(&until.file), until.offset)
}
