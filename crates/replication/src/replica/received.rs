//! What the receiver of a connection hands to its applier, in the order of the primary's log.

use std::sync::Arc;
use std::time::Instant;

pub use paceline_binlog::SourcePosition;
use paceline_binlog::event::FormatDescription;
use paceline_binlog::{EventGroup, ExecutedMove};
use paceline_txn::Numbers;
use paceline_types::Gtid;

/// An event group as the primary sent it: whole, its checksums verified.
pub struct ReceivedGroup {
    /// Its events. A source that has no GTIDs is given them by the receiver.
    pub group: EventGroup,
    /// The format of the file that it stood in.
    pub format: Arc<FormatDescription>,
    /// Where it ends in the primary's log.
    pub source_end: SourcePosition,
    /// When its last event arrived.
    pub received_at: Instant,
    /// What becomes of the connection's set of MySQL's GTIDs with it.
    pub executed: Option<ExecutedMove>,
    /// Whose its number is.
    pub numbers: Numbers,
}

/// What moves a connection's position.
pub enum Received {
    /// A transaction to apply.
    Group(ReceivedGroup),
    /// A transaction that is not to be applied (a filter, `sql_slave_skip_counter`, our own server id): only the position moves.
    Passed {
        /// Its GTID.
        gtid: Gtid,
        /// Where it ends.
        source_end: SourcePosition,
        /// As for a transaction that is applied.
        executed: Option<ExecutedMove>,
        /// As for a transaction that is applied. One of ours says nothing of what is here.
        numbers: Numbers,
    },
    /// Everything up to here has been sent, and nothing of it is for us: a heartbeat, the end of a file.
    Position(SourcePosition),
    /// The primary has started anew here: the temporary tables of its sessions are gone.
    PrimaryRestarted,
}
