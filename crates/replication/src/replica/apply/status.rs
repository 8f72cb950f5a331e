//! What `SHOW SLAVE STATUS` tells of the SQL part.

use crate::replica::received::SourcePosition;
use paceline_binlog::event::GtidFlags;
use paceline_types::{ErrorCode, Gtid};
use std::time::SystemTime;

/// What an applier does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ApplierState {
    /// Everything received is applied.
    #[default]
    Idle,
    /// It applies.
    Applying,
    /// It has ended.
    Stopped,
}

impl ApplierState {
    /// `Slave_SQL_Running_State`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ApplierState::Idle => "Slave has read all relay log; waiting for more updates",
            ApplierState::Applying => "Waiting for dependent transaction to commit",
            ApplierState::Stopped => "",
        }
    }
}

/// The error that has ended an applier.
#[derive(Clone, Debug)]
pub struct ApplyError {
    /// `Last_SQL_Errno`.
    pub code: ErrorCode,
    /// `Last_SQL_Error`.
    pub text: String,
    /// The transaction that could not be applied.
    pub gtid: Option<Gtid>,
    /// Where that transaction ends in the primary's log.
    pub position: Option<SourcePosition>,
    /// When.
    pub time: SystemTime,
}

/// How many transactions were applied, by what they were on the primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// `Slave_DDL_Groups`.
    pub ddl: u64,
    /// `Slave_Non_Transactional_Groups`: of tables that cannot roll back.
    pub non_transactional: u64,
    /// `Slave_Transactional_Groups`.
    pub transactional: u64,
}

impl GroupCounts {
    /// One transaction, by the flags of its Gtid event.
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

/// How far an applier has come.
#[derive(Clone, Debug, Default)]
pub struct ApplierStatus {
    /// What it does.
    pub state: ApplierState,
    /// The last transaction up to which all are published, in the order in which they were pushed.
    pub last_gtid: Option<Gtid>,
    /// Where that ends in the primary's log (`Exec_Master_Log_Pos`).
    pub position: Option<SourcePosition>,
    /// When that transaction began on the primary, in seconds since 1970.
    pub applied_timestamp_seconds: Option<u32>,
    /// When the oldest transaction that is not published yet began on the primary; `None` when all are: then the lag is 0.
    pub pending_timestamp_seconds: Option<u32>,
    /// Transactions pushed and not published.
    pub pending_transactions: u64,
    /// Bytes pushed and not planned.
    pub queued_bytes: u64,
    /// Transactions published since the start, and positions passed over.
    pub applied_transactions: u64,
    /// Transactions published.
    pub groups: GroupCounts,
    /// Commit groups that these made: rounds.
    pub rounds: u64,
    /// Transactions that were tried a second time.
    pub retried_transactions: u64,
    /// The error that has ended it.
    pub error: Option<ApplyError>,
}
