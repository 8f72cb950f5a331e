//! Transactions and savepoints.

use paceline_types::AccessMode;

/// Transactions and savepoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionStatement {
    /// `BEGIN`, `START TRANSACTION`.
    Start {
        /// `WITH CONSISTENT SNAPSHOT`.
        consistent_snapshot: bool,
        /// `AT GTID '…'`, a list of GTIDs (ours): the state at that position.
        snapshot_at: Option<String>,
        /// `READ ONLY`, `READ WRITE`.
        access: Option<AccessMode>,
    },
    /// `COMMIT`.
    Commit(Completion),
    /// `ROLLBACK`.
    Rollback(Completion),
    /// `SAVEPOINT name`.
    Savepoint(String),
    /// `ROLLBACK TO name`.
    RollbackTo(String),
    /// `RELEASE SAVEPOINT name`.
    Release(String),
}

/// What follows the end of a transaction; `None` leaves it to `completion_type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completion {
    /// `AND [NO] CHAIN`.
    pub chain: Option<bool>,
    /// `[NO] RELEASE`.
    pub release: Option<bool>,
}
