//! Selection of the transactions to pass on, by GTID, skip counter, and other connections.

use super::state::End;
use crate::apply::Applier;
use crate::duplicates::Claim;
use crate::received::SourcePosition;
use crate::shared::ConnectionShared;
use paceline_binlog::event::EventFlags;
use paceline_log_stream::source::assemble::AssembledGroup;
use paceline_log_stream::source::definition::{Definition, UseGtid};
use paceline_log_stream::source::options::{MarkedForSkip, ReplicaOptions};
use paceline_txn::TransactionManager;
use paceline_types::Gtid;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Interval at which a connection that waits for another one's transactions checks whether the other still exists.
const OTHER_CONNECTION_LOOK: Duration = Duration::from_millis(50);

/// Inputs of the decision besides the transaction.
pub(super) struct Choice<'a> {
    pub(super) definition: &'a Definition,
    pub(super) options: &'a ReplicaOptions,
    pub(super) transactions: &'a TransactionManager,
}

impl Choice<'_> {
    /// Returns whether the GTID allows a transaction to be applied.
    pub(super) fn wants(&self, received: &AssembledGroup) -> bool {
        let gtid = received.group.gtid();
        if !self.definition.wants(gtid.domain_id.0, gtid.server_id.0) {
            return false;
        }
        if gtid.server_id == self.options.server_id && self.is_own_returning(received) {
            return false;
        }
        if self.is_of_another_cluster(received) {
            return false;
        }
        let is_marked = || {
            let first = received.group.events().next();
            first.is_some_and(|event| event.header().flags.contains(EventFlags::SKIP_REPLICATION))
        };
        self.options.marked_for_skip == MarkedForSkip::Replicate || !is_marked()
    }

    /// Returns whether a transaction starts an epoch of a cluster that this member of another one only replicates. Its
    /// epochs would be taken for those of this cluster.
    fn is_of_another_cluster(&self, received: &AssembledGroup) -> bool {
        self.definition.reader.is_none()
            && self.transactions.may_hold_back()
            && received.group.epoch_mark().is_some()
    }

    /// Returns whether a transaction has this server's id and is present: its own transaction, coming back around a
    /// ring. It can be missing although others have it, if this server was set up again, or if the end of its log was
    /// cut off and the domains were in a different order there than its replicas had received. GTIDs show this. By file
    /// and position it cannot be distinguished, so no such transaction is applied (as in MariaDB).
    fn is_own_returning(&self, received: &AssembledGroup) -> bool {
        let gtids_decide = self.definition.use_gtid != UseGtid::No && received.mysql_gtid.is_none();
        !self.options.replicate_same_server_id
            && (!gtids_decide || self.transactions.has_logged(received.group.gtid()))
    }
}

/// Decides for `gtid_ignore_duplicates` whether this connection passes the transaction on. Waits while another
/// connection owns its domain and the applier is alive.
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

/// Returns whether a position is at or after another one. File names of one server grow with their numbers.
pub(super) fn is_at_or_after(place: &SourcePosition, until: &SourcePosition) -> bool {
    let number = |file: &str| {
        file.rsplit_once('.')
            .and_then(|(_, number)| number.parse::<u64>().ok())
            .unwrap_or(0)
    };
    (number(&place.file), place.offset) >= (number(&until.file), until.offset)
}
