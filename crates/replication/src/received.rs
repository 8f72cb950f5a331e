//! Items that a connection's receiver passes to its applier, in the order of the primary's log.

use crate::skip_counter::SkippedEvents;
use std::sync::Arc;
use std::time::Instant;

pub use paceline_binlog::SourcePosition;
use paceline_binlog::event::FormatDescription;
use paceline_binlog::{EventGroup, ExecutedSetChange};
use paceline_txn::SequenceSource;
use paceline_types::Gtid;

/// An event group from the primary: whole, with verified checksums.
pub struct ReceivedGroup {
    /// Events of the group. If the source has no GTIDs, the receiver has added them.
    pub group: EventGroup,
    /// Format of the file that contained the group.
    pub format: Arc<FormatDescription>,
    /// End in the primary's log.
    pub source_end: SourcePosition,
    /// Arrival of the last event.
    pub received_at: Instant,
    /// Change of the connection's set of MySQL GTIDs.
    pub executed: Option<ExecutedSetChange>,
    /// Source of the sequence number.
    pub numbers: SequenceSource,
}

/// A change of a connection's position.
pub enum ReceivedItem {
    /// A transaction to apply.
    Group(ReceivedGroup),
    /// A transaction that is not applied (because of a filter, `sql_slave_skip_counter`, or this server's own id): only
    /// the position moves.
    Passed {
        /// GTID of the transaction.
        gtid: Gtid,
        /// End in the primary's log.
        source_end: SourcePosition,
        /// The same as for an applied transaction.
        executed: Option<ExecutedSetChange>,
        /// The same as for an applied transaction. A local number does not show that a transaction is present.
        numbers: SequenceSource,
        /// Its events, if `sql_slave_skip_counter` is the reason.
        skipped: Option<SkippedEvents>,
    },
    /// Everything up to here has been sent and nothing of it is applied here: a heartbeat, or the end of a file.
    Position(SourcePosition),
    /// The primary restarted here: the temporary tables of its sessions no longer exist.
    PrimaryRestarted,
}
