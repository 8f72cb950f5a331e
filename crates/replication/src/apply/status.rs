//! Status of the applier for `SHOW SLAVE STATUS`.

use crate::obstacle::Obstacle;
use crate::received::SourcePosition;
use paceline_binlog::event::GtidFlags;
use paceline_types::{ErrorCode, Gtid};
use std::time::{Instant, SystemTime};

/// State of an applier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ApplierState {
    /// Everything received is applied.
    #[default]
    Idle,
    /// It is applying transactions.
    Applying,
    /// It has ended.
    Stopped,
}

impl ApplierState {
    /// Returns the text of `Slave_SQL_Running_State`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ApplierState::Idle => "Slave has read all relay log; waiting for more updates",
            ApplierState::Applying => "Waiting for dependent transaction to commit",
            ApplierState::Stopped => "",
        }
    }
}

/// Error that has ended an applier.
#[derive(Clone, Debug)]
pub struct ApplyError {
    /// `Last_SQL_Errno`.
    pub code: ErrorCode,
    /// `Last_SQL_Error`.
    pub text: String,
    /// The transaction that could not be applied.
    pub gtid: Option<Gtid>,
    /// End of that transaction in the primary's log.
    pub position: Option<SourcePosition>,
    /// Time of the error.
    pub time: SystemTime,
}

/// Number of applied transactions, by their kind on the primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// `Slave_DDL_Groups`.
    pub ddl: u64,
    /// `Slave_Non_Transactional_Groups`: transactions on non-transactional tables.
    pub non_transactional: u64,
    /// `Slave_Transactional_Groups`.
    pub transactional: u64,
}

impl GroupCounts {
    /// Counts one transaction, by the flags of its Gtid event.
    pub(super) fn of(flags: GtidFlags) -> Self {
        let mut counts = GroupCounts::default();
        let count = if flags.contains(GtidFlags::DDL) {
            &mut counts.ddl
        } else if flags.contains(GtidFlags::TRANSACTIONAL) {
            &mut counts.transactional
        } else {
            &mut counts.non_transactional
        };
        *count = 1;
        counts
    }
}

impl std::ops::AddAssign for GroupCounts {
    fn add_assign(&mut self, other: Self) {
        self.ddl += other.ddl;
        self.non_transactional += other.non_transactional;
        self.transactional += other.transactional;
    }
}

/// Status of an applier.
#[derive(Clone, Debug, Default)]
pub struct ApplierStatus {
    /// Current state.
    pub state: ApplierState,
    /// The last transaction up to which all are published, in the order in which they were pushed.
    pub last_gtid: Option<Gtid>,
    /// End of that transaction in the primary's log (`Exec_Master_Log_Pos`).
    pub position: Option<SourcePosition>,
    /// Start of that transaction on the primary, in seconds since 1970.
    pub applied_timestamp_seconds: Option<u32>,
    /// Start on the primary of the oldest transaction that is not published yet; `None` if all are: then the lag is 0.
    pub pending_timestamp_seconds: Option<u32>,
    /// Time when that transaction was received.
    pub pending_since: Option<Instant>,
    /// Number of transactions pushed and not published.
    pub pending_transactions: u64,
    /// Obstacle of the oldest of them.
    pub obstacle: Obstacle,
    /// The receiver waits because too much is queued.
    pub is_full: bool,
    /// Number of bytes pushed and not planned.
    pub queued_bytes: u64,
    /// Number of transactions published since the start, and of skipped positions.
    pub applied_transactions: u64,
    /// Published transactions by kind.
    pub groups: GroupCounts,
    /// Number of commit groups that they formed: rounds.
    pub rounds: u64,
    /// Number of transactions that were retried.
    pub retried_transactions: u64,
    /// Error that has ended the applier.
    pub error: Option<ApplyError>,
}
